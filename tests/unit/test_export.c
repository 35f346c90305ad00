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
  case EXPR_BOOL_TO_INT:
    return k[0];
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
    expr_graph_init(&c);
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
  expr_graph_init(&c);
  expr_id one = expr_choice(&c, 0, false, 0, 1), other = expr_choice(&c, 0, false, 0, 3);
  assert_int_not_equal(one, other);
  assert_int_equal(node_of(&c, other)->hi, 3);
  assert_true(expr_is_constant(&c, expr_less(&c, one, expr_number(&c, 2)), 1));
  assert_false(expr_is_constant(&c, expr_less(&c, other, expr_number(&c, 2)), 1));
  expr_graph_release(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_folding), cmocka_unit_test(test_choices_of_rules)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
