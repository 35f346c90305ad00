/* Lazy messages and generators. */
#include "interp/eval_internal.h"

#include <string.h>

#define PART_OPEN (INT64_MIN + 4096) /* not a value of any type: below every number of a model */

/* --- lazy messages --- */

bool is_lazy(value v) { return v >= LAZY_FIRST; }

struct lazy *lazy_of(struct eval *e, value v) {
  return &e->lazy[v - LAZY_FIRST];
}

static uint64_t part_count(const struct type *t) { return t->kind == TYPE_RECORD ? t->size : t->index->count; }

static const struct type *part_type(const struct type *t, uint64_t i) {
  return t->kind == TYPE_RECORD ? t->fields[i].type : t->element;
}

value lazy_part(struct eval *e, struct lazy *l, uint64_t i) {
  if (l->part[i] == PART_OPEN) {
    const struct type *t = part_type(l->type, i);
    l->part[i] = type_nth(e->values, t, eval_choose(e, t->count));
  }
  return l->part[i];
}

value eval_forced(struct eval *e, value v) {
  if (!is_lazy(v))
    return v;
  struct lazy *l = lazy_of(e, v);
  uint64_t n = part_count(l->type);
  for (uint64_t i = 0; i < n; i++)
    lazy_part(e, l, i);
  return value_vector(e->values, l->part, (size_t)n);
}

value lazy_completed(struct eval *e, const struct lazy *l) {
  uint64_t n = part_count(l->type);
  value *parts = arena_array(e->scratch, memory_size(n), sizeof *parts);
  for (uint64_t i = 0; i < n; i++)
    parts[i] = l->part[i] == PART_OPEN ? type_default(e->values, part_type(l->type, i)) : l->part[i];
  return value_vector(e->values, parts, (size_t)n);
}

value lazy_message(struct eval *e, const struct received_entry *entry) {
  if (!entry->lazy)
    return entry->message;
  uint32_t i = (uint32_t)(entry - e->received->at);
  if (i >= LAZY_MAX)
    eval_fail(e, (struct span){0, 0}, "more than %d open messages at once", LAZY_MAX);
  struct lazy *l = &e->lazy[i];
  if (!l->type) {
    l->type = e->received_type;
    uint64_t n = part_count(l->type);
    l->part = arena_array(e->scratch, memory_size(n), sizeof *l->part);
    for (uint64_t k = 0; k < n; k++)
      l->part[k] = PART_OPEN;
  }
  return LAZY_FIRST + i;
}

value eval_open(struct eval *e, const struct node *n) {
  if (n->op == NODE_SLOT)
    return e->slot[n->index];
  return n->op == NODE_FROM ? eval_from(e, n) : eval_node(e, n);
}

/* --- generators --- */

struct eval_generator_loop {
  const struct generator *gen;
  uint32_t n, i;
  binding_fn *visit;
  void *context;
  uint64_t weight;
};

static bool loop_next(struct eval *, struct eval_generator_loop *);

static bool loop_bind(struct eval *e, struct eval_generator_loop *l, value v) {
  const struct generator *g = &l->gen[l->i];
  e->slot[g->slot] = v;
  if (g->cond && !eval_true(e, g->cond))
    return true;
  struct eval_generator_loop inner = *l;
  inner.i++;
  return loop_next(e, &inner);
}

static bool loop_received(struct eval *e, struct eval_generator_loop *l) {
  const struct generator *g = &l->gen[l->i];
  uint64_t weight = l->weight;
  struct decisions *d = e->decisions;
  uint32_t outer = d ? d->entry : UINT32_MAX;
  bool more = true;
  for (uint32_t k = 0; k < e->received->n && more; k++) {
    const struct received_entry *r = &e->received->at[k];
    e->slot_sender[g->slot] = r->sender;
    l->weight = weight * r->count;
    if (d)
      d->entry = outer == UINT32_MAX ? k : FORM_MAX; /* pairs of messages: a product of counts is not linear */
    more = loop_bind(e, l, lazy_message(e, r));
  }
  if (d)
    d->entry = outer;
  l->weight = weight;
  return more;
}

/* The messages in flight, each for itself. */
static bool loop_pending(struct eval *e, struct eval_generator_loop *l, const struct node *range) {
  const struct generator *g = &l->gen[l->i];
  for (uint32_t i = 0; i < e->before->npackets; i++) {
    const struct packet *p = &e->before->packets[i];
    if (!packet_is_pending(e->model, p, range->index))
      continue;
    e->slot_sender[g->slot] = p->from;
    e->slot_receiver[g->slot] = p->to;
    if (!loop_bind(e, l, p->message))
      return false;
  }
  return true;
}

