/* States: initial and arbitrary ones. */
#include "symbolic/encode.h"

#include "analysis/dataflow.h"
#include "analysis/licence.h"

#include <stdio.h>
#include <string.h>

static const char *process_name(struct encoder *e, uint32_t p, const char *what) {
  const struct role *role = &e->l.model->roles[model_role_of(e->l.model, p)];
  return arena_printf(&e->arena, "%s.%s%u", what, role->name, p - role->first + 1);
}

static struct sym_state *state_new(struct encoder *e, uint32_t point) {
  const struct model *m = e->l.model;
  struct sym_state *s = arena_alloc(&e->arena, sizeof *s);
  s->point = point;
  s->rounds = s->lost = s->corrupted = s->duplicated = number_of(0);
  s->phase = number_of(1);
  s->globals = arena_array(&e->arena, m->nglobals + 1, sizeof *s->globals);
  s->of = arena_array(&e->arena, m->nprocesses + 1, sizeof *s->of);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    struct sym_process *of = &s->of[p];
    uint32_t n = m->roles[model_role_of(m, p)].nvars;
    of->halted = of->crashed = of->omits_send = of->omits_receive = of->byzantine = of->recovered = EXPR_FALSE;
    of->vars = arena_array(&e->arena, n + 1, sizeof *of->vars);
    of->initial = arena_array(&e->arena, n + 1, sizeof *of->initial);
  }
  return s;
}

/* ---- initial faults ---- */

/* May the clause apply to the process? */
static bool concerns(const struct encoder *e, const struct clause *c, uint32_t p) {
  return (c->role == ROLE_ANY || c->role == model_role_of(e->l.model, p)) && c->limit > 0;
}

/* The process has the fault of at most one clause. */
static void start_faulty(struct encoder *e, struct sym_process *of, uint32_t p) {
  const struct environment *env = &e->l.model->environments[e->environment];
  struct number kind = number_of(0);
  int64_t kinds = 0;
  for (uint32_t i = 0; i < env->nclauses; i++)
    kinds += (env->clauses[i].kind == CLAUSE_BYZANTINE || env->clauses[i].kind == CLAUSE_OMIT) &&
             concerns(e, &env->clauses[i], p);
  if (kinds > 0)
    kind = number_new(&e->t, process_name(e, p, "fault"), 0, kinds);
  of->fault = kind;
  kinds = 0;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if ((c->kind != CLAUSE_BYZANTINE && c->kind != CLAUSE_OMIT) || !concerns(e, c, p))
      continue;
    truth it = number_is(&e->t.graph, kind, ++kinds);
    if (c->kind == CLAUSE_BYZANTINE)
      of->byzantine = expr_or(&e->t.graph, of->byzantine, it);
    if (c->kind == CLAUSE_OMIT && c->omits_send)
      of->omits_send = expr_or(&e->t.graph, of->omits_send, it);
    if (c->kind == CLAUSE_OMIT && c->omits_receive)
      of->omits_receive = expr_or(&e->t.graph, of->omits_receive, it);
  }
}

static truth start_faults_limited(struct encoder *e, const struct sym_state *s) {
  const struct environment *env = &e->l.model->environments[e->environment];
  uint32_t n = e->l.model->nprocesses;
  truth *liars = arena_array(&e->arena, n + 1, sizeof *liars), *omit = arena_array(&e->arena, n + 1, sizeof *omit);
  for (uint32_t p = 0; p < n; p++) {
    liars[p] = s->of[p].byzantine;
    omit[p] = expr_or(&e->t.graph, s->of[p].omits_send, s->of[p].omits_receive);
  }
  return expr_and(&e->t.graph, faults_limited(&e->l, env, CLAUSE_BYZANTINE, liars, false),
                  faults_limited(&e->l, env, CLAUSE_OMIT, omit, false));
}

/* ---- initial values ---- */

