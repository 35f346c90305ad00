/* Aggregates over generators, and how their results depend on the number of each message received. */
#include "interp/eval_internal.h"

#include <string.h>

/* --- aggregates --- */

struct tally_line {
  value v;
  uint64_t weight;
  struct form form;
};

struct aggregate_state {
  const struct node *node;
  bool any;
  value best;
  uint64_t total;
  struct form form; /* of the total */
  value set;
  VEC(struct tally_line) tally;
};

/* --- decisions that depend on counts --- */

/* *x -= times * y. On overflow, the dependence on counts is lost. */
static void form_subtract(struct eval *e, int64_t *x, int64_t y, int64_t times) {
  int64_t product, difference = 0;
  if (__builtin_mul_overflow(times, y, &product) || __builtin_sub_overflow(*x, product, &difference)) {
    if (e->decisions)
      e->decisions->lost = true;
    difference = 0;
  }
  *x = difference;
}

/* Adds `times` times the weight of the current binding. */
static void form_weigh(struct eval *e, struct form *f, int64_t times) {
  if (!e->decisions)
    return;
  uint32_t entry = e->decisions->entry;
  if (entry != UINT32_MAX && entry >= FORM_MAX)
    e->decisions->lost = true;
  else
    form_subtract(e, entry == UINT32_MAX ? &f->constant : &f->of[entry], times, -1);
}

bool form_is_constant(const struct form *f) {
  for (uint32_t i = 0; i < FORM_MAX; i++)
    if (f->of[i])
      return false;
  for (uint32_t i = 0; i < FORM_PARAMS; i++)
    if (f->param[i])
      return false;
  return true;
}

void decide(struct eval *e, const struct form *f, int64_t v) {
  if (!e->decisions || form_is_constant(f))
    return;
  vec_push(&e->decisions->taken, ((struct sign_decision){*f, v < 0 ? -1 : v > 0}));
}

void decide_exactly(struct eval *e, struct form f, int64_t v) {
  if (!e->decisions)
    return;
  form_subtract(e, &f.constant, v, 1);
  decide(e, &f, 0);
}

void decide_lost(struct eval *e, struct span at) {
  if (!e->decisions->lost)
    e->decisions->lost_at = at;
  e->decisions->lost = true;
}

struct form form_minus(struct eval *e, const struct form *a, const struct form *b, int64_t times) {
  struct form f = *a;
  form_subtract(e, &f.constant, b->constant, times);
  for (uint32_t i = 0; i < FORM_MAX; i++)
    form_subtract(e, &f.of[i], b->of[i], times);
  for (uint32_t i = 0; i < FORM_PARAMS; i++)
    form_subtract(e, &f.param[i], b->param[i], times);
  return f;
}

static bool visit_exists(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate_state *a = context;
  a->any = !a->node->n || eval_true(e, a->node->kid[0]);
  return !a->any;
}

static bool visit_forall(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate_state *a = context;
  if (a->node->n)
    coverage_mark_after(e->interp->coverage, a->node->at.from + 1, a->node->kid[0]->at);
  a->any = a->node->n && !eval_true(e, a->node->kid[0]);
  return !a->any;
}

static bool visit_count(struct eval *e, void *context, uint64_t weight) {
  struct aggregate_state *a = context;
  if (!a->node->n || eval_true(e, a->node->kid[0])) {
    a->total += weight;
    form_weigh(e, &a->form, 1);
  }
  return true;
}

static bool visit_extreme(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate_state *a = context;
  const struct node *element = a->node->kid[0];
  value v = eval_node(e, element);
  int order = a->any ? value_compare(e->values, element->type, v, a->best) : 0;
  if (!a->any || (a->node->op == NODE_MIN ? order < 0 : order > 0))
    a->best = v;
  a->any = true;
  return true;
}

static bool visit_sum(struct eval *e, void *context, uint64_t weight) {
  struct aggregate_state *a = context;
  value v = eval_node(e, a->node->kid[0]), part;
  if (__builtin_mul_overflow(v, (value)weight, &part) || __builtin_add_overflow(a->best, part, &a->best) ||
      !number_fits(a->best))
    eval_fail(e, a->node->at, "a sum beyond 64 bits");
  if (v > INT32_MAX || v < INT32_MIN)
    form_weigh(e, &a->form, v == 0); /* too large to trace */
  else
    form_weigh(e, &a->form, v);
  if (e->decisions && (v > INT32_MAX || v < INT32_MIN))
    e->decisions->lost = true;
  return true;
}

