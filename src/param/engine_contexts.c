/* Reachability in threshold automata as one query (Balasubramanian, Esparza, Lazic 2020; Konnov, Veith, Widder 2017).

   Moves take one process from one counter to others, and change sums that are compared in guards in one direction only.
   So each comparison changes its value at most once, and a run is a sequence of few segments in which all of them stay
   as they are. Within a segment the order of the moves does not matter: if the counters that moves take from are
   ordered without cycles, taking all moves in that order never takes from an empty counter. What counts is how often
   each move is taken. The query has these numbers as variables, for as many segments as there can be, and is equivalent
   to reachability.

   With cycles the numbers of moves say less: a solution need not be a run, since processes may go round a cycle that
   none of them can enter. But every run is a solution. So proofs remain proofs, and a solution counts if its moves can
   be put in an order (`take_in_some_order`).

   Of each location (a value of the control) the self-loops are considered that way. The locations themselves must have
   no other cycles; there is one query for each path through them. Where a condition is not met, the engine gives up:

   - a move changes counters by constants; it takes one from at most one counter, and its guard says that this one is
     there;
   - every other constraint of its guard is, under the moves of its location, one of
       RISING   never becomes false
       FALLING  never becomes true
       BUDGET   FALLING, and exactly the moves that read it change it, all by the same amount
       VISIT    of a move that leaves its process where it is: that there is one
       ZERO     some counters are all zero; all moves of the location read it, so a move that makes it false is the
   last. */
#include "param/engine.h"

#include "base/memory.h"
#include "symbolic/solver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATHS_MAX = 64, PATH_LENGTH = 50, SEGMENTS_MAX = 120, RUN_MAX = 20000, SCRIPT_MAX = 16 << 20 };

enum constraint_kind {
  CONSTRAINT_SOURCE,
  CONSTRAINT_RISING,
  CONSTRAINT_FALLING,
  CONSTRAINT_BUDGET,
  CONSTRAINT_ZERO,
  CONSTRAINT_VISIT
};

struct guard_constraint { /* row >= 0 */
  const int64_t *row;
  enum constraint_kind kind;
  int64_t step; /* BUDGET: how much each move takes */
};

struct context_move { /* a self-loop of a location */
  uint32_t transition;
  uint32_t source; /* the counter that it takes from; UINT32_MAX: none */
  int64_t *by;     /* by counter */
  VEC(struct guard_constraint) guard;
};

struct context_location {
  VEC(struct context_move) moves; /* in the order of their sources */
  bool unordered;                 /* there is none: they lie on cycles, or some need a process without taking it */
};

struct context_search {
  const struct counter_graph *g;
  struct arena arena;
  struct context_location *locations;
  bool *leads;     /* by location: to an unsafe one */
  const char *why; /* not NULL: a condition is not met */
  VEC(uint32_t) path;
  VEC(uint32_t *) paths; /* each: its length, then the locations */
};

/* ---- which constraints can change how ---- */

static int64_t change_of(const struct context_search *s, const int64_t *row, const int64_t *by) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < s->g->ncounters; i++) {
    int64_t part;
    if (__builtin_mul_overflow(row[1 + s->g->nparams + i], by[i], &part) || __builtin_add_overflow(sum, part, &sum))
      return INT64_MIN; /* refused by whoever asks */
  }
  return sum;
}

static bool same_row(const struct context_search *s, const int64_t *a, const int64_t *b) {
  return !memcmp(a, b, (s->g->nvars + (size_t)1) * sizeof *a);
}

static bool reads(const struct context_search *s, const struct context_move *m, const int64_t *row) {
  for (size_t i = 0; i < m->guard.n; i++)
    if (same_row(s, m->guard.at[i].row, row))
      return true;
  return false;
}

static bool is_zero_row(const struct context_search *s, const int64_t *row) {
  for (uint32_t i = 0; i <= s->g->nparams; i++)
    if (row[i] != 0)
      return false;
  for (uint32_t i = 0; i < s->g->ncounters; i++)
    if (row[1 + s->g->nparams + i] > 0)
      return false;
  return true;
}

/* The counter of `counter >= 1`; UINT32_MAX: the constraint is another one. */
static uint32_t visited_counter(const struct context_search *s, const int64_t *row) {
  uint32_t found = UINT32_MAX;
  if (row[0] != -1)
    return UINT32_MAX;
  for (uint32_t i = 0; i < s->g->nvars; i++) {
    if (row[1 + i] == 0)
      continue;
    if (found != UINT32_MAX || i < s->g->nparams || row[1 + i] != 1)
      return UINT32_MAX;
    found = i - s->g->nparams;
  }
  return found;
}

