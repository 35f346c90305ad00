#include "analysis/stable_predicates.h"

#include "analysis/action_use.h"
#include "analysis/dataflow.h"
#include "analysis/may_fail.h"
#include "analysis/model_visitor.h"
#include "analysis/monotonicity.h"
#include "base/memory.h"

#define CALL_DEPTH 12
#define CALLS_MAX 10000 /* a def may call another several times, and so on */

struct role_stability {
  struct monotonicity *vars;
  bool **reaches; /* by label, by label */
  struct condition_list *necessary;
  struct condition_list *changes;
  bool *changes_known; /* by action: `changes` lists all conditions */
};

struct stable_predicates {
  const struct model *model;
  const struct query *query;
  struct arena *arena;
  struct role_stability *roles;
  struct monotonicity *globals;
};

/* --- how the value of an expression can change --- */

struct monotonicity_walk {
  const struct stable_predicates *stable;
  uint32_t role;
  const struct monotonicity *arguments; /* of the current def, in the first slots; NULL: not in a def */
  uint32_t narguments;
  unsigned depth;  /* of calls */
  unsigned *calls; /* so far */
};

static const struct monotonicity never_changes = {true, true, true};
static const struct monotonicity anything = {false, false, false};

static struct monotonicity monotonicity_of(const struct monotonicity_walk *, const struct node *);

static bool is_unchanging(struct monotonicity d) { return d.nondecreasing && d.nonincreasing; }

static struct monotonicity reversed(struct monotonicity d) {
  return (struct monotonicity){d.nonincreasing, d.nondecreasing, false};
}

static struct monotonicity join(struct monotonicity a, struct monotonicity b) {
  return (struct monotonicity){a.nondecreasing && b.nondecreasing, a.nonincreasing && b.nonincreasing,
                               a.stays_some && b.stays_some};
}

/* Numbers, labels, rounds: ordered by <=. */
static bool is_ordered(const struct type *t) {
  return t->kind == TYPE_INT || t->kind == TYPE_RANGE || t->kind == TYPE_ENUM || t->kind == TYPE_ROUND;
}

static bool is_constant(const struct node *n) { return n->op == NODE_CONST || n->op == NODE_PARAM; }

/* It never changes if its parts never do. */
static struct monotonicity monotonicity_of_parts(const struct monotonicity_walk *l, const struct node *n) {
  for (uint32_t i = 0; i < n->ngen; i++)
    if (!is_unchanging(monotonicity_of(l, n->gen[i].range)) ||
        (n->gen[i].cond && !is_unchanging(monotonicity_of(l, n->gen[i].cond))))
      return anything;
  for (uint32_t i = 0; i < n->n; i++)
    if (!is_unchanging(monotonicity_of(l, n->kid[i])))
      return anything;
  return never_changes;
}

static struct monotonicity monotonicity_of_call(const struct monotonicity_walk *l, const struct node *n) {
  const struct def *def = &l->stable->model->defs[n->index];
  if (l->depth >= CALL_DEPTH || ++*l->calls > CALLS_MAX)
    return anything;
  struct monotonicity *arguments = memory_alloc((n->n + 1) * sizeof *arguments);
  for (uint32_t i = 0; i < n->n; i++)
    arguments[i] = monotonicity_of(l, n->kid[i]);
  struct monotonicity_walk inner = {l->stable, l->role, arguments, n->n, l->depth + 1, l->calls};
  struct monotonicity result = monotonicity_of(&inner, def->body);
  memory_free(arguments);
  return result;
}

/* a < b, a <= b: true stays true if a never increases and b never decreases. */
static struct monotonicity monotonicity_of_less(struct monotonicity a, struct monotonicity b) {
  return (struct monotonicity){a.nonincreasing && b.nondecreasing, a.nondecreasing && b.nonincreasing, false};
}

