/* States on disk, for searches that exceed memory. When memory is full, all states are written to a disk log in order
   of discovery. From then on the visited set holds candidates: recently found states that may or may not be new. When
   they fill memory, and at the end of a layer, the disk log is read once from beginning to end: candidates found there
   are dropped, the others are appended. The next layer is read from the end of the log. (U. Stern, D. Dill: Using
   magnetic disk instead of main memory in the Murphi verifier, CAV 1998.)

   References are then offsets in the disk log. References to candidates are temporary: only findings hold them
   (CANDIDATE_TAG), until the candidates are on disk. */
#ifndef RONDO_SEARCH_SPILL_H
#define RONDO_SEARCH_SPILL_H

#include "search/visited_backend.h"

void spill_free(struct spill *);
/* Checkpoints. The candidates must be on the disk log. */
void spill_save(struct spill *, struct saver *);
/* Makes a disk log of what was saved. False: it cannot, or a key is not valid. */
bool spill_load(struct search *, struct loader *, visited_key_fn *valid);
/* Notes a reference that should be that of a state, or else of the end; then: are they all? Asked together, because it
   takes a walk through the disk log. */
bool spill_claim(struct spill *, state_ref, bool may_be_end);
bool spill_claims_hold(struct spill *);

/* For states with deferred steps: valid after find_known and before candidates are appended. */
bool spill_candidate_is_next(const struct search *, state_ref candidate);

/* The offset of a state that was in memory before the first spill. */
state_ref spill_relocate(const struct spill *, state_ref);
/* Takes states from a frontier on disk, like frontier_take. */
uint32_t spill_take(struct frontier *, struct frontier_state *, uint32_t most, disk_log_bytes *);

#endif
