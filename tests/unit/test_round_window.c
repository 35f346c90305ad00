/* Rounds that are kept relative, against plain integers. Verdicts do not reveal an abstraction that is wrong, so each
   step is looked at: from a configuration of a random run, whose rounds just grow, and from what its row with relative
   rounds stands for, the same can happen, up to relative rounds. Two abstractions that are slightly wrong are caught in
   this way. For small rings everything that can be reached with rounds up to a bound has relative forms, and these are
   all there are. */
#include "lang/typecheck.h"
#include "search/bfs.h"
#include "short.h"
#include "steps/dead_data.h"
#include "steps/normalise.h"
#include "steps/step_system_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __SANITIZE_ADDRESS__ /* slow */
#define STEPS 300
#else
#define STEPS 3000
#endif

/* --- models --- */

/* One after the other is coordinator, by number; who is behind catches up when it hears of a later round. */
static const char rotating[] = "algorithm Rotating\n"
                               "param n, k where n >= 1 and k >= 1\n"
                               "type Value = 1..k\n"
                               "message ask(r: round), value(r: round, v: Value)\n"
                               "process P[n] {\n"
                               "  var r: round = 0\n"
                               "  var x: Value = random(Value)\n"
                               "  var seen: Value? = none\n"
                               "  when P(r) == me and r mod 2 == 0 and seen == none {\n"
                               "    seen := x\n"
                               "    send value(r, x) to others\n"
                               "  }\n"
                               "  when P(r) == me and r mod 2 == 1 { r := r + 1  x := pick(Value)  seen := none }\n"
                               "  when seen != none { r := r + 1  seen := none  send ask(r) to others }\n"
                               "  on m: value if m.r == r { x := m.v  seen := m.v }\n"
                               "  on m: ask if m.r > r { r := m.r  seen := none }\n"
                               "  on m: ask if m.r <= r {}\n"
                               "}\n"
                               "safety sane: forall p in P: p.x <= k\n";

/* What is behind is passed on between the others, and its rounds are kept in a set, too. */
static const char gossip[] = "algorithm Gossip\n"
                             "param n, k where n >= 1 and k >= 1\n"
                             "message news(r: round, hot: bool, by: 1..k), old(since: round)\n"
                             "process P[n] ring {\n"
                             "  var r: round = 2\n"
                             "  var kept: set of round = {}\n"
                             "  var odd: bool = false\n"
                             "  when |kept| == 0 { r := r + 1  kept := {r}  send news(r, true, k) to next }\n"
                             "  on m: news {\n"
                             "    if m.r > r { r := m.r  kept := {}  send news(m.r, m.hot, m.by) to next }\n"
                             "    else if m.r == r { odd := not odd  kept := {r + 1} }\n"
                             "    else if m.hot and m.by > 1 { send news(m.r, false, m.by - 1) to next }\n"
                             "    else if m.hot { send old(r) to next }\n"
                             "  }\n"
                             "  on old(since) if since < r { kept := {} }\n"
                             "  when r in kept { kept := {} }\n"
                             "}\n"
                             "safety sane: forall p in P: |p.kept| <= 1\n";

/* Who has had enough passes on whatever comes. */
static const char relay[] =
    "algorithm Relay\n"
    "param n, k where n >= 1 and k >= 1\n"
    "message hot(r: round, left: 0..3), cold(left: 0..3)\n"
    "process P[n] ring {\n"
    "  var r: round = 0\n"
    "  var seen: 0..k = 0\n"
    "  step busy when seen < k { r := r + 1  send hot(r, 3) to next  seen := seen + 1  goto busy }\n"
    "    or on m: hot if m.r >= r { r := m.r  goto tired }\n"
    "    or on m: hot if m.r < r and m.left > 0 { send cold(m.left - 1) to next  goto busy }\n"
    "    or on cold(left == 0) { seen := 0  goto busy }\n"
    "    or when seen == k { goto tired }\n"
    "  step tired on m: hot { if m.left > 0 { send hot(m.r, m.left - 1) to next }  goto tired }\n"
    "    or on m: cold { if m.left > 1 { send cold(m.left - 1) to next }  goto tired }\n"
    "}\n"
    "safety sane: forall p in P: p.seen <= k\n";

