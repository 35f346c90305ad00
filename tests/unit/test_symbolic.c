/* Terms that fold: whatever is made of two free numbers has, for every value of these, the value that plain arithmetic
   gives, and lies within the bounds that it is said to have. As bit-vectors and as integers. */
#include "symbolic/encode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct pair {
  struct encoder e;
  struct number a, b; /* free */
};

static void pair_init(struct pair *p, bool integers, int64_t lo, int64_t hi) {
  *p = (struct pair){0};
  encoder_init(&p->e, NULL, integers);
  p->a = number_new(&p->e.t, "a", lo, hi);
  p->b = number_new(&p->e.t, "b", lo, hi);
}

static void pair_release(struct pair *p) { encoder_release(&p->e); }

/* The term with values for the two. */
static Z3_ast with(struct pair *p, expr_id node, int64_t a, int64_t b) {
  struct z3_builder *m = &p->e.t.m;
  Z3_ast term = terms_translate(&p->e.t, node), from[] = {p->e.t.fresh.at[0], p->e.t.fresh.at[1]}, to[2];
  const int64_t values[] = {a, b};
  for (unsigned i = 0; i < 2; i++)
    to[i] = z3_builder_keep(m, Z3_mk_int64(m->z3, values[i], Z3_get_sort(m->z3, from[i])));
  term = z3_builder_keep(m, Z3_substitute(m->z3, term, 2, from, to));
  return z3_builder_keep(m, Z3_simplify(m->z3, term));
}

static void expect_number(struct pair *p, struct number n, int64_t a, int64_t b, int64_t expected) {
  assert_true(n.lo <= expected && expected <= n.hi);
  if (number_constant(n))
    return;
  truth is = number_is(&p->e.t.graph, n, expected);
  assert_int_equal(Z3_get_bool_value(p->e.t.m.z3, with(p, is, a, b)), Z3_L_TRUE);
}

static void expect_truth(struct pair *p, truth t, int64_t a, int64_t b, bool expected) {
  assert_int_equal(Z3_get_bool_value(p->e.t.m.z3, with(p, t, a, b)), expected ? Z3_L_TRUE : Z3_L_FALSE);
}

static int64_t floored(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static void check_pair(struct pair *p, int64_t a, int64_t b) {
  struct terms *t = &p->e.t;
  struct number n;
  assert_true(number_plus(&t->graph, p->a, p->b, &n));
  expect_number(p, n, a, b, a + b);
  assert_true(number_times(&t->graph, p->a, p->b, &n));
  expect_number(p, n, a, b, a * b);
  assert_true(number_times(&t->graph, p->a, number_of(3), &n));
  expect_number(p, n, a, b, 3 * a);
  expect_number(p, number_negative(&t->graph, p->a), a, b, -a);
  for (int64_t by = -3; by <= 3; by++)
    if (by != 0) {
      assert_true(number_divide(&t->graph, p->a, by, &n));
      expect_number(p, n, a, b, floored(a, by));
      int64_t size = by < 0 ? -by : by;
      assert_true(number_modulo(&t->graph, p->a, by, &n));
      expect_number(p, n, a, b, a - size * floored(a, size));
    }
  expect_number(p, number_if(&t->graph, number_less(&t->graph, p->a, p->b), p->a, number_of(7)), a, b, a < b ? a : 7);
  truth three[] = {number_less(&t->graph, p->a, p->b), number_same(&t->graph, p->a, p->b),
                   number_within(&t->graph, p->b, 0, 2)};
  expect_number(p, number_count(&t->graph, three, 3), a, b, (a < b) + (a == b) + (0 <= b && b <= 2));
  expect_truth(p, number_at_most(&t->graph, p->a, p->b), a, b, a <= b);
  expect_truth(p, number_is(&t->graph, p->a, 2), a, b, a == 2);
  expect_truth(p, expr_ite(&t->graph, three[0], three[1], three[2]), a, b, a < b ? a == b : 0 <= b && b <= 2);
  expect_truth(p, expr_implies(&t->graph, three[1], three[2]), a, b, a != b || (0 <= b && b <= 2));
  expect_truth(p, truth_all(&t->graph, three, 3), a, b, a < b && a == b && 0 <= b && b <= 2);
  expect_truth(p, truth_any(&t->graph, three, 3), a, b, a < b || a == b || (0 <= b && b <= 2));
}

static void arithmetic(void **state) {
  (void)state;
  static const int64_t bounds[][2] = {{-3, 4}, {0, 3}, {2, 5}, {-4, -1}};
  for (unsigned integers = 0; integers < 2; integers++)
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
      struct pair p;
      pair_init(&p, integers, bounds[i][0], bounds[i][1]);
      for (int64_t a = bounds[i][0]; a <= bounds[i][1]; a++)
        for (int64_t b = bounds[i][0]; b <= bounds[i][1]; b++)
          check_pair(&p, a, b);
      pair_release(&p);
    }
}

