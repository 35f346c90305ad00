/* The stacks of a depth-first search for strongly connected components (Couvreur 1999). Private to the liveness
   engine. */
#ifndef RONDO_SEARCH_SCC_STACK_H
#define RONDO_SEARCH_SCC_STACK_H

#include "search/automaton_product.h"

/* A partial component: the nodes on the stack from `number` up to the next root. */
struct scc_root {
  uint64_t number;
  uint64_t accepts, marks;         /* of edges inside it */
  uint64_t arc_accepts, arc_marks; /* of the edge by which it was entered */
  bool cyclic;                     /* it contains a cycle */
};
typedef VEC(struct scc_root) scc_roots;
/* An edge back to the open node of that number: everything since that node is one component, which is returned. */
struct scc_root *scc_roots_merge(scc_roots *, uint64_t number, uint64_t accepts, uint64_t marks);

struct scc_frame {
  uint32_t node;
  struct product_edges left;
};
struct scc_stack { /* of a search in the product */
  VEC(struct scc_frame) path;
  scc_roots roots;
  node_vec open; /* nodes of incomplete components */
  uint32_t numbers;
};
/* accepts, marks: of the edge to the node. */
void scc_stack_enter(struct scc_stack *, struct product *, uint32_t node, uint64_t accepts, uint64_t marks);
/* Takes the nodes from that number on from the open ones. */
void scc_stack_take(struct scc_stack *, const struct product *, uint64_t number, node_vec *to);
/* All edges of the last node on the path have been followed. True: that completes a component. */
bool scc_stack_leave(struct scc_stack *, const struct product *, struct scc_root *, node_vec *component);
size_t scc_stack_bytes(const struct scc_stack *);
void scc_stack_release(struct scc_stack *);

#endif
