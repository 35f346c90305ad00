/* Sessions and their paths. */
#include "session/session.h"

#include "interp/eval.h"
#include "session/session_internal.h"

#include "interp/async_round.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* --- lifecycle --- */

#define PARTS_MAX 1000000 /* of a state: they are evaluated and printed again and again */

static uint64_t times(uint64_t a, uint64_t b) { return b && a > PARTS_MAX / b ? PARTS_MAX + 1 : a * b; }

/* How many scalars a value consists of, at least; PARTS_MAX + 1: more than PARTS_MAX. */
static uint64_t parts_of(const struct type *t) {
  uint64_t n = 0;
  switch (t->kind) {
  case TYPE_ARRAY:
    return times(t->index->count, parts_of(t->element));
  case TYPE_RECORD:
    for (uint32_t i = 0; i < t->size && n <= PARTS_MAX; i++)
      n += parts_of(t->fields[i].type);
    return n;
  case TYPE_BOOL:
  case TYPE_INT:
  case TYPE_RANGE:
  case TYPE_ENUM:
  case TYPE_PROCESS:
  case TYPE_ROUND:
  case TYPE_OPTION:
  case TYPE_SET:
  case TYPE_SEQUENCE:
  case TYPE_BAG:
  case TYPE_ERROR:
    return 1;
  }
  return 1;
}

static bool states_are_large(const struct model *m) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < m->nglobals && n <= PARTS_MAX; i++)
    n += parts_of(m->globals[i].type);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars && n <= PARTS_MAX; i++)
      n += times(m->roles[r].count, parts_of(m->roles[r].vars[i].type));
  return n > PARTS_MAX;
}

