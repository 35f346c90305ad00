/* The way to what several ranks found. A state's parent lies on some rank, and only the reference there is known: who
   has a state of the layer before under that reference, and a step from it that leads there, is asked of all. */
#ifndef RONDO_SEARCH_RANK_PATHS_H
#define RONDO_SEARCH_RANK_PATHS_H

#include "search/message_batches.h"

struct rank_path {
  VEC(bytes) keys; /* of the states, first to last */
};

void rank_paths_make(struct message_batches *); /* all ranks together */
void rank_paths_free(struct search *);
void rank_paths_save(const struct search *, struct saver *);
void rank_paths_load(struct search *, struct loader *);
bool rank_path_is_known(const struct search *, const struct finding *);
/* Like search_path. */
struct state *rank_path(const struct search *, const struct finding *, uint32_t *n, struct path_goal *);

#endif
