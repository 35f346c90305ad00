/* Sessions in asynchronous rounds: their choices are those of the definition, and they reach the states of the
   transition system (src/async), in environments of all kinds. */
#include "async/async_system.h"
#include "interp/async_round.h"
#include "search/bfs.h"
#include "session/session_internal.h"

#include "checked_text.h"
#include "short.h"

#include <stdio.h>

#define GOOD(s, call)                                                                                                  \
  do {                                                                                                                 \
    if (!(call))                                                                                                       \
      fail_msg("%s: %s", #call, session_error(s));                                                                     \
  } while (0)

#define MOST_VARS 8

/* Everybody's local state, without the first values of inputs. */
static void views_add(struct intern *views, const struct model *m, const struct config *c) {
  int64_t key[4 * MOST_VARS] = {0};
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    uint32_t n = m->roles[model_role_of(m, p)].nvars + 1;
    assert_true(n <= MOST_VARS && p < 4);
    memcpy(key + (size_t)p * MOST_VARS, c->local[p], n * sizeof *key);
  }
  intern_put(views, key, (size_t)m->nprocesses * MOST_VARS);
}

static void same_views(const struct intern *a, const struct intern *b) {
  for (uint32_t i = 0; i < intern_count(a); i++)
    assert_int_not_equal(intern_find(b, intern_at(a, i), intern_length(a, i)), INTERN_NONE);
  assert_int_equal(intern_count(a), intern_count(b));
}

/* --- the transition system --- */

static void search_views(struct model *m, struct intern *views) {
  struct interpreter *interp = interpreter_new(m);
  struct query q = {.semantics = SEMANTICS_FINE};
  struct reduction_request requested;
  struct arena arena;
  struct search s;
  struct limits limits = {0};
  struct system_options options = {.max_distance = ANY_DISTANCE};
  arena_init(&arena);
  for (unsigned i = 0; i < REDUCTIONS; i++)
    requested.reduce[i] = REQUEST_OFF;
  struct system *space = async_system_new(interp, m, &q, licences_grant(m, &q, &requested, &arena), &options);
  struct async_system *fine = (struct async_system *)space;
  search_init(&s, space, &limits);
  search_run(&s);
  assert_int_equal(s.end, SEARCH_EXHAUSTED);
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
  interpreter_free(interp);
}

/* --- the session --- */

struct walk {
  struct session *session;
  struct intern *views, *seen;
};

/* Everything that determines what can follow. */
static bool seen_before(struct walk *k) {
  const struct model *m = &k->session->model;
  session_current(k->session);
  const struct async_run *run = k->session->path.async;
  VEC(int64_t) key = {0};
  for (uint32_t p = 0; p < run->n; p++)
    vec_push(&key, (int64_t)run->done[p]);
  for (uint32_t r = 0; r <= run->nrounds; r++)
    for (uint32_t p = 0; p < run->n; p++) {
      if (r < run->nrounds)
        vec_push(&key, (int64_t)run->messages.at[(size_t)r * run->n + p]);
      for (uint32_t i = 0; i <= m->roles[model_role_of(m, p)].nvars; i++)
        vec_push(&key, run->at.at[r]->local[p][i]);
    }
  vec_push(&key, run->at.at[run->nrounds]->lost);
  vec_push(&key, run->at.at[run->nrounds]->corrupted);
  size_t before = intern_count(k->seen);
  intern_put(k->seen, key.at, key.n);
  vec_release(&key);
  return intern_count(k->seen) == before;
}

/* All choices, in pages; their indices ascend, and count as many as there are. */
static uint64_t *all_choices(struct session *s, size_t *n) {
  VEC(uint64_t) all = {0};
  struct session_choices page;
  uint64_t offset = 0, count;
  bool exact, more;
  do {
    GOOD(s, session_choices(s, offset, 29, &page));
    for (size_t i = 0; i < page.n; i++) {
      assert_true(page.at[i].index >= offset);
      assert_int_equal(page.at[i].index % s->model.nprocesses, page.at[i].process);
      vec_push(&all, page.at[i].index);
      offset = page.at[i].index + 1;
    }
    more = page.more;
    session_choices_release(&page);
  } while (more);
  GOOD(s, session_count_choices(s, UINT64_MAX, &count, &exact));
  assert_true(exact);
  assert_int_equal(count, all.n);
  *n = all.n;
  return all.at;
}

static void walk_on(struct walk *k) {
  struct session *s = k->session;
  size_t n, length = session_length(s);
  if (seen_before(k))
    return;
  views_add(k->views, &s->model, session_config_at(s, length));
  uint64_t *choices = all_choices(s, &n);
  for (size_t i = 0; i < n; i++) {
    const char *error;
    struct span at;
    GOOD(s, session_take(s, choices[i]));
    if (!session_failed(s, &error, &at))
      walk_on(k);
    GOOD(s, session_back(s, 1));
  }
  memory_free(choices);
}

