/* Symbolic execution of the typed model: the second meaning of the language, next to the interpreter, and independent
   of it. Internal to src/export. */
#ifndef RONDO_EXPORT_LOWER_H
#define RONDO_EXPORT_LOWER_H

#include "export/program.h"

#include <setjmp.h>

/* A value taken apart: truth values and numbers.
     BOOL, INT, RANGE, ENUM, PROCESS, ROUND: one; OPTION: is there one, then the element; SET: a truth value for each
     value of the element type (identities: for each process); RECORD, ARRAY: one part after the other; SEQUENCE: the
     length, then as many elements as there can be.
   What is not there (none, beyond the length) has the first value of its type, so equal values have equal leaves. */
struct symbol {
  const struct type *type;
  wire *leaf; /* in the program's arena */
};

struct sent_message { /* rounds: by receiver; steps: in the order of sending */
  wire when;
  uint32_t to, kind;
  struct symbol message;
  struct span at;
};

struct received_message {
  wire when;
  uint32_t sender;
  struct symbol message;
};

struct local_state { /* of one process */
  struct symbol *vars;
  struct symbol *initial; /* by variable; leaf NULL: not kept */
  wire halted, crashed, recovered, omits_send, omits_receive, byzantine;
};

struct global_state {
  struct local_state *local; /* by process */
  struct symbol *globals;
  wire rounds;
};

struct lowering {
  struct program *program;
  struct model *model;
  struct circuit *circuit;
  struct arena *arena;
  struct diags *diags;
  jmp_buf *refused;
  uint32_t max_rounds;
  /* the cells */
  struct global_state now;
  uint32_t point_cell, phase_cell, rounds_cell, lost_cell, corrupted_cell, duplicated_cell;
  /* the rule at hand */
  struct rule *rule;
  wire possible;    /* what was assumed so far */
  /* one evaluation */
  wire path;        /* under which condition this is evaluated at all */
  bool quiet;       /* failing makes it false instead of an error */
  wire failed;      /* quiet: did it fail */
  uint32_t role, me, point;
  wire phase;
  struct symbol *slot;
  wire *slot_sender; /* of messages */
  struct local_state *self;
  struct symbol *globals;
  struct received_message *received;
  uint32_t nreceived;
  VEC(struct sent_message) outbox;
  const struct global_state *before, *after; /* properties and clauses */
  wire *const *heard, *const *corrupt;       /* clauses: [p][q] */
  unsigned depth;
  struct steps *steps; /* lower_steps.c */
  struct node **live_atoms; /* lower_live.c: of the live property */
};

