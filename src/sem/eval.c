#include "sem/eval.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PART_OPEN (INT64_MIN + 4096) /* no value of any type: below every number a model can hold */
#define DEPTH_MAX 2000

void eval_begin(struct eval *e, struct meaning *meaning) {
  memset(e, 0, sizeof *e);
  e->meaning = meaning;
  e->model = meaning->model;
  e->values = &meaning->model->values;
  e->scratch = &meaning->scratch;
  arena_clear(e->scratch);
  size_t n = e->model->nslots + 1;
  e->slot = arena_array(e->scratch, n, sizeof *e->slot);
  e->slot_sender = arena_array(e->scratch, n, sizeof *e->slot_sender);
}

void eval_fail(struct eval *e, struct span at, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  e->error.message = arena_printf(&e->meaning->strings, "%s", text);
  e->error.at = at;
  longjmp(*e->failure, 1);
}

void check_in_type(struct eval *e, const struct type *type, value v, struct span at, const char *what) {
  if (type_has(e->values, type, v))
    return;
  struct text shown = {0};
  value_print(e->values, e->model, type, v, &shown);
  const char *copy = arena_printf(e->scratch, "%s", text_or_empty(&shown));
  text_release(&shown);
  if (type->kind == TYPE_RANGE)
    eval_fail(e, at, "%s '%s' is outside %s%s%lld..%lld", what, copy, type->name ? type->name : "",
              type->name ? " = " : "", (long long)type->lo, (long long)type->hi);
  eval_fail(e, at, "%s '%s' is outside its type%s%s", what, copy, type->name ? " " : "",
            type->name ? type->name : "");
}

/* --- lazy messages --- */

static bool is_lazy(value v) { return v >= LAZY_FIRST; }

static struct lazy *lazy_of(struct eval *e, value v) { return &e->lazy[v - LAZY_FIRST]; }

static uint64_t part_count(const struct type *t) {
  return t->kind == TYPE_RECORD ? t->size : t->index->count;
}

static const struct type *part_type(const struct type *t, uint64_t i) {
  return t->kind == TYPE_RECORD ? t->fields[i].type : t->element;
}

static value lazy_part(struct eval *e, struct lazy *l, uint64_t i) {
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
  return value_vector(e->values, l->part, n);
}

value lazy_settled(struct eval *e, const struct lazy *l) {
  uint64_t n = part_count(l->type);
  value *parts = arena_array(e->scratch, n, sizeof *parts);
  for (uint64_t i = 0; i < n; i++)
    parts[i] = l->part[i] == PART_OPEN ? type_default(e->values, part_type(l->type, i)) : l->part[i];
  return value_vector(e->values, parts, n);
}

static value lazy_message(struct eval *e, const struct received_entry *entry) {
  if (!entry->lazy)
    return entry->message;
  uint32_t i = (uint32_t)(entry - e->received->at);
  if (i >= LAZY_MAX)
    eval_fail(e, (struct span){0, 0}, "more than %d open messages at once", LAZY_MAX);
  struct lazy *l = &e->lazy[i];
  if (!l->type) {
    l->type = e->received_type;
    uint64_t n = part_count(l->type);
    l->part = arena_array(e->scratch, n, sizeof *l->part);
    for (uint64_t k = 0; k < n; k++)
      l->part[k] = PART_OPEN;
  }
  return LAZY_FIRST + i;
}

/* The value of a node, open messages left open: for what reads one part of it. */
static value eval_from(struct eval *e, const struct node *n);

static value eval_open(struct eval *e, const struct node *n) {
  if (n->op == NODE_SLOT)
    return e->slot[n->index];
  return n->op == NODE_FROM ? eval_from(e, n) : eval_node(e, n);
}

/* --- generators --- */

struct loop {
  const struct generator *gen;
  uint32_t n, i;
  binding_fn *visit;
  void *context;
  uint64_t weight;
};

static bool loop_next(struct eval *, struct loop *);

static bool loop_bind(struct eval *e, struct loop *l, value v) {
  const struct generator *g = &l->gen[l->i];
  e->slot[g->slot] = v;
  if (g->cond && !eval_true(e, g->cond))
    return true;
  struct loop inner = *l;
  inner.i++;
  return loop_next(e, &inner);
}

