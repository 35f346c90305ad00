#include "cli/terminal.h"

#include "explore/explore.h"

#ifdef __linux__
#include <dlfcn.h>
#endif
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/wait.h>
#endif

/* Signals that interrupt a command. All but SIGXCPU go to the whole group of processes. */
static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
#define ENDING_SIGNALS (sizeof ending_signals / sizeof *ending_signals)

#define PROGRESS_SECONDS 60.0 /* between two lines of progress in a file */

static rondo *volatile interrupted;  /* a signal handler has no other way to find it */
static volatile sig_atomic_t ending; /* a signal has asked for the end */
static int write_error;              /* errno of the first failure */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- output ---- */

#define READER_SECONDS 1.0 /* after a signal, a reader that takes nothing for so long is not waited for */

/* Is there a reader, who may take nothing? */
static bool has_reader(int fd) {
#ifdef __EMSCRIPTEN__
  (void)fd;
  return false;
#else
  struct stat st;
  return fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
#endif
}

/* False: a signal has asked for the end, and the reader takes nothing. */
static bool wait_for_reader(int fd) {
  static volatile sig_atomic_t lost; /* once is enough */
  struct pollfd ready = {.fd = fd, .events = POLLOUT};
  double since = now();
  for (;;) {
    int n = poll(&ready, 1, 50);
    if (n > 0 || (n < 0 && errno != EINTR))
      return true;
    if (!ending)
      since = now();
    else if (lost || now() - since >= READER_SECONDS)
      return lost = 1, false;
  }
}

/* Not through stdio, which may wait for the reader when the process ends. */
static bool write_all(int fd, const char *text, size_t n) {
  bool reader = has_reader(fd);
  while (n > 0) {
    if (reader && !wait_for_reader(fd)) {
      errno = EINTR;
      return false;
    }
    ssize_t wrote = write(fd, text, reader && n > PIPE_BUF ? PIPE_BUF : n); /* there is room for so much */
    if (wrote < 0 && errno != EINTR && errno != EAGAIN)
      return false;
    text += wrote > 0 ? wrote : 0;
    n -= wrote > 0 ? (size_t)wrote : 0;
  }
  return true;
}

static bool write_answer(void *context, const char *text, size_t length) {
  (void)context;
  bool ok = write_all(STDOUT_FILENO, text, length);
  if (!ok && !write_error)
    write_error = errno;
  return ok;
}

static void write_diagnostic(void *context, const rondo_diagnostic *d) {
  (void)context;
  write_all(STDERR_FILENO, d->text, strlen(d->text));
}

/* ---- how far it is ---- */

#define NOTICES_MAX 16

/* A violation that was found while the search goes on. It is reported after a second: most searches end before that,
   with an answer that says more. */
struct notice {
  char property[80], proved[80];
  double since;
};
static struct notice notices[NOTICES_MAX];
static int nnotices;
static double progress_told, progress_seconds; /* a file gets a line every so many seconds; 0: a terminal, always */

static void note_verdict(void *context, const rondo_verdict *v, bool final) {
  (void)context;
  int kept = 0;
  for (int i = 0; i < nnotices; i++)
    if (strcmp(notices[i].property, v->property) != 0)
      notices[kept++] = notices[i];
  nnotices = kept;
  struct notice one = {.since = now()};
  int named = snprintf(one.property, sizeof one.property, "%s", v->property);
  int said = snprintf(one.proved, sizeof one.proved, "%s", v->proved);
  if (!final && v->status == RONDO_VIOLATED && nnotices < NOTICES_MAX && named < (int)sizeof one.property &&
      said < (int)sizeof one.proved)
    notices[nnotices++] = one;
}

static void write_notices(double at) {
  for (; nnotices > 0 && at - notices[0].since >= 1; nnotices--) {
    fprintf(stderr, "%srondo: '%s' is violated %s; the search goes on\n", progress_seconds > 0 ? "" : "\r\033[K",
            notices[0].property, notices[0].proved);
    memmove(notices, notices + 1, sizeof notices - sizeof *notices);
  }
}

