/* Large queries about runs: is there nothing to be found? Strongly connected components of the states alone,
   depth-first, in which no step is kept: states are as dear as in a search for states. What the automaton has read
   before is not looked at: wherever it may be, only those of its transitions count that can be taken again and again.
   So a component in which nothing is accepted shows that no run ends up in it; one in which something may be is looked
   at in the product, by itself. */
#ifndef RONDO_SEARCH_SCC_PRECHECK_H
#define RONDO_SEARCH_SCC_PRECHECK_H

#include "search/liveness_search.h"

enum precheck_result {
  PRECHECK_EMPTY,     /* no run is accepted */
  PRECHECK_UNDECIDED, /* perhaps one is; or an error of the model came up */
  PRECHECK_STOPPED    /* a limit was reached: graph->end */
};

/* The live's graph has the limits, and gets to know how many states and steps there are. *rekeyed: keys mean something
   else than before. */
enum precheck_result scc_precheck_run(struct liveness_search *, bool *rekeyed);

#endif
