/* Can the evaluation of an expression be an error of the model? `exists` and `forall` stop at the first binding that
   decides them. So if the evaluation of a binding may fail, the order in which bindings are tried can be observed. */
#ifndef RONDO_ANALYSIS_MAY_FAIL_H
#define RONDO_ANALYSIS_MAY_FAIL_H

#include "model/model.h"

/* Called for each EXISTS and FORALL that may fail or not, depending on the order of its bindings. */
typedef void order_dependence_fn(void *context, const struct node *quantifier);

/* May the expression fail, or the generators with what is evaluated for each of their bindings? Follows calls of defs.
   on_order may be NULL. */
bool node_may_fail(const struct model *, const struct query *, const struct node *, order_dependence_fn *on_order,
                   void *context);
bool bindings_may_fail(const struct model *, const struct query *, const struct generator *, uint32_t n,
                       const struct node *body, order_dependence_fn *on_order, void *context);

#endif
