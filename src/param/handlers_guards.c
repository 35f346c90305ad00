/* From numbers of messages in a quorum to numbers of senders. A quorum with h_m messages m exists if and only if for
   each set T of messages there are enough senders,

     sum of h_m over T  <=  processes that have sent some message of T  +  Byzantine processes

   (Hall 1935: each sender gives at most one message to a quorum, and a Byzantine one may give any). The numbers in the
   quorum are projected away. */
#include "param/handlers_outcomes_internal.h"

#include "base/memory.h"
#include "param/cube_projection.h"

#include <string.h>

/* Columns of the result: parameters, Byzantine processes, senders of each set; then, to be projected away, the numbers
   in the quorum. */
struct sender_columns {
  uint32_t np, nsets, ngroup;
};
static uint32_t column_byzantine_at(const struct sender_columns *c) { return c->np; }
static uint32_t column_senders(const struct sender_columns *c, uint32_t set) { return c->np + 1 + set - 1; }
static uint32_t column_in_quorum(const struct sender_columns *c, uint32_t m) { return c->np + 1 + c->nsets + m; }
static uint32_t all_columns(const struct sender_columns *c) { return c->np + 1 + c->nsets + c->ngroup; }

/* What is known of these numbers: they are natural, more messages have no fewer senders, and there are no more senders
   than processes. */
static void add_known(struct outcome_search *x, const struct sender_columns *c, struct solver *s) {
  size_t width = all_columns(c) + (size_t)1;
  int64_t *row = memory_alloc(width * sizeof *row);
  solver_variables(s, all_columns(c));
  solver_add_any(s, x->h->b.params.base->conditions.at, x->h->b.params.base->conditions.n, NULL);
  for (uint32_t i = c->np; i < all_columns(c); i++) {
    memset(row, 0, width * sizeof *row);
    row[1 + i] = 1;
    solver_add_row(s, row, (uint32_t)width, x->h->byzantine == NULL && i == column_byzantine_at(c), NULL);
  }
  for (uint32_t set = 1; set <= c->nsets; set++)
    for (uint32_t m = 0; m < c->ngroup; m++) {
      uint32_t more = set | 1u << m;
      if (more == set)
        continue;
      memset(row, 0, width * sizeof *row); /* N(set) <= N(more) <= N(set) + N(m) */
      row[1 + column_senders(c, more)] = 1;
      row[1 + column_senders(c, set)] = -1;
      solver_add_row(s, row, (uint32_t)width, false, NULL);
      row[1 + column_senders(c, more)] = -1;
      row[1 + column_senders(c, set)] = 1;
      row[1 + column_senders(c, 1u << m)] += 1;
      solver_add_row(s, row, (uint32_t)width, false, NULL);
    }
  memset(row, 0, width * sizeof *row);
  memcpy(row, x->h->b.params.size, (c->np + (size_t)1) * sizeof *row);
  row[1 + column_byzantine_at(c)] = -1;
  if (c->nsets)
    row[1 + column_senders(c, c->nsets)] = -1;
  solver_add_row(s, row, (uint32_t)width, false, NULL);
  memory_free(row);
}

static void add_hall(const struct sender_columns *c, struct cube *out) {
  size_t width = all_columns(c) + (size_t)1;
  int64_t *row = memory_alloc(width * sizeof *row);
  for (uint32_t set = 1; set <= c->nsets; set++) {
    memset(row, 0, width * sizeof *row);
    row[1 + column_senders(c, set)] = 1;
    row[1 + column_byzantine_at(c)] = 1;
    for (uint32_t m = 0; m < c->ngroup; m++)
      if (set >> m & 1)
        row[1 + column_in_quorum(c, m)] = -1;
    cube_add(out, row, false);
  }
  memory_free(row);
}

/* Projects one leaf. False: it is impossible. */
static bool project_leaf(struct outcome_search *x, const struct sender_columns *c, const struct cube *leaf,
                         struct solver *known, struct cube *out, bool *larger) {
  size_t width = all_columns(c) + (size_t)1;
  int64_t *row = memory_alloc(width * sizeof *row);
  bool *away = memory_alloc(width);
  cube_init(out, all_columns(c));
  for (uint32_t i = 0; i < leaf->n; i++) {
    const int64_t *from = cube_row(leaf, i);
    memset(row, 0, width * sizeof *row);
    memcpy(row, from, (c->np + (size_t)1) * sizeof *row);
    memcpy(row + 1 + column_in_quorum(c, 0), from + 1 + c->np, c->ngroup * sizeof *row);
    cube_add(out, row, leaf->equal.at[i]);
  }
  add_hall(c, out);
  for (uint32_t m = 0; m < c->ngroup; m++)
    away[column_in_quorum(c, m)] = true;
  solver_push(known);
  solver_add_cube(known, out, NULL);
  bool possible = !out->empty && solver_check(known) != ANSWER_NO;
  solver_pop(known);
  if (possible && cube_project(out, away, known, NULL, 0) != PROJECT_EXACT)
    *larger = true;
  if (possible) {
    cube_remove_implied(out, known);
    cube_resize(out, c->np + 1 + c->nsets);
    if (out->overflow)
      outcome_refuse(x, x->action->at, "there are numbers beyond 64 bits");
  }
  memory_free(row);
  memory_free(away);
  return possible;
}

