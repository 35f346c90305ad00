/* Expressions, operator by operator: what sem/eval.c computes, as wires. */
#include "export/lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MOST 60
#define HERE ((struct span){0, 0})

void refuse(struct lowering *l, struct span at, const char *format, ...) {
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  diag_error(l->diags, at, "%s", text);
  longjmp(*l->refused, 1);
}

void refuse_unknown(struct lowering *l, const struct node *n) {
  refuse(l, n->at, "'%s' cannot be written in this format", op_text(n->op));
}

void refuse_type(struct lowering *l, struct span at) { refuse(l, at, "values of this type cannot be written in this format"); }

wire path_and(struct lowering *l, wire when) {
  wire old = l->path;
  l->path = circuit_and(l->circuit, old, when);
  return old;
}

void fail_if(struct lowering *l, wire when, struct span at, const char *format, ...) {
  wire fails = circuit_and(l->circuit, l->path, when);
  if (circuit_is(l->circuit, fails, 0))
    return;
  if (l->quiet) {
    l->failed = circuit_or(l->circuit, l->failed, fails);
    return;
  }
  char text[400];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  struct failure f = {fails, arena_printf(l->arena, "%s", text), at};
  if (l->rule)
    vec_push(&l->rule->failures, f);
  else
    l->program->fine = circuit_and(l->circuit, l->program->fine, circuit_not(l->circuit, fails));
}

void refuse_large(struct lowering *l, struct span at) {
  if (l->circuit->large)
    refuse(l, at, "numbers beyond %d cannot be written in this format", CIRCUIT_MOST);
}

void lower_check(struct lowering *l, const struct type *t, struct symbol s, struct span at, const char *what) {
  wire fits = symbol_fits(l, t, s);
  if (t->kind == TYPE_RANGE)
    fail_if(l, circuit_not(l->circuit, fits), at, "%s outside %lld..%lld", what, (long long)t->lo, (long long)t->hi);
  else
    fail_if(l, circuit_not(l->circuit, fits), at, "%s outside its type", what);
}

wire lower_truth(struct lowering *l, const struct node *n) { return lower_node(l, n).leaf[0]; }
wire lower_number(struct lowering *l, const struct node *n) { return lower_node(l, n).leaf[0]; }

/* --- processes --- */

static wire is_faulty(struct lowering *l, const struct local_state *s) {
  struct circuit *c = l->circuit;
  wire f = circuit_or(c, s->crashed, s->recovered);
  return circuit_or(c, f, circuit_or(c, circuit_or(c, s->omits_send, s->omits_receive), s->byzantine));
}

/* Is process p in this set: a role, `correct` or `faulty`? Quantifiers of clauses see only those that take part. */
static wire process_in_set(struct lowering *l, const struct node *n, uint32_t p, bool quantified) {
  struct circuit *c = l->circuit;
  const struct local_state *s = l->before ? &l->before->local[p] : NULL;
  if (n->op == NODE_FAULTY)
    return is_faulty(l, s);
  if (n->op == NODE_CORRECT)
    return circuit_not(c, is_faulty(l, s));
  if (n->index != ROLE_ANY && model_role_of(l->model, p) != n->index)
    return circuit_truth(c, false);
  if (!l->before || (l->heard && !quantified))
    return circuit_truth(c, true);
  return l->heard ? active(l, s) : circuit_not(c, s->byzantine);
}

static struct symbol process_set(struct lowering *l, const struct node *n) {
  struct symbol s = symbol_new(l, n->type);
  for (uint32_t p = 0; p < l->model->nprocesses; p++)
    s.leaf[p] = process_in_set(l, n, p, false);
  return s;
}

static struct symbol heard_of(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  struct symbol s = symbol_new(l, n->type);
  wire p = lower_number(l, n->kid[0]);
  for (uint32_t q = 0; q < l->model->nprocesses; q++) {
    s.leaf[q] = circuit_truth(c, false);
    for (uint32_t k = 0; k < l->model->nprocesses; k++) {
      wire in = l->heard[k][q];
      if (n->op == NODE_SHO && l->corrupt)
        in = circuit_and(c, in, circuit_not(c, l->corrupt[k][q]));
      s.leaf[q] = circuit_or(c, s.leaf[q], circuit_and(c, circuit_equal(c, p, circuit_number(c, k)), in));
    }
  }
  return s;
}

