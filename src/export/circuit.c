#include "export/circuit.h"

#include "base/hash.h"

#include <string.h>

#define FAR ((int64_t)1 << 40) /* bounds beyond this are as good as none */

void circuit_init(struct circuit *c) { *c = (struct circuit){0}; }

void circuit_release(struct circuit *c) {
  vec_release(&c->nodes);
  vec_release(&c->table);
}

unsigned gate_kids(enum gate g) {
  switch (g) {
  case GATE_NUMBER:
  case GATE_CELL:
  case GATE_PARAM: return 0;
  case GATE_READ:
  case GATE_NOT:
  case GATE_COUNT: return 1;
  case GATE_ADD:
  case GATE_SUB:
  case GATE_MUL:
  case GATE_DIV:
  case GATE_MOD:
  case GATE_AND:
  case GATE_OR:
  case GATE_EQ:
  case GATE_LT:
  case GATE_LE: return 2;
  case GATE_IF: return 3;
  }
  return 0;
}

/* --- equal nodes are one --- */

struct key {
  uint32_t gate, truth, index, kid[3];
  int64_t number;
};

static struct key key_of(const struct gate_node *n) {
  struct key k;
  memset(&k, 0, sizeof k);
  k.gate = n->gate;
  k.truth = n->truth;
  k.index = n->index;
  memcpy(k.kid, n->kid, sizeof k.kid);
  k.number = n->number;
  return k;
}

static void table_put(struct circuit *c, wire w) {
  struct key k = key_of(&c->nodes.at[w]);
  size_t mask = c->table.cap - 1, at = (size_t)hash_bytes(&k, sizeof k) & mask;
  while (c->table.at[at])
    at = (at + 1) & mask;
  c->table.at[at] = w + 1;
}

static void table_grow(struct circuit *c) {
  size_t size = c->table.cap ? 2 * c->table.cap : 1024;
  memory_free(c->table.at);
  c->table.at = memory_alloc(size * sizeof *c->table.at);
  c->table.cap = c->table.n = size;
  for (wire w = 0; w < c->nodes.n; w++)
    table_put(c, w);
}

static wire node_make(struct circuit *c, struct gate_node n) {
  for (unsigned i = gate_kids(n.gate); i < 3; i++)
    n.kid[i] = NO_WIRE;
  c->large |= !n.truth && (n.lo < -CIRCUIT_MOST || n.hi > CIRCUIT_MOST);
  n.lo = n.lo < -FAR ? -FAR : n.lo;
  n.hi = n.hi > FAR ? FAR : n.hi;
  if (2 * (c->nodes.n + 1) > c->table.cap)
    table_grow(c);
  struct key k = key_of(&n);
  size_t mask = c->table.cap - 1, at = (size_t)hash_bytes(&k, sizeof k) & mask;
  for (; c->table.at[at]; at = (at + 1) & mask) {
    struct key other = key_of(&c->nodes.at[c->table.at[at] - 1]);
    if (!memcmp(&k, &other, sizeof k))
      return c->table.at[at] - 1;
  }
  vec_push(&c->nodes, n);
  c->table.at[at] = (wire)c->nodes.n;
  return (wire)c->nodes.n - 1;
}

/* --- leaves --- */

wire circuit_number(struct circuit *c, int64_t number) {
  return node_make(c, (struct gate_node){.gate = GATE_NUMBER, .number = number, .lo = number, .hi = number});
}

wire circuit_truth(struct circuit *c, bool truth) {
  return node_make(c, (struct gate_node){.gate = GATE_NUMBER, .truth = true, .number = truth, .lo = truth, .hi = truth});
}

wire circuit_cell(struct circuit *c, uint32_t cell, bool truth, int64_t lo, int64_t hi) {
  return node_make(c, (struct gate_node){.gate = GATE_CELL, .truth = truth, .index = cell, .lo = lo, .hi = hi});
}

