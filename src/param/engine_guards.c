/* Guard abstraction: backward search over sets that are described by the comparisons of the guards and by lower bounds
   of counters. For automata whose shared variables are reset, where the exact search (engine_backward.c) counts
   forever.

   A set is a location, some comparisons (each one of a guard or of the unsafe states, or its negation) and a lower
   bound for each counter. Its predecessors by a transition are computed exactly; what can be expressed in this way is
   kept of them, the rest is dropped. There are finitely many comparisons, and vectors of lower bounds have no infinite
   antichains (Dickson), so the search ends: the abstract system is well-structured (Abdulla, Cerans, Jonsson, Tsay
   1996; for threshold automata Eichler, Jacobs, Lazic, Weissenbacher, TACO 2026). If it ends without meeting an initial
   state, the complement of all sets is an inductive invariant. Sets that conserved sums exclude are dropped.

   If an initial state is met, the abstraction is refined: comparisons whose constant differs by at most `slack` are
   kept, too. */
#include "param/engine.h"

#include "base/memory.h"
#include "symbolic/solver.h"

#include <inttypes.h>
#include <string.h>

enum { LITERALS_MAX = 512, SETS_MAX = 20000, SLACK_MAX = 3, WORDS = LITERALS_MAX / 64, PROGRESS_STEP = 50 };

struct guard_literal { /* row >= 0, as normalised by a cube */
  const int64_t *row;
};

struct guarded_set {
  uint32_t location;
  uint32_t depth;
  bool covered; /* by a larger set that was found later */
  int64_t *bounds;
  uint64_t literals[WORDS];
};

struct guard_search {
  const struct counter_graph *g;
  const struct engine_watch *watch;
  struct engine_result *out;
  struct arena arena;
  struct solver *facts;
  VEC(struct guard_literal) literals;
  VEC(struct guarded_set) sets;
  int64_t slack;
  uint32_t depth;
  bool gave_up, too_many;
};

static bool guards_stopped(const struct guard_search *s) {
  return s->gave_up || (s->watch && s->watch->stop && *s->watch->stop);
}

/* ---- literals ---- */

/* The counter of which the row is a lower bound, UINT32_MAX: it is none. */
static uint32_t bounded_counter(const struct guard_search *s, const int64_t *row) {
  uint32_t found = UINT32_MAX;
  for (uint32_t i = 0; i < s->g->nvars; i++) {
    if (row[1 + i] == 0)
      continue;
    if (found != UINT32_MAX || i < s->g->nparams || row[1 + i] != 1)
      return UINT32_MAX;
    found = i - s->g->nparams;
  }
  return found;
}

static bool same_coefficients(const struct guard_search *s, const int64_t *a, const int64_t *b) {
  return !memcmp(a + 1, b + 1, s->g->nvars * sizeof *a);
}

static bool reads_params_only(const struct guard_search *s, const int64_t *row) {
  for (uint32_t i = s->g->nparams; i < s->g->nvars; i++)
    if (row[1 + i])
      return false;
  return true;
}

static void add_literal(struct guard_search *s, const int64_t *row) {
  if (bounded_counter(s, row) != UINT32_MAX || reads_params_only(s, row))
    return;
  for (size_t i = 0; i < s->literals.n; i++)
    if (same_coefficients(s, s->literals.at[i].row, row) && s->literals.at[i].row[0] == row[0])
      return;
  if (s->literals.n == LITERALS_MAX) {
    s->too_many = true;
    return;
  }
  int64_t *copy = arena_copy(&s->arena, row, (s->g->nvars + (size_t)1) * sizeof *copy);
  vec_push(&s->literals, ((struct guard_literal){copy}));
}

/* +row + by, -row - 1 + by: the comparison and its negation. */
static void add_both(struct guard_search *s, const int64_t *row, int64_t by) {
  struct cube c;
  int64_t *copy = memory_alloc((s->g->nvars + (size_t)1) * sizeof *copy);
  for (int side = 0; side < 2; side++) {
    for (uint32_t i = 0; i <= s->g->nvars; i++)
      copy[i] = side ? -row[i] : row[i];
    copy[0] += by - side;
    cube_init(&c, s->g->nvars);
    cube_add(&c, copy, false);
    for (uint32_t i = 0; i < c.n && !c.overflow; i++)
      add_literal(s, cube_row(&c, i));
    cube_release(&c);
  }
  memory_free(copy);
}

static void add_literals_of(struct guard_search *s, const struct cube *c) {
  for (uint32_t i = 0; i < c->n; i++)
    for (int64_t by = 0; by <= s->slack; by++) {
      add_both(s, cube_row(c, i), by);
      if (c->equal.at[i])
        add_both(s, cube_row(c, i), by - 1);
    }
}

