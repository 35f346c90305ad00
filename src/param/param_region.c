#include "param/param_region.h"

#include "base/memory.h"
#include "param/cube_projection.h"

#include <inttypes.h>
#include <string.h>

enum { CONSTRAINTS_MAX = 400 };

/* The path of a run, as constraints on its numbers: parameters, the initial counters, then the amounts of each step. */
struct run_path {
  const struct counter_graph *g;
  const struct counter_run *run;
  VEC(struct counter_transition) steps; /* with their own copies of the guards */
  VEC(int64_t) amounts;                 /* of the run, in order */
  uint32_t nvars;
  struct cube cube;
};

/* ---- from a run to its path ---- */

static bool location_has(const struct counter_graph *g, uint32_t location, const int64_t *controls) {
  const control_vec *all = &g->locations.at[location].controls;
  size_t size = g->system->ncontrols * sizeof *controls;
  for (size_t i = 0; i < all->n; i++)
    if (size == 0 || memcmp(all->at[i], controls, size) == 0)
      return true;
  return false;
}

static bool same_controls(const struct counter_graph *g, const struct counter_state *a, const struct counter_state *b) {
  return g->system->ncontrols == 0 || memcmp(a->controls, b->controls, g->system->ncontrols * sizeof *a->controls) == 0;
}

/* How many consecutive steps from the i-th on take the same move without changing the control. */
static int64_t same_moves(const struct run_path *w, size_t i) {
  const struct counter_step *steps = w->run->steps.at;
  const struct counter_state *start = i ? &steps[i - 1].after : &w->run->start;
  int64_t n = 0;
  while (i + (size_t)n < w->run->steps.n && steps[i + (size_t)n].move == steps[i].move &&
         same_controls(w->g, start, &steps[i + (size_t)n].after))
    n++;
  return n;
}

/* Does the transition have the effect of `times` steps of the run from the i-th on? */
static bool transition_matches(const struct run_path *w, const struct counter_transition *t, size_t i, int64_t times) {
  const struct counter_graph *g = w->g;
  const struct counter_step *step = &w->run->steps.at[i], *last = step + times - 1;
  const struct counter_state *now = i ? &step[-1].after : &w->run->start;
  if (t->move != step->move || !location_has(g, t->from, now->controls) ||
      !location_has(g, t->to, last->after.controls))
    return false;
  int64_t *point = memory_alloc(t->guard.width * sizeof *point);
  for (uint32_t k = 0; k < g->nparams; k++)
    point[k] = w->run->params[g->param[k]];
  memcpy(point + g->nparams, now->counters, g->ncounters * sizeof *point);
  memcpy(point + g->nvars, step->amounts, g->system->moves[t->move].namounts * sizeof *point);
  if (t->repeats)
    point[g->nvars + t->namounts - 1] = times;
  bool ok = cube_holds(&t->guard, point);
  for (uint32_t k = 0; k < g->ncounters && ok; k++) {
    __int128 after = t->update[k][0];
    for (uint32_t v = 1; v < t->guard.width; v++)
      after += (__int128)t->update[k][v] * point[v - 1];
    ok = after == last->after.counters[k];
  }
  memory_free(point);
  return ok;
}

/* How many consecutive steps from the i-th on are equal: the same move with the same amounts and the same effect. */
static int64_t alike(const struct run_path *w, size_t i) {
  const struct counter_step *steps = w->run->steps.at;
  size_t amounts = w->g->system->moves[steps[i].move].namounts * sizeof(int64_t);
  int64_t n = 1, most = same_moves(w, i);
  for (; n < most; n++) {
    const struct counter_step *s = &steps[i + (size_t)n];
    const int64_t *start = i ? steps[i - 1].after.counters : w->run->start.counters;
    bool same = memcmp(s->amounts, steps[i].amounts, amounts) == 0;
    for (uint32_t k = 0; k < w->g->ncounters && same; k++)
      same = s->after.counters[k] - s[-1].after.counters[k] == steps[i].after.counters[k] - start[k];
    if (!same)
      break;
  }
  return most > 0 ? n : 0;
}