static bool visit_union(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate_state *a = context;
  a->set = set_union(e->values, a->node->type, a->set, eval_node(e, a->node->kid[0]));
  return true;
}

static bool visit_set(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate_state *a = context;
  a->set = set_insert(e->values, a->node->type, a->set, eval_node(e, a->node->kid[0]));
  return true;
}

static bool visit_tally(struct eval *e, void *context, uint64_t weight) {
  struct aggregate_state *a = context;
  value v = eval_node(e, a->node->kid[0]);
  a->total += weight;
  form_weigh(e, &a->form, 1);
  for (size_t i = 0; i < a->tally.n; i++)
    if (a->tally.at[i].v == v) {
      a->tally.at[i].weight += weight;
      form_weigh(e, &a->tally.at[i].form, 1);
      return true;
    }
  /* allocated in the scratch arena, so nothing leaks if an error unwinds */
  if (a->tally.n == a->tally.cap) {
    size_t cap = a->tally.cap ? 2 * a->tally.cap : 16;
    struct tally_line *lines = arena_array(e->scratch, cap, sizeof *lines);
    if (a->tally.n)
      memcpy(lines, a->tally.at, a->tally.n * sizeof *lines);
    a->tally.at = lines;
    a->tally.cap = cap;
  }
  a->tally.at[a->tally.n++] = (struct tally_line){v, weight, {0}};
  form_weigh(e, &a->tally.at[a->tally.n - 1].form, 1);
  return true;
}

static value most_frequent(struct eval *e, struct aggregate_state *a) {
  uint64_t most = 0;
  for (size_t i = 0, best = 0; i < a->tally.n; i++) {
    if (e->decisions && i > 0) {
      struct form f = form_minus(e, &a->tally.at[i].form, &a->tally.at[best].form, 1);
      decide(e, &f, (int64_t)a->tally.at[i].weight - (int64_t)most);
    }
    if (a->tally.at[i].weight > most) {
      most = a->tally.at[i].weight;
      best = i;
    }
  }
  value set = set_empty(e->values, a->node->type);
  for (size_t i = 0; i < a->tally.n; i++)
    if (a->tally.at[i].weight == most)
      set = set_insert(e->values, a->node->type, set, a->tally.at[i].v);
  return set;
}

/* Ties between equal weights must not depend on the order of discovery: scripts are shared between runs that see the
   same messages in a different order. */
static bool pick_one(struct eval *e, struct aggregate_state *a, value *result) {
  const struct type *t = a->node->kid[0]->type;
  if (a->tally.n == 0)
    return false;
  for (size_t i = 1; i < a->tally.n; i++)
    for (size_t k = i; k > 0 && value_compare(e->values, t, a->tally.at[k - 1].v, a->tally.at[k].v) > 0; k--) {
      struct tally_line swap = a->tally.at[k];
      a->tally.at[k] = a->tally.at[k - 1];
      a->tally.at[k - 1] = swap;
    }
  bool coin = a->node->op == NODE_RANDOM;
  *result = a->tally.at[coin ? eval_coin(e, a->tally.n) : eval_choose(e, a->tally.n)].v;
  return true;
}

static bool majority_of(struct eval *e, struct aggregate_state *a, value *result) {
  for (size_t i = 0; i < a->tally.n; i++) {
    if (e->decisions) {
      struct form f = form_minus(e, &a->form, &a->tally.at[i].form, 2);
      decide(e, &f, (int64_t)a->total - 2 * (int64_t)a->tally.at[i].weight);
    }
    if (2 * a->tally.at[i].weight > a->total) {
      *result = a->tally.at[i].v;
      return true;
    }
  }
  return false;
}

bool eval_maybe(struct eval *e, const struct node *n, value *result) {
  struct aggregate_state a = {.node = n};
  switch (op_number(n->op)) {
  case NODE_MIN:
  case NODE_MAX:
    eval_bindings(e, n->gen, n->ngen, visit_extreme, &a);
    *result = a.best;
    return a.any;
  case NODE_PICK:
  case NODE_RANDOM:
    eval_bindings(e, n->gen, n->ngen, visit_tally, &a);
    return pick_one(e, &a, result);
  case NODE_MAJORITY:
    eval_bindings(e, n->gen, n->ngen, visit_tally, &a);
    return majority_of(e, &a, result);
  case NODE_FIRST:
  case NODE_LAST: {
    size_t length;
    const value *parts = value_parts(e->values, eval_node(e, n->kid[0]), &length);
    if (length)
      *result = parts[n->op == NODE_FIRST ? 0 : length - 1];
    return length > 0;
  }
  }
  *result = eval_node(e, n);
  if (n->type->kind == TYPE_OPTION) {
    if (*result == VALUE_NONE)
      return false;
    *result = value_unwrap(*result);
  }
  return true;
}

