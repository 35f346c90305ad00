/* Expressions, operator by operator: the symbolic counterpart of interp/eval.c. */
#include "export/lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MOST 60
#define HERE ((struct span){0, 0})

void refuse(struct model_lowering *l, struct span at, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  diag_error(l->diags, at, "%s", text);
  longjmp(*l->refused, 1);
}

void refuse_unknown(struct model_lowering *l, const struct node *n) {
  refuse(l, n->at, "'%s' cannot be written in this format", op_text(n->op));
}

void refuse_type(struct model_lowering *l, struct span at) {
  refuse(l, at, "values of this type cannot be written in this format");
}

expr_id path_and(struct model_lowering *l, expr_id when) {
  expr_id old = l->path;
  l->path = expr_and(l->expr_graph, old, when);
  return old;
}

void fail_if(struct model_lowering *l, expr_id when, struct span at, const char *format, ...) {
  expr_id fails = expr_and(l->expr_graph, l->path, when);
  if (expr_is_constant(l->expr_graph, fails, 0))
    return;
  if (l->failure_is_false) {
    l->failed = expr_or(l->expr_graph, l->failed, fails);
    return;
  }
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  struct rule_failure f = {fails, arena_printf(l->arena, "%s", text), at};
  if (l->rule)
    vec_push(&l->rule->failures, f);
  else
    l->program->well_defined = expr_and(l->expr_graph, l->program->well_defined, expr_not(l->expr_graph, fails));
}

void refuse_large(struct model_lowering *l, struct span at) {
  if (l->expr_graph->large)
    refuse(l, at, "numbers beyond %d cannot be written in this format", EXPR_NUMBER_MOST);
}

void lower_check(struct model_lowering *l, const struct type *t, struct flat_value s, struct span at,
                 const char *what) {
  expr_id fits = flat_fits(l, t, s);
  if (t->kind == TYPE_RANGE)
    fail_if(l, expr_not(l->expr_graph, fits), at, "%s outside %lld..%lld", what, (long long)t->lo, (long long)t->hi);
  else
    fail_if(l, expr_not(l->expr_graph, fits), at, "%s outside its type", what);
}

expr_id lower_truth(struct model_lowering *l, const struct node *n) { return lower_node(l, n).leaf[0]; }
expr_id lower_number(struct model_lowering *l, const struct node *n) { return lower_node(l, n).leaf[0]; }

/* --- processes --- */

static expr_id is_faulty(struct model_lowering *l, const struct local_state *s) {
  struct expr_graph *c = l->expr_graph;
  expr_id f = expr_or(c, s->crashed, s->recovered);
  return expr_or(c, f, expr_or(c, expr_or(c, s->omits_send, s->omits_receive), s->byzantine));
}

/* Is process p in this set: a role, `correct` or `faulty`? Quantifiers in environment clauses range over participating
   processes only. */
static expr_id process_in_set(struct model_lowering *l, const struct node *n, uint32_t p, bool quantified) {
  struct expr_graph *c = l->expr_graph;
  const struct local_state *s = l->before ? &l->before->local[p] : NULL;
  if (n->op == NODE_FAULTY)
    return is_faulty(l, s);
  if (n->op == NODE_CORRECT)
    return expr_not(c, is_faulty(l, s));
  if (n->index != ROLE_ANY && model_role_of(l->model, p) != n->index)
    return expr_truth(c, false);
  if (!l->before || (l->heard && !quantified))
    return expr_truth(c, true);
  return l->heard ? active(l, s) : expr_not(c, s->byzantine);
}

static struct flat_value process_set(struct model_lowering *l, const struct node *n) {
  struct flat_value s = flat_new(l, n->type);
  for (uint32_t p = 0; p < l->model->nprocesses; p++)
    s.leaf[p] = process_in_set(l, n, p, false);
  return s;
}

static struct flat_value heard_of(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value s = flat_new(l, n->type);
  expr_id p = lower_number(l, n->kid[0]);
  for (uint32_t q = 0; q < l->model->nprocesses; q++) {
    s.leaf[q] = expr_truth(c, false);
    for (uint32_t k = 0; k < l->model->nprocesses; k++) {
      expr_id in = l->heard[k][q];
      if (n->op == NODE_SHO && l->corrupt)
        in = expr_and(c, in, expr_not(c, l->corrupt[k][q]));
      s.leaf[q] = expr_or(c, s.leaf[q], expr_and(c, expr_equal(c, p, expr_number(c, k)), in));
    }
  }
  return s;
}