/* The initial value of one variable. Callers evaluate its `where` and narrow the path condition to it. */
struct sym_value *encode_first_value(struct scope *s, const struct var *v, const char *name) {
  struct encoder *e = encoder_of(s);
  e->l.at = v->at;
  if (v->init)
    return lower_checked(s, v->type, lower_node(s, v->init), v->init->at, "value");
  if (v->kind == VAR_ORACLE || v->kind == VAR_POINT || v->kind == VAR_ONCE)
    return sym_default(&e->l, v->type);
  if (v->type->count == UINT64_MAX)
    lower_refuse(&e->l, v->at, "'%s' has too many values to choose from", v->name);
  return sym_new(e, v->type, name);
}

static truth start_globals(struct encoder *e, struct sym_state *state, struct scope *s) {
  const struct model *m = e->l.model;
  truth accepted = EXPR_TRUE;
  scope_init(s, &e->l);
  s->globals = state->globals;
  s->phase = number_of(1);
  for (int inputs = 1; inputs >= 0; inputs--)
    for (uint32_t i = 0; i < m->nglobals; i++) {
      const struct var *g = &m->globals[i];
      if ((g->kind == VAR_INPUT) != inputs)
        continue;
      state->globals[i] = encode_first_value(s, g, g->name);
      if (g->where) {
        truth fits = lower_truth(s, g->where);
        accepted = expr_and(&e->t.graph, accepted, fits);
        scope_narrow(s, fits);
      }
    }
  return accepted;
}

static truth start_process(struct encoder *e, struct sym_state *state, uint32_t p, truth given, truth *error) {
  struct sym_process *of = &state->of[p];
  struct scope s;
  scope_of_process(&s, &e->l, state, p);
  const struct role *role = &e->l.model->roles[s.role];
  truth accepted = EXPR_TRUE;
  s.path = given;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    s.vars[i] = encode_first_value(&s, v, process_name(e, p, v->name));
    if (v->where) {
      truth fits = lower_truth(&s, v->where);
      accepted = expr_and(&e->t.graph, accepted, fits);
      scope_narrow(&s, fits);
    }
    if (v->kind == VAR_INPUT)
      of->initial[i] = s.vars[i];
    of->vars[i] = s.vars[i];
  }
  *error = expr_or(&e->t.graph, *error, s.error);
  return expr_or(&e->t.graph, of->byzantine, accepted);
}

static truth distinct_kept(struct encoder *e, const struct sym_state *s) {
  truth kept = EXPR_TRUE;
  for (uint32_t r = 0; r < e->l.model->nroles; r++) {
    const struct role *role = &e->l.model->roles[r];
    for (uint32_t i = 0; i < role->nvars; i++)
      for (uint32_t p = role->first; role->vars[i].distinct && p < role->first + role->count; p++)
        for (uint32_t q = p + 1; q < role->first + role->count; q++) {
          truth liar = expr_or(&e->t.graph, s->of[p].byzantine, s->of[q].byzantine);
          truth differ = expr_not(&e->t.graph, sym_equal(&e->l, s->of[p].vars[i], s->of[q].vars[i]));
          kept = expr_and(&e->t.graph, kept, expr_or(&e->t.graph, liar, differ));
        }
  }
  return kept;
}

struct sym_state *encode_start(struct encoder *e, truth *allowed, truth *error) {
  struct sym_state *s = state_new(e, 0);
  struct scope scope;
  *allowed = start_globals(e, s, &scope);
  *error = scope.error;
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++) {
    start_faulty(e, &s->of[p], p);
    truth accepted = start_process(e, s, p, scope.path, error);
    *allowed = expr_and(&e->t.graph, *allowed, accepted);
  }
  *allowed = expr_and(&e->t.graph, *allowed, distinct_kept(e, s));
  *allowed = expr_and(&e->t.graph, *allowed, start_faults_limited(e, s));
  return s;
}

/* ---- symmetry breaking ---- */

/* The input of the role that has this type and no fixed initial value, or UINT32_MAX. *several is set if there is more
   than one. */
static uint32_t free_input(const struct role *role, const struct type *t, bool *several) {
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; i < role->nvars; i++)
    if (role->vars[i].kind == VAR_INPUT && !role->vars[i].init && role->vars[i].type == t) {
      *several |= found != UINT32_MAX;
      found = i;
    }
  return found;
}

