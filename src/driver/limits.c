/* Limits of time and memory, and interruptions. Searches check the limits between steps. In addition, a monitor thread
   checks them and sets the flags of its context. Code that checks the flags then ends soon. If other code is running,
   the host is told that the answer is overdue (rondo_host.overdue). A build without threads has no monitor. */
#include "driver/context.h"

#include "base/memory.h"
#include "base/thread.h"
#include "driver/options.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWDOWN 10.0
#else
#define SLOWDOWN 1.0
#endif
#define CHECKPOINT_GRACE 3.0            /* seconds to reach a point where a checkpoint can be written */
#define TRACE_GRACE (SLOWDOWN * 0.4)    /* seconds of work to make traces of what was found */
#define OVERDUE_AFTER (SLOWDOWN * 0.45) /* further seconds of work after which the host is told */
#define OVERDUE_RANKS 8.0               /* the same with several ranks, which wait for each other */
#define IDLE_MAX (SLOWDOWN * 5)         /* so many seconds count as work even if the process got no processor */
#define POLL_SHORT 0.002                /* seconds, if there is not much memory left */
#define POLL_LONG 0.02
#define RESIDENT_SLACK (1 << 20) /* bytes above the limit that are tolerated */

struct monitor {
  struct rondo *rondo;
  pthread_t thread;
  pthread_mutex_t lock; /* of what follows, and of setting the flags */
  pthread_cond_t changed;
  double deadline;            /* of the current phase: `stop` is set then; 0: none */
  size_t memory;              /* 0: any */
  const atomic_bool *writing; /* with checkpoints: one is being written; else NULL */
  /* The whole answer: */
  double answer_deadline, asked; /* 0: none; the limit as the user gave it */
  bool listening;                /* the host may interrupt */
  bool held;                     /* the host is writing, which takes as long as it takes */
  double late_since, late_work;  /* the time and the processor time at which it was seen to be late; 0: it is not */
  bool told;                     /* the host, that it is overdue */
  struct text answer;            /* for that case */
  int status;
  bool quit;
};

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double clock_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

/* The host may set `stop` at any moment, in a signal handler or another thread: that must not be overwritten. */
static bool stop_replace(struct rondo *r, sig_atomic_t old, sig_atomic_t new) {
  return __atomic_compare_exchange_n(&r->stop, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* The work since it was seen to be late. On a busy machine a process may get no processor for a while, which is not its
   fault. */
static double late_work(const struct monitor *w, double at) {
  double waited = at - w->late_since, worked = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - w->late_work;
  return waited < IDLE_MAX && worked < waited ? worked : waited;
}

static void tell_overdue(struct monitor *w, bool interrupted) {
  static const char *const inconclusive = "inconclusive";
  const rondo_host *host = &w->rondo->host;
  struct text message = {0};
  w->told = true;
  text_add(&message, "rondo: ");
  if (interrupted) {
    text_add(&message, "interrupted");
  } else {
    text_add(&message, "the limit of ");
    seconds_add(&message, w->asked);
    text_add(&message, " was reached");
  }
  text_addf(&message, " in the middle of a long step, which is left unfinished: %s\n",
            w->status == EXIT_VIOLATED ? "the answer says what was found before" : inconclusive);
  if (w->answer.n == 0 && w->rondo->json && !w->rondo->json_answered)
    text_addf(&w->answer,
              "{\n \"schema\": \"rondo-diagnostics/1\",\n \"verdict\": \"inconclusive\",\n \"status\": %d,\n "
              "\"diagnostics\": [\n"
              "  {\"code\": \"%s\", \"severity\": \"note\", \"file\": null, \"line\": null, \"column\": null,\n"
              "   \"end_line\": null, \"end_column\": null, \"message\": \"%.*s\", \"help\": null}\n ]\n}\n",
              w->status, diag_entry(N0106)->code, (int)message.n - 1, message.at);
  host->overdue(host->context, (rondo_status)w->status, text_or_empty(&w->answer), message.at);
  text_release(&message);
}

/* The stages after the end: traces are cut short (`insist`), then the host is told. */
static void check_lateness(struct monitor *w, double at) {
  struct rondo *r = w->rondo;
  sig_atomic_t stop = r->stop;
  bool interrupted = w->listening && stop && stop != INTERRUPT_TIME && stop != INTERRUPT_MEMORY;
  bool late = interrupted || (w->answer_deadline > 0 && at >= w->answer_deadline);
  double grace = w->writing ? CHECKPOINT_GRACE : TRACE_GRACE;
  if (!late && !(w->writing && stop)) {
    w->late_since = 0;
    return;
  }
  if (w->late_since == 0 || w->held || (w->writing && *w->writing)) {
    w->late_since = at;
    w->late_work = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    return;
  }
  double work = late_work(w, at);
  if ((w->writing ? at - w->late_since : work) >= grace)
    r->insist = 1;
  double after = r->host.transport ? OVERDUE_RANKS : OVERDUE_AFTER;
  if (late && work >= grace + after && r->host.overdue && !w->told)
    tell_overdue(w, interrupted);
}

static double earlier(double wait, double other) { return wait == 0 || other < wait ? other : wait; }

/* Checks everything. Returns the seconds until the next check; 0: none is needed. */
static double look(struct monitor *w) {
  struct rondo *r = w->rondo;
  double at = clock_seconds(), wait = 0;
  if (w->memory > 0) {
    size_t used = memory_resident();
    if (used > w->memory + w->memory / 64 + RESIDENT_SLACK)
      stop_replace(r, 0, INTERRUPT_MEMORY);
    wait = used > w->memory / 2 ? POLL_SHORT : POLL_LONG;
  }
  if (w->deadline > 0 && at >= w->deadline) {
    w->deadline = 0;
    stop_replace(r, 0, INTERRUPT_TIME);
  }
  check_lateness(w, at);
  if (w->listening || w->writing)
    wait = earlier(wait, POLL_LONG);
  if (w->deadline > 0)
    wait = earlier(wait, w->deadline - at);
  return wait;
}

static void *monitor_run(void *context) {
  struct monitor *w = context;
  pthread_mutex_lock(&w->lock);
  while (!w->quit) {
    double wait = look(w);
    if (wait == 0) {
      pthread_cond_wait(&w->changed, &w->lock);
      continue;
    }
    double until = clock_seconds() + (wait < 1e-4 ? 1e-4 : wait);
    struct timespec t = {.tv_sec = (time_t)until, .tv_nsec = (long)((until - (double)(time_t)until) * 1e9)};
    pthread_cond_timedwait(&w->changed, &w->lock, &t);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

/* All signals are blocked: they belong to the host's threads. */
static bool monitor_start(struct monitor *w) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool ok = thread_start(&w->thread, monitor_run, w);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ok;
}

static struct monitor *monitor_of(struct rondo *r) {
  if (r->monitor)
    return r->monitor;
  struct monitor *w = memory_alloc(sizeof *w);
  pthread_condattr_t monotonic;
  w->rondo = r;
  w->status = EXIT_INCONCLUSIVE;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (monitor_start(w))
    return r->monitor = w;
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->lock);
  memory_free(w);
  return NULL;
}

void monitor_free(struct monitor *w) {
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  w->quit = true;
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->lock);
  thread_join(w->thread);
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->lock);
  text_release(&w->answer);
  memory_free(w);
}

