/* Rounds of one's own: what the space reaches is what sending, receiving and updating, one by one and in any order,
   reach in the runs of whole rounds that the environment allows. Both ways to make the space, with processes told apart
   and not. */
#include "async/async_system.h"
#include "interp/async_round.h"
#include "search/bfs.h"

#include "checked_text.h"
#include "short.h"

#include <stdlib.h>

/* --- sets of views: everybody's local state --- */

struct views {
  struct intern *at;
  bool alike; /* in any order */
};

#define MOST_VARS 8
struct local {
  int64_t at[MOST_VARS];
};

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, sizeof(struct local)); }

static void views_add(struct views *v, const struct model *m, const struct config *c) {
  struct local each[8] = {0};
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    uint32_t n = m->roles[model_role_of(m, p)].nvars + 1; /* not the first values */
    assert_true(n <= MOST_VARS);
    for (uint32_t i = 0; i < n; i++)
      each[p].at[i] = c->local[p][i];
  }
  if (v->alike)
    qsort(each, m->nprocesses, sizeof *each, by_bytes);
  intern_put(v->at, each[0].at, (size_t)m->nprocesses * MOST_VARS);
}

/* --- the slow way --- */

struct stepwise_rounds {
  struct interpreter *interp;
  const struct model *model;
  struct config *at[8];
  struct witness *rounds[8];
  uint32_t n;
  struct views *views, *alike;
  struct config *view;
  struct intern *seen; /* in this run: how far everybody has come */
};

static void see(struct stepwise_rounds *s, const struct config *c) {
  views_add(s->views, s->model, c);
  views_add(s->alike, s->model, c);
}

static bool seen_before(struct stepwise_rounds *s, const struct async_run *f) {
  int64_t key[8 * 10];
  size_t n = 0, before = intern_count(s->seen);
  for (uint32_t p = 0; p < f->n; p++) {
    key[n++] = f->done[p];
    key[n++] = f->sent[p];
    for (uint32_t q = 0; q < f->n; q++)
      key[n++] = f->got[(size_t)p * f->n + q];
  }
  intern_put(s->seen, key, n);
  return intern_count(s->seen) == before;
}

/* Every elementary step from here on. */
static void every_order(struct stepwise_rounds *s, struct async_run *f) {
  const char *why;
  if (seen_before(s, f))
    return;
  async_run_view(f, s->view);
  see(s, s->view);
  for (uint32_t p = 0; p < f->n; p++)
    for (unsigned kind = ASYNC_SEND; kind <= ASYNC_UPDATE; kind++)
      for (uint32_t q = 0; q < (kind == ASYNC_RECEIVE ? f->n : 1); q++) {
        struct async_event e = {(enum async_event_kind)kind, p, q};
        if (!async_run_possible(f, &e, &why))
          continue;
        struct async_run next = *f;
        next.done = memory_alloc((f->n + 1) * sizeof *f->done);
        next.sent = memory_alloc((f->n + 1) * sizeof *f->sent);
        next.got = memory_alloc((size_t)f->n * f->n + 1);
        memcpy(next.done, f->done, f->n * sizeof *f->done);
        memcpy(next.sent, f->sent, f->n * sizeof *f->sent);
        memcpy(next.got, f->got, (size_t)f->n * f->n);
        async_run_take(&next, &e);
        every_order(s, &next);
        memory_free(next.done);
        memory_free(next.sent);
        memory_free(next.got);
        if (kind != ASYNC_UPDATE)
          return; /* sending and receiving hinder nobody: what comes of doing them at once is all there is */
      }
}

static bool every_run(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  struct stepwise_rounds *s = context;
  (void)error;
  assert_int_equal(result, STEP_OK);
  s->rounds[s->n++] = witness_copy(s->model, w);
  s->at[s->n] = config_copy(s->model, next);
  struct async_run f;
  async_run_init(&f, s->interp, s->at, s->rounds, s->n);
  s->seen = intern_new();
  every_order(s, &f);
  intern_free(s->seen);
  async_run_release(&f);
  if (s->at[s->n]->point != POINT_END)
    config_successors(s->interp, 0, s->at[s->n], every_run, s);
  config_free(s->at[s->n]);
  witness_free(s->rounds[--s->n]);
  return true;
}

static bool every_start(void *context, const struct config *c) {
  struct stepwise_rounds *s = context;
  s->n = 0;
  s->at[0] = config_copy(s->model, c);
  see(s, c);
  config_successors(s->interp, 0, s->at[0], every_run, s);
  config_free(s->at[0]);
  return true;
}

/* --- the space --- */

enum way { WHOLE, SOLO, LOCAL_FUSED, LOCAL_ALIKE };

struct extremes {
  uint32_t distance, pending;
};

