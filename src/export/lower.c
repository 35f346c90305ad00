/* From the typed model to a program: rules, the initial states, the properties. */
#include "export/lower.h"

#include <string.h>

/* --- faults --- */

expr_id active(struct model_lowering *l, const struct local_state *s) {
  struct expr_graph *c = l->expr_graph;
  return expr_not(c, expr_or(c, expr_or(c, s->crashed, s->halted), s->byzantine));
}

/* Faulty processes of a role beyond the role's own limit count against the clauses for all processes. */
expr_id faults_fit(struct model_lowering *l, enum clause_kind kind, const expr_id *faulty, bool recovering) {
  struct expr_graph *c = l->expr_graph;
  expr_id excess = expr_number(c, 0);
  int64_t most = l->model->nprocesses;
  for (uint32_t r = 0; r < l->model->nroles; r++) {
    expr_id n = expr_number(c, 0),
            own = expr_number(c, fault_limit(l->program->environment, kind, r, recovering, most));
    for (uint32_t p = l->model->roles[r].first; p < l->model->roles[r].first + l->model->roles[r].count; p++)
      n = expr_arithmetic(c, EXPR_ADD, n, expr_bool_to_int(c, faulty[p]));
    expr_id more = expr_ite(c, expr_less(c, own, n), expr_arithmetic(c, EXPR_SUB, n, own), expr_number(c, 0));
    expr_assert_bounds(c, more, 0, INT64_MAX);
    excess = expr_arithmetic(c, EXPR_ADD, excess, more);
  }
  return expr_at_most(c, excess,
                      expr_number(c, fault_limit(l->program->environment, kind, ROLE_ANY, recovering, most)));
}

/* --- rules --- */

static const char *rule_name(struct model_lowering *l, const char *name) {
  uint32_t same = 1;
  const char *unique = name;
  for (size_t i = 0; i < l->program->rules.n; i++)
    if (!strcmp(l->program->rules.at[i].name, unique)) {
      unique = arena_printf(l->arena, "%s_%u", name, ++same);
      i = SIZE_MAX; /* restart the loop */
    }
  return unique;
}

struct rule *rule_begin(struct model_lowering *l, const char *name, struct span at) {
  name = rule_name(l, plain_name(l, name));
  vec_push(&l->program->rules, ((struct rule){.name = name, .at = at}));
  l->rule = &l->program->rules.at[l->program->rules.n - 1];
  l->possible = l->path = expr_truth(l->expr_graph, true);
  l->failed = expr_truth(l->expr_graph, false);
  l->failure_is_false = false;
  vec_clear(&l->outbox);
  rule_guard(l, l->program->rules.n == 1 ? expr_not(l->expr_graph, variable_expr(l, l->program->started))
                                         : variable_expr(l, l->program->started));
  return l->rule;
}

/* Each conjunct becomes a separate guard, which can be evaluated as soon as its choices are made. */
void rule_guard(struct model_lowering *l, expr_id w) {
  struct expr_node n = *node_of(l->expr_graph, w);
  if (n.expr_kind == EXPR_AND) {
    rule_guard(l, n.kid[0]);
    rule_guard(l, n.kid[1]);
    return;
  }
  for (size_t i = 0; i < l->rule->guards.n; i++)
    if (l->rule->guards.at[i] == w)
      return;
  if (!expr_is_constant(l->expr_graph, w, 1))
    vec_push(&l->rule->guards, w);
}

static bool fits_a_guard(struct model_lowering *l, expr_id w, unsigned *size) {
  const struct expr_node *n = node_of(l->expr_graph, w);
  if (++*size > 300)
    return false;
  for (unsigned i = 0; i < expr_kids(n->expr_kind); i++)
    if (!fits_a_guard(l, node_of(l->expr_graph, w)->kid[i], size))
      return false;
  return true;
}

