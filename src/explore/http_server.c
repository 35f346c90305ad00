/* HTTP on the loopback interface, by libmicrohttpd: a thread for each connection. Who may ask is decided before
   anything of a request is read: the Host must be ours, an Origin must be ours, and the path begins with the token. */
#include "explore/explore_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct http_daemon {
  struct MHD_Daemon *daemon;
};

struct http_request {
  bool refused; /* an answer is under way, whatever is still sent */
  char *body;
  size_t n, capacity;
};

static void add_headers(struct MHD_Response *r, const char *type) {
  static const char *const headers[][2] = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
       "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cache-Control", "no-store"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
  };
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
    MHD_add_response_header(r, headers[i][0], headers[i][1]);
  MHD_add_response_header(r, "Content-Type", type);
}

static enum MHD_Result send_answer(struct MHD_Connection *c, unsigned status, const char *type, const void *at,
                                   size_t n, enum MHD_ResponseMemoryMode mode, bool close) {
  struct MHD_Response *r = MHD_create_response_from_buffer(n, (void *)(uintptr_t)at, mode);
  if (!r)
    return MHD_NO;
  add_headers(r, type);
  if (close)
    MHD_add_response_header(r, "Connection", "close");
  enum MHD_Result result = MHD_queue_response(c, status, r);
  MHD_destroy_response(r);
  return result;
}

static enum MHD_Result send_plain(struct MHD_Connection *c, unsigned status, const char *text) {
  return send_answer(c, status, "text/plain; charset=utf-8", text, strlen(text), MHD_RESPMEM_PERSISTENT, true);
}

static enum MHD_Result send_reply(struct MHD_Connection *c, struct reply *r) {
  if (!r->text)
    reply_error(r, r->status >= 400 ? r->status : 500, "it failed");
  return send_answer(c, (unsigned)r->status, "application/json", r->text, r->length, MHD_RESPMEM_MUST_FREE, false);
}

/* --- who asks --- */

static bool is_ours(const struct explore_server *server, const char *host) {
  char name[64];
  snprintf(name, sizeof name, "127.0.0.1:%u", server->port);
  if (!strcmp(host, name))
    return true;
  snprintf(name, sizeof name, "localhost:%u", server->port);
  return !strcmp(host, name);
}

static const char *header(struct MHD_Connection *c, const char *name) {
  return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Takes the same time wherever the two differ. */
static bool has_token(const struct explore_server *server, const char *url) {
  unsigned char different = 0;
  if (strnlen(url, TOKEN_LENGTH + 2) < TOKEN_LENGTH + 2)
    return false;
  for (size_t i = 0; i < TOKEN_LENGTH; i++)
    different |= (unsigned char)(url[i + 1] ^ server->token[i]);
  return url[0] == '/' && different == 0 && url[TOKEN_LENGTH + 1] == '/';
}

/* NULL: it may. */
static const char *refusal(const struct explore_server *server, struct MHD_Connection *c, const char *url) {
  const char *host = header(c, "Host"), *origin = header(c, "Origin"), *site = header(c, "Sec-Fetch-Site");
  if (!host || !is_ours(server, host))
    return "unknown host\n";
  if (origin && (strncmp(origin, "http://", 7) != 0 || !is_ours(server, origin + 7)))
    return "unknown origin\n";
  if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
    return "not from another site\n";
  return has_token(server, url) ? NULL : "the address that rondo printed is needed\n";
}

/* --- streams --- */

static ssize_t read_stream(void *context, uint64_t position, char *to, size_t most) {
  (void)position;
  long n = stream_read(context, to, most);
  return n < 0 ? (ssize_t)MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)n;
}

static void free_stream(void *context) { stream_close(context); }

static enum MHD_Result send_stream(struct MHD_Connection *c, struct stream *s) {
  struct MHD_Response *r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32768, read_stream, s, free_stream);
  if (!r) {
    stream_close(s);
    return MHD_NO;
  }
  add_headers(r, "text/event-stream");
  enum MHD_Result result = MHD_queue_response(c, MHD_HTTP_OK, r);
  MHD_destroy_response(r);
  return result;
}

/* --- requests --- */

