/* Threads. In a build without them (CMake's RONDO_THREADS) no_threads.c replaces thread.c, and thread_start always
   fails. Callers then do the work in their own thread, as they do when the system cannot create another one. */
#ifndef RONDO_BASE_THREAD_H
#define RONDO_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

bool threads_exist(void);
uint32_t threads_available(void); /* processors that this process may use; 1 without threads */
bool thread_start(pthread_t *, void *(*work)(void *), void *context); /* false: no thread could be created */
void thread_join(pthread_t);

#endif
