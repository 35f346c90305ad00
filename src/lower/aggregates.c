/* Generators, unrolled over all possible bindings, and the aggregates over them. */
#include "lower/lowering.h"

#include <string.h>

#define VALUES_MOST 4096
#define SUBSETS_OF_MOST 12

/* ---- generators ---- */

struct generator_loop {
  const struct generator *gen;
  uint32_t n, i;
  binding_visit *visit;
  void *context;
  truth bound;
};

static bool loop_next(struct scope *, const struct generator_loop *);

/* Binds the slot to one value, under the condition. */
static bool loop_bind(struct scope *s, const struct generator_loop *loop, truth condition, struct sym_value *v) {
  struct expr_graph *c = s->l->graph;
  const struct generator *g = &loop->gen[loop->i];
  bool more = true;
  if (condition == EXPR_FALSE)
    return true;
  s->slot[g->slot] = v;
  truth old = scope_narrow(s, condition);
  truth fits = g->cond ? lower_truth(s, g->cond) : EXPR_TRUE;
  if (fits != EXPR_FALSE) {
    scope_narrow(s, fits);
    struct generator_loop inner = *loop;
    inner.i++;
    inner.bound = expr_and(c, loop->bound, expr_and(c, condition, fits));
    more = loop_next(s, &inner);
  }
  s->path = old;
  return more;
}

static bool loop_received(struct scope *s, const struct generator_loop *loop) {
  for (uint32_t k = 0; k < s->nreceived; k++) {
    s->slot_sender[loop->gen[loop->i].slot] = s->received[k].sender;
    if (!loop_bind(s, loop, s->received[k].there, s->received[k].message))
      return false;
  }
  return true;
}

/* Every subset of the possible members, under the condition that it is a subset of the set. */
static bool loop_subsets(struct scope *s, const struct generator_loop *loop, const struct node *of) {
  struct lowering *l = s->l;
  struct sym_value *whole = lower_node(s, of->kid[0]);
  uint32_t member[SUBSETS_OF_MOST], n = 0;
  for (uint32_t i = 0; i < whole->n; i++)
    if (whole->has[i] != EXPR_FALSE) {
      if (n == SUBSETS_OF_MOST)
        lower_refuse(l, of->at, "the subsets of a set with more than %d possible members", SUBSETS_OF_MOST);
      member[n++] = i;
    }
  for (uint64_t bits = 0; bits < (UINT64_C(1) << n); bits++) {
    struct sym_value *subset = arena_copy(l->arena, whole, sizeof *whole);
    truth within = EXPR_TRUE;
    subset->has = arena_array(l->arena, whole->n + 1, sizeof *subset->has);
    for (uint32_t i = 0; i < whole->n; i++)
      subset->has[i] = EXPR_FALSE;
    for (uint32_t i = 0; i < n; i++)
      if (bits >> i & 1) {
        subset->has[member[i]] = EXPR_TRUE;
        within = expr_and(l->graph, within, whole->has[member[i]]);
      }
    if (!loop_bind(s, loop, within, subset))
      return false;
  }
  return true;
}

/* In an environment clause, quantifiers range over the participating processes; in a property, over those that are not
   Byzantine. */
static truth quantified(struct scope *s, uint32_t p) {
  struct expr_graph *c = s->l->graph;
  if (!s->before)
    return EXPR_TRUE;
  return s->heard ? sym_process_active(s->l, &s->before->of[p]) : expr_not(c, s->before->of[p].byzantine);
}

static bool loop_processes(struct scope *s, const struct generator_loop *loop, const struct node *range) {
  struct lowering *l = s->l;
  for (uint32_t p = 0; p < l->model->nprocesses; p++) {
    truth in;
    if (range->op == NODE_ROLE_SET)
      in = range->index == ROLE_ANY || model_role_of(l->model, p) == range->index ? quantified(s, p) : EXPR_FALSE;
    else
      in = expr_equal(l->graph, sym_process_faulty(l, &s->before->of[p]), expr_truth(range->op == NODE_FAULTY));
    if (!loop_bind(s, loop, in, sym_number(l, number_of(p))))
      return false;
  }
  return true;
}

