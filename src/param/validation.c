#include "param/validation_internal.h"

#include "base/memory.h"
#include "interp/eval.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIGS_MAX = 20000 };

void validation_release(struct validation *c) { text_release(&c->difference); }

/* ---- differences ---- */

static bool differ(struct validator *c, const char *what, const int64_t *from, const int64_t *to) {
  struct text *t = &c->out->difference;
  if (t->n) /* only the first difference is reported */
    return false;
  text_add(t, what);
  for (uint32_t i = 0; i < c->m->nparams; i++)
    text_addf(t, "%s%s = %" PRId64, i ? ", " : " with ", c->m->params[i].name, c->params[i]);
  if (from) {
    text_add(t, to ? "\n  before: " : "\n  state: ");
    validation_state_print(c, from, t);
  }
  if (to) {
    text_add(t, "\n  after: ");
    validation_state_print(c, to, t);
  }
  return false;
}

/* ---- configurations ---- */

static bool local_less(const value *one, const value *other, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (one[i] != other[i])
      return one[i] < other[i];
  return false;
}

/* Insertion sort: there are few processes. */
static void sort_locals(value **local, size_t n, size_t length) {
  for (size_t i = 1; i < n; i++)
    for (size_t k = i; k > 0 && local_less(local[k], local[k - 1], length); k--) {
      value *other = local[k];
      local[k] = local[k - 1];
      local[k - 1] = other;
    }
}

/* For the search: numbers of phases matter only as far as they are compared. */
static struct config *known_view(const struct validator *c, const struct config *config, struct phase_state phase) {
  struct config *view = validation_view(c, config, phase, validation_place(c, config), NULL);
  const struct role *role = &c->m->roles[0];
  for (uint32_t p = 0; p < config->nprocesses && c->dv->ages; p++)
    for (uint32_t i = 0; i < role->nvars; i++)
      if (c->dv->ages[i])
        view->local[p][LOCAL_VAR(i)] = validation_age_rank(c, config, phase.since, config->local[p][LOCAL_VAR(i)]);
  return view;
}

/* Configurations that differ only in the order of processes are equal here. Each was compared before this test, so it
   does not matter which one is expanded. */
static bool is_new_config(struct validator *c, const struct config *config, uint32_t stage, struct phase_state phase) {
  size_t length = c->dv->length, n = config->nprocesses, old = intern_count(c->known);
  int64_t *key = memory_alloc((n * length + 5) * sizeof *key);
  value **sorted = memory_alloc((n + 1) * sizeof *sorted);
  struct config *view = known_view(c, config, phase);
  memcpy(sorted, view->local, n * sizeof *sorted);
  sort_locals(sorted, n, length);
  key[0] = config->point;
  key[1] = config->lost;
  key[2] = config->corrupted;
  key[3] = stage;
  key[4] = c->dv->ages ? 1 + validation_age_rank(c, config, phase.since, phase.since) : 0;
  for (size_t p = 0; p < n; p++)
    memcpy(key + 5 + p * length, sorted[p], length * sizeof *key);
  intern_put(c->known, key, n * length + 5);
  config_free(view);
  memory_free(sorted);
  memory_free(key);
  return intern_count(c->known) > old;
}

static bool is_unsafe(const struct validator *c, const int64_t *state) {
  int64_t *copy = memory_alloc((validation_state_width(c) + 1) * sizeof *copy);
  memcpy(copy, state, validation_state_width(c) * sizeof *copy);
  struct counter_state s = {copy, copy + c->s->ncounters};
  bool unsafe = counter_unsafe(c->s, &c->s->properties[0], c->params, &s);
  memory_free(copy);
  return unsafe;
}

static const struct property *property_in(const struct validator *c) { return &c->m->properties[c->property]; }

