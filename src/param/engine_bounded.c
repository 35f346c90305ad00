/* Bounded search: all runs with a given number of moves as one query, with an integer variable for each counter after
   each move and a literal for each transition. */
#include "param/engine.h"

#include "base/memory.h"
#include "param/path_run.h"

#include <inttypes.h>
#include <string.h>

enum { REPEATS_MAX = 100000 };
#define ANY UINT32_MAX

struct unrolled_state {                 /* the variables of one state of the run and of the move that follows */
  uint32_t counters, location, amounts; /* the first variable of each */
  uint32_t chosen;                      /* the first of the literals, one per transition */
};

struct bounded_search {
  const struct counter_graph *g;
  struct solver *solver;
  uint32_t most_amounts;
  VEC(struct unrolled_state) states;
  uint32_t *map; /* scratch: from variables of a cube to variables of the solver */
};

static void map_columns(struct bounded_search *b, const struct unrolled_state *s) {
  const struct counter_graph *g = b->g;
  for (uint32_t i = 0; i < g->nparams; i++)
    b->map[i] = i; /* parameters are the solver's first variables */
  for (uint32_t i = 0; i < g->ncounters; i++)
    b->map[g->nparams + i] = s->counters + i;
  for (uint32_t i = 0; i < b->most_amounts; i++)
    b->map[g->nvars + i] = s->amounts + i;
}

static void add_state(struct bounded_search *b) {
  struct unrolled_state s = {solver_variables(b->solver, b->g->ncounters), solver_variables(b->solver, 1),
                             solver_variables(b->solver, b->most_amounts),
                             solver_literals(b->solver, (uint32_t)b->g->transitions.n)};
  vec_push(&b->states, s);
  map_columns(b, &s);
  solver_add_cube(b->solver, &b->g->naturals, b->map);
  solver_add_cube(b->solver, &b->g->conserved, b->map);
}

/* The literal implies the cube and that the state is at the location. */
static void add_guard(struct bounded_search *b, uint32_t literal, const struct cube *c, const struct unrolled_state *s,
                      uint32_t location) {
  struct cube at;
  int64_t row[2] = {-(int64_t)location, 1};
  map_columns(b, s);
  solver_add_implied(b->solver, literal, c, b->map);
  cube_init(&at, 1);
  cube_add(&at, row, true);
  solver_add_implied(b->solver, literal, &at, &s->location);
  cube_release(&at);
}

/* Asserts that the state is in a start cube (or unsafe cube) of some location. Returns false if there are none. */
static bool add_disjunction(struct bounded_search *b, const struct unrolled_state *s, bool start) {
  VEC(uint32_t) clause = {0};
  for (uint32_t l = 0; l < b->g->locations.n; l++) {
    const cube_vec *cubes = start ? &b->g->locations.at[l].start : &b->g->locations.at[l].unsafe;
    for (size_t i = 0; i < cubes->n; i++) {
      uint32_t literal = solver_literals(b->solver, 1);
      add_guard(b, literal, &cubes->at[i], s, l);
      vec_push(&clause, literal);
    }
  }
  bool any = clause.n > 0;
  if (any)
    solver_add_clause(b->solver, clause.at, (uint32_t)clause.n);
  vec_release(&clause);
  return any;
}

/* new value == update, as a row over the old state and the counter's new variable */
static void add_update(struct bounded_search *b, uint32_t literal, const struct counter_transition *t,
                       const struct unrolled_state *s, const struct unrolled_state *next) {
  uint32_t width = t->guard.width;
  int64_t *row = memory_alloc((width + (size_t)1) * sizeof *row);
  struct cube all;
  for (uint32_t i = 0; i < b->g->ncounters; i++) {
    memcpy(row, t->update[i], width * sizeof *row);
    row[width] = -1;
    cube_init(&all, width);
    cube_add(&all, row, true);
    map_columns(b, s);
    b->map[width - 1] = next->counters + i; /* directly after the amounts of the move */
    solver_add_implied(b->solver, literal, &all, b->map);
    cube_release(&all);
  }
  int64_t to[2] = {-(int64_t)t->to, 1};
  cube_init(&all, 1);
  cube_add(&all, to, true);
  solver_add_implied(b->solver, literal, &all, &next->location);
  cube_release(&all);
  memory_free(row);
}

