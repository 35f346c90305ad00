/* Values: handles, order by content, renaming. Sets are in value_set.c, finite types in type.c. */
#include "model/value.h"

#include "base/hash.h"
#include "model/parts_buffer.h"

#include <string.h>

void values_init(struct values *values) { values->vectors = intern_new(); }

void values_release(struct values *values) {
  intern_free(values->vectors);
  values->vectors = NULL;
}

value value_wrap(value element) { return element < VALUE_NONE_LAST ? element + 1 : element; }

value value_unwrap(value option) { return option <= VALUE_NONE_LAST ? option - 1 : option; }

value value_vector(struct values *values, const value *parts, size_t n) {
  return intern_put(values->vectors, parts, n);
}

const value *value_parts(const struct values *values, value handle, size_t *n) {
  *n = intern_length(values->vectors, (uint32_t)handle);
  return intern_at(values->vectors, (uint32_t)handle);
}

static int compare_numbers(value a, value b) { return a < b ? -1 : a > b; }

static int compare_sets(const struct values *values, const struct type *t, value a, value b) {
  uint64_t at_a = 0, at_b = 0;
  value x, y;
  for (;;) {
    bool more_a = set_member(values, t, a, &at_a, &x), more_b = set_member(values, t, b, &at_b, &y);
    if (!more_a || !more_b)
      return (int)more_a - (int)more_b;
    int order = value_compare(values, t->element, x, y);
    if (order)
      return order;
  }
}

static int compare_parts(const struct values *values, const struct type *t, value a, value b) {
  size_t na, nb;
  const value *x = value_parts(values, a, &na), *y = value_parts(values, b, &nb);
  for (size_t i = 0; i < na && i < nb; i++) {
    int order = value_compare(values, type_part(t, i), x[i], y[i]);
    if (order)
      return order;
  }
  return na < nb ? -1 : na > nb;
}

int value_compare(const struct values *values, const struct type *t, value a, value b) {
  if (a == b)
    return 0;
  switch (t->kind) {
  case TYPE_OPTION:
    if (a == VALUE_NONE || b == VALUE_NONE)
      return a == VALUE_NONE ? -1 : 1;
    return value_compare(values, t->element, value_unwrap(a), value_unwrap(b));
  case TYPE_SET:
    return compare_sets(values, t, a, b);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
    return compare_parts(values, t, a, b);
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
  case TYPE_ERROR:
    break;
  }
  return compare_numbers(a, b);
}

uint64_t value_hash(const struct values *values, const struct type *t, value v) {
  uint64_t h = hash_mix(0x7EA1, t->kind);
  switch (t->kind) {
  case TYPE_OPTION:
    return v == VALUE_NONE ? hash_mix(h, 1) : hash_mix(h, value_hash(values, t->element, value_unwrap(v)));
  case TYPE_SET: {
    if (t->mask)
      return hash_mix(h, (uint64_t)v);
    value member;
    for (uint64_t cursor = 0; set_member(values, t, v, &cursor, &member);)
      h = hash_mix(h, value_hash(values, t->element, member));
    return h;
  }
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
  case TYPE_BAG: {
    size_t n;
    const value *part = value_parts(values, v, &n);
    for (size_t i = 0; i < n; i++)
      h = hash_mix(h, value_hash(values, type_part(t, i), part[i]));
    return hash_mix(h, n);
  }
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
  case TYPE_ERROR:
    break;
  }
  return hash_mix(h, (uint64_t)v);
}

static value rename_set(struct values *values, const struct type *t, value v, const struct renaming *r) {
  value result = set_empty(values, t), member;
  for (uint64_t cursor = 0; set_member(values, t, v, &cursor, &member);)
    result = set_insert(values, t, result, value_rename(values, t->element, member, r));
  return result;
}

/* The place of the i-th part. Parts of records and sequences keep theirs; new[rename(i)] = rename(old[i]) in an array.
 */
static size_t renamed_place(struct values *values, const struct type *t, size_t i, const struct renaming *r) {
  if (t->kind != TYPE_ARRAY)
    return i;
  return (size_t)type_index(values, t->index, value_rename(values, t->index, type_nth(values, t->index, i), r));
}

