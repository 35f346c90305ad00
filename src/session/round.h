/* Private to src/session: one process's part of a round, run by the interpreter. */
#ifndef RONDO_SESSION_ROUND_H
#define RONDO_SESSION_ROUND_H

#include "sem/round.h"
#include "session/internal.h"

/* The local state with the oracles that the witness chooses; for memory_free. */
value *part_local(struct session *, const struct config *, const struct witness *, uint32_t p);
/* Runs what p sends, or what it does with what it receives; false: an error of the model. The choices say what was asked for. */
bool part_sends(struct session *, const struct config *, const struct witness *, uint32_t p, struct choices *);
bool part_updates(struct session *, const struct exchange *, const struct witness *, uint32_t p, struct choices *,
                  value *local, struct model_error *);
/* Does some clause speak of who hears whom? Then heard-of sets matter even of those who do not update. */
bool heard_of_matters(const struct environment *);

#endif
