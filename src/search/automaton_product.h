/* Runs of a space beside runs of an automaton that reads them: pairs of a state and an automaton's state, numbered as
   they are found. Private to the engine for runs. */
#ifndef RONDO_SEARCH_AUTOMATON_PRODUCT_H
#define RONDO_SEARCH_AUTOMATON_PRODUCT_H

#include "logic/automaton.h"
#include "search/liveness_graph.h"

struct product_state {
  uint32_t state, automaton; /* the automaton has not read the state yet */
  uint32_t number, low;      /* of the search for components; see NUMBER_ */
  uint32_t scc;              /* of those who go through a part of the product: which part it is in */
};
#define SCC_UNVISITED 0         /* not visited */
#define SCC_COMPLETE UINT32_MAX /* its component is complete */

struct product {
  struct liveness_graph *graph;
  const struct automaton *automaton;
  VEC(struct product_state) nodes;
  uint32_t *table; /* 1 + node, open addressing */
  size_t table_size;
  uint32_t sccs; /* names given so far */
};

void product_init(struct product *, struct liveness_graph *, const struct automaton *);
void product_release(struct product *);
size_t product_bytes(const struct product *);
uint32_t product_node(struct product *, uint32_t state, uint32_t automaton);       /* finds or adds */
uint32_t product_find(const struct product *, uint32_t state, uint32_t automaton); /* UINT32_MAX if absent */

/* A step of both at once. */
struct product_edge {
  uint32_t state, automaton; /* to where */
  uint32_t label;            /* of the step: graph->labels */
  uint64_t accepts;          /* of the transition */
};

/* Goes through the arrows of a node whose state was expanded. */
struct product_edges {
  uint64_t step, steps_end;
  uint32_t transition, transitions_begin, transitions_end;
  uint64_t letter;
};
struct product_edges product_edges_of(const struct product *, uint32_t node);
bool product_edges_next(const struct product *, struct product_edges *, struct product_edge *);

#endif
