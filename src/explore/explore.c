/* The command: starts the server, prints where the page is, opens a browser, and waits to be ended. */
#include "explore/explore.h"

#include "explore/explore_server.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

extern char **environ;

static bool make_token(char *token) {
  unsigned char random[TOKEN_LENGTH / 2];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
    return false;
  for (size_t i = 0; i < sizeof random; i++)
    snprintf(token + 2 * i, 3, "%02x", random[i]);
  return true;
}

static bool read_trace(struct explore_server *s) {
  const size_t most = BODY_BYTES_MAX;
  if (!s->request->trace)
    return true;
  FILE *file = fopen(s->request->trace, "rb");
  s->trace = file ? malloc(most + 1) : NULL;
  size_t n = s->trace ? fread(s->trace, 1, most, file) : 0;
  if (file)
    fclose(file);
  json_t *j = n > 0 && n < most ? json_loadb(s->trace, n, 0, NULL) : NULL;
  if (s->trace)
    s->trace[n] = '\0';
  bool ok = json_is_object(j);
  json_decref(j);
  if (!ok)
    fprintf(stderr, "rondo: '%s' cannot be read as a trace\n", s->request->trace);
  return ok;
}

static void open_browser(const char *address) {
  char *words[] = {"xdg-open", (char *)(uintptr_t)address, NULL};
  posix_spawnattr_t attributes;
  sigset_t none;
  pid_t child;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  if (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")) {
    if (posix_spawnp(&child, words[0], NULL, &attributes, words, environ) != 0)
      fprintf(stderr, "rondo: no browser could be opened: open the address yourself\n");
  }
  posix_spawnattr_destroy(&attributes);
}

static rondo_status run(struct explore_server *s, const sigset_t *ending) {
  char *why = NULL, address[128];
  int number;
  watchdog_start(&s->watchdog, s);
  s->background = background_start(s);
  struct http_daemon *http = http_start(s, &why);
  if (http) {
    snprintf(address, sizeof address, "http://127.0.0.1:%u/%s/", s->port, s->token);
    printf("%s\n", address);
    fflush(stdout);
    if (!s->request->no_browser)
      open_browser(address);
    sigwait(ending, &number);
    http_stop(http);
  } else {
    fprintf(stderr, "rondo: %s\n  help: another one with --port, or none: then any that is free is used\n",
            why ? why : "the page cannot be served");
  }
  background_stop(s->background);
  sessions_free(s);
  watchdog_stop(&s->watchdog);
  free(why);
  return http ? RONDO_HOLDS : RONDO_BAD_INPUT;
}

rondo_status explore_serve(void *context, const rondo_exploration *request) {
  struct explore_server s = {.request = request};
  sigset_t ending, before;
  (void)context;
  signal(SIGPIPE, SIG_IGN);
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ending, &before); /* for all threads to come */
  pthread_mutex_init(&s.lock, NULL);
  rondo_status status = make_token(s.token) && read_trace(&s) ? run(&s, &ending) : RONDO_BAD_INPUT;
  pthread_mutex_destroy(&s.lock);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  free(s.trace);
  return status;
}

explore_fn *explore_function(void) { return explore_serve; }
