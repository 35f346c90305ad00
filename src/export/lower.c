/* From the typed model to a program: rules, the initial states, the properties. */
#include "export/lower.h"

#include <string.h>

/* --- faults --- */

wire active(struct lowering *l, const struct local_state *s) {
  struct circuit *c = l->circuit;
  return circuit_not(c, circuit_or(c, circuit_or(c, s->crashed, s->halted), s->byzantine));
}

static int64_t limit_of(const struct lowering *l, enum clause_kind kind, uint32_t role, bool recovering) {
  const struct environment *env = l->program->environment;
  int64_t limit = 0, most = l->model->nprocesses;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if (c->kind == kind && c->role == role && (!recovering || c->recovers))
      limit = c->limit > most ? most : limit + c->limit;
  }
  return limit > most ? most : limit;
}

/* Those of a role beyond the role's own limit count against the clauses for all. */
wire faults_fit(struct lowering *l, enum clause_kind kind, const wire *faulty, bool recovering) {
  struct circuit *c = l->circuit;
  wire excess = circuit_number(c, 0);
  for (uint32_t r = 0; r < l->model->nroles; r++) {
    wire n = circuit_number(c, 0), own = circuit_number(c, limit_of(l, kind, r, recovering));
    for (uint32_t p = l->model->roles[r].first; p < l->model->roles[r].first + l->model->roles[r].count; p++)
      n = circuit_arithmetic(c, GATE_ADD, n, circuit_count(c, faulty[p]));
    wire more = circuit_if(c, circuit_less(c, own, n), circuit_arithmetic(c, GATE_SUB, n, own), circuit_number(c, 0));
    circuit_within(c, more, 0, INT64_MAX);
    excess = circuit_arithmetic(c, GATE_ADD, excess, more);
  }
  return circuit_at_most(c, excess, circuit_number(c, limit_of(l, kind, ROLE_ANY, recovering)));
}

/* --- rules --- */

static const char *rule_name(struct lowering *l, const char *name) {
  uint32_t same = 1;
  const char *unique = name;
  for (size_t i = 0; i < l->program->rules.n; i++)
    if (!strcmp(l->program->rules.at[i].name, unique)) {
      unique = arena_printf(l->arena, "%s_%u", name, ++same);
      i = SIZE_MAX; /* again */
    }
  return unique;
}

struct rule *rule_begin(struct lowering *l, const char *name, struct span at) {
  name = rule_name(l, plain_name(l, name));
  vec_push(&l->program->rules, ((struct rule){.name = name, .at = at}));
  l->rule = &l->program->rules.at[l->program->rules.n - 1];
  l->possible = l->path = circuit_truth(l->circuit, true);
  l->failed = circuit_truth(l->circuit, false);
  l->quiet = false;
  vec_clear(&l->outbox);
  rule_guard(l, l->program->rules.n == 1 ? circuit_not(l->circuit, cell_wire(l, l->program->started))
                                         : cell_wire(l, l->program->started));
  return l->rule;
}

/* Conjuncts stand alone: each can be asked as soon as its choices are made. */
void rule_guard(struct lowering *l, wire w) {
  struct gate_node n = *node_of(l->circuit, w);
  if (n.gate == GATE_AND) {
    rule_guard(l, n.kid[0]);
    rule_guard(l, n.kid[1]);
    return;
  }
  for (size_t i = 0; i < l->rule->guards.n; i++)
    if (l->rule->guards.at[i] == w)
      return;
  if (!circuit_is(l->circuit, w, 1))
    vec_push(&l->rule->guards, w);
}

static bool fits_a_guard(struct lowering *l, wire w, unsigned *size) {
  const struct gate_node *n = node_of(l->circuit, w);
  if (++*size > 300)
    return false;
  for (unsigned i = 0; i < gate_kids(n->gate); i++)
    if (!fits_a_guard(l, node_of(l->circuit, w)->kid[i], size))
      return false;
  return true;
}

