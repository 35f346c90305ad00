#include "lower/expr_graph.h"

#include "base/hash.h"

#include <string.h>

void expr_graph_release(struct expr_graph *c) {
  vec_release(&c->nodes);
  vec_release(&c->table);
}

unsigned expr_kids(enum expr_kind g) {
  switch (g) {
  case EXPR_NUMBER:
  case EXPR_VARIABLE:
  case EXPR_CHOICE:
    return 0;
  case EXPR_ARRAY_READ:
  case EXPR_NOT:
  case EXPR_BOUNDED:
    return 1;
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_DIV:
  case EXPR_MOD:
  case EXPR_AND:
  case EXPR_OR:
  case EXPR_EQ:
  case EXPR_LT:
  case EXPR_LE:
    return 2;
  case EXPR_ITE:
    return 3;
  }
  return 0;
}

/* --- hash consing --- */

struct expr_key {
  uint32_t expr_kind, truth, index, kid[3];
  int64_t number, lo; /* lo: for BOUNDED */
};

static struct expr_key key_of(const struct expr_node *n) {
  struct expr_key k;
  memset(&k, 0, sizeof k);
  k.expr_kind = n->expr_kind;
  k.truth = n->truth;
  k.index = n->index;
  memcpy(k.kid, n->kid, sizeof k.kid);
  k.number = n->number;
  k.lo = n->expr_kind == EXPR_BOUNDED ? n->lo : 0;
  return k;
}

static void table_put(struct expr_graph *c, expr_id w) {
  struct expr_key k = key_of(&c->nodes.at[w]);
  size_t mask = c->table.cap - 1, at = (size_t)hash_bytes(&k, sizeof k) & mask;
  while (c->table.at[at])
    at = (at + 1) & mask;
  c->table.at[at] = w + 1;
}

static void table_grow(struct expr_graph *c) {
  size_t size = c->table.cap ? 2 * c->table.cap : 1024;
  memory_free(c->table.at);
  c->table.at = memory_alloc(size * sizeof *c->table.at);
  c->table.cap = c->table.n = size;
  for (expr_id w = 0; w < c->nodes.n; w++)
    table_put(c, w);
}

static expr_id node_make(struct expr_graph *c, struct expr_node n) {
  unsigned kids = expr_kids(n.expr_kind);
  n.choices = n.expr_kind == EXPR_CHOICE ? n.index + 1 : 0;
  for (unsigned i = 0; i < 3; i++)
    if (i >= kids)
      n.kid[i] = NO_EXPR;
    else if (node_of(c, n.kid[i])->choices > n.choices)
      n.choices = node_of(c, n.kid[i])->choices;
  c->large |= !n.truth && (n.lo < -EXPR_NUMBER_MOST || n.hi > EXPR_NUMBER_MOST);
  if (2 * (c->nodes.n + 1) > c->table.cap)
    table_grow(c);
  struct expr_key k = key_of(&n);
  size_t mask = c->table.cap - 1, at = (size_t)hash_bytes(&k, sizeof k) & mask;
  for (; c->table.at[at]; at = (at + 1) & mask) {
    struct expr_key other = key_of(&c->nodes.at[c->table.at[at] - 1]);
    if (!memcmp(&k, &other, sizeof k))
      return c->table.at[at] - 1;
  }
  for (unsigned i = 0; i < kids; i++) {
    c->nodes.at[n.kid[i]].shared |= c->nodes.at[n.kid[i]].used;
    c->nodes.at[n.kid[i]].used = true;
  }
  vec_push(&c->nodes, n);
  c->table.at[at] = (expr_id)c->nodes.n;
  return (expr_id)c->nodes.n - 1;
}

/* --- leaves --- */

expr_id expr_number(struct expr_graph *c, int64_t number) {
  return node_make(c, (struct expr_node){.expr_kind = EXPR_NUMBER, .number = number, .lo = number, .hi = number});
}