static void classify(struct context_search *s, struct context_location *l, const struct context_move *m,
                     struct guard_constraint *c) {
  bool up = false, down = false, budget = true, everywhere = true;
  int64_t step = 0;
  if (m->source != UINT32_MAX && c->row[0] == -1 && c->row[1 + s->g->nparams + m->source] == 1) {
    bool alone = true;
    for (uint32_t i = 1; i <= s->g->nvars; i++)
      alone &= c->row[i] == (i == 1 + s->g->nparams + m->source);
    if (alone) {
      c->kind = CONSTRAINT_SOURCE;
      return;
    }
  }
  for (size_t i = 0; i < l->moves.n; i++) {
    const struct context_move *other = &l->moves.at[i];
    int64_t by = change_of(s, c->row, other->by);
    bool read = reads(s, other, c->row);
    if (by == INT64_MIN) {
      s->why = "the numbers are too large";
      return;
    }
    up |= by > 0;
    down |= by < 0;
    everywhere &= read;
    budget &= read == (by < 0) && (by == 0 || step == 0 || by == step);
    step = by < 0 ? by : step;
  }
  if (!down)
    c->kind = CONSTRAINT_RISING;
  else if (!up && budget)
    c->kind = CONSTRAINT_BUDGET;
  else if (!up)
    c->kind = CONSTRAINT_FALLING;
  else if (everywhere && is_zero_row(s, c->row))
    c->kind = CONSTRAINT_ZERO;
  else if (m->source == UINT32_MAX && visited_counter(s, c->row) != UINT32_MAX &&
           m->by[visited_counter(s, c->row)] == 0) {
    c->kind = CONSTRAINT_VISIT;
    l->unordered = true;
  } else
    s->why = "a guard can become true and false again";
  c->step = -step;
}

/* ---- the moves of a location ---- */

static bool is_identity_plus(const struct context_search *s, const int64_t *row, uint32_t counter) {
  for (uint32_t i = 1; i <= s->g->nvars; i++)
    if (row[i] != (i == 1 + s->g->nparams + counter))
      return false;
  return true;
}

static void add_constraint(struct context_search *s, struct context_move *m, const int64_t *row, bool negate) {
  int64_t *copy = arena_array(&s->arena, s->g->nvars + (size_t)1, sizeof *copy);
  for (uint32_t i = 0; i <= s->g->nvars; i++)
    copy[i] = negate ? -row[i] : row[i];
  vec_push(&m->guard, ((struct guard_constraint){.row = copy}));
}

static void add_move(struct context_search *s, uint32_t index) {
  const struct counter_graph *g = s->g;
  const struct counter_transition *t = &g->transitions.at[index];
  struct context_move m = {.transition = index, .source = UINT32_MAX};
  m.by = arena_array(&s->arena, g->ncounters + (size_t)1, sizeof *m.by);
  if (t->namounts > 0) {
    s->why = "a move has amounts";
    return;
  }
  for (uint32_t i = 0; i < g->ncounters && !s->why; i++) {
    if (!is_identity_plus(s, t->update[i], i)) {
      s->why = "a move sets a counter";
      return;
    }
    m.by[i] = t->update[i][0];
    if (m.by[i] < -1 || (m.by[i] == -1 && m.source != UINT32_MAX))
      s->why = "a move takes more than one process";
    if (m.by[i] == -1)
      m.source = i;
  }
  for (uint32_t i = 0; i < t->guard.n; i++) {
    add_constraint(s, &m, cube_row(&t->guard, i), false);
    if (t->guard.equal.at[i])
      add_constraint(s, &m, cube_row(&t->guard, i), true);
  }
  vec_push(&s->locations[t->from].moves, m);
}

/* Orders the moves so that what one of them adds to is taken from only later. */
static void order_moves(struct context_search *s, struct context_location *l) {
  for (size_t done = 0; done < l->moves.n && !s->why; done++) {
    size_t next = SIZE_MAX;
    for (size_t i = done; i < l->moves.n && next == SIZE_MAX; i++) {
      bool first = true; /* does nothing that is left, with another source, add to its source? */
      for (size_t k = done; k < l->moves.n && l->moves.at[i].source != UINT32_MAX; k++)
        first &= l->moves.at[k].by[l->moves.at[i].source] <= 0;
      if (first)
        next = i;
    }
    if (next == SIZE_MAX) {
      l->unordered = true;
      return;
    }
    struct context_move chosen = l->moves.at[next];
    l->moves.at[next] = l->moves.at[done];
    l->moves.at[done] = chosen;
  }
}

static bool seen_before(const struct context_search *s, const struct context_location *l, size_t move, size_t at) {
  const int64_t *row = l->moves.at[move].guard.at[at].row;
  for (size_t i = 0; i <= move; i++)
    for (size_t k = 0; k < (i < move ? l->moves.at[i].guard.n : at); k++)
      if (l->moves.at[i].guard.at[k].kind == l->moves.at[move].guard.at[at].kind &&
          same_row(s, l->moves.at[i].guard.at[k].row, row))
        return true;
  return false;
}