/* The accelerated transition for one or more repetitions of step i of the run, with fixed amounts and fixed effect. */
static void accelerate_step(const struct run_path *w, const struct counter_transition *t, size_t i, struct arena *arena,
                            struct counter_transition *out) {
  const struct counter_graph *g = w->g;
  const struct counter_step *step = &w->run->steps.at[i];
  const int64_t *start = i ? step[-1].after.counters : w->run->start.counters;
  const int64_t **images = arena_array(arena, t->guard.width, sizeof *images);
  int64_t *by = arena_array(arena, g->ncounters + (size_t)1, sizeof *by);
  struct cube guard, effect;
  for (uint32_t v = 0; v + 1 < t->guard.width; v++) {
    int64_t *image = arena_array(arena, g->nvars + (size_t)1, sizeof *image);
    image[v < g->nvars ? 1 + v : 0] = v < g->nvars ? 1 : step->amounts[v - g->nvars];
    images[v] = image;
  }
  cube_copy(&guard, &t->guard);
  cube_init(&effect, t->guard.width - 1);
  for (uint32_t k = 0; k < g->ncounters; k++) {
    int64_t *row = arena_copy(arena, t->update[k], t->guard.width * sizeof *row);
    by[k] = step->after.counters[k] - start[k];
    effect.overflow |= __builtin_sub_overflow(row[0], by[k], &row[0]);
    row[1 + g->nparams + k]--;
    cube_add(&effect, row, true);
  }
  cube_add_cube(&guard, &effect);
  cube_preimage(&guard, images, t->guard.width - 1, g->nvars + 1);
  *out = (struct counter_transition){.move = t->move, .from = t->from, .to = t->to};
  transition_accelerate(g, &guard, by, out, arena);
  cube_release(&effect);
  cube_release(&guard);
}

/* repeat: consecutive equal steps become one accelerated step. */
static bool find_steps(struct run_path *w, bool repeat, struct arena *arena) {
  const struct counter_graph *g = w->g;
  for (size_t i = 0; i < w->run->steps.n;) {
    const struct counter_transition *best = NULL, *single = NULL;
    int64_t times = same_moves(w, i), likes = repeat ? alike(w, i) : 0;
    for (uint32_t t = 0; t < g->transitions.n; t++) { /* accelerated transitions are more general */
      const struct counter_transition *x = &g->transitions.at[t];
      if (x->repeats ? times > 0 && transition_matches(w, x, i, times) : !single && transition_matches(w, x, i, 1))
        best = x;
      if (best && !best->repeats)
        single = best;
    }
    struct counter_transition step;
    if (!best)
      return false;
    if (!best->repeats && likes >= 2) {
      accelerate_step(w, single, i, arena, &step);
      times = likes;
    } else {
      step = *best;
      cube_copy(&step.guard, &best->guard);
      for (uint32_t k = 0; k < g->system->moves[best->move].namounts; k++)
        vec_push(&w->amounts, w->run->steps.at[i].amounts[k]);
    }
    vec_push(&w->steps, step);
    if (step.repeats)
      vec_push(&w->amounts, times);
    i += step.repeats ? (size_t)times : 1;
  }
  w->nvars = g->nvars + (uint32_t)w->amounts.n;
  return true;
}

/* ---- constraints of the path ---- */

static const struct cube *cube_with(const cube_vec *cubes, const int64_t *point) {
  for (size_t i = 0; i < cubes->n; i++)
    if (cube_holds(&cubes->at[i], point))
      return &cubes->at[i];
  return NULL;
}

struct path_walk { /* rows over all numbers of the path */
  struct run_path *w;
  uint32_t width;
  const int64_t **images; /* parameters, the current counters, the amounts of the step */
  int64_t **now;          /* by counter: its current value */
};

static int64_t *unit_row(struct path_walk *k, struct arena *arena, uint32_t variable) {
  int64_t *row = arena_array(arena, k->width, sizeof *row);
  row[1 + variable] = 1;
  return row;
}

