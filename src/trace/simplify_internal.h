/* Runs of steps while they are tidied. */
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
  uint64_t steps;           /* of the reference, so far */
};

typedef VEC(struct witness *) events; /* borrowed */

bool step_simplifier_exhausted(const struct step_simplifier *);
void step_simplifier_swap(struct step_simplifier *); /* at and next */
/* The event from at to next, if it can happen there. */
bool step_simplifier_step(struct step_simplifier *, const struct witness *, enum step_result *);
/* Goes through the events but number `skip` (SIZE_MAX: all), leaves out those that cannot happen, and ends as soon as
   the claim is shown: true, and `kept` has what happened. */
bool step_simplifier_attempt(struct step_simplifier *, const events *, size_t skip, events *kept);

/* The same events in an order that reads well. */
void step_simplifier_order(struct step_simplifier *, events *);
/* The same run with processes numbered in the order in which they come up. */
void step_simplifier_rename(struct step_simplifier *, struct run *);

#endif
