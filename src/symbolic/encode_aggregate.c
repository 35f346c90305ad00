/* Generators, unrolled over all possible bindings, and the aggregates over them. */
#include "symbolic/encode.h"

#include <string.h>

#define VALUES_MOST 4096
#define SUBSETS_OF_MOST 12

/* ---- generators ---- */

struct generator_loop {
  const struct generator *gen;
  uint32_t n, i;
  sym_binding_fn *visit;
  void *context;
  truth bound;
};

static bool loop_next(struct scope *, const struct generator_loop *);

/* Binds the slot to one value, under the condition. */
static bool loop_bind(struct scope *s, const struct generator_loop *l, truth condition, struct sym_value *v) {
  struct terms *t = &s->e->t;
  const struct generator *g = &l->gen[l->i];
  bool more = true;
  if (condition == t->no)
    return true;
  s->slot[g->slot] = v;
  truth old = scope_narrow(s, condition);
  truth fits = g->cond ? encode_truth(s, g->cond) : t->yes;
  if (fits != t->no) {
    scope_narrow(s, fits);
    struct generator_loop inner = *l;
    inner.i++;
    inner.bound = truth_and(t, l->bound, truth_and(t, condition, fits));
    more = loop_next(s, &inner);
  }
  s->path = old;
  return more;
}

static bool loop_received(struct scope *s, const struct generator_loop *l) {
  for (uint32_t k = 0; k < s->nreceived; k++) {
    s->slot_sender[l->gen[l->i].slot] = s->received[k].sender;
    if (!loop_bind(s, l, s->received[k].there, s->received[k].message))
      return false;
  }
  return true;
}

/* Every subset of the possible members, under the condition that it is a subset of the set. */
static bool loop_subsets(struct scope *s, const struct generator_loop *l, const struct node *of) {
  struct encoder *e = s->e;
  struct sym_value *whole = encode_node(s, of->kid[0]);
  uint32_t member[SUBSETS_OF_MOST], n = 0;
  for (uint32_t i = 0; i < whole->n; i++)
    if (whole->has[i] != e->t.no) {
      if (n == SUBSETS_OF_MOST)
        encode_refuse(e, of->at, "the subsets of a set with more than %d possible members", SUBSETS_OF_MOST);
      member[n++] = i;
    }
  for (uint64_t bits = 0; bits < (UINT64_C(1) << n); bits++) {
    struct sym_value *subset = arena_copy(&e->arena, whole, sizeof *whole);
    truth within = e->t.yes;
    subset->has = arena_array(&e->arena, whole->n + 1, sizeof *subset->has);
    for (uint32_t i = 0; i < whole->n; i++)
      subset->has[i] = e->t.no;
    for (uint32_t i = 0; i < n; i++)
      if (bits >> i & 1) {
        subset->has[member[i]] = e->t.yes;
        within = truth_and(&e->t, within, whole->has[member[i]]);
      }
    if (!loop_bind(s, l, within, subset))
      return false;
  }
  return true;
}

/* In an environment clause, quantifiers range over the participating processes; in a property, over those that are not
   Byzantine. */
static truth quantified(struct scope *s, uint32_t p) {
  struct terms *t = &s->e->t;
  if (!s->before)
    return t->yes;
  return s->heard ? sym_process_active(s->e, &s->before->of[p]) : truth_not(t, s->before->of[p].byzantine);
}

static bool loop_processes(struct scope *s, const struct generator_loop *l, const struct node *range) {
  struct encoder *e = s->e;
  for (uint32_t p = 0; p < e->model->nprocesses; p++) {
    truth in;
    if (range->op == NODE_ROLE_SET)
      in = range->index == ROLE_ANY || model_role_of(e->model, p) == range->index ? quantified(s, p) : e->t.no;
    else
      in = truth_same(&e->t, sym_process_faulty(e, &s->before->of[p]), truth_of(&e->t, range->op == NODE_FAULTY));
    if (!loop_bind(s, l, in, sym_number(e, number_of(p))))
      return false;
  }
  return true;
}

