/* What can still happen to a process, whatever the others do: which of its actions may ever be taken from a local state
   on, and which of them may ever take a message that is pending. Decided by conditions that stay false once they
   are false (model/permanent.h), evaluated by the interpreter, remembered. An over-approximation: a bit that is not set is
   certain, a bit that is set is a hope. */
#ifndef RONDO_INTERLEAVE_HOPES_H
#define RONDO_INTERLEAVE_HOPES_H

#include "interleave/cells.h"
#include "model/permanent.h"

#define HOPES_ACTIONS 62 /* of a role: bits */

struct hopes;

/* NULL if some role has too many actions. */
struct hopes *hopes_new(struct cells *);
void hopes_free(struct hopes *);
size_t hopes_bytes(const struct hopes *);

/* Actions that process p, in that local state, may ever take, as far as it depends on itself. */
uint64_t hopes_of_local(struct hopes *, uint32_t p, content local);
/* Of those, the ones that are out of the question right now: another program point, used up. */
uint64_t hopes_not_now(struct hopes *, uint32_t p, content local);
/* Actions of p that may ever take (or look at) some message of the channel from x, which has that content. */
uint64_t hopes_of_channel(struct hopes *, uint32_t p, content local, uint32_t x, content channel);
/* Likewise for one message. */
uint64_t hopes_of_message(struct hopes *, uint32_t p, content local, uint32_t x, uint32_t kind, value message);

#endif
