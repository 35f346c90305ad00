#include "analysis/live_formula.h"

#include "analysis/model_visitor.h"
#include "base/vec.h"
#include "model/node.h"

#include <string.h>

#define INSTANCES_MAX 10000 /* of expanded quantifiers */

struct live_lowering {
  struct model *model;
  const struct query *query;
  struct live_formula *form;
  VEC(struct node *) atoms;
  struct node **slot;       /* by slot: the node that replaces it */
  VEC(struct node *) bound; /* those that are processes */
  const struct type *boolean, *number;
  bool rigid;       /* `correct` is a matter of the whole run: processes may crash */
  bool byzantine;   /* quantifiers skip some processes */
  uint32_t correct; /* the hidden input for `correct`; NO_VAR: none so far */
  uint32_t instances;
  uint32_t followed; /* number of hidden inputs that are processes or sets of them */
};

/* --- what a formula contains --- */

bool node_is_temporal(const struct node *n) { return node_has_traits(n, TRAIT_TEMPORAL); }

/* A call that was not inlined: of a recursive def, or beyond the limits of def_inlining.c. Its body cannot be
 * rewritten. */
static bool calls_with_status(const struct model *m, const struct node *n) {
  return node_has_traits(n, TRAIT_CALLS) && node_has_traits_deep(m, n, TRAIT_STATUS);
}

/* Traits of operators in ranges that do not depend on the state. */
#define FIXED                                                                                                          \
  (TRAIT_NAME | TRAIT_PROCESSES | TRAIT_STATUS | TRAIT_NUMBERED | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS |    \
   TRAIT_FAILS)

bool range_is_state_independent(const struct node *n) { return !node_has_traits(n, ~(unsigned)FIXED); }

/* --- nodes --- */

static struct node *made(struct live_lowering *l, enum op op, struct span at, const struct type *type, struct node *a,
                         struct node *b) {
  struct node *n = node_make(&l->model->arena, op, at, type, b ? 2 : a ? 1 : 0);
  for (uint32_t i = 0; i < n->n; i++)
    n->kid[i] = i == 0 ? a : b;
  return n;
}

static struct node *global(struct live_lowering *l, struct span at, uint32_t index) {
  struct node *n = made(l, NODE_GLOBAL, at, l->model->globals[index].type, NULL, NULL);
  n->index = index;
  return n;
}

/* A new file-level input. */
static uint32_t hidden_input(struct live_lowering *l, const char *name, struct span at, const struct type *type) {
  struct model *m = l->model;
  struct var *globals = arena_array(&m->arena, m->nglobals + 1, sizeof *globals);
  memcpy(globals, m->globals, m->nglobals * sizeof *globals);
  globals[m->nglobals] = (struct var){.name = name, .kind = VAR_INPUT, .at = at, .type = type, .hidden = true};
  m->globals = globals;
  if (type->kind == TYPE_PROCESS || (type->kind == TYPE_SET && type->element->kind == TYPE_PROCESS))
    globals[m->nglobals].followed = l->followed++ < FOLLOWED_MAX;
  return m->nglobals++;
}

static uint32_t correct_input(struct live_lowering *l, struct span at) {
  if (l->correct == NO_VAR)
    l->correct = hidden_input(l, "correct", at, l->model->process_types.set);
  return l->correct;
}

/* `correct` or `faulty` in the whole run, by the hidden input. */
static struct node *rigid_status(struct live_lowering *l, const struct node *n) {
  struct node *correct = global(l, n->at, correct_input(l, n->at));
  if (n->op == NODE_CORRECT)
    return correct;
  struct node *all = made(l, NODE_ROLE_SET, n->at, n->type, NULL, NULL);
  all->index = ROLE_ANY;
  return made(l, NODE_DIFFERENCE, n->at, n->type, all, correct);
}

/* A copy in which names bound outside are replaced. */
static struct node *closed(struct live_lowering *l, const struct node *n) {
  struct arena *arena = &l->model->arena;
  if (!n)
    return NULL;
  if (n->op == NODE_SLOT && l->slot[n->index])
    return l->slot[n->index];
  if (l->rigid && (n->op == NODE_CORRECT || n->op == NODE_FAULTY))
    return rigid_status(l, n);
  struct node *c = arena_copy(arena, n, sizeof *n);
  c->kid = arena_array(arena, n->n + 1, sizeof *c->kid);
  for (uint32_t i = 0; i < n->n; i++)
    c->kid[i] = closed(l, n->kid[i]);
  c->gen = arena_array(arena, n->ngen + 1, sizeof *c->gen);
  for (uint32_t i = 0; i < n->ngen; i++) {
    c->gen[i] = n->gen[i];
    c->gen[i].range = closed(l, n->gen[i].range);
    c->gen[i].cond = closed(l, n->gen[i].cond);
  }
  return c;
}