static truth values_representative(struct encoder *e, const struct sym_state *s, const struct licences *l) {
  const struct model *m = e->l.model;
  const struct type *t = l->value_type;
  bool partition = l->of[REDUCE_PARTITION].applied, several = false;
  truth *with = arena_array(&e->arena, m->nprocesses + 1, sizeof *with), all = EXPR_TRUE;
  struct number before = number_of(0);
  for (uint32_t r = 0; r < m->nroles; r++)
    free_input(&m->roles[r], t, &several);
  for (uint32_t i = 0; i < m->nglobals; i++)
    several |= type_contains(m->globals[i].type, t);
  for (uint64_t v = 0; v < t->count && !several; v++) {
    uint32_t n = 0;
    for (uint32_t p = 0; p < m->nprocesses; p++) {
      uint32_t i = free_input(&m->roles[model_role_of(m, p)], t, &several);
      if (i != UINT32_MAX)
        with[n++] = expr_and(&e->t.graph, expr_not(&e->t.graph, s->of[p].byzantine),
                             sym_equal(&e->l, s->of[p].vars[i], sym_nth_value(&e->l, t, v)));
    }
    struct number now = number_count(&e->t.graph, with, n);
    if (v > 0 && partition)
      all = expr_and(&e->t.graph, all, number_at_most(&e->t.graph, now, before));
    else if (v > 0)
      all = expr_and(
          &e->t.graph, all,
          expr_or(&e->t.graph, number_is(&e->t.graph, now, 0), number_less(&e->t.graph, number_of(0), before)));
    before = now;
  }
  return all;
}

static bool reads_me(void *context, const struct node *n) {
  bool *found = context;
  *found |= (op_traits(n->op) & (TRAIT_SELF | TRAIT_NUMBERED)) != 0;
  return !*found;
}

/* Do all processes of the role have the same initial states, independent of their identities? */
static bool start_alike(const struct encoder *e, const struct role *role) {
  bool named = role->ring || role->graph;
  for (uint32_t i = 0; i < role->nvars && !named; i++) {
    const struct var *v = &role->vars[i];
    named |= type_contains_kind(v->type, TYPE_PROCESS) && v->kind != VAR_ORACLE;
    if (v->init)
      node_walk_deep(e->l.model, v->init, reads_me, &named);
    if (v->where)
      node_walk_deep(e->l.model, v->where, reads_me, &named);
  }
  for (uint32_t i = 0; i < e->l.model->nglobals; i++)
    named |= type_contains_kind(e->l.model->globals[i].type, TYPE_PROCESS);
  return !named;
}

/* Interchangeable processes are sorted by their first free input. */
static truth processes_sorted(struct encoder *e, const struct sym_state *s, const struct licences *l) {
  truth sorted = EXPR_TRUE;
  for (uint32_t r = 0; r < e->l.model->nroles; r++) {
    const struct role *role = &e->l.model->roles[r];
    uint32_t input = 0;
    while (input < role->nvars &&
           (role->vars[input].kind != VAR_INPUT || role->vars[input].init ||
            (role->vars[input].type->kind != TYPE_RANGE && role->vars[input].type->kind != TYPE_ENUM)))
      input++;
    if (input == role->nvars || l->identity[r] > IDENTITY_EQUALITY || !start_alike(e, role))
      continue;
    for (uint32_t p = role->first; p + 1 < role->first + role->count; p++)
      sorted = expr_and(&e->t.graph, sorted,
                        number_at_most(&e->t.graph, s->of[p].vars[input]->number, s->of[p + 1].vars[input]->number));
  }
  return sorted;
}

truth encode_representative(struct encoder *e, const struct sym_state *s, const struct licences *l) {
  truth all = EXPR_TRUE;
  if (l->value_type && (l->of[REDUCE_PARTITION].applied || l->of[REDUCE_ORDER].applied))
    all = values_representative(e, s, l);
  if (l->of[REDUCE_SYMMETRY].applied)
    all = expr_and(&e->t.graph, all, processes_sorted(e, s, l));
  return all;
}

