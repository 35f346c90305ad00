/* Backward reachability from the unsafe states: a breadth-first search over cubes.

   The predecessors of a cube by a transition are its preimage, with the amounts eliminated. Elimination is exact if the
   coefficients allow (symbolic/linear_cube.h). A cube that is covered by the cubes of its location is dropped. At the
   fixpoint, the negations of all cubes are an inductive invariant.

   Without widening the search may diverge: repeated transitions can shift the constants of a cube forever. If a cube
   has the shape of one it leads to, the constraints that become weaker are dropped; the others, and sums of two in
   which the drift cancels, are kept. A widened cube may be too large. A path from the start through it must therefore
   be confirmed by a run. If there is none, the search restarts and does not widen there. */
#include "param/engine.h"

#include "base/memory.h"
#include "param/cube_projection.h"
#include "param/path_run.h"

#include <inttypes.h>
#include <string.h>

enum { RESTARTS_MAX = 30, WIDEN_AFTER = 2, PROGRESS_EVERY = 50 };

#define NO_CUBE UINT32_MAX

struct backward_cube {
  struct cube cube;
  uint32_t location, depth;
  uint32_t next, by; /* the cube it leads to, and the transition; NO_CUBE: it is unsafe itself */
  bool exact;        /* neither it nor any cube on its path is an overapproximation */
};

struct widening_ban { /* cubes with this origin are not widened */
  uint32_t location, depth, by;
};

struct backward_search {
  const struct counter_graph *g;
  const struct engine_watch *watch;
  struct engine_result *out;
  struct solver *known; /* the facts; the literal of a location excludes the cubes found there */
  struct solver *facts;
  VEC(struct backward_cube) found; /* in breadth-first order */
  VEC(struct widening_ban) bans;
  bool inexact; /* some elimination was inexact */
  bool gave_up; /* the solver answered unknown, or numbers grew too large */
  uint32_t widened;
};

/* ---- queries ---- */

static struct solver *backward_solver_new(const struct counter_graph *g, const struct engine_watch *watch) {
  struct solver *s = solver_new();
  if (watch && watch->stop)
    solver_watch(s, watch->stop);
  solver_variables(s, g->nvars + counter_graph_most_amounts(g)); /* with amounts, which cube_simplify needs */
  solver_add_any(s, g->conditions.at, g->conditions.n, NULL);
  solver_add_cube(s, &g->naturals, NULL);
  solver_add_cube(s, &g->conserved, NULL);
  return s;
}

static bool possible(struct backward_search *b, struct solver *s, const struct cube *c, const struct cube *also) {
  solver_push(s);
  solver_add_cube(s, c, NULL);
  if (also)
    solver_add_cube(s, also, NULL);
  enum answer answer = solver_check(s);
  solver_pop(s);
  b->gave_up |= answer == ANSWER_UNKNOWN;
  return answer != ANSWER_NO;
}

/* Is the cube not covered by the cubes of its location so far? */
static bool is_new(struct backward_search *b, uint32_t location, const struct cube *c) {
  solver_push(b->known);
  solver_add_clause(b->known, &location, 1);
  solver_add_cube(b->known, c, NULL);
  enum answer answer = solver_check(b->known);
  solver_pop(b->known);
  b->gave_up |= answer == ANSWER_UNKNOWN;
  return answer != ANSWER_NO;
}

static bool intersects_start(struct backward_search *b, uint32_t location, const struct cube *c) {
  const cube_vec *start = &b->g->locations.at[location].start;
  for (size_t i = 0; i < start->n; i++)
    if (possible(b, b->facts, c, &start->at[i]))
      return true;
  return false;
}

/* ---- widening ---- */

static bool is_banned(const struct backward_search *b, const struct backward_cube *f) {
  for (size_t i = 0; i < b->bans.n; i++)
    if (b->bans.at[i].location == f->location && b->bans.at[i].depth == f->depth && b->bans.at[i].by == f->by)
      return true;
  return false;
}

/* A constraint, and by how much its constant decreases from one cube to the next. */
struct drifting_row {
  int64_t *row, by;
};

/* The constraints shared by a cube and all later ones with the same drift: constraints that stay or become stronger, as
   they are now; and for each pair of one that becomes stronger and one that becomes weaker, the sum in which the drift
   cancels. An equation counts as two inequalities. */
