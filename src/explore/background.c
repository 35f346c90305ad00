/* Background work: searches ahead, the map, checks and thresholds, each in a context of its own, by a few threads.
   Answers are streamed as server-sent events. Work ends when the connection that waits for it is closed. */
#include "explore/explore_server.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_MAX 4
#define AHEAD_ITEMS_MAX 400
#define AHEAD_SECONDS 4.0
#define MAP_SECONDS 20.0
#define MAP_BYTES_MAX (16u << 20)
#define CHECK_SECONDS "300s"
#define CHECK_MEMORY "2G"

struct stream {
  pthread_mutex_t lock;
  pthread_cond_t more;
  struct background *of;
  char *text; /* what was not read yet */
  size_t n, capacity;
  int users;   /* the connection, and the threads that work for it */
  int working; /* the threads */
  bool over;
  atomic_bool cancelled;
  const char *kind;
  struct model_request request;
  json_t *body;
  atomic_size_t next; /* ahead: the item that is to be searched next */
};

struct background_job {
  struct stream *stream;
  struct background_job *next;
};

struct background {
  struct explore_server *server;
  pthread_mutex_t lock;
  pthread_cond_t work;
  struct background_job *first, **last;
  size_t streams;
  bool ends;
  pthread_t threads[WORKERS_MAX];
  size_t nthreads;
};

/* --- streams --- */

static void stream_release(struct stream *s) {
  pthread_mutex_lock(&s->lock);
  bool last = --s->users == 0;
  pthread_mutex_unlock(&s->lock);
  if (!last)
    return;
  pthread_mutex_lock(&s->of->lock);
  s->of->streams--;
  pthread_mutex_unlock(&s->of->lock);
  pthread_mutex_destroy(&s->lock);
  pthread_cond_destroy(&s->more);
  model_request_release(&s->request);
  json_decref(s->body);
  free(s->text);
  free(s);
}

/* The data of an event is one line of JSON. A reader that does not keep up is dropped. */
static void stream_event(struct stream *s, const char *event, const char *data) {
  size_t wanted = strlen(event) + strlen(data) + 32;
  pthread_mutex_lock(&s->lock);
  if (s->n + wanted > STREAM_BYTES_MAX)
    atomic_store(&s->cancelled, true);
  if (!atomic_load(&s->cancelled) && s->n + wanted > s->capacity) {
    size_t capacity = 2 * (s->n + wanted);
    char *grown = realloc(s->text, capacity);
    if (grown) {
      s->text = grown;
      s->capacity = capacity;
    }
  }
  if (s->n + wanted <= s->capacity)
    s->n += (size_t)snprintf(s->text + s->n, s->capacity - s->n, "event: %s\ndata: %s\n\n", event, data);
  pthread_cond_signal(&s->more);
  pthread_mutex_unlock(&s->lock);
}

static void stream_json(struct stream *s, const char *event, json_t *j) {
  char *text = json_dumps(j, JSON_COMPACT);
  stream_event(s, event, text ? text : "null");
  free(text);
  json_decref(j);
}

long stream_read(struct stream *s, char *to, size_t most) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 400000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&s->lock);
  while (s->n == 0 && !s->over && pthread_cond_timedwait(&s->more, &s->lock, &until) == 0)
    ;
  size_t n = s->n < most ? s->n : most;
  long result = n ? (long)n : s->over ? -1 : 0;
  if (n) {
    memcpy(to, s->text, n);
    memmove(s->text, s->text + n, s->n - n);
    s->n -= n;
  } else if (result == 0 && most >= 3) { /* shows whether the reader is still there */
    memcpy(to, ":\n\n", 3);
    result = 3;
  }
  pthread_mutex_unlock(&s->lock);
  return result;
}

void stream_close(struct stream *s) {
  atomic_store(&s->cancelled, true);
  stream_release(s);
}

/* --- ahead --- */

static void error_event(struct stream *s, const struct reply *r) {
  stream_event(s, "failure", r->text ? r->text : "{\"error\":{\"message\":\"it failed\"}}");
}