/* Adds a configuration and its state of the counter system. */
static bool visit(struct validator *c, const struct config *config, const int64_t *state, struct phase_state phase) {
  struct model_error error;
  const struct property *p = property_in(c);
  uint32_t stage = validation_stage(c, state);
  enum verdict3 holds = p->step       ? V_TRUE
                        : c->liveness ? validation_live_holds(c, config, stage)
                                      : config_holds(c->interp, p->formula, config, NULL, &error);
  if (holds == V_ERROR)
    return differ(c, "the property fails in a state", state, NULL);
  if (holds == V_FALSE && !is_unsafe(c, state))
    return differ(c, "a state violates the property, and its counts are not unsafe", state, NULL);
  if (!is_new_config(c, config, stage, phase))
    return true;
  c->out->states++;
  if (c->configs.n >= CONFIGS_MAX) {
    c->out->cut = true;
  } else if (config->point != POINT_END && !(p->step && is_unsafe(c, state))) {
    vec_push(&c->configs, config_copy(c->m, config));
    vec_push(&c->phases, phase);
    vec_push(&c->states, intern_put(c->systems, state, validation_state_width(c)));
  }
  return true;
}

static bool is_flag(const struct validator *c, uint32_t control) {
  for (uint32_t l = 0; l < c->dv->locals.n; l++)
    if (c->dv->counter.at[l] == NO_COUNTER && !derived_leads(c->dv, l) && c->dv->flag.at[l] == control)
      return true;
  return false;
}

/* Finds a start for the configuration. Its flags may be set for local states that are not occupied. */
static bool find_start(const struct validator *c, int64_t *state) {
  const struct counter_graph *g = c->graph;
  int64_t *controls = state + c->s->ncounters;
  int64_t *there = memory_alloc((c->s->ncontrols + (size_t)1) * sizeof *there);
  bool found = false;
  memcpy(there, controls, c->s->ncontrols * sizeof *there);
  for (size_t l = 0; l < g->locations.n && !found; l++) {
    const int64_t *at = g->locations.at[l].controls.at[0];
    found = g->locations.at[l].start.n > 0;
    for (uint32_t i = 0; i < c->s->ncontrols && found; i++)
      found = at[i] == there[i] || (is_flag(c, i) && at[i] > there[i]);
    if (!found)
      continue;
    memcpy(controls, at, c->s->ncontrols * sizeof *controls);
    struct counter_state s = {state, controls};
    found = counter_starts(c->s, &c->s->properties[0], c->params, &s);
  }
  if (!found)
    memcpy(controls, there, c->s->ncontrols * sizeof *controls);
  memory_free(there);
  return found;
}

static bool on_initial(void *context, const struct config *config) {
  struct validator *c = context;
  int64_t *state = memory_alloc((validation_state_width(c) + 1) * sizeof *state);
  bool ok = !validator_stopped(c);
  if (ok && c->liveness && !validation_live_begins(c, config)) {
    memory_free(state);
    return true;
  }
  const struct phase_state before = {NO_LEADER, 0};
  struct config *view = validation_view(c, config, before, PHASE_BETWEEN, NULL);
  if (ok && !(ok = validation_state(c, view, state)))
    differ(c, "an initial state has a local state that was not derived", NULL, NULL);
  if (ok && !(ok = find_start(c, state)))
    differ(c, "an initial state is no start of the counter system", state, NULL);
  ok = ok && visit(c, config, state, before);
  config_free(view);
  memory_free(state);
  return ok;
}

/* ---- steps ---- */

struct step_match {
  struct validator *c;
  const struct config *before;
  const int64_t *from;
  uint32_t from_name;
  const struct liveness_edge *edge; /* of a live property; or NULL */
  struct phase_state phase;
  value *beliefs; /* by process: its coordinator */
};

/* The id of the pair; *old: it was matched before. */
static uint32_t step_pair(struct step_match *s, const int64_t *to, bool bad, bool *old) {
  struct validator *c = s->c;
  size_t width = validation_state_width(c), before = intern_count(c->pairs);
  int64_t *key = memory_alloc((width + 2) * sizeof *key);
  key[0] = s->from_name;
  key[1] = bad;
  memcpy(key + 2, to, width * sizeof *key);
  uint32_t name = intern_put(c->pairs, key, width + 2);
  memory_free(key);
  *old = intern_count(c->pairs) == before;
  return name;
}

