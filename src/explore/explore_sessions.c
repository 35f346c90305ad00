/* Models and sessions: each session has a context of its own, so that two of them never wait for each other. */
#include "explore/explore_server.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* --- answers --- */

void reply_json(struct reply *r, json_t *j) {
  r->text = json_dumps(j, JSON_COMPACT);
  r->length = r->text ? strlen(r->text) : 0;
  if (!r->text)
    r->status = 500;
  json_decref(j);
}

void reply_error(struct reply *r, int status, const char *format, ...) {
  char *message = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&message, format, args) < 0)
    message = NULL;
  va_end(args);
  free(r->text);
  r->status = status;
  json_t *text = json_string(message ? message : "out of memory");
  reply_json(r, json_pack("{s:{s:o}}", "error", "message", text ? text : json_string("error")));
  free(message);
}

void write_string(FILE *out, const char *text) {
  json_t *j = text ? json_string(text) : json_null();
  char *dump = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;
  fputs(dump ? dump : "null", out);
  free(dump);
  json_decref(j);
}

json_t *diagnostics_json(const rondo *context) {
  static const char *const severities[] = {"error", "warning", "note"};
  json_t *all = json_array();
  for (size_t i = 0; i < rondo_diagnostics(context); i++) {
    const rondo_diagnostic *d = rondo_diagnostic_at(context, i);
    json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s?, s:b, s:I, s:I, s:I, s:I}", "code", d->code, "severity",
                                         severities[d->severity], "message", d->message, "help", d->help, "placed",
                                         d->path != NULL, "from", (json_int_t)d->from, "to", (json_int_t)d->to, "line",
                                         (json_int_t)d->line, "column", (json_int_t)d->column));
  }
  return all;
}

/* --- which model --- */

char *model_text_read(const struct explore_server *server, char **why) {
  FILE *file = fopen(server->request->path, "rb");
  char *text = NULL;
  size_t n = 0, most = BODY_BYTES_MAX;
  *why = NULL;
  if (file && (text = malloc(most + 1))) {
    n = fread(text, 1, most, file);
    text[n] = '\0';
  }
  if (file)
    fclose(file);
  if ((!text || strlen(text) != n) && asprintf(why, "the model cannot be read again") < 0)
    *why = NULL;
  if (text && strlen(text) != n) {
    free(text);
    text = NULL;
  }
  return text;
}

static bool optional_string(const json_t *body, const char *key, char **out, struct reply *r) {
  const json_t *j = json_object_get(body, key);
  *out = NULL;
  if (!j || json_is_null(j))
    return true;
  if (!json_is_string(j) || strlen(json_string_value(j)) != json_string_length(j)) {
    reply_error(r, 400, "'%s' must be a text", key);
    return false;
  }
  *out = strdup(json_string_value(j));
  return true;
}

bool model_request_read(const json_t *body, struct model_request *m, struct reply *r) {
  *m = (struct model_request){0};
  json_t *params = json_object_get(body, "params");
  if (params && !json_is_null(params) && (!json_is_object(params) || json_object_size(params) > 64)) {
    reply_error(r, 400, "'params' must be an object");
    return false;
  }
  if (!optional_string(body, "text", &m->text, r) || !optional_string(body, "environment", &m->environment, r) ||
      !optional_string(body, "semantics", &m->semantics, r)) {
    model_request_release(m);
    return false;
  }
  m->params = json_is_object(params) ? json_deep_copy(params) : json_object();
  return true;
}

struct model_request model_request_copy(const struct model_request *m) {
  return (struct model_request){.text = m->text ? strdup(m->text) : NULL,
                                .params = json_deep_copy(m->params),
                                .environment = m->environment ? strdup(m->environment) : NULL,
                                .semantics = m->semantics ? strdup(m->semantics) : NULL};
}

void model_request_release(struct model_request *m) {
  free(m->text);
  free(m->environment);
  free(m->semantics);
  json_decref(m->params);
  *m = (struct model_request){0};
}

/* A whole server cannot go on without memory. */
static void end_without_memory(void *context, size_t wanted) {
  static const char message[] = "rondo: out of memory\n";
  (void)context;
  (void)wanted;
  if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
    _exit(RONDO_FAULT);
  _exit(RONDO_INCONCLUSIVE);
}

static bool set_params(rondo_model *model, json_t *params, bool ranges, struct reply *r) {
  const char *name;
  json_t *given;
  char number[32];
  json_object_foreach(params, name, given) {
    const char *word = json_is_string(given) ? json_string_value(given) : json_is_true(given) ? "true" : "false";
    if (json_is_integer(given)) {
      snprintf(number, sizeof number, "%lld", (long long)json_integer_value(given));
      word = number;
    }
    if (!ranges && strstr(word, "..")) {
      reply_error(r, 400, "parameter '%.60s' has a range", name);
      return false;
    }
    if (strlen(name) > 200 || strlen(word) > 200 || !rondo_set(model, name, word)) {
      reply_error(r, 422, "parameter '%.60s' has no such value", name);
      return false;
    }
  }
  return true;
}

bool opened_model_init(const struct explore_server *server, const struct model_request *m, const rondo_host *given,
                       bool ranges, struct opened_model *out, struct reply *r) {
  rondo_host host = given ? *given : (rondo_host){0};
  char *why = NULL, *text = m->text ? NULL : model_text_read(server, &why);
  const char *all = m->text ? m->text : text;
  host.out_of_memory = end_without_memory;
  *out = (struct opened_model){.context = rondo_new(&host)};
  if (all)
    out->model = rondo_open_text(out->context, server->request->path, all, strlen(all));
  else
    reply_error(r, 422, "%s", why ? why : "the model cannot be read");
  bool ok = out->model && set_params(out->model, m->params, ranges, r);
  if (all && !out->model) {
    r->status = 422;
    free(r->text);
    reply_json(r, json_pack("{s:{s:s}, s:o}", "error", "message", "the model has errors", "diagnostics",
                            diagnostics_json(out->context)));
  }
  free(text);
  free(why);
  if (!ok)
    opened_model_release(out);
  return ok;
}

