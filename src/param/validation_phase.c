/* Phases of an instance as the derivation has them: a coordinator becomes a class (enum leader_class), the number of a
   phase an age (model/ages.h). The file may write the coordinator as P(ph), where the derivation has an oracle. */
#include "param/validation_internal.h"

#include "base/memory.h"
#include "interp/local.h"
#include "model/ages.h"

#include <string.h>

static bool is_active(const struct config *config, uint32_t p) {
  return p < config->nprocesses && process_active(config->local[p][LOCAL_STATUS]);
}

enum phase_place validation_place(const struct validator *c, const struct config *config) {
  bool between = config->point == POINT_END || c->m->points[config->point].phase_start;
  return between ? PHASE_BETWEEN : PHASE_ELECTED;
}

/* ---- coordinators ---- */

/* Does the instance have the oracle? Otherwise coordinators take turns. */
static bool has_oracle(const struct validator *c) { return c->dv->leader < c->m->roles[0].nvars; }

static value turn_of(const struct validator *c, const struct config *config) {
  const struct role *role = &c->m->roles[0];
  const struct point *at = &c->m->points[config->point];
  value i = ((at->endless ? config->phase : at->loop) - 1) % (value)role->count;
  return (value)role->first + (i < 0 ? i + (value)role->count : i);
}

static value belief_of(const struct validator *c, const struct config *config, uint32_t p) {
  return has_oracle(c) ? config->local[p][LOCAL_VAR(c->dv->leader)] : turn_of(c, config);
}

/* Of a process that takes part. */
static value class_of(const struct validator *c, uint32_t p, uint32_t leader, value belief) {
  if (p == leader)
    return LEADER_LEADS;
  if (!c->dv->rivals || belief == (value)leader)
    return LEADER_FOLLOWS;
  return belief == (value)p ? LEADER_RIVAL : LEADER_OTHER;
}

bool validation_elects(const struct validator *c, const struct config *config) {
  return c->dv->leader != UINT32_MAX && config->point != POINT_END && c->m->points[config->point].phase_start &&
         c->dv->leader_matters[validation_point(c, config->point)];
}

void validation_beliefs(const struct validator *c, const struct config *config, const struct witness *witness,
                        value *beliefs) {
  for (uint32_t p = 0; p < config->nprocesses; p++) {
    const value *chosen = has_oracle(c) ? oracle_choice(c->m, config, witness, p, c->dv->leader) : NULL;
    beliefs[p] = chosen ? *chosen : belief_of(c, config, p);
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

/* ---- numbers of phases ---- */

bool validation_ages(const struct validator *c, const struct config *config) {
  return c->dv->ages && config->point != POINT_END && c->m->points[config->point].phase_start;
}

static value age_of(value number, value now, value since) {
  return number == now && now > 0 ? AGE_THIS_PHASE : since && number >= since ? AGE_SINCE : AGE_OLD;
}

value validation_age_rank(const struct validator *c, const struct config *config, value since, value number) {
  value rank = (since < number) + (config->phase < number);
  for (uint32_t p = 0; p < config->nprocesses; p++)
    for (uint32_t i = 0; i < c->m->roles[0].nvars; i++) {
      bool first = c->dv->ages[i];
      value other = config->local[p][LOCAL_VAR(i)];
      for (uint32_t q = 0; q <= p && first; q++)
        for (uint32_t k = 0; k < (q < p ? c->m->roles[0].nvars : i) && first; k++)
          first = !c->dv->ages[k] || config->local[q][LOCAL_VAR(k)] != other;
      rank += first && other < number;
    }
  return rank;
}

enum fixed_phase validation_fixed(struct phase_state state, value phase) {
  return !state.since ? FIXED_AHEAD : state.since == phase ? FIXED_NOW : FIXED_OVER;
}

bool validation_unchanged(struct validator *c, const struct config *config) {
  const struct derivation *dv = c->dv;
  for (uint32_t p = 0; p < config->nprocesses; p++)
    for (uint32_t i = 0; i < c->m->roles[0].nvars; i++)
      if (dv->watched[i] && validation_value_name(c, c->m, LOCAL_VAR(i), config->local[p][LOCAL_VAR(i)]) !=
                                validation_value_name(c, dv->model, LOCAL_VAR(i), dv->watched_first[i]))
        return false;
  return true;
}

/* ---- views ---- */

/* With room for the variable that names the coordinator. */
static void add_entry(const struct validator *c, value **local) {
  uint32_t length = c->dv->length, at = LOCAL_VAR(c->dv->leader);
  value *wide = memory_alloc(length * sizeof *wide);
  memcpy(wide, *local, at * sizeof *wide);
  memcpy(wide + at + 1, *local + at, (length - at - 1) * sizeof *wide);
  memory_free(*local);
  *local = wide;
}

struct config *validation_view(const struct validator *c, const struct config *config, struct phase_state phase,
                               enum phase_place place, const value *beliefs) {
  struct config *view = config_copy(c->m, config);
  const struct derivation *dv = c->dv;
  uint32_t nvars = c->m->roles[0].nvars;
  value now = place == PHASE_BETWEEN ? config->phase - 1 : config->phase;
  for (uint32_t p = 0; p < config->nprocesses; p++) {
    for (uint32_t i = 0; i < nvars && dv->ages; i++)
      if (dv->ages[i])
        view->local[p][LOCAL_VAR(i)] = age_of(config->local[p][LOCAL_VAR(i)], now, phase.since);
    if (dv->leader == UINT32_MAX)
      continue;
    if (!has_oracle(c))
      add_entry(c, &view->local[p]);
    view->local[p][LOCAL_VAR(dv->leader)] =
        place == PHASE_ELECTED && config->point != POINT_END && is_active(config, p)
            ? class_of(c, p, phase.leader, beliefs ? beliefs[p] : belief_of(c, config, p))
            : LEADER_FOLLOWS;
  }
  return view;
}