struct binding_search {
  const struct node *sought;
  bool found;
};

static bool look_for(void *context, const struct node *n) {
  struct binding_search *m = context;
  m->found |= n == m->sought;
  return !m->found;
}

/* A Byzantine process has no variables. Quantifiers skip it, but atoms are evaluated for all values of hidden inputs.
 */
static struct node *shielded(struct live_lowering *l, struct node *n) {
  for (size_t i = l->bound.n; i-- > 0 && l->byzantine;) {
    struct binding_search m = {l->bound.at[i], false};
    node_walk(n, look_for, &m);
    if (!m.found)
      continue;
    struct node *all = made(l, NODE_ROLE_SET, n->at, l->model->process_types.set, NULL, NULL);
    all->index = ROLE_ANY;
    n = made(l, NODE_AND, n->at, l->boolean, made(l, NODE_IN, n->at, l->boolean, l->bound.at[i], all), n);
  }
  return n;
}

static ltl atom(struct live_lowering *l, struct node *n) {
  n = shielded(l, n);
  for (size_t i = 0; i < l->atoms.n; i++)
    if (node_equal(l->atoms.at[i], n))
      return ltl_atom(l->form->pool, (uint32_t)i);
  if (l->atoms.n == LTL_ATOMS_MOST) {
    l->form->refused = "it speaks of more than 64 different facts about states";
    return ltl_truth(l->form->pool, true);
  }
  vec_push(&l->atoms, n);
  return ltl_atom(l->form->pool, (uint32_t)l->atoms.n - 1);
}

/* --- formulas --- */

/* neg: of the negation. moves: existential quantifiers can be moved to the front from here. */
static ltl lower(struct live_lowering *, const struct node *, bool neg, bool moves);

static ltl signed_as(struct live_lowering *l, ltl f, bool neg) { return neg ? ltl_not(l->form->pool, f) : f; }

static ltl junction(struct live_lowering *l, ltl a, ltl b, bool and) {
  return and? ltl_and(l->form->pool, a, b) : ltl_or(l->form->pool, a, b);
}

/* x in correct: x is never faulty. */
static ltl never_faulty(struct live_lowering *l, const struct node *set, struct node *x) {
  struct node *now = made(l, NODE_CORRECT, set->at, l->model->process_types.set, NULL, NULL);
  ltl f = ltl_always(l->form->pool, atom(l, made(l, NODE_IN, set->at, l->boolean, x, now)));
  return signed_as(l, f, set->op == NODE_FAULTY);
}

/* Does the range have every value of the type of its elements? */
static bool is_whole(const struct live_lowering *l, const struct generator *g) {
  const struct node *r = g->range;
  if (r->op == NODE_DOMAIN)
    return r->type->element == g->type;
  if (r->op == NODE_ROLE_SET)
    return !l->byzantine && g->type->kind == TYPE_PROCESS && g->type->role == r->index;
  if (r->op != NODE_INTERVAL || g->type->kind != TYPE_RANGE)
    return false;
  const struct type *low = r->kid[0]->type, *high = r->kid[1]->type;
  return low->kind == TYPE_RANGE && high->kind == TYPE_RANGE && low->lo == low->hi && high->lo == high->hi &&
         low->lo == g->type->lo && high->lo == g->type->hi;
}

static ltl member(struct live_lowering *l, const struct node *range, struct node *x) {
  if (l->byzantine && node_has_op(range, NODE_FAULTY))
    l->form->refused = "it speaks of each faulty process, and Byzantine ones have no variables to speak of";
  if (l->rigid && (range->op == NODE_CORRECT || range->op == NODE_FAULTY))
    return never_faulty(l, range, x);
  if (l->rigid && node_has_traits(range, TRAIT_STATUS) &&
      (range->op == NODE_INTERSECTION || range->op == NODE_UNION || range->op == NODE_DIFFERENCE)) {
    ltl a = member(l, range->kid[0], x), b = member(l, range->kid[1], x);
    return junction(l, a, signed_as(l, b, range->op == NODE_DIFFERENCE), range->op != NODE_UNION);
  }
  if (range->op == NODE_SUBSETS)
    return atom(l, made(l, NODE_SUBSET, range->at, l->boolean, x, closed(l, range->kid[0])));
  return atom(l, made(l, NODE_IN, range->at, l->boolean, x, closed(l, range)));
}

