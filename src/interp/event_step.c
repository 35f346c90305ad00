/* The effect of an event. */
#include "interp/event_step.h"
#include "interp/local.h"

#include <string.h>

bool action_consumes(const struct action *a) {
  return a->trigger == TRIGGER_ONE || (a->trigger == TRIGGER_QUORUM && a->taken);
}

struct event_context {
  struct interpreter *interp;
  const struct model *model;
  struct channels channels;
  const struct config *config;
  const struct event *event;
  const struct role *role;
  const struct action *action; /* or NULL */
  struct outbox *out;
  struct config *next;
  struct step_log *log;
  struct model_error *error;
};

/* --- taking an action --- */

/* Is this a possible message of that kind, which can be forged? */
static bool is_message(const struct model *m, uint32_t kind, value message) {
  const struct type *t = m->messages[kind].type;
  size_t n;
  value_parts(&m->values, message, &n);
  return n == t->size && type_has(&m->values, t, message);
}

/* Are the messages pending, at most one from each sender, and as many as the action takes? */
static bool messages_there(const struct event_context *h) {
  const struct event *e = h->event;
  if (h->action->trigger == TRIGGER_NONE ? e->ntaken != 0 : h->action->trigger == TRIGGER_ONE && e->ntaken != 1)
    return false;
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *t = &e->taken[i];
    if (t->from >= h->model->nprocesses || (i > 0 && t->from <= e->taken[i - 1].from))
      return false;
    struct packet p = packet_of(t, e->process, h->action->kind);
    if (t->forged ? !is_message(h->model, p.kind, t->message)
                  : t->place == PACKET_IN_TRANSIT || packet_find(h->config, &p) == NO_PACKET)
      return false;
  }
  return true;
}

/* Do all messages match, and are there enough of them? */
static enum step_result messages_fit(const struct event_context *h, const struct inbox_entry *in) {
  const struct event *e = h->event;
  const value *local = h->config->local[e->process], *globals = h->config->globals;
  bool failed;
  int64_t size;
  for (uint32_t i = 0; i < e->ntaken; i++)
    if (!action_matches(h->interp, e->action, e->process, local, globals, &in[i], &failed, h->error))
      return failed ? STEP_ERROR : STEP_BAD_WITNESS;
  if (h->action->trigger != TRIGGER_QUORUM)
    return STEP_OK;
  if (!action_size(h->interp, e->action, e->process, local, globals, &size, h->error))
    return STEP_ERROR;
  bool enough = h->action->exactly ? e->ntaken == size : e->ntaken >= size;
  return enough ? STEP_OK : STEP_BAD_WITNESS;
}

/* Stores the process's variables and the globals after the action in next. */
static enum step_result take(const struct event_context *h, struct choices *choices, struct assigned_places *places) {
  const struct event *e = h->event;
  if (!action_open(h->model, model_role_of(h->model, e->process), h->config->local[e->process], e->action) ||
      !messages_there(h))
    return STEP_BAD_WITNESS;
  struct inbox_entry *in = memory_alloc((e->ntaken + 1) * sizeof *in);
  for (uint32_t i = 0; i < e->ntaken; i++)
    in[i] = (struct inbox_entry){e->taken[i].from, h->action->kind, e->taken[i].message, e->taken[i].place,
                                 e->taken[i].forged};
  enum step_result result = messages_fit(h, in);
  if (result == STEP_OK)
    switch (action_take(h->interp, e->action, e->process, h->next->local[e->process], h->next->globals, in, e->ntaken,
                        choices, h->out, places, h->error)) {
    case ACTION_DONE:
      break;
    case ACTION_ERROR:
      result = STEP_ERROR;
      break;
    case ACTION_REFUSED:
    case ACTION_BAD_SCRIPT:
      result = STEP_BAD_WITNESS;
      break;
    }
  memory_free(in);
  return result;
}

/* --- an action and its effect on messages --- */

/* Handles messages of the action that stay pending: those it only looked at and those that were duplicated. Under MP,
   later actions need not see them again. */
