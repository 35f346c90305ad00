/* Private to src/symbolic: encodes the states and steps of the typed model, with the expressions and statements that
   src/lower gives. The encoder shares no code with the interpreter, nor with the tables of the explicit engine, so it
   is an independent check of both.

   Every nondeterministic choice in a step becomes a fresh variable: heard-of sets, faults, oracles, forged messages,
   the choices of `pick` and of guards, the order of a `foreach`. */
#ifndef RONDO_SYMBOLIC_ENCODE_H
#define RONDO_SYMBOLIC_ENCODE_H

#include "lower/environment_clauses.h"
#include "lower/lowering.h"
#include "symbolic/terms.h"

struct encoder {
  struct lowering l; /* first, so that a scope leads to its encoder */
  struct terms t;
  struct arena arena;
  uint32_t environment;
  enum semantics semantics;
  bool prefix;                       /* runs start in an initial state, so round numbers are bounded */
  bool keeps_initials;               /* the query reads initial(p.x) */
  bool counts_rounds, counts_phases; /* the query reads them */
};

/* Sets up the lowering, with the solver's choices. */
void encoder_init(struct encoder *, struct model *, bool integers);
void encoder_release(struct encoder *);
static inline struct encoder *encoder_of(const struct scope *s) { return (struct encoder *)s->l; }

/* A fresh value of the type, constrained by facts. */
struct sym_value *sym_new(struct encoder *, const struct type *, const char *name);

/* The concrete value in a model of the solver. */
value sym_extract(struct encoder *, Z3_model, const struct type *, const struct sym_value *);
bool truth_value(struct encoder *, Z3_model, truth);
int64_t number_value(struct encoder *, Z3_model, struct number);

/* Step models: a message that was sent earlier in the run. Sender, receiver and kind are constants. Packets are ordered
   by age, oldest first. */
struct sym_packet {
  uint32_t from, to, kind;
  truth pending;
  struct sym_value *message;
};

/* ---- states and steps ---- */

/* An arbitrary initial state, constrained by facts. error: evaluating the initial values fails. */
struct sym_state *encode_start(struct encoder *, truth *allowed, truth *error);
/* An arbitrary state at a point of the schedule, constrained only by its types. */
struct sym_state *encode_any_state(struct encoder *, uint32_t point);
/* Symmetry breaking: true of at least one representative of every class of initial states that are equal up to a
   permutation of values, their order or the processes, as far as the licences allow. */
struct licences;
truth encode_representative(struct encoder *, const struct sym_state *, const struct licences *);
truth states_equal(struct encoder *, const struct sym_state *, const struct sym_state *);
/* An invariant of all reachable states: the faults are within their limits. */
truth state_invariant(struct encoder *, const struct sym_state *);
/* The variables of a state from encode_any_state, in a fixed order. */
void state_variables(struct encoder *, const struct sym_state *, struct leaves *);

/* The nondeterministic choices of a round, as a witness records them. */
struct sym_round {
  truth *crash;                /* by process */
  struct sym_value ***oracles; /* by process and variable; NULL: not chosen in this round */
  truth **heard;               /* by receiver and sender */
  truth **forged;
  struct sym_value ***forgery; /* the forged message; NULL: nothing can be forged there */
  truth **sent;                /* by sender and receiver */
  struct sym_value ***message;
  const struct type ***type; /* type of the message, by sender and receiver */
};
struct sym_step {
  const struct sym_state *before;
  struct sym_state *after;
  truth allowed;            /* the environment allows the step, it has no error, and it leads to `after` */
  truth fails;              /* the environment allows the step, and it ends in an error of the model */
  struct sym_round round;   /* round models */
  struct sym_event *events; /* step models: exactly one of these happens */
  uint32_t nevents;
};
struct sym_event {
  uint32_t process, action; /* NO_ACTION: an event that is no action of the process */
  truth it;
};
struct sym_step *encode_round(struct encoder *, const struct sym_state *);
struct sym_step *encode_step(struct encoder *, const struct sym_state *); /* step models */
/* True if the two states differ at most in the messages in transit. */
truth encode_stutter(struct encoder *, const struct sym_state *, const struct sym_state *);
/* encode_channels.c: the messages that an action consumes or reads. */
struct sym_taken {
  struct sym_packet *packets; /* the packets of the state after the action */
  struct number kept;         /* number of duplicated messages */
};
/* Binds the messages that the action waits for, under the scope's path condition. True if they are there and match. */
truth encode_receive(struct scope *, const struct sym_state *, const struct action *, struct sym_taken *);
/* Appends the messages that the scope sends to the packets of `next`, under the condition `it`. */
void encode_sends(struct encoder *, struct sym_state *next, const struct scope *, truth it, const truth *out);
/* For channels that are sets, in states that need not be reachable. encode_any_packets makes a packet for every message
   that a channel can ever hold; normalise_packets brings the packets of a state into that form. */
void encode_any_packets(struct encoder *, struct sym_state *);
void normalise_packets(struct encoder *, struct sym_state *);
/* No channel exceeds its capacity. */
truth channels_bounded(struct encoder *, const struct sym_state *);
struct sym_value *encode_first_value(struct scope *, const struct var *, const char *name);

/* A formula over a state (`after` is NULL) or a step. */
struct verdict_terms {
  truth holds, error; /* holds is meaningless where error is true */
};
struct verdict_terms encode_formula(struct encoder *, const struct node *, const struct sym_state *before,
                                    const struct sym_state *after);

/* encode_environment.c */
void environment_check_clauses(struct encoder *); /* refuses a clause of an unknown kind */
truth environment_allows(struct encoder *, const struct sym_state *, const struct sym_round *);
/* The environment allows a round in which a send expression fails. Such a failure does not depend on what is heard, so
   only crashes and clauses without heard-of sets can forbid it. */
truth environment_allows_failing(struct encoder *, const struct sym_state *, const struct sym_round *);
/* How many messages of the round count as lost (or as corrupted); 0 if no clause or cost needs the number. */
struct number environment_charged(struct encoder *, const struct sym_state *, const struct sym_round *,
                                  enum clause_kind);
truth encode_must_hear(struct encoder *, const struct sym_state *, const struct sym_round *, uint32_t p, uint32_t q);

#endif
