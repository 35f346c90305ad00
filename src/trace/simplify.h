/* Makes a run easier to read: it still shows its claim, with as few faults as possible. */
#ifndef RONDO_TRACE_SIMPLIFY_H
#define RONDO_TRACE_SIMPLIFY_H

#include "trace/trace.h"

/* Rounds: processes hear of as many others as possible, round by round: no message lost in the simplified run can be
   delivered without losing the claim or violating the environment. The number of rounds stays the same, and the fault
   cost does not increase.

   Steps: no event can be left out without losing the claim. Events of one process stay together as far as possible.
   Processes are numbered in order of appearance, where numbers do not matter. */
void run_simplify(struct run *, struct interpreter *, struct model *, const struct claim *);

void run_simplify_steps(struct run *, struct interpreter *, struct model *, const struct claim *);

#endif
