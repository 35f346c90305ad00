/* Private to src/symbolic: the typed model as terms, expression by expression, for every process and every round on its
   own. It reads the text as the interpreter (src/interp) does, in the same order, but shares nothing with it, nor with
   the tables of the explicit engine: a second opinion.

   Everything that is free in a step becomes a fresh variable: who hears whom, faults, oracles, forged messages, the
   choices of `pick` and of guards, the order of a `foreach`. Errors of the model are gathered as a truth beside the
   value: after one the value is meaningless, and whoever asked must look at the truth first. */
#ifndef RONDO_SYMBOLIC_ENCODE_H
#define RONDO_SYMBOLIC_ENCODE_H

#include "lower/environment_clauses.h"
#include "symbolic/sym_value.h"

/* One process in a state. */
struct sym_process {
  truth halted, crashed, omits_send, omits_receive, byzantine, recovered;
  struct number fault; /* from the start: 0 none, else which clause's */
  struct sym_value **vars;
  struct sym_value **initial; /* by variable: first values of inputs; NULL: not read */
};

/* A global state of a model, as terms. */
struct sym_state {
  uint32_t point;              /* rounds: always known */
  struct number rounds, phase; /* constants while rounds are followed from the first */
  struct number lost, corrupted, duplicated;
  struct sym_value **globals;
  struct sym_process *of;     /* by process */
  struct sym_packet *packets; /* steps: all that were ever sent */
  uint32_t npackets;
};

/* Steps: a message that was sent at some time. Who sent it to whom, and of which kind, is always known; the oldest
 * first. */
struct sym_packet {
  uint32_t from, to, kind;
  truth pending;
  struct sym_value *message;
};

/* What was received from one sender, or one message of a quorum. */
struct sym_received {
  truth there;
  struct sym_value *message;
  struct number sender;
};

/* A message as it leaves in a step, if `when`. */
struct sym_sent {
  truth when;
  uint32_t to, kind;
  struct sym_value *message;
};

/* Growing arrays that a refusal leaves to the arena. */
void *arena_grown(struct arena *, void *at, size_t *cap, size_t n, size_t each);
#define arena_push(arena, v, x)                                                                                        \
  ((v)->at = arena_grown(arena, (v)->at, &(v)->cap, (v)->n, sizeof *(v)->at), (void)((v)->at[(v)->n++] = (x)))

struct scope {
  struct encoder *e;
  truth path;  /* the condition under which this is evaluated at all */
  truth error; /* so far: something failed */
  struct sym_value **slot;
  struct number *slot_sender;
  unsigned depth; /* of calls */
  /* one process */
  uint32_t role, me, point;
  struct number phase;
  struct sym_value **vars;    /* assignments change what this points to */
  struct sym_value **globals; /* likewise */
  truth halted;               /* in this block */
  const struct sym_received *received;
  uint32_t nreceived;
  bool chose; /* some free choice was made */
  bool acts;  /* an action: it may send */
  VEC(struct sym_sent) posted;
  /* properties and environments */
  const struct sym_state *before, *after;
  truth *const *heard; /* by receiver and sender; NULL: no clause of an environment */
  truth *const *corrupt;
};

void scope_init(struct scope *, struct encoder *);
/* As process p in a state: vars are copied. */
void scope_of_process(struct scope *, struct encoder *, const struct sym_state *, uint32_t p);

truth scope_narrow(struct scope *, truth); /* adds a condition to the path, returns the old one */
/* Under the conditions of the path, and this one, the model has an error. */
void scope_fail(struct scope *, truth);

struct sym_value *encode_node(struct scope *, const struct node *);
truth encode_truth(struct scope *, const struct node *);
/* MIN MAX PICK RANDOM MAJORITY FIRST LAST or an option: is there one, and which? */
truth encode_maybe(struct scope *, const struct node *, struct sym_value **);
struct sym_value *encode_aggregate(struct scope *, const struct node *);
/* Refuses a sum that is too large to follow. */
struct number encode_sum(struct encoder *, struct number, struct number);
/* The value, which must be of the type; else that is an error. */
struct sym_value *encode_checked(struct scope *, const struct type *, struct sym_value *);

/* Calls visit for everything that the generators can bind, with the condition (the binding is one) on top of the path;
   false stops. */
typedef bool sym_binding_fn(struct scope *, void *context, truth bound);
bool encode_generators(struct scope *, const struct generator *, uint32_t n, sym_binding_fn *, void *context);

/* Which process is it? One truth for each. */
truth process_is(struct scope *, const struct sym_value *, uint32_t p);
truth sym_process_active(struct encoder *, const struct sym_process *);
truth sym_process_faulty(struct encoder *, const struct sym_process *);
struct sym_value *encode_neighbours(struct scope *);

