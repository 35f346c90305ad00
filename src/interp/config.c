#include "interp/config.h"
#include "interp/event_step.h"
#include "interp/round_step.h"

#include <string.h>

struct interpreter *interpreter_new(struct model *m) {
  struct interpreter *interp = memory_alloc(sizeof *interp);
  interp->model = m;
  arena_init(&interp->strings);
  arena_init(&interp->scratch);
  for (uint32_t r = 0; r < m->nroles; r++) {
    uint32_t length = role_local_length(&m->roles[r]);
    if (length > interp->max_local)
      interp->max_local = length;
    if (m->roles[r].nvars > interp->max_vars)
      interp->max_vars = m->roles[r].nvars;
  }
  interp->semantics = m->kind == MODEL_MESSAGES ? SEMANTICS_M
                      : m->kind == MODEL_SHARED ? SEMANTICS_INTERLEAVING
                                                : SEMANTICS_COARSE;
  interp->environment = NO_ENVIRONMENT;
  return interp;
}

void interpreter_free(struct interpreter *interp) {
  if (!interp)
    return;
  arena_release(&interp->strings);
  arena_release(&interp->scratch);
  memory_free(interp);
}

void interpreter_watch(struct interpreter *interp, const volatile sig_atomic_t *stop) { interp->stop = stop; }

sig_atomic_t interpreter_stopped(const struct interpreter *interp) { return interp->stop ? *interp->stop : 0; }

void interpreter_observe(struct interpreter *interp, uint32_t environment) { interp->environment = environment; }

void interpreter_follow(struct interpreter *interp, enum semantics semantics, bool arrivals) {
  interp->semantics = semantics;
  interp->arrivals = arrivals;
}

struct config *config_new(const struct model *m) {
  struct config *c = memory_alloc(sizeof *c);
  c->nprocesses = m->nprocesses;
  c->phase = 1;
  c->globals = memory_alloc((m->nglobals + 1) * sizeof *c->globals);
  c->local = memory_alloc((m->nprocesses + 1) * sizeof *c->local);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    c->local[p] = memory_alloc(role_local_length(&m->roles[model_role_of(m, p)]) * sizeof **c->local);
  return c;
}

void config_assign(const struct model *m, struct config *to, const struct config *from) {
  to->point = from->point;
  to->rounds = from->rounds;
  to->phase = from->phase;
  to->lost = from->lost;
  to->corrupted = from->corrupted;
  to->duplicated = from->duplicated;
  memcpy(to->globals, from->globals, m->nglobals * sizeof *to->globals);
  if (from->npackets > to->packets_cap) {
    to->packets = memory_resize_array(to->packets, from->npackets, sizeof *to->packets);
    to->packets_cap = from->npackets;
  }
  if (from->npackets)
    memcpy(to->packets, from->packets, from->npackets * sizeof *to->packets);
  to->npackets = from->npackets;
  for (uint32_t p = 0; p < m->nprocesses; p++)
    memcpy(to->local[p], from->local[p], role_local_length(&m->roles[model_role_of(m, p)]) * sizeof **to->local);
}

struct config *config_copy(const struct model *m, const struct config *c) {
  struct config *copy = config_new(m);
  config_assign(m, copy, c);
  return copy;
}

void config_free(struct config *c) {
  if (!c)
    return;
  for (uint32_t p = 0; p < c->nprocesses; p++)
    memory_free(c->local[p]);
  memory_free(c->local);
  memory_free(c->globals);
  memory_free(c->packets);
  memory_free(c);
}

static bool same_packet(const struct packet *a, const struct packet *b) {
  return a->from == b->from && a->to == b->to && a->kind == b->kind && a->place == b->place && a->message == b->message;
}

static bool same_locals(const struct model *m, const struct config *a, const struct config *b) {
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (memcmp(a->local[p], b->local[p], role_local_length(&m->roles[model_role_of(m, p)]) * sizeof **a->local))
      return false;
  return true;
}