wire circuit_read(struct circuit *c, uint32_t array, wire index, int64_t lo, int64_t hi) {
  return node_make(c, (struct gate_node){.gate = GATE_READ, .index = array, .kid = {index}, .lo = lo, .hi = hi});
}

wire circuit_param(struct circuit *c, uint32_t param, bool truth, int64_t lo, int64_t hi) {
  return node_make(c, (struct gate_node){.gate = GATE_PARAM, .truth = truth, .index = param, .number = hi, .lo = lo, .hi = hi});
}

static bool constant(const struct circuit *c, wire w, int64_t *v) {
  *v = c->nodes.at[w].number;
  return c->nodes.at[w].gate == GATE_NUMBER;
}

bool circuit_is(const struct circuit *c, wire w, int64_t v) {
  return c->nodes.at[w].gate == GATE_NUMBER && c->nodes.at[w].number == v;
}

void circuit_note(struct circuit *c, wire w, struct span at) {
  struct gate_node *n = &c->nodes.at[w];
  if (gate_kids(n->gate) > 0 && !n->at.to)
    n->at = at;
}

void circuit_within(struct circuit *c, wire w, int64_t lo, int64_t hi) {
  struct gate_node *n = &c->nodes.at[w];
  n->lo = n->lo < lo ? lo : n->lo;
  n->hi = n->hi > hi ? hi : n->hi;
}

/* --- numbers --- */

static wire pair(struct circuit *c, enum gate gate, wire a, wire b, int64_t lo, int64_t hi) {
  return node_make(c, (struct gate_node){.gate = gate, .kid = {a, b}, .lo = lo, .hi = hi});
}

static int64_t clip(__int128 v) { return v < -FAR ? -FAR : v > FAR ? FAR : (int64_t)v; }

static wire product(struct circuit *c, wire a, wire b) {
  const struct gate_node *x = node_of(c, a), *y = node_of(c, b);
  int64_t corner[4] = {clip((__int128)x->lo * y->lo), clip((__int128)x->lo * y->hi), clip((__int128)x->hi * y->lo),
                       clip((__int128)x->hi * y->hi)};
  int64_t lo = corner[0], hi = corner[0];
  for (int i = 1; i < 4; i++) {
    lo = corner[i] < lo ? corner[i] : lo;
    hi = corner[i] > hi ? corner[i] : hi;
  }
  if (lo == hi)
    return circuit_number(c, lo);
  if (circuit_is(c, a, 1))
    return b;
  return circuit_is(c, b, 1) ? a : pair(c, GATE_MUL, a, b, lo, hi);
}

static wire sum(struct circuit *c, enum gate gate, wire a, wire b) {
  const struct gate_node *x = node_of(c, a), *y = node_of(c, b);
  bool minus = gate == GATE_SUB;
  int64_t lo = x->lo + (minus ? -y->hi : y->lo), hi = x->hi + (minus ? -y->lo : y->hi);
  if (lo == hi)
    return circuit_number(c, lo);
  if (circuit_is(c, b, 0))
    return a;
  return !minus && circuit_is(c, a, 0) ? b : pair(c, gate, a, b, lo, hi);
}

/* Formats differ on negative numbers: those are shifted by a multiple of the divisor first. */
static wire quotient(struct circuit *c, enum gate gate, wire a, wire b) {
  int64_t lo = node_of(c, a)->lo;
  if (lo < 0) {
    wire times = circuit_number(c, -lo);
    wire shifted = quotient(c, gate, sum(c, GATE_ADD, a, product(c, times, b)), b);
    return gate == GATE_MOD ? shifted : sum(c, GATE_SUB, shifted, times);
  }
  const struct gate_node *x = node_of(c, a), *y = node_of(c, b);
  int64_t least = y->lo > 0 ? y->lo : 1, most = y->hi > 0 ? y->hi : 1;
  if (gate == GATE_MOD) {
    if (x->hi < least)
      return a;
    if (x->lo == x->hi && y->lo == y->hi)
      return circuit_number(c, x->lo % most);
    return pair(c, gate, a, b, 0, most - 1 < x->hi ? most - 1 : x->hi);
  }
  if (x->lo / most == x->hi / least)
    return circuit_number(c, x->lo / most);
  return circuit_is(c, b, 1) ? a : pair(c, gate, a, b, x->lo / most, x->hi / least);
}

