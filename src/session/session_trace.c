/* Saving the path as a trace, and loading a trace as the path. */
#include "session/session_internal.h"

#include "interp/async_round.h"
#include "trace/trace_json.h"

#include <stdlib.h>
#include <string.h>

/* --- saving --- */

static struct run path_run(const struct session *s) {
  size_t n = s->path.steps.n;
  struct run run = {.initial = config_copy(&s->model, s->path.initial)};
  run.steps = memory_alloc((n + 1) * sizeof *run.steps);
  run.order = s->path.async ? memory_alloc((n + 1) * sizeof *run.order) : NULL;
  for (size_t i = 0; i < n; i++) {
    const struct path_step *step = &s->path.steps.at[i];
    if (step->witness)
      run.steps[run.nsteps++] = witness_copy(&s->model, step->witness);
    if (run.order)
      run.order[run.norder++] = step->process;
  }
  return run;
}

static char *json_written(json_t *j) {
  char *dump = json_dumps(j, JSON_INDENT(1));
  struct text out = {0};
  if (dump)
    text_addf(&out, "%s\n", dump); /* as --trace-out writes it */
  free(dump);
  return out.at;
}

/* Does the evaluation of the property fail in the last state? */
static bool property_fails(struct session *s, uint32_t property) {
  size_t n = s->path.steps.n;
  const struct config *last = session_config_at(s, n), *before = n ? session_config_at(s, n - 1) : NULL;
  struct model_error ignored;
  return last && property_evaluate(s->interp, &s->model.properties[property], before, last, &ignored) == V_ERROR;
}

char *session_save(struct session *s, uint32_t property) {
  session_clear_error(s);
  const char *error;
  struct span at;
  if (!s->path.initial || s->path.steps.n >= UINT32_MAX) {
    session_fail(s, s->path.initial ? "the path is too long" : "the session has not started");
    return NULL;
  }
  bool live = property < model_nasked(&s->model) && s->model.properties[property].kind == PROPERTY_LIVE;
  if (property != NO_PROPERTY && (property >= model_nasked(&s->model) || (live && !s->path.closed))) {
    session_fail(s, live ? "a live property is about whole runs: the path does not end in a loop"
                         : "there is no such property of states or steps");
    return NULL;
  }
  struct claim claim = {.environment = s->environment, .semantics = s->semantics, .property = property, .lasso = live};
  claim.loop = live ? (uint32_t)s->path.loop : 0;
  claim.error = property == NO_PROPERTY ? session_failed(s, &error, &at) : !live && property_fails(s, property);
  struct run run = path_run(s);
  struct trace trace;
  struct text why = {0};
  char *out = NULL;
  if (trace_replay(&trace, s->interp, &s->model, &claim, &run, &why) == REPLAY_CONFIRMED) {
    json_t *j = trace_to_json(&trace, s->interp);
    out = json_written(j);
    json_decref(j);
  }
  trace_release(&trace);
  if (!out && !session_stop_seen(s))
    session_fail(s, "%s", why.n ? why.at : "the trace cannot be written");
  text_release(&why);
  return out;
}

/* --- parts of the path --- */

size_t session_rounds(struct session *s) {
  session_seek(s, s->path.steps.n);
  return s->path.async ? s->path.async->nrounds : s->path.steps.n;
}

struct interpreter *session_interpreter(struct session *s) {
  return s->interp;
}

/* The state before that step or round. */
static const struct config *window_config(struct session *s, size_t at) {
  return s->path.async ? s->path.async->at.at[at] : session_config_at(s, at);
}

static const struct witness *window_step(struct session *s, size_t at) {
  return s->path.async ? session_fixed_round(s, (uint32_t)at)->witness : s->path.steps.at[at].witness;
}

