/* Loops: a path whose end goes back to one of its states, again and again. */
#include "session/session_internal.h"

#include "interp/lasso_semantics.h"
#include "trace/lasso_replay.h"

#define LOOKED_AT_MOST 500 /* states before the end, to find a loop */
#define TRIED_MOST 8       /* that look like the last one */

bool session_lasso_trace(struct session *s, size_t from, size_t loop, uint32_t property, struct trace *t) {
  size_t n = s->path.steps.n;
  struct run run = {.initial = config_copy(&s->model, session_config_at(s, from))};
  struct claim claim = {.environment = s->environment, .semantics = s->semantics, .property = property, .lasso = true};
  claim.loop = (uint32_t)(loop - from);
  run.steps = memory_alloc((n - from + 1) * sizeof *run.steps);
  for (size_t i = from; i < n; i++)
    run.steps[run.nsteps++] = witness_copy(&s->model, s->path.steps.at[i].witness);
  if (trace_window(t, s->interp, &s->model, &claim, &run, (uint32_t)from, NULL) && t->nconfigs == n - from + 1)
    return true;
  trace_release(t);
  return false;
}

static bool can_have_loop(struct session *s) {
  size_t n = s->path.steps.n;
  if (s->path.async)
    return session_fail(s, "loops are not for asynchronous rounds");
  if (n >= UINT32_MAX)
    return session_fail(s, "the path is too long");
  return session_current(s) != NULL;
}

/* Does the interpreter confirm the loop? */
static bool closes(struct session *s, size_t position) {
  struct trace t;
  struct text why = {0};
  bool ok = session_lasso_trace(s, position, position, NO_PROPERTY, &t);
  if (!ok)
    return session_fail(s, "the path cannot be replayed");
  ok = lasso_closes(&t, s->interp, &why);
  trace_release(&t);
  if (!ok)
    session_fail(s, "%s", text_or_empty(&why));
  text_release(&why);
  return !session_stop_seen(s) && ok;
}

bool session_close_loop(struct session *s, size_t position) {
  session_clear_error(s);
  if (!can_have_loop(s))
    return false;
  if (position > s->path.steps.n)
    return session_fail(s, "the path has only %zu steps", s->path.steps.n);
  if (s->path.closed && s->path.loop == position)
    return true;
  if (!closes(s, position))
    return false;
  s->path.closed = true;
  s->path.loop = position;
  return true;
}

void session_open_loop(struct session *s) { s->path.closed = false; }

bool session_loop(const struct session *s, size_t *position) {
  *position = s->path.loop;
  return s->path.closed;
}

static bool recurs(struct session *s, size_t position) {
  struct recurrence r = {0};
  bool ok = config_recurs(s->interp, s->environment, session_config_at(s, position),
                          session_config_at(s, s->path.steps.n), &r);
  recurrence_release(&r);
  return ok;
}

bool session_find_loop(struct session *s, size_t *position) {
  size_t n = s->path.steps.n;
  session_clear_error(s);
  bool found = false;
  if (can_have_loop(s)) {
    unsigned tried = 0;
    for (size_t i = n; !found && tried < TRIED_MOST && i-- > (n > LOOKED_AT_MOST ? n - LOOKED_AT_MOST : 0);) {
      *position = i;
      found = recurs(s, i) && ++tried && closes(s, i);
    }
    if (!found) {
      *position = n;
      found = closes(s, n);
    }
  }
  if (!s->interrupted)
    session_clear_error(s);
  return found;
}