static void answer_model(const struct explore_server *server, struct reply *r) {
  char *why, *text = model_text_read(server, &why);
  const char *slash = strrchr(server->request->path, '/');
  json_t *defines = json_object(), *trace = server->trace ? json_loads(server->trace, 0, NULL) : NULL;
  for (size_t i = 0; i < server->request->ndefines; i++) {
    const char *define = server->request->defines[i], *equals = strchr(define, '=');
    char name[200];
    snprintf(name, sizeof name, "%.*s", (int)(equals - define), define);
    json_object_set_new(defines, name, json_string(equals + 1));
  }
  json_t *source = text ? json_string(text) : NULL;
  if (source)
    reply_json(r, json_pack("{s:s, s:s, s:s, s:o, s:o, s:s?, s:s?, s:o}", "schema", "rondo-explore/1", "version",
                            rondo_version(), "file", slash ? slash + 1 : server->request->path, "text", source,
                            "params", defines, "environment", server->request->environment, "semantics",
                            server->request->semantics, "trace", trace ? trace : json_null()));
  else
    reply_error(r, 422, "%s", why ? why : "the model is not UTF-8");
  if (!source) {
    json_decref(defines);
    json_decref(trace);
  }
  free(text);
  free(why);
}

static const char *const on_sessions[] = {"ahead", "map"}, *const on_models[] = {"check", "threshold"};

/* "sessions/ID/VERB" */
static struct stream *ask_session(struct explore_server *server, const char *rest, const json_t *body, int reader,
                                  struct reply *r) {
  char id[17] = "";
  const char *slash = strchr(rest, '/');
  if (!slash || slash - rest != 16) {
    reply_error(r, 404, "there is no such session");
    return NULL;
  }
  memcpy(id, rest, 16);
  struct explore_session *s = session_enter(server, id);
  struct stream *stream = NULL;
  bool streams = false;
  if (!s) {
    reply_error(r, 404, "there is no such session");
    return NULL;
  }
  for (size_t i = 0; i < 2; i++)
    if (!strcmp(slash + 1, on_sessions[i])) {
      streams = true;
      stream = background_begin(server, on_sessions[i], &s->request, body, r);
    }
  if (!streams)
    session_call(server, s, slash + 1, body, reader, r);
  session_leave(server, s);
  return stream;
}

static struct stream *ask_model(struct explore_server *server, const char *kind, const json_t *body, struct reply *r) {
  struct model_request request;
  if (!model_request_read(body, &request, r))
    return NULL;
  struct stream *stream = background_begin(server, kind, &request, body, r);
  model_request_release(&request);
  return stream;
}

/* The stream of the answer, or NULL: the reply is it. */
static struct stream *post(struct explore_server *server, const char *name, const json_t *body, int reader,
                           struct reply *r) {
  for (size_t i = 0; i < 2; i++)
    if (!strcmp(name, on_models[i]))
      return ask_model(server, on_models[i], body, r);
  if (!strcmp(name, "sessions"))
    session_create(server, body, r);
  else if (!strncmp(name, "sessions/", 9))
    return ask_session(server, name + 9, body, reader, r);
  else
    reply_error(r, 404, "there is no '%s'", name);
  return NULL;
}

/* 0: unknown */
static int socket_of(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : 0;
}

static enum MHD_Result answer_post(struct explore_server *server, struct MHD_Connection *c, const char *name,
                                   const struct http_request *q) {
  struct reply r = {.status = 200};
  json_error_t error;
  const char *type = header(c, "Content-Type");
  struct stream *stream = NULL;
  json_t *body = NULL;
  if (!type || strncmp(type, "application/json", 16) != 0)
    reply_error(&r, 415, "the body of a request is JSON");
  else if (!(body = json_loadb(q->body ? q->body : "", q->n, JSON_REJECT_DUPLICATES, &error)) || !json_is_object(body))
    reply_error(&r, 400, "the body of a request is a JSON object");
  else
    stream = post(server, name, body, socket_of(c), &r);
  json_decref(body);
  return stream ? send_stream(c, stream) : send_reply(c, &r);
}