static void add_constraints(struct path_walk *k, const struct cube *c) {
  struct cube here;
  cube_copy(&here, c);
  cube_preimage(&here, k->images, c->width - 1, k->width);
  cube_add_cube(&k->w->cube, &here);
  cube_release(&here);
}

static void take_step(struct path_walk *k, const struct counter_transition *t, uint32_t first_amount,
                      struct arena *arena) {
  const struct counter_graph *g = k->w->g;
  for (uint32_t i = 0; i < t->namounts; i++)
    k->images[g->nvars + i] = unit_row(k, arena, first_amount + i);
  add_constraints(k, &t->guard);
  int64_t **next = arena_array(arena, g->ncounters + (size_t)1, sizeof *next);
  for (uint32_t i = 0; i < g->ncounters; i++) {
    next[i] = arena_array(arena, k->width, sizeof *next[i]);
    next[i][0] = t->update[i][0];
    for (uint32_t v = 0; v + 1 < t->guard.width; v++)
      if (t->update[i][v + 1] && !row_add_times(next[i], k->images[v], k->width, t->update[i][v + 1]))
        k->w->cube.overflow = true;
  }
  for (uint32_t i = 0; i < g->ncounters; i++)
    k->images[g->nparams + i] = k->now[i] = next[i];
}

static void point_at(const struct run_path *w, const struct counter_state *s, int64_t *point) {
  for (uint32_t i = 0; i < w->g->nparams; i++)
    point[i] = w->run->params[w->g->param[i]];
  memcpy(point + w->g->nparams, s->counters, w->g->ncounters * sizeof *point);
}

static const struct cube *start_of(const struct run_path *w, const int64_t *point) {
  for (uint32_t l = 0; l < w->g->locations.n; l++) {
    const struct cube *c = cube_with(&w->g->locations.at[l].start, point);
    if (c && location_has(w->g, l, w->run->start.controls))
      return c;
  }
  return NULL;
}

static const struct cube *unsafe_of(const struct run_path *w, const struct counter_state *s, const int64_t *point) {
  for (uint32_t l = 0; l < w->g->locations.n; l++) {
    const struct cube *c = location_has(w->g, l, s->controls) ? cube_with(&w->g->locations.at[l].unsafe, point) : NULL;
    if (c)
      return c;
  }
  return NULL;
}

static bool find_constraints(struct run_path *w, struct arena *arena) {
  const struct counter_graph *g = w->g;
  uint32_t most = 0, amount = g->nvars;
  for (size_t i = 0; i < w->steps.n; i++)
    if (w->steps.at[i].namounts > most)
      most = w->steps.at[i].namounts;
  struct path_walk k = {.w = w, .width = w->nvars + 1};
  k.images = arena_array(arena, g->nvars + most + (size_t)1, sizeof *k.images);
  k.now = arena_array(arena, g->ncounters + (size_t)1, sizeof *k.now);
  int64_t *point = arena_array(arena, g->nvars + (size_t)1, sizeof *point);
  for (uint32_t v = 0; v < g->nvars; v++)
    k.images[v] = unit_row(&k, arena, v);
  cube_init(&w->cube, w->nvars);
  point_at(w, &w->run->start, point);
  const struct cube *condition = cube_with(&g->conditions, point), *start = start_of(w, point);
  if (!condition || !start)
    return false;
  add_constraints(&k, condition);
  add_constraints(&k, start);
  for (size_t i = 0; i < w->steps.n; i++) {
    take_step(&k, &w->steps.at[i], amount, arena);
    amount += w->steps.at[i].namounts;
  }
  const struct counter_state *end = w->run->steps.n ? &w->run->steps.at[w->run->steps.n - 1].after : &w->run->start;
  point_at(w, end, point);
  const struct cube *unsafe = unsafe_of(w, end, point);
  if (unsafe)
    add_constraints(&k, unsafe);
  return unsafe && !w->cube.overflow;
}

/* ---- the query that confirms a region ---- */

