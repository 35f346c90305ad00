/* One round by plain interpretation (Chaouch-Saad, Charron-Bost, Merz 2009, section 2.2: coarse-grained executions). */
#include "interp/round_step.h"

#include <string.h>

void script_keep(struct script *s, const struct choices *c) {
  memory_free(s->at);
  *s = (struct script){(uint32_t)c->at, memory_alloc((c->at + 1) * sizeof *s->at)};
  if (c->at)
    memcpy(s->at, c->taken.at, c->at * sizeof *s->at);
}

value *local_with_oracles(const struct model *m, const struct config *c, const struct witness *w, uint32_t p) {
  const struct role *role = &m->roles[model_role_of(m, p)];
  uint32_t length = role_local_length(role);
  value *local = memory_alloc(length * sizeof *local);
  memcpy(local, c->local[p], length * sizeof *local);
  for (uint32_t i = 0, k = 0; i < role->nvars; i++)
    if (role->vars[i].kind == VAR_ORACLE) {
      if (oracle_chosen_at(m, &role->vars[i], c->point) && w->oracles[p])
        local[LOCAL_VAR(i)] = w->oracles[p][k];
      k++;
    }
  return local;
}

const struct forgery *witness_forgery(const struct witness *w, uint32_t receiver, uint32_t sender) {
  for (uint32_t i = 0; i < w->nforged; i++)
    if (w->forged[i].receiver == receiver && w->forged[i].sender == sender)
      return &w->forged[i];
  return NULL;
}

static bool choose_oracles(struct message_exchange *x, const struct witness *w, uint32_t p) {
  const struct model *m = x->interp->model;
  const struct role *role = &m->roles[model_role_of(m, p)];
  uint32_t k = 0;
  for (uint32_t i = 0; i < role->nvars; i++) {
    if (role->vars[i].kind != VAR_ORACLE)
      continue;
    if (oracle_chosen_at(m, &role->vars[i], x->config->point)) {
      if (!w->oracles[p] || !type_has(&m->values, role->vars[i].type, w->oracles[p][k]))
        return false;
      x->local[p][LOCAL_VAR(i)] = w->oracles[p][k];
    }
    k++;
  }
  return true;
}

enum step_result exchange_begin(struct message_exchange *x, struct interpreter *interp, const struct config *c,
                                const struct witness *w, struct model_error *error) {
  const struct model *m = interp->model;
  *x = (struct message_exchange){.interp = interp, .config = c};
  x->local = memory_alloc((m->nprocesses + 1) * sizeof *x->local);
  x->sends = memory_alloc((m->nprocesses + 1) * sizeof *x->sends);
  struct choices choices = {0};
  enum step_result result = c->point == POINT_END ? STEP_BAD_WITNESS : STEP_OK;
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    uint32_t length = role_local_length(&m->roles[model_role_of(m, p)]);
    x->local[p] = memory_alloc(length * sizeof **x->local);
    memcpy(x->local[p], c->local[p], length * sizeof **x->local);
    if (result == STEP_OK && process_active(c->local[p][LOCAL_STATUS]) && !choose_oracles(x, w, p))
      result = STEP_BAD_WITNESS;
  }
  for (uint32_t p = 0; p < m->nprocesses && result == STEP_OK; p++) {
    if (!process_active(c->local[p][LOCAL_STATUS]))
      continue;
    struct eval e;
    local_begin(&e, interp, p, c->point, c->phase, x->local[p], c->globals);
    choices_give(&choices, &w->sends[p]);
    e.choices = &choices;
    if (!local_sends(&e, &x->sends[p])) {
      *error = e.error;
      result = STEP_ERROR;
    } else if (choices.bad) {
      result = STEP_BAD_WITNESS;
    }
  }
  choices_release(&choices);
  for (uint32_t q = 0; q < m->nprocesses && result == STEP_OK; q++)
    for (uint32_t p = 0; p < m->nprocesses && x->sends[q].n > 1 && result == STEP_OK; p++) {
      const struct local_send *one;
      if (!exchange_message(x, q, p, &one, error))
        result = STEP_ERROR;
    }
  return result;
}

void exchange_release(struct message_exchange *x) {
  for (uint32_t p = 0; p < x->config->nprocesses; p++) {
    memory_free(x->local[p]);
    memory_free(x->sends[p].at);
  }
  memory_free(x->local);
  memory_free(x->sends);
}

bool exchange_message(const struct message_exchange *x, uint32_t q, uint32_t p, const struct local_send **found,
                      struct model_error *error) {
  *found = NULL;
  for (size_t i = 0; i < x->sends[q].n; i++) {
    const struct local_send *s = &x->sends[q].at[i];
    if (!round_send_reaches(x->interp->model, s, q, p))
      continue;
    if (*found) {
      *error = (struct model_error){"two messages to one receiver in a round", s->at, q};
      return false;
    }
    *found = s;
  }
  return true;
}

void exchange_faults(const struct message_exchange *x, const struct environment *env, const struct witness *w,
                     int64_t *lost, int64_t *corrupted) {
  *lost = *corrupted = 0;
  struct model_error ignored;
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    if (!process_active(x->config->local[p][LOCAL_STATUS]) || w->crashes[p])
      continue;
    for (uint32_t q = 0; q < w->nprocesses; q++) {
      const struct local_send *s;
      exchange_message(x, q, p, &s, &ignored);
      if (s && !w->heard[p][q] && must_hear(x, w, p, q))
        ++*lost;
      if (s && w->heard[p][q] && witness_forgery(w, p, q))
        ++*corrupted;
    }
  }
  if (!environment_clause(env, CLAUSE_LOST))
    *lost = 0;
  if (!environment_clause(env, CLAUSE_CORRUPTED))
    *corrupted = 0;
}