_Noreturn void refuse(struct lowering *, struct span, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* What stands behind a switch over operators, over the kinds of types: it has no translation. */
_Noreturn void refuse_unknown(struct lowering *, const struct node *);
_Noreturn void refuse_type(struct lowering *, struct span);
/* If the circuit got numbers that some format cannot hold: none tells an overflow, which is an error of the model. */
void refuse_large(struct lowering *, struct span);

/* --- values (lower_value.c) --- */
uint32_t type_leaves(struct lowering *, const struct type *, struct span);
struct symbol symbol_new(struct lowering *, const struct type *);
struct symbol symbol_of_value(struct lowering *, const struct type *, value);
struct symbol symbol_default(struct lowering *, const struct type *);
struct symbol symbol_number(struct lowering *, const struct type *, wire);
struct symbol symbol_truth(struct lowering *, wire);
struct symbol symbol_if(struct lowering *, wire, struct symbol, struct symbol);
struct symbol symbol_part(struct lowering *, struct symbol, uint32_t i); /* field of a record, element of an array */
struct symbol symbol_option(struct lowering *, const struct type *, wire there, struct symbol element);
struct symbol option_element(struct lowering *, struct symbol);
struct symbol sequence_element(struct lowering *, struct symbol, uint32_t i);
wire symbol_equal(struct lowering *, struct symbol, struct symbol);
wire symbol_less(struct lowering *, struct symbol, struct symbol, bool or_equal); /* value_compare's order */
wire symbol_fits(struct lowering *, const struct type *, struct symbol);
/* The same value, laid out as that type wants it: sequences of other lengths. */
struct symbol symbol_as(struct lowering *, struct symbol, const struct type *);
/* Sets: the leaf of the i-th possible member; members as symbols. */
uint32_t set_leaves(struct lowering *, const struct type *);
struct symbol set_member_at(struct lowering *, const struct type *, uint32_t i);
wire set_holds(struct lowering *, struct symbol set, struct symbol member);
void set_add(struct lowering *, struct symbol set, wire when, struct symbol member);
/* One number for each value of a finite type, 0 .. count - 1. */
uint64_t code_count(struct lowering *, const struct type *, struct span);
wire symbol_code(struct lowering *, struct symbol);
struct symbol symbol_of_code(struct lowering *, const struct type *, wire);

/* --- expressions (lower_expr.c, lower_aggregate.c) --- */
wire path_and(struct lowering *, wire); /* narrows the path, returns the old one */
void fail_if(struct lowering *, wire, struct span, const char *format, ...) __attribute__((format(printf, 4, 5)));
struct symbol lower_node(struct lowering *, const struct node *);
wire lower_truth(struct lowering *, const struct node *);
wire lower_number(struct lowering *, const struct node *);
wire lower_maybe(struct lowering *, const struct node *, struct symbol *); /* is there one */
struct symbol lower_aggregate(struct lowering *, const struct node *);
/* Every binding that is not impossible; `when` includes conditions of generators. The path is narrowed meanwhile. */
typedef void binding_visit(struct lowering *, void *context, wire when);
void lower_bindings(struct lowering *, const struct generator *, uint32_t n, binding_visit *, void *context);
void lower_check(struct lowering *, const struct type *, struct symbol, struct span, const char *what);
struct symbol neighbours_of(struct lowering *);

/* --- choices --- */
wire choice_number(struct lowering *, const char *name, int64_t lo, int64_t hi);
wire choice_truth(struct lowering *, const char *name);
void assume(struct lowering *, wire);
/* One of n candidates of which some are possible: which[i] is true for the one that is taken, if any is possible. */
void choose_one(struct lowering *, const char *name, const wire *possible, uint32_t n, wire *which);
struct symbol choose_value(struct lowering *, const char *name, const struct type *, struct span);

/* --- statements (lower_stmt.c) --- */
void lower_send(struct lowering *, const struct send *); /* into the outbox */
wire lower_guard(struct lowering *, const struct guard *);
void lower_block(struct lowering *, const struct block *);
struct local_state local_copy(struct lowering *, uint32_t role, const struct local_state *);
void local_merge(struct lowering *, uint32_t role, wire when, struct local_state *then, const struct local_state *other);
struct symbol *globals_copy(struct lowering *, const struct symbol *);
void begin_process(struct lowering *, uint32_t p, struct local_state *, struct symbol *globals);

/* --- variables (lower_cells.c) --- */
void declare_cells(struct lowering *);
const char *property_name(struct lowering *, const char *); /* no word of any of the languages */

const char *plain_name(struct lowering *, const char *);
const char *process_name(struct lowering *, uint32_t p); /* P_1 */
uint32_t cell_new(struct lowering *, const char *name, bool truth, int64_t lo, int64_t hi, bool visible,
                  const char *comment);
wire cell_wire(struct lowering *, uint32_t cell);

/* --- the program (lower.c) --- */
struct rule *rule_begin(struct lowering *, const char *name, struct span);
void rule_guard(struct lowering *, wire);
void rule_guard_or_assume(struct lowering *, wire); /* a guard if it is short */
/* What a variable begins with; there: only if it is asked at all. */
struct symbol first_value(struct lowering *, const struct var *, const char *name, wire there);
void rule_change(struct lowering *, uint32_t cell, wire value);
void rule_change_allowed(struct lowering *, uint32_t cell, wire value); /* what was assumed keeps it in its range */
/* Changes every scalar to what the states say, judges step properties, and closes the rule. */
void rule_end(struct lowering *, const struct global_state *after);
/* What is lowered now speaks of a state, or of a step. */
void begin_property(struct lowering *, const struct global_state *before, const struct global_state *after);
wire active(struct lowering *, const struct local_state *);
const struct clause *clause_of(const struct lowering *, enum clause_kind);
/* At most so many of a kind of fault: faulty[p] by process. */
wire faults_fit(struct lowering *, enum clause_kind, const wire *faulty, bool recovering);
/* With the defs that it calls; an operator that nobody knows may stand for any. */
bool mentions(const struct lowering *, const struct node *, enum op);

/* --- live properties (lower_live.c) --- */
void live_begin(struct lowering *, uint32_t property, uint32_t environment);
/* The rule at hand is this action's. code: of the one message that it takes, else NO_WIRE; forged: some of them are lies. */
void live_action(struct lowering *, uint32_t p, const struct action *, uint32_t sender, wire code, wire forged);
/* The rule at hand meets the environment's clause, if that is about runs, under this condition. */
void live_clause(struct lowering *, const struct clause *, wire when);
void live_rule(struct lowering *); /* the rule at hand is any step but the start */
void live_end(struct lowering *);

void lower_rounds(struct lowering *); /* lower_rounds.c */
void lower_steps(struct lowering *);  /* lower_steps.c */
void steps_declare(struct lowering *);

#endif