static bool is_leading(const struct validator *c, uint32_t control) {
  for (uint32_t l = 0; l < c->dv->locals.n; l++)
    if (derived_leads(c->dv, l) && c->dv->flag.at[l] == control)
      return true;
  return false;
}

/* From the state to that of the view, by an election or by aging: *from becomes it. */
static bool begin_phase(struct step_match *s, enum phase_place place, int64_t *from) {
  struct validator *c = s->c;
  size_t width = validation_state_width(c), n = c->s->ncounters;
  int64_t *to = memory_alloc((width + 1) * sizeof *to), *end = memory_alloc((width + 1) * sizeof *end);
  struct config *view = validation_view(c, s->before, s->phase, place, s->beliefs);
  bool ok = validation_state(c, view, to);
  if (!ok)
    differ(c, "the beginning of a phase leads to a local state that was not derived", s->from, NULL);
  for (uint32_t i = 0; i < c->s->ncontrols; i++)
    if (!is_leading(c, i))
      to[n + i] = from[n + i];
  if (place == PHASE_ELECTED)
    to[n + c->dv->elected] = 1;
  if (place == PHASE_AGED) {
    to[n + c->dv->aged] = 1;
    to[n + c->dv->began] = validation_fixed(s->phase, s->before->phase);
  }
  if (ok && !(ok = validation_round_leads(c, from, to, false, end)) && !validator_stopped(c))
    differ(c,
           place == PHASE_AGED ? "numbers of phases age otherwise in the counter system"
                               : "an election of the algorithm is none of the counter system",
           from, to);
  if (ok)
    memcpy(from, end, width * sizeof *from);
  config_free(view);
  memory_free(to);
  memory_free(end);
  return ok;
}

/* From the configuration before the step, after what begins the phase, if anything does. */
static bool match_step(struct step_match *s, const struct config *after, const int64_t *to, bool bad, int64_t *end) {
  struct validator *c = s->c;
  int64_t *from = memory_alloc((validation_state_width(c) + 1) * sizeof *from);
  memcpy(from, s->from, validation_state_width(c) * sizeof *from);
  bool ok = (!validation_ages(c, s->before) || begin_phase(s, PHASE_AGED, from)) &&
            (!validation_elects(c, s->before) || begin_phase(s, PHASE_ELECTED, from));
  struct config *before = validation_view(c, s->before, s->phase, PHASE_ELECTED, s->beliefs);
  ok = ok && validation_match_step(c, from, before, after, to, bad, end);
  config_free(before);
  memory_free(from);
  return ok;
}

/* The state of the configuration after the step. */
static bool state_after(struct step_match *s, const struct config *after, int64_t *to) {
  struct validator *c = s->c;
  bool inside = !c->m->points[s->before->point].phase_end;
  int64_t *controls = to + c->s->ncounters;
  const int64_t *old = s->from + c->s->ncounters;
  if (!validation_state(c, after, to))
    return differ(c, "a step leads to a local state that was not derived", s->from, NULL);
  if (c->liveness)
    to[c->s->ncounters + (size_t)c->dv->stage] = s->edge->to;
  if (c->dv->elected != UINT32_MAX)
    controls[c->dv->elected] = inside && (validation_elects(c, s->before) || old[c->dv->elected]);
  if (c->dv->ages) {
    controls[c->dv->aged] = inside && (validation_ages(c, s->before) || old[c->dv->aged]);
    controls[c->dv->began] = validation_fixed(s->phase, s->before->phase);
  }
  return true;
}

