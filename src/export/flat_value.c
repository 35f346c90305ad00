/* Flattened values, and their encoding as single numbers. */
#include "export/lower.h"

#include <string.h>

#define MOST_LEAVES 2000

uint32_t flat_set_leaves(struct model_lowering *l, const struct type *set) {
  const struct type *e = set->element;
  return e->kind == TYPE_PROCESS ? l->model->nprocesses : (uint32_t)e->count;
}

/* The member that the i-th leaf of a set represents. */
static value set_candidate(struct model_lowering *l, const struct type *set, uint32_t i) {
  return set->element->kind == TYPE_PROCESS ? (value)i : type_nth(&l->model->values, set->element, i);
}

uint32_t type_leaves(struct model_lowering *l, const struct type *t, struct span at) {
  uint64_t n = 1;
  switch (t->kind) {
  case TYPE_OPTION:
    n = 1 + (uint64_t)type_leaves(l, t->element, at);
    break;
  case TYPE_SET:
    n = t->element->kind == TYPE_PROCESS ? l->model->nprocesses : t->element->count;
    break;
  case TYPE_RECORD:
    n = 0;
    for (uint32_t i = 0; i < t->size; i++)
      n += type_leaves(l, t->fields[i].type, at);
    break;
  case TYPE_ARRAY:
    n = t->index->count > MOST_LEAVES ? MOST_LEAVES + 1 : t->index->count * type_leaves(l, t->element, at);
    break;
  case TYPE_SEQUENCE:
    n = 1 + (uint64_t)t->hi * type_leaves(l, t->element, at);
    break;
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    return 1;
  case TYPE_BAG:
  case TYPE_ERROR:
    refuse_type(l, at);
  }
  if (n > MOST_LEAVES)
    refuse(l, at, "values of this type have too many parts to be written out one by one");
  return (uint32_t)n;
}

struct flat_value flat_new(struct model_lowering *l, const struct type *t) {
  uint32_t n = type_leaves(l, t, (struct span){0, 0});
  struct flat_value s = {t, arena_array(l->arena, n + 1, sizeof *s.leaf)};
  return s;
}

static bool same_members(const struct type *a, const struct type *b) {
  return a == b || (a->kind == TYPE_PROCESS && b->kind == TYPE_PROCESS) ||
         (a->kind == TYPE_RANGE && b->kind == TYPE_RANGE && a->lo == b->lo && a->hi == b->hi);
}

static int64_t first_number(const struct type *t) {
  return t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? (int64_t)t->first : 0;
}

/* Are the first values of two types with the same layout equal? First values represent absent elements. */
static bool same_first(const struct type *a, const struct type *b) {
  if (a == b)
    return true;
  if (a->kind == TYPE_OPTION || a->kind == TYPE_ARRAY || a->kind == TYPE_SEQUENCE)
    return same_first(a->element, b->element);
  for (uint32_t i = 0; a->kind == TYPE_RECORD && i < a->size; i++)
    if (!same_first(a->fields[i].type, b->fields[i].type))
      return false;
  return first_number(a) == first_number(b);
}

