#include "lower/lowering.h"

#include <string.h>

#define MEMBERS_MOST 4096 /* limit for members of a set and parts of an array */

static struct sym_value *make(struct lowering *l, enum sym_value_kind kind) {
  struct sym_value *v = arena_alloc(l->arena, sizeof *v);
  v->kind = kind;
  return v;
}

struct sym_value *sym_truth(struct lowering *l, truth b) {
  struct sym_value *v = make(l, SYM_BOOLEAN);
  v->truth = b;
  return v;
}

struct sym_value *sym_number(struct lowering *l, struct number n) {
  struct sym_value *v = make(l, SYM_NUMBER);
  v->number = n;
  return v;
}

struct sym_value *sym_parts(struct lowering *l, enum sym_value_kind kind, uint64_t n) {
  if (n > MEMBERS_MOST)
    lower_refuse(l, l->at, "a value of more than %d parts", MEMBERS_MOST);
  struct sym_value *v = make(l, kind);
  v->n = (uint32_t)n;
  v->part = arena_array(l->arena, v->n + (size_t)1, sizeof *v->part);
  return v;
}

struct sym_value *sym_option(struct lowering *l, truth some, struct sym_value *element) {
  struct sym_value *v = sym_parts(l, SYM_OPTION, 1);
  v->truth = some;
  v->part[0] = element;
  return v;
}

/* ---- sets: possible members ---- */

static struct sym_value *make_set(struct lowering *l, const struct type *element, int64_t base, uint64_t n) {
  if (n > MEMBERS_MOST)
    lower_refuse(l, l->at, "a set with more than %d possible members", MEMBERS_MOST);
  struct sym_value *v = make(l, SYM_SET);
  v->element = element;
  v->base = base;
  v->n = (uint32_t)n;
  v->has = arena_array(l->arena, v->n + (size_t)1, sizeof *v->has);
  for (uint32_t i = 0; i < v->n; i++)
    v->has[i] = EXPR_FALSE;
  return v;
}

static bool is_number(const struct type *t) {
  return t->kind == TYPE_INT || t->kind == TYPE_RANGE || t->kind == TYPE_ENUM || t->kind == TYPE_PROCESS ||
         t->kind == TYPE_ROUND;
}

