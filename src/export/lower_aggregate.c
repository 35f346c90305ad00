/* Generators and what is computed over them: every binding is written out. */
#include "export/lower.h"

#include <string.h>

#define MOST_INTERVAL 2000
#define MOST_SUBSET 12

/* --- generators --- */

struct bindings {
  const struct generator *gen;
  uint32_t n, i;
  binding_visit *visit;
  void *context;
  wire when;
};

static void bind_next(struct lowering *, struct bindings *);

static void bind_one(struct lowering *l, struct bindings *b, wire when, struct symbol v, wire sender) {
  const struct generator *g = &b->gen[b->i];
  wire old = path_and(l, when);
  if (circuit_is(l->circuit, when, 0) || circuit_is(l->circuit, l->path, 0)) {
    l->path = old;
    return;
  }
  l->slot[g->slot] = symbol_as(l, v, g->type);
  l->slot_sender[g->slot] = sender;
  struct bindings inner = *b;
  inner.i++;
  if (g->cond) {
    wire holds = lower_truth(l, g->cond);
    when = circuit_and(l->circuit, when, holds);
    path_and(l, holds);
  }
  inner.when = circuit_and(l->circuit, b->when, when);
  if (!circuit_is(l->circuit, inner.when, 0))
    bind_next(l, &inner);
  l->path = old;
}

static void bind_interval(struct lowering *l, struct bindings *b, const struct node *range) {
  struct circuit *c = l->circuit;
  wire lo = lower_number(l, range->kid[0]), hi = lower_number(l, range->kid[1]);
  int64_t first = node_of(c, lo)->lo, last = node_of(c, hi)->hi;
  if (last - first > MOST_INTERVAL)
    refuse(l, range->at, "this range may be too long to be written out");
  for (int64_t v = first; v <= last; v++) {
    wire in = circuit_and(c, circuit_at_most(c, lo, circuit_number(c, v)), circuit_at_most(c, circuit_number(c, v), hi));
    bind_one(l, b, in, symbol_number(l, b->gen[b->i].type, circuit_number(c, v)), NO_WIRE);
  }
}

static void bind_subsets(struct lowering *l, struct bindings *b, const struct node *range) {
  struct circuit *c = l->circuit;
  struct symbol whole = lower_node(l, range->kid[0]);
  uint32_t member[MOST_SUBSET], n = 0;
  for (uint32_t i = 0; i < set_leaves(l, whole.type); i++) {
    if (circuit_is(c, whole.leaf[i], 0))
      continue;
    if (n == MOST_SUBSET)
      refuse(l, range->at, "the subsets of a set with more than %d members are too many to be written out", MOST_SUBSET);
    member[n++] = i;
  }
  for (uint32_t bits = 0; bits < (uint32_t)1 << n; bits++) {
    struct symbol subset = symbol_default(l, range->kid[0]->type);
    wire within = circuit_truth(c, true);
    for (uint32_t i = 0; i < n; i++)
      if (bits >> i & 1) {
        subset.leaf[member[i]] = circuit_truth(c, true);
        within = circuit_and(c, within, whole.leaf[member[i]]);
      }
    bind_one(l, b, within, subset, NO_WIRE);
  }
}

/* A role, `correct` or `faulty`: quantifiers of clauses see only the processes that take part. */
static void bind_processes(struct lowering *l, struct bindings *b, const struct node *range) {
  struct circuit *c = l->circuit;
  struct symbol set = lower_node(l, range);
  for (uint32_t p = 0; p < l->model->nprocesses; p++) {
    wire in = set.leaf[p];
    if (range->op == NODE_ROLE_SET && l->heard)
      in = circuit_and(c, in, active(l, &l->before->local[p]));
    bind_one(l, b, in, symbol_number(l, b->gen[b->i].type, circuit_number(c, p)), NO_WIRE);
  }
}

static void bind_collection(struct lowering *l, struct bindings *b, const struct node *range) {
  struct circuit *c = l->circuit;
  struct symbol s = lower_node(l, range);
  const struct type *t = range->type;
  if (t->kind == TYPE_OPTION) {
    bind_one(l, b, s.leaf[0], option_element(l, s), NO_WIRE);
  } else if (t->kind == TYPE_SEQUENCE) {
    for (uint32_t i = 0; i < (uint64_t)t->hi; i++)
      bind_one(l, b, circuit_less(c, circuit_number(c, i), s.leaf[0]), sequence_element(l, s, i), NO_WIRE);
  } else {
    for (uint32_t i = 0; i < set_leaves(l, t); i++)
      if (!circuit_is(c, s.leaf[i], 0))
        bind_one(l, b, s.leaf[i], set_member_at(l, t, i), NO_WIRE);
  }
}