static struct symbol remote(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  const struct global_state *state = n->primed ? l->after : l->before;
  wire p = lower_number(l, n->kid[0]);
  const struct field *field = &l->model->fields[n->index];
  struct symbol result = symbol_default(l, n->type);
  for (uint32_t q = 0; q < l->model->nprocesses; q++) {
    wire here = circuit_equal(c, p, circuit_number(c, q));
    if (circuit_is(c, here, 0))
      continue;
    uint32_t r = model_role_of(l->model, q), var = field->var[r];
    const struct role *role = &l->model->roles[r];
    if (var == UINT32_MAX) {
      fail_if(l, here, n->at, "process %s(%u) has no variable '%s'", role->name, q - role->first + 1, field->name);
      continue;
    }
    fail_if(l, circuit_and(c, here, state->local[q].byzantine), n->at, "process %s(%u) is Byzantine and has no variables",
            role->name, q - role->first + 1);
    struct symbol v = n->op == NODE_INITIAL ? state->local[q].initial[var] : state->local[q].vars[var];
    result = symbol_if(l, here, symbol_as(l, v, n->type), result);
  }
  return result;
}

/* --- calls and graphs --- */

static struct symbol lower_apart(struct lowering *l, const struct node *body, struct symbol *frame) {
  struct symbol *slots = l->slot;
  wire *senders = l->slot_sender;
  l->slot = frame;
  l->slot_sender = arena_array(l->arena, l->model->nslots + 1, sizeof *l->slot_sender);
  struct symbol s = lower_node(l, body);
  l->slot = slots;
  l->slot_sender = senders;
  return s;
}

static struct symbol call(struct lowering *l, const struct node *n) {
  const struct def *def = &l->model->defs[n->index];
  if (circuit_is(l->circuit, l->path, 0)) /* nobody asks */
    return symbol_default(l, n->type);
  if (++l->depth > DEPTH_MOST)
    refuse(l, n->at, "'%s' calls itself too often to be written out", def->name);
  struct symbol *frame = arena_array(l->arena, l->model->nslots + 1, sizeof *frame);
  for (uint32_t i = 0; i < n->n; i++)
    frame[i] = lower_node(l, n->kid[i]);
  struct symbol s = lower_apart(l, def->body, frame);
  l->depth--;
  return s;
}

struct symbol neighbours_of(struct lowering *l) {
  return lower_apart(l, l->model->roles[l->role].graph, arena_array(l->arena, l->model->nslots + 1, sizeof *l->slot));
}

/* --- operators --- */

static struct symbol arithmetic(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  wire a = lower_number(l, n->kid[0]), b = n->n > 1 ? lower_number(l, n->kid[1]) : a;
  switch (op_among(n->op)) {
  case NODE_ADD: return symbol_number(l, n->type, circuit_arithmetic(c, GATE_ADD, a, b));
  case NODE_SUB: return symbol_number(l, n->type, circuit_arithmetic(c, GATE_SUB, a, b));
  case NODE_MUL: return symbol_number(l, n->type, circuit_arithmetic(c, GATE_MUL, a, b));
  case NODE_NEG: return symbol_number(l, n->type, circuit_arithmetic(c, GATE_SUB, circuit_number(c, 0), a));
  }
  if (n->op != NODE_DIV && n->op != NODE_MOD)
    refuse_unknown(l, n);
  int64_t least = node_of(c, b)->lo;
  if (least < 0 && node_of(c, b)->hi < 0 && n->op == NODE_MOD) /* a mod -b is a mod b */
    return symbol_number(l, n->type, circuit_arithmetic(c, GATE_MOD, a, circuit_arithmetic(c, GATE_SUB, circuit_number(c, 0), b)));
  if (least < 0)
    refuse(l, n->at, "a divisor that may be negative cannot be written in this format");
  wire zero = circuit_equal(c, b, circuit_number(c, 0));
  fail_if(l, zero, n->at, "division by zero");
  wire safe = circuit_if(c, zero, circuit_number(c, 1), b);
  circuit_within(c, safe, 1, INT64_MAX);
  return symbol_number(l, n->type, circuit_arithmetic(c, n->op == NODE_DIV ? GATE_DIV : GATE_MOD, a, safe));
}

