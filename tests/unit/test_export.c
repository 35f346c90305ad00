/* Expression graphs: folding must not change the value of an expression, nor promise bounds that do not hold. */
#include "lower/expr_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define CHOICES 4

static const int64_t LO[CHOICES] = {0, -2, 0, 0}, HI[CHOICES] = {3, 2, 1, 1}; /* two numbers, two truth values */

static uint32_t seed;
static uint32_t below(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 16) % n;
}

/* An expression as it was asked for, next to the expr_id that came of it. */
struct made {
  expr_id w;
  bool truth;
  int64_t value[200]; /* by assignment */
};

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static int assignments(int64_t at[][CHOICES]) {
  int n = 0;
  for (int64_t a = LO[0]; a <= HI[0]; a++)
    for (int64_t b = LO[1]; b <= HI[1]; b++)
      for (int64_t c = 0; c <= 1; c++)
        for (int64_t d = 0; d <= 1; d++, n++)
          at[n][0] = a, at[n][1] = b, at[n][2] = c, at[n][3] = d;
  return n;
}

static int64_t value_of(const struct expr_graph *c, expr_id w, const int64_t *choice) {
  const struct expr_node *n = node_of(c, w);
  int64_t k[3] = {0};
  for (unsigned i = 0; i < expr_kids(n->expr_kind); i++)
    k[i] = value_of(c, n->kid[i], choice);
  switch (n->expr_kind) {
  case EXPR_NUMBER:
    return n->number;
  case EXPR_CHOICE:
    return choice[n->index];
  case EXPR_ADD:
    return k[0] + k[1];
  case EXPR_SUB:
    return k[0] - k[1];
  case EXPR_MUL:
    return k[0] * k[1];
  case EXPR_DIV:
    assert_true(k[0] >= 0 && k[1] > 0);
    return k[0] / k[1];
  case EXPR_MOD:
    assert_true(k[0] >= 0 && k[1] > 0);
    return k[0] % k[1];
  case EXPR_NOT:
    return !k[0];
  case EXPR_AND:
    return k[0] && k[1];
  case EXPR_OR:
    return k[0] || k[1];
  case EXPR_EQ:
    return k[0] == k[1];
  case EXPR_LT:
    return k[0] < k[1];
  case EXPR_LE:
    return k[0] <= k[1];
  case EXPR_ITE:
    return k[0] ? k[1] : k[2];
  default:
    fail();
    return 0;
  }
}

static const struct made *pick(const struct made *all, int n, bool truth) {
  for (;;) {
    const struct made *m = &all[below((uint32_t)n)];
    if (m->truth == truth)
      return m;
  }
}

static void make_one(struct expr_graph *c, struct made *all, int n, int worlds) {
  struct made *m = &all[n];
  const struct made *a = pick(all, n, false), *b = pick(all, n, false), *p = pick(all, n, true),
                    *q = pick(all, n, true);
  uint32_t what = below(13);
  int64_t divisor = 1 + (int64_t)below(4);
  m->truth = what >= 6;
  switch (what) {
  case 0:
    m->w = expr_arithmetic(c, EXPR_ADD, a->w, b->w);
    break;
  case 1:
    m->w = expr_arithmetic(c, EXPR_SUB, a->w, b->w);
    break;
  case 2:
    m->w = expr_arithmetic(c, EXPR_MUL, p->w == q->w ? a->w : expr_bool_to_int(c, p->w), b->w);
    break;
  case 3:
    m->w = expr_arithmetic(c, EXPR_DIV, a->w, expr_number(c, divisor));
    break;
  case 4:
    m->w = expr_arithmetic(c, EXPR_MOD, a->w, expr_number(c, divisor));
    break;
  case 5:
    m->w = expr_ite(c, p->w, a->w, b->w);
    break;
  case 6:
    m->w = expr_and(c, p->w, q->w);
    break;
  case 7:
    m->w = expr_or(c, p->w, expr_not(c, q->w));
    break;
  case 8:
    m->w = expr_equal(c, a->w, b->w);
    break;
  case 9:
    m->w = expr_equal(c, p->w, q->w);
    break;
  case 10:
    m->w = expr_less(c, a->w, b->w);
    break;
  case 11:
    m->w = expr_at_most(c, a->w, b->w);
    break;
  default:
    m->w = expr_ite(c, p->w, q->w, expr_implies(c, q->w, p->w));
  }
  for (int i = 0; i < worlds; i++) {
    int64_t x = a->value[i], y = b->value[i];
    bool t = p->value[i], u = q->value[i];
    int64_t v[] = {x + y,
                   x - y,
                   (p->w == q->w ? x : t) * y,
                   floor_div(x, divisor),
                   x - divisor * floor_div(x, divisor),
                   t ? x : y,
                   t && u,
                   t || !u,
                   x == y,
                   t == u,
                   x < y,
                   x <= y,
                   t ? u : !u || t};
    m->value[i] = v[what];
  }
}

