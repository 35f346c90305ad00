/* Is there a run that an automaton accepts, under assumptions about what happens again and again? Strongly connected
   components of the product, found on the fly (Couvreur 1999), each judged when it is complete; where nothing but
   acceptance and "infinitely often" is asked for, as soon as enough of it is known. */
#ifndef RONDO_SEARCH_LIVENESS_SEARCH_H
#define RONDO_SEARCH_LIVENESS_SEARCH_H

#include "logic/automaton.h"
#include "search/liveness_graph.h"

/* What is assumed of runs. */
struct assumptions {
  uint64_t often;   /* marks: each holds again and again */
  uint64_t finally; /* marks: from some time on each always holds */
  bool fair;        /* to every group of the space... */
  bool strong;      /* ...that is possible again and again (weak: always from some time on) */
  bool coins; /* almost surely: of runs that have a chance. An adversary chooses among probabilistic choices, coins
                 their results: what it can keep up for ever is an end component, a strongly connected set of states
                 with probabilistic choices all of whose results stay in it */
};

/* A run that goes back to an earlier state of its path for ever. */
struct state_lasso {
  struct state *path;            /* n states; their bytes are the graph's */
  struct step_requirement *wish; /* n of them: of the step after each; the last is unused */
  uint32_t n, loop;              /* path[n - 1] is path[loop] again; loop == n - 1: it stays there for ever */
};
void state_lasso_release(struct state_lasso *);

/* Can it be asked with coins? Where the automaton accepts it must not have to guess what comes: deterministic in the
   components in which it accepts (Courcoubetis & Yannakakis 1995). */
bool automaton_is_limit_deterministic(const struct automaton *);
/* By transition: it can be taken again and again where everything is accepted again and again. For memory_free. */
bool *automaton_recurrent(const struct automaton *);

struct liveness_search {
  struct liveness_graph graph;       /* limits, progress, and how it ended */
  const struct automaton *automaton; /* borrowed */
  struct assumptions assumptions;
  /* Results of liveness_search_run: */
  bool found;
  bool prechecked; /* it ended in the pre-check (search/scc_precheck.h): the graph is only where it began, and this is
                      how far it came: */
  struct search_stats precheck_stats;
  struct state_lasso lasso; /* if found */
  /* private */
  uint64_t precheck_from; /* states */
  bool precheck_tried;
};

void liveness_search_init(struct liveness_search *, struct system *, const struct automaton *,
                          const struct assumptions *, const struct limits *);
void liveness_search_run(struct liveness_search *);
void liveness_search_release(struct liveness_search *);
/* Afterwards, if nothing was found: does any run at all satisfy these assumptions? False also if a limit was reached
   first (graph.end). */
bool liveness_search_satisfiable(struct liveness_search *, const struct assumptions *);
/* Of a part: whether its graph's initial states, at any of the automaton's states, lead to what is asked for. */
bool liveness_search_accepts_anywhere(struct liveness_search *);
/* The path to an error that was found, in an array for memory_free. */
struct state *liveness_search_error_path(const struct liveness_search *, uint32_t *n, struct path_goal *);

#endif
