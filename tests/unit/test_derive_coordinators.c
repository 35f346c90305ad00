/* Counter systems of models with a coordinator, against the algorithms they come from (see test_derive.c): who leads is
   a class of the local state, and numbers of phases are ages. */
#include "checked_text.h"

#include "counter_dump.h"
#include "lang/coordinator_view.h"
#include "lang/typecheck_counters.h"
#include "param/derive.h"
#include "param/validation.h"
#include "short.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { BINDINGS_MOST = 4, MILLISECONDS = 150 };

struct scene {
  const char *path, *text;            /* one of them */
  const char *environment, *property; /* NULL: the first environment */
  struct param_binding given[BINDINGS_MOST];
  struct param_binding with[BINDINGS_MOST]; /* the instance from which it is derived */
  struct param_binding few[BINDINGS_MOST];  /* the one with which it is compared */
};

struct world {
  struct checked_text k;
  char *text;
  struct model *derived_from; /* with coordinators as oracles */
  struct interpreter *interp;
  struct round_shape shape;
  struct derivation dv;
  uint32_t property, environment;
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
  FILE *f = fopen(s->path, "r"); /* tests run where the models are */
  assert_non_null(f);
  char *text = calloc(1, 1 << 16);
  assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
  fclose(f);
  return text;
}

static void find_names(struct world *w, const struct scene *s) {
  const struct model *m = w->k.model;
  w->property = w->environment = UINT32_MAX;
  for (uint32_t i = 0; i < m->nproperties; i++)
    if (strcmp(m->properties[i].name, s->property) == 0)
      w->property = i;
  for (uint32_t i = 0; i < m->nenvironments; i++)
    if (!s->environment || strcmp(m->environments[i].name, s->environment) == 0)
      w->environment = w->environment == UINT32_MAX ? i : w->environment;
  assert_true(w->property != UINT32_MAX && w->environment != UINT32_MAX);
}

static struct query query_of(const struct world *w) {
  return (struct query){.environment = w->environment, .properties = &w->property, .nproperties = 1};
}

/* What is refused is in dv.refused. */
static bool open_world(struct world *w, const struct scene *s, enum derive_mode mode, enum round_form form) {
  struct arena arena;
  struct diags diags;
  *w = (struct world){.text = text_of(s)};
  check_with(&w->k, w->text, s->with, count_bindings(s->with), false);
  if (!w->k.model) {
    struct text out = {0};
    print_error("%s\n%s\n", w->text, diagnostics_text(&w->k, &out));
    fail();
  }
  find_names(w, s);
  arena_init(&arena);
  diags_init(&diags, &w->k.source);
  struct ast *file = parse_file(&w->k.source, &arena, &diags), *view = coordinator_view(file, &arena);
  assert_true(rounds_param_system(file, &w->k.source, s->given, count_bindings(s->given), &w->shape, &diags));
  w->derived_from = model_typecheck(view ? view : file, &w->k.source, s->with, count_bindings(s->with), false, &diags);
  assert_non_null(w->derived_from);
  diags_release(&diags);
  arena_release(&arena);
  w->interp = interpreter_new(w->derived_from);
  struct query q = query_of(w);
  return derive_as(&w->dv, &w->shape, w->interp, &q, mode, form, NULL);
}

static void close_world(struct world *w) {
  derivation_release(&w->dv);
  counter_system_free(w->shape.system);
  interpreter_free(w->interp);
  model_free(w->derived_from);
  release(&w->k);
  free(w->text);
}

static volatile sig_atomic_t time_is_up;

static void ring(int signal) {
  (void)signal;
  time_is_up = 1;
}

/* With an instance of the file as it is; false: the system is too large to unfold. */
static bool compare(struct world *w, const struct scene *s, bool to_the_end, struct validation *out) {
  struct checked_text few;
  struct query q = query_of(w);
  uint32_t milliseconds = trials(MILLISECONDS);
  struct itimerval timer = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000}};
  check_with(&few, w->text, s->few, count_bindings(s->few), false);
  assert_non_null(few.model);
  struct interpreter *interp = interpreter_new(few.model);
  *out = (struct validation){0};
  time_is_up = 0;
  struct validator *c = validator_new(&w->dv, &w->shape, &q, &time_is_up);
  signal(SIGPROF, ring);
  if (!to_the_end)
    setitimer(ITIMER_PROF, &timer, NULL); /* processor time: a busy machine compares as much */
  if (c)
    validate_instance(c, interp, NULL, out);
  setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
  validator_free(c);
  interpreter_free(interp);
  release(&few);
  return c != NULL;
}

