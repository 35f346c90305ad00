#include "analysis/range_restriction.h"

#include "analysis/three_valued.h"
#include "base/memory.h"

#include <string.h>

#define CALL_DEPTH 12
#define CALLS_MAX 10000 /* a def may call another several times, and so on */

struct absence_walk {
  const struct scalarset *o;
  enum site_kind place;
  enum slot_knowledge *slots; /* of the current frame */
  unsigned depth;             /* of calls */
  unsigned calls;             /* so far */
  /* `correct` and the roles may be empty: both cases are tried */
  enum ternary correct_empty, role_empty;
};

/* Interval arithmetic. The ends saturate: INT64_MIN and INT64_MAX mean "no bound". */
struct interval {
  int64_t lo, hi;
};
static const struct interval any_number = {INT64_MIN, INT64_MAX};

static enum ternary truth_of(void *context, const struct node *);

static bool mentions(const struct absence_walk *a, const struct node *n) { return scalarset_occurs_in(a->o, n->type); }

static bool is_domain(const struct scalarset *o, const struct node *range) {
  return range->op == NODE_DOMAIN && scalarset_occurs_in(o, range->type->element);
}

/* --- which values occur --- */

static bool occurs(struct absence_walk *, const struct node *);

static void bind(struct absence_walk *a, const struct generator *g) {
  a->slots[g->slot] = !is_domain(a->o, g->range) && occurs(a, g->range) ? SLOT_STATE : SLOT_ANY;
}

/* The frame of a call: what is known of the arguments. NULL: too many calls. */
static enum slot_knowledge *frame_of(struct absence_walk *a, const struct node *call) {
  if (a->depth >= CALL_DEPTH || ++a->calls > CALLS_MAX)
    return NULL;
  enum slot_knowledge *frame = memory_alloc((a->o->model->nslots + 1) * sizeof *frame);
  for (uint32_t i = 0; i < call->n; i++) {
    const struct node *kid = call->kid[i];
    if (kid->op == NODE_SLOT)
      frame[i] = a->slots[kid->index];
    else
      frame[i] = occurs(a, kid) ? SLOT_STATE : SLOT_ANY;
  }
  return frame;
}

static bool call_occurs(struct absence_walk *a, const struct node *n) {
  enum slot_knowledge *frame = frame_of(a, n), *outer = a->slots;
  if (!frame)
    return false;
  a->slots = frame;
  a->depth++;
  bool result = occurs(a, a->o->model->defs[n->index].body);
  a->depth--;
  a->slots = outer;
  memory_free(frame);
  return result;
}

/* Do all values of the scalarset type inside the expression's value occur? */
static bool occurs(struct absence_walk *a, const struct node *n) {
  if (!op_is_known(n->op) || n->op == NODE_PENDING)
    return false;
  if (n->op == NODE_SLOT)
    return !mentions(a, n) || a->slots[n->index] == SLOT_STATE;
  if (n->op == NODE_CALL)
    return call_occurs(a, n);
  if (is_domain(a->o, n))
    return false;
  for (uint32_t i = 0; i < n->ngen; i++) {
    if (!is_domain(a->o, n->gen[i].range) && !occurs(a, n->gen[i].range))
      return false;
    bind(a, &n->gen[i]);
    if (n->gen[i].cond && !occurs(a, n->gen[i].cond))
      return false;
  }
  for (uint32_t i = 0; i < n->n; i++)
    if (!occurs(a, n->kid[i]))
      return false;
  return true;
}

/* Does the expression's value surely contain the absent value, so that it differs from every value that does not? */
static bool holds_absent(const struct absence_walk *a, const struct node *n) {
  switch (op_number(n->op)) {
  case NODE_SLOT:
    return a->slots[n->index] == SLOT_ABSENT;
  case NODE_WRAP:
  case NODE_SET:
  case NODE_RECORD:
  case NODE_SEQUENCE:
    for (uint32_t i = 0; i < n->n; i++)
      if (holds_absent(a, n->kid[i]))
        return true;
    return false;
  }
  return false;
}

/* --- numbers --- */

static int64_t clamp(__int128 x) { return x < INT64_MIN ? INT64_MIN : x > INT64_MAX ? INT64_MAX : (int64_t)x; }

static bool endless(struct interval x) { return x.lo == INT64_MIN || x.hi == INT64_MAX; }

static struct interval product(struct interval x, struct interval y) {
  if (x.lo == 0 && x.hi == 0)
    return x;
  if (y.lo == 0 && y.hi == 0)
    return y;
  if (endless(x) || endless(y)) /* only the sign is known */
    return x.lo >= 0 && y.lo >= 0 ? (struct interval){0, INT64_MAX} : any_number;
  __int128 p[] = {(__int128)x.lo * y.lo, (__int128)x.lo * y.hi, (__int128)x.hi * y.lo, (__int128)x.hi * y.hi};
  struct interval r = {clamp(p[0]), clamp(p[0])};
  for (int i = 1; i < 4; i++) {
    r.lo = clamp(p[i]) < r.lo ? clamp(p[i]) : r.lo;
    r.hi = clamp(p[i]) > r.hi ? clamp(p[i]) : r.hi;
  }
  return r;
}

