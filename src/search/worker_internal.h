/* Internals of a worker: pending insertions and what it remembers. */
#ifndef RONDO_SEARCH_WORKER_INTERNAL_H
#define RONDO_SEARCH_WORKER_INTERNAL_H

#include "search/worker.h"

/* A successor that is waiting to be inserted. */
struct pending_insert {
  uint64_t hash, broken;
  state_ref from;
  size_t key;        /* its bytes are keys.at[key .. key + length) */
  uint32_t deferred; /* index of `from` in worker->deferral.states, if it is there */
  uint32_t length;
  uint64_t probe_position; /* of its look-up */
  fault_cost fault_cost;
};
#define BATCH 64
#define BATCH_BYTES 65536

/* The same for a successor in worker->short_keyed. */
struct short_pending {
  struct short_key key;
  uint64_t hash;
  state_ref from;
  fault_cost fault_cost;
  uint64_t probe_position;
  bool invisible; /* its properties have the same values as in its parent, where nothing was found */
};

#define PREFETCH_GROUP 16 /* successors whose index buckets are prefetched together; divides BATCH */

/* A state of which only some steps were taken (space->has_deferred). The others follow unless one of those led to a
   state of the next layer (the proviso). That is known only when the successors are in the visited set, so several such
   states wait for it together. */
struct deferred_state {
  state_ref ref;
  bool proviso;
};
#define DEFERRED_MAX 32

/* With states on disk it is known only later whether a successor is in the next layer. */
struct candidate_successor {
  size_t deferred; /* index of `from` in worker->deferral.states, if it is there */
  state_ref from, candidate;
};

/* Recently emitted states with the costs of their paths: most states that are reached again are reached again soon, and
   then the visited set need not be consulted, unless the new path is cheaper. */
struct recent_state {
  struct short_key key;
  uint32_t length; /* 0: empty */
  fault_cost fault_cost;
};
#define RECENT_BITS 12

#endif