/* x == c for a constant c. A monotone x never returns to the first value of its type, and never leaves the last one. */
static struct monotonicity monotonicity_at_constant(const struct monotonicity_walk *l, const struct node *x,
                                                    const struct node *c) {
  struct monotonicity d = monotonicity_of(l, x);
  const struct type *t = x->type;
  int64_t lo = t->kind == TYPE_RANGE ? t->lo : 0;
  int64_t hi = t->kind == TYPE_RANGE ? t->hi : (int64_t)t->size - 1;
  if (t->kind == TYPE_BOOL)
    return c->constant ? (struct monotonicity){d.nondecreasing, d.nonincreasing, false} : reversed(d);
  if (t->kind == TYPE_OPTION && c->constant == VALUE_NONE)
    return (struct monotonicity){false, d.stays_some, false};
  if (t->kind != TYPE_RANGE && t->kind != TYPE_ENUM)
    return anything;
  bool least = c->constant == lo, most = c->constant == hi;
  return (struct monotonicity){(d.nondecreasing && most) || (d.nonincreasing && least),
                               (d.nondecreasing && least) || (d.nonincreasing && most), false};
}

static struct monotonicity monotonicity_of_equality(const struct monotonicity_walk *l, const struct node *a,
                                                    const struct node *b) {
  if (is_unchanging(monotonicity_of(l, a)) && is_unchanging(monotonicity_of(l, b)))
    return never_changes;
  if (is_constant(b))
    return monotonicity_at_constant(l, a, b);
  if (is_constant(a))
    return monotonicity_at_constant(l, b, a);
  return anything;
}

static struct monotonicity monotonicity_of_comparison(const struct monotonicity_walk *l, const struct node *n) {
  const struct node *a = n->kid[0], *b = n->kid[1];
  switch (op_number(n->op)) {
  case NODE_EQ:
    return monotonicity_of_equality(l, a, b);
  case NODE_NE:
    return reversed(monotonicity_of_equality(l, a, b));
  case NODE_SUBSET:
    return monotonicity_of_less(monotonicity_of(l, a), monotonicity_of(l, b));
  case NODE_IN:
    if (b->type->kind != TYPE_SET || b->op == NODE_INTERVAL || !is_unchanging(monotonicity_of(l, a)))
      return monotonicity_of_parts(l, n);
    return monotonicity_of(l, b);
  }
  if (!is_ordered(a->type) || !is_ordered(b->type))
    return monotonicity_of_parts(l, n);
  if (n->op == NODE_LT || n->op == NODE_LE)
    return monotonicity_of_less(monotonicity_of(l, a), monotonicity_of(l, b));
  return monotonicity_of_less(monotonicity_of(l, b), monotonicity_of(l, a));
}

static struct monotonicity monotonicity_of_arithmetic(const struct monotonicity_walk *l, const struct node *n) {
  struct monotonicity a = monotonicity_of(l, n->kid[0]), b = n->n > 1 ? monotonicity_of(l, n->kid[1]) : never_changes;
  const struct node *x = n->kid[0], *y = n->n > 1 ? n->kid[1] : NULL;
  if (is_unchanging(a) && is_unchanging(b))
    return never_changes;
  switch (op_number(n->op)) {
  case NODE_ADD:
    return join(a, b);
  case NODE_SUB:
    return join(a, reversed(b));
  case NODE_NEG:
    return reversed(a);
  case NODE_MUL:
    if (is_constant(y))
      return y->constant >= 0 ? join(a, never_changes) : reversed(a);
    if (is_constant(x))
      return x->constant >= 0 ? join(b, never_changes) : reversed(b);
    return anything;
  case NODE_DIV:
    return is_constant(y) && y->constant > 0 ? join(a, never_changes) : anything;
  }
  return anything;
}

/* The set of bindings: nondecreasing if bindings are only added, nonincreasing if they are only removed. A bound value
   itself never changes. */
static struct monotonicity monotonicity_of_bindings(const struct monotonicity_walk *l, const struct generator *gen,
                                                    uint32_t n) {
  struct monotonicity d = never_changes;
  for (uint32_t i = 0; i < n; i++) {
    struct monotonicity range = monotonicity_of(l, gen[i].range);
    if (gen[i].range->type->kind != TYPE_SET && !is_unchanging(range))
      return anything;
    d = join(d, range);
    if (gen[i].cond)
      d = join(d, monotonicity_of(l, gen[i].cond));
  }
  return d;
}