static bool is_constant(const struct context_search *s, const struct context_location *l, const int64_t *row) {
  for (size_t i = 0; i < l->moves.n; i++)
    if (change_of(s, row, l->moves.at[i].by) != 0)
      return false;
  return true;
}

static void classify_all(struct context_search *s, struct context_location *l) {
  for (size_t i = 0; i < l->moves.n && !s->why; i++)
    for (size_t k = 0; k < l->moves.at[i].guard.n && !s->why; k++)
      classify(s, l, &l->moves.at[i], &l->moves.at[i].guard.at[k]);
}

static bool move_has_source_guard(const struct context_move *m) {
  for (size_t i = 0; i < m->guard.n; i++)
    if (m->guard.at[i].kind == CONSTRAINT_SOURCE)
      return true;
  return m->source == UINT32_MAX;
}

static bool is_identity(const struct context_search *s, const struct counter_transition *t) {
  bool same = t->namounts == 0;
  for (uint32_t i = 0; i < s->g->ncounters && same; i++)
    same = is_identity_plus(s, t->update[i], i) && t->update[i][0] == 0;
  return same;
}

static void analyse(struct context_search *s) {
  for (uint32_t i = 0; i < s->g->transitions.n && !s->why; i++) {
    const struct counter_transition *t = &s->g->transitions.at[i];
    if (t->from == t->to && !t->repeats)
      add_move(s, i);
    else if (t->from != t->to && !is_identity(s, t))
      s->why = "control and counters change together";
  }
  for (uint32_t l = 0; l < s->g->locations.n && !s->why; l++) {
    order_moves(s, &s->locations[l]);
    classify_all(s, &s->locations[l]);
    for (size_t i = 0; i < s->locations[l].moves.n && !s->why; i++)
      if (!move_has_source_guard(&s->locations[l].moves.at[i]))
        s->why = "a guard does not say that there is a process to move";
  }
}

/* ---- paths through the locations ---- */

/* Which locations lead to an unsafe one? Of the others no path is of interest, and there may be very many. */
static void find_leads(struct context_search *s) {
  const struct counter_graph *g = s->g;
  s->leads = arena_array(&s->arena, g->locations.n + (size_t)1, sizeof *s->leads);
  for (uint32_t l = 0; l < g->locations.n; l++)
    s->leads[l] = g->locations.at[l].unsafe.n > 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < g->transitions.n; i++) {
      const struct counter_transition *t = &g->transitions.at[i];
      if (s->leads[t->to] && !s->leads[t->from])
        changed = s->leads[t->from] = true;
    }
  }
}

static void find_paths(struct context_search *s, uint32_t at) {
  for (size_t i = 0; i < s->path.n; i++)
    if (s->path.at[i] == at)
      s->why = "the control has a cycle";
  if (s->why)
    return;
  vec_push(&s->path, at);
  if (s->path.n > PATH_LENGTH)
    s->why = "the control has paths that are too long";
  if (s->g->locations.at[at].unsafe.n) {
    uint32_t *copy = arena_array(&s->arena, s->path.n + 1, sizeof *copy);
    copy[0] = (uint32_t)s->path.n;
    memcpy(copy + 1, s->path.at, s->path.n * sizeof *copy);
    vec_push(&s->paths, copy);
    if (s->paths.n > PATHS_MAX)
      s->why = "the control has too many paths";
  }
  for (uint32_t next = 0; next < s->g->locations.n && !s->why; next++) {
    bool edge = false;
    for (size_t i = 0; i < s->g->transitions.n && !edge && next != at && s->leads[next]; i++)
      edge = s->g->transitions.at[i].from == at && s->g->transitions.at[i].to == next;
    if (edge)
      find_paths(s, next);
  }
  s->path.n--;
}

/* ---- the query ---- */

struct path_move { /* of one or several locations of the path, with the same effect and guard in each */
  const struct context_move *move;
  uint64_t stages;                   /* the positions on the path where it can be taken */
  uint32_t transitions[PATH_LENGTH]; /* by position */
};

struct context_query {
  struct context_search *s;
  const uint32_t *path; /* of locations */
  uint32_t length;
  VEC(struct path_move) moves;
  struct text out;
  uint32_t states;   /* made so far */
  uint32_t segments; /* in all */
};

static bool same_constraints(const struct context_search *s, const struct context_move *a,
                             const struct context_move *b) {
  if (a->guard.n != b->guard.n || memcmp(a->by, b->by, s->g->ncounters * sizeof *a->by) != 0)
    return false;
  for (size_t i = 0; i < a->guard.n; i++) {
    bool found = false;
    for (size_t k = 0; k < b->guard.n && !found; k++)
      found = a->guard.at[i].kind == b->guard.at[k].kind && a->guard.at[i].step == b->guard.at[k].step &&
              same_row(s, a->guard.at[i].row, b->guard.at[k].row);
    if (!found)
      return false;
  }
  return true;
}

