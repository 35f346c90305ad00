/* Inside a worker: what is on its way into the visited set, and what it remembers. */
#ifndef RONDO_SEARCH_WORKER_INTERNAL_H
#define RONDO_SEARCH_WORKER_INTERNAL_H

#include "search/worker.h"

/* A successor on its way into the visited set. */
struct pending_insert {
  uint64_t hash, broken;
  state_ref from;
  size_t key;        /* its bytes are keys.at[key .. key + length) */
  uint32_t deferred; /* where `from` stands in worker->deferred, if it does */
  uint32_t length;
  uint64_t probe_position; /* of its look-up */
  fault_cost fault_cost;
};
#define BATCH 64
#define BATCH_BYTES 65536

/* Likewise, of space->short_keyed. */
struct short_pending {
  struct short_key key;
  uint64_t hash;
  state_ref from;
  fault_cost fault_cost;
  uint64_t probe_position;
  bool invisible; /* what is asked of it has the answer that it had of the state before, where nothing was found */
};

#define PREFETCH_GROUP 16 /* whose lines of the index are asked for together; BATCH is a multiple of it */

/* A state of which only some steps were taken (space->has_deferred): the others follow unless one of those led to a
   state of the next layer. That is known once they are in the visited set, so a few of them wait for it together. */
struct deferred_state {
  state_ref ref;
  bool proviso;
};
#define DEFERRED_MAX 32

/* With states on disk, whether it was one of the next layer is known later. */
struct candidate_successor {
  size_t deferred; /* where `from` stands, if it does */
  state_ref from, candidate;
};

/* What was emitted lately, with what the way to it cost: most states that are found again are found again soon, and
   then nobody need ask the visited set, unless the new way is the cheaper one. */
struct recent_state {
  struct short_key key;
  uint32_t length; /* 0: nothing */
  fault_cost fault_cost;
};
#define RECENT_BITS 12

#endif
