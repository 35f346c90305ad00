/* Each watchdog is one thread. */
#include "symbolic/solver_watchdog.h"

#include "base/memory.h"
#include "base/thread.h"

#include <time.h>

#define CHECK_INTERVAL 20000000L /* ns */

struct watchdog {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  bool done;
  Z3_context z3;
  bool (*should_stop)(void *);
  void *context;
};

static void *watch(void *context) {
  struct watchdog *w = context;
  pthread_mutex_lock(&w->lock);
  while (!w->done) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += CHECK_INTERVAL;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(&w->ended, &w->lock, &until);
    if (!w->done && w->should_stop(w->context))
      Z3_interrupt(w->z3);
  }
  pthread_mutex_unlock(&w->lock);
  return NULL;
}

static void release(struct watchdog *w) {
  pthread_cond_destroy(&w->ended);
  pthread_mutex_destroy(&w->lock);
  memory_free(w);
}

struct watchdog *watchdog_new(Z3_context z3, bool (*should_stop)(void *), void *context) {
  struct watchdog *w = memory_alloc(sizeof *w);
  *w = (struct watchdog){.z3 = z3, .should_stop = should_stop, .context = context};
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->ended, NULL);
  if (thread_start(&w->thread, watch, w))
    return w;
  release(w);
  return NULL;
}

void watchdog_free(struct watchdog *w) {
  if (!w)
    return;
  pthread_mutex_lock(&w->lock);
  w->done = true;
  pthread_cond_signal(&w->ended);
  pthread_mutex_unlock(&w->lock);
  thread_join(w->thread);
  release(w);
}