static void simulate(const struct scene *s, enum derive_mode mode, enum round_form form) {
  struct world w;
  struct validation out;
  if (!open_world(&w, s, mode, form)) {
    print_error("%s: %s\n", s->path ? s->path : s->text, w.dv.refused);
    fail();
  }
  bool unfolded = compare(&w, s, false, &out);
  if (out.difference.n) {
    struct text all = {0};
    counter_system_print(w.dv.system, &all);
    print_error("%s\n%s\n", all.at, out.difference.at);
    text_release(&all);
    fail();
  }
  assert_true(!unfolded || out.cut || (out.states > 1 && out.steps > 1));
  validation_release(&out);
  close_world(&w);
}

/* ---- scenes ---- */

#define HEAD "algorithm T\nparam n where n >= 1\n"
#define FOUR .with = {{"n", 4}, {"k", 2}}, .given = {{"k", 2}}

/* The leader is told who voted, and tells. */
#define TOLD(process_vars, coordinator, phase, clauses)                                                                \
  HEAD "process P[n] { input x: bool " process_vars " var y: bool = false var d: bool = false\n  " phase " {\n"        \
       "  round ask { send x to " coordinator "\n"                                                                     \
       "    update { y := me == " coordinator " and exists m in received: m } }\n"                                     \
       "  round tell { send y to all when me == " coordinator "\n"                                                     \
       "    update { if exists v in from(" coordinator ") { d := d or v } } } } }\n" clauses                           \
       "safety s: (forall p in P: not p.x) => forall q in P: not q.d\n"
#define AGREED "every phase: forall p, q in P: c[p] == c[q] "

static const struct scene scenes[] = {
    {.path = "models/coord_uniform_voting.rondo", .property = "agreement", FOUR, .few = {{"n", 2}, {"k", 2}}},
    {.path = "models/coord_uniform_voting.rondo", .property = "irrevocability", FOUR, .few = {{"n", 3}, {"k", 2}}},
    {.path = "models/broken/coord_uniform_voting_rivals.rondo",
     .property = "agreement",
     FOUR,
     .few = {{"n", 2}, {"k", 2}}},
    {.path = "models/last_voting.rondo", .property = "agreement", FOUR, .few = {{"n", 2}, {"k", 2}}},
    {.path = "models/last_voting.rondo", .property = "integrity", FOUR, .few = {{"n", 3}, {"k", 2}}},
    {.path = "models/last_voting.rondo", .property = "irrevocability", FOUR, .few = {{"n", 2}, {"k", 2}}},
    {.path = "models/broken/last_voting_minority.rondo", .property = "agreement", FOUR, .few = {{"n", 3}, {"k", 2}}},
    {.path = "models/chandra_toueg.rondo", .property = "agreement", FOUR, .few = {{"n", 2}, {"k", 2}}},
    {.path = "models/chandra_toueg.rondo", .property = "irrevocability", FOUR, .few = {{"n", 2}, {"k", 2}}},
    {.path = "models/three_phase_commit.rondo",
     .property = "agreement",
     .given = {{"f", 1}},
     .with = {{"n", 4}, {"f", 1}},
     .few = {{"n", 3}, {"f", 1}}},
    {.path = "models/three_phase_commit.rondo",
     .property = "irrevocability",
     .environment = "lossy",
     .given = {{"f", 1}},
     .with = {{"n", 4}, {"f", 1}},
     .few = {{"n", 2}, {"f", 1}}},
    {.text = TOLD("oracle c: P each phase", "c", "phase", "environment e { " AGREED "}\n"),
     .property = "s",
     .with = {{"n", 4}},
     .few = {{"n", 3}}},
    {.text = TOLD("oracle c: P each phase", "c", "phase", "environment e { synchronous " AGREED "}\n"),
     .property = "s",
     .with = {{"n", 4}},
     .few = {{"n", 3}}},
    {.text = TOLD("oracle c: P each phase", "c", "phase", "environment e {}\n"),
     .property = "s",
     .with = {{"n", 4}},
     .few = {{"n", 3}}},
    {.text = TOLD("oracle c: P each phase", "c", "phase", "environment e { at most 1 processes crash; synchronous }\n"),
     .property = "s",
     .with = {{"n", 4}},
     .few = {{"n", 3}}},
    {.text = TOLD("", "P(ph)", "phase ph", "environment e { at most 2 processes crash }\n"),
     .property = "s",
     .with = {{"n", 4}},
     .few = {{"n", 3}}},
    {.text = TOLD("", "P(k)", "repeat 2 as k", "environment e { every round: forall p in P: 2 * |HO[p, ask]| > n }\n"),
     .property = "s",
     .with = {{"n", 4}},
     .few = {{"n", 3}}},
};