static value rename_parts(struct values *values, const struct type *t, value v, const struct renaming *r) {
  size_t n;
  const value *old = value_parts(values, v, &n);
  struct parts_buffer scratch;
  value *part = parts_init(&scratch, n);
  for (size_t i = 0; i < n; i++) {
    value x = value_rename(values, type_part(t, i), old[i], r);
    size_t j = renamed_place(values, t, i, r);
    if (t->kind == TYPE_BAG) /* the sorted vector of its elements */
      for (; j > 0 && value_compare(values, t->element, part[j - 1], x) > 0; j--)
        part[j] = part[j - 1];
    part[j] = x;
  }
  return parts_finish(&scratch, values, n);
}

static bool touched(const struct type *t, const struct renaming *r) {
  return (r->process && type_contains_kind(t, TYPE_PROCESS)) ||
         ((r->rounds || r->shift) && type_contains_kind(t, TYPE_ROUND)) || (r->type && type_contains(t, r->type));
}

value value_rename(struct values *values, const struct type *t, value v, const struct renaming *r) {
  if (r->type && t == r->type)
    return type_nth(values, t, r->to[type_index(values, t, v)]);
  switch (t->kind) {
  case TYPE_PROCESS:
    return r->process ? (value)r->process[v] : v;
  case TYPE_ROUND:
    if (r->shift)
      return v < r->shift->from ? r->shift->old : v + r->shift->by;
    return r->rounds ? r->rounds[v] : v;
  case TYPE_OPTION:
    return v == VALUE_NONE ? v : value_wrap(value_rename(values, t->element, value_unwrap(v), r));
  case TYPE_SET:
    return touched(t->element, r) ? rename_set(values, t, v, r) : v;
  case TYPE_RECORD:
  case TYPE_SEQUENCE:
  case TYPE_ARRAY:
  case TYPE_BAG:
    return touched(t, r) ? rename_parts(values, t, v, r) : v;
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_ERROR:
    break;
  }
  return v;
}

bool value_holds(const struct values *values, const struct type *t, value v, type_test_fn *is_leaf, const void *context,
                 value neutral) {
  if (!type_any(t, is_leaf, context))
    return false;
  if (is_leaf(context, t))
    return v != neutral;
  switch (t->kind) {
  case TYPE_OPTION:
    return v != VALUE_NONE && value_holds(values, t->element, value_unwrap(v), is_leaf, context, neutral);
  case TYPE_SET: {
    value member;
    for (uint64_t cursor = 0; set_member(values, t, v, &cursor, &member);)
      if (value_holds(values, t->element, member, is_leaf, context, neutral))
        return true;
    return false;
  }
  case TYPE_RECORD:
  case TYPE_SEQUENCE:
  case TYPE_ARRAY: {
    size_t n;
    const value *part = value_parts(values, v, &n);
    bool indexed = t->kind == TYPE_ARRAY && type_any(t->index, is_leaf, context);
    for (size_t i = 0; i < n; i++)
      if ((indexed && part[i] != part[0]) || value_holds(values, type_part(t, i), part[i], is_leaf, context, neutral))
        return true;
    return false;
  }
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return true;
}

void value_each_round(const struct values *values, const struct type *t, value v, value_round_fn *visit,
                      void *context) {
  switch (t->kind) {
  case TYPE_ROUND:
    visit(context, v);
    return;
  case TYPE_OPTION:
    if (v != VALUE_NONE)
      value_each_round(values, t->element, value_unwrap(v), visit, context);
    return;
  case TYPE_SET: {
    if (!type_contains_kind(t->element, TYPE_ROUND))
      return;
    value member;
    for (uint64_t cursor = 0; set_member(values, t, v, &cursor, &member);)
      value_each_round(values, t->element, member, visit, context);
    return;
  }
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
  case TYPE_BAG: {
    if (!type_contains_kind(t, TYPE_ROUND))
      return;
    size_t n;
    const value *part = value_parts(values, v, &n);
    for (size_t i = 0; i < n; i++)
      value_each_round(values, type_part(t, i), part[i], visit, context);
    return;
  }
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ERROR:
    return;
  }
}

static void widen_span(void *context, value round) {
  struct round_span *span = context;
  span->lo = round < span->lo ? round : span->lo;
  span->hi = round > span->hi ? round : span->hi;
}

void value_round_span(const struct values *values, const struct type *t, value v, struct round_span *span) {
  value_each_round(values, t, v, widen_span, span);
}
