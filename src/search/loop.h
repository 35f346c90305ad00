/* Short ways round in a region. Private to the engine for runs. */
#ifndef RONDO_SEARCH_LOOP_H
#define RONDO_SEARCH_LOOP_H

#include "search/fair.h"

struct walk {
  uint32_t node;  /* reached by... */
  uint32_t label; /* ...a step of this label */
};

struct entry { /* a way to a node, backwards */
  uint32_t node, distance;
  const struct entry *before; /* NULL: it begins here */
};

/* Round in the region through acceptance and `often` marks, from one of the entries (nearest first) back to it: so that the
   way there and round is shortest. In an array for memory_free; NULL: there is too much to ask for. Fairness is not looked at. */
struct walk *shortest_loop(const struct product *, const struct assumptions *, uint32_t region,
                           const struct entry *const *entries, size_t n, const struct entry **entry, uint32_t *length);

#endif