void opened_model_release(struct opened_model *o) {
  rondo_close(o->model);
  if (o->context)
    rondo_free(o->context);
  *o = (struct opened_model){0};
}

/* --- the table --- */

static void session_destroy(struct explore_session *s) {
  for (int i = 0; i < 2; i++)
    cursor_release(&s->cursors[i]);
  opened_model_release(&s->opened);
  model_request_release(&s->request);
  pthread_mutex_destroy(&s->lock);
  free(s);
}

/* The table is locked. Frees it unless somebody uses it; then the last user does. */
static void session_drop(struct explore_server *server, size_t i) {
  struct explore_session *s = server->sessions[i];
  server->sessions[i] = NULL;
  s->gone = true;
  if (s->users == 0)
    session_destroy(s);
}

static void session_insert(struct explore_server *server, struct explore_session *s) {
  pthread_mutex_lock(&server->lock);
  size_t place = 0;
  for (size_t i = 0; i < SESSIONS_MAX && server->sessions[place]; i++)
    if (!server->sessions[i] || server->sessions[i]->last_used < server->sessions[place]->last_used)
      place = i;
  if (server->sessions[place])
    session_drop(server, place);
  s->last_used = seconds_now();
  server->sessions[place] = s;
  pthread_mutex_unlock(&server->lock);
}

static struct explore_session **session_slot(struct explore_server *server, const char *id) {
  for (size_t i = 0; i < SESSIONS_MAX; i++)
    if (server->sessions[i] && !strcmp(server->sessions[i]->id, id))
      return &server->sessions[i];
  return NULL;
}

struct explore_session *session_enter(struct explore_server *server, const char *id) {
  pthread_mutex_lock(&server->lock);
  struct explore_session **slot = session_slot(server, id), *s = slot ? *slot : NULL;
  if (s) {
    s->users++;
    s->last_used = seconds_now();
  }
  pthread_mutex_unlock(&server->lock);
  if (s)
    pthread_mutex_lock(&s->lock);
  return s;
}

void session_leave(struct explore_server *server, struct explore_session *s) {
  pthread_mutex_unlock(&s->lock);
  pthread_mutex_lock(&server->lock);
  bool last = --s->users == 0 && s->gone;
  pthread_mutex_unlock(&server->lock);
  if (last)
    session_destroy(s);
}

bool session_remove(struct explore_server *server, const char *id) {
  pthread_mutex_lock(&server->lock);
  struct explore_session **slot = session_slot(server, id);
  if (slot)
    session_drop(server, (size_t)(slot - server->sessions));
  pthread_mutex_unlock(&server->lock);
  return slot != NULL;
}

void sessions_drop_idle(struct explore_server *server) {
  pthread_mutex_lock(&server->lock);
  for (size_t i = 0; i < SESSIONS_MAX; i++)
    if (server->sessions[i] && server->sessions[i]->users == 0)
      session_drop(server, i);
  pthread_mutex_unlock(&server->lock);
}

void sessions_free(struct explore_server *server) {
  for (size_t i = 0; i < SESSIONS_MAX; i++)
    if (server->sessions[i])
      session_drop(server, i);
}

/* --- making one --- */

static void answer_with_session(struct explore_session *s, struct reply *r) {
  char *info = rondo_session_info(s->cursors[0].session);
  json_t *j = info ? json_loads(info, 0, NULL) : NULL;
  rondo_string_free(info);
  const char *kind = json_string_value(json_object_get(j, "kind"));
  s->rounds = kind && !strcmp(kind, "rounds");
  s->nprocesses = json_array_size(json_object_get(j, "processes"));
  reply_json(r, json_pack("{s:s, s:s, s:o, s:o}", "schema", "rondo-explore/1", "session", s->id, "info",
                          j ? j : json_null(), "diagnostics", diagnostics_json(s->opened.context)));
}

static bool start_cursors(struct explore_server *server, struct explore_session *s) {
  struct watch watch = {.context = s->opened.context, .deadline = seconds_now() + REQUEST_SECONDS};
  watch_begin(&server->watchdog, &watch);
  for (int i = 0; i < 2 && (i == 0 || s->cursors[0].session); i++) {
    if (i == 1)
      rondo_clear_diagnostics(s->opened.context); /* the same again */
    s->cursors[i].session = rondo_session_new(s->opened.model, s->request.environment, s->request.semantics);
  }
  watch_end(&server->watchdog, &watch);
  return s->cursors[0].session && s->cursors[1].session;
}

void session_create(struct explore_server *server, const json_t *body, struct reply *r) {
  struct explore_session *s = calloc(1, sizeof *s);
  uint64_t random = 0;
  if (!s || getrandom(&random, sizeof random, 0) != sizeof random) {
    free(s);
    reply_error(r, 500, "out of memory");
    return;
  }
  snprintf(s->id, sizeof s->id, "%016llx", (unsigned long long)random);
  pthread_mutex_init(&s->lock, NULL);
  if (!model_request_read(body, &s->request, r) ||
      !opened_model_init(server, &s->request, NULL, false, &s->opened, r)) {
    session_destroy(s);
  } else if (!start_cursors(server, s)) {
    r->status = 422;
    reply_json(r, json_pack("{s:{s:s}, s:o}", "error", "message", "the model has errors", "diagnostics",
                            diagnostics_json(s->opened.context)));
    session_destroy(s);
  } else {
    answer_with_session(s, r);
    session_insert(server, s);
  }
}
