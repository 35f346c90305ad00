#include "param/derive_internal.h"

static struct term *make(struct derivation_builder *d, enum term_op op, struct term *a, struct term *b) {
  struct term *t = arena_alloc(&d->s->arena, sizeof *t);
  t->op = op;
  t->kid[0] = a;
  t->kid[1] = b;
  return t;
}

struct term *make_number(struct derivation_builder *d, int64_t x) {
  struct term *t = make(d, TERM_NUMBER, NULL, NULL);
  t->number = x;
  return t;
}

struct term *make_leaf(struct derivation_builder *d, enum term_op op, uint32_t index) {
  struct term *t = make(d, op, NULL, NULL);
  t->index = index;
  return t;
}

static bool is_number(const struct term *t) { return t->op == TERM_NUMBER; }

struct term *make_sum(struct derivation_builder *d, struct term *a, struct term *b) {
  if (!a || !b)
    return a ? a : b ? b : make_number(d, 0);
  int64_t folded = 0;
  if (is_number(a) && is_number(b)) {
    if (__builtin_add_overflow(a->number, b->number, &folded))
      derive_beyond(d, d->role->at);
    return make_number(d, folded);
  }
  if (is_number(b) && b->number == 0)
    return a;
  return is_number(a) && a->number == 0 ? b : make(d, TERM_ADD, a, b);
}

struct term *make_difference(struct derivation_builder *d, struct term *a, struct term *b) {
  if (!b || (is_number(b) && b->number == 0))
    return a ? a : make_number(d, 0);
  return make(d, TERM_SUB, a ? a : make_number(d, 0), b);
}

struct term *make_times(struct derivation_builder *d, int64_t x, struct term *t) {
  if (x == 1)
    return t;
  int64_t folded = 0;
  if (is_number(t)) {
    if (__builtin_mul_overflow(x, t->number, &folded))
      derive_beyond(d, d->role->at);
    return make_number(d, folded);
  }
  return make(d, TERM_TIMES, make_number(d, x), t);
}

struct term *make_relation(struct derivation_builder *d, enum term_op op, struct term *a, struct term *b) {
  a = a ? a : make_number(d, 0);
  b = b ? b : make_number(d, 0);
  if (is_number(a) && is_number(b))
    return make_number(d, op == TERM_EQ   ? a->number == b->number
                          : op == TERM_LE ? a->number <= b->number
                                          : a->number < b->number);
  return make(d, op, a, b);
}

struct term *make_and(struct derivation_builder *d, struct term *a, struct term *b) {
  if (!a || !b)
    return a ? a : b ? b : make_number(d, 1);
  if (is_number(a))
    return a->number ? b : a;
  if (is_number(b))
    return b->number ? a : b;
  return make(d, TERM_AND, a, b);
}

struct term *make_pair_and(struct derivation_builder *d, struct term *a, struct term *b) {
  return make(d, TERM_AND, a, b);
}

struct term *make_or(struct derivation_builder *d, struct term *a, struct term *b) {
  if (is_number(a))
    return a->number ? a : b;
  if (is_number(b))
    return b->number ? b : a;
  return make(d, TERM_OR, a, b);
}

struct term *make_not(struct derivation_builder *d, struct term *a) {
  if (is_number(a))
    return make_number(d, !a->number);
  return a->op == TERM_NOT ? a->kid[0] : make(d, TERM_NOT, a, NULL);
}

struct term *make_choice(struct derivation_builder *d, struct term *condition, struct term *a, struct term *b) {
  struct term *t = make(d, TERM_IF, condition, a);
  t->kid[2] = b;
  return t;
}

struct term *make_row(struct derivation_builder *d, const int64_t *row) {
  struct term *sum = make_number(d, row[0]);
  for (uint32_t i = 0; i < d->params.base->nparams; i++)
    if (row[i + 1])
      sum = make_sum(d, sum, make_times(d, row[i + 1], make_leaf(d, TERM_PARAM, d->params.base->param[i])));
  return sum;
}

struct term *make_constraint(struct derivation_builder *d, const int64_t *row, uint32_t width, bool equal,
                             struct term *const *columns) {
  struct term *left = NULL, *right = NULL; /* positive coefficients go left, the others right */
  for (uint32_t i = 1; i < width; i++)
    if (row[i] > 0)
      left = make_sum(d, left, make_times(d, row[i], columns[i - 1]));
    else if (row[i] < 0)
      right = make_sum(d, right, make_times(d, -row[i], columns[i - 1]));
  if (row[0] > 0)
    left = make_sum(d, left, make_number(d, row[0]));
  else if (row[0] < 0)
    right = make_sum(d, right, make_number(d, -row[0]));
  return equal ? make_relation(d, TERM_EQ, left, right) : make_relation(d, TERM_LE, right, left);
}

struct term *make_cube(struct derivation_builder *d, const struct cube *c, struct term *const *columns) {
  struct term *all = make_number(d, !c->empty);
  if (c->overflow)
    derive_refuse(d, d->role->at, "conditions on what is heard have numbers beyond 64 bits");
  for (uint32_t i = 0; i < c->n; i++)
    all = make_and(d, all, make_constraint(d, cube_row(c, i), c->width, c->equal.at[i], columns));
  return all;
}

bool term_same(const struct term *a, const struct term *b) {
  if (!a || !b || a == b)
    return a == b;
  if (a->op != b->op || a->index != b->index || a->number != b->number)
    return false;
  for (int i = 0; i < 3; i++)
    if (!term_same(a->kid[i], b->kid[i]))
      return false;
  return true;
}
