/* From the typed model to a program. Expressions and statements are lowered by src/lower; this adds variables, rules,
   choices and codes of messages. Private to src/export. */
#ifndef RONDO_EXPORT_LOWER_H
#define RONDO_EXPORT_LOWER_H

#include "export/program.h"
#include "lower/environment_clauses.h"
#include "lower/lowering.h"

struct model_lowering {
  struct lowering base; /* first, so that a scope leads to it */
  struct scope scope;   /* the current evaluation */
  struct program *program;
  uint32_t max_rounds;
  /* the state variables */
  struct sym_state now;
  uint32_t point_variable, phase_variable, rounds_variable, lost_variable, corrupted_variable, duplicated_variable;
  /* the current rule */
  struct rule *rule;
  expr_id possible;             /* conjunction of the assumptions so far */
  struct channel_layout *steps; /* lower_steps.c */
  struct node **live_atoms;     /* lower_live.c: atoms of the liveness property */
};

void model_lowering_init(struct model_lowering *, struct program *, struct model *, uint32_t max_rounds,
                         jmp_buf *refused);
_Noreturn void refuse(struct model_lowering *, struct span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- codes of values (value_codes.c): a numbering of the values of a finite type, 0 .. count - 1 --- */
uint64_t code_count(struct model_lowering *, const struct type *, struct span);
expr_id code_of_value(struct model_lowering *, const struct type *, const struct sym_value *);
struct sym_value *value_of_code(struct model_lowering *, const struct type *, expr_id);

/* --- choices (rule_choices.c) --- */
expr_id choice_number(struct model_lowering *, const char *name, int64_t lo, int64_t hi);
expr_id choice_truth(struct model_lowering *, const char *name);
void assume(struct model_lowering *, expr_id);
/* Assumes a condition of the model. Where the evaluation has failed its value is meaningless, and the rule must still
   be possible, to report the error. */
void assume_evaluated(struct model_lowering *, expr_id);

/* --- evaluation --- */
/* Evaluates for process p in the state. The path condition is true. */
void begin_process(struct model_lowering *, const struct sym_state *, uint32_t p);
/* Starts the lowering of a property of a state or of a step. */
void begin_property(struct model_lowering *, const struct sym_state *before, const struct sym_state *after);
/* Until the returned function is restored, errors of the model are collected in the scope instead of the rule. */
typedef void fail_fn(struct scope *, truth when, struct span, const char *text);
fail_fn *collect_failures(struct model_lowering *);
expr_id lower_number(struct model_lowering *, const struct node *);
/* A copy of the process, with variables of its own. */
struct sym_process process_copy(struct model_lowering *, uint32_t p, const struct sym_process *);
/* The result of the current evaluation: the process that it is about, with its variables. */
struct sym_process process_after(struct model_lowering *, const struct sym_process *before);

/* --- variables (lower_variables.c) --- */
void declare_variables(struct model_lowering *);
const char *property_name(struct model_lowering *, const char *); /* a name that is reserved in no target language */

const char *plain_name(struct model_lowering *, const char *);
const char *process_name(struct model_lowering *, uint32_t p); /* P_1 */
uint32_t variable_new(struct model_lowering *, const char *name, bool is_truth, int64_t lo, int64_t hi, bool visible,
                      const char *comment);
expr_id variable_expr(struct model_lowering *, uint32_t cell);

/* --- the program (lower.c) --- */
void rule_release(struct rule *);
struct rule *rule_begin(struct model_lowering *, const char *name, struct span);
void rule_guard(struct model_lowering *, expr_id);
void rule_guard_or_assume(struct model_lowering *, expr_id); /* as a guard if it is short, else as an assumption */
/* The initial value of a variable; there: the condition under which it has one. */
struct sym_value *first_value(struct model_lowering *, const struct var *, const char *name, expr_id there);
void rule_change(struct model_lowering *, uint32_t cell, expr_id value);
void rule_change_allowed(struct model_lowering *, uint32_t cell,
                         expr_id value); /* the assumptions keep the value in its range */
/* Adds the updates of all variables that differ in `after`, evaluates step properties, and closes the rule. */
void rule_end(struct model_lowering *, const struct sym_state *after);

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
