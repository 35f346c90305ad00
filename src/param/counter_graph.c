/* Unfolding: terms are evaluated for the values of the control, and conditions become disjunctions of cubes. An IF
   whose condition does not depend on the control alone splits a transition in two. */
#include "param/counter_graph.h"

#include "analysis/three_valued.h"
#include "base/hash.h"
#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

enum { LOCATIONS_MAX = 5000, CASES_MAX = 5000, TRANSITIONS_MAX = 100000, CONTROLS_MAX = 1000000 };

void cubes_release(cube_vec *v) {
  for (size_t i = 0; i < v->n; i++)
    cube_release(&v->at[i]);
  vec_release(v);
}

/* A case distinction: whether an IF takes its first branch. */
struct branch_decision {
  const struct term *at;
  bool taken;
};

struct unfolder {
  struct counter_graph *g;
  const struct counter_system *s;
  const int64_t *controls; /* values at the location */
  uint32_t *column;        /* by parameter of the system */
  uint32_t width;          /* width of rows */
  VEC(struct branch_decision) decisions;
  const struct term *open; /* an IF that needs a case distinction */
  const char *failure;     /* too large, or overflow of 64 bits */
};

/* ---- terms as rows ---- */

static enum ternary truth_of(struct unfolder *u, const struct term *t);
static bool row_of(struct unfolder *u, const struct term *t, int64_t times, int64_t *row);

static const struct term *taken_branch(struct unfolder *u, const struct term *t) {
  enum ternary known = truth_of(u, t->kid[0]);
  if (known != MAYBE)
    return t->kid[known == YES ? 1 : 2];
  for (size_t i = 0; i < u->decisions.n; i++)
    if (u->decisions.at[i].at == t)
      return t->kid[u->decisions.at[i].taken ? 1 : 2];
  if (!u->open)
    u->open = t;
  return NULL;
}

/* Adds `times` the term to the row. Returns false if an IF is undecided, or on failure. */
static bool row_of(struct unfolder *u, const struct term *t, int64_t times, int64_t *row) {
  int64_t *one;
  const struct term *branch;
  switch (t->op) {
  case TERM_ADD:
  case TERM_SUB:
    return row_of(u, t->kid[0], times, row) && row_of(u, t->kid[1], t->op == TERM_SUB ? -times : times, row);
  case TERM_TIMES:
    if (__builtin_mul_overflow(times, t->kid[0]->number, &times) || times == INT64_MIN) {
      u->failure = "numbers beyond 64 bits";
      return false;
    }
    return row_of(u, t->kid[1], times, row);
  case TERM_IF:
    branch = taken_branch(u, t);
    return branch && row_of(u, branch, times, row);
  case TERM_NOT:
  case TERM_AND:
  case TERM_OR:
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    break; /* not a number */
  case TERM_NUMBER:
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_CONTROL:
  case TERM_AMOUNT:
    one = memory_alloc(u->width * sizeof *one);
    if (t->op == TERM_NUMBER)
      one[0] = t->number;
    else if (t->op == TERM_CONTROL)
      one[0] = u->controls[t->index];
    else if (t->op == TERM_PARAM)
      one[1 + u->column[t->index]] = 1;
    else if (t->op == TERM_COUNTER)
      one[1 + u->g->nparams + t->index] = 1;
    else
      one[1 + u->g->nvars + t->index] = 1;
    bool ok = row_add_times(row, one, u->width, times);
    memory_free(one);
    if (!ok)
      u->failure = "numbers beyond 64 bits";
    return ok;
  }
  u->failure = "a number of no known kind";
  return false;
}

static bool row_constant(const int64_t *row, uint32_t width) {
  for (uint32_t i = 1; i < width; i++)
    if (row[i])
      return false;
  return true;
}

/* left - right, or right - left if turned. Returns false if an IF is undecided, or on failure. */
static bool relation_row(struct unfolder *u, const struct term *t, bool turned, int64_t *row) {
  memset(row, 0, u->width * sizeof *row);
  return row_of(u, t->kid[0], turned ? -1 : 1, row) && row_of(u, t->kid[1], turned ? 1 : -1, row);
}

