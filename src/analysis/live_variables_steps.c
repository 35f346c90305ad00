/* Live variables of models of steps: a backward pass over program points, up to a fixed point. */
#include "analysis/action_use.h"

#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"
#include "base/memory.h"

#include <string.h>

struct step_liveness_pass {
  const struct model *model;
  const struct role *role;
  bool **live; /* by label, by variable */
  bool *idle;
  bool crashes, recovers;
};

static bool add_all(bool *to, const bool *from, uint32_t n) {
  bool grew = false;
  for (uint32_t i = 0; i < n; i++) {
    grew |= from[i] && !to[i];
    to[i] |= from[i];
  }
  return grew;
}

/* The live variables before an action that is taken at that label. The guard is evaluated first, then the program point
   and `once` change, then the body is executed. */
static void action_before(const struct step_liveness_pass *p, const struct action *a, uint32_t label, bool *matters) {
  const struct role *role = p->role;
  struct flow flow = {.model = p->model, .mode = FLOW_LIVENESS, .nvars = role->nvars};
  uint32_t npoints = role_npoints(role);
  bool *after = memory_alloc(npoints + 1);
  flow.halted = p->idle;
  action_next_points(role, a, label, after);
  for (uint32_t i = 0; i < npoints; i++)
    if (after[i])
      add_all(matters, p->live[i], role->nvars);
  memory_free(after);
  flow_block(&flow, &a->body, matters);
  if (a->once != NO_SLOT)
    matters[a->once] = true;
  flow_node(&flow, a->match, matters);
  flow_node(&flow, a->size, matters);
  flow_guard(&flow, &a->guard, matters);
}

/* The live variables of a crashed process that may recover: first values are computed in order of declaration, and the
   process continues at the first point after `start`. */
static void recovery_before(const struct step_liveness_pass *p, bool *matters) {
  const struct role *role = p->role;
  struct flow flow = {.model = p->model, .mode = FLOW_LIVENESS, .nvars = role->nvars};
  uint32_t first = role_starts(role) ? 1 : 0;
  memcpy(matters, p->live[first], role->nvars);
  for (uint32_t i = role->nvars; i-- > 0;)
    if (var_is_volatile(&role->vars[i])) {
      matters[i] = false;
      if (role->vars[i].init)
        flow_node(&flow, role->vars[i].init, matters);
    }
}

static bool update_label(struct step_liveness_pass *p, uint32_t label) {
  const struct role *role = p->role;
  bool *matters = memory_alloc(role->nvars + 1), grew = false;
  for (uint32_t i = 0; i < role->nactions; i++) {
    if (!action_at_point(role, &role->actions[i], label))
      continue;
    memset(matters, 0, role->nvars);
    action_before(p, &role->actions[i], label, matters);
    grew |= add_all(p->live[label], matters, role->nvars);
  }
  if (p->crashes)
    grew |= add_all(p->live[label], p->idle, role->nvars);
  memory_free(matters);
  return grew;
}

static void live_in_role(struct step_liveness_pass *p) {
  const struct role *role = p->role;
  uint32_t npoints = role_npoints(role);
  bool *matters = memory_alloc(role->nvars + 1), grew;
  for (uint32_t label = 0; label < npoints && role->point_var != NO_VAR; label++)
    p->live[label][role->point_var] = true;
  if (role->point_var != NO_VAR && p->recovers)
    p->idle[role->point_var] = true;
  do {
    grew = false;
    for (uint32_t label = npoints; label-- > 0;)
      grew |= update_label(p, label);
    if (p->recovers) { /* at any time */
      recovery_before(p, matters);
      grew |= add_all(p->idle, matters, role->nvars);
    }
  } while (grew);
  memory_free(matters);
}

struct step_live_variables *step_live_variables_of(const struct model *m, const struct query *q, struct arena *arena) {
  struct step_live_variables *out = arena_alloc(arena, sizeof *out);
  struct arena scratch;
  arena_init(&scratch);
  const struct action_uses *use = action_uses_of(m, q, &scratch);
  out->live = arena_array(arena, m->nroles + 1, sizeof *out->live);
  out->idle = arena_array(arena, m->nroles + 1, sizeof *out->idle);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    uint32_t npoints = role_npoints(role);
    out->live[r] = arena_array(arena, npoints + 1, sizeof **out->live);
    for (uint32_t i = 0; i < npoints; i++)
      out->live[r][i] = arena_array(arena, role->nvars + 1, sizeof ***out->live);
    out->idle[r] = arena_array(arena, role->nvars + 1, sizeof **out->idle);
    memcpy(out->idle[r], use->property_reads[r], role->nvars);
    struct step_liveness_pass p = {
        m, role, out->live[r], out->idle[r], environment_has_fault(m, q, CLAUSE_CRASH), role_recovers(m, q, r)};
    for (uint32_t i = 0; i < npoints; i++)
      property_reads_at(m, q, r, i, out->live[r][i]);
    live_in_role(&p);
  }
  arena_release(&scratch);
  return out;
}