static bool loop_interval(struct scope *s, const struct generator_loop *l, const struct node *range) {
  struct encoder *e = s->e;
  struct number lo = encode_node(s, range->kid[0])->number, hi = encode_node(s, range->kid[1])->number;
  if (lo.lo == NUMBER_LEAST || hi.hi == NUMBER_MOST || (hi.hi > lo.lo && hi.hi - lo.lo > VALUES_MOST))
    encode_refuse(e, range->at, "a range with too many numbers to go through");
  for (int64_t v = lo.lo; v <= hi.hi; v++) {
    truth in = truth_and(&e->t, number_at_most(&e->t, lo, number_of(v)), number_at_most(&e->t, number_of(v), hi));
    if (!loop_bind(s, l, in, sym_number(e, number_of(v))))
      return false;
  }
  return true;
}

static bool loop_collection(struct scope *s, const struct generator_loop *l, const struct node *range) {
  struct encoder *e = s->e;
  struct sym_value *v = encode_node(s, range);
  if (v->kind == SYM_OPTION)
    return !v->part[0] || loop_bind(s, l, v->truth, v->part[0]);
  for (uint32_t i = 0; i < v->n; i++) {
    bool sequence = v->kind == SYM_SEQUENCE;
    truth in = sequence ? number_less(&e->t, number_of(i), v->number) : v->has[i];
    if (in != e->t.no && !loop_bind(s, l, in, sequence ? v->part[i] : sym_member(e, v, i)))
      return false;
  }
  return true;
}

static bool loop_domain(struct scope *s, const struct generator_loop *l, const struct node *range) {
  const struct type *t = range->type->element;
  if (t->count > VALUES_MOST)
    encode_refuse(s->e, range->at, "a type with too many values to go through");
  for (uint64_t i = 0; i < t->count; i++)
    if (!loop_bind(s, l, s->e->t.yes, sym_nth_value(s->e, t, i)))
      return false;
  return true;
}

static bool loop_next(struct scope *s, const struct generator_loop *l) {
  if (l->i == l->n)
    return l->visit(s, l->context, l->bound);
  const struct node *range = l->gen[l->i].range;
  s->slot_sender[l->gen[l->i].slot] = number_of(0);
  switch (op_number(range->op)) {
  case NODE_RECEIVED:
    return loop_received(s, l);
  case NODE_SUBSETS:
    return loop_subsets(s, l, range);
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
    return loop_processes(s, l, range);
  case NODE_DOMAIN:
    return loop_domain(s, l, range);
  case NODE_INTERVAL:
    return loop_interval(s, l, range);
  }
  return loop_collection(s, l, range); /* a collection value: encode_node handles or refuses it */
}

bool encode_generators(struct scope *s, const struct generator *gen, uint32_t n, sym_binding_fn *visit, void *context) {
  struct generator_loop l = {.gen = gen, .n = n, .visit = visit, .context = context, .bound = s->e->t.yes};
  return loop_next(s, &l);
}

/* ---- forall and exists: evaluation stops at the first deciding binding ---- */

struct quantifier_search {
  const struct node *node;
  bool wanted; /* EXISTS: true, FORALL: false */
  truth found;
};

static bool visit_quantified(struct scope *s, void *context, truth bound) {
  struct quantifier_search *a = context;
  struct terms *t = &s->e->t;
  truth old = scope_narrow(s, truth_not(t, a->found));
  truth body = a->node->n ? encode_truth(s, a->node->kid[0]) : truth_of(t, a->wanted);
  s->path = old;
  a->found = truth_or(t, a->found, truth_and(t, bound, a->wanted ? body : truth_not(t, body)));
  return a->found != t->yes;
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
    truth counted = n->n ? encode_truth(s, n->kid[0]) : s->e->t.yes;
    arena_push(&s->e->arena, &g->guard, truth_and(&s->e->t, bound, counted));
  } else {
    struct sym_value *v = encode_node(s, n->kid[0]);
    arena_push(&s->e->arena, &g->guard, bound);
    arena_push(&s->e->arena, &g->element, v);
  }
  return true;
}

