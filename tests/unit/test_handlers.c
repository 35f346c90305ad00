/* Counter systems that are derived from message handlers, against the algorithms they come from: every step of the
   reference, for few processes, is one of the system; the system does not depend on the instance that it was found
   with; and the comparison sees what is wrong with a system from which something was taken away. */
#include "checked_text.h"

#include "counter_dump.h"
#include "lang/typecheck_counters.h"
#include "param/handlers_internal.h"
#include "short.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BINDINGS_MOST = 4 };

struct scene {
  const char *path, *text; /* one of them */
  const char *property;
  struct param_binding with[BINDINGS_MOST], again[BINDINGS_MOST]; /* the instance; another one */
};

struct world {
  struct checked_text k;
  char *text;
  struct interpreter *interp;
  struct round_shape shape;
  struct derivation dv;
  struct handler_system *h;
  struct query q;
  uint32_t property;
};

static size_t count_bindings(const struct param_binding *b) {
  size_t n = 0;
  while (n < BINDINGS_MOST && b[n].name)
    n++;
  return n;
}

static char *text_of(const struct scene *s) {
  if (!s->path)
    return strdup(s->text);
  FILE *f = fopen(s->path, "r");
  assert_non_null(f);
  char *text = calloc(1, 1 << 16);
  assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
  fclose(f);
  return text;
}

static bool open_world(struct world *w, const struct scene *s, const struct param_binding *with) {
  struct arena arena;
  struct diags diags;
  *w = (struct world){.text = text_of(s), .property = UINT32_MAX};
  check_with(&w->k, w->text, with, count_bindings(with), false);
  if (!w->k.model) {
    struct text out = {0};
    print_error("%s\n%s\n", w->text, diagnostics_text(&w->k, &out));
    fail();
  }
  w->interp = interpreter_new(w->k.model);
  arena_init(&arena);
  diags_init(&diags, &w->k.source);
  struct ast *file = parse_file(&w->k.source, &arena, &diags);
  assert_true(rounds_param_system(file, &w->k.source, NULL, 0, &w->shape, &diags));
  diags_release(&diags);
  arena_release(&arena);
  for (uint32_t i = 0; i < w->k.model->nproperties; i++)
    if (strcmp(w->k.model->properties[i].name, s->property) == 0)
      w->property = i;
  assert_int_not_equal(w->property, UINT32_MAX);
  w->q = (struct query){.semantics = SEMANTICS_M, .properties = &w->property, .nproperties = 1};
  return handlers_derive(&w->dv, &w->h, &w->shape, w->interp, &w->q, NULL);
}

static void close_world(struct world *w) {
  handler_system_free(w->h);
  derivation_release(&w->dv);
  counter_system_free(w->shape.system);
  interpreter_free(w->interp);
  release(&w->k);
  free(w->text);
}

static struct validation compare(struct world *w) {
  struct validation out = {0};
  handlers_validate(w->h, &w->dv, &w->shape, &w->q, w->interp, NULL, &out);
  return out;
}

/* ---- steps ---- */

#define HEAD "algorithm T\nparam n, f where n >= 1 and 0 <= f and f <= n\nmessage a, b(v: bool)\n"
#define BYZANTINE "environment e { at most f processes are byzantine; fair }\n"
#define CRASH "environment e { at most f processes crash; fair }\n"

static const struct scene scenes[] = {
    {.path = "models/srikanth_toueg.rondo",
     .property = "unforgeability",
     .with = {{"n", 4}, {"t", 1}, {"f", 1}},
     .again = {{"n", 5}, {"t", 1}, {"f", 1}}},
    {.path = "models/srikanth_toueg.rondo",
     .property = "relay",
     .with = {{"n", 4}, {"t", 1}, {"f", 1}},
     .again = {{"n", 7}, {"t", 2}, {"f", 2}}},
    {.path = "models/folklore_broadcast.rondo",
     .property = "relay",
     .with = {{"n", 2}, {"f", 1}},
     .again = {{"n", 4}, {"f", 2}}},
    {.path = "models/bracha_toueg_broadcast.rondo",
     .property = "agreement",
     .with = {{"n", 4}, {"t", 1}, {"f", 1}},
     .again = {{"n", 5}, {"t", 1}, {"f", 1}}},
    {.path = "models/condition_based.rondo",
     .property = "termination",
     .with = {{"n", 2}, {"t", 0}, {"f", 0}},
     .again = {{"n", 3}, {"t", 1}, {"f", 1}}},
    {.path = "models/bosco.rondo",
     .property = "agreement",
     .with = {{"n", 4}, {"t", 1}, {"f", 1}},
     .again = {{"n", 7}, {"t", 2}, {"f", 2}}},
    {.text = HEAD "process P[n] { input x: bool var d: 0..2 = 0\n"
                  "  start { send b(x) to all }\n"
                  "  on a once { d := 2 }\n"
                  "  on Q: f + 1 of b { if count(m in Q: m.v) > f { d := 1 send a to all } } }\n" CRASH
                  "live s: (eventually exists p in P: p.d == 2) => eventually exists p in P: p.d != 0\n",
     .property = "s",
     .with = {{"n", 2}, {"f", 1}},
     .again = {{"n", 3}, {"f", 2}}},
    {.text = HEAD
     "process P[n] { input x: bool var d: bool = false\n"
     "  step one when x { send b(true) to all send a to all } or on Q: exactly f + 1 of a { send b(false) to all }\n"
     "  step two on Q: 2 of b(v) same v taken { d := v }\n"
     "  on Q: 1 of a once {} }\n" BYZANTINE "safety s: forall p in correct: not p.d or p.x\n",
     .property = "s",
     .with = {{"n", 3}, {"f", 1}},
     .again = {{"n", 2}, {"f", 2}}},
};