static struct monotonicity monotonicity_of_quantifier(const struct monotonicity_walk *l, const struct node *n) {
  struct monotonicity bindings = monotonicity_of_bindings(l, n->gen, n->ngen);
  struct monotonicity body = n->n ? monotonicity_of(l, n->kid[0]) : never_changes;
  struct monotonicity d = join(n->op == NODE_FORALL ? reversed(bindings) : bindings, body);
  d.stays_some = false;
  return d;
}

/* max(a, b), or max over a growing set of bindings. */
static struct monotonicity monotonicity_of_extreme(const struct monotonicity_walk *l, const struct node *n) {
  const struct generator *gen = n->gen;
  if (!is_ordered(n->type) || n->ngen == 0)
    return monotonicity_of_parts(l, n);
  if (n->ngen == 1 && gen->range->op == NODE_SET && !gen->cond && n->kid[0]->op == NODE_SLOT &&
      n->kid[0]->index == gen->slot) {
    struct monotonicity d = never_changes;
    for (uint32_t i = 0; i < gen->range->n; i++)
      d = join(d, monotonicity_of(l, gen->range->kid[i]));
    return d;
  }
  struct monotonicity bindings = monotonicity_of_bindings(l, gen, n->ngen);
  return join(n->op == NODE_MIN ? reversed(bindings) : bindings, monotonicity_of(l, n->kid[0]));
}

static struct monotonicity monotonicity_of_slot(const struct monotonicity_walk *l, const struct node *n) {
  if (l->arguments && n->index < l->narguments)
    return l->arguments[n->index];
  return never_changes;
}

/* Traits of operators whose value changes only if their parts do. */
#define CHANGES_BY_PARTS                                                                                               \
  (TRAIT_NAME | TRAIT_SELF | TRAIT_PROCESSES | TRAIT_NUMBERED | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS |      \
   TRAIT_FAILS)

/* Operators that are not listed here: by their traits. */
static struct monotonicity monotonicity_of(const struct monotonicity_walk *l, const struct node *n) {
  const struct stable_predicates *p = l->stable;
  switch (op_number(n->op)) {
  case NODE_SLOT:
    return monotonicity_of_slot(l, n);
  case NODE_SENDER:
    return never_changes;
  case NODE_VAR:
    return p->roles[l->role].vars[n->index];
  case NODE_GLOBAL:
    return p->globals[n->index];
  case NODE_NEIGHBOURS:
    return monotonicity_of(l, p->model->roles[l->role].graph);
  case NODE_NOT:
    return reversed(monotonicity_of(l, n->kid[0]));
  case NODE_AND:
  case NODE_OR:
    return join(monotonicity_of(l, n->kid[0]), monotonicity_of(l, n->kid[1]));
  case NODE_IMPLIES:
    return join(reversed(monotonicity_of(l, n->kid[0])), monotonicity_of(l, n->kid[1]));
  case NODE_IF:
    if (!is_unchanging(monotonicity_of(l, n->kid[0])))
      return anything;
    return join(monotonicity_of(l, n->kid[1]), monotonicity_of(l, n->kid[2]));
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
  case NODE_IN:
  case NODE_SUBSET:
    return monotonicity_of_comparison(l, n);
  case NODE_ADD:
  case NODE_SUB:
  case NODE_NEG:
  case NODE_MUL:
  case NODE_DIV:
    return monotonicity_of_arithmetic(l, n);
  case NODE_UNION:
  case NODE_INTERSECTION:
    return join(monotonicity_of(l, n->kid[0]), monotonicity_of(l, n->kid[1]));
  case NODE_DIFFERENCE:
    return join(monotonicity_of(l, n->kid[0]), reversed(monotonicity_of(l, n->kid[1])));
  case NODE_CARD:
    return n->kid[0]->type->kind == TYPE_SET ? monotonicity_of(l, n->kid[0]) : monotonicity_of_parts(l, n);
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
    return monotonicity_of_quantifier(l, n);
  case NODE_MIN:
  case NODE_MAX:
    return monotonicity_of_extreme(l, n);
  case NODE_NARROW:
  case NODE_SELECT:
    return monotonicity_of(l, n->kid[0]);
  case NODE_INDEX:
    return is_unchanging(monotonicity_of(l, n->kid[1])) ? monotonicity_of(l, n->kid[0]) : anything;
  case NODE_CALL:
    return monotonicity_of_call(l, n);
  }
  return op_traits(n->op) & ~(unsigned)CHANGES_BY_PARTS ? anything : monotonicity_of_parts(l, n);
}