static void steps_are_matched(enum derive_mode mode) {
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (i % one_in() == (size_t)mode % one_in())
      simulate(&scenes[i], mode, (i + (size_t)mode) % 2 ? ROUND_JOINT : ROUND_IN_TURNS);
}

static void every_step_is_matched_with_flags(void **unused) {
  (void)unused;
  steps_are_matched(DERIVE_FLAGS);
}

static void every_step_is_matched_counted(void **unused) {
  (void)unused;
  steps_are_matched(DERIVE_COUNTED);
}

/* All parts of a process together: small models only. */
static void every_step_is_matched_whole(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (scenes[i].text)
      simulate(&scenes[i], DERIVE_WHOLE, i % 2 ? ROUND_JOINT : ROUND_IN_TURNS);
}

/* ---- mistakes ---- */

typedef void mistake_fn(struct world *);

static struct term *number_of(struct world *w, int64_t n) {
  struct term *t = arena_alloc(&w->shape.system->arena, sizeof *t);
  *t = (struct term){.op = TERM_NUMBER, .number = n};
  return t;
}

static void never(struct world *w, const char *move) {
  bool found = false;
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    if (strcmp(w->dv.system->moves[i].name, move) == 0) {
      w->dv.system->moves[i].guard = number_of(w, 0);
      found = true;
    }
  assert_true(found);
}

static void nobody_is_elected(struct world *w) { never(w, "elect"); }
static void somebody_always_leads(struct world *w) { never(w, "nobody_leads"); }
static void the_fixed_phase_never_comes(struct world *w) { never(w, "begins"); }
static void the_fixed_phase_never_ends(struct world *w) { never(w, "ends"); }
static void numbers_never_age(struct world *w) { never(w, "ages"); }

/* The move says nothing about a control. */
static void forgets_control(struct world *w, const char *move, uint32_t control) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    if (strcmp(w->dv.system->moves[i].name, move) == 0)
      w->dv.system->moves[i].controls[control] = NULL;
}

static void the_leader_does_not_enter_its_place(struct world *w) {
  for (uint32_t l = 0; l < w->dv.locals.n; l++)
    if (derived_leads(&w->dv, l))
      forgets_control(w, "elect", w->dv.flag.at[l]);
}

static void the_leader_stays_when_the_phase_ends(struct world *w) {
  for (uint32_t l = 0; l < w->dv.locals.n; l++)
    if (derived_leads(&w->dv, l))
      forgets_control(w, "tell", w->dv.flag.at[l]);
}

static void old_numbers_stay_of_this_phase(struct world *w) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    if (strcmp(w->dv.system->moves[i].name, "ages_since") == 0)
      memset(w->dv.system->moves[i].counters, 0, w->dv.system->ncounters * sizeof *w->dv.system->moves[i].counters);
}

#define STAMPED                                                                                                        \
  HEAD "process P[n] { input x: bool var ts: round = 0 var d: bool = false\n  phase ph { round {\n"                    \
       "    send ts == ph to all update { d := d or |received| == 0  ts := ph } } } }\n"                               \
       "environment e {}\nsafety s: forall p in P: p.d => p.d\n"

