#include "symbolic/linear_cube.h"

#include <inttypes.h>
#include <string.h>

void cube_init(struct cube *c, uint32_t variables) { *c = (struct cube){.width = variables + 1}; }

void cube_release(struct cube *c) {
  vec_release(&c->cells);
  vec_release(&c->equal);
  c->n = 0;
}

void cube_copy(struct cube *to, const struct cube *from) {
  *to = (struct cube){.width = from->width, .n = from->n, .empty = from->empty, .overflow = from->overflow};
  vec_reserve(&to->cells, from->cells.n);
  vec_reserve(&to->equal, from->equal.n);
  if (from->n) {
    memcpy(to->cells.at, from->cells.at, from->cells.n * sizeof *to->cells.at);
    memcpy(to->equal.at, from->equal.at, from->equal.n * sizeof *to->equal.at);
  }
  to->cells.n = from->cells.n;
  to->equal.n = from->equal.n;
}

void cube_drop(struct cube *c, uint32_t i) {
  uint32_t last = c->n - 1;
  memmove(c->cells.at + (size_t)i * c->width, cube_row(c, last), c->width * sizeof(int64_t));
  c->equal.at[i] = c->equal.at[last];
  c->n = last;
  c->cells.n -= c->width;
  c->equal.n--;
}

/* ---- normalised rows ---- */

bool row_add_times(int64_t *row, const int64_t *more, uint32_t width, int64_t times) {
  for (uint32_t i = 0; i < width; i++) {
    __int128 sum = row[i] + (__int128)times * more[i];
    if (sum > INT64_MAX / 4 || sum < INT64_MIN / 4)
      return false;
    row[i] = (int64_t)sum;
  }
  return true;
}

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static int64_t floor_div(int64_t a, int64_t b) { /* b > 0 */
  return a / b - (a % b < 0);
}

/* Divides the row by the gcd of its coefficients. Returns false if the constraint is trivially false (*empty) or
   trivially true. */
static bool row_normal(int64_t *row, uint32_t width, bool equal, bool *empty) {
  uint64_t common = 0;
  for (uint32_t i = 1; i < width; i++)
    common = gcd(common, magnitude(row[i]));
  if (common == 0) {
    *empty |= equal ? row[0] != 0 : row[0] < 0;
    return false;
  }
  if (common > 1 && common <= INT64_MAX) {
    int64_t by = (int64_t)common;
    if (equal && row[0] % by != 0) {
      *empty = true;
      return false;
    }
    for (uint32_t i = 1; i < width; i++)
      row[i] /= by;
    row[0] = floor_div(row[0], by);
  }
  uint32_t first = 1;
  while (row[first] == 0)
    first++;
  bool turn = equal && row[first] < 0; /* normal form: the first coefficient of an equation is positive */
  for (uint32_t i = 0; turn && i < width; i++)
    row[i] = -row[i];
  return true;
}

/* 1 or -1 if the coefficients agree up to this factor, else 0. */
static int row_relation(const int64_t *a, const int64_t *b, uint32_t width) {
  bool same = true, opposite = true;
  for (uint32_t i = 1; i < width && (same || opposite); i++) {
    same &= a[i] == b[i];
    opposite &= a[i] == -b[i];
  }
  return same ? 1 : opposite ? -1 : 0;
}

static void push_row(struct cube *c, const int64_t *row, bool equal) {
  vec_reserve(&c->cells, c->cells.n + c->width);
  memcpy(c->cells.at + c->cells.n, row, c->width * sizeof *row);
  c->cells.n += c->width;
  vec_push(&c->equal, equal);
  c->n++;
}

/* The bounds of one linear form: low <= form <= high. */
struct linear_bounds {
  bool has_low, has_high;
  int64_t low, high;
};

static void bounds_meet(struct linear_bounds *b, int64_t constant, int sign, bool equal) {
  int64_t value = sign > 0 ? -constant : constant; /* sign * form + constant >= 0 */
  if ((sign > 0 || equal) && (!b->has_low || value > b->low)) {
    b->has_low = true;
    b->low = value;
  }
  if ((sign < 0 || equal) && (!b->has_high || value < b->high)) {
    b->has_high = true;
    b->high = value;
  }
}

/* Merges all constraints on one form into at most two, or into one equation. */
static void add_normal(struct cube *c, int64_t *row, bool equal) {
  struct linear_bounds b = {0};
  bounds_meet(&b, row[0], 1, equal);
  for (uint32_t i = c->n; i-- > 0;) {
    int sign = row_relation(row, cube_row(c, i), c->width);
    if (sign == 0)
      continue;
    bounds_meet(&b, cube_row(c, i)[0], sign, c->equal.at[i]);
    cube_drop(c, i);
  }
  c->empty |= b.has_low && b.has_high && b.low > b.high;
  bool single = b.has_low && b.has_high && b.low == b.high, empty = false;
  if (b.has_low) {
    row[0] = -b.low;
    if (single)
      row_normal(row, c->width, true, &empty);
    push_row(c, row, single);
  }
  if (b.has_high && !single) {
    for (uint32_t i = 1; i < c->width; i++)
      row[i] = -row[i];
    row[0] = b.high;
    push_row(c, row, false);
  }
}