/* Integers without a bound on one side or on both, and bounds near the largest that are representable. */
static void division_without_bounds(void **state) {
  (void)state;
  static const int64_t far = INT64_C(1) << 60, none[2] = {NUMBER_LEAST, NUMBER_MOST};
  const int64_t bounds[][2] = {{none[0], none[1]}, {none[0], 1}, {none[0], -2}, {-1, none[1]}, {-far, far}, {-far, 1}};
  static const int64_t divisors[] = {-5, -2, -1, 1, 2, 5, (INT64_C(1) << 62) - 1};
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
    struct pair p;
    struct number n;
    pair_init(&p, true, bounds[i][0], bounds[i][1]);
    for (int64_t a = -11; a <= 11; a++)
      for (size_t k = 0; k < sizeof divisors / sizeof *divisors; k++) {
        int64_t by = divisors[k], size = by < 0 ? -by : by;
        if (a < bounds[i][0] || a > bounds[i][1])
          continue;
        assert_true(number_divide(&p.e.t.graph, p.a, by, &n));
        expect_number(&p, n, a, 0, floored(a, by));
        assert_true(number_modulo(&p.e.t.graph, p.a, by, &n));
        expect_number(&p, n, a, 0, a - size * floored(a, size));
      }
    pair_release(&p);
  }
  struct pair p;
  struct number n;
  pair_init(&p, false, -far, far); /* as bit-vectors: no room to move it up */
  assert_false(number_divide(&p.e.t.graph, p.a, INT64_MAX, &n));
  assert_false(number_modulo(&p.e.t.graph, p.a, INT64_MAX, &n));
  pair_release(&p);
}

/* Bounds decide, so that nothing is left of what is constant. */
static void folding(void **state) {
  (void)state;
  struct pair p;
  struct number n;
  pair_init(&p, false, 1, 3);
  struct terms *t = &p.e.t;
  assert_int_equal(number_less(&t->graph, p.a, number_of(4)), EXPR_TRUE);
  assert_int_equal(number_less(&t->graph, p.a, number_of(1)), EXPR_FALSE);
  assert_int_equal(number_is(&t->graph, p.a, 0), EXPR_FALSE);
  assert_int_equal(number_same(&t->graph, p.a, p.a), EXPR_TRUE);
  assert_true(number_plus(&t->graph, number_of(2), number_of(3), &n) && number_constant(n) && n.lo == 5);
  assert_true(number_times(&t->graph, p.a, number_of(0), &n) && number_constant(n) && n.lo == 0);
  truth x = truth_new(t, "x");
  assert_int_equal(expr_and(&t->graph, x, EXPR_FALSE), EXPR_FALSE);
  assert_int_equal(expr_or(&t->graph, x, EXPR_FALSE), x);
  assert_int_equal(expr_not(&t->graph, expr_not(&t->graph, x)), x);
  assert_int_equal(expr_ite(&t->graph, EXPR_TRUE, x, EXPR_FALSE), x);
  assert_false(
      number_times(&t->graph, number_of(INT64_C(1) << 40), number_of(INT64_C(1) << 40), &n)); /* too large to follow */
  pair_release(&p);
}

/* Facts alone exclude nothing: there is a value for the variable, and only those of its range. */
static void facts(void **state) {
  (void)state;
  for (unsigned integers = 0; integers < 2; integers++) {
    struct pair p;
    pair_init(&p, integers, -2, 3);
    Z3_context z3 = p.e.t.m.z3;
    truth known = terms_facts(&p.e.t);
    for (int64_t v = integers ? -5 : -4; v <= (integers ? 5 : 3); v++) {
      Z3_ast allowed = with(&p, known, v, 0);
      assert_int_equal(Z3_get_bool_value(z3, allowed), -2 <= v && v <= 3 ? Z3_L_TRUE : Z3_L_FALSE);
    }
    assert_int_equal(terms_facts(&p.e.t), EXPR_TRUE); /* told once */
    pair_release(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(division_without_bounds),
                                     cmocka_unit_test(folding), cmocka_unit_test(facts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
