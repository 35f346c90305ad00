/* The fast space of models of steps against the reference: in every state that it reaches, what it emits is what the
   reference's events lead to, in all semantics, with and without each reduction; and all ways give the same verdicts,
   whose runs the reference confirms. */
#include "lang/typecheck.h"
#include "search/bfs.h"
#include "short.h"
#include "steps/step_system_internal.h"
#include "trace/trace.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __SANITIZE_ADDRESS__ /* slow: fewer states, the same models */
#define STATES_COMPARED 25
#define STATES_SEARCHED 300
#else
#define STATES_COMPARED 200
#define STATES_SEARCHED 5000
#endif

/* --- models --- */

struct subject {
  const char *name;
  struct arena arena;
  struct model *model;
  struct interpreter *interp;
};

static bool subject_from(struct subject *t, const char *name, const char *text, int64_t n) {
  *t = (struct subject){.name = name};
  struct source source = {.path = name, .text = text, .length = strlen(text)};
  struct diags diags;
  struct param_binding binding = {"n", n};
  arena_init(&t->arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &t->arena, &diags);
  t->model = diags.errors ? NULL : model_typecheck(file, &source, &binding, n > 0, false, &diags);
  if (!t->model && getenv("RONDO_TEST_LOUD")) {
    struct text out = {0};
    diags_print(&diags, false, &out);
    print_error("%s\n", text_or_empty(&out));
    text_release(&out);
  }
  diags_release(&diags);
  if (t->model)
    t->interp = interpreter_new(t->model);
  else
    arena_release(&t->arena);
  return t->model;
}

static void subject_release(struct subject *t) {
  interpreter_free(t->interp);
  model_free(t->model);
  arena_release(&t->arena);
}

/* --- what is emitted from a state --- */

struct emitted { /* a successor, as numbers: its row, then what the edge says */
  struct step_system *space;
  struct intern *edges;
  VEC(uint32_t) found;
  bool compare_broken;
};

static bool note(void *context, const struct state *state, const struct edge *edge) {
  struct emitted *e = context;
  struct step_system *s = e->space;
  uint32_t n = s->cells.ncells;
  content *row = memory_alloc((n + 1) * sizeof *row);
  value *v = memory_alloc((n + 5) * sizeof *v);
  if (!edge->error) {
    uint64_t *words = memory_alloc((s->keys.nwords + 2) * sizeof *words);
    keys_load(&s->keys, state, words);
    keys_unpack(&s->keys, words, row);
    memory_free(words);
  }
  for (uint32_t i = 0; i < n; i++)
    v[i] = edge->error ? -1 : (value)row[i];
  v[n] = edge->faults;
  v[n + 1] = edge->processes;
  v[n + 2] = (value)edge->broken;
  v[n + 3] = edge->error ? edge->error->at.from : 0;
  uint32_t id = intern_put(e->edges, v, n + 4);
  bool known = false;
  for (size_t i = 0; i < e->found.n; i++)
    known |= e->found.at[i] == id;
  if (!known)
    vec_push(&e->found, id);
  memory_free(row);
  memory_free(v);
  return true;
}

