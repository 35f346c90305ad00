/* What an environment allows in a step, directly as the clauses are defined; and what the semantics allows: M, M-MP and
   MP (Bokor, Serafini, Suri 2010, section 2.2) differ only here and in where a sent message is placed. */
#include "interp/event_step.h"
#include "interp/round_step.h"

/* --- topology --- */

bool channel_exists(struct interpreter *interp, const value *globals, uint32_t from, uint32_t to) {
  const struct role *role = &interp->model->roles[model_role_of(interp->model, from)];
  if (role->ring)
    return to == role_next(role, from);
  if (!role->graph)
    return true;
  struct eval e;
  jmp_buf failure;
  local_begin(&e, interp, from, 0, 1, NULL, globals);
  e.failure = &failure;
  if (setjmp(failure))
    return false; /* the error is reported when a process sends along the channel */
  return set_contains(e.values, role->graph->type, eval_node(&e, role->graph), to);
}

/* --- crashes --- */

static int64_t *count_by_role(const struct model *m, const value *status, uint32_t p, value bits) {
  int64_t *n = memory_alloc((m->nroles + 1) * sizeof *n);
  for (uint32_t q = 0; q < m->nprocesses; q++)
    n[model_role_of(m, q)] += q == p || (status[q] & bits);
  return n;
}

bool crash_allowed(const struct model *m, const struct environment *env, const value *status, uint32_t p) {
  if (!process_active(status[p]))
    return false;
  int64_t *crashed = count_by_role(m, status, p, STATUS_CRASHED | STATUS_RECOVERED);
  bool ok = faults_within(m, env, CLAUSE_CRASH, crashed);
  memory_free(crashed);
  return ok;
}

bool recovery_allowed(const struct model *m, const struct environment *env, const value *status, uint32_t p) {
  if (!(status[p] & STATUS_CRASHED))
    return false;
  struct environment recovering = *env; /* only the clauses that allow recovery */
  recovering.clauses = memory_alloc((env->nclauses + 1) * sizeof *recovering.clauses);
  recovering.nclauses = 0;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CRASH && env->clauses[i].recovers)
      recovering.clauses[recovering.nclauses++] = env->clauses[i];
  int64_t *recovered = count_by_role(m, status, p, STATUS_RECOVERED);
  bool ok = faults_within(m, &recovering, CLAUSE_CRASH, recovered);
  memory_free(recovered);
  memory_free(recovering.clauses);
  return ok;
}

static bool faults_allowed(const struct model *m, const struct environment *env, const struct config *c,
                           const struct event *e) {
  value *status = memory_alloc((m->nprocesses + 1) * sizeof *status);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    status[p] = c->local[p][LOCAL_STATUS];
  bool ok =
      e->kind == EVENT_CRASH ? crash_allowed(m, env, status, e->process) : recovery_allowed(m, env, status, e->process);
  memory_free(status);
  return ok;
}

/* --- budgets --- */

static bool budget_allows(const struct environment *env, enum clause_kind kind, int64_t before, int64_t n) {
  bool any = false;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == kind) {
      any = true;
      if (n > env->clauses[i].limit - before)
        return false;
    }
  return any;
}

bool loss_allowed(const struct environment *env, int64_t before, int64_t n) {
  return budget_allows(env, CLAUSE_LOST, before, n);
}

bool duplication_allowed(const struct environment *env, int64_t before, int64_t n) {
  return budget_allows(env, CLAUSE_DUPLICATED, before, n);
}

/* --- the messages of an action --- */

struct judgement {
  struct interpreter *interp;
  const struct environment *env;
  struct channels channels;
  const struct config *config;
  const struct event *event;
};

static bool forgeries_allowed(const struct judgement *j) {
  const struct event *e = j->event;
  for (uint32_t i = 0; i < e->ntaken; i++) {
    const struct taken_message *t = &e->taken[i];
    if (t->forged && (!(j->config->local[t->from][LOCAL_STATUS] & STATUS_BYZANTINE) ||
                      !channel_exists(j->interp, j->config->globals, t->from, e->process)))
      return false;
  }
  return true;
}

static bool duplicates_allowed(const struct judgement *j, const struct action *a) {
  const struct event *e = j->event;
  int64_t kept = 0;
  for (uint32_t i = 0; i < e->ntaken; i++) {
    if (e->taken[i].kept && (e->taken[i].forged || !action_consumes(a)))
      return false;
    kept += e->taken[i].kept;
  }
  return kept == 0 || duplication_allowed(j->env, j->config->duplicated, kept);
}

/* FIFO: no message overtakes another. */
static bool oldest_first(const struct judgement *j, const struct action *a) {
  const struct event *e = j->event;
  for (uint32_t i = 0; i < e->ntaken && j->channels.kind == CHANNEL_FIFO; i++) {
    struct packet p = packet_of(&e->taken[i], e->process, a->kind);
    if (!e->taken[i].forged && packet_find(j->config, &p) != packet_oldest(j->config, p.from, p.to, false))
      return false;
  }
  return true;
}

