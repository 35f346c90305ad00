#include "cli/terminal.h"

#include "base/memory.h"
#include "base/thread.h"
#include "cli/options.h"
#include "search/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static bool silent, plain;

/* A handler has no other way to tell. */
static volatile sig_atomic_t interrupted;

/* Files and pipes are terminals to emscripten. */
static bool is_terminal(int fd) {
  struct stat st;
  return isatty(fd) && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode);
}

static bool coloured(int fd) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return is_terminal(fd) && !plain && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

struct style terminal_style(bool verbose) {
  struct winsize size;
  struct style style = {.colour = coloured(STDOUT_FILENO), .verbose = verbose, .width = 96};
  if (is_terminal(STDOUT_FILENO) && !plain && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
    style.width = size.ws_col < 120 ? size.ws_col : 120;
  return style;
}

void be_plain(void) { plain = true; }
void be_silent(void) { silent = true; }
void be_heard(void) { silent = false; }

void say(struct text *t) {
  if (t->n > 0 && !silent)
    fwrite(t->at, 1, t->n, stdout);
  text_release(t);
}

void say_error(const char *format, ...) {
  va_list args;
  if (silent)
    return;
  fflush(stdout);
  va_start(args, format);
  fputs("rondo: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
}

void say_diags(const struct diags *d) {
  struct text t = {0};
  if (silent)
    return;
  fflush(stdout);
  diags_print(d, coloured(STDERR_FILENO), &t);
  fputs(text_or_empty(&t), stderr);
  text_release(&t);
}

int finish_output(int status) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return status;
  if (errno == EPIPE) /* SIGPIPE is ignored here; the reader has seen enough all the same */
    return 128 + SIGPIPE;
  say_error("cannot write the answer: %s", strerror(errno));
  return EXIT_BAD_INPUT;
}

/* Somebody has asked for them: there are a few seconds to come to where a search can be written down. */
static volatile sig_atomic_t patient, impatient;
#define PATIENCE 3 /* seconds */

static void interrupt(int signal) {
  (void)signal;
  interrupted = 1;
  if (patient)
    alarm(PATIENCE);
}

const volatile sig_atomic_t *watch_interrupts(void) {
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  return &interrupted;
}

static void time_is_up(int signal) {
  (void)signal;
  if (interrupted) {
    impatient = 1;
    return;
  }
  interrupted = INTERRUPT_TIME;
  if (patient)
    alarm(PATIENCE);
}

static void watch_alarms(void) {
  struct sigaction action = {.sa_handler = time_is_up, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, NULL);
}

const volatile sig_atomic_t *watch_patience(void) {
  watch_alarms();
  patient = 1;
  return &impatient;
}

void watch_time(double seconds) {
  struct itimerval timer = {0};
  setitimer(ITIMER_REAL, &timer, NULL);
  if (interrupted == INTERRUPT_TIME)
    interrupted = impatient = 0;
  if (seconds <= 0)
    return;
  watch_alarms();
  timer.it_value.tv_sec = seconds < 1e9 ? (time_t)seconds : (time_t)1e9;
  timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6) % 1000000;
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
    timer.it_value.tv_usec = 1;
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* Searches look at memory from step to step. What happens between two of them is looked at from here, by a thread that ends with
   the program; without threads by nobody. */
static struct {
  pthread_mutex_t lock;
  bool begun;
  size_t limit; /* 0: none */
} resident = {.lock = PTHREAD_MUTEX_INITIALIZER};
#define RESIDENT_OFTEN 2000000 /* nanoseconds, if there is not much left */
#define RESIDENT_ELSE 20000000
#define RESIDENT_SPARE (1 << 20) /* bytes that nobody counts */

static void *watch_resident(void *context) {
  (void)context;
  while (true) {
    pthread_mutex_lock(&resident.lock);
    size_t limit = resident.limit, used = limit ? memory_resident() : 0;
    if (used > limit + limit / 64 + RESIDENT_SPARE && !interrupted)
      interrupted = INTERRUPT_MEMORY;
    pthread_mutex_unlock(&resident.lock);
    nanosleep(&(struct timespec){.tv_nsec = used > limit / 2 ? RESIDENT_OFTEN : RESIDENT_ELSE}, NULL);
  }
  return NULL;
}

void watch_resident_memory(size_t limit) {
  pthread_t thread;
  pthread_mutex_lock(&resident.lock);
  resident.limit = limit;
  if (interrupted == INTERRUPT_MEMORY)
    interrupted = 0;
  if (limit > 0 && !resident.begun && thread_begin(&thread, watch_resident, NULL)) {
    thread_detach(thread);
    resident.begun = true;
  }
  pthread_mutex_unlock(&resident.lock);
}

static void memory_exhausted(size_t wanted) {
  (void)wanted;
  silent = false;
  say_error("out of memory: inconclusive\n  help: --max-memory ends the search before that, with "
            "what is known");
  _exit(EXIT_INCONCLUSIVE);
}

void watch_memory(void) { memory_on_exhausted(memory_exhausted); }

static uint64_t tested_number(const char *name) {
  const char *said = getenv(name);
  return said ? strtoull(said, NULL, 10) : 0;
}

uint64_t tested_threads_from(void) { return tested_number("RONDO_TEST_THREADS_FROM"); }

uint64_t tested_sieve_from(void) { return tested_number("RONDO_TEST_SIEVE_FROM"); }

uint64_t tested_spill_from(void) { return tested_number("RONDO_TEST_SPILL_FROM"); }

double checkpoint_seconds(void) {
  const char *said = getenv("RONDO_TEST_CHECKPOINT_SECONDS");
  return said ? strtod(said, NULL) : CHECKPOINT_SECONDS;
}

uint32_t tested_signature(void) {
  const char *said = getenv("RONDO_TEST_HASH_BITS");
  uint64_t bits = said ? strtoull(said, NULL, 10) : 0;
  return bits >= 1 && bits <= STORE_SIGNATURE_FEW ? (uint32_t)bits : STORE_SIGNATURE;
}

enum letters_by tested_letters(void) {
  const char *said = getenv("RONDO_TEST_LETTERS");
  return !said ? LETTERS_AUTO : !strcmp(said, "always") ? LETTERS_ALWAYS : !strcmp(said, "never") ? LETTERS_NEVER : LETTERS_AUTO;
}

bool tested_narrow_keys(void) { return getenv("RONDO_TEST_NARROW_KEYS"); }

bool tested_without_second_look(void) { return getenv("RONDO_TEST_NO_SECOND_LOOK"); }

uint32_t default_threads(void) {
  uint32_t n = threads_at_once();
  return n < STORE_LANES ? n : STORE_LANES;
}

size_t default_memory_limit(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? memory_size((uint64_t)pages / 4 * 3 * (uint64_t)size) : 0;
}

static void progress(void *context, const struct search_stats *s) {
  struct text t = {0};
  const struct model *m = context;
  text_add(&t, "\r  ");
  count_add(&t, s->states, "state", "states");
  text_addf(&t, ", %s %u, ", model_steps(m) ? "step" : "round", s->depth);
  if (s->layer > 0) { /* what comes after the layer nobody knows */
    number_add(&t, s->layer);
    text_addf(&t, " in the layer, %u %% of it done, ", (unsigned)(s->done < s->layer ? s->done * 100 / s->layer : 100));
  }
  if (s->seconds > 0)
    number_add(&t, (uint64_t)((double)s->states / s->seconds));
  text_add(&t, " states/s, ");
  bytes_add(&t, s->memory);
  text_add(&t, ", ");
  seconds_add(&t, s->seconds);
  text_add(&t, "\033[K");
  fputs(t.at, stderr);
  text_release(&t);
}

search_progress_fn *progress_or_null(void) { return is_terminal(STDERR_FILENO) && !silent ? progress : NULL; }

void progress_clear(void) {
  if (is_terminal(STDERR_FILENO) && !silent)
    fputs("\r\033[K", stderr);
}