static const char *unfit(const struct model *m, uint32_t environment, enum semantics semantics) {
  bool fits = false;
  if (environment >= m->nenvironments)
    return "there is no such environment";
  if (m->nprocesses > SESSION_PROCESSES)
    return "sessions are for at most 10,000 processes";
  if (states_are_large(m))
    return "its states have more than a million parts";
  switch (m->kind) {
  case MODEL_ROUNDS:
    if (m->nprocesses > SESSION_ROUND_PROCESSES)
      return "sessions of rounds are for at most 64 processes";
    fits = semantics == SEMANTICS_COARSE || semantics == SEMANTICS_FINE;
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
  s->path.initial_index = SESSION_NONE;
  relaxed_environments_init(s);
  s->interp = interpreter_new(&s->model);
  interpreter_follow(s->interp, semantics, false);
  interpreter_observe(s->interp, environment);
  return s;
}

static void path_cut(struct session *s, size_t length) {
  if (s->path.position > length)
    session_seek(s, length);
  if (s->path.steps.n > length)
    s->path.closed = false;
  while (s->path.steps.n > length) {
    struct path_step *step = &s->path.steps.at[--s->path.steps.n];
    witness_free(step->witness);
    config_free(step->after);
    config_free(step->fixed);
    memory_free(step->error);
  }
}

/* As before the start. */
static void path_clear(struct session *s) {
  path_cut(s, 0);
  vec_release(&s->path.steps);
  config_free(s->path.initial);
  if (s->path.async)
    async_run_release(s->path.async);
  memory_free(s->path.async);
  s->path = (struct session_path){.initial_index = SESSION_NONE};
}

void session_free(struct session *s) {
  if (!s)
    return;
  path_clear(s);
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

bool session_started(const struct session *s) { return s->path.initial != NULL; }

size_t session_length(const struct session *s) { return s->path.steps.n; }

bool session_failed(const struct session *s, const char **error, struct span *at) {
  const struct path_step *last = s->path.steps.n ? &s->path.steps.at[s->path.steps.n - 1] : NULL;
  if (!last || last->after)
    return false;
  *error = last->error;
  *at = last->error_at;
  return true;
}

const struct config *session_config_at(const struct session *s, size_t position) {
  return position > s->path.steps.n ? NULL : position == 0 ? s->path.initial : s->path.steps.at[position - 1].after;
}

const struct config *session_choice_config(struct session *s, size_t position) {
  if (!s->path.async)
    return session_config_at(s, position);
  session_seek(s, position);
  return s->path.async->at.at[s->path.async->nrounds];
}

const struct config *session_current(struct session *s) {
  if (session_config_at(s, s->path.steps.n))
    return session_choice_config(s, s->path.steps.n);
  session_fail(s, s->path.initial ? "the last step ended in an error of the model: go back"
                                  : "the session has not started: choose an initial state");
  return NULL;
}

void session_set_initial(struct session *s, struct config *c, uint64_t index) {
  path_clear(s);
  s->path.initial = c;
  s->path.initial_index = index;
  if (s->semantics == SEMANTICS_FINE) {
    s->path.async = memory_alloc(sizeof *s->path.async);
    async_run_init(s->path.async, s->interp, &s->path.initial, NULL, 0);
  }
}

void session_push(struct session *s, const struct numbered_choice *c, uint64_t index) {
  const struct model *m = &s->model;
  struct path_step step = {.process = c->process, .index = index};
  step.witness = c->witness ? witness_copy(m, c->witness) : NULL;
  if (c->result == STEP_OK) {
    step.after = config_copy(m, c->after);
    step.fixed = c->fixed ? config_copy(m, c->fixed) : NULL;
  } else {
    step.error = memory_strdup(c->error->message ? c->error->message : "an error of the model");
    step.error_at = c->error->at;
  }
  vec_push(&s->path.steps, step);
  s->path.closed = false;
}

struct nth_choice {
  struct session *session;
  uint64_t wanted, seen;
  bool found;
};

static bool take_nth(void *context, const struct numbered_choice *c) {
  struct nth_choice *t = context;
  t->seen++;
  t->found = c->index == t->wanted;
  if (t->found)
    session_push(t->session, c, c->index);
  return !t->found;
}

bool session_take(struct session *s, uint64_t index) {
  session_clear_error(s);
  const struct config *now = session_current(s);
  if (!now)
    return false;
  struct nth_choice t = {s, index, 0, false};
  uint32_t process = choice_process(s, index);
  if (choices_walk(s, s->environment, now, process, take_nth, &t) == WALK_STOPPED)
    return false;
  if (t.found)
    return true;
  return process == SESSION_NO_PROCESS
             ? session_fail(s, "there is no choice %" PRIu64 ": there are %" PRIu64, index, t.seen)
             : session_fail(s, "there is no choice %" PRIu64 ": process %u has %" PRIu64, index, process, t.seen);
}

bool session_back(struct session *s, size_t steps) {
  session_clear_error(s);
  if (steps > s->path.steps.n)
    return session_fail(s, "the path has only %zu steps", s->path.steps.n);
  path_cut(s, s->path.steps.n - steps);
  return true;
}

struct choice_lookup {
  struct session *session;
  const struct witness *like;
  bool failing; /* a process fails while sending: then nothing is received, whatever the heard-of sets are */
  uint64_t left, found;
};

static bool is_like(void *context, const struct numbered_choice *c) {
  struct choice_lookup *l = context;
  const struct model *m = &l->session->model;
  bool like = !l->like     ? !c->witness
              : l->failing ? c->result == STEP_ERROR && witness_equal_sending(m, c->witness, l->like)
                           : c->witness && witness_equal(m, c->witness, l->like);
  if (like)
    l->found = c->index;
  return !like && --l->left > 0;
}

bool session_step_index(struct session *s, size_t step, uint64_t most, uint64_t *index) {
  session_clear_error(s);
  if (step >= s->path.steps.n)
    return session_fail(s, "the path has only %zu steps", s->path.steps.n);
  struct path_step *at = &s->path.steps.at[step];
  if (at->index == SESSION_NONE) {
    const struct config *c = session_choice_config(s, step);
    struct choice_lookup l = {
        .session = s, .like = at->witness, .left = most ? most : UINT64_MAX, .found = SESSION_NONE};
    l.failing = !at->after && fails_in_sending(s, c, at->witness);
    if (choices_walk(s, s->environment, c, at->process, is_like, &l) == WALK_STOPPED)
      return false;
    if (l.found == SESSION_NONE)
      return session_fail(s, "step %zu is not among the choices that were looked at", step + 1);
    at->index = l.found;
  }
  *index = at->index;
  return true;
}

struct session_path session_put_aside(struct session *s) {
  struct session_path old = s->path;
  s->path = (struct session_path){.initial_index = SESSION_NONE};
  return old;
}

void session_keep_path(struct session *s, struct session_path old, bool made) {
  struct session_path new = s->path;
  s->path = made ? old : new;
  path_clear(s); /* the one that is not kept */
  s->path = made ? new : old;
}

bool session_replay(struct session *s, uint64_t initial, const uint64_t *choices, size_t n) {
  struct session_path old = session_put_aside(s);
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
  session_keep_path(s, old, ok);
  return ok;
}
