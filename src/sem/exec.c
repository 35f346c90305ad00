/* Statements: one process's update, atomic, its assignments in order. */
#include "sem/eval.h"

#include <string.h>

/* --- guards that bind --- */

struct witnesses {
  const struct guard *guard;
  value *tuples; /* for each used slot its value and, if it is a message, its sender; in the scratch arena */
  size_t n, cap;
};

static bool same_tuple(const value *a, const value *b, uint32_t n) {
  return memcmp(a, b, n * sizeof *a) == 0;
}

static bool visit_witness(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct witnesses *w = context;
  const struct guard *g = w->guard;
  if (g->cond && !eval_true(e, g->cond))
    return true;
  uint32_t width = 2 * g->nused;
  value *tuple = arena_array(e->scratch, width + 1, sizeof *tuple);
  for (uint32_t i = 0; i < g->nused; i++) {
    tuple[2 * i] = eval_forced(e, e->slot[g->used[i]]);
    tuple[2 * i + 1] = e->slot_sender[g->used[i]];
  }
  for (size_t k = 0; k < w->n; k++)
    if (same_tuple(w->tuples + k * width, tuple, width))
      return true;
  if (w->n == w->cap) {
    size_t cap = w->cap ? 2 * w->cap : 8;
    value *grown = arena_array(e->scratch, cap * (width + 1), sizeof *grown);
    if (w->n)
      memcpy(grown, w->tuples, w->n * width * sizeof *grown);
    w->tuples = grown;
    w->cap = cap;
  }
  memcpy(w->tuples + w->n * width, tuple, width * sizeof *tuple);
  w->n++;
  return true;
}

static const struct type *slot_type(const struct guard *g, uint32_t slot) {
  for (uint32_t i = 0; i < g->ngen; i++)
    if (g->gen[i].slot == slot)
      return g->gen[i].type;
  return NULL;
}

static int compare_tuples(struct eval *e, const struct guard *g, const value *a, const value *b) {
  for (uint32_t i = 0; i < g->nused; i++) {
    const struct type *t = slot_type(g, g->used[i]);
    int order = t ? value_compare(e->values, t, a[2 * i], b[2 * i]) : 0;
    if (order)
      return order;
    if (a[2 * i + 1] != b[2 * i + 1])
      return a[2 * i + 1] < b[2 * i + 1] ? -1 : 1;
  }
  return 0;
}

/* The choice-th witness in the order of content, so that a script means the same whatever the order in which the
   messages are looked at. */
static const value *nth_witness(struct eval *e, const struct witnesses *w, uint32_t choice) {
  const struct guard *g = w->guard;
  uint32_t width = 2 * g->nused;
  for (size_t i = 0; i < w->n; i++) {
    uint32_t smaller = 0;
    for (size_t k = 0; k < w->n; k++)
      smaller += k != i && compare_tuples(e, g, w->tuples + k * width, w->tuples + i * width) < 0;
    if (smaller == choice)
      return w->tuples + i * width;
  }
  return w->tuples;
}

bool eval_guard(struct eval *e, const struct guard *g) {
  if (g->ngen == 0)
    return !g->cond || eval_true(e, g->cond);
  struct witnesses w = {.guard = g};
  eval_bindings(e, g->gen, g->ngen, visit_witness, &w);
  if (w.n == 0)
    return false;
  const value *chosen = nth_witness(e, &w, eval_choose(e, w.n));
  for (uint32_t i = 0; i < g->nused; i++) {
    e->slot[g->used[i]] = chosen[2 * i];
    e->slot_sender[g->used[i]] = (uint32_t)chosen[2 * i + 1];
  }
  return true;
}

/* --- assignment --- */

static value assigned_part(struct eval *e, const struct type *t, value old, const struct stmt *s,
                           uint32_t step, value v) {
  if (step == s->npath) {
    check_in_type(e, t, v, s->expr->at, "value");
    return v;
  }
  uint64_t position = s->path[step].field;
  const struct type *part;
  if (s->path[step].index) {
    value i = eval_node(e, s->path[step].index);
    check_in_type(e, t->index, i, s->path[step].index->at, "index");
    position = type_index(e->values, t->index, i);
    part = t->element;
  } else {
    part = t->fields[position].type;
  }
  size_t n;
  const value *parts = value_parts(e->values, old, &n);
  value *copy = arena_copy(e->scratch, parts, n * sizeof *copy);
  copy[position] = assigned_part(e, part, copy[position], s, step + 1, v);
  return value_vector(e->values, copy, n);
}

static void exec_assign(struct eval *e, const struct stmt *s) {
  value v = eval_node(e, s->expr);
  const struct var *var = &e->model->roles[e->role].vars[s->var];
  value *place = &e->local[LOCAL_VAR(s->var)];
  *place = assigned_part(e, var->type, *place, s, 0, v);
  if (e->assigned_at)
    e->assigned_at[s->var] = s->at;
  if (e->assigned)
    e->assigned[s->var] = true;
}

/* --- foreach: the set of results over all orders --- */

struct progress { /* some messages done (how many of each entry), and the local state after them */
  uint32_t *done;
  value *local;
};

struct orders {
  const struct stmt *stmt;
  uint32_t length;           /* of the local state */
  VEC(struct progress) seen; /* every (messages done, local state) pair */
  bool body_chooses;
};