static void bind_next(struct lowering *l, struct bindings *b) {
  if (b->i == b->n) {
    b->visit(l, b->context, b->when);
    return;
  }
  const struct node *range = b->gen[b->i].range;
  switch (op_among(range->op)) {
  case NODE_RECEIVED:
    for (uint32_t i = 0; i < l->nreceived; i++)
      bind_one(l, b, l->received[i].when, l->received[i].message, circuit_number(l->circuit, l->received[i].sender));
    return;
  case NODE_SUBSETS: bind_subsets(l, b, range); return;
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY: bind_processes(l, b, range); return;
  case NODE_DOMAIN: {
    const struct type *t = range->type->element;
    if (t->count > MOST_INTERVAL)
      refuse(l, range->at, "the values of this type are too many to be written out");
    for (uint64_t i = 0; i < t->count; i++)
      bind_one(l, b, circuit_truth(l->circuit, true), symbol_of_value(l, t, type_nth(&l->model->values, t, i)), NO_WIRE);
    return;
  }
  case NODE_INTERVAL: bind_interval(l, b, range); return;
  }
  bind_collection(l, b, range); /* a value, which lower_node knows or refuses */
}

void lower_bindings(struct lowering *l, const struct generator *gen, uint32_t n, binding_visit *visit, void *context) {
  struct bindings b = {gen, n, 0, visit, context, circuit_truth(l->circuit, true)};
  bind_next(l, &b);
}

/* --- aggregates --- */

struct candidate {
  wire when;
  struct symbol v;
};

struct aggregate {
  const struct node *node;
  wire any;
  wire sum;
  struct symbol best;
  struct candidate *all; /* in the arena: a refusal leaves nothing behind */
  size_t n, cap;
};

static void visit_exists(struct lowering *l, void *context, wire when) {
  struct aggregate *a = context;
  wire old = path_and(l, circuit_not(l->circuit, a->any)); /* the first one ends the search */
  wire holds = a->node->n ? lower_truth(l, a->node->kid[0]) : circuit_truth(l->circuit, true);
  l->path = old;
  if (a->node->op == NODE_FORALL)
    holds = circuit_not(l->circuit, holds);
  a->any = circuit_or(l->circuit, a->any, circuit_and(l->circuit, when, holds));
}

static void visit_sum(struct lowering *l, void *context, wire when) {
  struct circuit *c = l->circuit;
  struct aggregate *a = context;
  wire v;
  if (a->node->op == NODE_COUNT)
    v = circuit_count(c, circuit_and(c, when, a->node->n ? lower_truth(l, a->node->kid[0]) : circuit_truth(c, true)));
  else
    v = circuit_if(c, when, lower_number(l, a->node->kid[0]), circuit_number(c, 0));
  a->sum = circuit_arithmetic(c, GATE_ADD, a->sum, v);
}

static void visit_set(struct lowering *l, void *context, wire when) {
  struct circuit *c = l->circuit;
  struct aggregate *a = context;
  struct symbol v = lower_node(l, a->node->kid[0]);
  if (a->node->op == NODE_SET_OF) {
    set_add(l, a->best, when, v);
    return;
  }
  for (uint32_t i = 0; i < set_leaves(l, a->best.type); i++)
    a->best.leaf[i] = circuit_or(c, a->best.leaf[i], circuit_and(c, when, v.leaf[i]));
}

static void visit_extreme(struct lowering *l, void *context, wire when) {
  struct circuit *c = l->circuit;
  struct aggregate *a = context;
  struct symbol v = lower_node(l, a->node->kid[0]);
  wire better = a->node->op == NODE_MIN ? symbol_less(l, v, a->best, false) : symbol_less(l, a->best, v, false);
  wire takes = circuit_and(c, when, circuit_or(c, circuit_not(c, a->any), better));
  a->best = symbol_if(l, takes, v, a->best);
  a->any = circuit_or(c, a->any, when);
}

/* Bindings with equal values (the same wires) are one candidate where repetitions do not count. */
static void visit_candidate(struct lowering *l, void *context, wire when) {
  struct aggregate *a = context;
  struct symbol v = lower_node(l, a->node->kid[0]);
  bool once = a->node->op == NODE_PICK || a->node->op == NODE_RANDOM;
  uint32_t n = v.type ? type_leaves(l, v.type, a->node->at) : 1;
  for (size_t i = 0; i < a->n && once; i++)
    if (!memcmp(a->all[i].v.leaf, v.leaf, n * sizeof *v.leaf)) {
      a->all[i].when = circuit_or(l->circuit, a->all[i].when, when);
      return;
    }
  if (a->n == a->cap) {
    size_t cap = a->cap ? 2 * a->cap : 8;
    struct candidate *grown = arena_array(l->arena, cap, sizeof *grown);
    if (a->n)
      memcpy(grown, a->all, a->n * sizeof *grown);
    a->all = grown;
    a->cap = cap;
  }
  a->all[a->n++] = (struct candidate){when, v};
}

static wire weight_of(struct lowering *l, const struct aggregate *a, size_t i) {
  struct circuit *c = l->circuit;
  wire sum = circuit_number(c, 0);
  for (size_t k = 0; k < a->n; k++) {
    wire same = circuit_and(c, a->all[k].when, symbol_equal(l, a->all[i].v, a->all[k].v));
    sum = circuit_arithmetic(c, GATE_ADD, sum, circuit_count(c, same));
  }
  return sum;
}