/* Returns whether each process went by itself. */
static bool search_views(struct model *m, struct interpreter *interp, enum way way, struct views *views,
                         struct extremes *extremes) {
  struct query q = {.semantics = SEMANTICS_FINE};
  struct reduction_request requested;
  struct arena arena;
  struct search s;
  struct limits limits = {0};
  struct system_options options = {.max_distance = ANY_DISTANCE,
                                   .successors = way == WHOLE ? SUCCESSORS_PLAIN : SUCCESSORS_AUTO};
  arena_init(&arena);
  for (unsigned i = 0; i < REDUCTIONS; i++)
    requested.reduce[i] = REQUEST_OFF;
  if (way >= LOCAL_FUSED)
    requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_AUTO;
  if (way == LOCAL_ALIKE)
    requested.reduce[REDUCE_SYMMETRY] = requested.reduce[REDUCE_MESSAGE_ORDER] = REQUEST_AUTO;
  struct system *space = async_system_new(interp, m, &q, licences_grant(m, &q, &requested, &arena), &options);
  struct async_system *fine = (struct async_system *)space;
  search_init(&s, space, &limits);
  search_run(&s);
  assert_int_equal(s.end, SEARCH_EXHAUSTED);
  bool solo = fine->local_mode != NULL;
  *extremes = (struct extremes){space->distance, space->channel_bound};
  struct visited_reader r = visited_reader(s.visited_set, visited_first(), visited_end(s.visited_set));
  while (visited_read(&r)) {
    struct state state = {r.stored.bytes, r.stored.length};
    async_state_view(fine, &state, fine->view);
    struct config *c = global_to_config(fine->pack, fine->view);
    views_add(views, m, c);
    config_free(c);
  }
  search_release(&s);
  space->ops->free(space);
  arena_release(&arena);
  return solo;
}

static void same_views(const struct views *a, const struct views *b) {
  for (uint32_t i = 0; i < intern_count(a->at); i++)
    assert_int_not_equal(intern_find(b->at, intern_at(a->at, i), intern_length(a->at, i)), INTERN_NONE);
  assert_int_equal(intern_count(a->at), intern_count(b->at));
}

/* `solo`: the environment lets each process go by itself. */
static void compare_at(const char *text, int64_t processes, bool solo, bool alike) {
  if (processes > 2 && is_short() && is_sanitized())
    return;
  struct checked_text k;
  struct param_binding n = {"n", processes};
  check_with(&k, text, &n, 1, false);
  assert_non_null(k.model);
  struct interpreter *interp = interpreter_new(k.model);
  struct views apart = {.at = intern_new()}, together = {.at = intern_new(), .alike = true};
  struct stepwise_rounds s = {
      .interp = interp, .model = k.model, .views = &apart, .alike = &together, .view = config_new(k.model)};
  config_initials(interp, 0, every_start, &s, &(struct model_error){0});
  struct extremes first = {0}, last;
  for (int way = WHOLE; way <= (alike ? LOCAL_ALIKE : LOCAL_FUSED); way++) {
    struct views views = {.at = intern_new(), .alike = way == LOCAL_ALIKE};
    assert_int_equal(search_views(k.model, interp, (enum way)way, &views, &last), solo && way != WHOLE);
    same_views(views.alike ? &together : &apart, &views);
    if (way != WHOLE)
      assert_int_equal(first.distance, last.distance);
    if (way > SOLO)
      assert_int_equal(first.pending, last.pending);
    first = last;
    intern_free(views.at);
  }
  config_free(s.view);
  intern_free(apart.at);
  intern_free(together.at);
  interpreter_free(interp);
  release(&k);
}

static void compare(const char *text) { compare_at(text, 2, false, true); }
static void compare_solo(const char *text) { compare_at(text, 2, true, true); }

#define PROCESS                                                                                                        \
  "algorithm A param n process P[n] { input x: 0..1 var y: 0..9 = 0 repeat 2 as i {"                                   \
  " round { send x to all update { y := (3 * y + 1 + count(m in received: m == 1)) mod 10 } } } }"

static void environments_of_all_kinds(void **state) {
  (void)state;
  compare_solo(PROCESS "environment e {}");
  compare(PROCESS "environment e { synchronous }");
  compare(PROCESS "environment e { every round: nosplit }");
  compare(PROCESS "environment e { every round: uniform }");
  compare(PROCESS "environment e { every round: kernel }");
  compare_solo(PROCESS "environment e { every round: forall p in P: |HO[p]| == 1 }");
  compare(PROCESS "environment e { at most 1 messages are lost }");
  compare(PROCESS "environment e { at most 1 messages are lost; from round 2: forall p in P: HO[p] == P }");
  compare(PROCESS "environment e { at most 1 processes crash; synchronous }");
  compare_solo(PROCESS "environment e { at most 1 processes crash; every round: forall p in P: p in HO[p] }");
  compare_solo(PROCESS "environment e { from round 2: forall p in P: |HO[p]| >= 2 }");
  compare(PROCESS
          "environment e { at most 1 processes crash; every round: forall p in P: forall q in correct: q in HO[p] }");
  compare(PROCESS "environment e { at most 1 processes omit to send; synchronous }");
  compare(PROCESS "environment e { at most 1 processes omit to receive; synchronous }");
  compare(PROCESS "environment e { at most 1 processes are byzantine; synchronous }");
}

