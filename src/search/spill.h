/* More states than memory. When memory is full, all states go to a disk log on disk, in the order in which they were
   found. From then on the visited set holds what was found lately, of which nobody knows yet whether it is new:
   candidates. When they fill the memory, and at the end of a layer, the disk log is read once from its beginning to its
   end: candidates that are there fall out, the others are put at its end. That is where the next layer is read. (U.
   Stern, D. Dill: Using magnetic disk instead of main memory in the Murphi verifier, CAV 1998.) References are places
   on the disk log then, but those of candidates, which nobody keeps: only findings name them (CANDIDATE_TAG), until
   they have their places. */
#ifndef RONDO_SEARCH_SPILL_H
#define RONDO_SEARCH_SPILL_H

#include "search/visited_backend.h"

void spill_free(struct spill *);
/* For states that put steps off: after find_known, before anything is put. */
bool spill_candidate_is_next(const struct search *, state_ref candidate);

/* What was stored there when states were still in memory. */
state_ref spill_relocate(const struct spill *, state_ref);
/* Reads states in order: as frontier_take. */
uint32_t spill_read_states(struct disk_log_reader *, struct frontier_state *, uint32_t most, disk_log_bytes *);

#endif
