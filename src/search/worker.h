/* One thread's part of a search: states of a layer are taken from the frontier, and what follows them goes into the
   visited set. Successors go in together, so that the waits for memory overlap. With one thread they go in in the order
   in which they are found; several threads each have a space and a partition of the visited set. */
#ifndef RONDO_SEARCH_WORKER_H
#define RONDO_SEARCH_WORKER_H

#include "base/vec.h"
#include "search/bfs.h"
#include "search/disk_log.h"

#include <pthread.h>
#include <stdatomic.h>

/* The states of a layer: a stretch of each partition. */
struct layer {
  state_ref from[MAX_PARTITIONS], to[MAX_PARTITIONS];
  uint32_t partitions;
};

/* Where a layer is read. Several threads read it in turns, a few states at a time, each from its own partition as long
   as there are any: what comes after those it has found is found by others more rarely. */
struct frontier {
  const struct layer *layer;
  struct visited_reader reader[MAX_PARTITIONS]; /* by partition of the layer */
  bool in_order; /* partition by partition: if states go to a disk log, what is left of the layer is the rest of it */
  pthread_mutex_t *lock;  /* NULL: one thread */
  const state_ref *first; /* states that come before all that */
  size_t nfirst;
  _Atomic uint64_t taken;
  bool on_disk; /* then it is read there */
  struct disk_log_reader disk_log;
};

/* What is being done to which layer. */
enum stage_kind {
  STAGE_CHECK,
  STAGE_EXPAND,
  STAGE_DEFERRED, /* of several ranks: steps that were put off */
  STAGE_BEYOND,
  STAGE_INITIAL /* the first layer is being made */
};
struct search_stage {
  enum stage_kind kind;
  struct layer layer;
  struct layer next;    /* EXPAND: the layer being made: its `from` */
  uint64_t states;      /* of the layer */
  uint64_t before;      /* EXPAND: states that there were when it began */
  uint64_t transitions; /* when it began */
  /* How far it had come when it was written down: */
  bool begun;
  state_ref at[MAX_PARTITIONS]; /* by partition of the layer: states from here on, */
  VEC(state_ref) first;         /* and these before them */
  uint64_t done;                /* states that are not among those */
};

/* Where a worker can be written down. */
enum suspend_point {
  SUSPEND_NEVER,
  SUSPEND_BETWEEN_STATES, /* between two states */
  SUSPEND_ANYWHERE        /* its layer will be begun again */
};
struct frontier_state {
  state_ref ref;
  struct stored stored;
};
#define TAKE_MAX 256
uint32_t frontier_take(struct frontier *, uint32_t partition, struct frontier_state *,
                       disk_log_bytes *); /* how many; 0: none is left */
void frontier_release(struct frontier *);

struct pending_insert;
struct short_pending;
struct deferred_state;
struct recent_state;
struct candidate_successor;
struct message_batches;

/* A property of states that may yet be decided, and by which answer. */
struct open_property {
  uint32_t property;
  enum verdict3 found;
};

struct worker {
  struct search *search;
  struct system *space;
  uint32_t partition;
  bool shared;       /* others are at it, too */
  atomic_bool *halt; /* shared: somebody has to stop, so all do */
  struct finding *findings, error;
  enum search_end end; /* EXHAUSTED, or why it had to stop */
  uint64_t transitions, frontier_states;
  bool room;      /* in the visited set, for all that is on its way there */
  bool unchecked; /* there are states of the next layer whose properties were not looked at when they were stored */
  _Atomic size_t memory;    /* of its space, when it last looked */
  const struct layer *next; /* the layer being made, as far as it was made when it began: its `from` */
  state_ref from;           /* the state being expanded, STATE_REF_NONE for initial ones */
  fault_cost from_charge;
  uint32_t rounds; /* of what is being found */
  uint32_t ticks, looks;
  double started, last_progress;
  struct frontier *frontier;
  struct frontier_state taken[TAKE_MAX];
  uint32_t ntaken, at;        /* the next one of those */
  disk_log_bytes taken_bytes; /* theirs, if they were on a disk log */
  disk_log_bytes one;         /* of one state that was there */
  struct pending_insert *pending;
  uint32_t npending;
  VEC(uint8_t) keys;
  VEC(struct deferred_state) deferred;
  struct stored *waiting; /* those again, where the visited set does not have their keys; or NULL */
  size_t completed;       /* of those, by worker_expand_deferred */
  VEC(struct candidate_successor) candidate_successors; /* candidates that those led to */
  VEC(fault_cost) charges;                              /* that origins name */
  VEC(struct open_property) open_properties;
  struct recent_state *recent;
  struct short_states short_keyed;
  struct short_pending *short_pending;
  uint32_t nshort_pending;
  /* Of several ranks: what is found goes to its owner instead of the visited set; or NULL. */
  bool (*send)(struct worker *, const struct state *, const struct edge *, fault_cost);
  struct message_batches *batches;
  bool made; /* what it was to do is done */
  enum suspend_point suspend_at;
};