/* ---- arbitrary states ---- */

/* The fault status of a process: fresh variables for the faults that the environment allows. */
static void any_status(struct encoder *e, struct sym_process *of, uint32_t p) {
  const struct model *m = e->l.model;
  const struct environment *env = &m->environments[e->environment];
  start_faulty(e, of, p);
  if (role_halts(m, &m->roles[model_role_of(m, p)]))
    of->halted = truth_new(&e->t, process_name(e, p, "halted"));
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CRASH && concerns(e, &env->clauses[i], p)) {
      if (of->crashed == EXPR_FALSE)
        of->crashed = truth_new(&e->t, process_name(e, p, "crashed"));
      if (env->clauses[i].recovers && of->recovered == EXPR_FALSE)
        of->recovered = truth_new(&e->t, process_name(e, p, "recovered"));
    }
}

/* The amount already spent of a budget for the whole run, which is part of the state. */
static struct number any_spent(struct encoder *e, enum clause_kind kind, const char *name) {
  const struct environment *env = &e->l.model->environments[e->environment];
  int64_t limit = -1;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == kind && c->per == PER_RUN && c->limit < INT64_MAX && (limit < 0 || c->limit < limit))
      limit = c->limit;
  }
  return limit < 0 ? number_of(0) : number_new(&e->t, name, 0, limit);
}

struct sym_state *encode_any_state(struct encoder *e, uint32_t point) {
  const struct model *m = e->l.model;
  struct sym_state *s = state_new(e, point);
  const struct point *at = m->npoints && point != POINT_END ? &m->points[point] : NULL;
  bool endless = at && at->endless;
  if (e->counts_rounds && endless)
    s->rounds = number_new(&e->t, "round", (int64_t)at->number - 1, NUMBER_MOST);
  else if (e->counts_rounds)
    s->rounds = number_of(at ? (int64_t)at->number - 1 : (int64_t)m->npoints);
  if (e->counts_phases && endless)
    s->phase = number_new(&e->t, "phase", 1, NUMBER_MOST);
  s->lost = any_spent(e, CLAUSE_LOST, "lost");
  s->corrupted = any_spent(e, CLAUSE_CORRUPTED, "corrupted");
  s->duplicated = any_spent(e, CLAUSE_DUPLICATED, "duplicated");
  for (uint32_t i = 0; i < m->nglobals; i++) {
    e->l.at = m->globals[i].at;
    s->globals[i] = sym_new(e, m->globals[i].type, m->globals[i].name);
  }
  encode_any_packets(e, s);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    any_status(e, &s->of[p], p);
    for (uint32_t i = 0; i < role->nvars; i++) {
      const struct var *v = &role->vars[i];
      bool forgotten = v->kind == VAR_ORACLE && (v->each == EACH_ROUND || !at || at->phase_start);
      e->l.at = v->at;
      s->of[p].vars[i] = forgotten ? sym_default(&e->l, v->type) : sym_new(e, v->type, process_name(e, p, v->name));
      if (v->kind == VAR_INPUT && e->keeps_initials)
        s->of[p].initial[i] = sym_new(e, v->type, process_name(e, p, arena_printf(&e->arena, "initial.%s", v->name)));
    }
  }
  return s;
}