static enum MHD_Result answer_get(struct explore_server *server, struct MHD_Connection *c, const char *path) {
  struct reply r = {.status = 200};
  const struct page_file *file = page_file_find(path);
  if (file)
    return send_answer(c, MHD_HTTP_OK, file->type, file->at, (size_t)(file->end - file->at), MHD_RESPMEM_PERSISTENT,
                       false);
  if (strcmp(path, "api/v1/model") != 0)
    return send_plain(c, MHD_HTTP_NOT_FOUND, "not found\n");
  answer_model(server, &r);
  return send_reply(c, &r);
}

static enum MHD_Result answer_request(struct explore_server *server, struct MHD_Connection *c, const char *method,
                                      const char *url, const struct http_request *q) {
  static const char api[] = "api/v1/";
  const char *path = url + TOKEN_LENGTH + 2;
  if (!strcmp(method, "GET"))
    return answer_get(server, c, path);
  if (strncmp(path, api, sizeof api - 1) != 0)
    return send_plain(c, MHD_HTTP_NOT_FOUND, "not found\n");
  path += sizeof api - 1;
  if (!strcmp(method, "POST"))
    return answer_post(server, c, path, q);
  if (strcmp(method, "DELETE") != 0)
    return send_plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, POST and DELETE only\n");
  struct reply r = {.status = 200};
  if (!strncmp(path, "sessions/", 9) && session_remove(server, path + 9))
    reply_json(&r, json_object());
  else
    reply_error(&r, 404, "there is no such session");
  return send_reply(c, &r);
}

/* --- the daemon --- */

static bool body_add(struct http_request *q, const char *at, size_t n) {
  if (q->n + n > BODY_BYTES_MAX)
    return false;
  if (q->n + n > q->capacity) {
    size_t capacity = 2 * (q->n + n);
    char *grown = realloc(q->body, capacity);
    if (!grown)
      return false;
    q->body = grown;
    q->capacity = capacity;
  }
  memcpy(q->body + q->n, at, n);
  q->n += n;
  return true;
}

static enum MHD_Result begin_request(struct explore_server *server, struct MHD_Connection *c, const char *url,
                                     struct http_request *q) {
  const char *why = refusal(server, c, url), *length = header(c, "Content-Length");
  q->refused = true;
  if (why)
    return send_plain(c, MHD_HTTP_FORBIDDEN, why);
  if (length && strtoull(length, NULL, 10) > BODY_BYTES_MAX)
    return send_plain(c, MHD_HTTP_CONTENT_TOO_LARGE, "the body of the request is too large\n");
  q->refused = false;
  return MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_size, void **state) {
  struct explore_server *server = context;
  struct http_request *q = *state;
  (void)version;
  if (!q) {
    *state = q = calloc(1, sizeof *q);
    return q ? begin_request(server, c, url, q) : MHD_NO;
  }
  if (q->refused)
    return MHD_NO;
  if (*upload_size == 0)
    return answer_request(server, c, method, url, q);
  bool ok = body_add(q, upload, *upload_size);
  *upload_size = 0;
  return ok ? MHD_YES : MHD_NO;
}

static void on_completed(void *context, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode why) {
  struct http_request *q = *state;
  (void)context;
  (void)c;
  (void)why;
  if (q)
    free(q->body);
  free(q);
  *state = NULL;
}

struct http_daemon *http_start(struct explore_server *server, char **why) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)server->request->port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct MHD_OptionItem options[] = {{MHD_OPTION_SOCK_ADDR, 0, &address},
                                     {MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, NULL},
                                     {MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, NULL},
                                     {MHD_OPTION_CONNECTION_MEMORY_LIMIT, 64 * 1024, NULL},
                                     {MHD_OPTION_END, 0, NULL}};
  struct http_daemon *d = calloc(1, sizeof *d);
  d->daemon = MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
                               on_request, server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_ARRAY,
                               options, MHD_OPTION_END);
  const union MHD_DaemonInfo *bound = d->daemon ? MHD_get_daemon_info(d->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
  if (bound) {
    server->port = bound->port;
    return d;
  }
  if (asprintf(why, "port %u cannot be used", server->request->port) < 0)
    *why = NULL;
  if (d->daemon)
    MHD_stop_daemon(d->daemon);
  free(d);
  return NULL;
}

void http_stop(struct http_daemon *d) {
  MHD_stop_daemon(d->daemon);
  free(d);
}