static void add_row(struct text *out, const int64_t *row, uint32_t width, const char *const *names) {
  text_addf(out, "(+ %s%" PRIu64 "%s", row[0] < 0 ? "(- " : "", row[0] < 0 ? 0 - (uint64_t)row[0] : (uint64_t)row[0],
            row[0] < 0 ? ")" : "");
  for (uint32_t i = 1; i < width; i++)
    if (row[i])
      text_addf(out, row[i] < 0 ? " (* (- %" PRIu64 ") %s)" : " (* %" PRIu64 " %s)",
                row[i] < 0 ? 0 - (uint64_t)row[i] : (uint64_t)row[i], names[i - 1]);
  text_add(out, " 0)");
}

/* A value for the variable, given those eliminated after it: by an equation, else the largest lower bound, else the
   smallest upper bound, else 0. This fails only where an equation needs a division; then the query is not "unsat", and
   the region is rejected. */
static void add_witness(struct text *out, const struct elimination *e, const char *const *names) {
  const struct cube *c = &e->before;
  uint32_t at = e->variable + 1;
  int sign = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    int64_t x = cube_row(c, i)[at];
    if (c->equal.at[i] && (x == 1 || x == -1)) {
      text_add(out, "(assert (= 0 ");
      add_row(out, cube_row(c, i), c->width, names);
      text_add(out, "))\n");
      return;
    }
    if (x > 0)
      sign = 1;
    else if (x < 0 && sign == 0)
      sign = -1;
  }
  if (sign == 0) {
    text_addf(out, "(assert (= 0 %s))\n", names[e->variable]);
    return;
  }
  struct text tight = {0};
  for (uint32_t i = 0; i < c->n; i++) {
    int64_t x = cube_row(c, i)[at];
    if (sign > 0 ? x <= 0 : x >= 0)
      continue;
    text_add(out, "(assert (<= 0 ");
    add_row(out, cube_row(c, i), c->width, names);
    text_add(out, "))\n");
    text_add(&tight, " (< ");
    add_row(&tight, cube_row(c, i), c->width, names);
    text_addf(&tight, " %" PRId64 ")", x < 0 ? -x : x);
  }
  text_addf(out, "(assert (or%s))\n", tight.at);
  text_release(&tight);
}

static void print_query(const struct run_path *w, const struct cube *region, const elimination_vec *trail,
                        struct text *out) {
  struct arena arena;
  arena_init(&arena);
  const char **names = arena_array(&arena, w->nvars + (size_t)1, sizeof *names),
             **columns = counter_graph_names(w->g, &arena);
  for (uint32_t i = 0; i < w->nvars; i++)
    names[i] = i < w->g->nvars ? columns[i] : arena_printf(&arena, "amount.%" PRIu32, i - w->g->nvars + 1);
  text_add(out, "; parameters for which the run that was told is none: there are no such, the "
                "answer is \"unsat\"\n"
                "(set-logic QF_LIA)\n");
  for (uint32_t i = 0; i < w->nvars; i++)
    text_addf(out, "(declare-fun %s () Int)\n", names[i]);
  text_add(out, "(assert ");
  cube_print(region, columns, out);
  text_add(out, ")\n; what the run does, from the parameters\n");
  for (size_t i = trail->n; i-- > 0;)
    add_witness(out, &trail->at[i], names);
  text_add(out, "; the start, the guards on its way, and the unsafe state\n(assert (not ");
  cube_print(&w->cube, names, out);
  text_add(out, "))\n(check-sat)\n");
  arena_release(&arena);
}

/* ---- the region ---- */

static void fix_variable(struct cube *c, uint32_t variable, int64_t x) {
  int64_t *row = memory_alloc(c->width * sizeof *row);
  row[0] = -x;
  row[1 + variable] = 1;
  cube_add(c, row, true);
  memory_free(row);
}

