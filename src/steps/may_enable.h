/* What can still happen to a process, whatever the others do: which of its actions may ever be taken from a local state
   on, and which of them may ever take a message that is pending. Decided by conditions that stay false once they
   are false (analysis/stable_predicates.h), evaluated by the interpreter, remembered. An over-approximation: an action
   whose bit is not set is certainly never taken. */
#ifndef RONDO_STEPS_MAY_ENABLE_H
#define RONDO_STEPS_MAY_ENABLE_H

#include "analysis/stable_predicates.h"
#include "steps/state_cells.h"

#define MAY_ENABLE_ACTIONS 62 /* of a role: bits */

struct may_enable;

/* NULL if some role has too many actions. */
struct may_enable *may_enable_new(struct state_cells *);
void may_enable_free(struct may_enable *);
size_t may_enable_bytes(const struct may_enable *);

/* Actions that process p, in that local state, may ever take, as far as it depends on itself. */
uint64_t may_enable_of_local(struct may_enable *, uint32_t p, content local);
/* Actions that cannot be taken now: the process stands at another program point, or they are used up. */
uint64_t disabled_now_of_local(struct may_enable *, uint32_t p, content local);
/* Actions of p that may ever take (or look at) some message of the channel from x, which has that content. */
uint64_t may_enable_of_channel(struct may_enable *, uint32_t p, content local, uint32_t x, content channel);

#endif
