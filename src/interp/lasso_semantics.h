/* Runs that go round for ever: what live properties mean. configs[0 .. n - 1] in this order, then again and again from
   configs[loop]; loop == n - 1: the last one stays. */
#ifndef RONDO_INTERP_LASSO_SEMANTICS_H
#define RONDO_INTERP_LASSO_SEMANTICS_H

#include "interp/config.h"

struct lasso_configs {
  const struct config *const *at;
  uint32_t n, loop;
};

/* A formula of a live property, by the definition of temporal logic. `correct` are those who are never faulty. */
enum verdict3 lasso_satisfies(struct interpreter *, const struct node *formula, const struct lasso_configs *,
                              struct model_error *);

/* If it is false because something is that it says of all: what that is, name by name. */
typedef void lasso_binding_fn(void *context, const struct generator *, value);
void lasso_instance(struct interpreter *, const struct node *formula, const struct lasso_configs *, lasso_binding_fn *,
                    void *context);

/* Can what happens from a on happen again from b? Either b equals a up to a renaming of round numbers that keeps their
   order; or, where processes take steps and more messages never stand in the way, it does but for further messages. In
   FIFO channels, provided that nothing is taken from those that have grown. */
struct recurrence {
  bool exact;    /* the same to the number */
  bool piles;    /* there are further messages */
  value *rounds; /* by round number of a: that of b; owned */
};
bool config_recurs(struct interpreter *, uint32_t environment, const struct config *a, const struct config *b,
                   struct recurrence *);
void recurrence_release(struct recurrence *);
/* Steps: what happens in a, as it happens in b: the messages that are taken have other round numbers. To be freed. */
struct witness *witness_renumbered(struct model *, const struct recurrence *, const struct witness *);

#endif
