/* Regions of parameters: where a property fails.

   A run generalises: other parameters, other numbers, the same way through the graph. Which
   parameters allow that is a cube: what is left of the constraints along the way when everything
   but the parameters is projected away. */
#ifndef RONDO_PARAM_PARAM_REGION_H
#define RONDO_PARAM_PARAM_REGION_H

#include "param/engine.h"

/* How much of a run may change: how often it does what it does several times in a row; all its
   numbers; all but the amounts that are zero in it; nothing. */
enum generality { REGION_REPEATED, REGION_WIDE, REGION_NARROW, REGION_POINT, GENERALITIES };
/* Does it do anything several times in a row? */
bool run_repeats(const struct counter_graph *, const struct counter_run *);

/* The region of a run's way, over the columns kept (the others may be anything). The cube is
   initialised in any case and has the graph's width. script: an SMT-LIB query, to be answered
   "unsat": are there parameters in the region for which the run that the projection tells to take
   is none? False: no such region could be made, or *stop (or NULL) is not 0. */
bool region_of_run(const struct counter_graph *, const struct counter_run *, const bool *kept, enum generality,
                   const volatile sig_atomic_t *stop, struct cube *, struct text *script);

/* As few cubes with as few constraints as can be found for the same parameters, among those that
 * satisfy some of `assuming`; once *stop is not 0, no further ones are looked for. */
void regions_simplify(cube_vec *, const cube_vec *assuming, const volatile sig_atomic_t *stop);

/* `N <= 3 * t and t >= 1`; several with `or`; their complement. "false", "true" where there is
 * nothing to say. */
void regions_print(const struct counter_graph *, const cube_vec *, struct text *);
void regions_complement_print(const struct counter_graph *, const cube_vec *, struct text *);

#endif
