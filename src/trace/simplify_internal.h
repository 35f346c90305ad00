/* Internals of the simplification of runs of steps. */
#ifndef RONDO_TRACE_SIMPLIFY_INTERNAL_H
#define RONDO_TRACE_SIMPLIFY_INTERNAL_H

#include "base/vec.h"
#include "trace/simplify.h"

struct step_simplifier {
  struct interpreter *interp;
  struct model *model;
  const struct claim *claim;
  const struct config *initial;
  struct config *at, *next; /* for trials */
  uint64_t steps;           /* of the interpreter, so far */
};

typedef VEC(struct witness *) events; /* borrowed */

bool step_simplifier_exhausted(const struct step_simplifier *);
void step_simplifier_swap(struct step_simplifier *); /* at and next */
/* Takes the event from `at` to `next`, if it is enabled there. */
bool step_simplifier_step(struct step_simplifier *, const struct witness *, enum step_result *);
/* Replays the events except number `skip` (SIZE_MAX: none), leaves out those that are not enabled, and stops as soon as
   the claim is shown: then returns true, with the events taken in `kept`. */
bool step_simplifier_attempt(struct step_simplifier *, const events *, size_t skip, events *kept);

/* Reorders the events so that the run reads well. */
void step_simplifier_order(struct step_simplifier *, events *);
/* Renumbers the processes in order of appearance. */
void step_simplifier_rename(struct step_simplifier *, struct run *);

#endif
