/* Does partial-order reduction pay? Steps only. */
#ifndef RONDO_DRIVER_QUERY_ORDER_H
#define RONDO_DRIVER_QUERY_ORDER_H

#include "driver/query_run.h"

/* Makes a->order, if that is not known before the search without the reduction has begun (or a->explored, if a trial is
   the answer already). alone: that search is the caller's, which calls order_after_layer; else it is made here, up to
   where the answer is known. True: the search without the reduction comes first (alone), or is the one (not alone). */
bool order_is_idle(struct query_run *, bool alone);
void order_free(struct query_order *);
/* For search->layer: after each layer of the search without the reduction. False: it ends, because the reduction pays.
 */
bool order_after_layer(struct query_order *, struct search *);
bool order_is_known(const struct query_order *);
bool order_pays(const struct query_order *);

#endif