static bool loop_interval(struct scope *s, const struct generator_loop *loop, const struct node *range) {
  struct lowering *l = s->l;
  struct number lo = lower_node(s, range->kid[0])->number, hi = lower_node(s, range->kid[1])->number;
  if (lo.lo == NUMBER_LEAST || hi.hi == NUMBER_MOST || (hi.hi > lo.lo && hi.hi - lo.lo > VALUES_MOST))
    lower_refuse(l, range->at, "a range with too many numbers to go through");
  for (int64_t v = lo.lo; v <= hi.hi; v++) {
    truth in =
        expr_and(l->graph, number_at_most(l->graph, lo, number_of(v)), number_at_most(l->graph, number_of(v), hi));
    if (!loop_bind(s, loop, in, sym_number(l, number_of(v))))
      return false;
  }
  return true;
}

static bool loop_collection(struct scope *s, const struct generator_loop *loop, const struct node *range) {
  struct lowering *l = s->l;
  struct sym_value *v = lower_node(s, range);
  if (v->kind == SYM_OPTION)
    return !v->part[0] || loop_bind(s, loop, v->truth, v->part[0]);
  for (uint32_t i = 0; i < v->n; i++) {
    bool sequence = v->kind == SYM_SEQUENCE;
    truth in = sequence ? number_less(l->graph, number_of(i), v->number) : v->has[i];
    if (in != EXPR_FALSE && !loop_bind(s, loop, in, sequence ? v->part[i] : sym_member(l, v, i)))
      return false;
  }
  return true;
}

static bool loop_domain(struct scope *s, const struct generator_loop *loop, const struct node *range) {
  const struct type *t = range->type->element;
  if (t->count > VALUES_MOST)
    lower_refuse(s->l, range->at, "a type with too many values to go through");
  for (uint64_t i = 0; i < t->count; i++)
    if (!loop_bind(s, loop, EXPR_TRUE, sym_nth_value(s->l, t, i)))
      return false;
  return true;
}

static bool loop_next(struct scope *s, const struct generator_loop *loop) {
  if (loop->i == loop->n)
    return loop->visit(s, loop->context, loop->bound);
  const struct node *range = loop->gen[loop->i].range;
  s->slot_sender[loop->gen[loop->i].slot] = number_of(0);
  switch (op_number(range->op)) {
  case NODE_RECEIVED:
    return loop_received(s, loop);
  case NODE_SUBSETS:
    return loop_subsets(s, loop, range);
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
    return loop_processes(s, loop, range);
  case NODE_DOMAIN:
    return loop_domain(s, loop, range);
  case NODE_INTERVAL:
    return loop_interval(s, loop, range);
  }
  return loop_collection(s, loop, range); /* a collection value: lower_node handles or refuses it */
}

bool lower_bindings(struct scope *s, const struct generator *gen, uint32_t n, binding_visit *visit, void *context) {
  struct generator_loop loop = {.gen = gen, .n = n, .visit = visit, .context = context, .bound = EXPR_TRUE};
  return loop_next(s, &loop);
}

/* ---- forall and exists: evaluation stops at the first deciding binding ---- */

struct quantifier_search {
  const struct node *node;
  bool wanted; /* EXISTS: true, FORALL: false */
  truth found;
};

static bool visit_quantified(struct scope *s, void *context, truth bound) {
  struct quantifier_search *a = context;
  struct expr_graph *c = s->l->graph;
  truth old = scope_narrow(s, expr_not(c, a->found));
  truth body = a->node->n ? lower_truth(s, a->node->kid[0]) : expr_truth(a->wanted);
  s->path = old;
  a->found = expr_or(c, a->found, expr_and(c, bound, a->wanted ? body : expr_not(c, body)));
  return a->found != EXPR_TRUE;
}

/* ---- all other aggregates: every binding counts ---- */

struct aggregate_elements {
  const struct node *node;
  VEC(truth) guard;
  VEC(struct sym_value *) element;
};