static const char *empty_message(enum op op) {
  switch (op_number(op)) {
  case NODE_MIN:
    return "'min' of nothing";
  case NODE_MAX:
    return "'max' of nothing";
  case NODE_PICK:
    return "'pick' from nothing";
  case NODE_RANDOM:
    return "'random' from nothing";
  case NODE_MAJORITY:
    return "'majority' where no value has one";
  case NODE_FIRST:
    return "'first' of an empty sequence";
  }
  return "'last' of an empty sequence";
}

value eval_aggregate(struct eval *e, const struct node *n) {
  struct aggregate_state a = {.node = n};
  value v;
  switch (op_number(n->op)) {
  case NODE_EXISTS:
    eval_bindings(e, n->gen, n->ngen, visit_exists, &a);
    return a.any;
  case NODE_FORALL:
    eval_bindings(e, n->gen, n->ngen, visit_forall, &a);
    return !a.any;
  case NODE_COUNT:
    eval_bindings(e, n->gen, n->ngen, visit_count, &a);
    decide_exactly(e, a.form, (value)a.total);
    return (value)a.total;
  case NODE_SUM:
    eval_bindings(e, n->gen, n->ngen, visit_sum, &a);
    decide_exactly(e, a.form, a.best);
    return a.best;
  case NODE_UNION_OF:
  case NODE_SET_OF:
    a.set = set_empty(e->values, n->type);
    eval_bindings(e, n->gen, n->ngen, n->op == NODE_SET_OF ? visit_set : visit_union, &a);
    return a.set;
  case NODE_MOSTFREQUENT:
    eval_bindings(e, n->gen, n->ngen, visit_tally, &a);
    return most_frequent(e, &a);
  }
  if (!eval_maybe(e, n, &v))
    eval_fail(e, n->at, "%s", empty_message(n->op));
  return v;
}

value eval_linear(struct eval *e, const struct node *n, struct form *f) {
  struct aggregate_state a = {.node = n};
  struct form g = {0};
  value v, w;
  int factor;
  *f = (struct form){0};
  switch (op_number(n->op)) {
  case NODE_PARAM:
    if (!e->decisions || !e->decisions->params || !e->decisions->open[n->index] || n->index >= FORM_PARAMS)
      break;
    f->param[n->index] = 1;
    return e->decisions->params[n->index];
  case NODE_COUNT:
    eval_bindings(e, n->gen, n->ngen, visit_count, &a);
    *f = a.form;
    return (value)a.total;
  case NODE_CARD:
    if (n->kid[0]->op != NODE_RECEIVED && n->kid[0]->op != NODE_HEARD)
      break;
    v = 0;
    for (uint32_t k = 0; k < e->received->n; k++) {
      v += e->received->at[k].count;
      if (k < FORM_MAX)
        f->of[k] = 1;
    }
    return v;
  case NODE_ADD:
  case NODE_SUB:
    v = eval_linear(e, n->kid[0], f);
    w = eval_linear(e, n->kid[1], &g);
    *f = form_minus(e, f, &g, n->op == NODE_SUB ? 1 : -1);
    if ((n->op == NODE_SUB ? __builtin_sub_overflow(v, w, &v) : __builtin_add_overflow(v, w, &v)) || !number_fits(v))
      eval_fail(e, n->at, "arithmetic beyond 64 bits");
    return v;
  case NODE_MUL:
    factor = n->kid[0]->op == NODE_CONST || n->kid[1]->op != NODE_CONST ? 0 : 1; /* the constant factor */
    if (n->kid[factor]->op != NODE_CONST && n->kid[factor]->op != NODE_PARAM)
      break;
    v = eval_node(e, n->kid[factor]);
    if (v > INT32_MAX || v < INT32_MIN)
      break;
    w = eval_linear(e, n->kid[!factor], &g);
    *f = form_minus(e, f, &g, -v);
    if (__builtin_mul_overflow(v, w, &v) || !number_fits(v))
      eval_fail(e, n->at, "arithmetic beyond 64 bits");
    return v;
  }
  v = eval_node(e, n);
  f->constant = v;
  return v;
}
