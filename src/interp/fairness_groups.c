/* Fairness groups by plain enumeration: the enabled groups are found by trying every event. */
#include "interp/event_step.h"
#include "interp/round_step.h"

static value without_rounds(struct model *m, uint32_t kind, value message) {
  const struct round_shift none = {.from = INT64_MAX, .old = 0};
  const struct renaming erase = {.shift = &none};
  return value_rename(&m->values, m->messages[kind].type, message, &erase);
}

bool event_fair_group(struct interpreter *interp, uint32_t environment, const struct event *e, struct fair_group *out) {
  struct model *m = interp->model;
  const struct clause *fair = environment_fairness(&m->environments[environment]);
  if (e->kind != EVENT_ACTION)
    return false;
  const struct action *a = &m->roles[model_role_of(m, e->process)].actions[e->action];
  *out = (struct fair_group){e->process, NO_PART, NO_PART, 0};
  if (fair->fair_to != FAIR_PROCESSES)
    out->action = e->action;
  if (fair->fair_to != FAIR_MESSAGES || a->trigger != TRIGGER_ONE)
    return true;
  out->sender = e->taken[0].from;
  out->message = without_rounds(m, a->kind, e->taken[0].message);
  return !e->taken[0].forged; /* fairness does not require that forged messages are taken */
}

struct possible_fair_groups {
  struct interpreter *interp;
  uint32_t environment;
  fair_group_fn *visit;
  void *context;
};

static bool note_possible(void *context, const struct witness *w, enum step_result result, const struct config *next,
                          const struct model_error *error) {
  struct possible_fair_groups *p = context;
  struct fair_group group;
  (void)next;
  (void)error;
  for (uint32_t i = 0; i < w->event->ntaken; i++)
    if (w->event->taken[i].forged)
      return true;
  if (result != STEP_BAD_WITNESS && event_fair_group(p->interp, p->environment, w->event, &group))
    p->visit(p->context, &group);
  return true;
}

/* Uses M, with all messages delivered: so transit does not matter, and no message must be taken. */
void config_groups(struct interpreter *interp, uint32_t environment, const struct config *config, fair_group_fn *visit,
                   void *context) {
  struct model *m = interp->model;
  struct channels channels = environment_channels(&m->environments[environment]);
  struct possible_fair_groups p = {interp, environment, visit, context};
  struct config *arrived = config_copy(m, config);
  enum semantics followed = interp->semantics;
  arrived->npackets = 0;
  for (uint32_t i = 0; i < config->npackets; i++) {
    struct packet packet = config->packets[i];
    packet.place = PACKET_DELIVERED;
    packet_post(interp, channels, arrived, packet);
  }
  if (m->nmessages > 0)
    interp->semantics = SEMANTICS_M;
  config_successors(interp, environment, arrived, note_possible, &p);
  interp->semantics = followed;
  config_free(arrived);
}