static struct symbol most_frequent(struct lowering *l, struct aggregate *a) {
  struct circuit *c = l->circuit;
  struct symbol set = symbol_default(l, a->node->type);
  wire *weight = arena_array(l->arena, a->n + 1, sizeof *weight), most = circuit_number(c, 0);
  for (size_t i = 0; i < a->n; i++) {
    weight[i] = circuit_if(c, a->all[i].when, weight_of(l, a, i), circuit_number(c, 0));
    most = circuit_if(c, circuit_less(c, most, weight[i]), weight[i], most);
  }
  for (size_t i = 0; i < a->n; i++)
    set_add(l, set, circuit_and(c, a->all[i].when, circuit_equal(c, weight[i], most)), a->all[i].v);
  return set;
}

static wire majority(struct lowering *l, struct aggregate *a, struct symbol *result) {
  struct circuit *c = l->circuit;
  wire total = circuit_number(c, 0), any = circuit_truth(c, false);
  for (size_t i = 0; i < a->n; i++)
    total = circuit_arithmetic(c, GATE_ADD, total, circuit_count(c, a->all[i].when));
  for (size_t i = 0; i < a->n; i++) {
    wire twice = circuit_arithmetic(c, GATE_MUL, circuit_number(c, 2), weight_of(l, a, i));
    wire wins = circuit_and(c, a->all[i].when, circuit_less(c, total, twice));
    any = circuit_or(c, any, wins);
    *result = symbol_if(l, wins, a->all[i].v, *result);
  }
  return any;
}

static wire picked(struct lowering *l, struct aggregate *a, struct symbol *result) {
  struct circuit *c = l->circuit;
  uint32_t n = (uint32_t)a->n;
  wire *when = arena_array(l->arena, n + 1, sizeof *when), *which = arena_array(l->arena, n + 1, sizeof *which);
  wire any = circuit_truth(c, false);
  for (uint32_t i = 0; i < n; i++) {
    when[i] = a->all[i].when;
    any = circuit_or(c, any, when[i]);
  }
  choose_one(l, op_text(a->node->op), when, n, which);
  for (uint32_t i = 0; i < n; i++)
    *result = symbol_if(l, which[i], a->all[i].v, *result);
  return any;
}

wire lower_maybe(struct lowering *l, const struct node *n, struct symbol *result) {
  struct circuit *c = l->circuit;
  struct aggregate a = {.node = n, .any = circuit_truth(c, false)};
  wire there;
  switch (op_among(n->op)) {
  case NODE_MIN:
  case NODE_MAX:
    a.best = symbol_default(l, n->type);
    lower_bindings(l, n->gen, n->ngen, visit_extreme, &a);
    *result = a.best;
    return a.any;
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MAJORITY:
    *result = symbol_default(l, n->type);
    lower_bindings(l, n->gen, n->ngen, visit_candidate, &a);
    there = n->op == NODE_MAJORITY ? majority(l, &a, result) : picked(l, &a, result);
    return there;
  case NODE_FIRST:
  case NODE_LAST: {
    struct symbol s = lower_node(l, n->kid[0]);
    *result = symbol_default(l, n->type);
    for (uint32_t i = 0; i < (uint64_t)n->kid[0]->type->hi && (i == 0 || n->op == NODE_LAST); i++)
      *result = symbol_if(l, circuit_less(c, circuit_number(c, i), s.leaf[0]), sequence_element(l, s, i), *result);
    return circuit_less(c, circuit_number(c, 0), s.leaf[0]);
  }
  }
  *result = lower_node(l, n); /* knows it or refuses */
  if (n->type->kind != TYPE_OPTION)
    return circuit_truth(c, true);
  there = result->leaf[0];
  *result = option_element(l, *result);
  return there;
}

struct symbol lower_aggregate(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  struct aggregate a = {.node = n, .any = circuit_truth(c, false), .sum = circuit_number(c, 0)};
  switch (op_among(n->op)) {
  case NODE_EXISTS:
  case NODE_FORALL:
    lower_bindings(l, n->gen, n->ngen, visit_exists, &a);
    return symbol_truth(l, n->op == NODE_EXISTS ? a.any : circuit_not(c, a.any));
  case NODE_COUNT:
  case NODE_SUM:
    lower_bindings(l, n->gen, n->ngen, visit_sum, &a);
    refuse_large(l, n->at);
    return symbol_number(l, n->type, a.sum);
  case NODE_SET_OF:
  case NODE_UNION_OF:
    a.best = symbol_default(l, n->type);
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
    struct symbol v;
    wire there = lower_maybe(l, n, &v);
    fail_if(l, circuit_not(c, there), n->at, "'%s' of nothing", op_text(n->op));
    return v;
  }
  }
  refuse_unknown(l, n);
}
