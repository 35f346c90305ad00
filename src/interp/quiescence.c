/* States in which nothing can happen any more, and who is in the middle of something there (docs/language.md,
   "Deadlocks"). By plain enumeration: every action is tried. */
#include "interp/event_step.h"
#include "interp/round_step.h"
#include "model/node.h"

bool packet_is_pending(const struct model *m, const struct packet *p, uint32_t kind) {
  const struct role *role = &m->roles[model_role_of(m, p->to)];
  for (uint32_t i = 0; p->kind == kind && i < role->nactions; i++)
    if (role->actions[i].trigger != TRIGGER_NONE && role->actions[i].kind == kind)
      return true;
  return false;
}

/* Stops at the first action that needs no forged message. */
static bool is_forged(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  (void)context;
  (void)next;
  (void)error;
  bool forged = w->event->kind != EVENT_ACTION || result == STEP_BAD_WITNESS;
  for (uint32_t i = 0; i < w->event->ntaken; i++)
    forged |= w->event->taken[i].forged;
  return forged;
}

/* Can the process take an action under M? An interrupted evaluation counts as one that can. */
static bool can_act(struct interpreter *interp, const struct environment *env, const struct config *arrived,
                    uint32_t p) {
  const struct role *role = &interp->model->roles[model_role_of(interp->model, p)];
  for (uint32_t a = 0; a < role->nactions; a++)
    if (!event_steps_in(interp, env, arrived, p, a, is_forged, NULL))
      return true;
  return false;
}

/* All pending messages count as delivered: so transit does not matter, and no message must be taken. */
static struct config *all_delivered(struct interpreter *interp, const struct environment *env,
                                    const struct config *config) {
  struct channels channels = environment_channels(env);
  struct config *arrived = config_copy(interp->model, config);
  arrived->npackets = 0;
  for (uint32_t i = 0; i < config->npackets; i++) {
    struct packet packet = config->packets[i];
    packet.place = PACKET_DELIVERED;
    packet_post(interp, channels, arrived, packet);
  }
  return arrived;
}

static bool some_acts(struct interpreter *interp, const struct environment *env, const struct config *config,
                      uint32_t first, uint32_t end) {
  struct config *arrived = all_delivered(interp, env, config);
  enum semantics followed = interp->semantics;
  struct coverage *coverage = interp->coverage;
  bool some = false;
  interp->coverage = NULL; /* what is only tried is not executed */
  if (interp->model->nmessages > 0)
    interp->semantics = SEMANTICS_M;
  for (uint32_t p = first; p < end && !some; p++)
    some = can_act(interp, env, arrived, p);
  interp->semantics = followed;
  interp->coverage = coverage;
  config_free(arrived);
  return some;
}

bool config_quiescent(struct interpreter *interp, uint32_t environment, const struct config *c) {
  return !some_acts(interp, &interp->model->environments[environment], c, 0, interp->model->nprocesses);
}

/* Could it act if channels had no bound? */
static bool waits_for_room(struct interpreter *interp, const struct environment *env, const struct config *c,
                           uint32_t p) {
  if (environment_channels(env).bound == 0)
    return false;
  struct environment roomy = *env;
  roomy.clauses = memory_alloc((env->nclauses + 1) * sizeof *roomy.clauses);
  for (uint32_t i = 0; i < env->nclauses; i++) {
    roomy.clauses[i] = env->clauses[i];
    roomy.clauses[i].bound = 0;
  }
  bool acts = some_acts(interp, &roomy, c, p, p + 1);
  memory_free(roomy.clauses);
  return acts;
}

enum waiting config_waits(struct interpreter *interp, uint32_t environment, const struct config *c, uint32_t p) {
  const struct model *m = interp->model;
  const struct role *role = &m->roles[model_role_of(m, p)];
  if (!process_active(c->local[p][LOCAL_STATUS]))
    return WAITING_NOT;
  if (waits_for_room(interp, &m->environments[environment], c, p))
    return WAITING_ROOM;
  return role->point_var != NO_VAR && !role->final[c->local[p][LOCAL_VAR(role->point_var)]] ? WAITING_MIDDLE
                                                                                            : WAITING_NOT;
}

static bool config_deadlocked(struct interpreter *interp, uint32_t environment, const struct config *c) {
  if (!config_quiescent(interp, environment, c))
    return false;
  for (uint32_t p = 0; p < interp->model->nprocesses; p++)
    if (config_waits(interp, environment, c, p) != WAITING_NOT)
      return true;
  return false;
}

static bool reads_quiescence(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_QUIESCENT || n->op == NODE_DEADLOCKED;
  return !*found;
}

bool quiescence_of(struct interpreter *interp, const struct node *formula, const struct config *c,
                   struct quiescence *out) {
  bool reads = false;
  if (!model_steps(interp->model) || interp->environment == NO_ENVIRONMENT)
    return false;
  node_walk(formula, reads_quiescence, &reads); /* not in defs: the type checker refuses it there */
  if (!reads)
    return false;
  out->deadlocked = config_deadlocked(interp, interp->environment, c);
  out->quiescent = out->deadlocked || config_quiescent(interp, interp->environment, c);
  return true;
}