void rule_guard_or_assume(struct model_lowering *l, expr_id w) {
  struct expr_node n = *node_of(l->expr_graph, w);
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
  struct expr_graph *c = l->expr_graph;
  const struct state_variable *to = &l->program->variables.at[cell];
  const struct expr_node *n = node_of(c, after);
  if (!to->truth && (n->lo < to->lo || n->hi > to->hi)) {
    expr_id fits =
        expr_and(c, expr_at_most(c, expr_number(c, to->lo), after), expr_at_most(c, after, expr_number(c, to->hi)));
    bool known = false;
    for (size_t i = 0; i < l->rule->failures.n; i++)
      known |= l->rule->failures.at[i].when == expr_not(c, fits);
    l->path = expr_truth(c, true);
    if (!known)
      fail_if(l, expr_not(c, fits), (struct span){0, 0}, "export limit: %s beyond %lld..%lld", to->name,
              (long long)to->lo, (long long)to->hi);
  }
  rule_change_allowed(l, cell, after);
}

/* Updates all variables of a value. `now` is the value in the current state and identifies them. */
static void change_symbol(struct model_lowering *l, struct flat_value now, struct flat_value after) {
  uint32_t n = type_leaves(l, now.type, (struct span){0, 0});
  for (uint32_t i = 0; i < n; i++)
    if (node_of(l->expr_graph, now.leaf[i])->expr_kind == EXPR_VARIABLE)
      rule_change(l, node_of(l->expr_graph, now.leaf[i])->index, after.leaf[i]);
}

static void change_status(struct model_lowering *l, expr_id now, expr_id after) {
  if (node_of(l->expr_graph, now)->expr_kind == EXPR_VARIABLE)
    rule_change(l, node_of(l->expr_graph, now)->index, after);
}

void begin_property(struct model_lowering *l, const struct global_state *before, const struct global_state *after) {
  begin_process(l, 0, NULL, before->globals);
  l->me = UINT32_MAX;
  l->before = before;
  l->after = after;
  l->path = expr_truth(l->expr_graph, true);
  l->phase = l->phase_variable != UINT32_MAX ? variable_expr(l, l->phase_variable) : expr_number(l->expr_graph, 1);
}

static expr_id stutters(struct model_lowering *l) {
  expr_id same = expr_truth(l->expr_graph, true);
  for (size_t i = 0; i < l->rule->changes.n; i++) {
    const struct variable_update *k = &l->rule->changes.at[i];
    if (k->condition == NO_EXPR && l->program->variables.at[k->cell].visible)
      same = expr_and(l->expr_graph, same, expr_equal(l->expr_graph, variable_expr(l, k->cell), k->value));
  }
  return same;
}

void rule_end(struct model_lowering *l, const struct global_state *after) {
  const struct model *m = l->model;
  for (uint32_t i = 0; i < m->nglobals; i++)
    change_symbol(l, l->now.globals[i], after->globals[i]);
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    const struct local_state *now = &l->now.local[p], *then = &after->local[p];
    const struct role *role = &m->roles[model_role_of(m, p)];
    for (uint32_t i = 0; i < role->nvars; i++) {
      change_symbol(l, now->vars[i], then->vars[i]);
      if (now->initial[i].leaf)
        change_symbol(l, now->initial[i], then->initial[i]);
    }
    change_status(l, now->halted, then->halted);
    change_status(l, now->crashed, then->crashed);
    change_status(l, now->recovered, then->recovered);
    change_status(l, now->omits_send, then->omits_send);
    change_status(l, now->omits_receive, then->omits_receive);
    change_status(l, now->byzantine, then->byzantine);
  }
  expr_id ignored = model_steps(m) ? stutters(l) : expr_truth(l->expr_graph, false);
  for (size_t i = 0; i < l->program->properties.n; i++) {
    const struct property *p = l->program->properties.at[i].property;
    expr_id holds = NO_EXPR;
    if (p->step && l->program->rules.n > 1) {
      begin_property(l, &l->now, after);
      l->path = expr_not(l->expr_graph, ignored);
      holds = expr_or(l->expr_graph, ignored, lower_truth(l, p->formula));
    }
    vec_push(&l->rule->steps, holds);
  }
  if (l->program->live.property && l->program->rules.n > 1)
    live_rule(l);
  if (l->program->rules.n == 1)
    rule_change(l, l->program->started, expr_truth(l->expr_graph, true));
  l->rule->possible = l->possible;
  l->rule = NULL;
}

