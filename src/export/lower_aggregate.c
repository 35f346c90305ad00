/* Generators, unrolled over all bindings, and the aggregates over them. */
#include "export/lower.h"

#include <string.h>

#define MOST_INTERVAL 2000
#define MOST_SUBSET 12

/* --- generators --- */

struct generator_bindings {
  const struct generator *gen;
  uint32_t n, i;
  binding_visit *visit;
  void *context;
  expr_id when;
};

static void bind_next(struct model_lowering *, struct generator_bindings *);

static void bind_one(struct model_lowering *l, struct generator_bindings *b, expr_id when, struct flat_value v,
                     expr_id sender) {
  const struct generator *g = &b->gen[b->i];
  expr_id old = path_and(l, when);
  if (expr_is_constant(l->expr_graph, when, 0) || expr_is_constant(l->expr_graph, l->path, 0)) {
    l->path = old;
    return;
  }
  l->slot[g->slot] = flat_as(l, v, g->type);
  l->slot_sender[g->slot] = sender;
  struct generator_bindings inner = *b;
  inner.i++;
  if (g->cond) {
    expr_id holds = lower_truth(l, g->cond);
    when = expr_and(l->expr_graph, when, holds);
    path_and(l, holds);
  }
  inner.when = expr_and(l->expr_graph, b->when, when);
  if (!expr_is_constant(l->expr_graph, inner.when, 0))
    bind_next(l, &inner);
  l->path = old;
}

static void bind_interval(struct model_lowering *l, struct generator_bindings *b, const struct node *range) {
  struct expr_graph *c = l->expr_graph;
  expr_id lo = lower_number(l, range->kid[0]), hi = lower_number(l, range->kid[1]);
  int64_t first = node_of(c, lo)->lo, last = node_of(c, hi)->hi;
  if (last - first > MOST_INTERVAL)
    refuse(l, range->at, "this range may be too long to be written out");
  for (int64_t v = first; v <= last; v++) {
    expr_id in = expr_and(c, expr_at_most(c, lo, expr_number(c, v)), expr_at_most(c, expr_number(c, v), hi));
    bind_one(l, b, in, flat_number(l, b->gen[b->i].type, expr_number(c, v)), NO_EXPR);
  }
}

static void bind_subsets(struct model_lowering *l, struct generator_bindings *b, const struct node *range) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value whole = lower_node(l, range->kid[0]);
  uint32_t member[MOST_SUBSET], n = 0;
  for (uint32_t i = 0; i < flat_set_leaves(l, whole.type); i++) {
    if (expr_is_constant(c, whole.leaf[i], 0))
      continue;
    if (n == MOST_SUBSET)
      refuse(l, range->at, "the subsets of a set with more than %d members are too many to be written out",
             MOST_SUBSET);
    member[n++] = i;
  }
  for (uint32_t bits = 0; bits < (uint32_t)1 << n; bits++) {
    struct flat_value subset = flat_default(l, range->kid[0]->type);
    expr_id within = expr_truth(c, true);
    for (uint32_t i = 0; i < n; i++)
      if (bits >> i & 1) {
        subset.leaf[member[i]] = expr_truth(c, true);
        within = expr_and(c, within, whole.leaf[member[i]]);
      }
    bind_one(l, b, within, subset, NO_EXPR);
  }
}

/* A role, `correct` or `faulty`. Quantifiers in environment clauses range over the participating processes only. */
static void bind_processes(struct model_lowering *l, struct generator_bindings *b, const struct node *range) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value set = lower_node(l, range);
  for (uint32_t p = 0; p < l->model->nprocesses; p++) {
    expr_id in = set.leaf[p];
    if (range->op == NODE_ROLE_SET && l->heard)
      in = expr_and(c, in, active(l, &l->before->local[p]));
    bind_one(l, b, in, flat_number(l, b->gen[b->i].type, expr_number(c, p)), NO_EXPR);
  }
}