static bool step_to(struct step_match *s, const struct config *after, int64_t *to, int64_t *end) {
  struct validator *c = s->c;
  struct model_error error;
  const struct property *p = property_in(c);
  enum verdict3 holds = p->step ? config_holds(c->interp, p->formula, s->before, after, &error) : V_TRUE;
  bool bad = holds == V_FALSE, old = false;
  struct phase_state phase = s->phase;
  if (c->m->points[s->before->point].phase_end)
    phase.leader = NO_LEADER;
  struct config *view = validation_view(c, after, phase, validation_place(c, after), NULL);
  uint32_t pair = 0;
  bool ok = state_after(s, view, to);
  if (ok && holds == V_ERROR)
    ok = differ(c, "the property fails in a step", s->from, to);
  if (ok)
    pair = step_pair(s, to, bad, &old);
  if (ok && !old) {
    ok = match_step(s, view, to, bad, end);
    if (!ok && !validator_stopped(c)) /* when stopped, the result is unknown */
      differ(c,
             bad ? "a step that violates the property is none of the counter system, or does not "
                   "violate it there"
                 : "a step of the algorithm is none of the counter system",
             s->from, to);
    if (ok && bad && !is_unsafe(c, end))
      ok = differ(c, "a step violates the property, and its counts are not unsafe", s->from, to);
    if (ok)
      vec_push(&c->ends, intern_put(c->systems, end, validation_state_width(c)));
  }
  config_free(view);
  if (!ok)
    return false;
  c->out->steps++;
  return visit(c, after, intern_at(c->systems, c->ends.at[pair]), phase);
}

static bool on_step(void *context, const struct witness *witness, enum step_result result, const struct config *next,
                    const struct model_error *error) {
  struct step_match *s = context;
  struct validator *c = s->c;
  (void)error;
  if (validator_stopped(c))
    return false;
  if (result != STEP_OK)
    return differ(c, "the algorithm fails in a step, and the counter system leaves that out", s->from, NULL);
  if (s->edge && s->edge->missed && validation_live_reaches(c, next)) /* the product has only runs that do not */
    return true;
  struct phase_state phase = s->phase;
  if (c->dv->leader != UINT32_MAX)
    validation_beliefs(c, s->before, witness, s->beliefs);
  if (validation_elects(c, s->before))
    s->phase.leader = validation_leader(c, s->before, s->beliefs);
  bool ok = true;
  bool ages = validation_ages(c, s->before), fits = true;
  if (ages && validation_fixed(phase, s->before->phase - 1) != FIXED_OVER) /* else another phase is the fixed one */
    fits = validation_unchanged(c, s->before) == !phase.since;
  for (int begins = 0; begins <= (ages && !phase.since) && ok && fits; begins++) {
    int64_t *to = memory_alloc((validation_state_width(c) + 1) * sizeof *to);
    int64_t *end = memory_alloc((validation_state_width(c) + 1) * sizeof *end);
    if (begins)
      s->phase.since = s->before->phase;
    ok = step_to(s, next, to, end);
    memory_free(to);
    memory_free(end);
  }
  s->phase = phase;
  return ok;
}

/* Live properties: the rounds of each kind that may follow. Good rounds first, because there are fewer of them. */
static void follow_edges(struct step_match *s) {
  struct validator *c = s->c;
  for (int plain = 0; plain <= 1; plain++)
    for (uint32_t i = 0; i < c->liveness->nedges && !c->out->difference.n && !validator_stopped(c); i++) {
      const struct liveness_edge *e = &c->liveness->edges[i];
      const struct liveness_rules *rules = &c->liveness->rules[e->rules];
      if ((rules->n == 0) != plain || !validation_live_allows(c, s->before, s->from, e))
        continue;
      s->edge = e;
      c->interp->fixed_coin = e->coin;
      config_successors(c->interp, rules->environment, s->before, on_step, s);
      c->interp->fixed_coin = 0;
    }
}

/* ---- an instance ---- */

static void instance_init(struct validator *c, struct interpreter *interp) {
  const struct round_shape *shape = c->shape;
  c->interp = interp;
  c->m = interp->model;
  c->last_pass = shape->first;
  while (shape->passes && c->last_pass + shape->rounds < c->m->npoints &&
         c->m->points[c->last_pass + shape->rounds].loop == c->m->points[c->last_pass].loop + 1)
    c->last_pass += shape->rounds;
  c->params = memory_alloc((c->s->nparams + (size_t)1) * sizeof *c->params);
  c->texts = intern_new();
  c->locals = intern_new();
  c->known = intern_new();
  c->systems = intern_new();
  c->pairs = intern_new();
  interpreter_watch(interp, c->stop);
}

