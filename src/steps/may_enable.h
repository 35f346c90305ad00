/* What can still happen to a process, whatever the others do: which of its actions may be taken now or later, and which
   of them may ever take a given pending message. The answers come from conditions that stay false once they are false
   (analysis/stable_predicates.h). They are evaluated by the interpreter and cached. The result is an
   over-approximation: an action whose bit is not set is certainly never taken. */
#ifndef RONDO_STEPS_MAY_ENABLE_H
#define RONDO_STEPS_MAY_ENABLE_H

#include "analysis/stable_predicates.h"
#include "steps/state_cells.h"

#define MAY_ENABLE_ACTIONS 62 /* actions of a role, one bit each */

struct may_enable;

/* NULL if some role has too many actions. */
struct may_enable *may_enable_new(struct state_cells *);
void may_enable_free(struct may_enable *);
size_t may_enable_bytes(const struct may_enable *);

/* Actions that process p may ever take from that local state on, judged by its local state alone. */
uint64_t may_enable_of_local(struct may_enable *, uint32_t p, content local);
/* Actions that cannot be taken now: the process is at another program point, or a `once` action was taken already. */
uint64_t disabled_now_of_local(struct may_enable *, uint32_t p, content local);
/* Actions of p that may ever take (or read) some message in the channel from x, which has that content. */
uint64_t may_enable_of_channel(struct may_enable *, uint32_t p, content local, uint32_t x, content channel);

#endif
