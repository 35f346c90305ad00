/* Tasks that were multiplied out already, and whether they cover a new one: if each process of the new task can only
   become what the corresponding process of an old one could, all its results are known. */
#ifndef RONDO_LOCKSTEP_SUBSUMPTION_H
#define RONDO_LOCKSTEP_SUBSUMPTION_H

#include "base/intern.h"
#include "lockstep/partial_products.h"
#include "system/memo.h"

#define LIST 0x80000000u /* marks a word that is a list, not a local state */

struct subsumption {
  const struct intern *lists; /* borrowed */
  bool bag;
  struct memo within; /* (word, word) -> is the one's list part of the other's? */
  struct partial_products old;
  uint32_t *layer; /* by old task: in which layer it was multiplied out */
  size_t layer_cap;
  struct subsumption_node
      *node; /* vectors: a tree of the old tasks' words, so that common beginnings are compared once */
  size_t nodes, node_cap;
};

void subsumption_release(struct subsumption *);
/* Is it subsumed? If not, it is one of the old ones from now on. */
bool subsumed_or_add(struct subsumption *, const uint32_t *words, uint32_t length, const struct path_cost *,
                     uint32_t layer);

#endif
