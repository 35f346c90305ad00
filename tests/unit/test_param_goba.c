/* GOBA as models/counters/goba.rondo reconstructs it, process by process, against that counter
 * system. */
#include "simulation.h"

enum { MOST = 5 };
enum stage { SPREAD, DECIDE };

struct world {
  int n, enough; /* enough: N - t */
  unsigned faulty;
  struct sim *sim;
  struct sim_table seen;
  bool violated;
};

struct process_state {
  uint8_t estimate; /* 1: the message */
  uint8_t from;     /* 0: nobody, 1: it is the sender, c + 2: coordinator c */
  uint8_t decided;
  uint8_t fresh; /* for the view only */
};
struct state {
  struct process_state p[MOST];
  uint8_t coordinator, stage;
  uint8_t current; /* for the view only: what the fresh ones hold */
};

static bool is_faulty(const struct world *w, int p) { return w->faulty >> p & 1; }

static struct view view_of(const struct world *w, const struct state *s) {
  struct view v = view_new(w->sim);
  for (int p = 0; p < w->n; p++) {
    const struct process_state *x = &s->p[p];
    char name[8];
    char held = x->fresh ? 'A' : x->estimate == s->current ? 'S' : 'O';
    snprintf(name, sizeof name, "%s%c%c", x->decided ? "dec" : "und", is_faulty(w, p) ? 'F' : 'C', held);
    v.counters[counter_named(w->sim, name)]++;
    assert_true(!x->fresh || x->estimate == s->current);
  }
  v.controls[control_named(w->sim, "stage")] = s->stage;
  if (s->stage == DECIDE)
    v.controls[control_named(w->sim, "coordinator")] = is_faulty(w, s->coordinator);
  return v;
}

static bool violates(const struct world *w, const struct state *s) {
  unsigned values = 0;
  for (int p = 0; p < w->n; p++)
    if (!is_faulty(w, p) && s->p[p].decided)
      values |= 1u << s->p[p].estimate;
  return values == 3;
}

static void explore(struct world *w, const struct state *s);

static void emit(struct world *w, const struct state *before, const struct state *after) {
  struct view from = view_of(w, before), to = view_of(w, after);
  sim_step(w->sim, &from, &to);
  if (violates(w, after)) {
    w->violated = true;
    assert_true(sim_unsafe(w->sim, &to));
  }
  explore(w, after);
}

static struct state next_turn(struct state s) {
  s.coordinator++;
  s.stage = SPREAD;
  return s;
}

/* Messages between correct processes arrive, and those to oneself. */
static void sure_and_possible(const struct world *w, int c, unsigned of, unsigned *must, unsigned *may) {
  *must = *may = 0;
  for (int p = 0; p < w->n; p++)
    if (of >> p & 1)
      *(p == c || (!is_faulty(w, p) && !is_faulty(w, c)) ? must : may) |= 1u << p;
}

/* Rounds 2 and 3: whom the estimate reaches, and who is heard to say so. */
static void spread(struct world *w, const struct state *s, uint8_t estimate) {
  unsigned all = (1u << w->n) - 1, must, may;
  int c = s->coordinator;
  sure_and_possible(w, c, all, &must, &may);
  for (unsigned some = may;; some = (some - 1) & may) {
    struct state next = *s;
    unsigned adopted = 0, sure, possible;
    for (int p = 0; p < w->n; p++)
      if ((must | some) >> p & 1 && (!s->p[p].decided || s->p[p].estimate == estimate))
        adopted |= 1u << p;
    for (int p = 0; p < w->n && adopted; p++) {
      next.p[p].fresh = adopted >> p & 1 || (s->p[p].fresh && estimate == s->current);
      if (adopted >> p & 1) {
        next.p[p].estimate = estimate;
        next.p[p].from = (uint8_t)(c + 2);
      }
    }
    if (adopted)
      next.current = estimate;
    sure_and_possible(w, c, adopted, &sure, &possible);
    if (__builtin_popcount(sure | possible) >= w->enough) {
      struct state more = next;
      more.stage = DECIDE;
      emit(w, s, &more);
    }
    if (__builtin_popcount(sure) < w->enough) {
      struct state over = next_turn(next);
      emit(w, s, &over);
    }
    if (some == 0)
      break;
  }
}

/* Round 1: any requests that may arrive, if they are enough. */
static void request(struct world *w, const struct state *s) {
  unsigned must, may, estimates = 0;
  sure_and_possible(w, s->coordinator, (1u << w->n) - 1, &must, &may);
  for (unsigned some = may;; some = (some - 1) & may) {
    int latest = -1;
    if (__builtin_popcount(must | some) >= w->enough)
      for (int p = 0; p < w->n; p++)
        if ((must | some) >> p & 1 && (latest < 0 || s->p[p].from > s->p[latest].from))
          latest = p;
    if (latest >= 0)
      estimates |= 1u << s->p[latest].estimate;
    if (some == 0)
      break;
  }
  for (uint8_t e = 0; e < 2; e++)
    if (estimates >> e & 1)
      spread(w, s, e);
  struct state over = next_turn(*s); /* it crashed, or heard too few */
  if (is_faulty(w, s->coordinator))
    emit(w, s, &over);
}

static void decide(struct world *w, const struct state *s) {
  unsigned reached = 0, must, may;
  for (int p = 0; p < w->n; p++)
    if (!s->p[p].decided && s->p[p].from == s->coordinator + 2)
      reached |= 1u << p;
  sure_and_possible(w, s->coordinator, reached, &must, &may);
  for (unsigned some = may;; some = (some - 1) & may) {
    struct state next = next_turn(*s);
    for (int p = 0; p < w->n; p++)
      if ((must | some) >> p & 1)
        next.p[p].decided = 1;
    emit(w, s, &next);
    if (some == 0)
      break;
  }
}

static void explore(struct world *w, const struct state *s) {
  bool fresh;
  table_put(&w->seen, s, &fresh);
  if (!fresh || s->coordinator == w->n)
    return;
  if (s->stage == SPREAD)
    request(w, s);
  else
    decide(w, s);
}

static bool simulate(const char *path, int n, int t, unsigned faulty) {
  struct sim sim;
  int64_t params[] = {n, t};
  struct state start = {0};
  sim_open(&sim, path, params, n, 2);
  struct world w = {n, n - t, faulty, &sim, {.size = sizeof(struct state)}, false};
  start.p[0] = (struct process_state){1, 1, 0, 1};
  start.current = 1;
  struct view v = view_of(&w, &start);
  assert_true(sim_starts(&sim, &v));
  explore(&w, &start);
  table_free(&w.seen);
  sim_close(&sim);
  return w.violated;
}

/* Some t of them are faulty: whichever. */
static bool simulate_all(const char *path, int n, int t) {
  bool violated = false;
  for (unsigned faulty = 0; faulty < 1u << n; faulty++)
    if (__builtin_popcount(faulty) == t)
      violated |= simulate(path, n, t, faulty);
  return violated;
}

static void goba_bears_a_minority(void **unused) {
  (void)unused;
  for (int n = 1; n <= 4; n++)
    for (int t = 0; 2 * t < n; t++)
      assert_false(simulate_all("models/counters/goba.rondo", n, t));
}

static void goba_does_not_bear_half(void **unused) {
  (void)unused;
  assert_false(simulate_all("models/counters/goba_broken.rondo", 2, 1));
  assert_false(simulate_all("models/counters/goba_broken.rondo", 3, 2));
  assert_true(simulate_all("models/counters/goba_broken.rondo", 4, 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(goba_bears_a_minority),
      cmocka_unit_test(goba_does_not_bear_half),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
