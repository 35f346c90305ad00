#include "model/permanent.h"

#include "base/memory.h"
#include "model/actions.h"
#include "model/facts.h"
#include "model/failing.h"
#include "model/flow.h"
#include "model/survey.h"

#include <string.h>

#define CALL_DEPTH 12

struct role_permanence {
  struct drift *vars;
  bool **reaches; /* by label, by label */
  struct conditions *vetoes;
  struct conditions *effects;
  bool *tells; /* by action: effects are known */
};

struct permanence {
  const struct model *model;
  const struct question *question;
  struct arena *arena;
  struct role_permanence *roles;
  struct drift *globals;
};

/* --- how the value of an expression can change --- */

struct looking {
  const struct permanence *permanence;
  uint32_t role;
  const struct drift *arguments; /* of the def that is looked at, in the first slots; NULL: not in a def */
  uint32_t narguments;
  unsigned depth;
};

static const struct drift steady = {true, true, true};
static const struct drift anything = {false, false, false};

static struct drift drift_of(const struct looking *, const struct node *);

static bool is_steady(struct drift d) { return d.up && d.down; }

static struct drift swapped(struct drift d) { return (struct drift){d.down, d.up, false}; }

static struct drift met(struct drift a, struct drift b) {
  return (struct drift){a.up && b.up, a.down && b.down, a.kept && b.kept};
}

/* Numbers, labels, rounds: what <= compares as facts.h means it. */
static bool is_ordered(const struct type *t) {
  return t->kind == TYPE_INT || t->kind == TYPE_RANGE || t->kind == TYPE_ENUM ||
         t->kind == TYPE_ROUND;
}

static bool is_constant(const struct node *n) {
  return n->op == NODE_CONST || n->op == NODE_PARAM;
}

/* All parts steady: so is the whole. */
static struct drift drift_of_parts(const struct looking *l, const struct node *n) {
  for (uint32_t i = 0; i < n->ngen; i++)
    if (!is_steady(drift_of(l, n->gen[i].range)) ||
        (n->gen[i].cond && !is_steady(drift_of(l, n->gen[i].cond))))
      return anything;
  for (uint32_t i = 0; i < n->n; i++)
    if (!is_steady(drift_of(l, n->kid[i])))
      return anything;
  return steady;
}

static struct drift drift_of_call(const struct looking *l, const struct node *n) {
  const struct def *def = &l->permanence->model->defs[n->index];
  if (l->depth >= CALL_DEPTH)
    return anything;
  struct drift *arguments = memory_alloc((n->n + 1) * sizeof *arguments);
  for (uint32_t i = 0; i < n->n; i++)
    arguments[i] = drift_of(l, n->kid[i]);
  struct looking inner = {l->permanence, l->role, arguments, n->n, l->depth + 1};
  struct drift result = drift_of(&inner, def->body);
  memory_free(arguments);
  return result;
}

/* a < b, a <= b: true stays true if a does not grow and b does not shrink. */
static struct drift drift_of_less(struct drift a, struct drift b) {
  return (struct drift){a.down && b.up, a.up && b.down, false};
}

/* x == c, c a constant. In between x may come and go; at the ends it cannot. */
static struct drift drift_at_constant(const struct looking *l, const struct node *x,
                                      const struct node *c) {
  struct drift d = drift_of(l, x);
  const struct type *t = x->type;
  int64_t lo = t->kind == TYPE_RANGE ? t->lo : 0;
  int64_t hi = t->kind == TYPE_RANGE ? t->hi : (int64_t)t->size - 1;
  if (t->kind == TYPE_BOOL)
    return c->constant ? (struct drift){d.up, d.down, false} : swapped(d);
  if (t->kind == TYPE_OPTION && c->constant == VALUE_NONE)
    return (struct drift){false, d.kept, false};
  if (t->kind != TYPE_RANGE && t->kind != TYPE_ENUM)
    return anything;
  bool least = c->constant == lo, most = c->constant == hi;
  return (struct drift){(d.up && most) || (d.down && least), (d.up && least) || (d.down && most),
                        false};
}

static struct drift drift_of_equality(const struct looking *l, const struct node *a,
                                      const struct node *b) {
  if (is_steady(drift_of(l, a)) && is_steady(drift_of(l, b)))
    return steady;
  if (is_constant(b))
    return drift_at_constant(l, a, b);
  if (is_constant(a))
    return drift_at_constant(l, b, a);
  return anything;
}