static bool visit_element(struct scope *s, void *context, truth bound) {
  struct aggregate_elements *g = context;
  const struct node *n = g->node;
  if (n->op == NODE_COUNT) {
    truth counted = n->n ? lower_truth(s, n->kid[0]) : EXPR_TRUE;
    arena_push(s->l->arena, &g->guard, expr_and(s->l->graph, bound, counted));
  } else {
    struct sym_value *v = lower_node(s, n->kid[0]);
    bool once = n->op == NODE_PICK || n->op == NODE_RANDOM; /* equal values are one alternative */
    for (size_t i = 0; i < g->guard.n && once; i++)
      if (sym_identical(g->element.at[i], v)) {
        g->guard.at[i] = expr_or(s->l->graph, g->guard.at[i], bound);
        return true;
      }
    arena_push(s->l->arena, &g->guard, bound);
    arena_push(s->l->arena, &g->element, v);
  }
  return true;
}

static struct aggregate_elements collect_elements(struct scope *s, const struct node *n) {
  struct aggregate_elements g = {.node = n};
  lower_bindings(s, n->gen, n->ngen, visit_element, &g);
  return g;
}

static struct sym_value *sum(struct scope *s, const struct aggregate_elements *g) {
  struct expr_graph *c = s->l->graph;
  struct number total = number_of(0);
  for (size_t i = 0; i < g->guard.n; i++)
    if (!number_plus(c, total, number_if(c, g->guard.at[i], g->element.at[i]->number, number_of(0)), &total))
      lower_refuse(s->l, g->node->at, "numbers too large to follow");
  return sym_number(s->l, total);
}

static struct sym_value *unite(struct scope *s, const struct aggregate_elements *g) {
  struct lowering *l = s->l;
  struct sym_value *all = sym_empty(l, g->node->type), *none = all;
  for (size_t i = 0; i < g->guard.n; i++)
    all = sym_union(l, all, sym_ite(l, g->guard.at[i], g->element.at[i], none));
  return all;
}

/* How many of the collected elements equal v. */
static struct number weight(struct scope *s, const struct aggregate_elements *g, const struct sym_value *v) {
  struct lowering *l = s->l;
  truth *equal = arena_array(l->arena, g->guard.n + 1, sizeof *equal);
  for (size_t i = 0; i < g->guard.n; i++)
    equal[i] = expr_and(l->graph, g->guard.at[i], sym_equal(l, g->element.at[i], v));
  return number_count(l->graph, equal, g->guard.n);
}

static struct sym_value *most_frequent(struct scope *s, const struct aggregate_elements *g) {
  struct lowering *l = s->l;
  struct sym_value *set = sym_set_of(l, g->node->type, g->guard.at, g->element.at, g->guard.n);
  struct number *of = arena_array(l->arena, set->n + 1, sizeof *of);
  for (uint32_t i = 0; i < set->n; i++)
    of[i] = weight(s, g, sym_member(l, set, i));
  for (uint32_t i = 0; i < set->n; i++) {
    truth *most = arena_array(l->arena, set->n + 1, sizeof *most);
    for (uint32_t k = 0; k < set->n; k++)
      most[k] = k == i ? number_less(l->graph, number_of(0), of[i]) : number_at_most(l->graph, of[k], of[i]);
    set->has[i] = truth_all(l->graph, most, set->n);
  }
  return set;
}

static truth majority(struct scope *s, const struct aggregate_elements *g, struct sym_value **v) {
  struct lowering *l = s->l;
  struct number total = number_count(l->graph, g->guard.at, g->guard.n);
  truth there = EXPR_FALSE;
  for (size_t i = 0; i < g->guard.n; i++) {
    struct number twice = number_of(0);
    number_times(l->graph, weight(s, g, g->element.at[i]), number_of(2), &twice);
    truth it = expr_and(l->graph, g->guard.at[i], number_less(l->graph, total, twice));
    *v = *v ? sym_ite(l, it, g->element.at[i], *v) : g->element.at[i];
    there = expr_or(l->graph, there, it);
  }
  return there;
}

