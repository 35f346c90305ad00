/* Who leads in a configuration of an instance: a coordinator becomes a class (enum leader_class), as in the derivation.
 */
#include "param/validation_internal.h"

#include "base/memory.h"
#include "interp/local.h"

#include <string.h>

static bool is_active(const struct config *config, uint32_t p) {
  return p < config->nprocesses && process_active(config->local[p][LOCAL_STATUS]);
}

/* Of a process that takes part. */
static value class_of(const struct validator *c, uint32_t p, uint32_t leader, value belief) {
  if (p == leader)
    return LEADER_LEADS;
  if (!c->dv->rivals || belief == (value)leader)
    return LEADER_FOLLOWS;
  return belief == (value)p ? LEADER_RIVAL : LEADER_OTHER;
}

struct config *validation_view(const struct validator *c, const struct config *config, uint32_t leader,
                               const value *beliefs) {
  struct config *view = config_copy(c->m, config);
  uint32_t var = c->dv->leader;
  bool inside = config->point != POINT_END && (beliefs || !c->m->points[config->point].phase_start);
  for (uint32_t p = 0; p < config->nprocesses && var != UINT32_MAX; p++) {
    value belief = beliefs ? beliefs[p] : config->local[p][LOCAL_VAR(var)];
    view->local[p][LOCAL_VAR(var)] =
        inside && is_active(config, p) ? class_of(c, p, leader, belief) : LEADER_FOLLOWS;
  }
  return view;
}

bool validation_elects(const struct validator *c, const struct config *config) {
  return c->dv->leader != UINT32_MAX && config->point != POINT_END && c->m->points[config->point].phase_start &&
         c->dv->leader_matters[validation_point(c, config->point)];
}

void validation_beliefs(const struct validator *c, const struct config *config, const struct witness *witness,
                        value *beliefs) {
  uint32_t var = c->dv->leader;
  for (uint32_t p = 0; p < config->nprocesses; p++) {
    const value *chosen = oracle_choice(c->m, config, witness, p, var);
    beliefs[p] = chosen ? *chosen : config->local[p][LOCAL_VAR(var)];
  }
}

uint32_t validation_leader(const struct validator *c, const struct config *config, const value *beliefs) {
  for (uint32_t p = 0; p < config->nprocesses; p++) {
    uint32_t believers = 0, q = (uint32_t)beliefs[p];
    if (!is_active(config, p) || !is_active(config, q))
      continue;
    if (!c->dv->rivals)
      return q;
    for (uint32_t i = 0; i < config->nprocesses; i++)
      believers += is_active(config, i) && beliefs[i] == (value)q;
    if (beliefs[q] == (value)q && 2 * believers > config->nprocesses)
      return q;
  }
  return NO_LEADER;
}