static struct drift drift_of_comparison(const struct looking *l, const struct node *n) {
  const struct node *a = n->kid[0], *b = n->kid[1];
  switch (op_among(n->op)) {
  case NODE_EQ:
    return drift_of_equality(l, a, b);
  case NODE_NE:
    return swapped(drift_of_equality(l, a, b));
  case NODE_WITHIN:
    return drift_of_less(drift_of(l, a), drift_of(l, b));
  case NODE_IN:
    if (b->type->kind != TYPE_SET || b->op == NODE_INTERVAL || !is_steady(drift_of(l, a)))
      return drift_of_parts(l, n);
    return drift_of(l, b);
  }
  if (!is_ordered(a->type) || !is_ordered(b->type))
    return drift_of_parts(l, n);
  if (n->op == NODE_LT || n->op == NODE_LE)
    return drift_of_less(drift_of(l, a), drift_of(l, b));
  return drift_of_less(drift_of(l, b), drift_of(l, a));
}

static struct drift drift_of_arithmetic(const struct looking *l, const struct node *n) {
  struct drift a = drift_of(l, n->kid[0]), b = n->n > 1 ? drift_of(l, n->kid[1]) : steady;
  const struct node *x = n->kid[0], *y = n->n > 1 ? n->kid[1] : NULL;
  if (is_steady(a) && is_steady(b))
    return steady;
  switch (op_among(n->op)) {
  case NODE_ADD:
    return met(a, b);
  case NODE_SUB:
    return met(a, swapped(b));
  case NODE_NEG:
    return swapped(a);
  case NODE_MUL:
    if (is_constant(y))
      return y->constant >= 0 ? met(a, steady) : swapped(a);
    if (is_constant(x))
      return x->constant >= 0 ? met(b, steady) : swapped(b);
    return anything;
  case NODE_DIV:
    return is_constant(y) && y->constant > 0 ? met(a, steady) : anything;
  }
  return anything;
}

/* The collections that generators go through, and their conditions: `up` if there are ever more bindings, `down` if ever
   fewer. Each member is a value that stays what it is. */
static struct drift drift_of_bindings(const struct looking *l, const struct generator *gen,
                                      uint32_t n) {
  struct drift d = steady;
  for (uint32_t i = 0; i < n; i++) {
    struct drift range = drift_of(l, gen[i].range);
    if (gen[i].range->type->kind != TYPE_SET && !is_steady(range))
      return anything;
    d = met(d, range);
    if (gen[i].cond)
      d = met(d, drift_of(l, gen[i].cond));
  }
  return d;
}

static struct drift drift_of_quantifier(const struct looking *l, const struct node *n) {
  struct drift bindings = drift_of_bindings(l, n->gen, n->ngen);
  struct drift body = n->n ? drift_of(l, n->kid[0]) : steady;
  struct drift d = met(n->op == NODE_FORALL ? swapped(bindings) : bindings, body);
  d.kept = false;
  return d;
}

/* max(a, b): of what is given, or of ever more. */
static struct drift drift_of_extreme(const struct looking *l, const struct node *n) {
  const struct generator *gen = n->gen;
  if (!is_ordered(n->type) || n->ngen == 0)
    return drift_of_parts(l, n);
  if (n->ngen == 1 && gen->range->op == NODE_SET && !gen->cond && n->kid[0]->op == NODE_SLOT &&
      n->kid[0]->index == gen->slot) {
    struct drift d = steady;
    for (uint32_t i = 0; i < gen->range->n; i++)
      d = met(d, drift_of(l, gen->range->kid[i]));
    return d;
  }
  struct drift bindings = drift_of_bindings(l, gen, n->ngen);
  return met(n->op == NODE_MIN ? swapped(bindings) : bindings, drift_of(l, n->kid[0]));
}

static struct drift drift_of_slot(const struct looking *l, const struct node *n) {
  if (l->arguments && n->index < l->narguments)
    return l->arguments[n->index];
  return steady;
}

