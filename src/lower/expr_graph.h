/* Expressions over numbered variables: a graph in which equal nodes are one, built bottom-up with constants folded.
   Numbers and truth values, nothing else. Exporters (export/program.h) print it, solver engines translate it.

   An expr_id is the name of a node; kids have smaller names than those who use them. */
#ifndef RONDO_LOWER_EXPR_GRAPH_H
#define RONDO_LOWER_EXPR_GRAPH_H

#include "base/diag.h"
#include "base/vec.h"

typedef uint32_t expr_id;
#define NO_EXPR UINT32_MAX

enum expr_kind {
  EXPR_NUMBER,     /* number; of truth: 0 or 1 */
  EXPR_VARIABLE,   /* index: a variable of the program, or of the solver */
  EXPR_ARRAY_READ, /* index: an array of the program; kid 0: which of its elements */
  EXPR_CHOICE,     /* index: a choice of the rule at hand; number: its highest value, for rules differ in that */
  EXPR_ADD,
  EXPR_SUB,
  EXPR_MUL,
  EXPR_DIV, /* by positive numbers, rounded down; of numbers that are not negative, unless `integers` */
  EXPR_MOD,
  EXPR_NOT,
  EXPR_AND,
  EXPR_OR,
  EXPR_EQ, /* of two numbers, or of two truth values */
  EXPR_LT,
  EXPR_LE,
  EXPR_ITE,         /* condition, then, else: numbers or truth values */
  EXPR_BOOL_TO_INT, /* 1 if true, else 0 */
  EXPR_BOUNDED      /* kid 0, which something else keeps within lo .. hi: solvers only */
};

#define EXPR_NO_LOWER INT64_MIN /* as a bound: there is none */
#define EXPR_NO_UPPER INT64_MAX

struct expr_node {
  enum expr_kind expr_kind;
  bool truth;
  bool used, shared; /* by a node; by several */
  uint32_t index;
  expr_id kid[3];
  uint32_t choices; /* one more than the highest choice that it depends on; 0: none */
  int64_t number;
  int64_t lo, hi; /* what a number can be */
  struct span at; /* where the source says so, {0, 0}: nowhere in particular */
};

struct expr_graph {
  VEC(struct expr_node) nodes;
  VEC(uint32_t) table; /* open addressing, expr_id + 1 */
  bool integers;       /* DIV and MOD of negative numbers are meant as they stand */
  bool large;          /* some number may be beyond what every format can hold: EXPR_NUMBER_MOST, or its negative */
};
#define EXPR_NUMBER_MOST 1000000000

void expr_graph_init(struct expr_graph *);
void expr_graph_release(struct expr_graph *);
static inline const struct expr_node *node_of(const struct expr_graph *c, expr_id w) { return &c->nodes.at[w]; }
unsigned expr_kids(enum expr_kind);

expr_id expr_number(struct expr_graph *, int64_t);
expr_id expr_truth(struct expr_graph *, bool);
expr_id expr_variable(struct expr_graph *, uint32_t cell, bool truth, int64_t lo, int64_t hi);
expr_id expr_array_read(struct expr_graph *, uint32_t array, expr_id index, int64_t lo, int64_t hi);
expr_id expr_choice(struct expr_graph *, uint32_t param, bool truth, int64_t lo, int64_t hi);

/* ADD SUB MUL on numbers. DIV MOD as the language has them, for positive divisors: rounded down, never negative.
   Bounds that do not fit are none. */
expr_id expr_arithmetic(struct expr_graph *, enum expr_kind, expr_id, expr_id);
/* The same number where it is known to lie within these bounds, as it must, in this context. */
expr_id expr_bounded(struct expr_graph *, expr_id, int64_t lo, int64_t hi);
expr_id expr_not(struct expr_graph *, expr_id);
expr_id expr_and(struct expr_graph *, expr_id, expr_id);
expr_id expr_or(struct expr_graph *, expr_id, expr_id);
expr_id expr_implies(struct expr_graph *, expr_id, expr_id);
expr_id expr_equal(struct expr_graph *, expr_id, expr_id);
expr_id expr_less(struct expr_graph *, expr_id, expr_id);
expr_id expr_at_most(struct expr_graph *, expr_id, expr_id);
expr_id expr_ite(struct expr_graph *, expr_id condition, expr_id then, expr_id other);
expr_id expr_bool_to_int(struct expr_graph *, expr_id truth);

bool expr_is_constant(const struct expr_graph *, expr_id, int64_t constant); /* this constant, of either kind */
/* The same with a choice made. */
expr_id expr_substitute_choice(struct expr_graph *, expr_id, uint32_t param, int64_t value);
/* Its value always lies there, in every rule, for a reason that folding does not see. */
void expr_assert_bounds(struct expr_graph *, expr_id, int64_t lo, int64_t hi);
/* The text at that place computes it, unless another place was named before. */
void expr_set_span(struct expr_graph *, expr_id, struct span);

#endif
