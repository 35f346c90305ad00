/* An instance of a model in one environment, as a program over finite variables. All export formats are printed from
   it. It is made from the typed model by symbolic execution (export/lower.h): loops and quantifiers are unrolled,
   compound values are flattened, and every nondeterministic choice is a parameter of a rule. All values that a rule
   computes are nodes of the expression graph (lower/expr_graph.h) over the variables and the rule's choices. */
#ifndef RONDO_EXPORT_PROGRAM_H
#define RONDO_EXPORT_PROGRAM_H

#include "analysis/features.h"
#include "logic/ltl.h"
#include "lower/expr_graph.h"

struct state_variable { /* before the start, every variable has its lowest value */
  const char *name;
  bool truth;
  int64_t lo, hi;
  uint32_t length; /* > 0: an array of this length */
  bool visible; /* part of a process or of shared memory; a step that changes no visible variable is a stutter step */
  const char *comment; /* its meaning, or NULL */
};

struct choice { /* a parameter of a rule: lo .. hi */
  const char *name;
  bool truth;
  int64_t lo, hi;
};

struct variable_update { /* in order; updates of arrays are conditional */
  uint32_t cell;
  expr_id value; /* scalars */
  expr_id condition, index;
  int64_t by;    /* arrays: the amount added to the element */
  bool absorbed; /* arrays used as sets: 1 + 1 is 1 */
};

struct rule_failure { /* an error of the model */
  expr_id when;
  const char *message;
  struct span at;
};

struct satisfied_assumption { /* the step satisfies an assumption if `when` holds */
  uint32_t assumption;
  expr_id when;
};

/* One atomic step: for any values of its choices, if the guards and `possible` hold, all updates happen
   simultaneously. */
struct rule {
  const char *name;
  struct span at;
  VEC(struct choice) choices;
  VEC(expr_id) guards; /* cheap conjuncts over variables and choices only */
  expr_id possible;    /* the remaining conditions */
  VEC(struct rule_failure) failures;
  VEC(struct variable_update) changes; /* all values are computed in the state before the step */
  VEC(expr_id) steps; /* by property of the program: it holds for this step; NO_EXPR: not a step property */
  VEC(struct satisfied_assumption)
  satisfies; /* liveness: the assumptions that this step satisfies, at most one entry each */
};

struct program_property {
  const struct property *property;
  const char *name; /* the property's name, unless it is reserved in a target language */
  expr_id holds;    /* in a state; NO_EXPR for step properties */
};

/* Liveness: assumptions about runs. In a state in which an assumption is idle, it requires nothing. */
enum assumption_kind {
  ASSUME_AGAIN,   /* infinitely often a step satisfies it or it is idle */
  ASSUME_STRONG,  /* infinitely often a step satisfies it, or eventually it is idle forever */
  ASSUME_FINALLY, /* eventually every step satisfies it */
  ASSUME_ONCE     /* some step satisfies it */
};

struct assumption {
  enum assumption_kind kind;
  const char *what; /* in words */
  struct span at;
  expr_id idle; /* in a state */
};

struct program_live {
  const struct property *property; /* NULL: only properties of states and steps */
  const char *name;
  struct ltl_pool *pool;
  ltl violated; /* over the atoms: holds for the violating runs, from the first state after the start */
  VEC(expr_id) atoms;
  VEC(struct assumption) assumptions;
};

struct program {
  struct arena arena;
  const struct model *model;
  const struct environment *environment;
  struct expr_graph expr_graph;
  VEC(struct state_variable) variables;
  uint32_t started; /* the first variable: false only in the state before rule 0, which creates the initial states */
  VEC(struct rule) rules; /* rule 0: the start; only it is enabled before the start, and never afterwards */
  VEC(struct program_property) properties;
  struct program_live live; /* if set, there are no other properties */
  expr_id well_defined;     /* every property can be evaluated without an error in the state */
  VEC(const char *) notes;  /* notes for the reader of the export */
};

/* Returns NULL with the reasons in diags. max_rounds: 0 for no limit. The engine is the format. If it supports liveness
   properties, a single one becomes the query of the program, and the model is changed for it; otherwise liveness
   properties are omitted. */
struct program *program_new(struct model *, uint32_t environment, const uint32_t *properties, uint32_t nproperties,
                            uint32_t max_rounds, enum engine_id, struct diags *);
void program_free(struct program *);

#endif