/* What an operator may have that changes only if its parts do. */
#define CHANGES_BY_PARTS                                                                                          \
  (TRAIT_NAME | TRAIT_SELF | TRAIT_PROCESSES | TRAIT_NUMBERED | TRAIT_BINDS | TRAIT_WEIGHS | TRAIT_ORDERS | TRAIT_FAILS)

/* Whatever reads nothing by itself changes only if its parts do; everything else that is not named here is anything. */
static struct drift drift_of(const struct looking *l, const struct node *n) {
  const struct permanence *p = l->permanence;
  switch (op_among(n->op)) {
  case NODE_SLOT:
    return drift_of_slot(l, n);
  case NODE_SENDER:
    return steady;
  case NODE_VAR:
    return p->roles[l->role].vars[n->index];
  case NODE_GLOBAL:
    return p->globals[n->index];
  case NODE_NEIGHBOURS:
    return drift_of(l, p->model->roles[l->role].graph);
  case NODE_NOT:
    return swapped(drift_of(l, n->kid[0]));
  case NODE_AND:
  case NODE_OR:
    return met(drift_of(l, n->kid[0]), drift_of(l, n->kid[1]));
  case NODE_IMPLIES:
    return met(swapped(drift_of(l, n->kid[0])), drift_of(l, n->kid[1]));
  case NODE_IF:
    if (!is_steady(drift_of(l, n->kid[0])))
      return anything;
    return met(drift_of(l, n->kid[1]), drift_of(l, n->kid[2]));
  case NODE_EQ:
  case NODE_NE:
  case NODE_LT:
  case NODE_LE:
  case NODE_GT:
  case NODE_GE:
  case NODE_IN:
  case NODE_WITHIN:
    return drift_of_comparison(l, n);
  case NODE_ADD:
  case NODE_SUB:
  case NODE_NEG:
  case NODE_MUL:
  case NODE_DIV:
    return drift_of_arithmetic(l, n);
  case NODE_UNITE:
  case NODE_MEET:
    return met(drift_of(l, n->kid[0]), drift_of(l, n->kid[1]));
  case NODE_MINUS:
    return met(drift_of(l, n->kid[0]), swapped(drift_of(l, n->kid[1])));
  case NODE_CARD:
    return n->kid[0]->type->kind == TYPE_SET ? drift_of(l, n->kid[0]) : drift_of_parts(l, n);
  case NODE_EXISTS:
  case NODE_FORALL:
  case NODE_COUNT:
    return drift_of_quantifier(l, n);
  case NODE_MIN:
  case NODE_MAX:
    return drift_of_extreme(l, n);
  case NODE_NARROW:
  case NODE_SELECT:
    return drift_of(l, n->kid[0]);
  case NODE_INDEX:
    return is_steady(drift_of(l, n->kid[1])) ? drift_of(l, n->kid[0]) : anything;
  case NODE_CALL:
    return drift_of_call(l, n);
  }
  return op_traits(n->op) & ~(unsigned)CHANGES_BY_PARTS ? anything : drift_of_parts(l, n);
}

bool permanent_falsehood(const struct permanence *p, uint32_t role, const struct node *n) {
  struct looking l = {.permanence = p, .role = role};
  return drift_of(&l, n).down;
}

/* --- variables --- */

static void find_drifts(struct permanence *p) {
  const struct model *m = p->model;
  for (uint32_t i = 0; i < m->nglobals; i++)
    p->globals[i] = steady;
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    for (uint32_t i = 0; i < role->nvars; i++)
      p->roles[r].vars[i] = steady;
    for (uint32_t i = 0; i < role->nactions; i++) {
      const struct action *a = &role->actions[i];
      action_drifts(m, r, a, p->roles[r].vars, p->globals, p->arena);
      if (a->once != NO_SLOT)
        p->roles[r].vars[a->once].down = false;
    }
    if (role->point_var != NO_VAR)
      p->roles[r].vars[role->point_var] = anything;
  }
}

/* What a recovery sets back, unless it was never changed and comes out the same again. In order of declaration: a first
   value reads what was declared before. */
static void find_recovery(struct permanence *p, uint32_t r) {
  const struct role *role = &p->model->roles[r];
  struct looking l = {.permanence = p, .role = r};
  for (uint32_t i = 0; i < role->nvars; i++) {
    struct drift *d = &p->roles[r].vars[i];
    const struct node *init = role->vars[i].init;
    if (var_forgets(&role->vars[i]) && !(is_steady(*d) && init && is_steady(drift_of(&l, init))))
      *d = anything;
  }
}

