/* More states than memory. When memory is full, all states go to a disk_log on disk, in the order in which they were
   found. From then on the visited_set holds what was found lately, of which nobody knows yet whether it is new:
   candidates. When they fill the memory, and at the end of a layer, the disk_log is read once from its beginning to its
   end: candidates that are there fall out, the others are put at its end. That is where the next layer is read. (U.
   Stern, D. Dill: Using magnetic disk instead of main memory in the Murphi verifier, CAV 1998.) References are places
   on the disk_log then, but those of candidates, which nobody keeps: only findings name them (SPILL_CANDIDATE), until
   they have their places. */
#ifndef RONDO_SEARCH_SPILL_H
#define RONDO_SEARCH_SPILL_H

#include "search/worker.h"

#define SPILL_CANDIDATE (UINT64_C(1) << 39)

/* Memory is full, and all of them rest, or are done. If nothing can be written the first one is stopped. */
void spill_make_room(struct search *, struct worker *const *all, uint32_t n);

/* From here on: if states have been spilled (search->spill). */
void spill_free(struct spill *);
uint64_t spill_states(const struct spill *);
uint64_t spill_bytes(const struct spill *);

/* All of the next layer was found, or as much of it as there will be (`made`): it becomes the stage's layer. False: not
 * all was made. */
bool spill_close_layer(struct worker *, bool made);
/* Nothing is kept: is any of the candidates new? */
bool spill_has_new(struct worker *);

/* For states that put steps off: after find_known, before anything is put. */
bool spill_candidate_is_next(const struct search *, state_ref candidate);

struct stored spill_at(const struct search *, state_ref, disk_log_bytes *into);
/* What was stored there when states were still in memory. */
state_ref spill_relocate(const struct spill *, state_ref);
state_ref spill_find(const struct search *, const uint8_t *bytes, uint32_t length);   /* STATE_REF_NONE if absent */
struct state *spill_path(const struct search *, const struct finding *, uint32_t *n); /* like search_path */

struct disk_log_reader spill_reader(const struct spill *, const struct layer *);
uint32_t spill_read_states(struct disk_log_reader *, struct frontier_state *, uint32_t most,
                           disk_log_bytes *); /* as frontier_take */

#endif