/* The time for each item. */
static double ahead_seconds(const struct stream *s) {
  const json_t *j = json_object_get(s->body, "seconds");
  double seconds = json_is_number(j) ? json_number_value(j) : AHEAD_SECONDS;
  return seconds > 0 && seconds < AHEAD_SECONDS ? seconds : AHEAD_SECONDS;
}

/* The safety properties that the last step itself violates: a survey is about what comes after it. */
static json_t *violated_by_step(rondo_session *session) {
  char *text = rondo_session_properties(session, rondo_session_length(session));
  json_t *j = text ? json_loads(text, 0, NULL) : NULL, *names = json_array(), *p;
  size_t i;
  rondo_string_free(text);
  json_array_foreach(json_object_get(j, "properties"), i, p) {
    const char *kind = json_string_value(json_object_get(p, "kind"));
    if (kind && !strcmp(kind, "safety") && json_is_true(json_object_get(p, "step")) &&
        json_is_true(json_object_get(p, "shown")) && json_is_true(json_object_get(p, "applies")))
      json_array_append(names, json_object_get(p, "name"));
  }
  json_decref(j);
  return names;
}

static void ahead_item(struct stream *s, struct opened_model *o, struct session_cursor *c, size_t i) {
  const json_t *item = json_array_get(json_object_get(s->body, "items"), i);
  json_t *path = json_deep_copy(json_object_get(s->body, "path")), *answer = NULL, *violated = json_array();
  struct watch watch = {.context = o->context, .deadline = seconds_now() + ahead_seconds(s), .cancel = &s->cancelled};
  const char *invalid = NULL, *why = NULL;
  size_t kept;
  if (!json_is_null(item)) {
    json_array_append(json_object_get(path, "steps"), (json_t *)item);
    json_object_del(path, "loop"); /* which ends where the path goes on */
  }
  watch_begin(&s->of->server->watchdog, &watch);
  if (!cursor_move(c, path, &kept, &invalid)) {
    why = invalid ? invalid : rondo_session_error(c->session);
  } else if (rondo_session_failed(c->session)) {
    answer = json_pack("{s:b}", "failed", 1);
  } else {
    if (!json_is_null(item)) {
      json_decref(violated);
      violated = violated_by_step(c->session);
    }
    char *text = rondo_session_survey(c->session, rondo_session_length(c->session), false, NULL, 200000, 0);
    answer = text ? json_loads(text, 0, NULL) : NULL;
    rondo_string_free(text);
    why = answer ? NULL : rondo_session_error(c->session);
  }
  json_t *j = json_pack("{s:I, s:o, s:o, s:s?}", "item", (json_int_t)i, "ahead", answer ? answer : json_null(),
                        "violated", violated, "why", why);
  watch_end(&s->of->server->watchdog, &watch);
  if (j)
    stream_json(s, "ahead", j);
  json_decref(path);
}

static void work_ahead(struct stream *s) {
  size_t n = json_array_size(json_object_get(s->body, "items"));
  struct opened_model o;
  struct reply r = {0};
  struct session_cursor c = {0};
  if (!opened_model_init(s->of->server, &s->request, NULL, false, &o, &r)) {
    error_event(s, &r);
    free(r.text);
    return;
  }
  c.session = rondo_session_new(o.model, s->request.environment, s->request.semantics);
  for (size_t i; c.session && (i = atomic_fetch_add(&s->next, 1)) < n && !atomic_load(&s->cancelled);)
    ahead_item(s, &o, &c, i);
  cursor_release(&c);
  opened_model_release(&o);
}

/* --- the map --- */