static bool small(const struct made *m, int worlds) {
  for (int i = 0; i < worlds; i++)
    if (llabs(m->value[i]) > 100000)
      return false;
  return true;
}

static void test_folding(void **state) {
  (void)state;
  static int64_t world[200][CHOICES];
  static struct made all[60];
  int worlds = assignments(world);
  for (seed = 1; seed < 4000000; seed += 20011) {
    struct expr_graph c;
    uint32_t kept = seed;
    expr_graph_init(&c, false);
    for (uint32_t i = 0; i < CHOICES; i++) {
      all[i] = (struct made){.w = expr_choice(&c, i, i >= 2, LO[i], HI[i]), .truth = i >= 2};
      for (int k = 0; k < worlds; k++)
        all[i].value[k] = world[k][i];
    }
    for (int n = CHOICES; n < 40; n++) {
      make_one(&c, all, n, worlds);
      if (!small(&all[n], worlds))
        all[n] = all[0];
      const struct expr_node *node = node_of(&c, all[n].w);
      assert_int_equal(node->truth, all[n].truth);
      for (int k = 0; k < worlds; k++) {
        assert_int_equal(value_of(&c, all[n].w, world[k]), all[n].value[k]);
        assert_true(node->lo <= all[n].value[k] && all[n].value[k] <= node->hi);
      }
    }
    expr_graph_release(&c);
    seed = kept;
  }
}

/* Rules differ in what their choices range over: the same number is another choice. */
static void test_choices_of_rules(void **state) {
  (void)state;
  struct expr_graph c;
  expr_graph_init(&c, false);
  expr_id one = expr_choice(&c, 0, false, 0, 1), other = expr_choice(&c, 0, false, 0, 3);
  assert_int_not_equal(one, other);
  assert_int_equal(node_of(&c, other)->hi, 3);
  assert_true(expr_is_constant(&c, expr_less(&c, one, expr_number(&c, 2)), 1));
  assert_false(expr_is_constant(&c, expr_less(&c, other, expr_number(&c, 2)), 1));
  expr_graph_release(&c);
}

/* A choice is made everywhere in an expression, however deep that is: without recursion. */
static void test_substitution(void **state) {
  (void)state;
  struct expr_graph c;
  expr_graph_init(&c, false);
  expr_id w = expr_choice(&c, 2, false, 0, 3), one = expr_number(&c, 1), same;
  expr_id other = expr_choice(&c, 0, true, 0, 1), x = expr_variable(&c, 0, false, 0, 1);
  for (int i = 0; i < 400000; i++)
    w = expr_arithmetic(&c, i % 2 ? EXPR_ADD : EXPR_SUB, w, i % 2 ? x : one);
  assert_int_equal(node_of(&c, w)->choices, 3);
  assert_int_equal(node_of(&c, expr_substitute_choice(&c, w, 2, 1))->choices, 0);
  same = expr_ite(&c, other, w, x);
  assert_int_equal(expr_substitute_choice(&c, same, 0, 1), w);
  assert_int_equal(expr_substitute_choice(&c, same, 0, 0), x);
  assert_int_equal(expr_substitute_choice(&c, x, 0, 0), x);
  expr_graph_release(&c);
}