void rule_guard_or_assume(struct lowering *l, wire w) {
  struct gate_node n = *node_of(l->circuit, w);
  unsigned size = 0;
  if (n.gate == GATE_AND) {
    rule_guard_or_assume(l, n.kid[0]);
    rule_guard_or_assume(l, n.kid[1]);
  } else if (fits_a_guard(l, w, &size)) {
    rule_guard(l, w);
  } else {
    assume(l, w);
  }
}

void rule_change_allowed(struct lowering *l, uint32_t cell, wire after) {
  if (cell_wire(l, cell) != after)
    vec_push(&l->rule->changes, ((struct cell_change){.cell = cell, .value = after, .condition = NO_WIRE, .index = NO_WIRE}));
}

/* What assignments check has been checked there; round numbers, for one, have no bound but the one we gave them. */
void rule_change(struct lowering *l, uint32_t cell, wire after) {
  struct circuit *c = l->circuit;
  const struct cell *to = &l->program->cells.at[cell];
  const struct gate_node *n = node_of(c, after);
  if (!to->truth && (n->lo < to->lo || n->hi > to->hi)) {
    wire fits = circuit_and(c, circuit_at_most(c, circuit_number(c, to->lo), after), circuit_at_most(c, after, circuit_number(c, to->hi)));
    bool known = false;
    for (size_t i = 0; i < l->rule->failures.n; i++)
      known |= l->rule->failures.at[i].when == circuit_not(c, fits);
    l->path = circuit_truth(c, true);
    if (!known)
      fail_if(l, circuit_not(c, fits), (struct span){0, 0}, "export limit: %s beyond %lld..%lld", to->name, (long long)to->lo, (long long)to->hi);
  }
  rule_change_allowed(l, cell, after);
}

/* Of a value whose cells are known from the state as it is. */
static void change_symbol(struct lowering *l, struct symbol now, struct symbol after) {
  uint32_t n = type_leaves(l, now.type, (struct span){0, 0});
  for (uint32_t i = 0; i < n; i++)
    if (node_of(l->circuit, now.leaf[i])->gate == GATE_CELL)
      rule_change(l, node_of(l->circuit, now.leaf[i])->index, after.leaf[i]);
}

static void change_status(struct lowering *l, wire now, wire after) {
  if (node_of(l->circuit, now)->gate == GATE_CELL)
    rule_change(l, node_of(l->circuit, now)->index, after);
}

void begin_property(struct lowering *l, const struct global_state *before, const struct global_state *after) {
  begin_process(l, 0, NULL, before->globals);
  l->me = UINT32_MAX;
  l->before = before;
  l->after = after;
  l->path = circuit_truth(l->circuit, true);
  l->phase = l->phase_cell != UINT32_MAX ? cell_wire(l, l->phase_cell) : circuit_number(l->circuit, 1);
}

static wire stutters(struct lowering *l) {
  wire same = circuit_truth(l->circuit, true);
  for (size_t i = 0; i < l->rule->changes.n; i++) {
    const struct cell_change *k = &l->rule->changes.at[i];
    if (k->condition == NO_WIRE && l->program->cells.at[k->cell].visible)
      same = circuit_and(l->circuit, same, circuit_equal(l->circuit, cell_wire(l, k->cell), k->value));
  }
  return same;
}

void rule_end(struct lowering *l, const struct global_state *after) {
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
  wire ignored = model_steps(m) ? stutters(l) : circuit_truth(l->circuit, false);
  for (size_t i = 0; i < l->program->properties.n; i++) {
    const struct property *p = l->program->properties.at[i].property;
    wire holds = NO_WIRE;
    if (p->step && l->program->rules.n > 1) {
      begin_property(l, &l->now, after);
      l->path = circuit_not(l->circuit, ignored);
      holds = circuit_or(l->circuit, ignored, lower_truth(l, p->formula));
    }
    vec_push(&l->rule->steps, holds);
  }
  if (l->program->live.property && l->program->rules.n > 1)
    live_rule(l);
  if (l->program->rules.n == 1)
    rule_change(l, l->program->started, circuit_truth(l->circuit, true));
  l->rule->possible = l->possible;
  l->rule = NULL;
}