static bool loop_received(struct eval *e, struct loop *l) {
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
      d->entry = outer == UINT32_MAX ? k : FORM_MAX; /* pairs of messages: a product of counts */
    more = loop_bind(e, l, lazy_message(e, r));
  }
  if (d)
    d->entry = outer;
  l->weight = weight;
  return more;
}

static bool loop_subsets(struct eval *e, struct loop *l, const struct node *of) {
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
        subset = set_with(e->values, t, subset, member[i]);
    if (!loop_bind(e, l, subset))
      return false;
  }
  return true;
}

static bool process_in(struct eval *e, enum op op, uint32_t p) {
  value status = e->before->local[p][LOCAL_STATUS];
  if (op == NODE_FAULTY)
    return (status & STATUS_FAULTY) != 0;
  return (status & STATUS_FAULTY) == 0;
}

/* In a property, a role is its processes that are not Byzantine: those have no variables. In an environment's
   clause it is all of them as a set (whoever may be heard), but quantifiers range over those that take part. */
static bool role_member(struct eval *e, uint32_t p) {
  return !e->before || e->heard || !(e->before->local[p][LOCAL_STATUS] & STATUS_BYZANTINE);
}

static bool role_quantified(struct eval *e, uint32_t p) {
  const value idle = STATUS_BYZANTINE | STATUS_CRASHED | STATUS_HALTED;
  return e->heard ? !(e->before->local[p][LOCAL_STATUS] & idle) : role_member(e, p);
}