static void widen_rows(const struct cube *c, const int64_t *drift, struct cube *out) {
  VEC(struct drifting_row) all = {0};
  int64_t *rows = memory_alloc((size_t)c->n * 2 * c->width * sizeof *rows + 1), *next = rows;
  cube_init(out, c->width - 1);
  for (uint32_t i = 0; i < c->n; i++)
    for (int side = 0; side < (c->equal.at[i] && drift[i] ? 2 : 1); side++) {
      for (uint32_t v = 0; v < c->width; v++)
        next[v] = side ? -cube_row(c, i)[v] : cube_row(c, i)[v];
      vec_push(&all, ((struct drifting_row){next, side ? -drift[i] : drift[i]}));
      if (all.at[all.n - 1].by >= 0)
        cube_add(out, next, c->equal.at[i] && !drift[i]);
      next += c->width;
    }
  int64_t *sum = memory_alloc(c->width * sizeof *sum);
  for (size_t i = 0; i < all.n; i++)
    for (size_t k = 0; k < all.n && all.at[i].by > 0; k++) {
      if (all.at[k].by >= 0)
        continue;
      for (uint32_t v = 0; v < c->width; v++) {
        __int128 x = (__int128)-all.at[k].by * all.at[i].row[v] + (__int128)all.at[i].by * all.at[k].row[v];
        out->overflow |= x > INT64_MAX || x <= INT64_MIN;
        sum[v] = (int64_t)x;
      }
      if (!out->overflow)
        cube_add(out, sum, false);
    }
  memory_free(sum);
  memory_free(rows);
  vec_release(&all);
}

/* Widens the cube if it has the shape of a cube of the same location that it leads to. */
static void widen(struct backward_search *b, struct backward_cube *f) {
  int64_t *drift = memory_alloc((f->cube.n + (size_t)1) * sizeof *drift);
  uint32_t alike = 0;
  for (uint32_t at = f->next; at != NO_CUBE; at = b->found.at[at].next) {
    const struct backward_cube *old = &b->found.at[at];
    if (old->location != f->location || !cube_same_shape(&f->cube, &old->cube, drift))
      continue;
    if (++alike < WIDEN_AFTER)
      continue;
    struct cube wide;
    widen_rows(&f->cube, drift, &wide);
    if (wide.overflow || is_banned(b, f) || intersects_start(b, f->location, &wide)) {
      cube_release(&wide);
    } else {
      cube_release(&f->cube);
      f->cube = wide;
      f->exact = false;
      b->widened++;
    }
    break;
  }
  memory_free(drift);
}

/* ---- the search ---- */

/* Takes ownership of the cube. Returns false if it is new and intersects the initial states. */
static bool add(struct backward_search *b, struct backward_cube f) {
  b->gave_up |= f.cube.overflow;
  if (f.cube.empty || b->gave_up || !is_new(b, f.location, &f.cube)) {
    cube_release(&f.cube);
    return true;
  }
  cube_simplify(&f.cube, b->facts);
  widen(b, &f);
  solver_add_excluded(b->known, f.location, &f.cube, NULL);
  vec_push(&b->found, f);
  return !intersects_start(b, f.location, &f.cube);
}

static bool eliminate_amounts(struct backward_search *b, struct cube *c, uint32_t n) {
  bool *away = memory_alloc(c->width);
  memset(away + b->g->nvars, true, n);
  enum projection exact = cube_project(c, away, b->facts, NULL, 0);
  memory_free(away);
  if (!c->empty)
    cube_resize(c, b->g->nvars);
  return exact == PROJECT_EXACT;
}

static void before(struct backward_search *b, uint32_t next, uint32_t by, struct backward_cube *out) {
  const struct counter_graph *g = b->g;
  const struct counter_transition *t = &g->transitions.at[by];
  const struct backward_cube *f = &b->found.at[next];
  const int64_t **images = memory_alloc((g->nvars + (size_t)1) * sizeof *images);
  *out = (struct backward_cube){.location = t->from, .depth = f->depth + 1, .next = next, .by = by, .exact = f->exact};
  int64_t *same = memory_alloc((size_t)g->nparams * t->guard.width * sizeof *same + 1);
  for (uint32_t i = 0; i < g->nparams; i++) {
    same[(size_t)i * t->guard.width + 1 + i] = 1;
    images[i] = same + (size_t)i * t->guard.width;
  }
  for (uint32_t i = 0; i < g->ncounters; i++)
    images[g->nparams + i] = t->update[i];
  cube_copy(&out->cube, &f->cube);
  cube_preimage(&out->cube, images, g->nvars, t->guard.width);
  cube_add_cube(&out->cube, &t->guard);
  if (!eliminate_amounts(b, &out->cube, t->namounts)) {
    out->exact = false;
    b->inexact = true;
  }
  memory_free(images);
  memory_free(same);
}

enum backward_end { FIXPOINT, MET_START, GAVE_UP };

