/* Ordered partitions of the elements, refined by the cells that relate them. */
#ifndef RONDO_STEPS_COLOUR_REFINEMENT_H
#define RONDO_STEPS_COLOUR_REFINEMENT_H

#include "steps/scalarsets.h"

struct canonical;

/* An ordered partition of the elements into classes. The colour of an element is the position where its class begins.
   The only element of a singleton class has its final position. */
struct partition {
  uint32_t *at;     /* by position: the element */
  uint32_t *colour; /* by element */
  uint32_t *size;   /* by colour: the size of the class that begins there */
  uint32_t open;    /* number of elements in classes with several elements */
  /* by element: a link towards another element of its orbit under renamings that leave row and path unchanged */
  uint32_t *orbit;
};

/* A cell's content, or a part of it, with the elements that it relates. */
struct hyperedge {
  uint64_t shape;
  uint32_t a, b;     /* the owners of its cell, or NO_ELEMENT */
  uint32_t first, n; /* occurrences */
  bool part;
};

void hyperedges_collect(struct canonical *);
void partition_begin(const struct canonical *, struct partition *); /* one class for each scalarset */
void partition_copy(const struct canonical *, struct partition *, const struct partition *from);
void partition_single_out(struct partition *, uint32_t element);
/* Splits a class into singletons, in the current order. */
void partition_cut(struct partition *, uint32_t colour);
/* Refines until all elements of a class are related to the classes in the same way. fresh: the elements' own cells have
   not been considered yet either. */
void partition_refine(struct canonical *, struct partition *, bool fresh);

#endif