bool predicate_stays_false(const struct stable_predicates *p, uint32_t role, const struct node *n) {
  unsigned calls = 0;
  struct monotonicity_walk l = {.stable = p, .role = role, .calls = &calls};
  return monotonicity_of(&l, n).nonincreasing;
}

/* --- variables --- */

static void find_monotonicity(struct stable_predicates *p) {
  const struct model *m = p->model;
  for (uint32_t i = 0; i < m->nglobals; i++)
    p->globals[i] = never_changes;
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    for (uint32_t i = 0; i < role->nvars; i++)
      p->roles[r].vars[i] = never_changes;
    for (uint32_t i = 0; i < role->nactions; i++) {
      const struct action *a = &role->actions[i];
      action_monotonicity(m, r, a, p->roles[r].vars, p->globals, p->arena);
      if (a->once != NO_SLOT)
        p->roles[r].vars[a->once].nonincreasing = false;
    }
    if (role->point_var != NO_VAR)
      p->roles[r].vars[role->point_var] = anything;
  }
}

/* A recovery resets volatile variables, unless they never change and their first value is the same every time. In order
   of declaration: a first value may read variables that were declared before. */
static void find_recovery(struct stable_predicates *p, uint32_t r) {
  const struct role *role = &p->model->roles[r];
  unsigned calls = 0;
  struct monotonicity_walk l = {.stable = p, .role = r, .calls = &calls};
  for (uint32_t i = 0; i < role->nvars; i++) {
    struct monotonicity *d = &p->roles[r].vars[i];
    const struct node *init = role->vars[i].init;
    if (var_is_volatile(&role->vars[i]) && !(is_unchanging(*d) && init && is_unchanging(monotonicity_of(&l, init))))
      *d = anything;
  }
}

bool variable_is_nondecreasing(const struct stable_predicates *p, uint32_t role, uint32_t var) {
  return p->roles[role].vars[var].nondecreasing;
}

bool global_is_nondecreasing(const struct stable_predicates *p, uint32_t global) {
  return p->globals[global].nondecreasing;
}

/* --- program points --- */

static void find_reaches(struct stable_predicates *p, uint32_t r) {
  const struct role *role = &p->model->roles[r];
  uint32_t n = role_npoints(role);
  bool **reaches = p->roles[r].reaches = arena_array(p->arena, n, sizeof *reaches);
  for (uint32_t from = 0; from < n; from++) {
    reaches[from] = arena_array(p->arena, n, sizeof **reaches);
    reaches[from][from] = true;
    for (uint32_t i = 0; i < role->nactions; i++)
      if (action_at_point(role, &role->actions[i], from))
        action_next_points(role, &role->actions[i], from, reaches[from]);
    if (role_recovers(p->model, p->query, r))
      reaches[from][role_starts(role) ? 1 : 0] = true;
  }
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t j = 0; j < n; j++)
        reaches[i][j] |= reaches[i][k] && reaches[k][j];
}

bool point_reaches(const struct stable_predicates *p, uint32_t role, uint32_t from, uint32_t to) {
  return p->roles[role].reaches[from][to];
}

/* --- conditions of an action --- */

struct condition_collector {
  struct stable_predicates *stable;
  uint32_t role;
  const struct action *action;
  bool matching; /* in the match: the slot holds one message, also for a quorum */
  struct condition_list *out;
  size_t cap;
};

static void add_condition(struct condition_collector *c, const struct node *n) {
  struct condition_list *out = c->out;
  out->at = arena_grown(c->stable->arena, out->at, &c->cap, out->n, sizeof *out->at);
  out->at[out->n++] = n;
}

/* Local names that are free in an expression. */
struct free_name_check {
  const struct action *action;
  bool matching;
  bool *bound; /* by slot: by a generator inside */
  bool strange;
};

