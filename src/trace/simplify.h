/* A run made easier to read: it still shows what it shows, with as little going wrong as can be. */
#ifndef RONDO_TRACE_SIMPLIFY_H
#define RONDO_TRACE_SIMPLIFY_H

#include "trace/trace.h"

/* Rounds: everybody hears whom they can, round by round: none of the messages that are lost in the tidied
   run can be delivered without losing the claim, or the environment's consent. The number of rounds
   stays, and the charge does not grow.
   Steps: nothing can be left out without losing the claim; what one process does stays together
   as far as it goes; and processes are numbered in the order in which they come up, where numbers do not matter. */
void run_simplify(struct run *, struct interpreter *, struct model *, const struct claim *);

void run_simplify_steps(struct run *, struct interpreter *, struct model *, const struct claim *);

#endif