struct sym_value *sym_whole_set(struct lowering *l, const struct type *element) {
  switch (element->kind) {
  case TYPE_INT:
  case TYPE_ROUND:
    return make_set(l, NULL, 0, 0);
  case TYPE_RANGE:
    return make_set(l, NULL, element->lo, element->count);
  case TYPE_ENUM:
    return make_set(l, NULL, 0, element->count);
  case TYPE_PROCESS:
    return make_set(l, NULL, 0, l->model->nprocesses);
  case TYPE_BOOL:
  case TYPE_OPTION:
  case TYPE_SET:
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return make_set(l, element, 0, element->count);
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(l);
}

struct sym_value *sym_empty(struct lowering *l, const struct type *set) {
  return is_number(set->element) ? make_set(l, NULL, 0, 0) : sym_whole_set(l, set->element);
}

struct sym_value *sym_identities(struct lowering *l, const truth *has) {
  struct sym_value *v = make_set(l, NULL, 0, l->model->nprocesses);
  memcpy(v->has, has, v->n * sizeof *has);
  return v;
}

struct sym_value *sym_member(struct lowering *l, const struct sym_value *set, uint32_t i) {
  return set->element ? sym_nth_value(l, set->element, i) : sym_number(l, number_of(set->base + i));
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
static struct sym_value *room_for(struct lowering *l, const struct sym_value *a, const struct sym_value *b) {
  if (a->element || b->element) {
    if (!a->element || !b->element || !same_types(a->element, b->element))
      lower_refuse(l, l->at, "sets of differently typed members");
    return make_set(l, a->element, 0, a->n);
  }
  if (a->n == 0 || b->n == 0)
    return make_set(l, NULL, a->n ? a->base : b->base, a->n ? a->n : b->n);
  int64_t low = a->base < b->base ? a->base : b->base;
  int64_t end_a = a->base + a->n, end_b = b->base + b->n;
  return make_set(l, NULL, low, (uint64_t)((end_a > end_b ? end_a : end_b) - low));
}

/* Is the i-th member of `room` in the set? */
static truth at_member(const struct sym_value *set, const struct sym_value *room, uint32_t i) {
  int64_t k = room->base + i - set->base;
  return k >= 0 && k < set->n ? set->has[k] : EXPR_FALSE;
}

typedef truth truth_fn(struct expr_graph *, truth, truth);

static struct sym_value *combine_sets(struct lowering *l, const struct sym_value *a, const struct sym_value *b,
                                      truth_fn *of) {
  struct sym_value *v = room_for(l, a, b);
  for (uint32_t i = 0; i < v->n; i++)
    v->has[i] = of(l->graph, at_member(a, v, i), at_member(b, v, i));
  return v;
}

static truth and_not(struct expr_graph *c, truth a, truth b) { return expr_and(c, a, expr_not(c, b)); }

struct sym_value *sym_union(struct lowering *l, const struct sym_value *a, const struct sym_value *b) {
  return combine_sets(l, a, b, expr_or);
}

struct sym_value *sym_intersect(struct lowering *l, const struct sym_value *a, const struct sym_value *b) {
  return combine_sets(l, a, b, expr_and);
}

struct sym_value *sym_minus(struct lowering *l, const struct sym_value *a, const struct sym_value *b) {
  return combine_sets(l, a, b, and_not);
}

/* Does the relation hold between both sets at every possible member? */
static truth compare_sets(struct lowering *l, const struct sym_value *a, const struct sym_value *b, truth_fn *of) {
  const struct sym_value *all = combine_sets(l, a, b, of);
  return truth_all(l->graph, all->has, all->n);
}

truth sym_subset(struct lowering *l, const struct sym_value *a, const struct sym_value *b) {
  return compare_sets(l, a, b, expr_implies);
}

truth sym_has(struct lowering *l, const struct sym_value *set, const struct sym_value *member) {
  if (!set->element && member->kind == SYM_NUMBER && number_constant(member->number)) {
    int64_t k = member->number.lo - set->base;
    return k >= 0 && k < set->n ? set->has[k] : EXPR_FALSE;
  }
  truth *any = arena_array(l->arena, set->n + 1, sizeof *any);
  for (uint32_t i = 0; i < set->n; i++)
    any[i] = set->has[i] == EXPR_FALSE ? EXPR_FALSE
                                       : expr_and(l->graph, set->has[i], sym_equal(l, member, sym_member(l, set, i)));
  return truth_any(l->graph, any, set->n);
}

truth sym_has_process(const struct sym_value *set, uint32_t p) {
  int64_t k = (int64_t)p - set->base;
  return k >= 0 && k < set->n ? set->has[k] : EXPR_FALSE;
}

struct number sym_size(struct lowering *l, const struct sym_value *set) {
  return number_count(l->graph, set->has, set->n);
}

struct sym_value *sym_set_of(struct lowering *l, const struct type *set, const truth *guard,
                             struct sym_value *const *element, size_t n) {
  struct sym_value *v;
  if (is_number(set->element)) {
    int64_t lo = 0, hi = -1;
    for (size_t i = 0; i < n; i++) {
      struct number x = element[i]->number;
      if (x.lo == NUMBER_LEAST || x.hi == NUMBER_MOST)
        lower_refuse(l, l->at, "a set of numbers without bound");
      lo = hi < lo || x.lo < lo ? x.lo : lo;
      hi = i == 0 || x.hi > hi ? x.hi : hi;
    }
    v = make_set(l, NULL, lo, (uint64_t)(hi - lo + 1));
  } else {
    v = sym_whole_set(l, set->element);
  }
  truth *any = arena_array(l->arena, n + 1, sizeof *any);
  for (uint32_t i = 0; i < v->n; i++) {
    struct sym_value *member = sym_member(l, v, i);
    for (size_t k = 0; k < n; k++)
      any[k] = expr_and(l->graph, guard[k], sym_equal(l, element[k], member));
    v->has[i] = truth_any(l->graph, any, n);
  }
  return v;
}

/* ---- making values ---- */

uint64_t part_count(const struct type *t) { return t->kind == TYPE_RECORD ? t->size : t->index->count; }

const struct type *part_type(const struct type *t, uint32_t i) {
  return t->kind == TYPE_RECORD ? t->fields[i].type : t->element;
}

static struct sym_value *const_set(struct lowering *l, const struct type *t, value v) {
  struct values *values = &l->model->values;
  uint64_t cursor = 0;
  size_t n = 0, size = memory_size(set_size(values, t, v));
  truth *guard = arena_array(l->arena, size + 1, sizeof *guard);
  struct sym_value **member = arena_array(l->arena, size + 1, sizeof *member);
  for (value x; n < size && set_member(values, t, v, &cursor, &x); n++) {
    guard[n] = EXPR_TRUE;
    member[n] = sym_const(l, t->element, x);
  }
  return sym_set_of(l, t, guard, member, n);
}

static struct sym_value *const_parts(struct lowering *l, const struct type *t, value v) {
  size_t n;
  value_parts(&l->model->values, v, &n);
  struct sym_value *made = sym_parts(l, t->kind == TYPE_SEQUENCE ? SYM_SEQUENCE : SYM_PARTS, n);
  made->number = number_of((int64_t)n);
  for (uint32_t i = 0; i < n; i++) {
    size_t length;
    value part = value_parts(&l->model->values, v, &length)[i];
    made->part[i] = sym_const(l, t->kind == TYPE_SEQUENCE ? t->element : part_type(t, i), part);
  }
  return made;
}

struct sym_value *sym_const(struct lowering *l, const struct type *t, value v) {
  switch (t->kind) {
  case TYPE_BOOL:
    return sym_truth(l, expr_truth(v != 0));
  case TYPE_OPTION:
    return v == VALUE_NONE ? sym_option(l, EXPR_FALSE, NULL)
                           : sym_option(l, EXPR_TRUE, sym_const(l, t->element, value_unwrap(v)));
  case TYPE_SET:
    return const_set(l, t, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
  case TYPE_SEQUENCE:
    return const_parts(l, t, v);
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    return sym_number(l, number_of(v));
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(l);
}

struct sym_value *sym_nth_value(struct lowering *l, const struct type *t, uint64_t index) {
  return sym_const(l, t, type_nth(&l->model->values, t, index));
}

struct sym_value *sym_default(struct lowering *l, const struct type *t) {
  return sym_const(l, t, type_default(&l->model->values, t));
}

/* Values that meet in one expression were converted to one type by the checker. Where that failed, no engine may give
   a verdict. */
static void require_alike(struct lowering *l, const struct sym_value *a, const struct sym_value *b) {
  if (a->kind != b->kind || (a->kind == SYM_PARTS && a->n != b->n))
    refuse_unknown_type(l);
}

static void require_kind(struct lowering *l, const struct type *t, const struct sym_value *v) {
  enum sym_value_kind kind = SYM_NUMBER;
  switch (t->kind) {
  case TYPE_BOOL:
    kind = SYM_BOOLEAN;
    break;
  case TYPE_OPTION:
    kind = SYM_OPTION;
    break;
  case TYPE_SET:
    kind = SYM_SET;
    break;
  case TYPE_RECORD:
  case TYPE_ARRAY:
    kind = SYM_PARTS;
    break;
  case TYPE_SEQUENCE:
    kind = SYM_SEQUENCE;
    break;
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
    break;
  case TYPE_BAG:
  case TYPE_ERROR:
    refuse_unknown_type(l);
  }
  if (v->kind != kind || (kind == SYM_PARTS && v->n != part_count(t)))
    refuse_unknown_type(l);
}

/* ---- if-then-else ---- */

static struct sym_value *if_part(struct lowering *l, truth c, struct sym_value *a, struct sym_value *b) {
  return a && b ? sym_ite(l, c, a, b) : a ? a : b;
}

struct sym_value *sym_ite(struct lowering *l, truth c, struct sym_value *a, struct sym_value *b) {
  struct sym_value *v = NULL;
  if (c == EXPR_TRUE || a == b)
    return a;
  if (c == EXPR_FALSE)
    return b;
  require_alike(l, a, b);
  switch (a->kind) {
  case SYM_BOOLEAN:
    return sym_truth(l, expr_ite(l->graph, c, a->truth, b->truth));
  case SYM_NUMBER:
    return sym_number(l, number_if(l->graph, c, a->number, b->number));
  case SYM_OPTION:
    v = sym_option(l, expr_ite(l->graph, c, a->truth, b->truth), if_part(l, c, a->part[0], b->part[0]));
    break;
  case SYM_SET:
    v = room_for(l, a, b);
    for (uint32_t i = 0; i < v->n; i++)
      v->has[i] = expr_ite(l->graph, c, at_member(a, v, i), at_member(b, v, i));
    break;
  case SYM_PARTS:
  case SYM_SEQUENCE:
    v = sym_parts(l, a->kind, a->n > b->n ? a->n : b->n);
    v->number = number_if(l->graph, c, a->number, b->number);
    for (uint32_t i = 0; i < v->n; i++)
      v->part[i] = if_part(l, c, i < a->n ? a->part[i] : NULL, i < b->n ? b->part[i] : NULL);
    break;
  }
  if (!v)
    refuse_unknown_type(l);
  v->layout = a->layout == b->layout ? a->layout : NULL;
  return v;
}

/* ---- canonical values ---- */

static struct sym_value *canonical_set(struct lowering *l, const struct type *t, const struct sym_value *v) {
  if (t->element->kind == TYPE_INT || t->element->kind == TYPE_ROUND)
    lower_refuse(l, l->at, "a set of numbers without bound");
  struct sym_value *made = sym_whole_set(l, t->element);
  if (v->element && !(made->element && same_types(made->element, v->element)))
    lower_refuse(l, l->at, "sets of differently typed members");
  for (uint32_t i = 0; i < made->n; i++)
    made->has[i] = at_member(v, made, i);
  return made;
}

/* An element of an option or sequence (NULL: never there), or the first value of its type where it is absent. */
static struct sym_value *canonical_element(struct lowering *l, const struct type *t, truth there, struct sym_value *v) {
  struct sym_value *first = sym_canonical(l, t, sym_default(l, t));
  return v ? sym_ite(l, there, sym_canonical(l, t, v), first) : first;
}

struct sym_value *sym_canonical(struct lowering *l, const struct type *t, struct sym_value *v) {
  struct sym_value *made = v;
  if (v->layout == t)
    return v;
  require_kind(l, t, v);
  switch (v->kind) {
  case SYM_BOOLEAN:
  case SYM_NUMBER:
    return v;
  case SYM_OPTION:
    made = sym_option(l, v->truth, canonical_element(l, t->element, v->truth, v->part[0]));
    break;
  case SYM_SET:
    made = canonical_set(l, t, v);
    break;
  case SYM_PARTS:
    made = sym_parts(l, SYM_PARTS, v->n);
    for (uint32_t i = 0; i < v->n; i++)
      made->part[i] = sym_canonical(l, part_type(t, i), v->part[i]);
    break;
  case SYM_SEQUENCE:
    made = sym_parts(l, SYM_SEQUENCE, (uint64_t)t->hi);
    made->number = v->number;
    for (uint32_t i = 0; i < made->n; i++)
      made->part[i] = canonical_element(l, t->element, number_less(l->graph, number_of(i), v->number),
                                        i < v->n ? v->part[i] : NULL);
    break;
  }
  made->layout = t;
  return made;
}

/* ---- comparing ---- */

bool sym_identical(const struct sym_value *a, const struct sym_value *b) {
  if (a == b)
    return true;
  if (a->kind != b->kind || a->truth != b->truth || a->n != b->n || a->base != b->base || a->element != b->element ||
      a->number.node != b->number.node || a->number.lo != b->number.lo || a->number.hi != b->number.hi)
    return false;
  if (a->kind == SYM_SET)
    return !memcmp(a->has, b->has, a->n * sizeof *a->has);
  for (uint32_t i = 0; i < a->n; i++)
    if (!a->part[i] || !b->part[i] ? a->part[i] != b->part[i] : !sym_identical(a->part[i], b->part[i]))
      return false;
  return true;
}

truth sym_equal(struct lowering *l, const struct sym_value *a, const struct sym_value *b) {
  struct expr_graph *c = l->graph;
  truth same = EXPR_TRUE;
  if (a == b)
    return EXPR_TRUE;
  require_alike(l, a, b);
  switch (a->kind) {
  case SYM_BOOLEAN:
    return expr_equal(c, a->truth, b->truth);
  case SYM_NUMBER:
    return number_same(c, a->number, b->number);
  case SYM_OPTION:
    same = expr_equal(c, a->truth, b->truth);
    if (same == EXPR_FALSE || !a->part[0] || !b->part[0])
      return same;
    return expr_and(c, same, expr_or(c, expr_not(c, a->truth), sym_equal(l, a->part[0], b->part[0])));
  case SYM_SET:
    return compare_sets(l, a, b, expr_equal);
  case SYM_PARTS:
    for (uint32_t i = 0; i < a->n && same != EXPR_FALSE; i++)
      same = expr_and(c, same, sym_equal(l, a->part[i], b->part[i]));
    return same;
  case SYM_SEQUENCE:
    same = number_same(c, a->number, b->number);
    for (uint32_t i = 0; i < a->n && i < b->n && same != EXPR_FALSE; i++)
      same = expr_and(c, same,
                      expr_or(c, number_at_most(c, a->number, number_of(i)), sym_equal(l, a->part[i], b->part[i])));
    return same;
  }
  refuse_unknown_type(l);
}

truth sym_less(struct lowering *l, const struct sym_value *a, const struct sym_value *b) {
  struct expr_graph *c = l->graph;
  truth less = EXPR_FALSE;
  require_alike(l, a, b);
  if (a->kind == SYM_NUMBER)
    return number_less(c, a->number, b->number);
  if (a->kind == SYM_BOOLEAN)
    return expr_and(c, expr_not(c, a->truth), b->truth);
  if (a->kind == SYM_OPTION && a->truth == EXPR_TRUE && b->truth == EXPR_TRUE) /* numbers among which none may stand */
    return sym_less(l, a->part[0], b->part[0]);
  if (a->kind != SYM_PARTS)
    lower_refuse(l, l->at, "an order of values that are not numbers");
  for (uint32_t i = a->n; i-- > 0;)
    less = expr_or(c, sym_less(l, a->part[i], b->part[i]), expr_and(c, sym_equal(l, a->part[i], b->part[i]), less));
  return less;
}

static truth members_fit(struct lowering *l, const struct type *element, const struct sym_value *set) {
  truth *all = arena_array(l->arena, set->n + 1, sizeof *all);
  for (uint32_t i = 0; i < set->n; i++)
    all[i] = set->has[i] == EXPR_FALSE
                 ? EXPR_TRUE
                 : expr_implies(l->graph, set->has[i], sym_fits(l, element, sym_member(l, set, i)));
  return truth_all(l->graph, all, set->n);
}

static truth sequence_fits(struct lowering *l, const struct type *t, const struct sym_value *v) {
  truth fits = number_at_most(l->graph, v->number, number_of(t->hi));
  for (uint32_t i = 0; i < v->n; i++) {
    truth beyond = number_at_most(l->graph, v->number, number_of(i));
    fits = expr_and(l->graph, fits, expr_or(l->graph, beyond, sym_fits(l, t->element, v->part[i])));
    for (uint32_t k = 0; k < i && t->distinct; k++)
      fits =
          expr_and(l->graph, fits, expr_or(l->graph, beyond, expr_not(l->graph, sym_equal(l, v->part[i], v->part[k]))));
  }
  return fits;
}

truth sym_fits(struct lowering *l, const struct type *t, const struct sym_value *v) {
  truth fits = EXPR_TRUE;
  require_kind(l, t, v);
  switch (t->kind) {
  case TYPE_RANGE:
    return number_within(l->graph, v->number, t->lo, t->hi);
  case TYPE_ENUM:
    return number_within(l->graph, v->number, 0, (int64_t)t->size - 1);
  case TYPE_PROCESS:
    return number_within(l->graph, v->number, t->first, t->first + (int64_t)t->count - 1);
  case TYPE_ROUND:
    return number_at_most(l->graph, number_of(0), v->number);
  case TYPE_OPTION:
    return v->part[0] ? expr_implies(l->graph, v->truth, sym_fits(l, t->element, v->part[0])) : EXPR_TRUE;
  case TYPE_SET:
    return members_fit(l, t->element, v);
  case TYPE_RECORD:
  case TYPE_ARRAY:
    for (uint32_t i = 0; i < v->n; i++)
      fits = expr_and(l->graph, fits, sym_fits(l, part_type(t, i), v->part[i]));
    return fits;
  case TYPE_SEQUENCE:
    return sequence_fits(l, t, v);
  case TYPE_BOOL:
  case TYPE_INT:
    return EXPR_TRUE;
  case TYPE_BAG:
  case TYPE_ERROR:
    break;
  }
  refuse_unknown_type(l);
}

static void type_bounds(const struct type *t, int64_t *lo, int64_t *hi) {
  *lo = t->kind == TYPE_RANGE ? t->lo : t->kind == TYPE_PROCESS ? t->first : t->kind == TYPE_INT ? NUMBER_LEAST : 0;
  *hi = t->kind == TYPE_RANGE     ? t->hi
        : t->kind == TYPE_PROCESS ? t->first + (int64_t)t->count - 1
        : t->kind == TYPE_ENUM    ? (int64_t)t->size - 1
                                  : NUMBER_MOST;
}

struct sym_value *sym_bounded(struct lowering *l, const struct type *t, struct sym_value *v) {
  int64_t lo, hi;
  struct sym_value *made;
  require_kind(l, t, v);
  switch (v->kind) {
  case SYM_NUMBER:
    type_bounds(t, &lo, &hi);
    if (v->number.hi < lo || v->number.lo > hi)
      return sym_number(l, number_of(lo)); /* never of the type: the preceding check fails */
    return lo <= v->number.lo && v->number.hi <= hi ? v : sym_number(l, number_bounded(l->graph, v->number, lo, hi));
  case SYM_OPTION:
    return v->part[0] ? sym_option(l, v->truth, sym_bounded(l, t->element, v->part[0])) : v;
  case SYM_PARTS:
    made = sym_parts(l, SYM_PARTS, v->n);
    for (uint32_t i = 0; i < v->n; i++)
      made->part[i] = sym_bounded(l, part_type(t, i), v->part[i]);
    return made;
  case SYM_SEQUENCE:
    made = sym_parts(l, SYM_SEQUENCE, v->n > t->hi ? (uint64_t)t->hi : v->n);
    made->number = v->number.lo > t->hi ? number_of(t->hi) : number_bounded(l->graph, v->number, 0, t->hi);
    for (uint32_t i = 0; i < made->n; i++)
      made->part[i] = sym_bounded(l, t->element, v->part[i]);
    return made;
  case SYM_BOOLEAN:
  case SYM_SET:
    break;
  }
  return v; /* unchanged: wider bounds are always sound */
}

void sym_leaves(struct lowering *l, const struct sym_value *v, struct leaves *to) {
  switch (v->kind) {
  case SYM_BOOLEAN:
    vec_push(&to->at, v->truth);
    return;
  case SYM_NUMBER:
    vec_push(&to->at, number_node(l->graph, v->number));
    return;
  case SYM_SET:
    for (uint32_t i = 0; i < v->n; i++)
      vec_push(&to->at, v->has[i]);
    return;
  case SYM_OPTION:
    vec_push(&to->at, v->truth);
    break;
  case SYM_SEQUENCE:
    vec_push(&to->at, number_node(l->graph, v->number));
    break;
  case SYM_PARTS:
    break;
  }
  for (uint32_t i = 0; i < v->n; i++)
    if (v->part[i])
      sym_leaves(l, v->part[i], to);
}