/* --- initial states --- */

struct flat_value first_value(struct model_lowering *l, const struct var *v, const char *name, expr_id there) {
  if (v->init) {
    struct flat_value s = lower_node(l, v->init);
    lower_check(l, v->type, s, v->init->at, "value");
    return flat_as(l, s, v->type);
  }
  if (v->kind == VAR_ORACLE || v->kind == VAR_POINT || v->kind == VAR_ONCE)
    return flat_default(l, v->type);
  expr_id code = choice_number(l, name, 0, (int64_t)code_count(l, v->type, v->at) - 1);
  assume(l, expr_or(l->expr_graph, there, expr_equal(l->expr_graph, code, expr_number(l->expr_graph, 0))));
  return flat_of_code(l, v->type, code);
}

static void start_globals(struct model_lowering *l, struct global_state *s) {
  begin_process(l, 0, NULL, s->globals);
  l->me = UINT32_MAX;
  for (int inputs = 1; inputs >= 0; inputs--)
    for (uint32_t i = 0; i < l->model->nglobals; i++) {
      const struct var *g = &l->model->globals[i];
      if ((g->kind == VAR_INPUT) != inputs)
        continue;
      s->globals[i] = first_value(l, g, g->name, expr_truth(l->expr_graph, true));
      if (g->where)
        assume(l, lower_truth(l, g->where));
    }
}

/* Initial faults, the same as in local_initials. */
static void start_faults(struct model_lowering *l, uint32_t p, struct local_state *s) {
  struct expr_graph *c = l->expr_graph;
  const struct environment *env = l->program->environment;
  uint32_t role = model_role_of(l->model, p), n = 1, kinds[32] = {0};
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
  expr_id fault = choice_number(l, arena_printf(l->arena, "%s_fault", process_name(l, p)), 0, n - 1);
  s->omits_send = s->omits_receive = s->byzantine = expr_truth(c, false);
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

static void start_process(struct model_lowering *l, uint32_t p, struct global_state *s) {
  struct expr_graph *c = l->expr_graph;
  const struct role *role = &l->model->roles[model_role_of(l->model, p)];
  struct local_state *self = &s->local[p];
  self->vars = arena_array(l->arena, role->nvars + 1, sizeof *self->vars);
  self->initial = arena_array(l->arena, role->nvars + 1, sizeof *self->initial);
  self->halted = self->crashed = self->recovered = expr_truth(c, false);
  start_faults(l, p, self);
  begin_process(l, p, self, s->globals);
  l->phase = expr_number(c, 1);
  expr_id there = expr_not(c, self->byzantine);
  l->path = there;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    const char *name = arena_printf(l->arena, "%s_%s", process_name(l, p), v->name);
    self->vars[i] = first_value(l, v, name, there);
    if (v->where) {
      expr_id fits = lower_truth(l, v->where);
      assume(l, expr_or(c, self->byzantine, fits));
      path_and(l, fits); /* later expressions need not be defined for rejected inputs */
    }
    self->vars[i] = flat_if(l, there, self->vars[i], flat_default(l, v->type));
    self->initial[i] = self->vars[i];
  }
  l->path = expr_truth(c, true);
}

static void start_distinct(struct model_lowering *l, const struct global_state *s) {
  struct expr_graph *c = l->expr_graph;
  for (uint32_t r = 0; r < l->model->nroles; r++) {
    const struct role *role = &l->model->roles[r];
    for (uint32_t i = 0; i < role->nvars; i++)
      for (uint32_t p = role->first; role->vars[i].distinct && p < role->first + role->count; p++)
        for (uint32_t q = p + 1; q < role->first + role->count; q++) {
          expr_id same = flat_equal(l, s->local[p].vars[i], s->local[q].vars[i]);
          expr_id liar = expr_or(c, s->local[p].byzantine, s->local[q].byzantine);
          assume(l, expr_or(c, liar, expr_not(c, same)));
        }
  }
}

