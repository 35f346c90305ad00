/* Explicit-state search of small instances: all values of the parameters with a small sum, smallest sums first. It only
   finds violations. These need many moves where symbolic search of runs gets stuck, but rarely many processes.

   Guards and updates are specialised for the values of the parameters, so a state costs a few additions for each
   transition of its location. An instance that is too large is searched in part. */
#include "param/engine.h"

#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

enum {
  SUM_MAX = 40,             /* of the parameters */
  POINTS_MAX = 200000,      /* values of the parameters that are tried */
  INSTANCE_STATES = 150000, /* in one instance */
  SEARCH_STATES = 1000000,  /* in all */
  STATE_CELLS = 48 << 20,   /* cells of states in one instance */
  STARTS_MAX = 20000,       /* initial states of one instance */
  START_STEPS = 400000,     /* steps of their enumeration */
  PARAMS_MAX = 12,
};

#define NO_STATE UINT32_MAX
#define VALUE_MAX (INT32_MAX / 4) /* of a counter */

struct sparse_row { /* constant + the sum of its cells, with the parameters put in */
  int64_t constant;
  uint32_t first, n; /* cells */
  uint32_t target;   /* of an update: the counter */
  bool equal;        /* of a guard: == 0, else >= 0 */
};

struct sparse_cell {
  uint32_t counter;
  int64_t by;
};

struct explicit_transition {
  uint32_t index;
  VEC(struct sparse_row) guard, update; /* of an update: only counters that change */
};

struct explicit_state {
  uint32_t parent, by; /* the transition; of an initial state: the index of its start cube */
  uint32_t location;
};

struct explicit_search {
  const struct counter_graph *g;
  const struct engine_watch *watch;
  VEC(struct sparse_cell) cells;
  VEC(struct explicit_transition) transitions; /* of all locations, in their order */
  uint32_t *first;                             /* by location: its first transition */
  int64_t *point;                              /* parameters, then counters */
  VEC(struct explicit_state) states;
  VEC(int32_t) values; /* of the counters, state by state */
  uint32_t *slots;     /* hash table of states */
  size_t nslots;
  uint64_t total, most, start_steps, starts; /* states so far, and how many there may be; of initial states */
  uint32_t found;                            /* an unsafe state */
  bool full, some_full, stopped;
};

static bool is_stopped(struct explicit_search *s) {
  if (s->watch && s->watch->stop && *s->watch->stop)
    s->stopped = true;
  return s->stopped;
}

/* ---- guards and updates ---- */

/* False: numbers are too large. */
static bool specialise(struct explicit_search *s, const int64_t *row, struct sparse_row *out) {
  out->constant = row[0];
  out->first = (uint32_t)s->cells.n;
  for (uint32_t i = 0; i < s->g->nparams; i++) {
    int64_t part;
    if (__builtin_mul_overflow(row[1 + i], s->point[i], &part) ||
        __builtin_add_overflow(out->constant, part, &out->constant))
      return false;
  }
  for (uint32_t i = 0; i < s->g->ncounters; i++)
    if (row[1 + s->g->nparams + i])
      vec_push(&s->cells, ((struct sparse_cell){i, row[1 + s->g->nparams + i]}));
  out->n = (uint32_t)s->cells.n - out->first;
  return true;
}

static bool row_value(const struct explicit_search *s, const struct sparse_row *r, const int32_t *values,
                      int64_t *out) {
  int64_t sum = r->constant, part;
  for (uint32_t i = 0; i < r->n; i++) {
    const struct sparse_cell *c = &s->cells.at[r->first + i];
    if (__builtin_mul_overflow(c->by, (int64_t)values[c->counter], &part) || __builtin_add_overflow(sum, part, &sum))
      return false;
  }
  *out = sum;
  return true;
}

static bool is_unchanged(const struct explicit_search *s, const struct sparse_row *r, uint32_t counter) {
  return r->constant == 0 && r->n == 1 && s->cells.at[r->first].counter == counter && s->cells.at[r->first].by == 1;
}