static struct interval sum(struct interval x, struct interval y, int sign) {
  struct interval z =
      sign > 0 ? y : (struct interval){y.hi == INT64_MAX ? INT64_MIN : -y.hi, y.lo == INT64_MIN ? INT64_MAX : -y.lo};
  struct interval r;
  r.lo = x.lo == INT64_MIN || z.lo == INT64_MIN ? INT64_MIN : clamp((__int128)x.lo + z.lo);
  r.hi = x.hi == INT64_MAX || z.hi == INT64_MAX ? INT64_MAX : clamp((__int128)x.hi + z.hi);
  return r;
}

static enum ternary any_binding(struct absence_walk *, const struct generator *, uint32_t n, const struct node *body);

static struct interval number_of(struct absence_walk *a, const struct node *n) {
  switch (op_number(n->op)) {
  case NODE_CONST:
  case NODE_PARAM:
    return (struct interval){n->constant, n->constant};
  case NODE_COUNT:
    return (struct interval){0, any_binding(a, n->gen, n->ngen, n->n ? n->kid[0] : NULL) == NO ? 0 : INT64_MAX};
  case NODE_SUM:
    return any_binding(a, n->gen, n->ngen, NULL) == NO ? (struct interval){0, 0} : any_number;
  case NODE_CARD:
    if (n->kid[0]->op == NODE_SET_OF && any_binding(a, n->kid[0]->gen, n->kid[0]->ngen, NULL) == NO)
      return (struct interval){0, 0};
    return (struct interval){0, INT64_MAX};
  case NODE_MUL:
    return product(number_of(a, n->kid[0]), number_of(a, n->kid[1]));
  case NODE_ADD:
    return sum(number_of(a, n->kid[0]), number_of(a, n->kid[1]), 1);
  case NODE_SUB:
    return sum(number_of(a, n->kid[0]), number_of(a, n->kid[1]), -1);
  }
  if (n->type->kind == TYPE_RANGE && op_is_known(n->op))
    return (struct interval){n->type->lo, n->type->hi};
  return any_number;
}

/* --- truth --- */

static enum ternary range_empty(struct absence_walk *a, const struct node *range) {
  switch (op_number(range->op)) {
  case NODE_ROLE_SET:
    return a->role_empty;
  case NODE_CORRECT:
    return a->correct_empty;
  case NODE_DOMAIN:
    return range->type->element->count ? NO : MAYBE;
  case NODE_SET:
    return range->n ? NO : YES;
  }
  return MAYBE;
}

/* Is there a binding that satisfies all conditions and the body? */
static enum ternary any_binding(struct absence_walk *a, const struct generator *gen, uint32_t n,
                                const struct node *body) {
  bool sure = true;
  for (uint32_t i = 0; i < n; i++) {
    enum ternary empty = range_empty(a, gen[i].range);
    if (empty == YES)
      return NO;
    sure &= empty == NO;
    bind(a, &gen[i]);
    enum ternary cond = gen[i].cond ? truth_of(a, gen[i].cond) : YES;
    if (cond == NO)
      return NO;
    sure &= cond == YES;
  }
  enum ternary t = body ? truth_of(a, body) : YES;
  if (t == NO)
    return NO;
  return sure && t == YES ? YES : MAYBE;
}

/* Is there a binding that satisfies the conditions and violates the body? */
static enum ternary any_exception(struct absence_walk *a, const struct generator *gen, uint32_t n,
                                  const struct node *body) {
  if (!body)
    return NO;
  enum ternary bound = any_binding(a, gen, n, NULL);
  if (bound == NO)
    return NO;
  enum ternary broken = ternary_not(truth_of(a, body));
  if (broken == NO)
    return NO;
  return bound == YES && broken == YES ? YES : MAYBE;
}

static enum ternary equality(struct absence_walk *a, const struct node *x, const struct node *y) {
  if ((holds_absent(a, x) && occurs(a, y)) || (holds_absent(a, y) && occurs(a, x)))
    return NO;
  if (x->op == NODE_SLOT && y->op == NODE_SLOT && holds_absent(a, x) && holds_absent(a, y))
    return YES;
  return MAYBE;
}

static enum ternary less(struct interval x, struct interval y) { return x.hi < y.lo ? YES : x.lo >= y.hi ? NO : MAYBE; }

static bool is_number(const struct node *n) { return n->type->kind == TYPE_INT || n->type->kind == TYPE_RANGE; }