static void assert_bounds(const struct expr_graph *c, expr_id w, int64_t lo, int64_t hi) {
  assert_int_equal(node_of(c, w)->lo, lo);
  assert_int_equal(node_of(c, w)->hi, hi);
}

/* Numbers without bound, as solvers have them: no comparison is decided by a bound that is none, or that did not fit.
 */
static void test_unbounded(void **state) {
  (void)state;
  struct expr_graph c;
  expr_graph_init(&c, false);
  c.integers = true;
  expr_id any = expr_variable(&c, 0, false, EXPR_NO_LOWER, EXPR_NO_UPPER);
  expr_id natural = expr_variable(&c, 1, false, 0, EXPR_NO_UPPER), five = expr_number(&c, 5);
  expr_id large = expr_variable(&c, 2, false, -1, INT64_C(1) << 40);
  assert_bounds(&c, expr_arithmetic(&c, EXPR_ADD, natural, five), 5, EXPR_NO_UPPER);
  expr_id down = expr_arithmetic(&c, EXPR_SUB, expr_number(&c, 1), natural);
  assert_bounds(&c, down, EXPR_NO_LOWER, 1);
  assert_bounds(&c, expr_arithmetic(&c, EXPR_MOD, down, five), 0, 4);
  assert_bounds(&c, expr_arithmetic(&c, EXPR_DIV, down, five), EXPR_NO_LOWER, 0);
  assert_bounds(&c, expr_arithmetic(&c, EXPR_SUB, any, natural), EXPR_NO_LOWER, EXPR_NO_UPPER);
  assert_bounds(&c, expr_arithmetic(&c, EXPR_MUL, natural, five), EXPR_NO_LOWER, EXPR_NO_UPPER);
  assert_bounds(&c, expr_arithmetic(&c, EXPR_MUL, large, large), -(INT64_C(1) << 40), EXPR_NO_UPPER);
  assert_bounds(&c, expr_ite(&c, expr_less(&c, any, five), natural, down), EXPR_NO_LOWER, EXPR_NO_UPPER);
  assert_true(expr_is_constant(&c, expr_at_most(&c, natural, expr_number(&c, -1)), 0));
  assert_int_equal(node_of(&c, expr_at_most(&c, any, five))->expr_kind, EXPR_LE);
  assert_int_equal(node_of(&c, expr_equal(&c, down, natural))->expr_kind, EXPR_EQ);
  expr_graph_release(&c);
}

/* A bound that holds in one context says nothing of the number elsewhere. */
static void test_bounded(void **state) {
  (void)state;
  struct expr_graph c;
  expr_graph_init(&c, false);
  expr_id x = expr_variable(&c, 0, false, -8, 7), three = expr_number(&c, 3), b = expr_bounded(&c, x, 0, 3);
  assert_bounds(&c, b, 0, 3);
  assert_bounds(&c, x, -8, 7);
  assert_true(expr_is_constant(&c, expr_at_most(&c, b, three), 1));
  assert_int_equal(node_of(&c, expr_at_most(&c, x, three))->expr_kind, EXPR_LE);
  assert_int_equal(expr_bounded(&c, x, 0, 3), b);
  assert_int_not_equal(expr_bounded(&c, x, 1, 3), b);
  assert_int_not_equal(expr_bounded(&c, x, 0, 4), b);
  assert_int_equal(expr_bounded(&c, x, -9, 9), x);
  assert_int_equal(expr_bounded(&c, x, 3, 3), three);
  expr_graph_release(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_folding), cmocka_unit_test(test_choices_of_rules),
                                     cmocka_unit_test(test_substitution), cmocka_unit_test(test_unbounded),
                                     cmocka_unit_test(test_bounded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
