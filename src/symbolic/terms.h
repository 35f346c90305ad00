/* Private to src/symbolic: truth values and integers as nodes of an expression graph (lower/expr_graph.h) with constant
   folding, and the translation of the graph to terms of libz3.

   Every number carries bounds. It is a constant exactly if the bounds are equal, most comparisons left over from
   quantifiers fold to constants, and bit-vectors are as wide as their bounds need, so no arithmetic overflows. Numbers
   are bit-vectors (small, for a SAT solver) or integers (unbounded, for Spacer).

   Fresh variables come with facts, which must be asserted with them. Facts alone exclude no assignment of the other
   variables: for each of those, some value of the fresh variable satisfies the facts. */
#ifndef RONDO_SYMBOLIC_TERMS_H
#define RONDO_SYMBOLIC_TERMS_H

#include "lower/expr_graph.h"
#include "symbolic/z3_builder.h"

typedef expr_id truth;

#define NUMBER_LEAST EXPR_NO_LOWER
#define NUMBER_MOST EXPR_NO_UPPER

struct number {
  expr_id node; /* NO_EXPR: a constant */
  int64_t lo, hi;
};

struct terms {
  struct expr_graph graph;
  struct z3_builder m;
  bool integers; /* numbers are integers, not bit-vectors */
  truth yes, no;
  VEC(truth) facts;  /* since the last terms_facts */
  VEC(Z3_ast) fresh; /* all variables in order of creation, by index of EXPR_VARIABLE */
  /* translate.c */
  Z3_sort bits[65];  /* bit-vector sorts by width; NULL: not needed so far */
  VEC(Z3_ast) terms; /* by node; NULL: not needed so far */
  VEC(expr_id) todo, operands, chain;
  bool failed; /* libz3 failed to make a term: no later answer is valid */
};

void terms_init(struct terms *, bool integers);
void terms_release(struct terms *);
void terms_fact(struct terms *, truth);
/* Returns the conjunction of the collected facts and clears them. */
truth terms_facts(struct terms *);

truth truth_new(struct terms *, const char *name); /* names are made unique */
truth truth_of(struct terms *, bool);
truth truth_not(struct terms *, truth);
truth truth_and(struct terms *, truth, truth);
truth truth_or(struct terms *, truth, truth);
truth truth_all(struct terms *, const truth *, size_t n);
truth truth_any(struct terms *, const truth *, size_t n);
truth truth_implies(struct terms *, truth, truth);
truth truth_if(struct terms *, truth condition, truth, truth);
truth truth_same(struct terms *, truth, truth);

struct number number_of(int64_t);
static inline bool number_constant(struct number n) { return n.lo == n.hi; }
struct number number_new(struct terms *, const char *name, int64_t lo, int64_t hi);
/* Returns false if the bounds need more than 62 bits. */
bool number_plus(struct terms *, struct number, struct number, struct number *);
bool number_times(struct terms *, struct number, struct number, struct number *);
struct number number_negative(struct terms *, struct number);
/* By a nonzero constant. Quotients are rounded down, remainders are never negative. */
bool number_divide(struct terms *, struct number, int64_t by, struct number *);
bool number_modulo(struct terms *, struct number, int64_t by, struct number *);
struct number number_if(struct terms *, truth, struct number, struct number);
struct number number_count(struct terms *, const truth *, size_t n); /* how many are true */
truth number_less(struct terms *, struct number, struct number);
truth number_at_most(struct terms *, struct number, struct number);
truth number_same(struct terms *, struct number, struct number);
truth number_is(struct terms *, struct number, int64_t);
truth number_within(struct terms *, struct number, int64_t lo, int64_t hi);
/* The same number with these bounds as well; it must lie within them. */
struct number number_bounded(struct terms *, struct number, int64_t lo, int64_t hi);
/* The node of the number; a constant gets one on demand. */
expr_id number_node(struct terms *, struct number);

/* translate.c: the libz3 term of a node, with the lifetime of struct terms. NULL on failure. */
Z3_ast terms_translate(struct terms *, expr_id);
/* A variable of the solver. Numbers are signed and wide enough for both bounds. */
Z3_ast terms_variable(struct terms *, const char *name, bool is_truth, int64_t lo, int64_t hi);
unsigned bits_needed(int64_t lo, int64_t hi);
/* Is the node a single variable? */
bool terms_is_variable(const struct terms *, expr_id);

#endif
