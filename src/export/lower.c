/* From the typed model to a program: rules, the initial states, the properties. */
#include "export/lower.h"

#include <string.h>

/* --- rules --- */

static const char *rule_name(struct model_lowering *l, const char *name) {
  uint32_t same = 1;
  const char *unique = name;
  for (size_t i = 0; i < l->program->rules.n; i++)
    if (!strcmp(l->program->rules.at[i].name, unique)) {
      unique = arena_printf(l->base.arena, "%s_%u", name, ++same);
      i = SIZE_MAX; /* restart the loop */
    }
  return unique;
}

struct rule *rule_begin(struct model_lowering *l, const char *name, struct span at) {
  name = rule_name(l, plain_name(l, name));
  vec_push(&l->program->rules, ((struct rule){.name = name, .at = at}));
  l->rule = &l->program->rules.at[l->program->rules.n - 1];
  l->possible = EXPR_TRUE;
  scope_init(&l->scope, &l->base);
  rule_guard(l, l->program->rules.n == 1 ? expr_not(l->base.graph, variable_expr(l, l->program->started))
                                         : variable_expr(l, l->program->started));
  return l->rule;
}

/* Each conjunct becomes a separate guard, which can be evaluated as soon as its choices are made. */
void rule_guard(struct model_lowering *l, expr_id w) {
  struct expr_node n = *node_of(l->base.graph, w);
  if (n.expr_kind == EXPR_AND) {
    rule_guard(l, n.kid[0]);
    rule_guard(l, n.kid[1]);
    return;
  }
  for (size_t i = 0; i < l->rule->guards.n; i++)
    if (l->rule->guards.at[i] == w)
      return;
  if (!expr_is_constant(l->base.graph, w, 1))
    vec_push(&l->rule->guards, w);
}

static bool fits_a_guard(struct model_lowering *l, expr_id w, unsigned *size) {
  const struct expr_node *n = node_of(l->base.graph, w);
  if (++*size > 300)
    return false;
  for (unsigned i = 0; i < expr_kids(n->expr_kind); i++)
    if (!fits_a_guard(l, node_of(l->base.graph, w)->kid[i], size))
      return false;
  return true;
}

void rule_guard_or_assume(struct model_lowering *l, expr_id w) {
  struct expr_node n = *node_of(l->base.graph, w);
  unsigned size = 0;
  if (n.expr_kind == EXPR_AND) {
    rule_guard_or_assume(l, n.kid[0]);
    rule_guard_or_assume(l, n.kid[1]);
  } else if (fits_a_guard(l, w, &size)) {
    rule_guard(l, w);
  } else {
    assume(l, w);
  }
}

void rule_change_allowed(struct model_lowering *l, uint32_t cell, expr_id after) {
  if (variable_expr(l, cell) != after)
    vec_push(&l->rule->changes,
             ((struct variable_update){.cell = cell, .value = after, .condition = NO_EXPR, .index = NO_EXPR}));
}

/* Assignments have checked their ranges already. Other variables, such as round numbers, have only the bound chosen
 * here. */
void rule_change(struct model_lowering *l, uint32_t cell, expr_id after) {
  struct expr_graph *c = l->base.graph;
  const struct state_variable *to = &l->program->variables.at[cell];
  const struct expr_node *n = node_of(c, after);
  if (!to->truth && (n->lo < to->lo || n->hi > to->hi)) {
    expr_id fits =
        expr_and(c, expr_at_most(c, expr_number(c, to->lo), after), expr_at_most(c, after, expr_number(c, to->hi)));
    bool known = false;
    for (size_t i = 0; i < l->rule->failures.n; i++)
      known |= l->rule->failures.at[i].when == expr_not(c, fits);
    l->scope.path = EXPR_TRUE;
    if (!known)
      scope_fail(&l->scope, expr_not(c, fits), (struct span){0, 0}, "export limit: %s beyond %lld..%lld", to->name,
                 (long long)to->lo, (long long)to->hi);
  }
  rule_change_allowed(l, cell, after);
}

/* Updates all variables of a value. `now` is the value in the current state and identifies them. */
static void change_value(struct model_lowering *l, const struct type *t, struct sym_value *now,
                         struct sym_value *after) {
  struct leaves from = {0}, to = {0};
  after = sym_canonical(&l->base, t, after); /* may refuse, so before the leaves are allocated */
  sym_leaves(&l->base, now, &from);
  sym_leaves(&l->base, after, &to);
  for (size_t i = 0; i < from.at.n; i++)
    if (node_of(l->base.graph, from.at.at[i])->expr_kind == EXPR_VARIABLE)
      rule_change(l, node_of(l->base.graph, from.at.at[i])->index, to.at.at[i]);
  vec_release(&from.at);
  vec_release(&to.at);
}

