/* Values that come from outside, such as those of a checkpoint: is a number a value of its type? */
#include "model/value.h"

/* No run has so many rounds; larger numbers would make tables by round number too large. */
#define ROUND_MAX ((value)1 << 28)

static bool parts_are_sound(const struct values *values, const struct type *t, value v) {
  if (v < 0 || (uint64_t)v >= intern_count(values->vectors))
    return false;
  size_t n;
  const value *part = value_parts(values, v, &n);
  if ((t->kind == TYPE_RECORD && n != t->size) || (t->kind == TYPE_ARRAY && n != t->index->count) ||
      (t->kind == TYPE_SEQUENCE && n > (uint64_t)t->hi))
    return false;
  for (size_t i = 0; i < n; i++)
    if (!value_is_sound(values, type_part(t, i), part[i]))
      return false;
  return true;
}

static bool set_is_sound(const struct values *values, const struct type *t, value v) {
  if (t->mask)
    return type_has(values, t, v);
  if (!parts_are_sound(values, t, v))
    return false;
  size_t n;
  const value *part = value_parts(values, v, &n);
  for (size_t i = 1; i < n; i++)
    if (value_compare(values, t->element, part[i - 1], part[i]) >= 0)
      return false;
  return true;
}

bool value_is_sound(const struct values *values, const struct type *t, value v) {
  switch (t->kind) {
  case TYPE_BOOL:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
    return type_has(values, t, v);
  case TYPE_ROUND:
    return v >= 0 && v <= ROUND_MAX;
  case TYPE_OPTION:
    return v == VALUE_NONE || value_is_sound(values, t->element, value_unwrap(v));
  case TYPE_SET:
    return set_is_sound(values, t, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return parts_are_sound(values, t, v) && (!t->distinct || type_has(values, t, v));
  case TYPE_INT:
    return number_fits(v);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return false; /* never stored */
}
