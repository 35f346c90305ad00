/* From states and messages to free choices: which script makes the reference do just that. */
#ifndef RONDO_TRACE_CHOICE_SCRIPTS_H
#define RONDO_TRACE_CHOICE_SCRIPTS_H

#include "interp/round_step.h"

/* One round whose witness lacks its scripts: fills them in so that each process sends those messages (by sender *
   processes
   + receiver) and becomes what it is in `after`; NULL: so that the round ends in an error of the model. False: there
   are none. */
bool witness_find_scripts(struct interpreter *, const struct config *before, const struct config *after,
                          struct witness *, const bool *sent, const value *message);
/* One step of that process (NO_ACTION: no action of it, and anybody's) that leads from one configuration to the other;
   NULL: that ends in an error. For witness_free; NULL: there is none. */
struct witness *witness_find(struct interpreter *, uint32_t environment, const struct config *before,
                             const struct config *after, uint32_t process, uint32_t action);
/* The error in the choice of initial states. False: there is none. */
bool initial_error(struct interpreter *, uint32_t environment, struct model_error *);

#endif
