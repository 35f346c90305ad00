/* Projecting cubes: what is left of a conjunction when some of its variables may be anything. */
#ifndef RONDO_PARAM_CUBE_PROJECTION_H
#define RONDO_PARAM_CUBE_PROJECTION_H

#include "symbolic/solver.h"

/* Constraints that follow from the others, and from what the solver knows, go. It needs variables
 * for all of the cube's. */
void cube_simplify(struct cube *, struct solver *known);

/* Likewise equations. Not before a projection: they help to eliminate. */
void cube_remove_implied(struct cube *, struct solver *known);

/* Is every point of the cube (NULL: every point) that the solver knows of in one of the n others? but: which of them
   does not count. False also if that is not known. */
bool cube_is_covered(struct solver *, const struct cube *, const struct cube *by, size_t n, size_t but);

struct elimination { /* a variable, and the constraints that it was in */
  uint32_t variable;
  struct cube before;
};
typedef VEC(struct elimination) elimination_vec;
void elimination_release(elimination_vec *);

enum projection { PROJECT_EXACT, PROJECT_LARGER, PROJECT_GAVE_UP };

/* Eliminates the variables with away[v], the cheapest first. Constraints that are not needed go
   before they multiply. trail: gets what was eliminated, in that order; or NULL. most: gives up
   with more constraints than that, 0: never; and where the solver is stopped. */
enum projection cube_project(struct cube *, const bool *away, struct solver *known, elimination_vec *trail,
                             uint32_t most);

#endif
