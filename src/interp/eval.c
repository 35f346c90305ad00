#include "interp/eval_internal.h"

#include "model/node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 2000

void eval_begin(struct eval *e, struct interpreter *interp) {
  memset(e, 0, sizeof *e);
  e->interp = interp;
  e->model = interp->model;
  e->values = &interp->model->values;
  e->scratch = &interp->scratch;
  e->record.reads = interp->reads;
  arena_clear(e->scratch);
  size_t n = e->model->nslots + 1;
  e->slot = arena_array(e->scratch, n, sizeof *e->slot);
  e->slot_sender = arena_array(e->scratch, n, sizeof *e->slot_sender);
  e->slot_receiver = arena_array(e->scratch, n, sizeof *e->slot_receiver);
}

void eval_fail(struct eval *e, struct span at, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  e->error.message = arena_printf(&e->interp->strings, "%s", text);
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
  eval_fail(e, at, "%s '%s' is outside its type%s%s", what, copy, type->name ? " " : "", type->name ? type->name : "");
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
      set = set_insert(e->values, n->type, set, p);
  }
  return set;
}

static value eval_heard(struct eval *e, const struct node *n) {
  value set = set_empty(e->values, n->type);
  for (uint32_t k = 0; k < e->received->n; k++)
    set = set_insert(e->values, n->type, set, e->received->at[k].sender);
  return set;
}

/* Whom p hears. A heard-of set that has not been chosen yet (struct eval) has no value. */
static const uint8_t *heard_by(struct eval *e, value p) {
  if (!e->round.heard[p])
    longjmp(*e->failure, 1);
  return e->round.heard[p];
}

static value eval_heard_of(struct eval *e, const struct node *n) {
  value p = eval_node(e, n->kid[0]);
  const uint8_t *heard = heard_by(e, p);
  value set = set_empty(e->values, n->type);
  for (uint32_t q = 0; q < e->model->nprocesses; q++)
    if (heard[q] && !(n->op == NODE_SHO && e->round.corrupt && e->round.corrupt[p][q]))
      set = set_insert(e->values, n->type, set, q);
  return set;
}

value eval_from(struct eval *e, const struct node *n) {
  value q = eval_node(e, n->kid[0]);
  for (uint32_t k = 0; k < e->received->n; k++)
    if (e->received->at[k].sender == (uint32_t)q)
      return value_wrap(lazy_message(e, &e->received->at[k]));
  return VALUE_NONE;
}

static value eval_process_at(struct eval *e, const struct node *n) {
  const struct role *role = &e->model->roles[n->index];
  value i = eval_node(e, n->kid[0]) % (value)role->count - 1; /* reduced first to avoid overflow */
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
    eval_fail(e, n->at, "process %s(%lld) has no variable '%s'", role->name, (long long)(p - role->first + 1),
              e->model->fields[n->index].name);
  if (c->local[p][LOCAL_STATUS] & STATUS_BYZANTINE)
    eval_fail(e, n->at, "process %s(%lld) is Byzantine and has no variables", role->name,
              (long long)(p - role->first + 1));
  if (n->op == NODE_INITIAL)
    return c->local[p][role_initial_at(role, var)];
  if (n->op == NODE_ORACLE && e->round.oracles && e->round.oracles[p])
    return e->round.oracles[p][oracle_position(role, var)];
  return c->local[p][LOCAL_VAR(var)];
}

/* Evaluates an expression of another scope: its names are not those of the caller. */
static value eval_in_frame(struct eval *e, const struct node *body, value *frame) {
  value *old = e->slot;
  uint32_t *old_senders = e->slot_sender;
  e->slot = frame;
  e->slot_sender = arena_array(e->scratch, e->model->nslots + 1, sizeof *e->slot_sender);
  value v = eval_node(e, body);
  e->slot = old;
  e->slot_sender = old_senders;
  return v;
}

static value eval_call(struct eval *e, const struct node *n) {
  const struct def *def = &e->model->defs[n->index];
  if (++e->depth > DEPTH_MAX)
    eval_fail(e, n->at, "'%s' calls itself without end", def->name);
  value *frame = arena_array(e->scratch, e->model->nslots + 1, sizeof *frame);
  for (uint32_t i = 0; i < n->n; i++)
    frame[i] = eval_node(e, n->kid[i]);
  value v = eval_in_frame(e, def->body, frame);
  e->depth--;
  return v;
}

/* --- topology --- */

uint32_t role_next(const struct role *role, uint32_t me) { return role->first + (me - role->first + 1) % role->count; }

value eval_neighbours(struct eval *e) {
  return eval_in_frame(e, e->model->roles[e->role].graph,
                       arena_array(e->scratch, e->model->nslots + 1, sizeof *e->slot));
}

/* --- operators --- */