/* Adds one move: any transition, or only the given one. */
static void add_move(struct bounded_search *b, uint32_t only) {
  add_state(b);
  const struct unrolled_state *s = &b->states.at[b->states.n - 2], *next = s + 1;
  VEC(uint32_t) clause = {0};
  for (uint32_t i = 0; i < b->g->transitions.n; i++) {
    const struct counter_transition *t = &b->g->transitions.at[i];
    if (only != ANY && only != i) {
      solver_add_false(b->solver, s->chosen + i);
      continue;
    }
    add_guard(b, s->chosen + i, &t->guard, s, t->from);
    add_update(b, s->chosen + i, t, s, next);
    vec_push(&clause, s->chosen + i);
  }
  solver_add_clause(b->solver, clause.at, (uint32_t)clause.n);
  vec_release(&clause);
}

/* ---- from a model to a run ---- */

static bool values(struct bounded_search *b, uint32_t first, uint32_t n, int64_t *out) {
  for (uint32_t i = 0; i < n; i++)
    if (!solver_value(b->solver, first + i, &out[i]))
      return false;
  return true;
}

static bool add_steps(struct bounded_search *b, const struct unrolled_state *s, struct counter_run *run) {
  for (uint32_t i = 0; i < b->g->transitions.n; i++) {
    const struct counter_transition *t = &b->g->transitions.at[i];
    int64_t times = 1;
    if (!solver_truth(b->solver, s->chosen + i))
      continue;
    if (t->repeats && (!solver_value(b->solver, s->amounts + t->namounts - 1, &times) || times > REPEATS_MAX))
      return false;
    for (int64_t k = 0; k < times; k++) {
      struct counter_step *step = counter_run_add(run, b->g->system, t->move);
      if (!values(b, s->amounts, b->g->system->moves[t->move].namounts, step->amounts))
        return false;
    }
    return true;
  }
  return false;
}

static bool started_in(const struct bounded_search *b, const struct cube *start, const struct counter_run *run) {
  const struct counter_graph *g = b->g;
  int64_t *point = memory_alloc((g->nvars + (size_t)1) * sizeof *point);
  for (uint32_t i = 0; i < g->nparams; i++)
    point[i] = run->params[g->param[i]];
  memcpy(point + g->nparams, run->start.counters, g->ncounters * sizeof *point);
  bool inside = cube_holds(start, point);
  memory_free(point);
  return inside;
}

static bool read_run(struct bounded_search *b, struct counter_run *run) {
  const struct counter_graph *g = b->g;
  int64_t location;
  counter_run_init(run, g->system);
  for (uint32_t i = 0; i < g->nparams; i++)
    if (!solver_value(b->solver, i, &run->params[g->param[i]]))
      return false;
  const struct unrolled_state *first = &b->states.at[0];
  if (!values(b, first->counters, g->ncounters, run->start.counters) ||
      !solver_value(b->solver, first->location, &location) || location < 0 || (uint64_t)location >= g->locations.n)
    return false;
  const struct location *l = &g->locations.at[location];
  for (size_t i = 0; i < l->start.n; i++)
    if (started_in(b, &l->start.at[i], run))
      memcpy(run->start.controls, l->started.at[i], g->system->ncontrols * sizeof(int64_t));
  for (size_t i = 0; i + 1 < b->states.n; i++)
    if (!add_steps(b, &b->states.at[i], run))
      return false;
  return true;
}

/* ---- small parameters ---- */

/* Minimises the variable by binary search; earlier minimised variables are fixed. The solver must have a model on
   entry; it may have none on return. */