static wire relation(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  struct symbol a = lower_node(l, n->kid[0]), b = lower_node(l, n->kid[1]);
  switch (op_among(n->op)) {
  case NODE_EQ: return symbol_equal(l, a, b);
  case NODE_NE: return circuit_not(c, symbol_equal(l, a, b));
  case NODE_LT: return symbol_less(l, a, b, false);
  case NODE_LE: return symbol_less(l, a, b, true);
  case NODE_GT: return symbol_less(l, b, a, false);
  case NODE_GE: return symbol_less(l, b, a, true);
  }
  refuse_unknown(l, n);
}

static wire membership(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  struct symbol v = lower_node(l, n->kid[0]);
  const struct node *of = n->kid[1];
  wire in = circuit_truth(c, false);
  if (of->op == NODE_INTERVAL) {
    wire lo = lower_number(l, of->kid[0]);
    wire first = circuit_at_most(c, lo, v.leaf[0]), old = path_and(l, first);
    wire last = circuit_at_most(c, v.leaf[0], lower_number(l, of->kid[1]));
    l->path = old;
    return circuit_and(c, first, last);
  }
  if (of->op == NODE_DOMAIN)
    return symbol_fits(l, of->type->element, v);
  if (of->op == NODE_RECEIVED) {
    for (uint32_t i = 0; i < l->nreceived; i++)
      in = circuit_or(c, in, circuit_and(c, l->received[i].when, symbol_equal(l, l->received[i].message, v)));
    return in;
  }
  struct symbol s = lower_node(l, of);
  if (of->type->kind == TYPE_OPTION)
    return circuit_and(c, s.leaf[0], symbol_equal(l, option_element(l, s), v));
  if (of->type->kind == TYPE_SEQUENCE) {
    for (uint32_t i = 0; i < (uint64_t)of->type->hi; i++)
      in = circuit_or(c, in, circuit_and(c, circuit_less(c, circuit_number(c, i), s.leaf[0]),
                                         symbol_equal(l, sequence_element(l, s, i), v)));
    return in;
  }
  return set_holds(l, s, v);
}

static wire total(struct lowering *l, const wire *leaf, uint32_t n) {
  wire sum = circuit_number(l->circuit, 0);
  for (uint32_t i = 0; i < n; i++)
    sum = circuit_arithmetic(l->circuit, GATE_ADD, sum, circuit_count(l->circuit, leaf[i]));
  return sum;
}

static wire cardinality(struct lowering *l, const struct node *of) {
  if (of->op == NODE_RECEIVED || of->op == NODE_HEARD) {
    wire sum = circuit_number(l->circuit, 0);
    for (uint32_t i = 0; i < l->nreceived; i++)
      sum = circuit_arithmetic(l->circuit, GATE_ADD, sum, circuit_count(l->circuit, l->received[i].when));
    return sum;
  }
  if (of->op == NODE_DOMAIN && of->type->element->count < UINT32_MAX)
    return circuit_number(l->circuit, (int64_t)of->type->element->count);
  struct symbol s = lower_node(l, of);
  if (of->type->kind == TYPE_OPTION)
    return circuit_count(l->circuit, s.leaf[0]);
  if (of->type->kind == TYPE_SEQUENCE)
    return s.leaf[0];
  return total(l, s.leaf, set_leaves(l, of->type));
}

static struct symbol set_operator(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  struct symbol a = lower_node(l, n->kid[0]), b = lower_node(l, n->kid[1]);
  uint32_t size = set_leaves(l, n->kid[0]->type);
  if (n->op == NODE_WITHIN) {
    wire in = circuit_truth(c, true);
    for (uint32_t i = 0; i < size; i++)
      in = circuit_and(c, in, circuit_implies(c, a.leaf[i], b.leaf[i]));
    return symbol_truth(l, in);
  }
  struct symbol s = symbol_new(l, n->type);
  for (uint32_t i = 0; i < size; i++)
    s.leaf[i] = n->op == NODE_UNITE ? circuit_or(c, a.leaf[i], b.leaf[i])
                : n->op == NODE_MEET ? circuit_and(c, a.leaf[i], b.leaf[i])
                                     : circuit_and(c, a.leaf[i], circuit_not(c, b.leaf[i]));
  return s;
}

/* --- compound values --- */