struct subject {
  struct arena arena;
  char *text;
  struct model *model;
  struct interpreter *interp;
  struct query query;
  uint32_t property;
  struct system *space;
  uint32_t made; /* relative forms */
};

static void subject_init(struct subject *t, const char *text, int64_t n, int64_t k, bool forgetful) {
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  struct param_binding bindings[] = {{"n", n}, {"k", k}};
  struct reduction_request w = {0};
  memset(t, 0, sizeof *t);
  arena_init(&t->arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &t->arena, &diags);
  t->model = diags.errors ? NULL : model_typecheck(file, &source, bindings, 2, false, &diags);
  if (!t->model) {
    struct text out = {0};
    diags_print(&diags, false, &out);
    print_error("%s\n", text_or_empty(&out));
    text_release(&out);
  }
  assert_non_null(t->model);
  diags_release(&diags);
  t->interp = interpreter_new(t->model);
  t->query = (struct query){.semantics = SEMANTICS_M, .properties = &t->property, .nproperties = 1};
  for (unsigned i = 0; i < REDUCTIONS; i++)
    w.reduce[i] = REQUEST_OFF;
  w.reduce[REDUCE_MESSAGE_ORDER] = w.reduce[REDUCE_DEAD_VARIABLES] = w.reduce[REDUCE_ROUND_WINDOW] = REQUEST_AUTO;
  w.reduce[REDUCE_DEAD_MESSAGES] = forgetful ? REQUEST_AUTO : REQUEST_OFF;
  struct licences *l = licences_grant(t->model, &t->query, &w, &t->arena);
  if (!l->of[REDUCE_ROUND_WINDOW].applied)
    print_error("%s\n", l->of[REDUCE_ROUND_WINDOW].reason);
  assert_true(l->of[REDUCE_ROUND_WINDOW].applied);
  t->space = step_system_new(t->interp, t->model, &t->query, l, &(struct system_options){0});
}

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

static void subject_release(struct subject *t) {
  t->space->ops->free(t->space);
  interpreter_free(t->interp);
  model_free(t->model);
  arena_release(&t->arena);
}

/* --- abstractions: from a configuration to one that stands for it --- */

typedef struct config *abstraction_fn(struct subject *, const struct config *);

#define FORGETS_EVERY 50 /* in between contents are changed as others were */

/* Now and then from what is remembered and, once more, without that. */
static struct config *relative(struct subject *t, const struct config *c) {
  struct step_system *s = step_system_of(t->space);
  size_t bytes = s->cells.ncells * sizeof *s->scratch.row;
  row_from_config(s, c, s->scratch.row);
  uint32_t distance = row_normalise(s, s->scratch.row);
  if (++t->made % FORGETS_EVERY == 0) {
    content *remembered = memory_alloc(bytes + 1);
    memcpy(remembered, s->scratch.row, bytes);
    normaliser_clear_cache(s);
    row_from_config(s, c, s->scratch.row);
    assert_int_equal(row_normalise(s, s->scratch.row), distance);
    assert_memory_equal(s->scratch.row, remembered, bytes);
    memory_free(remembered);
  }
  return state_cells_to_config(&s->cells, s->scratch.row);
}

/* The same for Itai-Rodeh, written down once more; and what is wrong with it, if anything. */
enum mistake { RIGHT, LATEST, HOPS };

static value changed_token(struct model *m, value message, value from, value by, bool hops) {
  size_t n;
  value part[4];
  memcpy(part, value_parts(&m->values, message, &n), 3 * sizeof *part);
  n = 3;
  if (part[0] >= from) {
    part[0] += by;
  } else {
    part[0] = 0;
    part[1] = 1;
    part[2] = hops ? 1 : part[2];
  }
  return value_vector(&m->values, part, n);
}

