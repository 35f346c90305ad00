/* Statements: the update or action of one process is atomic; its assignments take effect in order. */
#include "interp/action.h"
#include "interp/eval_internal.h"

#include <string.h>

/* --- guards that bind --- */

struct exec_guard_witnesses {
  const struct guard *guard;
  value *tuples; /* for each used slot, its value and, if it is a message, its sender; in the scratch arena */
  size_t n, cap;
};

static bool same_tuple(const value *a, const value *b, uint32_t n) { return memcmp(a, b, n * sizeof *a) == 0; }

static bool visit_witness(struct eval *e, void *context, uint64_t weight) {
  (void)weight;
  struct exec_guard_witnesses *w = context;
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
  w->tuples = arena_grown(e->scratch, w->tuples, &w->cap, w->n, width * sizeof *tuple);
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

/* The choice-th witness in order of content, so that the meaning of a script does not depend on the order of the
   messages. */
static const value *nth_witness(struct eval *e, const struct exec_guard_witnesses *w, uint32_t choice) {
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
  struct exec_guard_witnesses w = {.guard = g};
  size_t before = e->choices ? e->choices->at : 0;
  eval_bindings(e, g->gen, g->ngen, visit_witness, &w);
  /* The condition is evaluated for each binding, and so would be a coin that belongs to the guard as a whole. */
  for (size_t i = before; e->choices && i < e->choices->at && i < 64; i++)
    if (e->choices->coins >> i & 1)
      e->interp->coins_lost = "a coin is tossed in a guard that binds a name";
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

static value assigned_part(struct eval *e, const struct type *t, value old, const struct stmt *s, uint32_t step,
                           value v) {
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

static void exec_assign_shared(struct eval *e, const struct stmt *s) {
  value v = eval_node(e, s->expr);
  value *place = &e->shared[s->var];
  *place = assigned_part(e, e->model->globals[s->var].type, *place, s, 0, v);
  if (e->record.shared_at)
    e->record.shared_at[s->var] = s->at;
}

static void exec_assign(struct eval *e, const struct stmt *s) {
  value v = eval_node(e, s->expr);
  const struct var *var = &e->model->roles[e->role].vars[s->var];
  value *place = &e->local[LOCAL_VAR(s->var)];
  if (e->record.reads && s->npath > 0)
    note_read(e, s->var);
  *place = assigned_part(e, var->type, *place, s, 0, v);
  if (e->record.assigned_at)
    e->record.assigned_at[s->var] = s->at;
  if (e->record.assigned)
    e->record.assigned[s->var] = true;
}

/* --- sending --- */

static bool send_reaches(struct eval *e, const struct send *s, value to, uint32_t p) {
  switch (s->target) {
  case TARGET_SET:
    return s->to_role == ROLE_ANY || model_role_of(e->model, p) == s->to_role;
  case TARGET_OTHERS:
    return p != e->me;
  case TARGET_ONE:
    return to == (value)p;
  case TARGET_EXPR:
    break;
  }
  return set_contains(e->values, s->to->type, to, p);
}

/* Reports values that are out of range where they are computed, not where the message is taken. */
static void check_message(struct eval *e, const struct send *s, value message) {
  const struct type *t = e->model->messages[s->kind].type;
  size_t n;
  const value *part = value_parts(e->values, message, &n);
  for (size_t i = 0; i < n; i++) {
    struct span at = s->message->op == NODE_RECORD ? s->message->kid[i]->at : s->message->at;
    check_in_type(e, t->fields[i].type, part[i], at, "value");
  }
}

/* Evaluates with the current values, at this point of the block. Sending to an unreachable process is an error: a sent
   message must arrive, unless the environment says otherwise. */
static void exec_send(struct eval *e, const struct send *s) {
  if (!e->outbox)
    eval_fail(e, s->at, "a message where none can be sent");
  value message = eval_node(e, s->message);
  check_message(e, s, message);
  value to = s->to ? eval_node(e, s->to) : 0;
  const struct role *role = &e->model->roles[e->role];
  value reachable = role->graph ? eval_neighbours(e) : 0;
  for (uint32_t p = 0; p < e->model->nprocesses; p++) {
    if (!send_reaches(e, s, to, p))
      continue;
    const struct role *other = &e->model->roles[model_role_of(e->model, p)];
    if (role->ring ? p != role_next(role, e->me)
                   : role->graph && !set_contains(e->values, role->graph->type, reachable, p))
      eval_fail(e, s->at, "a message from %s(%u) to %s(%u), but there is no channel", role->name,
                e->me - role->first + 1, other->name, p - other->first + 1);
    struct outbox *out = e->outbox;
    if (out->n == out->cap)
      out->at = vec_grow(out->at, &out->cap, out->n + 1, sizeof *out->at);
    out->at[out->n++] = (struct outgoing_message){p, s->kind, message, s->at};
  }
}

/* --- blocks --- */

static void exec_if(struct eval *e, const struct stmt *s) {
  bool holds = eval_guard(e, &s->guard);
  coverage_mark(e->interp->coverage, s->at, holds ? COVERED_TRUE : COVERED_FALSE);
  eval_block(e, holds ? &s->then : &s->other);
}

static void exec_stmt(struct eval *e, const struct stmt *s) {
  coverage_mark(e->interp->coverage, s->at, COVERED_RUN);
  switch (s->kind) {
  case STMT_IF:
    exec_if(e, s);
    break;
  case STMT_LET:
    e->slot[s->slot] = eval_node(e, s->expr);
    break;
  case STMT_ASSIGN:
    if (s->shared)
      exec_assign_shared(e, s);
    else
      exec_assign(e, s);
    break;
  case STMT_FOREACH:
    exec_foreach(e, s);
    break;
  case STMT_HALT:
    e->local[LOCAL_STATUS] |= STATUS_HALTED;
    break;
  case STMT_SEND:
    exec_send(e, s->send);
    break;
  }
}

/* `halt` ends the block. */
void eval_block(struct eval *e, const struct block *b) {
  for (uint32_t i = 0; i < b->n && !(e->local[LOCAL_STATUS] & STATUS_HALTED); i++)
    exec_stmt(e, b->at[i]);
}