static enum ternary relation(struct absence_walk *a, const struct node *n) {
  const struct node *x = n->kid[0], *y = n->kid[1];
  if (n->op == NODE_EQ || n->op == NODE_NE) {
    enum ternary t = equality(a, x, y);
    if (t == MAYBE && is_number(x) && is_number(y) && !mentions(a, x) && !mentions(a, y)) {
      struct interval i = number_of(a, x), k = number_of(a, y);
      if (i.hi < k.lo || k.hi < i.lo)
        t = NO;
      else if (i.lo == i.hi && k.lo == k.hi && !endless(i))
        t = YES;
    }
    return n->op == NODE_EQ ? t : ternary_not(t);
  }
  if (!is_number(x) || !is_number(y) || mentions(a, x) || mentions(a, y))
    return MAYBE;
  struct interval i = number_of(a, x), k = number_of(a, y);
  switch (op_number(n->op)) {
  case NODE_LT:
    return less(i, k);
  case NODE_GT:
    return less(k, i);
  case NODE_LE:
    return ternary_not(less(k, i));
  case NODE_GE:
    return ternary_not(less(i, k));
  }
  return MAYBE;
}

static enum ternary call_truth(struct absence_walk *a, const struct node *n) {
  enum slot_knowledge *frame = frame_of(a, n), *outer = a->slots;
  if (!frame)
    return MAYBE;
  a->slots = frame;
  a->depth++;
  enum ternary t = truth_of(a, a->o->model->defs[n->index].body);
  a->depth--;
  a->slots = outer;
  memory_free(frame);
  return t;
}

static enum ternary truth_of(void *context, const struct node *n) {
  struct absence_walk *a = context;
  const struct node *body = n->n ? n->kid[0] : NULL;
  switch (op_number(n->op)) {
  case NODE_EXISTS:
    return any_binding(a, n->gen, n->ngen, body);
  case NODE_FORALL:
    return ternary_not(any_exception(a, n->gen, n->ngen, body));
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
    return relation(a, n);
  case NODE_IN:
  case NODE_SUBSET: /* {v} <= set, too */
    return holds_absent(a, n->kid[0]) && n->kid[1]->op != NODE_INTERVAL && occurs(a, n->kid[1]) ? NO : MAYBE;
  case NODE_CALL:
    return call_truth(a, n);
  }
  return ternary_connective(n, truth_of, a);
}

/* --- the query --- */

enum slot_knowledge slot_knowledge_of(const struct range_context *q, const struct node *range) {
  const struct model *m = q->scalarset->model;
  struct absence_walk a = {.o = q->scalarset, .place = q->place};
  a.slots = memory_alloc((m->nslots + 1) * sizeof *a.slots);
  memcpy(a.slots, q->slots, (m->nslots + 1) * sizeof *a.slots);
  bool all = !is_domain(q->scalarset, range) && occurs(&a, range);
  memory_free(a.slots);
  return all ? SLOT_STATE : SLOT_ANY;
}

/* The processes that quantifiers range over: all in a process, those that are not Byzantine in a property, those that
   take part in the round in an environment. */
static enum ternary roles_empty(const struct range_context *q) {
  const struct model *m = q->scalarset->model;
  for (uint32_t r = 0; r < m->nroles; r++)
    if (m->roles[r].count == 0)
      return MAYBE;
  if (q->place == SITE_ENVIRONMENT)
    return MAYBE;
  if (q->place == SITE_PROPERTY && environment_has_fault(m, q->scalarset->query, CLAUSE_BYZANTINE))
    return MAYBE;
  return NO;
}

bool generator_is_range_restricted(const struct range_context *q, const struct generator *gen, uint32_t n,
                                   uint32_t which, const struct node *body, bool universal) {
  const struct model *m = q->scalarset->model;
  if (gen[which].range->type->element != q->scalarset->value)
    return false; /* a compound type that contains such values: absence is not defined */
  enum ternary roles = roles_empty(q);
  /* all processes of the only role may be gone: both cases are tried; several roles are not distinguished */
  uint32_t cases = roles == MAYBE && m->nroles == 1 ? 4 : 2;
  struct absence_walk a = {.o = q->scalarset, .place = q->place};
  a.slots = memory_alloc((m->nslots + 1) * sizeof *a.slots);
  bool restricted = true;
  for (uint32_t i = 0; i < cases && restricted; i++) {
    memcpy(a.slots, q->slots, (m->nslots + 1) * sizeof *a.slots);
    a.correct_empty = i & 1 ? YES : NO;
    a.role_empty = cases == 4 ? (i & 2 ? YES : NO) : roles;
    for (uint32_t k = 0; k < which; k++)
      bind(&a, &gen[k]);
    a.slots[gen[which].slot] = SLOT_ABSENT;
    enum ternary cond = gen[which].cond ? truth_of(&a, gen[which].cond) : YES;
    if (cond == NO)
      continue;
    const struct generator *rest = gen + which + 1;
    uint32_t nrest = n - which - 1;
    enum ternary t = universal ? any_exception(&a, rest, nrest, body) : any_binding(&a, rest, nrest, body);
    restricted = t == NO;
  }
  memory_free(a.slots);
  return restricted;
}
