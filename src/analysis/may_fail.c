#include "analysis/may_fail.h"

#include "analysis/model_visitor.h"
#include "base/memory.h"
#include "base/vec.h"

/* The result for a call. The body of a def is analysed once for each combination of the other members. */
struct known_call {
  uint32_t def;
  uint64_t honest; /* bit i: argument i is a process that is not Byzantine (the first 64) */
  bool received, fails;
};

struct may_fail_walk {
  const struct model *model;
  bool byzantine; /* some processes have no variables */
  bool *honest;   /* by slot of the current frame: a process that is not Byzantine */
  bool *open;     /* by def: being analysed */
  bool received;  /* inside a generator over `received`, which is therefore not empty */
  VEC(struct known_call) known;
  order_dependence_fn *on_order;
  void *context;
};

static bool fails(struct may_fail_walk *, const struct node *);

/* Are all values of a values of b? False if in doubt. */
static bool fits(const struct model *m, const struct type *a, const struct type *b) {
  if (a == b)
    return true;
  if (a->kind == TYPE_RANGE && b->kind == TYPE_RANGE)
    return b->lo <= a->lo && a->hi <= b->hi;
  if (a->kind == TYPE_PROCESS && b->kind == TYPE_PROCESS)
    return b->role == ROLE_ANY || a->role == b->role || m->nroles == 1;
  if (a->kind == TYPE_OPTION && b->kind == TYPE_OPTION)
    return fits(m, a->element, b->element);
  return false;
}

/* A set of processes none of which is Byzantine. False if in doubt. */
static bool honest_range(const struct node *n) {
  if (n->op == NODE_ROLE_SET || n->op == NODE_CORRECT)
    return true;
  if (n->op == NODE_INTERSECTION)
    return honest_range(n->kid[0]) || honest_range(n->kid[1]);
  if (n->op == NODE_UNION)
    return honest_range(n->kid[0]) && honest_range(n->kid[1]);
  return n->op == NODE_DIFFERENCE && honest_range(n->kid[0]);
}

/* False if in doubt. */
static bool never_empty(const struct may_fail_walk *f, const struct node *range) {
  if (range->op == NODE_RECEIVED)
    return f->received;
  if (range->op == NODE_SET || range->op == NODE_SEQUENCE)
    return range->n > 0;
  return range->op == NODE_DOMAIN;
}

/* --- arithmetic --- */

/* Rounds are advanced by constants. No search takes enough steps for an overflow of 64 bits. */
#define ADVANCE_MOST (INT64_C(1) << 20)

/* A TYPE_RANGE gives the bounds of a result. The type checker uses TYPE_INT where a result may leave 64 bits. */
static bool leaves_64_bits(const struct node *n) {
  if (n->type->kind == TYPE_ROUND)
    return n->op != NODE_ADD || n->kid[1]->type->kind != TYPE_RANGE || n->kid[1]->type->hi > ADVANCE_MOST;
  return n->type->kind != TYPE_RANGE;
}

static bool may_be_zero(const struct node *n) {
  return n->type->kind != TYPE_RANGE || (n->type->lo <= 0 && n->type->hi >= 0);
}

static bool field_fails(const struct may_fail_walk *f, const struct node *n) {
  const struct node *process = n->kid[0];
  const uint32_t *var = f->model->fields[n->index].var;
  for (uint32_t r = 0; r < f->model->nroles; r++)
    if (var[r] == UINT32_MAX && (process->type->role == ROLE_ANY || process->type->role == r))
      return true;
  return f->byzantine && !(process->op == NODE_SLOT && f->honest[process->index]);
}

static bool call_fails(struct may_fail_walk *f, const struct node *n) {
  if (f->open[n->index])
    return true; /* unbounded recursion */
  bool *outer = f->honest;
  struct known_call call = {.def = n->index, .received = f->received};
  for (uint32_t i = 0; i < n->n && i < 64; i++)
    call.honest |= (uint64_t)(n->kid[i]->op == NODE_SLOT && outer[n->kid[i]->index]) << i;
  for (size_t i = 0; i < f->known.n; i++) {
    const struct known_call *k = &f->known.at[i];
    if (k->def == call.def && k->honest == call.honest && k->received == call.received)
      return k->fails;
  }
  bool *frame = memory_alloc(f->model->nslots + 1);
  for (uint32_t i = 0; i < n->n && i < 64; i++)
    frame[i] = call.honest >> i & 1;
  f->open[n->index] = true;
  f->honest = frame;
  bool result = fails(f, f->model->defs[n->index].body);
  f->honest = outer;
  f->open[n->index] = false;
  memory_free(frame);
  call.fails = result;
  vec_push(&f->known, call);
  return result;
}

/* The role that evaluates it is not known here. */
static bool neighbours_fail(struct may_fail_walk *f) {
  for (uint32_t r = 0; r < f->model->nroles; r++)
    if (f->model->roles[r].graph && fails(f, f->model->roles[r].graph))
      return true;
  return false;
}

