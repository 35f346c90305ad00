/* Converts a path of stored states into a concrete run. A stored state is the row of a configuration with dead data
   removed and with processes and values renamed. The moves from the row of the concrete configuration determine the
   process and action of the cheapest step to the next state of the path. The interpreter's events of that process and
   action are then tried until one leads to the row that the move leads to. If no move is available as a guide, all
   events are tried. */
#include "steps/step_concretise.h"

#include "analysis/action_use.h"
#include "steps/dead_data.h"
#include "steps/normalise.h"
#include "steps/step_fairness.h"
#include "steps/step_initial.h"
#include "steps/step_properties.h"
#include "steps/step_successors.h"
#include "steps/step_system_internal.h"

#include <string.h>

struct step_concretisation {
  struct step_system *system;
  struct config *config;        /* the concrete configuration */
  const struct state *target;   /* NULL: the step must end in an error */
  const struct path_goal *goal; /* for the last step; else NULL */
  uint32_t group;               /* the fairness group that the step must belong to; NO_GROUP: any */
  bool guided;                  /* a move that leads to the target is known: */
  uint32_t process, action;     /* its process and action */
  uint64_t *to;                 /* the row that it leads to, packed, with relative rounds but not canonical */
  uint64_t cost;                /* its cost; if not guided, the cost of the cheapest step found so far */
  struct witness *witness;      /* that step, or NULL */
  struct config *next;
};

/* --- choosing the process and action --- */

/* Does the move satisfy the goal of the last step? */
static bool reaches_goal(const struct step_concretisation *k, const struct move *m) {
  struct step_system *s = k->system;
  if ((m->error != NULL) != (k->target == NULL) || (k->group != NO_GROUP && m->group != k->group))
    return false;
  if (!k->goal || k->goal->kind != GOAL_BROKEN_STEP)
    return true;
  uint64_t broken =
      m->broken | (s->checked.nglobal_steps ? step_properties_broken_by_step(s, s->words, s->scratch.next) : 0);
  return broken >> k->goal->property & 1;
}

static bool consider_move(void *context, uint32_t p, const struct move *m) {
  struct step_concretisation *k = context;
  struct step_system *s = k->system;
  uint64_t cost = (uint64_t)m->became_faulty << 32 | (uint32_t)(m->lost + m->duplicated);
  if ((k->guided && cost >= k->cost) || !reaches_goal(k, m))
    return true;
  if (k->target) {
    keys_unpack(&s->keys, s->scratch.next, s->scratch.row);
    if (!row_key(s, s->scratch.row, s->scratch.packed, NULL, NULL) ||
        memcmp(s->scratch.packed, k->target->bytes, s->keys.nbytes))
      return true;
    keys_unpack(&s->keys, s->scratch.next, s->scratch.row);
    row_normalise(s, s->scratch.row);
    if (!keys_pack(&s->keys, s->scratch.row, k->to))
      return true;
  }
  k->guided = true;
  k->cost = cost;
  k->process = p;
  k->action = m->action;
  return cost > 0;
}

/* The step remains unguided if there are no moves, or if the keys have become too narrow for new names. */
static void find_guide(struct step_concretisation *k) {
  struct step_system *s = k->system;
  k->guided = false;
  if (s->plain)
    return;
  row_from_config(s, k->config, s->scratch.row);
  row_normalise(s, s->scratch.row);
  if (keys_pack(&s->keys, s->scratch.row, s->words))
    step_system_each_move(s, consider_move, k);
  s->base.restart = false;
}

/* --- one step --- */

/* Lexicographic: first faulty processes, then messages. */
static uint64_t cost_of(const struct step_concretisation *k, const struct event *e, const struct config *next) {
  bool again = k->config->local[e->process][LOCAL_STATUS] & STATUS_RECOVERED;
  uint64_t processes = e->kind == EVENT_CRASH && !again;
  return processes << 32 | (uint64_t)(next->lost - k->config->lost + next->duplicated - k->config->duplicated);
}

static bool leads_there(struct step_concretisation *k, enum step_result result, const struct config *next) {
  struct step_system *s = k->system;
  if (result != STEP_OK || !k->target)
    return result == STEP_ERROR && !k->target;
  if (k->goal && k->goal->kind == GOAL_BROKEN_STEP) {
    const struct property *p = &s->model->properties[s->base.query->properties[k->goal->property]];
    if (config_holds(s->interp, p->formula, k->config, next, NULL) == V_TRUE)
      return false;
  }
  row_from_config(s, next, s->scratch.row);
  if (!k->guided)
    return row_key(s, s->scratch.row, s->scratch.packed, NULL, NULL) &&
           !memcmp(s->scratch.packed, k->target->bytes, s->keys.nbytes);
  row_normalise(s, s->scratch.row);
  return keys_pack(&s->keys, s->scratch.row, s->scratch.packed) && !memcmp(s->scratch.packed, k->to, s->keys.nbytes);
}

static bool try_event(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  (void)error;
  struct step_concretisation *k = context;
  const struct model *m = k->system->model;
  if (result == STEP_BAD_WITNESS || (k->group != NO_GROUP && group_of_event(k->system, w->event) != k->group))
    return true;
  uint64_t cost = cost_of(k, w->event, next);
  if ((k->guided ? cost != k->cost : k->witness && cost >= k->cost) || !leads_there(k, result, next))
    return true;
  witness_free(k->witness);
  config_free(k->next);
  k->witness = witness_copy(m, w);
  k->next = config_copy(m, next);
  k->cost = cost;
  return cost > 0 && !k->guided;
}

