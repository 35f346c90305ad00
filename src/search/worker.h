/* One thread's part of a search. A worker takes states of a layer from the frontier and inserts their successors into
   the visited set. Successors are inserted in batches, so that memory accesses overlap. A single thread inserts them in
   the order in which it finds them; with several threads, each has its own transition system and its own partition of
   the visited set. */
#ifndef RONDO_SEARCH_WORKER_H
#define RONDO_SEARCH_WORKER_H

#include "base/vec.h"
#include "search/bfs.h"
#include "search/disk_log.h"

#include <pthread.h>
#include <stdatomic.h>

/* The states of a layer: a range of each partition. */
struct layer {
  state_ref from[MAX_PARTITIONS], to[MAX_PARTITIONS];
  uint32_t partitions;
};

/* The states of a layer that are still to be processed. Several threads share it and take a few states at a time, each
   from its own partition as long as that has any: other threads then find the same successors less often. */
struct frontier {
  const struct layer *layer;
  struct visited_reader reader[MAX_PARTITIONS]; /* by partition of the layer */
  bool in_order; /* take the partitions in order, so that the rest of the layer is contiguous if states move to a disk
                    log */
  pthread_mutex_t *lock;  /* NULL: one thread only */
  const state_ref *first; /* states to take before all others */
  size_t nfirst;
  _Atomic uint64_t taken;
  bool on_disk; /* the layer is read from the disk log */
  struct disk_log_reader disk_log;
};

/* What the search is doing, and to which layer. */
enum stage_kind {
  STAGE_CHECK,
  STAGE_EXPAND,
  STAGE_DEFERRED, /* with several ranks: deferred steps */
  STAGE_BEYOND,
  STAGE_INITIAL /* the initial states are being generated */
};
struct search_stage {
  enum stage_kind kind;
  struct layer layer;
  struct layer next;    /* EXPAND: the layer being built; only `from` is set */
  uint64_t states;      /* in the layer */
  uint64_t before;      /* EXPAND: number of states when the stage began */
  uint64_t transitions; /* number when the stage began */
  uint64_t look_at;     /* EXPAND: stop when the next layer has so many states; 0: do not */
  bool looks;           /* EXPAND: it stopped for that reason */
  /* Progress at the last checkpoint: */
  bool begun;
  state_ref at[MAX_PARTITIONS]; /* by partition of the layer: the states from here on are left, */
  VEC(state_ref) first;         /* and these are to be taken before them */
  uint64_t done;                /* number of states that are done */
};

/* Where a worker can be suspended. */
enum suspend_point {
  SUSPEND_NEVER,
  SUSPEND_BETWEEN_STATES,
  SUSPEND_ANYWHERE /* its layer will be restarted */
};
struct frontier_state {
  state_ref ref;
  struct stored stored;
};
#define TAKE_MAX 256
/* Returns how many; 0: none is left. */
uint32_t frontier_take(struct frontier *, uint32_t partition, struct frontier_state *, disk_log_bytes *);
void frontier_release(struct frontier *);

struct pending_insert;
struct short_pending;
struct deferred_state;
struct recent_state;
struct candidate_successor;
struct message_batches;

/* A state property that is still open, and the value that decides it. */
struct open_property {
  uint32_t property;
  enum verdict3 found;
};

/* The states that it has taken from the frontier. */
struct taken_states {
  struct frontier *frontier;
  struct frontier_state states[TAKE_MAX];
  uint32_t n, at;       /* index of the next one */
  disk_log_bytes bytes; /* the bytes of those states, if they were read from a disk log */
  disk_log_bytes one;   /* the bytes of one state read from there */
};

/* Successors that are waiting to be inserted. */
struct insert_queue {
  struct pending_insert *pending;
  uint32_t n;
  VEC(uint8_t) keys;
  struct short_pending *short_pending;
  uint32_t nshort;
};

/* Partial-order reduction: states of which only some steps were taken. */
struct deferral {
  VEC(struct deferred_state) states;
  struct stored *waiting; /* the same states, where the visited set does not have their keys; or NULL */
  size_t completed;       /* how many of them worker_expand_deferred is done with */
  VEC(struct candidate_successor) candidates; /* that were reached from those states */
};

struct worker {
  struct search *search;
  struct system *space;
  uint32_t partition;
  bool shared;       /* there are other workers */
  atomic_bool *halt; /* shared: tells all workers to stop */
  struct finding *findings, error;
  enum search_end end; /* EXHAUSTED, or why it had to stop */
  uint64_t transitions, frontier_states;
  bool room;                /* the visited set has room for all pending insertions */
  bool unchecked;           /* the next layer has states whose properties were not checked when they were inserted */
  _Atomic size_t memory;    /* of its transition system, as last measured */
  const struct layer *next; /* the layer being built; only `from` is set */
  state_ref from;           /* the state being expanded, STATE_REF_NONE for initial ones */
  fault_cost from_charge;
  uint32_t rounds; /* length of the runs to the states being found */
  struct search_clock clock;
  struct taken_states taken;
  struct insert_queue queue;
  struct deferral deferral;
  VEC(fault_cost) charges; /* indexed by origins (worker_origin) */
  VEC(struct open_property) open_properties;
  struct recent_state *recent;
  struct short_states short_keyed;
  /* With several ranks: sends a successor to its owner instead of inserting it; else NULL. */
  bool (*send)(struct worker *, const struct state *, const struct edge *, fault_cost);
  struct message_batches *batches;
  bool made;       /* its part of the work is complete */
  bool amid_state; /* suspended between two steps of a state */
  enum suspend_point suspend_at;
};