/* The loop, if its beginning is in the window. */
static void window_loop(const struct session *s, size_t from, uint32_t property, struct claim *claim) {
  bool live = property < s->model.nproperties && s->model.properties[property].kind == PROPERTY_LIVE;
  if (!s->path.closed || s->path.loop < from || claim->property != NO_PROPERTY || claim->error)
    return;
  claim->lasso = true;
  claim->loop = (uint32_t)(s->path.loop - from);
  claim->property = live ? property : NO_PROPERTY;
}

/* What the end of the path shows of the property. */
static void window_claim(struct session *s, uint32_t property, struct claim *claim) {
  size_t n = s->path.steps.n;
  const char *error;
  struct span at;
  struct model_error ignored;
  if (session_failed(s, &error, &at)) {
    claim->error = true;
  } else if (property < s->model.nproperties && s->model.properties[property].kind != PROPERTY_LIVE) {
    const struct property *p = &s->model.properties[property];
    enum verdict3 wanted = p->kind == PROPERTY_COVER ? V_TRUE : V_FALSE;
    const struct config *before = n ? session_config_at(s, n - 1) : NULL;
    if (!property_over(s, p, n) && property_evaluate(s->interp, p, before, session_config_at(s, n), &ignored) == wanted)
      claim->property = property;
  }
}

static bool take_window(struct session *s, size_t from, size_t to, const struct claim *claim, struct trace *t) {
  const struct session_path *path = &s->path;
  struct run run = {.initial = config_copy(&s->model, window_config(s, from))};
  run.steps = memory_alloc((to - from + 1) * sizeof *run.steps);
  for (size_t i = from; i < to; i++)
    run.steps[run.nsteps++] = witness_copy(&s->model, window_step(s, i));
  run.order = path->async ? memory_alloc((path->steps.n + 1) * sizeof *run.order) : NULL;
  for (size_t i = 0; run.order && i < path->steps.n; i++)
    run.order[run.norder++] = path->steps.at[i].process;
  bool ok = trace_window(t, s->interp, &s->model, claim, &run, (uint32_t)from, path->async ? path->async->done : NULL);
  size_t n = path->steps.n;
  if (ok && path->async && to == path->async->nrounds && session_config_at(s, n)) {
    t->cut = config_copy(&s->model, session_config_at(s, n));
    t->cut_before = n ? config_copy(&s->model, session_config_at(s, n - 1)) : NULL;
  }
  return ok;
}

bool session_window(struct session *s, size_t from, size_t to, uint32_t property, struct trace *t) {
  struct claim claim = {.environment = s->environment, .semantics = s->semantics, .property = NO_PROPERTY};
  session_clear_error(s);
  if (!s->path.initial)
    return session_fail(s, "the session has not started");
  size_t n = session_rounds(s);
  if (from > to || to > n || n >= UINT32_MAX)
    return session_fail(s, "the path has %zu %s", n, model_steps(&s->model) ? "steps" : "rounds");
  if (!window_config(s, from))
    return session_fail(s, "there is no state after the error");
  if (to == n) {
    window_claim(s, property, &claim);
    window_loop(s, from, property, &claim);
  }
  if (take_window(s, from, to, &claim, t))
    return true;
  trace_release(t);
  return session_fail(s, "the path cannot be replayed");
}

/* --- loading --- */

static bool same_params(const struct model *m, const struct trace_head *head, struct text *why) {
  for (size_t i = 0; i < head->nparams; i++) {
    const struct param *found = NULL;
    for (uint32_t k = 0; k < m->nparams && !found; k++)
      if (!strcmp(m->params[k].name, head->params[i].name))
        found = &m->params[k];
    if (!found || found->value != head->params[i].value) {
      text_addf(why, "parameter '%.60s' has another value here", head->params[i].name);
      return false;
    }
  }
  return true;
}

