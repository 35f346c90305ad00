/* Finite types: how many values they have, and the value <-> index bijection. Indices follow
   value_compare (records, arrays and sequences count with their first part as the most
   significant), except for sets, whose index is their mask. */
#include "model/value.h"

#include "model/model.h"
#include "model/parts_buffer.h"

#include <assert.h>

#define SATURATED UINT64_MAX
#define MASK_BITS 62 /* leaves the sign and the none encodings alone */

static uint64_t plus(uint64_t a, uint64_t b) { return a > SATURATED - b ? SATURATED : a + b; }

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t product;
  if (a == 0 || b == 0)
    return 0;
  if (a == SATURATED || b == SATURATED || __builtin_mul_overflow(a, b, &product))
    return SATURATED;
  return product;
}

static uint64_t power(uint64_t base, uint64_t exponent) {
  if (base <= 1)
    return exponent == 0 ? 1 : base;
  uint64_t result = 1;
  for (uint64_t i = 0; i < exponent && result != SATURATED; i++)
    result = times(result, base);
  return result;
}

/* How many elements may follow `depth` chosen ones. */
static uint64_t sequence_choices(const struct type *t, uint64_t depth) {
  uint64_t n = t->element->count;
  if (!t->distinct || n == SATURATED)
    return n;
  return depth < n ? n - depth : 0;
}

static uint64_t sequence_longest(const struct type *t) {
  return t->distinct && (uint64_t)t->hi > t->element->count ? t->element->count : (uint64_t)t->hi;
}

/* Sequences that begin with given `depth` elements, those themselves included. */
static uint64_t sequence_extensions(const struct type *t, uint64_t depth) {
  uint64_t longest = sequence_longest(t);
  if (!t->distinct && t->element->count == 1)
    return longest - depth + 1;
  uint64_t total = 1, block = 1; /* block: sequences of the length looked at */
  for (uint64_t d = depth; d < longest && total != SATURATED; d++) {
    block = times(block, sequence_choices(t, d));
    total = plus(total, block);
    if (block == 0)
      break;
  }
  return total;
}

static void finish_process(struct type *t, const struct model *m) {
  t->first = t->role == ROLE_ANY ? 0 : m->roles[t->role].first;
  t->count = t->role == ROLE_ANY ? m->nprocesses : m->roles[t->role].count;
}

static void finish_set(struct type *t, const struct model *m) {
  /* Sets of identities are masks over all identities whatever their role, so that sets of one role
     and of any role mix without conversion. */
  uint64_t bits = t->element->kind == TYPE_PROCESS ? m->nprocesses : t->element->count;
  t->mask = bits <= MASK_BITS;
  t->count = t->element->count < 63 ? UINT64_C(1) << t->element->count : SATURATED;
}

static uint64_t record_count(const struct type *t) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < t->size; i++)
    count = times(count, t->fields[i].type->count);
  return count;
}

void type_finish(struct type *t, const struct model *m) {
  switch (t->kind) {
  case TYPE_BOOL:
    t->count = 2;
    break;
  case TYPE_RANGE:
    t->count = plus((uint64_t)t->hi - (uint64_t)t->lo, 1);
    break;
  case TYPE_ENUM:
    t->count = t->size;
    break;
  case TYPE_PROCESS:
    finish_process(t, m);
    break;
  case TYPE_OPTION:
    t->count = plus(t->element->count, 1);
    break;
  case TYPE_SET:
    finish_set(t, m);
    break;
  case TYPE_RECORD:
    t->count = record_count(t);
    break;
  case TYPE_ARRAY:
    t->count = t->index->count == SATURATED ? SATURATED : power(t->element->count, t->index->count);
    break;
  case TYPE_SEQUENCE:
    t->count = sequence_extensions(t, 0);
    break;
  case TYPE_INT:
  case TYPE_ROUND:
  case TYPE_BAG:
  case TYPE_ERROR:
    t->count = SATURATED;
    break;
  }
}

/* RECORD, ARRAY: how many parts each value has. */
static uint64_t parts_count(const struct type *t) { return t->kind == TYPE_RECORD ? t->size : t->index->count; }

/* A number in mixed radix, the last part as the least significant digit. */
static value parts_nth(struct values *values, const struct type *t, uint64_t index) {
  struct parts_buffer scratch;
  size_t n = memory_size(parts_count(t));
  value *part = parts_init(&scratch, n);
  for (size_t i = n; i-- > 0;) {
    uint64_t radix = type_part(t, i)->count;
    part[i] = type_nth(values, type_part(t, i), index % radix);
    index /= radix;
  }
  return parts_finish(&scratch, values, n);
}

