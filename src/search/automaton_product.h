/* The product of a transition system with an automaton: pairs of a state and an automaton state, numbered in order of
   discovery. Private to the liveness engine. */
#ifndef RONDO_SEARCH_AUTOMATON_PRODUCT_H
#define RONDO_SEARCH_AUTOMATON_PRODUCT_H

#include "logic/automaton.h"
#include "search/liveness_graph.h"

struct product_state {
  uint32_t state, automaton; /* the automaton has not read the letter of the state yet */
  uint32_t number;           /* of the SCC algorithm; see SCC_UNVISITED and SCC_COMPLETE */
  uint32_t scc;              /* the set of nodes it belongs to when part of the product is examined */
};
#define SCC_UNVISITED 0
#define SCC_COMPLETE UINT32_MAX /* its component is complete */

typedef VEC(uint32_t) node_vec;

struct product {
  struct liveness_graph *graph;
  const struct automaton *automaton;
  VEC(struct product_state) nodes;
  uint32_t *table; /* 1 + node number, open addressing */
  size_t table_size;
  uint32_t sccs; /* scc numbers assigned so far */
};

void product_init(struct product *, struct liveness_graph *, const struct automaton *);
void product_release(struct product *);
size_t product_bytes(const struct product *);
uint32_t product_node(struct product *, uint32_t state, uint32_t automaton);       /* finds or inserts */
uint32_t product_find(const struct product *, uint32_t state, uint32_t automaton); /* UINT32_MAX if absent */

/* A step of both. */
struct product_edge {
  uint32_t state, automaton; /* the target */
  uint32_t label;            /* of the step: graph->labels */
  uint64_t accepts;          /* acceptance sets of the automaton's transition */
};

/* Iterates over the edges of a node whose state is expanded. */
struct product_edges {
  uint64_t step, steps_end;
  uint32_t transition, transitions_begin, transitions_end;
  uint64_t letter;
};
struct product_edges product_edges_of(const struct product *, uint32_t node);
bool product_edges_next(const struct product *, struct product_edges *, struct product_edge *);

#endif