static void fix_numbers(const struct run_path *w, enum generality generality, struct cube *c) {
  for (size_t i = 0; i < w->amounts.n; i++)
    if (generality == REGION_POINT || (generality == REGION_NARROW && w->amounts.at[i] == 0))
      fix_variable(c, w->g->nvars + (uint32_t)i, w->amounts.at[i]);
  for (uint32_t i = 0; i < w->g->nvars && generality == REGION_POINT; i++)
    fix_variable(c, i, i < w->g->nparams ? w->run->params[w->g->param[i]] : w->run->start.counters[i - w->g->nparams]);
}

bool run_repeats(const struct counter_graph *g, const struct counter_run *run) {
  struct run_path w = {.g = g, .run = run};
  for (size_t i = 0; i < run->steps.n; i++)
    if (alike(&w, i) >= 2)
      return true;
  return false;
}

bool region_of_run(const struct counter_graph *g, const struct counter_run *run, const bool *kept,
                   enum generality generality, const volatile sig_atomic_t *stop, struct cube *out,
                   struct text *script) {
  struct run_path w = {.g = g, .run = run};
  struct arena arena;
  elimination_vec trail = {0};
  arena_init(&arena);
  cube_init(out, g->nvars);
  bool ok = find_steps(&w, generality == REGION_REPEATED, &arena) && find_constraints(&w, &arena);
  if (ok) {
    struct solver *solver = solver_new();
    bool *away = memory_alloc(w.nvars + (size_t)1);
    for (uint32_t i = 0; i < w.nvars; i++)
      away[i] = i >= g->nparams || !kept[i];
    solver_watch(solver, stop);
    solver_variables(solver, w.nvars);
    cube_release(out);
    cube_copy(out, &w.cube);
    fix_numbers(&w, generality, out);
    ok = cube_project(out, away, solver, &trail, CONSTRAINTS_MAX) == PROJECT_EXACT && !out->overflow && !out->empty;
    if (ok) {
      cube_resize(out, g->nvars);
      cube_simplify(out, solver);
      ok = !solver_stopped(solver);
    }
    if (ok) {
      print_query(&w, out, &trail, script);
    }
    memory_free(away);
    solver_free(solver);
  }
  elimination_release(&trail);
  for (size_t i = 0; i < w.steps.n; i++)
    cube_release(&w.steps.at[i].guard);
  vec_release(&w.steps);
  vec_release(&w.amounts);
  cube_release(&w.cube);
  arena_release(&arena);
  return ok;
}

/* ---- simplification ---- */

struct region_cover {
  struct solver *solver; /* asserts the assumptions */
  cube_vec *regions;
};

static void drop_covered(struct region_cover *t) {
  for (size_t i = t->regions->n; i-- > 0;)
    if (cube_is_covered(t->solver, &t->regions->at[i], t->regions->at, t->regions->n, i)) {
      cube_release(&t->regions->at[i]);
      t->regions->at[i] = t->regions->at[--t->regions->n];
    }
}

/* Drops redundant constraints; of an equation, possibly one side only. */
static void drop_implied(struct region_cover *t, size_t at) {
  struct cube *c = &t->regions->at[at];
  for (uint32_t i = c->n; i-- > 0;)
    for (int side = 0; side < 3; side++) { /* drop it, or one of the two sides of an equation */
      struct cube less;
      if (side > 0 && !c->equal.at[i])
        break;
      int64_t *row = memory_resize(NULL, c->width * sizeof *row);
      for (uint32_t v = 0; v < c->width; v++)
        row[v] = side == 1 ? cube_row(c, i)[v] : -cube_row(c, i)[v];
      cube_copy(&less, c);
      cube_drop(&less, i);
      if (side > 0)
        cube_add(&less, row, false);
      memory_free(row);
      bool same = cube_is_covered(t->solver, &less, t->regions->at, t->regions->n, SIZE_MAX);
      if (same) {
        cube_release(c);
        *c = less;
        break;
      }
      cube_release(&less);
    }
}