static bool is_of_message(const struct action *a, const struct node *n, bool matching) {
  if (a->trigger == TRIGGER_NONE)
    return false;
  if (n->index == a->slot)
    return a->trigger == TRIGGER_ONE || matching;
  if (n->op == NODE_SLOT && a->from_slot != NO_SLOT && n->index == a->from_slot)
    return true;
  for (uint32_t i = 0; i < a->nparts && n->op == NODE_SLOT; i++)
    if (n->index == a->parts[i].slot)
      return true;
  return false;
}

static bool visit_bound(void *context, const struct node *n) {
  struct free_name_check *f = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    f->bound[n->gen[i].slot] = true;
  return true;
}

static bool visit_names(void *context, const struct node *n) {
  struct free_name_check *f = context;
  if ((n->op == NODE_SLOT || n->op == NODE_SENDER) && !f->bound[n->index])
    f->strange |= !is_of_message(f->action, n, f->matching);
  f->strange |= !op_is_known(n->op);
  return true;
}

/* Does it read no local names but those of the message? (A slot is reused only where its other name is out of scope.)
 */
static bool reads_message_only(const struct condition_collector *c, const struct node *n) {
  struct free_name_check f = {.action = c->action, .matching = c->matching};
  f.bound = memory_alloc(c->stable->model->nslots + 1);
  node_walk(n, visit_bound, &f);
  node_walk(n, visit_names, &f);
  memory_free(f.bound);
  return !f.strange;
}

static bool fails(const struct stable_predicates *p, const struct node *n) {
  return n && node_may_fail(p->model, p->query, n, NULL, NULL);
}

static const struct type truth_type = {.kind = TYPE_BOOL, .count = 2};

static struct node *compared(const struct stable_predicates *p, enum op op, const struct node *a,
                             const struct node *b) {
  struct node *n = arena_alloc(p->arena, sizeof *n);
  n->op = op;
  n->at = a->at;
  n->type = &truth_type;
  n->n = 2;
  n->kid = arena_array(p->arena, 2, sizeof *n->kid);
  n->kid[0] = (struct node *)a;
  n->kid[1] = (struct node *)b;
  return n;
}

static const struct node *weakened(const struct condition_collector *, const struct node *);

/* Records are compared lexicographically: by their first parts. */
static const struct node *weakened_record(const struct condition_collector *c, const struct node *n) {
  const struct node *a = n->kid[0], *b = n->kid[1];
  enum op op = n->op == NODE_EQ                       ? NODE_EQ
               : n->op == NODE_GT || n->op == NODE_GE ? NODE_GE
               : n->op == NODE_LT || n->op == NODE_LE ? NODE_LE
                                                      : NODE_OPS;
  if (op == NODE_OPS || a->op != NODE_RECORD || b->op != NODE_RECORD || a->n == 0 || a->n != b->n)
    return NULL;
  return weakened(c, compared(c->stable, op, a->kid[0], b->kid[0]));
}

/* A condition that is implied by the given one and stays false once it is false; NULL: none was found. For example,
   a == b implies a >= b, which stays false once b exceeds a. */
static const struct node *weakened(const struct condition_collector *c, const struct node *n) {
  const struct stable_predicates *p = c->stable;
  if (predicate_stays_false(p, c->role, n) && !node_chooses(p->model, n) && reads_message_only(c, n))
    return n;
  if (n->op == NODE_AND || n->op == NODE_OR) {
    const struct node *a = weakened(c, n->kid[0]), *b = weakened(c, n->kid[1]);
    if (a && b)
      return compared(p, n->op, a, b);
    return n->op == NODE_OR ? NULL : a ? a : b;
  }
  if (n->n == 2 && n->kid[0]->type->kind == TYPE_RECORD)
    return weakened_record(c, n);
  if (n->op != NODE_EQ || !is_ordered(n->kid[0]->type) || !is_ordered(n->kid[1]->type))
    return NULL;
  const struct node *least = weakened(c, compared(p, NODE_GE, n->kid[0], n->kid[1]));
  return least ? least : weakened(c, compared(p, NODE_LE, n->kid[0], n->kid[1]));
}

