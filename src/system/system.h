/* The interface of transition systems. Engines know nothing else of a system; systems know nothing of engines. */
#ifndef RONDO_SYSTEM_SYSTEM_H
#define RONDO_SYSTEM_SYSTEM_H

#include "analysis/licence.h"
#include "base/archive.h"
#include "interp/config.h"

/* Stands for a variable that nobody will read again, or an oracle that is not chosen: no renaming changes it. Only
   inside packed local states; a configuration has the type's first value instead. */
#define VALUE_DONT_CARE (INT64_MIN + 128)

/* First values of inputs, which only `initial` asks for: not at all, as a set, or process by process. */
enum initials_kept { INITIALS_NONE, INITIALS_SET, INITIALS_EACH };

/* A state is its exact, canonical key: two states are the same if the bytes are. */
struct state {
  const uint8_t *bytes;
  uint32_t length;
};

struct edge {
  uint32_t faults;                 /* lost and corrupted messages charged by the environment in this step */
  uint32_t processes;              /* processes that became faulty in it (initial states: that are) */
  uint64_t broken;                 /* bit i: the query's i-th property is a step property that this step breaks */
  const struct model_error *error; /* not NULL: the step ends in an error of the model; there is no target state */
  /* Only of queries about runs (query_is_live): */
  uint64_t marks; /* bit i: the step can be made such that all these marks of the environment hold in it
                     (environment_run_clauses); a step may be emitted several times with different ones */
  uint32_t group; /* steps: what was taken, for fairness: one of those that `enabled` tells; NO_GROUP: nothing that
                     fairness speaks of */
  uint32_t adversary_choice; /* almost surely: steps of one state with the same number are the results of the same
                       choices of the adversary, by coins */
  bool optional; /* steps: a fault, or what only a lie makes possible: a run may stop where there is nothing else */
};
#define NO_GROUP UINT32_MAX

/* False: stop. Of a state that is emitted, bytes behind the key up to the next multiple of 16 can be read. */
typedef bool emit_fn(void *context, const struct state *, const struct edge *);

/* States with short keys, as words whose unused bytes are 0, and nothing to say of the steps to them (an edge of
   zeros): most of many models' states. Where the engine gives such a list, successors are put there without a call for
   each, as long as there is room. */
#define STATE_SHORT 32 /* bytes */
struct short_states {
  uint64_t *at;
  bool *invisible; /* of each: no property of states can tell it from the state that it comes from */
  uint32_t n, most;
  uint32_t length; /* of each, in bytes; this and words are set by the system */
  uint32_t words;  /* of each: 2 or 4 */
};

/* Many states at once: the next one to expand (false: no more), with a name and the fault_cost of the way to it; and
   what was found from the state of that name. */
typedef bool frontier_fn(void *context, struct state *, uint64_t *origin, uint32_t *fault_cost);
typedef bool emit_from_fn(void *context, uint64_t origin, const struct state *, const struct edge *);

/* A path made concrete: a real run of the real algorithm, un-permuted. */
struct run {
  struct config *initial;
  struct witness **steps;
  uint32_t nsteps;
  uint32_t
      *order; /* fine rounds: steps are whole rounds, and this says who ends its round next (interp/async_round.h) */
  uint32_t norder;
  uint32_t *reached; /* by state of the path it was made from: after how many steps; NULL: one step each */
};
void run_release(struct run *);

enum goal_kind { GOAL_STATE, GOAL_BROKEN_STEP, GOAL_ERROR };
struct path_goal { /* what is special about the last step of the path */
  enum goal_kind kind;
  uint32_t property; /* BROKEN_STEP: index into the query's properties */
};

/* What a step of a path has to be, beyond leading from one state to the next: queries about runs. */
struct step_requirement {
  uint64_t marks; /* all of them hold in it */
  uint32_t group; /* NO_GROUP: any */
};

struct system;

/* What fairness speaks of: each group is taken again and again, if it is always (weak) or again and again (strong)
 * possible. */
typedef void group_fn(void *context, uint32_t group);

