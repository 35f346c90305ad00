#include "symbolic/terms.h"

#define BITS_MOST 62 /* wider numbers are not representable */

void terms_init(struct terms *t, bool integers) {
  Z3_config config = Z3_mk_config();
  *t = (struct terms){.integers = integers, .graph = {.integers = integers}};
  z3_builder_init(&t->m, config);
  Z3_del_config(config);
  expr_number(&t->graph, 0); /* node 0 is a number, so an uninitialised truth is invalid */
  t->yes = expr_truth(&t->graph, true);
  t->no = expr_truth(&t->graph, false);
}

void terms_release(struct terms *t) {
  expr_graph_release(&t->graph);
  vec_release(&t->facts);
  vec_release(&t->fresh);
  vec_release(&t->terms);
  vec_release(&t->todo);
  vec_release(&t->operands);
  vec_release(&t->chain);
  z3_builder_release(&t->m);
}

void terms_fact(struct terms *t, truth fact) {
  if (fact != t->yes)
    vec_push(&t->facts, fact);
}

truth terms_facts(struct terms *t) {
  truth all = truth_all(t, t->facts.at, t->facts.n);
  vec_clear(&t->facts);
  return all;
}

static expr_id fresh(struct terms *t, const char *name, bool is_truth, int64_t lo, int64_t hi) {
  Z3_ast variable = terms_variable(t, name, is_truth, lo, hi);
  vec_push(&t->fresh, variable);
  return expr_variable(&t->graph, (uint32_t)t->fresh.n - 1, is_truth, lo, hi);
}

bool terms_is_variable(const struct terms *t, expr_id w) {
  const struct expr_node *n = node_of(&t->graph, w);
  return (n->expr_kind == EXPR_BOUNDED ? node_of(&t->graph, n->kid[0]) : n)->expr_kind == EXPR_VARIABLE;
}

/* ---- truths ---- */

truth truth_new(struct terms *t, const char *name) { return fresh(t, name, true, 0, 1); }
truth truth_of(struct terms *t, bool b) { return b ? t->yes : t->no; }
truth truth_not(struct terms *t, truth a) { return expr_not(&t->graph, a); }
truth truth_and(struct terms *t, truth a, truth b) { return expr_and(&t->graph, a, b); }
truth truth_or(struct terms *t, truth a, truth b) { return expr_or(&t->graph, a, b); }
truth truth_implies(struct terms *t, truth a, truth b) { return expr_implies(&t->graph, a, b); }
truth truth_if(struct terms *t, truth c, truth a, truth b) { return expr_ite(&t->graph, c, a, b); }
truth truth_same(struct terms *t, truth a, truth b) { return expr_equal(&t->graph, a, b); }

truth truth_all(struct terms *t, const truth *of, size_t n) {
  truth all = t->yes;
  for (size_t i = 0; i < n && all != t->no; i++)
    all = truth_and(t, all, of[i]);
  return all;
}

truth truth_any(struct terms *t, const truth *of, size_t n) {
  truth any = t->no;
  for (size_t i = 0; i < n && any != t->yes; i++)
    any = truth_or(t, any, of[i]);
  return any;
}

/* ---- numbers ---- */

struct number number_of(int64_t v) {
  return (struct number){NO_EXPR, v, v};
}

expr_id number_node(struct terms *t, struct number n) {
  return number_constant(n) ? expr_number(&t->graph, n.lo) : n.node;
}

static struct number number_at(const struct terms *t, expr_id w) {
  const struct expr_node *n = node_of(&t->graph, w);
  return (struct number){n->lo == n->hi ? NO_EXPR : w, n->lo, n->hi};
}

struct number number_bounded(struct terms *t, struct number n, int64_t lo, int64_t hi) {
  return number_constant(n) ? n : number_at(t, expr_bounded(&t->graph, n.node, lo, hi));
}

/* The sort of the variable may be wider than the bounds, so the bounds are a fact. */
struct number number_new(struct terms *t, const char *name, int64_t lo, int64_t hi) {
  if (lo == hi)
    return number_of(lo);
  int64_t most = t->integers ? NUMBER_MOST : (int64_t)((UINT64_C(1) << (bits_needed(lo, hi) - 1)) - 1);
  struct number any = number_at(t, fresh(t, name, false, -most - 1, most));
  terms_fact(t, lo == NUMBER_LEAST ? t->yes : number_at_most(t, number_of(lo), any));
  terms_fact(t, hi == NUMBER_MOST ? t->yes : number_at_most(t, any, number_of(hi)));
  return number_bounded(t, any, lo, hi);
}