static bool loop_subsets(struct eval *e, struct eval_generator_loop *l, const struct node *of) {
  value whole = eval_node(e, of->kid[0]);
  const struct type *t = of->kid[0]->type;
  value member[64];
  uint32_t n = 0;
  uint64_t cursor = 0;
  while (n < 64 && set_member(e->values, t, whole, &cursor, &member[n]))
    n++;
  if (n > 24)
    eval_fail(e, of->at, "the subsets of a set with more than 24 members are too many to try");
  for (uint64_t bits = 0; bits < (UINT64_C(1) << n); bits++) {
    value subset = set_empty(e->values, t);
    for (uint32_t i = 0; i < n; i++)
      if (bits >> i & 1)
        subset = set_insert(e->values, t, subset, member[i]);
    if (!loop_bind(e, l, subset))
      return false;
  }
  return true;
}

bool process_in(struct eval *e, enum op op, uint32_t p) {
  value status = e->before->local[p][LOCAL_STATUS];
  if (op == NODE_FAULTY)
    return (status & STATUS_FAULTY) != 0;
  return (status & STATUS_FAULTY) == 0;
}

bool role_member(struct eval *e, uint32_t p) {
  return !e->before || e->round.heard || !(e->before->local[p][LOCAL_STATUS] & STATUS_BYZANTINE);
}

static bool role_quantified(struct eval *e, uint32_t p) {
  const value idle = STATUS_BYZANTINE | STATUS_CRASHED | STATUS_HALTED;
  return e->round.heard ? !(e->before->local[p][LOCAL_STATUS] & idle) : role_member(e, p);
}

static bool loop_processes(struct eval *e, struct eval_generator_loop *l, const struct node *range) {
  uint32_t first = 0, end = e->model->nprocesses;
  if (range->op == NODE_ROLE_SET && range->index != ROLE_ANY) {
    first = e->model->roles[range->index].first;
    end = first + e->model->roles[range->index].count;
  }
  for (uint32_t p = first; p < end; p++) {
    bool in = range->op == NODE_ROLE_SET ? role_quantified(e, p) : process_in(e, range->op, p);
    if (in && !loop_bind(e, l, p))
      return false;
  }
  return true;
}

static bool loop_collection(struct eval *e, struct eval_generator_loop *l, const struct node *range) {
  value v = eval_open(e, range);
  const struct type *t = range->type;
  if (t->kind == TYPE_OPTION)
    return v == VALUE_NONE || loop_bind(e, l, value_unwrap(v));
  if (t->kind == TYPE_SEQUENCE) {
    size_t n;
    value_parts(e->values, v, &n);
    for (size_t i = 0; i < n; i++)
      if (!loop_bind(e, l, value_parts(e->values, v, &n)[i]))
        return false;
    return true;
  }
  uint64_t cursor = 0;
  value member;
  while (set_member(e->values, t, v, &cursor, &member))
    if (!loop_bind(e, l, member))
      return false;
  return true;
}

static bool loop_next(struct eval *e, struct eval_generator_loop *l) {
  if (l->i == l->n)
    return l->visit(e, l->context, l->weight);
  const struct generator *g = &l->gen[l->i];
  const struct node *range = g->range;
  e->slot_sender[g->slot] = NO_SENDER;
  switch (op_number(range->op)) {
  case NODE_RECEIVED:
    return loop_received(e, l);
  case NODE_PENDING:
    return loop_pending(e, l, range);
  case NODE_SUBSETS:
    return loop_subsets(e, l, range);
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
    return loop_processes(e, l, range);
  case NODE_DOMAIN: {
    const struct type *t = range->type->element;
    for (uint64_t i = 0; i < t->count; i++)
      if (!loop_bind(e, l, type_nth(e->values, t, i)))
        return false;
    return true;
  }
  case NODE_INTERVAL: {
    value lo = eval_node(e, range->kid[0]), hi = eval_node(e, range->kid[1]);
    for (value v = lo; v <= hi; v++) {
      if (e->stop && *e->stop)
        eval_fail(e, range->at, "interrupted");
      if (!loop_bind(e, l, v))
        return false;
      if (v == INT64_MAX)
        break;
    }
    return true;
  }
  }
  return loop_collection(e, l, range);
}

bool eval_bindings(struct eval *e, const struct generator *gen, uint32_t n, binding_fn *visit, void *context) {
  struct eval_generator_loop l = {.gen = gen, .n = n, .visit = visit, .context = context, .weight = 1};
  return loop_next(e, &l);
}