/* Is the cube within one of the others, so that it says nothing new? */
static bool is_covered(struct solver *known, const cube_vec *cubes, const struct cube *c) {
  for (size_t i = 0; i < cubes->n; i++)
    if (cube_is_covered(known, c, &cubes->at[i], 1, SIZE_MAX))
      return true;
  return false;
}

/* A guard without the columns that it does not read. */
static void guard_push(struct outcome_search *x, const struct sender_columns *c, const struct cube *cube,
                       sent_guard_vec *to) {
  struct sent_guard g = {.nsets = 0};
  uint32_t set_at[GROUP_SETS + 1];
  for (uint32_t set = 1; set <= c->nsets; set++) {
    bool read = false;
    for (uint32_t i = 0; i < cube->n; i++)
      read |= cube_row(cube, i)[1 + column_senders(c, set)] != 0;
    if (!read)
      continue;
    content_set contents = 0;
    for (uint32_t m = 0; m < c->ngroup; m++)
      if (set >> m & 1)
        contents |= (content_set)1 << x->group[m];
    set_at[g.nsets] = set;
    g.sets[g.nsets++] = contents;
  }
  cube_init(&g.cube, c->np + 1 + g.nsets);
  int64_t *row = memory_alloc((g.cube.width) * sizeof *row);
  for (uint32_t i = 0; i < cube->n; i++) {
    const int64_t *from = cube_row(cube, i);
    memcpy(row, from, (c->np + (size_t)2) * sizeof *row);
    for (uint32_t k = 0; k < g.nsets; k++)
      row[2 + c->np + k] = from[1 + column_senders(c, set_at[k])];
    cube_add(&g.cube, row, cube->equal.at[i]);
  }
  memory_free(row);
  vec_push(to, g);
}

/* The leaves of one outcome as guards. */
static void finish_outcome(struct outcome_search *x, const struct sender_columns *c, struct solver *known,
                           size_t outcome, sent_guard_vec *to) {
  cube_vec cubes = {0};
  bool larger = false;
  for (size_t i = 0; i < x->leaves.n && !x->failed; i++) {
    struct cube one;
    if (x->leaf_of.at[i] != outcome)
      continue;
    if (project_leaf(x, c, &x->leaves.at[i], known, &one, &larger) && !is_covered(known, &cubes, &one))
      vec_push(&cubes, one);
    else
      cube_release(&one);
    x->failed |= derive_stopped(&x->h->b);
  }
  if (outcome == LEAF_FAILS && cubes.n && !x->failed) {
    x->failed = true;
    derive_refuse(&x->h->b, x->failed_at, "this may fail: %s", x->failure);
  }
  if (!x->failed && to) {
    cubes_merge(&cubes, known);
    for (size_t i = 0; i < cubes.n; i++) {
      cube_remove_implied(&cubes.at[i], known);
      guard_push(x, c, &cubes.at[i], to);
    }
    x->out->larger |= larger && x->out->always == (outcome == LEAF_ENABLED);
  }
  cubes_release(&cubes);
}

/* A leaf that says only how large the quorum is. */
static void add_enabled(struct outcome_search *x) {
  struct cube c;
  int64_t *row = memory_alloc((search_ncolumns(x) + (size_t)1) * sizeof *row);
  cube_init(&c, search_ncolumns(x));
  for (uint32_t i = 0; i < x->ngroup; i++) {
    memset(row, 0, (search_ncolumns(x) + (size_t)1) * sizeof *row);
    row[1 + search_nparams(x) + i] = 1;
    cube_add(&c, row, false);
  }
  quorum_size_add(x, &c);
  memory_free(row);
  vec_push(&x->leaves, c);
  vec_push(&x->leaf_of, LEAF_ENABLED);
}

void finish_leaves(struct outcome_search *x) {
  struct sender_columns c = {search_nparams(x), (1u << x->ngroup) - 1, x->ngroup};
  struct solver *known = derive_solver(&x->h->b);
  add_known(x, &c, known);
  if (x->out->always)
    add_enabled(x);
  for (size_t i = 0; i < x->out->at.n && !x->failed; i++)
    finish_outcome(x, &c, known, i, &x->out->at.at[i].guards);
  finish_outcome(x, &c, known, LEAF_ENABLED, &x->out->enabled);
  finish_outcome(x, &c, known, LEAF_FAILS, NULL);
  for (size_t i = 0; i < x->leaves.n; i++)
    cube_release(&x->leaves.at[i]);
  vec_clear(&x->leaves);
  vec_clear(&x->leaf_of);
  solver_free(known);
}
