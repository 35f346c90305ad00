/* The part of a strongly connected component in which a run can stay forever under the assumptions. Private to the
   liveness engine. */
#ifndef RONDO_SEARCH_FAIR_SCC_H
#define RONDO_SEARCH_FAIR_SCC_H

#include "search/automaton_product.h"
#include "search/liveness_search.h"

/* Makes the component's nodes one scc, or splits them into several. Returns the scc that satisfies all assumptions,
   with its nodes in *in; 0: there is none, or a limit was reached (graph->end). Inside an scc, only edges that
   finally_allows count. */
uint32_t fair_scc_find(struct product *, const struct assumptions *, const node_vec *component, node_vec *in);

static inline bool finally_allows(const struct product *p, const struct assumptions *a, uint32_t label) {
  return !(a->finally & ~p->graph->labels.at[label].marks);
}
/* The target of an edge if it stays in the scc; UINT32_MAX: it does not. With coins, all results of its
   adversary_choice must stay. */
uint32_t edge_inside_scc(const struct product *, const struct assumptions *, uint32_t node, const struct product_edge *,
                         uint32_t scc);

/* The shortest known path to the scc, then a loop in it that satisfies all conditions. `in`, the scc's nodes, is NULL
   if several sccs share a number: then only a shortest loop is tried, and there may be no lasso (n is 0). */
void state_lasso_make(struct product *, const struct assumptions *, uint32_t scc, const node_vec *in,
                      struct state_lasso *);

#endif
