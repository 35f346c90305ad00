#include "symbolic/sym_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MEMBERS_MOST 4096 /* limit for members of a set and parts of an array */

void encode_refuse(struct encoder *e, struct span at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(e->refusal.reason, sizeof e->refusal.reason, format, args);
  va_end(args);
  e->refusal.at = at;
  longjmp(*e->refused, 1);
}

void refuse_unknown_operator(struct encoder *e, const struct node *n) {
  encode_refuse(e, n->at, "'%s' is not encoded", op_text(n->op));
}

void refuse_unknown_type(struct encoder *e) { encode_refuse(e, e->at, "values of this type are not encoded"); }

static struct sym_value *make(struct encoder *e, enum sym_value_kind kind) {
  struct sym_value *v = arena_alloc(&e->arena, sizeof *v);
  v->kind = kind;
  return v;
}

struct sym_value *sym_truth(struct encoder *e, truth b) {
  struct sym_value *v = make(e, SYM_BOOLEAN);
  v->truth = b;
  return v;
}

struct sym_value *sym_number(struct encoder *e, struct number n) {
  struct sym_value *v = make(e, SYM_NUMBER);
  v->number = n;
  return v;
}

static struct sym_value *make_parts(struct encoder *e, enum sym_value_kind kind, uint64_t n) {
  if (n > MEMBERS_MOST)
    encode_refuse(e, e->at, "a value of more than %d parts", MEMBERS_MOST);
  struct sym_value *v = make(e, kind);
  v->n = (uint32_t)n;
  v->part = arena_array(&e->arena, n + 1, sizeof *v->part);
  return v;
}

static struct sym_value *make_option(struct encoder *e, truth some, struct sym_value *element) {
  struct sym_value *v = make_parts(e, SYM_OPTION, 1);
  v->truth = some;
  v->part[0] = element;
  return v;
}

/* ---- sets: possible members ---- */

static struct sym_value *make_set(struct encoder *e, const struct type *element, int64_t base, uint64_t n) {
  if (n > MEMBERS_MOST)
    encode_refuse(e, e->at, "a set with more than %d possible members", MEMBERS_MOST);
  struct sym_value *v = make(e, SYM_SET);
  v->element = element;
  v->base = base;
  v->n = (uint32_t)n;
  v->has = arena_array(&e->arena, n + 1, sizeof *v->has);
  for (uint32_t i = 0; i < v->n; i++)
    v->has[i] = e->t.no;
  return v;
}

static bool is_number(const struct type *t) {
  return t->kind == TYPE_INT || t->kind == TYPE_RANGE || t->kind == TYPE_ENUM || t->kind == TYPE_PROCESS ||
         t->kind == TYPE_ROUND;
}