/* In a short run of a sanitized build every third scene: a derivation makes many solver contexts, each of which takes
   twenty times as long there. */
static void every_step_is_matched(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i += one_in()) {
    struct world w;
    if (!open_world(&w, &scenes[i], scenes[i].with)) {
      print_error("%zu: %s\n", i, w.dv.refused);
      fail();
    }
    struct validation out = compare(&w);
    if (out.difference.n) {
      print_error("%zu: %s\n", i, out.difference.at);
      fail();
    }
    assert_true(out.states > 10 && out.steps > 10);
    validation_release(&out);
    close_world(&w);
  }
}

static void the_instance_does_not_matter(void **unused) {
  (void)unused;
  for (size_t i = one_in() - 1; i < sizeof scenes / sizeof *scenes; i += one_in()) {
    struct world a, b;
    struct text one = {0}, two = {0};
    assert_true(open_world(&a, &scenes[i], scenes[i].with));
    assert_true(open_world(&b, &scenes[i], scenes[i].again));
    counter_system_print(a.dv.system, &one);
    counter_system_print(b.dv.system, &two);
    assert_string_equal(one.at, two.at);
    text_release(&one);
    text_release(&two);
    close_world(&a);
    close_world(&b);
  }
}

/* ---- mistakes ---- */

static struct term *number_of(struct world *w, int64_t x) {
  struct term *t = arena_alloc(&w->dv.system->arena, sizeof *t);
  t->op = TERM_NUMBER;
  t->number = x;
  return t;
}

static struct term *both(struct world *w, enum term_op op, struct term *a, struct term *b) {
  struct term *t = number_of(w, 0);
  t->op = op;
  t->kid[0] = a;
  t->kid[1] = b;
  return t;
}

static struct term *counter_of(struct world *w, uint32_t counter) {
  struct term *t = number_of(w, 0);
  t->op = TERM_COUNTER;
  t->index = counter;
  return t;
}

/* Each returns false if there is no mistake of that number. */
typedef bool mistake_fn(struct world *, uint32_t number);

static bool leave_out_a_move(struct world *w, uint32_t i) {
  if (i < w->dv.system->nmoves)
    w->dv.system->moves[i].guard = number_of(w, 0);
  return i < w->dv.system->nmoves;
}

static bool a_move_needs_two(struct world *w, uint32_t i) {
  if (i >= w->dv.system->nmoves)
    return false;
  struct counter_move *m = &w->dv.system->moves[i];
  m->guard = both(w, TERM_AND, m->guard, both(w, TERM_LE, number_of(w, 2), counter_of(w, w->h->moves.at[i].from)));
  return true;
}

/* A process that has sent something is counted as one that has not. */
static bool something_sent_is_forgotten(struct world *w, uint32_t i) {
  for (uint32_t l = 0; l < w->h->locations.n; l++)
    if (w->h->locations.at[l].sent && i-- == 0) {
      w->h->locations.at[l].sent = 0;
      return true;
    }
  return false;
}

static bool nobody_begins_there(struct world *w, uint32_t i) {
  for (uint32_t l = 0; l < w->h->locations.n; l++)
    if (w->h->locations.at[l].begins && i-- == 0) {
      struct term *none = both(w, TERM_EQ, counter_of(w, w->h->class_of.at[l]), number_of(w, 0));
      w->dv.system->start = both(w, TERM_AND, w->dv.system->start, none);
      return true;
    }
  return false;
}

static bool nothing_is_unsafe(struct world *w, uint32_t i) {
  w->dv.system->properties[0].unsafe = number_of(w, 0);
  return i == 0;
}

static bool no_run_can_stay(struct world *w, uint32_t i) {
  w->h->last = number_of(w, 0);
  return i == 0;
}

static bool everybody_must_have_decided(struct world *w, uint32_t i) {
  struct handler_formula *goal = w->h->live->kid[1];
  while (goal->op != LIVE_STATE)
    goal = goal->kid[0];
  struct term *negation = number_of(w, 0);
  negation->op = TERM_NOT;
  negation->kid[0] = goal->term;
  goal->term = negation;
  return i == 0;
}