/* The conjuncts up to the first that may fail: once one of them is false, the others are not evaluated. Returns false
   if one may fail. */
static bool collect_conjuncts(struct condition_collector *c, const struct node *n) {
  if (!n)
    return true;
  if (n->op == NODE_AND)
    return collect_conjuncts(c, n->kid[0]) && collect_conjuncts(c, n->kid[1]);
  if (fails(c->stable, n))
    return false;
  const struct node *weaker = weakened(c, n);
  if (weaker)
    add_condition(c, weaker);
  return true;
}

static bool generators_fail(const struct stable_predicates *p, const struct guard *g) {
  return g->ngen && bindings_may_fail(p->model, p->query, g->gen, g->ngen, NULL, NULL, NULL);
}

static void find_necessary(struct stable_predicates *p, uint32_t r, uint32_t action) {
  const struct action *a = &p->model->roles[r].actions[action];
  struct condition_collector c = {.stable = p, .role = r, .action = a};
  c.out = &p->roles[r].necessary[action];
  if (fails(p, a->size))
    return;
  c.matching = true;
  bool sure = collect_conjuncts(&c, a->match);
  c.matching = false;
  if (sure && !generators_fail(p, &a->guard))
    collect_conjuncts(&c, a->guard.cond);
}

/* --- what an action changes --- */

/* Collects conditions one of which must be true for the block to have an effect. stays: set if the block, without
   effect, leaves the process at the program point of the action. Returns false if nothing is known. */
static bool collect_changes(struct condition_collector *, const struct block *, bool *stays);

/* The `then` block has no effect while one of the conjuncts of the condition is false. */
static bool collect_if(struct condition_collector *c, const struct stmt *s, bool *stays) {
  const struct stable_predicates *p = c->stable;
  bool then_stays = true, other_stays = false;
  if (s->guard.ngen || !s->guard.cond || fails(p, s->guard.cond) || node_chooses(p->model, s->guard.cond))
    return false;
  uint32_t before = c->out->n;
  struct condition_list conjuncts = {0};
  struct condition_collector inner = {.stable = c->stable, .role = c->role, .action = c->action};
  inner.out = &conjuncts;
  collect_conjuncts(&inner, s->guard.cond);
  if (conjuncts.n > 0) {
    const struct node *all = conjuncts.at[0];
    for (uint32_t i = 1; i < conjuncts.n; i++)
      all = compared(p, NODE_AND, all, conjuncts.at[i]);
    add_condition(c, all);
  } else {
    then_stays = false;
    if (!collect_changes(c, &s->then, &then_stays)) {
      c->out->n = before;
      return false;
    }
  }
  bool known = collect_changes(c, &s->other, &other_stays);
  *stays |= then_stays && other_stays;
  return known;
}

static struct node *negated(const struct stable_predicates *p, struct node *n) {
  struct node *not = arena_alloc(p->arena, sizeof *not );
  *not = (struct node){.op = NODE_NOT, .at = n->at, .type = &truth_type, .n = 1};
  not ->kid = arena_array(p->arena, 1, sizeof *not ->kid);
  not ->kid[0] = n;
  return not ;
}

/* e is `x | other`, or `max(x, other)`: the other. */
static const struct node *joined_with(const struct node *e, const struct node *x) {
  if (e->op == NODE_MAX && e->ngen == 1 && !e->gen[0].cond && e->gen[0].range->op == NODE_SET &&
      e->kid[0]->op == NODE_SLOT && e->kid[0]->index == e->gen[0].slot)
    e = e->gen[0].range;
  else if (e->op != NODE_UNION)
    return NULL;
  for (uint32_t i = 0; i < 2 && e->n == 2; i++)
    if (e->kid[i]->op == x->op && e->kid[i]->index == x->index)
      return e->kid[1 - i];
  return NULL;
}

/* The condition under which the assignment changes x: not e <= x for x := x | e, e > x for x := max(x, e), x != e for
   x := e. */