static void processes_of_all_kinds(void **state) {
  (void)state;
  compare_solo("algorithm A param n process P[n] { var y: 0..3 = 0 repeat 3 as i { round { send y to all"
               " update { if |received| == i { y := i halt } y := y + |received| / 2 } } } }"
               " environment e { every round: reflexive }");
  compare("algorithm A param n process P[n] { oracle c: P each phase var y: 0..3 = 0 var z: P? = none repeat 2 as i { "
          "round {"
          " send y to c update { y := |received| z := c } } } } environment e { every phase: forall p, q in P: c[p] == "
          "c[q] }");
  compare_at("algorithm A param n process P[n] { var z: 0..2 = 0 once { round { send pick(1, 2) to others update { z "
             ":= pick(received)"
             " otherwise 0 } } round { send z to P(1) update { z := max(received) otherwise 0 } } } } environment e {}",
             2, true, false);
  /* who hears only what it must, and from whom; rounds in which nothing happens to most */
  compare_at(
      "algorithm A param n process P[n] { input x: 0..1 var z: 0..2 = 0 repeat 2 as i { round a { send x to P(i)"
      " update { z := |received| } } round b { send z to all when me == P(i) update { if exists m in from(P(i)) { x :="
      " m mod 2 } } } } } environment e { every round: forall p in P: count(q in P: q in HO[p, a]) == n - 1;"
      " every round: forall p in P: p in HO[p, b] }",
      2, true, false);
  compare_at("algorithm A param n process P[n] { input x: 0..1 var z: 0..2 = 0 repeat 1 as i { round a { send x to P(i)"
             " update { if me == P(i) { z := count(m in received: m == 1) } } } round b { send z to all when me == "
             "P(i) update { if exists m"
             " in from(P(i)) { x := m mod 2 } } } } } environment e { every round: forall p in P: count(q in P: q"
             " in HO[p, a]) == n - 1; every round: forall p in P: p in HO[p, b] and |HO[p, b]| >= 2 }",
             3, true, false);
}

/* Whom a process may hear depends on who takes part; some have not come yet, and may or may not come. */
static void who_takes_part(void **state) {
  (void)state;
#define HALTS                                                                                                          \
  "algorithm A param n process P[n] { input x: 0..1 var y: 0..9 = 0 repeat 3 as i {"                                   \
  " round { send x to all update { y := min(9, 3 * y + 1 + count(m in received: m == 1)) if |received| <= i - 1 or x " \
  "== 1 and i == 2 { halt } } } } }"
  compare_solo(
      HALTS "environment e { every round: forall p in P: count(q in P: q in HO[p]) == min(2, count(q in P: true)) }");
  compare_solo(
      HALTS
      "environment e { every round: forall p in P: count(q in P: q in HO[p]) == max(0, count(q in P: true) - 1) }");
  compare_solo(HALTS "environment e { every round: forall p in P: count(q in P: q in HO[p]) == 1 }");
  compare_solo(HALTS "environment e { every round: forall p in P: |HO[p]| == 2 }");
  compare_solo(HALTS "environment e { at most 1 processes crash; every round: forall p in P: count(q in P: q in HO[p]) "
                     "== min(2, count(q in"
                     " P: true)) }");
  compare_solo(
      PROCESS
      "environment e { at most 1 processes crash; every round: forall p in P: count(q in P: q in HO[p]) >= 2 }");
  compare_solo(PROCESS "environment e { at most 1 processes crash; every round: forall p in P: |HO[p]| == 2 }");
#define SHORT                                                                                                          \
  "algorithm A param n process P[n] { input x: 0..1 var y: 0..3 = 0 repeat 2 as i {"                                   \
  " round { send x to all update { y := count(m in received: m == 1) if y <= i - 1 and i < 2 { halt } } } } }"
  compare_at(SHORT
             "environment e { every round: forall p in P: count(q in P: q in HO[p]) == min(2, count(q in P: true)) }",
             3, true, true);
  compare_at(SHORT "environment e { every round: forall p in P: |HO[p]| == 2 }", 3, true, true);
}

/* Sending may depend on what is not known yet: then whole rounds are agreed on. */
static void who_may_send(void **state) {
  (void)state;
  compare("algorithm A param n process P[n] { input x: 0..1 var y: 0..9 = 0 repeat 2 as i { round { send x to all when "
          "x == 1"
          " update { y := 3 * y + |received| if |received| == 0 { x := 1 } } } } }"
          " environment e { every round: forall p in P: |HO[p]| == 2 }");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(environments_of_all_kinds),
      cmocka_unit_test(processes_of_all_kinds),
      cmocka_unit_test(who_takes_part),
      cmocka_unit_test(who_may_send),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
