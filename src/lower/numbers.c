#include "lower/numbers.h"

#define BITS_MOST 62 /* wider numbers are not representable */

truth truth_all(struct expr_graph *c, const truth *of, size_t n) {
  truth all = EXPR_TRUE;
  for (size_t i = 0; i < n && all != EXPR_FALSE; i++)
    all = expr_and(c, all, of[i]);
  return all;
}

truth truth_any(struct expr_graph *c, const truth *of, size_t n) {
  truth any = EXPR_FALSE;
  for (size_t i = 0; i < n && any != EXPR_TRUE; i++)
    any = expr_or(c, any, of[i]);
  return any;
}

/* ---- numbers ---- */

struct number number_of(int64_t v) {
  return (struct number){NO_EXPR, v, v};
}

expr_id number_node(struct expr_graph *c, struct number n) {
  return number_constant(n) ? expr_number(c, n.lo) : n.node;
}

struct number number_at(const struct expr_graph *c, expr_id w) {
  const struct expr_node *n = node_of(c, w);
  return (struct number){n->lo == n->hi ? NO_EXPR : w, n->lo, n->hi};
}

struct number number_bounded(struct expr_graph *c, struct number n, int64_t lo, int64_t hi) {
  return number_constant(n) ? n : number_at(c, expr_bounded(c, n.node, lo, hi));
}

/* INT64_MAX is not representable as a constant, because as an upper bound it means "none". Bit-vectors need bounds. */
static bool representable(const struct expr_graph *c, int64_t lo, int64_t hi) {
  const int64_t most = INT64_C(1) << (BITS_MOST - 1);
  return (lo == NUMBER_LEAST ? c->integers : lo > -most && lo < most) &&
         (hi == NUMBER_MOST ? c->integers : hi < most && hi > -most);
}

static bool unbounded(struct number n) { return n.lo == NUMBER_LEAST || n.hi == NUMBER_MOST; }

static bool arithmetic(struct expr_graph *c, enum expr_kind kind, struct number a, struct number b,
                       struct number *result) {
  if (!representable(c, a.lo, a.hi) || !representable(c, b.lo, b.hi))
    return false;
  *result = number_at(c, expr_arithmetic(c, kind, number_node(c, a), number_node(c, b)));
  /* a result without bounds from bounded operands overflowed */
  return representable(c, result->lo, result->hi) && (!unbounded(*result) || unbounded(a) || unbounded(b));
}

bool number_plus(struct expr_graph *c, struct number a, struct number b, struct number *sum) {
  return arithmetic(c, EXPR_ADD, a, b, sum);
}

bool number_times(struct expr_graph *c, struct number a, struct number b, struct number *product) {
  return arithmetic(c, EXPR_MUL, a, b, product);
}

struct number number_negative(struct expr_graph *c, struct number a) {
  return number_at(c, expr_arithmetic(c, EXPR_SUB, expr_number(c, 0), number_node(c, a)));
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Division by a positive constant. A bit-vector is first shifted by a multiple of the divisor so that it is not
 * negative. */
static bool divide(struct expr_graph *c, struct number a, int64_t by, bool rest, struct number *result) {
  int64_t times = c->integers || a.lo >= 0 || number_constant(a) ? 0 : -floor_div(a.lo, by), shift = 0;
  if (times > 0 &&
      (a.lo == NUMBER_LEAST || __builtin_mul_overflow(times, by, &shift) || !number_plus(c, a, number_of(shift), &a)))
    return false;
  if (number_constant(a))
    *result = number_of(rest ? a.lo - by * floor_div(a.lo, by) : floor_div(a.lo, by));
  else
    *result = number_at(c, expr_arithmetic(c, rest ? EXPR_MOD : EXPR_DIV, a.node, expr_number(c, by)));
  return rest || times == 0 || number_plus(c, *result, number_of(-times), result);
}

bool number_divide(struct expr_graph *c, struct number a, int64_t by, struct number *quotient) {
  return by < 0 ? divide(c, number_negative(c, a), -by, false, quotient) : divide(c, a, by, false, quotient);
}

bool number_modulo(struct expr_graph *c, struct number a, int64_t by, struct number *rest) {
  return divide(c, a, by < 0 ? -by : by, true, rest);
}

struct number number_if(struct expr_graph *c, truth when, struct number a, struct number b) {
  return number_at(c, expr_ite(c, when, number_node(c, a), number_node(c, b)));
}

/* A balanced tree of additions keeps the bit-vectors narrow. */
struct number number_count(struct expr_graph *c, const truth *of, size_t n) {
  if (n == 0)
    return number_of(0);
  if (n == 1)
    return number_if(c, of[0], number_of(1), number_of(0));
  struct number sum = number_of(0);
  number_plus(c, number_count(c, of, n / 2), number_count(c, of + n / 2, n - n / 2), &sum);
  return sum;
}

truth number_at_most(struct expr_graph *c, struct number a, struct number b) {
  return expr_at_most(c, number_node(c, a), number_node(c, b));
}

truth number_less(struct expr_graph *c, struct number a, struct number b) {
  return expr_not(c, number_at_most(c, b, a));
}

truth number_same(struct expr_graph *c, struct number a, struct number b) {
  return expr_equal(c, number_node(c, a), number_node(c, b));
}

truth number_is(struct expr_graph *c, struct number a, int64_t v) { return number_same(c, a, number_of(v)); }

truth number_within(struct expr_graph *c, struct number a, int64_t lo, int64_t hi) {
  return expr_and(c, number_at_most(c, number_of(lo), a), number_at_most(c, a, number_of(hi)));
}