static void change_status(struct model_lowering *l, expr_id now, expr_id after) {
  if (node_of(l->base.graph, now)->expr_kind == EXPR_VARIABLE)
    rule_change(l, node_of(l->base.graph, now)->index, after);
}

static expr_id stutters(struct model_lowering *l) {
  expr_id same = EXPR_TRUE;
  for (size_t i = 0; i < l->rule->changes.n; i++) {
    const struct variable_update *k = &l->rule->changes.at[i];
    if (k->condition == NO_EXPR && l->program->variables.at[k->cell].visible)
      same = expr_and(l->base.graph, same, expr_equal(l->base.graph, variable_expr(l, k->cell), k->value));
  }
  return same;
}

void rule_end(struct model_lowering *l, const struct sym_state *after) {
  const struct model *m = l->base.model;
  for (uint32_t i = 0; i < m->nglobals; i++)
    change_value(l, m->globals[i].type, l->now.globals[i], after->globals[i]);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct sym_process *now = &l->now.of[p], *then = &after->of[p];
    const struct role *role = &m->roles[model_role_of(m, p)];
    for (uint32_t i = 0; i < role->nvars; i++) {
      change_value(l, role->vars[i].type, now->vars[i], then->vars[i]);
      if (now->initial[i])
        change_value(l, role->vars[i].type, now->initial[i], then->initial[i]);
    }
    change_status(l, now->halted, then->halted);
    change_status(l, now->crashed, then->crashed);
    change_status(l, now->recovered, then->recovered);
    change_status(l, now->omits_send, then->omits_send);
    change_status(l, now->omits_receive, then->omits_receive);
    change_status(l, now->byzantine, then->byzantine);
  }
  expr_id ignored = model_steps(m) ? stutters(l) : EXPR_FALSE;
  for (size_t i = 0; i < l->program->properties.n; i++) {
    const struct property *p = l->program->properties.at[i].property;
    expr_id holds = NO_EXPR;
    if (p->step && l->program->rules.n > 1) {
      begin_property(l, &l->now, after);
      l->scope.path = expr_not(l->base.graph, ignored);
      holds = expr_or(l->base.graph, ignored, lower_truth(&l->scope, p->formula));
    }
    vec_push(&l->rule->steps, holds);
  }
  if (l->program->live.property && l->program->rules.n > 1)
    live_rule(l);
  if (l->program->rules.n == 1)
    rule_change(l, l->program->started, EXPR_TRUE);
  l->rule->possible = l->possible;
  l->rule = NULL;
}

/* --- initial states --- */

struct sym_value *first_value(struct model_lowering *l, const struct var *v, const char *name, expr_id there) {
  if (v->init) {
    struct sym_value *s = lower_checked(&l->scope, v->type, lower_node(&l->scope, v->init), v->init->at, "value");
    return sym_canonical(&l->base, v->type, s);
  }
  if (v->kind == VAR_ORACLE || v->kind == VAR_POINT || v->kind == VAR_ONCE)
    return sym_canonical(&l->base, v->type, sym_default(&l->base, v->type));
  expr_id code = choice_number(l, name, 0, (int64_t)code_count(l, v->type, v->at) - 1);
  assume(l, expr_or(l->base.graph, there, expr_equal(l->base.graph, code, expr_number(l->base.graph, 0))));
  return value_of_code(l, v->type, code);
}

static void start_globals(struct model_lowering *l, struct sym_state *s) {
  l->scope.me = UINT32_MAX;
  l->scope.globals = s->globals;
  l->scope.phase = number_of(1);
  for (int inputs = 1; inputs >= 0; inputs--)
    for (uint32_t i = 0; i < l->base.model->nglobals; i++) {
      const struct var *g = &l->base.model->globals[i];
      if ((g->kind == VAR_INPUT) != inputs)
        continue;
      s->globals[i] = first_value(l, g, g->name, EXPR_TRUE);
      if (g->where)
        assume_evaluated(l, lower_truth(&l->scope, g->where));
    }
}

