/* Resuming with another number of ranks. Each of the ranks that wrote a checkpoint has saved the states that it owned
   in a part of its own. The parts are shared out to the ranks that are there now, which send each state to its new
   owner, layer by layer. Where a state came from is not known then: rank_paths.c searches the layer before it. */
#ifndef RONDO_SEARCH_RANK_PARTS_H
#define RONDO_SEARCH_RANK_PARTS_H

#include "search/message_batches.h"

/* Called by all ranks, with an unfinished search that saving.written_by ranks have written. The same on all ranks;
   false: *why gives the reason, or is empty. */
bool rank_parts_join(struct search *, struct worker *, struct text *why);

/* search_resume.c: loads a part into the search and its worker. states: with its visited states. */
bool checkpoint_load_part(struct search *, struct worker *, uint32_t part, bool states, struct text *why);

#endif
