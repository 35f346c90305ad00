/* Runs of steps while they are tidied. */
#ifndef RONDO_TRACE_TIDY_INTERNAL_H
#define RONDO_TRACE_TIDY_INTERNAL_H

#include "base/vec.h"
#include "trace/tidy.h"

struct tidying {
  struct meaning *meaning;
  struct model *model;
  const struct claim *claim;
  const struct config *initial;
  struct config *at, *next; /* for trials */
  uint64_t steps;           /* of the reference, so far */
};

typedef VEC(struct witness *) events; /* borrowed */

bool tidying_enough(const struct tidying *);
void tidying_swap(struct tidying *); /* at and next */
/* The event from at to next, if it can happen there. */
bool tidying_happens(struct tidying *, const struct witness *, enum step_result *);
/* Goes through the events but number `skip` (SIZE_MAX: all), leaves out those that cannot happen, and ends as soon as the
   claim is shown: true, and `kept` has what happened. */
bool tidying_attempt(struct tidying *, const events *, size_t skip, events *kept);

/* The same events in an order that reads well. */
void tidying_order(struct tidying *, events *);
/* The same run with processes numbered in the order in which they come up. */
void tidying_rename(struct tidying *, struct run *);

#endif
