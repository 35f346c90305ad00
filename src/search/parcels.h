/* One rank's part of a search by several: what its sweep finds goes to the owners of the states, in parcels, and what others
   found that it owns goes into its store. */
#ifndef RONDO_SEARCH_PARCELS_H
#define RONDO_SEARCH_PARCELS_H

#include "search/ranks.h"
#include "search/sweep.h"

/* What ranks tell each other whenever they meet. */
enum standing {
  STANDING_KNOWN,       /* names */
  STANDING_LEFT,        /* not through yet */
  STANDING_SENT,        /* bytes of states */
  STANDING_STATES,
  STANDING_TRANSITIONS,
  STANDING_MEMORY,
  STANDING_END,
  STANDING_RESTART,
  STANDING_RESTS,       /* between two states, to be written down */
  STANDING_ENDING,      /* then it ends; search->ending */
  STANDING_CUT,
  STANDINGS
};

void load_key(struct loader *, bytes *); /* after save_block; bytes behind it, up to STORE_SHORT, can be read */

struct sent_lately;

struct parcels {
  struct ranks *ranks;
  struct sweep *sweep;
  bytes *out, *replies; /* by rank */
  bytes in;
  size_t *first, posted;
  struct sent_lately *lately;
  bool peeking;        /* nothing is stored: is there anything new? */
  bool resting;        /* until all are, and are written down */
  bool halted;         /* this rank, in what it is doing; after a meeting: anybody */
  uint64_t starts;     /* a digest of the initial states: the same on all ranks */
  uint64_t *standings; /* rank by rank, of the last meeting */
  uint64_t layer;      /* states of the newest layer, all ranks together, at the last meeting */
  bytes *targets;      /* by property: where the step leads that breaks it */
  uint32_t *found_at;  /* by property, then the error: which rank found it; NOBODY */
  VEC(state_ref) layers; /* where they begin in this rank's store, and the end of the last one */
  bool shared;         /* names are common */
};
#define NOBODY UINT32_MAX

void parcels_new(struct sweep *);
void parcels_free(struct parcels *);
void parcels_forget(struct parcels *); /* keys mean something else from now on */

/* What sweeps do instead of storing what they find; false: stop. */
bool parcels_post(struct parcels *, const struct state *, const struct edge *, charge);
static inline void parcels_serve(struct parcels *x) { x->ranks->ops->serve(x->ranks); }

/* Until everybody rests, or is through, and the search is written down. False: stop. */
bool parcels_rest(struct parcels *);
void parcels_save(const struct parcels *, struct saver *);
void parcels_load(struct parcels *, struct loader *);

/* This rank is through with what was to be done; returns when all are, and everything is where it belongs. */
void parcels_finish(struct parcels *);

#endif