bool variable_grows(const struct permanence *p, uint32_t role, uint32_t var) { return p->roles[role].vars[var].up; }

bool global_grows(const struct permanence *p, uint32_t global) { return p->globals[global].up; }

/* --- program points --- */

static void find_reaches(struct permanence *p, uint32_t r) {
  const struct role *role = &p->model->roles[r];
  uint32_t n = role_npoints(role);
  bool **reaches = p->roles[r].reaches = arena_array(p->arena, n, sizeof *reaches);
  for (uint32_t from = 0; from < n; from++) {
    reaches[from] = arena_array(p->arena, n, sizeof **reaches);
    reaches[from][from] = true;
    for (uint32_t i = 0; i < role->nactions; i++)
      if (action_at_point(role, &role->actions[i], from))
        action_next_points(role, &role->actions[i], from, reaches[from]);
    if (role_recovers(p->model, p->question, r))
      reaches[from][role_starts(role) ? 1 : 0] = true;
  }
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t j = 0; j < n; j++)
        reaches[i][j] |= reaches[i][k] && reaches[k][j];
}

bool point_reaches(const struct permanence *p, uint32_t role, uint32_t from, uint32_t to) {
  return p->roles[role].reaches[from][to];
}

/* --- conditions of an action --- */

struct collecting {
  struct permanence *permanence;
  uint32_t role;
  const struct action *action;
  bool matching; /* in the match: the message stands in its slot, of a quorum, too */
  struct conditions *out;
  uint32_t cap;
};

static void add_condition(struct collecting *c, const struct node *n) {
  struct conditions *out = c->out;
  if (out->n == c->cap) {
    uint32_t cap = c->cap ? 2 * c->cap : 4;
    const struct node **grown = arena_array(c->permanence->arena, cap, sizeof *grown);
    if (out->n)
      memcpy(grown, out->at, out->n * sizeof *grown);
    out->at = grown;
    c->cap = cap;
  }
  out->at[out->n++] = n;
}

/* Local names that are free in an expression. */
struct free_names {
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
  struct free_names *f = context;
  for (uint32_t i = 0; i < n->ngen; i++)
    f->bound[n->gen[i].slot] = true;
  return true;
}

static bool visit_names(void *context, const struct node *n) {
  struct free_names *f = context;
  if ((n->op == NODE_SLOT || n->op == NODE_SENDER) && !f->bound[n->index])
    f->strange |= !is_of_message(f->action, n, f->matching);
  f->strange |= !op_is_known(n->op);
  return true;
}

/* Does it read no local names but those of the message? (A name bound inside may have the number of one outside only where
   that is out of scope.) */
static bool reads_message_only(const struct collecting *c, const struct node *n) {
  struct free_names f = {.action = c->action, .matching = c->matching};
  f.bound = memory_alloc(c->permanence->model->nslots + 1);
  node_walk(n, visit_bound, &f);
  node_walk(n, visit_names, &f);
  memory_free(f.bound);
  return !f.strange;
}

static bool fails(const struct permanence *p, const struct node *n) {
  return n && node_may_fail(p->model, p->question, n, NULL, NULL);
}

static const struct type truth_type = {.kind = TYPE_BOOL, .count = 2};