/* The condition on a generator's name, which is replaced by x. */
static ltl belongs(struct live_lowering *l, const struct generator *g, struct node *x) {
  ltl f = is_whole(l, g) ? ltl_truth(l->form->pool, true) : member(l, g->range, x);
  return g->cond ? ltl_and(l->form->pool, f, lower(l, g->cond, false, false)) : f;
}

/* The i-th value of a finite type as an expression. */
static struct node *nth(struct live_lowering *l, const struct generator *g, uint64_t i) {
  struct model *m = l->model;
  value v = type_nth(&m->values, g->type, i);
  struct node *n = made(l, NODE_CONST, g->at, g->type, NULL, NULL);
  n->constant = v;
  if (g->type->kind != TYPE_PROCESS)
    return n;
  uint32_t role = model_role_of(m, v);
  n->type = l->number;
  n->constant = v - m->roles[role].first + 1;
  struct node *process = made(l, NODE_PROCESS_AT, g->at, g->type, n, NULL);
  process->index = role;
  return process;
}

struct quantifier_context {
  const struct node *node;
  bool neg, exists, moves;
};

static void bind(struct live_lowering *l, const struct generator *g, struct node *to) {
  l->slot[g->slot] = to;
  if (g->type->kind == TYPE_PROCESS)
    vec_push(&l->bound, to);
}

static void unbind(struct live_lowering *l, const struct generator *g) {
  l->slot[g->slot] = NULL;
  if (g->type->kind == TYPE_PROCESS)
    l->bound.n--;
}

static ltl quantify(struct live_lowering *l, const struct quantifier_context *q, uint32_t i) {
  struct ltl_pool *pool = l->form->pool;
  if (i == q->node->ngen)
    return lower(l, q->node->kid[0], q->neg, q->moves);
  const struct generator *g = &q->node->gen[i];
  if (q->exists && q->moves && g->range->op != NODE_SUBSETS) {
    bind(l, g, global(l, g->at, hidden_input(l, g->name, g->at, g->type)));
    ltl f = belongs(l, g, l->slot[g->slot]);
    f = ltl_and(pool, f, quantify(l, q, i + 1));
    unbind(l, g);
    return f;
  }
  struct quantifier_context inner = *q;
  ltl all = ltl_truth(pool, !q->exists);
  inner.moves = false;
  if (g->type->count > INSTANCES_MAX)
    l->form->refused = "a quantifier has too many instances";
  for (uint64_t k = 0; k < g->type->count && !l->form->refused; k++) {
    if (++l->instances > INSTANCES_MAX)
      l->form->refused = "it has too many instances";
    bind(l, g, nth(l, g, k));
    ltl in = signed_as(l, belongs(l, g, l->slot[g->slot]), !q->exists);
    all = junction(l, all, junction(l, in, quantify(l, &inner, i + 1), q->exists), !q->exists);
    unbind(l, g);
  }
  return all;
}

static ltl lower_until(struct live_lowering *l, const struct node *n, bool neg, bool moves) {
  ltl a = lower(l, n->kid[0], neg, moves && neg), b = lower(l, n->kid[1], neg, moves && !neg);
  return neg ? ltl_release(l->form->pool, a, b) : ltl_until(l->form->pool, a, b);
}

/* Equivalence of formulas, or its negation. */
static ltl lower_equal(struct live_lowering *l, const struct node *n, bool differ) {
  ltl a = lower(l, n->kid[0], false, false), b = lower(l, n->kid[1], false, false);
  ltl not_a = ltl_not(l->form->pool, a);
  ltl both = ltl_and(l->form->pool, a, signed_as(l, b, differ));
  return ltl_or(l->form->pool, both, ltl_and(l->form->pool, not_a, signed_as(l, b, !differ)));
}

static ltl lower_if(struct live_lowering *l, const struct node *n, bool neg) {
  ltl c = lower(l, n->kid[0], false, false), a = lower(l, n->kid[1], neg, false), b = lower(l, n->kid[2], neg, false);
  return ltl_or(l->form->pool, ltl_and(l->form->pool, c, a), ltl_and(l->form->pool, ltl_not(l->form->pool, c), b));
}