static enum ternary truth_of(struct unfolder *u, const struct term *t) {
  enum ternary a;
  switch (t->op) {
  case TERM_NUMBER:
    return ternary_of(t->number != 0);
  case TERM_CONTROL:
    return ternary_of(u->controls[t->index] != 0);
  case TERM_NOT:
    return ternary_not(truth_of(u, t->kid[0]));
  case TERM_AND:
    a = truth_of(u, t->kid[0]);
    return a == NO ? NO : ternary_and(a, truth_of(u, t->kid[1]));
  case TERM_OR:
    a = truth_of(u, t->kid[0]);
    return a == YES ? YES : ternary_not(ternary_and(ternary_not(a), ternary_not(truth_of(u, t->kid[1]))));
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT: {
    int64_t *row = memory_alloc(u->width * sizeof *row);
    const struct term *before = u->open;
    bool known = relation_row(u, t, false, row) && row_constant(row, u->width);
    int64_t difference = row[0];
    u->open = before; /* an undecided IF inside makes only this comparison undecided */
    memory_free(row);
    if (!known)
      return MAYBE;
    return ternary_of(t->op == TERM_EQ ? difference == 0 : t->op == TERM_LE ? difference <= 0 : difference < 0);
  }
  case TERM_PARAM: /* not truth values */
  case TERM_COUNTER:
  case TERM_AMOUNT:
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_IF:
    break;
  }
  return MAYBE;
}

/* ---- conditions as disjunctions of cubes ---- */

static bool within_limit(struct unfolder *u, size_t cases) {
  if (cases > CASES_MAX)
    u->failure = "a condition has too many cases";
  return cases <= CASES_MAX;
}

/* Adds the row to every cube and drops cubes that become trivially empty. */
static void meet_row(cube_vec *cubes, const int64_t *row, bool equal) {
  size_t kept = 0;
  for (size_t i = 0; i < cubes->n; i++) {
    cube_add(&cubes->at[i], row, equal);
    if (cubes->at[i].empty)
      cube_release(&cubes->at[i]);
    else
      cubes->at[kept++] = cubes->at[i];
  }
  cubes->n = kept;
}

static void cubes_copy(cube_vec *to, const cube_vec *from) {
  for (size_t i = 0; i < from->n; i++) {
    struct cube c;
    cube_copy(&c, &from->at[i]);
    vec_push(to, c);
  }
}

static void cubes_join(cube_vec *to, cube_vec *more) {
  for (size_t i = 0; i < more->n; i++)
    vec_push(to, more->at[i]);
  vec_release(more);
}

/* One bit for each constraint, by its coefficients up to sign: a cube that implies another one has its bits. */
static uint64_t shape_bits(const struct cube *c) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    const int64_t *row = cube_row(c, i);
    uint32_t first = 1;
    while (first + 1 < c->width && row[first] == 0)
      first++;
    uint64_t h = 0;
    for (uint32_t k = first; k < c->width; k++)
      h = hash_mix(h, (uint64_t)(row[first] < 0 ? -row[k] : row[k]));
    bits |= (uint64_t)1 << (h >> 58);
  }
  return bits;
}

/* Drops cubes that lie within others. Of two that are the same, the first one stays. */
static void drop_implied(struct unfolder *u, cube_vec *cubes) {
  size_t kept = 0, n = cubes->n;
  uint64_t *bits = memory_alloc((n + 1) * sizeof *bits);
  bool *dropped = memory_alloc((n + 1) * sizeof *dropped);
  memset(dropped, 0, n * sizeof *dropped);
  for (size_t i = 0; i < n; i++)
    bits[i] = shape_bits(&cubes->at[i]);
  for (size_t i = 0; i < n && !(u->g->stop && *u->g->stop); i++)
    for (size_t k = 0; k < n && !dropped[i]; k++)
      dropped[i] = k != i && !dropped[k] && !(bits[k] & ~bits[i]) && cube_implies(&cubes->at[i], &cubes->at[k]);
  for (size_t i = 0; i < n; i++)
    if (dropped[i])
      cube_release(&cubes->at[i]);
    else
      cubes->at[kept++] = cubes->at[i];
  cubes->n = kept;
  memory_free(dropped);
  memory_free(bits);
}

static bool meet(struct unfolder *u, const struct term *t, bool positive, cube_vec *cubes);