static struct node *compared(const struct permanence *p, enum op op, const struct node *a,
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

static const struct node *weakened(const struct collecting *, const struct node *);

/* Records are compared by their first parts first. */
static const struct node *weakened_record(const struct collecting *c, const struct node *n) {
  const struct node *a = n->kid[0], *b = n->kid[1];
  enum op op = n->op == NODE_EQ                        ? NODE_EQ
               : n->op == NODE_GT || n->op == NODE_GE ? NODE_GE
               : n->op == NODE_LT || n->op == NODE_LE ? NODE_LE
                                                      : NODE_OPS;
  if (op == NODE_OPS || a->op != NODE_RECORD || b->op != NODE_RECORD || a->n == 0 || a->n != b->n)
    return NULL;
  return weakened(c, compared(c->permanence, op, a->kid[0], b->kid[0]));
}

/* Something that follows from the condition, and stays false once it is false; NULL: nothing was found. a == b fails for
   good as soon as b has grown past a. */
static const struct node *weakened(const struct collecting *c, const struct node *n) {
  const struct permanence *p = c->permanence;
  if (permanent_falsehood(p, c->role, n) && !node_chooses(p->model, n) && reads_message_only(c, n))
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

/* The conjuncts up to the first that may fail: once one of them is false, the others are not looked at. False: one may
   fail. */
static bool collect_conjuncts(struct collecting *c, const struct node *n) {
  if (!n)
    return true;
  if (n->op == NODE_AND)
    return collect_conjuncts(c, n->kid[0]) && collect_conjuncts(c, n->kid[1]);
  if (fails(c->permanence, n))
    return false;
  const struct node *weaker = weakened(c, n);
  if (weaker)
    add_condition(c, weaker);
  return true;
}

static bool generators_fail(const struct permanence *p, const struct guard *g) {
  return g->ngen && bindings_may_fail(p->model, p->question, g->gen, g->ngen, NULL, NULL, NULL);
}

static void find_vetoes(struct permanence *p, uint32_t r, uint32_t action) {
  const struct action *a = &p->model->roles[r].actions[action];
  struct collecting c = {.permanence = p, .role = r, .action = a};
  c.out = &p->roles[r].vetoes[action];
  if (fails(p, a->size))
    return;
  c.matching = true;
  bool sure = collect_conjuncts(&c, a->match);
  c.matching = false;
  if (sure && !generators_fail(p, &a->guard))
    collect_conjuncts(&c, a->guard.cond);
}

/* --- what an action changes --- */

/* Collects what must be true for the block to change anything. stays: if nothing is changed, it leaves the process at the
   place where the action was taken. False: there is no telling. */
static bool collect_effects(struct collecting *, const struct block *, bool *stays);

/* The condition must become true for anything to happen; one of its conjuncts is enough to know that it will not. */
static bool collect_if(struct collecting *c, const struct stmt *s, bool *stays) {
  const struct permanence *p = c->permanence;
  bool then_stays = true, other_stays = false;
  if (s->guard.ngen || !s->guard.cond || fails(p, s->guard.cond) ||
      node_chooses(p->model, s->guard.cond))
    return false;
  uint32_t before = c->out->n;
  struct conditions conjuncts = {0};
  struct collecting inner = {.permanence = c->permanence, .role = c->role, .action = c->action};
  inner.out = &conjuncts;
  collect_conjuncts(&inner, s->guard.cond);
  if (conjuncts.n > 0) {
    const struct node *all = conjuncts.at[0];
    for (uint32_t i = 1; i < conjuncts.n; i++)
      all = compared(p, NODE_AND, all, conjuncts.at[i]);
    add_condition(c, all);
  } else {
    then_stays = false;
    if (!collect_effects(c, &s->then, &then_stays)) {
      c->out->n = before;
      return false;
    }
  }
  bool told = collect_effects(c, &s->other, &other_stays);
  *stays |= then_stays && other_stays;
  return told;
}

static struct node *negated(const struct permanence *p, struct node *n) {
  struct node *not = arena_alloc(p->arena, sizeof *not);
  *not = (struct node){.op = NODE_NOT, .at = n->at, .type = &truth_type, .n = 1};
  not->kid = arena_array(p->arena, 1, sizeof *not->kid);
  not->kid[0] = n;
  return not;
}

/* e is `x | other`, or `max(x, other)`: the other. */
static const struct node *joined_with(const struct node *e, const struct node *x) {
  if (e->op == NODE_MAX && e->ngen == 1 && !e->gen[0].cond && e->gen[0].range->op == NODE_SET &&
      e->kid[0]->op == NODE_SLOT && e->kid[0]->index == e->gen[0].slot)
    e = e->gen[0].range;
  else if (e->op != NODE_UNITE)
    return NULL;
  for (uint32_t i = 0; i < 2 && e->n == 2; i++)
    if (e->kid[i]->op == x->op && e->kid[i]->index == x->index)
      return e->kid[1 - i];
  return NULL;
}

/* x := x | e, where e lies in x already; x := max(x, e), where x is larger already; x := e where x is e for good. */
static const struct node *change_of(struct collecting *c, const struct stmt *s) {
  const struct permanence *p = c->permanence;
  if (s->npath > 0)
    return NULL;
  struct node *x = arena_alloc(p->arena, sizeof *x);
  *x = (struct node){.op = s->shared ? NODE_GLOBAL : NODE_VAR, .index = s->var, .at = s->at};
  x->type = assigned_type(p->model, c->role, s);
  const struct node *e = s->expr, *other = joined_with(e, x);
  if (!other)
    return compared(p, NODE_NE, x, e);
  return e->op == NODE_UNITE ? negated(p, compared(p, NODE_WITHIN, other, x))
                             : compared(p, NODE_GT, other, x);
}

static bool collect_assign(struct collecting *c, const struct stmt *s) {
  const struct node *change = fails(c->permanence, s->expr) ? NULL : change_of(c, s);
  if (!change || node_chooses(c->permanence->model, change) || !reads_message_only(c, change) ||
      !permanent_falsehood(c->permanence, c->role, change))
    return false;
  add_condition(c, change);
  return true;
}

/* A `goto` to where the process stands. */
static bool stays_there(const struct collecting *c, const struct stmt *s) {
  const struct role *role = &c->permanence->model->roles[c->role];
  return s->kind == STMT_ASSIGN && !s->shared && s->var == role->point_var && c->action->point != ANY_POINT &&
         s->expr->op == NODE_CONST && s->expr->constant == (value)c->action->point;
}

static bool collect_effects(struct collecting *c, const struct block *b, bool *stays) {
  for (uint32_t i = 0; i < b->n; i++) {
    const struct stmt *s = b->at[i];
    bool told = stays_there(c, s);
    *stays |= told;
    if (told)
      continue;
    if (s->kind == STMT_IF)
      told = collect_if(c, s, stays);
    else if (s->kind == STMT_LET)
      told = !fails(c->permanence, s->expr);
    else if (s->kind == STMT_ASSIGN)
      told = collect_assign(c, s);
    if (!told)
      return false;
  }
  return true;
}

static void find_effects(struct permanence *p, uint32_t r, uint32_t action) {
  const struct action *a = &p->model->roles[r].actions[action];
  struct collecting c = {.permanence = p, .role = r, .action = a};
  bool stays = a->next == ANY_POINT || a->next == a->point;
  c.out = &p->roles[r].effects[action];
  p->roles[r].tells[action] =
      a->once == NO_SLOT && !fails(p, a->match) && !fails(p, a->size) && !generators_fail(p, &a->guard) &&
      !fails(p, a->guard.cond) && collect_effects(&c, &a->body, &stays) && stays;
}

const struct conditions *action_vetoes(const struct permanence *p, uint32_t role, uint32_t action) {
  return &p->roles[role].vetoes[action];
}

bool action_effects(const struct permanence *p, uint32_t role, uint32_t action,
                    const struct conditions **effects) {
  *effects = &p->roles[role].effects[action];
  return p->roles[role].tells[action];
}

/* --- all of it --- */

struct permanence *permanence_of(const struct model *m, const struct question *q,
                                 struct arena *arena) {
  struct permanence *p = arena_alloc(arena, sizeof *p);
  *p = (struct permanence){.model = m, .question = q, .arena = arena};
  p->globals = arena_array(arena, m->nglobals + 1, sizeof *p->globals);
  p->roles = arena_array(arena, m->nroles + 1, sizeof *p->roles);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    struct role_permanence *of = &p->roles[r];
    of->vars = arena_array(arena, role->nvars + 1, sizeof *of->vars);
    of->vetoes = arena_array(arena, role->nactions + 1, sizeof *of->vetoes);
    of->effects = arena_array(arena, role->nactions + 1, sizeof *of->effects);
    of->tells = arena_array(arena, role->nactions + 1, sizeof *of->tells);
  }
  find_drifts(p);
  for (uint32_t r = 0; r < m->nroles; r++)
    if (role_recovers(m, q, r))
      find_recovery(p, r);
  for (uint32_t r = 0; r < m->nroles; r++) {
    find_reaches(p, r);
    for (uint32_t i = 0; i < m->roles[r].nactions; i++) {
      find_vetoes(p, r, i);
      find_effects(p, r, i);
    }
  }
  return p;
}
