/* Saving the path as a trace, and loading a trace as the path. */
#include "session/session_internal.h"

#include "trace/trace_json.h"

#include <stdlib.h>
#include <string.h>

/* --- saving --- */

static struct run path_run(const struct session *s) {
  struct run run = {.initial = config_copy(&s->model, s->initial), .nsteps = (uint32_t)s->path.n};
  run.steps = memory_alloc((s->path.n + 1) * sizeof *run.steps);
  for (size_t i = 0; i < s->path.n; i++)
    run.steps[i] = witness_copy(&s->model, s->path.at[i].witness);
  return run;
}

static char *json_written(json_t *j) {
  char *dump = json_dumps(j, JSON_INDENT(2)), *copy = dump ? memory_strdup(dump) : NULL;
  free(dump);
  return copy;
}

/* Does the evaluation of the property fail in the last state? */
static bool property_fails(struct session *s, uint32_t property) {
  const struct config *last = session_config_at(s, s->path.n);
  const struct config *before = s->path.n ? session_config_at(s, s->path.n - 1) : NULL;
  struct model_error ignored;
  return last && property_evaluate(s->interp, &s->model.properties[property], before, last, &ignored) == V_ERROR;
}

char *session_save(struct session *s, uint32_t property) {
  session_clear_error(s);
  const char *error;
  struct span at;
  if (!s->initial || s->path.n >= UINT32_MAX) {
    session_fail(s, s->initial ? "the path is too long" : "the session has not started");
    return NULL;
  }
  if (property != NO_PROPERTY &&
      (property >= s->model.nproperties || s->model.properties[property].kind == PROPERTY_LIVE)) {
    session_fail(s, "there is no such property of states or steps");
    return NULL;
  }
  struct claim claim = {.environment = s->environment, .semantics = s->semantics, .property = property};
  claim.error = property == NO_PROPERTY ? session_failed(s, &error, &at) : property_fails(s, property);
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
  if (!out)
    session_fail(s, "%s", why.n ? why.at : "the trace cannot be written");
  text_release(&why);
  return out;
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

/* The trace was replayed; the part of it that is a run becomes the path. */
static void path_take(struct session *s, struct trace *t) {
  session_set_initial(s, config_copy(&s->model, t->configs[0]), SESSION_NONE);
  for (uint32_t i = 0; i < t->run.nsteps; i++) {
    struct witness *w = witness_copy(&s->model, t->run.steps[i]);
    if (!w->event)
      witness_normalise(s, t->configs[i], w);
    session_push(s, w, SESSION_NONE, i + 1 < t->nconfigs ? t->configs[i + 1] : NULL, &t->error);
  }
}

static bool load(struct session *s, const json_t *j, struct text *why) {
  struct run run;
  struct trace trace;
  struct claim claim = {.environment = s->environment, .semantics = s->semantics, .property = NO_PROPERTY};
  if (!head_fits(s, j, why) || !trace_run_read(j, &s->model, &run, why))
    return false;
  bool ok = trace_replay(&trace, s->interp, &s->model, &claim, &run, why) != REPLAY_NOT_A_RUN;
  ok = ok && !session_stop_seen(s);
  if (ok)
    path_take(s, &trace);
  trace_release(&trace);
  return ok;
}

bool session_load(struct session *s, const char *json, size_t length) {
  json_error_t error;
  struct text why = {0};
  session_clear_error(s);
  json_t *j = json_loadb(json, length, 0, &error);
  bool ok = j && load(s, j, &why);
  if (!j)
    session_fail(s, "this is no JSON: line %d: %s", error.line, error.text);
  else if (!ok && !s->interrupted)
    session_fail(s, "this is no trace of the session: %s", text_or_empty(&why));
  text_release(&why);
  json_decref(j);
  return ok;
}
