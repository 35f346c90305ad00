/* The interface of transition systems. Engines see a system only through it; systems know nothing of engines. */
#ifndef RONDO_SYSTEM_SYSTEM_H
#define RONDO_SYSTEM_SYSTEM_H

#include "analysis/licence.h"
#include "base/archive.h"
#include "interp/config.h"

/* A state is its exact, canonical key: two states are equal exactly if their bytes are. */
struct state {
  const uint8_t *bytes;
  uint32_t length;
};

struct edge {
  uint32_t faults;                 /* lost and corrupted messages that the environment charges for this step */
  uint32_t processes;              /* processes that become faulty in this step (initial states: that are faulty) */
  uint64_t broken;                 /* bit i: the query's i-th property is a step property that this step breaks */
  const struct model_error *error; /* not NULL: the step ends in a model error and has no target state */
  /* Only for queries about runs (query_is_live): */
  uint64_t marks; /* bit i: mark i of the environment (environment_run_clauses) holds. The step can be taken such that
                     all these marks hold at once. The same step may be emitted several times with different marks */
  uint32_t group; /* steps: the fairness group of the step, one of those that `enabled` lists; NO_GROUP: fairness does
                     not constrain it */
  uint32_t adversary_choice; /* almost surely: steps of one state with the same number are the results of the same
                                choices of the adversary, for different coins */
  bool optional; /* steps: a fault, or a step that only a forged message makes possible. A run may stop in a state that
                    has no other steps */
};
#define NO_GROUP UINT32_MAX

/* Returns false to stop. The bytes after the key of an emitted state are readable up to the next multiple of 16. */
typedef bool emit_fn(void *context, const struct state *, const struct edge *);

/* A buffer for successors with short keys and an edge of zeros, which in many models are most of the successors. Keys
   are stored as words whose unused bytes are 0. If the engine provides such a buffer, the system appends these
   successors to it without a callback for each, as long as there is room. */
#define STATE_SHORT 32 /* bytes */
struct short_states {
  uint64_t *at;
  bool *invisible; /* for each: no state property distinguishes it from its predecessor */
  uint32_t n, most;
  uint32_t length; /* of each key, in bytes; the system sets this and words */
  uint32_t words;  /* of each key: 2 or 4 */
};

/* Expanding many states at once. frontier_fn returns the next state to expand (false: none is left), with an identifier
   and the fault cost of the path to it. emit_from_fn receives a successor of the state with that identifier. */
typedef bool frontier_fn(void *context, struct state *, uint64_t *origin, uint32_t *fault_cost);
typedef bool emit_from_fn(void *context, uint64_t origin, const struct state *, const struct edge *);

/* A concrete run: the path with real process identities, as the interpreter executes it. */
struct run {
  struct config *initial;
  struct witness **steps;
  uint32_t nsteps;
  uint32_t *order; /* asynchronous rounds: steps are lockstep rounds, and this lists the process that ends its round
                      next (interp/async_round.h) */
  uint32_t norder;
  uint32_t
      *reached; /* by state of the path: the number of steps after which it is reached; NULL: one step for each state */
};
void run_add(struct run *, struct witness *); /* which it owns from now on */
void run_release(struct run *);

enum goal_kind { GOAL_STATE, GOAL_BROKEN_STEP, GOAL_ERROR };
struct path_goal { /* what is special about the last step of the path */
  enum goal_kind kind;
  uint32_t property; /* BROKEN_STEP: index into the query's properties */
};

/* Queries about runs: what a step of a path must satisfy, besides leading from one state to the next. */
struct step_requirement {
  uint64_t marks; /* all of them hold in the step */
  uint32_t group; /* NO_GROUP: any */
};

struct system;

/* A fairness group is taken infinitely often if it is enabled forever (weak) or infinitely often (strong). */
typedef void group_fn(void *context, uint32_t group);

/* The capabilities of a system beyond the search for states. A function that is NULL is not supported; what follows is
   said where that matters. */

