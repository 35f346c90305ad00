/* Private to src/session: decides as early as possible that a partly chosen round is not allowed, so that an
   enumeration of rounds does not go through exponentially many that the environment forbids. What is not rejected here
   still has to be judged by the interpreter.

   Budgets of lost and corrupted messages are compared with the faults so far. A clause is evaluated with the heard-of
   sets that are known: it is rejected if it is false whatever the others are. */
#ifndef RONDO_SESSION_ROUND_PRUNING_H
#define RONDO_SESSION_ROUND_PRUNING_H

#include "interp/round_step.h"
#include "session/session_internal.h"

struct round_pruning {
  struct session *session;
  uint32_t environment;
  const struct environment *env;
  const struct config *config;
  bool reads;                       /* some clause reads heard-of sets */
  bool budget;                      /* there is a limit on lost or corrupted messages */
  VEC(const struct clause *) known; /* the clauses that can be evaluated as soon as heard-of sets are known */
  uint8_t **heard;                  /* by process: the heard-of sets that are known, otherwise NULL */
  /* Asynchronous rounds: the process that ends the round, and those that have not sent their messages of it yet. It
     cannot hear them. SESSION_NO_PROCESS: everybody takes the whole round. */
  uint32_t ends;
  uint64_t absent;
  bool stopped; /* by the stop flag: the enumeration is not complete */
};

void round_pruning_init(struct round_pruning *, struct session *, uint32_t environment, const struct config *);
void round_pruning_release(struct round_pruning *);
/* Asynchronous rounds: only rounds that the process can end now. */
void round_pruning_ends(struct round_pruning *, uint32_t process);
/* The filter for round_some_steps. */
struct round_filter round_pruning_filter(struct round_pruning *);
/* Can a round be allowed in which p hears this, and receives these forged messages? */
bool reception_may_be_allowed(struct round_pruning *, const struct message_exchange *, const struct witness *,
                              uint32_t p);
/* Asynchronous rounds: does p end the round, and q sends it a message that it has not sent yet? */
bool message_is_absent(const struct round_pruning *, const struct message_exchange *, const struct witness *,
                       uint32_t p, uint32_t q);

#endif
