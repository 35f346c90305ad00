/* Truth values and numbers as nodes of an expression graph. Every number carries bounds. It is a constant exactly if
   the bounds are equal, so most comparisons left over from quantifiers fold to constants. */
#ifndef RONDO_LOWER_NUMBERS_H
#define RONDO_LOWER_NUMBERS_H

#include "lower/expr_graph.h"

typedef expr_id truth;

#define NUMBER_LEAST EXPR_NO_LOWER
#define NUMBER_MOST EXPR_NO_UPPER

struct number {
  expr_id node; /* NO_EXPR: a constant */
  int64_t lo, hi;
};

truth truth_all(struct expr_graph *, const truth *, size_t n);
truth truth_any(struct expr_graph *, const truth *, size_t n);

struct number number_of(int64_t);
static inline bool number_constant(struct number n) { return n.lo == n.hi; }
/* The number that the node stands for. */
struct number number_at(const struct expr_graph *, expr_id);
/* The node of the number; a constant gets one on demand. */
expr_id number_node(struct expr_graph *, struct number);
/* Returns false if the bounds need more than 62 bits. */
bool number_plus(struct expr_graph *, struct number, struct number, struct number *);
bool number_times(struct expr_graph *, struct number, struct number, struct number *);
struct number number_negative(struct expr_graph *, struct number);
/* By a nonzero constant. Quotients are rounded down, remainders are never negative. */
bool number_divide(struct expr_graph *, struct number, int64_t by, struct number *);
bool number_modulo(struct expr_graph *, struct number, int64_t by, struct number *);
struct number number_if(struct expr_graph *, truth, struct number, struct number);
struct number number_count(struct expr_graph *, const truth *, size_t n); /* how many are true */
truth number_less(struct expr_graph *, struct number, struct number);
truth number_at_most(struct expr_graph *, struct number, struct number);
truth number_same(struct expr_graph *, struct number, struct number);
truth number_is(struct expr_graph *, struct number, int64_t);
truth number_within(struct expr_graph *, struct number, int64_t lo, int64_t hi);
/* The same number with these bounds as well; it must lie within them. */
struct number number_bounded(struct expr_graph *, struct number, int64_t lo, int64_t hi);

#endif
