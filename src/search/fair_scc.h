/* Which part of a strongly connected component a run can go round in for ever, under assumptions. Private to the engine
   for runs. */
#ifndef RONDO_SEARCH_FAIR_SCC_H
#define RONDO_SEARCH_FAIR_SCC_H

#include "search/automaton_product.h"
#include "search/liveness_search.h"

typedef VEC(uint32_t) node_vec;

/* A component's nodes become one scc, or parts of it do. Returns the scc that satisfies everything, with its nodes in
 *in; 0: there is none, or a limit was reached (graph->end). Inside a scc, only arrows that finally_allows count. */
uint32_t fair_scc_find(struct product *, const struct assumptions *, const node_vec *component, node_vec *in);

static inline bool finally_allows(const struct product *p, const struct assumptions *a, uint32_t label) {
  return !(a->finally & ~p->graph->labels.at[label].marks);
}
/* Where an arrow of a node leads, if it stays in the scc; UINT32_MAX: it does not. With coins: all results of its
   adversary_choice must. */
uint32_t edge_inside_scc(const struct product *, const struct assumptions *, uint32_t node, const struct product_edge *,
                         uint32_t scc);

/* The shortest known way to the scc, then round in it through all that is asked for. `in`, the scc's nodes, is NULL
   where several sccs have one name: then there may be no lasso (n is 0), where the shortest cannot be found. */
void state_lasso_make(struct product *, const struct assumptions *, uint32_t scc, const node_vec *in,
                      struct state_lasso *);

#endif
