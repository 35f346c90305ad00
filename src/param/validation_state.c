/* Configurations of the interpreter as states of the counter system: the number of processes in each local state.
   Different instances intern values differently, so values are compared in printed form. */
#include "param/validation_internal.h"

#include "base/memory.h"

#include <string.h>

static uint32_t text_name(struct validator *c, const struct text *t) {
  int64_t *at = memory_alloc((t->n + (size_t)1) * sizeof *at);
  for (size_t i = 0; i < t->n; i++)
    at[i] = (unsigned char)t->at[i];
  uint32_t name = intern_put(c->texts, at, t->n);
  memory_free(at);
  return name;
}

static const struct type *type_at(const struct role *role, uint32_t i) {
  if (i <= role->nvars)
    return role->vars[i - 1].type;
  for (uint32_t v = 0; v < role->nvars; v++)
    if (role->vars[v].kind == VAR_INPUT && role_initial_at(role, v) == i)
      return role->vars[v].type;
  return NULL;
}

uint32_t validation_value_name(struct validator *c, const struct model *m, uint32_t i, value v) {
  struct text t = {0};
  const struct type *type = type_at(&m->roles[0], i);
  if (type)
    value_print(&m->values, m, type, v, &t);
  uint32_t name = text_name(c, &t);
  text_release(&t);
  return name;
}

/* The entry of a local state of the instance: it may lack the variable that names the coordinator. */
static uint32_t instance_entry(const struct validator *c, uint32_t i) {
  const struct role *role = &c->dv->model->roles[0];
  return i > role->nvars && c->m->roles[0].nvars < role->nvars ? i - 1 : i;
}

/* Is this the derived local state, ignoring what the derivation does not keep? */
static bool is_local_state(struct validator *c, uint32_t l, uint32_t point, const value *local) {
  const struct derivation *dv = c->dv;
  const value *derived = dv->locals.at[l];
  uint32_t part = dv->parts.at[l];
  if (derived[LOCAL_STATUS] != local[LOCAL_STATUS])
    return false;
  for (uint32_t i = 1; i < dv->length; i++) {
    if (!derived_keeps(dv, point, part, local[LOCAL_STATUS], i)) {
      if (derived[i] != derived_default(dv, i))
        return false;
    } else if (i == LOCAL_VAR(dv->leader)) {
      if (derived[i] != derived_class(dv, part, local[i]))
        return false;
    } else if ((dv->ages && i <= dv->model->roles[0].nvars && dv->ages[i - 1])) {
      if (derived[i] != local[i]) /* the same in every instance */
        return false;
    } else if (validation_value_name(c, dv->model, i, derived[i]) !=
               validation_value_name(c, c->m, instance_entry(c, i), local[i])) {
      return false;
    }
  }
  return true;
}

/* ---- rounds ---- */

static uint32_t last_pass(const struct model *m, const struct round_shape *shape) {
  uint32_t p = shape->first, rounds = shape->rounds;
  while (p + rounds < m->npoints && m->points[p + rounds].loop == m->points[p].loop + 1)
    p += rounds;
  return p;
}

uint32_t validation_point(const struct validator *c, uint32_t point) {
  const struct round_shape *shape = c->shape;
  if (!shape->passes || point == POINT_END || point < shape->first)
    return point;
  if (point < c->last_pass)
    return shape->first + (point - shape->first) % shape->rounds;
  return last_pass(c->dv->model, shape) + (point - c->last_pass);
}

static int64_t passes_in(const struct validator *c, uint32_t point) {
  const struct round_shape *shape = c->shape;
  if (point != POINT_END && point < shape->first)
    return 0;
  uint32_t at = point < c->last_pass ? point : c->last_pass;
  return (at - shape->first) / shape->rounds;
}

/* ---- states ---- */

uint32_t validation_local(struct validator *c, uint32_t point, uint32_t part, const value *local) {
  const struct derivation *dv = c->dv;
  int64_t *key = memory_alloc((dv->length + (size_t)2) * sizeof *key);
  key[0] = point;
  key[1] = part;
  memcpy(key + 2, local, dv->length * sizeof *key);
  uint32_t name = intern_put(c->locals, key, dv->length + (size_t)2);
  memory_free(key);
  if (name == c->local_of.n) {
    uint32_t found = UINT32_MAX, at = validation_point(c, point);
    for (uint32_t l = 0; l < dv->locals.n && found == UINT32_MAX; l++)
      if (dv->parts.at[l] == part && is_local_state(c, l, at, local))
        found = l;
    vec_push(&c->local_of, found);
  }
  return c->local_of.at[name];
}

bool validation_state(struct validator *c, const struct config *config, int64_t *state) {
  const struct derivation *dv = c->dv;
  int64_t *counters = state, *controls = state + c->s->ncounters;
  memset(state, 0, validation_state_width(c) * sizeof *state);
  for (uint32_t p = 0; p < config->nprocesses; p++)
    for (uint32_t part = 0; part < dv->nparts; part++) {
      if (!part_exists(dv, part))
        continue;
      uint32_t l = validation_local(c, config->point, part, config->local[p]);
      if (l == UINT32_MAX)
        return false;
      if (dv->counter.at[l] != NO_COUNTER)
        counters[dv->counter.at[l]]++;
      else
        controls[dv->flag.at[l]] = 1;
    }
  if (dv->passes != NO_COUNTER)
    counters[dv->passes] = passes_in(c, config->point);
  if (dv->where != UINT32_MAX)
    controls[dv->where] = derived_round(dv, validation_point(c, config->point));
  return true;
}

bool validation_params(struct validator *c) {
  const struct counter_graph *g = c->graph;
  for (uint32_t i = 0; i < c->m->nparams; i++)
    c->params[i] = c->m->params[i].value;
  solver_push(c->solver); /* quotient parameters follow from the others */
  solver_add_any(c->solver, g->conditions.at, g->conditions.n, NULL);
  for (uint32_t i = 0; i < g->nparams; i++)
    if (g->param[i] < c->m->nparams)
      solver_add_value(c->solver, i, c->params[g->param[i]]);
  bool ok = solver_check(c->solver) == ANSWER_YES;
  for (uint32_t i = 0; i < g->nparams && ok; i++)
    if (g->param[i] >= c->m->nparams)
      ok = solver_value(c->solver, i, &c->params[g->param[i]]);
  solver_pop(c->solver);
  return ok && counter_params_hold(c->s, c->shape->open, c->params);
}

void validation_state_print(const struct validator *c, const int64_t *state, struct text *out) {
  const char *comma = "";
  for (uint32_t i = 0; i < c->s->ncounters; i++)
    if (state[i]) {
      text_addf(out, "%s%s = %lld", comma, c->s->counters[i].name, (long long)state[i]);
      comma = ", ";
    }
  for (uint32_t i = 0; i < c->s->ncontrols; i++) {
    text_addf(out, "%s%s = ", comma, c->s->controls[i].name);
    control_value_print(&c->s->controls[i], state[c->s->ncounters + i], out);
    comma = ", ";
  }
}