static bool loop_processes(struct eval *e, struct loop *l, const struct node *range) {
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

static bool loop_collection(struct eval *e, struct loop *l, const struct node *range) {
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

static bool loop_next(struct eval *e, struct loop *l) {
  if (l->i == l->n)
    return l->visit(e, l->context, l->weight);
  const struct generator *g = &l->gen[l->i];
  const struct node *range = g->range;
  e->slot_sender[g->slot] = NO_SENDER;
  switch (range->op) {
  case NODE_RECEIVED:
    return loop_received(e, l);
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
    for (value v = lo; v <= hi; v++)
      if (!loop_bind(e, l, v))
        return false;
    return true;
  }
  default:
    return loop_collection(e, l, range);
  }
}

bool eval_bindings(struct eval *e, const struct generator *gen, uint32_t n, binding_fn *visit, void *context) {
  struct loop l = {.gen = gen, .n = n, .visit = visit, .context = context, .weight = 1};
  return loop_next(e, &l);
}

/* --- aggregates --- */

struct tally_line {
  value v;
  uint64_t weight;
  struct form form;
};

struct aggregate {
  const struct node *node;
  bool any;
  value best;
  uint64_t total;
  struct form form; /* of the total */
  value set;
  VEC(struct tally_line) tally;
};

/* --- decisions by counts --- */

/* Adds what the current binding weighs, `times` over. */
static void form_weigh(struct eval *e, struct form *f, int64_t times) {
  if (!e->decisions)
    return;
  uint32_t entry = e->decisions->entry;
  if (entry == UINT32_MAX)
    f->constant += times;
  else if (entry < FORM_MAX)
    f->of[entry] += times;
  else
    e->decisions->lost = true;
}

static bool form_is_constant(const struct form *f) {
  for (uint32_t i = 0; i < FORM_MAX; i++)
    if (f->of[i])
      return false;
  return true;
}

/* The value of the form is `v` here, and what follows depends on its sign. */
static void decide(struct eval *e, const struct form *f, int64_t v) {
  if (!e->decisions || form_is_constant(f))
    return;
  vec_push(&e->decisions->taken, ((struct decision){*f, v < 0 ? -1 : v > 0}));
}

/* What follows depends on the value itself. */
static void decide_exactly(struct eval *e, struct form f, int64_t v) {
  f.constant -= v;
  decide(e, &f, 0);
}

static struct form form_minus(const struct form *a, const struct form *b, int64_t times) {
  struct form f = *a;
  f.constant -= times * b->constant;
  for (uint32_t i = 0; i < FORM_MAX; i++)
    f.of[i] -= times * b->of[i];
  return f;
}

static bool visit_exists(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate *a = context;
  a->any = !a->node->n || eval_true(e, a->node->kid[0]);
  return !a->any;
}

static bool visit_forall(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate *a = context;
  a->any = a->node->n && !eval_true(e, a->node->kid[0]);
  return !a->any;
}

static bool visit_count(struct eval *e, void *context, uint64_t weight) {
  struct aggregate *a = context;
  if (!a->node->n || eval_true(e, a->node->kid[0])) {
    a->total += weight;
    form_weigh(e, &a->form, 1);
  }
  return true;
}

static bool visit_extreme(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate *a = context;
  const struct node *element = a->node->kid[0];
  value v = eval_node(e, element);
  int order = a->any ? value_compare(e->values, element->type, v, a->best) : 0;
  if (!a->any || (a->node->op == NODE_MIN ? order < 0 : order > 0))
    a->best = v;
  a->any = true;
  return true;
}

static bool visit_sum(struct eval *e, void *context, uint64_t weight) {
  struct aggregate *a = context;
  value v = eval_node(e, a->node->kid[0]), part;
  if (__builtin_mul_overflow(v, (value)weight, &part) || __builtin_add_overflow(a->best, part, &a->best))
    eval_fail(e, a->node->at, "a sum beyond 64 bits");
  if (v > INT32_MAX || v < INT32_MIN)
    form_weigh(e, &a->form, v == 0); /* too large to follow */
  else
    form_weigh(e, &a->form, v);
  if (e->decisions && (v > INT32_MAX || v < INT32_MIN))
    e->decisions->lost = true;
  return true;
}

static bool visit_union(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate *a = context;
  a->set = set_unite(e->values, a->node->type, a->set, eval_node(e, a->node->kid[0]));
  return true;
}

static bool visit_set(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct aggregate *a = context;
  a->set = set_with(e->values, a->node->type, a->set, eval_node(e, a->node->kid[0]));
  return true;
}

static bool visit_tally(struct eval *e, void *context, uint64_t weight) {
  struct aggregate *a = context;
  value v = eval_node(e, a->node->kid[0]);
  a->total += weight;
  form_weigh(e, &a->form, 1);
  for (size_t i = 0; i < a->tally.n; i++)
    if (a->tally.at[i].v == v) {
      a->tally.at[i].weight += weight;
      form_weigh(e, &a->tally.at[i].form, 1);
      return true;
    }
  /* the scratch arena owns the lines, so an error that unwinds leaves nothing behind */
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

static value most_frequent(struct eval *e, struct aggregate *a) {
  uint64_t most = 0;
  for (size_t i = 0, best = 0; i < a->tally.n; i++) {
    if (e->decisions && i > 0) {
      struct form f = form_minus(&a->tally.at[i].form, &a->tally.at[best].form, 1);
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
      set = set_with(e->values, a->node->type, set, a->tally.at[i].v);
  return set;
}

/* Ties between equal weights must not depend on the order of discovery: scripts are shared between runs that
   see the same messages in another order. */
static bool pick_one(struct eval *e, struct aggregate *a, value *result) {
  const struct type *t = a->node->kid[0]->type;
  if (a->tally.n == 0)
    return false;
  for (size_t i = 1; i < a->tally.n; i++)
    for (size_t k = i; k > 0 && value_compare(e->values, t, a->tally.at[k - 1].v, a->tally.at[k].v) > 0; k--) {
      struct tally_line swap = a->tally.at[k];
      a->tally.at[k] = a->tally.at[k - 1];
      a->tally.at[k - 1] = swap;
    }
  *result = a->tally.at[eval_choose(e, a->tally.n)].v;
  return true;
}

static bool majority_of(struct eval *e, struct aggregate *a, value *result) {
  for (size_t i = 0; i < a->tally.n; i++) {
    if (e->decisions) {
      struct form f = form_minus(&a->form, &a->tally.at[i].form, 2);
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
  struct aggregate a = {.node = n};
  switch (n->op) {
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
  default:
    *result = eval_node(e, n);
    if (n->type->kind == TYPE_OPTION) {
      if (*result == VALUE_NONE)
        return false;
      *result = value_unwrap(*result);
    }
    return true;
  }
}

static const char *empty_message(enum op op) {
  switch (op) {
  case NODE_MIN: return "'min' of nothing";
  case NODE_MAX: return "'max' of nothing";
  case NODE_PICK: return "'pick' from nothing";
  case NODE_RANDOM: return "'random' from nothing";
  case NODE_MAJORITY: return "'majority' where no value has one";
  case NODE_FIRST: return "'first' of an empty sequence";
  default: return "'last' of an empty sequence";
  }
}

static value eval_aggregate(struct eval *e, const struct node *n) {
  struct aggregate a = {.node = n};
  value v;
  switch (n->op) {
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
  default:
    if (!eval_maybe(e, n, &v))
      eval_fail(e, n->at, "%s", empty_message(n->op));
    return v;
  }
}

/* --- processes and messages --- */

static value process_set_of(struct eval *e, const struct node *n) {
  value set = set_empty(e->values, n->type);
  for (uint32_t p = 0; p < e->model->nprocesses; p++) {
    bool in;
    if (n->op == NODE_ROLE_SET)
      in = (n->index == ROLE_ANY || model_role_of(e->model, p) == n->index) && role_member(e, p);
    else
      in = process_in(e, n->op, p);
    if (in)
      set = set_with(e->values, n->type, set, p);
  }
  return set;
}

static value eval_heard(struct eval *e, const struct node *n) {
  value set = set_empty(e->values, n->type);
  for (uint32_t k = 0; k < e->received->n; k++)
    set = set_with(e->values, n->type, set, e->received->at[k].sender);
  return set;
}

static value eval_heard_of(struct eval *e, const struct node *n) {
  value p = eval_node(e, n->kid[0]);
  value set = set_empty(e->values, n->type);
  for (uint32_t q = 0; q < e->model->nprocesses; q++)
    if (e->heard[p][q] && !(n->op == NODE_SHO && e->corrupt && e->corrupt[p][q]))
      set = set_with(e->values, n->type, set, q);
  return set;
}

static value eval_from(struct eval *e, const struct node *n) {
  value q = eval_node(e, n->kid[0]);
  for (uint32_t k = 0; k < e->received->n; k++)
    if (e->received->at[k].sender == (uint32_t)q)
      return value_some(lazy_message(e, &e->received->at[k]));
  return VALUE_NONE;
}

static value eval_process_at(struct eval *e, const struct node *n) {
  const struct role *role = &e->model->roles[n->index];
  value i = (eval_node(e, n->kid[0]) - 1) % (value)role->count;
  return (value)role->first + (i < 0 ? i + (value)role->count : i);
}

static uint32_t oracle_position(const struct role *role, uint32_t var) {
  uint32_t position = 0;
  for (uint32_t i = 0; i < var; i++)
    position += role->vars[i].kind == VAR_ORACLE;
  return position;
}

static value eval_remote(struct eval *e, const struct node *n) {
  value p = eval_node(e, n->kid[0]);
  uint32_t r = model_role_of(e->model, p);
  const struct role *role = &e->model->roles[r];
  uint32_t var = e->model->fields[n->index].var[r];
  const struct config *c = n->primed ? e->after : e->before;
  if (var == UINT32_MAX)
    eval_fail(e, n->at, "process %s(%lld) has no variable '%s'", role->name,
              (long long)(p - role->first + 1), e->model->fields[n->index].name);
  if (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)
    eval_fail(e, n->at, "process %s(%lld) is Byzantine and has no variables", role->name,
              (long long)(p - role->first + 1));
  if (n->op == NODE_INITIAL)
    return c->local[p][role_initial_at(role, var)];
  if (n->op == NODE_ORACLE && e->oracles && e->oracles[p])
    return e->oracles[p][oracle_position(role, var)];
  return c->local[p][LOCAL_VAR(var)];
}

static value eval_call(struct eval *e, const struct node *n) {
  const struct def *def = &e->model->defs[n->index];
  if (++e->depth > DEPTH_MAX)
    eval_fail(e, n->at, "'%s' calls itself without end", def->name);
  size_t slots = e->model->nslots + 1;
  value *frame = arena_array(e->scratch, slots, sizeof *frame);
  uint32_t *senders = arena_array(e->scratch, slots, sizeof *senders);
  for (uint32_t i = 0; i < n->n; i++)
    frame[i] = eval_node(e, n->kid[i]);
  value *old = e->slot;
  uint32_t *old_senders = e->slot_sender;
  e->slot = frame;
  e->slot_sender = senders;
  value v = eval_node(e, def->body);
  e->slot = old;
  e->slot_sender = old_senders;
  e->depth--;
  return v;
}

/* --- operators --- */

static value floor_div(value a, value b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static value eval_arithmetic(struct eval *e, const struct node *n) {
  value a = eval_node(e, n->kid[0]), b = n->n > 1 ? eval_node(e, n->kid[1]) : 0, v = 0;
  bool over = false;
  switch (n->op) {
  case NODE_ADD: over = __builtin_add_overflow(a, b, &v); break;
  case NODE_SUB: over = __builtin_sub_overflow(a, b, &v); break;
  case NODE_MUL: over = __builtin_mul_overflow(a, b, &v); break;
  case NODE_NEG: over = __builtin_sub_overflow((value)0, a, &v); break;
  default:
    if (b == 0)
      eval_fail(e, n->at, "division by zero");
    if (b == -1)
      over = n->op == NODE_DIV && __builtin_sub_overflow((value)0, a, &v);
    else
      v = n->op == NODE_DIV ? floor_div(a, b) : a - b * floor_div(a, b);
    if (n->op == NODE_MOD && v < 0)
      v -= b;
  }
  if (over)
    eval_fail(e, n->at, "arithmetic beyond 64 bits");
  return v;
}

static bool eval_in(struct eval *e, const struct node *n) {
  const struct node *of = n->kid[1];
  value v = eval_node(e, n->kid[0]);
  const struct type *t = of->type;
  if (of->op == NODE_INTERVAL)
    return eval_node(e, of->kid[0]) <= v && v <= eval_node(e, of->kid[1]);
  if (of->op == NODE_DOMAIN)
    return type_has(e->values, t->element, v);
  if ((of->op == NODE_HO || of->op == NODE_SHO)) {
    value p = eval_node(e, of->kid[0]);
    return e->heard[p][v] && !(of->op == NODE_SHO && e->corrupt && e->corrupt[p][v]);
  }
  if (of->op == NODE_RECEIVED) {
    for (uint32_t k = 0; k < e->received->n; k++)
      if (eval_forced(e, lazy_message(e, &e->received->at[k])) == v)
        return true;
    return false;
  }
  value c = eval_node(e, of);
  if (t->kind == TYPE_OPTION)
    return c != VALUE_NONE && value_unwrap(c) == v;
  if (t->kind == TYPE_SEQUENCE) {
    size_t length;
    const value *parts = value_parts(e->values, c, &length);
    for (size_t i = 0; i < length; i++)
      if (parts[i] == v)
        return true;
    return false;
  }
  return set_has(e->values, t, c, v);
}

static value eval_cardinality(struct eval *e, const struct node *n) {
  const struct node *of = n->kid[0];
  uint64_t total = 0;
  if (of->op == NODE_RECEIVED || of->op == NODE_HEARD) {
    struct form f = {0};
    for (uint32_t k = 0; k < e->received->n; k++) {
      total += e->received->at[k].count;
      if (k < FORM_MAX)
        f.of[k] = 1;
    }
    decide_exactly(e, f, (value)total);
    return (value)total;
  }
  if (of->op == NODE_HO || of->op == NODE_SHO) {
    value p = eval_node(e, of->kid[0]);
    for (uint32_t q = 0; q < e->model->nprocesses; q++)
      total += e->heard[p][q] && !(of->op == NODE_SHO && e->corrupt && e->corrupt[p][q]);
    return (value)total;
  }
  if (of->op == NODE_ROLE_SET || of->op == NODE_CORRECT || of->op == NODE_FAULTY) {
    for (uint32_t p = 0; p < e->model->nprocesses; p++)
      total += of->op == NODE_ROLE_SET
                   ? (of->index == ROLE_ANY || model_role_of(e->model, p) == of->index) && role_member(e, p)
                   : process_in(e, of->op, p);
    return (value)total;
  }
  value v = eval_node(e, of);
  if (of->type->kind == TYPE_OPTION)
    return v != VALUE_NONE;
  if (of->type->kind == TYPE_SEQUENCE) {
    size_t length;
    value_parts(e->values, v, &length);
    return (value)length;
  }
  return (value)set_size(e->values, of->type, v);
}

/* A number together with the form it has over the counts. Where the shape is not linear, the number itself decides. */
static value eval_linear(struct eval *e, const struct node *n, struct form *f) {
  struct aggregate a = {.node = n};
  struct form g = {0};
  value v, w;
  *f = (struct form){0};
  switch (n->op) {
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
    *f = form_minus(f, &g, n->op == NODE_SUB ? 1 : -1);
    if (n->op == NODE_SUB ? __builtin_sub_overflow(v, w, &v) : __builtin_add_overflow(v, w, &v))
      eval_fail(e, n->at, "arithmetic beyond 64 bits");
    return v;
  case NODE_MUL:
    if (n->kid[0]->op != NODE_CONST && n->kid[0]->op != NODE_PARAM)
      break;
    v = eval_node(e, n->kid[0]);
    if (v > INT32_MAX || v < INT32_MIN)
      break;
    w = eval_linear(e, n->kid[1], &g);
    *f = form_minus(f, &g, -v);
    if (__builtin_mul_overflow(v, w, &v))
      eval_fail(e, n->at, "arithmetic beyond 64 bits");
    return v;
  default:
    break;
  }
  v = eval_node(e, n);
  f->constant = v;
  return v;
}

static bool eval_relation(struct eval *e, const struct node *n) {
  if (e->decisions && n->kid[0]->type->kind <= TYPE_RANGE && n->kid[0]->type->kind != TYPE_BOOL) {
    struct form f, g;
    value x = eval_linear(e, n->kid[0], &f), y = eval_linear(e, n->kid[1], &g);
    f = form_minus(&f, &g, 1);
    decide(e, &f, x < y ? -1 : x > y);
    switch (n->op) {
    case NODE_EQ: return x == y;
    case NODE_NE: return x != y;
    case NODE_LT: return x < y;
    case NODE_LE: return x <= y;
    case NODE_GT: return x > y;
    default: return x >= y;
    }
  }
  value a = eval_node(e, n->kid[0]), b = eval_node(e, n->kid[1]);
  if (n->op == NODE_EQ)
    return a == b;
  if (n->op == NODE_NE)
    return a != b;
  const struct type *t = n->kid[0]->type;
  int order = t->kind <= TYPE_ROUND ? (a > b) - (a < b) : value_compare(e->values, t, a, b);
  switch (n->op) {
  case NODE_LT: return order < 0;
  case NODE_LE: return order <= 0;
  case NODE_GT: return order > 0;
  default: return order >= 0;
  }
}

static value eval_set_operator(struct eval *e, const struct node *n) {
  value a = eval_node(e, n->kid[0]), b = eval_node(e, n->kid[1]);
  const struct type *t = n->kid[0]->type;
  switch (n->op) {
  case NODE_UNITE: return set_unite(e->values, t, a, b);
  case NODE_MEET: return set_meet(e->values, t, a, b);
  case NODE_MINUS: return set_minus(e->values, t, a, b);
  default: return set_within(e->values, t, a, b);
  }
}

static value eval_domain(struct eval *e, const struct node *n) {
  const struct type *t = n->type->element;
  value set = set_empty(e->values, n->type);
  for (uint64_t i = 0; i < t->count; i++)
    set = set_with(e->values, n->type, set, type_nth(e->values, t, i));
  return set;
}

/* --- records, arrays, sequences --- */

static value eval_select(struct eval *e, const struct node *n) {
  value v = eval_open(e, n->kid[0]);
  if (is_lazy(v))
    return lazy_part(e, lazy_of(e, v), n->index);
  size_t length;
  return value_parts(e->values, v, &length)[n->index];
}

static value eval_index(struct eval *e, const struct node *n) {
  const struct type *t = n->kid[0]->type;
  value i = eval_node(e, n->kid[1]);
  check_in_type(e, t->index, i, n->kid[1]->at, "index");
  uint64_t position = type_index(e->values, t->index, i);
  value v = eval_open(e, n->kid[0]);
  if (is_lazy(v))
    return lazy_part(e, lazy_of(e, v), position);
  size_t length;
  return value_parts(e->values, v, &length)[position];
}

static value eval_parts(struct eval *e, const struct node *n) {
  value *parts = arena_array(e->scratch, n->n + 1, sizeof *parts);
  for (uint32_t i = 0; i < n->n; i++)
    parts[i] = eval_node(e, n->kid[i]);
  return value_vector(e->values, parts, n->n);
}

static value eval_array_of(struct eval *e, const struct node *n) {
  const struct type *index = n->type->index;
  value *parts = arena_array(e->scratch, index->count + 1, sizeof *parts);
  for (uint64_t i = 0; i < index->count; i++) {
    e->slot[n->gen[0].slot] = type_nth(e->values, index, i);
    parts[i] = eval_node(e, n->kid[0]);
    check_in_type(e, n->type->element, parts[i], n->kid[0]->at, "value");
  }
  return value_vector(e->values, parts, index->count);
}

static value eval_sequence_operator(struct eval *e, const struct node *n) {
  size_t na, nb = 0;
  value a = eval_node(e, n->kid[0]);
  value b = n->op == NODE_APPEND ? eval_node(e, n->kid[1]) : 0;
  const value *pa = value_parts(e->values, a, &na);
  if (n->op == NODE_FRONT) {
    if (na == 0)
      eval_fail(e, n->at, "'front' of an empty sequence");
    return value_vector(e->values, pa, na - 1);
  }
  const value *pb = value_parts(e->values, b, &nb);
  value *parts = arena_array(e->scratch, na + nb + 1, sizeof *parts);
  memcpy(parts, pa, na * sizeof *parts);
  memcpy(parts + na, pb, nb * sizeof *parts);
  return value_vector(e->values, parts, na + nb);
}

bool eval_true(struct eval *e, const struct node *n) { return eval_node(e, n) != 0; }

value eval_node(struct eval *e, const struct node *n) {
  value v;
  switch (n->op) {
  case NODE_CONST:
  case NODE_PARAM: return n->constant;
  case NODE_SLOT: return eval_forced(e, e->slot[n->index]);
  case NODE_VAR: return e->local[LOCAL_VAR(n->index)];
  case NODE_GLOBAL: return e->globals[n->index];
  case NODE_ME: return e->me;
  case NODE_LOOP: return e->model->points[e->point].loop;
  case NODE_PHASE: return e->phase;
  case NODE_ROUND_NUMBER: return e->before->rounds;
  case NODE_HEARD: return eval_heard(e, n);
  case NODE_FROM: {
    v = eval_from(e, n);
    return v == VALUE_NONE ? v : value_some(eval_forced(e, value_unwrap(v)));
  }
  case NODE_SENDER: return e->slot_sender[n->index];
  case NODE_NUMBER_OF:
    v = eval_node(e, n->kid[0]);
    return v - (value)e->model->roles[model_role_of(e->model, v)].first + 1;
  case NODE_PROCESS_AT: return eval_process_at(e, n);
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY: return process_set_of(e, n);
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE: return eval_remote(e, n);
  case NODE_HO:
  case NODE_SHO: return eval_heard_of(e, n);
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG: return eval_arithmetic(e, n);
  case NODE_NOT: return !eval_true(e, n->kid[0]);
  case NODE_AND: return eval_true(e, n->kid[0]) && eval_true(e, n->kid[1]);
  case NODE_OR: return eval_true(e, n->kid[0]) || eval_true(e, n->kid[1]);
  case NODE_IMPLIES: return !eval_true(e, n->kid[0]) || eval_true(e, n->kid[1]);
  case NODE_IF: return eval_node(e, n->kid[eval_true(e, n->kid[0]) ? 1 : 2]);
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE: return eval_relation(e, n);
  case NODE_IN: return eval_in(e, n);
  case NODE_WITHIN:
  case NODE_UNITE:
  case NODE_MEET:
  case NODE_MINUS: return eval_set_operator(e, n);
  case NODE_CARD: return eval_cardinality(e, n);
  case NODE_DOMAIN: return eval_domain(e, n);
  case NODE_SET:
    v = set_empty(e->values, n->type);
    for (uint32_t i = 0; i < n->n; i++)
      v = set_with(e->values, n->type, v, eval_node(e, n->kid[i]));
    return v;
  case NODE_NARROW:
    v = eval_node(e, n->kid[0]);
    check_in_type(e, n->type, v, n->at, "value");
    return v;
  case NODE_WRAP: return value_some(eval_node(e, n->kid[0]));
  case NODE_OTHERWISE: return eval_maybe(e, n->kid[0], &v) ? v : eval_node(e, n->kid[1]);
  case NODE_RECORD:
  case NODE_SEQUENCE: return eval_parts(e, n);
  case NODE_SELECT: return eval_select(e, n);
  case NODE_ARRAY_OF: return eval_array_of(e, n);
  case NODE_INDEX: return eval_index(e, n);
  case NODE_APPEND:
  case NODE_FRONT: return eval_sequence_operator(e, n);
  case NODE_CALL: return eval_call(e, n);
  case NODE_RECEIVED:
  case NODE_INTERVAL:
  case NODE_SUBSETS: eval_fail(e, n->at, "'%s' can only be gone through", op_text(n->op));
  case NODE_ALWAYS:
  case NODE_EVENTUALLY:
  case NODE_UNTIL: eval_fail(e, n->at, "'%s' has no value in a single state", op_text(n->op));
  default: return eval_aggregate(e, n);
  }
}