static bool find_step(struct step_concretisation *k) {
  struct step_system *s = k->system;
  k->witness = NULL;
  k->next = NULL;
  find_guide(k);
  if (k->guided)
    event_steps_of(s->interp, s->base.query->environment, k->config, k->process, k->action, try_event, k);
  k->guided = false;
  if (!k->witness)
    config_successors(s->interp, s->base.query->environment, k->config, try_event, k);
  return k->witness;
}

/* --- fused forwarding steps, which must precede the step in the concrete run --- */

#define FUSION_STATES_MAX 4096

struct fusion_state { /* a configuration that differs from the first one in forwarded messages only */
  struct config *config;
  struct witness *witness; /* the last step to it */
  size_t before;
};

struct fusion_search {
  struct step_concretisation *concrete;
  VEC(struct fusion_state) at;
  size_t now;
  uint64_t *key;
};

static bool note_fusion_state(void *context, const struct witness *w, enum step_result result,
                              const struct config *next, const struct model_error *error) {
  struct fusion_search *p = context;
  struct step_system *s = p->concrete->system;
  const struct model *m = s->model;
  (void)error;
  if (result != STEP_OK || w->event->kind != EVENT_ACTION ||
      !action_can_fuse(m, s->use, s->role_of[w->event->process], w->event->action))
    return true;
  row_from_config(s, next, s->scratch.row);
  if (row_key(s, s->scratch.row, s->scratch.packed, NULL, NULL) && !memcmp(s->scratch.packed, p->key, s->keys.nbytes))
    vec_push(&p->at, ((struct fusion_state){config_copy(m, next), witness_copy(m, w), p->now}));
  return p->at.n < FUSION_STATES_MAX;
}

static void add_fused_steps(struct fusion_search *p, size_t i, struct run *run) {
  if (i == 0)
    return;
  add_fused_steps(p, p->at.at[i].before, run);
  run_add(run, p->at.at[i].witness);
  p->at.at[i].witness = NULL;
}

/* Breadth-first search until the step is possible. */
static bool find_after_fused_steps(struct step_concretisation *k, struct run *run) {
  struct step_system *s = k->system;
  struct fusion_search p = {.concrete = k, .key = memory_alloc((s->keys.nwords + 2) * sizeof *p.key)};
  bool found = false;
  row_from_config(s, k->config, s->scratch.row);
  vec_push(&p.at, ((struct fusion_state){config_copy(s->model, k->config), NULL, 0}));
  if (row_key(s, s->scratch.row, p.key, NULL, NULL))
    for (p.now = 0; p.now < p.at.n && !found; p.now++) {
      config_assign(s->model, k->config, p.at.at[p.now].config);
      found = p.now > 0 && find_step(k);
      if (found)
        add_fused_steps(&p, p.now, run);
      else
        config_successors(s->interp, s->base.query->environment, k->config, note_fusion_state, &p);
    }
  for (size_t i = 0; i < p.at.n; i++) {
    config_free(p.at.at[i].config);
    witness_free(p.at.at[i].witness);
  }
  vec_release(&p.at);
  memory_free(p.key);
  return found;
}

static bool concrete_step(struct step_concretisation *k, struct run *run) {
  bool fuses = k->system->base.licences->of[REDUCE_FUSION].applied;
  if (!find_step(k) && !(fuses && find_after_fused_steps(k, run)))
    return false;
  run_add(run, k->witness);
  config_free(k->config);
  k->config = k->next;
  return true;
}

/* required: requirements on each step, or NULL; goal: requirement on the last step, or NULL. */
static bool concretise(struct system *system, const struct state *path, uint32_t n,
                       const struct step_requirement *required, const struct path_goal *goal, struct run *run) {
  struct step_system *s = step_system_of(system);
  struct step_concretisation k = {.system = s, .group = NO_GROUP};
  *run = (struct run){0};
  if (n == 0 || !(k.config = step_system_initial_find(s, &path[0])))
    return false;
  k.to = memory_alloc((s->keys.nwords + 2) * sizeof *k.to);
  run->initial = config_copy(s->model, k.config);
  run->reached = required ? memory_alloc(n * sizeof *run->reached) : NULL;
  bool ok = true;
  for (uint32_t i = 1; i < n && ok; i++) {
    k.target = &path[i];
    k.goal = i + 1 == n ? goal : NULL;
    k.group = required ? required[i - 1].group : NO_GROUP;
    ok = concrete_step(&k, run);
    if (required)
      run->reached[i] = run->nsteps;
  }
  k.target = NULL;
  ok = ok && (!goal || goal->kind != GOAL_ERROR || concrete_step(&k, run));
  config_free(k.config);
  memory_free(k.to);
  if (!ok) {
    run_release(run);
    *run = (struct run){0};
  }
  return ok;
}

bool step_system_concretise(struct system *system, const struct state *path, uint32_t n, const struct path_goal *goal,
                            struct run *run) {
  return concretise(system, path, n, NULL, goal, run);
}

bool step_system_concretise_path(struct system *system, const struct state *path, uint32_t n,
                                 const struct step_requirement *required, struct run *run) {
  return concretise(system, path, n, required, NULL, run);
}