static int compare_ids(const void *a, const void *b) {
  return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static uint64_t quiet_steps;

static struct config *config_of(struct step_system *s, const struct state *state) {
  keys_load(&s->keys, state, s->words);
  keys_unpack(&s->keys, s->words, s->scratch.row);
  return state_cells_to_config(&s->cells, s->scratch.row);
}

/* A invisible step: what the interpreter says of properties stays the same. */
static void say_the_same(struct step_system *s, const struct state *before, const struct state *after) {
  struct config *b = config_of(s, before), *a = config_of(s, after);
  for (uint32_t i = 0; i < s->base.query->nproperties; i++) {
    const struct property *p = &s->model->properties[s->base.query->properties[i]];
    struct model_error error;
    if (!p->step && p->kind != PROPERTY_LIVE)
      assert_int_equal(config_holds(s->interp, p->formula, b, NULL, &error),
                       config_holds(s->interp, p->formula, a, NULL, &error));
  }
  config_free(b);
  config_free(a);
  quiet_steps++;
}

static bool emits(struct step_system *s, const struct state *state, bool plain, struct emitted *out) {
  /* The fast way has a list for short states, with little room. */
  uint64_t words[5 * STATE_SHORT / 8];
  bool invisible[5];
  struct short_states short_keyed = {.at = words, .invisible = invisible, .most = 5};
  const struct edge nothing = {0};
  s->plain = plain;
  s->base.short_keyed = plain ? NULL : &short_keyed;
  bool more = s->base.ops->successors(&s->base, state, note, out);
  s->base.short_keyed = NULL;
  for (uint32_t i = 0; i < short_keyed.n && more; i++) {
    struct state next = {(const uint8_t *)(words + (size_t)short_keyed.words * i), short_keyed.length};
    if (invisible[i])
      say_the_same(s, state, &next);
    more = note(out, &next, &nothing);
  }
  if (out->found.n)
    qsort(out->found.at, out->found.n, sizeof *out->found.at, compare_ids);
  return more;
}

static uint64_t verdicts_compared;

struct reached {
  struct visited_set *store;
  bool restart;
};

static bool reach(void *context, const struct state *state, const struct edge *edge) {
  struct reached *r = context;
  state_ref ref;
  if (!edge->error)
    visited_insert(r->store, state->bytes, state->length, key_hash(state->bytes, state->length), 0, STATE_REF_NONE, 0,
                   &ref);
  return true;
}

/* What is remembered of properties against the interpreter. */
static void compare_verdicts(struct step_system *s, const struct state *state, const char *what) {
  struct config *c = config_of(s, state);
  for (uint32_t i = 0; i < s->base.query->nproperties; i++) {
    const struct property *p = &s->model->properties[s->base.query->properties[i]];
    struct model_error error;
    if (p->step || p->kind == PROPERTY_LIVE)
      continue;
    enum verdict3 expected = config_holds(s->interp, p->formula, c, NULL, &error);
    for (int again = 0; again < 2; again++) {
      enum verdict3 found = s->base.ops->holds(&s->base, i, state, &error);
      if (found != expected)
        print_error("%s: property %u: %d, the interpreter says %d\n", what, i, found, expected);
      assert_int_equal(found, expected);
      verdicts_compared++;
    }
  }
  config_free(c);
}

/* False: keys were too narrow. */
static bool compare_states(struct step_system *s, struct visited_set *store, const char *what) {
  struct reached reached = {store, false};
  if (!s->base.ops->initial(&s->base, reach, &reached))
    return !s->base.restart;
  uint32_t n = 0;
  for (state_ref r = visited_first(); r < visited_end(store) && n < trials(STATES_COMPARED);
       r = visited_next(store, r), n++) {
    struct stored at = visited_get(store, r);
    struct state state = {at.bytes, at.length};
    struct intern *edges = intern_new();
    struct emitted fast = {s, edges, {0}, true}, plain = {s, edges, {0}, true};
    bool more = emits(s, &state, false, &fast) && emits(s, &state, true, &plain);
    bool same = fast.found.n == plain.found.n &&
                (!fast.found.n || !memcmp(fast.found.at, plain.found.at, fast.found.n * sizeof *fast.found.at));
    if (more && !same)
      print_error("%s: state %u: %zu edges, the reference has %zu\n", what, n, fast.found.n, plain.found.n);
    assert_true(!more || same);
    if (more)
      compare_verdicts(s, &state, what);
    vec_release(&fast.found);
    vec_release(&plain.found);
    intern_free(edges);
    s->plain = false;
    if (!more || !s->base.ops->successors(&s->base, &state, reach, &reached))
      return !s->base.restart;
  }
  return true;
}

static void compare_edges(struct step_system *s, const char *what) {
  bool done = false;
  while (!done) {
    struct visited_set *store = visited_new();
    s->base.restart = false;
    done = compare_states(s, store, what);
    visited_free(store);
  }
}

/* --- verdicts --- */

struct verdicts {
  enum search_end end;
  bool found[64], error;
  uint32_t rounds[64];
};

static void confirm(struct subject *t, const struct query *q, struct search *s, const struct finding *f,
                    const char *what) {
  uint32_t n;
  struct path_goal goal;
  struct run run = {0};
  struct text why = {0};
  struct trace trace;
  struct state *path = search_path(s, f, &n, &goal);
  bool made = s->space->ops->concretise(s->space, path, n, &goal, &run);
  memory_free(path);
  if (!made)
    print_error("%s: no run for property %u\n", what, f->property);
  assert_true(made);
  struct claim claim = {.environment = q->environment,
                        .semantics = q->semantics,
                        .property = f->property == UINT32_MAX ? NO_PROPERTY : q->properties[f->property],
                        .error = f->error.message != NULL};
  enum replay replayed = trace_replay(&trace, t->interp, t->model, &claim, &run, &why);
  if (replayed != REPLAY_CONFIRMED)
    print_error("%s: property %u: %s\n", what, f->property, text_or_empty(&why));
  assert_int_equal(replayed, REPLAY_CONFIRMED);
  trace_release(&trace);
  text_release(&why);
}

static struct verdicts answer(struct subject *t, const struct query *q, const struct reduction_request *requested,
                              bool plain, enum per_message_moves letters, const char *what) {
  struct system_options options = {.successors = plain ? SUCCESSORS_PLAIN : SUCCESSORS_AUTO, .per_message = letters};
  struct licences *l = licences_grant(t->model, q, requested, &t->arena);
  struct system *space = step_system_new(t->interp, t->model, q, l, &options);
  struct search s;
  struct verdicts v = {0};
  search_init(&s, space, &(struct limits){.states = trials(STATES_SEARCHED)});
  search_run(&s);
  v.end = s.end;
  v.error = s.error.found;
  for (uint32_t i = 0; i < q->nproperties && i < 64; i++) {
    v.found[i] = s.findings[i].found;
    v.rounds[i] = s.findings[i].rounds;
    if (v.found[i])
      confirm(t, q, &s, &s.findings[i], what);
  }
  if (v.error && s.error.state != STATE_REF_NONE)
    confirm(t, q, &s, &s.error, what);
  search_release(&s);
  space->ops->free(space);
  return v;
}

static void same_verdicts(const struct verdicts *a, const struct verdicts *b, uint32_t n, const char *what) {
  if (search_limited(a->end) || search_limited(b->end))
    return;
  for (uint32_t i = 0; i < n; i++) {
    if (a->error || b->error)
      continue; /* the search ended with it */
    if (a->found[i] != b->found[i])
      print_error("%s: property %u: %s\n", what, i, a->found[i] ? "not found any more" : "found");
    assert_int_equal(a->found[i], b->found[i]);
  }
  if (a->error != b->error)
    print_error("%s: an error in one of them only\n", what);
  assert_int_equal(a->error, b->error);
}

/* --- every way --- */

static void wish_nothing(struct reduction_request *w) {
  for (unsigned i = 0; i < REDUCTIONS; i++)
    w->reduce[i] = REQUEST_OFF;
  w->reduce[REDUCE_MESSAGE_ORDER] = REQUEST_AUTO;
}

static void ask_by(struct subject *t, const struct query *q, const struct reduction_request *w,
                   enum per_message_moves letters, const char *way, const struct verdicts *expected) {
  char what[200];
  snprintf(what, sizeof what, "%s, %s, %s, %s", t->name, t->model->environments[q->environment].name,
           semantics_name(q->semantics), way);
  if (getenv("RONDO_TEST_LOUD"))
    print_message("%s\n", what);
  struct system_options options = {.per_message = letters};
  struct licences *l = licences_grant(t->model, q, w, &t->arena);
  if (!l->of[REDUCE_PARTIAL_ORDER].applied) {
    struct system *space = step_system_new(t->interp, t->model, q, l, &options);
    if (letters == PER_MESSAGE_ALWAYS)
      step_system_of(space)->checked.digests_from = 0;
    if (!step_system_of(space)->plain)
      compare_edges(step_system_of(space), what);
    space->ops->free(space);
  }
  struct verdicts v = answer(t, q, w, false, letters, what);
  same_verdicts(expected, &v, q->nproperties, what);
}

static void ask_one_way(struct subject *t, const struct query *q, const struct reduction_request *w, const char *way,
                        const struct verdicts *expected) {
  ask_by(t, q, w, PER_MESSAGE_AUTO, way, expected);
}

static void ask_every_way(struct subject *t, const struct query *q) {
  struct reduction_request w;
  char what[200];
  snprintf(what, sizeof what, "%s, %s, %s, plain", t->name, t->model->environments[q->environment].name,
           semantics_name(q->semantics));
  wish_nothing(&w);
  struct verdicts expected = answer(t, q, &w, true, PER_MESSAGE_AUTO, what);
  ask_one_way(t, q, &w, "none", &expected);
  ask_by(t, q, &w, PER_MESSAGE_ALWAYS, "none, letter by letter", &expected);
  w.reduce[REDUCE_MESSAGE_ORDER] = REQUEST_OFF;
  struct verdicts v = answer(t, q, &w, false, PER_MESSAGE_AUTO, "order of arrival");
  same_verdicts(&expected, &v, q->nproperties, "order of arrival");
  for (unsigned i = 0; i < REDUCTIONS; i++) {
    wish_nothing(&w);
    w.reduce[i] = REQUEST_AUTO;
    if (i != REDUCE_MESSAGE_ORDER && licences_grant(t->model, q, &w, &t->arena)->of[i].applied)
      ask_one_way(t, q, &w, reduction_name(i), &expected);
  }
  for (unsigned i = 0; i < REDUCTIONS; i++)
    w.reduce[i] = REQUEST_AUTO;
  w.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_OFF;
  ask_one_way(t, q, &w, "auto but partial-order", &expected);
  w.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_AUTO;
  ask_one_way(t, q, &w, "auto", &expected);
}

static void ask_everything(struct subject *t) {
  const struct model *m = t->model;
  uint32_t *properties = memory_alloc((m->nproperties + 1) * sizeof *properties);
  for (uint32_t e = 0; e < m->nenvironments; e++) {
    struct query q = {.environment = e, .properties = properties};
    for (uint32_t i = 0; i < m->nproperties; i++)
      for (uint32_t k = 0; k < m->properties[i].nenvironments; k++)
        if (m->properties[i].environments[k] == e && m->properties[i].kind != PROPERTY_LIVE)
          properties[q.nproperties++] = i;
    if (q.nproperties == 0)
      for (uint32_t i = 0; i < m->nproperties; i++)
        if (m->properties[i].kind != PROPERTY_LIVE)
          properties[q.nproperties++] = i;
    if (m->kind == MODEL_SHARED) {
      q.semantics = SEMANTICS_INTERLEAVING;
      ask_every_way(t, &q);
      continue;
    }
    for (q.semantics = SEMANTICS_M; q.semantics <= SEMANTICS_MP; q.semantics++)
      ask_every_way(t, &q);
  }
  memory_free(properties);
}

/* --- */

static char *file_text(const char *path) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  struct text text = {0};
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
    text_add_n(&text, buffer, n);
  fclose(f);
  return text.at;
}

