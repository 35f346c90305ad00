/* Emptiness check of the product with a Büchi automaton, under fairness assumptions. Computes strongly connected
   components on the fly (Couvreur 1999). Each component is judged when it is complete, or, if there are only acceptance
   sets and "infinitely often" conditions, as soon as enough of it is known. */
#ifndef RONDO_SEARCH_LIVENESS_SEARCH_H
#define RONDO_SEARCH_LIVENESS_SEARCH_H

#include "logic/automaton.h"
#include "search/liveness_graph.h"

/* Assumptions about runs. */
struct assumptions {
  uint64_t often;   /* marks: each holds infinitely often */
  uint64_t finally; /* marks: each holds forever from some time on */
  bool fair;        /* fair to every group of the transition system... */
  bool strong;      /* ...that is enabled infinitely often (weak: continuously from some time on) */
  /* Almost surely: only runs of positive probability count. An adversary resolves the nondeterminism between
     probabilistic choices, coins decide their results. What the adversary can sustain forever is an end component: a
     strongly connected set of states with probabilistic choices all of whose results stay in the set. */
  bool coins;
};

/* A path whose last state is an earlier one of the path, so that the run loops forever. */
struct state_lasso {
  struct state *path;            /* n states; their bytes belong to the graph */
  struct step_requirement *wish; /* n of them: the requirement on the step after each state; the last is unused */
  uint32_t n, loop;              /* path[n - 1] equals path[loop]; loop == n - 1: the run stays there forever */
  bool shortest;                 /* no lasso to the component that it goes to is shorter */
};

struct liveness_search {
  struct liveness_graph graph;       /* limits, progress, and how the search ended */
  const struct automaton *automaton; /* borrowed */
  struct assumptions assumptions;
  /* Results of liveness_search_run: */
  bool found;
  bool prechecked; /* it ended in the SCC pre-check (search/scc_precheck.h): the graph is only the part explored before
                      it, and these are the statistics: */
  struct search_stats precheck_stats;
  struct state_lasso lasso; /* if found */
  bool shortest;            /* no accepted lasso is shorter */
  /* private */
  uint64_t precheck_from; /* number of states */
  bool precheck_tried;
};

void liveness_search_init(struct liveness_search *, struct system *, const struct automaton *,
                          const struct assumptions *, const struct limits *);
void liveness_search_run(struct liveness_search *);
void liveness_search_release(struct liveness_search *);
/* After a search without finding: does any run satisfy these assumptions? Also false if a limit was reached first
   (graph.end). */
bool liveness_search_satisfiable(struct liveness_search *, const struct assumptions *);
/* For a subgraph: is there an accepted run from one of its graph's initial states, with the automaton in any of its
   states? */
bool liveness_search_accepts_anywhere(struct liveness_search *);
/* The path to an error that was found, in an array for memory_free. */
struct state *liveness_search_error_path(const struct liveness_search *, uint32_t *n, struct path_goal *);

#endif