/* Initial faults, the same as in local_initials. */
static void start_faults(struct model_lowering *l, uint32_t p, struct sym_process *s) {
  struct expr_graph *c = l->base.graph;
  const struct environment *env = l->program->environment;
  uint32_t role = model_role_of(l->base.model, p), n = 1, kinds[32] = {0};
  for (uint32_t i = 0; i < env->nclauses && n < 32; i++) {
    const struct clause *k = &env->clauses[i];
    if ((k->role != ROLE_ANY && k->role != role) || k->limit == 0)
      continue;
    uint32_t bits = k->kind == CLAUSE_BYZANTINE ? 4
                    : k->kind == CLAUSE_OMIT    ? (k->omits_send ? 1u : 0) | (k->omits_receive ? 2u : 0)
                                                : 0;
    bool known = bits == 0;
    for (uint32_t j = 0; j < n; j++)
      known |= kinds[j] == bits;
    if (!known)
      kinds[n++] = bits;
  }
  expr_id fault = choice_number(l, arena_printf(l->base.arena, "%s_fault", process_name(l, p)), 0, n - 1);
  s->omits_send = s->omits_receive = s->byzantine = EXPR_FALSE;
  for (uint32_t j = 1; j < n; j++) {
    expr_id is = expr_equal(c, fault, expr_number(c, j));
    if (kinds[j] & 1)
      s->omits_send = expr_or(c, s->omits_send, is);
    if (kinds[j] & 2)
      s->omits_receive = expr_or(c, s->omits_receive, is);
    if (kinds[j] & 4)
      s->byzantine = expr_or(c, s->byzantine, is);
  }
}

static void start_process(struct model_lowering *l, uint32_t p, struct sym_state *s) {
  struct expr_graph *c = l->base.graph;
  const struct role *role = &l->base.model->roles[model_role_of(l->base.model, p)];
  struct sym_process *self = &s->of[p];
  self->initial = arena_array(l->base.arena, role->nvars + 1, sizeof *self->initial);
  self->halted = self->crashed = self->recovered = EXPR_FALSE;
  start_faults(l, p, self);
  begin_process(l, s, p);
  self->vars = l->scope.vars;
  expr_id there = expr_not(c, self->byzantine);
  l->scope.path = there;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    const char *name = arena_printf(l->base.arena, "%s_%s", process_name(l, p), v->name);
    struct sym_value *first = sym_canonical(&l->base, v->type, sym_default(&l->base, v->type));
    self->vars[i] = first_value(l, v, name, there);
    if (v->where) {
      expr_id fits = lower_truth(&l->scope, v->where);
      assume_evaluated(l, expr_or(c, self->byzantine, fits));
      scope_narrow(&l->scope, fits); /* later expressions need not be defined for rejected inputs */
    }
    self->vars[i] = sym_ite(&l->base, there, self->vars[i], first);
    self->initial[i] = self->vars[i];
  }
  l->scope.path = EXPR_TRUE;
}

static void start_distinct(struct model_lowering *l, const struct sym_state *s) {
  struct expr_graph *c = l->base.graph;
  for (uint32_t r = 0; r < l->base.model->nroles; r++) {
    const struct role *role = &l->base.model->roles[r];
    for (uint32_t i = 0; i < role->nvars; i++)
      for (uint32_t p = role->first; role->vars[i].distinct && p < role->first + role->count; p++)
        for (uint32_t q = p + 1; q < role->first + role->count; q++) {
          expr_id same = sym_equal(&l->base, s->of[p].vars[i], s->of[q].vars[i]);
          expr_id liar = expr_or(c, s->of[p].byzantine, s->of[q].byzantine);
          assume(l, expr_or(c, liar, expr_not(c, same)));
        }
  }
}

static void start_rule(struct model_lowering *l) {
  struct expr_graph *c = l->base.graph;
  const struct model *m = l->base.model;
  struct sym_state s = {.of = arena_array(l->base.arena, m->nprocesses + 1, sizeof *s.of),
                        .globals = arena_array(l->base.arena, m->nglobals + 1, sizeof *s.globals),
                        .phase = number_of(1)};
  expr_id *faulty = arena_array(l->base.arena, m->nprocesses + 1, sizeof *faulty);
  rule_begin(l, "start", (struct span){0, 0});
  start_globals(l, &s);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    start_process(l, p, &s);
  start_distinct(l, &s);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    faulty[p] = s.of[p].byzantine;
  assume(l, faults_limited(&l->base, l->program->environment, CLAUSE_BYZANTINE, faulty, false));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    faulty[p] = expr_or(c, s.of[p].omits_send, s.of[p].omits_receive);
  assume(l, faults_limited(&l->base, l->program->environment, CLAUSE_OMIT, faulty, false));
  if (l->phase_variable != UINT32_MAX)
    rule_change(l, l->phase_variable, expr_number(c, 1));
  rule_end(l, &s);
}

/* --- properties --- */