static bool meet_either(struct unfolder *u, const struct term *a, const struct term *b, bool positive,
                        cube_vec *cubes) {
  cube_vec other = {0};
  cubes_copy(&other, cubes);
  bool ok = meet(u, a, positive, cubes) && meet(u, b, positive, &other) && within_limit(u, cubes->n + other.n);
  cubes_join(cubes, &other);
  if (ok)
    drop_implied(u, cubes);
  return ok;
}

static bool meet_relation(struct unfolder *u, const struct term *t, bool positive, cube_vec *cubes) {
  int64_t *row = memory_alloc(u->width * sizeof *row);
  bool ok;
  if (t->op == TERM_EQ && !positive) { /* a < b or b < a */
    cube_vec other = {0};
    cubes_copy(&other, cubes);
    ok = relation_row(u, t, true, row);
    row[0]--;
    meet_row(cubes, row, false);
    ok = ok && relation_row(u, t, false, row) && within_limit(u, cubes->n + other.n);
    row[0]--;
    meet_row(&other, row, false);
    cubes_join(cubes, &other);
  } else {
    ok = relation_row(u, t, positive, row);
    if (t->op == (positive ? TERM_LT : TERM_LE)) /* strict: the difference is at least 1 */
      row[0]--;
    meet_row(cubes, row, t->op == TERM_EQ);
  }
  memory_free(row);
  return ok;
}

/* Intersects each cube with the condition (or its negation). */
static bool meet(struct unfolder *u, const struct term *t, bool positive, cube_vec *cubes) {
  enum ternary known = truth_of(u, t);
  if (u->g->stop && *u->g->stop)
    u->failure = "it was stopped";
  if (u->failure)
    return false;
  if (known != MAYBE) {
    if ((known == YES) != positive) {
      cubes_release(cubes);
    }
    return true;
  }
  switch (t->op) {
  case TERM_NOT:
    return meet(u, t->kid[0], !positive, cubes);
  case TERM_AND:
  case TERM_OR:
    if ((t->op == TERM_AND) == positive)
      return meet(u, t->kid[0], positive, cubes) && meet(u, t->kid[1], positive, cubes);
    return meet_either(u, t->kid[0], t->kid[1], positive, cubes);
  case TERM_EQ:
  case TERM_LE:
  case TERM_LT:
    return meet_relation(u, t, positive, cubes);
  case TERM_NUMBER: /* already evaluated, or not truth values */
  case TERM_PARAM:
  case TERM_COUNTER:
  case TERM_CONTROL:
  case TERM_AMOUNT:
  case TERM_ADD:
  case TERM_SUB:
  case TERM_TIMES:
  case TERM_IF:
    break;
  }
  u->failure = "a condition of no known kind";
  return false;
}

/* The condition as a union of cubes. IFs inside are split into both cases, each with its condition. */
static bool cubes_of(struct unfolder *u, const struct term *t, cube_vec *out) {
  cube_vec cubes = {0};
  struct cube all;
  cube_init(&all, u->width - 1);
  vec_push(&cubes, all);
  bool ok = true;
  u->open = NULL;
  for (size_t i = 0; i < u->decisions.n && ok; i++)
    ok = meet(u, u->decisions.at[i].at->kid[0], u->decisions.at[i].taken, &cubes);
  ok = ok && meet(u, t, true, &cubes);
  if (ok) {
    cubes_join(out, &cubes);
    return within_limit(u, out->n);
  }
  cubes_release(&cubes);
  const struct term *open = u->open;
  if (u->failure || !open)
    return false;
  ok = true;
  for (int taken = 0; taken < 2 && ok; taken++) {
    vec_push(&u->decisions, ((struct branch_decision){open, taken}));
    ok = cubes_of(u, t, out);
    u->decisions.n--;
  }
  return ok;
}

/* ---- locations ---- */

static uint32_t location_of(struct unfolder *u, const int64_t *controls) {
  struct counter_graph *g = u->g;
  size_t size = u->s->ncontrols * sizeof *controls;
  for (size_t i = 0; i < g->locations.n; i++)
    if (size == 0 || memcmp(g->locations.at[i].controls.at[0], controls, size) == 0)
      return (uint32_t)i;
  if (g->locations.n == LOCATIONS_MAX)
    u->failure = "the control has too many values";
  struct location l = {0};
  const int64_t *kept = arena_copy(&g->arena, controls, size + 1);
  vec_push(&l.controls, kept);
  vec_push(&g->locations, l);
  return (uint32_t)g->locations.n - 1;
}

