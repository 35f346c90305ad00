/* A run made easier to read: it still shows what it shows, with as few lost messages as can be. */
#ifndef RONDO_TRACE_TIDY_H
#define RONDO_TRACE_TIDY_H

#include "trace/trace.h"

/* Everybody hears whom they can, round by round: none of the messages that are lost in the tidied
   run can be delivered without losing the claim, or the environment's consent. The number of rounds
   stays, and the charge does not grow. */
void run_tidy(struct run *, struct meaning *, struct model *, const struct claim *);

#endif
