/* A proof that other solvers can check: an SMT-LIB script with three queries about an invariant. Each must be answered
   "unsat": an initial state outside the invariant, a move that leaves it, an unsafe state inside it.

   The system is printed from its typed form, not from the graph that the engines work on, so the check also detects
   faults in unfolding, acceleration and the engines. */
#ifndef RONDO_PARAM_CERTIFICATE_H
#define RONDO_PARAM_CERTIFICATE_H

#include "param/engine.h"

/* The invariant is given by location of the graph. Parameters are restricted as in the graph. */
void certificate_print(const struct counter_graph *, const char *const *invariant, struct text *out);

/* The number of queries of certificate_print. */
enum { CERTIFICATE_QUESTIONS = 3 };

/* Runs so many queries in a new context. Returns false, with the reason in *why, if the certificate is not confirmed
   or the check was stopped. stop: as in struct engine_watch. */
bool certificate_check(const char *script, uint32_t questions, const volatile sig_atomic_t *stop, struct text *why);

#endif
