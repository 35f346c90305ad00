/* Which part of a strongly connected component a run can go round in for ever, under assumptions. Private to the engine for
   runs. */
#ifndef RONDO_SEARCH_FAIR_H
#define RONDO_SEARCH_FAIR_H

#include "search/live.h"
#include "search/product.h"

typedef VEC(uint32_t) node_vec;

/* A component's nodes become one region, or parts of it do. Returns the region that satisfies everything, with its nodes in
   *in; 0: there is none, or a limit was reached (graph->end). Inside a region, only arrows that finally_allows count. */
uint32_t fair_region(struct product *, const struct assumptions *, const node_vec *component, node_vec *in);

static inline bool finally_allows(const struct product *p, const struct assumptions *a, uint32_t label) {
  return !(a->finally & ~p->graph->labels.at[label].marks);
}
/* Where an arrow of a node leads, if it stays in the region; UINT32_MAX: it does not. With coins: all results of its lottery
   must. */
uint32_t arrow_inside(const struct product *, const struct assumptions *, uint32_t node, const struct arrow *,
                      uint32_t region);

/* The shortest known way to the region, then round in it through all that is asked for. `in`, the region's nodes, is NULL where
   several regions have one name: then there may be no lasso (n is 0), where the shortest cannot be found. */
void lasso_make(struct product *, const struct assumptions *, uint32_t region, const node_vec *in, struct lasso *);

#endif