static ltl lower_temporal(struct live_lowering *l, const struct node *n, bool neg, bool moves) {
  bool always = (n->op == NODE_ALWAYS) != neg;
  switch (op_number(n->op)) {
  case NODE_NOT:
    return lower(l, n->kid[0], !neg, moves);
  case NODE_AND:
  case NODE_OR: {
    ltl a = lower(l, n->kid[0], neg, moves);
    return junction(l, a, lower(l, n->kid[1], neg, moves), (n->op == NODE_AND) != neg);
  }
  case NODE_IMPLIES: {
    ltl a = lower(l, n->kid[0], !neg, moves);
    return junction(l, a, lower(l, n->kid[1], neg, moves), neg);
  }
  case NODE_IF:
    return lower_if(l, n, neg);
  case NODE_EQ:
  case NODE_NE:
    return lower_equal(l, n, (n->op == NODE_NE) != neg);
  case NODE_ALWAYS:
  case NODE_EVENTUALLY: {
    ltl f = lower(l, n->kid[0], neg, moves && !always);
    return always ? ltl_always(l->form->pool, f) : ltl_eventually(l->form->pool, f);
  }
  case NODE_UNTIL:
    return lower_until(l, n, neg, moves);
  case NODE_EXISTS:
  case NODE_FORALL:
    return quantify(l, &(struct quantifier_context){n, neg, (n->op == NODE_EXISTS) != neg, moves}, 0);
  }
  /* the type checker allows temporal operators nowhere else */
  l->form->refused = "a temporal formula stands where only states can be spoken of";
  return ltl_truth(l->form->pool, true);
}

static ltl lower(struct live_lowering *l, const struct node *n, bool neg, bool moves) {
  if (l->form->refused)
    return ltl_truth(l->form->pool, true);
  if (node_is_temporal(n))
    return lower_temporal(l, n, neg, moves);
  if (l->rigid && n->op == NODE_NOT)
    return lower(l, n->kid[0], !neg, moves);
  if (l->rigid && n->op == NODE_IN && (n->kid[1]->op == NODE_CORRECT || n->kid[1]->op == NODE_FAULTY))
    return signed_as(l, never_faulty(l, n->kid[1], closed(l, n->kid[0])), neg);
  return signed_as(l, atom(l, closed(l, n)), neg);
}

/* --- the query --- */

/* The hidden `correct` is the set of processes that never become faulty: always a subset of those that are correct so
   far, and eventually all of them. */
static ltl correct_is_right(struct live_lowering *l, struct span at) {
  struct node *now = made(l, NODE_CORRECT, at, l->model->process_types.set, NULL, NULL),
              *said = global(l, at, l->correct);
  ltl never_too_many = ltl_always(l->form->pool, atom(l, made(l, NODE_SUBSET, at, l->boolean, said, now)));
  ltl in_the_end = ltl_eventually(l->form->pool, atom(l, made(l, NODE_SUBSET, at, l->boolean, now, said)));
  return ltl_and(l->form->pool, never_too_many, in_the_end);
}

/* The conjunction of all atoms. */
static struct node *all_atoms(struct live_lowering *l, struct span at) {
  struct node *all = made(l, NODE_CONST, at, l->boolean, NULL, NULL);
  all->constant = 1;
  for (size_t i = 0; i < l->atoms.n; i++)
    all = made(l, NODE_AND, at, l->boolean, all, l->atoms.at[i]);
  return all;
}

void live_formula_init(struct live_formula *form, struct model *m, uint32_t property, uint32_t environment) {
  struct property *p = &m->properties[property];
  struct query q = {.environment = environment, .properties = &property, .nproperties = 1};
  struct live_lowering l = {.model = m, .query = &q, .form = form, .correct = NO_VAR, .boolean = p->formula->type};
  struct type *number = arena_alloc(&m->arena, sizeof *number);
  *number = (struct type){.kind = TYPE_INT, .count = UINT64_MAX};
  l.number = number;
  l.rigid = environment_has_fault(m, &q, CLAUSE_CRASH);
  l.byzantine = environment_has_fault(m, &q, CLAUSE_BYZANTINE);
  l.slot = arena_array(&m->arena, m->nslots + 1, sizeof *l.slot);
  *form = (struct live_formula){.text = p->formula, .pool = ltl_pool_new()};
  if ((l.rigid || l.byzantine) && calls_with_status(m, p->formula))
    form->refused =
        "it calls a def that calls itself, or is too long to be written out, and speaks of 'correct' or 'faulty'";
  form->violated = lower(&l, p->formula, true, true);
  if (l.correct != NO_VAR)
    form->violated = ltl_and(form->pool, form->violated, correct_is_right(&l, p->formula->at));
  form->natoms = (uint32_t)l.atoms.n;
  form->atoms = arena_copy(&m->arena, l.atoms.at, l.atoms.n * sizeof *l.atoms.at);
  p->formula = all_atoms(&l, p->formula->at);
  vec_release(&l.atoms);
  vec_release(&l.bound);
}

