/* From the typed model to an expression graph, expression by expression and statement by statement. The solver engines
   (src/symbolic) and the exporters (src/export) use it. It evaluates in the same order as the interpreter (src/interp)
   but shares no code with it, so the interpreter is an independent check.

   Both branches of a condition are evaluated, under path conditions, and their results are merged. Loops and
   quantifiers are unrolled. */
#ifndef RONDO_LOWER_LOWERING_H
#define RONDO_LOWER_LOWERING_H

#include "base/arena.h"
#include "lower/sym_value.h"

#include <setjmp.h>
#include <signal.h>

/* Why a model cannot be lowered, or not in reasonable size. */
struct lowering_refusal {
  struct span at; /* {0, 0}: no particular place */
  char reason[400];
};

struct scope;

/* What its clients share, and what they decide. */
struct lowering {
  struct model *model;
  struct expr_graph *graph;
  struct arena *arena;
  jmp_buf *refused; /* target of the longjmp of a refusal */
  struct lowering_refusal refusal;
  const char *refusal_prefix;        /* before the reasons of this folder */
  struct span at;                    /* place of the current expression, for refusals */
  const volatile sig_atomic_t *stop; /* nonzero: lowering is to stop; NULL: never */
  /* An error of the model happens if `when` holds. NULL: collected in the scope's `error`. */
  void (*fail)(struct scope *, truth when, struct span, const char *text);
  /* A nondeterministic choice: which[i] is true for the chosen alternative, whose guard holds if any does. */
  void (*choose)(struct scope *, const char *name, const truth *guard, size_t n, truth *which);
  /* Exporters: assigned values are canonical, and no number exceeds EXPR_NUMBER_MOST. */
  bool exports;
};

/* ---- states ---- */

/* One process in a state. */
struct sym_process {
  truth halted, crashed, omits_send, omits_receive, byzantine, recovered;
  struct number fault; /* solvers: the initial fault, 0 for none, else the number of the clause */
  struct sym_value **vars;
  struct sym_value **initial; /* by variable: initial values of inputs; NULL: not read */
};

/* A global state of a model. Exporters have variables of their own for the schedule, the budgets and the channels. */
struct sym_state {
  uint32_t point;              /* round models: position in the schedule, always a constant */
  struct number rounds, phase; /* solvers: constants if the run starts in an initial state */
  struct number lost, corrupted, duplicated;
  struct sym_value **globals;
  struct sym_process *of;     /* by process */
  struct sym_packet *packets; /* solvers, step models: all packets sent so far */
  uint32_t npackets;
};

/* The message received from one sender, or one message of a quorum. */
struct sym_received {
  truth there;
  struct sym_value *message;
  struct number sender;
};

/* A message that is sent if `when` holds. */
struct sym_sent {
  truth when;
  uint32_t to, kind;
  struct sym_value *message;
  struct span at;
};

/* Growing arrays in an arena, so that a refusal (longjmp) does not leak them. */
#define arena_push(arena, v, x)                                                                                        \
  ((v)->at = arena_grown(arena, (v)->at, &(v)->cap, (v)->n, sizeof *(v)->at), (void)((v)->at[(v)->n++] = (x)))

/* ---- evaluation ---- */

struct scope {
  struct lowering *l;
  truth path;  /* the path condition of this evaluation */
  truth error; /* some evaluation so far failed; results are meaningless where it is true, so callers test it first */
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
  VEC(struct sym_sent) posted;
  /* properties and environments */
  const struct sym_state *before, *after;
  truth *const *heard; /* by receiver and sender; NULL outside environment clauses */
  truth *const *corrupt;
};

void scope_init(struct scope *, struct lowering *);
/* A scope for process p in the state. Its variables are copied. */
void scope_of_process(struct scope *, struct lowering *, const struct sym_state *, uint32_t p);
/* A scope for a formula over a state (`after` is NULL) or a step, or for a clause of an environment. */
void scope_of_formula(struct scope *, struct lowering *, const struct sym_state *before, const struct sym_state *after);

truth scope_narrow(struct scope *, truth); /* adds a conjunct to the path condition; returns the old one */
/* Records an error of the model under the path condition and this one. */
void scope_fail(struct scope *, truth, struct span, const char *format, ...) __attribute__((format(printf, 4, 5)));

_Noreturn void lower_refuse(struct lowering *, struct span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The default cases of switches over operators and over kinds of types: they have no translation. */
_Noreturn void refuse_unknown_operator(struct lowering *, const struct node *);
_Noreturn void refuse_unknown_type(struct lowering *);

void refuse_large_numbers(struct lowering *, struct span); /* exporters only */

/* expressions.c, aggregates.c */
struct sym_value *lower_node(struct scope *, const struct node *);
truth lower_truth(struct scope *, const struct node *);
/* MIN MAX PICK RANDOM MAJORITY FIRST LAST or an option: true if there is a value, which is stored. */
truth lower_maybe(struct scope *, const struct node *, struct sym_value **);
struct sym_value *lower_aggregate(struct scope *, const struct node *);
/* Refuses a sum whose bounds are too large. */
struct number lower_sum(struct lowering *, struct number, struct number);
/* The value itself. It is an error of the model if it is not of the type; what: what the error calls it. */
struct sym_value *lower_checked(struct scope *, const struct type *, struct sym_value *, struct span, const char *what);

/* Calls the visitor for every possible binding of the generators. `bound` is the condition that it really is a binding,
   and is already part of the path condition. Stops when the visitor returns false. */
typedef bool binding_visit(struct scope *, void *context, truth bound);
bool lower_bindings(struct scope *, const struct generator *, uint32_t n, binding_visit *, void *context);

/* Is the value process p? */
truth process_is(struct scope *, const struct sym_value *, uint32_t p);
truth sym_process_active(struct lowering *, const struct sym_process *);
truth sym_process_faulty(struct lowering *, const struct sym_process *);
struct sym_value *lower_neighbours(struct scope *);
/* The number of faulty processes is within the limits of the environment for this kind of fault; recovering: within
   those for processes that recover. faulty: by process. */
truth faults_limited(struct lowering *, const struct environment *, enum clause_kind, const truth *faulty,
                     bool recovering);

/* statements.c */

/* True if the guard holds. Its slots are bound to a nondeterministically chosen witness. */
truth lower_guard(struct scope *, const struct guard *);
void lower_block(struct scope *, const struct block *);
/* Is p among the receivers? to: the value of the target's expression, if it has one. */
truth send_reaches(struct scope *, const struct send *, const struct sym_value *to, uint32_t p);
/* Appends the messages of a send to those posted, in order of receivers. */
void lower_send(struct scope *, const struct send *);

#endif
