#include "base/thread.h"

#include <sched.h>

bool threads_exist(void) { return true; }

uint32_t threads_available(void) {
  cpu_set_t mine;
  int n = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
  return n < 1 ? 1 : (uint32_t)n;
}

bool thread_start(pthread_t *t, void *(*work)(void *), void *context) {
  return pthread_create(t, NULL, work, context) == 0;
}

void thread_join(pthread_t t) { pthread_join(t, NULL); }