/* May the operator itself fail, apart from its operands? Operators with TRAIT_FAILS that are not listed may. */
static bool fails_itself(struct may_fail_walk *f, const struct node *n) {
  if (!(op_traits(n->op) & TRAIT_FAILS))
    return false;
  switch ((unsigned)n->op) {
  case NODE_ADD:
  case NODE_SUB:
  case NODE_MUL:
  case NODE_NEG:
  case NODE_SUM:
    return leaves_64_bits(n);
  case NODE_DIV: /* the least number by -1 is too large */
    return may_be_zero(n->kid[1]) || (leaves_64_bits(n) && n->kid[1]->type->lo < 0);
  case NODE_MOD:
    return may_be_zero(n->kid[1]);
  case NODE_MIN:
  case NODE_MAX:
  case NODE_PICK:
  case NODE_RANDOM:
    for (uint32_t i = 0; i < n->ngen; i++)
      if (n->gen[i].cond || !never_empty(f, n->gen[i].range))
        return true;
    return false;
  case NODE_INDEX:
    return !fits(f->model, n->kid[1]->type, n->kid[0]->type->index);
  case NODE_ARRAY_OF:
    return !fits(f->model, n->kid[0]->type, n->type->element);
  case NODE_SUBSETS:
    return n->kid[0]->type->element->count > 24;
  case NODE_REMOTE:
  case NODE_INITIAL:
  case NODE_ORACLE:
    return field_fails(f, n);
  case NODE_CALL:
    return call_fails(f, n);
  case NODE_NEIGHBOURS:
    return neighbours_fail(f);
  }
  return true; /* MAJORITY, FIRST, LAST, FRONT, NARROW */
}

/* Visits everything even if the result is known, because on_order is called for each quantifier. */
static bool bindings_fail(struct may_fail_walk *f, const struct generator *gen, uint32_t ngen, struct node *const *kid,
                          uint32_t n, bool *first_range) {
  bool received = f->received, result = false;
  *first_range = false;
  for (uint32_t i = 0; i < ngen; i++) {
    bool range = fails(f, gen[i].range);
    if (i == 0)
      *first_range = range;
    else
      result |= range;
    f->honest[gen[i].slot] = honest_range(gen[i].range);
    f->received |= gen[i].range->op == NODE_RECEIVED;
    if (gen[i].cond)
      result |= fails(f, gen[i].cond);
  }
  for (uint32_t i = 0; i < n; i++)
    result |= fails(f, kid[i]);
  f->received = received;
  return result;
}

static bool fails(struct may_fail_walk *f, const struct node *n) {
  bool first_range, itself = false;
  if (n->op == NODE_OTHERWISE && op_may_be_empty(n->kid[0]->op)) {
    const struct node *tried = n->kid[0];
    bool result = bindings_fail(f, tried->gen, tried->ngen, tried->kid, tried->n, &first_range);
    return fails(f, n->kid[1]) || result || first_range;
  }
  itself = fails_itself(f, n);
  bool bindings = bindings_fail(f, n->gen, n->ngen, n->kid, n->n, &first_range);
  /* the first range is evaluated once, before the first binding */
  if (bindings && f->on_order && (n->op == NODE_EXISTS || n->op == NODE_FORALL))
    f->on_order(f->context, n);
  return itself || bindings || first_range;
}

static struct may_fail_walk may_fail_walk_init(const struct model *m, const struct query *q,
                                               order_dependence_fn *on_order, void *context) {
  struct may_fail_walk f = {.model = m, .on_order = on_order, .context = context};
  f.byzantine = environment_has_fault(m, q, CLAUSE_BYZANTINE);
  f.honest = memory_alloc(m->nslots + 1);
  f.open = memory_alloc(m->ndefs + 1);
  return f;
}

static void may_fail_walk_release(struct may_fail_walk *f) {
  memory_free(f->honest);
  memory_free(f->open);
  vec_release(&f->known);
}

bool node_may_fail(const struct model *m, const struct query *q, const struct node *n, order_dependence_fn *on_order,
                   void *context) {
  struct may_fail_walk f = may_fail_walk_init(m, q, on_order, context);
  bool result = fails(&f, n);
  may_fail_walk_release(&f);
  return result;
}

bool bindings_may_fail(const struct model *m, const struct query *q, const struct generator *gen, uint32_t ngen,
                       const struct node *body, order_dependence_fn *on_order, void *context) {
  struct may_fail_walk f = may_fail_walk_init(m, q, on_order, context);
  bool first_range;
  struct node *kid = (struct node *)body;
  bool result = bindings_fail(&f, gen, ngen, &kid, body ? 1 : 0, &first_range);
  may_fail_walk_release(&f);
  return result || first_range;
}