/* All moves of the path, in an order that fits each of its locations. */
static void collect_moves(struct context_query *q) {
  for (uint32_t j = 0; j < q->length; j++) {
    const struct context_location *l = &q->s->locations[q->path[j]];
    for (size_t i = 0; i < l->moves.n; i++) {
      size_t k = 0;
      while (k < q->moves.n &&
             ((q->moves.at[k].stages >> j & 1) || !same_constraints(q->s, q->moves.at[k].move, &l->moves.at[i])))
        k++;
      if (k == q->moves.n)
        vec_push(&q->moves, ((struct path_move){.move = &l->moves.at[i]}));
      q->moves.at[k].stages |= (uint64_t)1 << j;
      q->moves.at[k].transitions[j] = l->moves.at[i].transition;
    }
  }
}

/* Does the row change in one direction only, by all moves of the path? Then it changes its value at most once. */
static bool is_monotone(const struct context_query *q, const int64_t *row) {
  bool up = false, down = false;
  for (size_t i = 0; i < q->moves.n; i++) {
    int64_t by = change_of(q->s, row, q->moves.at[i].move->by);
    up |= by > 0;
    down |= by < 0;
  }
  return !up || !down;
}

/* Was the row counted for an earlier location of the path? */
static bool counted_before(const struct context_query *q, uint32_t position, const struct guard_constraint *c) {
  for (uint32_t j = 0; j < position; j++) {
    const struct context_location *l = &q->s->locations[q->path[j]];
    for (size_t i = 0; i < l->moves.n; i++)
      for (size_t k = 0; k < l->moves.at[i].guard.n; k++)
        if (l->moves.at[i].guard.at[k].kind == c->kind && same_row(q->s, l->moves.at[i].guard.at[k].row, c->row) &&
            !is_constant(q->s, l, c->row))
          return true;
  }
  return false;
}

/* One segment in any case and one for each further location; one for each change of a RISING constraint; for a FALLING
   one, one for the move that changes it and one for what follows; and in each location one for the move that makes a
   ZERO constraint false. */
static uint64_t count_segments(const struct context_query *q) {
  uint64_t n = q->length;
  for (uint32_t j = 0; j < q->length; j++) {
    const struct context_location *l = &q->s->locations[q->path[j]];
    bool zero = false;
    for (size_t i = 0; i < l->moves.n; i++)
      for (size_t k = 0; k < l->moves.at[i].guard.n; k++) {
        const struct guard_constraint *c = &l->moves.at[i].guard.at[k];
        if (seen_before(q->s, l, i, k) || is_constant(q->s, l, c->row) ||
            (counted_before(q, j, c) && is_monotone(q, c->row)))
          continue;
        zero |= c->kind == CONSTRAINT_ZERO;
        n += c->kind == CONSTRAINT_RISING ? 1 : c->kind == CONSTRAINT_FALLING ? 2 : 0;
      }
    n += zero;
  }
  return n;
}

