/* Limits of time and memory, and cancelling: contexts are interrupted by one thread, which looks at them every 20 ms.
 */
#include "explore/explore_server.h"

#include <malloc.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_PERIOD 5 /* looks */
#define PAUSE_SECONDS 1 /* for what was interrupted to give its memory back */

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t resident_bytes(void) {
  unsigned long long size, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%llu %llu", &size, &resident) != 2)
    resident = 0;
  if (f)
    fclose(f);
  return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Too much memory: everything that runs is interrupted, and sessions that can be made again are dropped. */
static void make_room(struct request_watchdog *d) {
  pthread_mutex_lock(&d->lock);
  for (struct watch *w = d->first; w; w = w->next)
    if (!w->expired) {
      w->expired = true;
      rondo_interrupt(w->context);
    }
  pthread_mutex_unlock(&d->lock);
  sessions_drop_idle(d->server);
  malloc_trim(0);
}

/* The other side has closed the connection. */
static bool reader_is_gone(const struct watch *w) {
  char next;
  return w->reader > 0 && recv(w->reader, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static bool is_over(const struct watch *w, double now) {
  return (w->deadline > 0 && now >= w->deadline) || (w->cancel && atomic_load(w->cancel)) || reader_is_gone(w);
}

static void *watchdog_run(void *context) {
  struct request_watchdog *d = context;
  struct timespec pause = {.tv_nsec = 20000000};
  double looks_again = 0;
  unsigned looks = 0;
  for (bool ends = false; !ends; nanosleep(&pause, NULL)) {
    double now = seconds_now();
    if (looks++ % MEMORY_PERIOD == 0 && now >= looks_again && resident_bytes() > d->memory) {
      make_room(d);
      looks_again = now + PAUSE_SECONDS;
    }
    pthread_mutex_lock(&d->lock);
    for (struct watch *w = d->first; w; w = w->next)
      if (!w->expired && is_over(w, now)) {
        w->expired = true;
        rondo_interrupt(w->context);
      }
    ends = d->ends;
    pthread_mutex_unlock(&d->lock);
  }
  return NULL;
}

void watchdog_start(struct request_watchdog *d, struct explore_server *server) {
  uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  d->server = server;
  d->memory = server->request->memory ? server->request->memory : machine / 4 * 3;
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