static void bind_collection(struct model_lowering *l, struct generator_bindings *b, const struct node *range) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value s = lower_node(l, range);
  const struct type *t = range->type;
  if (t->kind == TYPE_OPTION) {
    bind_one(l, b, s.leaf[0], option_element(l, s), NO_EXPR);
  } else if (t->kind == TYPE_SEQUENCE) {
    for (uint32_t i = 0; i < (uint64_t)t->hi; i++)
      bind_one(l, b, expr_less(c, expr_number(c, i), s.leaf[0]), sequence_element(l, s, i), NO_EXPR);
  } else {
    for (uint32_t i = 0; i < flat_set_leaves(l, t); i++)
      if (!expr_is_constant(c, s.leaf[i], 0))
        bind_one(l, b, s.leaf[i], flat_set_member(l, t, i), NO_EXPR);
  }
}

static void bind_next(struct model_lowering *l, struct generator_bindings *b) {
  if (b->i == b->n) {
    b->visit(l, b->context, b->when);
    return;
  }
  const struct node *range = b->gen[b->i].range;
  switch (op_number(range->op)) {
  case NODE_RECEIVED:
    for (uint32_t i = 0; i < l->nreceived; i++)
      bind_one(l, b, l->received[i].when, l->received[i].message, expr_number(l->expr_graph, l->received[i].sender));
    return;
  case NODE_SUBSETS:
    bind_subsets(l, b, range);
    return;
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
    bind_processes(l, b, range);
    return;
  case NODE_DOMAIN: {
    const struct type *t = range->type->element;
    if (t->count > MOST_INTERVAL)
      refuse(l, range->at, "the values of this type are too many to be written out");
    for (uint64_t i = 0; i < t->count; i++)
      bind_one(l, b, expr_truth(l->expr_graph, true), flat_of_value(l, t, type_nth(&l->model->values, t, i)), NO_EXPR);
    return;
  }
  case NODE_INTERVAL:
    bind_interval(l, b, range);
    return;
  }
  bind_collection(l, b, range); /* a collection value: lower_node handles or refuses it */
}

void lower_bindings(struct model_lowering *l, const struct generator *gen, uint32_t n, binding_visit *visit,
                    void *context) {
  struct generator_bindings b = {gen, n, 0, visit, context, expr_truth(l->expr_graph, true)};
  bind_next(l, &b);
}

/* --- aggregates --- */

struct aggregate_candidate {
  expr_id when;
  struct flat_value v;
};

struct aggregate_lowering {
  const struct node *node;
  expr_id any;
  expr_id sum;
  struct flat_value best;
  struct aggregate_candidate *all; /* in the arena, so a refusal does not leak it */
  size_t n, cap;
};

static void visit_exists(struct model_lowering *l, void *context, expr_id when) {
  struct aggregate_lowering *a = context;
  expr_id old = path_and(l, expr_not(l->expr_graph, a->any)); /* evaluation stops at the first one */
  expr_id holds = a->node->n ? lower_truth(l, a->node->kid[0]) : expr_truth(l->expr_graph, true);
  l->path = old;
  if (a->node->op == NODE_FORALL)
    holds = expr_not(l->expr_graph, holds);
  a->any = expr_or(l->expr_graph, a->any, expr_and(l->expr_graph, when, holds));
}

static void visit_sum(struct model_lowering *l, void *context, expr_id when) {
  struct expr_graph *c = l->expr_graph;
  struct aggregate_lowering *a = context;
  expr_id v;
  if (a->node->op == NODE_COUNT)
    v = expr_bool_to_int(c, expr_and(c, when, a->node->n ? lower_truth(l, a->node->kid[0]) : expr_truth(c, true)));
  else
    v = expr_ite(c, when, lower_number(l, a->node->kid[0]), expr_number(c, 0));
  a->sum = expr_arithmetic(c, EXPR_ADD, a->sum, v);
}