truth states_equal(struct encoder *e, const struct sym_state *a, const struct sym_state *b) {
  struct terms *t = &e->t;
  const struct model *m = e->l.model;
  truth same =
      expr_and(&t->graph, number_same(&t->graph, a->lost, b->lost), number_same(&t->graph, a->corrupted, b->corrupted));
  same = expr_and(&t->graph, same, number_same(&t->graph, a->duplicated, b->duplicated));
  if (e->counts_rounds)
    same = expr_and(&t->graph, same, number_same(&t->graph, a->rounds, b->rounds));
  if (e->counts_phases)
    same = expr_and(&t->graph, same, number_same(&t->graph, a->phase, b->phase));
  for (uint32_t i = 0; i < m->nglobals; i++)
    same = expr_and(&t->graph, same, sym_equal(&e->l, a->globals[i], b->globals[i]));
  for (uint32_t i = 0; i < a->npackets || i < b->npackets; i++) /* normalised, or none yet */
    same = expr_and(&t->graph, same,
                    expr_equal(&t->graph, i < a->npackets ? a->packets[i].pending : EXPR_FALSE,
                               i < b->npackets ? b->packets[i].pending : EXPR_FALSE));
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct sym_process *x = &a->of[p], *y = &b->of[p];
    const truth all[] = {
        expr_equal(&t->graph, x->halted, y->halted),         expr_equal(&t->graph, x->crashed, y->crashed),
        expr_equal(&t->graph, x->omits_send, y->omits_send), expr_equal(&t->graph, x->omits_receive, y->omits_receive),
        expr_equal(&t->graph, x->byzantine, y->byzantine),   expr_equal(&t->graph, x->recovered, y->recovered)};
    same = expr_and(&t->graph, same, truth_all(&t->graph, all, sizeof all / sizeof *all));
    for (uint32_t i = 0; i < m->roles[model_role_of(m, p)].nvars; i++) {
      same = expr_and(&t->graph, same, sym_equal(&e->l, x->vars[i], y->vars[i]));
      if (e->keeps_initials && x->initial[i])
        same = expr_and(&t->graph, same, sym_equal(&e->l, x->initial[i], y->initial[i]));
    }
  }
  return same;
}

truth encode_stutter(struct encoder *e, const struct sym_state *a, const struct sym_state *b) {
  struct sym_state x = *a, y = *b;
  x.lost = y.lost = x.corrupted = y.corrupted = number_of(0);
  x.duplicated = y.duplicated = number_of(0);
  x.npackets = y.npackets = 0;
  return states_equal(e, &x, &y);
}

truth state_invariant(struct encoder *e, const struct sym_state *s) {
  uint32_t n = e->l.model->nprocesses;
  truth *down = arena_array(&e->arena, n + (size_t)1, sizeof *down);
  for (uint32_t p = 0; p < n; p++)
    down[p] = expr_or(&e->t.graph, s->of[p].crashed, s->of[p].recovered);
  return expr_and(&e->t.graph, start_faults_limited(e, s),
                  faults_limited(&e->l, &e->l.model->environments[e->environment], CLAUSE_CRASH, down, false));
}

static void add_variable(struct encoder *e, expr_id w, struct leaves *to) {
  if (terms_is_variable(&e->t, w))
    vec_push(&to->at, w);
}

static void add_number(struct encoder *e, struct number n, struct leaves *to) {
  if (!number_constant(n))
    add_variable(e, n.node, to);
}

static void add_value(struct encoder *e, const struct sym_value *v, struct leaves *to) {
  struct leaves all = {0};
  sym_leaves(&e->l, v, &all);
  for (size_t i = 0; i < all.at.n; i++)
    add_variable(e, all.at.at[i], to);
  vec_release(&all.at);
}

void state_variables(struct encoder *e, const struct sym_state *s, struct leaves *to) {
  const struct model *m = e->l.model;
  const struct number numbers[] = {s->rounds, s->phase, s->lost, s->corrupted, s->duplicated};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    add_number(e, numbers[i], to);
  for (uint32_t i = 0; i < m->nglobals; i++)
    add_value(e, s->globals[i], to);
  for (uint32_t i = 0; i < s->npackets; i++)
    add_variable(e, s->packets[i].pending, to);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct sym_process *of = &s->of[p];
    add_number(e, of->fault, to);
    add_variable(e, of->halted, to);
    add_variable(e, of->crashed, to);
    add_variable(e, of->recovered, to);
    for (uint32_t i = 0; i < m->roles[model_role_of(m, p)].nvars; i++) {
      add_value(e, of->vars[i], to);
      if (e->keeps_initials && of->initial[i])
        add_value(e, of->initial[i], to);
    }
  }
}