static inline const struct property *question_property(const struct system *space, uint32_t i) {
  return &space->model->properties[space->query->properties[i]];
}
static inline bool is_state_property(const struct property *p) { return p->kind != PROPERTY_LIVE && !p->step; }

/* --- bfs.c --- */

bool search_all_decided(const struct search *);
void search_set_decided(struct search *); /* to the space */
struct path_goal finding_goal(const struct finding *);
void search_stop(struct search *, enum search_end why); /* the first reason counts */
void search_reset(struct search *, struct worker *);    /* everything that was found */

/* --- worker.c --- */

struct worker *worker_new(struct search *, struct system *, uint32_t partition);
void worker_free(struct worker *);
void worker_start_clock(struct worker *); /* the clock */
void worker_clear(struct worker *);       /* what it knows of the visited set */

void worker_stop(struct worker *, enum search_end why);
/* False: a limit was reached, or somebody wants the search to stop. */
bool worker_may_continue(struct worker *);
/* Was the space told to give up? Then it may have told too few steps of the states that were expanded last. */
bool worker_was_interrupted(struct worker *);
bool worker_check_limits(struct worker *); /* as worker_may_continue; looks at the clock and at memory, too */
void worker_update_stats(struct worker *); /* the search's stats */
void worker_add_elapsed(struct worker *, double seconds); /* it has run for so long already */
/* What is on its way into the visited set, and what it remembers of it. */
void worker_save(const struct worker *, struct saver *);
void worker_load(struct worker *, struct loader *);

/* States that were in memory are on the disk log now. */
void worker_relocate(struct worker *, const struct spill *);
/* It is known which candidates are new. */
void worker_resolve_candidates(struct worker *);

/* How a state is named to a space that expands many at once; and to be the one that what is emitted comes from. */
uint64_t worker_origin(struct worker *, const struct frontier_state *);
void worker_set_from(struct worker *, uint64_t origin);

/* For backends. What is pending goes into the visited set. */
bool worker_flush(struct worker *);
/* The deferred steps of states that did not meet the proviso. */
bool worker_expand_waiting(struct worker *);
/* Waits for all threads; the last one calls the backend's suspend_all. False: stop. */
bool worker_suspend_all(struct worker *);

bool worker_initial(struct worker *);
/* Everything after the states that it takes from the frontier; false: it was stopped. */
bool worker_expand(struct worker *);
/* Of several ranks, which of the states that put steps off made headway is known only when all ranks are through: those
   that did not take their other steps then. */
void worker_proviso_met(struct worker *, state_ref from);
bool worker_expand_deferred(struct worker *);
/* A step from the state being expanded breaks a property; true: nothing better was known. */
bool worker_found_step(struct worker *, uint32_t property, fault_cost);
/* The properties of states that it takes from the frontier. */
bool worker_check(struct worker *);
/* Is there anything new after this layer? Then the search is cut off, else it has seen everything. */
bool worker_probe_next_layer(struct worker *); /* always true */
/* Takes over what another one found. */
void worker_merge(struct worker *, struct worker *other);

/* --- worker_pool.c --- */

struct worker_pool;
/* NULL: the space cannot be shared. */
struct worker_pool *worker_pool_new(struct worker *first, uint32_t threads);
void worker_pool_detach(struct worker_pool *); /* nothing more is to be done; what was found stays */
void worker_pool_free(struct worker_pool *);
size_t worker_pool_memory(const struct worker_pool *); /* of the others' spaces */
/* Everybody does it; false: not all was done. */
bool worker_pool_run(struct worker_pool *, bool (*work)(struct worker *), const struct layer *frontier,
                     const struct layer *next);
/* Everything is in the visited set but what comes after states that it has yet to take up. Waits for the others; the
   last one writes the search down. */
void worker_pool_suspend(struct worker_pool *);

/* --- search_rekey.c --- */

/* Keys have become too narrow: all states get other ones, and the layer that was being expanded is begun again. False:
 * they are lost. */
bool search_rekey(struct worker *);

/* --- search_checkpoint.c --- */

/* All of them rest; the first one has joined the others. */
void checkpoint_write(struct search *, struct worker *const *all, uint32_t n);
void checkpoint_write_end(struct search *, struct worker *);
enum checkpoint_found { CHECKPOINT_NONE, CHECKPOINT_END, CHECKPOINT_RUNNING };
enum checkpoint_found checkpoint_read(struct search *, struct worker *);

#endif
