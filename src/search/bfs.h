/* Breadth-first search over a transition system. Counterexamples have the fewest rounds and, among those, the fewest
   faulty processes, then the fewest lost or corrupted messages: a layer is finished before anything in it is reported,
   and within a layer a cheaper path to a state replaces a more expensive one.

   The search continues until every property of the query is decided or there are no more states, so results for
   properties that hold are complete. An error of the model ends it after the current layer. */
#ifndef RONDO_SEARCH_BFS_H
#define RONDO_SEARCH_BFS_H

#include "base/memory.h"
#include "search/search_checkpoint.h"
#include "search/search_parts.h"
#include "search/visited_set.h"
#include "system/system.h"

#include <signal.h>

enum search_end {
  SEARCH_EXHAUSTED,   /* every state was seen */
  SEARCH_DECIDED,     /* every property was decided before that */
  SEARCH_MODEL_ERROR, /* an error of the model was found */
  SEARCH_STATES,      /* from here on: limits */
  SEARCH_MEMORY,
  SEARCH_TIME,
  SEARCH_INTERRUPTED,
  SEARCH_GAVE_UP /* the engine cannot decide the query; see `why` */
};
static inline bool search_limited(enum search_end e) { return e >= SEARCH_STATES; }

struct limits { /* 0 or NULL: no limit */
  uint64_t states;
  size_t memory;
  double seconds, seconds_asked; /* seconds_asked: the time limit as reported to the user; 0: the same as `seconds` */
  uint32_t rounds;               /* search no deeper; this is not a failure: see `cut` */
  const volatile sig_atomic_t *interrupt; /* not 0: stop; search_interrupted says why */
  const volatile sig_atomic_t
      *insist;            /* not 0: stop at once, without a checkpoint and without checking the last layer */
  uint32_t threads;       /* at most; only used for large layers, and only if the transition system can be cloned */
  uint64_t threads_from;  /* smaller layers use one thread; 0: the default */
  uint64_t precheck_from; /* liveness: from so many states on edges are not stored; 0: the default */
  uint32_t signature;     /* bits stored for each state, see visited_new_compact; 0: full keys */
  uint64_t spill_from;    /* for tests: memory counts as full at so many states; 0: only when it is */
  uint64_t look_from;     /* for tests: a layer is large from so many states on; 0: the default */
  /* For trial searches: end after a layer with so many states besides the initial ones, or after so many rounds. */
  uint64_t trial_states;
  uint32_t trial_rounds;
};
#define INTERRUPT_TIME 2
#define INTERRUPT_MEMORY 3
static inline enum search_end search_interrupted(sig_atomic_t why) {
  return why == INTERRUPT_TIME ? SEARCH_TIME : why == INTERRUPT_MEMORY ? SEARCH_MEMORY : SEARCH_INTERRUPTED;
}

/* A violated invariant, a covered state, a violating step or an error, with the cheapest path to it. */
struct finding {
  bool found;
  bool excluded;   /* proved impossible, independently of everything that is still unknown */
  bool by_step;    /* shown by a step from `state`, to `target` if there is one; otherwise by `state` itself */
  uint32_t rounds; /* of the run that shows it */
  fault_cost fault_cost;
  state_ref state;   /* STATE_REF_NONE: an error in the choice of initial states */
  state_ref target;  /* STATE_REF_NONE unless a step violates a property */
  uint32_t property; /* index in the query; for an error: the property being evaluated, or UINT32_MAX */
  struct model_error error;
};

struct search_stats {
  uint64_t states, transitions;
  uint32_t depth;       /* number of rounds in which the last new state was found */
  bool depth_unknown;   /* the search did not go layer by layer */
  uint64_t frontier;    /* states in the newest layer */
  uint64_t layer, done; /* states of the layer being checked or expanded, and how many of them are done */
  double seconds;
  size_t memory; /* of the visited set and the transition system */
  uint64_t disk; /* bytes of states on disk */
};

struct search;
typedef void search_progress_fn(void *context, const struct search_stats *);
/* This property is decided by a finding, and the search goes on for others. */
typedef void search_found_fn(void *context, const struct search *, uint32_t property);
/* After a layer that is not the last one; false: the search ends, as a trial does. */
typedef bool search_layer_fn(void *context, struct search *);

/* ---- for search engines: limits and progress (search_limits.c) ---- */

double search_now(void); /* in seconds */
bool search_time_is_up(const struct limits *, const struct search_stats *);
/* The larger of the resident memory and what the search has accounted for. */
size_t search_memory_used(struct memory_sample *, const struct search_stats *);
/* Calls `progress` unless it was called just now, or is NULL. */
void search_report_progress(struct search_clock *, search_progress_fn *progress, void *context,
                            const struct search_stats *);

/* ---- a search ---- */

struct search {
  struct system *space;
  struct limits limits;
  search_progress_fn *progress; /* or NULL; called a few times a second */
  void *progress_context;
  search_found_fn *found; /* or NULL */
  void *found_context;
  search_layer_fn *layer; /* or NULL */
  void *layer_context;
  const bool *elsewhere;           /* by property: another search has decided it; NULL: none */
  struct checkpoints *checkpoints; /* or NULL */
  /* Results of search_run: */
  enum search_end end;
  struct finding *findings; /* by property of the query; never found for live properties */
  struct finding error;
  bool cut;                /* there are more states after limits.rounds rounds */
  bool trial_ended;        /* it was a trial search, which ended where it should; `end` is STATES then */
  uint64_t initial_states; /* trial searches only */
  uint32_t complete;       /* layers finished and checked: there are no further findings within complete - 1 rounds */
  struct search_stats stats;
  struct memory_sample look;
  const char *why; /* SEARCH_GAVE_UP; borrowed */
  struct visited_set *visited_set;
  const struct visited_backend *backend;
  struct search_stage *stage; /* the current stage */
  atomic_bool pause;          /* all workers shall suspend themselves */
  struct ranks *ranks;        /* several ranks (search/ranks.h), or NULL; set after search_init */
  struct search_threads threads;
  struct search_saving saving; /* with checkpoints */
  struct search_disk disk;     /* its folder is not supported with ranks */
  struct search_across across; /* with several ranks */
};

void search_init(struct search *, struct system *, const struct limits *);
void search_run(struct search *);
void search_release(struct search *);
/* Upper bound on the probability that a state was omitted; 0: none was. */
double search_omission_probability(const struct search *);

/* If several threads search, or if a resumed transition system has less in its tables, the choice among equally short
   and cheap paths to a finding is not deterministic. Returns the depth up to which one thread must search again to get
   the deterministic paths; 0: they are deterministic already. */
uint32_t search_rerun_depth(const struct search *);

/* The reference of a stored state; STATE_REF_NONE if absent. */
state_ref search_find(const struct search *, const struct state *);

/* Is there a path to report? Not for an error in the choice of initial states, nor if several ranks were
   interrupted. */
bool search_has_path(const struct search *, const struct finding *);
/* The states on the path to a finding, first to last, in an array for memory_free; their bytes are in that array or in
   the visited set. NULL: there is no such path, which is a bug. */
struct state *search_path(const struct search *, const struct finding *, uint32_t *n, struct path_goal *);

#endif
