#include "symbolic/terms.h"

#include <stdio.h>

#define BITS_MOST 62 /* beyond that a number is no longer representable */

void terms_init(struct terms *t, bool integers) {
  Z3_config config = Z3_mk_config();
  *t = (struct terms){.integers = integers};
  z3_builder_init(&t->m, config);
  Z3_del_config(config);
  t->yes = z3_builder_keep(&t->m, Z3_mk_true(t->m.z3));
  t->no = z3_builder_keep(&t->m, Z3_mk_false(t->m.z3));
}

void terms_release(struct terms *t) {
  vec_release(&t->facts);
  vec_release(&t->fresh);
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

static Z3_ast fresh(struct terms *t, const char *name, Z3_sort sort) {
  char unique[160];
  snprintf(unique, sizeof unique, "%.100s!%llu", name, (unsigned long long)t->names++);
  Z3_ast v = z3_builder_keep(&t->m, Z3_mk_const(t->m.z3, Z3_mk_string_symbol(t->m.z3, unique), sort));
  vec_push(&t->fresh, v);
  return v;
}

/* ---- truths ---- */

truth truth_new(struct terms *t, const char *name) { return fresh(t, name, t->m.truths); }

truth truth_of(struct terms *t, bool b) { return b ? t->yes : t->no; }

truth truth_not(struct terms *t, truth a) {
  if (a == t->yes)
    return t->no;
  if (a == t->no)
    return t->yes;
  if (Z3_get_decl_kind(t->m.z3, Z3_get_app_decl(t->m.z3, Z3_to_app(t->m.z3, a))) == Z3_OP_NOT)
    return z3_builder_keep(&t->m, Z3_get_app_arg(t->m.z3, Z3_to_app(t->m.z3, a), 0));
  return z3_builder_keep(&t->m, Z3_mk_not(t->m.z3, a));
}

truth truth_and(struct terms *t, truth a, truth b) {
  if (a == t->no || b == t->no)
    return t->no;
  if (a == t->yes || a == b)
    return b;
  if (b == t->yes)
    return a;
  return z3_builder_keep(&t->m, Z3_mk_and(t->m.z3, 2, (Z3_ast[]){a, b}));
}

truth truth_or(struct terms *t, truth a, truth b) {
  if (a == t->yes || b == t->yes)
    return t->yes;
  if (a == t->no || a == b)
    return b;
  if (b == t->no)
    return a;
  return z3_builder_keep(&t->m, Z3_mk_or(t->m.z3, 2, (Z3_ast[]){a, b}));
}

static truth many(struct terms *t, const truth *of, size_t n, truth neutral, truth deciding) {
  VEC(Z3_ast) left = {0};
  truth result = neutral;
  for (size_t i = 0; i < n && result != deciding; i++) {
    if (of[i] == deciding)
      result = deciding;
    else if (of[i] != neutral)
      vec_push(&left, of[i]);
  }
  if (result != deciding && left.n == 1)
    result = left.at[0];
  else if (result != deciding && left.n > 1)
    result = z3_builder_keep(&t->m, neutral == t->yes ? Z3_mk_and(t->m.z3, (unsigned)left.n, left.at)
                                                      : Z3_mk_or(t->m.z3, (unsigned)left.n, left.at));
  vec_release(&left);
  return result;
}

truth truth_all(struct terms *t, const truth *of, size_t n) { return many(t, of, n, t->yes, t->no); }

truth truth_any(struct terms *t, const truth *of, size_t n) { return many(t, of, n, t->no, t->yes); }

truth truth_implies(struct terms *t, truth a, truth b) { return truth_or(t, truth_not(t, a), b); }

truth truth_if(struct terms *t, truth c, truth a, truth b) {
  if (c == t->yes || a == b)
    return a;
  if (c == t->no)
    return b;
  if (a == t->yes)
    return truth_or(t, c, b);
  if (a == t->no)
    return truth_and(t, truth_not(t, c), b);
  if (b == t->yes)
    return truth_or(t, truth_not(t, c), a);
  if (b == t->no)
    return truth_and(t, c, a);
  return z3_builder_keep(&t->m, Z3_mk_ite(t->m.z3, c, a, b));
}

truth truth_same(struct terms *t, truth a, truth b) {
  if (a == b)
    return t->yes;
  if (a == t->yes || b == t->yes)
    return a == t->yes ? b : a;
  if (a == t->no || b == t->no)
    return truth_not(t, a == t->no ? b : a);
  return z3_builder_keep(&t->m, Z3_mk_eq(t->m.z3, a, b));
}

/* ---- numbers ---- */

static Z3_sort bits(struct terms *t, unsigned width) {
  if (!t->bits[width]) {
    t->bits[width] = Z3_mk_bv_sort(t->m.z3, width);
    z3_builder_keep(&t->m, Z3_sort_to_ast(t->m.z3, t->bits[width]));
  }
  return t->bits[width];
}

struct number number_of(int64_t v) {
  return (struct number){NULL, v, v};
}

/* Signed, with room for both bounds. */
static unsigned width_of(int64_t lo, int64_t hi) {
  unsigned w = 1;
  while (w < 64 && (lo < -(INT64_C(1) << (w - 1)) || hi > (INT64_C(1) << (w - 1)) - 1))
    w++;
  return w;
}

static Z3_ast widened(struct terms *t, struct number n, unsigned width) {
  if (t->integers)
    return number_term(t, n);
  if (number_constant(n))
    return z3_builder_keep(&t->m, Z3_mk_int64(t->m.z3, n.lo, bits(t, width)));
  unsigned own = width_of(n.lo, n.hi);
  return own == width ? n.term : z3_builder_keep(&t->m, Z3_mk_sign_ext(t->m.z3, width - own, n.term));
}

Z3_ast number_term(struct terms *t, struct number n) {
  if (!number_constant(n))
    return n.term;
  Z3_sort sort = t->integers ? t->m.integers : bits(t, width_of(n.lo, n.hi));
  return z3_builder_keep(&t->m, Z3_mk_int64(t->m.z3, n.lo, sort));
}

/* The same number where only this many low bits are needed. */
static struct number narrowed(struct terms *t, Z3_ast term, unsigned width, int64_t lo, int64_t hi) {
  if (lo == hi)
    return number_of(lo);
  unsigned own = t->integers ? width : width_of(lo, hi);
  if (own < width)
    term = z3_builder_keep(&t->m, Z3_mk_extract(t->m.z3, own - 1, 0, term));
  return (struct number){term, lo, hi};
}

struct number number_bounded(struct terms *t, struct number n, int64_t lo, int64_t hi) {
  if (number_constant(n) || (lo <= n.lo && n.hi <= hi))
    return n;
  return narrowed(t, n.term, width_of(n.lo, n.hi), lo > n.lo ? lo : n.lo, hi < n.hi ? hi : n.hi);
}

struct number number_new(struct terms *t, const char *name, int64_t lo, int64_t hi) {
  if (lo == hi)
    return number_of(lo);
  unsigned width = width_of(lo, hi);
  struct number n = {NULL, lo, hi};
  n.term = fresh(t, name, t->integers ? t->m.integers : bits(t, width));
  bool all = !t->integers && lo == -(INT64_C(1) << (width - 1)) && hi == (INT64_C(1) << (width - 1)) - 1;
  struct number any = {n.term, NUMBER_LEAST, NUMBER_MOST};
  if (t->integers) {
    terms_fact(t, lo == NUMBER_LEAST ? t->yes : number_at_most(t, number_of(lo), any));
    terms_fact(t, hi == NUMBER_MOST ? t->yes : number_at_most(t, any, number_of(hi)));
  } else if (!all) {
    terms_fact(t, z3_builder_keep(&t->m, Z3_mk_bvsle(t->m.z3, widened(t, number_of(lo), width), n.term)));
    terms_fact(t, z3_builder_keep(&t->m, Z3_mk_bvsle(t->m.z3, n.term, widened(t, number_of(hi), width))));
  }
  return n;
}

/* The largest number, as a constant, is not: as an upper bound it means that there is none. */
static bool representable(int64_t lo, int64_t hi) {
  const int64_t most = INT64_C(1) << (BITS_MOST - 1);
  return (lo == NUMBER_LEAST || (lo > -most && lo < most)) && (hi == NUMBER_MOST || (hi < most && hi > -most));
}

static int64_t bound_add(int64_t a, int64_t b, int64_t none) { return a == none || b == none ? none : a + b; }

bool number_plus(struct terms *t, struct number a, struct number b, struct number *sum) {
  int64_t lo = bound_add(a.lo, b.lo, NUMBER_LEAST), hi = bound_add(a.hi, b.hi, NUMBER_MOST);
  if (!representable(a.lo, a.hi) || !representable(b.lo, b.hi) || !representable(lo, hi))
    return false;
  if (number_constant(a) && a.lo == 0)
    *sum = b;
  else if (number_constant(b) && b.lo == 0)
    *sum = a;
  else if (lo == hi)
    *sum = number_of(lo);
  else {
    unsigned width = width_of(lo, hi), wa = width_of(a.lo, a.hi), wb = width_of(b.lo, b.hi);
    width = width < wa ? wa : width;
    width = width < wb ? wb : width;
    Z3_ast x = widened(t, a, width), y = widened(t, b, width);
    Z3_ast term = t->integers ? Z3_mk_add(t->m.z3, 2, (Z3_ast[]){x, y}) : Z3_mk_bvadd(t->m.z3, x, y);
    *sum = narrowed(t, z3_builder_keep(&t->m, term), width, lo, hi);
  }
  return true;
}

/* Bounds times bounds; without bound if any of them is. */
static void product_bounds(struct number a, struct number b, int64_t *lo, int64_t *hi) {
  *lo = NUMBER_LEAST;
  *hi = NUMBER_MOST;
  if (a.lo == NUMBER_LEAST || a.hi == NUMBER_MOST || b.lo == NUMBER_LEAST || b.hi == NUMBER_MOST)
    return;
  __int128 corner[4] = {(__int128)a.lo * b.lo, (__int128)a.lo * b.hi, (__int128)a.hi * b.lo, (__int128)a.hi * b.hi};
  __int128 least = corner[0], most = corner[0];
  for (unsigned i = 1; i < 4; i++) {
    least = corner[i] < least ? corner[i] : least;
    most = corner[i] > most ? corner[i] : most;
  }
  *lo = least <= INT64_MIN ? INT64_MIN + 1 : (int64_t)least;
  *hi = most >= INT64_MAX ? INT64_MAX - 1 : (int64_t)most;
}

bool number_times(struct terms *t, struct number a, struct number b, struct number *product) {
  int64_t lo, hi;
  product_bounds(a, b, &lo, &hi);
  if (!representable(lo, hi) || (lo == NUMBER_LEAST && !t->integers))
    return false;
  if (lo == hi)
    *product = number_of(lo);
  else if (number_constant(a) && a.lo == 1)
    *product = b;
  else if (number_constant(b) && b.lo == 1)
    *product = a;
  else {
    unsigned width = width_of(lo, hi), wa = width_of(a.lo, a.hi), wb = width_of(b.lo, b.hi);
    width = width < wa ? wa : width;
    width = width < wb ? wb : width;
    Z3_ast x = widened(t, a, width), y = widened(t, b, width);
    Z3_ast term = t->integers ? Z3_mk_mul(t->m.z3, 2, (Z3_ast[]){x, y}) : Z3_mk_bvmul(t->m.z3, x, y);
    *product = narrowed(t, z3_builder_keep(&t->m, term), width, lo, hi);
  }
  return true;
}

struct number number_negative(struct terms *t, struct number a) {
  if (number_constant(a))
    return number_of(-a.lo);
  int64_t lo = a.hi == NUMBER_MOST ? NUMBER_LEAST : -a.hi, hi = a.lo == NUMBER_LEAST ? NUMBER_MOST : -a.lo;
  unsigned width = width_of(lo, hi), own = width_of(a.lo, a.hi);
  width = width < own ? own : width;
  Z3_ast x = widened(t, a, width);
  Z3_ast term = t->integers ? Z3_mk_unary_minus(t->m.z3, x) : Z3_mk_bvneg(t->m.z3, x);
  return narrowed(t, z3_builder_keep(&t->m, term), width, lo, hi);
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/* Of any integer, or of a bit-vector that is not negative, by a positive number: rounded down, the rest never negative.
 */
static struct number plain_divide(struct terms *t, struct number a, int64_t by, bool rest) {
  int64_t lo = rest ? 0 : a.lo == NUMBER_LEAST ? NUMBER_LEAST : floor_div(a.lo, by);
  int64_t hi = rest                  ? (a.lo >= 0 && a.hi < by ? a.hi : by - 1)
               : a.hi == NUMBER_MOST ? NUMBER_MOST
                                     : floor_div(a.hi, by);
  unsigned width = width_of(a.lo, a.hi), wb = width_of(by, by);
  width = width < wb ? wb : width;
  Z3_ast x = widened(t, a, width), y = widened(t, number_of(by), width);
  Z3_ast term = t->integers ? (rest ? Z3_mk_mod(t->m.z3, x, y) : Z3_mk_div(t->m.z3, x, y))
                            : (rest ? Z3_mk_bvurem(t->m.z3, x, y) : Z3_mk_bvudiv(t->m.z3, x, y));
  return narrowed(t, z3_builder_keep(&t->m, term), width, lo, hi);
}

static bool divide(struct terms *t, struct number a, int64_t by, bool rest, struct number *result) {
  if (number_constant(a)) {
    *result = number_of(rest ? a.lo - by * floor_div(a.lo, by) : floor_div(a.lo, by));
    return true;
  }
  if (t->integers || a.lo >= 0) {
    *result = plain_divide(t, a, by, rest);
    return true;
  }
  /* moved up by a multiple of the divisor until it is not negative */
  if (a.lo == NUMBER_LEAST)
    return false;
  int64_t times = -floor_div(a.lo, by), shift;
  struct number up;
  if (__builtin_mul_overflow(times, by, &shift) || !number_plus(t, a, number_of(shift), &up))
    return false;
  *result = plain_divide(t, up, by, rest);
  return rest || number_plus(t, *result, number_of(-times), result);
}

bool number_divide(struct terms *t, struct number a, int64_t by, struct number *quotient) {
  return by < 0 ? divide(t, number_negative(t, a), -by, false, quotient) : divide(t, a, by, false, quotient);
}

bool number_modulo(struct terms *t, struct number a, int64_t by, struct number *rest) {
  return divide(t, a, by < 0 ? -by : by, true, rest);
}

struct number number_if(struct terms *t, truth c, struct number a, struct number b) {
  if (c == t->yes)
    return a;
  if (c == t->no || (number_constant(a) && number_constant(b) && a.lo == b.lo) ||
      (a.term && a.term == b.term && a.lo == b.lo && a.hi == b.hi))
    return b;
  int64_t lo = a.lo < b.lo ? a.lo : b.lo, hi = a.hi > b.hi ? a.hi : b.hi;
  unsigned width = width_of(lo, hi);
  Z3_ast term = Z3_mk_ite(t->m.z3, c, widened(t, a, width), widened(t, b, width));
  return (struct number){z3_builder_keep(&t->m, term), lo, hi};
}

/* Added up in halves, so that the sums stay narrow. */
struct number number_count(struct terms *t, const truth *of, size_t n) {
  if (n == 0)
    return number_of(0);
  if (n == 1)
    return number_if(t, of[0], number_of(1), number_of(0));
  struct number sum = number_of(0);
  number_plus(t, number_count(t, of, n / 2), number_count(t, of + n / 2, n - n / 2), &sum);
  return sum;
}

static unsigned common_width(struct number a, struct number b) {
  unsigned wa = width_of(a.lo, a.hi), wb = width_of(b.lo, b.hi);
  return wa > wb ? wa : wb;
}

truth number_at_most(struct terms *t, struct number a, struct number b) {
  if (a.hi <= b.lo)
    return t->yes;
  if (a.lo > b.hi)
    return t->no;
  unsigned width = common_width(a, b);
  Z3_ast x = widened(t, a, width), y = widened(t, b, width);
  return z3_builder_keep(&t->m, t->integers ? Z3_mk_le(t->m.z3, x, y) : Z3_mk_bvsle(t->m.z3, x, y));
}

truth number_less(struct terms *t, struct number a, struct number b) { return truth_not(t, number_at_most(t, b, a)); }

truth number_same(struct terms *t, struct number a, struct number b) {
  if (a.hi < b.lo || b.hi < a.lo)
    return t->no;
  if ((number_constant(a) && number_constant(b)) || (a.term && a.term == b.term))
    return t->yes;
  unsigned width = common_width(a, b);
  return z3_builder_keep(&t->m, Z3_mk_eq(t->m.z3, widened(t, a, width), widened(t, b, width)));
}

truth number_is(struct terms *t, struct number a, int64_t v) { return number_same(t, a, number_of(v)); }

truth number_within(struct terms *t, struct number a, int64_t lo, int64_t hi) {
  return truth_and(t, number_at_most(t, number_of(lo), a), number_at_most(t, a, number_of(hi)));
}