/* The nodes EXPR_TRUE and EXPR_FALSE. */
static void make_truth(struct expr_graph *c, bool truth) {
  node_make(c, (struct expr_node){.expr_kind = EXPR_NUMBER, .truth = true, .number = truth, .lo = truth, .hi = truth});
}

void expr_graph_init(struct expr_graph *c, bool integers) {
  *c = (struct expr_graph){.integers = integers};
  expr_number(c, 0);
  make_truth(c, true);
  make_truth(c, false);
}

expr_id expr_variable(struct expr_graph *c, uint32_t cell, bool truth, int64_t lo, int64_t hi) {
  return node_make(c,
                   (struct expr_node){.expr_kind = EXPR_VARIABLE, .truth = truth, .index = cell, .lo = lo, .hi = hi});
}

expr_id expr_array_read(struct expr_graph *c, uint32_t array, expr_id index, int64_t lo, int64_t hi) {
  return node_make(
      c, (struct expr_node){.expr_kind = EXPR_ARRAY_READ, .index = array, .kid = {index}, .lo = lo, .hi = hi});
}

expr_id expr_choice(struct expr_graph *c, uint32_t param, bool truth, int64_t lo, int64_t hi) {
  return node_make(c, (struct expr_node){
                          .expr_kind = EXPR_CHOICE, .truth = truth, .index = param, .number = hi, .lo = lo, .hi = hi});
}

static bool constant_value(const struct expr_graph *c, expr_id w, int64_t *v) {
  *v = c->nodes.at[w].number;
  return c->nodes.at[w].expr_kind == EXPR_NUMBER;
}

bool expr_is_constant(const struct expr_graph *c, expr_id w, int64_t v) {
  return c->nodes.at[w].expr_kind == EXPR_NUMBER && c->nodes.at[w].number == v;
}

void expr_set_span(struct expr_graph *c, expr_id w, struct span at) {
  struct expr_node *n = &c->nodes.at[w];
  if (expr_kids(n->expr_kind) > 0 && !n->at.to)
    n->at = at;
}

void expr_assert_bounds(struct expr_graph *c, expr_id w, int64_t lo, int64_t hi) {
  struct expr_node *n = &c->nodes.at[w];
  n->lo = n->lo < lo ? lo : n->lo;
  n->hi = n->hi > hi ? hi : n->hi;
}

/* --- numbers --- */

static expr_id pair(struct expr_graph *c, enum expr_kind expr_kind, expr_id a, expr_id b, int64_t lo, int64_t hi) {
  return node_make(c, (struct expr_node){.expr_kind = expr_kind, .kid = {a, b}, .lo = lo, .hi = hi});
}

static int64_t clip(__int128 v) {
  return v < EXPR_NO_LOWER ? EXPR_NO_LOWER : v > EXPR_NO_UPPER ? EXPR_NO_UPPER : (int64_t)v;
}

static bool unbounded(const struct expr_node *n) { return n->lo == EXPR_NO_LOWER || n->hi == EXPR_NO_UPPER; }

static expr_id product(struct expr_graph *c, expr_id a, expr_id b) {
  const struct expr_node *x = node_of(c, a), *y = node_of(c, b);
  int64_t lo = EXPR_NO_LOWER, hi = EXPR_NO_UPPER;
  if (!unbounded(x) && !unbounded(y)) {
    int64_t corner[4] = {clip((__int128)x->lo * y->lo), clip((__int128)x->lo * y->hi), clip((__int128)x->hi * y->lo),
                         clip((__int128)x->hi * y->hi)};
    lo = hi = corner[0];
    for (int i = 1; i < 4; i++) {
      lo = corner[i] < lo ? corner[i] : lo;
      hi = corner[i] > hi ? corner[i] : hi;
    }
  }
  if (lo == hi)
    return expr_number(c, lo);
  if (expr_is_constant(c, a, 1))
    return b;
  return expr_is_constant(c, b, 1) ? a : pair(c, EXPR_MUL, a, b, lo, hi);
}

