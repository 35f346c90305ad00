/* Derives a counter system from a model of message handlers (`on`, `when`, steps): it counts the processes in each
   location. A location is a local state of a process together with the messages that it has sent to all.

   This applies to one role of identical processes that send to all, in the semantics M. What a process can read is then
   a set of messages with distinct senders out of those that were sent, and those that Byzantine processes forge. So a
   quorum is a condition on how many processes have sent something: a sum of counters, which no step makes smaller. With
   few exceptions the result is a threshold automaton (Konnov, Veith, Widder 2017). What an action does is found by
   running the interpreter, as for rounds (derive.h).

   A message that is taken: each process takes at most one message of a kind, and reads none of that kind afterwards.

   Crashes in the middle of an action: whoever is left sees the message of the crashed process, or not. Everybody may
   read it; that nobody must read it matters for fairness only.

   Liveness: in the last state of a fair run no process can be forced to change. `correct` are the processes that never
   crash, so those that do are told apart from the beginning. */
#ifndef RONDO_PARAM_HANDLERS_H
#define RONDO_PARAM_HANDLERS_H

#include "param/derive.h"
#include "param/validation.h"

/* A temporal formula over states of the counter system. */
enum live_op { LIVE_STATE, LIVE_NOT, LIVE_AND, LIVE_OR, LIVE_IMPLIES, LIVE_ALWAYS, LIVE_EVENTUALLY };
struct handler_formula {
  enum live_op op;
  struct span at;
  struct term *term;       /* STATE */
  const struct node *node; /* STATE: what it says of the model; NULL: the assumption of fairness */
  struct handler_formula *kid[2];
};

struct handler_move { /* by move of the system: the locations that it leads from and to, which are counters */
  uint32_t from, to;
};

struct handler_system;

/* As derive(). A safety property becomes the property of the system. A live one becomes a formula: `fairness implies
   what the property says`. */
bool handlers_derive(struct derivation *, struct handler_system **, const struct round_shape *, struct interpreter *,
                     const struct query *, const volatile sig_atomic_t *stop);
void handler_system_free(struct handler_system *);

const struct handler_formula *handlers_live(const struct handler_system *); /* NULL: a safety property */
const struct handler_move *handlers_moves(const struct handler_system *);

/* Compares with an instance of the same model whose parameters satisfy the conditions: every initial state is a start,
   every step is a move or changes nothing that is counted, every violation of a safety property is unsafe; of a live
   property, every part about states has the same value, and a state in which a fair run can stay is one there. Returns
   false if there is a difference, or if it was stopped. */
bool handlers_validate(const struct handler_system *, const struct derivation *, const struct round_shape *,
                       const struct query *, struct interpreter *, const volatile sig_atomic_t *stop,
                       struct validation *);

#endif
