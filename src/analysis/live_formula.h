/* A live property as a query of its own: which runs violate it, in temporal logic over closed formulas about states.

   Of the property's negation, processes (and other values) that are said to exist become hidden inputs: one for all,
   chosen at the start. So `forall p in P: eventually p.decided` asks for a run in which the hidden p never decides, and
   a renaming of processes renames p, too. Quantifiers that cannot be moved to the front are multiplied out.

   `correct` means: never faulty in this run. Where processes can crash that is not a matter of the state, so that it
   becomes `always (p in correct)`, or a hidden input that is compared with who has crashed. */
#ifndef RONDO_ANALYSIS_LIVE_FORMULA_H
#define RONDO_ANALYSIS_LIVE_FORMULA_H

#include "logic/ltl.h"
#include "model/model.h"

struct live_formula {
  struct node *text; /* the property as it stands */
  struct ltl_pool *pool;
  ltl violated;        /* holds of the runs that violate it */
  struct node **atoms; /* in the model's arena, as are all nodes */
  uint32_t natoms;
  const char *refused; /* not NULL: it is too much to ask, and why */
};

/* Changes the model, which must be there for this query alone: hidden inputs are added, and the property's formula
   becomes its atoms, for the analyses to read. */
void live_formula_init(struct live_formula *, struct model *, uint32_t property, uint32_t environment);
void live_formula_release(struct live_formula *);

/* What an environment says of runs `for each p` is a clause for each of them, which tells them apart. Less and more
   than that tells nobody apart: less is to say it of the processes that the property follows only, more is to say it of
   all at the same time. What holds of all runs that satisfy the less holds; what is violated by a run that satisfies
   the more is violated. Between them nothing is known. */
enum each_approximation { EACH_WEAKER, EACH_STRONGER };
/* Changes the environment so, after live_formula_init. False: there is no such clause, or it cannot be done; nothing
 * changes. */
bool live_approximate_each(struct model *, uint32_t property, uint32_t environment, enum each_approximation);

/* Ranges of quantifiers that have temporal operators below: the same in every state. */
bool range_is_state_independent(const struct node *);
bool node_is_temporal(const struct node *); /* it, or something below it, is */

#endif