static bool collect_literals(struct guard_search *s) {
  s->literals.n = 0;
  s->too_many = false;
  for (size_t i = 0; i < s->g->transitions.n; i++) {
    const struct counter_transition *t = &s->g->transitions.at[i];
    if (t->repeats)
      continue;
    if (t->namounts)
      return false;
    add_literals_of(s, &t->guard);
  }
  for (size_t l = 0; l < s->g->locations.n; l++)
    for (size_t i = 0; i < s->g->locations.at[l].unsafe.n; i++)
      add_literals_of(s, &s->g->locations.at[l].unsafe.at[i]);
  return !s->too_many;
}

/* ---- sets and cubes ---- */

static void add_bound(const struct guard_search *s, uint32_t counter, int64_t bound, int64_t *row, struct cube *c) {
  memset(row, 0, (s->g->nvars + (size_t)1) * sizeof *row);
  row[0] = -bound;
  row[1 + s->g->nparams + counter] = 1;
  cube_add(c, row, false);
}

static void cube_of(const struct guard_search *s, const struct guarded_set *set, struct cube *c) {
  int64_t *row = memory_alloc((s->g->nvars + (size_t)1) * sizeof *row);
  cube_init(c, s->g->nvars);
  for (uint32_t i = 0; i < s->g->ncounters; i++)
    if (set->bounds[i] > 0)
      add_bound(s, i, set->bounds[i], row, c);
  for (size_t i = 0; i < s->literals.n; i++)
    if (set->literals[i / 64] >> (i % 64) & 1)
      cube_add(c, s->literals.at[i].row, false);
  memory_free(row);
}

/* Adds what row >= 0 says and can be expressed. */
static void abstract_row(const struct guard_search *s, const int64_t *row, struct guarded_set *out) {
  uint32_t counter = bounded_counter(s, row);
  size_t best = SIZE_MAX;
  if (counter != UINT32_MAX) {
    if (-row[0] > out->bounds[counter])
      out->bounds[counter] = -row[0];
    return;
  }
  for (size_t i = 0; i < s->literals.n; i++) {
    const int64_t *other = s->literals.at[i].row;
    if (same_coefficients(s, other, row) && other[0] >= row[0] &&
        (best == SIZE_MAX || other[0] < s->literals.at[best].row[0]))
      best = i;
  }
  if (best != SIZE_MAX)
    out->literals[best / 64] |= (uint64_t)1 << (best % 64);
}

static void abstract_cube(struct guard_search *s, const struct cube *c, struct guarded_set *out) {
  int64_t *negated = memory_alloc((s->g->nvars + (size_t)1) * sizeof *negated);
  for (uint32_t i = 0; i < c->n; i++) {
    abstract_row(s, cube_row(c, i), out);
    for (uint32_t v = 0; v <= s->g->nvars; v++)
      negated[v] = -cube_row(c, i)[v];
    if (c->equal.at[i])
      abstract_row(s, negated, out);
  }
  memory_free(negated);
}

static bool covers(const struct guard_search *s, const struct guarded_set *a, const struct guarded_set *b) {
  if (a->location != b->location)
    return false;
  for (size_t i = 0; i < WORDS; i++)
    if (a->literals[i] & ~b->literals[i])
      return false;
  for (uint32_t i = 0; i < s->g->ncounters; i++)
    if (a->bounds[i] > b->bounds[i])
      return false;
  return true;
}

static bool is_possible(struct guard_search *s, const struct cube *c, const struct cube *also) {
  if (c->empty)
    return false;
  solver_push(s->facts);
  solver_add_cube(s->facts, c, NULL);
  if (also)
    solver_add_cube(s->facts, also, NULL);
  enum answer answer = solver_check(s->facts);
  solver_pop(s->facts);
  s->gave_up |= answer == ANSWER_UNKNOWN;
  return answer != ANSWER_NO;
}

static bool meets_start(struct guard_search *s, const struct guarded_set *set) {
  const cube_vec *start = &s->g->locations.at[set->location].start;
  struct cube c;
  bool met = false;
  if (!start->n)
    return false;
  cube_of(s, set, &c);
  for (size_t i = 0; i < start->n && !met; i++)
    met = is_possible(s, &c, &start->at[i]);
  cube_release(&c);
  return met;
}

/* Adds the abstraction of the cube, unless it is covered or impossible. False: it meets an initial state. */
static bool add_set(struct guard_search *s, const struct cube *exact, uint32_t location, uint32_t depth) {
  struct guarded_set set = {.location = location, .depth = depth};
  if (exact->overflow) {
    s->gave_up = true;
    return true;
  }
  if (exact->empty)
    return true;
  set.bounds = arena_array(&s->arena, s->g->ncounters + (size_t)1, sizeof *set.bounds);
  abstract_cube(s, exact, &set);
  for (size_t i = 0; i < s->sets.n; i++)
    if (!s->sets.at[i].covered && covers(s, &s->sets.at[i], &set))
      return true;
  if (!is_possible(s, exact, NULL))
    return true;
  for (size_t i = 0; i < s->sets.n; i++)
    if (!s->sets.at[i].covered && covers(s, &set, &s->sets.at[i]))
      s->sets.at[i].covered = true;
  vec_push(&s->sets, set);
  if (s->sets.n > SETS_MAX)
    s->gave_up = true;
  return !meets_start(s, &set);
}