static void write_progress(void *context, const char *line) {
  double at = now();
  (void)context;
  if (line)
    write_notices(at);
  if (progress_seconds == 0) {
    fprintf(stderr, line ? "\r  %s\033[K" : "\r\033[K", line);
  } else if (line && at - progress_told >= progress_seconds) {
    progress_told = at;
    fprintf(stderr, "rondo: %s\n", line);
  }
}

static void out_of_memory(void *context, size_t wanted) {
  static const char message[] = "rondo: out of memory: inconclusive\n"
                                "  help: --max-memory ends the search before that, with what is known\n";
  (void)context;
  (void)wanted;
  write_all(STDERR_FILENO, message, sizeof message - 1);
  _exit(RONDO_INCONCLUSIVE);
}

#ifdef __linux__
/* The solver is written in C++, and an allocation that fails there ends in std::terminate. */
static void end_without_memory(void) { out_of_memory(NULL, 0); }

static void catch_termination(void) {
  void (*(*set_terminate)(void (*)(void)))(void) = NULL;
  void *found = dlsym(RTLD_DEFAULT, "_ZSt13set_terminatePFvvE");
  memcpy(&set_terminate, &found, sizeof found); /* POSIX has it so */
  if (set_terminate)
    set_terminate(end_without_memory);
}
#else
static void catch_termination(void) {}
#endif

/* In the middle of something that cannot be stopped: only ending the process does. */
static void end_overdue(void *context, rondo_status status, const char *answer, const char *message) {
  (void)context;
  write_all(STDOUT_FILENO, answer, strlen(answer));
  write_all(STDERR_FILENO, message, strlen(message));
  _exit((int)status);
}

/* ---- processes ---- */

#ifdef __linux__

/* Ctrl-C goes to the whole group: the parent decides what it means. Nobody may outlive the parent. */
static void run_process(void (*work)(void *argument, int wire), void *argument, pid_t parent, int wire) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  for (size_t i = 0; i < ENDING_SIGNALS; i++)
    signal(ending_signals[i], ending_signals[i] == SIGXCPU ? SIG_DFL : SIG_IGN);
  work(argument, wire);
  _exit(0);
}

static bool start_process(void *context, void (*work)(void *argument, int wire), void *argument,
                          rondo_process *process) {
  int wire[2];
  (void)context;
  if (pipe(wire) != 0)
    return false;
  fflush(NULL); /* or it would be written twice */
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(wire[0]);
    run_process(work, argument, parent, wire[1]);
  }
  close(wire[1]);
  if (child < 0)
    close(wire[0]);
  *process = (rondo_process){.id = child, .wire = wire[0]};
  return child > 0;
}

static void end_process(void *context, const rondo_process *process) {
  (void)context;
  kill((pid_t)process->id, SIGKILL); /* one that has ended waits to be waited for */
  close(process->wire);
  while (waitpid((pid_t)process->id, NULL, 0) < 0 && errno == EINTR)
    ;
}

/* A signal ends the sleep. */
static bool wait_seconds(void *context, double seconds) {
  struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  (void)context;
  if (!ending)
    nanosleep(&t, NULL);
  return !ending;
}

static void set_process_callbacks(rondo_host *host) {
  host->wait = wait_seconds;
  host->start_process = start_process;
  host->end_process = end_process;
}
#else
static void set_process_callbacks(rondo_host *host) { (void)host; }
#endif

/* ---- where the models are ---- */

static bool is_models_folder(const char *folder) {
  char path[PATH_MAX];
  return snprintf(path, sizeof path, "%s/herlihy.rondo", folder) < (int)sizeof path && access(path, R_OK) == 0;
}

/* Beside the program: in the checkout it was built in, or where it is installed. NULL: not there. */
static const char *find_models(char *folder, size_t size) {
  static const char *const beside[] = {"../models", "../../models", "../share/rondo/models"};
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = 0;
  char *slash = strrchr(self, '/');
  if (slash)
    *slash = 0;
  for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++)
    if (snprintf(folder, size, "%s/%s", self, beside[i]) < (int)size && is_models_folder(folder))
      return folder;
  return NULL;
}

