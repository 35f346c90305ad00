/* The outcome sets of all processes combined: a successor takes one update for each process, in every combination that
   the environment allows. */
#ifndef RONDO_LOCKSTEP_OUTCOME_PRODUCT_H
#define RONDO_LOCKSTEP_OUTCOME_PRODUCT_H

#include "lockstep/outcome_set.h"
#include "lockstep/state_pack.h"

struct layer_product;
struct lockstep;
struct round_variant;

struct lockstep_successor { /* an outcome applied to a particular local state */
  local_id next;
  uint32_t cost;
  uint32_t outcome;
  uint32_t error;            /* 1 + index in system->errors; 0: none */
  uint64_t broken;           /* step properties that it breaks */
  uint32_t adversary_choice; /* 1 + index in system->lists: the possible results of the coins, each a local state or
                                COIN_RESULT_ERROR plus an index in system->errors; 0: no coins */
};

struct lockstep_successors {
  struct lockstep_successor *at;
  uint32_t n;
  bool special; /* some outcome is an error or breaks a step property */
};

/* An actor is a set of processes of a state with the same part in a round: states are split by oracles, crashes and
   sends. */
struct actor {
  local_id original; /* before its oracles were chosen */
  local_id local;
  uint32_t count;
  uint32_t role;
  uint32_t process; /* vectors: the process; bags: some process of the role */
  uint32_t origin;  /* index of the member in the global state */
  bool idle, crashing;
  uint32_t sending; /* index in system->round_sends; UINT32_MAX: none */
  struct round_receivable receivable;
  bool receivable_shared; /* owned by another actor */
  uint32_t receivable_id;
  uint32_t outcome_set;
  struct lockstep_successors *local_successors;
  const uint32_t *mask_sets; /* no-split: by mask of its outcome set: the set of senders, an index of the clique */
};

struct pick { /* `count` processes of an actor take a successor */
  uint32_t actor;
  const struct lockstep_successor *successor;
  uint32_t count;
};

/* One way to take a round, for making a trace concrete. */
struct round_derivation {
  const struct actor *actors;
  uint32_t nactors;
  const struct pick *picks;
  uint32_t npicks;
  const struct unpacked_state *next; /* not canonical */
  const struct edge *edge;
  uint32_t kernel;         /* the actor that all hear; UINT32_MAX: none */
  const uint32_t *uniform; /* by actor: how many of it everyone hears, or NULL */
  const bool *clique;      /* no-split: by set of senders (see mask_sets): is it allowed? Else NULL */
};
typedef bool round_derivation_fn(void *context, const struct round_derivation *); /* false: stop */

/* All successors; with a derivation function, every way to reach each of them. variant may be NULL.
 */
bool lockstep_successors(struct lockstep *, const struct unpacked_state *, const struct round_variant *, emit_fn *,
                         round_derivation_fn *, void *context);
bool lockstep_tasks(struct lockstep *, const struct unpacked_state *,
                    struct layer_product *); /* records products without multiplying them out */

#endif