void cube_add(struct cube *c, const int64_t *row, bool equal) {
  int64_t *copy = memory_resize(NULL, c->width * sizeof *copy);
  memcpy(copy, row, c->width * sizeof *copy);
  for (uint32_t i = 0; i < c->width; i++)
    c->overflow |= row[i] == INT64_MIN;
  if (!c->overflow && row_normal(copy, c->width, equal, &c->empty))
    add_normal(c, copy, equal);
  memory_free(copy);
}

void cube_add_cube(struct cube *c, const struct cube *more) {
  c->empty |= more->empty;
  c->overflow |= more->overflow;
  for (uint32_t i = 0; i < more->n; i++)
    cube_add(c, cube_row(more, i), more->equal.at[i]);
}

/* ---- changing the variables ---- */

void cube_resize(struct cube *c, uint32_t variables) {
  uint32_t width = variables + 1, kept = width < c->width ? width : c->width;
  VEC(int64_t) cells = {0};
  vec_reserve(&cells, (size_t)c->n * width);
  cells.n = (size_t)c->n * width;
  for (uint32_t i = 0; i < c->n; i++) {
    memset(cells.at + (size_t)i * width, 0, width * sizeof *cells.at);
    memcpy(cells.at + (size_t)i * width, cube_row(c, i), kept * sizeof *cells.at);
  }
  memory_free(c->cells.at);
  c->cells.at = cells.at;
  c->cells.n = cells.n;
  c->cells.cap = cells.cap;
  c->width = width;
}

static int64_t fit(struct cube *c, __int128 x) {
  if (x > INT64_MAX || x <= INT64_MIN) {
    c->overflow = true;
    return 0;
  }
  return (int64_t)x;
}

void cube_preimage(struct cube *c, const int64_t *const *images, uint32_t n, uint32_t width) {
  struct cube out;
  cube_init(&out, width - 1);
  out.empty = c->empty;
  out.overflow = c->overflow;
  int64_t *row = memory_resize(NULL, width * sizeof *row);
  for (uint32_t i = 0; i < c->n; i++) {
    const int64_t *old = cube_row(c, i);
    for (uint32_t k = 0; k < width; k++) {
      __int128 sum = k == 0 ? old[0] : 0;
      for (uint32_t v = 0; v < n; v++)
        if (old[v + 1])
          sum += (__int128)old[v + 1] * images[v][k];
      row[k] = fit(&out, sum);
    }
    cube_add(&out, row, c->equal.at[i]);
  }
  memory_free(row);
  cube_release(c);
  *c = out;
}

/* ---- elimination ---- */

/* p * a + q * b */
static void combine(struct cube *c, int64_t *row, int64_t p, const int64_t *a, int64_t q, const int64_t *b) {
  for (uint32_t i = 0; i < c->width; i++)
    row[i] = fit(c, (__int128)p * a[i] + (__int128)q * b[i]);
}

/* Substitutes an equation in which the variable occurs: the one with the smallest coefficient. */
static bool eliminate_by_equation(struct cube *c, uint32_t at, bool *exact) {
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < c->n; i++)
    if (c->equal.at[i] && cube_row(c, i)[at] &&
        (best == UINT32_MAX || magnitude(cube_row(c, i)[at]) < magnitude(cube_row(c, best)[at])))
      best = i;
  if (best == UINT32_MAX)
    return false;
  struct cube old = *c;
  cube_init(c, old.width - 1);
  c->empty = old.empty;
  c->overflow = old.overflow;
  const int64_t *equation = cube_row(&old, best);
  int64_t lead = equation[at], *row = memory_resize(NULL, c->width * sizeof *row);
  *exact = magnitude(lead) == 1; /* otherwise divisibility constraints are lost */
  for (uint32_t i = 0; i < old.n; i++) {
    const int64_t *from = cube_row(&old, i);
    if (i == best)
      continue;
    if (from[at])
      combine(c, row, lead < 0 ? -lead : lead, from, lead < 0 ? from[at] : -from[at], equation);
    else
      memcpy(row, from, c->width * sizeof *row);
    cube_add(c, row, old.equal.at[i]);
  }
  memory_free(row);
  cube_release(&old);
  return true;
}

/* There is always an integer between a lower bound with coefficient a and an upper bound with coefficient b if they are
   far enough apart (Pugh 1991, "The Omega test": the dark shadow). */
static bool leaves_room(const int64_t *row, uint32_t width, int64_t a, int64_t b) {
  for (uint32_t i = 1; i < width; i++)
    if (row[i])
      return false;
  return row[0] < 0 || row[0] >= (__int128)(a - 1) * (b - 1);
}

