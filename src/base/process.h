/* Processes that this one starts, where that can be done at all: not in WebAssembly. */
#ifndef RONDO_BASE_PROCESS_H
#define RONDO_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

bool processes_exist(void); /* else fork fails */

/* In a new process: it ends when its parent does. False: that has ended already. */
bool process_follow(pid_t parent);

#endif