/* The rank-th element that the first n parts do not hold (ranks count in the order of indices). */
static value unused_nth(struct values *values, const struct type *element, const value *part, uint64_t n,
                        uint64_t rank) {
  for (uint64_t candidate = 0;; candidate++) {
    value v = type_nth(values, element, candidate);
    bool taken = false;
    for (uint64_t i = 0; i < n && !taken; i++)
      taken = part[i] == v;
    if (!taken && rank-- == 0)
      return v;
  }
}

/* Sequences count as a walk through the tree of prefixes, a prefix before its extensions. */
static value sequence_nth(struct values *values, const struct type *t, uint64_t index) {
  struct parts_buffer scratch;
  uint64_t n = 0, longest = sequence_longest(t);
  value *part = parts_init(&scratch, longest);
  while (index > 0) {
    assert(n < longest);
    uint64_t below = sequence_extensions(t, n + 1);
    uint64_t rank = (index - 1) / below;
    index = (index - 1) % below;
    part[n] = t->distinct ? unused_nth(values, t->element, part, n, rank) : type_nth(values, t->element, rank);
    n++;
  }
  return parts_finish(&scratch, values, (size_t)n);
}

static value set_nth(struct values *values, const struct type *t, uint64_t index) {
  if (t->mask && t->element->kind == TYPE_PROCESS)
    return (value)(index << t->element->first);
  if (t->mask)
    return (value)index;
  value set = set_empty(values, t);
  for (uint64_t i = 0; index >> i; i++)
    if (index >> i & 1)
      set = set_insert(values, t, set, type_nth(values, t->element, i));
  return set;
}

value type_nth(struct values *values, const struct type *t, uint64_t index) {
  assert(index < t->count);
  switch (t->kind) {
  case TYPE_BOOL:
  case TYPE_ENUM:
  case TYPE_INT:
  case TYPE_ROUND:
  case TYPE_BAG:
  case TYPE_ERROR:
    return (value)index;
  case TYPE_RANGE:
    return (value)((uint64_t)t->lo + index);
  case TYPE_PROCESS:
    return t->first + (value)index;
  case TYPE_OPTION:
    return index == 0 ? VALUE_NONE : value_wrap(type_nth(values, t->element, index - 1));
  case TYPE_SET:
    return set_nth(values, t, index);
  case TYPE_RECORD:
  case TYPE_ARRAY:
    return parts_nth(values, t, index);
  case TYPE_SEQUENCE:
    return sequence_nth(values, t, index);
  }
  return 0;
}

static uint64_t sequence_index(const struct values *values, const struct type *t, value v) {
  size_t n;
  const value *part = value_parts(values, v, &n);
  uint64_t index = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t rank = type_index(values, t->element, part[i]), own = rank;
    for (size_t j = 0; t->distinct && j < i; j++)
      rank -= type_index(values, t->element, part[j]) < own;
    index += 1 + rank * sequence_extensions(t, i + 1);
  }
  return index;
}

static uint64_t set_index(const struct values *values, const struct type *t, value v) {
  if (t->mask)
    return t->element->kind == TYPE_PROCESS ? (uint64_t)v >> t->element->first : (uint64_t)v;
  uint64_t index = 0, cursor = 0;
  value member;
  while (set_member(values, t, v, &cursor, &member))
    index |= UINT64_C(1) << type_index(values, t->element, member);
  return index;
}

static uint64_t parts_index(const struct values *values, const struct type *t, value v) {
  size_t n;
  const value *part = value_parts(values, v, &n);
  uint64_t index = 0;
  for (size_t i = 0; i < n; i++) {
    index = index * type_part(t, i)->count + type_index(values, type_part(t, i), part[i]);
  }
  return index;
}