static void mistakes_are_found(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    mistake_fn *make;
    const char *says;
  } cases[] = {
      {TOLD("oracle c: P each phase", "c", "phase", "environment e { " AGREED "}\n"), nobody_is_elected, "an election"},
      {TOLD("", "P(ph)", "phase ph", "environment e { at most 1 processes crash }\n"), somebody_always_leads,
       "an election"},
      {TOLD("oracle c: P each phase", "c", "phase", "environment e {}\n"), somebody_always_leads, "an election"},
      {TOLD("oracle c: P each phase", "c", "phase", "environment e { " AGREED "}\n"),
       the_leader_does_not_enter_its_place, "an election"},
      {TOLD("oracle c: P each phase", "c", "phase", "environment e { " AGREED "}\n"),
       the_leader_stays_when_the_phase_ends, "a step of the algorithm is none"},
      {STAMPED, the_fixed_phase_never_comes, "age otherwise"},
      {STAMPED, the_fixed_phase_never_ends, "age otherwise"},
      {STAMPED, numbers_never_age, "age otherwise"},
      {STAMPED, old_numbers_stay_of_this_phase, "age otherwise"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct scene s = {.text = cases[i].text, .property = "s", .with = {{"n", 4}}, .few = {{"n", 3}}};
    struct world w;
    struct validation out;
    if (!open_world(&w, &s, DERIVE_COUNTED, ROUND_JOINT)) {
      print_error("%zu: %s\n", i, w.dv.refused);
      fail();
    }
    cases[i].make(&w);
    assert_true(compare(&w, &s, true, &out));
    if (!out.difference.n || !strstr(out.difference.at, cases[i].says)) {
      print_error("%zu, %s: %s\n", i, cases[i].says, text_or_empty(&out.difference));
      fail();
    }
    validation_release(&out);
    close_world(&w);
  }
}

/* ---- refusals ---- */

#define LED(vars, send, update, clauses)                                                                               \
  HEAD "process P[n] { input x: 0..1 " vars " phase ph { round { " send " update { " update " } } } }\n" clauses       \
       "safety s: forall p in P: p.x == p.x\n"
#define ORACLE "oracle c: P each phase"

static void what_does_not_fit_is_refused(void **unused) {
  (void)unused;
  static const struct {
    const char *text, *reason, *quote;
  } cases[] = {
      {LED("oracle c: 0..1 each phase", "send x to all", "", "environment e {}\n"), "does not name a coordinator", "c"},
      {LED("oracle c: P each round", "send x to c", "", "environment e {}\n"), "does not name a coordinator", "c"},
      {LED(ORACLE " oracle o: P each phase", "send x to c", "", "environment e {}\n"), "more than one oracle", "o"},
      {LED(ORACLE, "send x to P(1)", "", "environment e {}\n"), "neither to all nor to the coordinator", "send"},
      {LED(ORACLE, "send x to c", "if c in heard { x := 0 }", "environment e {}\n"),
       "other than that of the coordinator", "c"},
      {LED(ORACLE, "send x to c", "if from(me) != none { x := 0 }", "environment e {}\n"),
       "other than that of the coordinator", "from"},
      {LED(ORACLE, "send x to c", "", "environment e { at most 1 processes are byzantine }\n"), "may crash only", "at"},
      {LED("", "send x to P(ph + 1)", "", "environment e {}\n"), "does not go to all", "send"},
      {LED("var ts: round = 0", "send ts to all", "if exists m in received: m > ts { ts := ph }", "environment e {}\n"),
       "numbers of phases can only be", "m"},
      {LED("var ts: round = 0", "send ts to all", "if {m for m in received} == {ts} { ts := ph }",
           "environment e {}\n"),
       "numbers of phases can only be", "{"},
      {LED("var ts: round = 0", "send x to all", "if ts == 0 { ts := ph }", "environment e {}\n"),
       "numbers of phases can only be", "ts"},
      {LED("var ts: round = 0", "send x to all", "if ph mod 3 == 1 { ts := ph }", "environment e {}\n"), NULL, NULL},
      {HEAD "process P[n] { var ts: round = 0 phase ph { round { send ts to all update { ts := ph } } } }\n"
            "environment e {}\nsafety s: forall p, q in P: p.ts == q.ts\n",
       "a property reads numbers of phases", "p"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct scene s = {.text = cases[i].text, .property = "s", .with = {{"n", 4}}};
    struct world w;
    assert_false(open_world(&w, &s, DERIVE_FLAGS, ROUND_JOINT));
    if (cases[i].reason && !strstr(w.dv.refused, cases[i].reason)) {
      print_error("%s: %s\n", cases[i].text, w.dv.refused);
      fail();
    }
    if (cases[i].quote && strncmp(w.text + w.dv.at.from, cases[i].quote, strlen(cases[i].quote)) != 0) {
      print_error("%s: at %.20s\n", cases[i].text, w.text + w.dv.at.from);
      fail();
    }
    close_world(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_is_matched_with_flags), cmocka_unit_test(every_step_is_matched_counted),
      cmocka_unit_test(every_step_is_matched_whole), cmocka_unit_test(mistakes_are_found),
      cmocka_unit_test(what_does_not_fit_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
