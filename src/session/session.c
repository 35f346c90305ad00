/* Sessions and their paths. */
#include "session/session.h"

#include "interp/eval.h"
#include "session/session_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* --- lifecycle --- */

static const char *unfit(const struct model *m, uint32_t environment, enum semantics semantics) {
  bool fits = false;
  if (environment >= m->nenvironments)
    return "there is no such environment";
  switch (m->kind) {
  case MODEL_ROUNDS:
    if (semantics == SEMANTICS_FINE)
      return "sessions follow whole rounds: in fine rounds what happened in a round is agreed on only later";
    if (m->nprocesses > SESSION_ROUND_PROCESSES)
      return "sessions of rounds are for at most 64 processes";
    fits = semantics == SEMANTICS_COARSE;
    break;
  case MODEL_MESSAGES:
    fits = semantics == SEMANTICS_M || semantics == SEMANTICS_M_MP || semantics == SEMANTICS_MP;
    break;
  case MODEL_SHARED:
    fits = semantics == SEMANTICS_INTERLEAVING;
    break;
  case MODEL_COUNTERS:
    return "counter systems have no processes that take steps";
  }
  return fits ? NULL : "this semantics is not for that kind of model";
}

struct session *session_new(struct model *m, uint32_t environment, enum semantics semantics, char **why) {
  const char *reason = unfit(m, environment, semantics);
  *why = reason ? memory_strdup(reason) : NULL;
  if (reason)
    return NULL;
  struct session *s = memory_alloc(sizeof *s);
  s->given = m;
  s->model = *m;
  s->environment = environment;
  s->semantics = semantics;
  s->initial_index = SESSION_NONE;
  relaxed_environments_init(s);
  s->interp = interpreter_new(&s->model);
  interpreter_follow(s->interp, semantics, false);
  return s;
}

static void path_cut(struct session *s, size_t length) {
  while (s->path.n > length) {
    struct path_step *step = &s->path.at[--s->path.n];
    witness_free(step->witness);
    config_free(step->after);
    memory_free(step->error);
  }
}

void session_free(struct session *s) {
  if (!s)
    return;
  path_cut(s, 0);
  vec_release(&s->path);
  config_free(s->initial);
  interpreter_free(s->interp);
  relaxed_environments_release(s);
  text_release(&s->error);
  memory_free(s);
}

void session_watch(struct session *s, const volatile sig_atomic_t *stop) {
  s->stop = stop;
  interpreter_watch(s->interp, stop);
}

/* --- errors --- */

void session_clear_error(struct session *s) {
  text_release(&s->error);
  s->interrupted = false;
  arena_clear(&s->interp->strings);
}

bool session_fail(struct session *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_release(&s->error);
  text_addv(&s->error, format, args);
  va_end(args);
  return false;
}

bool session_stop_seen(struct session *s) {
  if (!s->stop || !*s->stop)
    return false;
  s->interrupted = true;
  session_fail(s, "interrupted");
  return true;
}

const char *session_error(const struct session *s) { return text_or_empty(&s->error); }

bool session_interrupted(const struct session *s) { return s->interrupted; }

const char *text_to_arena(struct arena *arena, struct text *text) {
  const char *kept = arena_strndup(arena, text_or_empty(text), text->n);
  text_release(text);
  return kept;
}

/* A list in an arena has room up to the next power of two. The space abandoned by growing is smaller than the list. */
void *arena_list_grow(struct arena *arena, void *at, size_t n, size_t each) {
  if (n & (n - 1))
    return at;
  void *more = arena_array(arena, n ? 2 * n : 1, each);
  if (n)
    memcpy(more, at, n * each);
  return more;
}

/* --- the path --- */

bool session_started(const struct session *s) { return s->initial != NULL; }

size_t session_length(const struct session *s) { return s->path.n; }

bool session_failed(const struct session *s, const char **error, struct span *at) {
  const struct path_step *last = s->path.n ? &s->path.at[s->path.n - 1] : NULL;
  if (!last || last->after)
    return false;
  *error = last->error;
  *at = last->error_at;
  return true;
}

const struct config *session_config_at(const struct session *s, size_t position) {
  return position > s->path.n ? NULL : position == 0 ? s->initial : s->path.at[position - 1].after;
}

const struct config *session_current(struct session *s) {
  const struct config *c = session_config_at(s, s->path.n);
  if (!s->initial)
    session_fail(s, "the session has not started: choose an initial state");
  else if (!c)
    session_fail(s, "the last step ended in an error of the model: go back");
  return c;
}

void session_set_initial(struct session *s, struct config *c, uint64_t index) {
  path_cut(s, 0);
  config_free(s->initial);
  s->initial = c;
  s->initial_index = index;
}

void session_push(struct session *s, struct witness *w, uint64_t index, const struct config *after,
                  const struct model_error *error) {
  struct path_step step = {.witness = w, .index = index};
  if (after) {
    step.after = config_copy(&s->model, after);
  } else {
    step.error = memory_strdup(error->message ? error->message : "an error of the model");
    step.error_at = error->at;
  }
  vec_push(&s->path, step);
}