/* --- the definition --- */

struct definition {
  const struct session *session;
  struct async_run run;
  struct interpreter *interp;
  uint32_t process;
  uint64_t n;
  struct intern *views;
};

static bool end_with(void *context, const struct witness *w, enum step_result result, const struct config *next,
                     const struct model_error *error) {
  struct definition *d = context;
  struct config *view = config_new(&d->session->model);
  const char *why;
  if (result == STEP_ERROR)
    d->n += error->process == d->process;
  if (result == STEP_OK) {
    async_run_add_round(&d->run, w, next);
    if (async_run_end_round(&d->run, d->process, &why)) {
      d->n++;
      async_run_view(&d->run, view);
      views_add(d->views, &d->session->model, view);
      async_run_undo(&d->run, d->process);
    }
    async_run_drop_round(&d->run);
  }
  config_free(view);
  return true;
}

/* Along a path: in each state the process has as many choices as there are lockstep rounds that it can end now, and
   they lead to the same states. */
static void compare_choices(struct session *s) {
  struct definition d = {.session = s, .interp = interpreter_new(s->given)};
  const char *why;
  async_run_init(&d.run, d.interp, &s->path.initial, NULL, 0);
  for (size_t i = 0; i < session_length(s); i++) {
    const struct path_step *step = &s->path.steps.at[i];
    if (step->witness)
      async_run_add_round(&d.run, step->witness, step->fixed);
    assert_true(async_run_end_round(&d.run, step->process, &why));
  }
  size_t n, length = session_length(s);
  uint64_t *choices = all_choices(s, &n);
  for (d.process = 0; d.process < d.run.n; d.process++) {
    uint64_t found = 0;
    struct intern *views = intern_new();
    d.views = intern_new();
    d.n = 0;
    const struct config *now = d.run.at.at[d.run.done[d.process]];
    if (d.run.done[d.process] < d.run.nrounds) {
      if (async_run_end_round(&d.run, d.process, &why)) {
        struct config *view = config_new(&s->model);
        async_run_view(&d.run, view);
        views_add(d.views, &s->model, view);
        async_run_undo(&d.run, d.process);
        config_free(view);
        d.n++;
      }
    } else if (process_active(now->local[d.process][LOCAL_STATUS])) {
      config_successors(d.interp, s->environment, now, end_with, &d);
    }
    for (size_t i = 0; i < n; i++)
      if (choices[i] % d.run.n == d.process) {
        found++;
        GOOD(s, session_take(s, choices[i]));
        if (session_config_at(s, length + 1))
          views_add(views, &s->model, session_config_at(s, length + 1));
        GOOD(s, session_back(s, 1));
      }
    assert_int_equal(found, d.n);
    same_views(d.views, views);
    intern_free(views);
    intern_free(d.views);
  }
  memory_free(choices);
  async_run_release(&d.run);
  interpreter_free(d.interp);
}

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % n;
}

/* errors: the model has an error, at which the search of the system ends. */
static void compare_with(const char *text, bool errors) {
  struct checked_text k;
  struct param_binding two = {"n", 2};
  char *why;
  uint64_t starts;
  bool exact;
  check_with(&k, text, &two, 1, false);
  assert_non_null(k.model);
  struct session *s = session_new(k.model, 0, SEMANTICS_FINE, &why);
  assert_non_null(s);
  GOOD(s, session_count_initials(s, 1000, &starts, &exact));
  struct walk w = {s, intern_new(), NULL};
  for (uint64_t i = 0; i < starts; i++) {
    w.seen = intern_new();
    GOOD(s, session_start(s, i));
    walk_on(&w);
    intern_free(w.seen);
  }
  struct intern *views = intern_new();
  if (!errors) {
    search_views(k.model, views);
    same_views(views, w.views);
  }
  intern_free(views);
  intern_free(w.views);
  for (int walks = 0; walks < (is_short() ? 1 : 4); walks++) {
    GOOD(s, session_start(s, random_below((uint32_t)starts)));
    for (int i = 0; i < 4 && session_config_at(s, session_length(s)); i++) {
      size_t n;
      compare_choices(s);
      uint64_t *choices = all_choices(s, &n);
      if (n)
        GOOD(s, session_take(s, choices[random_below((uint32_t)n)]));
      memory_free(choices);
    }
  }
  session_free(s);
  release(&k);
}

static void compare(const char *text) { compare_with(text, false); }

