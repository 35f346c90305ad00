/* Where the states of a search are kept: in memory, as full keys or as signatures; in memory until it is full and then
   on disk (spill.h); or distributed over several ranks (ranks.h). The search proceeds layer by layer and knows only
   this interface. With every backend, successors are looked up in search->visited_set; backends differ in whether that
   set contains all visited states.

   The worker itself inserts successors in batches (worker.c): calls through this table are for whole layers and rare
   events, so their cost is negligible. */
#ifndef RONDO_SEARCH_VISITED_BACKEND_H
#define RONDO_SEARCH_VISITED_BACKEND_H

#include "search/worker.h"

/* When it is known whether a step led to a state of the next layer (the proviso of partial-order reduction). */
enum proviso_known {
  PROVISO_AT_ONCE,      /* when the successor is in the visited set */
  PROVISO_WHEN_EMPTIED, /* when the set of candidates is emptied: worker_resolve_candidates */
  PROVISO_AFTER_LAYER   /* when all ranks are done with the layer: STAGE_DEFERRED */
};

struct visited_backend {
  struct visited_set *(*new_set)(const struct search *);
  enum proviso_known proviso;
  /* The set holds states that may be visited already; findings add CANDIDATE_TAG to their references. */
  bool candidates;
  bool relocates;   /* references may change when the workers are suspended: see worker_origin */
  bool check_later; /* properties are never checked when a state is stored */
  bool keeps_keys;  /* the set has the key of every visited state, which can be replaced by a wider one */
  bool distributed; /* the states are spread over several processes, which search together */

  /* Layers. A function that may be NULL then does nothing and returns true. */
  bool (*begin)(struct worker *);                              /* may be NULL; false: search->end says why not */
  bool (*run)(struct worker *, bool (*work)(struct worker *)); /* may be NULL: work(worker) */
  bool (*initial_made)(struct worker *, bool made);            /* may be NULL; false: the search ends */
  /* Makes the states that were found the stage's layer. made: none is missing. Returns whether the layer is
     complete. */
  bool (*close_layer)(struct worker *, bool made);
  uint64_t (*layer_states)(const struct worker *); /* of the newest layer */
  void (*layer_checked)(struct worker *);          /* may be NULL */
  void (*end)(struct worker *);                    /* may be NULL */
  void (*reset)(struct worker *);                  /* may be NULL; with search_reset */
  void (*done)(struct search *); /* may be NULL; the workers have ended: frees what paths do not need */
  void (*open_frontier)(struct frontier *, const struct search *, const struct layer *);

  /* States. */
  bool (*send)(struct worker *, const struct state *, const struct edge *, fault_cost); /* NULL: see worker.c */
  struct stored (*get)(const struct search *, state_ref, disk_log_bytes *into);
  state_ref (*find)(const struct search *, const struct state *); /* STATE_REF_NONE if absent */
  bool (*has_path)(const struct search *, const struct finding *);
  struct state *(*path)(const struct search *, const struct finding *, uint32_t *n, struct path_goal *);

  /* Is there a new state after the last layer? Notes the state, and sets search->cut if it is known to be new. False:
     stop. */
  bool (*probe)(struct worker *, const struct state *, const struct edge *);
  bool (*has_new)(struct worker *); /* may be NULL; is any noted state new? */

  /* Periodic events. */
  void (*serve)(struct worker *);   /* may be NULL */
  void (*count)(struct worker *);   /* updates states and progress in search->stats */
  bool (*suspend)(struct worker *); /* when search->pause is set; false: stop */
  /* Like suspend, when all threads are waiting. */
  void (*suspend_all)(struct search *, struct worker *const *all, uint32_t);
};
#define CANDIDATE_TAG (UINT64_C(1) << 39)

extern const struct visited_backend visited_in_memory, visited_compacted; /* visited_backend.c */
extern const struct visited_backend visited_spillable, visited_on_disk;   /* spill.c */
extern const struct visited_backend visited_on_ranks;                     /* ranks.c */

/* Shared by backends that keep whole keys in memory: visited_backend.c. */
bool memory_close_layer(struct worker *, bool made);
uint64_t memory_layer_states(const struct worker *);
void memory_open_frontier(struct frontier *, const struct search *, const struct layer *);
struct stored memory_get(const struct search *, state_ref, disk_log_bytes *into);
state_ref memory_find(const struct search *, const struct state *);
bool memory_has_path(const struct search *, const struct finding *);
struct state *memory_path(const struct search *, const struct finding *, uint32_t *n, struct path_goal *);
bool memory_probe(struct worker *, const struct state *, const struct edge *);
void memory_count(struct worker *);

#endif
