/* The way to what several ranks found. A state's parent lies on some rank, and only the reference there is known: who has a
   state of the layer before under that reference, and a step from it that leads there, is asked of all. */
#ifndef RONDO_SEARCH_PATHS_H
#define RONDO_SEARCH_PATHS_H

#include "search/parcels.h"

struct told_path {
  VEC(bytes) keys; /* of the states, first to last */
};

void told_paths_make(struct parcels *); /* all ranks together */
void told_paths_free(struct search *);
void told_paths_save(const struct search *, struct saver *);
void told_paths_load(struct search *, struct loader *);
bool told_path_is_known(const struct search *, const struct finding *);
/* Like search_path. */
struct state *told_path(const struct search *, const struct finding *, uint32_t *n, struct goal *);

#endif
