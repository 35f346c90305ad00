/* The lowering as solvers need it: fresh variables for free values and choices, and their values in a solver's model.
 */
#include "symbolic/encode.h"

#include <stdio.h>
#include <string.h>

/* ---- choices ---- */

/* A fresh number per choice. Facts restrict it to alternatives whose guard holds, if there are any. */
static void choose(struct scope *s, const char *name, const truth *guard, size_t n, truth *which) {
  struct terms *t = &encoder_of(s)->t;
  truth any = truth_any(&t->graph, guard, n);
  size_t open = 0, last = 0;
  (void)name;
  for (size_t i = 0; i < n; i++)
    if (guard[i] != EXPR_FALSE) {
      open++;
      last = i;
    }
  if (open <= 1) {
    for (size_t i = 0; i < n; i++)
      which[i] = expr_truth(i == last);
    return;
  }
  s->chose = true;
  struct number chosen = number_new(t, "choice", 0, (int64_t)n - 1);
  for (size_t i = 0; i < n; i++) {
    which[i] = number_is(&t->graph, chosen, (int64_t)i);
    truth fits = expr_or(&t->graph, expr_not(&t->graph, which[i]), guard[i]);
    terms_fact(t, expr_or(&t->graph, expr_not(&t->graph, any), fits));
  }
}

void encoder_init(struct encoder *e, struct model *m, bool integers) {
  arena_init(&e->arena);
  terms_init(&e->t, integers);
  e->l =
      (struct lowering){.model = m, .graph = &e->t.graph, .arena = &e->arena, .refusal_prefix = "", .choose = choose};
}

void encoder_release(struct encoder *e) {
  terms_release(&e->t);
  arena_release(&e->arena);
}

/* ---- free values ---- */

static struct number new_number(struct encoder *e, const struct type *t, const char *name) {
  if (t->kind == TYPE_RANGE)
    return number_new(&e->t, name, t->lo, t->hi);
  if (t->kind == TYPE_ENUM)
    return number_new(&e->t, name, 0, (int64_t)t->size - 1);
  if (t->kind == TYPE_PROCESS)
    return number_new(&e->t, name, t->first, t->first + (int64_t)t->count - 1);
  if (t->kind == TYPE_ROUND && e->t.integers)
    return number_new(&e->t, name, 0, NUMBER_MOST);
  lower_refuse(&e->l, e->l.at, "a free choice among %s without bound", t->kind == TYPE_ROUND ? "rounds" : "numbers");
}

struct sym_value *sym_new(struct encoder *e, const struct type *t, const char *name) {
  struct sym_value *v;
  char of[120];
  switch (t->kind) {
  case TYPE_BOOL:
    return sym_truth(&e->l, truth_new(&e->t, name));
  case TYPE_OPTION:
    snprintf(of, sizeof of, "%.100s.some", name);
    return sym_option(&e->l, truth_new(&e->t, of), sym_new(e, t->element, name));
  case TYPE_SET:
    v = sym_whole_set(&e->l, t->element);
    if (t->element->kind == TYPE_INT || t->element->kind == TYPE_ROUND)
      lower_refuse(&e->l, e->l.at, "a set of numbers without bound");
    for (uint32_t i = 0; i < v->n; i++) {
      snprintf(of, sizeof of, "%.100s.has%u", name, i);
      v->has[i] = truth_new(&e->t, of);
    }
    terms_fact(&e->t, sym_fits(&e->l, t, v));
    return v;
  case TYPE_RECORD:
  case TYPE_ARRAY:
    v = sym_parts(&e->l, SYM_PARTS, part_count(t));
    for (uint32_t i = 0; i < v->n; i++) {
      if (t->kind == TYPE_RECORD)
        snprintf(of, sizeof of, "%.80s.%.30s", name, t->fields[i].name);
      else
        snprintf(of, sizeof of, "%.100s.%u", name, i);
      v->part[i] = sym_new(e, part_type(t, i), of);
    }
    return v;
  case TYPE_SEQUENCE:
    v = sym_parts(&e->l, SYM_SEQUENCE, (uint64_t)t->hi);
    snprintf(of, sizeof of, "%.100s.length", name);
    v->number = number_new(&e->t, of, 0, t->hi);
    for (uint32_t i = 0; i < v->n; i++) {
      snprintf(of, sizeof of, "%.100s.%u", name, i);
      v->part[i] = sym_new(e, t->element, of);
    }
    terms_fact(&e->t, sym_fits(&e->l, t, v));
    return v;
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    return sym_number(&e->l, new_number(e, t, name));
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(&e->l);
}

/* ---- values in a model ---- */

bool truth_value(struct encoder *e, Z3_model model, truth b) {
  Z3_ast v = NULL;
  if (b == EXPR_TRUE || b == EXPR_FALSE)
    return b == EXPR_TRUE;
  if (!Z3_model_eval(e->t.m.z3, model, terms_translate(&e->t, b), true, &v))
    return false;
  z3_builder_keep(&e->t.m, v);
  return Z3_get_bool_value(e->t.m.z3, v) == Z3_L_TRUE;
}

int64_t number_value(struct encoder *e, Z3_model model, struct number n) {
  Z3_ast v = NULL;
  int64_t x = 0;
  if (number_constant(n))
    return n.lo;
  if (!Z3_model_eval(e->t.m.z3, model, terms_translate(&e->t, n.node), true, &v))
    return 0;
  z3_builder_keep(&e->t.m, v);
  if (e->t.integers) {
    Z3_get_numeral_int64(e->t.m.z3, v, &x);
    return x;
  }
  uint64_t bits = 0;
  Z3_get_numeral_uint64(e->t.m.z3, v, &bits);
  unsigned width = Z3_get_bv_sort_size(e->t.m.z3, Z3_get_sort(e->t.m.z3, v));
  if (width < 64 && bits >> (width - 1) & 1)
    bits |= ~UINT64_C(0) << width;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static value set_value(struct encoder *e, Z3_model model, const struct type *t, const struct sym_value *v) {
  struct values *values = &e->l.model->values;
  value set = set_empty(values, t);
  for (uint32_t i = 0; i < v->n; i++)
    if (truth_value(e, model, v->has[i]))
      set = set_insert(values, t, set, v->element ? type_nth(values, v->element, i) : v->base + i);
  return set;
}

value sym_extract(struct encoder *e, Z3_model model, const struct type *t, const struct sym_value *v) {
  switch (t->kind) {
  case TYPE_BOOL:
    return truth_value(e, model, v->truth);
  case TYPE_OPTION:
    return truth_value(e, model, v->truth) ? value_wrap(sym_extract(e, model, t->element, v->part[0])) : VALUE_NONE;
  case TYPE_SET:
    return set_value(e, model, t, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE: {
    uint32_t n = t->kind == TYPE_SEQUENCE ? (uint32_t)number_value(e, model, v->number) : v->n;
    value *parts = arena_array(&e->arena, n + (size_t)1, sizeof *parts);
    for (uint32_t i = 0; i < n; i++)
      parts[i] = sym_extract(e, model, t->kind == TYPE_SEQUENCE ? t->element : part_type(t, i), v->part[i]);
    return value_vector(&e->l.model->values, parts, n);
  }
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    return number_value(e, model, v->number);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(&e->l);
}