struct system_liveness { /* liveness queries */
  /* Each group that is enabled in the state, once. NULL: the system has no groups. */
  void (*enabled)(struct system *, const struct state *, group_fn *, void *context);
  /* Does a run that reaches this state, which has no successors, stutter there forever? If not, the environment allows
     no run through the state. NULL: it does. */
  bool (*stutters_forever)(struct system *, const struct state *);
  /* Like concretise, for a path of n states with no goal; required[i] applies to the step from path[i] to path[i + 1].
   */
  bool (*concretise_path)(struct system *, const struct state *path, uint32_t n,
                          const struct step_requirement *required, struct run *);
};

struct system_statistics {
  void (*stored)(struct system *, const struct state *); /* called once for each state that the engine stores */
  /* Steps: the round distance between live processes in a configuration. */
  uint32_t (*round_distance)(struct system *, const struct config *);
  /* The number of heard-of assignments that plain enumeration would try in the stored states. False, or NULL: cannot be
     counted. */
  bool (*heard_of_assignments)(struct system *, struct text *decimal);
};

struct system_threads {
  /* A system of the same query for another thread. It shares the intern tables of this one, so keys have the same
     meaning. Neither system may be used by another thread during the call. It may return NULL: not supported. */
  struct system *(*clone)(struct system *);
  /* Adds the statistics of the other system to this one, and takes over its restart flag. */
  void (*join)(struct system *, struct system *other);
};

/* Checkpoints: save and restore the intern tables that keys refer to, except those of the model's values, and the
   counters. The system must be idle. `load` takes a fresh system of the same query in which values have the same ids;
   afterwards keys have the same meaning. The loader is marked bad if they do not. Not allowed if
   system->keys_transient. */
struct system_checkpoint {
  void (*save)(struct system *, struct saver *);
  void (*load)(struct system *, struct loader *);
  /* After `load`: can these bytes be the key of a state? Whoever wrote them, the other functions can then be called
     with it. */
  bool (*valid)(struct system *, const struct state *);
};

/* Keys have become too narrow (system->restart): `widen` chooses a new layout with room for all interned ids. `widened`
   then converts the key of a state from the old layout to the new one, so the search keeps its states; the bytes are
   valid until the next call. Without these functions the search has to start again. */
struct system_widening {
  void (*widen)(struct system *);
  struct state (*widened)(struct system *, const struct state *before);
};

struct system_ranks { /* a search on several ranks */
  /* The i-th intern table that keys refer to; NULL: there are no more. Together with the model's values, these tables
     define what a key means. No table at all: not supported. */
  struct intern *(*names)(struct system *, uint32_t i);
  /* The counters that `stored` updates, in a form that can be summed over ranks, and setting them to the sums; NULL:
     there are none. */
  uint32_t (*counts)(struct system *, const uint64_t **);
  void (*set_counts)(struct system *, const uint64_t *, uint32_t n);
};

struct system_ops {
  /* Both return false if the callback stopped them. */
  bool (*initial)(struct system *, emit_fn *, void *context);
  bool (*successors)(struct system *, const struct state *, emit_fn *, void *context);
  /* Emits the deferred steps. Called only if the last call of successors left system->has_deferred set, and only if
     none of the steps emitted there led to a state that is still to be expanded (the cycle proviso): no step is
     deferred forever. */
  bool (*deferred)(struct system *, const struct state *, emit_fn *, void *context);
  /* Expands all states of a frontier together. Every successor of any of them is emitted at least once, from a
     predecessor with the lowest fault cost. Only if system->layerwise. */
  bool (*expand)(struct system *, frontier_fn *, emit_from_fn *, void *context);
  /* Invariant or cover formula number i of the query; the query's i-th atom. */
  enum verdict3 (*holds)(struct system *, uint32_t i, const struct state *, struct model_error *);
  enum verdict3 (*atom)(struct system *, uint32_t i, const struct state *, struct model_error *);
  /* path[0] is an initial state, and each further state is a successor of the one before. GOAL_ERROR: the path ends
     with the state before the error, and one more step follows. Returns false if there is no such run, which is a bug
     of the system. */
  bool (*concretise)(struct system *, const struct state *path, uint32_t n, const struct path_goal *, struct run *);
  size_t (*memory)(const struct system *); /* bytes of all tables that can grow */
  void (*free)(struct system *);
  struct system_liveness liveness;
  struct system_statistics statistics;
  struct system_threads threads;
  struct system_checkpoint checkpoint;
  struct system_widening widening;
  struct system_ranks ranks;
};