static void minimise(struct bounded_search *b, uint32_t variable) {
  int64_t high, low = -1; /* no solution known at or below low */
  if (!solver_value(b->solver, variable, &high))
    return;
  while (high - 1 > low && high > 0) {
    int64_t middle = low + (high - low) / 2;
    solver_push(b->solver);
    solver_add_at_most(b->solver, variable, middle);
    enum answer answer = solver_check(b->solver);
    int64_t found = middle;
    if (answer == ANSWER_YES && solver_value(b->solver, variable, &found))
      high = found;
    else
      low = middle;
    solver_pop(b->solver);
  }
  solver_add_value(b->solver, variable, high);
}

static bool find_small_run(struct bounded_search *b, struct counter_run *run) {
  if (!read_run(b, run)) {
    counter_run_release(run);
    return false;
  }
  solver_limit_time(b->solver, 1000); /* minimising is optional */
  for (uint32_t i = 0; i < b->g->nparams; i++) {
    minimise(b, i);
    struct counter_run better;
    if (solver_check(b->solver) != ANSWER_YES)
      break;
    if (read_run(b, &better)) {
      counter_run_release(run);
      *run = better;
    } else {
      counter_run_release(&better);
    }
  }
  return true;
}

/* Sets up the initial state. Returns false if there is none. */
static bool bounded_init(struct bounded_search *b, const struct counter_graph *g, const struct engine_watch *watch) {
  *b = (struct bounded_search){.g = g, .solver = solver_new()};
  if (watch && watch->stop)
    solver_watch(b->solver, watch->stop);
  b->most_amounts = counter_graph_most_amounts(g);
  b->map = memory_alloc((g->nvars + b->most_amounts + (size_t)2) * sizeof *b->map);
  solver_variables(b->solver, g->nparams);
  add_state(b);
  solver_add_any(b->solver, g->conditions.at, g->conditions.n, b->map);
  return add_disjunction(b, &b->states.at[0], true);
}

static void bounded_release(struct bounded_search *b) {
  solver_free(b->solver);
  vec_release(&b->states);
  memory_free(b->map);
}

void engine_bounded(const struct counter_graph *g, uint32_t most, const struct engine_watch *watch,
                    struct engine_result *out) {
  struct bounded_search b;
  bool going = bounded_init(&b, g, watch);
  if (!going)
    engine_progress(out, watch, "no start is possible");
  for (uint32_t depth = 0; going; depth++) {
    solver_push(b.solver);
    enum answer answer = ANSWER_NO;
    if (add_disjunction(&b, &b.states.at[depth], false))
      answer = solver_check(b.solver);
    if (answer == ANSWER_YES && find_small_run(&b, &out->run)) {
      out->kind = ENGINE_UNSAFE;
      engine_progress(out, watch, "a counterexample of %" PRIu32 " moves", depth);
      break;
    }
    if (answer != ANSWER_NO) {
      engine_progress(out, watch, "no counterexample within %" PRIu32 " moves, then the solver gave up", depth);
      break;
    }
    solver_pop(b.solver);
    out->depth = depth;
    engine_progress(out, watch, "no counterexample within %" PRIu32 " move%s", depth, depth == 1 ? "" : "s");
    going = g->transitions.n > 0 && (most == 0 || depth < most);
    if (going)
      add_move(&b, ANY);
  }
  bounded_release(&b);
}

enum answer path_find_run(const struct counter_graph *g, const uint32_t *transitions, uint32_t n,
                          const struct engine_watch *watch, struct counter_run *run) {
  struct bounded_search b;
  enum answer answer = ANSWER_NO;
  if (bounded_init(&b, g, watch)) {
    for (uint32_t i = 0; i < n; i++)
      add_move(&b, transitions[i]);
    if (add_disjunction(&b, &b.states.at[n], false))
      answer = solver_check(b.solver);
    if (answer == ANSWER_YES && !find_small_run(&b, run))
      answer = ANSWER_UNKNOWN;
  }
  bounded_release(&b);
  return answer;
}
