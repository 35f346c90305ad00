/* CBA and SOBA as their papers have them (Alberti et al. 2016, algorithm 1), process by process,
   against the counter systems in models/counters. */
#include "simulation.h"

enum { MOST = 5 };
enum faults { CRASH, SEND, GENERAL };
enum stage { REQUEST, SPREAD, DECIDE };

struct world {
  int n;
  unsigned faulty; /* a bit each */
  enum faults faults;
  bool refusals; /* SOBA */
  struct sim *sim;
  struct sim_table seen;
  bool violated;
};

/* One state, between rounds. */
struct process_state {
  uint8_t estimate; /* 1: the message */
  uint8_t from;     /* 0: nobody, 1: it is the sender, c + 2: coordinator c */
  uint8_t decision; /* 0: none, else estimate + 1 */
  uint8_t gone;     /* crashed or halted: sends nothing */
};
struct state {
  struct process_state p[MOST];
  uint8_t coordinator, stage, estimate; /* of the coordinator */
  uint8_t last, reached;                /* for the view only */
};

static bool is_faulty(const struct world *w, int p) { return w->faulty >> p & 1; }

/* Undecided, and it still listens: faulty processes do so to the end, for nobody can tell. */
static bool listens(const struct world *w, const struct state *s, int p) {
  return !s->p[p].decision && (is_faulty(w, p) || !s->p[p].gone);
}

/* ---- the view ---- */

static void count(const struct sim *m, struct view *v, const char *name) { v->counters[counter_named(m, name)]++; }

static struct view view_of(const struct world *w, const struct state *s) {
  static const char *const names[2][2][2] = {{{"undCb", "undCm"}, {"undFb", "undFm"}},
                                             {{"decCb", "decCm"}, {"decFb", "decFm"}}};
  const struct sim *m = w->sim;
  struct view v = view_new(m);
  bool undecided = false;
  for (int p = 0; p < w->n; p++) {
    const struct process_state *x = &s->p[p];
    if (!x->decision && x->gone && !is_faulty(w, p))
      count(m, &v, "haltedC");
    else
      count(m, &v, names[x->decision != 0][is_faulty(w, p)][x->decision ? x->decision - 1 : x->estimate]);
    undecided |= !is_faulty(w, p) && !x->decision && !x->gone;
  }
  v.controls[control_named(m, "stage")] = s->stage;
  if (s->stage == SPREAD)
    v.controls[control_named(m, "estimate")] = !s->estimate; /* m, bottom */
  if (s->stage != REQUEST)
    v.controls[control_named(m, "coordinator")] = is_faulty(w, s->coordinator);
  if (m->flag >= 0 && undecided) { /* what faulty processes do among themselves does not matter */
    v.controls[m->flag] = s->reached;
    v.controls[m->last] = !s->last;
  }
  return v;
}

static bool violates(const struct world *w, const struct state *s) {
  unsigned values = 0;
  for (int p = 0; p < w->n; p++)
    if (!is_faulty(w, p) && s->p[p].decision)
      values |= 1u << s->p[p].decision;
  return (values & (values - 1)) != 0;
}

/* ---- steps ---- */

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
  s.stage = REQUEST;
  s.estimate = 0;
  return s;
}

/* Round 1. Which requests arrive? `must` of them do, `may` of them may. */
static void request(struct world *w, const struct state *s) {
  unsigned must = 0, may = 0;
  int c = s->coordinator;
  if (s->p[c].gone) {
    struct state next = next_turn(*s);
    emit(w, s, &next);
    return;
  }
  for (int p = 0; p < w->n; p++) {
    if (s->p[p].decision || s->p[p].gone)
      continue;
    bool sure = p == c || (!is_faulty(w, p) && !(w->faults == GENERAL && is_faulty(w, c)));
    *(sure ? &must : &may) |= 1u << p;
  }
  for (unsigned some = may;; some = (some - 1) & may) {
    struct state next = *s;
    unsigned heard = must | some;
    int latest = -1;
    for (int p = 0; p < w->n; p++) {
      if (heard >> p & 1 && (latest < 0 || s->p[p].from > s->p[latest].from))
        latest = p;
      if (w->faults == CRASH && (may & ~some) >> p & 1)
        next.p[p].gone = 1; /* it did not send, so it crashed */
    }
    next.stage = SPREAD;
    next.estimate = latest >= 0 ? s->p[latest].estimate : 0;
    if (latest < 0)
      next = next_turn(next);
    emit(w, s, &next);
    if (some == 0)
      break;
  }
}

/* Whom does a message of the coordinator reach, of those that listen? */
static void audience(const struct world *w, const struct state *s, unsigned *must, unsigned *may) {
  int c = s->coordinator;
  *must = *may = 0;
  for (int p = 0; p < w->n; p++) {
    if (!listens(w, s, p))
      continue;
    bool sure = is_faulty(w, c) ? p == c : !is_faulty(w, p) || w->faults != GENERAL;
    *(sure ? must : may) |= 1u << p;
  }
}