struct system_ops {
  /* Return false if the callback stopped them. */
  bool (*initial)(struct system *, emit_fn *, void *context);
  bool (*successors)(struct system *, const struct state *, emit_fn *, void *context);
  /* Only if the last call of successors left system->has_deferred set: steps that it put off. The engine asks for them
     unless one of those that it was given led to a state that is still to be expanded; so none is put off for ever. */
  bool (*deferred)(struct system *, const struct state *, emit_fn *, void *context);
  /* All states of a frontier together: every successor of any of them is emitted at least once, from one of the
     states with the cheapest way to it. Only if system->layerwise. */
  bool (*expand)(struct system *, frontier_fn *, emit_from_fn *, void *context);
  /* Invariant or cover formula number i of the query. */
  enum verdict3 (*holds)(struct system *, uint32_t i, const struct state *, struct model_error *);
  /* path[0] is initial, each further one a successor of the one before; GOAL_ERROR: path ends with the state
     before the error, one more step follows. False: no such run (a fault of the system). */
  bool (*concretise)(struct system *, const struct state *path, uint32_t n, const struct path_goal *, struct run *);
  /* Liveness queries: the truth of the query's i-th atom in a state. */
  enum verdict3 (*atom)(struct system *, uint32_t i, const struct state *, struct model_error *);
  /* Liveness queries: each group that is possible in the state, once. NULL: the system has no groups. */
  void (*enabled)(struct system *, const struct state *, group_fn *, void *context);
  /* Liveness queries: of a state without successors, does the run stay there for ever? If not, no run goes through
     it: the environment allows nothing. NULL: it does. */
  bool (*stutters_forever)(struct system *, const struct state *);
  /* Like concretise, for a path of n states that need not end in anything special; required[i]: of the step from
     path[i] to path[i + 1]. */
  bool (*concretise_path)(struct system *, const struct state *path, uint32_t n,
                          const struct step_requirement *required, struct run *);
  void (*stored)(struct system *, const struct state *); /* called once for each state that the engine keeps */
  /* Steps: how far apart the rounds of live processes are in a configuration. */
  uint32_t (*round_distance)(struct system *, const struct config *);
  /* Heard-of assignments that the plain way would have tried in the stored states; false, or no such function: cannot
     be counted. */
  bool (*heard_of_assignments)(struct system *, struct text *decimal);
  /* For another thread: a system of the same query that shares the names of this one, so that keys mean the same.
     Nothing is asked of either while it is made. NULL: this cannot be done. */
  struct system *(*clone)(struct system *);
  /* What the other one has seen, and whether it has to begin again, counts here from now on. */
  void (*join)(struct system *, struct system *other);
  /* The names that keys are made of, but those of the model's values, and what it has counted; nothing is asked of it
     meanwhile. Into a system that was just made of the same query, where values have the same names: keys mean the same
     afterwards. Bad: they do not. Not if system->keys_transient; NULL: this cannot be done. */
  void (*save)(struct system *, struct saver *);
  void (*load)(struct system *, struct loader *);
  /* Keys are too narrow (system->restart): they are laid out anew, with room for all names that there are. `widened`
     then makes the key of a state from what it was before, so that nothing that was found is lost; its bytes stay until
     the next call. NULL: this cannot be done, and the search has to begin again. */
  void (*widen)(struct system *);
  struct state (*widened)(struct system *, const struct state *before);
  /* For other processes at the same search: the i-th table of the names that keys hold; NULL: there are no more.
     Together with the model's values they decide what a key means. None at all, or no such function: this cannot be
     done. */
  struct intern *(*names)(struct system *, uint32_t i);
  /* What `stored` has counted, as numbers that can be added up, and the sums; NULL: nothing. */
  uint32_t (*counts)(struct system *, const uint64_t **);
  void (*set_counts)(struct system *, const uint64_t *, uint32_t n);
  size_t (*memory)(const struct system *);
  void (*free)(struct system *);
};

struct system {
  const struct system_ops *ops;
  const struct model *model;
  const struct query *query;
  const struct licences *licences;
  bool edges_complete; /* false: some reduction drops edges, so transitions cannot be counted */
  bool layerwise;      /* expand may be used, and is faster */
  bool uses_proviso;   /* set when it is made: successors may put steps off, so it counts where each step leads */
  bool has_deferred;   /* set by successors: see deferred */
  struct short_states
      *short_keyed; /* kept by the engine, which empties it after each call of successors or deferred; NULL: emit all */
  uint64_t decided; /* kept by the engine: bit i: nothing more is to be found about the query's i-th property */
  bool restart; /* set by any of the above, which then stop: keys have become too narrow; the engine calls `widen`, or
                   forgets all states and begins again. If it does so with this set, `initial` sees to it, whose keys
                   ever they were */
  bool probabilistic; /* set when it is made: edges tell their adversary_choice. Else each is a choice of the adversary,
                     and `random` cannot be told from it: almost surely is then asked only of models that have none */
  bool keys_transient; /* keys mean something in this system alone: it cannot be saved */
  bool order_unstable; /* set by any of the above: in which order successors come depends on what it happens to remember
                        */
  bool order_mattered; /* a `foreach` gave different results for different orders */
  const char *coins_lost; /* almost surely: set by any of the above: why probabilistic are not what they should be; no
                             verdict can be based on them then. NULL: they are */
  const char *successors; /* how successors are made, for people: "outcomes", "plain: ..." */
  bool has_channels;      /* steps: messages lie in channels */
  uint32_t channel_bound; /* the most that were pending in one of them, of those that are kept */
  /* How far apart the rounds of live processes get, where each has a round of its own. */
  bool has_distance;
  uint32_t distance;     /* the largest so far */
  uint32_t phase_period; /* fine rounds: after so many phases nobody can tell; 0: they can be told for ever */
  struct state farthest; /* a state of that distance; length 0: none */
  bool distance_cut;     /* steps that would have led further than system_options.max_distance were left out */
};

enum successors_by {
  SUCCESSORS_AUTO,
  SUCCESSORS_PLAIN,     /* every heard-of assignment */
  SUCCESSORS_ENUMERATE, /* outcome_sets by every number of each message */
  SUCCESSORS_REGIONS    /* outcome_sets by regions of numbers, wherever that can be done */
};

enum per_message_moves { PER_MESSAGE_AUTO, PER_MESSAGE_ALWAYS, PER_MESSAGE_NEVER };

struct system_options {
  enum successors_by successors;
  uint32_t max_distance; /* between the rounds of live processes, where each has its own */
  enum per_message_moves
      per_message;  /* steps: is what a process can do remembered message by message, wherever that can be done? */
  bool narrow_keys; /* steps: for tests: keys have as little room as can be, so that they become too narrow often */
};
#define ANY_DISTANCE UINT32_MAX

/* What all systems have in common, except `farthest`. */
void system_save_common(const struct system *, struct saver *);
void system_load_common(struct system *, struct loader *);

/* Rounds. Steps: step_system_new in steps/step_system.h. */
struct system *lockstep_new(struct interpreter *, struct model *, const struct query *, const struct licences *,
                            const struct system_options *);

/* All successors of a state: also the steps that partial-order reduction would defer. */
static inline bool system_all_successors(struct system *s, const struct state *at, emit_fn *emit, void *context) {
  s->has_deferred = false;
  return s->ops->successors(s, at, emit, context) && (!s->has_deferred || s->ops->deferred(s, at, emit, context));
}

#endif
