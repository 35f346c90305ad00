/* One rank's part of a search. Successors found by its worker are sent in batches to the ranks that own them, and those
   it receives are inserted into its visited set. */
#ifndef RONDO_SEARCH_MESSAGE_BATCHES_H
#define RONDO_SEARCH_MESSAGE_BATCHES_H

#include "base/hash.h"
#include "search/ranks.h"
#include "search/worker.h"

/* What ranks tell each other at every exchange. */
enum rank_status {
  RANK_STATUS_KNOWN, /* number of names it knows */
  RANK_STATUS_LEFT,  /* it has work left */
  RANK_STATUS_SENT,  /* bytes of states sent */
  RANK_STATUS_STATES,
  RANK_STATUS_TRANSITIONS,
  RANK_STATUS_MEMORY,
  RANK_STATUS_END,
  RANK_STATUS_RESTART,
  RANK_STATUS_RESTS,  /* suspended between two states, for a checkpoint */
  RANK_STATUS_ENDING, /* end after the checkpoint; search->saving.ending */
  RANK_STATUS_CUT,
  RANK_STATUSES
};

/* Counterpart of save_block; bytes after the key, up to KEY_SHORT_BYTES, are readable. */
void load_key(struct loader *, bytes *);

struct recently_sent;

struct message_batches {
  struct ranks *ranks;
  struct worker *worker;
  bytes *out, *replies; /* by rank */
  bytes in;
  size_t *first, queued;
  struct recently_sent *recently_sent;
  bool probing;          /* nothing is stored: only look for new states */
  bool resting;          /* suspended until all ranks are and the checkpoint is written */
  bool halted;           /* this rank has stopped; after an exchange: some rank has */
  uint64_t starts;       /* a digest of the initial states, which must be the same on all ranks */
  uint64_t *statuses;    /* by rank, from the last exchange */
  uint64_t layer;        /* states of the newest layer on all ranks, as of the last exchange */
  bytes *targets;        /* by property: the target of the violating step */
  uint32_t *found_at;    /* by property, then the error: the rank that found it; NO_RANK */
  VEC(state_ref) layers; /* where the layers begin in this rank's visited set, and the end of the last one */
  bool shared;           /* names are shared */
};
#define NO_RANK UINT32_MAX

void batches_new(struct worker *);
void batches_free(struct message_batches *);
void batches_clear(struct message_batches *); /* after keys have changed their meaning */

/* Called by workers instead of inserting a successor; false: stop. */
bool batches_send(struct message_batches *, const struct state *, const struct edge *, fault_cost);
static inline void batches_serve(struct message_batches *x) { ranks_serve(x->ranks); }

/* Waits until all ranks are suspended or have finished, and the checkpoint is written. False: stop. */
bool batches_suspend(struct message_batches *);
void batches_save(const struct message_batches *, struct saver *);
void batches_load(struct message_batches *, struct loader *);
/* After loading the part of a rank, of so many, with its visited set. */
bool batches_are_sound(const struct message_batches *, uint32_t part, uint32_t parts);

/* Batches are exchanged when together they have so many bytes. */
#define BATCH_BYTES_MAX ((size_t)4 << 20)

/* A state in a batch. */
struct received_state {
  const uint8_t *key;
  uint64_t hash;
  state_ref from; /* the sender's reference to the parent, in RECORD_PARENT_BYTES */
  uint64_t probe_position;
  uint32_t length;
  fault_cost fault_cost;
};
void batches_put(bytes *to, const struct state *, state_ref from, fault_cost);
const uint8_t *batches_next(const uint8_t *at, struct received_state *); /* its hash is not computed */
/* Uses other bits of a key's hash than the visited set does. */
static inline uint32_t batches_owner(const struct message_batches *x, uint64_t hash) {
  return (uint32_t)((hash_mix(hash, 0x2545F4914F6CDD1D) >> 32) * x->ranks->n >> 32);
}

/* This rank has finished its work; returns when all have and every state is with its owner. */
void batches_finish(struct message_batches *);

#endif