/* Enumerates all values of the control to find those with initial states. */
static bool find_starts(struct unfolder *u) {
  const struct counter_system *s = u->s;
  int64_t *controls = memory_alloc((s->ncontrols + (size_t)1) * sizeof *controls);
  uint64_t tried = 0;
  for (uint32_t i = 0; i < s->ncontrols; i++)
    controls[i] = s->controls[i].low;
  for (bool more = true; more && !u->failure;) {
    cube_vec start = {0};
    struct term both = {.op = TERM_AND, .kid = {s->start, u->g->property->from}};
    u->controls = controls;
    if (cubes_of(u, &both, &start) && start.n > 0) {
      uint32_t at = location_of(u, controls);
      struct location *l = &u->g->locations.at[at];
      l->start = start;
      for (size_t i = 0; i < start.n; i++)
        vec_push(&l->started, l->controls.at[0]);
    } else {
      cubes_release(&start);
    }
    if (++tried > CONTROLS_MAX)
      u->failure = "the control has too many values";
    more = false;
    for (uint32_t i = s->ncontrols; i-- > 0 && !more;) {
      more = controls[i] < s->controls[i].high;
      controls[i] = more ? controls[i] + 1 : s->controls[i].low;
    }
  }
  memory_free(controls);
  return !u->failure;
}

/* ---- transitions ---- */

static void add_transition(struct unfolder *u, uint32_t from, uint32_t move, const int64_t *controls,
                           struct cube *guard, int64_t *const *update) {
  struct counter_graph *g = u->g;
  uint32_t to = location_of(u, controls);
  struct counter_transition t = {.move = move, .from = from, .to = to, .namounts = u->s->moves[move].namounts};
  t.guard = *guard;
  t.update = arena_array(&g->arena, g->ncounters + (size_t)1, sizeof *t.update);
  for (uint32_t i = 0; i < g->ncounters; i++)
    t.update[i] = arena_copy(&g->arena, update[i], u->width * sizeof **update);
  if (g->transitions.n == TRANSITIONS_MAX)
    u->failure = "there are too many transitions";
  vec_push(&g->transitions, t);
}

/* Computes the next values of the controls, one control after the other. A control whose next value depends on counters
   is tried with every value. */
static void next_controls(struct unfolder *u, uint32_t from, uint32_t move, uint32_t control, int64_t *controls,
                          cube_vec *guards, int64_t *const *update) {
  const struct counter_system *s = u->s;
  if (u->failure || guards->n == 0)
    return;
  if (control == s->ncontrols) {
    for (size_t i = 0; i < guards->n; i++) {
      struct cube guard;
      cube_copy(&guard, &guards->at[i]);
      add_transition(u, from, move, controls, &guard, update);
    }
    return;
  }
  const struct term *next = s->moves[move].controls[control];
  int64_t *row = memory_alloc(u->width * sizeof *row);
  controls[control] = u->controls[control];
  if (next && !row_of(u, next, 1, row)) {
    memory_free(row);
    return; /* undecided: the caller splits the cases */
  }
  if (!next || row_constant(row, u->width)) {
    if (next)
      controls[control] = row[0];
    next_controls(u, from, move, control + 1, controls, guards, update);
  } else {
    int64_t constant = row[0];
    for (int64_t v = s->controls[control].low; v <= s->controls[control].high; v++) {
      cube_vec some = {0};
      cubes_copy(&some, guards);
      row[0] = constant - v;
      meet_row(&some, row, true);
      controls[control] = v;
      next_controls(u, from, move, control + 1, controls, &some, update);
      cubes_release(&some);
    }
  }
  memory_free(row);
}

/* Are all IFs of the updates decided? */
static bool effects_decided(struct unfolder *u, uint32_t move, int64_t *const *update) {
  const struct counter_move *m = &u->s->moves[move];
  int64_t *row = memory_alloc(u->width * sizeof *row);
  bool ok = true;
  u->open = NULL;
  for (uint32_t i = 0; i < u->g->ncounters && ok; i++) {
    memset(update[i], 0, u->width * sizeof **update);
    update[i][1 + u->g->nparams + i] = !m->counters[i];
    ok = !m->counters[i] || row_of(u, m->counters[i], 1, update[i]);
  }
  for (uint32_t i = 0; i < u->s->ncontrols && ok; i++)
    ok = !m->controls[i] || row_of(u, m->controls[i], 1, row);
  memory_free(row);
  return ok;
}