static void log_sends(const struct message_exchange *x, struct step_log *log) {
  uint32_t n = x->config->nprocesses;
  struct model_error ignored;
  for (uint32_t q = 0; q < n && log; q++)
    for (uint32_t p = 0; p < n && x->sends[q].n; p++) {
      const struct local_send *s;
      if (exchange_message(x, q, p, &s, &ignored) && s)
        step_log_sent(log, (struct sent){q, p, s->message, s->type, s->at, NO_KIND});
    }
}

bool exchange_receive(const struct message_exchange *x, const struct witness *w, uint32_t p,
                      struct received_entry *entries, struct received *r, struct step_log *log) {
  const struct model *m = x->interp->model;
  const struct type *type = m->roles[model_role_of(m, p)].body[x->config->point].received;
  struct model_error ignored;
  r->at = entries;
  r->n = 0;
  for (uint32_t q = 0; q < w->nprocesses; q++) {
    const struct local_send *s;
    const struct forgery *f = witness_forgery(w, p, q);
    exchange_message(x, q, p, &s, &ignored);
    if (f && (!type || !type_has(&m->values, type, f->message)))
      return false;
    if (!w->heard[p][q] || (!s && !f))
      continue;
    value message = f ? f->message : s->message;
    entries[r->n++] = (struct received_entry){.message = message, .sender = q, .count = 1};
    step_log_arrival(log, (struct arrival){p, q, message, f ? type : s->type, f != NULL, NO_KIND, true});
  }
  return true;
}

static enum step_result update(const struct message_exchange *x, const struct witness *w, uint32_t p, value *local,
                               struct received_entry *entries, struct step_log *log, struct model_error *error) {
  const struct model *m = x->interp->model;
  uint32_t r = model_role_of(m, p);
  struct received received;
  if (!exchange_receive(x, w, p, entries, &received, log))
    return STEP_BAD_WITNESS;
  struct eval e;
  struct choices choices = {0};
  struct span *assigned_at = memory_alloc((m->roles[r].nvars + 1) * sizeof *assigned_at);
  memcpy(local, x->local[p], role_local_length(&m->roles[r]) * sizeof *local);
  local_begin(&e, x->interp, p, x->config->point, x->config->phase, local, x->config->globals);
  choices_give(&choices, &w->updates[p]);
  e.choices = &choices;
  e.record.assigned_at = assigned_at;
  enum step_result result = local_update(&e, &received) ? STEP_OK : STEP_ERROR;
  if (result == STEP_ERROR)
    *error = e.error;
  if (choices.bad)
    result = STEP_BAD_WITNESS;
  for (uint32_t i = 0; i < m->roles[r].nvars && result == STEP_OK; i++) {
    value before = x->local[p][LOCAL_VAR(i)], after = local[LOCAL_VAR(i)];
    if (before != after)
      step_log_change(log, (struct change){p, i, before, after, assigned_at[i]});
  }
  memory_free(assigned_at);
  choices_release(&choices);
  return result;
}

static void advance(struct interpreter *interp, const struct config *c, struct config *next) {
  const struct point *point = &interp->model->points[c->point];
  next->point = point->next;
  next->rounds = c->rounds + 1;
  next->phase = c->phase + (point->phase_end && point->endless);
  for (uint32_t p = 0; p < c->nprocesses; p++)
    if (!(next->local[p][LOCAL_STATUS] & STATUS_BYZANTINE))
      local_reset_oracles(interp, model_role_of(interp->model, p), c->point, next->local[p]);
}

enum step_result exchange_step(const struct message_exchange *x, uint32_t environment, const struct witness *w,
                               struct config *next, struct step_log *log, struct model_error *error) {
  const struct model *m = x->interp->model;
  const struct config *c = x->config;
  enum step_result result = STEP_OK;
  struct received_entry *entries = memory_alloc((m->nprocesses + 1) * sizeof *entries);
  log_sends(x, log);
  for (uint32_t p = 0; p < m->nprocesses && result == STEP_OK; p++) {
    uint32_t length = role_local_length(&m->roles[model_role_of(m, p)]);
    memcpy(next->local[p], c->local[p], length * sizeof **next->local);
    if (w->crashes[p]) {
      /* the round in which it crashes changes nothing, not even its oracles */
      next->local[p][LOCAL_STATUS] |= STATUS_CRASHED;
    } else if (process_active(c->local[p][LOCAL_STATUS])) {
      result = update(x, w, p, next->local[p], entries, log, error);
    }
  }
  int64_t lost, corrupted;
  exchange_faults(x, &m->environments[environment], w, &lost, &corrupted);
  next->lost = c->lost + lost;
  next->corrupted = c->corrupted + corrupted;
  if (result == STEP_OK) {
    memcpy(next->globals, c->globals, m->nglobals * sizeof *next->globals);
    advance(x->interp, c, next);
  }
  memory_free(entries);
  return result;
}

enum step_result round_step(struct interpreter *interp, uint32_t environment, const struct config *c,
                            const struct witness *w, struct config *next, struct step_log *log,
                            struct model_error *error) {
  struct message_exchange x;
  enum step_result result = exchange_begin(&x, interp, c, w, error);
  if (result == STEP_OK)
    result = exchange_step(&x, environment, w, next, log, error);
  exchange_release(&x);
  return result;
}