void live_formula_release(struct live_formula *form) {
  ltl_pool_free(form->pool);
  *form = (struct live_formula){0};
}

/* --- for each --- */

/* `forall p` skips processes that take no part in a round, `for each p` does not. */
static bool all_take_part(const struct model *m, const struct query *q) {
  if (environment_has_fault(m, q, CLAUSE_CRASH) || environment_has_fault(m, q, CLAUSE_BYZANTINE))
    return false;
  for (uint32_t r = 0; r < m->nroles; r++)
    if (role_halts(m, &m->roles[r]))
      return false;
  return true;
}

/* A clause with another predicate; it has one part and no witness. */
static struct clause clause_with_predicate(struct live_lowering *l, const struct clause *c, struct node *pred) {
  struct clause other = *c;
  other.each = NULL;
  other.pred = pred;
  other.parts = arena_copy(&l->model->arena, c->parts, sizeof *c->parts);
  other.parts[0].pred = pred;
  return other;
}

static struct clause clause_for_all(struct live_lowering *l, const struct clause *c) {
  struct node *all = arena_copy(&l->model->arena, c->each, sizeof *c->each);
  all->op = NODE_FORALL;
  return clause_with_predicate(l, c, all);
}

static struct clause clause_for_followed(struct live_lowering *l, const struct clause *c, uint32_t input) {
  uint32_t slot = c->each->gen[0].slot;
  l->slot[slot] = global(l, c->at, input);
  struct clause one = clause_with_predicate(l, c, closed(l, c->each->kid[0]));
  l->slot[slot] = NULL;
  return one;
}

static bool can_be_followed(const struct model *m, const struct clause *c, uint32_t input) {
  const struct var *v = &m->globals[input];
  return v->followed && v->type->kind == TYPE_PROCESS && v->type->role == c->each->gen[0].range->index;
}

bool live_approximate_each(struct model *m, uint32_t property, uint32_t environment, enum each_approximation how) {
  struct query q = {.environment = environment, .properties = &property, .nproperties = 1};
  struct environment *env = &m->environments[environment];
  struct live_lowering l = {.model = m, .query = &q};
  VEC(struct clause) clauses = {0};
  bool some = false, fits = all_take_part(m, &q);
  l.slot = arena_array(&m->arena, m->nslots + 1, sizeof *l.slot);
  for (uint32_t i = 0; i < env->nclauses && fits; i++) {
    const struct clause *c = &env->clauses[i];
    some |= c->each != NULL;
    fits = !c->each || (c->nwitness == 0 && c->nparts == 1);
    bool first = c->each && fits && (i == 0 || env->clauses[i - 1].each != c->each);
    if (!c->each)
      vec_push(&clauses, *c);
    else if (first && how == EACH_STRONGER)
      vec_push(&clauses, clause_for_all(&l, c));
    for (uint32_t g = 0; g < m->nglobals && first && how == EACH_WEAKER; g++)
      if (can_be_followed(m, c, g))
        vec_push(&clauses, clause_for_followed(&l, c, g));
  }
  if (some && fits) {
    env->clauses = arena_copy(&m->arena, clauses.at, clauses.n * sizeof *clauses.at);
    env->nclauses = (uint32_t)clauses.n;
  }
  vec_release(&clauses);
  return some && fits;
}

/* --- fairness --- */

bool live_approximate_fairness(struct model *m, uint32_t environment) {
  struct environment *env = &m->environments[environment];
  bool some = false;
  for (uint32_t g = 0; g < m->nglobals; g++)
    some |= m->globals[g].followed && m->globals[g].type->kind == TYPE_PROCESS;
  const struct clause *fair = model_steps(m) ? environment_fairness(env) : NULL;
  if (!some || !fair || (fair->fair_to == FAIR_MESSAGES && m->nmessages > 0))
    return false;
  struct clause *clauses = arena_copy(&m->arena, env->clauses, env->nclauses * sizeof *clauses);
  clauses[fair - env->clauses].to_followed = true;
  env->clauses = clauses;
  return true;
}
