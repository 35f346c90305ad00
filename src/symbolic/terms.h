/* Private to src/symbolic: an expression graph (lower/expr_graph.h) with variables of a solver, and its translation to
   terms of libz3.

   Bit-vectors are as wide as the bounds of their nodes need, so no arithmetic overflows. Numbers are bit-vectors
   (small, for a SAT solver) or integers (unbounded, for Spacer).

   Fresh variables come with facts, which must be asserted with them. Facts alone exclude no assignment of the other
   variables: for each of those, some value of the fresh variable satisfies the facts. */
#ifndef RONDO_SYMBOLIC_TERMS_H
#define RONDO_SYMBOLIC_TERMS_H

#include "lower/numbers.h"
#include "symbolic/z3_builder.h"

struct terms {
  struct expr_graph graph;
  struct z3_builder m;
  bool integers;     /* numbers are integers, not bit-vectors */
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

/* Fresh variables; names are made unique. */
truth truth_new(struct terms *, const char *name);
struct number number_new(struct terms *, const char *name, int64_t lo, int64_t hi);

/* translate.c: the libz3 term of a node, with the lifetime of struct terms. NULL on failure. */
Z3_ast terms_translate(struct terms *, expr_id);
/* A variable of the solver. Numbers are signed and wide enough for both bounds. */
Z3_ast terms_variable(struct terms *, const char *name, bool is_truth, int64_t lo, int64_t hi);
unsigned bits_needed(int64_t lo, int64_t hi);
/* Is the node a single variable? */
bool terms_is_variable(const struct terms *, expr_id);

#endif
