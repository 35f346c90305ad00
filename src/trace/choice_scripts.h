/* Finds the scripts of free choices with which the reference interpreter reproduces given states and messages. */
#ifndef RONDO_TRACE_CHOICE_SCRIPTS_H
#define RONDO_TRACE_CHOICE_SCRIPTS_H

#include "interp/round_step.h"

/* Fills in the missing scripts of one round's witness, so that each process sends the given messages (by sender *
   processes + receiver) and reaches its state in `after`; after is NULL: so that the round ends in an error of the
   model. False: there are no such scripts. */
bool witness_find_scripts(struct interpreter *, const struct config *before, const struct config *after,
                          struct witness *, const bool *sent, const value *message);
/* A step in which the process takes that action (NO_ACTION: another event of the process, see event_steps_of), and that
   leads from one configuration to the other; after is NULL: that ends in an error. For witness_free; NULL: there is
   none. */
struct witness *witness_find(struct interpreter *, uint32_t environment, const struct config *before,
                             const struct config *after, uint32_t process, uint32_t action);
/* Finds the error in the choice of initial states. False: there is none. */
bool initial_error(struct interpreter *, uint32_t environment, struct model_error *);

#endif