static struct aggregate_elements collect_elements(struct scope *s, const struct node *n) {
  struct aggregate_elements g = {.node = n};
  encode_generators(s, n->gen, n->ngen, visit_element, &g);
  return g;
}

static struct sym_value *sum(struct scope *s, const struct aggregate_elements *g) {
  struct terms *t = &s->e->t;
  struct number total = number_of(0);
  for (size_t i = 0; i < g->guard.n; i++)
    if (!number_plus(t, total, number_if(t, g->guard.at[i], g->element.at[i]->number, number_of(0)), &total))
      encode_refuse(s->e, g->node->at, "numbers too large to follow");
  return sym_number(s->e, total);
}

static struct sym_value *unite(struct scope *s, const struct aggregate_elements *g) {
  struct encoder *e = s->e;
  struct sym_value *all = sym_empty(e, g->node->type), *none = all;
  for (size_t i = 0; i < g->guard.n; i++)
    all = sym_union(e, all, sym_ite(e, g->guard.at[i], g->element.at[i], none));
  return all;
}

/* How many of the collected elements equal v. */
static struct number weight(struct scope *s, const struct aggregate_elements *g, const struct sym_value *v) {
  struct encoder *e = s->e;
  truth *equal = arena_array(&e->arena, g->guard.n + 1, sizeof *equal);
  for (size_t i = 0; i < g->guard.n; i++)
    equal[i] = truth_and(&e->t, g->guard.at[i], sym_equal(e, g->element.at[i], v));
  return number_count(&e->t, equal, g->guard.n);
}

static struct sym_value *most_frequent(struct scope *s, const struct aggregate_elements *g) {
  struct encoder *e = s->e;
  struct sym_value *set = sym_set_of(e, g->node->type, g->guard.at, g->element.at, g->guard.n);
  struct number *of = arena_array(&e->arena, set->n + 1, sizeof *of);
  for (uint32_t i = 0; i < set->n; i++)
    of[i] = weight(s, g, sym_member(e, set, i));
  for (uint32_t i = 0; i < set->n; i++) {
    truth *most = arena_array(&e->arena, set->n + 1, sizeof *most);
    for (uint32_t k = 0; k < set->n; k++)
      most[k] = k == i ? number_less(&e->t, number_of(0), of[i]) : number_at_most(&e->t, of[k], of[i]);
    set->has[i] = truth_all(&e->t, most, set->n);
  }
  return set;
}

static truth majority(struct scope *s, const struct aggregate_elements *g, struct sym_value **v) {
  struct encoder *e = s->e;
  struct number total = number_count(&e->t, g->guard.at, g->guard.n);
  truth there = e->t.no;
  for (size_t i = 0; i < g->guard.n; i++) {
    struct number twice = number_of(0);
    number_times(&e->t, weight(s, g, g->element.at[i]), number_of(2), &twice);
    truth it = truth_and(&e->t, g->guard.at[i], number_less(&e->t, total, twice));
    *v = *v ? sym_ite(e, it, g->element.at[i], *v) : g->element.at[i];
    there = truth_or(&e->t, there, it);
  }
  return there;
}

static truth min_or_max(struct scope *s, const struct aggregate_elements *g, struct sym_value **best) {
  struct encoder *e = s->e;
  truth any = e->t.no;
  for (size_t i = 0; i < g->guard.n; i++) {
    struct sym_value *v = g->element.at[i];
    if (!*best) {
      *best = v;
    } else {
      truth better = g->node->op == NODE_MIN ? sym_less(e, v, *best) : sym_less(e, *best, v);
      truth taken = truth_and(&e->t, g->guard.at[i], truth_or(&e->t, truth_not(&e->t, any), better));
      *best = sym_ite(e, taken, v, *best);
    }
    any = truth_or(&e->t, any, g->guard.at[i]);
  }
  return any;
}

