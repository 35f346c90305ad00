/* The way to a finding where the visited set has signatures instead of keys: forward from the initial states, each time
   to a successor that has the signature of the next state on the way. Should several have it, each is tried until one
   leads to what was found. */
#ifndef RONDO_SEARCH_COMPACTION_PATH_H
#define RONDO_SEARCH_COMPACTION_PATH_H

#include "search/bfs.h"

/* For memory_free, with the bytes of the states. NULL: nothing leads there. */
struct state *compaction_path(const struct search *, const struct finding *, uint32_t *n);

#endif
