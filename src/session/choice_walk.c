/* All choices of a state, in a fixed order: that of the interpreter's plain enumeration.

   Asynchronous rounds: the choices of process p among n have the numbers p, p + n, p + 2n and so on. If its round is
   fixed, it has one choice at most. If it is the first to end its round, its choices are the rounds that it can end
   now, in the plain order except that its own heard-of set varies fastest. */
#include "session/session_internal.h"

#include "interp/async_round.h"
#include "interp/local.h"
#include "session/round_pruning.h"

#include <string.h>

struct choice_walk {
  struct session *session;
  choice_fn *visit;
  void *context;
  uint64_t index;
  uint32_t process; /* asynchronous rounds: whose choices are enumerated; otherwise SESSION_NO_PROCESS */
  bool ended;
};

static void visit_choice(struct choice_walk *k, struct numbered_choice c) {
  c.index = k->index;
  c.process = k->process;
  k->index += k->process == SESSION_NO_PROCESS ? 1 : k->session->model.nprocesses;
  k->ended = !k->visit(k->context, &c);
  arena_clear(&k->session->interp->strings); /* otherwise error messages that are never shown would accumulate */
}

/* The process ends its round, if it can. */
static void visit_end_of_round(struct choice_walk *k, struct numbered_choice c) {
  struct async_run *run = k->session->path.async;
  struct config *view = config_new(&k->session->model);
  const char *why;
  bool ends = async_run_end_round(run, k->process, &why);
  if (ends) {
    async_run_view(run, view);
    async_run_undo(run, k->process);
    c.after = view;
    visit_choice(k, c);
  }
  config_free(view);
}

/* An evaluation that was interrupted looks like an error of the model, so the stop flag is tested first. */
static bool visit_step(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  struct choice_walk *k = context;
  struct numbered_choice c = {.witness = w, .result = result, .after = result == STEP_OK ? next : NULL, .error = error};
  if (interpreter_stopped(k->session->interp))
    return false;
  if (result == STEP_BAD_WITNESS)
    return true;
  if (k->process == SESSION_NO_PROCESS || result == STEP_ERROR) {
    if (k->process == SESSION_NO_PROCESS || error->process == k->process)
      visit_choice(k, c);
    return !k->ended;
  }
  c.fixed = next;
  async_run_add_round(k->session->path.async, w, next);
  visit_end_of_round(k, c);
  async_run_drop_round(k->session->path.async);
  return !k->ended;
}

static bool walk_rounds(struct choice_walk *k, uint32_t environment, const struct config *c) {
  struct session *s = k->session;
  struct round_pruning pruning;
  round_pruning_init(&pruning, s, environment, c);
  if (k->process != SESSION_NO_PROCESS)
    round_pruning_ends(&pruning, k->process);
  struct round_filter filter = round_pruning_filter(&pruning);
  bool all = round_some_steps(s->interp, environment, c, &filter, visit_step, k) && !pruning.stopped;
  round_pruning_release(&pruning);
  return all;
}

static bool walk_process(struct choice_walk *k, uint32_t environment, const struct config *c, uint32_t p) {
  const struct async_run *run = k->session->path.async;
  k->process = p;
  k->index = p;
  if (!process_active(run->at.at[run->done[p]]->local[p][LOCAL_STATUS]))
    return true;
  if (run->done[p] == run->nrounds)
    return walk_rounds(k, environment, c);
  visit_end_of_round(k, (struct numbered_choice){.result = STEP_OK});
  return !k->ended;
}

enum walk_end choices_walk(struct session *s, uint32_t environment, const struct config *c, uint32_t process,
                           choice_fn *visit, void *context) {
  struct choice_walk k = {.session = s, .visit = visit, .context = context, .process = SESSION_NO_PROCESS};
  bool all = true;
  if (session_stop_seen(s))
    return WALK_STOPPED;
  if (model_steps(&s->model))
    all = config_successors(s->interp, environment, c, visit_step, &k);
  else if (!s->path.async)
    all = walk_rounds(&k, environment, c);
  for (uint32_t p = 0; p < s->model.nprocesses && s->path.async && all; p++)
    if (process == SESSION_NO_PROCESS || process == p)
      all = walk_process(&k, environment, c, p);
  if (all || k.ended)
    return all ? WALK_ALL : WALK_ENDED;
  if (!session_stop_seen(s)) { /* the flag was set, but has been cleared since */
    s->interrupted = true;
    session_fail(s, "interrupted");
  }
  return WALK_STOPPED;
}

uint32_t choice_process(const struct session *s, uint64_t index) {
  return s->path.async ? (uint32_t)(index % s->model.nprocesses) : SESSION_NO_PROCESS;
}

/* --- equality of witnesses --- */

static bool same_script(const struct script *a, const struct script *b) {
  return a->n == b->n && (a->n == 0 || !memcmp(a->at, b->at, a->n * sizeof *a->at));
}

static bool same_event(const struct event *a, const struct event *b) {
  if (a->kind != b->kind || a->process != b->process || a->action != b->action || a->message_kind != b->message_kind ||
      a->ntaken != b->ntaken || a->nout != b->nout || !same_script(&a->script, &b->script))
    return false;
  for (uint32_t i = 0; i < a->ntaken; i++) {
    const struct taken_message *x = &a->taken[i], *y = &b->taken[i];
    if (x->from != y->from || x->forged != y->forged || x->kept != y->kept || x->message != y->message ||
        (!x->forged && x->place != y->place))
      return false;
  }
  return a->nout == 0 || !memcmp(a->out, b->out, a->nout * sizeof *a->out);
}

static bool same_sending(const struct model *m, const struct witness *a, const struct witness *b, uint32_t p) {
  uint32_t noracles = role_noracles(&m->roles[model_role_of(m, p)]);
  if (a->crashes[p] != b->crashes[p] || !same_script(&a->sends[p], &b->sends[p]))
    return false;
  return noracles == 0 ||
         (a->oracles[p] && b->oracles[p] && !memcmp(a->oracles[p], b->oracles[p], noracles * sizeof(value)));
}

bool witness_equal_sending(const struct model *m, const struct witness *a, const struct witness *b) {
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (!same_sending(m, a, b, p))
      return false;
  return true;
}

bool witness_equal(const struct model *m, const struct witness *a, const struct witness *b) {
  if (a->event || b->event)
    return a->event && b->event && same_event(a->event, b->event);
  if (a->nforged != b->nforged)
    return false;
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (!same_sending(m, a, b, p) || memcmp(a->heard[p], b->heard[p], a->nprocesses) ||
        !same_script(&a->updates[p], &b->updates[p]))
      return false;
  for (uint32_t i = 0; i < a->nforged; i++)
    if (a->forged[i].receiver != b->forged[i].receiver || a->forged[i].sender != b->forged[i].sender ||
        a->forged[i].message != b->forged[i].message)
      return false;
  return true;
}