/* ---- the host ---- */

/* Files and pipes are terminals to emscripten. */
static bool is_terminal(int fd) {
  struct stat st;
  return isatty(fd) && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode);
}

static bool use_colour(int fd) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return is_terminal(fd) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static unsigned width_of_terminal(void) {
  struct winsize size;
  if (!is_terminal(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40)
    return 0;
  return size.ws_col < 120 ? size.ws_col : 120;
}

/* RONDO_TEST_THREADS_FROM=1 and others like it. */
static void read_test_settings(rondo *r) {
  extern char **environ;
  static const char prefix[] = "RONDO_TEST_";
  char name[64];
  for (char **at = environ; *at; at++) {
    const char *equals = strchr(*at, '=');
    size_t n = equals ? (size_t)(equals - *at) : 0;
    if (strncmp(*at, prefix, sizeof prefix - 1) != 0 || n < sizeof prefix || n - sizeof prefix + 1 >= sizeof name)
      continue;
    memcpy(name, *at + sizeof prefix - 1, n - sizeof prefix + 1);
    name[n - sizeof prefix + 1] = '\0';
    rondo_for_tests(r, name, equals + 1);
  }
}

static void interrupt(int number) {
  (void)number;
  ending = 1;
  if (interrupted) /* mpirun may signal ranks while they end */
    rondo_interrupt(interrupted);
}

/* The first one interrupts, a second one of the same kind kills; but SIGXCPU comes every second. SIGHUP stays ignored
   where nohup has said so. */
static void install_signal_handlers(void *context) {
  struct sigaction before;
  (void)context;
  for (size_t i = 0; i < ENDING_SIGNALS; i++) {
    struct sigaction action = {.sa_handler = interrupt};
    if (ending_signals[i] != SIGXCPU)
      action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    if (ending_signals[i] != SIGHUP || (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN))
      sigaction(ending_signals[i], &action, NULL);
  }
}

rondo *terminal_open(const rondo_transport *transport) {
  static char models[PATH_MAX];
  rondo_host host = {.write = write_answer,
                     .diagnostic = write_diagnostic,
                     .listen = install_signal_handlers,
                     .out_of_memory = out_of_memory,
                     .overdue = transport && transport->rank > 0 ? NULL : end_overdue,
                     .colour = !transport && use_colour(STDOUT_FILENO),
                     .colour_diagnostics = !transport && use_colour(STDERR_FILENO),
                     .width = transport ? 0 : width_of_terminal(),
                     .models = find_models(models, sizeof models),
                     .transport = transport};
  set_process_callbacks(&host);
  host.explore = transport ? NULL : explore_function();
  catch_termination();
  host.progress = write_progress;
  host.verdict = note_verdict;
  progress_told = now();
  if (!is_terminal(STDERR_FILENO))
    progress_seconds = PROGRESS_SECONDS;
  if (getenv("RONDO_TEST_PROGRESS_SECONDS"))
    progress_seconds = strtod(getenv("RONDO_TEST_PROGRESS_SECONDS"), NULL);
  rondo *r = rondo_new(&host);
  read_test_settings(r);
  return interrupted = r;
}

int terminal_close(rondo *r, rondo_status status) {
  interrupted = NULL;
  rondo_free(r);
  if (!write_error)
    return (int)status;
  if (write_error == EINTR) {
    static const char message[] = "rondo: interrupted while the answer was written\n";
    write_all(STDERR_FILENO, message, sizeof message - 1);
    return RONDO_INCONCLUSIVE;
  }
  if (write_error == EPIPE) /* SIGPIPE is ignored here; the reader has seen enough all the same */
    return 128 + SIGPIPE;
  fprintf(stderr, "rondo: cannot write the answer: %s\n", strerror(write_error));
  return RONDO_BAD_INPUT;
}
