/* Conjunctions of linear constraints over integer variables that are numbered from 0.

   A row has a constant and a coefficient for each variable: row[0] + row[1] * x0 + row[2] * x1 +
   ... A constraint says of a row that it is >= 0, or == 0. Rows of a cube are normal: their
   coefficients have no common divisor (the constant is rounded so that no integer point is lost),
   and no two constraints have the same coefficients. Arithmetic is exact: what would leave 64 bits
   sets `overflow`, and whoever looks at the cube must give it up. */
#ifndef RONDO_SYMBOLIC_LINEAR_CUBE_H
#define RONDO_SYMBOLIC_LINEAR_CUBE_H

#include "base/text.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct cube {
  uint32_t width; /* of a row: variables + 1 */
  uint32_t n;     /* constraints */
  VEC(int64_t) cells;
  VEC(bool) equal;
  bool empty; /* no integer point, by a constraint that is false as it stands */
  bool overflow;
};

void cube_init(struct cube *, uint32_t variables);
void cube_release(struct cube *);
void cube_copy(struct cube *, const struct cube *); /* into one that is not initialised */
static inline const int64_t *cube_row(const struct cube *c, uint32_t i) { return c->cells.at + (size_t)i * c->width; }

/* row += times * more. False: the result would leave a quarter of 64 bits, which keeps room to negate a row and to
   change its constant by one; the row is then of no use. */
bool row_add_times(int64_t *row, const int64_t *more, uint32_t width, int64_t times);

void cube_add(struct cube *, const int64_t *row, bool equal);
void cube_add_cube(struct cube *, const struct cube *); /* of the same width */
void cube_drop(struct cube *, uint32_t constraint);     /* the last takes its place */

/* The same constraints among more variables (the new ones come last), or without the last ones,
   which must not occur. */
void cube_resize(struct cube *, uint32_t variables);

/* Reads every variable v < n as the row images[v] (of width `width`): the cube's preimage under an
 * affine map. */
void cube_preimage(struct cube *, const int64_t *const *images, uint32_t n, uint32_t width);

/* Projects a variable away. True if exactly the integer points are left that have an integer value
   for it; false if there may be more of them (Fourier-Motzkin with coefficients beyond 1). */
bool cube_eliminate(struct cube *, uint32_t variable);

/* Is it satisfied by the point? */
bool cube_holds(const struct cube *, const int64_t *point);

/* Same coefficients in the same constraints; *drift says by how much b's constants are larger. The
   order of rows does not matter; drift goes by a's order and has room for a->n. */
bool cube_same_shape(const struct cube *a, const struct cube *b, int64_t *drift);

/* As an SMT-LIB term. */
void cube_print(const struct cube *, const char *const *names, struct text *);

#endif