/* --- initial states --- */

struct symbol first_value(struct lowering *l, const struct var *v, const char *name, wire there) {
  if (v->init) {
    struct symbol s = lower_node(l, v->init);
    lower_check(l, v->type, s, v->init->at, "value");
    return symbol_as(l, s, v->type);
  }
  if (v->kind == VAR_ORACLE || v->kind == VAR_POINT || v->kind == VAR_ONCE)
    return symbol_default(l, v->type);
  wire code = choice_number(l, name, 0, (int64_t)code_count(l, v->type, v->at) - 1);
  assume(l, circuit_or(l->circuit, there, circuit_equal(l->circuit, code, circuit_number(l->circuit, 0))));
  return symbol_of_code(l, v->type, code);
}

static void start_globals(struct lowering *l, struct global_state *s) {
  begin_process(l, 0, NULL, s->globals);
  l->me = UINT32_MAX;
  for (int inputs = 1; inputs >= 0; inputs--)
    for (uint32_t i = 0; i < l->model->nglobals; i++) {
      const struct var *g = &l->model->globals[i];
      if ((g->kind == VAR_INPUT) != inputs)
        continue;
      s->globals[i] = first_value(l, g, g->name, circuit_truth(l->circuit, true));
      if (g->where)
        assume(l, lower_truth(l, g->where));
    }
}

/* Faults that are fixed at the start: the same ones that local_initials knows. */
static void start_faults(struct lowering *l, uint32_t p, struct local_state *s) {
  struct circuit *c = l->circuit;
  const struct environment *env = l->program->environment;
  uint32_t role = model_role_of(l->model, p), n = 1, kinds[32] = {0};
  for (uint32_t i = 0; i < env->nclauses && n < 32; i++) {
    const struct clause *k = &env->clauses[i];
    if ((k->role != ROLE_ANY && k->role != role) || k->limit == 0)
      continue;
    uint32_t bits = k->kind == CLAUSE_BYZANTINE ? 4 : k->kind == CLAUSE_OMIT ? (k->omits_send ? 1u : 0) | (k->omits_receive ? 2u : 0) : 0;
    bool known = bits == 0;
    for (uint32_t j = 0; j < n; j++)
      known |= kinds[j] == bits;
    if (!known)
      kinds[n++] = bits;
  }
  wire fault = choice_number(l, arena_printf(l->arena, "%s_fault", process_name(l, p)), 0, n - 1);
  s->omits_send = s->omits_receive = s->byzantine = circuit_truth(c, false);
  for (uint32_t j = 1; j < n; j++) {
    wire is = circuit_equal(c, fault, circuit_number(c, j));
    if (kinds[j] & 1)
      s->omits_send = circuit_or(c, s->omits_send, is);
    if (kinds[j] & 2)
      s->omits_receive = circuit_or(c, s->omits_receive, is);
    if (kinds[j] & 4)
      s->byzantine = circuit_or(c, s->byzantine, is);
  }
}

static void start_process(struct lowering *l, uint32_t p, struct global_state *s) {
  struct circuit *c = l->circuit;
  const struct role *role = &l->model->roles[model_role_of(l->model, p)];
  struct local_state *self = &s->local[p];
  self->vars = arena_array(l->arena, role->nvars + 1, sizeof *self->vars);
  self->initial = arena_array(l->arena, role->nvars + 1, sizeof *self->initial);
  self->halted = self->crashed = self->recovered = circuit_truth(c, false);
  start_faults(l, p, self);
  begin_process(l, p, self, s->globals);
  l->phase = circuit_number(c, 1);
  wire there = circuit_not(c, self->byzantine);
  l->path = there;
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    const char *name = arena_printf(l->arena, "%s_%s", process_name(l, p), v->name);
    self->vars[i] = first_value(l, v, name, there);
    if (v->where) {
      wire fits = lower_truth(l, v->where);
      assume(l, circuit_or(c, self->byzantine, fits));
      path_and(l, fits); /* nothing need make sense of such an input */
    }
    self->vars[i] = symbol_if(l, there, self->vars[i], symbol_default(l, v->type));
    self->initial[i] = self->vars[i];
  }
  l->path = circuit_truth(c, true);
}

