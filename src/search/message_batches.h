/* One rank's part of a search by several: what its worker finds goes to the owners of the states, in batches, and what
   others found that it owns goes into its visited set. */
#ifndef RONDO_SEARCH_MESSAGE_BATCHES_H
#define RONDO_SEARCH_MESSAGE_BATCHES_H

#include "search/ranks.h"
#include "search/worker.h"

/* What ranks tell each other whenever they meet. */
enum rank_status {
  RANK_STATUS_KNOWN, /* names */
  RANK_STATUS_LEFT,  /* not through yet */
  RANK_STATUS_SENT,  /* bytes of states */
  RANK_STATUS_STATES,
  RANK_STATUS_TRANSITIONS,
  RANK_STATUS_MEMORY,
  RANK_STATUS_END,
  RANK_STATUS_RESTART,
  RANK_STATUS_RESTS,  /* between two states, to be written down */
  RANK_STATUS_ENDING, /* then it ends; search->ending */
  RANK_STATUS_CUT,
  RANK_STATUSES
};

void load_key(struct loader *, bytes *); /* after save_block; bytes behind it, up to KEY_SHORT_BYTES, can be read */

struct recently_sent;

struct message_batches {
  struct ranks *ranks;
  struct worker *worker;
  bytes *out, *replies; /* by rank */
  bytes in;
  size_t *first, queued;
  struct recently_sent *recently_sent;
  bool probing;          /* nothing is stored: is there anything new? */
  bool resting;          /* until all are, and are written down */
  bool halted;           /* this rank, in what it is doing; after a meeting: anybody */
  uint64_t starts;       /* a digest of the initial states: the same on all ranks */
  uint64_t *statuses;    /* rank by rank, of the last meeting */
  uint64_t layer;        /* states of the newest layer, all ranks together, at the last meeting */
  bytes *targets;        /* by property: where the step leads that breaks it */
  uint32_t *found_at;    /* by property, then the error: which rank found it; NO_RANK */
  VEC(state_ref) layers; /* where they begin in this rank's visited set, and the end of the last one */
  bool shared;           /* names are common */
};
#define NO_RANK UINT32_MAX

void batches_new(struct worker *);
void batches_free(struct message_batches *);
void batches_clear(struct message_batches *); /* keys mean something else from now on */

/* What workers do instead of storing what they find; false: stop. */
bool batches_send(struct message_batches *, const struct state *, const struct edge *, fault_cost);
static inline void batches_serve(struct message_batches *x) { ranks_serve(x->ranks); }

/* Until everybody rests, or is through, and the search is written down. False: stop. */
bool batches_suspend(struct message_batches *);
void batches_save(const struct message_batches *, struct saver *);
void batches_load(struct message_batches *, struct loader *);

/* This rank is through with what was to be done; returns when all are, and everything is where it belongs. */
void batches_finish(struct message_batches *);

#endif
