/* Monotonicity of variables: which ones never decrease, never increase, or never become none again? Shown for each
   assignment from the facts that hold at its place: the conditions around it that were true, and read nothing that was
   assigned since. */
#ifndef RONDO_ANALYSIS_MONOTONICITY_H
#define RONDO_ANALYSIS_MONOTONICITY_H

#include "base/arena.h"
#include "model/model.h"

/* How a value can change in a run. Truth values are ordered false before true, numbers, labels and rounds by <=, sets
   by inclusion, records and arrays part by part. */
struct monotonicity {
  bool nondecreasing; /* never gets smaller */
  bool nonincreasing; /* never gets larger; with nondecreasing: never changes */
  bool stays_some;    /* an option: never none again once it is not */
};

/* Joins the effects of the assignments of one action into `shared` (by global) and `own` (by variable of the role). New
   nodes live in the arena. */
void action_monotonicity(const struct model *, uint32_t role, const struct action *, struct monotonicity *own,
                         struct monotonicity *shared, struct arena *);

/* Does evaluating the expression make a free choice, in itself or in a def that it calls? */
bool node_chooses(const struct model *, const struct node *);

#endif
