/* Threads, where there are any. In a build without (CMake's RONDO_THREADS) no_threads.c stands in for thread.c: nothing
   can be begun, and whoever wants several threads makes do with its own, as it does where the system has no more of
   them. */
#ifndef RONDO_BASE_THREAD_H
#define RONDO_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

bool threads_exist(void);
uint32_t threads_available(void); /* processors that this process may use; without threads 1 */
bool thread_start(pthread_t *, void *(*work)(void *), void *context); /* false: there is none */
void thread_join(pthread_t);

#endif