static struct symbol from_parts(struct lowering *l, const struct node *n) {
  struct symbol s = symbol_default(l, n->type);
  uint32_t at = 0;
  if (n->op == NODE_SEQUENCE) {
    if (n->n > (uint64_t)n->type->hi)
      refuse(l, n->at, "a sequence longer than its type cannot be written in this format");
    s.leaf[at++] = circuit_number(l->circuit, n->n);
  }
  for (uint32_t i = 0; i < n->n; i++) {
    const struct type *t = n->op == NODE_SEQUENCE ? n->type->element : n->type->fields[i].type;
    struct symbol part = symbol_as(l, lower_node(l, n->kid[i]), t);
    uint32_t each = type_leaves(l, t, n->at);
    memcpy(s.leaf + at, part.leaf, each * sizeof *s.leaf);
    at += each;
  }
  return s;
}

static struct symbol array_of(struct lowering *l, const struct node *n) {
  struct symbol s = symbol_new(l, n->type);
  for (uint64_t i = 0; i < n->type->index->count; i++) {
    struct symbol part = symbol_part(l, s, (uint32_t)i);
    l->slot[n->gen[0].slot] = symbol_of_value(l, n->type->index, type_nth(&l->model->values, n->type->index, i));
    struct symbol made = lower_node(l, n->kid[0]);
    lower_check(l, n->type->element, made, n->kid[0]->at, "value");
    made = symbol_as(l, made, part.type);
    memcpy(part.leaf, made.leaf, type_leaves(l, part.type, n->at) * sizeof *part.leaf);
  }
  return s;
}

static struct symbol indexed(struct lowering *l, const struct node *n) {
  const struct type *t = n->kid[0]->type;
  struct symbol i = lower_node(l, n->kid[1]), array = lower_node(l, n->kid[0]);
  lower_check(l, t->index, i, n->kid[1]->at, "index");
  struct symbol result = symbol_part(l, array, 0);
  for (uint32_t k = 1; k < t->index->count; k++) {
    struct symbol at = symbol_of_value(l, t->index, type_nth(&l->model->values, t->index, k));
    result = symbol_if(l, symbol_equal(l, i, at), symbol_part(l, array, k), result);
  }
  return symbol_as(l, result, n->type);
}

/* a ++ b, and all but the last: the length of n's type may exceed those of its parts. */
static struct symbol sequence_operator(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  struct symbol a = lower_node(l, n->kid[0]), s = symbol_default(l, n->type);
  if (n->op == NODE_FRONT) {
    fail_if(l, circuit_equal(c, a.leaf[0], circuit_number(c, 0)), n->at, "'front' of an empty sequence");
    wire less = circuit_arithmetic(c, GATE_SUB, a.leaf[0], circuit_number(c, 1));
    wire length = circuit_if(c, circuit_equal(c, a.leaf[0], circuit_number(c, 0)), circuit_number(c, 0), less);
    circuit_within(c, length, 0, INT64_MAX);
    for (uint32_t i = 0; i < (uint64_t)n->kid[0]->type->hi && i < (uint64_t)n->type->hi; i++) {
      struct symbol to = sequence_element(l, s, i);
      struct symbol v = symbol_if(l, circuit_less(c, circuit_number(c, i), length), sequence_element(l, a, i), to);
      memcpy(to.leaf, v.leaf, type_leaves(l, to.type, n->at) * sizeof *to.leaf);
    }
    s.leaf[0] = length;
    return s;
  }
  struct symbol b = lower_node(l, n->kid[1]);
  uint32_t na = (uint32_t)n->kid[0]->type->hi, nb = (uint32_t)n->kid[1]->type->hi, most = (uint32_t)n->type->hi;
  wire length = circuit_arithmetic(c, GATE_ADD, a.leaf[0], b.leaf[0]);
  fail_if(l, circuit_less(c, circuit_number(c, most), length), n->at, "a sequence longer than its type");
  for (uint32_t i = 0; i < most; i++) {
    struct symbol to = sequence_element(l, s, i), v = to;
    if (i < na)
      v = symbol_if(l, circuit_less(c, circuit_number(c, i), a.leaf[0]), sequence_element(l, a, i), v);
    for (uint32_t k = 0; k < nb && k <= i; k++) { /* b's k-th stands here if a is i - k long */
      wire here = circuit_and(c, circuit_equal(c, a.leaf[0], circuit_number(c, i - k)),
                              circuit_less(c, circuit_number(c, k), b.leaf[0]));
      v = symbol_if(l, here, symbol_as(l, sequence_element(l, b, k), v.type), v);
    }
    memcpy(to.leaf, v.leaf, type_leaves(l, to.type, n->at) * sizeof *to.leaf);
  }
  s.leaf[0] = length;
  return s;
}

