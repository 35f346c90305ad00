/* Private to src/session: the successors of a state of a model of rounds, by what can become of each process. */
#ifndef RONDO_SESSION_OUTCOME_STEPS_H
#define RONDO_SESSION_OUTCOME_STEPS_H

#include "session/session_internal.h"

enum outcome_walk {
  OUTCOMES_ALL,
  OUTCOMES_ENDED,   /* by the callback */
  OUTCOMES_STOPPED, /* by the stop flag, or too many receptions */
  OUTCOMES_REFUSED  /* some combination of outcomes was not allowed: there may be other successors */
};
/* Can the search be used in this environment? Not if messages are counted, as the state after a round is then more than
   what became of each process. */
bool outcome_steps_apply(const struct session *);
/* Visits, for each way to send, crash and choose oracles, every combination of the distinct outcomes of the processes,
   with one round for it. These choices have no index. With OUTCOMES_ALL, every successor of the state was visited: an
   allowed round gives each process one of its outcomes, and the round that was visited for these outcomes leads to the
   same state. */
enum outcome_walk outcome_steps_walk(struct session *, const struct config *, choice_fn *, void *context);

#endif