static void visit_set(struct model_lowering *l, void *context, expr_id when) {
  struct expr_graph *c = l->expr_graph;
  struct aggregate_lowering *a = context;
  struct flat_value v = lower_node(l, a->node->kid[0]);
  if (a->node->op == NODE_SET_OF) {
    flat_set_add(l, a->best, when, v);
    return;
  }
  for (uint32_t i = 0; i < flat_set_leaves(l, a->best.type); i++)
    a->best.leaf[i] = expr_or(c, a->best.leaf[i], expr_and(c, when, v.leaf[i]));
}

static void visit_extreme(struct model_lowering *l, void *context, expr_id when) {
  struct expr_graph *c = l->expr_graph;
  struct aggregate_lowering *a = context;
  struct flat_value v = lower_node(l, a->node->kid[0]);
  expr_id better = a->node->op == NODE_MIN ? flat_less(l, v, a->best, false) : flat_less(l, a->best, v, false);
  expr_id takes = expr_and(c, when, expr_or(c, expr_not(c, a->any), better));
  a->best = flat_if(l, takes, v, a->best);
  a->any = expr_or(c, a->any, when);
}

/* Where multiplicity does not matter, bindings with equal expressions are one candidate. */
static void visit_candidate(struct model_lowering *l, void *context, expr_id when) {
  struct aggregate_lowering *a = context;
  struct flat_value v = lower_node(l, a->node->kid[0]);
  bool once = a->node->op == NODE_PICK || a->node->op == NODE_RANDOM;
  uint32_t n = v.type ? type_leaves(l, v.type, a->node->at) : 1;
  for (size_t i = 0; i < a->n && once; i++)
    if (!memcmp(a->all[i].v.leaf, v.leaf, n * sizeof *v.leaf)) {
      a->all[i].when = expr_or(l->expr_graph, a->all[i].when, when);
      return;
    }
  if (a->n == a->cap) {
    size_t cap = a->cap ? 2 * a->cap : 8;
    struct aggregate_candidate *grown = arena_array(l->arena, cap, sizeof *grown);
    if (a->n)
      memcpy(grown, a->all, a->n * sizeof *grown);
    a->all = grown;
    a->cap = cap;
  }
  a->all[a->n++] = (struct aggregate_candidate){when, v};
}

static expr_id weight_of(struct model_lowering *l, const struct aggregate_lowering *a, size_t i) {
  struct expr_graph *c = l->expr_graph;
  expr_id sum = expr_number(c, 0);
  for (size_t k = 0; k < a->n; k++) {
    expr_id same = expr_and(c, a->all[k].when, flat_equal(l, a->all[i].v, a->all[k].v));
    sum = expr_arithmetic(c, EXPR_ADD, sum, expr_bool_to_int(c, same));
  }
  return sum;
}

static struct flat_value most_frequent(struct model_lowering *l, struct aggregate_lowering *a) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value set = flat_default(l, a->node->type);
  expr_id *weight = arena_array(l->arena, a->n + 1, sizeof *weight), most = expr_number(c, 0);
  for (size_t i = 0; i < a->n; i++) {
    weight[i] = expr_ite(c, a->all[i].when, weight_of(l, a, i), expr_number(c, 0));
    most = expr_ite(c, expr_less(c, most, weight[i]), weight[i], most);
  }
  for (size_t i = 0; i < a->n; i++)
    flat_set_add(l, set, expr_and(c, a->all[i].when, expr_equal(c, weight[i], most)), a->all[i].v);
  return set;
}

static expr_id majority(struct model_lowering *l, struct aggregate_lowering *a, struct flat_value *result) {
  struct expr_graph *c = l->expr_graph;
  expr_id total = expr_number(c, 0), any = expr_truth(c, false);
  for (size_t i = 0; i < a->n; i++)
    total = expr_arithmetic(c, EXPR_ADD, total, expr_bool_to_int(c, a->all[i].when));
  for (size_t i = 0; i < a->n; i++) {
    expr_id twice = expr_arithmetic(c, EXPR_MUL, expr_number(c, 2), weight_of(l, a, i));
    expr_id wins = expr_and(c, a->all[i].when, expr_less(c, total, twice));
    any = expr_or(c, any, wins);
    *result = flat_if(l, wins, a->all[i].v, *result);
  }
  return any;
}

