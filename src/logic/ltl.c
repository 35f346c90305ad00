#include "logic/ltl.h"

#include "base/intern.h"
#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

struct ltl_pool {
  VEC(struct ltl_node) nodes;
  VEC(ltl) negation;    /* by formula; NOT_YET: not computed */
  struct intern *names; /* (op, a, b) -> formula */
};
#define NOT_YET UINT32_MAX

static ltl ltl_make(struct ltl_pool *p, enum ltl_op op, ltl a, ltl b) {
  int64_t key[] = {op, a, b};
  ltl f = intern_put(p->names, key, 3);
  if (f == p->nodes.n) {
    vec_push(&p->nodes, ((struct ltl_node){op, a, b}));
    vec_push(&p->negation, NOT_YET);
  }
  return f;
}

struct ltl_pool *ltl_pool_new(void) {
  struct ltl_pool *p = memory_alloc(sizeof *p);
  p->names = intern_new();
  ltl_make(p, LTL_FALSE, 0, 0);
  ltl_make(p, LTL_TRUE, 0, 0);
  return p;
}

void ltl_pool_free(struct ltl_pool *p) {
  if (!p)
    return;
  intern_free(p->names);
  vec_release(&p->nodes);
  vec_release(&p->negation);
  memory_free(p);
}

struct ltl_node ltl_at(const struct ltl_pool *p, ltl f) {
  return p->nodes.at[f];
}
uint32_t ltl_count(const struct ltl_pool *p) { return (uint32_t)p->nodes.n; }
ltl ltl_truth(struct ltl_pool *p, bool truth) { return ltl_make(p, truth ? LTL_TRUE : LTL_FALSE, 0, 0); }
ltl ltl_atom(struct ltl_pool *p, uint32_t atom) { return ltl_make(p, LTL_ATOM, atom, 0); }

static bool is(const struct ltl_pool *p, ltl f, enum ltl_op op) { return p->nodes.at[f].op == op; }

/* Patterns: eventually a; always a. */
static bool is_eventually(const struct ltl_pool *p, ltl f) {
  return is(p, f, LTL_UNTIL) && is(p, p->nodes.at[f].a, LTL_TRUE);
}
static bool is_always(const struct ltl_pool *p, ltl f) {
  return is(p, f, LTL_RELEASE) && is(p, p->nodes.at[f].a, LTL_FALSE);
}
static ltl under(const struct ltl_pool *p, ltl f) { return p->nodes.at[f].b; }
static bool is_always_eventually(const struct ltl_pool *p, ltl f) {
  return is_always(p, f) && is_eventually(p, under(p, f));
}
static bool is_eventually_always(const struct ltl_pool *p, ltl f) {
  return is_eventually(p, f) && is_always(p, under(p, f));
}

static ltl negated(struct ltl_pool *p, ltl f) {
  struct ltl_node n = p->nodes.at[f];
  switch (n.op) {
  case LTL_FALSE:
    return ltl_truth(p, true);
  case LTL_TRUE:
    return ltl_truth(p, false);
  case LTL_ATOM:
    return ltl_make(p, LTL_NOT_ATOM, n.a, 0);
  case LTL_NOT_ATOM:
    return ltl_make(p, LTL_ATOM, n.a, 0);
  case LTL_AND:
    return ltl_or(p, ltl_not(p, n.a), ltl_not(p, n.b));
  case LTL_OR:
    return ltl_and(p, ltl_not(p, n.a), ltl_not(p, n.b));
  case LTL_UNTIL:
    return ltl_release(p, ltl_not(p, n.a), ltl_not(p, n.b));
  case LTL_RELEASE:
    return ltl_until(p, ltl_not(p, n.a), ltl_not(p, n.b));
  }
  return f;
}

ltl ltl_not(struct ltl_pool *p, ltl f) {
  if (p->negation.at[f] == NOT_YET) {
    ltl n = negated(p, f);
    p->negation.at[f] = n;
    if (p->negation.at[n] == NOT_YET)
      p->negation.at[n] = f;
  }
  return p->negation.at[f];
}

