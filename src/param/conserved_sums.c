/* Conserved sums and acceleration.

   Conserved sums are linear equations that hold in every initial state and are preserved by every transition. The
   equations of a start cube span the candidates. The candidates that a transition preserves (after it, they follow from
   all candidates before it) are a subspace, computed as a null space. The fixpoint of this restriction is inductive. */
#include "param/counter_graph.h"

#include "base/memory.h"

#include <string.h>

/* Rows of integers, all of the same width. */
struct matrix {
  uint32_t width, n;
  VEC(int64_t) cells;
};

static int64_t *matrix_row(struct matrix *m, uint32_t i) { return m->cells.at + (size_t)i * m->width; }

static int64_t *matrix_add(struct matrix *m) {
  vec_reserve(&m->cells, m->cells.n + m->width);
  memset(m->cells.at + m->cells.n, 0, m->width * sizeof(int64_t));
  m->cells.n += m->width;
  return matrix_row(m, m->n++);
}

static __int128 common(__int128 a, __int128 b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Stores the row divided by its gcd. Returns false if it still does not fit. */
static bool row_store(int64_t *to, const __int128 *from, uint32_t width) {
  __int128 by = 0;
  for (uint32_t i = 0; i < width; i++)
    by = common(by, from[i]);
  for (uint32_t i = 0; i < width; i++) {
    __int128 x = by > 1 ? from[i] / by : from[i];
    if (x > INT32_MAX || x < INT32_MIN) /* leaves room for later products */
      return false;
    to[i] = (int64_t)x;
  }
  return true;
}

/* to := p * to - q * from */
static bool row_reduce(int64_t *to, int64_t p, int64_t q, const int64_t *from, uint32_t width, __int128 *scratch) {
  for (uint32_t i = 0; i < width; i++)
    scratch[i] = (__int128)p * to[i] - (__int128)q * from[i];
  return row_store(to, scratch, width);
}

/* Reduced row echelon form: every pivot is the only entry of its column. lead[i] is the pivot column of row i. Returns
   false on overflow. */
static bool matrix_reduce(struct matrix *m, uint32_t *lead) {
  __int128 *scratch = memory_alloc(m->width * sizeof *scratch + 1);
  uint32_t done = 0;
  bool ok = true;
  for (uint32_t column = 0; column < m->width && done < m->n && ok; column++) {
    uint32_t pivot = done;
    while (pivot < m->n && matrix_row(m, pivot)[column] == 0)
      pivot++;
    if (pivot == m->n)
      continue;
    for (uint32_t i = 0; i < m->width; i++) {
      int64_t swap = matrix_row(m, pivot)[i];
      matrix_row(m, pivot)[i] = matrix_row(m, done)[i];
      matrix_row(m, done)[i] = swap;
    }
    int64_t *row = matrix_row(m, done);
    for (uint32_t i = 0; i < m->n && ok; i++)
      if (i != done && matrix_row(m, i)[column])
        ok = row_reduce(matrix_row(m, i), row[column], matrix_row(m, i)[column], row, m->width, scratch);
    lead[done++] = column;
  }
  memory_free(scratch);
  m->n = done;
  m->cells.n = (size_t)done * m->width;
  return ok;
}

/* The vectors x with m x = 0, as rows of out. */
static bool null_space(struct matrix *m, struct matrix *out) {
  uint32_t *lead = memory_alloc((m->n + (size_t)1) * sizeof *lead);
  __int128 *scratch = memory_alloc((m->width + (size_t)1) * sizeof *scratch);
  bool ok = matrix_reduce(m, lead);
  *out = (struct matrix){.width = m->width};
  for (uint32_t column = 0; column < m->width && ok; column++) {
    bool leads = false;
    for (uint32_t i = 0; i < m->n; i++)
      leads |= lead[i] == column;
    if (leads)
      continue;
    __int128 scale = 1; /* makes all other entries integers */
    for (uint32_t i = 0; i < m->n && ok; i++) {
      int64_t own = matrix_row(m, i)[lead[i]];
      scale = scale / common(scale, own) * (own < 0 ? -own : own);
      ok = scale <= INT32_MAX;
    }
    memset(scratch, 0, m->width * sizeof *scratch);
    scratch[column] = scale;
    for (uint32_t i = 0; i < m->n && ok; i++)
      scratch[lead[i]] = -scale * matrix_row(m, i)[column] / matrix_row(m, i)[lead[i]];
    int64_t *row = matrix_add(out);
    ok = ok && row_store(row, scratch, m->width);
  }
  memory_free(lead);
  memory_free(scratch);
  return ok;
}

/* Keeps the combinations of the rows whose images (images[i] belongs to row i) sum to zero. */
static bool restrict_to_kernel(struct matrix *rows, struct matrix *images) {
  struct matrix turned = {.width = rows->n}, kernel, kept = {.width = rows->width};
  __int128 *scratch = memory_alloc((rows->width + (size_t)1) * sizeof *scratch);
  for (uint32_t k = 0; k < images->width; k++) {
    int64_t *row = matrix_add(&turned);
    for (uint32_t i = 0; i < rows->n; i++)
      row[i] = matrix_row(images, i)[k];
  }
  bool ok = null_space(&turned, &kernel);
  for (uint32_t i = 0; i < kernel.n && ok; i++) {
    for (uint32_t k = 0; k < rows->width; k++) {
      scratch[k] = 0;
      for (uint32_t j = 0; j < rows->n; j++)
        scratch[k] += (__int128)matrix_row(&kernel, i)[j] * matrix_row(rows, j)[k];
    }
    int64_t *row = matrix_add(&kept);
    ok = row_store(row, scratch, rows->width);
  }
  memory_free(scratch);
  vec_release(&turned.cells);
  vec_release(&kernel.cells);
  vec_release(&rows->cells);
  *rows = kept;
  return ok;
}

static struct matrix equations_of(const struct cube *c) {
  struct matrix m = {.width = c->width};
  for (uint32_t i = 0; i < c->n; i++)
    if (c->equal.at[i])
      memcpy(matrix_add(&m), cube_row(c, i), c->width * sizeof(int64_t));
  return m;
}

/* The intersection of two spans: combinations of the first rows that are also combinations of the second. */
static bool intersect_spans(struct matrix *rows, struct matrix *others) {
  struct matrix both = {.width = rows->width}, images = {.width = rows->width};
  for (uint32_t i = 0; i < rows->n; i++) {
    memcpy(matrix_add(&both), matrix_row(rows, i), rows->width * sizeof(int64_t));
    memcpy(matrix_add(&images), matrix_row(rows, i), rows->width * sizeof(int64_t));
  }
  for (uint32_t i = 0; i < others->n; i++) { /* they take part in the cancellation but contribute a zero row */
    matrix_add(&both);
    memcpy(matrix_add(&images), matrix_row(others, i), rows->width * sizeof(int64_t));
  }
  bool ok = restrict_to_kernel(&both, &images);
  uint32_t *lead = memory_alloc((both.n + (size_t)1) * sizeof *lead);
  ok = ok && matrix_reduce(&both, lead); /* removes zero rows */
  memory_free(lead);
  vec_release(&images.cells);
  vec_release(&rows->cells);
  *rows = both;
  return ok;
}

/* The value of the form after a transition, as a form over the state before it. Returns false on overflow. */
static bool after(const struct counter_graph *g, const struct counter_transition *t, const int64_t *form,
                  int64_t *out) {
  for (uint32_t k = 0; k < t->guard.width; k++) {
    __int128 sum = k <= g->nparams ? form[k] : 0;
    for (uint32_t i = 0; i < g->ncounters; i++)
      sum += (__int128)form[1 + g->nparams + i] * t->update[i][k];
    if (sum > INT32_MAX || sum < INT32_MIN)
      return false;
    out[k] = (int64_t)sum;
  }
  return true;
}

/* Keeps the candidates that, after the transition, follow from all of them before it. *less: some were removed. */
static bool restrict_to_inductive(const struct counter_graph *g, const struct counter_transition *t,
                                  struct matrix *conserved, bool *less) {
  struct matrix rows = {.width = conserved->width}, images = {.width = t->guard.width};
  uint32_t n = conserved->n;
  bool ok = true;
  for (uint32_t i = 0; i < n && ok; i++) {
    memcpy(matrix_add(&rows), matrix_row(conserved, i), conserved->width * sizeof(int64_t));
    int64_t *image = matrix_add(&images);
    ok = after(g, t, matrix_row(conserved, i), image);
  }
  for (uint32_t i = 0; i < n && ok; i++) { /* they take part in the cancellation but contribute a zero row */
    matrix_add(&rows);
    memcpy(matrix_add(&images), matrix_row(conserved, i), conserved->width * sizeof(int64_t));
  }
  uint32_t *lead = memory_alloc((2 * (size_t)n + 1) * sizeof *lead);
  ok = ok && restrict_to_kernel(&rows, &images) && matrix_reduce(&rows, lead);
  memory_free(lead);
  vec_release(&images.cells);
  *less |= rows.n < n;
  vec_release(&conserved->cells);
  *conserved = rows;
  return ok;
}

void counter_graph_conserve(struct counter_graph *g) {
  struct matrix conserved = {.width = g->nvars + 1};
  bool ok = true, first = true, less = true;
  for (size_t l = 0; l < g->locations.n && ok; l++)
    for (size_t i = 0; i < g->locations.at[l].start.n && ok; i++) {
      struct matrix fixed = equations_of(&g->locations.at[l].start.at[i]);
      if (first) {
        conserved = fixed;
        first = false;
      } else {
        ok = intersect_spans(&conserved, &fixed);
        vec_release(&fixed.cells);
      }
    }
  while (ok && less && conserved.n) {
    less = false;
    for (size_t i = 0; i < g->transitions.n && ok && conserved.n; i++)
      ok = !(g->stop && *g->stop) && restrict_to_inductive(g, &g->transitions.at[i], &conserved, &less);
  }
  for (uint32_t i = 0; i < conserved.n && ok; i++)
    cube_add(&g->conserved, matrix_row(&conserved, i), true);
  vec_release(&conserved.cells);
}

/* ---- acceleration ---- */

/* Does the transition add a constant vector? It is stored in `by`. */
static bool is_translation(const struct counter_graph *g, const struct counter_transition *t, int64_t *by) {
  bool moves = false;
  if (t->from != t->to || t->namounts > 0)
    return false;
  for (uint32_t i = 0; i < g->ncounters; i++) {
    for (uint32_t k = 1; k < t->guard.width; k++)
      if (t->update[i][k] != (k == 1 + g->nparams + i))
        return false;
    by[i] = t->update[i][0];
    moves |= by[i] != 0;
  }
  return moves;
}

void transition_accelerate(const struct counter_graph *g, const struct cube *guard, const int64_t *by,
                           struct counter_transition *out, struct arena *arena) {
  uint32_t width = g->nvars + 2, times = g->nvars; /* the new amount */
  const int64_t **last = memory_alloc((g->nvars + (size_t)1) * sizeof *last);
  int64_t *row = memory_alloc(width * sizeof *row);
  out->namounts = 1;
  out->repeats = true;
  out->update = arena_array(arena, g->ncounters + (size_t)1, sizeof *out->update);
  for (uint32_t v = 0; v < g->nvars; v++) { /* x + (times - 1) * by */
    int64_t *image = arena_array(arena, width, sizeof *image);
    image[1 + v] = 1;
    if (v >= g->nparams) {
      image[0] = -by[v - g->nparams];
      image[1 + times] = by[v - g->nparams];
    }
    last[v] = image;
  }
  for (uint32_t i = 0; i < g->ncounters; i++) {
    out->update[i] = arena_array(arena, width, sizeof *out->update[i]);
    out->update[i][1 + g->nparams + i] = 1;
    out->update[i][1 + times] = by[i];
  }
  cube_copy(&out->guard, guard);
  cube_preimage(&out->guard, last, g->nvars, width);
  struct cube at_first;
  cube_copy(&at_first, guard);
  cube_resize(&at_first, g->nvars + 1);
  cube_add_cube(&out->guard, &at_first);
  cube_release(&at_first);
  row[0] = -1;
  row[1 + times] = 1;
  cube_add(&out->guard, row, false);
  memory_free(row);
  memory_free(last);
}

void counter_graph_accelerate(struct counter_graph *g) {
  int64_t *by = memory_alloc((g->ncounters + (size_t)1) * sizeof *by);
  for (size_t i = 0, n = g->transitions.n; i < n; i++) {
    struct counter_transition t = g->transitions.at[i];
    struct counter_transition more = {.move = t.move, .from = t.from, .to = t.to};
    if (!is_translation(g, &t, by))
      continue;
    transition_accelerate(g, &t.guard, by, &more, &g->arena);
    if (more.guard.overflow)
      cube_release(&more.guard);
    else
      vec_push(&g->transitions, more);
  }
  memory_free(by);
}