static void unfold_move(struct unfolder *u, uint32_t from, uint32_t move, int64_t *const *update) {
  const struct counter_move *m = &u->s->moves[move];
  if (u->g->stop && *u->g->stop)
    u->failure = "it was stopped";
  if (u->failure || truth_of(u, m->guard) == NO || u->failure)
    return;
  if (!effects_decided(u, move, update)) {
    const struct term *open = u->open;
    for (int taken = 0; taken < 2 && open && !u->failure; taken++) {
      vec_push(&u->decisions, ((struct branch_decision){open, taken}));
      unfold_move(u, from, move, update);
      u->decisions.n--;
    }
    return;
  }
  cube_vec guards = {0};
  int64_t *controls = memory_alloc((u->s->ncontrols + (size_t)1) * sizeof *controls);
  if (cubes_of(u, m->guard, &guards))
    next_controls(u, from, move, 0, controls, &guards, update);
  memory_free(controls);
  cubes_release(&guards);
}

static void unfold_location(struct unfolder *u, uint32_t from) {
  struct counter_graph *g = u->g;
  int64_t **update = memory_alloc((g->ncounters + (size_t)1) * sizeof *update);
  for (uint32_t move = 0; move < u->s->nmoves && !u->failure; move++) {
    u->controls = g->locations.at[from].controls.at[0];
    u->width = g->nvars + u->s->moves[move].namounts + 1;
    for (uint32_t i = 0; i < g->ncounters; i++)
      update[i] = memory_resize(update[i], u->width * sizeof *update[i]);
    unfold_move(u, from, move, update);
  }
  for (uint32_t i = 0; i < g->ncounters; i++)
    memory_free(update[i]);
  memory_free(update);
  u->width = g->nvars + 1;
  u->controls = g->locations.at[from].controls.at[0];
  cube_vec unsafe = {0};
  if (!u->failure)
    cubes_of(u, g->property->unsafe, &unsafe);
  g->locations.at[from].unsafe = unsafe;
}

/* ---- the graph ---- */

static void find_columns(struct unfolder *u) {
  struct counter_graph *g = u->g;
  u->column = arena_array(&g->arena, u->s->nparams + (size_t)1, sizeof *u->column);
  g->param = arena_array(&g->arena, u->s->nparams + (size_t)1, sizeof *g->param);
  for (uint32_t i = 0; i < u->s->nparams; i++)
    if (!u->s->params[i].is) {
      u->column[i] = g->nparams;
      g->param[g->nparams++] = i;
    }
  g->ncounters = u->s->ncounters;
  g->nvars = g->nparams + g->ncounters;
  u->width = g->nvars + 1;
}

static bool find_conditions(struct unfolder *u, bool leave_open) {
  struct cube all;
  cube_init(&all, u->g->nvars);
  vec_push(&u->g->conditions, all);
  for (uint32_t i = 0; i < u->s->nconditions; i++) {
    cube_vec one = {0};
    const struct counter_condition *c = &u->s->conditions[i];
    if (leave_open && c->resilience)
      continue;
    if (!cubes_of(u, c->term, &one)) { /* splits IFs inside; the products are built here */
      cubes_release(&one);
      return false;
    }
    cube_vec both = {0};
    for (size_t a = 0; a < u->g->conditions.n; a++)
      for (size_t b = 0; b < one.n && within_limit(u, both.n + 1); b++) {
        struct cube c2;
        cube_copy(&c2, &u->g->conditions.at[a]);
        cube_add_cube(&c2, &one.at[b]);
        if (c2.empty)
          cube_release(&c2);
        else
          vec_push(&both, c2);
      }
    cubes_release(&one);
    cubes_release(&u->g->conditions);
    u->g->conditions = both;
  }
  return !u->failure;
}

static void find_naturals(struct counter_graph *g) {
  int64_t *row = memory_alloc((g->nvars + (size_t)1) * sizeof *row);
  cube_init(&g->naturals, g->nvars);
  cube_init(&g->conserved, g->nvars);
  for (uint32_t i = 0; i < g->ncounters; i++) {
    row[1 + g->nparams + i] = 1;
    cube_add(&g->naturals, row, false);
    row[1 + g->nparams + i] = 0;
  }
  memory_free(row);
}

