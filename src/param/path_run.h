/* Runs along a given path through a graph. */
#ifndef RONDO_PARAM_PATH_RUN_H
#define RONDO_PARAM_PATH_RUN_H

#include "param/engine.h"
#include "symbolic/solver.h"

/* Finds a run that takes these transitions in order, from an initial to an unsafe state, with small parameters. The run
   is set only if the answer is YES. */
enum answer path_find_run(const struct counter_graph *, const uint32_t *transitions, uint32_t n,
                          const struct engine_watch *, struct counter_run *);

#endif