static void leave_messages(const struct event_context *h) {
  const struct event *e = h->event;
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *t = &e->taken[i];
    bool gone = action_consumes(h->action) && !t->kept;
    step_log_arrival(h->log, (struct arrival){e->process, t->from, t->message, h->model->messages[h->action->kind].type,
                                              t->forged, h->action->kind, gone});
    if (t->forged)
      continue;
    struct packet p = packet_of(t, e->process, h->action->kind);
    uint32_t at = packet_find(h->next, &p);
    if (gone)
      packet_remove(h->next, at);
    else if (h->interp->semantics == SEMANTICS_MP)
      packet_move(h->interp, h->channels, h->next, at, PACKET_SEEN);
  }
}

static void post(const struct event_context *h, const struct outgoing_message *p) {
  enum packet_place place = semantics_delivers(h->interp->semantics) ? PACKET_DELIVERED : PACKET_IN_TRANSIT;
  step_log_sent(h->log,
                (struct sent){h->event->process, p->to, p->message, h->model->messages[p->kind].type, p->at, p->kind});
  packet_post(h->interp, h->channels, h->next, (struct packet){h->event->process, p->to, p->kind, place, p->message});
}

static void log_changes(const struct event_context *h, const struct assigned_places *places) {
  uint32_t p = h->event->process;
  for (uint32_t i = 0; i < h->role->nvars; i++) {
    value before = h->config->local[p][LOCAL_VAR(i)], after = h->next->local[p][LOCAL_VAR(i)];
    if (before != after)
      step_log_change(h->log, (struct change){p, i, before, after, places->local[i]});
  }
  for (uint32_t i = 0; i < h->model->nglobals; i++) {
    value before = h->config->globals[i], after = h->next->globals[i];
    if (before != after)
      step_log_change(h->log, (struct change){PROCESS_SHARED, i, before, after, places->shared[i]});
  }
}

static enum step_result apply_action(const struct event_context *h, struct choices *choices) {
  const struct event *e = h->event;
  struct assigned_places places = {memory_alloc((h->role->nvars + 1) * sizeof *places.local),
                                   memory_alloc((h->model->nglobals + 1) * sizeof *places.shared)};
  for (uint32_t i = 0; i < e->ntaken; i++)
    h->next->duplicated += e->taken[i].kept;
  enum step_result result = take(h, choices, &places);
  if (result == STEP_OK) {
    leave_messages(h);
    for (size_t i = 0; i < h->out->n; i++)
      post(h, &h->out->at[i]);
    log_changes(h, &places);
  }
  memory_free(places.local);
  memory_free(places.shared);
  return result;
}

/* --- crashing and recovering --- */

static bool are_out(const struct event *e, size_t nsent) {
  for (uint32_t i = 0; i < e->nout; i++)
    if (e->out[i] >= nsent || (i > 0 && e->out[i] <= e->out[i - 1]))
      return false;
  return e->nout > 0;
}

/* A crash in the middle of an action: some of its messages are sent, and it has no other effect. The messages it would
   have taken stay pending. */
static enum step_result crash_in_action(const struct event_context *h, struct choices *choices) {
  const struct event *e = h->event;
  for (uint32_t i = 0; i < e->ntaken; i++)
    if (e->taken[i].kept)
      return STEP_BAD_WITNESS;
  enum step_result result = take(h, choices, NULL);
  config_assign(h->model, h->next, h->config);
  if (result != STEP_OK || !are_out(e, h->out->n))
    return STEP_BAD_WITNESS;
  for (uint32_t i = 0; i < e->nout; i++)
    post(h, &h->out->at[e->out[i]]);
  return STEP_OK;
}

static enum step_result apply_crash(const struct event_context *h, struct choices *choices) {
  const struct event *e = h->event;
  value *status = &h->next->local[e->process][LOCAL_STATUS];
  if (!process_active(*status))
    return STEP_BAD_WITNESS;
  enum step_result result = STEP_OK;
  if (h->action)
    result = crash_in_action(h, choices);
  else if (e->ntaken || e->nout)
    result = STEP_BAD_WITNESS;
  *status = (*status & ~(value)STATUS_RECOVERED) | STATUS_CRASHED;
  return result;
}

/* MP: after recovery, a process need not see all messages that were delivered before. An action that was interrupted by
   a crash may have left them pending, and the next action may be a different one. */