static struct config *token_ring(struct subject *t, const struct config *config, enum mistake mistake) {
  struct model *m = t->model;
  struct config *c = config_copy(m, config), *sorted;
  value least = INT64_MAX, most = INT64_MIN, point = 0;
  const struct type *labels = m->roles[0].vars[m->roles[0].point_var].type;
  while (strcmp(labels->labels[point], "passive") != 0)
    point++;
  for (uint32_t p = 0; p < m->nprocesses; p++) {
    value *r = &c->local[p][LOCAL_VAR(0)], *id = &c->local[p][LOCAL_VAR(1)];
    if (c->local[p][LOCAL_VAR(m->roles[0].point_var)] >= point) {
      *r = 0;
      *id = 1;
    } else {
      least = *r < least ? *r : least;
      most = *r > most ? *r : most;
    }
  }
  for (uint32_t p = 0; p < m->nprocesses && least < INT64_MAX; p++)
    if (c->local[p][LOCAL_VAR(m->roles[0].point_var)] < point)
      c->local[p][LOCAL_VAR(0)] += 1 - least;
  sorted = config_copy(m, c);
  sorted->npackets = 0;
  for (uint32_t i = 0; i < c->npackets; i++) {
    struct packet packet = c->packets[i];
    packet.message = changed_token(m, packet.message, mistake == LATEST && most > least ? most : least,
                                   least < INT64_MAX ? 1 - least : 0, mistake == HOPS);
    packet_post(t->interp, environment_channels(&m->environments[0]), sorted, packet);
  }
  config_free(c);
  return sorted;
}

static struct config *right(struct subject *t, const struct config *c) { return token_ring(t, c, RIGHT); }
static struct config *latest(struct subject *t, const struct config *c) { return token_ring(t, c, LATEST); }
static struct config *hops(struct subject *t, const struct config *c) { return token_ring(t, c, HOPS); }

/* --- what can happen, abstractly --- */

struct images { /* of the successors of a configuration */
  struct subject *subject;
  abstraction_fn *of;
  struct intern *names; /* of all configurations, as numbers */
  VEC(uint32_t) found;
  VEC(struct config *) next; /* the successors themselves; only if wanted */
  bool keep;
};

static uint32_t name_of(struct subject *t, struct intern *names, const struct config *c) {
  const struct model *m = t->model;
  VEC(value) v = {0};
  for (uint32_t p = 0; p < m->nprocesses; p++)
    for (uint32_t i = 0; i < role_local_length(&m->roles[model_role_of(m, p)]); i++)
      vec_push(&v, c->local[p][i]);
  for (uint32_t i = 0; i < c->npackets; i++) {
    const struct packet *p = &c->packets[i];
    value parts[] = {p->from, p->to, p->kind, p->place, p->message};
    for (size_t k = 0; k < 5; k++)
      vec_push(&v, parts[k]);
  }
  uint32_t name = intern_put(names, v.at, v.n);
  vec_release(&v);
  return name;
}

static bool note(void *context, const struct witness *w, enum step_result result, const struct config *next,
                 const struct model_error *error) {
  struct images *i = context;
  (void)w;
  (void)error;
  if (result != STEP_OK)
    return true;
  struct config *image = i->of(i->subject, next);
  uint32_t name = name_of(i->subject, i->names, image);
  config_free(image);
  bool known = false;
  for (size_t k = 0; k < i->found.n; k++)
    known |= i->found.at[k] == name;
  if (!known)
    vec_push(&i->found, name);
  if (i->keep)
    vec_push(&i->next, config_copy(i->subject->model, next));
  return true;
}

