/* Rounds of one's own: what the space reaches is what sending, receiving and updating, one by one and in any order, reach in
   the runs of whole rounds that the environment allows. */
#include "fine/fine_space.h"
#include "search/bfs.h"
#include "sem/fine.h"

#include "checking.h"

#include <stdlib.h>

/* --- sets of views: everybody's local state, as text --- */

struct views {
  VEC(char *) at;
};

static void views_add(struct views *v, const struct model *m, const struct config *c) {
  struct text out = {0};
  for (uint32_t p = 0; p < m->nprocesses; p++)
    for (uint32_t i = 0; i <= m->roles[model_role_of(m, p)].nvars; i++) /* not the first values */
      text_addf(&out, "%lld ", (long long)c->local[p][i]);
  for (size_t i = 0; i < v->at.n; i++)
    if (!strcmp(v->at.at[i], out.at)) {
      text_release(&out);
      return;
    }
  vec_push(&v->at, memory_strdup(out.at));
  text_release(&out);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void views_release(struct views *v) {
  for (size_t i = 0; i < v->at.n; i++)
    memory_free(v->at.at[i]);
  vec_release(&v->at);
}

/* --- the slow way --- */

struct slow {
  struct meaning *meaning;
  const struct model *model;
  struct config *at[8];
  struct witness *rounds[8];
  uint32_t n;
  struct views *views;
  struct config *view;
};

/* Every elementary step from here on. What was seen before is seen again: the runs are short. */
static void every_order(struct slow *s, struct fine *f) {
  const char *why;
  fine_view(f, s->view);
  views_add(s->views, s->model, s->view);
  for (uint32_t p = 0; p < f->n; p++)
    for (unsigned kind = FINE_SEND; kind <= FINE_UPDATE; kind++)
      for (uint32_t q = 0; q < (kind == FINE_RECEIVE ? f->n : 1); q++) {
        struct fine_event e = {(enum fine_kind)kind, p, q};
        if (!fine_possible(f, &e, &why))
          continue;
        struct fine next = *f;
        next.done = memory_alloc((f->n + 1) * sizeof *f->done);
        next.sent = memory_alloc((f->n + 1) * sizeof *f->sent);
        next.got = memory_alloc((size_t)f->n * f->n + 1);
        memcpy(next.done, f->done, f->n * sizeof *f->done);
        memcpy(next.sent, f->sent, f->n * sizeof *f->sent);
        memcpy(next.got, f->got, (size_t)f->n * f->n);
        fine_take(&next, &e);
        every_order(s, &next);
        memory_free(next.done);
        memory_free(next.sent);
        memory_free(next.got);
        if (kind != FINE_UPDATE)
          return; /* sending and receiving hinder nobody: what comes of doing them at once is all there is */
      }
}

static bool every_run(void *context, const struct witness *w, enum step_result result, const struct config *next,
                      const struct model_error *error) {
  struct slow *s = context;
  (void)error;
  assert_int_equal(result, STEP_OK);
  s->rounds[s->n++] = witness_copy(s->model, w);
  s->at[s->n] = config_copy(s->model, next);
  struct fine f;
  fine_init(&f, s->meaning, s->at, s->rounds, s->n);
  every_order(s, &f);
  fine_release(&f);
  if (s->at[s->n]->point != POINT_END)
    config_successors(s->meaning, 0, s->at[s->n], every_run, s);
  config_free(s->at[s->n]);
  witness_free(s->rounds[--s->n]);
  return true;
}

static bool every_start(void *context, const struct config *c) {
  struct slow *s = context;
  s->n = 0;
  s->at[0] = config_copy(s->model, c);
  views_add(s->views, s->model, c);
  config_successors(s->meaning, 0, s->at[0], every_run, s);
  config_free(s->at[0]);
  return true;
}

/* --- the space --- */

static void search_views(struct model *m, struct meaning *meaning, struct views *views) {
  struct question q = {.semantics = SEMANTICS_FINE};
  struct wishes off;
  struct arena arena;
  struct search s;
  struct limits limits = {0};
  struct space_options options = {.max_distance = ANY_DISTANCE};
  arena_init(&arena);
  for (unsigned i = 0; i < REDUCTIONS; i++)
    off.reduce[i] = WISH_OFF;
  struct space *space = fine_space_new(meaning, m, &q, licences_grant(m, &q, &off, &arena), &options);
  struct fine_space *fine = (struct fine_space *)space;
  search_init(&s, space, &limits);
  search_run(&s);
  assert_int_equal(s.end, SEARCH_EXHAUSTED);
  struct store_reader r = store_reader(s.store, store_first(), store_end(s.store));
  while (store_read(&r)) {
    struct state state = {r.stored.bytes, r.stored.length};
    whole_view(fine, &state, fine->view);
    struct config *c = global_to_config(fine->pack, fine->view);
    views_add(views, m, c);
    config_free(c);
  }
  search_release(&s);
  space->ops->free(space);
  arena_release(&arena);
}

static void compare(const char *text) {
  struct checking k;
  struct binding n = {"n", 2};
  struct views slow_views = {0}, views = {0};
  check_with(&k, text, &n, 1, false);
  assert_non_null(k.model);
  struct meaning *meaning = meaning_new(k.model);
  struct slow s = {.meaning = meaning, .model = k.model, .views = &slow_views, .view = config_new(k.model)};
  config_initials(meaning, 0, every_start, &s);
  search_views(k.model, meaning, &views);
  qsort(slow_views.at.at, slow_views.at.n, sizeof(char *), by_text);
  qsort(views.at.at, views.at.n, sizeof(char *), by_text);
  assert_int_equal(slow_views.at.n, views.at.n);
  for (size_t i = 0; i < views.at.n; i++)
    assert_string_equal(slow_views.at.at[i], views.at.at[i]);
  config_free(s.view);
  meaning_free(meaning);
  views_release(&slow_views);
  views_release(&views);
  release(&k);
}

#define PROCESS                                                                                                       \
  "algorithm A param n process P[n] { input x: 0..1 var y: 0..9 = 0 repeat 2 as i {"                                   \
  " round { send x to all update { y := (3 * y + 1 + count(m in received: m == 1)) mod 10 } } } }"

static void environments_of_all_kinds(void **state) {
  (void)state;
  compare(PROCESS "environment e {}");
  compare(PROCESS "environment e { synchronous }");
  compare(PROCESS "environment e { every round: nosplit }");
  compare(PROCESS "environment e { every round: uniform }");
  compare(PROCESS "environment e { every round: kernel }");
  compare(PROCESS "environment e { every round: forall p in P: |HO[p]| == 1 }");
  compare(PROCESS "environment e { at most 1 messages are lost }");
  compare(PROCESS "environment e { at most 1 messages are lost; from round 2: forall p in P: HO[p] == P }");
  compare(PROCESS "environment e { at most 1 processes crash; synchronous }");
  compare(PROCESS "environment e { at most 1 processes crash; every round: forall p in P: p in HO[p] }");
  compare(PROCESS "environment e { at most 1 processes omit to send; synchronous }");
  compare(PROCESS "environment e { at most 1 processes omit to receive; synchronous }");
  compare(PROCESS "environment e { at most 1 processes are byzantine; synchronous }");
}

static void processes_of_all_kinds(void **state) {
  (void)state;
  compare("algorithm A param n process P[n] { var y: 0..3 = 0 repeat 3 as i { round { send y to all"
          " update { if |received| == i { y := i halt } y := y + |received| / 2 } } } }"
          " environment e { every round: reflexive }");
  compare("algorithm A param n process P[n] { oracle c: P each phase var y: 0..3 = 0 var z: P? = none repeat 2 as i { round {"
          " send y to c update { y := |received| z := c } } } } environment e { every phase: forall p, q in P: c[p] == c[q] }");
  compare("algorithm A param n process P[n] { var z: 0..2 = 0 once { round { send pick(1, 2) to others update { z := pick(received) otherwise"
          " 0 } } round { send z to P(1) update { z := max(received) otherwise 0 } } } } environment e {}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(environments_of_all_kinds),
      cmocka_unit_test(processes_of_all_kinds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