static void mark_all_seen(const struct event_context *h) {
  for (uint32_t i = 0; i < h->next->npackets && h->interp->semantics == SEMANTICS_MP;) {
    const struct packet *p = &h->next->packets[i];
    if (p->to == h->event->process && p->place == PACKET_DELIVERED) {
      packet_move(h->interp, h->channels, h->next, i, PACKET_SEEN);
      i = 0; /* the order of packets may have changed */
    } else {
      i++;
    }
  }
}

static enum step_result apply_recovery(const struct event_context *h, struct choices *choices) {
  const struct event *e = h->event;
  if (!(h->config->local[e->process][LOCAL_STATUS] & STATUS_CRASHED) || e->ntaken)
    return STEP_BAD_WITNESS;
  if (!action_recover(h->interp, e->process, h->next->local[e->process], h->next->globals, choices, h->error))
    return choices->bad ? STEP_BAD_WITNESS : STEP_ERROR;
  for (uint32_t i = 0; i < h->role->nvars; i++) {
    const struct var *var = &h->role->vars[i];
    value before = h->config->local[e->process][LOCAL_VAR(i)], after = h->next->local[e->process][LOCAL_VAR(i)];
    if (before != after)
      step_log_change(h->log, (struct change){e->process, i, before, after, var->init ? var->init->at : var->at});
  }
  mark_all_seen(h);
  return choices->bad ? STEP_BAD_WITNESS : STEP_OK;
}

/* --- events of one message --- */

static enum step_result apply_to_message(const struct event_context *h) {
  const struct event *e = h->event;
  if (e->ntaken != 1 || e->taken[0].forged || e->taken[0].kept || e->message_kind >= h->model->nmessages)
    return STEP_BAD_WITNESS;
  struct packet p = packet_of(&e->taken[0], e->process, e->message_kind);
  uint32_t at = packet_find(h->next, &p);
  if (at == NO_PACKET || (e->kind == EVENT_DELIVER && p.place != PACKET_IN_TRANSIT))
    return STEP_BAD_WITNESS;
  if (e->kind == EVENT_DELIVER) {
    packet_move(h->interp, h->channels, h->next, at, PACKET_DELIVERED);
  } else {
    packet_remove(h->next, at);
    h->next->lost++;
  }
  return STEP_OK;
}

enum step_result event_apply(struct interpreter *interp, const struct environment *env, const struct config *c,
                             const struct event *e, struct choices *choices, struct outbox *out, struct config *next,
                             struct step_log *log, struct model_error *error) {
  const struct model *m = interp->model;
  config_assign(m, next, c);
  out->n = 0;
  if (e->process >= m->nprocesses)
    return STEP_BAD_WITNESS;
  struct event_context h = {.interp = interp,
                            .model = m,
                            .channels = environment_channels(env),
                            .config = c,
                            .event = e,
                            .role = &m->roles[model_role_of(m, e->process)],
                            .out = out,
                            .next = next,
                            .log = log,
                            .error = error};
  bool acts = e->kind == EVENT_ACTION || (e->kind == EVENT_CRASH && e->action != NO_ACTION);
  if (acts && e->action >= h.role->nactions)
    return STEP_BAD_WITNESS;
  h.action = acts ? &h.role->actions[e->action] : NULL;
  switch (e->kind) {
  case EVENT_ACTION:
    return apply_action(&h, choices);
  case EVENT_CRASH:
    return apply_crash(&h, choices);
  case EVENT_RECOVER:
    return apply_recovery(&h, choices);
  case EVENT_DELIVER:
  case EVENT_LOSE:
    return apply_to_message(&h);
  }
  return STEP_BAD_WITNESS;
}

enum step_result event_step(struct interpreter *interp, uint32_t environment, const struct config *c,
                            const struct witness *w, struct config *next, struct step_log *log,
                            struct model_error *error) {
  if (!w->event)
    return STEP_BAD_WITNESS;
  struct choices choices = {0};
  struct outbox out = {0};
  choices_give(&choices, &w->event->script);
  enum step_result result =
      event_apply(interp, &interp->model->environments[environment], c, w->event, &choices, &out, next, log, error);
  choices_release(&choices);
  outbox_release(&out);
  return result;
}
