#include "base/thread.h"

bool threads_exist(void) { return false; }
uint32_t threads_available(void) { return 1; }

bool thread_start(pthread_t *t, void *(*work)(void *), void *context) {
  (void)t;
  (void)work;
  (void)context;
  return false;
}

void thread_join(pthread_t t) { (void)t; }