bool config_stutters(const struct model *m, const struct config *before, const struct config *after) {
  return !memcmp(before->globals, after->globals, m->nglobals * sizeof *before->globals) &&
         same_locals(m, before, after);
}

bool config_equal(const struct model *m, const struct config *a, const struct config *b) {
  if (a->point != b->point || a->rounds != b->rounds || a->phase != b->phase || a->lost != b->lost ||
      a->corrupted != b->corrupted || a->duplicated != b->duplicated || a->npackets != b->npackets ||
      !config_stutters(m, a, b))
    return false;
  for (uint32_t i = 0; i < a->npackets; i++)
    if (!same_packet(&a->packets[i], &b->packets[i]))
      return false;
  return true;
}

/* --- witnesses --- */

struct witness *witness_new(const struct model *m) {
  struct witness *w = memory_alloc(sizeof *w);
  uint32_t n = m->nprocesses;
  if (model_steps(m)) {
    w->event = memory_alloc(sizeof *w->event);
    w->event->action = NO_ACTION;
    return w;
  }
  w->nprocesses = n;
  w->oracles = memory_alloc((n + 1) * sizeof *w->oracles);
  w->crashes = memory_alloc((n + 1) * sizeof *w->crashes);
  w->heard = memory_alloc((n + 1) * sizeof *w->heard);
  w->sends = memory_alloc((n + 1) * sizeof *w->sends);
  w->updates = memory_alloc((n + 1) * sizeof *w->updates);
  for (uint32_t p = 0; p < n; p++)
    w->heard[p] = memory_alloc(n + 1);
  return w;
}

static struct script script_copy(const struct script *s) {
  struct script copy = {s->n, NULL};
  if (s->n > 0) {
    copy.at = memory_alloc(s->n * sizeof *s->at);
    memcpy(copy.at, s->at, s->n * sizeof *s->at);
  }
  return copy;
}

static void event_assign(struct event *to, const struct event *from) {
  *to = *from;
  to->script = script_copy(&from->script);
  to->taken = NULL;
  to->out = NULL;
  to->ntaken = to->nout = 0;
  for (uint32_t i = 0; i < from->ntaken; i++)
    event_add_taken(to, from->taken[i]);
  for (uint32_t i = 0; i < from->nout; i++)
    event_add_out(to, from->out[i]);
}

struct witness *witness_copy(const struct model *m, const struct witness *w) {
  struct witness *copy = witness_new(m);
  if (w->event)
    event_assign(copy->event, w->event);
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    uint32_t noracles = role_noracles(&m->roles[model_role_of(m, p)]);
    copy->crashes[p] = w->crashes[p];
    memcpy(copy->heard[p], w->heard[p], w->nprocesses);
    copy->sends[p] = script_copy(&w->sends[p]);
    copy->updates[p] = script_copy(&w->updates[p]);
    if (w->oracles[p]) {
      copy->oracles[p] = memory_alloc((noracles + 1) * sizeof **copy->oracles);
      memcpy(copy->oracles[p], w->oracles[p], noracles * sizeof **copy->oracles);
    }
  }
  copy->nforged = w->nforged;
  if (w->nforged > 0) {
    copy->forged = memory_alloc(w->nforged * sizeof *copy->forged);
    memcpy(copy->forged, w->forged, w->nforged * sizeof *w->forged);
  }
  return copy;
}

void witness_free(struct witness *w) {
  if (!w)
    return;
  if (w->event) {
    memory_free(w->event->taken);
    memory_free(w->event->script.at);
    memory_free(w->event->out);
    memory_free(w->event);
  }
  for (uint32_t p = 0; p < w->nprocesses; p++) {
    memory_free(w->heard[p]);
    memory_free(w->oracles[p]);
    memory_free(w->sends[p].at);
    memory_free(w->updates[p].at);
  }
  memory_free(w->oracles);
  memory_free(w->crashes);
  memory_free(w->heard);
  memory_free(w->sends);
  memory_free(w->updates);
  memory_free(w->forged);
  memory_free(w);
}

