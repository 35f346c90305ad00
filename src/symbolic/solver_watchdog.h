/* Private to src/symbolic: a thread that checks rondo's limits while libz3 runs, since libz3 does not know them. */
#ifndef RONDO_SYMBOLIC_SOLVER_WATCHDOG_H
#define RONDO_SYMBOLIC_SOLVER_WATCHDOG_H

#include <stdbool.h>
#include <z3.h>

struct watchdog;

/* Calls should_stop(context) about every 20 ms. While that returns true, the watchdog keeps interrupting the library,
   because one interrupt may fall between two queries. should_stop must be async-signal-safe. Returns NULL if no thread
   can be created. */
struct watchdog *watchdog_new(Z3_context, bool (*should_stop)(void *context), void *context);
void watchdog_free(struct watchdog *); /* NULL is allowed */

#endif