static void properties(struct model_lowering *l) {
  l->rule = NULL;
  l->program->well_defined = EXPR_TRUE;
  for (size_t i = 0; i < l->program->properties.n; i++) {
    struct program_property *p = &l->program->properties.at[i];
    p->holds = NO_EXPR;
    if (p->property->step)
      continue;
    begin_property(l, &l->now, NULL);
    p->holds = lower_truth(&l->scope, p->property->formula);
  }
}

static void note(struct model_lowering *l, const char *text) { vec_push(&l->program->notes, text); }

static void add_properties(struct model_lowering *l, const uint32_t *which, uint32_t n, bool runs) {
  for (uint32_t i = 0; i < n; i++) {
    const struct property *p = &l->base.model->properties[which[i]];
    if (p->kind == PROPERTY_LIVE)
      note(l, arena_printf(l->base.arena, "left out: '%s', which speaks of infinite runs%s", p->name,
                           runs ? ": it is written if it is the only property asked for" : ""));
    else
      vec_push(&l->program->properties, ((struct program_property){p, property_name(l, p->name), NO_EXPR}));
  }
}

/* --- the program --- */

/* Refuses features that the engine does not declare (analysis/features.h), before anything is lowered. */
static void check_features(struct model_lowering *l, enum engine_id engine) {
  static const enum semantics first[] = {[MODEL_ROUNDS] = SEMANTICS_COARSE,
                                         [MODEL_MESSAGES] = SEMANTICS_M,
                                         [MODEL_SHARED] = SEMANTICS_INTERLEAVING,
                                         [MODEL_COUNTERS] = SEMANTICS_COARSE};
  const struct program *p = l->program;
  uint32_t *properties = arena_array(l->base.arena, p->properties.n + 1, sizeof *properties);
  struct query q = {.environment = (uint32_t)(p->environment - l->base.model->environments),
                    .semantics = first[l->base.model->kind],
                    .properties = properties,
                    .nproperties = (uint32_t)p->properties.n + (p->live.property ? 1 : 0)};
  for (uint32_t i = 0; i < q.nproperties; i++)
    properties[i] =
        (uint32_t)((p->live.property ? p->live.property : p->properties.at[i].property) - l->base.model->properties);
  enum feature lacking;
  struct span at;
  if (features_refused(l->base.model, &q, engine, &lacking, &at))
    refuse(l, at, "%s cannot be written in this format", feature_text(lacking));
}

struct program *program_new(struct model *m, uint32_t environment, const uint32_t *which, uint32_t n,
                            uint32_t max_rounds, enum engine_id engine, struct diags *diags) {
  struct program *p = memory_alloc(sizeof *p);
  bool runs = engine_supports(engine, FEATURE_LIVE);
  jmp_buf refused;
  arena_init(&p->arena);
  expr_graph_init(&p->expr_graph, false);
  p->model = m;
  p->environment = &m->environments[environment];
  struct model_lowering *l = arena_alloc(&p->arena, sizeof *l);
  model_lowering_init(l, p, m, max_rounds, &refused);
  volatile bool ok = false;
  if (setjmp(refused) == 0) {
    if (runs && n == 1 && m->properties[which[0]].kind == PROPERTY_LIVE)
      p->live.property = &m->properties[which[0]];
    else
      add_properties(l, which, n, runs);
    check_features(l, engine);
    const struct clause *unknown = environment_unknown_clause(p->environment);
    if (unknown)
      refuse(l, unknown->at, "this clause cannot be written in this format");
    if (p->live.property)
      live_begin(l, which[0], environment);
    declare_variables(l);
    start_rule(l);
    if (model_steps(m))
      lower_steps(l);
    else
      lower_rounds(l);
    properties(l);
    if (p->live.property)
      live_end(l);
    refuse_large_numbers(&l->base, (struct span){0, 0});
    ok = true;
  }
  if (ok)
    return p;
  diag_error(diags, E0903, l->base.refusal.at, "%s", l->base.refusal.reason);
  program_free(p);
  return NULL;
}

void rule_release(struct rule *r) {
  vec_release(&r->choices);
  vec_release(&r->guards);
  vec_release(&r->failures);
  vec_release(&r->changes);
  vec_release(&r->steps);
  vec_release(&r->satisfies);
}

void program_free(struct program *p) {
  if (!p)
    return;
  for (size_t i = 0; i < p->rules.n; i++)
    rule_release(&p->rules.at[i]);
  if (p->live.pool)
    ltl_pool_free(p->live.pool);
  vec_release(&p->live.atoms);
  vec_release(&p->live.assumptions);
  vec_release(&p->variables);
  vec_release(&p->rules);
  vec_release(&p->properties);
  vec_release(&p->notes);
  expr_graph_release(&p->expr_graph);
  arena_release(&p->arena);
  memory_free(p);
}