/* MP: an action sees all messages delivered before it. */
static bool sees_all(const struct judgement *j) {
  const struct event *e = j->event;
  int64_t unseen = 0;
  if (j->interp->semantics != SEMANTICS_MP)
    return true;
  for (uint32_t i = 0; i < j->config->npackets; i++)
    unseen += j->config->packets[i].to == e->process && j->config->packets[i].place == PACKET_DELIVERED;
  for (uint32_t i = 0; i < e->ntaken; i++)
    unseen -= !e->taken[i].forged && e->taken[i].place == PACKET_DELIVERED;
  return unseen == 0;
}

static bool within_bound(const struct judgement *j, const struct config *next) {
  uint32_t n = next->nprocesses;
  int64_t most = 0, *held = memory_alloc(((size_t)n * n + 1) * sizeof *held);
  for (uint32_t i = 0; i < next->npackets && j->channels.bound > 0; i++) {
    int64_t now = ++held[(size_t)next->packets[i].from * n + next->packets[i].to];
    most = now > most ? now : most;
  }
  memory_free(held);
  if (j->channels.bound == 0 || most <= j->channels.bound)
    return true;
  coverage_mark(j->interp->coverage, environment_clause(j->env, CLAUSE_CHANNELS)->at, COVERED_FALSE);
  return false;
}

/* An action that ends in an error does so whether or not there is room for its messages. */
static bool action_allowed(const struct judgement *j, enum step_result result, const struct config *next,
                           const char **why) {
  const struct model *m = j->interp->model;
  const struct role *role = &m->roles[model_role_of(m, j->event->process)];
  const struct action *a = &role->actions[j->event->action];
  if (!forgeries_allowed(j))
    *why = "a forged message";
  else if (!duplicates_allowed(j, a))
    *why = "the number of duplicated messages";
  else if (!oldest_first(j, a))
    *why = "a message that overtakes another";
  else if (!sees_all(j))
    *why = "a delivered message that the action does not get";
  else if (result == STEP_OK && !within_bound(j, next))
    *why = "the bound of a channel";
  else
    return true;
  return false;
}

/* A crash in the middle of an action requires that the action is possible. */
static bool crash_in_action_allowed(const struct judgement *j, const struct config *next, const char **why) {
  struct event whole = *j->event;
  whole.kind = EVENT_ACTION;
  whole.nout = 0;
  struct judgement of_whole = *j;
  of_whole.event = &whole;
  struct config *after = config_new(j->interp->model);
  struct choices choices = {0};
  struct outbox out = {0};
  struct model_error error;
  choices_give(&choices, &whole.script);
  enum step_result result = event_apply(j->interp, j->env, j->config, &whole, &choices, &out, after, NULL, &error);
  bool ok = action_allowed(&of_whole, result, after, why);
  if (ok && !within_bound(j, next)) {
    *why = "the bound of a channel";
    ok = false;
  }
  choices_release(&choices);
  outbox_release(&out);
  config_free(after);
  return ok;
}

/* --- events of one message --- */

static bool delivery_allowed(const struct judgement *j) {
  const struct event *e = j->event;
  struct packet p = packet_of(&e->taken[0], e->process, e->message_kind);
  return !semantics_delivers(j->interp->semantics) &&
         (j->channels.kind != CHANNEL_FIFO ||
          packet_find(j->config, &p) == packet_oldest(j->config, p.from, p.to, true));
}

/* Any pending message, also one to a process that has stopped: it takes room in a bounded channel. */
static bool losing_allowed(const struct judgement *j) { return loss_allowed(j->env, j->config->lost, 1); }

bool event_allowed(struct interpreter *interp, const struct environment *env, const struct config *c,
                   const struct event *e, enum step_result result, const struct config *next, const char **why) {
  struct judgement j = {interp, env, environment_channels(env), c, e};
  switch (e->kind) {
  case EVENT_ACTION:
    return action_allowed(&j, result, next, why);
  case EVENT_DELIVER:
    *why = "a delivery";
    return delivery_allowed(&j);
  case EVENT_LOSE:
    *why = "the number of lost messages";
    return losing_allowed(&j);
  case EVENT_CRASH:
    *why = "the number of crashes";
    return faults_allowed(interp->model, env, c, e) &&
           (e->action == NO_ACTION || crash_in_action_allowed(&j, next, why));
  case EVENT_RECOVER:
    *why = "a recovery";
    return faults_allowed(interp->model, env, c, e);
  }
  return false;
}

bool event_allows(struct interpreter *interp, uint32_t environment, const struct config *c, const struct witness *w,
                  const char **why) {
  struct config *next = config_new(interp->model);
  struct model_error error;
  enum step_result result = event_step(interp, environment, c, w, next, NULL, &error);
  bool ok = result != STEP_BAD_WITNESS;
  if (!ok)
    *why = "a step that cannot be taken there";
  else
    ok = event_allowed(interp, &interp->model->environments[environment], c, w->event, result, next, why);
  config_free(next);
  return ok;
}
