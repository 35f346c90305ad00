/* Projection of cubes: existential quantification of some of their variables. */
#ifndef RONDO_PARAM_CUBE_PROJECTION_H
#define RONDO_PARAM_CUBE_PROJECTION_H

#include "symbolic/solver.h"

/* Removes inequalities that follow from the other constraints and from the solver's assertions. The solver needs
   variables for all of the cube's. */
void cube_simplify(struct cube *, struct solver *known);

/* Likewise, equations too. Not to be used before a projection, because equations help elimination. */
void cube_remove_implied(struct cube *, struct solver *known);

/* Is every point of the cube (NULL: every point) that satisfies the solver's assertions in one of the n cubes `by`,
   other than the one with index `but`? Returns false also if the solver answers unknown. */
bool cube_is_covered(struct solver *, const struct cube *, const struct cube *by, size_t n, size_t but);

struct elimination { /* an eliminated variable, and the constraints it occurred in */
  uint32_t variable;
  struct cube before;
};
typedef VEC(struct elimination) elimination_vec;
void elimination_release(elimination_vec *);

enum projection { PROJECT_EXACT, PROJECT_LARGER, PROJECT_GAVE_UP };

/* Eliminates the variables with away[v], the cheapest first, and removes redundant constraints on the way. trail gets
   the eliminations in order; it may be NULL. Gives up beyond `most` constraints (0: no limit) and when the solver is
   stopped. */
enum projection cube_project(struct cube *, const bool *away, struct solver *known, elimination_vec *trail,
                             uint32_t most);

#endif