struct nth_choice {
  struct session *session;
  uint64_t wanted, seen;
  bool found;
};

static bool take_nth(void *context, uint64_t index, const struct witness *w, enum step_result result,
                     const struct config *next, const struct model_error *error) {
  struct nth_choice *t = context;
  t->seen = index + 1;
  if (index != t->wanted)
    return true;
  session_push(t->session, witness_copy(&t->session->model, w), index, result == STEP_OK ? next : NULL, error);
  t->found = true;
  return false;
}

bool session_take(struct session *s, uint64_t index) {
  session_clear_error(s);
  const struct config *now = session_current(s);
  if (!now)
    return false;
  struct nth_choice t = {s, index, 0, false};
  if (choices_walk(s, s->environment, now, take_nth, &t) == WALK_STOPPED)
    return false;
  return t.found || session_fail(s, "there is no choice %" PRIu64 ": there are %" PRIu64, index, t.seen);
}

bool session_take_round(struct session *s, const struct session_round *round) {
  session_clear_error(s);
  const struct config *now = session_current(s);
  struct witness *w = now ? round_witness(s, now, round) : NULL;
  if (!w)
    return false;
  struct clause_blame blame = clause_blame_of(s, now, w);
  if (!blame.allowed) {
    session_fail(s, "environment '%s' does not allow it: %s", s->model.environments[s->environment].name, blame.why);
    witness_free(w);
    return false;
  }
  struct config *next = config_new(&s->model);
  struct model_error error = {0};
  enum step_result result = config_step(s->interp, s->environment, now, w, next, NULL, &error);
  bool ok = result != STEP_BAD_WITNESS && !session_stop_seen(s);
  if (ok) {
    witness_normalise(s, now, w);
    session_push(s, w, SESSION_NONE, result == STEP_OK ? next : NULL, &error);
  } else {
    if (!s->interrupted)
      session_fail(s, "a choice that the algorithm does not have");
    witness_free(w);
  }
  config_free(next);
  return ok;
}

bool session_back(struct session *s, size_t steps) {
  session_clear_error(s);
  if (steps > s->path.n)
    return session_fail(s, "the path has only %zu steps", s->path.n);
  path_cut(s, s->path.n - steps);
  return true;
}

struct choice_lookup {
  struct session *session;
  const struct witness *like;
  bool failing; /* a process fails while sending: then nothing is received, whatever the heard-of sets are */
  uint64_t most, found;
};

static bool is_like(void *context, uint64_t index, const struct witness *w, enum step_result result,
                    const struct config *next, const struct model_error *error) {
  struct choice_lookup *l = context;
  (void)next;
  (void)error;
  if (l->failing ? result == STEP_ERROR && witness_equal_sending(&l->session->model, w, l->like)
                 : witness_equal(&l->session->model, w, l->like))
    l->found = index;
  return l->found == SESSION_NONE && index + 1 < l->most;
}

bool session_step_index(struct session *s, size_t step, uint64_t most, uint64_t *index) {
  session_clear_error(s);
  if (step >= s->path.n)
    return session_fail(s, "the path has only %zu steps", s->path.n);
  struct path_step *at = &s->path.at[step];
  if (at->index == SESSION_NONE) {
    struct choice_lookup l = {s, at->witness,
                              !at->after && fails_in_sending(s, session_config_at(s, step), at->witness),
                              most ? most : UINT64_MAX, SESSION_NONE};
    if (choices_walk(s, s->environment, session_config_at(s, step), is_like, &l) == WALK_STOPPED)
      return false;
    if (l.found == SESSION_NONE)
      return session_fail(s, "step %zu is not among the choices that were looked at", step + 1);
    at->index = l.found;
  }
  *index = at->index;
  return true;
}

bool session_replay(struct session *s, uint64_t initial, const uint64_t *choices, size_t n) {
  struct config *old = s->initial;
  uint64_t old_index = s->initial_index;
  VEC(struct path_step) kept = {s->path.at, s->path.n, s->path.cap};
  s->initial = NULL;
  s->path.at = NULL;
  s->path.n = s->path.cap = 0;
  bool ok = session_start(s, initial);
  for (size_t i = 0; i < n && ok; i++) {
    ok = session_take(s, choices[i]);
    if (!ok) {
      struct text why = s->error;
      s->error = (struct text){0};
      session_fail(s, "step %zu: %s", i + 1, text_or_empty(&why));
      text_release(&why);
    }
  }
  if (!ok) { /* discard the new path and restore the old one */
    path_cut(s, 0);
    vec_release(&s->path);
    config_free(s->initial);
    s->initial = old;
    s->initial_index = old_index;
    s->path.at = kept.at;
    s->path.n = kept.n;
    s->path.cap = kept.cap;
    return false;
  }
  for (size_t i = 0; i < kept.n; i++) {
    witness_free(kept.at[i].witness);
    config_free(kept.at[i].after);
    memory_free(kept.at[i].error);
  }
  vec_release(&kept);
  config_free(old);
  return true;
}
