/* Conjunctions of linear constraints over integer variables that are numbered from 0.

   A row has a constant and a coefficient for each variable: row[0] + row[1] * x0 + row[2] * x1 +
   ... A constraint states row >= 0 or row == 0. Rows of a cube are normalised: their coefficients have no common
   divisor (the constant is rounded so that no integer point is lost), and no two constraints have the same
   coefficients. Arithmetic is exact: a result that does not fit 64 bits sets `overflow`, and then the cube must not be
   used any more. */
#ifndef RONDO_SYMBOLIC_LINEAR_CUBE_H
#define RONDO_SYMBOLIC_LINEAR_CUBE_H

#include "base/text.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct cube {
  uint32_t width; /* width of a row: variables + 1 */
  uint32_t n;     /* constraints */
  VEC(int64_t) cells;
  VEC(bool) equal;
  bool empty; /* a constraint is trivially false, so there is no integer point */
  bool overflow;
};

void cube_init(struct cube *, uint32_t variables);
void cube_release(struct cube *);
void cube_copy(struct cube *, const struct cube *); /* the target must not be initialised */
static inline const int64_t *cube_row(const struct cube *c, uint32_t i) { return c->cells.at + (size_t)i * c->width; }

/* row += times * more. Returns false if a cell would exceed a quarter of the 64-bit range, which leaves room to negate
   a row and to change its constant by one. The row is then invalid. */
bool row_add_times(int64_t *row, const int64_t *more, uint32_t width, int64_t times);

void cube_add(struct cube *, const int64_t *row, bool equal);
void cube_add_cube(struct cube *, const struct cube *); /* both have the same width */
void cube_drop(struct cube *, uint32_t constraint);     /* the last constraint takes its place */

/* Appends new variables, or removes the last ones, which must not occur in any constraint. */
void cube_resize(struct cube *, uint32_t variables);

/* Substitutes the row images[v] (of width `width`) for every variable v < n: the preimage of the cube under an affine
   map. */
void cube_preimage(struct cube *, const int64_t *const *images, uint32_t n, uint32_t width);

/* Projects a variable away. Returns true if the result is exact over the integers, false if it may have additional
   integer points (Fourier-Motzkin with coefficients other than 1 and -1). */
bool cube_eliminate(struct cube *, uint32_t variable);

/* Does the point satisfy the cube? */
bool cube_holds(const struct cube *, const int64_t *point);

/* Is each constraint of b implied by one of a? Then a is within b; the converse is not true. */
bool cube_implies(const struct cube *a, const struct cube *b);

/* True if both cubes have the same constraints up to constants, in any order. drift gets, in a's order, by how much b's
   constants are larger; it has room for a->n. */
bool cube_same_shape(const struct cube *a, const struct cube *b, int64_t *drift);

/* Prints the cube as an SMT-LIB term. */
void cube_print(const struct cube *, const char *const *names, struct text *);

#endif