static void start_distinct(struct lowering *l, const struct global_state *s) {
  struct circuit *c = l->circuit;
  for (uint32_t r = 0; r < l->model->nroles; r++) {
    const struct role *role = &l->model->roles[r];
    for (uint32_t i = 0; i < role->nvars; i++)
      for (uint32_t p = role->first; role->vars[i].distinct && p < role->first + role->count; p++)
        for (uint32_t q = p + 1; q < role->first + role->count; q++) {
          wire same = symbol_equal(l, s->local[p].vars[i], s->local[q].vars[i]);
          wire liar = circuit_or(c, s->local[p].byzantine, s->local[q].byzantine);
          assume(l, circuit_or(c, liar, circuit_not(c, same)));
        }
  }
}

static void start_rule(struct lowering *l) {
  struct circuit *c = l->circuit;
  const struct model *m = l->model;
  struct global_state s = {.local = arena_array(l->arena, m->nprocesses + 1, sizeof *s.local),
                           .globals = arena_array(l->arena, m->nglobals + 1, sizeof *s.globals),
                           .rounds = circuit_number(c, 0)};
  wire *faulty = arena_array(l->arena, m->nprocesses + 1, sizeof *faulty);
  rule_begin(l, "start", (struct span){0, 0});
  start_globals(l, &s);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    start_process(l, p, &s);
  start_distinct(l, &s);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    faulty[p] = s.local[p].byzantine;
  assume(l, faults_fit(l, CLAUSE_BYZANTINE, faulty, false));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    faulty[p] = circuit_or(c, s.local[p].omits_send, s.local[p].omits_receive);
  assume(l, faults_fit(l, CLAUSE_OMIT, faulty, false));
  if (l->phase_cell != UINT32_MAX)
    rule_change(l, l->phase_cell, circuit_number(c, 1));
  rule_end(l, &s);
}

/* --- properties --- */

static void properties(struct lowering *l) {
  l->rule = NULL;
  l->program->fine = circuit_truth(l->circuit, true);
  for (size_t i = 0; i < l->program->properties.n; i++) {
    struct program_property *p = &l->program->properties.at[i];
    p->holds = NO_WIRE;
    if (p->property->step)
      continue;
    begin_property(l, &l->now, NULL);
    p->holds = lower_truth(l, p->property->formula);
  }
}

static void note(struct lowering *l, const char *text) { vec_push(&l->program->notes, text); }

static void add_properties(struct lowering *l, const uint32_t *which, uint32_t n, bool runs) {
  for (uint32_t i = 0; i < n; i++) {
    const struct property *p = &l->model->properties[which[i]];
    if (p->kind == PROPERTY_LIVE)
      note(l, arena_printf(l->arena, "left out: '%s', which speaks of infinite runs%s", p->name,
                           runs ? ": it is written if it is the only property asked for" : ""));
    else
      vec_push(&l->program->properties, ((struct program_property){p, property_name(l, p->name), NO_WIRE}));
  }
}

/* --- all of it --- */

