/* Lassos: the semantics of liveness properties. A lasso visits configs[0 .. n - 1] in this order and then repeats from
   configs[loop] forever; loop == n - 1: the last configuration repeats. */
#ifndef RONDO_INTERP_LASSO_SEMANTICS_H
#define RONDO_INTERP_LASSO_SEMANTICS_H

#include "interp/config.h"

struct lasso_configs {
  const struct config *const *at;
  uint32_t n, loop;
};

/* Evaluates the formula of a liveness property by the definition of temporal logic. `correct` are the processes that
   are never faulty. */
enum verdict3 lasso_satisfies(struct interpreter *, const struct node *formula, const struct lasso_configs *,
                              struct model_error *);

/* If the formula is false because an instance of a universal quantifier is: the values of that instance, variable by
   variable. */
typedef void lasso_binding_fn(void *context, const struct generator *, value);
void lasso_instance(struct interpreter *, const struct node *formula, const struct lasso_configs *, lasso_binding_fn *,
                    void *context);

/* Can the steps taken from a be taken again from b? Either b equals a up to an order-preserving renaming of round
   numbers; or, in models of steps where additional messages never disable anything, it does so except for additional
   messages. In FIFO channels this requires that nothing is taken from the channels that have grown. */
struct recurrence {
  bool exact;    /* equal, including the round numbers */
  bool piles;    /* b has additional messages */
  value *rounds; /* by round number of a: the round number in b; owned */
};
bool config_recurs(struct interpreter *, uint32_t environment, const struct config *a, const struct config *b,
                   struct recurrence *);
void recurrence_release(struct recurrence *);
/* Steps: the step from a as a step from b: messages taken get the round numbers of b. To be freed by the caller. */
struct witness *witness_renumbered(struct model *, const struct recurrence *, const struct witness *);

#endif
