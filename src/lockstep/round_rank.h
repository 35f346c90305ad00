#ifndef RONDO_LOCKSTEP_ROUND_RANK_H
#define RONDO_LOCKSTEP_ROUND_RANK_H

#include "lockstep/state_pack.h"

/* Round values are copies of earlier phase numbers and are only compared, so only their order matters: the k-th
   smallest is replaced by k. 0 stays 0, because it may be compared with the literal. */
#define RANKS_FEW 64
struct round_ranks {
  size_t n; /* size of the tables: round numbers below this */
  bool *occurs;
  value *rank;               /* of round numbers that occur; else 0 */
  bool too_large;            /* some round number is too large for a table: all stay unchanged */
  bool few_occur[RANKS_FEW]; /* the tables, for small round numbers */
  value few_ranks[RANKS_FEW];
};

void round_ranks_begin(struct round_ranks *);
void round_ranks_note(struct round_ranks *, value round);
void round_ranks_note_local(struct round_ranks *, const struct pack *, local_id);
/* Ranks the round numbers noted. phase is the largest; it becomes the next rank, or the next one with the same residue
   where the residue is read. False: everything stays unchanged. */
bool round_ranks_assign(struct round_ranks *, const struct pack *, value phase);
local_id round_ranks_rename(const struct round_ranks *, struct pack *, local_id);
void round_ranks_release(struct round_ranks *);

#endif
