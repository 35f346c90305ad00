/* Private to src/session: one process's part of a round, run by the interpreter. */
#ifndef RONDO_SESSION_ROUND_CHOICES_H
#define RONDO_SESSION_ROUND_CHOICES_H

#include "interp/round_step.h"
#include "session/session_internal.h"

/* The local state, with the oracle values that the witness chooses; freed with memory_free. */
value *process_local(struct session *, const struct config *, const struct witness *, uint32_t p);
/* Runs the sends of p, or its update on what it receives. False: an error of the model. `choices` receives the free
   choices that were requested. */
bool process_sends(struct session *, const struct config *, const struct witness *, uint32_t p, struct choices *);
bool process_updates(struct session *, const struct message_exchange *, const struct witness *, uint32_t p,
                     struct choices *, value *local, struct model_error *);
/* Does some clause constrain heard-of sets? If so, the heard-of sets of processes that do not update matter too. */
bool environment_reads_heard_of(const struct environment *);

#endif