static const struct node *change_of(struct condition_collector *c, const struct stmt *s) {
  const struct stable_predicates *p = c->stable;
  if (s->npath > 0)
    return NULL;
  struct node *x = arena_alloc(p->arena, sizeof *x);
  *x = (struct node){.op = s->shared ? NODE_GLOBAL : NODE_VAR, .index = s->var, .at = s->at};
  x->type = assigned_type(p->model, c->role, s);
  const struct node *e = s->expr, *other = joined_with(e, x);
  if (!other)
    return compared(p, NODE_NE, x, e);
  return e->op == NODE_UNION ? negated(p, compared(p, NODE_SUBSET, other, x)) : compared(p, NODE_GT, other, x);
}

static bool collect_assign(struct condition_collector *c, const struct stmt *s) {
  const struct node *change = fails(c->stable, s->expr) ? NULL : change_of(c, s);
  if (!change || node_chooses(c->stable->model, change) || !reads_message_only(c, change) ||
      !predicate_stays_false(c->stable, c->role, change))
    return false;
  add_condition(c, change);
  return true;
}

/* A `goto` to the program point of the action. */
static bool stays_there(const struct condition_collector *c, const struct stmt *s) {
  const struct role *role = &c->stable->model->roles[c->role];
  return s->kind == STMT_ASSIGN && !s->shared && s->var == role->point_var && c->action->point != ANY_POINT &&
         s->expr->op == NODE_CONST && s->expr->constant == (value)c->action->point;
}

static bool collect_changes(struct condition_collector *c, const struct block *b, bool *stays) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    bool known = stays_there(c, s);
    *stays |= known;
    if (known)
      continue;
    if (s->kind == STMT_IF)
      known = collect_if(c, s, stays);
    else if (s->kind == STMT_LET)
      known = !fails(c->stable, s->expr);
    else if (s->kind == STMT_ASSIGN)
      known = collect_assign(c, s);
    if (!known)
      return false;
  }
  return true;
}

static void find_changes(struct stable_predicates *p, uint32_t r, uint32_t action) {
  const struct action *a = &p->model->roles[r].actions[action];
  struct condition_collector c = {.stable = p, .role = r, .action = a};
  bool stays = a->next == ANY_POINT || a->next == a->point;
  c.out = &p->roles[r].changes[action];
  p->roles[r].changes_known[action] = a->once == NO_SLOT && !fails(p, a->match) && !fails(p, a->size) &&
                                      !generators_fail(p, &a->guard) && !fails(p, a->guard.cond) &&
                                      collect_changes(&c, &a->body, &stays) && stays;
}

const struct condition_list *action_necessary_conditions(const struct stable_predicates *p, uint32_t role,
                                                         uint32_t action) {
  return &p->roles[role].necessary[action];
}

bool action_change_conditions(const struct stable_predicates *p, uint32_t role, uint32_t action,
                              const struct condition_list **changes) {
  *changes = &p->roles[role].changes[action];
  return p->roles[role].changes_known[action];
}

/* --- all of it --- */

struct stable_predicates *stable_predicates_of(const struct model *m, const struct query *q, struct arena *arena) {
  struct stable_predicates *p = arena_alloc(arena, sizeof *p);
  *p = (struct stable_predicates){.model = m, .query = q, .arena = arena};
  p->globals = arena_array(arena, m->nglobals + 1, sizeof *p->globals);
  p->roles = arena_array(arena, m->nroles + 1, sizeof *p->roles);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    struct role_stability *of = &p->roles[r];
    of->vars = arena_array(arena, role->nvars + 1, sizeof *of->vars);
    of->necessary = arena_array(arena, role->nactions + 1, sizeof *of->necessary);
    of->changes = arena_array(arena, role->nactions + 1, sizeof *of->changes);
    of->changes_known = arena_array(arena, role->nactions + 1, sizeof *of->changes_known);
  }
  find_monotonicity(p);
  for (uint32_t r = 0; r < m->nroles; r++)
    if (role_recovers(m, q, r))
      find_recovery(p, r);
  for (uint32_t r = 0; r < m->nroles; r++) {
    find_reaches(p, r);
    for (uint32_t i = 0; i < m->roles[r].nactions; i++) {
      find_necessary(p, r, i);
      find_changes(p, r, i);
    }
  }
  return p;
}
