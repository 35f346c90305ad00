/* Runs that go round for ever: what live properties mean. configs[0 .. n - 1] in this order, then again and again from
   configs[loop]; loop == n - 1: the last one stays. */
#ifndef RONDO_SEM_LASSO_H
#define RONDO_SEM_LASSO_H

#include "sem/config.h"

struct lasso_configs {
  const struct config *const *at;
  uint32_t n, loop;
};

/* A formula of a live property, by the definition of temporal logic. `correct` are those who are never faulty. */
enum verdict3 lasso_satisfies(struct meaning *, const struct node *formula, const struct lasso_configs *,
                              struct model_error *);

/* If it is false because something is that it says of all: what that is, name by name. */
typedef void lasso_binding_fn(void *context, const struct generator *, value);
void lasso_instance(struct meaning *, const struct node *formula, const struct lasso_configs *, lasso_binding_fn *,
                    void *context);

/* The same, but for how many rounds are done, and for a renaming of round numbers that keeps their order. exact: no round
   number that is stored differs. */
bool config_rhymes(struct model *, const struct config *, const struct config *, bool *exact);

#endif