static struct flat_value remote(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  const struct global_state *state = n->primed ? l->after : l->before;
  expr_id p = lower_number(l, n->kid[0]);
  const struct field *field = &l->model->fields[n->index];
  struct flat_value result = flat_default(l, n->type);
  for (uint32_t q = 0; q < l->model->nprocesses; q++) {
    expr_id here = expr_equal(c, p, expr_number(c, q));
    if (expr_is_constant(c, here, 0))
      continue;
    uint32_t r = model_role_of(l->model, q), var = field->var[r];
    const struct role *role = &l->model->roles[r];
    if (var == UINT32_MAX) {
      fail_if(l, here, n->at, "process %s(%u) has no variable '%s'", role->name, q - role->first + 1, field->name);
      continue;
    }
    fail_if(l, expr_and(c, here, state->local[q].byzantine), n->at, "process %s(%u) is Byzantine and has no variables",
            role->name, q - role->first + 1);
    struct flat_value v = n->op == NODE_INITIAL ? state->local[q].initial[var] : state->local[q].vars[var];
    result = flat_if(l, here, flat_as(l, v, n->type), result);
  }
  return result;
}

/* --- calls and graphs --- */

static struct flat_value lower_apart(struct model_lowering *l, const struct node *body, struct flat_value *frame) {
  struct flat_value *slots = l->slot;
  expr_id *senders = l->slot_sender;
  l->slot = frame;
  l->slot_sender = arena_array(l->arena, l->model->nslots + 1, sizeof *l->slot_sender);
  struct flat_value s = lower_node(l, body);
  l->slot = slots;
  l->slot_sender = senders;
  return s;
}

static struct flat_value call(struct model_lowering *l, const struct node *n) {
  const struct def *def = &l->model->defs[n->index];
  if (expr_is_constant(l->expr_graph, l->path, 0)) /* never evaluated */
    return flat_default(l, n->type);
  if (++l->depth > DEPTH_MOST)
    refuse(l, n->at, "'%s' calls itself too often to be written out", def->name);
  struct flat_value *frame = arena_array(l->arena, l->model->nslots + 1, sizeof *frame);
  for (uint32_t i = 0; i < n->n; i++)
    frame[i] = lower_node(l, n->kid[i]);
  struct flat_value s = lower_apart(l, def->body, frame);
  l->depth--;
  return s;
}

struct flat_value neighbours_of(struct model_lowering *l) {
  return lower_apart(l, l->model->roles[l->role].graph, arena_array(l->arena, l->model->nslots + 1, sizeof *l->slot));
}

/* --- operators --- */

static struct flat_value arithmetic(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  expr_id a = lower_number(l, n->kid[0]), b = n->n > 1 ? lower_number(l, n->kid[1]) : a;
  switch (op_number(n->op)) {
  case NODE_ADD:
    return flat_number(l, n->type, expr_arithmetic(c, EXPR_ADD, a, b));
  case NODE_SUB:
    return flat_number(l, n->type, expr_arithmetic(c, EXPR_SUB, a, b));
  case NODE_MUL:
    return flat_number(l, n->type, expr_arithmetic(c, EXPR_MUL, a, b));
  case NODE_NEG:
    return flat_number(l, n->type, expr_arithmetic(c, EXPR_SUB, expr_number(c, 0), a));
  }
  if (n->op != NODE_DIV && n->op != NODE_MOD)
    refuse_unknown(l, n);
  int64_t least = node_of(c, b)->lo;
  if (least < 0 && node_of(c, b)->hi < 0 && n->op == NODE_MOD) /* a mod -b equals a mod b */
    return flat_number(l, n->type, expr_arithmetic(c, EXPR_MOD, a, expr_arithmetic(c, EXPR_SUB, expr_number(c, 0), b)));
  if (least < 0)
    refuse(l, n->at, "a divisor that may be negative cannot be written in this format");
  expr_id zero = expr_equal(c, b, expr_number(c, 0));
  fail_if(l, zero, n->at, "division by zero");
  expr_id safe = expr_ite(c, zero, expr_number(c, 1), b);
  expr_assert_bounds(c, safe, 1, INT64_MAX);
  return flat_number(l, n->type, expr_arithmetic(c, n->op == NODE_DIV ? EXPR_DIV : EXPR_MOD, a, safe));
}

