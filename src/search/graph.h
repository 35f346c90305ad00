/* The part of a space that was looked at, as a graph in memory: states are numbered in the order in which they were found,
   and each is asked for its steps once. For questions about runs, which go through the same states many times.

   A run never ends: where a state has no step that has to be taken, it may stay as it is. */
#ifndef RONDO_SEARCH_GRAPH_H
#define RONDO_SEARCH_GRAPH_H

#include "base/vec.h"
#include "search/bfs.h"

struct label { /* what steps have in common */
  uint64_t marks;
  uint32_t group, lottery;
};
#define LABEL_STAYS 0 /* of the step that is none: all marks, no group */

struct graph_step {
  uint32_t to, label;
};

struct lately { /* the last step that was found to lead to a state */
  uint32_t from, label;
};

#define GRAPH_STATES_MOST (UINT32_MAX - 1)

struct graph {
  struct space *space;
  struct limits limits;
  search_progress_fn *progress;
  void *progress_context;
  struct store *store;
  VEC(state_ref) refs;     /* by state */
  VEC(uint64_t) letters;   /* by state: the truth of the question's atoms */
  VEC(uint64_t) first;     /* by state: where its steps are; UNEXPANDED */
  VEC(uint32_t) count;     /* by state: how many */
  VEC(struct graph_step) steps;
  VEC(struct label) labels;
  struct intern *label_names;
  uint32_t initials;       /* the first so many states */
  enum search_end end;     /* EXHAUSTED as long as nothing came in between */
  bool cut;                /* limits.rounds: there is more beyond */
  struct finding error;    /* `state` and `target` are STORE_NONE: see error_from */
  uint32_t error_atom;     /* that has no value there; of errors in steps: UINT32_MAX */
  uint32_t error_from;     /* the state before the step, or in which a formula has no value; UINT32_MAX: none */
  struct search_stats stats;
  size_t other_memory;     /* of whoever goes through it: counts for the limit */
  size_t beside_memory;    /* likewise, of whoever looks at the space in another way meanwhile, */
  uint64_t beside_states;  /* and how much was found like that */
  uint64_t beside_transitions;
  bool (*inside)(void *context, const struct state *); /* or NULL; others have no steps */
  void *inside_context;
  /* private */
  VEC(struct lately) lately; /* by state */
  uint32_t expanding, ticks;
  uint32_t lettered;       /* states whose letter is known */
  bool obliged;            /* some step found is not optional */
  double started, last_progress;
  struct memory_look look;
};
#define UNEXPANDED UINT64_MAX

void graph_init(struct graph *, struct space *, const struct limits *);
void graph_release(struct graph *);
/* Initial states; with limits.rounds, everything within so many steps of them. False: it ended (see end), or space->restart. */
bool graph_begin(struct graph *);
/* Instead: a state to begin with. */
bool graph_add_initial(struct graph *, const struct state *);
/* Makes sure that the steps of a state are known. False: likewise. */
bool graph_expand(struct graph *, uint32_t state);
bool graph_tick(struct graph *, uint32_t ticks); /* False: a limit was reached */
/* False: it was interrupted; what the space has answered since then does not count. */
bool graph_undisturbed(struct graph *);
void graph_stop(struct graph *, enum search_end why);
size_t graph_bytes(const struct graph *); /* without the space's */
struct state graph_state(const struct graph *, uint32_t state);
static inline const struct graph_step *graph_steps(const struct graph *g, uint32_t state, uint32_t *n) {
  *n = g->first.at[state] == UNEXPANDED ? 0 : g->count.at[state];
  return *n ? g->steps.at + g->first.at[state] : NULL;
}
/* The shortest known way from an initial state, in an array for memory_free. */
uint32_t *graph_way(const struct graph *, uint32_t state, uint32_t *n);
void graph_refresh(struct graph *); /* stats but depths */
void graph_finish(struct graph *);  /* stats */

#endif