static void work_map(struct stream *s) {
  struct opened_model o;
  struct reply r = {0};
  struct session_cursor c = {0};
  const char *invalid, *projection = json_string_value(json_object_get(s->body, "projection"));
  const json_t *states = json_object_get(s->body, "states");
  uint64_t most =
      json_is_integer(states) && json_integer_value(states) > 0 ? (uint64_t)json_integer_value(states) : 20000;
  size_t kept;
  if (!opened_model_init(s->of->server, &s->request, NULL, false, &o, &r)) {
    error_event(s, &r);
    free(r.text);
    return;
  }
  struct watch watch = {.context = o.context, .deadline = seconds_now() + MAP_SECONDS, .cancel = &s->cancelled};
  watch_begin(&s->of->server->watchdog, &watch);
  c.session = rondo_session_new(o.model, s->request.environment, s->request.semantics);
  bool ok = c.session && cursor_move(&c, json_object_get(s->body, "path"), &kept, &invalid);
  char *text = ok ? rondo_session_survey(c.session, 0, true, projection, most < 200000 ? most : 200000, 0) : NULL;
  if (text && strlen(text) > MAP_BYTES_MAX) {
    reply_error(&r, 409, "the graph is too large to be sent: ask for fewer states, or for classes of them");
    error_event(s, &r);
    free(r.text);
  } else if (text) {
    json_t *j = json_loads(text, 0, NULL);
    stream_json(s, "map", j ? j : json_null());
  } else {
    reply_error(&r, 409, "%s", c.session ? rondo_session_error(c.session) : "the model has errors");
    error_event(s, &r);
    free(r.text);
  }
  rondo_string_free(text);
  watch_end(&s->of->server->watchdog, &watch);
  cursor_release(&c);
  opened_model_release(&o);
}

/* --- checks and thresholds --- */

static void on_progress(void *context, const char *line) {
  if (line)
    stream_json(context, "progress", json_pack("{s:s}", "text", line));
}

static void on_verdict(void *context, const rondo_verdict *v, bool final) {
  static const char *const names[] = {"holds", "violated", "inconclusive"};
  json_t *j = json_pack("{s:s, s:s?, s:s, s:s, s:b}", "property", v->property, "environment", v->environment, "verdict",
                        names[v->status <= RONDO_INCONCLUSIVE ? v->status : RONDO_INCONCLUSIVE], "proved", v->proved,
                        "final", final);
  if (j)
    stream_json(context, "verdict", j);
}

/* None of them names a file. */
static bool option_allowed(const char *name) {
  static const char *const allowed[] = {"env",        "property",   "semantics",   "reduce",   "successors",
                                        "max-states", "max-rounds", "max-steps",   "max-time", "engine",
                                        "depth",      "threads",    "max-distance"};
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    if (!strcmp(name, allowed[i]))
      return true;
  return false;
}

static bool has_option(const json_t *options, const char *name) { return json_object_get(options, name) != NULL; }

static bool set_options(rondo_options *o, json_t *given, bool check) {
  const char *name;
  json_t *value;
  bool ok = true;
  json_object_foreach(given, name, value) {
    const char *text = json_string_value(value);
    bool flag = json_is_true(value) && !strcmp(name, "coverage"); /* its value would be a file */
    ok = ok && (flag || (option_allowed(name) && text)) && rondo_option(o, name, flag ? NULL : text);
  }
  if (check && !has_option(given, "threads"))
    ok = ok && rondo_option(o, "threads", "1");
  return ok && (has_option(given, "max-time") || rondo_option(o, "max-time", CHECK_SECONDS)) &&
         rondo_option(o, "max-memory", CHECK_MEMORY) && rondo_option(o, "json", NULL);
}

static void answer_result(struct stream *s, rondo_result *result) {
  json_t *j = json_loads(rondo_result_text(result), 0, NULL);
  stream_json(s, "result",
              json_pack("{s:i, s:o}", "status", (int)rondo_result_status(result), "answer", j ? j : json_null()));
}