static void instance_release(struct validator *c) {
  interpreter_watch(c->interp, NULL);
  for (size_t i = 0; i < c->configs.n; i++)
    config_free(c->configs.at[i]);
  vec_clear(&c->configs);
  vec_clear(&c->states);
  vec_clear(&c->phases);
  vec_clear(&c->local_of);
  vec_clear(&c->ends);
  intern_free(c->texts);
  intern_free(c->locals);
  intern_free(c->known);
  intern_free(c->systems);
  intern_free(c->pairs);
  memory_free(c->params);
  c->params = NULL;
}

bool validate_instance(struct validator *c, struct interpreter *interp, const struct liveness *live,
                       struct validation *out) {
  c->out = out;
  c->liveness = live;
  instance_init(c, interp);
  out->instances++;
  if (c->m->nprocesses > out->processes)
    out->processes = c->m->nprocesses;
  if (!validation_params(c)) {
    if (!validator_stopped(c))
      differ(c, "the conditions on the parameters do not hold in an instance", NULL, NULL);
  } else {
    struct model_error error = {0};
    config_initials(interp, c->environment, on_initial, c, &error);
    if (error.message)
      differ(c, "the algorithm fails in a first value, and the counter system leaves that out", NULL, NULL);
    for (size_t i = 0; i < c->configs.n && !out->difference.n && !validator_stopped(c); i++) {
      struct step_match s = {c,
                             c->configs.at[i],
                             intern_at(c->systems, c->states.at[i]),
                             c->states.at[i],
                             NULL,
                             c->phases.at[i],
                             memory_alloc((c->m->nprocesses + (size_t)1) * sizeof *s.beliefs)};
      if (c->liveness)
        follow_edges(&s);
      else
        config_successors(interp, c->environment, s.before, on_step, &s);
      memory_free(s.beliefs);
    }
  }
  out->cut |= validator_stopped(c);
  instance_release(c);
  return out->difference.n == 0;
}

/* ---- the validator ---- */

/* Sorts the transitions by their source location. */
static void index_transitions(struct validator *c) {
  const struct counter_graph *g = c->graph;
  uint32_t most = g->nvars;
  for (size_t l = 0; l < g->locations.n; l++) {
    intern_put(c->locations, g->locations.at[l].controls.at[0], c->s->ncontrols);
    vec_push(&c->first, c->ordered.n);
    for (size_t i = 0; i < g->transitions.n; i++)
      if (g->transitions.at[i].from == l)
        vec_push(&c->ordered, i);
  }
  vec_push(&c->first, c->ordered.n);
  for (size_t i = 0; i < g->transitions.n; i++)
    if (g->transitions.at[i].guard.width > most)
      most = g->transitions.at[i].guard.width;
  solver_variables(c->solver, most);
}

struct validator *validator_new(const struct derivation *dv, const struct round_shape *shape, const struct query *q,
                                const volatile sig_atomic_t *stop) {
  struct validator *c = memory_alloc(sizeof *c);
  struct text why = {0};
  *c = (struct validator){.dv = dv,
                          .s = dv->system,
                          .shape = shape,
                          .environment = q->environment,
                          .property = q->properties[0],
                          .stop = stop,
                          .last = SIZE_MAX,
                          .violated = dv->violated};
  c->graph = counter_graph_unfold(c->s, &c->s->properties[0], shape->open, stop, &why);
  text_release(&why);
  if (!c->graph) {
    memory_free(c);
    return NULL;
  }
  c->solver = solver_new();
  solver_watch(c->solver, stop);
  c->locations = intern_new();
  index_transitions(c);
  return c;
}

void validator_free(struct validator *c) {
  if (!c)
    return;
  vec_release(&c->first);
  vec_release(&c->ordered);
  vec_release(&c->configs);
  vec_release(&c->states);
  vec_release(&c->phases);
  vec_release(&c->local_of);
  vec_release(&c->ends);
  intern_free(c->locations);
  solver_free(c->solver);
  counter_graph_free(c->graph);
  memory_free(c);
}
