#include "param/cube_projection.h"

#include <string.h>

/* Does the constraint follow from the others? An equation counts as two inequalities. */
static bool is_implied(const struct cube *c, uint32_t i, struct solver *known) {
  if (solver_stopped(known)) /* not known */
    return false;
  int64_t *row = memory_resize(NULL, c->width * sizeof *row);
  bool yes = true;
  solver_push(known);
  for (uint32_t k = 0; k < c->n; k++)
    if (k != i)
      solver_add_row(known, cube_row(c, k), c->width, c->equal.at[k], NULL);
  for (int side = 0; side < (c->equal.at[i] ? 2 : 1) && yes; side++) {
    for (uint32_t k = 0; k < c->width; k++)
      row[k] = side ? cube_row(c, i)[k] : -cube_row(c, i)[k];
    row[0]--;
    solver_push(known);
    solver_add_row(known, row, c->width, false, NULL);
    yes = solver_check(known) == ANSWER_NO;
    solver_pop(known);
  }
  solver_pop(known);
  memory_free(row);
  return yes;
}

void cube_simplify(struct cube *c, struct solver *known) {
  for (uint32_t i = c->n; i-- > 0;)
    if (!c->equal.at[i] && is_implied(c, i, known))
      cube_drop(c, i);
}

void cube_remove_implied(struct cube *c, struct solver *known) {
  for (uint32_t i = c->n; i-- > 0;)
    if (c->equal.at[i] && is_implied(c, i, known))
      cube_drop(c, i);
  cube_simplify(c, known);
}

bool cube_is_covered(struct solver *s, const struct cube *c, const struct cube *by, size_t n, size_t but) {
  if (solver_stopped(s)) /* not known */
    return false;
  uint32_t literal = solver_literals(s, 1);
  solver_push(s);
  solver_add_clause(s, &literal, 1);
  if (c)
    solver_add_cube(s, c, NULL);
  for (size_t i = 0; i < n; i++)
    if (i != but)
      solver_add_excluded(s, literal, &by[i], NULL);
  bool all = solver_check(s) == ANSWER_NO;
  solver_pop(s);
  return all;
}

void elimination_release(elimination_vec *v) {
  for (size_t i = 0; i < v->n; i++)
    cube_release(&v->at[i].before);
  vec_release(v);
}

/* An upper bound for the number of constraints that the elimination of the variable adds. */
static int64_t elimination_cost(const struct cube *c, uint32_t variable) {
  int64_t low = 0, high = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    int64_t x = cube_row(c, i)[variable + 1];
    if (c->equal.at[i] && x)
      return x == 1 || x == -1 ? -2 * (int64_t)c->n : -1; /* an equation, preferably without division */
    low += x > 0;
    high += x < 0;
  }
  return low * high - low - high;
}

static uint32_t cheapest(const struct cube *c, const bool *left) {
  uint32_t best = UINT32_MAX;
  int64_t least = 0;
  for (uint32_t v = 0; v + 1 < c->width; v++) {
    if (!left[v])
      continue;
    int64_t now = elimination_cost(c, v);
    if (best == UINT32_MAX || now < least) {
      best = v;
      least = now;
    }
  }
  return best;
}

enum projection cube_project(struct cube *c, const bool *away, struct solver *known, elimination_vec *trail,
                             uint32_t most) {
  enum projection result = PROJECT_EXACT;
  bool *left = memory_alloc(c->width);
  memcpy(left, away, c->width - 1);
  for (uint32_t v; !c->empty && (v = cheapest(c, left)) != UINT32_MAX; left[v] = false) {
    if (elimination_cost(c, v) > 0)
      cube_simplify(c, known);
    if (trail) {
      struct elimination e = {.variable = v};
      cube_copy(&e.before, c);
      vec_push(trail, e);
    }
    if (!cube_eliminate(c, v))
      result = PROJECT_LARGER;
    if ((most && c->n > most) || solver_stopped(known)) {
      result = PROJECT_GAVE_UP;
      break;
    }
  }
  memory_free(left);
  return result;
}
