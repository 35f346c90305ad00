/* The shapes of live properties that are reduced to safety. */
#include "param/liveness.h"

#include "analysis/live_formula.h"
#include "model/node.h"

#include <string.h>

struct shape_search {
  struct model *m;
  struct liveness_formula *f;
  VEC(const struct node *) around; /* the enclosing `forall` */
};

static bool refuse(struct shape_search *s, struct span at, const char *why) {
  if (!s->f->refused) {
    s->f->refused = why;
    s->f->at = at;
  }
  return false;
}

/* The body under the enclosing quantifiers: as they are, or as `exists`. */
static struct node *quantified(struct shape_search *s, struct node *body, enum op op) {
  for (size_t i = s->around.n; i-- > 0;) {
    const struct node *q = s->around.at[i];
    struct node *n = node_make(&s->m->arena, op, q->at, q->type, 1);
    n->gen = q->gen;
    n->ngen = q->ngen;
    n->kid[0] = body;
    body = n;
  }
  return body;
}

static bool ranges_are_fixed(struct shape_search *s, const struct node *n) {
  for (uint32_t i = 0; i < n->ngen; i++)
    if (n->gen[i].cond || !range_is_state_independent(n->gen[i].range))
      return refuse(s, n->gen[i].at, "a quantifier over temporal formulas has a condition, or a range that changes");
  return true;
}

static bool is_state(const struct node *n) { return !node_is_temporal(n); }

static bool is_eventually(const struct node *n) { return n->op == NODE_EVENTUALLY && is_state(n->kid[0]); }

/* exists ...: eventually g, which is eventually exists ...: g. NULL: it has another form. */
static struct node *eventual_goal(struct shape_search *s, struct node *n) {
  if (is_eventually(n))
    return n->kid[0];
  if (n->op != NODE_EXISTS || n->n != 1 || is_state(n) || !ranges_are_fixed(s, n))
    return NULL;
  struct node *goal = eventual_goal(s, n->kid[0]);
  if (!goal)
    return NULL;
  struct node *all = node_make(&s->m->arena, NODE_EXISTS, n->at, n->type, 1);
  all->gen = n->gen;
  all->ngen = n->ngen;
  all->kid[0] = goal;
  return all;
}

static bool found(struct shape_search *s, enum liveness_kind kind, struct node *trigger, struct node *goal) {
  s->f->kind = kind;
  s->f->trigger = trigger ? quantified(s, trigger, NODE_EXISTS) : NULL;
  s->f->goal = quantified(s, goal, NODE_FORALL);
  return true;
}

static bool shape_of(struct shape_search *s, struct node *n) {
  struct node *goal = eventual_goal(s, n);
  if (s->f->refused)
    return false;
  if (goal)
    return found(s, LIVENESS_EVENTUALLY, NULL, goal);
  if (n->op == NODE_EVENTUALLY && n->kid[0]->op == NODE_ALWAYS && is_state(n->kid[0]->kid[0]))
    return found(s, LIVENESS_SETTLES, NULL, n->kid[0]->kid[0]);
  if (n->op == NODE_ALWAYS) {
    struct node *of = n->kid[0];
    bool leads = of->op == NODE_IMPLIES && is_state(of->kid[0]);
    goal = eventual_goal(s, leads ? of->kid[1] : of);
    if (goal && !s->f->refused)
      return found(s, LIVENESS_LEADS_TO, leads ? of->kid[0] : NULL, goal);
  }
  if (n->op == NODE_FORALL && n->n == 1 && !is_state(n)) {
    vec_push(&s->around, n);
    bool ok = ranges_are_fixed(s, n) && shape_of(s, n->kid[0]);
    s->around.n--;
    return ok;
  }
  if (n->op == NODE_IMPLIES && is_state(n->kid[0]) && !s->f->from) {
    s->f->from = quantified(s, n->kid[0], NODE_EXISTS);
    return shape_of(s, n->kid[1]);
  }
  return refuse(
      s, n->at,
      "a live property is proved if it has the form 'eventually a', 'eventually always a', 'always eventually "
      "a' or 'a leads to b', under 'forall' and 'a => ...'");
}

/* ---- correct and faulty ---- */

/* Where processes can crash, `correct` means: never faulty in the run. Those that are correct so far are more. So the
   formula, with those, is stronger if `correct` makes it false where it grows. holds: the formula occurs positively.
   Every operator that is not listed must not read them. */
static bool status_strengthens(const struct model *m, const struct node *n, bool holds) {
  if (!node_has_traits_deep(m, n, TRAIT_STATUS))
    return true;
  bool ok = true;
  switch ((int)n->op) {
  case NODE_CORRECT:
    return !holds;
  case NODE_FAULTY:
    return holds;
  case NODE_NOT:
    return status_strengthens(m, n->kid[0], !holds);
  case NODE_IMPLIES:
    return status_strengthens(m, n->kid[0], !holds) && status_strengthens(m, n->kid[1], holds);
  case NODE_DIFFERENCE:
    return status_strengthens(m, n->kid[0], holds) && status_strengthens(m, n->kid[1], !holds);
  case NODE_IN:
    return !node_has_traits_deep(m, n->kid[0], TRAIT_STATUS) && status_strengthens(m, n->kid[1], holds);
  case NODE_AND:
  case NODE_OR:
  case NODE_UNION:
  case NODE_INTERSECTION:
    return status_strengthens(m, n->kid[0], holds) && status_strengthens(m, n->kid[1], holds);
  case NODE_FORALL:
  case NODE_EXISTS:
    for (uint32_t i = 0; i < n->ngen && ok; i++) {
      bool range = n->op == NODE_EXISTS ? holds : !holds;
      ok = status_strengthens(m, n->gen[i].range, range) &&
           (!n->gen[i].cond || status_strengthens(m, n->gen[i].cond, range));
    }
    return ok && (n->n == 0 || status_strengthens(m, n->kid[0], holds));
  }
  return false;
}

/* from => (trigger => goal) */
static bool all_strengthen(const struct model *m, const struct liveness_formula *f) {
  return (!f->from || status_strengthens(m, f->from, false)) &&
         (!f->trigger || status_strengthens(m, f->trigger, false)) && status_strengthens(m, f->goal, true);
}

static bool processes_crash(const struct environment *env) {
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CRASH)
      return true;
  return false;
}

void liveness_formula_of(struct liveness_formula *f, struct model *m, const struct property *p, uint32_t environment) {
  struct shape_search s = {.m = m, .f = f};
  *f = (struct liveness_formula){0};
  bool ok = shape_of(&s, p->formula);
  if (ok && p->almost_surely && f->kind == LIVENESS_SETTLES)
    ok = refuse(&s, p->at, "'almost surely' is for 'eventually', 'always eventually' and 'leads to'");
  if (ok && processes_crash(&m->environments[environment]) && !all_strengthen(m, f))
    refuse(&s, p->at, "'correct' means never faulty in the run, and counters know only who is faulty so far");
  vec_release(&s.around);
}