static expr_id relation(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value a = lower_node(l, n->kid[0]), b = lower_node(l, n->kid[1]);
  switch (op_number(n->op)) {
  case NODE_EQ:
    return flat_equal(l, a, b);
  case NODE_NE:
    return expr_not(c, flat_equal(l, a, b));
  case NODE_LT:
    return flat_less(l, a, b, false);
  case NODE_LE:
    return flat_less(l, a, b, true);
  case NODE_GT:
    return flat_less(l, b, a, false);
  case NODE_GE:
    return flat_less(l, b, a, true);
  }
  refuse_unknown(l, n);
}

static expr_id membership(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value v = lower_node(l, n->kid[0]);
  const struct node *of = n->kid[1];
  expr_id in = expr_truth(c, false);
  if (of->op == NODE_INTERVAL) {
    expr_id lo = lower_number(l, of->kid[0]);
    expr_id first = expr_at_most(c, lo, v.leaf[0]), old = path_and(l, first);
    expr_id last = expr_at_most(c, v.leaf[0], lower_number(l, of->kid[1]));
    l->path = old;
    return expr_and(c, first, last);
  }
  if (of->op == NODE_DOMAIN)
    return flat_fits(l, of->type->element, v);
  if (of->op == NODE_RECEIVED) {
    for (uint32_t i = 0; i < l->nreceived; i++)
      in = expr_or(c, in, expr_and(c, l->received[i].when, flat_equal(l, l->received[i].message, v)));
    return in;
  }
  struct flat_value s = lower_node(l, of);
  if (of->type->kind == TYPE_OPTION)
    return expr_and(c, s.leaf[0], flat_equal(l, option_element(l, s), v));
  if (of->type->kind == TYPE_SEQUENCE) {
    for (uint32_t i = 0; i < (uint64_t)of->type->hi; i++)
      in = expr_or(
          c, in, expr_and(c, expr_less(c, expr_number(c, i), s.leaf[0]), flat_equal(l, sequence_element(l, s, i), v)));
    return in;
  }
  return flat_set_has(l, s, v);
}

static expr_id total(struct model_lowering *l, const expr_id *leaf, uint32_t n) {
  expr_id sum = expr_number(l->expr_graph, 0);
  for (uint32_t i = 0; i < n; i++)
    sum = expr_arithmetic(l->expr_graph, EXPR_ADD, sum, expr_bool_to_int(l->expr_graph, leaf[i]));
  return sum;
}

static expr_id cardinality(struct model_lowering *l, const struct node *of) {
  if (of->op == NODE_RECEIVED || of->op == NODE_HEARD) {
    expr_id sum = expr_number(l->expr_graph, 0);
    for (uint32_t i = 0; i < l->nreceived; i++)
      sum = expr_arithmetic(l->expr_graph, EXPR_ADD, sum, expr_bool_to_int(l->expr_graph, l->received[i].when));
    return sum;
  }
  if (of->op == NODE_DOMAIN && of->type->element->count < UINT32_MAX)
    return expr_number(l->expr_graph, (int64_t)of->type->element->count);
  struct flat_value s = lower_node(l, of);
  if (of->type->kind == TYPE_OPTION)
    return expr_bool_to_int(l->expr_graph, s.leaf[0]);
  if (of->type->kind == TYPE_SEQUENCE)
    return s.leaf[0];
  return total(l, s.leaf, flat_set_leaves(l, of->type));
}

static struct flat_value set_operator(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value a = lower_node(l, n->kid[0]), b = lower_node(l, n->kid[1]);
  if (n->op != NODE_SUBSET) /* the result type has room for the members of both */
    a = flat_as(l, a, n->type);
  b = flat_as(l, b, a.type); /* otherwise only members that a can have matter */
  uint32_t size = flat_set_leaves(l, a.type);
  if (n->op == NODE_SUBSET) {
    expr_id in = expr_truth(c, true);
    for (uint32_t i = 0; i < size; i++)
      in = expr_and(c, in, expr_implies(c, a.leaf[i], b.leaf[i]));
    return flat_truth(l, in);
  }
  struct flat_value s = flat_new(l, n->type);
  for (uint32_t i = 0; i < size; i++)
    s.leaf[i] = n->op == NODE_UNION          ? expr_or(c, a.leaf[i], b.leaf[i])
                : n->op == NODE_INTERSECTION ? expr_and(c, a.leaf[i], b.leaf[i])
                                             : expr_and(c, a.leaf[i], expr_not(c, b.leaf[i]));
  return s;
}

/* --- compound values --- */