/* ---- search ---- */

static void preimage(const struct guard_search *s, const struct guarded_set *set, const struct counter_transition *t,
                     struct cube *out) {
  const struct counter_graph *g = s->g;
  const int64_t **images = memory_alloc((g->nvars + (size_t)1) * sizeof *images);
  int64_t *same = memory_alloc((size_t)g->nparams * t->guard.width * sizeof *same + 1);
  memset(same, 0, (size_t)g->nparams * t->guard.width * sizeof *same);
  for (uint32_t i = 0; i < g->nparams; i++) {
    same[(size_t)i * t->guard.width + 1 + i] = 1;
    images[i] = same + (size_t)i * t->guard.width;
  }
  for (uint32_t i = 0; i < g->ncounters; i++)
    images[g->nparams + i] = t->update[i];
  cube_of(s, set, out);
  cube_preimage(out, images, g->nvars, t->guard.width);
  cube_add_cube(out, &t->guard);
  memory_free(images);
  memory_free(same);
}

/* False: an initial state was met. */
static bool find_fixpoint(struct guard_search *s) {
  const struct counter_graph *g = s->g;
  for (uint32_t l = 0; l < g->locations.n; l++)
    for (size_t i = 0; i < g->locations.at[l].unsafe.n; i++)
      if (!add_set(s, &g->locations.at[l].unsafe.at[i], l, 0))
        return false;
  for (size_t at = 0; at < s->sets.n && !guards_stopped(s); at++) {
    if (s->sets.at[at].covered)
      continue;
    s->depth = s->sets.at[at].depth;
    if (at % PROGRESS_STEP == 0)
      engine_progress(s->out, s->watch, "%zu sets up to %" PRIu32 " moves before the unsafe states", s->sets.n,
                      s->depth);
    for (uint32_t i = 0; i < g->transitions.n && !guards_stopped(s) && !s->sets.at[at].covered; i++) {
      const struct counter_transition *t = &g->transitions.at[i];
      struct cube c;
      if (t->to != s->sets.at[at].location || t->repeats)
        continue;
      preimage(s, &s->sets.at[at], t, &c);
      bool ok = add_set(s, &c, t->from, s->depth + 1);
      cube_release(&c);
      if (!ok)
        return false;
    }
  }
  return true;
}

static void store(struct guard_search *s) {
  const struct counter_graph *g = s->g;
  const char **names = counter_graph_names(g, &s->out->arena);
  size_t left = 0;
  s->out->kind = ENGINE_SAFE;
  s->out->depth = s->depth;
  s->out->invariant = arena_array(&s->out->arena, g->locations.n + (size_t)1, sizeof *s->out->invariant);
  for (uint32_t l = 0; l < g->locations.n; l++) {
    struct text term = {0};
    text_add(&term, "(and true");
    for (size_t i = 0; i < s->sets.n; i++) {
      struct cube c;
      if (s->sets.at[i].location != l || s->sets.at[i].covered)
        continue;
      cube_of(s, &s->sets.at[i], &c);
      text_add(&term, "\n        (not ");
      cube_print(&c, names, &term);
      text_add(&term, ")");
      cube_release(&c);
      left++;
    }
    text_add(&term, ")");
    s->out->invariant[l] = arena_strndup(&s->out->arena, term.at, term.n);
    text_release(&term);
  }
  engine_progress(s->out, s->watch, "a fixpoint of %zu sets, %" PRIu32 " moves before the unsafe states%s", left,
                  s->depth, s->slack ? ", refined" : "");
}

void engine_guards(const struct counter_graph *g, const struct engine_watch *watch, struct engine_result *out) {
  struct guard_search s = {.g = g, .watch = watch, .out = out};
  bool met = true, fits = true;
  arena_init(&s.arena);
  s.facts = solver_new();
  if (watch && watch->stop)
    solver_watch(s.facts, watch->stop);
  solver_variables(s.facts, g->nvars);
  solver_add_any(s.facts, g->conditions.at, g->conditions.n, NULL);
  solver_add_cube(s.facts, &g->naturals, NULL);
  solver_add_cube(s.facts, &g->conserved, NULL);
  for (; met && s.slack <= SLACK_MAX && fits && !guards_stopped(&s); s.slack++) {
    s.sets.n = 0;
    fits = collect_literals(&s);
    met = fits && !find_fixpoint(&s);
    if (fits && !met && !guards_stopped(&s)) {
      store(&s);
      break;
    }
  }
  if (!fits)
    engine_progress(out, watch, "not for this system: %s", s.too_many ? "too many comparisons" : "a move has amounts");
  else if (out->kind == ENGINE_UNDECIDED)
    engine_progress(out, watch, "gave up %" PRIu32 " moves before the unsafe states: %s", s.depth,
                    met ? "the guards are too coarse" : "too many sets, or the solver");
  solver_free(s.facts);
  vec_release(&s.literals);
  vec_release(&s.sets);
  arena_release(&s.arena);
}