/* What the engine does not declare (model/features.h) is refused before anything is written. */
static void check_features(struct lowering *l, enum engine engine) {
  static const enum semantics first[] = {[MODEL_ROUNDS] = SEMANTICS_COARSE, [MODEL_MESSAGES] = SEMANTICS_M,
                                         [MODEL_SHARED] = SEMANTICS_INTERLEAVING, [MODEL_COUNTERS] = SEMANTICS_COARSE};
  const struct program *p = l->program;
  uint32_t *properties = arena_array(l->arena, p->properties.n + 1, sizeof *properties);
  struct question q = {.environment = (uint32_t)(p->environment - l->model->environments),
                       .semantics = first[l->model->kind],
                       .properties = properties,
                       .nproperties = (uint32_t)p->properties.n + (p->live.property ? 1 : 0)};
  for (uint32_t i = 0; i < q.nproperties; i++)
    properties[i] = (uint32_t)((p->live.property ? p->live.property : p->properties.at[i].property) - l->model->properties);
  enum feature lacking;
  struct span at;
  if (features_refused(l->model, &q, engine, &lacking, &at))
    refuse(l, at, "%s cannot be written in this format", feature_text(lacking));
}

/* Clauses are looked for by kind, so one of a kind that nobody looks for would be left out. */
static void check_clauses(struct lowering *l) {
  const struct environment *env = l->program->environment;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    switch (env->clauses[i].kind) {
    case CLAUSE_CRASH:
    case CLAUSE_OMIT:
    case CLAUSE_BYZANTINE:
    case CLAUSE_LOST:
    case CLAUSE_CORRUPTED:
    case CLAUSE_EVERY:
    case CLAUSE_FROM_ROUND:
    case CLAUSE_SYNCHRONOUS:
    case CLAUSE_DUPLICATED:
    case CLAUSE_CHANNELS: continue;
    case CLAUSE_OFTEN: /* of runs, for a live property; of finite runs they say nothing */
    case CLAUSE_FINALLY:
    case CLAUSE_ONCE:
    case CLAUSE_FAIR: continue;
    }
    refuse(l, env->clauses[i].at, "this clause cannot be written in this format");
  }
}

struct program *program_new(struct model *m, uint32_t environment, const uint32_t *which, uint32_t n, uint32_t max_rounds,
                            enum engine engine, struct diags *diags) {
  struct program *p = memory_alloc(sizeof *p);
  bool runs = engine_supports(engine, FEATURE_LIVE);
  jmp_buf refused;
  arena_init(&p->arena);
  circuit_init(&p->circuit);
  p->model = m;
  p->environment = &m->environments[environment];
  struct lowering *l = arena_alloc(&p->arena, sizeof *l);
  *l = (struct lowering){.program = p, .model = m, .circuit = &p->circuit, .arena = &p->arena, .diags = diags,
                         .refused = &refused, .max_rounds = max_rounds};
  bool ok = !setjmp(refused);
  if (ok) {
    l->path = l->possible = circuit_truth(l->circuit, true);
    l->failed = circuit_truth(l->circuit, false);
    if (runs && n == 1 && m->properties[which[0]].kind == PROPERTY_LIVE)
      p->live.property = &m->properties[which[0]];
    else
      add_properties(l, which, n, runs);
    check_features(l, engine);
    check_clauses(l);
    if (p->live.property)
      live_begin(l, which[0], environment);
    declare_cells(l);
    start_rule(l);
    if (model_steps(m))
      lower_steps(l);
    else
      lower_rounds(l);
    properties(l);
    if (p->live.property)
      live_end(l);
    refuse_large(l, (struct span){0, 0});
  }
  vec_release(&l->outbox);
  if (ok)
    return p;
  program_free(p);
  return NULL;
}

void program_free(struct program *p) {
  if (!p)
    return;
  for (size_t i = 0; i < p->rules.n; i++) {
    vec_release(&p->rules.at[i].choices);
    vec_release(&p->rules.at[i].guards);
    vec_release(&p->rules.at[i].failures);
    vec_release(&p->rules.at[i].changes);
    vec_release(&p->rules.at[i].steps);
    vec_release(&p->rules.at[i].meets);
  }
  if (p->live.pool)
    ltl_pool_free(p->live.pool);
  vec_release(&p->live.atoms);
  vec_release(&p->live.assumptions);
  vec_release(&p->cells);
  vec_release(&p->rules);
  vec_release(&p->properties);
  vec_release(&p->notes);
  circuit_release(&p->circuit);
  arena_release(&p->arena);
  memory_free(p);
}