static inline const struct property *question_property(const struct system *space, uint32_t i) {
  return &space->model->properties[space->query->properties[i]];
}
static inline bool is_state_property(const struct property *p) { return p->kind != PROPERTY_LIVE && !p->step; }

/* --- bfs.c --- */

/* Several threads pay off in layers of at least so many states. */
#define PARALLEL_MIN_STATES 8192

bool search_all_decided(const struct search *);
static inline bool search_decided_elsewhere(const struct search *s, uint32_t property) {
  return s->elsewhere && s->elsewhere[property];
}
struct path_goal finding_goal(const struct finding *);
void search_stop(struct search *, enum search_end why); /* the first reason is kept */
void search_reset(struct search *, struct worker *);    /* discards everything that was found */

/* --- worker.c --- */

struct worker *worker_new(struct search *, struct system *, uint32_t partition);
void worker_free(struct worker *);
void worker_start_clock(struct worker *);
void worker_clear(struct worker *); /* forgets everything that refers to the visited set */

void worker_stop(struct worker *, enum search_end why);
/* False: a limit was reached, or the search is to stop. */
bool worker_may_continue(struct worker *);
/* Was the transition system interrupted? Then it may have left out steps of the states that were expanded last. */
bool worker_was_interrupted(struct worker *);
/* A limit was reached, and there is no time left to check the states of the last layer. */
bool worker_must_end(const struct worker *);
bool worker_check_limits(struct worker *); /* like worker_may_continue, but also checks time and memory */
void worker_update_stats(struct worker *); /* updates search->stats */
void worker_add_elapsed(struct worker *, double seconds); /* adds the time of an earlier process */
/* Pending insertions, and what the worker remembers of the visited set. */
void worker_save(const struct worker *, struct saver *);
void worker_load(struct worker *, struct loader *);
/* After loading: do all its references refer to states? */
bool worker_refs_are_sound(const struct worker *, bool (*is_state)(const struct search *, state_ref));

/* Updates references after states have moved from memory to the disk log. */
void worker_relocate(struct worker *, const struct spill *);
/* Updates the deferred states once it is known which candidates are new. */
void worker_resolve_candidates(struct worker *);

/* The number by which a transition system that expands many states at once refers to a state; and setting the state
   that the next successors come from. */
uint64_t worker_origin(struct worker *, const struct frontier_state *);
void worker_set_from(struct worker *, uint64_t origin);

/* For backends. Inserts all pending successors. */
bool worker_flush(struct worker *);
/* Takes the deferred steps of the states that did not meet the proviso. */
bool worker_expand_waiting(struct worker *);
/* Waits for all threads; the last one calls the backend's suspend_all. False: stop. */
bool worker_suspend_all(struct worker *);

bool worker_initial(struct worker *);
/* Expands the states that it takes from the frontier; false: it was stopped. */
bool worker_expand(struct worker *);
/* With several ranks, it is known only when all ranks have finished the layer which states met the proviso; the others
   take their deferred steps then. */
void worker_proviso_met(struct worker *, state_ref from);
bool worker_expand_deferred(struct worker *);
/* A step from the current state violates a property; returns true if no better violation was known. */
bool worker_found_step(struct worker *, uint32_t property, fault_cost);
/* Checks the state properties of the states of the next layer that were found so far, at no cost. True: everything is
   decided, and nothing that is still to be found in the layer can change that. */
bool worker_look(struct worker *);
/* Checks the state properties of the states that it takes from the frontier. */
bool worker_check(struct worker *);
/* Sets search->cut if there is a new state after this layer; otherwise the search is exhausted. */
bool worker_probe_next_layer(struct worker *); /* always true */
/* Takes over the findings and counts of another worker. */
void worker_merge(struct worker *, struct worker *other);

/* --- worker_pool.c --- */

struct worker_pool;
/* NULL: the transition system cannot be cloned. */
struct worker_pool *worker_pool_new(struct worker *first, uint32_t threads);
void worker_pool_detach(struct worker_pool *); /* forgets the first worker; findings remain valid */
void worker_pool_free(struct worker_pool *);
size_t worker_pool_memory(const struct worker_pool *); /* of the other workers' transition systems */
/* Every worker runs `work`; false: some worker did not finish. */
bool worker_pool_run(struct worker_pool *, bool (*work)(struct worker *), const struct layer *frontier,
                     const struct layer *next);
/* A worker calls it after it has inserted all successors of the states that it has taken. Waits for the others; the
   last one writes the checkpoint. */
void worker_pool_suspend(struct worker_pool *);

/* --- search_rekey.c --- */

/* Keys have become too narrow: gives all states new keys and restarts the layer being expanded. False: the states are
   lost. */
bool search_rekey(struct worker *);

/* --- search_checkpoint.c, search_resume.c --- */

/* All workers are suspended, and the first has merged the others' results. */
void checkpoint_write(struct search *, struct worker *const *all, uint32_t n);
void checkpoint_write_end(struct search *, struct worker *);
enum checkpoint_found { CHECKPOINT_NONE, CHECKPOINT_END, CHECKPOINT_RUNNING };
enum checkpoint_found checkpoint_read(struct search *, struct worker *);

#endif
