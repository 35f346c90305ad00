/* The Byzantine broadcast primitive (Alberti et al. 2016, algorithm 2), process by process and
   phase by phase, against the counter systems in models/counters. */
#include "simulation.h"

enum { MOST = 5 };

struct world {
  int n, t, f; /* correct processes are 0 .. n - f - 1 */
  bool relay;  /* the counter system starts when the first has accepted */
  struct sim *sim;
  struct sim_table seen;
  bool violated;
};

struct process_state {
  uint8_t informed, echoed, accepted;
  uint8_t lies; /* from which of the faulty processes it has an Echo */
};
struct state {
  struct process_state p[MOST];
  uint8_t phase; /* 0: Init was received, nothing was answered */
};

static int correct(const struct world *w) { return w->n - w->f; }

static int echoes(const struct world *w, const struct state *s) {
  int sum = 0;
  for (int p = 0; p < correct(w); p++)
    sum += s->p[p].echoed;
  return sum;
}

static int received(const struct world *w, const struct state *s, int p) {
  return echoes(w, s) + __builtin_popcount(s->p[p].lies);
}

/* F is what one process has got from faulty ones: zero between the moves of two processes, unless
 * asked for. */
static struct view view_of(const struct world *w, const struct state *s, int lies) {
  struct view v = view_new(w->sim);
  for (int p = 0; p < correct(w); p++) {
    const struct process_state *x = &s->p[p];
    const char *name = x->accepted ? "AC" : x->echoed ? "SE" : x->informed ? "RI" : "IT";
    v.counters[counter_named(w->sim, name)]++;
    v.counters[counter_named(w->sim, "echoes")] += x->echoed || x->accepted;
  }
  v.counters[counter_named(w->sim, "F")] = lies;
  return v;
}

static bool any_accepted(const struct world *w, const struct state *s) {
  bool any = false;
  for (int p = 0; p < correct(w); p++)
    any |= s->p[p].accepted;
  return any;
}

/* All Echo messages that are due were sent. */
static bool settled(const struct world *w, const struct state *s) {
  for (int p = 0; p < correct(w); p++)
    if (!s->p[p].echoed && (s->p[p].informed || s->p[p].accepted || received(w, s, p) >= w->n - 2 * w->t))
      return false;
  return true;
}

/* What the property forbids, said of processes: name is its name. */
static bool violates(const struct world *w, const struct state *s, const char *name, int p) {
  bool all = echoes(w, s) == correct(w);
  int enough = w->n - w->t;
  if (strcmp(name, "unforgeability") == 0)
    return s->p[p].accepted;
  if (!settled(w, s) || s->p[p].accepted)
    return false;
  if (strcmp(name, "relay_a") == 0)
    return !s->p[p].echoed && received(w, s, p) < w->t + 1;
  return all && received(w, s, p) < enough;
}

static void explore(struct world *w, const struct state *s);

static void judge(struct world *w, const struct state *s) {
  const char *name = w->sim->s->properties[0].name;
  if (w->relay && !any_accepted(w, s))
    return;
  for (int p = 0; p < correct(w); p++)
    if (violates(w, s, name, p)) {
      struct view v = view_of(w, s, __builtin_popcount(s->p[p].lies));
      w->violated = true;
      assert_true(sim_unsafe(w->sim, &v));
    }
}

static void emit(struct world *w, const struct state *before, const struct state *after) {
  struct view from = view_of(w, before, 0), to = view_of(w, after, 0);
  if (!w->relay || any_accepted(w, before))
    sim_step(w->sim, &from, &to);
  else if (any_accepted(w, after))
    assert_true(sim_starts(w->sim, &to));
  explore(w, after);
}

/* Who has to sends Echo; faulty processes send it to anybody; who has enough accepts. */
static void phase(struct world *w, const struct state *s, struct state next, int p) {
  if (p < correct(w)) {
    unsigned all = (1u << w->f) - 1, more = all & ~(unsigned)s->p[p].lies;
    for (unsigned some = more;; some = (some - 1) & more) {
      next.p[p].lies = (uint8_t)(s->p[p].lies | some);
      phase(w, s, next, p + 1);
      if (some == 0)
        break;
    }
    return;
  }
  next.phase = 1;
  for (int q = 0; q < correct(w); q++)
    next.p[q].accepted |= received(w, &next, q) >= w->n - w->t;
  emit(w, s, &next);
}

static void explore(struct world *w, const struct state *s) {
  bool fresh;
  table_put(&w->seen, s, &fresh);
  if (!fresh)
    return;
  judge(w, s);
  struct state next = *s;
  for (int p = 0; p < correct(w); p++)
    if (s->phase == 0)
      next.p[p].echoed = s->p[p].informed;
    else
      next.p[p].echoed |= received(w, s, p) >= w->n - 2 * w->t;
  phase(w, s, next, 0);
}

/* informed: who receives Init, a bit each; all or none of them if the one that broadcasts is
 * correct. */
static bool simulate(const char *path, int n, int t, int f, unsigned informed) {
  struct sim sim;
  int64_t params[] = {n, t, f};
  struct state start = {0};
  sim_open(&sim, path, params, n, 100);
  struct world w = {n, t, f, strstr(path, "relay") != NULL, &sim, {.size = sizeof(struct state)}, false};
  for (int p = 0; p < n - f; p++)
    start.p[p].informed = informed >> p & 1;
  struct view v = view_of(&w, &start, 0);
  assert_true(w.relay || sim_starts(&sim, &v));
  explore(&w, &start);
  table_free(&w.seen);
  sim_close(&sim);
  return w.violated;
}

static bool simulate_all(const char *path, int n, int t, int f) {
  unsigned all = (1u << (n - f)) - 1;
  bool violated = false;
  if (strstr(path, "unforgeability"))
    return simulate(path, n, t, f, 0);
  if (strstr(path, "correctness"))
    return simulate(path, n, t, f, all);
  for (unsigned informed = 0; informed <= all; informed++)
    violated |= simulate(path, n, t, f, informed);
  return violated;
}

static const char *const properties[] = {"unforgeability", "correctness", "relay_a", "relay_b"};

static bool bears(int n, int t, int f) { return n > 3 * t && f <= t; }

/* Moves do not know about resilience: they are tried far beyond it, too. */
static void bbp_bears_a_third(void **unused) {
  (void)unused;
  for (int i = 0; i < 4; i++) {
    char path[100];
    snprintf(path, sizeof path, "models/counters/bbp_%s.rondo", properties[i]);
    for (int n = 1; n <= MOST; n++)
      for (int t = 0; t < n; t++)
        for (int f = 0; f < n; f++)
          assert_false(simulate_all(path, n, t, f) && bears(n, t, f));
  }
}

/* More faulty processes than it is built for: each property fails somewhere. */
static void bbp_does_not_bear_more(void **unused) {
  (void)unused;
  for (int i = 0; i < 4; i++) {
    char path[100];
    bool violated = false;
    snprintf(path, sizeof path, "models/counters/bbp_%s_broken.rondo", properties[i]);
    for (int n = 1; n <= MOST; n++)
      for (int t = 0; t < n; t++)
        for (int f = 0; f < n; f++)
          violated |= simulate_all(path, n, t, f) && 3 * t < n && f > t;
    assert_true(violated);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bbp_bears_a_third),
      cmocka_unit_test(bbp_does_not_bear_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
