#ifndef RONDO_LOCKSTEP_ROUND_RANK_H
#define RONDO_LOCKSTEP_ROUND_RANK_H

#include "lockstep/state_pack.h"

/* Round values are copies of earlier phase numbers and only compared, so their order is enough: the k-th smallest
   becomes k. 0 stays 0: it may be compared with the literal. */
#define RANKS_FEW 64
struct round_ranks {
  size_t n; /* of the tables: round numbers below this */
  bool *occurs;
  value *rank;               /* of those that occur; 0 of the others */
  bool too_large;            /* there is one too large for a table: they stay as they are */
  bool few_occur[RANKS_FEW]; /* the tables, while they suffice */
  value few_ranks[RANKS_FEW];
};

void round_ranks_begin(struct round_ranks *);
void round_ranks_note(struct round_ranks *, value round);
void round_ranks_note_local(struct round_ranks *, const struct pack *, local_id);
/* Ranks what was noted. phase: the last one, which becomes the next number with its residue where that is read. False:
   everything stays as it is. */
bool round_ranks_assign(struct round_ranks *, const struct pack *, value phase);
local_id round_ranks_rename(const struct round_ranks *, struct pack *, local_id);
void round_ranks_release(struct round_ranks *);

#endif