static bool orders_add(struct orders *o, uint32_t entries, const uint32_t *done, const value *local,
                       struct eval *e) {
  for (size_t i = 0; i < o->seen.n; i++)
    if (!memcmp(o->seen.at[i].done, done, entries * sizeof *done) &&
        !memcmp(o->seen.at[i].local, local, o->length * sizeof *local))
      return false;
  struct progress p = {arena_copy(e->scratch, done, (entries + 1) * sizeof *done),
                       arena_copy(e->scratch, local, o->length * sizeof *local)};
  vec_push(&o->seen, p);
  return true;
}

/* Runs the body once, for entry k, with every script of choices inside it. */
static void orders_step(struct eval *e, struct orders *o, size_t from, uint32_t k) {
  uint32_t entries = e->received->n;
  uint32_t *done = arena_copy(e->scratch, o->seen.at[from].done, (entries + 1) * sizeof *done);
  done[k]++;
  struct choices inner = {0}, *outer = e->choices;
  jmp_buf failure, *outer_failure = e->failure;
  value *local = arena_array(e->scratch, o->length, sizeof *local), *outer_local = e->local;
  e->choices = &inner;
  e->failure = &failure;
  e->local = local;
  bool failed = setjmp(failure) != 0;
  while (!failed) {
    memcpy(local, o->seen.at[from].local, o->length * sizeof *local);
    e->slot[o->stmt->slot] = eval_forced(e, e->received->at[k].message);
    e->slot_sender[o->stmt->slot] = e->received->at[k].sender;
    if (!(local[LOCAL_STATUS] & STATUS_HALTED))
      eval_block(e, &o->stmt->then);
    orders_add(o, entries, done, local, e);
    if (inner.at > 0)
      o->body_chooses = true;
    if (!choices_next(&inner))
      break;
  }
  choices_release(&inner);
  e->choices = outer;
  e->failure = outer_failure;
  e->local = outer_local;
  if (failed) {
    vec_release(&o->seen);
    longjmp(*e->failure, 1);
  }
}

static int compare_locals(const struct eval *e, const value *a, const value *b) {
  const struct role *role = &e->model->roles[e->role];
  if (a[LOCAL_STATUS] != b[LOCAL_STATUS])
    return a[LOCAL_STATUS] < b[LOCAL_STATUS] ? -1 : 1;
  for (uint32_t i = 0; i < role->nvars; i++) {
    int order = value_compare(e->values, role->vars[i].type, a[LOCAL_VAR(i)], b[LOCAL_VAR(i)]);
    if (order)
      return order;
  }
  return 0;
}

static bool all_done(const struct received *r, const uint32_t *done) {
  for (uint32_t k = 0; k < r->n; k++)
    if (done[k] < r->at[k].count)
      return false;
  return true;
}

/* Goes through the sub-bags of what was received: the results for a sub-bag do not depend on how it was come by
   except through the local state, so (sub-bag, local state) pairs are gone through once each. */
static void exec_foreach(struct eval *e, const struct stmt *s) {
  if (e->decisions)
    e->decisions->lost = true;
  struct orders o = {.stmt = s, .length = role_local_length(&e->model->roles[e->role])};
  uint32_t *none = arena_array(e->scratch, e->received->n + 1, sizeof *none);
  orders_add(&o, e->received->n, none, e->local, e);
  value **results = NULL;
  size_t nresults = 0;
  for (size_t i = 0; i < o.seen.n; i++) {
    if (all_done(e->received, o.seen.at[i].done))
      nresults++;
    for (uint32_t k = 0; k < e->received->n; k++)
      if (o.seen.at[i].done[k] < e->received->at[k].count)
        orders_step(e, &o, i, k);
  }
  results = arena_array(e->scratch, nresults + 1, sizeof *results);
  nresults = 0;
  for (size_t i = 0; i < o.seen.n; i++)
    if (all_done(e->received, o.seen.at[i].done)) {
      size_t at = nresults++;
      for (; at > 0 && compare_locals(e, results[at - 1], o.seen.at[i].local) > 0; at--)
        results[at] = results[at - 1];
      results[at] = o.seen.at[i].local;
    }
  vec_release(&o.seen);
  if (nresults > 1 && !o.body_chooses)
    e->order_mattered = true;
  const value *chosen = results[eval_choose(e, nresults)];
  const struct role *role = &e->model->roles[e->role];
  for (uint32_t i = 0; i < role->nvars; i++)
    if (chosen[LOCAL_VAR(i)] != e->local[LOCAL_VAR(i)]) {
      if (e->assigned)
        e->assigned[i] = true;
      if (e->assigned_at)
        e->assigned_at[i] = s->at;
    }
  memcpy(e->local, chosen, o.length * sizeof *chosen);
}

/* --- blocks --- */

static void exec_stmt(struct eval *e, const struct stmt *s) {
  switch (s->kind) {
  case STMT_IF:
    eval_block(e, eval_guard(e, &s->guard) ? &s->then : &s->other);
    break;
  case STMT_LET:
    e->slot[s->slot] = eval_node(e, s->expr);
    break;
  case STMT_ASSIGN:
    exec_assign(e, s);
    break;
  case STMT_FOREACH:
    exec_foreach(e, s);
    break;
  case STMT_HALT:
    e->local[LOCAL_STATUS] |= STATUS_HALTED;
    break;
  case STMT_SEND:
    break;
  }
}

/* `halt` ends the block: nothing after it happens. */
void eval_block(struct eval *e, const struct block *b) {
  for (uint32_t i = 0; i < b->n && !(e->local[LOCAL_STATUS] & STATUS_HALTED); i++)
    exec_stmt(e, b->at[i]);
}
