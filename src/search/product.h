/* Runs of a space beside runs of an automaton that reads them: pairs of a state and an automaton's state, numbered as they
   are found. Private to the engine for runs. */
#ifndef RONDO_SEARCH_PRODUCT_H
#define RONDO_SEARCH_PRODUCT_H

#include "logic/automaton.h"
#include "search/graph.h"

struct pair {
  uint32_t state, automaton; /* the automaton has not read the state yet */
  uint32_t number, low;      /* of the search for components; see NUMBER_ */
  uint32_t region;           /* of those who go through a part of the product: which part it is in */
};
#define NUMBER_NONE 0          /* not visited */
#define NUMBER_DONE UINT32_MAX /* its component is complete */

struct product {
  struct graph *graph;
  const struct automaton *automaton;
  VEC(struct pair) nodes;
  uint32_t *table; /* 1 + node, open addressing */
  size_t table_size;
  uint32_t regions; /* names given so far */
};

void product_init(struct product *, struct graph *, const struct automaton *);
void product_release(struct product *);
size_t product_bytes(const struct product *);
uint32_t product_node(struct product *, uint32_t state, uint32_t automaton);             /* finds or adds */
uint32_t product_find(const struct product *, uint32_t state, uint32_t automaton);       /* UINT32_MAX if absent */

/* A step of both at once. */
struct arrow {
  uint32_t state, automaton; /* to where */
  uint32_t label;            /* of the step: graph->labels */
  uint64_t accepts;          /* of the transition */
};

/* Goes through the arrows of a node whose state was expanded. */
struct arrows {
  uint64_t step, steps_end;
  uint32_t transition, transitions_begin, transitions_end;
  uint64_t letter;
};
struct arrows arrows_of(const struct product *, uint32_t node);
bool arrows_next(const struct product *, struct arrows *, struct arrow *);

#endif