static struct symbol from_sender(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  wire q = lower_number(l, n->kid[0]), there = circuit_truth(c, false);
  struct symbol message = symbol_default(l, n->type->element);
  for (uint32_t i = 0; i < l->nreceived; i++) {
    wire here = circuit_and(c, l->received[i].when, circuit_equal(c, q, circuit_number(c, l->received[i].sender)));
    there = circuit_or(c, there, here);
    message = symbol_if(l, here, l->received[i].message, message);
  }
  return symbol_option(l, n->type, there, message);
}

static struct symbol process_at(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  const struct role *role = &l->model->roles[n->index];
  wire i = circuit_arithmetic(c, GATE_SUB, lower_number(l, n->kid[0]), circuit_number(c, 1));
  i = circuit_arithmetic(c, GATE_MOD, i, circuit_number(c, role->count));
  return symbol_number(l, n->type, circuit_arithmetic(c, GATE_ADD, i, circuit_number(c, role->first)));
}

static wire number_of(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  wire p = lower_number(l, n->kid[0]), first = circuit_number(c, 0);
  for (uint32_t r = 0; r < l->model->nroles; r++)
    first = circuit_if(c, circuit_less(c, p, circuit_number(c, l->model->roles[r].first)), first,
                       circuit_number(c, l->model->roles[r].first));
  return circuit_arithmetic(c, GATE_ADD, circuit_arithmetic(c, GATE_SUB, p, first), circuit_number(c, 1));
}

/* The right side is looked at only where the left one does not decide. */
static wire connective(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  wire a = lower_truth(l, n->kid[0]);
  wire old = path_and(l, n->op == NODE_OR ? circuit_not(c, a) : a);
  wire b = circuit_is(c, l->path, 0) ? circuit_truth(c, false) : lower_truth(l, n->kid[1]);
  if (circuit_is(c, l->path, 0)) /* the left one decides */
    b = circuit_truth(c, n->op == NODE_IMPLIES);
  l->path = old;
  return n->op == NODE_AND ? circuit_and(c, a, b) : n->op == NODE_OR ? circuit_or(c, a, b) : circuit_implies(c, a, b);
}

static struct symbol conditional(struct lowering *l, const struct node *n) {
  wire when = lower_truth(l, n->kid[0]), old = path_and(l, when);
  if (circuit_is(l->circuit, when, 1) || circuit_is(l->circuit, when, 0)) {
    l->path = old;
    return lower_node(l, n->kid[circuit_is(l->circuit, when, 1) ? 1 : 2]);
  }
  struct symbol a = lower_node(l, n->kid[1]);
  l->path = old;
  path_and(l, circuit_not(l->circuit, when));
  struct symbol b = lower_node(l, n->kid[2]);
  l->path = old;
  return symbol_as(l, symbol_if(l, when, a, b), n->type);
}

static struct symbol otherwise(struct lowering *l, const struct node *n) {
  struct symbol v;
  wire there = lower_maybe(l, n->kid[0], &v), old = path_and(l, circuit_not(l->circuit, there));
  if (circuit_is(l->circuit, there, 1)) {
    l->path = old;
    return v;
  }
  struct symbol other = lower_node(l, n->kid[1]);
  l->path = old;
  return symbol_as(l, symbol_if(l, there, v, other), n->type);
}

static struct symbol set_of_members(struct lowering *l, const struct node *n) {
  struct symbol s = symbol_default(l, n->type);
  for (uint32_t i = 0; i < n->n; i++)
    set_add(l, s, circuit_truth(l->circuit, true), lower_node(l, n->kid[i]));
  return s;
}

static struct symbol heard_set(struct lowering *l, const struct node *n) {
  struct symbol s = symbol_default(l, n->type);
  for (uint32_t i = 0; i < l->nreceived; i++)
    s.leaf[l->received[i].sender] = circuit_or(l->circuit, s.leaf[l->received[i].sender], l->received[i].when);
  return s;
}

