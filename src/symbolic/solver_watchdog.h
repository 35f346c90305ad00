/* Private to src/symbolic: a thread that tests rondo's limits while libz3 works, since libz3 does not know them. */
#ifndef RONDO_SYMBOLIC_SOLVER_WATCHDOG_H
#define RONDO_SYMBOLIC_SOLVER_WATCHDOG_H

#include <stdbool.h>
#include <z3.h>

struct watchdog;

/* Every 20 ms or so should_stop(context) is asked whether the library is to stop; as long as it says so it is
   interrupted, again and again, since it may just be between two queries. should_stop may only do what a signal handler
   may. NULL: nobody can be had. */
struct watchdog *watchdog_new(Z3_context, bool (*should_stop)(void *context), void *context);
void watchdog_free(struct watchdog *); /* or NULL */

#endif
