/* Private to src/explore. */
#ifndef RONDO_EXPLORE_EXPLORE_SERVER_H
#define RONDO_EXPLORE_EXPLORE_SERVER_H

#include "rondo.h"

#include <jansson.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define BODY_BYTES_MAX (4u << 20)
#define SESSIONS_MAX 24    /* the least recently used one makes room */
#define CONNECTIONS_MAX 96 /* a thread each */
#define STREAMS_MAX 24     /* background work that somebody waits for */
#define STREAM_BYTES_MAX (64u << 20)
#define IDLE_SECONDS 20     /* a connection on which nothing moves is closed */
#define REQUEST_SECONDS 8.0 /* then what a session does is interrupted */
#define PATH_STEPS_MAX 20000
#define TOKEN_LENGTH 32

double seconds_now(void);

/* --- an answer under construction --- */

struct reply {
  int status; /* HTTP */
  char *text; /* JSON; from malloc */
  size_t length;
};
void reply_error(struct reply *, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void reply_json(struct reply *, json_t *); /* releases it */
void write_string(FILE *, const char *);   /* as JSON; NULL: null */
json_t *diagnostics_json(const rondo *);

/* --- the watchdog: interrupts contexts whose time is up, or for which nobody waits any more --- */

struct watch {
  rondo *context;
  double deadline;           /* 0: none */
  const atomic_bool *cancel; /* or NULL */
  int reader;                /* the socket on which the answer is waited for; 0: none */
  bool expired;              /* it was interrupted */
  struct watch *next;
};
struct request_watchdog {
  pthread_mutex_t lock;
  pthread_t thread;
  struct watch *first;
  bool ends;
  struct explore_server *server;
  uint64_t memory; /* bytes: above it what runs is interrupted, and sessions that nobody uses now are dropped */
};
void watchdog_start(struct request_watchdog *, struct explore_server *);
void watchdog_stop(struct request_watchdog *);
void watch_begin(struct request_watchdog *, struct watch *);
void watch_end(struct request_watchdog *, struct watch *); /* the context can go on */

/* --- models and sessions --- */

struct model_request { /* which instance of which text */
  char *text;          /* NULL: the file that was opened */
  json_t *params;      /* object of strings or numbers; may be NULL */
  char *environment, *semantics;
};
struct opened_model { /* a context of its own with a model */
  rondo *context;
  rondo_model *model;
};

struct session_cursor {
  rondo_session *session;
  json_t *initial, *steps; /* the path it is at; initial NULL: not started */
};
struct explore_session {
  char id[17];
  pthread_mutex_t lock; /* of all that follows */
  int users;            /* protected by the lock of the table, as is last_used */
  bool gone;
  double last_used;
  struct model_request request;
  struct opened_model opened;
  bool rounds; /* the model is one of rounds */
  size_t nprocesses;
  struct session_cursor cursors[2]; /* one follows the whole run, the other the place where it is continued */
};

struct stream;

struct explore_server {
  char token[TOKEN_LENGTH + 1];
  unsigned port;
  const rondo_exploration *request;
  char *trace; /* the text of the trace, or NULL */
  struct request_watchdog watchdog;
  pthread_mutex_t lock; /* of the table of sessions */
  struct explore_session *sessions[SESSIONS_MAX];
  struct background *background;
};

char *model_text_read(const struct explore_server *, char **why); /* of the file; free */
bool model_request_read(const json_t *, struct model_request *, struct reply *);
struct model_request model_request_copy(const struct model_request *);
void model_request_release(struct model_request *);
/* False: the reply says why, with diagnostics. host may be NULL. */
bool opened_model_init(const struct explore_server *, const struct model_request *, const rondo_host *, bool ranges,
                       struct opened_model *, struct reply *);
void opened_model_release(struct opened_model *);

void session_create(struct explore_server *, const json_t *body, struct reply *);
struct explore_session *session_enter(struct explore_server *, const char *id); /* locked; NULL: there is none */
void session_leave(struct explore_server *, struct explore_session *);
bool session_remove(struct explore_server *, const char *id);
void sessions_drop_idle(struct explore_server *); /* those that no request uses now */
void sessions_free(struct explore_server *);

/* Moves a session to the path. *kept: so many steps of it were taken. False: it does not exist in full; the session is
   where it ends, and rondo_session_error says why if *invalid is NULL, else *invalid does. */
bool cursor_move(struct session_cursor *, const json_t *path, size_t *kept, const char **invalid);
void cursor_release(struct session_cursor *);
/* reader: the socket that waits for the answer; the call is interrupted when it is closed. */
void session_call(struct explore_server *, struct explore_session *, const char *verb, const json_t *body, int reader,
                  struct reply *);

/* --- background work, whose answers are streamed --- */

struct background *background_start(struct explore_server *);
void background_stop(struct background *);
/* The stream of the answers, or NULL: the reply says why. kind: "ahead", "map", "check", "threshold". */
struct stream *background_begin(struct explore_server *, const char *kind, const struct model_request *,
                                const json_t *body, struct reply *);
/* Waits a moment for more of it. Returns the number of bytes, -1: it is over. */
long stream_read(struct stream *, char *to, size_t most);
void stream_close(struct stream *); /* cancels what still runs */

/* --- the page --- */

struct page_file {
  const char *name, *type;
  const unsigned char *at, *end;
};
const struct page_file *page_file_find(const char *name);

/* --- HTTP --- */

struct http_daemon;
struct http_daemon *http_start(struct explore_server *, char **why);
void http_stop(struct http_daemon *);

#endif