/* All transitions for the present values of the parameters. False: numbers are too large. */
static bool specialise_all(struct explicit_search *s) {
  bool ok = true;
  s->cells.n = 0;
  for (size_t i = 0; i < s->transitions.n && ok; i++) {
    struct explicit_transition *to = &s->transitions.at[i];
    const struct counter_transition *t = &s->g->transitions.at[to->index];
    struct sparse_row r = {0};
    to->guard.n = to->update.n = 0;
    for (uint32_t k = 0; k < t->guard.n && ok; k++) {
      ok = specialise(s, cube_row(&t->guard, k), &r);
      r.equal = t->guard.equal.at[k];
      vec_push(&to->guard, r);
    }
    for (uint32_t k = 0; k < s->g->ncounters && ok; k++) {
      ok = specialise(s, t->update[k], &r);
      r.target = k;
      if (ok && !is_unchanged(s, &r, k))
        vec_push(&to->update, r);
    }
  }
  return ok;
}

/* ---- states ---- */

static uint64_t hash_of(const int32_t *values, uint32_t n, uint32_t location) {
  uint64_t h = 0x9e3779b97f4a7c15u ^ location;
  for (uint32_t i = 0; i < n; i++) {
    h = (h ^ (uint64_t)(uint32_t)values[i]) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

static void grow(struct explicit_search *s) {
  uint32_t n = s->g->ncounters;
  s->nslots = s->nslots ? s->nslots * 2 : 4096;
  memory_free(s->slots);
  s->slots = memory_alloc(s->nslots * sizeof *s->slots);
  memset(s->slots, 0xff, s->nslots * sizeof *s->slots);
  for (uint32_t i = 0; i < s->states.n; i++) {
    size_t at = hash_of(s->values.at + (size_t)i * n, n, s->states.at[i].location) & (s->nslots - 1);
    while (s->slots[at] != NO_STATE)
      at = (at + 1) & (s->nslots - 1);
    s->slots[at] = i;
  }
}

static bool is_unsafe(struct explicit_search *s, uint32_t location, const int32_t *values) {
  const cube_vec *unsafe = &s->g->locations.at[location].unsafe;
  for (uint32_t i = 0; i < s->g->ncounters; i++)
    s->point[s->g->nparams + i] = values[i];
  for (size_t i = 0; i < unsafe->n; i++)
    if (cube_holds(&unsafe->at[i], s->point))
      return true;
  return false;
}

static void add_state(struct explicit_search *s, const int32_t *values, struct explicit_state state) {
  uint32_t n = s->g->ncounters;
  if (s->states.n * 2 >= s->nslots)
    grow(s);
  size_t at = hash_of(values, n, state.location) & (s->nslots - 1);
  for (; s->slots[at] != NO_STATE; at = (at + 1) & (s->nslots - 1)) {
    uint32_t other = s->slots[at];
    if (s->states.at[other].location == state.location &&
        !memcmp(s->values.at + (size_t)other * n, values, n * sizeof *values))
      return;
  }
  if (s->states.n >= INSTANCE_STATES || s->values.n + n > STATE_CELLS) {
    s->full = true;
    return;
  }
  s->slots[at] = (uint32_t)s->states.n;
  vec_push(&s->states, state);
  for (uint32_t i = 0; i < n; i++)
    vec_push(&s->values, values[i]);
  if (s->found == NO_STATE && is_unsafe(s, state.location, values))
    s->found = (uint32_t)s->states.n - 1;
}

static void take(struct explicit_search *s, uint32_t from, const struct explicit_transition *t, int32_t *next) {
  uint32_t n = s->g->ncounters;
  const int32_t *now = s->values.at + (size_t)from * n;
  int64_t x;
  for (size_t i = 0; i < t->guard.n; i++)
    if (!row_value(s, &t->guard.at[i], now, &x) || (t->guard.at[i].equal ? x != 0 : x < 0))
      return;
  memcpy(next, now, n * sizeof *next);
  for (size_t i = 0; i < t->update.n; i++) {
    if (!row_value(s, &t->update.at[i], now, &x) || x < 0 || x > VALUE_MAX) {
      s->full = true; /* a state that cannot be stored; the run is not followed */
      return;
    }
    next[t->update.at[i].target] = (int32_t)x;
  }
  add_state(s, next, (struct explicit_state){from, t->index, s->g->transitions.at[t->index].to});
}

/* ---- initial states ---- */

/* The largest value that the counter can have in the cube, if those before it have their values. -1: none; `cap` if
   nothing limits it. */
static int64_t upper_bound(const struct explicit_search *s, const struct cube *c, uint32_t counter, int64_t cap) {
  int64_t most = cap;
  for (uint32_t i = 0; i < c->n; i++)
    for (int side = 0; side < (c->equal.at[i] ? 2 : 1); side++) {
      const int64_t *row = cube_row(c, i);
      __int128 left = side ? -(__int128)row[0] : row[0];
      bool open = false; /* something that is not known yet can make it as large as one likes */
      for (uint32_t v = 0; v < s->g->nvars; v++) {
        int64_t by = side ? -row[1 + v] : row[1 + v];
        if (v < s->g->nparams + counter)
          left += (__int128)by * s->point[v];
        else if (v > s->g->nparams + counter)
          open |= by > 0;
      }
      int64_t by = side ? -row[1 + s->g->nparams + counter] : row[1 + s->g->nparams + counter];
      if (open || by > 0 || (by == 0 && left >= 0))
        continue;
      if (left < 0)
        return -1;
      if (left / -by < most)
        most = (int64_t)(left / -by);
    }
  return most;
}

/* The initial states in a cube, counter by counter. */
static void add_starts(struct explicit_search *s, uint32_t location, uint32_t cube, uint32_t counter, int64_t cap,
                       int32_t *values) {
  const struct cube *c = &s->g->locations.at[location].start.at[cube];
  if (s->starts >= STARTS_MAX || s->start_steps++ >= START_STEPS || is_stopped(s)) {
    s->full = true;
    return;
  }
  if (counter == s->g->ncounters) {
    if (cube_holds(c, s->point) && cube_holds(&s->g->naturals, s->point)) {
      s->starts++;
      add_state(s, values, (struct explicit_state){NO_STATE, cube, location});
      for (uint32_t i = 0; i < counter; i++)
        s->point[s->g->nparams + i] = values[i];
    }
    return;
  }
  int64_t most = upper_bound(s, c, counter, cap);
  for (int64_t x = 0; x <= most && s->found == NO_STATE && s->start_steps < START_STEPS && !s->stopped; x++) {
    values[counter] = (int32_t)x;
    s->point[s->g->nparams + counter] = x;
    add_starts(s, location, cube, counter + 1, cap, values);
  }
}

/* ---- one instance ---- */

static void search_instance(struct explicit_search *s, int64_t sum) {
  uint32_t n = s->g->ncounters;
  int32_t *next = memory_alloc((n + (size_t)1) * sizeof *next);
  s->states.n = s->values.n = 0;
  s->starts = s->start_steps = 0;
  s->full = false;
  if (s->nslots)
    memset(s->slots, 0xff, s->nslots * sizeof *s->slots);
  if (specialise_all(s)) {
    for (uint32_t l = 0; l < s->g->locations.n; l++)
      for (uint32_t i = 0; i < s->g->locations.at[l].start.n && s->found == NO_STATE; i++)
        add_starts(s, l, i, 0, sum + 1, next);
    for (uint32_t i = 0; i < s->states.n && s->found == NO_STATE; i++) {
      uint32_t l = s->states.at[i].location;
      if (i % 1024 == 0 && is_stopped(s))
        break;
      for (uint32_t t = s->first[l]; t < s->first[l + 1] && s->found == NO_STATE; t++)
        take(s, i, &s->transitions.at[t], next);
    }
  } else {
    s->full = true;
  }
  s->total += s->states.n + 1;
  s->some_full |= s->full;
  memory_free(next);
}

static void store_run(struct explicit_search *s, struct engine_result *out) {
  const struct counter_graph *g = s->g;
  VEC(uint32_t) path = {0};
  uint32_t first = s->found;
  for (; s->states.at[first].parent != NO_STATE; first = s->states.at[first].parent)
    vec_push(&path, s->states.at[first].by);
  const struct explicit_state *start = &s->states.at[first];
  counter_run_init(&out->run, g->system);
  for (uint32_t i = 0; i < g->nparams; i++)
    out->run.params[g->param[i]] = s->point[i];
  for (uint32_t i = 0; i < g->ncounters; i++)
    out->run.start.counters[i] = s->values.at[(size_t)first * g->ncounters + i];
  memcpy(out->run.start.controls, g->locations.at[start->location].started.at[start->by],
         g->system->ncontrols * sizeof(int64_t));
  for (size_t i = path.n; i-- > 0;)
    counter_run_add(&out->run, g->system, g->transitions.at[path.at[i]].move);
  out->kind = ENGINE_UNSAFE;
  out->depth = (uint32_t)path.n;
  vec_release(&path);
}

/* ---- the values of the parameters ---- */

static bool params_fit(const struct explicit_search *s) {
  for (size_t i = 0; i < s->g->conditions.n; i++)
    if (cube_holds(&s->g->conditions.at[i], s->point))
      return true;
  return false;
}

/* All instances whose parameters have this sum, with those before `param` chosen. */
static void search_sum(struct explicit_search *s, uint32_t param, int64_t left, int64_t sum, uint32_t *points) {
  if (s->found != NO_STATE || is_stopped(s) || s->total >= s->most || *points >= POINTS_MAX)
    return;
  if (param + 1 >= s->g->nparams) {
    if (s->g->nparams)
      s->point[param] = left;
    (*points)++;
    for (uint32_t i = 0; i < s->g->ncounters; i++)
      s->point[s->g->nparams + i] = 0;
    if (params_fit(s))
      search_instance(s, sum);
    return;
  }
  for (int64_t x = left; x >= 0 && s->found == NO_STATE; x--) {
    s->point[param] = x;
    search_sum(s, param + 1, left - x, sum, points);
  }
}

/* ---- the engine ---- */

static bool list_transitions(struct explicit_search *s) {
  const struct counter_graph *g = s->g;
  for (uint32_t l = 0; l < g->locations.n; l++) {
    s->first[l] = (uint32_t)s->transitions.n;
    for (uint32_t i = 0; i < g->transitions.n; i++) {
      if (g->transitions.at[i].from != l || g->transitions.at[i].repeats)
        continue;
      if (g->transitions.at[i].namounts)
        return false;
      vec_push(&s->transitions, ((struct explicit_transition){.index = i}));
    }
  }
  s->first[g->locations.n] = (uint32_t)s->transitions.n;
  return true;
}

void engine_explicit(const struct counter_graph *g, const struct engine_watch *watch, struct engine_result *out) {
  engine_explicit_within(g, SEARCH_STATES, watch, out);
}

void engine_explicit_within(const struct counter_graph *g, uint64_t states, const struct engine_watch *watch,
                            struct engine_result *out) {
  struct explicit_search s = {.g = g, .watch = watch, .found = NO_STATE, .most = states};
  uint32_t points = 0;
  s.first = memory_alloc((g->locations.n + (size_t)2) * sizeof *s.first);
  s.point = memory_alloc((g->nvars + (size_t)1) * sizeof *s.point);
  memset(s.point, 0, (g->nvars + (size_t)1) * sizeof *s.point);
  if (g->nparams > PARAMS_MAX)
    engine_progress(out, watch, "not for this system: it has too many parameters");
  else if (!list_transitions(&s))
    engine_progress(out, watch, "not for this system: a move has amounts");
  else
    for (int64_t sum = 0; sum <= (g->nparams ? SUM_MAX : 0) && s.found == NO_STATE; sum++) {
      search_sum(&s, 0, sum, sum, &points);
      if (s.found != NO_STATE)
        break;
      if (is_stopped(&s) || s.total >= s.most || points >= POINTS_MAX)
        break;
      engine_progress(out, watch, "%s of parameters with a sum of at most %" PRId64,
                      s.some_full ? "searched a part of the states" : "no counterexample in all states", sum);
    }
  if (s.found != NO_STATE) {
    store_run(&s, out);
    engine_progress(out, watch, "a counterexample of %zu moves", out->run.steps.n);
  }
  for (size_t i = 0; i < s.transitions.n; i++) {
    vec_release(&s.transitions.at[i].guard);
    vec_release(&s.transitions.at[i].update);
  }
  vec_release(&s.transitions);
  vec_release(&s.cells);
  vec_release(&s.states);
  vec_release(&s.values);
  memory_free(s.slots);
  memory_free(s.first);
  memory_free(s.point);
}
