/* Reduces a union of cubes to fewer and larger cubes with the same points. */
#include "param/derive_internal.h"

#include "base/memory.h"
#include "param/cube_projection.h"

#include <string.h>

bool cubes_cover(struct solver *s, const cube_vec *cubes) {
  return cube_is_covered(s, NULL, cubes->at, cubes->n, SIZE_MAX);
}

/* Copies the cube without the constraint, or with a weaker one in its place. */
static void replace(const struct cube *c, uint32_t constraint, const int64_t *weaker, struct cube *out) {
  cube_init(out, c->width - 1);
  for (uint32_t i = 0; i < c->n; i++)
    if (i != constraint)
      cube_add(out, cube_row(c, i), c->equal.at[i]);
  if (weaker)
    cube_add(out, weaker, false);
}

/* Replaces the constraint if that adds no point to the union. */
static bool try_replace(struct solver *s, cube_vec *cubes, size_t at, uint32_t constraint, const int64_t *weaker) {
  struct cube larger;
  replace(&cubes->at[at], constraint, weaker, &larger);
  bool ok = cube_is_covered(s, &larger, cubes->at, cubes->n, SIZE_MAX);
  if (ok) {
    cube_release(&cubes->at[at]);
    cubes->at[at] = larger;
  } else {
    cube_release(&larger);
  }
  return ok;
}

static bool same_direction(const int64_t *a, const int64_t *b, uint32_t width, int64_t sign) {
  for (uint32_t i = 1; i < width; i++)
    if (a[i] != sign * b[i])
      return false;
  return true;
}

/* Weakens one side of the constraint to the bound of another cube. */
static bool weaken(struct solver *s, cube_vec *cubes, size_t at, uint32_t constraint, int64_t side) {
  uint32_t width = cubes->at[at].width;
  int64_t *row = memory_alloc(width * sizeof *row);
  bool equal = cubes->at[at].equal.at[constraint], done = false;
  for (uint32_t i = 0; i < width; i++)
    row[i] = side * cube_row(&cubes->at[at], constraint)[i];
  int64_t own = row[0];
  for (size_t k = 0; k < cubes->n && !done && !solver_stopped(s); k++)
    for (uint32_t i = 0; i < cubes->at[k].n && k != at && !done; i++)
      for (int64_t sign = -1; sign <= 1 && !done; sign += 2) {
        const int64_t *other = cube_row(&cubes->at[k], i);
        if ((sign < 0 && !cubes->at[k].equal.at[i]) || !same_direction(row, other, width, sign) ||
            sign * other[0] < own || (!equal && sign * other[0] == own))
          continue;
        row[0] = sign * other[0];
        done = try_replace(s, cubes, at, constraint, row);
        row[0] = own;
      }
  memory_free(row);
  return done;
}

/* Drops and weakens constraints as long as every added point is already in some other cube. */
static void cube_grow(struct solver *s, cube_vec *cubes, size_t at) {
  for (uint32_t i = cubes->at[at].n; i-- > 0;)
    if (i < cubes->at[at].n && !try_replace(s, cubes, at, i, NULL) && !weaken(s, cubes, at, i, 1) &&
        cubes->at[at].equal.at[i])
      weaken(s, cubes, at, i, -1);
}

void cubes_merge(cube_vec *cubes, struct solver *s) {
  for (size_t i = 0; i < cubes->n && !solver_stopped(s); i++) {
    struct cube before;
    do {
      cube_copy(&before, &cubes->at[i]);
      cube_grow(s, cubes, i);
      bool changed = before.n != cubes->at[i].n ||
                     (before.n > 0 && memcmp(before.cells.at, cubes->at[i].cells.at,
                                             before.n * before.width * sizeof *before.cells.at) != 0);
      cube_release(&before);
      if (!changed)
        break;
    } while (true);
    for (size_t k = cubes->n; k-- > 0;)
      if (k != i && cube_is_covered(s, &cubes->at[k], cubes->at, cubes->n, k)) {
        cube_release(&cubes->at[k]);
        cubes->n--;
        memmove(&cubes->at[k], &cubes->at[k + 1], (cubes->n - k) * sizeof *cubes->at);
        i -= k < i;
      }
  }
}