static void work_check(struct stream *s) {
  struct opened_model o;
  struct reply r = {0};
  rondo_host host = {.context = s, .progress = on_progress, .verdict = on_verdict};
  bool check = !strcmp(s->kind, "check");
  const char *property = json_string_value(json_object_get(s->body, "property"));
  if (!opened_model_init(s->of->server, &s->request, &host, true, &o, &r)) {
    error_event(s, &r);
    free(r.text);
    return;
  }
  rondo_options *options = rondo_options_new(o.context);
  struct watch watch = {.context = o.context, .cancel = &s->cancelled};
  watch_begin(&s->of->server->watchdog, &watch);
  if (set_options(options, json_object_get(s->body, "options"), check)) {
    rondo_result *result =
        check ? rondo_check(o.model, options) : rondo_threshold(o.model, property ? property : "", options);
    answer_result(s, result);
    rondo_result_free(result);
  } else {
    json_t *j = json_pack("{s:{s:s}, s:o}", "error", "message", "an option is unknown or has no such value",
                          "diagnostics", diagnostics_json(o.context));
    stream_json(s, "failure", j);
  }
  watch_end(&s->of->server->watchdog, &watch);
  rondo_options_free(options);
  opened_model_release(&o);
}

/* --- threads --- */

static void work(struct stream *s) {
  if (atomic_load(&s->cancelled))
    return;
  if (!strcmp(s->kind, "ahead"))
    work_ahead(s);
  else if (!strcmp(s->kind, "map"))
    work_map(s);
  else
    work_check(s);
}

static void *worker_run(void *context) {
  struct background *b = context;
  for (;;) {
    pthread_mutex_lock(&b->lock);
    while (!b->first && !b->ends)
      pthread_cond_wait(&b->work, &b->lock);
    struct background_job *job = b->first;
    if (job && !(b->first = job->next))
      b->last = &b->first;
    pthread_mutex_unlock(&b->lock);
    if (!job)
      return NULL;
    struct stream *s = job->stream;
    free(job);
    work(s);
    pthread_mutex_lock(&s->lock);
    if (--s->working == 0) { /* the last one that works for it */
      s->over = true;
      pthread_cond_signal(&s->more);
    }
    pthread_mutex_unlock(&s->lock);
    stream_release(s);
  }
}

struct background *background_start(struct explore_server *server) {
  struct background *b = calloc(1, sizeof *b);
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  b->server = server;
  b->last = &b->first;
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->work, NULL);
  b->nthreads = cores < 2 ? 2 : cores < WORKERS_MAX ? (size_t)cores : WORKERS_MAX;
  for (size_t i = 0; i < b->nthreads; i++)
    pthread_create(&b->threads[i], NULL, worker_run, b);
  return b;
}

/* All connections are closed. */
void background_stop(struct background *b) {
  pthread_mutex_lock(&b->lock);
  b->ends = true;
  pthread_cond_broadcast(&b->work);
  pthread_mutex_unlock(&b->lock);
  for (size_t i = 0; i < b->nthreads; i++)
    pthread_join(b->threads[i], NULL);
  pthread_mutex_destroy(&b->lock);
  pthread_cond_destroy(&b->work);
  free(b);
}

static void job_add(struct background *b, struct stream *s) {
  struct background_job *job = calloc(1, sizeof *job);
  job->stream = s;
  *b->last = job;
  b->last = &job->next;
  pthread_cond_signal(&b->work);
}

struct stream *background_begin(struct explore_server *server, const char *kind, const struct model_request *request,
                                const json_t *body, struct reply *r) {
  struct background *b = server->background;
  size_t items = json_array_size(json_object_get(body, "items"));
  if (!strcmp(kind, "ahead") && (items == 0 || items > AHEAD_ITEMS_MAX)) {
    reply_error(r, 400, "'items' must be a list of at most %d steps", AHEAD_ITEMS_MAX);
    return NULL;
  }
  struct stream *s = calloc(1, sizeof *s);
  pthread_mutex_lock(&b->lock);
  bool full = !s || b->streams >= STREAMS_MAX;
  if (!full) {
    int jobs = !strcmp(kind, "ahead") && items > 1 ? 2 : 1;
    *s = (struct stream){.of = b, .kind = kind, .users = 1 + jobs, .working = jobs};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->more, NULL);
    s->request = model_request_copy(request);
    s->body = json_deep_copy(body);
    b->streams++;
    for (int i = 0; i < jobs; i++)
      job_add(b, s);
  }
  pthread_mutex_unlock(&b->lock);
  if (!full)
    return s;
  free(s);
  reply_error(r, 503, "too many searches run already");
  return NULL;
}
