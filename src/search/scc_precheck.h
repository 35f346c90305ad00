/* A pre-check for large liveness queries: is the product certainly empty? It computes the strongly connected components
   of the states alone, depth-first and without storing edges, so a state takes no more memory than in a safety search.
   The automaton's state is ignored: any of its transitions that can recur in an accepting run may be taken anywhere. A
   component in which nothing is accepted therefore shows that no accepted run ends up in it. A component that could be
   accepted is examined separately in the product. */
#ifndef RONDO_SEARCH_SCC_PRECHECK_H
#define RONDO_SEARCH_SCC_PRECHECK_H

#include "search/liveness_search.h"

enum precheck_result {
  PRECHECK_EMPTY,     /* no run is accepted */
  PRECHECK_UNDECIDED, /* a run may be accepted, or an error of the model was found */
  PRECHECK_STOPPED    /* a limit was reached: graph->end */
};

/* Takes the limits from the graph of the liveness search and adds the numbers of states and steps to it. *rekeyed: keys
   have changed their meaning. */
enum precheck_result scc_precheck_run(struct liveness_search *, bool *rekeyed);

#endif
