/* Private to src/session: one process's part of a round, run by the interpreter. */
#ifndef RONDO_SESSION_ROUND_CHOICES_H
#define RONDO_SESSION_ROUND_CHOICES_H

#include "interp/round_step.h"
#include "session/session_internal.h"

/* The local state with the oracles that the witness chooses; for memory_free. */
value *process_local(struct session *, const struct config *, const struct witness *, uint32_t p);
/* Runs what p sends, or what it does with what it receives; false: an error of the model. The choices say what was
 * asked for. */
bool process_sends(struct session *, const struct config *, const struct witness *, uint32_t p, struct choices *);
bool process_updates(struct session *, const struct message_exchange *, const struct witness *, uint32_t p,
                     struct choices *, value *local, struct model_error *);
/* Does some clause speak of who hears whom? Then heard-of sets matter even of those who do not update. */
bool environment_reads_heard_of(const struct environment *);

#endif