/* A guard: whether it holds; slots get a witness, freely chosen. */
truth encode_guard(struct scope *, const struct guard *);
void encode_block(struct scope *, const struct block *);
/* One of those whose guard holds, if there is any; index: which. */
struct number encode_choice(struct scope *, const truth *guard, size_t n);

/* ---- states and steps ---- */

/* An initial state: facts say which. error: choosing first values fails. */
struct sym_state *encode_start(struct encoder *, truth *allowed, truth *error);
/* Any state at a point of the schedule: only its types are known. */
struct sym_state *encode_any_state(struct encoder *, uint32_t point);
/* Initial values up to renaming of values, their order, and of processes, as far as that is licensed. */
struct licences;
truth encode_representative(struct encoder *, const struct sym_state *, const struct licences *);
truth states_equal(struct encoder *, const struct sym_state *, const struct sym_state *);
/* What is true of every state that can be reached, as far as faults are concerned: they are within their limits. */
truth state_invariant(struct encoder *, const struct sym_state *);
/* The variables of a state that encode_any_state made, always in the same order. */
void state_variables(struct encoder *, const struct sym_state *, struct leaves *);

/* What is free in a step: what a witness tells. */
struct sym_round {
  truth *crash;                /* by process */
  struct sym_value ***oracles; /* by process and variable; NULL: not chosen in this round */
  truth **heard;               /* by receiver and sender */
  truth **forged;
  struct sym_value ***forgery; /* what it got instead; NULL: nothing can be forged there */
  truth **sent;                /* by sender and receiver */
  struct sym_value ***message;
  const struct type ***type; /* of the message, by sender and receiver */
};
struct sym_step {
  const struct sym_state *before;
  struct sym_state *after;
  truth allowed;            /* by the environment, and no error: it leads to `after` */
  truth fails;              /* allowed, and it ends in an error of the model */
  struct sym_round round;   /* rounds */
  struct sym_event *events; /* steps: just one of these happens */
  uint32_t nevents;
};
struct sym_event {
  uint32_t process, action; /* NO_ACTION: not one of its actions */
  truth it;
};
struct sym_step *encode_round(struct encoder *, const struct sym_state *);
struct sym_step *encode_step(struct encoder *, const struct sym_state *); /* models of steps */
/* Nothing changes but messages on their way. */
truth encode_stutter(struct encoder *, const struct sym_state *, const struct sym_state *);
/* encode_channels.c: the messages that an action takes or looks at. */
struct sym_taken {
  struct sym_packet *packets; /* those of the state, as the action leaves them */
  struct number kept;         /* how many are duplicated */
};
/* Binds what the action waits for: true if it is there, and fits; path: on top of the scope's. */
truth encode_receive(struct scope *, const struct sym_state *, const struct action *, struct sym_taken *);
/* The packets after those were sent, if `it`; all of the state's before. */
void encode_sends(struct encoder *, struct sym_state *next, const struct scope *, truth it, const truth *out);
/* Channels that are sets, in states that need not be reachable: a packet for every message that can ever lie there; and
   the packets of a state put into that form. */
void encode_any_packets(struct encoder *, struct sym_state *);
void normalise_packets(struct encoder *, struct sym_state *);
/* Every channel holds no more than it may. */
truth channels_bounded(struct encoder *, const struct sym_state *);
struct sym_value *encode_first_value(struct scope *, const struct var *, const char *name);
truth recoveries_limited(struct encoder *, const truth *recovered);

/* A formula on a state (after NULL) or a step. */
struct verdict_terms {
  truth holds, error; /* holds: meaningless where error */
};
struct verdict_terms encode_formula(struct encoder *, const struct node *, const struct sym_state *before,
                                    const struct sym_state *after);

/* encode_environment.c */
void environment_check_clauses(struct encoder *); /* refuses one that nobody looks for */
truth faults_limited(struct encoder *, enum clause_kind, const truth *faulty);
truth environment_allows(struct encoder *, const struct sym_state *, const struct sym_round *);
/* Whoever fails to send fails whatever is heard: crashes and oracles alone can forbid it. */
truth environment_allows_failing(struct encoder *, const struct sym_state *, const struct sym_round *);
/* What the round is charged as lost, as corrupted, as far as anybody wants to know. */
struct number environment_charged(struct encoder *, const struct sym_state *, const struct sym_round *,
                                  enum clause_kind);
truth encode_must_hear(struct encoder *, const struct sym_state *, const struct sym_round *, uint32_t p, uint32_t q);

#endif