bool cube_eliminate(struct cube *c, uint32_t variable) {
  uint32_t at = variable + 1;
  bool exact = true;
  if (eliminate_by_equation(c, at, &exact))
    return exact;
  struct cube old = *c;
  cube_init(c, old.width - 1);
  c->empty = old.empty;
  c->overflow = old.overflow;
  int64_t *row = memory_resize(NULL, c->width * sizeof *row);
  for (uint32_t i = 0; i < old.n; i++) {
    const int64_t *low = cube_row(&old, i);
    if (low[at] == 0)
      cube_add(c, low, old.equal.at[i]);
    for (uint32_t k = 0; low[at] > 0 && k < old.n; k++) {
      const int64_t *high = cube_row(&old, k);
      if (high[at] >= 0)
        continue;
      combine(c, row, -high[at], low, low[at], high);
      exact &= low[at] == 1 || high[at] == -1 || leaves_room(row, c->width, low[at], -high[at]);
      cube_add(c, row, false);
    }
  }
  memory_free(row);
  cube_release(&old);
  return exact;
}

/* ---- queries ---- */

bool cube_holds(const struct cube *c, const int64_t *point) {
  if (c->empty)
    return false;
  for (uint32_t i = 0; i < c->n; i++) {
    const int64_t *row = cube_row(c, i);
    __int128 sum = row[0];
    for (uint32_t v = 1; v < c->width; v++)
      sum += (__int128)row[v] * point[v - 1];
    if (c->equal.at[i] ? sum != 0 : sum < 0)
      return false;
  }
  return true;
}

/* Is the constraint implied by one of the cube? */
static bool row_implied(const struct cube *c, const int64_t *row, bool equal) {
  for (uint32_t i = 0; i < c->n; i++) {
    const int64_t *one = cube_row(c, i);
    int same = row_relation(one, row, c->width);
    if (same == 0 || (!c->equal.at[i] && (equal || same < 0)))
      continue;
    if (c->equal.at[i] && equal ? row[0] == same * one[0] : row[0] >= same * one[0])
      return true;
  }
  return false;
}

bool cube_implies(const struct cube *a, const struct cube *b) {
  if (a->overflow || b->overflow || a->width != b->width)
    return false;
  for (uint32_t i = 0; i < b->n; i++)
    if (!row_implied(a, cube_row(b, i), b->equal.at[i]))
      return false;
  return true;
}

bool cube_same_shape(const struct cube *a, const struct cube *b, int64_t *drift) {
  if (a->n != b->n || a->width != b->width)
    return false;
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t k = 0;
    while (k < b->n && (a->equal.at[i] != b->equal.at[k] ||
                        memcmp(cube_row(a, i) + 1, cube_row(b, k) + 1, (a->width - 1) * sizeof(int64_t)) != 0))
      k++;
    if (k == b->n || __builtin_sub_overflow(cube_row(b, k)[0], cube_row(a, i)[0], &drift[i]))
      return false;
  }
  return true;
}

static void number_print(int64_t x, struct text *out) {
  if (x < 0)
    text_addf(out, "(- %" PRIu64 ")", 0 - (uint64_t)x);
  else
    text_addf(out, "%" PRId64, x);
}

/* Prints one side of a constraint: positive coefficients go to one side, the others and the constant to the other. */
static void side_print(const int64_t *row, uint32_t width, int sign, const char *const *names, struct text *out) {
  int64_t constant = sign > 0 ? 0 : -row[0];
  uint32_t parts = constant != 0;
  for (uint32_t i = 1; i < width; i++)
    parts += sign > 0 ? row[i] > 0 : row[i] < 0;
  const char *between = parts > 1 ? "(+ " : "";
  for (uint32_t i = 1; i < width; i++) {
    if (sign > 0 ? row[i] <= 0 : row[i] >= 0)
      continue;
    text_add(out, between);
    if (row[i] == sign)
      text_add(out, names[i - 1]);
    else
      text_addf(out, "(* %" PRIu64 " %s)", magnitude(row[i]), names[i - 1]);
    between = " ";
  }
  if (constant || parts == 0) {
    text_add(out, between);
    number_print(constant, out);
  }
  if (parts > 1)
    text_add(out, ")");
}

void cube_print(const struct cube *c, const char *const *names, struct text *out) {
  if (c->empty) {
    text_add(out, "false");
    return;
  }
  text_add(out, "(and true");
  for (uint32_t i = 0; i < c->n; i++) {
    text_add(out, c->equal.at[i] ? " (= " : " (>= ");
    side_print(cube_row(c, i), c->width, 1, names, out);
    text_add(out, " ");
    side_print(cube_row(c, i), c->width, -1, names, out);
    text_add(out, ")");
  }
  text_add(out, ")");
}