struct number encode_choice(struct scope *s, const truth *guard, size_t n) {
  struct terms *t = &s->e->t;
  truth any = truth_any(t, guard, n);
  size_t open = 0, last = 0;
  for (size_t i = 0; i < n; i++)
    if (guard[i] != t->no) {
      open++;
      last = i;
    }
  if (open <= 1)
    return number_of((int64_t)last);
  s->chose = true;
  struct number chosen = number_new(t, "choice", 0, (int64_t)n - 1);
  for (size_t i = 0; i < n; i++)
    terms_fact(t,
               truth_or(t, truth_not(t, any), truth_or(t, truth_not(t, number_is(t, chosen, (int64_t)i)), guard[i])));
  return chosen;
}

static truth choose(struct scope *s, const struct aggregate_elements *g, struct sym_value **v) {
  struct encoder *e = s->e;
  size_t n = g->guard.n;
  if (n == 0)
    return e->t.no;
  struct number chosen = encode_choice(s, g->guard.at, n);
  *v = NULL;
  for (size_t i = 0; i < n; i++) {
    truth it = number_is(&e->t, chosen, (int64_t)i);
    if (g->guard.at[i] != e->t.no && it != e->t.no)
      *v = *v ? sym_ite(e, it, g->element.at[i], *v) : g->element.at[i];
  }
  return truth_any(&e->t, g->guard.at, n);
}

truth encode_maybe(struct scope *s, const struct node *n, struct sym_value **v) {
  struct encoder *e = s->e;
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
    struct sym_value *q = encode_node(s, n->kid[0]);
    for (uint32_t i = 0; i < q->n; i++)
      *v = !*v                   ? q->part[i]
           : n->op == NODE_FIRST ? *v
                                 : sym_ite(e, number_is(&e->t, q->number, (int64_t)i + 1), q->part[i], *v);
    return number_less(&e->t, number_of(0), q->number);
  }
  }
  *v = encode_node(s, n); /* handles or refuses it */
  if (n->type->kind != TYPE_OPTION)
    return e->t.yes;
  there = (*v)->truth;
  *v = (*v)->part[0];
  return there;
}

struct sym_value *encode_aggregate(struct scope *s, const struct node *n) {
  struct encoder *e = s->e;
  struct sym_value *v;
  struct aggregate_elements g;
  if (n->op == NODE_EXISTS || n->op == NODE_FORALL) {
    struct quantifier_search a = {n, n->op == NODE_EXISTS, e->t.no};
    encode_generators(s, n->gen, n->ngen, visit_quantified, &a);
    return sym_truth(e, a.wanted ? a.found : truth_not(&e->t, a.found));
  }
  switch (op_number(n->op)) {
  case NODE_COUNT:
  case NODE_SUM:
  case NODE_UNION_OF:
  case NODE_SET_OF:
  case NODE_MOSTFREQUENT:
    g = collect_elements(s, n);
    v = n->op == NODE_COUNT      ? sym_number(e, number_count(&e->t, g.guard.at, g.guard.n))
        : n->op == NODE_SUM      ? sum(s, &g)
        : n->op == NODE_UNION_OF ? unite(s, &g)
        : n->op == NODE_SET_OF   ? sym_set_of(e, n->type, g.guard.at, g.element.at, g.guard.n)
                                 : most_frequent(s, &g);
    return v;
  case NODE_MIN:
  case NODE_MAX:
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MAJORITY:
  case NODE_FIRST:
  case NODE_LAST:
    scope_fail(s, truth_not(&e->t, encode_maybe(s, n, &v)));
    return v ? v : sym_default(e, n->type);
  }
  refuse_unknown_operator(e, n);
}
