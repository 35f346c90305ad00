/* Can evaluating an expression end in an error of the model? `exists` and `forall` stop at the first binding that
   decides them, so where the others may fail, the order in which they are tried shows. */
#ifndef RONDO_ANALYSIS_MAY_FAIL_H
#define RONDO_ANALYSIS_MAY_FAIL_H

#include "model/model.h"

/* Called for each EXISTS and FORALL whose failing depends on the order of what it goes through. */
typedef void order_dependence_fn(void *context, const struct node *quantifier);

/* Looks through an expression, or through generators with what is evaluated for each of their bindings, and the defs
   that are called. True: evaluating it may fail. on_order may be NULL. */
bool node_may_fail(const struct model *, const struct query *, const struct node *, order_dependence_fn *on_order,
                   void *context);
bool bindings_may_fail(const struct model *, const struct query *, const struct generator *, uint32_t n,
                       const struct node *body, order_dependence_fn *on_order, void *context);

#endif
