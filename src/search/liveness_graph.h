/* The part of a space that was looked at, as a graph in memory: states are numbered in the order in which they were
   found, and each is asked for its steps once. For queries about runs, which go through the same states many times.

   A run never ends: where a state has no step that has to be taken, it may stay as it is. */
#ifndef RONDO_SEARCH_LIVENESS_GRAPH_H
#define RONDO_SEARCH_LIVENESS_GRAPH_H

#include "base/vec.h"
#include "search/bfs.h"

struct edge_label { /* what steps have in common */
  uint64_t marks;
  uint32_t group, adversary_choice;
};
#define LABEL_STAYS 0 /* of the step that is none: all marks, no group */

struct liveness_graph_edge {
  uint32_t to, label;
};

struct last_edge { /* the last step that was found to lead to a state */
  uint32_t from, label;
};

/* Of the steps of a state: is there any, and any that has to be taken? */
struct run_edges {
  bool any, mandatory;
};
static inline void run_edges_note(struct run_edges *e, const struct edge *edge) {
  e->any = true;
  e->mandatory |= !edge->optional;
}
/* Emits all steps of a state; `emit` notes them in *noted. *stays: a run may stay there forever. */
bool run_edges_emit(struct system *, const struct state *, emit_fn *, void *context, struct run_edges *noted,
                    bool *stays);
/* The truth of the query's atoms in a state. False: *atom has no value there. */
bool run_letter(struct system *, const struct state *, uint64_t *letter, uint32_t *atom, struct model_error *);

struct liveness_graph {
  struct system *space;
  struct limits limits;
  search_progress_fn *progress;
  void *progress_context;
  struct visited_set *visited_set;
  VEC(state_ref) refs;   /* by state */
  VEC(uint64_t) letters; /* by state: the truth of the query's atoms */
  VEC(uint64_t) first;   /* by state: where its steps are; UNEXPANDED */
  VEC(uint32_t) count;   /* by state: how many */
  VEC(struct liveness_graph_edge) steps;
  VEC(struct edge_label) labels;
  struct intern *label_names;
  uint32_t initials;    /* the first so many states */
  enum search_end end;  /* EXHAUSTED as long as nothing came in between */
  bool cut;             /* limits.rounds: there is more beyond */
  struct finding error; /* `state` and `target` are STATE_REF_NONE: see error_from */
  uint32_t error_atom;  /* that has no value there; of errors in steps: UINT32_MAX */
  uint32_t error_from;  /* the state before the step, or in which a formula has no value; UINT32_MAX: none */
  struct search_stats stats;
  size_t product_memory;    /* of whoever goes through it: counts for the limit */
  size_t precheck_memory;   /* likewise, of whoever looks at the space in another way meanwhile, */
  uint64_t precheck_states; /* and how much was found like that */
  uint64_t precheck_transitions;
  bool (*inside)(void *context, const struct state *); /* or NULL; others have no steps */
  void *inside_context;
  /* private */
  VEC(struct last_edge) last_edge; /* by state */
  uint32_t expanding, ticks;
  uint32_t evaluated;     /* states whose letter is known */
  struct run_edges noted; /* of the state being expanded */
  double started, last_progress;
  struct memory_sample look;
};
#define UNEXPANDED UINT64_MAX

void liveness_graph_init(struct liveness_graph *, struct system *, const struct limits *);
void liveness_graph_release(struct liveness_graph *);
/* Initial states; with limits.rounds, everything within so many steps of them. False: it ended (see end), or
 * space->restart. */
bool liveness_graph_begin(struct liveness_graph *);
/* Instead: a state to begin with. */
bool liveness_graph_add_initial(struct liveness_graph *, const struct state *);
/* Makes sure that the steps of a state are known. False: likewise. */
bool liveness_graph_expand(struct liveness_graph *, uint32_t state);
bool liveness_graph_tick(struct liveness_graph *, uint32_t ticks); /* False: a limit was reached */
/* False: it was interrupted; what the space has answered since then does not count. */
bool liveness_graph_may_continue(struct liveness_graph *);
void liveness_graph_stop(struct liveness_graph *, enum search_end why);
size_t liveness_graph_bytes(const struct liveness_graph *); /* without the space's */
struct state liveness_graph_state(const struct liveness_graph *, uint32_t state);
static inline const struct liveness_graph_edge *liveness_graph_edges(const struct liveness_graph *g, uint32_t state,
                                                                     uint32_t *n) {
  *n = g->first.at[state] == UNEXPANDED ? 0 : g->count.at[state];
  return *n ? g->steps.at + g->first.at[state] : NULL;
}
/* The shortest known way from an initial state, in an array for memory_free. */
uint32_t *liveness_graph_path(const struct liveness_graph *, uint32_t state, uint32_t *n);
void liveness_graph_update_stats(struct liveness_graph *); /* stats but depths */
void liveness_graph_finish(struct liveness_graph *);       /* stats */

#endif