/* An empty set with room for all values of the element type; for unbounded numbers, with room for none. */
static struct sym_value *whole_set(struct encoder *e, const struct type *element) {
  switch (element->kind) {
  case TYPE_INT:
  case TYPE_ROUND:
    return make_set(e, NULL, 0, 0);
  case TYPE_RANGE:
    return make_set(e, NULL, element->lo, element->count);
  case TYPE_ENUM:
    return make_set(e, NULL, 0, element->count);
  case TYPE_PROCESS:
    return make_set(e, NULL, 0, e->model->nprocesses);
  case TYPE_BOOL:
  case TYPE_OPTION:
  case TYPE_SET:
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return make_set(e, element, 0, element->count);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(e);
}

struct sym_value *sym_empty(struct encoder *e, const struct type *set) {
  return is_number(set->element) ? make_set(e, NULL, 0, 0) : whole_set(e, set->element);
}

struct sym_value *sym_identities(struct encoder *e, const truth *has) {
  struct sym_value *v = make_set(e, NULL, 0, e->model->nprocesses);
  memcpy(v->has, has, v->n * sizeof *has);
  return v;
}

struct sym_value *sym_member(struct encoder *e, const struct sym_value *set, uint32_t i) {
  return set->element ? sym_nth_value(e, set->element, i) : sym_number(e, number_of(set->base + i));
}

static bool same_types(const struct type *a, const struct type *b) {
  if (a == b)
    return true;
  if (a->kind != b->kind || a->count != b->count)
    return false;
  switch (a->kind) {
  case TYPE_BOOL:
    return true;
  case TYPE_RANGE:
    return a->lo == b->lo;
  case TYPE_PROCESS:
    return a->role == b->role;
  case TYPE_OPTION:
  case TYPE_SET:
    return same_types(a->element, b->element);
  case TYPE_SEQUENCE:
    return a->hi == b->hi && a->distinct == b->distinct && same_types(a->element, b->element);
  case TYPE_ARRAY:
    return same_types(a->index, b->index) && same_types(a->element, b->element);
  case TYPE_RECORD:
    for (uint32_t i = 0; i < a->size; i++)
      if (!same_types(a->fields[i].type, b->fields[i].type))
        return false;
    return a->size == b->size;
  case TYPE_INT:
  case TYPE_ENUM:
  case TYPE_ROUND:
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  return false;
}

/* An empty set with room for the possible members of both sets. */
static struct sym_value *room_for(struct encoder *e, const struct sym_value *a, const struct sym_value *b) {
  if (a->element || b->element) {
    if (!a->element || !b->element || !same_types(a->element, b->element))
      encode_refuse(e, e->at, "sets of differently typed members");
    return make_set(e, a->element, 0, a->n);
  }
  if (a->n == 0 || b->n == 0)
    return make_set(e, NULL, a->n ? a->base : b->base, a->n ? a->n : b->n);
  int64_t low = a->base < b->base ? a->base : b->base;
  int64_t end_a = a->base + a->n, end_b = b->base + b->n;
  return make_set(e, NULL, low, (uint64_t)((end_a > end_b ? end_a : end_b) - low));
}

/* Is the i-th member of `room` in the set? */
static truth at_member(const struct encoder *e, const struct sym_value *set, const struct sym_value *room, uint32_t i) {
  int64_t k = room->base + i - set->base;
  return k >= 0 && k < set->n ? set->has[k] : e->t.no;
}

typedef truth truth_fn(struct terms *, truth, truth);

static struct sym_value *combine_sets(struct encoder *e, const struct sym_value *a, const struct sym_value *b,
                                      truth_fn *of) {
  struct sym_value *v = room_for(e, a, b);
  for (uint32_t i = 0; i < v->n; i++)
    v->has[i] = of(&e->t, at_member(e, a, v, i), at_member(e, b, v, i));
  return v;
}

static truth and_not(struct terms *t, truth a, truth b) { return truth_and(t, a, truth_not(t, b)); }

struct sym_value *sym_union(struct encoder *e, const struct sym_value *a, const struct sym_value *b) {
  return combine_sets(e, a, b, truth_or);
}

struct sym_value *sym_intersect(struct encoder *e, const struct sym_value *a, const struct sym_value *b) {
  return combine_sets(e, a, b, truth_and);
}

struct sym_value *sym_minus(struct encoder *e, const struct sym_value *a, const struct sym_value *b) {
  return combine_sets(e, a, b, and_not);
}

/* Does the relation hold between both sets at every possible member? */
static truth compare_sets(struct encoder *e, const struct sym_value *a, const struct sym_value *b, truth_fn *of) {
  const struct sym_value *all = combine_sets(e, a, b, of);
  return truth_all(&e->t, all->has, all->n);
}

truth sym_subset(struct encoder *e, const struct sym_value *a, const struct sym_value *b) {
  return compare_sets(e, a, b, truth_implies);
}

truth sym_has(struct encoder *e, const struct sym_value *set, const struct sym_value *member) {
  if (!set->element && member->kind == SYM_NUMBER && number_constant(member->number)) {
    int64_t k = member->number.lo - set->base;
    return k >= 0 && k < set->n ? set->has[k] : e->t.no;
  }
  truth *any = arena_array(&e->arena, set->n + 1, sizeof *any);
  for (uint32_t i = 0; i < set->n; i++)
    any[i] =
        set->has[i] == e->t.no ? e->t.no : truth_and(&e->t, set->has[i], sym_equal(e, member, sym_member(e, set, i)));
  return truth_any(&e->t, any, set->n);
}

struct number sym_size(struct encoder *e, const struct sym_value *set) {
  return number_count(&e->t, set->has, set->n);
}

struct sym_value *sym_set_of(struct encoder *e, const struct type *set, const truth *guard,
                             struct sym_value *const *element, size_t n) {
  struct sym_value *v;
  if (is_number(set->element)) {
    int64_t lo = 0, hi = -1;
    for (size_t i = 0; i < n; i++) {
      struct number x = element[i]->number;
      if (x.lo == NUMBER_LEAST || x.hi == NUMBER_MOST)
        encode_refuse(e, e->at, "a set of numbers without bound");
      lo = hi < lo || x.lo < lo ? x.lo : lo;
      hi = i == 0 || x.hi > hi ? x.hi : hi;
    }
    v = make_set(e, NULL, lo, (uint64_t)(hi - lo + 1));
  } else {
    v = whole_set(e, set->element);
  }
  truth *any = arena_array(&e->arena, n + 1, sizeof *any);
  for (uint32_t i = 0; i < v->n; i++) {
    struct sym_value *member = sym_member(e, v, i);
    for (size_t k = 0; k < n; k++)
      any[k] = truth_and(&e->t, guard[k], sym_equal(e, element[k], member));
    v->has[i] = truth_any(&e->t, any, n);
  }
  return v;
}

/* ---- making values ---- */

static uint64_t part_count(const struct type *t) { return t->kind == TYPE_RECORD ? t->size : t->index->count; }

static const struct type *part_type(const struct type *t, uint32_t i) {
  return t->kind == TYPE_RECORD ? t->fields[i].type : t->element;
}

static struct sym_value *const_set(struct encoder *e, const struct type *t, value v) {
  struct values *values = &e->model->values;
  uint64_t cursor = 0, n = 0, size = set_size(values, t, v);
  truth *guard = arena_array(&e->arena, size + 1, sizeof *guard);
  struct sym_value **member = arena_array(&e->arena, size + 1, sizeof *member);
  for (value x; n < size && set_member(values, t, v, &cursor, &x); n++) {
    guard[n] = e->t.yes;
    member[n] = sym_const(e, t->element, x);
  }
  return sym_set_of(e, t, guard, member, n);
}

static struct sym_value *const_parts(struct encoder *e, const struct type *t, value v) {
  size_t n;
  value_parts(&e->model->values, v, &n);
  struct sym_value *made = make_parts(e, t->kind == TYPE_SEQUENCE ? SYM_SEQUENCE : SYM_PARTS, n);
  made->number = number_of((int64_t)n);
  for (uint32_t i = 0; i < n; i++) {
    size_t length;
    value part = value_parts(&e->model->values, v, &length)[i];
    made->part[i] = sym_const(e, t->kind == TYPE_SEQUENCE ? t->element : part_type(t, i), part);
  }
  return made;
}

struct sym_value *sym_const(struct encoder *e, const struct type *t, value v) {
  switch (t->kind) {
  case TYPE_BOOL:
    return sym_truth(e, truth_of(&e->t, v != 0));
  case TYPE_OPTION:
    return v == VALUE_NONE ? make_option(e, e->t.no, NULL)
                           : make_option(e, e->t.yes, sym_const(e, t->element, value_unwrap(v)));
  case TYPE_SET:
    return const_set(e, t, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return const_parts(e, t, v);
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    return sym_number(e, number_of(v));
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(e);
}

struct sym_value *sym_nth_value(struct encoder *e, const struct type *t, uint64_t index) {
  return sym_const(e, t, type_nth(&e->model->values, t, index));
}

struct sym_value *sym_default(struct encoder *e, const struct type *t) {
  return sym_const(e, t, type_default(&e->model->values, t));
}

static struct number new_number(struct encoder *e, const struct type *t, const char *name) {
  if (t->kind == TYPE_RANGE)
    return number_new(&e->t, name, t->lo, t->hi);
  if (t->kind == TYPE_ENUM)
    return number_new(&e->t, name, 0, (int64_t)t->size - 1);
  if (t->kind == TYPE_PROCESS)
    return number_new(&e->t, name, t->first, t->first + (int64_t)t->count - 1);
  if (t->kind == TYPE_ROUND && e->t.integers)
    return number_new(&e->t, name, 0, NUMBER_MOST);
  encode_refuse(e, e->at, "a free choice among %s without bound", t->kind == TYPE_ROUND ? "rounds" : "numbers");
}

struct sym_value *sym_new(struct encoder *e, const struct type *t, const char *name) {
  struct sym_value *v;
  char of[120];
  switch (t->kind) {
  case TYPE_BOOL:
    return sym_truth(e, truth_new(&e->t, name));
  case TYPE_OPTION:
    snprintf(of, sizeof of, "%.100s.some", name);
    return make_option(e, truth_new(&e->t, of), sym_new(e, t->element, name));
  case TYPE_SET:
    v = whole_set(e, t->element);
    if (t->element->kind == TYPE_INT || t->element->kind == TYPE_ROUND)
      encode_refuse(e, e->at, "a set of numbers without bound");
    for (uint32_t i = 0; i < v->n; i++) {
      snprintf(of, sizeof of, "%.100s.has%u", name, i);
      v->has[i] = truth_new(&e->t, of);
    }
    terms_fact(&e->t, sym_fits(e, t, v));
    return v;
  case TYPE_RECORD:
  case TYPE_ARRAY:
    v = make_parts(e, SYM_PARTS, part_count(t));
    for (uint32_t i = 0; i < v->n; i++) {
      if (t->kind == TYPE_RECORD)
        snprintf(of, sizeof of, "%.80s.%.30s", name, t->fields[i].name);
      else
        snprintf(of, sizeof of, "%.100s.%u", name, i);
      v->part[i] = sym_new(e, part_type(t, i), of);
    }
    return v;
  case TYPE_SEQUENCE:
    v = make_parts(e, SYM_SEQUENCE, (uint64_t)t->hi);
    snprintf(of, sizeof of, "%.100s.length", name);
    v->number = number_new(&e->t, of, 0, t->hi);
    for (uint32_t i = 0; i < v->n; i++) {
      snprintf(of, sizeof of, "%.100s.%u", name, i);
      v->part[i] = sym_new(e, t->element, of);
    }
    terms_fact(&e->t, sym_fits(e, t, v));
    return v;
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    return sym_number(e, new_number(e, t, name));
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(e);
}

/* ---- if-then-else ---- */

static struct sym_value *if_part(struct encoder *e, truth c, struct sym_value *a, struct sym_value *b) {
  return a && b ? sym_ite(e, c, a, b) : a ? a : b;
}

struct sym_value *sym_ite(struct encoder *e, truth c, struct sym_value *a, struct sym_value *b) {
  struct sym_value *v;
  if (c == e->t.yes || a == b)
    return a;
  if (c == e->t.no)
    return b;
  switch (a->kind) {
  case SYM_BOOLEAN:
    return sym_truth(e, truth_if(&e->t, c, a->truth, b->truth));
  case SYM_NUMBER:
    return sym_number(e, number_if(&e->t, c, a->number, b->number));
  case SYM_OPTION:
    return make_option(e, truth_if(&e->t, c, a->truth, b->truth), if_part(e, c, a->part[0], b->part[0]));
  case SYM_SET:
    v = room_for(e, a, b);
    for (uint32_t i = 0; i < v->n; i++)
      v->has[i] = truth_if(&e->t, c, at_member(e, a, v, i), at_member(e, b, v, i));
    return v;
  case SYM_PARTS:
  case SYM_SEQUENCE:
    v = make_parts(e, a->kind, a->n > b->n ? a->n : b->n);
    v->number = number_if(&e->t, c, a->number, b->number);
    for (uint32_t i = 0; i < v->n; i++)
      v->part[i] = if_part(e, c, i < a->n ? a->part[i] : NULL, i < b->n ? b->part[i] : NULL);
    return v;
  }
  refuse_unknown_type(e);
}

/* ---- comparing ---- */

truth sym_equal(struct encoder *e, const struct sym_value *a, const struct sym_value *b) {
  struct terms *t = &e->t;
  truth same = t->yes;
  if (a == b)
    return t->yes;
  switch (a->kind) {
  case SYM_BOOLEAN:
    return truth_same(t, a->truth, b->truth);
  case SYM_NUMBER:
    return number_same(t, a->number, b->number);
  case SYM_OPTION:
    same = truth_same(t, a->truth, b->truth);
    if (same == t->no || !a->part[0] || !b->part[0])
      return same;
    return truth_and(t, same, truth_or(t, truth_not(t, a->truth), sym_equal(e, a->part[0], b->part[0])));
  case SYM_SET:
    return compare_sets(e, a, b, truth_same);
  case SYM_PARTS:
    for (uint32_t i = 0; i < a->n && same != t->no; i++)
      same = truth_and(t, same, sym_equal(e, a->part[i], b->part[i]));
    return same;
  case SYM_SEQUENCE:
    same = number_same(t, a->number, b->number);
    for (uint32_t i = 0; i < a->n && i < b->n && same != t->no; i++)
      same = truth_and(t, same,
                       truth_or(t, number_at_most(t, a->number, number_of(i)), sym_equal(e, a->part[i], b->part[i])));
    return same;
  }
  refuse_unknown_type(e);
}

truth sym_less(struct encoder *e, const struct sym_value *a, const struct sym_value *b) {
  struct terms *t = &e->t;
  truth less = t->no;
  if (a->kind == SYM_NUMBER)
    return number_less(t, a->number, b->number);
  if (a->kind == SYM_BOOLEAN)
    return truth_and(t, truth_not(t, a->truth), b->truth);
  if (a->kind != SYM_PARTS)
    encode_refuse(e, e->at, "an order of values that are not numbers");
  for (uint32_t i = a->n; i-- > 0;)
    less = truth_or(t, sym_less(e, a->part[i], b->part[i]), truth_and(t, sym_equal(e, a->part[i], b->part[i]), less));
  return less;
}

static truth members_fit(struct encoder *e, const struct type *element, const struct sym_value *set) {
  truth *all = arena_array(&e->arena, set->n + 1, sizeof *all);
  for (uint32_t i = 0; i < set->n; i++)
    all[i] = set->has[i] == e->t.no ? e->t.yes
                                    : truth_implies(&e->t, set->has[i], sym_fits(e, element, sym_member(e, set, i)));
  return truth_all(&e->t, all, set->n);
}

static truth sequence_fits(struct encoder *e, const struct type *t, const struct sym_value *v) {
  truth fits = number_at_most(&e->t, v->number, number_of(t->hi));
  for (uint32_t i = 0; i < v->n; i++) {
    truth beyond = number_at_most(&e->t, v->number, number_of(i));
    fits = truth_and(&e->t, fits, truth_or(&e->t, beyond, sym_fits(e, t->element, v->part[i])));
    for (uint32_t k = 0; k < i && t->distinct; k++)
      fits = truth_and(&e->t, fits, truth_or(&e->t, beyond, truth_not(&e->t, sym_equal(e, v->part[i], v->part[k]))));
  }
  return fits;
}

truth sym_fits(struct encoder *e, const struct type *t, const struct sym_value *v) {
  truth fits = e->t.yes;
  switch (t->kind) {
  case TYPE_RANGE:
    return number_within(&e->t, v->number, t->lo, t->hi);
  case TYPE_ENUM:
    return number_within(&e->t, v->number, 0, (int64_t)t->size - 1);
  case TYPE_PROCESS:
    return number_within(&e->t, v->number, t->first, t->first + (int64_t)t->count - 1);
  case TYPE_ROUND:
    return number_at_most(&e->t, number_of(0), v->number);
  case TYPE_OPTION:
    return v->part[0] ? truth_implies(&e->t, v->truth, sym_fits(e, t->element, v->part[0])) : e->t.yes;
  case TYPE_SET:
    return members_fit(e, t->element, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
    for (uint32_t i = 0; i < v->n; i++)
      fits = truth_and(&e->t, fits, sym_fits(e, part_type(t, i), v->part[i]));
    return fits;
  case TYPE_SEQUENCE:
    return sequence_fits(e, t, v);
  case TYPE_BOOL:
  case TYPE_INT:
    return e->t.yes;
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(e);
}

static void type_bounds(const struct type *t, int64_t *lo, int64_t *hi) {
  *lo = t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? t->first : t->kind == TYPE_INT ? NUMBER_LEAST : 0;
  *hi = t->kind == TYPE_RANGE     ? t->hi
        : t->kind == TYPE_PROCESS ? t->first + (int64_t)t->count - 1
        : t->kind == TYPE_ENUM    ? (int64_t)t->size - 1
                                  : NUMBER_MOST;
}

struct sym_value *sym_bounded(struct encoder *e, const struct type *t, struct sym_value *v) {
  int64_t lo, hi;
  struct sym_value *made;
  switch (v->kind) {
  case SYM_NUMBER:
    type_bounds(t, &lo, &hi);
    if (v->number.hi < lo || v->number.lo > hi)
      return sym_number(e, number_of(lo)); /* never of the type: the preceding check fails */
    return lo <= v->number.lo && v->number.hi <= hi ? v : sym_number(e, number_bounded(&e->t, v->number, lo, hi));
  case SYM_OPTION:
    return v->part[0] ? make_option(e, v->truth, sym_bounded(e, t->element, v->part[0])) : v;
  case SYM_PARTS:
    made = make_parts(e, SYM_PARTS, v->n);
    for (uint32_t i = 0; i < v->n; i++)
      made->part[i] = sym_bounded(e, part_type(t, i), v->part[i]);
    return made;
  case SYM_SEQUENCE:
    made = make_parts(e, SYM_SEQUENCE, v->n > t->hi ? (uint64_t)t->hi : v->n);
    made->number = v->number.lo > t->hi ? number_of(t->hi) : number_bounded(&e->t, v->number, 0, t->hi);
    for (uint32_t i = 0; i < made->n; i++)
      made->part[i] = sym_bounded(e, t->element, v->part[i]);
    return made;
  case SYM_BOOLEAN:
  case SYM_SET:
    break;
  }
  return v; /* unchanged: wider bounds are always sound */
}

/* ---- values in a model ---- */

bool truth_value(struct encoder *e, Z3_model model, truth b) {
  Z3_ast v = NULL;
  if (b == e->t.yes || b == e->t.no)
    return b == e->t.yes;
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
  struct values *values = &e->model->values;
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
    return value_vector(&e->model->values, parts, n);
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
  refuse_unknown_type(e);
}

void sym_leaves(struct encoder *e, const struct sym_value *v, struct leaves *to) {
  switch (v->kind) {
  case SYM_BOOLEAN:
    vec_push(&to->at, v->truth);
    return;
  case SYM_NUMBER:
    vec_push(&to->at, number_node(&e->t, v->number));
    return;
  case SYM_SET:
    for (uint32_t i = 0; i < v->n; i++)
      vec_push(&to->at, v->has[i]);
    return;
  case SYM_OPTION:
    vec_push(&to->at, v->truth);
    break;
  case SYM_SEQUENCE:
    vec_push(&to->at, number_node(&e->t, v->number));
    break;
  case SYM_PARTS:
    break;
  }
  for (uint32_t i = 0; i < v->n; i++)
    if (v->part[i])
      sym_leaves(e, v->part[i], to);
}
