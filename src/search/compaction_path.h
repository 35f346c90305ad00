/* The path to a finding where the visited set holds signatures instead of keys. It is built forward from the initial
   states, each time to a successor that has the signature of the next state of the path. If several have it, each is
   tried until one leads to the finding. */
#ifndef RONDO_SEARCH_COMPACTION_PATH_H
#define RONDO_SEARCH_COMPACTION_PATH_H

#include "search/bfs.h"

/* For memory_free, including the bytes of the states. NULL: no path was found. */
struct state *compaction_path(const struct search *, const struct finding *, uint32_t *n);

#endif