static truth min_or_max(struct scope *s, const struct aggregate_elements *g, struct sym_value **best) {
  struct lowering *l = s->l;
  truth any = EXPR_FALSE;
  for (size_t i = 0; i < g->guard.n; i++) {
    struct sym_value *v = g->element.at[i];
    if (!*best) {
      *best = v;
    } else {
      truth better = g->node->op == NODE_MIN ? sym_less(l, v, *best) : sym_less(l, *best, v);
      truth taken = expr_and(l->graph, g->guard.at[i], expr_or(l->graph, expr_not(l->graph, any), better));
      *best = sym_ite(l, taken, v, *best);
    }
    any = expr_or(l->graph, any, g->guard.at[i]);
  }
  return any;
}

static truth choose(struct scope *s, const struct aggregate_elements *g, struct sym_value **v) {
  struct lowering *l = s->l;
  size_t n = g->guard.n;
  if (n == 0)
    return EXPR_FALSE;
  truth *which = arena_array(l->arena, n, sizeof *which);
  l->choose(s, op_text(g->node->op), g->guard.at, n, which);
  *v = NULL;
  for (size_t i = 0; i < n; i++)
    if (g->guard.at[i] != EXPR_FALSE && which[i] != EXPR_FALSE)
      *v = *v ? sym_ite(l, which[i], g->element.at[i], *v) : g->element.at[i];
  return truth_any(l->graph, g->guard.at, n);
}

truth lower_maybe(struct scope *s, const struct node *n, struct sym_value **v) {
  struct lowering *l = s->l;
  truth there;
  struct aggregate_elements g;
  *v = NULL;
  switch (op_number(n->op)) {
  case NODE_MIN:
  case NODE_MAX:
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MAJORITY:
    g = collect_elements(s, n);
    there = n->op == NODE_MAJORITY                   ? majority(s, &g, v)
            : n->op == NODE_MIN || n->op == NODE_MAX ? min_or_max(s, &g, v)
                                                     : choose(s, &g, v);
    return there;
  case NODE_FIRST:
  case NODE_LAST: {
    struct sym_value *q = lower_node(s, n->kid[0]);
    for (uint32_t i = 0; i < q->n; i++)
      *v = !*v                   ? q->part[i]
           : n->op == NODE_FIRST ? *v
                                 : sym_ite(l, number_is(l->graph, q->number, (int64_t)i + 1), q->part[i], *v);
    return number_less(l->graph, number_of(0), q->number);
  }
  }
  *v = lower_node(s, n); /* handles or refuses it */
  if (n->type->kind != TYPE_OPTION)
    return EXPR_TRUE;
  there = (*v)->truth;
  *v = (*v)->part[0];
  return there;
}

struct sym_value *lower_aggregate(struct scope *s, const struct node *n) {
  struct lowering *l = s->l;
  struct sym_value *v;
  struct aggregate_elements g;
  if (n->op == NODE_EXISTS || n->op == NODE_FORALL) {
    struct quantifier_search a = {n, n->op == NODE_EXISTS, EXPR_FALSE};
    lower_bindings(s, n->gen, n->ngen, visit_quantified, &a);
    return sym_truth(l, a.wanted ? a.found : expr_not(l->graph, a.found));
  }
  switch (op_number(n->op)) {
  case NODE_COUNT:
  case NODE_SUM:
  case NODE_UNION_OF:
  case NODE_SET_OF:
  case NODE_MOSTFREQUENT:
    g = collect_elements(s, n);
    v = n->op == NODE_COUNT      ? sym_number(l, number_count(l->graph, g.guard.at, g.guard.n))
        : n->op == NODE_SUM      ? sum(s, &g)
        : n->op == NODE_UNION_OF ? unite(s, &g)
        : n->op == NODE_SET_OF   ? sym_set_of(l, n->type, g.guard.at, g.element.at, g.guard.n)
                                 : most_frequent(s, &g);
    refuse_large_numbers(l, n->at);
    return v;
  case NODE_MIN:
  case NODE_MAX:
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MAJORITY:
  case NODE_FIRST:
  case NODE_LAST:
    scope_fail(s, expr_not(l->graph, lower_maybe(s, n, &v)), n->at, "'%s' of nothing", op_text(n->op));
    return v ? v : sym_default(l, n->type);
  }
  refuse_unknown_operator(l, n);
}
