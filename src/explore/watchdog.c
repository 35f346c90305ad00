/* Time limits, and cancelling: contexts are interrupted by one thread, which looks at them every 20 ms. */
#include "explore/explore_server.h"

#include <time.h>

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *watchdog_run(void *context) {
  struct request_watchdog *d = context;
  struct timespec pause = {.tv_nsec = 20000000};
  for (bool ends = false; !ends; nanosleep(&pause, NULL)) {
    double now = seconds_now();
    pthread_mutex_lock(&d->lock);
    for (struct watch *w = d->first; w; w = w->next)
      if (!w->expired && ((w->deadline > 0 && now >= w->deadline) || (w->cancel && atomic_load(w->cancel)))) {
        w->expired = true;
        rondo_interrupt(w->context);
      }
    ends = d->ends;
    pthread_mutex_unlock(&d->lock);
  }
  return NULL;
}

void watchdog_start(struct request_watchdog *d) {
  pthread_mutex_init(&d->lock, NULL);
  pthread_create(&d->thread, NULL, watchdog_run, d);
}

void watchdog_stop(struct request_watchdog *d) {
  pthread_mutex_lock(&d->lock);
  d->ends = true;
  pthread_mutex_unlock(&d->lock);
  pthread_join(d->thread, NULL);
  pthread_mutex_destroy(&d->lock);
}

void watch_begin(struct request_watchdog *d, struct watch *w) {
  w->expired = false;
  pthread_mutex_lock(&d->lock);
  w->next = d->first;
  d->first = w;
  pthread_mutex_unlock(&d->lock);
}

void watch_end(struct request_watchdog *d, struct watch *w) {
  pthread_mutex_lock(&d->lock);
  struct watch **at = &d->first;
  while (*at != w)
    at = &(*at)->next;
  *at = w->next;
  pthread_mutex_unlock(&d->lock);
  rondo_resume(w->context);
}
