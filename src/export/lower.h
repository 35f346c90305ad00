/* Symbolic execution of the typed model: a second implementation of the language, independent of the interpreter.
   Private to src/export. */
#ifndef RONDO_EXPORT_LOWER_H
#define RONDO_EXPORT_LOWER_H

#include "export/program.h"
#include "lower/environment_clauses.h"

#include <setjmp.h>

/* A value flattened into leaves, which are truth values and numbers.
   BOOL, INT, RANGE, ENUM, PROCESS, ROUND: one leaf; OPTION: whether there is an element, then the element; SET: a truth
   value for each value of the element type (identities: for each process); RECORD, ARRAY: the parts in order; SEQUENCE:
   the length, then the maximal number of elements.
   Absent elements (of an empty option, or beyond the length) have the first value of their type, so equal values have
   equal leaves. */
struct flat_value {
  const struct type *type;
  expr_id *leaf; /* in the program's arena */
};

struct sent_message { /* round models: by receiver; step models: in the order of sending */
  expr_id when;
  uint32_t to, kind;
  struct flat_value message;
  struct span at;
};

struct received_message {
  expr_id when;
  uint32_t sender;
  struct flat_value message;
};

struct local_state { /* the state of one process */
  struct flat_value *vars;
  struct flat_value *initial; /* by variable; leaf NULL: not kept */
  expr_id halted, crashed, recovered, omits_send, omits_receive, byzantine;
};

struct global_state {
  struct local_state *local; /* by process */
  struct flat_value *globals;
  expr_id rounds;
};

struct model_lowering {
  struct program *program;
  struct model *model;
  struct expr_graph *expr_graph;
  struct arena *arena;
  struct diags *diags;
  jmp_buf *refused;
  uint32_t max_rounds;
  /* the state variables */
  struct global_state now;
  uint32_t point_variable, phase_variable, rounds_variable, lost_variable, corrupted_variable, duplicated_variable;
  /* the current rule */
  struct rule *rule;
  expr_id possible; /* conjunction of the assumptions so far */
  /* the current evaluation */
  expr_id path;          /* path condition */
  bool failure_is_false; /* a failure makes the result false instead of an error */
  expr_id failed;        /* if failure_is_false: the condition of a failure */
  uint32_t role, me, point;
  expr_id phase;
  struct flat_value *slot;
  expr_id *slot_sender; /* senders of messages in slots */
  struct local_state *self;
  struct flat_value *globals;
  struct received_message *received;
  uint32_t nreceived;
  VEC(struct sent_message) outbox;
  const struct global_state *before, *after; /* properties and clauses */
  expr_id *const *heard, *const *corrupt;    /* clauses: [p][q] */
  unsigned depth;
  struct channel_layout *steps; /* lower_steps.c */
  struct node **live_atoms;     /* lower_live.c: atoms of the liveness property */
};