static struct symbol whole_domain(struct lowering *l, const struct node *n) {
  struct symbol s = symbol_new(l, n->type);
  for (uint32_t i = 0; i < set_leaves(l, n->type); i++)
    s.leaf[i] = circuit_truth(l->circuit, n->type->element->kind != TYPE_PROCESS ||
                                              (i >= n->type->element->first &&
                                               i < (uint64_t)n->type->element->first + n->type->element->count));
  return s;
}

static struct symbol number(struct lowering *l, const struct node *n, wire w) { return symbol_number(l, n->type, w); }

struct symbol lower_node(struct lowering *l, const struct node *n) {
  struct circuit *c = l->circuit;
  switch (n->op) {
  case NODE_CONST:
  case NODE_PARAM: return symbol_of_value(l, n->type, n->constant);
  case NODE_SLOT: return l->slot[n->index];
  case NODE_VAR: return l->self->vars[n->index];
  case NODE_GLOBAL: return n->primed ? l->after->globals[n->index] : l->globals[n->index];
  case NODE_ME: return number(l, n, circuit_number(c, l->me));
  case NODE_LOOP: return number(l, n, circuit_number(c, l->model->points[l->point].loop));
  case NODE_PHASE: return number(l, n, l->phase);
  case NODE_ROUND_NUMBER: return number(l, n, l->before->rounds);
  case NODE_HEARD: return heard_set(l, n);
  case NODE_FROM: return from_sender(l, n);
  case NODE_SENDER: return number(l, n, l->slot_sender[n->index]);
  case NODE_NUMBER_OF: return number(l, n, number_of(l, n));
  case NODE_PROCESS_AT: return process_at(l, n);
  case NODE_NEXT: {
    const struct role *role = &l->model->roles[l->role];
    return number(l, n, circuit_number(c, role->first + (l->me - role->first + 1) % role->count));
  }
  case NODE_NEIGHBOURS: return neighbours_of(l);
  case NODE_ROLE_SET:
  case NODE_CORRECT:
  case NODE_FAULTY: return process_set(l, n);
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE: return remote(l, n);
  case NODE_HO:
  case NODE_SHO: return heard_of(l, n);
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_DIV:
  case NODE_MOD:
  case NODE_NEG: {
    struct symbol s = arithmetic(l, n);
    refuse_large(l, n->at);
    return s;
  }
  case NODE_NOT: return symbol_truth(l, circuit_not(c, lower_truth(l, n->kid[0])));
  case NODE_AND:
  case NODE_OR:
  case NODE_IMPLIES: return symbol_truth(l, connective(l, n));
  case NODE_IF: return conditional(l, n);
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE: return symbol_truth(l, relation(l, n));
  case NODE_IN: return symbol_truth(l, membership(l, n));
  case NODE_WITHIN:
  case NODE_UNITE:
  case NODE_MEET:
  case NODE_MINUS: return set_operator(l, n);
  case NODE_CARD: return number(l, n, cardinality(l, n->kid[0]));
  case NODE_DOMAIN: return whole_domain(l, n);
  case NODE_SET: return set_of_members(l, n);
  case NODE_NARROW: {
    struct symbol s = lower_node(l, n->kid[0]);
    lower_check(l, n->type, s, n->at, "value");
    return symbol_as(l, s, n->type);
  }
  case NODE_WRAP:
    return symbol_option(l, n->type, circuit_truth(c, true), symbol_as(l, lower_node(l, n->kid[0]), n->type->element));
  case NODE_OTHERWISE: return otherwise(l, n);
  case NODE_RECORD:
  case NODE_SEQUENCE: return from_parts(l, n);
  case NODE_SELECT: return symbol_as(l, symbol_part(l, symbol_as(l, lower_node(l, n->kid[0]), n->kid[0]->type), n->index), n->type);
  case NODE_ARRAY_OF: return array_of(l, n);
  case NODE_INDEX: return indexed(l, n);
  case NODE_APPEND:
  case NODE_FRONT: return sequence_operator(l, n);
  case NODE_CALL: return call(l, n);
  case NODE_RECEIVED:
  case NODE_INTERVAL:
  case NODE_SUBSETS:
  case NODE_ALWAYS:
  case NODE_EVENTUALLY:
  case NODE_UNTIL: break;
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
  case NODE_LAST: return lower_aggregate(l, n);
  case NODE_OPS: break;
  }
  refuse_unknown(l, n);
}