static struct flat_value from_parts(struct model_lowering *l, const struct node *n) {
  struct flat_value s = flat_default(l, n->type);
  uint32_t at = 0;
  if (n->op == NODE_SEQUENCE) {
    if (n->n > (uint64_t)n->type->hi)
      refuse(l, n->at, "a sequence longer than its type cannot be written in this format");
    s.leaf[at++] = expr_number(l->expr_graph, n->n);
  }
  for (uint32_t i = 0; i < n->n; i++) {
    const struct type *t = n->op == NODE_SEQUENCE ? n->type->element : n->type->fields[i].type;
    struct flat_value part = flat_as(l, lower_node(l, n->kid[i]), t);
    uint32_t each = type_leaves(l, t, n->at);
    memcpy(s.leaf + at, part.leaf, each * sizeof *s.leaf);
    at += each;
  }
  return s;
}

static struct flat_value array_of(struct model_lowering *l, const struct node *n) {
  struct flat_value s = flat_new(l, n->type);
  for (uint64_t i = 0; i < n->type->index->count; i++) {
    struct flat_value part = flat_part(l, s, (uint32_t)i);
    l->slot[n->gen[0].slot] = flat_of_value(l, n->type->index, type_nth(&l->model->values, n->type->index, i));
    struct flat_value made = lower_node(l, n->kid[0]);
    lower_check(l, n->type->element, made, n->kid[0]->at, "value");
    made = flat_as(l, made, part.type);
    memcpy(part.leaf, made.leaf, type_leaves(l, part.type, n->at) * sizeof *part.leaf);
  }
  return s;
}

static struct flat_value indexed(struct model_lowering *l, const struct node *n) {
  const struct type *t = n->kid[0]->type;
  struct flat_value i = lower_node(l, n->kid[1]), array = lower_node(l, n->kid[0]);
  lower_check(l, t->index, i, n->kid[1]->at, "index");
  struct flat_value result = flat_part(l, array, 0);
  for (uint32_t k = 1; k < t->index->count; k++) {
    struct flat_value at = flat_of_value(l, t->index, type_nth(&l->model->values, t->index, k));
    result = flat_if(l, flat_equal(l, i, at), flat_part(l, array, k), result);
  }
  return flat_as(l, result, n->type);
}

/* a ++ b, and all but the last element. The maximal length of n's type may exceed that of its operands. */
static struct flat_value sequence_operator(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value a = lower_node(l, n->kid[0]), s = flat_default(l, n->type);
  if (n->op == NODE_FRONT) {
    fail_if(l, expr_equal(c, a.leaf[0], expr_number(c, 0)), n->at, "'front' of an empty sequence");
    expr_id less = expr_arithmetic(c, EXPR_SUB, a.leaf[0], expr_number(c, 1));
    expr_id length = expr_ite(c, expr_equal(c, a.leaf[0], expr_number(c, 0)), expr_number(c, 0), less);
    expr_assert_bounds(c, length, 0, INT64_MAX);
    for (uint32_t i = 0; i < (uint64_t)n->kid[0]->type->hi && i < (uint64_t)n->type->hi; i++) {
      struct flat_value to = sequence_element(l, s, i);
      struct flat_value v = flat_if(l, expr_less(c, expr_number(c, i), length), sequence_element(l, a, i), to);
      memcpy(to.leaf, v.leaf, type_leaves(l, to.type, n->at) * sizeof *to.leaf);
    }
    s.leaf[0] = length;
    return s;
  }
  struct flat_value b = lower_node(l, n->kid[1]);
  uint32_t na = (uint32_t)n->kid[0]->type->hi, nb = (uint32_t)n->kid[1]->type->hi, most = (uint32_t)n->type->hi;
  expr_id length = expr_arithmetic(c, EXPR_ADD, a.leaf[0], b.leaf[0]);
  fail_if(l, expr_less(c, expr_number(c, most), length), n->at, "a sequence longer than its type");
  for (uint32_t i = 0; i < most; i++) {
    struct flat_value to = sequence_element(l, s, i), v = to;
    if (i < na)
      v = flat_if(l, expr_less(c, expr_number(c, i), a.leaf[0]), sequence_element(l, a, i), v);
    for (uint32_t k = 0; k < nb && k <= i; k++) { /* the k-th element of b is here if a has length i - k */
      expr_id here =
          expr_and(c, expr_equal(c, a.leaf[0], expr_number(c, i - k)), expr_less(c, expr_number(c, k), b.leaf[0]));
      v = flat_if(l, here, flat_as(l, sequence_element(l, b, k), v.type), v);
    }
    memcpy(to.leaf, v.leaf, type_leaves(l, to.type, n->at) * sizeof *to.leaf);
  }
  s.leaf[0] = length;
  return s;
}