static value floor_div(value a, value b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static value eval_arithmetic(struct eval *e, const struct node *n) {
  value a = eval_node(e, n->kid[0]), b = n->n > 1 ? eval_node(e, n->kid[1]) : 0, v = 0;
  bool over = false;
  if (n->op == NODE_ADD) {
    over = __builtin_add_overflow(a, b, &v);
  } else if (n->op == NODE_SUB) {
    over = __builtin_sub_overflow(a, b, &v);
  } else if (n->op == NODE_MUL) {
    over = __builtin_mul_overflow(a, b, &v);
  } else if (n->op == NODE_NEG) {
    over = __builtin_sub_overflow((value)0, a, &v);
  } else if (b == 0) {
    eval_fail(e, n->at, "division by zero");
  } else if (b == -1) {
    over = n->op == NODE_DIV && __builtin_sub_overflow((value)0, a, &v);
  } else if (n->op == NODE_DIV) {
    v = floor_div(a, b);
  } else {
    v = a % b;
    v = v >= 0 ? v : b < 0 ? v - b : v + b;
  }
  if (over || !number_fits(v))
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
    return heard_by(e, p)[v] && !(of->op == NODE_SHO && e->round.corrupt && e->round.corrupt[p][v]);
  }
  if (of->op == NODE_RECEIVED) {
    for (uint32_t k = 0; k < e->received->n; k++)
      if (eval_forced(e, lazy_message(e, &e->received->at[k])) == v)
        return true;
    return false;
  }
  if (of->op == NODE_PENDING) {
    for (uint32_t i = 0; i < e->before->npackets; i++)
      if (packet_is_pending(e->model, &e->before->packets[i], of->index) && e->before->packets[i].message == v)
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
  return set_contains(e->values, t, c, v);
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
  if (of->op == NODE_PENDING) {
    for (uint32_t i = 0; i < e->before->npackets; i++)
      total += packet_is_pending(e->model, &e->before->packets[i], of->index);
    return (value)total;
  }
  if (of->op == NODE_HO || of->op == NODE_SHO) {
    value p = eval_node(e, of->kid[0]);
    const uint8_t *heard = heard_by(e, p);
    for (uint32_t q = 0; q < e->model->nprocesses; q++)
      total += heard[q] && !(of->op == NODE_SHO && e->round.corrupt && e->round.corrupt[p][q]);
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

/* Parameters without a fixed value can be traced only in linear terms (eval_linear). */
static value eval_param(struct eval *e, const struct node *n) {
  struct decisions *d = e->decisions;
  if (!d || !d->params || !d->open[n->index])
    return n->constant;
  if (!d->lost)
    d->lost_at = n->at;
  d->lost = true;
  return d->params[n->index];
}

static bool eval_relation(struct eval *e, const struct node *n) {
  if (e->decisions && n->kid[0]->type->kind <= TYPE_RANGE && n->kid[0]->type->kind != TYPE_BOOL) {
    value x, y;
    decide_order(e, n, &x, &y);
    switch (op_number(n->op)) {
    case NODE_EQ:
      return x == y;
    case NODE_NE:
      return x != y;
    case NODE_LT:
      return x < y;
    case NODE_LE:
      return x <= y;
    case NODE_GT:
      return x > y;
    }
    return x >= y;
  }
  value a = eval_node(e, n->kid[0]), b = eval_node(e, n->kid[1]);
  if (n->op == NODE_EQ)
    return a == b;
  if (n->op == NODE_NE)
    return a != b;
  const struct type *t = n->kid[0]->type;
  int order = t->kind <= TYPE_ROUND ? (a > b) - (a < b) : value_compare(e->values, t, a, b);
  switch (op_number(n->op)) {
  case NODE_LT:
    return order < 0;
  case NODE_LE:
    return order <= 0;
  case NODE_GT:
    return order > 0;
  }
  return order >= 0;
}

static value eval_set_operator(struct eval *e, const struct node *n) {
  value a = eval_node(e, n->kid[0]), b = eval_node(e, n->kid[1]);
  const struct type *t = n->kid[0]->type;
  switch (op_number(n->op)) {
  case NODE_UNION:
    return set_union(e->values, t, a, b);
  case NODE_INTERSECTION:
    return set_intersection(e->values, t, a, b);
  case NODE_DIFFERENCE:
    return set_difference(e->values, t, a, b);
  }
  return set_is_subset(e->values, t, a, b);
}

static value eval_domain(struct eval *e, const struct node *n) {
  const struct type *t = n->type->element;
  value set = set_empty(e->values, n->type);
  for (uint64_t i = 0; i < t->count; i++)
    set = set_insert(e->values, n->type, set, type_nth(e->values, t, i));
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
  value *parts = arena_array(e->scratch, memory_size(index->count + 1), sizeof *parts);
  for (uint64_t i = 0; i < index->count; i++) {
    e->slot[n->gen[0].slot] = type_nth(e->values, index, i);
    parts[i] = eval_node(e, n->kid[0]);
    check_in_type(e, n->type->element, parts[i], n->kid[0]->at, "value");
  }
  return value_vector(e->values, parts, (size_t)index->count);
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
  switch (op_number(n->op)) {
  case NODE_CONST:
    return n->constant;
  case NODE_PARAM:
    return eval_param(e, n);
  case NODE_SLOT:
    return eval_forced(e, e->slot[n->index]);
  case NODE_VAR:
    if (e->record.reads)
      note_read(e, n->index);
    return e->local[LOCAL_VAR(n->index)];
  case NODE_GLOBAL:
    return n->primed ? e->after->globals[n->index] : e->globals[n->index];
  case NODE_ME:
    return e->me;
  case NODE_LOOP:
    return e->model->points[e->point].loop;
  case NODE_PHASE:
    return e->phase;
  case NODE_ROUND_NUMBER:
    return e->before->rounds;
  case NODE_HEARD:
    return eval_heard(e, n);
  case NODE_FROM: {
    v = eval_from(e, n);
    return v == VALUE_NONE ? v : value_wrap(eval_forced(e, value_unwrap(v)));
  }
  case NODE_SENDER:
    return e->slot_sender[n->index];
  case NODE_RECEIVER:
    return e->slot_receiver[n->index];
  case NODE_QUIESCENT:
  case NODE_DEADLOCKED:
    if (!e->quiescence)
      eval_fail(e, n->at, "'%s' cannot be evaluated here", op_text(n->op));
    return n->op == NODE_QUIESCENT ? e->quiescence->quiescent : e->quiescence->deadlocked;
  case NODE_NUMBER_OF:
    v = eval_node(e, n->kid[0]);
    return v - (value)e->model->roles[model_role_of(e->model, v)].first + 1;
  case NODE_PROCESS_AT:
    return eval_process_at(e, n);
  case NODE_NEXT:
    return role_next(&e->model->roles[e->role], e->me);
  case NODE_NEIGHBOURS:
    return eval_neighbours(e);
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
    return process_set_of(e, n);
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
    return eval_remote(e, n);
  case NODE_HO:
  case NODE_SHO:
    return eval_heard_of(e, n);
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG:
    return eval_arithmetic(e, n);
  case NODE_NOT:
    return !eval_true(e, n->kid[0]);
  case NODE_AND:
    return eval_true(e, n->kid[0]) && eval_true(e, n->kid[1]);
  case NODE_OR:
    return eval_true(e, n->kid[0]) || eval_true(e, n->kid[1]);
  case NODE_IMPLIES:
    if (!eval_true(e, n->kid[0]))
      return true;
    coverage_mark_after(e->interp->coverage, n->kid[0]->at.to, n->kid[1]->at);
    return eval_true(e, n->kid[1]);
  case NODE_IF:
    return eval_node(e, n->kid[eval_true(e, n->kid[0]) ? 1 : 2]);
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    return eval_relation(e, n);
  case NODE_IN:
    return eval_in(e, n);
  case NODE_SUBSET:
  case NODE_UNION:
  case NODE_INTERSECTION:
  case NODE_DIFFERENCE:
    return eval_set_operator(e, n);
  case NODE_CARD:
    return eval_cardinality(e, n);
  case NODE_DOMAIN:
    return eval_domain(e, n);
  case NODE_SET:
    v = set_empty(e->values, n->type);
    for (uint32_t i = 0; i < n->n; i++)
      v = set_insert(e->values, n->type, v, eval_node(e, n->kid[i]));
    return v;
  case NODE_NARROW:
    v = eval_node(e, n->kid[0]);
    check_in_type(e, n->type, v, n->at, "value");
    return v;
  case NODE_WRAP:
    return value_wrap(eval_node(e, n->kid[0]));
  case NODE_OTHERWISE:
    if (!eval_maybe(e, n->kid[0], &v))
      return eval_node(e, n->kid[1]);
    for (uint32_t i = otherwise_wraps(n); i > 0; i--)
      v = value_wrap(v);
    return v;
  case NODE_RECORD:
  case NODE_SEQUENCE:
    return eval_parts(e, n);
  case NODE_SELECT:
    return eval_select(e, n);
  case NODE_ARRAY_OF:
    return eval_array_of(e, n);
  case NODE_INDEX:
    return eval_index(e, n);
  case NODE_APPEND:
  case NODE_FRONT:
    return eval_sequence_operator(e, n);
  case NODE_CALL:
    return eval_call(e, n);
  case NODE_RECEIVED:
  case NODE_PENDING:
  case NODE_INTERVAL:
  case NODE_SUBSETS:
    eval_fail(e, n->at, "'%s' can only be gone through", op_text(n->op));
  case NODE_ALWAYS:
  case NODE_EVENTUALLY:
  case NODE_UNTIL:
    eval_fail(e, n->at, "'%s' has no value in a single state", op_text(n->op));
  case NODE_SET_OF:
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
  case NODE_MIN:
  case NODE_MAX:
  case NODE_SUM:
  case NODE_UNION_OF:
  case NODE_PICK:
  case NODE_RANDOM:
  case NODE_MOSTFREQUENT:
  case NODE_MAJORITY:
  case NODE_FIRST:
  case NODE_LAST:
    return eval_aggregate(e, n);
  }
  eval_fail(e, n->at, "an operator that rondo does not know");
}