/* A sound, incomplete syntactic test for "a implies b". The number of steps is bounded for large formulas. */
#define IMPLIES_STEPS_MAX 200
static bool implies_within(const struct ltl_pool *p, ltl a, ltl b, uint32_t *steps_left) {
  struct ltl_node x = p->nodes.at[a], y = p->nodes.at[b];
  if (a == b || x.op == LTL_FALSE || y.op == LTL_TRUE)
    return true;
  if (*steps_left == 0)
    return false;
  --*steps_left;
  if (x.op == LTL_OR)
    return implies_within(p, x.a, b, steps_left) && implies_within(p, x.b, b, steps_left);
  if (y.op == LTL_AND)
    return implies_within(p, a, y.a, steps_left) && implies_within(p, a, y.b, steps_left);
  if (x.op == LTL_AND && (implies_within(p, x.a, b, steps_left) || implies_within(p, x.b, b, steps_left)))
    return true;
  if (y.op == LTL_OR && (implies_within(p, a, y.a, steps_left) || implies_within(p, a, y.b, steps_left)))
    return true;
  if (x.op == LTL_UNTIL && y.op == LTL_UNTIL && implies_within(p, x.a, y.a, steps_left) &&
      implies_within(p, x.b, y.b, steps_left))
    return true;
  if (x.op == LTL_RELEASE && y.op == LTL_RELEASE && implies_within(p, x.a, y.a, steps_left) &&
      implies_within(p, x.b, y.b, steps_left))
    return true;
  if (y.op == LTL_UNTIL && implies_within(p, a, y.b, steps_left))
    return true;
  return x.op == LTL_RELEASE && implies_within(p, x.b, b, steps_left);
}

static bool implies(const struct ltl_pool *p, ltl a, ltl b) {
  uint32_t steps_left = IMPLIES_STEPS_MAX;
  return implies_within(p, a, b, &steps_left);
}

/* Two formulas under one operator: an equivalent simpler formula, or UINT32_MAX if there is none. */
static ltl merged(struct ltl_pool *p, ltl a, ltl b, bool and) {
  if (and) {
    if (is_always(p, a) && is_always(p, b))
      return ltl_always(p, ltl_and(p, under(p, a), under(p, b)));
    if (is_eventually_always(p, a) && is_eventually_always(p, b))
      return ltl_eventually(p, ltl_always(p, ltl_and(p, under(p, under(p, a)), under(p, under(p, b)))));
    return UINT32_MAX;
  }
  if (is_eventually(p, a) && is_eventually(p, b))
    return ltl_eventually(p, ltl_or(p, under(p, a), under(p, b)));
  if (is_always_eventually(p, a) && is_always_eventually(p, b))
    return ltl_always(p, ltl_eventually(p, ltl_or(p, under(p, under(p, a)), under(p, under(p, b)))));
  return UINT32_MAX;
}

/* Conjunctions and disjunctions are right-associated, with their parts in order. */
static ltl make_junction(struct ltl_pool *p, ltl a, ltl b, bool and) {
  enum ltl_op op = and? LTL_AND : LTL_OR;
  if (is(p, a, op)) {
    ltl rest = make_junction(p, p->nodes.at[a].b, b, and);
    return make_junction(p, p->nodes.at[a].a, rest, and);
  }
  if (implies(p, a, b))
    return and? a : b;
  if (implies(p, b, a))
    return and? b : a;
  if (implies(p, and? a : ltl_not(p, a), and? ltl_not(p, b) : b))
    return ltl_truth(p, !and);
  ltl head = is(p, b, op) ? p->nodes.at[b].a : b, one = merged(p, a, head, and);
  if (one != UINT32_MAX)
    return is(p, b, op) ? make_junction(p, one, p->nodes.at[b].b, and) : one;
  if (head < a && is(p, b, op))
    return ltl_make(p, op, head, make_junction(p, a, p->nodes.at[b].b, and));
  return head < a ? ltl_make(p, op, head, a) : ltl_make(p, op, a, b);
}

ltl ltl_and(struct ltl_pool *p, ltl a, ltl b) { return make_junction(p, a, b, true); }
ltl ltl_or(struct ltl_pool *p, ltl a, ltl b) { return make_junction(p, a, b, false); }

ltl ltl_until(struct ltl_pool *p, ltl a, ltl b) {
  if (is(p, b, LTL_TRUE) || is(p, b, LTL_FALSE) || implies(p, a, b) || is_eventually(p, b))
    return b;
  if (is(p, a, LTL_TRUE) && (is_always_eventually(p, b)))
    return b;
  if (is(p, a, LTL_TRUE) && is(p, b, LTL_UNTIL)) /* eventually (a until b) is eventually b */
    return ltl_until(p, a, under(p, b));
  return ltl_make(p, LTL_UNTIL, a, b);
}

ltl ltl_release(struct ltl_pool *p, ltl a, ltl b) {
  if (is(p, b, LTL_TRUE) || is(p, b, LTL_FALSE) || implies(p, b, a) || is_always(p, b))
    return b;
  if (is(p, a, LTL_FALSE) && is_eventually_always(p, b))
    return b;
  if (is(p, a, LTL_FALSE) && is(p, b, LTL_RELEASE))
    return ltl_release(p, a, under(p, b));
  return ltl_make(p, LTL_RELEASE, a, b);
}

ltl ltl_eventually(struct ltl_pool *p, ltl f) { return ltl_until(p, ltl_truth(p, true), f); }
ltl ltl_always(struct ltl_pool *p, ltl f) { return ltl_release(p, ltl_truth(p, false), f); }
