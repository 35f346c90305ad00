/* The negation of a live property in linear temporal logic (Pnueli 1977) over closed formulas about states.

   Existential quantifiers of the negation that can be moved to the front become hidden inputs: file-level inputs (rigid
   variables), chosen at the start. So a run violates `forall p in P: eventually p.decided` if the hidden p never
   decides in it. A permutation of processes also permutes p. Other quantifiers are expanded.

   `correct` means: never faulty in this run. Where processes can crash, that is no property of a state. It becomes
   `always (p in correct)`, or a hidden input that is compared with the crashed processes. */
#ifndef RONDO_ANALYSIS_LIVE_FORMULA_H
#define RONDO_ANALYSIS_LIVE_FORMULA_H

#include "logic/ltl.h"
#include "model/model.h"

struct live_formula {
  struct node *text; /* the property as written */
  struct ltl_pool *pool;
  ltl violated;        /* true of the runs that violate it */
  struct node **atoms; /* in the model's arena, as are all nodes */
  uint32_t natoms;
  const char *refused; /* why it is not supported; or NULL */
};

/* Changes the model, which must not be used for other queries: hidden inputs are added, and the property's formula
   becomes the conjunction of its atoms, for the analyses to read. */
void live_formula_init(struct live_formula *, struct model *, uint32_t property, uint32_t environment);
void live_formula_release(struct live_formula *);

/* A clause about runs with `for each p` is a clause for each process, which rules out symmetry. Two approximations keep
   symmetry. The weaker assumption requires the clause only of the processes in hidden inputs: if the property holds
   under it, it holds. The stronger one requires it of all processes at the same time: if the property is violated under
   it, it is violated. Otherwise nothing is known. */
enum each_approximation { EACH_WEAKER, EACH_STRONGER };
/* Replaces these clauses of the environment, after live_formula_init. False: there is no such clause, or it is not
   supported; nothing changes. */
bool live_approximate_each(struct model *, uint32_t property, uint32_t environment, enum each_approximation);

/* Steps: fairness to each process, or each action, tells processes apart, too. The weaker assumption requires it of the
   processes in hidden inputs only. It does not speak of messages, so it is none where those must arrive. False: there
   is no such clause; nothing changes. */
bool live_approximate_fairness(struct model *, uint32_t environment);

/* The range has the same members in every state, as quantifiers over temporal formulas require. */
bool range_is_state_independent(const struct node *);
bool node_is_temporal(const struct node *); /* contains a temporal operator */

#endif