#define PROCESS                                                                                                        \
  "algorithm A param n process P[n] { input x: 0..1 var y: 0..9 = 0 repeat 2 as i {"                                   \
  " round { send x to all update { y := (3 * y + 1 + count(m in received: m == 1)) mod 10 } } } }"

static void environments(void **state) {
  (void)state;
  compare(PROCESS "environment e {}");
  compare(PROCESS "environment e { synchronous }");
  compare(PROCESS "environment e { every round: nosplit }");
  compare(PROCESS "environment e { every round: uniform }");
  compare(PROCESS "environment e { every round: kernel }");
  compare(PROCESS "environment e { every round: not uniform }");
  compare(PROCESS "environment e { every round: forall p in P: |HO[p]| == 1 }");
  compare(PROCESS "environment e { every round: (exists p in P: |HO[p]| == 1) or (forall p in P: HO[p] == P) }");
  compare(PROCESS "environment e { every round: forall p in P: P(1) in HO[p] => P(2) in HO[p] }");
  compare(PROCESS "environment e { at most 1 messages are lost }");
  compare(PROCESS "environment e { at most 1 messages are lost; from round 2: forall p in P: HO[p] == P }");
  compare(PROCESS "environment e { at most 1 processes crash; synchronous }");
  compare(PROCESS "environment e { at most 1 processes crash; every round: forall p in P: p in HO[p] }");
  compare(PROCESS "environment e { at most 1 processes crash;"
                  " every round: forall p in P: forall q in correct: q in HO[p] }");
  compare(PROCESS "environment e { at most 1 processes omit to send; synchronous }");
  compare(PROCESS "environment e { at most 1 processes omit to receive; synchronous }");
  compare(PROCESS "environment e { at most 1 processes are byzantine; synchronous }");
}

static void processes(void **state) {
  (void)state;
  compare("algorithm A param n process P[n] { var y: 0..3 = 0 repeat 3 as i { round { send y to all"
          " update { if |received| == i { y := i halt } y := y + |received| / 2 } } } }"
          " environment e { every round: reflexive }");
  compare("algorithm A param n process P[n] { oracle c: P each phase var y: 0..3 = 0 var z: P? = none repeat 2 as i { "
          "round { send y to c update { y := |received| z := c } } } }"
          " environment e { every phase: forall p, q in P: c[p] == c[q] }");
  compare("algorithm A param n process P[n] { var z: 0..2 = 0 once { round { send pick(1, 2) to others"
          " update { z := pick(received) otherwise 0 } }"
          " round { send z to P(1) update { z := max(received) otherwise 0 } } } } environment e {}");
  compare_with("algorithm A param n process P[n] { var z: 0..1 = 0 once { round { send 1 to all update {"
               " z := |received| } } round { send z to all update {} } } } environment e {}",
               true);
}

/* The first page is there at once, however many rounds there are, and whoever has to wait is told why. */
static void first_pages(void **state) {
  (void)state;
  static const char *const environments[] = {
      "{}",
      "{ synchronous }",
      "{ at most 2 messages are lost }",
      "{ at most 1 processes crash; synchronous }",
      "{ every round: nosplit }",
      "{ every round: kernel }",
      "{ every round: forall p in P: |HO[p]| >= 5 }",
      "{ at most 1 processes are byzantine; every round: forall p in P: |HO[p]| >= 6 }",
      "{ every round: forall p in P: |SHO[p]| >= 6 }",
  };
  for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
    char text[1000], *why;
    struct checked_text k;
    struct param_binding seven = {"n", 7};
    struct session_choices page;
    snprintf(text, sizeof text, PROCESS "environment e %s", environments[i]);
    check_with(&k, text, &seven, 1, false);
    assert_non_null(k.model);
    for (int fine = 0; fine < 2; fine++) {
      struct session *s = session_new(k.model, 0, fine ? SEMANTICS_FINE : SEMANTICS_COARSE, &why);
      GOOD(s, session_start(s, 5));
      for (int step = 0; step < 4; step++) {
        GOOD(s, session_choices(s, 0, 30, &page));
        if (page.n == 0) {
          session_choices_release(&page);
          break;
        }
        uint64_t last = page.at[page.n - 1].index;
        session_choices_release(&page);
        GOOD(s, session_take(s, step == 3 ? 0 : last));
        if (!fine)
          continue;
        GOOD(s, session_forbidden(s, 0, 30, &page));
        for (size_t p = 0; p < page.n; p++)
          assert_non_null(page.at[p].why);
        session_choices_release(&page);
      }
      session_free(s);
    }
    release(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(environments), cmocka_unit_test(processes),
                                     cmocka_unit_test(first_pages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
