/* Short loops in an scc. Private to the liveness engine. */
#ifndef RONDO_SEARCH_SHORTEST_LOOP_H
#define RONDO_SEARCH_SHORTEST_LOOP_H

#include "search/fair_scc.h"

struct lasso_step {
  uint32_t node;  /* reached by... */
  uint32_t label; /* ...a step of this label */
};

struct scc_entry { /* a path to a node, linked backwards */
  uint32_t node, distance;
  const struct scc_entry *before; /* NULL: the path begins here */
};

/* A loop in the scc through all acceptance sets and `often` marks, from one of the entries (nearest first) back to it,
   such that path and loop together are shortest. In an array for memory_free; NULL: there are too many conditions.
   Ignores fairness. shortest: it did not give up before all were tried. */
struct lasso_step *shortest_loop(const struct product *, const struct assumptions *, uint32_t scc,
                                 const struct scc_entry *const *entries, size_t n, const struct scc_entry **entry,
                                 uint32_t *length, bool *shortest);
/* The same under fairness (fair_loop.c). NULL: it gave up. Not for coins. */
struct lasso_step *fair_loop(const struct product *, const struct assumptions *, uint32_t scc,
                             const struct scc_entry *const *entries, size_t n, const struct scc_entry **entry,
                             uint32_t *length, bool *shortest);

#endif
