/* Private to src/symbolic: encodes the typed model as terms, expression by expression, separately for every process and
   every round. The encoder evaluates in the same order as the interpreter (src/interp) but shares no code with it, nor
   with the tables of the explicit engine, so it is an independent check of both.

   Every nondeterministic choice in a step becomes a fresh variable: heard-of sets, faults, oracles, forged messages,
   the choices of `pick` and of guards, the order of a `foreach`. Errors of the model are collected in a truth value
   beside the result. Where that is true the result is meaningless, so callers must test it first. */
#ifndef RONDO_SYMBOLIC_ENCODE_H
#define RONDO_SYMBOLIC_ENCODE_H

#include "lower/environment_clauses.h"
#include "symbolic/sym_value.h"

/* One process in a state. */
struct sym_process {
  truth halted, crashed, omits_send, omits_receive, byzantine, recovered;
  struct number fault; /* initial fault: 0 for none, else the number of the clause */
  struct sym_value **vars;
  struct sym_value **initial; /* by variable: initial values of inputs; NULL: not read */
};

/* A global state of a model, as terms. */
struct sym_state {
  uint32_t point;              /* round models: position in the schedule, always a constant */
  struct number rounds, phase; /* constants if the run starts in an initial state */
  struct number lost, corrupted, duplicated;
  struct sym_value **globals;
  struct sym_process *of;     /* by process */
  struct sym_packet *packets; /* step models: all packets sent so far */
  uint32_t npackets;
};

/* Step models: a message that was sent earlier in the run. Sender, receiver and kind are constants. Packets are ordered
   by age, oldest first. */
struct sym_packet {
  uint32_t from, to, kind;
  truth pending;
  struct sym_value *message;
};

/* The message received from one sender, or one message of a quorum. */
struct sym_received {
  truth there;
  struct sym_value *message;
  struct number sender;
};

/* A message that a step sends if `when` holds. */
struct sym_sent {
  truth when;
  uint32_t to, kind;
  struct sym_value *message;
};

/* Growing arrays in an arena, so that a refusal (longjmp) does not leak them. */
void *arena_grown(struct arena *, void *at, size_t *cap, size_t n, size_t each);
#define arena_push(arena, v, x)                                                                                        \
  ((v)->at = arena_grown(arena, (v)->at, &(v)->cap, (v)->n, sizeof *(v)->at), (void)((v)->at[(v)->n++] = (x)))

struct scope {
  struct encoder *e;
  truth path;  /* the path condition of this evaluation */
  truth error; /* some evaluation so far failed */
  struct sym_value **slot;
  struct number *slot_sender;
  unsigned depth; /* call depth */
  /* one process */
  uint32_t role, me, point;
  struct number phase;
  struct sym_value **vars;    /* assignments update this array */
  struct sym_value **globals; /* likewise */
  truth halted;               /* halted in this block */
  const struct sym_received *received;
  uint32_t nreceived;
  bool chose; /* a nondeterministic choice was made */
  bool acts;  /* evaluates an action, which may send */
  VEC(struct sym_sent) posted;
  /* properties and environments */
  const struct sym_state *before, *after;
  truth *const *heard; /* by receiver and sender; NULL outside environment clauses */
  truth *const *corrupt;
};

void scope_init(struct scope *, struct encoder *);
/* A scope for process p in the state. Its variables are copied. */
void scope_of_process(struct scope *, struct encoder *, const struct sym_state *, uint32_t p);

truth scope_narrow(struct scope *, truth); /* adds a conjunct to the path condition; returns the old one */
/* Records an error of the model under the path condition and this one. */
void scope_fail(struct scope *, truth);

struct sym_value *encode_node(struct scope *, const struct node *);
truth encode_truth(struct scope *, const struct node *);
/* MIN MAX PICK RANDOM MAJORITY FIRST LAST or an option: true if there is a value, which is stored. */
truth encode_maybe(struct scope *, const struct node *, struct sym_value **);
struct sym_value *encode_aggregate(struct scope *, const struct node *);
/* Refuses a sum whose bounds are too large. */
struct number encode_sum(struct encoder *, struct number, struct number);
/* The value itself. It is an error of the model if it is not of the type. */
struct sym_value *encode_checked(struct scope *, const struct type *, struct sym_value *);

/* Calls the visitor for every possible binding of the generators. `bound` is the condition that it really is a binding,
   and is already part of the path condition. Stops when the visitor returns false. */
typedef bool sym_binding_fn(struct scope *, void *context, truth bound);
bool encode_generators(struct scope *, const struct generator *, uint32_t n, sym_binding_fn *, void *context);

/* Is the value process p? */
truth process_is(struct scope *, const struct sym_value *, uint32_t p);
truth sym_process_active(struct encoder *, const struct sym_process *);
truth sym_process_faulty(struct encoder *, const struct sym_process *);
struct sym_value *encode_neighbours(struct scope *);

/* True if the guard holds. Its slots are bound to a nondeterministically chosen witness. */
truth encode_guard(struct scope *, const struct guard *);
void encode_block(struct scope *, const struct block *);
/* The index of a nondeterministically chosen alternative whose guard holds, if any does. */
struct number encode_choice(struct scope *, const truth *guard, size_t n);

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
truth recoveries_limited(struct encoder *, const truth *recovered);

/* A formula over a state (`after` is NULL) or a step. */
struct verdict_terms {
  truth holds, error; /* holds is meaningless where error is true */
};
struct verdict_terms encode_formula(struct encoder *, const struct node *, const struct sym_state *before,
                                    const struct sym_state *after);

/* encode_environment.c */
void environment_check_clauses(struct encoder *); /* refuses a clause of an unknown kind */
truth faults_limited(struct encoder *, enum clause_kind, const truth *faulty);
truth environment_allows(struct encoder *, const struct sym_state *, const struct sym_round *);
/* The environment allows a round in which a send expression fails. Such a failure does not depend on what is heard, so
   only crashes and clauses without heard-of sets can forbid it. */
truth environment_allows_failing(struct encoder *, const struct sym_state *, const struct sym_round *);
/* How many messages of the round count as lost (or as corrupted); 0 if no clause or cost needs the number. */
struct number environment_charged(struct encoder *, const struct sym_state *, const struct sym_round *,
                                  enum clause_kind);
truth encode_must_hear(struct encoder *, const struct sym_state *, const struct sym_round *, uint32_t p, uint32_t q);

#endif
