/* Private to src/symbolic: truths and whole numbers as nodes of an expression graph (lower/expr_graph.h), folded as
   they are made, and the graph's translation to terms of libz3.

   A number knows between which bounds it lies, so it is a constant exactly if they are equal, most comparisons that
   quantifiers leave behind are decided on the way, and a bit-vector is as wide as its bounds need: no arithmetic
   overflows. Numbers are bit-vectors (small, for a SAT solver) or integers (without bound, for Spacer).

   Fresh variables come with facts: what the solver must be told about them. Facts alone never exclude anything:
   whatever the other variables are, some value of this one satisfies them. */
#ifndef RONDO_SYMBOLIC_TERMS_H
#define RONDO_SYMBOLIC_TERMS_H

#include "lower/expr_graph.h"
#include "symbolic/z3_builder.h"

typedef expr_id truth;

#define NUMBER_LEAST EXPR_NO_LOWER
#define NUMBER_MOST EXPR_NO_UPPER

struct number {
  expr_id node; /* NO_EXPR: it is a constant */
  int64_t lo, hi;
};

struct terms {
  struct expr_graph graph;
  struct z3_builder m;
  bool integers; /* numbers are integers, not bit-vectors */
  truth yes, no;
  VEC(truth) facts;  /* since the last terms_facts */
  VEC(Z3_ast) fresh; /* all variables, in the order in which they were made: by index of EXPR_VARIABLE */
  /* translate.c */
  Z3_sort bits[65];  /* of bit-vectors, by width; NULL: not needed so far */
  VEC(Z3_ast) terms; /* by node; NULL: not needed so far */
  VEC(expr_id) todo, operands, chain;
  bool failed; /* some term could not be made: no answer of the solver counts any more */
};

void terms_init(struct terms *, bool integers);
void terms_release(struct terms *);
void terms_fact(struct terms *, truth);
/* All facts so far, and forgets them. */
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
/* False: the bounds need more than 62 bits. */
bool number_plus(struct terms *, struct number, struct number, struct number *);
bool number_times(struct terms *, struct number, struct number, struct number *);
struct number number_negative(struct terms *, struct number);
/* Rounded down; the rest, never negative. By a constant that is not 0. */
bool number_divide(struct terms *, struct number, int64_t by, struct number *);
bool number_modulo(struct terms *, struct number, int64_t by, struct number *);
struct number number_if(struct terms *, truth, struct number, struct number);
struct number number_count(struct terms *, const truth *, size_t n); /* how many are true */
truth number_less(struct terms *, struct number, struct number);
truth number_at_most(struct terms *, struct number, struct number);
truth number_same(struct terms *, struct number, struct number);
truth number_is(struct terms *, struct number, int64_t);
truth number_within(struct terms *, struct number, int64_t lo, int64_t hi);
/* The same number, known to lie within these bounds as well (it must). */
struct number number_bounded(struct terms *, struct number, int64_t lo, int64_t hi);
/* Its node, made if it is a constant. */
expr_id number_node(struct terms *, struct number);

/* translate.c: the term for a node, which lives as long as the terms. NULL: it failed. */
Z3_ast terms_translate(struct terms *, expr_id);
/* A variable of the solver; numbers: signed, with room for both bounds. */
Z3_ast terms_variable(struct terms *, const char *name, bool is_truth, int64_t lo, int64_t hi);
unsigned bits_needed(int64_t lo, int64_t hi);
/* Is the node a variable, and not a term of several? */
bool terms_is_variable(const struct terms *, expr_id);

#endif