static bool same_layout(const struct type *a, const struct type *b) {
  if (!a || !b || a == b || a->kind != b->kind)
    return true; /* truth values, or numbers of different kinds: one leaf */
  switch (a->kind) {
  case TYPE_SET:
    return same_members(a->element, b->element);
  case TYPE_SEQUENCE:
    return a->hi == b->hi && same_layout(a->element, b->element) && same_first(a->element, b->element);
  case TYPE_OPTION:
    return same_layout(a->element, b->element) && same_first(a->element, b->element);
  case TYPE_ARRAY:
    return same_layout(a->element, b->element);
  case TYPE_RECORD:
    for (uint32_t i = 0; i < a->size; i++)
      if (!same_layout(a->fields[i].type, b->fields[i].type))
        return false;
    return true;
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    return true;
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return false;
}

static void put(struct model_lowering *l, struct flat_value to, struct flat_value from) {
  struct flat_value v = flat_as(l, from, to.type);
  memcpy(to.leaf, v.leaf, type_leaves(l, to.type, (struct span){0, 0}) * sizeof *to.leaf);
}

/* Stores an element of an option or a sequence, or the first value of its type if it is absent. */
static void put_element(struct model_lowering *l, struct flat_value to, struct flat_value from, expr_id there) {
  struct flat_value v = flat_as(l, from, to.type);
  put(l, to, same_first(to.type, from.type) ? v : flat_if(l, there, v, to));
}

struct flat_value flat_as(struct model_lowering *l, struct flat_value s, const struct type *t) {
  struct expr_graph *c = l->expr_graph;
  if (same_layout(s.type, t))
    return (struct flat_value){t, s.leaf};
  struct flat_value made = flat_default(l, t);
  uint64_t n = t->kind == TYPE_RECORD ? t->size : t->kind == TYPE_ARRAY ? t->index->count : 0;
  for (uint32_t i = 0; i < n; i++)
    put(l, flat_part(l, made, i), flat_part(l, s, i));
  if (t->kind == TYPE_OPTION || t->kind == TYPE_SEQUENCE)
    made.leaf[0] = s.leaf[0];
  if (t->kind == TYPE_OPTION)
    put_element(l, option_element(l, made), option_element(l, s), s.leaf[0]);
  for (uint32_t i = 0; t->kind == TYPE_SEQUENCE && i < (uint64_t)t->hi && i < (uint64_t)s.type->hi; i++)
    put_element(l, sequence_element(l, made, i), sequence_element(l, s, i), expr_less(c, expr_number(c, i), s.leaf[0]));
  for (uint32_t i = 0; t->kind == TYPE_SET && i < flat_set_leaves(l, t); i++)
    made.leaf[i] = flat_set_has(l, s, flat_set_member(l, t, i));
  return made;
}

struct flat_value flat_number(struct model_lowering *l, const struct type *t, expr_id w) {
  struct flat_value s = flat_new(l, t);
  s.leaf[0] = w;
  return s;
}

struct flat_value flat_truth(struct model_lowering *l, expr_id w) {
  struct flat_value s = {NULL, arena_array(l->arena, 1, sizeof *s.leaf)};
  s.leaf[0] = w;
  return s;
}

/* --- constants --- */

static void fill_value(struct model_lowering *l, const struct type *t, value v, expr_id *leaf) {
  struct expr_graph *c = l->expr_graph;
  const struct values *values = &l->model->values;
  size_t n;
  switch (t->kind) {
  case TYPE_BOOL:
    leaf[0] = expr_truth(c, v != 0);
    return;
  case TYPE_OPTION:
    leaf[0] = expr_truth(c, v != VALUE_NONE);
    fill_value(l, t->element, v == VALUE_NONE ? type_default(&l->model->values, t->element) : value_unwrap(v),
               leaf + 1);
    return;
  case TYPE_SET:
    for (uint32_t i = 0; i < flat_set_leaves(l, t); i++)
      leaf[i] = expr_truth(c, set_contains(values, t, v, set_candidate(l, t, i)));
    return;
  case TYPE_RECORD:
  case TYPE_ARRAY:
    value_parts(values, v, &n);
    for (size_t i = 0; i < n; i++) {
      const struct type *part = t->kind == TYPE_RECORD ? t->fields[i].type : t->element;
      fill_value(l, part, value_parts(values, v, &n)[i], leaf);
      leaf += type_leaves(l, part, (struct span){0, 0});
    }
    return;
  case TYPE_SEQUENCE: {
    uint32_t each = type_leaves(l, t->element, (struct span){0, 0});
    value_parts(values, v, &n);
    leaf[0] = expr_number(c, (int64_t)n);
    for (size_t i = 0; i < (size_t)t->hi; i++)
      fill_value(l, t->element, i < n ? value_parts(values, v, &n)[i] : type_default(&l->model->values, t->element),
                 leaf + 1 + i * each);
    return;
  }
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    leaf[0] = expr_number(c, v);
    return;
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_type(l, (struct span){0, 0});
}

struct flat_value flat_of_value(struct model_lowering *l, const struct type *t, value v) {
  struct flat_value s = flat_new(l, t);
  fill_value(l, t, v, s.leaf);
  return s;
}

struct flat_value flat_default(struct model_lowering *l, const struct type *t) {
  if (t->kind == TYPE_INT || t->kind == TYPE_ROUND)
    return flat_number(l, t, expr_number(l->expr_graph, 0));
  if (t->kind == TYPE_OPTION || t->kind == TYPE_SEQUENCE || t->kind == TYPE_RECORD || t->kind == TYPE_ARRAY) {
    /* part by part, because some parts may be unbounded */
    struct flat_value s = flat_new(l, t);
    uint32_t at = 0;
    if (t->kind == TYPE_OPTION)
      s.leaf[at++] = expr_truth(l->expr_graph, false);
    if (t->kind == TYPE_SEQUENCE)
      s.leaf[at++] = expr_number(l->expr_graph, 0);
    uint64_t n = t->kind == TYPE_OPTION   ? 1
                 : t->kind == TYPE_RECORD ? t->size
                 : t->kind == TYPE_ARRAY  ? t->index->count
                                          : (uint64_t)t->hi;
    for (uint64_t i = 0; i < n; i++) {
      struct flat_value part = flat_default(l, t->kind == TYPE_RECORD ? t->fields[i].type : t->element);
      uint32_t each = type_leaves(l, part.type, (struct span){0, 0});
      memcpy(s.leaf + at, part.leaf, each * sizeof *s.leaf);
      at += each;
    }
    return s;
  }
  return flat_of_value(l, t, type_default(&l->model->values, t));
}

/* --- parts --- */

struct flat_value flat_part(struct model_lowering *l, struct flat_value s, uint32_t i) {
  if (s.type->kind == TYPE_ARRAY)
    return (struct flat_value){s.type->element,
                               s.leaf + (size_t)i * type_leaves(l, s.type->element, (struct span){0, 0})};
  expr_id *leaf = s.leaf;
  for (uint32_t k = 0; k < i; k++)
    leaf += type_leaves(l, s.type->fields[k].type, (struct span){0, 0});
  return (struct flat_value){s.type->fields[i].type, leaf};
}

struct flat_value option_element(struct model_lowering *l, struct flat_value s) {
  (void)l;
  return (struct flat_value){s.type->element, s.leaf + 1};
}

struct flat_value sequence_element(struct model_lowering *l, struct flat_value s, uint32_t i) {
  return (struct flat_value){s.type->element,
                             s.leaf + 1 + (size_t)i * type_leaves(l, s.type->element, (struct span){0, 0})};
}

struct flat_value flat_option(struct model_lowering *l, const struct type *t, expr_id there,
                              struct flat_value element) {
  struct flat_value s = flat_new(l, t), none = flat_default(l, t->element);
  uint32_t n = type_leaves(l, t->element, (struct span){0, 0});
  s.leaf[0] = there;
  for (uint32_t i = 0; i < n; i++)
    s.leaf[1 + i] = expr_ite(l->expr_graph, there, element.leaf[i], none.leaf[i]);
  return s;
}

static uint32_t leaves(struct model_lowering *l, struct flat_value s) {
  return s.type ? type_leaves(l, s.type, (struct span){0, 0}) : 1;
}

struct flat_value flat_if(struct model_lowering *l, expr_id when, struct flat_value a, struct flat_value b) {
  if (expr_is_constant(l->expr_graph, when, 1))
    return a;
  if (expr_is_constant(l->expr_graph, when, 0))
    return b;
  b = a.type ? flat_as(l, b, a.type) : b;
  uint32_t n = leaves(l, a);
  struct flat_value s = {a.type, arena_array(l->arena, n + 1, sizeof *s.leaf)};
  for (uint32_t i = 0; i < n; i++)
    s.leaf[i] = expr_ite(l->expr_graph, when, a.leaf[i], b.leaf[i]);
  return s;
}

/* --- comparing --- */

expr_id flat_equal(struct model_lowering *l, struct flat_value a, struct flat_value b) {
  struct expr_graph *c = l->expr_graph;
  expr_id same = expr_truth(c, true);
  enum type_kind kind = a.type ? a.type->kind : TYPE_BOOL;
  if (kind == TYPE_RECORD || kind == TYPE_ARRAY) {
    uint64_t n = kind == TYPE_RECORD ? a.type->size : a.type->index->count;
    for (uint32_t i = 0; i < n; i++)
      same = expr_and(c, same, flat_equal(l, flat_part(l, a, i), flat_part(l, b, i)));
    return same;
  }
  if (!same_layout(a.type, b.type)) {
    if (kind == TYPE_SET)
      same = flat_fits(l, a.type, b); /* b has only members that a can have */
    else if (leaves(l, a) < leaves(l, b))
      return flat_equal(l, b, a);
    else if (kind == TYPE_SEQUENCE) /* b is not longer than a can be */
      same = expr_at_most(c, b.leaf[0], expr_number(c, a.type->hi));
    b = flat_as(l, b, a.type);
  }
  if (kind == TYPE_OPTION && (expr_is_constant(c, a.leaf[0], 0) || expr_is_constant(c, b.leaf[0], 0)))
    return expr_equal(c, a.leaf[0], b.leaf[0]);
  for (uint32_t i = 0; i < leaves(l, a); i++)
    same = expr_and(c, same, expr_equal(c, a.leaf[i], b.leaf[i]));
  return same;
}

/* In the language, only numbers, labels, rounds and records of these are ordered. */
expr_id flat_less(struct model_lowering *l, struct flat_value a, struct flat_value b, bool or_equal) {
  struct expr_graph *c = l->expr_graph;
  expr_id less = expr_truth(c, or_equal);
  for (uint32_t i = leaves(l, a); i-- > 0;) {
    expr_id x = a.leaf[i], y = b.leaf[i];
    if (node_of(c, x)->truth) {
      x = expr_bool_to_int(c, x);
      y = expr_bool_to_int(c, y);
    }
    less = expr_or(c, expr_less(c, x, y), expr_and(c, expr_equal(c, x, y), less));
  }
  return less;
}

/* Is this a value of the type? Its own type has the same shape. */
expr_id flat_fits(struct model_lowering *l, const struct type *t, struct flat_value s) {
  struct expr_graph *c = l->expr_graph;
  expr_id ok = expr_truth(c, true);
  switch (t->kind) {
  case TYPE_RANGE:
    ok = expr_and(c, expr_at_most(c, expr_number(c, t->lo), s.leaf[0]),
                  expr_at_most(c, s.leaf[0], expr_number(c, t->hi)));
    break;
  case TYPE_PROCESS:
    ok = expr_and(c, expr_at_most(c, expr_number(c, t->first), s.leaf[0]),
                  expr_less(c, s.leaf[0], expr_number(c, t->first + (int64_t)t->count)));
    break;
  case TYPE_OPTION: {
    ok = expr_implies(c, s.leaf[0], flat_fits(l, t->element, option_element(l, s)));
    break;
  }
  case TYPE_RECORD:
  case TYPE_ARRAY: {
    uint64_t n = t->kind == TYPE_RECORD ? t->size : t->index->count;
    for (uint32_t i = 0; i < n; i++)
      ok = expr_and(c, ok, flat_fits(l, t->kind == TYPE_RECORD ? t->fields[i].type : t->element, flat_part(l, s, i)));
    break;
  }
  case TYPE_SET:
    for (uint32_t i = 0; i < flat_set_leaves(l, s.type); i++)
      if (!type_has(&l->model->values, t->element, set_candidate(l, s.type, i)))
        ok = expr_and(c, ok, expr_not(c, s.leaf[i]));
    break;
  case TYPE_SEQUENCE: {
    ok = expr_at_most(c, s.leaf[0], expr_number(c, t->hi));
    for (uint32_t i = 0; i < (uint64_t)t->hi && i < (uint64_t)s.type->hi; i++) {
      struct flat_value e = sequence_element(l, s, i);
      expr_id there = expr_less(c, expr_number(c, i), s.leaf[0]);
      ok = expr_and(c, ok, expr_implies(c, there, flat_fits(l, t->element, e)));
      for (uint32_t k = 0; k < i && t->distinct; k++) {
        expr_id same = flat_equal(l, sequence_element(l, s, k), e);
        ok = expr_and(c, ok, expr_implies(c, there, expr_not(c, same)));
      }
    }
    break;
  }
  case TYPE_BOOL: /* these have one leaf, which is always in range */
  case TYPE_INT:
  case TYPE_ENUM:
  case TYPE_ROUND:
    break;
  case TYPE_BAG:
  case TYPE_ERROR:
    refuse_type(l, (struct span){0, 0});
  }
  return ok;
}

/* --- sets --- */

struct flat_value flat_set_member(struct model_lowering *l, const struct type *set, uint32_t i) {
  return flat_of_value(l, set->element, set_candidate(l, set, i));
}

expr_id flat_set_has(struct model_lowering *l, struct flat_value set, struct flat_value member) {
  expr_id in = expr_truth(l->expr_graph, false);
  for (uint32_t i = 0; i < flat_set_leaves(l, set.type); i++)
    in = expr_or(l->expr_graph, in,
                 expr_and(l->expr_graph, set.leaf[i], flat_equal(l, flat_set_member(l, set.type, i), member)));
  return in;
}

void flat_set_add(struct model_lowering *l, struct flat_value set, expr_id when, struct flat_value member) {
  struct expr_graph *c = l->expr_graph;
  for (uint32_t i = 0; i < flat_set_leaves(l, set.type); i++)
    set.leaf[i] = expr_or(c, set.leaf[i], expr_and(c, when, flat_equal(l, flat_set_member(l, set.type, i), member)));
}

/* --- codes of values --- */

static uint64_t checked(struct model_lowering *l, __uint128_t n, struct span at) {
  if (n > (uint64_t)1 << 20)
    refuse(l, at, "this has more than a million values, too many to number");
  return (uint64_t)n;
}

/* Sets of processes have a leaf for every process, but contain only those of one role. Only these are numbered. */
static uint32_t first_member(const struct type *set) {
  return set->element->kind == TYPE_PROCESS ? (uint32_t)set->element->first : 0;
}

uint64_t code_count(struct model_lowering *l, const struct type *t, struct span at) {
  __uint128_t n = 1;
  switch (t->kind) {
  case TYPE_OPTION:
    return checked(l, (__uint128_t)code_count(l, t->element, at) + 1, at);
  case TYPE_SET:
    if (t->element->count > 20)
      refuse(l, at, "this has more than a million values, too many to number");
    return (uint64_t)1 << t->element->count;
  case TYPE_RECORD:
    for (uint32_t i = 0; i < t->size; i++)
      n = checked(l, n * code_count(l, t->fields[i].type, at), at);
    return (uint64_t)n;
  case TYPE_ARRAY:
    for (uint64_t i = 0; i < t->index->count; i++)
      n = checked(l, n * code_count(l, t->element, at), at);
    return (uint64_t)n;
  case TYPE_SEQUENCE:
    refuse(l, at, "a sequence in a message cannot be written in this format");
  case TYPE_INT:
  case TYPE_ROUND:
    refuse(l, at, "a number without bound in a message cannot be written in this format");
  case TYPE_BOOL:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
    return checked(l, t->count, at);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_type(l, at);
}

expr_id flat_code(struct model_lowering *l, struct flat_value s) {
  struct expr_graph *c = l->expr_graph;
  const struct type *t = s.type;
  expr_id code = expr_number(c, 0);
  switch (t->kind) {
  case TYPE_BOOL:
    return expr_bool_to_int(c, s.leaf[0]);
  case TYPE_OPTION: {
    expr_id inner = expr_arithmetic(c, EXPR_ADD, flat_code(l, option_element(l, s)), expr_number(c, 1));
    return expr_ite(c, s.leaf[0], inner, expr_number(c, 0));
  }
  case TYPE_SET:
    for (uint32_t i = 0; i < t->element->count; i++) {
      expr_id in = expr_bool_to_int(c, s.leaf[first_member(t) + i]);
      code = expr_arithmetic(c, EXPR_ADD, code, expr_arithmetic(c, EXPR_MUL, expr_number(c, (int64_t)1 << i), in));
    }
    return code;
  case TYPE_RECORD:
  case TYPE_ARRAY: {
    uint64_t n = t->kind == TYPE_RECORD ? t->size : t->index->count;
    for (uint32_t i = 0; i < n; i++) {
      struct flat_value part = flat_part(l, s, i);
      expr_id each = expr_number(c, (int64_t)code_count(l, part.type, (struct span){0, 0}));
      code = expr_arithmetic(c, EXPR_ADD, expr_arithmetic(c, EXPR_MUL, code, each), flat_code(l, part));
    }
    return code;
  }
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS: {
    int64_t first = t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? t->first : 0;
    return expr_arithmetic(c, EXPR_SUB, s.leaf[0], expr_number(c, first));
  }
  case TYPE_INT: /* code_count refuses these */
  case TYPE_ROUND:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_type(l, (struct span){0, 0});
}

static expr_id digit(struct model_lowering *l, expr_id code, uint64_t stride, uint64_t count) {
  struct expr_graph *c = l->expr_graph;
  expr_id w = expr_arithmetic(c, EXPR_DIV, code, expr_number(c, (int64_t)stride));
  return expr_arithmetic(c, EXPR_MOD, w, expr_number(c, (int64_t)count));
}

struct flat_value flat_of_code(struct model_lowering *l, const struct type *t, expr_id code) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value s = flat_new(l, t);
  switch (t->kind) {
  case TYPE_BOOL:
    s.leaf[0] = expr_equal(c, code, expr_number(c, 1));
    return s;
  case TYPE_OPTION: {
    expr_id there = expr_less(c, expr_number(c, 0), code);
    expr_id inner = expr_ite(c, there, expr_arithmetic(c, EXPR_SUB, code, expr_number(c, 1)), expr_number(c, 0));
    expr_assert_bounds(c, inner, 0, (int64_t)code_count(l, t->element, (struct span){0, 0}) - 1);
    return flat_option(l, t, there, flat_of_code(l, t->element, inner));
  }
  case TYPE_SET:
    for (uint32_t i = 0; i < flat_set_leaves(l, t); i++)
      s.leaf[i] = expr_truth(c, false);
    for (uint32_t i = 0; i < t->element->count; i++)
      s.leaf[first_member(t) + i] = expr_equal(c, digit(l, code, (uint64_t)1 << i, 2), expr_number(c, 1));
    return s;
  case TYPE_RECORD:
  case TYPE_ARRAY: {
    uint64_t n = t->kind == TYPE_RECORD ? t->size : t->index->count, stride = 1;
    for (uint64_t i = n; i-- > 0;) {
      struct flat_value part = flat_part(l, s, (uint32_t)i);
      uint64_t count = code_count(l, part.type, (struct span){0, 0});
      struct flat_value made = flat_of_code(l, part.type, digit(l, code, stride, count));
      memcpy(part.leaf, made.leaf, leaves(l, part) * sizeof *part.leaf);
      stride *= count;
    }
    return s;
  }
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS: {
    int64_t first = t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? t->first : 0;
    s.leaf[0] = expr_arithmetic(c, EXPR_ADD, code, expr_number(c, first));
    return s;
  }
  case TYPE_INT: /* code_count refuses these */
  case TYPE_ROUND:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_type(l, (struct span){0, 0});
}
