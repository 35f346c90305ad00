/* Limits of time and memory. Searches check them between steps; in between, a thread checks them and sets the flags of
   its context. Without threads nobody does. */
#include "driver/context.h"

#include "base/memory.h"
#include "base/thread.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#define GRACE_SECONDS 3.0 /* seconds to reach a point where a checkpoint can be written */
#define POLL_SHORT 0.002  /* seconds, if there is not much memory left */
#define POLL_LONG 0.02
#define RESIDENT_SLACK (1 << 20) /* bytes above the limit that are tolerated */

struct monitor {
  struct rondo *rondo;
  pthread_t thread;
  pthread_mutex_t lock; /* of what follows, and of setting the flags */
  pthread_cond_t changed;
  double deadline, grace_until; /* 0: none */
  size_t memory;                /* 0: any */
  bool grace, quit;
};

double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The host may set `stop` at any moment, in a signal handler or another thread: that must not be overwritten. */
static bool stop_replace(struct rondo *r, sig_atomic_t old, sig_atomic_t new) {
  return __atomic_compare_exchange_n(&r->stop, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

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
  if (w->grace && r->stop && w->grace_until == 0)
    w->grace_until = at + GRACE_SECONDS;
  if (w->grace && w->grace_until > 0 && at >= w->grace_until)
    r->insist = 1;
  if (w->grace && (wait == 0 || wait > POLL_LONG))
    wait = POLL_LONG;
  if (w->deadline > 0 && (wait == 0 || wait > w->deadline - at))
    wait = w->deadline - at;
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
  memory_free(w);
}

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
  w->grace_until = 0;
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

void watch_grace_period(struct rondo *r) {
  struct monitor *w = monitor_of(r);
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  w->grace = true;
  monitor_changed(w);
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
  l->interrupt = context_listen(r);
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
