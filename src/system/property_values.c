#include "system/property_values.h"

#include "system/local_state.h"

#include <string.h>

/* --- caches --- */

void property_cache_init(struct property_cache *c, const struct model *m, const struct node *formula,
                         struct arena *arena) {
  *c = (struct property_cache){.formula = formula, .classes = intern_new(), .views = intern_new()};
  c->reads = formula_reads_of(m, formula, arena);
  intern_put(c->classes, NULL, 0); /* so that no class has number 0 */
}

void property_cache_release(struct property_cache *c) {
  intern_free(c->classes);
  intern_free(c->views);
  vec_release(&c->verdicts);
  vec_release(&c->errors);
}

size_t property_cache_bytes(const struct property_cache *c) {
  return intern_bytes(c->classes) + intern_bytes(c->views) + c->verdicts.cap * sizeof *c->verdicts.at +
         c->errors.cap * sizeof *c->errors.at;
}

#define STATUS_HERE (STATUS_HALTED | STATUS_FAULTY)

uint32_t property_class(struct property_cache *c, const struct model *m, uint32_t r, const value *local) {
  const struct role *role = &m->roles[r];
  uint32_t length = role_local_length(role), n = 0;
  value *seen = memory_alloc((length + 1) * sizeof *seen), status = local[LOCAL_STATUS];
  seen[n++] = r;
  seen[n] = status & ~(value)(STATUS_HERE & ~STATUS_BYZANTINE);
  seen[n++] |= c->reads.status && (status & STATUS_FAULTY) ? STATUS_CRASHED : 0;
  if (c->reads.deadlock) /* who has stopped */
    seen[n - 1] = status;
  for (uint32_t i = 0; i < role->nvars; i++)
    seen[n++] = c->reads.vars[r][i] ? local[LOCAL_VAR(i)] : 0;
  for (uint32_t i = 1 + role->nvars; i < length; i++)
    seen[n++] = c->reads.initials ? local[i] : 0;
  uint32_t class = intern_put(c->classes, seen, n);
  memory_free(seen);
  return class;
}

uint32_t *property_verdict_slot(struct property_cache *c, const value *view, size_t n) {
  uint32_t id = intern_put(c->views, view, n);
  while (c->verdicts.n <= id)
    vec_push(&c->verdicts, 0);
  return &c->verdicts.at[id];
}

uint32_t property_verdict_number(struct property_cache *c, enum verdict3 verdict, const struct model_error *error) {
  if (verdict != V_ERROR)
    return verdict;
  vec_push(&c->errors, *error);
  return V_ERROR + (uint32_t)c->errors.n - 1;
}

/* --- fewer processes --- */

void reduced_model_init(struct reduced_model *d, const struct interpreter *interp) {
  const struct model *m = interp->model;
  d->model = *m;
  d->roles = memory_alloc((m->nroles + 1) * sizeof *d->roles);
  memcpy(d->roles, m->roles, m->nroles * sizeof *d->roles);
  for (uint32_t r = 0; r < m->nroles; r++)
    d->roles[r].count = 0;
  d->model.roles = d->roles;
  d->interp = *interp;
  d->interp.model = &d->model;
}

void reduced_model_number(struct reduced_model *d) {
  uint32_t first = 0;
  for (uint32_t r = 0; r < d->model.nroles; r++) {
    d->roles[r].first = first;
    first += d->roles[r].count;
  }
  d->model.nprocesses = first;
}

void reduced_model_release(struct reduced_model *d, struct interpreter *interp) {
  interp->strings = d->interp.strings;
  interp->scratch = d->interp.scratch;
  memory_free(d->roles);
}

bool one_process_step_holds(struct interpreter *interp, const struct node *formula, uint32_t role, const value *before,
                            const value *after) {
  struct reduced_model d;
  reduced_model_init(&d, interp);
  d.roles[role].count = 1;
  reduced_model_number(&d);
  struct config *b = config_new(&d.model), *a = config_new(&d.model);
  size_t length = role_local_length(&d.roles[role]) * sizeof *before;
  memcpy(b->local[0], before, length);
  memcpy(a->local[0], after, length);
  local_fill_dont_care(&d.model, role, b->local[0]);
  local_fill_dont_care(&d.model, role, a->local[0]);
  bool holds = config_holds(&d.interp, formula, b, a, NULL) == V_TRUE;
  config_free(b);
  config_free(a);
  reduced_model_release(&d, interp);
  return holds;
}

/* --- steps --- */

uint64_t broken_step_properties(struct interpreter *interp, const struct query *q, uint64_t which,
                                const struct config *before, const struct config *after) {
  const struct model *m = interp->model;
  uint64_t broken = 0;
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct property *p = &m->properties[q->properties[i]];
    if (p->step && (which >> i & 1) && config_holds(interp, p->formula, before, after, NULL) != V_TRUE)
      broken |= UINT64_C(1) << i;
  }
  return broken;
}