static struct flat_value from_sender(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  expr_id q = lower_number(l, n->kid[0]), there = expr_truth(c, false);
  struct flat_value message = flat_default(l, n->type->element);
  for (uint32_t i = 0; i < l->nreceived; i++) {
    expr_id here = expr_and(c, l->received[i].when, expr_equal(c, q, expr_number(c, l->received[i].sender)));
    there = expr_or(c, there, here);
    message = flat_if(l, here, l->received[i].message, message);
  }
  return flat_option(l, n->type, there, message);
}

static struct flat_value process_at(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  const struct role *role = &l->model->roles[n->index];
  expr_id i = expr_arithmetic(c, EXPR_SUB, lower_number(l, n->kid[0]), expr_number(c, 1));
  i = expr_arithmetic(c, EXPR_MOD, i, expr_number(c, role->count));
  return flat_number(l, n->type, expr_arithmetic(c, EXPR_ADD, i, expr_number(c, role->first)));
}

static expr_id number_of(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  expr_id p = lower_number(l, n->kid[0]), first = expr_number(c, 0);
  for (uint32_t r = 0; r < l->model->nroles; r++)
    first = expr_ite(c, expr_less(c, p, expr_number(c, l->model->roles[r].first)), first,
                     expr_number(c, l->model->roles[r].first));
  return expr_arithmetic(c, EXPR_ADD, expr_arithmetic(c, EXPR_SUB, p, first), expr_number(c, 1));
}

/* Short circuit: the right side is evaluated only where the left side does not decide. */
static expr_id connective(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  expr_id a = lower_truth(l, n->kid[0]);
  expr_id old = path_and(l, n->op == NODE_OR ? expr_not(c, a) : a);
  expr_id b = expr_is_constant(c, l->path, 0) ? expr_truth(c, false) : lower_truth(l, n->kid[1]);
  if (expr_is_constant(c, l->path, 0)) /* the left side decides */
    b = expr_truth(c, n->op == NODE_IMPLIES);
  l->path = old;
  return n->op == NODE_AND ? expr_and(c, a, b) : n->op == NODE_OR ? expr_or(c, a, b) : expr_implies(c, a, b);
}

static struct flat_value conditional(struct model_lowering *l, const struct node *n) {
  expr_id when = lower_truth(l, n->kid[0]), old = path_and(l, when);
  if (expr_is_constant(l->expr_graph, when, 1) || expr_is_constant(l->expr_graph, when, 0)) {
    l->path = old;
    return lower_node(l, n->kid[expr_is_constant(l->expr_graph, when, 1) ? 1 : 2]);
  }
  struct flat_value a = lower_node(l, n->kid[1]);
  l->path = old;
  path_and(l, expr_not(l->expr_graph, when));
  struct flat_value b = lower_node(l, n->kid[2]);
  l->path = old;
  return flat_if(l, when, flat_as(l, a, n->type), flat_as(l, b, n->type));
}

static struct flat_value otherwise(struct model_lowering *l, const struct node *n) {
  struct flat_value v;
  expr_id there = lower_maybe(l, n->kid[0], &v), old = path_and(l, expr_not(l->expr_graph, there));
  if (expr_is_constant(l->expr_graph, there, 1)) {
    l->path = old;
    return v;
  }
  struct flat_value other = lower_node(l, n->kid[1]);
  l->path = old;
  return flat_if(l, there, flat_as(l, v, n->type), flat_as(l, other, n->type));
}

static struct flat_value set_of_members(struct model_lowering *l, const struct node *n) {
  struct flat_value s = flat_default(l, n->type);
  for (uint32_t i = 0; i < n->n; i++)
    flat_set_add(l, s, expr_truth(l->expr_graph, true), lower_node(l, n->kid[i]));
  return s;
}

static struct flat_value heard_set(struct model_lowering *l, const struct node *n) {
  struct flat_value s = flat_default(l, n->type);
  for (uint32_t i = 0; i < l->nreceived; i++)
    s.leaf[l->received[i].sender] = expr_or(l->expr_graph, s.leaf[l->received[i].sender], l->received[i].when);
  return s;
}