wire circuit_arithmetic(struct circuit *c, enum gate gate, wire a, wire b) {
  if (gate == GATE_MUL)
    return product(c, a, b);
  return gate == GATE_DIV || gate == GATE_MOD ? quotient(c, gate, a, b) : sum(c, gate, a, b);
}

wire circuit_count(struct circuit *c, wire truth) {
  int64_t v;
  if (constant(c, truth, &v))
    return circuit_number(c, v);
  return node_make(c, (struct gate_node){.gate = GATE_COUNT, .kid = {truth}, .lo = 0, .hi = 1});
}

/* --- truth values --- */

static wire truth_pair(struct circuit *c, enum gate gate, wire a, wire b) {
  return node_make(c, (struct gate_node){.gate = gate, .truth = true, .kid = {a, b}, .lo = 0, .hi = 1});
}

wire circuit_not(struct circuit *c, wire a) {
  int64_t v;
  if (constant(c, a, &v))
    return circuit_truth(c, !v);
  if (node_of(c, a)->gate == GATE_NOT)
    return node_of(c, a)->kid[0];
  return node_make(c, (struct gate_node){.gate = GATE_NOT, .truth = true, .kid = {a}, .lo = 0, .hi = 1});
}

static bool opposite(struct circuit *c, wire a, wire b) { return circuit_not(c, a) == b; }

wire circuit_and(struct circuit *c, wire a, wire b) {
  if (circuit_is(c, a, 0) || circuit_is(c, b, 1) || a == b)
    return a;
  if (circuit_is(c, b, 0) || circuit_is(c, a, 1))
    return b;
  return opposite(c, a, b) ? circuit_truth(c, false) : truth_pair(c, GATE_AND, a, b);
}

wire circuit_or(struct circuit *c, wire a, wire b) {
  if (circuit_is(c, a, 1) || circuit_is(c, b, 0) || a == b)
    return a;
  if (circuit_is(c, b, 1) || circuit_is(c, a, 0))
    return b;
  return opposite(c, a, b) ? circuit_truth(c, true) : truth_pair(c, GATE_OR, a, b);
}

wire circuit_implies(struct circuit *c, wire a, wire b) { return circuit_or(c, circuit_not(c, a), b); }

wire circuit_equal(struct circuit *c, wire a, wire b) {
  const struct gate_node *x = node_of(c, a), *y = node_of(c, b);
  if (a == b)
    return circuit_truth(c, true);
  if (x->gate == GATE_NUMBER && y->gate != GATE_NUMBER)
    return circuit_equal(c, b, a);
  if (x->hi < y->lo || y->hi < x->lo)
    return circuit_truth(c, false);
  if (x->truth && y->gate == GATE_NUMBER) {
    return y->number ? a : circuit_not(c, a);
  } else if (y->gate == GATE_NUMBER && x->gate == GATE_IF) { /* of constants: the condition says it */
    wire condition = x->kid[0], then = x->kid[1], other = x->kid[2];
    int64_t v;
    if (constant(c, then, &v) || constant(c, other, &v))
      return circuit_if(c, condition, circuit_equal(c, then, b), circuit_equal(c, other, b));
  }
  return truth_pair(c, GATE_EQ, a, b);
}

wire circuit_less(struct circuit *c, wire a, wire b) {
  const struct gate_node *x = node_of(c, a), *y = node_of(c, b);
  if (x->hi < y->lo)
    return circuit_truth(c, true);
  return x->lo >= y->hi ? circuit_truth(c, false) : truth_pair(c, GATE_LT, a, b);
}

wire circuit_at_most(struct circuit *c, wire a, wire b) {
  const struct gate_node *x = node_of(c, a), *y = node_of(c, b);
  if (x->hi <= y->lo)
    return circuit_truth(c, true);
  return x->lo > y->hi ? circuit_truth(c, false) : truth_pair(c, GATE_LE, a, b);
}