/* Locations that differ are counted together. */
static bool two_classes_are_one(struct world *w, uint32_t i) {
  for (uint32_t l = 1; l < w->h->locations.n; l++)
    if (w->h->class_of.at[l] != w->h->class_of.at[l - 1] && i-- == 0) {
      w->h->class_of.at[l] = w->h->class_of.at[l - 1];
      return true;
    }
  return false;
}

#define ECHO                                                                                                           \
  HEAD "process P[n] { input x: bool var d: bool = false\n"                                                            \
       "  final step one when x { send a to all } or on Q: f + 1 of a { send a to all }\n"                             \
       "  final step two on Q: n - f of a { d := true } }\n"

static void mistakes_are_found(void **unused) {
  (void)unused;
  static const struct {
    const char *name, *text;
    mistake_fn *make;
    struct param_binding with[BINDINGS_MOST];
  } cases[] = {
      {"move", ECHO BYZANTINE "safety s: forall p in P: not p.d\n", leave_out_a_move, {{"n", 4}, {"f", 1}}},
      {"move", ECHO CRASH "safety s: forall p in P: not p.d\n", leave_out_a_move, {{"n", 3}, {"f", 1}}},
      {"move", ECHO CRASH "live s: forall p in correct: eventually p.d\n", leave_out_a_move, {{"n", 3}, {"f", 1}}},
      {"two", ECHO BYZANTINE "safety s: forall p in P: not p.d\n", a_move_needs_two, {{"n", 4}, {"f", 1}}},
      {"sent", ECHO CRASH "safety s: forall p in P: not p.d\n", something_sent_is_forgotten, {{"n", 3}, {"f", 1}}},
      {"start", ECHO BYZANTINE "safety s: forall p in P: not p.d\n", nobody_begins_there, {{"n", 3}, {"f", 1}}},
      {"start", ECHO CRASH "live s: forall p in correct: eventually p.d\n", nobody_begins_there, {{"n", 3}, {"f", 1}}},
      {"unsafe", ECHO BYZANTINE "safety s: forall p in P: not p.d\n", nothing_is_unsafe, {{"n", 3}, {"f", 1}}},
      {"last", ECHO BYZANTINE "live s: forall p in P: eventually p.d\n", no_run_can_stay, {{"n", 3}, {"f", 1}}},
      {"last", ECHO CRASH "live s: forall p in correct: eventually p.d\n", no_run_can_stay, {{"n", 3}, {"f", 1}}},
      {"goal",
       ECHO BYZANTINE "live s: eventually exists p in P: p.d\n",
       everybody_must_have_decided,
       {{"n", 3}, {"f", 1}}},
      {"classes", ECHO BYZANTINE "safety s: forall p in P: not p.d\n", two_classes_are_one, {{"n", 3}, {"f", 1}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint32_t number = 0;; number += one_in()) {
      struct scene s = {.text = cases[i].text, .property = "s"};
      struct world w;
      struct validation out;
      memcpy(s.with, cases[i].with, sizeof s.with);
      assert_true(open_world(&w, &s, s.with));
      if (number == 0) { /* without the mistake */
        out = compare(&w);
        assert_int_equal(out.difference.n, 0);
        validation_release(&out);
      }
      bool more = cases[i].make(&w, number);
      out = compare(&w);
      bool found = out.difference.n > 0;
      if (!found && (more || number == 0)) {
        struct text all = {0};
        counter_system_print(w.dv.system, &all);
        print_error("%zu, %s %" PRIu32 " is not seen in %" PRIu64 " states%s\n%.200s\n", i, cases[i].name, number,
                    out.states, out.cut ? ", cut" : "", all.at + all.n - 800);
        fail();
      }
      validation_release(&out);
      close_world(&w);
      if (!more || cases[i].make == nothing_is_unsafe || cases[i].make == no_run_can_stay ||
          cases[i].make == everybody_must_have_decided)
        break;
    }
}

static void it_ends_when_it_is_told_to(void **unused) {
  (void)unused;
  struct scene s = {
      .text = ECHO BYZANTINE "safety s: forall p in P: not p.d\n", .property = "s", .with = {{"n", 3}, {"f", 1}}};
  struct world w;
  struct validation out = {0};
  volatile sig_atomic_t stop = 1;
  assert_true(open_world(&w, &s, s.with));
  assert_false(handlers_validate(w.h, &w.dv, &w.shape, &w.q, w.interp, &stop, &out));
  assert_true(out.steps == 0 && !out.difference.n);
  handler_system_free(w.h);
  derivation_release(&w.dv);
  assert_false(handlers_derive(&w.dv, &w.h, &w.shape, w.interp, &w.q, &stop));
  assert_true(w.dv.stopped);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_is_matched), cmocka_unit_test(the_instance_does_not_matter),
      cmocka_unit_test(mistakes_are_found), cmocka_unit_test(it_ends_when_it_is_told_to)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
