/* Values taken apart, and put together again as numbers. */
#include "export/lower.h"

#include <string.h>

#define MOST_LEAVES 2000

uint32_t set_leaves(struct lowering *l, const struct type *set) {
  const struct type *e = set->element;
  return e->kind == TYPE_PROCESS ? l->model->nprocesses : (uint32_t)e->count;
}

uint32_t type_leaves(struct lowering *l, const struct type *t, struct span at) {
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

struct symbol symbol_new(struct lowering *l, const struct type *t) {
  uint32_t n = type_leaves(l, t, (struct span){0, 0});
  struct symbol s = {t, arena_array(l->arena, n + 1, sizeof *s.leaf)};
  return s;
}

static bool same_layout(const struct type *a, const struct type *b) {
  if (!a || !b || a == b || a->kind != b->kind)
    return true; /* a truth value, or numbers of different kinds: one leaf */
  switch (a->kind) {
  case TYPE_SEQUENCE: return a->hi == b->hi && same_layout(a->element, b->element);
  case TYPE_OPTION:
  case TYPE_ARRAY: return same_layout(a->element, b->element);
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
  case TYPE_SET: return true;
  case TYPE_BAG:
  case TYPE_ERROR: break;
  }
  return false;
}

static void put(struct lowering *l, struct symbol to, struct symbol from) {
  struct symbol v = symbol_as(l, from, to.type);
  memcpy(to.leaf, v.leaf, type_leaves(l, to.type, (struct span){0, 0}) * sizeof *to.leaf);
}

struct symbol symbol_as(struct lowering *l, struct symbol s, const struct type *t) {
  if (same_layout(s.type, t))
    return (struct symbol){t, s.leaf};
  struct symbol made = symbol_default(l, t);
  uint64_t n = t->kind == TYPE_RECORD ? t->size : t->kind == TYPE_ARRAY ? t->index->count : 0;
  for (uint32_t i = 0; i < n; i++)
    put(l, symbol_part(l, made, i), symbol_part(l, s, i));
  if (t->kind == TYPE_OPTION || t->kind == TYPE_SEQUENCE)
    made.leaf[0] = s.leaf[0];
  if (t->kind == TYPE_OPTION)
    put(l, option_element(l, made), option_element(l, s));
  for (uint32_t i = 0; t->kind == TYPE_SEQUENCE && i < (uint64_t)t->hi && i < (uint64_t)s.type->hi; i++)
    put(l, sequence_element(l, made, i), sequence_element(l, s, i));
  return made;
}

struct symbol symbol_number(struct lowering *l, const struct type *t, wire w) {
  struct symbol s = symbol_new(l, t);
  s.leaf[0] = w;
  return s;
}

struct symbol symbol_truth(struct lowering *l, wire w) {
  struct symbol s = {NULL, arena_array(l->arena, 1, sizeof *s.leaf)};
  s.leaf[0] = w;
  return s;
}

/* --- constants --- */

static void fill_value(struct lowering *l, const struct type *t, value v, wire *leaf) {
  struct circuit *c = l->circuit;
  const struct values *values = &l->model->values;
  size_t n;
  switch (t->kind) {
  case TYPE_BOOL:
    leaf[0] = circuit_truth(c, v != 0);
    return;
  case TYPE_OPTION:
    leaf[0] = circuit_truth(c, v != VALUE_NONE);
    fill_value(l, t->element, v == VALUE_NONE ? type_default(&l->model->values, t->element) : value_unwrap(v), leaf + 1);
    return;
  case TYPE_SET:
    for (uint32_t i = 0; i < set_leaves(l, t); i++) {
      value member = t->element->kind == TYPE_PROCESS ? (value)i : type_nth(&l->model->values, t->element, i);
      leaf[i] = circuit_truth(c, set_has(values, t, v, member));
    }
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
    leaf[0] = circuit_number(c, (int64_t)n);
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
    leaf[0] = circuit_number(c, v);
    return;
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_type(l, (struct span){0, 0});
}

struct symbol symbol_of_value(struct lowering *l, const struct type *t, value v) {
  struct symbol s = symbol_new(l, t);
  fill_value(l, t, v, s.leaf);
  return s;
}

struct symbol symbol_default(struct lowering *l, const struct type *t) {
  if (t->kind == TYPE_INT || t->kind == TYPE_ROUND)
    return symbol_number(l, t, circuit_number(l->circuit, 0));
  if (t->kind == TYPE_OPTION || t->kind == TYPE_SEQUENCE || t->kind == TYPE_RECORD || t->kind == TYPE_ARRAY) {
    /* part by part: some may be without bound */
    struct symbol s = symbol_new(l, t);
    uint32_t at = 0;
    if (t->kind == TYPE_OPTION)
      s.leaf[at++] = circuit_truth(l->circuit, false);
    if (t->kind == TYPE_SEQUENCE)
      s.leaf[at++] = circuit_number(l->circuit, 0);
    uint64_t n = t->kind == TYPE_OPTION ? 1 : t->kind == TYPE_RECORD ? t->size : t->kind == TYPE_ARRAY ? t->index->count : (uint64_t)t->hi;
    for (uint64_t i = 0; i < n; i++) {
      struct symbol part = symbol_default(l, t->kind == TYPE_RECORD ? t->fields[i].type : t->element);
      uint32_t each = type_leaves(l, part.type, (struct span){0, 0});
      memcpy(s.leaf + at, part.leaf, each * sizeof *s.leaf);
      at += each;
    }
    return s;
  }
  return symbol_of_value(l, t, type_default(&l->model->values, t));
}

/* --- parts --- */

struct symbol symbol_part(struct lowering *l, struct symbol s, uint32_t i) {
  if (s.type->kind == TYPE_ARRAY)
    return (struct symbol){s.type->element, s.leaf + (size_t)i * type_leaves(l, s.type->element, (struct span){0, 0})};
  wire *leaf = s.leaf;
  for (uint32_t k = 0; k < i; k++)
    leaf += type_leaves(l, s.type->fields[k].type, (struct span){0, 0});
  return (struct symbol){s.type->fields[i].type, leaf};
}

struct symbol option_element(struct lowering *l, struct symbol s) {
  (void)l;
  return (struct symbol){s.type->element, s.leaf + 1};
}

struct symbol sequence_element(struct lowering *l, struct symbol s, uint32_t i) {
  return (struct symbol){s.type->element, s.leaf + 1 + (size_t)i * type_leaves(l, s.type->element, (struct span){0, 0})};
}

struct symbol symbol_option(struct lowering *l, const struct type *t, wire there, struct symbol element) {
  struct symbol s = symbol_new(l, t), none = symbol_default(l, t->element);
  uint32_t n = type_leaves(l, t->element, (struct span){0, 0});
  s.leaf[0] = there;
  for (uint32_t i = 0; i < n; i++)
    s.leaf[1 + i] = circuit_if(l->circuit, there, element.leaf[i], none.leaf[i]);
  return s;
}

static uint32_t leaves(struct lowering *l, struct symbol s) {
  return s.type ? type_leaves(l, s.type, (struct span){0, 0}) : 1;
}

struct symbol symbol_if(struct lowering *l, wire when, struct symbol a, struct symbol b) {
  if (circuit_is(l->circuit, when, 1))
    return a;
  if (circuit_is(l->circuit, when, 0))
    return b;
  b = a.type ? symbol_as(l, b, a.type) : b;
  uint32_t n = leaves(l, a);
  struct symbol s = {a.type, arena_array(l->arena, n + 1, sizeof *s.leaf)};
  for (uint32_t i = 0; i < n; i++)
    s.leaf[i] = circuit_if(l->circuit, when, a.leaf[i], b.leaf[i]);
  return s;
}

/* --- comparing --- */

wire symbol_equal(struct lowering *l, struct symbol a, struct symbol b) {
  wire same = circuit_truth(l->circuit, true);
  if (!same_layout(a.type, b.type)) { /* into the longer one nothing is lost */
    if (leaves(l, a) >= leaves(l, b))
      b = symbol_as(l, b, a.type);
    else
      a = symbol_as(l, a, b.type);
  }
  enum type_kind kind = a.type ? a.type->kind : TYPE_BOOL;
  if (kind == TYPE_OPTION && (circuit_is(l->circuit, a.leaf[0], 0) || circuit_is(l->circuit, b.leaf[0], 0)))
    return circuit_equal(l->circuit, a.leaf[0], b.leaf[0]);
  if (kind == TYPE_RECORD || kind == TYPE_ARRAY) {
    uint64_t n = kind == TYPE_RECORD ? a.type->size : a.type->index->count;
    b = symbol_as(l, b, a.type);
    for (uint32_t i = 0; i < n; i++)
      same = circuit_and(l->circuit, same, symbol_equal(l, symbol_part(l, a, i), symbol_part(l, b, i)));
    return same;
  }
  for (uint32_t i = 0; i < leaves(l, a); i++)
    same = circuit_and(l->circuit, same, circuit_equal(l->circuit, a.leaf[i], b.leaf[i]));
  return same;
}

/* Only numbers, labels, rounds and records of these have an order in the language. */
wire symbol_less(struct lowering *l, struct symbol a, struct symbol b, bool or_equal) {
  struct circuit *c = l->circuit;
  wire less = circuit_truth(c, or_equal);
  for (uint32_t i = leaves(l, a); i-- > 0;) {
    wire x = a.leaf[i], y = b.leaf[i];
    if (node_of(c, x)->truth) {
      x = circuit_count(c, x);
      y = circuit_count(c, y);
    }
    less = circuit_or(c, circuit_less(c, x, y), circuit_and(c, circuit_equal(c, x, y), less));
  }
  return less;
}

/* Is it a value of the type? It came from a type of the same shape. */
wire symbol_fits(struct lowering *l, const struct type *t, struct symbol s) {
  struct circuit *c = l->circuit;
  wire ok = circuit_truth(c, true);
  switch (t->kind) {
  case TYPE_RANGE:
    ok = circuit_and(c, circuit_at_most(c, circuit_number(c, t->lo), s.leaf[0]),
                     circuit_at_most(c, s.leaf[0], circuit_number(c, t->hi)));
    break;
  case TYPE_PROCESS:
    ok = circuit_and(c, circuit_at_most(c, circuit_number(c, t->first), s.leaf[0]),
                     circuit_less(c, s.leaf[0], circuit_number(c, t->first + (int64_t)t->count)));
    break;
  case TYPE_OPTION: {
    ok = circuit_implies(c, s.leaf[0], symbol_fits(l, t->element, option_element(l, s)));
    break;
  }
  case TYPE_RECORD:
  case TYPE_ARRAY: {
    uint64_t n = t->kind == TYPE_RECORD ? t->size : t->index->count;
    for (uint32_t i = 0; i < n; i++)
      ok = circuit_and(c, ok, symbol_fits(l, t->kind == TYPE_RECORD ? t->fields[i].type : t->element, symbol_part(l, s, i)));
    break;
  }
  case TYPE_SET:
    if (t->element->kind == TYPE_PROCESS)
      for (uint32_t i = 0; i < l->model->nprocesses; i++)
        if ((int64_t)i < t->element->first || i >= (uint64_t)t->element->first + t->element->count)
          ok = circuit_and(c, ok, circuit_not(c, s.leaf[i]));
    break;
  case TYPE_SEQUENCE: {
    ok = circuit_at_most(c, s.leaf[0], circuit_number(c, t->hi));
    for (uint32_t i = 0; i < (uint64_t)t->hi && i < (uint64_t)s.type->hi; i++) {
      struct symbol e = sequence_element(l, s, i);
      wire there = circuit_less(c, circuit_number(c, i), s.leaf[0]);
      ok = circuit_and(c, ok, circuit_implies(c, there, symbol_fits(l, t->element, e)));
      for (uint32_t k = 0; k < i && t->distinct; k++) {
        wire same = symbol_equal(l, sequence_element(l, s, k), e);
        ok = circuit_and(c, ok, circuit_implies(c, there, circuit_not(c, same)));
      }
    }
    break;
  }
  case TYPE_BOOL: /* the others have one leaf, which is never outside them */
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

struct symbol set_member_at(struct lowering *l, const struct type *set, uint32_t i) {
  const struct type *e = set->element;
  return symbol_of_value(l, e, e->kind == TYPE_PROCESS ? (value)i : type_nth(&l->model->values, e, i));
}

wire set_holds(struct lowering *l, struct symbol set, struct symbol member) {
  wire in = circuit_truth(l->circuit, false);
  for (uint32_t i = 0; i < set_leaves(l, set.type); i++)
    in = circuit_or(l->circuit, in,
                    circuit_and(l->circuit, set.leaf[i], symbol_equal(l, set_member_at(l, set.type, i), member)));
  return in;
}

void set_add(struct lowering *l, struct symbol set, wire when, struct symbol member) {
  struct circuit *c = l->circuit;
  for (uint32_t i = 0; i < set_leaves(l, set.type); i++)
    set.leaf[i] = circuit_or(c, set.leaf[i], circuit_and(c, when, symbol_equal(l, set_member_at(l, set.type, i), member)));
}

/* --- numbers for values --- */

static uint64_t checked(struct lowering *l, __uint128_t n, struct span at) {
  if (n > (uint64_t)1 << 20)
    refuse(l, at, "this has more than a million values, too many to number");
  return (uint64_t)n;
}

/* Sets of processes have a leaf for each process, but of those of other roles none is in it: only these are numbered. */
static uint32_t first_member(const struct type *set) {
  return set->element->kind == TYPE_PROCESS ? (uint32_t)set->element->first : 0;
}

uint64_t code_count(struct lowering *l, const struct type *t, struct span at) {
  __uint128_t n = 1;
  switch (t->kind) {
  case TYPE_OPTION: return checked(l, (__uint128_t)code_count(l, t->element, at) + 1, at);
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
  case TYPE_SEQUENCE: refuse(l, at, "a sequence in a message cannot be written in this format");
  case TYPE_INT:
  case TYPE_ROUND: refuse(l, at, "a number without bound in a message cannot be written in this format");
  case TYPE_BOOL:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS: return checked(l, t->count, at);
  case TYPE_BAG:
  case TYPE_ERROR: break;
  }
  refuse_type(l, at);
}

wire symbol_code(struct lowering *l, struct symbol s) {
  struct circuit *c = l->circuit;
  const struct type *t = s.type;
  wire code = circuit_number(c, 0);
  switch (t->kind) {
  case TYPE_BOOL: return circuit_count(c, s.leaf[0]);
  case TYPE_OPTION: {
    wire inner = circuit_arithmetic(c, GATE_ADD, symbol_code(l, option_element(l, s)), circuit_number(c, 1));
    return circuit_if(c, s.leaf[0], inner, circuit_number(c, 0));
  }
  case TYPE_SET:
    for (uint32_t i = 0; i < t->element->count; i++) {
      wire in = circuit_count(c, s.leaf[first_member(t) + i]);
      code = circuit_arithmetic(c, GATE_ADD, code, circuit_arithmetic(c, GATE_MUL, circuit_number(c, (int64_t)1 << i), in));
    }
    return code;
  case TYPE_RECORD:
  case TYPE_ARRAY: {
    uint64_t n = t->kind == TYPE_RECORD ? t->size : t->index->count;
    for (uint32_t i = 0; i < n; i++) {
      struct symbol part = symbol_part(l, s, i);
      wire each = circuit_number(c, (int64_t)code_count(l, part.type, (struct span){0, 0}));
      code = circuit_arithmetic(c, GATE_ADD, circuit_arithmetic(c, GATE_MUL, code, each), symbol_code(l, part));
    }
    return code;
  }
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS: {
    int64_t first = t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? t->first : 0;
    return circuit_arithmetic(c, GATE_SUB, s.leaf[0], circuit_number(c, first));
  }
  case TYPE_INT: /* code_count refuses these */
  case TYPE_ROUND:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR: break;
  }
  refuse_type(l, (struct span){0, 0});
}

static wire digit(struct lowering *l, wire code, uint64_t stride, uint64_t count) {
  struct circuit *c = l->circuit;
  wire w = circuit_arithmetic(c, GATE_DIV, code, circuit_number(c, (int64_t)stride));
  return circuit_arithmetic(c, GATE_MOD, w, circuit_number(c, (int64_t)count));
}

struct symbol symbol_of_code(struct lowering *l, const struct type *t, wire code) {
  struct circuit *c = l->circuit;
  struct symbol s = symbol_new(l, t);
  switch (t->kind) {
  case TYPE_BOOL:
    s.leaf[0] = circuit_equal(c, code, circuit_number(c, 1));
    return s;
  case TYPE_OPTION: {
    wire there = circuit_less(c, circuit_number(c, 0), code);
    wire inner = circuit_if(c, there, circuit_arithmetic(c, GATE_SUB, code, circuit_number(c, 1)), circuit_number(c, 0));
    circuit_within(c, inner, 0, (int64_t)code_count(l, t->element, (struct span){0, 0}) - 1);
    return symbol_option(l, t, there, symbol_of_code(l, t->element, inner));
  }
  case TYPE_SET:
    for (uint32_t i = 0; i < set_leaves(l, t); i++)
      s.leaf[i] = circuit_truth(c, false);
    for (uint32_t i = 0; i < t->element->count; i++)
      s.leaf[first_member(t) + i] = circuit_equal(c, digit(l, code, (uint64_t)1 << i, 2), circuit_number(c, 1));
    return s;
  case TYPE_RECORD:
  case TYPE_ARRAY: {
    uint64_t n = t->kind == TYPE_RECORD ? t->size : t->index->count, stride = 1;
    for (uint64_t i = n; i-- > 0;) {
      struct symbol part = symbol_part(l, s, (uint32_t)i);
      uint64_t count = code_count(l, part.type, (struct span){0, 0});
      struct symbol made = symbol_of_code(l, part.type, digit(l, code, stride, count));
      memcpy(part.leaf, made.leaf, leaves(l, part) * sizeof *part.leaf);
      stride *= count;
    }
    return s;
  }
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS: {
    int64_t first = t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? t->first : 0;
    s.leaf[0] = circuit_arithmetic(c, GATE_ADD, code, circuit_number(c, first));
    return s;
  }
  case TYPE_INT: /* code_count refuses these */
  case TYPE_ROUND:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR: break;
  }
  refuse_type(l, (struct span){0, 0});
}