static void start_rule(struct model_lowering *l) {
  struct expr_graph *c = l->expr_graph;
  const struct model *m = l->model;
  struct global_state s = {.local = arena_array(l->arena, m->nprocesses + 1, sizeof *s.local),
                           .globals = arena_array(l->arena, m->nglobals + 1, sizeof *s.globals),
                           .rounds = expr_number(c, 0)};
  expr_id *faulty = arena_array(l->arena, m->nprocesses + 1, sizeof *faulty);
  rule_begin(l, "start", (struct span){0, 0});
  start_globals(l, &s);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    start_process(l, p, &s);
  start_distinct(l, &s);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    faulty[p] = s.local[p].byzantine;
  assume(l, faults_fit(l, CLAUSE_BYZANTINE, faulty, false));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    faulty[p] = expr_or(c, s.local[p].omits_send, s.local[p].omits_receive);
  assume(l, faults_fit(l, CLAUSE_OMIT, faulty, false));
  if (l->phase_variable != UINT32_MAX)
    rule_change(l, l->phase_variable, expr_number(c, 1));
  rule_end(l, &s);
}

/* --- properties --- */

static void properties(struct model_lowering *l) {
  l->rule = NULL;
  l->program->well_defined = expr_truth(l->expr_graph, true);
  for (size_t i = 0; i < l->program->properties.n; i++) {
    struct program_property *p = &l->program->properties.at[i];
    p->holds = NO_EXPR;
    if (p->property->step)
      continue;
    begin_property(l, &l->now, NULL);
    p->holds = lower_truth(l, p->property->formula);
  }
}

static void note(struct model_lowering *l, const char *text) { vec_push(&l->program->notes, text); }

static void add_properties(struct model_lowering *l, const uint32_t *which, uint32_t n, bool runs) {
  for (uint32_t i = 0; i < n; i++) {
    const struct property *p = &l->model->properties[which[i]];
    if (p->kind == PROPERTY_LIVE)
      note(l, arena_printf(l->arena, "left out: '%s', which speaks of infinite runs%s", p->name,
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
  uint32_t *properties = arena_array(l->arena, p->properties.n + 1, sizeof *properties);
  struct query q = {.environment = (uint32_t)(p->environment - l->model->environments),
                    .semantics = first[l->model->kind],
                    .properties = properties,
                    .nproperties = (uint32_t)p->properties.n + (p->live.property ? 1 : 0)};
  for (uint32_t i = 0; i < q.nproperties; i++)
    properties[i] =
        (uint32_t)((p->live.property ? p->live.property : p->properties.at[i].property) - l->model->properties);
  enum feature lacking;
  struct span at;
  if (features_refused(l->model, &q, engine, &lacking, &at))
    refuse(l, at, "%s cannot be written in this format", feature_text(lacking));
}

struct program *program_new(struct model *m, uint32_t environment, const uint32_t *which, uint32_t n,
                            uint32_t max_rounds, enum engine_id engine, struct diags *diags) {
  struct program *p = memory_alloc(sizeof *p);
  bool runs = engine_supports(engine, FEATURE_LIVE);
  jmp_buf refused;
  arena_init(&p->arena);
  expr_graph_init(&p->expr_graph);
  p->model = m;
  p->environment = &m->environments[environment];
  struct model_lowering *l = arena_alloc(&p->arena, sizeof *l);
  *l = (struct model_lowering){.program = p,
                               .model = m,
                               .expr_graph = &p->expr_graph,
                               .arena = &p->arena,
                               .diags = diags,
                               .refused = &refused,
                               .max_rounds = max_rounds};
  volatile bool ok = false;
  if (setjmp(refused) == 0) {
    l->path = l->possible = expr_truth(l->expr_graph, true);
    l->failed = expr_truth(l->expr_graph, false);
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
    refuse_large(l, (struct span){0, 0});
    ok = true;
  }
  vec_release(&l->outbox);
  if (ok)
    return p;
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