struct counter_graph *counter_graph_unfold(const struct counter_system *s, const struct counter_property *p,
                                           bool leave_open, const volatile sig_atomic_t *stop, struct text *why) {
  struct counter_graph *g = memory_alloc(sizeof *g);
  struct unfolder u = {.g = g, .s = s};
  arena_init(&g->arena);
  g->system = s;
  g->property = p;
  g->open = leave_open;
  g->stop = stop;
  find_columns(&u);
  find_naturals(g);
  if (find_conditions(&u, leave_open) && find_starts(&u))
    for (uint32_t i = 0; i < g->locations.n && !u.failure; i++)
      unfold_location(&u, i);
  vec_release(&u.decisions);
  if (!u.failure)
    return g;
  text_add(why, u.failure);
  counter_graph_free(g);
  return NULL;
}

void location_release(struct location *l) {
  cubes_release(&l->start);
  cubes_release(&l->unsafe);
  vec_release(&l->controls);
  vec_release(&l->started);
}

void counter_graph_free(struct counter_graph *g) {
  if (!g)
    return;
  for (size_t i = 0; i < g->locations.n; i++)
    location_release(&g->locations.at[i]);
  for (size_t i = 0; i < g->transitions.n; i++)
    cube_release(&g->transitions.at[i].guard);
  cubes_release(&g->conditions);
  cubes_release(&g->excluded);
  cube_release(&g->naturals);
  cube_release(&g->conserved);
  vec_release(&g->locations);
  vec_release(&g->transitions);
  arena_release(&g->arena);
  memory_free(g);
}

uint32_t counter_graph_most_amounts(const struct counter_graph *g) {
  uint32_t most = 0;
  for (size_t i = 0; i < g->transitions.n; i++)
    most = g->transitions.at[i].namounts > most ? g->transitions.at[i].namounts : most;
  return most;
}

void counter_graph_exclude(struct counter_graph *g, const struct cube *region) {
  cube_vec rest = {0};
  for (size_t i = 0; i < g->conditions.n; i++)
    for (uint32_t k = 0; k < region->n; k++)
      for (int side = 0; side < (region->equal.at[k] ? 2 : 1); side++) {
        /* the first k constraints hold and the next one does not, so the pieces are disjoint */
        struct cube piece;
        int64_t *row = memory_alloc(region->width * sizeof *row);
        cube_copy(&piece, &g->conditions.at[i]);
        for (uint32_t j = 0; j < k; j++)
          cube_add(&piece, cube_row(region, j), region->equal.at[j]);
        for (uint32_t j = 0; j < region->width; j++)
          row[j] = side ? cube_row(region, k)[j] : -cube_row(region, k)[j];
        row[0]--;
        cube_add(&piece, row, false);
        memory_free(row);
        if (piece.empty)
          cube_release(&piece);
        else
          vec_push(&rest, piece);
      }
  cubes_release(&g->conditions);
  g->conditions = rest;
  struct cube kept;
  cube_copy(&kept, region);
  vec_push(&g->excluded, kept);
}

void counter_graph_restrict(struct counter_graph *g, const struct cube *region) {
  size_t kept = 0;
  for (size_t i = 0; i < g->conditions.n; i++) {
    cube_add_cube(&g->conditions.at[i], region);
    if (g->conditions.at[i].empty)
      cube_release(&g->conditions.at[i]);
    else
      g->conditions.at[kept++] = g->conditions.at[i];
  }
  g->conditions.n = kept;
}

struct counter_graph *counter_graph_new(const struct counter_system *s, const struct counter_property *p,
                                        bool leave_open, const volatile sig_atomic_t *stop, struct text *why) {
  struct counter_graph *g = counter_graph_unfold(s, p, leave_open, stop, why);
  if (!g)
    return NULL;
  counter_graph_minimise(g);
  counter_graph_conserve(g);
  counter_graph_accelerate(g);
  if (stop && *stop) {
    text_add(why, "it was stopped");
    counter_graph_free(g);
    return NULL;
  }
  g->stop = NULL;
  return g;
}
