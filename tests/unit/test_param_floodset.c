/* FloodSet, process by process, against models/counters/floodset.rondo. */
#include "simulation.h"

enum { MOST = 4 };

struct world {
  int n, t, rounds;
  struct sim *sim;
  struct sim_table seen;
  bool violated;
};

struct state {
  uint8_t knows[MOST], crashed[MOST], round; /* knows: the value that is followed */
};

static int crashes(const struct world *w, const struct state *s) {
  int sum = 0;
  for (int p = 0; p < w->n; p++)
    sum += s->crashed[p];
  return sum;
}

static struct view view_of(const struct world *w, const struct state *s) {
  struct view v = view_new(w->sim);
  for (int p = 0; p < w->n; p++)
    if (!s->crashed[p])
      v.counters[counter_named(w->sim, s->knows[p] ? "knows" : "lacks")]++;
  v.counters[counter_named(w->sim, "crashed")] = crashes(w, s);
  v.counters[counter_named(w->sim, "rounds")] = s->round;
  return v;
}

static void explore(struct world *w, const struct state *s);

/* Whom does each that crashes now reach? One after the other. */
static void exchange(struct world *w, const struct state *s, unsigned crashing, struct state next, int p) {
  if (p < w->n && (crashing >> p & 1) && s->knows[p]) {
    for (unsigned reached = 0; reached < 1u << w->n; reached++) {
      struct state more = next;
      for (int q = 0; q < w->n; q++)
        more.knows[q] |= (uint8_t)(reached >> q & 1);
      exchange(w, s, crashing, more, p + 1);
    }
    return;
  }
  if (p < w->n) {
    for (int q = 0; q < w->n && s->knows[p] && !s->crashed[p]; q++)
      next.knows[q] = 1;
    exchange(w, s, crashing, next, p + 1);
    return;
  }
  for (int q = 0; q < w->n; q++)
    next.crashed[q] |= (uint8_t)(crashing >> q & 1);
  next.round++;
  struct view from = view_of(w, s), to = view_of(w, &next);
  sim_step(w->sim, &from, &to);
  explore(w, &next);
}

static void explore(struct world *w, const struct state *s) {
  bool fresh, some = false, others = false;
  table_put(&w->seen, s, &fresh);
  if (!fresh)
    return;
  if (s->round == w->rounds) {
    for (int p = 0; p < w->n; p++) {
      some |= !s->crashed[p] && s->knows[p];
      others |= !s->crashed[p] && !s->knows[p];
    }
    struct view v = view_of(w, s);
    assert_int_equal(some && others, sim_unsafe(w->sim, &v));
    w->violated |= some && others;
    return;
  }
  for (unsigned crashing = 0; crashing < 1u << w->n; crashing++) {
    bool possible = crashes(w, s) + __builtin_popcount(crashing) <= w->t;
    for (int p = 0; p < w->n; p++)
      possible &= !(crashing >> p & 1 && s->crashed[p]);
    if (possible)
      exchange(w, s, crashing, *s, 0);
  }
}

static bool simulate(int n, int t, int rounds) {
  struct sim sim;
  int64_t params[] = {n, t, rounds};
  sim_open(&sim, "models/counters/floodset.rondo", params, n, 1);
  struct world w = {n, t, rounds, &sim, {.size = sizeof(struct state)}, false};
  for (unsigned knows = 0; knows < 1u << n; knows++) {
    struct state start = {0};
    for (int p = 0; p < n; p++)
      start.knows[p] = knows >> p & 1;
    struct view v = view_of(&w, &start);
    assert_true(sim_starts(&sim, &v));
    explore(&w, &start);
  }
  table_free(&w.seen);
  sim_close(&sim);
  return w.violated;
}

/* It fails exactly where `rondo threshold` says so. */
static void floodset_needs_more_rounds_than_crashes(void **unused) {
  (void)unused;
  for (int n = 1; n <= MOST; n++)
    for (int t = 0; t <= n; t++)
      for (int rounds = 0; rounds <= 3; rounds++)
        assert_int_equal(simulate(n, t, rounds), rounds <= t && n >= rounds + 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(floodset_needs_more_rounds_than_crashes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