static bool head_fits(struct session *s, const json_t *j, struct text *why) {
  struct trace_head head;
  const struct model *m = &s->model;
  bool ok = trace_head_read(j, &head, why) && same_params(m, &head, why);
  const char *semantics = semantics_name(s->semantics);
  if (ok && strcmp(head.environment, m->environments[s->environment].name) != 0) {
    text_addf(why, "it is of environment '%.60s'", head.environment);
    ok = false;
  }
  if (ok && head.semantics && strcmp(head.semantics, semantics) != 0) {
    text_addf(why, "it is of semantics '%.60s', the session of '%s'", head.semantics, semantics);
    ok = false;
  }
  trace_head_release(&head);
  return ok;
}

/* Asynchronous rounds: the first process to end a round fixes it. Rounds that nobody has ended are dropped. */
static void path_take_order(struct session *s, struct trace *t) {
  uint32_t *done = memory_alloc((t->model->nprocesses + (size_t)1) * sizeof *done), nrounds = 0;
  for (uint32_t i = 0; i < t->run.norder; i++) {
    uint32_t p = t->run.order[i], r = done[p]++;
    bool fixed = r < nrounds;
    struct numbered_choice c = {.witness = fixed ? NULL : t->run.steps[r], .process = p, .error = &t->error};
    c.fixed = !fixed && r + 1 < t->nconfigs ? t->configs[r + 1] : NULL;
    c.result = fixed || c.fixed ? STEP_OK : STEP_ERROR;
    nrounds += !fixed;
    session_seek(s, i);
    struct config *view = c.result == STEP_OK ? session_view_after(s, c.witness, c.fixed, p) : NULL;
    c.after = view;
    session_push(s, &c, fixed ? p : SESSION_NONE);
    config_free(view);
  }
  memory_free(done);
}

/* The trace was replayed; the part of it that is a run becomes the path. */
static void path_take(struct session *s, struct trace *t) {
  session_set_initial(s, config_copy(&s->model, t->configs[0]), SESSION_NONE);
  for (uint32_t i = 0; i < t->run.nsteps && !t->run.steps[i]->event; i++)
    witness_normalise(s, t->configs[i], t->run.steps[i]);
  if (s->path.async) {
    path_take_order(s, t);
    return;
  }
  for (uint32_t i = 0; i < t->run.nsteps; i++) {
    struct numbered_choice c = {.witness = t->run.steps[i], .process = SESSION_NO_PROCESS, .error = &t->error};
    c.after = i + 1 < t->nconfigs ? t->configs[i + 1] : NULL;
    c.result = c.after ? STEP_OK : STEP_ERROR;
    session_push(s, &c, SESSION_NONE);
  }
}

static bool load(struct session *s, const json_t *j, struct text *why) {
  struct run run;
  struct trace trace;
  struct claim claim = {.environment = s->environment, .semantics = s->semantics, .property = NO_PROPERTY};
  if (!head_fits(s, j, why) || !trace_run_read(j, &s->model, &run, why))
    return false;
  bool ok = trace_replay(&trace, s->interp, &s->model, &claim, &run, why) != REPLAY_NOT_A_RUN;
  if (session_stop_seen(s))
    ok = false;
  if (ok)
    path_take(s, &trace);
  trace_release(&trace);
  return ok;
}

/* The loop of a trace, if it has one. */
static bool load_loop(struct session *s, const json_t *j) {
  const json_t *loop = json_object_get(j, "loop");
  return !loop || session_close_loop(s, (size_t)json_integer_value(loop));
}

bool session_load(struct session *s, const char *json, size_t length) {
  json_error_t error;
  struct text why = {0};
  session_clear_error(s);
  json_t *j = json_loadb(json, length, 0, &error);
  struct session_path old = session_put_aside(s);
  bool ok = j && load(s, j, &why) && load_loop(s, j);
  session_keep_path(s, old, ok);
  if (!j)
    session_fail(s, "this is not JSON: line %d: %s", error.line, error.text);
  else if (!ok && !s->interrupted && why.n)
    session_fail(s, "this is not a trace of the session: %s", text_or_empty(&why));
  text_release(&why);
  json_decref(j);
  return ok;
}
