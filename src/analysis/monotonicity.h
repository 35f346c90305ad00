/* What is known at a place in an action: the conditions around it that were true and have not been touched since. With
   them assignments are shown never to make a variable smaller, or larger, or none again. */
#ifndef RONDO_ANALYSIS_MONOTONICITY_H
#define RONDO_ANALYSIS_MONOTONICITY_H

#include "base/arena.h"
#include "model/model.h"

/* How a value can change in a run: truth false before true, numbers, labels and rounds by order, sets by inclusion,
   records and arrays part by part. Neither nondecreasing nor nonincreasing can be relied on: anything. */
struct monotonicity {
  bool nondecreasing; /* never gets smaller */
  bool nonincreasing; /* never gets larger; nondecreasing as well: never changes */
  bool stays_some;    /* an option: never none again once it is not */
};

/* Joins into `shared` (by global) and `own` (by variable of the role) what the assignments of one action can do to
   them. New nodes live in the arena. */
void action_monotonicity(const struct model *, uint32_t role, const struct action *, struct monotonicity *own,
                         struct monotonicity *shared, struct arena *);

/* Does evaluating the expression make a free choice, in itself or in a def that it calls? */
bool node_chooses(const struct model *, const struct node *);

#endif
