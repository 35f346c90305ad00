/* A proof that others can check: an SMT-LIB script with three queries about an invariant. All are
   to be answered "unsat": a start outside the invariant, a move that leaves it, an unsafe state
   inside it.

   The system is printed from its typed form, not from the graph that the engines work on: what goes
   wrong in unfolding, acceleration or an engine cannot pass. */
#ifndef RONDO_PARAM_CERTIFICATE_H
#define RONDO_PARAM_CERTIFICATE_H

#include "param/engine.h"

/* The invariant by location of the graph. Parameters are restricted as the graph's are. */
void certificate_print(const struct counter_graph *, const char *const *invariant, struct text *out);

/* Asks the three queries, on a context of its own. False: not confirmed, or stopped; *why. stop: as in engine_watch. */
bool certificate_check(const char *script, const volatile sig_atomic_t *stop, struct text *why);

#endif