static enum backward_end search(struct backward_search *b) {
  const struct counter_graph *g = b->g;
  for (uint32_t l = 0; l < g->locations.n; l++)
    for (size_t i = 0; i < g->locations.at[l].unsafe.n; i++) {
      struct backward_cube f = {.location = l, .next = NO_CUBE, .by = NO_CUBE, .exact = true};
      cube_copy(&f.cube, &g->locations.at[l].unsafe.at[i]);
      if (!add(b, f))
        return MET_START;
    }
  for (uint32_t at = 0; at < b->found.n && !b->gave_up; at++) {
    uint32_t depth = b->found.at[at].depth;
    if (at % PROGRESS_EVERY == 0 || depth != b->out->depth) {
      b->out->depth = depth;
      engine_progress(b->out, b->watch, "%zu cubes up to %" PRIu32 " moves before the unsafe states", b->found.n,
                      depth);
    }
    for (uint32_t i = 0; i < g->transitions.n && !b->gave_up; i++) {
      struct backward_cube f;
      if (g->transitions.at[i].to != b->found.at[at].location)
        continue;
      before(b, at, i, &f);
      if (!add(b, f))
        return MET_START;
    }
  }
  return b->gave_up ? GAVE_UP : FIXPOINT;
}

/* ---- results ---- */

static void store_invariant(struct backward_search *b) {
  const struct counter_graph *g = b->g;
  const char **names = counter_graph_names(g, &b->out->arena);
  b->out->kind = ENGINE_SAFE;
  b->out->invariant = arena_array(&b->out->arena, g->locations.n + 1, sizeof *b->out->invariant);
  for (uint32_t l = 0; l < g->locations.n; l++) {
    struct text term = {0};
    text_add(&term, "(and true");
    for (size_t i = 0; i < b->found.n; i++)
      if (b->found.at[i].location == l) {
        text_add(&term, "\n        (not ");
        cube_print(&b->found.at[i].cube, names, &term);
        text_add(&term, ")");
      }
    text_add(&term, ")");
    b->out->invariant[l] = arena_strndup(&b->out->arena, term.at, term.n);
    text_release(&term);
  }
  engine_progress(b->out, b->watch, "a fixpoint of %zu cubes, %" PRIu32 " moves before the unsafe states%s", b->found.n,
                  b->out->depth, b->widened ? ", widened" : "");
}

/* The last cube intersects the initial states: searches for a run along its path. If there is none, the path is
   spurious, and the cube that caused it is not widened again. Returns false if no cube was widened. */
static bool store_run(struct backward_search *b) {
  VEC(uint32_t) path = {0};
  uint32_t last = (uint32_t)b->found.n - 1;
  for (uint32_t at = last; b->found.at[at].by != NO_CUBE; at = b->found.at[at].next)
    vec_push(&path, b->found.at[at].by);
  enum answer answer = path_find_run(b->g, path.at, (uint32_t)path.n, b->watch, &b->out->run);
  vec_release(&path);
  if (answer == ANSWER_YES) {
    b->out->kind = ENGINE_UNSAFE;
    engine_progress(b->out, b->watch, "a way of %" PRIu32 " moves, %zu cubes", b->found.at[last].depth, b->found.n);
    return true;
  }
  uint32_t spurious = NO_CUBE; /* the widened cube nearest to the unsafe states */
  for (uint32_t at = last; at != NO_CUBE; at = b->found.at[at].next)
    if (!b->found.at[at].exact)
      spurious = at;
  if (spurious == NO_CUBE || answer == ANSWER_UNKNOWN || b->bans.n == RESTARTS_MAX)
    return false;
  const struct backward_cube *f = &b->found.at[spurious];
  if (is_banned(b, f))
    return false; /* the path is spurious for another reason than widening */
  vec_push(&b->bans, ((struct widening_ban){f->location, f->depth, f->by}));
  return true;
}

static void begin(struct backward_search *b) {
  b->facts = backward_solver_new(b->g, b->watch);
  b->known = backward_solver_new(b->g, b->watch);
  solver_literals(b->known, (uint32_t)b->g->locations.n);
  b->widened = 0;
  b->gave_up = b->inexact = false;
}

static void end(struct backward_search *b) {
  for (size_t i = 0; i < b->found.n; i++)
    cube_release(&b->found.at[i].cube);
  vec_clear(&b->found);
  solver_free(b->known);
  solver_free(b->facts);
}

void engine_backward(const struct counter_graph *g, const struct engine_watch *watch, struct engine_result *out) {
  struct backward_search b = {.g = g, .watch = watch, .out = out};
  for (bool again = true; again;) {
    begin(&b);
    again = false;
    switch (search(&b)) {
    case FIXPOINT:
      store_invariant(&b);
      break;
    case MET_START:
      again = store_run(&b) && out->kind == ENGINE_UNDECIDED;
      if (!again && out->kind == ENGINE_UNDECIDED)
        engine_progress(out, watch, "gave up %" PRIu32 " moves before the unsafe states: %s", out->depth,
                        b.inexact ? "elimination was not exact" : "widened too far");
      break;
    case GAVE_UP:
      engine_progress(out, watch,
                      "gave up %" PRIu32 " moves before the unsafe states: numbers too large, or the solver",
                      out->depth);
      break;
    }
    end(&b);
  }
  vec_release(&b.found);
  vec_release(&b.bans);
}
