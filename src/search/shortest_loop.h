/* Short ways round in a scc. Private to the engine for runs. */
#ifndef RONDO_SEARCH_SHORTEST_LOOP_H
#define RONDO_SEARCH_SHORTEST_LOOP_H

#include "search/fair_scc.h"

struct lasso_step {
  uint32_t node;  /* reached by... */
  uint32_t label; /* ...a step of this label */
};

struct scc_entry { /* a way to a node, backwards */
  uint32_t node, distance;
  const struct scc_entry *before; /* NULL: it begins here */
};

/* Round in the scc through acceptance and `often` marks, from one of the entries (nearest first) back to it: so that
   the way there and round is shortest. In an array for memory_free; NULL: there is too much to ask for. Fairness is not
   looked at. */
struct lasso_step *shortest_loop(const struct product *, const struct assumptions *, uint32_t scc,
                                 const struct scc_entry *const *entries, size_t n, const struct scc_entry **entry,
                                 uint32_t *length);

#endif