void monitor_forget(struct rondo *r) { r->monitor = NULL; /* not freed: its lock and condition may be in use */ }

static void monitor_changed(struct monitor *w) {
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->lock);
}

void watch_time(struct rondo *r, double seconds) {
  struct monitor *w = r->monitor || seconds > 0 ? monitor_of(r) : NULL;
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  if (stop_replace(r, INTERRUPT_TIME, 0))
    r->insist = 0;
  w->deadline = seconds > 0 ? clock_seconds() + seconds : 0;
  monitor_changed(w);
}

void watch_resident_memory(struct rondo *r, size_t limit) {
  struct monitor *w = r->monitor || limit > 0 ? monitor_of(r) : NULL;
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  stop_replace(r, INTERRUPT_MEMORY, 0);
  w->memory = limit;
  monitor_changed(w);
}

void watch_checkpoints(struct rondo *r, const atomic_bool *writing) {
  struct monitor *w = r->monitor || writing ? monitor_of(r) : NULL;
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  w->writing = writing;
  monitor_changed(w);
}

void watch_listening(struct rondo *r, bool listening) {
  struct monitor *w = r->monitor || (listening && r->host.overdue) ? monitor_of(r) : NULL;
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  w->listening = listening && r->host.overdue;
  w->told = false;
  monitor_changed(w);
}

void watch_answer(struct rondo *r, double deadline, double asked) {
  struct monitor *w = r->monitor || deadline > 0 ? monitor_of(r) : NULL;
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  w->answer_deadline = deadline;
  w->asked = asked;
  w->late_since = 0;
  text_release(&w->answer);
  w->status = EXIT_INCONCLUSIVE;
  if (stop_replace(r, INTERRUPT_TIME, 0) || !r->stop)
    r->insist = 0;
  monitor_changed(w);
}

void answer_prepare(struct rondo *r, struct text *answer, int status) {
  struct monitor *w = r->monitor;
  if (w) {
    pthread_mutex_lock(&w->lock);
    struct text old = w->answer;
    w->answer = *answer;
    w->status = status;
    pthread_mutex_unlock(&w->lock);
    *answer = old;
  }
  text_release(answer);
}

void answer_shorten(struct rondo *r, size_t n) {
  struct monitor *w = r->monitor;
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  if (n <= w->answer.n && w->answer.at) {
    memmove(w->answer.at, w->answer.at + n, w->answer.n - n + 1);
    w->answer.n -= n;
  }
  pthread_mutex_unlock(&w->lock);
}

bool answer_may_be_overdue(const struct rondo *r) { return r->host.overdue && r->monitor; }

void watch_hold(struct rondo *r, bool held) {
  struct monitor *w = r->monitor;
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  w->held = held;
  w->late_since = 0;
  pthread_mutex_unlock(&w->lock);
}

double trace_seconds(double deadline) {
  double left = deadline + TRACE_GRACE - clock_seconds();
  return left > 1e-3 ? left : 1e-3;
}

void limits_complete(struct rondo *r, struct limits *l) {
  uint32_t threads = threads_available();
  if (l->memory == 0)
    l->memory = default_memory_limit();
  if (l->threads == 0)
    l->threads = threads < MAX_PARTITIONS ? threads : MAX_PARTITIONS;
  l->threads_from = r->tests.threads_from;
  l->precheck_from = r->tests.precheck_from;
  l->spill_from = r->tests.spill_from;
  l->look_from = r->tests.look_from;
  l->interrupt = context_listen(r);
  l->insist = &r->insist;
}

void limits_until(struct limits *l, double deadline) {
  double left = deadline - clock_seconds();
  if (deadline == 0 || (l->seconds > 0 && l->seconds <= left))
    return;
  if (l->seconds_asked == 0)
    l->seconds_asked = l->seconds;
  l->seconds = left > 1e-3 ? left : 1e-3;
}

size_t default_memory_limit(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (size_t)pages / 4 * 3 * (size_t)size : 0;
}
