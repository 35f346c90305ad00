/* The explored part of a transition system as a graph in memory. States are numbered in order of discovery, and each is
   expanded once. For liveness queries, which visit the same states many times.

   Runs are infinite: in a state that has no mandatory step, a run may stay forever (stutter). */
#ifndef RONDO_SEARCH_LIVENESS_GRAPH_H
#define RONDO_SEARCH_LIVENESS_GRAPH_H

#include "base/vec.h"
#include "search/bfs.h"

struct edge_label { /* the properties of a step; steps share labels */
  uint64_t marks;
  uint32_t group, adversary_choice;
};
#define LABEL_STAYS 0 /* the label of a stuttering step: all marks, no group */

struct liveness_graph_edge {
  uint32_t to, label;
};

struct last_edge { /* the step that reached a state most recently */
  uint32_t from, label;
};

/* Does a state have any step, and any mandatory one? */
struct run_edges {
  bool any, mandatory;
};
static inline void run_edges_note(struct run_edges *e, const struct edge *edge) {
  e->any = true;
  e->mandatory |= !edge->optional;
}
/* Emits all steps of a state; `emit` records them in *noted. *stays: a run may stay there forever. */
bool run_edges_emit(struct system *, const struct state *, emit_fn *, void *context, struct run_edges *noted,
                    bool *stays);
/* The truth values of the query's atoms in a state. False: *atom has no value there. */
bool run_letter(struct system *, const struct state *, uint64_t *letter, uint32_t *atom, struct model_error *);

/* Where an error was found. */
struct error_place {
  uint32_t atom; /* the atom that has no value there; UINT32_MAX for errors in steps */
  uint32_t from; /* the state before the step, or in which an atom has no value; UINT32_MAX: none */
};

/* What the SCC pre-check found, and the memory that it uses, which counts towards the limit. */
struct precheck_counts {
  size_t memory;
  uint64_t states, transitions;
};

/* Only part of the states: the others have no steps. */
struct graph_filter {
  bool (*has)(void *context, const struct state *); /* NULL: all states */
  void *context;
};

/* How far the exploration is. */
struct graph_expansion {
  uint32_t state;         /* the one being expanded, */
  struct run_edges noted; /* and its steps so far */
  uint32_t evaluated;     /* number of states whose letter is known */
};

struct liveness_graph {
  struct system *space;
  struct limits limits;
  search_progress_fn *progress;
  void *progress_context;
  struct visited_set *visited_set;
  VEC(state_ref) refs;   /* by state */
  VEC(uint64_t) letters; /* by state: the truth values of the query's atoms */
  VEC(uint64_t) first;   /* by state: index of its first step; UNEXPANDED */
  VEC(uint32_t) count;   /* by state: number of its steps */
  VEC(struct liveness_graph_edge) steps;
  VEC(struct edge_label) labels;
  struct intern *label_names;
  uint32_t initials;    /* number of initial states, which come first */
  enum search_end end;  /* EXHAUSTED unless it was stopped */
  bool cut;             /* limits.rounds: there are more states beyond */
  struct finding error; /* `state` and `target` are STATE_REF_NONE: see error_at */
  struct error_place error_at;
  struct search_stats stats;
  size_t product_memory; /* of the product; counts towards the limit */
  struct precheck_counts precheck;
  struct graph_filter within;
  /* private */
  VEC(struct last_edge) last_edge; /* by state */
  struct graph_expansion expansion;
  struct search_clock clock;
  struct memory_sample look;
};
#define UNEXPANDED UINT64_MAX

void liveness_graph_init(struct liveness_graph *, struct system *, const struct limits *);
void liveness_graph_release(struct liveness_graph *);
/* Generates the initial states and, with limits.rounds, all states within so many steps of them. False: it ended (see
   end), or space->restart is set. */
bool liveness_graph_begin(struct liveness_graph *);
/* The alternative to liveness_graph_begin: adds one initial state. */
bool liveness_graph_add_initial(struct liveness_graph *, const struct state *);
/* Expands a state unless that is done already. False: as for liveness_graph_begin. */
bool liveness_graph_expand(struct liveness_graph *, uint32_t state);
bool liveness_graph_tick(struct liveness_graph *, uint32_t ticks); /* false: a limit was reached */
/* False: interrupted; results of the transition system since then are invalid. */
bool liveness_graph_may_continue(struct liveness_graph *);
void liveness_graph_stop(struct liveness_graph *, enum search_end why);
size_t liveness_graph_bytes(const struct liveness_graph *); /* without the transition system */
struct state liveness_graph_state(const struct liveness_graph *, uint32_t state);
static inline const struct liveness_graph_edge *liveness_graph_edges(const struct liveness_graph *g, uint32_t state,
                                                                     uint32_t *n) {
  *n = g->first.at[state] == UNEXPANDED ? 0 : g->count.at[state];
  return *n ? g->steps.at + g->first.at[state] : NULL;
}
/* The shortest known path from an initial state, in an array for memory_free. */
uint32_t *liveness_graph_path(const struct liveness_graph *, uint32_t state, uint32_t *n);
void liveness_graph_update_stats(struct liveness_graph *); /* all stats but the depths */
void liveness_graph_finish(struct liveness_graph *);       /* all stats */

#endif
