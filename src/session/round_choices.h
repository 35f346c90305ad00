/* Private to src/session: one process's part of a round, run by the interpreter. */
#ifndef RONDO_SESSION_ROUND_CHOICES_H
#define RONDO_SESSION_ROUND_CHOICES_H

#include "interp/round_step.h"
#include "session/session_internal.h"

/* Runs the update of p on what it receives. False: an error of the model. `choices` receives the free
   choices that were requested. */
bool process_updates(struct session *, const struct message_exchange *, const struct witness *, uint32_t p,
                     struct choices *, value *local, struct model_error *);

#endif