void regions_simplify(cube_vec *regions, const cube_vec *assuming, const volatile sig_atomic_t *stop) {
  if (regions->n == 0)
    return;
  struct region_cover t = {solver_new(), regions};
  solver_watch(t.solver, stop);
  solver_variables(t.solver, regions->at[0].width - 1);
  solver_add_any(t.solver, assuming->at, assuming->n, NULL);
  drop_covered(&t);
  for (size_t i = 0; i < regions->n; i++)
    drop_implied(&t, i);
  drop_covered(&t);
  solver_free(t.solver);
}

/* ---- printing ---- */

static void print_terms(const struct counter_graph *g, const int64_t *row, int sign, int64_t constant,
                        struct text *out) {
  const char *between = "";
  for (uint32_t i = 0; i < g->nparams; i++) {
    int64_t x = sign > 0 ? row[i + 1] : -row[i + 1];
    if (x <= 0)
      continue;
    const char *name = g->system->params[g->param[i]].name;
    if (x == 1)
      text_addf(out, "%s%s", between, name);
    else
      text_addf(out, "%s%" PRId64 " * %s", between, x, name);
    between = " + ";
  }
  if (!*between)
    text_addf(out, "%" PRId64, constant);
  else if (constant > 0)
    text_addf(out, " + %" PRId64, constant);
  else if (constant < 0)
    text_addf(out, " - %" PRId64, -constant);
}

/* The side of the first parameter comes first. A strict comparison is used where it makes the constant smaller. */
static void print_constraint(const struct counter_graph *g, const int64_t *row, bool equal, struct text *out) {
  uint32_t first = 1;
  while (first < g->nparams && row[first] == 0)
    first++;
  int sign = row[first] < 0 ? -1 : 1;
  int64_t constant = sign > 0 ? -row[0] : row[0]; /* moved to the other side */
  const char *relation = equal ? "==" : sign > 0 ? ">=" : "<=";
  if (!equal && sign > 0 && constant > 0) {
    relation = ">";
    constant--;
  } else if (!equal && sign < 0 && constant < 0) {
    relation = "<";
    constant++;
  }
  print_terms(g, row, sign, 0, out);
  text_addf(out, " %s ", relation);
  print_terms(g, row, -sign, constant, out);
}

void regions_print(const struct counter_graph *g, const cube_vec *regions, struct text *out) {
  if (regions->n == 0)
    text_add(out, "false");
  for (size_t i = 0; i < regions->n; i++) {
    const struct cube *c = &regions->at[i];
    bool brackets = regions->n > 1 && c->n > 1;
    text_addf(out, "%s%s", i ? " or " : "", brackets ? "(" : "");
    for (uint32_t k = 0; k < c->n; k++) {
      text_add(out, k ? " and " : "");
      print_constraint(g, cube_row(c, k), c->equal.at[k], out);
    }
    text_add(out, c->n == 0 ? "true" : brackets ? ")" : "");
  }
}

static void print_negation(const struct counter_graph *g, const int64_t *row, bool equal, const char **between,
                           struct text *out) {
  int64_t *turned = memory_resize(NULL, (g->nvars + (size_t)1) * sizeof *turned);
  for (int side = 0; side < (equal ? 2 : 1); side++) {
    for (uint32_t v = 0; v <= g->nvars; v++)
      turned[v] = side ? row[v] : -row[v];
    turned[0]--;
    text_add(out, *between);
    print_constraint(g, turned, false, out);
    *between = " or ";
  }
  memory_free(turned);
}

void regions_complement_print(const struct counter_graph *g, const cube_vec *regions, struct text *out) {
  if (regions->n == 0)
    text_add(out, "true");
  for (size_t i = 0; i < regions->n; i++) {
    const struct cube *c = &regions->at[i];
    const char *between = "";
    bool brackets = regions->n > 1 && (c->n > 1 || (c->n == 1 && c->equal.at[0]));
    text_addf(out, "%s%s", i ? " and " : "", brackets ? "(" : "");
    for (uint32_t k = 0; k < c->n; k++)
      print_negation(g, cube_row(c, k), c->equal.at[k], &between, out);
    text_add(out, c->n == 0 ? "false" : brackets ? ")" : "");
  }
}