wire circuit_if(struct circuit *c, wire condition, wire then, wire other) {
  int64_t v;
  if (constant(c, condition, &v))
    return v ? then : other;
  if (then == other)
    return then;
  if (node_of(c, condition)->gate == GATE_NOT)
    return circuit_if(c, node_of(c, condition)->kid[0], other, then);
  const struct gate_node *x = node_of(c, then), *y = node_of(c, other);
  bool truth = x->truth;
  if (truth && constant(c, then, &v))
    return v ? circuit_or(c, condition, other) : circuit_and(c, circuit_not(c, condition), other);
  if (truth && constant(c, other, &v))
    return v ? circuit_or(c, circuit_not(c, condition), then) : circuit_and(c, condition, then);
  if (x->gate == GATE_IF && x->kid[0] == condition)
    return circuit_if(c, condition, x->kid[1], other);
  if (y->gate == GATE_IF && y->kid[0] == condition)
    return circuit_if(c, condition, then, y->kid[2]);
  int64_t lo = x->lo < y->lo ? x->lo : y->lo, hi = x->hi > y->hi ? x->hi : y->hi;
  return node_make(c, (struct gate_node){.gate = GATE_IF, .truth = truth, .kid = {condition, then, other}, .lo = lo, .hi = hi});
}

/* --- choices --- */

static wire rebuilt(struct circuit *c, const struct gate_node *n, const wire kid[3]) {
  switch (n->gate) {
  case GATE_READ: return circuit_read(c, n->index, kid[0], n->lo, n->hi);
  case GATE_ADD:
  case GATE_SUB:
  case GATE_MUL:
  case GATE_DIV:
  case GATE_MOD: return circuit_arithmetic(c, n->gate, kid[0], kid[1]);
  case GATE_NOT: return circuit_not(c, kid[0]);
  case GATE_AND: return circuit_and(c, kid[0], kid[1]);
  case GATE_OR: return circuit_or(c, kid[0], kid[1]);
  case GATE_EQ: return circuit_equal(c, kid[0], kid[1]);
  case GATE_LT: return circuit_less(c, kid[0], kid[1]);
  case GATE_LE: return circuit_at_most(c, kid[0], kid[1]);
  case GATE_IF: return circuit_if(c, kid[0], kid[1], kid[2]);
  case GATE_COUNT: return circuit_count(c, kid[0]);
  case GATE_NUMBER: /* these have no kids, so they stay as they are */
  case GATE_CELL:
  case GATE_PARAM: break;
  }
  return NO_WIRE;
}

struct choosing {
  struct circuit *circuit;
  uint32_t param;
  int64_t value;
  wire *done; /* by wire: what has become of it, NO_WIRE: not known yet */
};

static wire chosen(struct choosing *k, wire w) {
  struct gate_node n = *node_of(k->circuit, w);
  if (k->done[w] != NO_WIRE)
    return k->done[w];
  if (n.gate == GATE_PARAM && n.index == k->param) {
    k->done[w] = n.truth ? circuit_truth(k->circuit, k->value) : circuit_number(k->circuit, k->value);
    return k->done[w];
  }
  wire kid[3] = {NO_WIRE, NO_WIRE, NO_WIRE};
  bool same = true;
  for (unsigned i = 0; i < gate_kids(n.gate); i++) {
    kid[i] = chosen(k, n.kid[i]);
    same &= kid[i] == n.kid[i];
  }
  return k->done[w] = same ? w : rebuilt(k->circuit, &n, kid);
}

wire circuit_chosen(struct circuit *c, wire w, uint32_t param, int64_t value) {
  struct choosing k = {c, param, value, memory_alloc((w + 1) * sizeof(wire))};
  for (wire i = 0; i <= w; i++)
    k.done[i] = NO_WIRE;
  wire made = chosen(&k, w);
  memory_free(k.done);
  return made;
}