static expr_id picked(struct model_lowering *l, struct aggregate_lowering *a, struct flat_value *result) {
  struct expr_graph *c = l->expr_graph;
  uint32_t n = (uint32_t)a->n;
  expr_id *when = arena_array(l->arena, n + 1, sizeof *when), *which = arena_array(l->arena, n + 1, sizeof *which);
  expr_id any = expr_truth(c, false);
  for (uint32_t i = 0; i < n; i++) {
    when[i] = a->all[i].when;
    any = expr_or(c, any, when[i]);
  }
  choose_one(l, op_text(a->node->op), when, n, which);
  for (uint32_t i = 0; i < n; i++)
    *result = flat_if(l, which[i], a->all[i].v, *result);
  return any;
}

expr_id lower_maybe(struct model_lowering *l, const struct node *n, struct flat_value *result) {
  struct expr_graph *c = l->expr_graph;
  struct aggregate_lowering a = {.node = n, .any = expr_truth(c, false)};
  expr_id there;
  switch (op_number(n->op)) {
  case NODE_MIN:
  case NODE_MAX:
    a.best = flat_default(l, n->type);
    lower_bindings(l, n->gen, n->ngen, visit_extreme, &a);
    *result = a.best;
    return a.any;
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MAJORITY:
    *result = flat_default(l, n->type);
    lower_bindings(l, n->gen, n->ngen, visit_candidate, &a);
    there = n->op == NODE_MAJORITY ? majority(l, &a, result) : picked(l, &a, result);
    return there;
  case NODE_FIRST:
  case NODE_LAST: {
    struct flat_value s = lower_node(l, n->kid[0]);
    *result = flat_default(l, n->type);
    for (uint32_t i = 0; i < (uint64_t)n->kid[0]->type->hi && (i == 0 || n->op == NODE_LAST); i++)
      *result = flat_if(l, expr_less(c, expr_number(c, i), s.leaf[0]), sequence_element(l, s, i), *result);
    return expr_less(c, expr_number(c, 0), s.leaf[0]);
  }
  }
  *result = lower_node(l, n); /* handles or refuses it */
  if (n->type->kind != TYPE_OPTION)
    return expr_truth(c, true);
  there = result->leaf[0];
  *result = option_element(l, *result);
  return there;
}

struct flat_value lower_aggregate(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  struct aggregate_lowering a = {.node = n, .any = expr_truth(c, false), .sum = expr_number(c, 0)};
  switch (op_number(n->op)) {
  case NODE_EXISTS:
  case NODE_FORALL:
    lower_bindings(l, n->gen, n->ngen, visit_exists, &a);
    return flat_truth(l, n->op == NODE_EXISTS ? a.any : expr_not(c, a.any));
  case NODE_COUNT:
  case NODE_SUM:
    lower_bindings(l, n->gen, n->ngen, visit_sum, &a);
    refuse_large(l, n->at);
    return flat_number(l, n->type, a.sum);
  case NODE_SET_OF:
  case NODE_UNION_OF:
    a.best = flat_default(l, n->type);
    lower_bindings(l, n->gen, n->ngen, visit_set, &a);
    return a.best;
  case NODE_MOSTFREQUENT:
    lower_bindings(l, n->gen, n->ngen, visit_candidate, &a);
    return most_frequent(l, &a);
  case NODE_MIN:
  case NODE_MAX:
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MAJORITY:
  case NODE_FIRST:
  case NODE_LAST: {
    struct flat_value v;
    expr_id there = lower_maybe(l, n, &v);
    fail_if(l, expr_not(c, there), n->at, "'%s' of nothing", op_text(n->op));
    return v;
  }
  }
  refuse_unknown(l, n);
}