static void add_number(struct text *out, int64_t n) {
  text_addf(out, n < 0 ? "(- %" PRIu64 ")" : "%" PRIu64, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* The value of the row in a state. */
static void add_row(struct context_query *q, const int64_t *row, int64_t more, uint32_t state) {
  const struct counter_graph *g = q->s->g;
  text_add(&q->out, "(+ ");
  add_number(&q->out, row[0] + more); /* rows leave room (row_add_times) */
  for (uint32_t i = 0; i < g->nvars; i++) {
    if (!row[i + 1])
      continue;
    text_add(&q->out, " (* ");
    add_number(&q->out, row[i + 1]);
    if (i < g->nparams)
      text_addf(&q->out, " p%" PRIu32 ")", i);
    else
      text_addf(&q->out, " c%" PRIu32 "_%" PRIu32 ")", state, i - g->nparams);
  }
  text_add(&q->out, " 0)");
}

static void add_at_least_zero(struct context_query *q, const int64_t *row, int64_t more, uint32_t state) {
  text_add(&q->out, "(>= ");
  add_row(q, row, more, state);
  text_add(&q->out, " 0)");
}

static void add_cube(struct context_query *q, const struct cube *c, uint32_t state) {
  text_add(&q->out, "(and true");
  for (uint32_t i = 0; i < c->n; i++) {
    text_addf(&q->out, " (%s ", c->equal.at[i] ? "=" : ">=");
    add_row(q, cube_row(c, i), 0, state);
    text_add(&q->out, " 0)");
  }
  text_add(&q->out, c->empty ? " false)" : ")");
}

static void assert_any(struct context_query *q, const cube_vec *cubes, uint32_t state) {
  text_add(&q->out, "(assert (or false");
  for (size_t i = 0; i < cubes->n; i++) {
    text_add(&q->out, "\n  ");
    add_cube(q, &cubes->at[i], state);
  }
  text_add(&q->out, "))\n");
}

static uint32_t declare_state(struct context_query *q) {
  for (uint32_t i = 0; i < q->s->g->ncounters; i++)
    text_addf(&q->out, "(declare-const c%" PRIu32 "_%" PRIu32 " Int)\n", q->states, i);
  text_add(&q->out, "(assert ");
  add_cube(q, &q->s->g->naturals, q->states);
  text_add(&q->out, ")\n");
  return q->states++;
}

/* Is the constraint true in the segment from state a to state b whenever the move is taken? */
static void add_constraint_in_segment(struct context_query *q, const struct guard_constraint *c, uint32_t a,
                                      uint32_t b) {
  switch (c->kind) {
  case CONSTRAINT_SOURCE:
    return;
  case CONSTRAINT_RISING:
    text_add(&q->out, " ");
    add_at_least_zero(q, c->row, 0, a);
    return;
  case CONSTRAINT_VISIT: /* at the beginning, or one comes */
    text_add(&q->out, " (or ");
    add_at_least_zero(q, c->row, 0, a);
    for (size_t i = 0; i < q->moves.n; i++)
      if (q->moves.at[i].move->by[visited_counter(q->s, c->row)] > 0)
        text_addf(&q->out, " (>= x%" PRIu32 "_%zu 1)", a, i);
    text_add(&q->out, ")");
    return;
  case CONSTRAINT_BUDGET:
    text_add(&q->out, " ");
    add_at_least_zero(q, c->row, c->step, b);
    return;
  case CONSTRAINT_FALLING:
    text_add(&q->out, " (or ");
    add_at_least_zero(q, c->row, 0, b);
    text_addf(&q->out, " (and one%" PRIu32 " ", a);
    add_at_least_zero(q, c->row, 0, a);
    text_add(&q->out, "))");
    return;
  case CONSTRAINT_ZERO:
    text_add(&q->out, " ");
    add_at_least_zero(q, c->row, 0, a);
    text_addf(&q->out, " (or one%" PRIu32 " (and true", a);
    for (size_t i = 0; i < q->moves.n; i++)
      if (change_of(q->s, c->row, q->moves.at[i].move->by) < 0)
        text_addf(&q->out, " (= x%" PRIu32 "_%zu 0)", a, i);
    text_add(&q->out, "))");
    return;
  }
}

/* Any number of moves, all of the location that the run is at: stage_a is its position on the path. */
static void add_segment(struct context_query *q) {
  const struct counter_graph *g = q->s->g;
  uint32_t a = q->states - 1;
  for (size_t i = 0; i < q->moves.n; i++)
    text_addf(&q->out, "(declare-const x%" PRIu32 "_%zu Int)\n(assert (>= x%" PRIu32 "_%zu 0))\n", a, i, a, i);
  uint32_t b = declare_state(q);
  text_addf(&q->out, "(define-fun one%" PRIu32 " () Bool (<= (+ 0 0", a);
  for (size_t i = 0; i < q->moves.n; i++)
    text_addf(&q->out, " x%" PRIu32 "_%zu", a, i);
  text_add(&q->out, ") 1))\n");
  for (uint32_t k = 0; k < g->ncounters; k++) {
    text_addf(&q->out, "(assert (= c%" PRIu32 "_%" PRIu32 " (+ c%" PRIu32 "_%" PRIu32 " 0", b, k, a, k);
    for (size_t i = 0; i < q->moves.n; i++)
      if (q->moves.at[i].move->by[k]) {
        text_add(&q->out, " (* ");
        add_number(&q->out, q->moves.at[i].move->by[k]);
        text_addf(&q->out, " x%" PRIu32 "_%zu)", a, i);
      }
    text_add(&q->out, ")))\n");
  }
  for (size_t i = 0; i < q->moves.n; i++) {
    const struct path_move *m = &q->moves.at[i];
    text_addf(&q->out, "(assert (or (= x%" PRIu32 "_%zu 0) (and true", a, i);
    for (uint32_t j = 0; j < q->length; j++)
      if (!(m->stages >> j & 1))
        text_addf(&q->out, " (not (= stage%" PRIu32 " %" PRIu32 "))", a, j);
    for (size_t k = 0; k < m->move->guard.n; k++)
      add_constraint_in_segment(q, &m->move->guard.at[k], a, b);
    text_add(&q->out, ")))\n");
  }
}

/* Between two segments the run stays at its location, or takes a transition to the next one of the path. */
static void add_edge(struct context_query *q) {
  const struct counter_graph *g = q->s->g;
  uint32_t b = q->states - 1, a = b - 1;
  text_addf(&q->out,
            "(declare-const stage%" PRIu32 " Int)\n(declare-const edge%" PRIu32 " Int)\n"
            "(assert (or (and (= edge%" PRIu32 " (- 1)) (= stage%" PRIu32 " stage%" PRIu32 "))",
            b, b, b, b, a);
  for (uint32_t j = 0; j + 1 < q->length; j++)
    for (uint32_t i = 0; i < g->transitions.n; i++) {
      const struct counter_transition *t = &g->transitions.at[i];
      if (t->from != q->path[j] || t->to != q->path[j + 1])
        continue;
      text_addf(&q->out,
                "\n  (and (= edge%" PRIu32 " %" PRIu32 ") (= stage%" PRIu32 " %" PRIu32 ") (= stage%" PRIu32 " %" PRIu32
                ") ",
                b, i, a, j, b, j + 1);
      add_cube(q, &t->guard, b);
      text_add(&q->out, ")");
    }
  text_add(&q->out, "))\n");
}

static void print_moves(struct context_query *q) {
  const struct counter_graph *g = q->s->g;
  for (size_t i = 0; i < q->moves.n; i++) {
    const struct path_move *m = &q->moves.at[i];
    uint32_t at = 0;
    while (!(m->stages >> at & 1))
      at++;
    const struct counter_move *move = &g->system->moves[g->transitions.at[m->transitions[at]].move];
    text_addf(&q->out, "; x_%zu %s (line %" PRIu32 ")\n", i, move->name,
              source_line_number(&g->system->source, move->at));
  }
}

static bool query_make(struct context_query *q, struct context_search *s, const uint32_t *path) {
  const struct counter_graph *g = s->g;
  *q = (struct context_query){.s = s, .path = path + 1, .length = path[0]};
  collect_moves(q);
  uint64_t segments = count_segments(q);
  if (segments > SEGMENTS_MAX)
    return false;
  q->segments = (uint32_t)segments;
  print_moves(q);
  for (uint32_t i = 0; i < g->nparams; i++)
    text_addf(&q->out, "(declare-const p%" PRIu32 " Int)\n", i);
  declare_state(q);
  assert_any(q, &g->conditions, 0);
  assert_any(q, &g->locations.at[q->path[0]].start, 0);
  text_add(&q->out, "(assert ");
  add_cube(q, &g->conserved, 0);
  text_add(&q->out, ")\n(define-fun stage0 () Int 0)\n");
  for (uint32_t i = 0; i < q->segments && q->out.n < SCRIPT_MAX; i++) {
    add_segment(q);
    add_edge(q);
  }
  text_addf(&q->out, "(assert (= stage%" PRIu32 " %" PRIu32 "))\n", q->states - 1, q->length - 1);
  assert_any(q, &g->locations.at[q->path[q->length - 1]].unsafe, q->states - 1);
  return q->out.n < SCRIPT_MAX;
}

static void query_release(struct context_query *q) {
  vec_release(&q->moves);
  text_release(&q->out);
}

/* ---- a run from a model ---- */

/* The values that were printed for (get-value (x)): ((x 3)) or ((x (- 3))). */
static bool next_value(const char **at, int64_t *out) {
  const char *p = strstr(*at, "((");
  if (!p || !(p = strchr(p, ' ')))
    return false;
  bool negative = !strncmp(p, " (- ", 4);
  char *end;
  long long n = strtoll(p + (negative ? 4 : 1), &end, 10);
  *out = negative ? -n : n;
  *at = end;
  return end > p;
}

static void ask_values(const struct context_query *q, struct text *script) {
  const struct counter_graph *g = q->s->g;
  for (uint32_t i = 0; i < g->nparams; i++)
    text_addf(script, "(get-value (p%" PRIu32 "))\n", i);
  for (uint32_t i = 0; i < g->ncounters; i++)
    text_addf(script, "(get-value (c0_%" PRIu32 "))\n", i);
  for (uint32_t i = 0; i < q->segments; i++) {
    for (size_t k = 0; k < q->moves.n; k++)
      text_addf(script, "(get-value (x%" PRIu32 "_%zu))\n", i, k);
    text_addf(script, "(get-value (edge%" PRIu32 "))\n", i + 1);
  }
}

static bool add_steps(const struct context_query *q, struct counter_run *run, uint32_t transition, int64_t n) {
  if (n < 0 || n > RUN_MAX || run->steps.n + (uint64_t)n > RUN_MAX)
    return false;
  for (; n > 0; n--)
    counter_run_add(run, q->s->g->system, q->s->g->transitions.at[transition].move);
  return true;
}

/* Takes the moves of a location so many times each, in an order in which each of them finds its process: those first
   that only need one to be there. False: none was found. */
static bool take_in_some_order(const struct context_query *q, const struct context_location *l, int64_t *times,
                               int64_t *counters, struct counter_run *run) {
  uint32_t n = q->s->g->ncounters;
  for (bool again = true; again;) {
    again = false;
    for (int stays = 1; stays >= 0 && !again; stays--)
      for (size_t m = 0; m < l->moves.n && !again; m++) {
        const struct context_move *move = &l->moves.at[m];
        bool possible = times[m] > 0 && (move->source == UINT32_MAX) == stays;
        possible = possible && (stays || counters[move->source] > 0);
        for (size_t k = 0; k < move->guard.n && possible; k++)
          if (move->guard.at[k].kind == CONSTRAINT_VISIT)
            possible = counters[visited_counter(q->s, move->guard.at[k].row)] > 0;
        if (!possible)
          continue;
        if (!add_steps(q, run, move->transition, 1))
          return false;
        times[m]--;
        for (uint32_t i = 0; i < n; i++)
          counters[i] += move->by[i];
        again = true;
      }
  }
  for (size_t m = 0; m < l->moves.n; m++)
    if (times[m] > 0)
      return false;
  return true;
}

static bool read_steps(const struct context_query *q, const char **at, int64_t *counters, struct counter_run *run) {
  uint32_t stage = 0;
  int64_t n;
  for (uint32_t i = 0; i < q->segments; i++) {
    int64_t *times = memory_alloc((q->moves.n + 1) * sizeof *times), *here;
    bool ok = true;
    for (size_t k = 0; k < q->moves.n && ok; k++)
      ok = next_value(at, &times[k]);
    const struct context_location *l = &q->s->locations[q->path[stage]];
    here = memory_alloc((l->moves.n + 1) * sizeof *here); /* by move of the location, in its order */
    for (size_t m = 0; m < l->moves.n; m++) {
      here[m] = 0;
      for (size_t k = 0; k < q->moves.n && ok; k++)
        if ((q->moves.at[k].stages >> stage & 1) && q->moves.at[k].transitions[stage] == l->moves.at[m].transition)
          here[m] += times[k];
    }
    for (size_t m = 0; m < l->moves.n && ok && !l->unordered; m++) {
      ok = add_steps(q, run, l->moves.at[m].transition, here[m]);
      for (uint32_t c = 0; c < q->s->g->ncounters && ok; c++)
        counters[c] += here[m] * l->moves.at[m].by[c];
    }
    ok = ok && (!l->unordered || take_in_some_order(q, l, here, counters, run));
    memory_free(here);
    memory_free(times);
    if (!ok || !next_value(at, &n) || n >= (int64_t)q->s->g->transitions.n)
      return false;
    if (n >= 0) {
      add_steps(q, run, (uint32_t)n, 1);
      stage += stage + 1 < q->length;
    }
  }
  return true;
}

static bool read_run(const struct context_query *q, const char *printed, struct counter_run *run) {
  const struct counter_graph *g = q->s->g;
  const struct location *l = &g->locations.at[q->path[0]];
  int64_t *point = memory_alloc((g->nvars + (size_t)1) * sizeof *point);
  bool ok = true, started = false;
  counter_run_init(run, g->system);
  for (uint32_t i = 0; i < g->nvars && ok; i++)
    ok = next_value(&printed, &point[i]);
  for (uint32_t i = 0; i < g->nparams && ok; i++)
    run->params[g->param[i]] = point[i];
  for (uint32_t i = 0; i < g->ncounters && ok; i++)
    run->start.counters[i] = point[g->nparams + i];
  for (size_t i = 0; i < l->start.n && ok && !started; i++)
    if (cube_holds(&l->start.at[i], point)) {
      memcpy(run->start.controls, l->started.at[i], g->system->ncontrols * sizeof(int64_t));
      started = true;
    }
  ok = ok && started && read_steps(q, &printed, point + g->nparams, run);
  memory_free(point);
  if (!ok)
    counter_run_release(run);
  return ok;
}

/* Asks the query, with the sum of the parameters limited. */
static enum answer ask(const struct context_query *q, int64_t limit, const struct engine_watch *watch,
                       struct counter_run *run) {
  struct text script = {0}, printed = {0};
  enum answer answer = ANSWER_UNKNOWN;
  text_addf(&script, "(set-logic QF_LIA)\n%s", q->out.at);
  if (limit >= 0) {
    text_add(&script, "(assert (<= (+ 0 0");
    for (uint32_t i = 0; i < q->s->g->nparams; i++)
      text_addf(&script, " p%" PRIu32, i);
    text_addf(&script, ") %" PRId64 "))\n", limit);
  }
  text_add(&script, "(check-sat)\n");
  if (run)
    ask_values(q, &script);
  if (smtlib_run(script.at, watch ? watch->stop : NULL, &printed)) {
    const char *said = text_or_empty(&printed);
    if (!strncmp(said, "unsat\n", 6))
      answer = ANSWER_NO;
    else if (!strncmp(said, "sat\n", 4))
      answer = !run || read_run(q, said + 4, run) ? ANSWER_YES : ANSWER_UNKNOWN;
  }
  text_release(&script);
  text_release(&printed);
  return answer;
}

/* Small parameters first: a run for a person to read. */
static enum answer find_run(const struct context_query *q, const struct engine_watch *watch, struct counter_run *run) {
  for (int64_t limit = 3; limit <= 48; limit *= 2) {
    enum answer answer = ask(q, limit, watch, run);
    if (answer != ANSWER_NO)
      return answer;
  }
  return ask(q, -1, watch, run);
}

/* ---- the engine ---- */

static void print_comment(const struct context_search *s, struct text *out) {
  const struct counter_graph *g = s->g;
  struct text all = {0}, conditions = {0};
  counter_params_print(g->system, &all);
  counter_conditions_print(g->system, !g->open, &conditions);
  text_addf(out, "; %s: no run violates '%s'\n", g->system->name, g->property->name);
  if (all.n)
    text_addf(out, "; for all %s%s%s\n", all.at, conditions.n ? " with " : "", text_or_empty(&conditions));
  text_release(&all);
  text_release(&conditions);
  text_addf(
      out,
      "; %zu question%s, to be answered \"unsat\": is there a run of this form? Each comparison in a guard changes\n"
      "; at most once, so every run consists of so many segments in which they stay as they are.\n"
      "; p: parameters; c0_0, c0_1, ...: counters at the start, c1_0, ...: after the first segment; x0_0, ...: how\n"
      "; often each move is taken in it\n",
      s->paths.n, s->paths.n == 1 ? "" : "s");
  for (uint32_t i = 0; i < g->nparams; i++)
    text_addf(out, "; p%" PRIu32 " %s\n", i, g->system->params[g->param[i]].name);
  for (uint32_t i = 0; i < g->ncounters; i++)
    text_addf(out, "; c_%" PRIu32 " %s\n", i, g->system->counters[i].name);
  text_add(out, "(set-logic QF_LIA)\n");
}

static void answer_paths(struct context_search *s, const struct engine_watch *watch, struct engine_result *out) {
  struct text script = {0};
  struct context_query *q = memory_alloc(sizeof *q);
  bool safe = true;
  print_comment(s, &script);
  for (size_t i = 0; i < s->paths.n && safe; i++) {
    enum answer answer = ANSWER_UNKNOWN;
    if (query_make(q, s, s->paths.at[i])) {
      engine_progress(out, watch, "a query of %" PRIu32 " segments, path %zu of %zu", q->segments, i + 1, s->paths.n);
      answer = ask(q, -1, watch, NULL);
      text_addf(&script, "(push 1)\n%s(check-sat)\n(pop 1)\n", q->out.at);
      if (answer == ANSWER_YES && find_run(q, watch, &out->run) == ANSWER_YES) {
        out->kind = ENGINE_UNSAFE;
        engine_progress(out, watch, "a counterexample of %zu moves", out->run.steps.n);
      }
      if (q->segments > out->depth)
        out->depth = q->segments;
    }
    query_release(q);
    safe = answer == ANSWER_NO && script.n < SCRIPT_MAX;
    if (!safe && out->kind == ENGINE_UNDECIDED)
      engine_progress(out, watch, "the query of path %zu of %zu was not answered", i + 1, s->paths.n);
  }
  if (safe && s->paths.n) {
    out->kind = ENGINE_SAFE;
    out->script = arena_strndup(&out->arena, script.at, script.n);
    out->questions = (uint32_t)s->paths.n;
    engine_progress(out, watch, "no run of at most %" PRIu32 " segments", out->depth);
  }
  memory_free(q);
  text_release(&script);
}

void engine_contexts(const struct counter_graph *g, const struct engine_watch *watch, struct engine_result *out) {
  struct context_search s = {.g = g};
  arena_init(&s.arena);
  s.locations = memory_alloc((g->locations.n + (size_t)1) * sizeof *s.locations);
  memset(s.locations, 0, (g->locations.n + (size_t)1) * sizeof *s.locations);
  analyse(&s);
  find_leads(&s);
  for (uint32_t l = 0; l < g->locations.n && !s.why; l++)
    if (g->locations.at[l].start.n && s.leads[l])
      find_paths(&s, l);
  if (!s.why && !s.paths.n)
    s.why = "no path through the control leads to an unsafe state";
  if (s.why)
    engine_progress(out, watch, "not for this system: %s", s.why);
  else
    answer_paths(&s, watch, out);
  for (uint32_t l = 0; l < g->locations.n; l++) {
    for (size_t i = 0; i < s.locations[l].moves.n; i++)
      vec_release(&s.locations[l].moves.at[i].guard);
    vec_release(&s.locations[l].moves);
  }
  memory_free(s.locations);
  vec_release(&s.path);
  vec_release(&s.paths);
  arena_release(&s.arena);
}
