/* Subsumption of tasks within a search: a new task is subsumed if each of its processes can only become what the
   corresponding process of an earlier task could. Then all its results are known. Without it, one_third_rule with n =
   6, k = 3 takes 23 % more instructions. */
#ifndef RONDO_LOCKSTEP_SUBSUMPTION_H
#define RONDO_LOCKSTEP_SUBSUMPTION_H

#include "base/intern.h"
#include "lockstep/partial_products.h"

#define LIST 0x80000000u /* marks a word that is a list rather than a local state */

struct subsumption {
  const struct intern *lists; /* borrowed */
  bool bag;
  struct partial_products old;
  uint32_t *layer; /* by earlier task: the layer in which it was multiplied out */
  size_t layer_cap;
  struct subsumption_node
      *node; /* vectors: a trie of the earlier tasks' words, so that common prefixes are compared once */
  size_t nodes, node_cap;
};

void subsumption_release(struct subsumption *);
size_t subsumption_bytes(const struct subsumption *);
/* Returns whether the task is subsumed. If not, it is added to the earlier ones. */
bool subsumed_or_add(struct subsumption *, const uint32_t *words, uint32_t length, const struct path_cost *,
                     uint32_t layer);

#endif
