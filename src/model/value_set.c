/* Sets: a bit mask while the members are few, else the sorted vector of the members. */
#include "model/value.h"

#include "model/parts_buffer.h"

/* Identities stand for themselves, so that sets of one role and of any role look alike. */
static uint64_t bit_of(const struct values *values, const struct type *t, value member) {
  return t->element->kind == TYPE_PROCESS ? (uint64_t)member : type_index(values, t->element, member);
}

value set_empty(struct values *values, const struct type *t) { return t->mask ? 0 : value_vector(values, NULL, 0); }

/* Where member is among the sorted parts, or would be; *found says which. */
static size_t place_of(const struct values *values, const struct type *t, const value *part, size_t n, value member,
                       bool *found) {
  size_t low = 0, high = n;
  *found = false;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    int order = value_compare(values, t->element, part[mid], member);
    if (order == 0) {
      *found = true;
      return mid;
    }
    if (order < 0)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

bool set_contains(const struct values *values, const struct type *t, value set, value member) {
  if (t->mask) { /* numbers outside the type may be asked for */
    if (!type_has(values, t->element, member))
      return false;
    return (uint64_t)set >> bit_of(values, t, member) & 1;
  }
  size_t n;
  bool found;
  const value *part = value_parts(values, set, &n);
  place_of(values, t, part, n, member, &found);
  return found;
}

value set_insert(struct values *values, const struct type *t, value set, value member) {
  if (t->mask)
    return (value)((uint64_t)set | UINT64_C(1) << bit_of(values, t, member));
  size_t n;
  bool found;
  const value *part = value_parts(values, set, &n);
  size_t place = place_of(values, t, part, n, member, &found);
  if (found)
    return set;
  struct parts_buffer scratch;
  value *more = parts_init(&scratch, n + 1);
  for (size_t i = 0; i < place; i++)
    more[i] = part[i];
  more[place] = member;
  for (size_t i = place; i < n; i++)
    more[i + 1] = part[i];
  return parts_finish(&scratch, values, n + 1);
}

enum { ONLY_A = 1, ONLY_B = 2, BOTH = 4 };

/* One pass over two sorted vectors, keeping the members that are where `keep` says. */
static value merge(struct values *values, const struct type *t, value a, value b, int keep) {
  size_t na, nb, n = 0, i = 0, j = 0;
  const value *x = value_parts(values, a, &na), *y = value_parts(values, b, &nb);
  struct parts_buffer scratch;
  value *out = parts_init(&scratch, na + nb);
  while (i < na || j < nb) {
    int order = i == na ? 1 : j == nb ? -1 : value_compare(values, t->element, x[i], y[j]);
    int where = order < 0 ? ONLY_A : order > 0 ? ONLY_B : BOTH;
    if (keep & where)
      out[n++] = order <= 0 ? x[i] : y[j];
    i += order <= 0;
    j += order >= 0;
  }
  return parts_finish(&scratch, values, n);
}

value set_union(struct values *values, const struct type *t, value a, value b) {
  return t->mask ? a | b : merge(values, t, a, b, ONLY_A | ONLY_B | BOTH);
}

value set_intersection(struct values *values, const struct type *t, value a, value b) {
  return t->mask ? a & b : merge(values, t, a, b, BOTH);
}

value set_difference(struct values *values, const struct type *t, value a, value b) {
  return t->mask ? a & ~b : merge(values, t, a, b, ONLY_A);
}

bool set_is_subset(const struct values *values, const struct type *t, value a, value b) {
  if (t->mask)
    return (a & ~b) == 0;
  uint64_t cursor = 0;
  value member;
  while (set_member(values, t, a, &cursor, &member))
    if (!set_contains(values, t, b, member))
      return false;
  return true;
}

uint64_t set_size(const struct values *values, const struct type *t, value set) {
  if (t->mask)
    return (uint64_t)__builtin_popcountll((unsigned long long)set);
  size_t n;
  value_parts(values, set, &n);
  return n;
}

bool set_member(const struct values *values, const struct type *t, value set, uint64_t *cursor, value *member) {
  if (!t->mask) {
    size_t n;
    const value *part = value_parts(values, set, &n);
    if (*cursor >= n)
      return false;
    *member = part[(*cursor)++];
    return true;
  }
  uint64_t rest = *cursor < 64 ? (uint64_t)set >> *cursor : 0;
  if (rest == 0)
    return false;
  uint64_t bit = *cursor + (uint64_t)__builtin_ctzll(rest);
  *cursor = bit + 1;
  /* Elements of a mask are few, so those that are handles were all made when the members were put
     in; type_nth only finds them again. */
  if (t->element->kind == TYPE_PROCESS)
    *member = (value)bit;
  else if (t->element->kind == TYPE_RANGE) /* it may be a set of more numbers, which is told to be outside this type */
    *member = t->element->lo + (value)bit;
  else
    *member = type_nth((struct values *)(uintptr_t)values, t->element, bit);
  return true;
}