void event_add_taken(struct event *e, struct taken_message t) {
  e->taken = memory_resize_array(e->taken, e->ntaken + 1, sizeof *e->taken);
  uint32_t at = e->ntaken++;
  for (; at > 0 && e->taken[at - 1].from > t.from; at--)
    e->taken[at] = e->taken[at - 1];
  e->taken[at] = t;
}

void event_add_out(struct event *e, uint32_t number) {
  e->out = memory_resize_array(e->out, e->nout + 1, sizeof *e->out);
  e->out[e->nout++] = number;
}

void event_set_script(struct event *e, const uint32_t *choices, size_t n) {
  e->script.at = memory_resize_array(e->script.at, n + 1, sizeof *e->script.at);
  if (n)
    memcpy(e->script.at, choices, n * sizeof *choices);
  e->script.n = (uint32_t)n;
}

const struct action *event_action(const struct model *m, const struct event *e) {
  return e->action == NO_ACTION ? NULL : &m->roles[model_role_of(m, e->process)].actions[e->action];
}

uint32_t event_message_kind(const struct model *m, const struct event *e) {
  const struct action *a = event_action(m, e);
  return a ? a->kind : e->message_kind;
}

/* --- log of a step --- */

#define LOG(log, list, entry)                                                                                          \
  do {                                                                                                                 \
    if (log) {                                                                                                         \
      if ((log)->n##list == (log)->list##_cap)                                                                         \
        (log)->list = vec_grow((log)->list, &(log)->list##_cap, (log)->n##list + 1, sizeof *(log)->list);              \
      (log)->list[(log)->n##list++] = (entry);                                                                         \
    }                                                                                                                  \
  } while (0)

void step_log_sent(struct step_log *log, struct sent s) { LOG(log, sent, s); }
void step_log_arrival(struct step_log *log, struct arrival a) { LOG(log, arrivals, a); }
void step_log_change(struct step_log *log, struct change c) { LOG(log, changes, c); }

void step_log_release(struct step_log *log) {
  memory_free(log->sent);
  memory_free(log->arrivals);
  memory_free(log->changes);
  memset(log, 0, sizeof *log);
}

enum verdict3 config_holds(struct interpreter *interp, const struct node *formula, const struct config *before,
                           const struct config *after, struct model_error *error) {
  if (after && model_steps(interp->model) && config_stutters(interp->model, before, after))
    return V_TRUE;
  struct quiescence quiescence;
  bool known = quiescence_of(interp, formula, before, &quiescence); /* first: it evaluates actions */
  struct eval e;
  jmp_buf failure;
  eval_begin(&e, interp);
  e.before = before;
  e.after = after;
  e.quiescence = known ? &quiescence : NULL;
  e.globals = before->globals;
  e.point = before->point == POINT_END ? interp->model->npoints - 1 : before->point;
  e.phase = before->phase;
  e.failure = &failure;
  e.error.process = UINT32_MAX;
  if (setjmp(failure)) {
    if (error)
      *error = e.error;
    return V_ERROR;
  }
  bool holds = eval_true(&e, formula);
  if (holds)
    coverage_mark(interp->coverage, formula->at, COVERED_HELD);
  return holds ? V_TRUE : V_FALSE;
}

/* --- rounds and steps --- */

enum step_result config_step(struct interpreter *interp, uint32_t environment, const struct config *c,
                             const struct witness *w, struct config *next, struct step_log *log,
                             struct model_error *error) {
  return model_steps(interp->model) ? event_step(interp, environment, c, w, next, log, error)
                                    : round_step(interp, environment, c, w, next, log, error);
}

bool config_allows(struct interpreter *interp, uint32_t environment, const struct config *c, const struct witness *w,
                   const char **why) {
  return model_steps(interp->model) ? event_allows(interp, environment, c, w, why)
                                    : round_allows(interp, environment, c, w, why);
}

bool config_successors(struct interpreter *interp, uint32_t environment, const struct config *c, config_step_fn *visit,
                       void *context) {
  return model_steps(interp->model) ? event_all_steps(interp, environment, c, visit, context)
                                    : round_all_steps(interp, environment, c, visit, context);
}
