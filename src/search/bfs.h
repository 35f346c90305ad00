/* Breadth-first search over a transition system. What it finds has the fewest rounds and, among those, the
   fewest faulty processes, then the fewest lost or corrupted messages: a layer is finished before
   anything in it is reported, and within a layer a cheaper way to a state replaces a dearer one.

   The search goes on until every property of the query is decided or there are no more states,
   so that what it says of the properties that hold is complete. An error of the model ends it after
   the layer. */
#ifndef RONDO_SEARCH_BFS_H
#define RONDO_SEARCH_BFS_H

#include "base/memory.h"
#include "search/search_checkpoint.h"
#include "search/visited_set.h"
#include "system/system.h"

#include <signal.h>
#include <stdatomic.h>

enum search_end {
  SEARCH_EXHAUSTED,   /* every state was seen */
  SEARCH_DECIDED,     /* every property was decided before that */
  SEARCH_MODEL_ERROR, /* the model does what it must not */
  SEARCH_STATES,      /* limits, from here on */
  SEARCH_MEMORY,
  SEARCH_TIME,
  SEARCH_INTERRUPTED,
  SEARCH_GAVE_UP /* an engine that cannot decide everything; `why` says more */
};
static inline bool search_limited(enum search_end e) { return e >= SEARCH_STATES; }

struct limits { /* 0 or NULL: none */
  uint64_t states;
  size_t memory;
  double seconds, seconds_asked;          /* seconds_asked: what reports call the limit of seconds; 0: that */
  uint32_t rounds;                        /* look no further; not a failure: see `cut` */
  const volatile sig_atomic_t *interrupt; /* not 0: stop; search_interrupted says why */
  const volatile sig_atomic_t *insist;    /* with checkpoints: not 0: stop, even if there is no time for one */
  uint32_t threads;                       /* at most; several are used for large layers, if the space can be shared */
  uint64_t threads_from;                  /* layers of fewer states are left to one; 0: as it pays */
  uint64_t precheck_from; /* queries about runs: from so many states on steps are not kept; 0: as it pays */
  uint32_t signature;     /* bits of each state that are stored, see visited_new_compact; 0: whole keys */
  uint64_t spill_from;    /* for tests: memory is full with so many states; 0: when it is */
};
#define INTERRUPT_TIME 2
#define INTERRUPT_MEMORY 3
static inline enum search_end search_interrupted(sig_atomic_t why) {
  return why == INTERRUPT_TIME ? SEARCH_TIME : why == INTERRUPT_MEMORY ? SEARCH_MEMORY : SEARCH_INTERRUPTED;
}

/* A violated invariant, a covered state, a broken step or an error, with the cheapest way to it. */
struct finding {
  bool found;
  bool excluded;   /* shown to be impossible, whatever else is not known */
  bool by_step;    /* shown by a step from `state`, to `target` if there is one; else by `state` itself
                    */
  uint32_t rounds; /* of the run that shows it */
  fault_cost fault_cost;
  state_ref state;   /* STATE_REF_NONE: an error in the choice of initial states */
  state_ref target;  /* STATE_REF_NONE unless a step property is broken */
  uint32_t property; /* index in the query; of an error: the property in which it happened, or
                        UINT32_MAX */
  struct model_error error;
};

struct search_stats {
  uint64_t states, transitions;
  uint32_t depth;       /* rounds after which the last new state was found */
  bool depth_unknown;   /* it did not go layer by layer */
  uint64_t frontier;    /* states in the newest layer */
  uint64_t layer, done; /* states of the layer that is being checked or expanded, and of how many that was done */
  double seconds;
  size_t memory; /* of the visited set and the space */
  uint64_t disk; /* bytes of states there */
};

typedef void search_progress_fn(void *context, const struct search_stats *);

struct search {
  struct system *space;
  struct limits limits;
  search_progress_fn *progress; /* or NULL; called a few times a second */
  void *progress_context;
  struct checkpoints *checkpoints; /* or NULL */
  const char *
      spill_folder; /* where states go when memory is full; NULL: the search ends then. Not with checkpoints or ranks */
  /* Results of search_run: */
  enum search_end end;
  struct finding *findings; /* by property of the query; always unfound for live ones */
  struct finding error;
  bool cut;          /* there is more to see after limits.rounds rounds */
  uint32_t complete; /* layers finished and checked: nothing else is found within complete - 1 rounds */
  struct search_stats stats;
  struct memory_sample look;
  const char *why; /* GAVE_UP; borrowed */
  struct visited_set *visited_set;
  const struct visited_backend *backend;
  /* Of several threads: */
  struct worker_pool *pool; /* who else is at it, or NULL */
  bool single_threaded;     /* nobody can be */
  uint32_t threaded_from;   /* in the layer of so many rounds they began; UINT32_MAX: never */
  /* Of checkpoints: */
  uint32_t number;            /* its file's */
  uint64_t generation;        /* of several ranks: of the files that count; 0: there are none */
  uint32_t resumed_from;      /* in the layer of so many rounds; UINT32_MAX: it was not */
  struct search_stage *stage; /* where it is */
  atomic_bool pause;          /* everybody comes to rest: it is to be written down */
  _Atomic int ending;         /* then it ends; a search_end; EXHAUSTED: it goes on */
  double checkpoint_due;      /* in seconds of its own */
  char **texts;               /* of errors that were found before it was resumed */
  uint32_t ntexts;
  /* Of states on disk (search/spill.h): */
  struct spill *spill; /* NULL: they are all in memory */
  char *spill_error_text;
  /* Of several ranks (search/ranks.h): */
  struct ranks *ranks; /* or NULL; set after search_init */
  struct {             /* what other ranks had when they last met; memory: those on this machine */
    uint64_t states, transitions;
    size_t memory;
  } other_ranks;
  char *error_text;        /* of an error that another rank found */
  struct rank_path *paths; /* to the findings, by property, then to the error: the states lie on several ranks */
};

void search_init(struct search *, struct system *, const struct limits *);
void search_run(struct search *);
void search_release(struct search *);
double search_omission_probability(
    const struct search *); /* how probable it is, at most, that a state was taken for another; 0: sure */

/* Which of several shortest and cheapest ways to a finding several threads come upon, or a space that was resumed with
   less in its tables, is chance. Up to so many rounds one thread would have to go again to find those that it always
   finds; 0: it has. */
uint32_t search_rerun_depth(const struct search *);

/* A stored state; STATE_REF_NONE if absent. */
state_ref search_find(const struct search *, const struct state *);

/* Is there a way to be told? Not to an error in the choice of initial states; nor, of several ranks, if they were
 * interrupted. */
bool search_has_path(const struct search *, const struct finding *);
/* The states on the way to a finding, first to last, in an array for memory_free; their bytes are
   there, or the visited set's. NULL: there is no such way, which is a fault. */
struct state *search_path(const struct search *, const struct finding *, uint32_t *n, struct path_goal *);

#endif
