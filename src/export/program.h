/* A model at one value of its parameters, in one environment, as a program over finite variables: what every foreign
   format is printed from. It is made from the typed model by symbolic execution (export/lower.h): loops and quantifiers
   are unrolled, compound values are taken apart, every free choice is a parameter of a rule. Whatever a rule computes
   is a node of the expression graph (lower/expr_graph.h) over the variables and its parameters. */
#ifndef RONDO_EXPORT_PROGRAM_H
#define RONDO_EXPORT_PROGRAM_H

#include "analysis/features.h"
#include "logic/ltl.h"
#include "lower/expr_graph.h"

struct state_variable { /* a variable; before the start all are their lowest value */
  const char *name;
  bool truth;
  int64_t lo, hi;
  uint32_t length;     /* > 0: an array of so many */
  bool visible;        /* of a process or of shared memory: a step that changes none of these stutters */
  const char *comment; /* what it stands for, or NULL */
};

struct choice { /* a parameter of a rule: lo .. hi */
  const char *name;
  bool truth;
  int64_t lo, hi;
};

struct variable_update { /* in order; those of arrays only happen if the condition holds */
  uint32_t cell;
  expr_id value; /* scalars */
  expr_id condition, index;
  int64_t by;    /* arrays: added to the element */
  bool absorbed; /* arrays of truth values, as it were: 1 + 1 is 1 */
};

struct rule_failure { /* an error of the model */
  expr_id when;
  const char *message;
  struct span at;
};

struct satisfied_assumption { /* of a step with what is assumed of runs */
  uint32_t assumption;
  expr_id when;
};

/* One step, atomic: for all values of its choices, if guard and possible hold, all changes happen at once. */
struct rule {
  const char *name;
  struct span at;
  VEC(struct choice) choices;
  VEC(expr_id) guards; /* conjuncts over variables and choices alone, cheap */
  expr_id possible;    /* what is left of the conditions */
  VEC(struct rule_failure) failures;
  VEC(struct variable_update) changes;        /* values are computed from what was before all of them */
  VEC(expr_id) steps;                         /* by program property: true of this step; NO_EXPR: not about steps */
  VEC(struct satisfied_assumption) satisfies; /* live: which assumptions this step satisfies, at most once each */
};

struct program_property {
  const struct property *property;
  const char *name; /* the property's, unless that means something in one of the languages */
  expr_id holds;    /* in a state; steps: NO_EXPR */
};

/* Live: what is assumed of runs. A state in which it is idle asks for nothing. */
enum assumption_kind {
  ASSUME_AGAIN,   /* again and again there is a step that satisfies it, or it is idle */
  ASSUME_STRONG,  /* likewise, or from some time on it is idle for ever */
  ASSUME_FINALLY, /* from some time on every step satisfies it */
  ASSUME_ONCE     /* some step satisfies it */
};

struct assumption {
  enum assumption_kind kind;
  const char *what; /* in words */
  struct span at;
  expr_id idle; /* in a state */
};

struct program_live {
  const struct property *property; /* NULL: the program asks about states and steps */
  const char *name;
  struct ltl_pool *pool;
  ltl violated; /* over the atoms: holds of the runs, from the first state after the start, that violate it */
  VEC(expr_id) atoms;
  VEC(struct assumption) assumptions;
};

struct program {
  struct arena arena;
  const struct model *model;
  const struct environment *environment;
  struct expr_graph expr_graph;
  VEC(struct state_variable) variables;
  uint32_t started; /* the first variable: false only in the state before rule 0, which makes the initial states */
  VEC(struct rule) rules; /* rule 0: start; it is the only one before the start, and never after it */
  VEC(struct program_property) properties;
  struct program_live live; /* then there are no other properties */
  expr_id well_defined;     /* no property fails to have a value, in a state */
  VEC(const char *) notes;  /* what the reader must know */
};

/* NULL: the reasons are in diags. max_rounds: 0: none. The engine is the format. If it supports live properties, one
   that is asked alone becomes the program's query, and the model is changed for it; else such properties are left out.
 */
struct program *program_new(struct model *, uint32_t environment, const uint32_t *properties, uint32_t nproperties,
                            uint32_t max_rounds, enum engine_id, struct diags *);
void program_free(struct program *);

#endif
