#include "analysis/deadlock.h"

/* Can the step always be taken, as long as there is room for what it sends? A `start` always can. */
static bool is_always_open(const struct role *role, uint32_t point) {
  for (uint32_t i = 0; i < role->nactions; i++) {
    const struct action *a = &role->actions[i];
    if (a->point == point && a->trigger == TRIGGER_NONE && a->guard.ngen == 0 && !a->guard.cond && a->once == NO_SLOT)
      return true;
  }
  return false;
}

bool deadlock_possible(const struct model *m, uint32_t environment) {
  const struct environment *env = &m->environments[environment];
  if (!model_steps(m))
    return false;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CHANNELS && env->clauses[i].bound > 0)
      return true;
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    uint32_t n = role->point_var == NO_VAR ? 0 : role->vars[role->point_var].type->size;
    for (uint32_t point = 0; point < n; point++)
      if (!role->final[point] && !is_always_open(role, point))
        return true;
  }
  return false;
}