uint64_t type_index(const struct values *values, const struct type *t, value v) {
  switch (t->kind) {
  case TYPE_BOOL:
  case TYPE_ENUM:
  case TYPE_INT:
  case TYPE_ROUND:
  case TYPE_BAG:
  case TYPE_ERROR:
    return (uint64_t)v;
  case TYPE_RANGE:
    return (uint64_t)v - (uint64_t)t->lo;
  case TYPE_PROCESS:
    return (uint64_t)(v - t->first);
  case TYPE_OPTION:
    return v == VALUE_NONE ? 0 : 1 + type_index(values, t->element, value_unwrap(v));
  case TYPE_SET:
    return set_index(values, t, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
    return parts_index(values, t, v);
  case TYPE_SEQUENCE:
    return sequence_index(values, t, v);
  }
  return 0;
}

static bool set_fits(const struct values *values, const struct type *t, value v) {
  if (t->mask) {
    uint64_t first = t->element->kind == TYPE_PROCESS ? (uint64_t)t->element->first : 0;
    uint64_t all = ((UINT64_C(1) << t->element->count) - 1) << first;
    return ((uint64_t)v & ~all) == 0;
  }
  uint64_t cursor = 0;
  value member;
  while (set_member(values, t, v, &cursor, &member))
    if (!type_has(values, t->element, member))
      return false;
  return true;
}

static bool parts_fit(const struct values *values, const struct type *t, value v) {
  size_t n;
  const value *part = value_parts(values, v, &n);
  if (t->kind == TYPE_SEQUENCE && n > (uint64_t)t->hi)
    return false;
  for (size_t i = 0; i < n; i++) {
    if (!type_has(values, type_part(t, i), part[i]))
      return false;
    for (size_t j = 0; t->distinct && j < i; j++)
      if (part[i] == part[j])
        return false;
  }
  return true;
}

bool type_has(const struct values *values, const struct type *t, value v) {
  switch (t->kind) {
  case TYPE_BOOL:
    return v == 0 || v == 1;
  case TYPE_RANGE:
    return t->lo <= v && v <= t->hi;
  case TYPE_ENUM:
    return v >= 0 && v < (value)t->size;
  case TYPE_PROCESS:
    return v >= t->first && (uint64_t)(v - t->first) < t->count;
  case TYPE_ROUND:
    return v >= 0;
  case TYPE_OPTION:
    return v == VALUE_NONE || type_has(values, t->element, value_unwrap(v));
  case TYPE_SET:
    return set_fits(values, t, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return parts_fit(values, t, v);
  case TYPE_INT:
  case TYPE_BAG:
  case TYPE_ERROR:
    return true;
  }
  return true;
}

static value parts_default(struct values *values, const struct type *t) {
  struct parts_buffer scratch;
  size_t n = memory_size(parts_count(t));
  value *part = parts_init(&scratch, n);
  for (size_t i = 0; i < n; i++)
    part[i] = i > 0 && t->kind == TYPE_ARRAY ? part[0] : type_default(values, type_part(t, i));
  return parts_finish(&scratch, values, n);
}

value type_default(struct values *values, const struct type *t) {
  switch (t->kind) {
  case TYPE_RANGE:
    return t->lo;
  case TYPE_PROCESS:
    return t->first;
  case TYPE_OPTION:
    return VALUE_NONE;
  case TYPE_SET:
    return set_empty(values, t);
  case TYPE_RECORD:
  case TYPE_ARRAY:
    return parts_default(values, t);
  case TYPE_SEQUENCE:
    return value_vector(values, NULL, 0);
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_ENUM:
  case TYPE_ROUND:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return 0;
}

bool type_any(const struct type *t, type_test_fn *is, const void *context) {
  if (!t)
    return false;
  if (is(context, t) || type_any(t->element, is, context) || type_any(t->index, is, context))
    return true;
  for (uint32_t i = 0; t->kind == TYPE_RECORD && i < t->size; i++)
    if (type_any(t->fields[i].type, is, context))
      return true;
  return false;
}

static bool is_of_kind(const void *kind, const struct type *t) { return t->kind == *(const enum type_kind *)kind; }
static bool is_same_type(const void *inner, const struct type *t) { return t == inner; }

uint32_t option_depth_beyond(const struct type *a, const struct type *b) {
  uint32_t n = 0;
  for (; b->kind == TYPE_OPTION && a->kind == TYPE_OPTION; a = a->element)
    b = b->element;
  for (; a->kind == TYPE_OPTION && b->kind != TYPE_OPTION; a = a->element)
    n++;
  return n;
}

bool type_contains_kind(const struct type *t, enum type_kind kind) { return type_any(t, is_of_kind, &kind); }
bool type_contains(const struct type *t, const struct type *inner) { return type_any(t, is_same_type, inner); }