/* In a short run of a sanitized build one in so many of them, of another build four times as many. */
static void models_of(const char *pattern, int64_t n, size_t step) {
  glob_t found;
  const char *only = getenv("RONDO_TEST_ONLY");
  assert_int_equal(glob(pattern, 0, NULL, &found), 0);
  for (size_t i = 0; i < found.gl_pathc; i += !is_short() ? 1 : is_sanitized() ? step : step / 4) {
    if (only && !strstr(found.gl_pathv[i], only))
      continue;
    char *text = file_text(found.gl_pathv[i]);
    struct subject t;
    if (subject_from(&t, found.gl_pathv[i], text, n) || subject_from(&t, found.gl_pathv[i], text, 0)) {
      if (model_steps(t.model))
        ask_everything(&t);
      subject_release(&t);
    } else if (getenv("RONDO_TEST_LOUD")) {
      print_message("skipped: %s\n", found.gl_pathv[i]);
    }
    free(text);
  }
  globfree(&found);
}

static void models_of_the_tests(void **unused) {
  (void)unused;
  models_of("tests/models/steps_*.rondo", 2, 4);
  assert_true(getenv("RONDO_TEST_ONLY") || verdicts_compared > trials(1000));
  assert_true(getenv("RONDO_TEST_ONLY") || quiet_steps > trials(1000));
}

static void models_of_the_literature(void **unused) {
  (void)unused;
  models_of("models/*.rondo", 2, 8);
}

static void broken_models(void **unused) {
  (void)unused;
  models_of("models/broken/*.rondo", 2, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(models_of_the_tests), cmocka_unit_test(models_of_the_literature),
                                     cmocka_unit_test(broken_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