static struct flat_value whole_domain(struct model_lowering *l, const struct node *n) {
  struct flat_value s = flat_new(l, n->type);
  for (uint32_t i = 0; i < flat_set_leaves(l, n->type); i++)
    s.leaf[i] = expr_truth(l->expr_graph, n->type->element->kind != TYPE_PROCESS ||
                                              (i >= n->type->element->first &&
                                               i < (uint64_t)n->type->element->first + n->type->element->count));
  return s;
}

static struct flat_value number(struct model_lowering *l, const struct node *n, expr_id w) {
  return flat_number(l, n->type, w);
}

static struct flat_value lower_operator(struct model_lowering *l, const struct node *n) {
  struct expr_graph *c = l->expr_graph;
  switch (n->op) {
  case NODE_CONST:
  case NODE_PARAM:
    return flat_of_value(l, n->type, n->constant);
  case NODE_SLOT:
    return l->slot[n->index];
  case NODE_VAR:
    return l->self->vars[n->index];
  case NODE_GLOBAL:
    return n->primed ? l->after->globals[n->index] : l->globals[n->index];
  case NODE_ME:
    return number(l, n, expr_number(c, l->me));
  case NODE_LOOP:
    return number(l, n, expr_number(c, l->model->points[l->point].loop));
  case NODE_PHASE:
    return number(l, n, l->phase);
  case NODE_ROUND_NUMBER:
    return number(l, n, l->before->rounds);
  case NODE_HEARD:
    return heard_set(l, n);
  case NODE_FROM:
    return from_sender(l, n);
  case NODE_SENDER:
    return number(l, n, l->slot_sender[n->index]);
  case NODE_NUMBER_OF:
    return number(l, n, number_of(l, n));
  case NODE_PROCESS_AT:
    return process_at(l, n);
  case NODE_NEXT: {
    const struct role *role = &l->model->roles[l->role];
    return number(l, n, expr_number(c, role->first + (l->me - role->first + 1) % role->count));
  }
  case NODE_NEIGHBOURS:
    return neighbours_of(l);
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY:
    return process_set(l, n);
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
    return remote(l, n);
  case NODE_HO:
  case NODE_SHO:
    return heard_of(l, n);
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG: {
    struct flat_value s = arithmetic(l, n);
    refuse_large(l, n->at);
    return s;
  }
  case NODE_NOT:
    return flat_truth(l, expr_not(c, lower_truth(l, n->kid[0])));
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES:
    return flat_truth(l, connective(l, n));
  case NODE_IF:
    return conditional(l, n);
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    return flat_truth(l, relation(l, n));
  case NODE_IN:
    return flat_truth(l, membership(l, n));
  case NODE_SUBSET:
  case NODE_UNION:
  case NODE_INTERSECTION:
  case NODE_DIFFERENCE:
    return set_operator(l, n);
  case NODE_CARD:
    return number(l, n, cardinality(l, n->kid[0]));
  case NODE_DOMAIN:
    return whole_domain(l, n);
  case NODE_SET:
    return set_of_members(l, n);
  case NODE_NARROW: {
    struct flat_value s = lower_node(l, n->kid[0]);
    lower_check(l, n->type, s, n->at, "value");
    return flat_as(l, s, n->type);
  }
  case NODE_WRAP:
    return flat_option(l, n->type, expr_truth(c, true), flat_as(l, lower_node(l, n->kid[0]), n->type->element));
  case NODE_OTHERWISE:
    return otherwise(l, n);
  case NODE_RECORD:
  case NODE_SEQUENCE:
    return from_parts(l, n);
  case NODE_SELECT:
    return flat_as(l, flat_part(l, flat_as(l, lower_node(l, n->kid[0]), n->kid[0]->type), n->index), n->type);
  case NODE_ARRAY_OF:
    return array_of(l, n);
  case NODE_INDEX:
    return indexed(l, n);
  case NODE_APPEND:
  case NODE_FRONT:
    return sequence_operator(l, n);
  case NODE_CALL:
    return call(l, n);
  case NODE_RECEIVED:
  case NODE_INTERVAL:
  case NODE_SUBSETS:
  case NODE_ALWAYS:
  case NODE_EVENTUALLY:
  case NODE_UNTIL:
    break;
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
    return lower_aggregate(l, n);
  case NODE_OPS:
    break;
  }
  refuse_unknown(l, n);
}

/* The result has the layout of the node's type. A subexpression may have a smaller type. */
struct flat_value lower_node(struct model_lowering *l, const struct node *n) {
  struct flat_value s = lower_operator(l, n);
  return s.type ? flat_as(l, s, n->type) : s;
}
