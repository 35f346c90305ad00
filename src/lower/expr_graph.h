/* Expressions over numbered variables: a hash-consed DAG, built bottom-up with constant folding. Nodes are numbers and
   truth values only. Exporters (export/program.h) print it, solver engines translate it.

   An expr_id is the index of a node. The kids of a node have smaller indices. */
#ifndef RONDO_LOWER_EXPR_GRAPH_H
#define RONDO_LOWER_EXPR_GRAPH_H

#include "base/diag.h"
#include "base/vec.h"

typedef uint32_t expr_id;
#define NO_EXPR UINT32_MAX
/* The two truth values. Node 0 is a number, so an uninitialised expr_id is no truth value. */
#define EXPR_TRUE 1
#define EXPR_FALSE 2

enum expr_kind {
  EXPR_NUMBER,     /* number; as a truth value: 0 or 1 */
  EXPR_VARIABLE,   /* index: a variable of the program, or of the solver */
  EXPR_ARRAY_READ, /* index: an array of the program; kid 0: the element's index */
  EXPR_CHOICE,     /* index: a choice of the current rule; number: its highest value, which differs between rules */
  EXPR_ADD,
  EXPR_SUB,
  EXPR_MUL,
  EXPR_DIV, /* by positive numbers, rounded down; the dividend is not negative, unless `integers` */
  EXPR_MOD,
  EXPR_NOT,
  EXPR_AND,
  EXPR_OR,
  EXPR_EQ, /* of two numbers, or of two truth values */
  EXPR_LT,
  EXPR_LE,
  EXPR_ITE,    /* condition, then, else: numbers or truth values */
  EXPR_BOUNDED /* kid 0, which another condition keeps within lo .. hi: solvers only */
};

#define EXPR_NO_LOWER INT64_MIN /* as a bound: none */
#define EXPR_NO_UPPER INT64_MAX

struct expr_node {
  enum expr_kind expr_kind;
  bool truth;
  bool used, shared; /* by some node; by several nodes */
  uint32_t index;
  expr_id kid[3];
  uint32_t choices; /* 1 + the highest choice that it depends on; 0: none */
  int64_t number;
  int64_t lo, hi; /* bounds of a number */
  struct span at; /* its place in the source; {0, 0}: none */
};

struct expr_graph {
  VEC(struct expr_node) nodes;
  VEC(uint32_t) table; /* open addressing, expr_id + 1 */
  bool integers;       /* DIV and MOD accept negative dividends */
  bool large;          /* the absolute value of some number may exceed EXPR_NUMBER_MOST, which every format can hold */
};
#define EXPR_NUMBER_MOST 1000000000

void expr_graph_init(struct expr_graph *, bool integers);
void expr_graph_release(struct expr_graph *);
static inline const struct expr_node *node_of(const struct expr_graph *c, expr_id w) { return &c->nodes.at[w]; }
unsigned expr_kids(enum expr_kind);

expr_id expr_number(struct expr_graph *, int64_t);
static inline expr_id expr_truth(bool truth) { return truth ? EXPR_TRUE : EXPR_FALSE; }
expr_id expr_variable(struct expr_graph *, uint32_t cell, bool truth, int64_t lo, int64_t hi);
expr_id expr_array_read(struct expr_graph *, uint32_t array, expr_id index, int64_t lo, int64_t hi);
expr_id expr_choice(struct expr_graph *, uint32_t param, bool truth, int64_t lo, int64_t hi);

/* ADD SUB MUL on numbers. DIV and MOD are those of the language, for positive divisors: rounded down, never
   negative. A bound that overflows becomes no bound. */
expr_id expr_arithmetic(struct expr_graph *, enum expr_kind, expr_id, expr_id);
/* The same number, which must lie within these bounds in the context where it is used. */
expr_id expr_bounded(struct expr_graph *, expr_id, int64_t lo, int64_t hi);
expr_id expr_not(struct expr_graph *, expr_id);
expr_id expr_and(struct expr_graph *, expr_id, expr_id);
expr_id expr_or(struct expr_graph *, expr_id, expr_id);
expr_id expr_implies(struct expr_graph *, expr_id, expr_id);
expr_id expr_equal(struct expr_graph *, expr_id, expr_id);
expr_id expr_less(struct expr_graph *, expr_id, expr_id);
expr_id expr_at_most(struct expr_graph *, expr_id, expr_id);
expr_id expr_ite(struct expr_graph *, expr_id condition, expr_id then, expr_id other);
expr_id expr_bool_to_int(struct expr_graph *, expr_id truth); /* 1 if true, else 0 */

bool expr_is_constant(const struct expr_graph *, expr_id,
                      int64_t constant); /* is it this constant (a number or truth value)? */
/* The expression with a value substituted for a choice. */
expr_id expr_substitute_choice(struct expr_graph *, expr_id, uint32_t param, int64_t value);
/* Records bounds that hold in every rule for a reason that constant folding cannot see. */
void expr_assert_bounds(struct expr_graph *, expr_id, int64_t lo, int64_t hi);
/* Sets the node's place in the source, unless it has one. */
void expr_set_span(struct expr_graph *, expr_id, struct span);

#endif