struct system {
  const struct system_ops *ops;
  const struct model *model;
  const struct query *query;
  const struct licences *licences;
  bool edges_complete;  /* false: some reduction drops edges, so transitions cannot be counted */
  bool layerwise;       /* expand may be used and is faster */
  bool fast_successors; /* expanding a state takes a fraction of what partial-order reduction takes for it */
  bool uses_proviso;    /* set by the constructor: successors may defer steps, so the engine must check where each step
                           leads */
  bool has_deferred;    /* set by successors: the engine may have to call `deferred` */
  struct short_states *short_keyed; /* owned by the engine, which empties it after each call of successors or deferred;
                                       NULL: emit every successor */
  uint64_t decided;                 /* set by the engine: bit i: the verdict on the query's i-th property is final */
  bool restart; /* set by any function above, which then stops: keys have become too narrow. The engine calls `widen`,
                   or discards all states and starts again. If it starts again with this set, `initial` lays out the
                   keys anew, even if they were too narrow on another rank only */
  bool probabilistic; /* set by the constructor: edges carry their adversary_choice. Otherwise every edge is a choice of
                         the adversary, and `random` cannot be distinguished from it: almost-sure queries are then only
                         asked of models without `random` */
  bool keys_transient;    /* keys have a meaning in this system only, so it cannot be saved */
  bool order_unstable;    /* set by any function above: the order of successors depends on the contents of the caches */
  bool order_mattered;    /* a `foreach` gave different results for different orders */
  const char *coins_lost; /* almost surely: set by any function above: why coins cannot be separated from choices of the
                             adversary, so that no verdict can be based on them. NULL: they can */
  const char *successors; /* how successors are computed, for the report: "outcomes", "plain: ..." */
  bool has_channels;      /* steps: messages are in channels */
  uint32_t channel_bound; /* the largest number of messages pending in one channel, over the stored states */
  /* The round distance between live processes, where each process is in a round of its own. */
  bool has_distance;
  uint32_t distance;     /* the largest found so far */
  uint32_t phase_period; /* asynchronous rounds: phase numbers are indistinguishable modulo this; 0: they are always
                            distinguishable */
  struct state farthest; /* a state with that distance; length 0: none */
  bool distance_cut;     /* steps that would exceed system_options.max_distance were left out */
};

enum successors_by {
  SUCCESSORS_AUTO,
  SUCCESSORS_PLAIN,     /* every heard-of assignment */
  SUCCESSORS_ENUMERATE, /* outcome sets by enumerating every number of each message */
  SUCCESSORS_REGIONS    /* outcome sets by regions of linear constraints, wherever possible */
};

enum per_message_moves { PER_MESSAGE_AUTO, PER_MESSAGE_ALWAYS, PER_MESSAGE_NEVER };

struct system_options {
  enum successors_by successors;
  uint32_t max_distance;              /* the largest round distance to explore */
  enum per_message_moves per_message; /* steps: are the moves of a process cached by message, wherever possible? */
  bool few_states;                    /* steps: only a few are asked for, so nothing is prepared for many */
  bool narrow_keys; /* steps, for tests: give keys as few bits as possible, so that they become too narrow often */
};
#define ANY_DISTANCE UINT32_MAX

/* Save and load the fields that all systems share, except `farthest`. */
void system_save_common(const struct system *, struct saver *);
void system_load_common(struct system *, struct loader *);

/* All successors of a state, including the steps that partial-order reduction would defer. */
static inline bool system_all_successors(struct system *s, const struct state *at, emit_fn *emit, void *context) {
  s->has_deferred = false;
  return s->ops->successors(s, at, emit, context) && (!s->has_deferred || s->ops->deferred(s, at, emit, context));
}

#endif