static struct state adopted(const struct world *w, const struct state *s, unsigned by) {
  struct state next = *s;
  for (int p = 0; p < w->n; p++)
    if (by >> p & 1) {
      next.p[p].estimate = s->estimate;
      next.p[p].from = (uint8_t)(s->coordinator + 2);
      next.last = s->estimate;
      next.reached |= !is_faulty(w, p);
    }
  next.stage = DECIDE;
  next.estimate = 0;
  return next;
}

static struct state gone(struct state s) {
  s.p[s.coordinator].gone = 1;
  return next_turn(s);
}

/* Rounds 2 and 3. */
static void spread(struct world *w, const struct state *s) {
  unsigned must, may;
  int c = s->coordinator;
  audience(w, s, &must, &may);
  if (w->faults == CRASH && is_faulty(w, c)) { /* all, or any of them and then it is gone */
    struct state all = adopted(w, s, must | may);
    emit(w, s, &all);
    may |= must;
    must = 0;
  }
  for (unsigned some = may;; some = (some - 1) & may) {
    struct state next = adopted(w, s, must | some);
    bool refused = false, heard = false;
    for (int p = 0; p < w->n && w->refusals; p++) {
      if (!((may & ~some) >> p & 1))
        continue;
      bool sure = !is_faulty(w, p) && !(w->faults == GENERAL && is_faulty(w, c));
      refused |= sure;
      heard |= !s->p[p].gone;
    }
    struct state over = gone(next);
    if (w->faults == CRASH && is_faulty(w, c)) {
      emit(w, s, &over);
    } else {
      if (!refused)
        emit(w, s, &next);
      if (heard)
        emit(w, s, &over);
    }
    if (some == 0)
      break;
  }
}

static struct state decided(const struct world *w, const struct state *s, unsigned by) {
  struct state next = *s;
  for (int p = 0; p < w->n; p++)
    if (by >> p & 1)
      next.p[p].decision = (uint8_t)(s->p[p].estimate + 1);
  if (is_faulty(w, s->coordinator) && w->faults == SEND && !w->refusals)
    next.reached = 0; /* who had the last estimate may be silent now */
  return next;
}

/* Round 4. */
static void decide(struct world *w, const struct state *s) {
  unsigned must, may;
  audience(w, s, &must, &may);
  bool crashes = w->faults == CRASH && is_faulty(w, s->coordinator);
  if (crashes) {
    struct state all = next_turn(decided(w, s, must | may));
    emit(w, s, &all);
    may |= must;
    must = 0;
  }
  for (unsigned some = may;; some = (some - 1) & may) {
    struct state next = decided(w, s, must | some);
    next = crashes ? gone(next) : next_turn(next);
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
  if (s->stage == REQUEST)
    request(w, s);
  else if (s->stage == SPREAD)
    spread(w, s);
  else
    decide(w, s);
}

/* ---- all small instances ---- */

/* Is there a violation with so many processes, so many of them faulty? The sender is the first
 * coordinator. */
static bool simulate(const char *path, int n, unsigned faulty, enum faults faults, bool refusals) {
  struct sim sim;
  int64_t params[] = {n, __builtin_popcount(faulty)};
  struct state start = {0};
  sim_open(&sim, path, params, n, 2);
  sim.flag = control_named(&sim, "reached");
  sim.last = control_named(&sim, "last");
  struct world w = {n, faulty, faults, refusals, &sim, {.size = sizeof(struct state)}, false};
  start.p[0].estimate = start.p[0].from = start.last = 1;
  struct view v = view_of(&w, &start);
  assert_true(sim_starts(&sim, &v));
  explore(&w, &start);
  table_free(&w.seen);
  sim_close(&sim);
  return w.violated;
}

/* The smallest n with a violation, 0: none up to `most`. */
static int simulate_all(const char *path, int most, enum faults faults, bool refusals) {
  int smallest = 0;
  for (int n = 1; n <= most; n++)
    for (unsigned faulty = 0; faulty + 1 < 1u << n; faulty++)
      if (simulate(path, n, faulty, faults, refusals) && !smallest)
        smallest = n;
  return smallest;
}

static void cba_with_crashes(void **unused) {
  (void)unused;
  assert_int_equal(simulate_all("models/counters/cba_crash.rondo", 5, CRASH, false), 0);
}

static void cba_with_omissions(void **unused) {
  (void)unused;
  assert_int_equal(simulate_all("models/counters/cba_send_omission.rondo", 4, SEND, false), 3);
}

static void soba_with_omissions(void **unused) {
  (void)unused;
  assert_int_equal(simulate_all("models/counters/soba_send_omission.rondo", 5, SEND, true), 0);
}

static void soba_with_general_omissions(void **unused) {
  (void)unused;
  assert_int_equal(simulate_all("models/counters/soba_general_omission.rondo", 4, GENERAL, true), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cba_with_crashes),
      cmocka_unit_test(cba_with_omissions),
      cmocka_unit_test(soba_with_omissions),
      cmocka_unit_test(soba_with_general_omissions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