_Noreturn void refuse(struct model_lowering *, struct span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The default cases of switches over operators and over kinds of types: they have no translation. */
_Noreturn void refuse_unknown(struct model_lowering *, const struct node *);
_Noreturn void refuse_type(struct model_lowering *, struct span);
/* Refuses if the graph contains numbers that some format cannot hold. No format reports an overflow, which is an error
   of the model. */
void refuse_large(struct model_lowering *, struct span);

/* --- values (flat_value.c) --- */
uint32_t type_leaves(struct model_lowering *, const struct type *, struct span);
struct flat_value flat_new(struct model_lowering *, const struct type *);
struct flat_value flat_of_value(struct model_lowering *, const struct type *, value);
struct flat_value flat_default(struct model_lowering *, const struct type *);
struct flat_value flat_number(struct model_lowering *, const struct type *, expr_id);
struct flat_value flat_truth(struct model_lowering *, expr_id);
struct flat_value flat_if(struct model_lowering *, expr_id, struct flat_value, struct flat_value);
struct flat_value flat_part(struct model_lowering *, struct flat_value,
                            uint32_t i); /* field of a record, element of an array */
struct flat_value flat_option(struct model_lowering *, const struct type *, expr_id there, struct flat_value element);
struct flat_value option_element(struct model_lowering *, struct flat_value);
struct flat_value sequence_element(struct model_lowering *, struct flat_value, uint32_t i);
expr_id flat_equal(struct model_lowering *, struct flat_value, struct flat_value);
expr_id flat_less(struct model_lowering *, struct flat_value, struct flat_value,
                  bool or_equal); /* the order of value_compare */
expr_id flat_fits(struct model_lowering *, const struct type *, struct flat_value);
/* The same value in the layout of another type, such as a sequence type of another length. */
struct flat_value flat_as(struct model_lowering *, struct flat_value, const struct type *);
/* Sets: the number of leaves, one per possible member, and members as flat values. */
uint32_t flat_set_leaves(struct model_lowering *, const struct type *);
struct flat_value flat_set_member(struct model_lowering *, const struct type *, uint32_t i);
expr_id flat_set_has(struct model_lowering *, struct flat_value set, struct flat_value member);
void flat_set_add(struct model_lowering *, struct flat_value set, expr_id when, struct flat_value member);
/* A numbering of the values of a finite type, 0 .. count - 1. */
uint64_t code_count(struct model_lowering *, const struct type *, struct span);
expr_id flat_code(struct model_lowering *, struct flat_value);
struct flat_value flat_of_code(struct model_lowering *, const struct type *, expr_id);

/* --- expressions (lower_expr.c, lower_aggregate.c) --- */
expr_id path_and(struct model_lowering *, expr_id); /* adds a conjunct to the path condition; returns the old one */
void fail_if(struct model_lowering *, expr_id, struct span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
struct flat_value lower_node(struct model_lowering *, const struct node *);
expr_id lower_truth(struct model_lowering *, const struct node *);
expr_id lower_number(struct model_lowering *, const struct node *);
expr_id lower_maybe(struct model_lowering *, const struct node *,
                    struct flat_value *); /* the condition that there is a value */
struct flat_value lower_aggregate(struct model_lowering *, const struct node *);
/* Called for every binding that may be possible. `when` includes the conditions of the generators and is part of the
   path condition during the call. */
typedef void binding_visit(struct model_lowering *, void *context, expr_id when);
void lower_bindings(struct model_lowering *, const struct generator *, uint32_t n, binding_visit *, void *context);
void lower_check(struct model_lowering *, const struct type *, struct flat_value, struct span, const char *what);
struct flat_value neighbours_of(struct model_lowering *);

/* --- choices --- */
expr_id choice_number(struct model_lowering *, const char *name, int64_t lo, int64_t hi);
expr_id choice_truth(struct model_lowering *, const char *name);
void assume(struct model_lowering *, expr_id);
/* Chooses one of the possible candidates: which[i] is true for the chosen one, if any is possible. */
void choose_one(struct model_lowering *, const char *name, const expr_id *possible, uint32_t n, expr_id *which);
struct flat_value choose_value(struct model_lowering *, const char *name, const struct type *, struct span);

/* --- statements (lower_stmt.c) --- */
void lower_send(struct model_lowering *, const struct send *); /* appends to the outbox */
expr_id lower_guard(struct model_lowering *, const struct guard *);
void lower_block(struct model_lowering *, const struct block *);
struct local_state local_copy(struct model_lowering *, uint32_t role, const struct local_state *);
void local_merge(struct model_lowering *, uint32_t role, expr_id when, struct local_state *then,
                 const struct local_state *other);
struct flat_value *globals_copy(struct model_lowering *, const struct flat_value *);
void begin_process(struct model_lowering *, uint32_t p, struct local_state *, struct flat_value *globals);

/* --- variables (lower_variables.c) --- */
void declare_variables(struct model_lowering *);
const char *property_name(struct model_lowering *, const char *); /* a name that is reserved in no target language */

const char *plain_name(struct model_lowering *, const char *);
const char *process_name(struct model_lowering *, uint32_t p); /* P_1 */
uint32_t variable_new(struct model_lowering *, const char *name, bool truth, int64_t lo, int64_t hi, bool visible,
                      const char *comment);
expr_id variable_expr(struct model_lowering *, uint32_t cell);

/* --- the program (lower.c) --- */
void rule_release(struct rule *);
struct rule *rule_begin(struct model_lowering *, const char *name, struct span);
void rule_guard(struct model_lowering *, expr_id);
void rule_guard_or_assume(struct model_lowering *, expr_id); /* as a guard if it is short, else as an assumption */
/* The initial value of a variable; there: the condition under which it has one. */
struct flat_value first_value(struct model_lowering *, const struct var *, const char *name, expr_id there);
void rule_change(struct model_lowering *, uint32_t cell, expr_id value);
void rule_change_allowed(struct model_lowering *, uint32_t cell,
                         expr_id value); /* the assumptions keep the value in its range */
/* Adds the updates of all variables that differ in `after`, evaluates step properties, and closes the rule. */
void rule_end(struct model_lowering *, const struct global_state *after);
/* Starts the lowering of a property of a state or of a step. */
void begin_property(struct model_lowering *, const struct global_state *before, const struct global_state *after);
expr_id active(struct model_lowering *, const struct local_state *);
/* The number of faulty processes is within the limits for this kind of fault; faulty[p] by process. */
expr_id faults_fit(struct model_lowering *, enum clause_kind, const expr_id *faulty, bool recovering);

/* --- liveness properties (lower_live.c) --- */
void live_begin(struct model_lowering *, uint32_t property, uint32_t environment);
/* The current rule belongs to this action. code: of the single message that it receives, else NO_EXPR; forged: some of
   the messages are forged. */
void live_action(struct model_lowering *, uint32_t p, const struct action *, uint32_t sender, expr_id code,
                 expr_id forged);
/* The current rule satisfies the clause under this condition, if the clause is about runs. */
void live_clause(struct model_lowering *, const struct clause *, expr_id when);
void live_rule(struct model_lowering *); /* the current rule is a step other than the start */
void live_end(struct model_lowering *);

void lower_rounds(struct model_lowering *); /* lower_rounds.c */
void lower_steps(struct model_lowering *);  /* lower_steps.c */
void channels_declare(struct model_lowering *);

#endif
