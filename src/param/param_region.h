/* Regions of parameters in which a property fails.

   A run is generalised to all runs along the same path through the graph, with other parameters and numbers. The
   parameters that have such a run form a cube: the constraints along the path, with everything but the parameters
   projected away. */
#ifndef RONDO_PARAM_PARAM_REGION_H
#define RONDO_PARAM_PARAM_REGION_H

#include "param/engine.h"

/* How far a run is generalised. REPEATED: the numbers of repetitions of consecutive equal steps. WIDE: all its numbers.
   NARROW: all numbers except amounts that are zero. POINT: nothing. */
enum generality { REGION_REPEATED, REGION_WIDE, REGION_NARROW, REGION_POINT, GENERALITIES };
/* Does the run repeat a step consecutively? */
bool run_repeats(const struct counter_graph *, const struct counter_run *);

/* The region of the run's path, over the columns in `kept`; the others are unconstrained. The cube is initialised in
   any case and has the graph's width. script: an SMT-LIB query that must be answered "unsat". It asks for parameters in
   the region for which the run constructed from the projection is not a run. Returns false if no region was found or
   *stop is nonzero; stop may be NULL. */
bool region_of_run(const struct counter_graph *, const struct counter_run *, const bool *kept, enum generality,
                   const volatile sig_atomic_t *stop, struct cube *, struct text *script);

/* Reduces the number of cubes and constraints, without changing the set of parameters among those that satisfy one of
   `assuming`. Once *stop is nonzero, the reduction ends early. */
void regions_simplify(cube_vec *, const cube_vec *assuming, const volatile sig_atomic_t *stop);

/* Prints `N <= 3 * t and t >= 1`, several cubes joined with `or`, or their complement; "false" or "true" if trivial. */
void regions_print(const struct counter_graph *, const cube_vec *, struct text *);
void regions_complement_print(const struct counter_graph *, const cube_vec *, struct text *);

#endif