static int compare_names(const void *a, const void *b) {
  return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

static void images_find(struct images *i, const struct config *c) {
  i->found.n = 0;
  config_successors(i->subject->interp, 0, c, note, i);
  if (i->found.n)
    qsort(i->found.at, i->found.n, sizeof *i->found.at, compare_names);
}

/* Steps that change nothing but what is forgotten, or passed on, are not asked for. */
static void without_name(struct images *i, uint32_t name) {
  size_t kept = 0;
  for (size_t k = 0; k < i->found.n; k++)
    if (i->found.at[k] != name)
      i->found.at[kept++] = i->found.at[k];
  i->found.n = kept;
}

/* What can happen after any number of such steps. False: there are too many. */
static bool images_find_after(struct images *i, const struct config *c, uint32_t here) {
  struct subject *t = i->subject;
  struct intern *seen = intern_new();
  VEC(struct config *) idle = {0};
  struct images one = {.subject = t, .of = i->of, .names = i->names, .keep = true};
  vec_push(&idle, config_copy(t->model, c));
  name_of(t, seen, c);
  i->found.n = 0;
  for (size_t k = 0; k < idle.n && idle.n < 60; k++) {
    images_find(&one, idle.at[k]);
    for (size_t j = 0; j < one.next.n; j++) {
      struct config *image = i->of(t, one.next.at[j]);
      uint32_t name = name_of(t, i->names, image);
      bool known = name == here;
      for (size_t l = 0; l < i->found.n && !known; l++)
        known = i->found.at[l] == name;
      if (!known)
        vec_push(&i->found, name);
      if (name == here && name_of(t, seen, one.next.at[j]) == idle.n)
        vec_push(&idle, config_copy(t->model, one.next.at[j]));
      config_free(image);
      config_free(one.next.at[j]);
    }
    one.next.n = 0;
  }
  if (i->found.n)
    qsort(i->found.at, i->found.n, sizeof *i->found.at, compare_names);
  bool all = idle.n < 60;
  for (size_t k = 0; k < idle.n; k++)
    config_free(idle.at[k]);
  vec_release(&idle);
  vec_release(&one.found);
  vec_release(&one.next);
  intern_free(seen);
  return all;
}

/* --- random runs --- */

static bool first(void *context, const struct config *c) {
  struct config **out = context;
  config_free(*out);
  *out = config_copy(*(struct model **)(out + 1), c);
  return rand() % 4 == 0; /* or a later one */
}

static struct config *begin(struct subject *t) {
  void *out[2] = {NULL, t->model};
  config_initials(t->interp, 0, first, out, &(struct model_error){0});
  return out[0];
}

/* Returns how many steps did not commute. */
static uint32_t walk(struct subject *t, abstraction_fn *of, uint32_t steps, bool idle) {
  struct intern *names = intern_new();
  struct images real = {.subject = t, .of = of, .names = names, .keep = true}, rel = real;
  struct config *c = begin(t);
  uint32_t wrong = 0, length = 0;
  rel.keep = false;
  for (uint32_t n = 0; n < steps; n++) {
    struct config *image = of(t, c);
    uint32_t here = name_of(t, names, image);
    images_find(&real, c);
    images_find(&rel, image);
    bool all = true;
    if (idle) {
      all = images_find_after(&real, c, here);
      without_name(&rel, here);
    }
    wrong += all && (real.found.n != rel.found.n ||
                     (real.found.n && memcmp(real.found.at, rel.found.at, real.found.n * sizeof *real.found.at)));
    config_free(image);
    config_free(c);
    size_t take = real.next.n ? (size_t)rand() % real.next.n : 0;
    bool over = real.next.n == 0 || ++length > 400;
    c = over ? begin(t) : config_copy(t->model, real.next.at[take]);
    length = over ? 0 : length;
    for (size_t i = 0; i < real.next.n; i++)
      config_free(real.next.at[i]);
    real.next.n = 0;
  }
  config_free(c);
  vec_release(&real.found);
  vec_release(&real.next);
  vec_release(&rel.found);
  intern_free(names);
  return wrong;
}

static uint32_t steps_wanted(void) {
  const char *many = getenv("RONDO_TEST_STEPS");
  return many ? (uint32_t)atoi(many) : trials(STEPS);
}

static void commutes(const char *text, int64_t n, int64_t k) {
  for (int forgetful = 0; forgetful < 2; forgetful++) {
    struct subject t;
    subject_init(&t, text, n, k, forgetful);
    uint32_t wrong = walk(&t, relative, steps_wanted(), forgetful);
    if (wrong)
      print_error("%.30s, n = %d, forgetful %d: %u steps\n", text, (int)n, forgetful, wrong);
    assert_int_equal(wrong, 0);
    subject_release(&t);
  }
}

static void test_steps_commute(void **state) {
  (void)state;
  static const char *const paths[] = {"models/itai_rodeh.rondo", "models/itai_rodeh_nodirty.rondo"};
  srand(1);
  for (size_t i = 0; i < 2; i++) {
    char *text = file_text(paths[i]);
    commutes(text, 2, 2);
    commutes(text, 3, 2);
    commutes(text, 4, 3);
    memory_free(text);
  }
  commutes(relay, 3, 2);
  commutes(rotating, 3, 2);
  commutes(gossip, 3, 3);
}

static void test_mistakes_show(void **state) {
  (void)state;
  char *text = file_text("models/itai_rodeh_nodirty.rondo");
  struct subject t;
  srand(2);
  subject_init(&t, text, 3, 2, false);
  assert_int_equal(walk(&t, right, STEPS, false), 0);
  assert_true(walk(&t, latest, STEPS, false) > 0);
  assert_true(walk(&t, hops, STEPS, false) > 0);
  subject_release(&t);
  memory_free(text);
}

/* --- all that can be reached --- */

struct reached {
  struct subject *subject;
  struct intern *names;
  VEC(struct config *) all;
  value most; /* rounds beyond this are not followed */
};

static bool reach(void *context, const struct config *c) {
  struct reached *r = context;
  struct model *m = r->subject->model;
  uint32_t name = name_of(r->subject, r->names, c);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    if (c->local[p][LOCAL_VAR(0)] > r->most)
      return true;
  if (name == r->all.n)
    vec_push(&r->all, config_copy(m, c));
  else
    assert_true(name < r->all.n);
  return true;
}

static bool reach_next(void *context, const struct witness *w, enum step_result result, const struct config *next,
                       const struct model_error *error) {
  (void)w;
  (void)error;
  assert_int_equal(result, STEP_OK);
  struct reached *r = context;
  for (uint32_t p = 0; p < r->subject->model->nprocesses; p++)
    if (next->local[p][LOCAL_VAR(0)] > r->most)
      return true;
  return reach(context, next);
}

struct forms {
  struct step_system *space;
  struct visited_set *store;
};

static bool put_form(void *context, const struct state *state, const struct edge *edge) {
  struct forms *f = context;
  state_ref ref;
  assert_null(edge->error);
  visited_insert(f->store, state->bytes, state->length, key_hash(state->bytes, state->length), 0, STATE_REF_NONE, 0,
                 &ref);
  return true;
}

static uint32_t count_states(struct visited_set *store) {
  uint32_t n = 0;
  for (state_ref r = visited_first(); r < visited_end(store); r = visited_next(store, r))
    n++;
  return n;
}

/* All states of the space. */
static struct visited_set *explore(struct step_system *s) {
  struct forms f = {s, visited_new()};
  bool again = true;
  while (again) {
    s->base.restart = again = false;
    visited_free(f.store);
    f.store = visited_new();
    s->base.ops->initial(&s->base, put_form, &f);
    for (state_ref r = visited_first(); r < visited_end(f.store) && !s->base.restart; r = visited_next(f.store, r)) {
      struct stored at = visited_get(f.store, r);
      s->base.ops->successors(&s->base, &(struct state){at.bytes, at.length}, put_form, &f);
    }
    again = s->base.restart;
  }
  return f.store;
}

/* Relative forms of everything up to that round: those that the space has, and no others. */
static void same_set(const char *path, int64_t n, int64_t k, value most) {
  char *text = file_text(path);
  struct subject t;
  subject_init(&t, text, n, k, false);
  struct step_system *s = step_system_of(t.space);
  struct reached all = {.subject = &t, .names = intern_new(), .most = most};
  config_initials(t.interp, 0, reach, &all, &(struct model_error){0});
  for (size_t i = 0; i < all.all.n; i++)
    config_successors(t.interp, 0, all.all.at[i], reach_next, &all);
  struct visited_set *space = explore(s), *images = visited_new();
  struct forms f = {s, images};
  uint32_t states = count_states(space);
  for (size_t i = 0; i < all.all.n; i++) {
    row_from_config(s, all.all.at[i], s->scratch.row);
    assert_true(row_key(s, s->scratch.row, s->scratch.packed, NULL, NULL));
    struct state state = keys_state(&s->keys, s->scratch.packed);
    put_form(&f, &state, &(struct edge){0});
    put_form(&(struct forms){s, space}, &state, &(struct edge){0});
    config_free(all.all.at[i]);
  }
  assert_int_equal(count_states(space), states); /* none was new */
  assert_int_equal(count_states(images), states);
  visited_free(space);
  visited_free(images);
  vec_release(&all.all);
  intern_free(all.names);
  subject_release(&t);
  memory_free(text);
}

static void test_same_states(void **state) {
  (void)state;
  same_set("models/itai_rodeh.rondo", 2, 2, 3);
  same_set("models/itai_rodeh_nodirty.rondo", 2, 2, 4);
#ifndef __SANITIZE_ADDRESS__
  same_set("models/itai_rodeh.rondo", 3, 2, 3);
  same_set("models/itai_rodeh_nodirty.rondo", 3, 2, 4);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps_commute),
      cmocka_unit_test(test_mistakes_show),
      cmocka_unit_test(test_same_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
