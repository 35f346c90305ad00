/* Paths to findings across ranks. A state's parent is on some rank, and only its reference there is known. All ranks
   are asked whether they have a state of the previous layer under that reference and a step from it to the state. */
#ifndef RONDO_SEARCH_RANK_PATHS_H
#define RONDO_SEARCH_RANK_PATHS_H

#include "search/message_batches.h"

struct rank_path {
  VEC(bytes) keys; /* of the states on the path, first to last */
};

void rank_paths_make(struct message_batches *); /* collective */
void rank_paths_free(struct search *);
void rank_paths_save(const struct search *, struct saver *);
void rank_paths_load(struct search *, struct loader *, visited_key_fn *valid);
bool rank_path_is_known(const struct search *, const struct finding *);
/* Like search_path. */
struct state *rank_path(const struct search *, const struct finding *, uint32_t *n, struct path_goal *);

#endif