static expr_id sum(struct expr_graph *c, enum expr_kind expr_kind, expr_id a, expr_id b) {
  const struct expr_node *x = node_of(c, a), *y = node_of(c, b);
  bool minus = expr_kind == EXPR_SUB;
  __int128 least = minus ? -(__int128)y->hi : y->lo, most = minus ? -(__int128)y->lo : y->hi;
  bool no_lower = x->lo == EXPR_NO_LOWER || (minus ? y->hi == EXPR_NO_UPPER : y->lo == EXPR_NO_LOWER);
  bool no_upper = x->hi == EXPR_NO_UPPER || (minus ? y->lo == EXPR_NO_LOWER : y->hi == EXPR_NO_UPPER);
  int64_t lo = no_lower ? EXPR_NO_LOWER : clip(x->lo + least), hi = no_upper ? EXPR_NO_UPPER : clip(x->hi + most);
  if (lo == hi)
    return expr_number(c, lo);
  if (expr_is_constant(c, b, 0))
    return a;
  return !minus && expr_is_constant(c, a, 0) ? b : pair(c, expr_kind, a, b, lo, hi);
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/* Formats differ in the division of negative numbers, so those are first shifted by a multiple of the divisor. */
static expr_id quotient(struct expr_graph *c, enum expr_kind expr_kind, expr_id a, expr_id b) {
  int64_t from = node_of(c, a)->lo;
  if (from < 0 && from != EXPR_NO_LOWER && !c->integers) {
    expr_id times = expr_number(c, -from);
    expr_id shifted = quotient(c, expr_kind, sum(c, EXPR_ADD, a, product(c, times, b)), b);
    return expr_kind == EXPR_MOD ? shifted : sum(c, EXPR_SUB, shifted, times);
  }
  const struct expr_node *x = node_of(c, a), *y = node_of(c, b);
  int64_t least = y->lo > 0 ? y->lo : 1, most = y->hi > 0 ? y->hi : 1;
  if (expr_kind == EXPR_MOD) {
    if (x->lo >= 0 && x->hi < least)
      return a;
    if (x->lo == x->hi && y->lo == y->hi)
      return expr_number(c, x->lo - most * floor_div(x->lo, most));
    return pair(c, expr_kind, a, b, 0, x->lo >= 0 && x->hi < most - 1 ? x->hi : most - 1);
  }
  int64_t lo = x->lo == EXPR_NO_LOWER ? EXPR_NO_LOWER : floor_div(x->lo, x->lo < 0 ? least : most);
  int64_t hi = x->hi == EXPR_NO_UPPER ? EXPR_NO_UPPER : floor_div(x->hi, x->hi < 0 ? most : least);
  if (lo == hi)
    return expr_number(c, lo);
  return expr_is_constant(c, b, 1) ? a : pair(c, expr_kind, a, b, lo, hi);
}

expr_id expr_arithmetic(struct expr_graph *c, enum expr_kind expr_kind, expr_id a, expr_id b) {
  if (expr_kind == EXPR_MUL)
    return product(c, a, b);
  return expr_kind == EXPR_DIV || expr_kind == EXPR_MOD ? quotient(c, expr_kind, a, b) : sum(c, expr_kind, a, b);
}

expr_id expr_bool_to_int(struct expr_graph *c, expr_id truth) {
  return expr_ite(c, truth, expr_number(c, 1), expr_number(c, 0));
}

expr_id expr_bounded(struct expr_graph *c, expr_id w, int64_t lo, int64_t hi) {
  const struct expr_node *n = node_of(c, w);
  lo = lo < n->lo ? n->lo : lo;
  hi = hi > n->hi ? n->hi : hi;
  if (n->truth || lo > hi || (lo == n->lo && hi == n->hi))
    return w;
  if (lo == hi)
    return expr_number(c, lo);
  return node_make(c, (struct expr_node){.expr_kind = EXPR_BOUNDED, .kid = {w}, .number = hi, .lo = lo, .hi = hi});
}

/* --- truth values --- */

static expr_id truth_pair(struct expr_graph *c, enum expr_kind expr_kind, expr_id a, expr_id b) {
  return node_make(c, (struct expr_node){.expr_kind = expr_kind, .truth = true, .kid = {a, b}, .lo = 0, .hi = 1});
}

expr_id expr_not(struct expr_graph *c, expr_id a) {
  int64_t v;
  if (constant_value(c, a, &v))
    return expr_truth(!v);
  if (node_of(c, a)->expr_kind == EXPR_NOT)
    return node_of(c, a)->kid[0];
  return node_make(c, (struct expr_node){.expr_kind = EXPR_NOT, .truth = true, .kid = {a}, .lo = 0, .hi = 1});
}

static bool opposite(const struct expr_graph *c, expr_id a, expr_id b) {
  const struct expr_node *x = node_of(c, a), *y = node_of(c, b);
  return (x->expr_kind == EXPR_NOT && x->kid[0] == b) || (y->expr_kind == EXPR_NOT && y->kid[0] == a);
}

expr_id expr_and(struct expr_graph *c, expr_id a, expr_id b) {
  if (expr_is_constant(c, a, 0) || expr_is_constant(c, b, 1) || a == b)
    return a;
  if (expr_is_constant(c, b, 0) || expr_is_constant(c, a, 1))
    return b;
  return opposite(c, a, b) ? expr_truth(false) : truth_pair(c, EXPR_AND, a, b);
}

expr_id expr_or(struct expr_graph *c, expr_id a, expr_id b) {
  if (expr_is_constant(c, a, 1) || expr_is_constant(c, b, 0) || a == b)
    return a;
  if (expr_is_constant(c, b, 1) || expr_is_constant(c, a, 0))
    return b;
  return opposite(c, a, b) ? expr_truth(true) : truth_pair(c, EXPR_OR, a, b);
}

expr_id expr_implies(struct expr_graph *c, expr_id a, expr_id b) { return expr_or(c, expr_not(c, a), b); }

expr_id expr_equal(struct expr_graph *c, expr_id a, expr_id b) {
  const struct expr_node *x = node_of(c, a), *y = node_of(c, b);
  if (a == b)
    return expr_truth(true);
  if (x->expr_kind == EXPR_NUMBER && y->expr_kind != EXPR_NUMBER)
    return expr_equal(c, b, a);
  if (x->hi < y->lo || y->hi < x->lo)
    return expr_truth(false);
  if (x->truth && y->expr_kind == EXPR_NUMBER) {
    return y->number ? a : expr_not(c, a);
  } else if (y->expr_kind == EXPR_NUMBER && x->expr_kind == EXPR_ITE) { /* ITE of constants: reduces to its condition */
    expr_id condition = x->kid[0], then = x->kid[1], other = x->kid[2];
    int64_t v;
    if (constant_value(c, then, &v) || constant_value(c, other, &v))
      return expr_ite(c, condition, expr_equal(c, then, b), expr_equal(c, other, b));
  }
  return truth_pair(c, EXPR_EQ, a, b);
}

expr_id expr_less(struct expr_graph *c, expr_id a, expr_id b) {
  const struct expr_node *x = node_of(c, a), *y = node_of(c, b);
  if (x->hi < y->lo)
    return expr_truth(true);
  return x->lo >= y->hi ? expr_truth(false) : truth_pair(c, EXPR_LT, a, b);
}

expr_id expr_at_most(struct expr_graph *c, expr_id a, expr_id b) {
  const struct expr_node *x = node_of(c, a), *y = node_of(c, b);
  if (x->hi <= y->lo)
    return expr_truth(true);
  return x->lo > y->hi ? expr_truth(false) : truth_pair(c, EXPR_LE, a, b);
}

expr_id expr_ite(struct expr_graph *c, expr_id condition, expr_id then, expr_id other) {
  int64_t v;
  if (constant_value(c, condition, &v))
    return v ? then : other;
  if (then == other)
    return then;
  if (node_of(c, condition)->expr_kind == EXPR_NOT)
    return expr_ite(c, node_of(c, condition)->kid[0], other, then);
  const struct expr_node *x = node_of(c, then), *y = node_of(c, other);
  bool truth = x->truth;
  if (truth && constant_value(c, then, &v))
    return v ? expr_or(c, condition, other) : expr_and(c, expr_not(c, condition), other);
  if (truth && constant_value(c, other, &v))
    return v ? expr_or(c, expr_not(c, condition), then) : expr_and(c, condition, then);
  if (x->expr_kind == EXPR_ITE && x->kid[0] == condition)
    return expr_ite(c, condition, x->kid[1], other);
  if (y->expr_kind == EXPR_ITE && y->kid[0] == condition)
    return expr_ite(c, condition, then, y->kid[2]);
  int64_t lo = x->lo < y->lo ? x->lo : y->lo, hi = x->hi > y->hi ? x->hi : y->hi;
  return node_make(c, (struct expr_node){
                          .expr_kind = EXPR_ITE, .truth = truth, .kid = {condition, then, other}, .lo = lo, .hi = hi});
}

/* --- choices --- */

static expr_id rebuilt(struct expr_graph *c, const struct expr_node *n, const expr_id kid[3]) {
  switch (n->expr_kind) {
  case EXPR_ARRAY_READ:
    return expr_array_read(c, n->index, kid[0], n->lo, n->hi);
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MUL:
  case EXPR_DIV:
  case EXPR_MOD:
    return expr_arithmetic(c, n->expr_kind, kid[0], kid[1]);
  case EXPR_NOT:
    return expr_not(c, kid[0]);
  case EXPR_AND:
    return expr_and(c, kid[0], kid[1]);
  case EXPR_OR:
    return expr_or(c, kid[0], kid[1]);
  case EXPR_EQ:
    return expr_equal(c, kid[0], kid[1]);
  case EXPR_LT:
    return expr_less(c, kid[0], kid[1]);
  case EXPR_LE:
    return expr_at_most(c, kid[0], kid[1]);
  case EXPR_ITE:
    return expr_ite(c, kid[0], kid[1], kid[2]);
  case EXPR_BOUNDED:
    return expr_bounded(c, kid[0], n->lo, n->hi);
  case EXPR_NUMBER: /* no kids: unchanged */
  case EXPR_VARIABLE:
  case EXPR_CHOICE:
    break;
  }
  return NO_EXPR;
}

/* Kids have smaller indices, so one downward pass marks the nodes needed and one upward pass rebuilds them. */
expr_id expr_substitute_choice(struct expr_graph *c, expr_id w, uint32_t param, int64_t value) {
  if (node_of(c, w)->choices <= param)
    return w;
  expr_id *made = memory_alloc((w + (size_t)1) * sizeof *made); /* by expr_id; NO_EXPR: not needed */
  for (expr_id i = 0; i < w; i++)
    made[i] = NO_EXPR;
  made[w] = w;
  for (expr_id i = w + 1; i-- > 0;)
    for (unsigned k = 0; made[i] != NO_EXPR && k < expr_kids(node_of(c, i)->expr_kind); k++)
      made[node_of(c, i)->kid[k]] = i;
  for (expr_id i = 0; i <= w; i++) {
    if (made[i] == NO_EXPR)
      continue;
    struct expr_node n = *node_of(c, i);
    expr_id kid[3] = {NO_EXPR, NO_EXPR, NO_EXPR};
    bool same = true;
    for (unsigned k = 0; k < expr_kids(n.expr_kind); k++) {
      kid[k] = made[n.kid[k]];
      same &= kid[k] == n.kid[k];
    }
    if (n.expr_kind == EXPR_CHOICE && n.index == param)
      made[i] = n.truth ? expr_truth(value) : expr_number(c, value);
    else
      made[i] = same ? i : rebuilt(c, &n, kid);
  }
  expr_id result = made[w];
  memory_free(made);
  return result;
}