/* INT64_MAX is not representable as a constant, because as an upper bound it means "none". Bit-vectors need bounds. */
static bool representable(const struct terms *t, int64_t lo, int64_t hi) {
  const int64_t most = INT64_C(1) << (BITS_MOST - 1);
  return (lo == NUMBER_LEAST ? t->integers : lo > -most && lo < most) &&
         (hi == NUMBER_MOST ? t->integers : hi < most && hi > -most);
}

static bool unbounded(struct number n) { return n.lo == NUMBER_LEAST || n.hi == NUMBER_MOST; }

static bool arithmetic(struct terms *t, enum expr_kind kind, struct number a, struct number b, struct number *result) {
  if (!representable(t, a.lo, a.hi) || !representable(t, b.lo, b.hi))
    return false;
  *result = number_at(t, expr_arithmetic(&t->graph, kind, number_node(t, a), number_node(t, b)));
  /* a result without bounds from bounded operands overflowed */
  return representable(t, result->lo, result->hi) && (!unbounded(*result) || unbounded(a) || unbounded(b));
}

bool number_plus(struct terms *t, struct number a, struct number b, struct number *sum) {
  return arithmetic(t, EXPR_ADD, a, b, sum);
}

bool number_times(struct terms *t, struct number a, struct number b, struct number *product) {
  return arithmetic(t, EXPR_MUL, a, b, product);
}

struct number number_negative(struct terms *t, struct number a) {
  return number_at(t, expr_arithmetic(&t->graph, EXPR_SUB, expr_number(&t->graph, 0), number_node(t, a)));
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Division by a positive constant. A bit-vector is first shifted by a multiple of the divisor so that it is not
 * negative. */
static bool divide(struct terms *t, struct number a, int64_t by, bool rest, struct number *result) {
  int64_t times = t->integers || a.lo >= 0 || number_constant(a) ? 0 : -floor_div(a.lo, by), shift = 0;
  if (times > 0 &&
      (a.lo == NUMBER_LEAST || __builtin_mul_overflow(times, by, &shift) || !number_plus(t, a, number_of(shift), &a)))
    return false;
  if (number_constant(a))
    *result = number_of(rest ? a.lo - by * floor_div(a.lo, by) : floor_div(a.lo, by));
  else
    *result = number_at(t, expr_arithmetic(&t->graph, rest ? EXPR_MOD : EXPR_DIV, a.node, expr_number(&t->graph, by)));
  return rest || times == 0 || number_plus(t, *result, number_of(-times), result);
}

bool number_divide(struct terms *t, struct number a, int64_t by, struct number *quotient) {
  return by < 0 ? divide(t, number_negative(t, a), -by, false, quotient) : divide(t, a, by, false, quotient);
}

bool number_modulo(struct terms *t, struct number a, int64_t by, struct number *rest) {
  return divide(t, a, by < 0 ? -by : by, true, rest);
}

struct number number_if(struct terms *t, truth c, struct number a, struct number b) {
  return number_at(t, expr_ite(&t->graph, c, number_node(t, a), number_node(t, b)));
}

/* A balanced tree of additions keeps the bit-vectors narrow. */
struct number number_count(struct terms *t, const truth *of, size_t n) {
  if (n == 0)
    return number_of(0);
  if (n == 1)
    return number_if(t, of[0], number_of(1), number_of(0));
  struct number sum = number_of(0);
  number_plus(t, number_count(t, of, n / 2), number_count(t, of + n / 2, n - n / 2), &sum);
  return sum;
}

truth number_at_most(struct terms *t, struct number a, struct number b) {
  return expr_at_most(&t->graph, number_node(t, a), number_node(t, b));
}

truth number_less(struct terms *t, struct number a, struct number b) { return truth_not(t, number_at_most(t, b, a)); }

truth number_same(struct terms *t, struct number a, struct number b) {
  return expr_equal(&t->graph, number_node(t, a), number_node(t, b));
}

truth number_is(struct terms *t, struct number a, int64_t v) { return number_same(t, a, number_of(v)); }

truth number_within(struct terms *t, struct number a, int64_t lo, int64_t hi) {
  return truth_and(t, number_at_most(t, number_of(lo), a), number_at_most(t, a, number_of(hi)));
}
