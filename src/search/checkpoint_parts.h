/* What writing (search_checkpoint.c) and reading (search_resume.c) a search's file have in common. */
#ifndef RONDO_SEARCH_CHECKPOINT_PARTS_H
#define RONDO_SEARCH_CHECKPOINT_PARTS_H

#include "search/worker.h"

uint64_t checkpoint_instance_fingerprint(const struct search *);
uint64_t checkpoint_query_fingerprint(const struct search *); /* of the query, its reductions and its limits */
/* After the end of a search, states are needed only to print a path. */
bool checkpoint_needs_store(const struct search *);
/* When the next one is due, if the last one took so many seconds. */
void checkpoint_schedule(struct search *, double took);

#endif
