/* Inside a sweep: what is on its way into the store, and what it remembers. */
#ifndef RONDO_SEARCH_SWEEP_PARTS_H
#define RONDO_SEARCH_SWEEP_PARTS_H

#include "search/sweep.h"

/* A successor on its way into the store. */
struct pending {
  uint64_t hash, broken;
  state_ref from;
  size_t key; /* its bytes are keys.at[key .. key + length) */
  uint32_t reduced; /* where `from` stands in sweep->reduced, if it does */
  uint32_t length;
  uint64_t left_off; /* of its look-up */
  charge charge;
};
#define BATCH 64
#define BATCH_BYTES 65536

/* Likewise, of space->brief. */
struct brief_pending {
  struct short_key key;
  uint64_t hash;
  state_ref from;
  charge charge;
  uint64_t left_off;
  bool quiet; /* what is asked of it has the answer that it had of the state before, where nothing was found */
};

#define ASKED 16 /* whose lines of the index are asked for together; BATCH is a multiple of it */

/* A state of which only some steps were taken (space->partial): the others follow unless one of those led to a state of
   the next layer. That is known once they are in the store, so a few of them wait for it together. */
struct reduced {
  state_ref ref;
  bool ahead;
};
#define REDUCED_MOST 32

/* With states on disk, whether it was one of the next layer is known later. */
struct led_to {
  size_t reduced; /* where `from` stands, if it does */
  state_ref from, candidate;
};

/* What was emitted lately, with what the way to it cost: most states that are found again are found again soon, and then nobody need ask the
   store, unless the new way is the cheaper one. */
struct recent {
  struct short_key key;
  uint32_t length; /* 0: nothing */
  charge charge;
};
#define RECENT_BITS 12

#endif
