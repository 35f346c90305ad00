/* Derived counter systems against the algorithms they come from: every step of the reference, for
   few processes, must be one of the derived system; what is violated must be unsafe; and the system
   must not depend on the instance that it was found with. The comparison itself must see what is
   wrong with a system from which something was taken away. */
#include "checked_text.h"

#include "counter_dump.h"
#include "lang/typecheck_counters.h"
#include "param/derive.h"
#include "param/validation.h"
#include "short.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { BINDINGS_MOST = 6, MILLISECONDS = 300 };

struct scene {
  const char *path, *text;                   /* one of them */
  const char *environment, *property;        /* NULL: the first environment */
  struct param_binding given[BINDINGS_MOST]; /* what is fixed */
  struct param_binding with[BINDINGS_MOST];  /* the instance: all parameters that have no default */
  struct param_binding again[BINDINGS_MOST]; /* another one; none: all zero */
};

struct world {
  struct checked_text k;
  char *text;
  struct interpreter *interp;
  struct round_shape shape;
  struct derivation dv;
  const struct property *property;
  uint32_t environment;
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

static uint32_t environment_named(const struct model *m, const char *name) {
  for (uint32_t i = 0; i < m->nenvironments; i++)
    if (name && strcmp(m->environments[i].name, name) == 0)
      return i;
  assert_null(name);
  return 0;
}

/* What is derived from an instance; what was refused is in dv.refused. */
static bool open_world_as(struct world *w, const struct scene *s, const struct param_binding *with,
                          enum derive_mode mode, enum round_form form) {
  struct arena arena;
  struct diags diags;
  *w = (struct world){.text = text_of(s)};
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
  assert_true(rounds_param_system(file, &w->k.source, s->given, count_bindings(s->given), &w->shape, &diags));
  diags_release(&diags);
  arena_release(&arena);
  w->environment = environment_named(w->k.model, s->environment);
  uint32_t property = UINT32_MAX;
  for (uint32_t i = 0; i < w->k.model->nproperties; i++)
    if (strcmp(w->k.model->properties[i].name, s->property) == 0)
      property = i;
  assert_int_not_equal(property, UINT32_MAX);
  w->property = &w->k.model->properties[property];
  struct query q = {.environment = w->environment, .properties = &property, .nproperties = 1};
  return derive_as(&w->dv, &w->shape, w->interp, &q, mode, form, NULL);
}

static bool open_world(struct world *w, const struct scene *s, const struct param_binding *with,
                       enum derive_mode mode) {
  return open_world_as(w, s, with, mode, ROUND_JOINT);
}

static void close_world(struct world *w) {
  derivation_release(&w->dv);
  counter_system_free(w->shape.system);
  interpreter_free(w->interp);
  release(&w->k);
  free(w->text);
}

/* ---- the comparison ---- */

static volatile sig_atomic_t time_is_up;

static void ring(int signal) {
  (void)signal;
  time_is_up = 1;
}

static void begin_time(uint32_t milliseconds) {
  struct itimerval timer = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000}};
  signal(SIGPROF, ring);
  setitimer(ITIMER_PROF, &timer, NULL); /* processor time: a busy machine compares as much */
}

/* A joint move may have so many cases that it is of no use, which takes long to find out. */
enum { UNFOLDING_SECONDS = 5 };

/* With the instance that it was derived from, for a while or to the end; false: the system is too large
   to unfold. */
static bool compare(struct world *w, enum round_form form, bool to_the_end, struct validation *out) {
  uint32_t property = (uint32_t)(w->property - w->k.model->properties);
  struct query q = {.environment = w->environment, .properties = &property, .nproperties = 1};
  *out = (struct validation){0};
  time_is_up = 0;
  if (form == ROUND_JOINT)
    begin_time(UNFOLDING_SECONDS * 1000);
  struct validator *c = validator_new(&w->dv, &w->shape, &q, &time_is_up);
  setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
  time_is_up = 0;
  if (!to_the_end)
    begin_time(trials(MILLISECONDS));
  if (c)
    validate_instance(c, w->interp, NULL, out);
  setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
  validator_free(c);
  return c != NULL;
}

static void simulate(const struct scene *s, enum derive_mode mode, enum round_form form) {
  struct world w;
  struct validation out;
  if (!open_world_as(&w, s, s->with, mode, form)) {
    print_error("%s: %s\n", s->path ? s->path : s->text, w.dv.refused);
    fail();
  }
  bool unfolded = compare(&w, form, false, &out);
  assert_true(unfolded || form == ROUND_JOINT); /* which may be too large to be of use */
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

/* ---- the scenes ---- */

#define HEAD "algorithm T\nparam n where n >= 1\n"

static const struct scene scenes[] = {
    {.path = "models/one_third_rule.rondo",
     .property = "agreement",
     .given = {{"k", 2}},
     .with = {{"n", 3}, {"k", 2}},
     .again = {{"n", 5}, {"k", 2}}},
    {.path = "models/one_third_rule.rondo",
     .property = "irrevocability",
     .given = {{"k", 2}},
     .with = {{"n", 3}, {"k", 2}},
     .again = {{"n", 4}, {"k", 2}}},
    {.path = "models/one_third_rule.rondo",
     .property = "integrity",
     .given = {{"k", 3}},
     .with = {{"n", 2}, {"k", 3}},
     .again = {{"n", 4}, {"k", 3}}},
    {.path = "models/broken/one_third_rule_half.rondo",
     .property = "irrevocability",
     .given = {{"k", 2}},
     .with = {{"n", 3}, {"k", 2}},
     .again = {{"n", 5}, {"k", 2}}},
    {.path = "models/floodset.rondo",
     .property = "agreement",
     .given = {{"k", 2}},
     .with = {{"n", 3}, {"f", 1}, {"k", 2}},
     .again = {{"n", 4}, {"f", 2}, {"k", 2}}},
    {.path = "models/floodset.rondo",
     .property = "validity",
     .given = {{"k", 2}},
     .with = {{"n", 3}, {"f", 2}, {"k", 2}},
     .again = {{"n", 4}, {"f", 1}, {"k", 2}}},
    {.path = "models/floodset.rondo",
     .property = "agreement_of_correct",
     .given = {{"k", 2}},
     .environment = "omission",
     .with = {{"n", 3}, {"f", 1}, {"k", 2}}},
    {.path = "models/floodset.rondo",
     .property = "agreement",
     .given = {{"k", 2}},
     .environment = "receive_omission",
     .with = {{"n", 3}, {"f", 1}, {"k", 2}}},
    {.path = "models/floodset.rondo",
     .property = "agreement",
     .given = {{"k", 2}},
     .environment = "send_omission",
     .with = {{"n", 3}, {"f", 1}, {"k", 2}}},
    {.path = "models/uniform_voting.rondo",
     .property = "agreement",
     .given = {{"k", 2}},
     .with = {{"n", 3}, {"k", 2}},
     .again = {{"n", 4}, {"k", 2}}},
    {.path = "models/uniform_voting.rondo",
     .property = "irrevocability",
     .given = {{"k", 2}},
     .environment = "uniform",
     .with = {{"n", 3}, {"k", 2}},
     .again = {{"n", 4}, {"k", 2}}},
    {.text = HEAD "param t where 0 <= t and t < n\n"
                  "process P[n] { input x: 0..1 var y: 0..1 = x var sure: bool = false\n"
                  "  once { round { send y to all update {\n"
                  "    y := min(mostfrequent(received))\n"
                  "    sure := 2 * count(m in received: m == y) > n + 2 * t } } } }\n"
                  "environment byzantine { at most t processes are byzantine; synchronous }\n"
                  "safety good: forall p, q in correct: p.sure => p.y == q.y\n",
     .property = "good",
     .with = {{"n", 3}, {"t", 1}},
     .again = {{"n", 5}, {"t", 1}}},
    {.path = "models/ben_or.rondo",
     .property = "agreement",
     .with = {{"n", 3}, {"f", 1}},
     .again = {{"n", 4}, {"f", 1}}},
    {.path = "models/ben_or.rondo",
     .property = "irrevocability",
     .with = {{"n", 3}, {"f", 1}},
     .again = {{"n", 5}, {"f", 2}}},
    {.path = "models/ben_or_byzantine.rondo",
     .property = "irrevocability",
     .with = {{"n", 6}, {"t", 1}},
     .again = {{"n", 7}, {"t", 1}}},
    {.path = "models/ben_or_byzantine.rondo",
     .property = "agreement",
     .with = {{"n", 6}, {"t", 1}},
     .again = {{"n", 7}, {"t", 1}}},
    {.text =
         HEAD "param t where 0 <= t and t < n\n"
              "process P[n] { input x: bool var y: bool = x var sure: bool = false\n"
              "  round { send y to all when x update {\n"
              "    if count(m in received: m) > t { y := true } else { if |received| == 0 { sure := true } } } } }\n"
              "environment waits { at most t processes are byzantine; every round: forall p in P: |HO[p]| >= n - t }\n"
              "safety good: forall p in correct: p.y => p.x or p.sure\n",
     .property = "good",
     .with = {{"n", 3}, {"t", 1}},
     .again = {{"n", 4}, {"t", 1}}},
    {.text = HEAD "process P[n] { input x: 0..1 var y: 0..2 = 0\n"
                  "  round { send x to all update {\n"
                  "    if |received| > n / 2 and count(m in received: m == 1) >= (n + 1) / 2 + 1 { y := 1 }\n"
                  "    if n - n / 3 <= |received| { x := 1 }\n"
                  "    if count(m in received: m == 0) > |received| / 2 { y := 2 } } } }\n"
                  "environment most { every round: forall p in P: |HO[p]| >= n / 2 }\n"
                  "safety good: forall p in P: p.y == 1 => p.x == 1\n",
     .property = "good",
     .with = {{"n", 3}},
     .again = {{"n", 4}}},
    {.text = HEAD "param t where 0 <= t and t < n\n"
                  "process P[n] { input x: bool var sent: bool = false var done: bool = false\n"
                  "  round { send true to all when x and not sent update {\n"
                  "    sent := sent or x\n"
                  "    if |received| > t { x := true }\n"
                  "    if |received| >= n - t { done := true  halt } } } }\n"
                  "environment byzantine { at most t processes are byzantine }\n"
                  "safety good: (exists p in P: p.done) => exists q in P: q.x\n",
     .property = "good",
     .with = {{"n", 3}, {"t", 1}},
     .again = {{"n", 4}, {"t", 1}}},
    {.text = HEAD "param alpha where 0 <= alpha\n"
                  "process P[n] { input x: 0..1 var d: bool = false\n"
                  "  round { send x to all update {\n"
                  "    if count(m in received: m == 1) > alpha { x := 1 } else { d := true } } } }\n"
                  "environment noise { at most alpha messages are corrupted each receiver }\n"
                  "safety good: forall p in P: p.d => p.x == 1\n",
     .property = "good",
     .with = {{"n", 2}, {"alpha", 1}},
     .again = {{"n", 3}, {"alpha", 1}}},
    {.text = HEAD "process P[n] { input x: 0..2 var best: 0..2 = x\n"
                  "  once { round a { send best to all update { best := max(received) otherwise 0 } }\n"
                  "         round b { send x to all when best > 0\n"
                  "           update { if 2 * |received| < n { best := 0 } } } } }\n"
                  "environment most { every round: forall p in P: 2 * |HO[p]| > n }\n"
                  "safety good: forall p in P: p.best >= p.x\n",
     .property = "good",
     .with = {{"n", 3}}},
    {.text = HEAD
     "param t where 0 <= t\n"
     "process P[n] { input x: 0..1 where x == 0 or t < n  var y: bool = x == 1 and n > 2 * t  var z: bool = y\n"
     "  round { send y to all update { if count(m in received: m) > t { z := true } } } }\n"
     "environment free {}\n"
     "safety good: forall p, q in P: p.z => p.x == 1 or q.y\n",
     .property = "good",
     .with = {{"n", 3}, {"t", 1}},
     .again = {{"n", 2}, {"t", 4}}},
    {.path = "models/bracha_toueg.rondo",
     .property = "agreement",
     .with = {{"n", 3}, {"t", 1}},
     .again = {{"n", 5}, {"t", 2}}},
    {.path = "models/bracha_toueg.rondo",
     .property = "no_deadlock",
     .environment = "crash",
     .with = {{"n", 3}, {"t", 1}}},
    {.text = HEAD
     "param t where 0 <= t and t < n\n"
     "process P[n] { input x: 0..1  var y: 0..2 = 0\n"
     "  round { send x to all update {\n"
     "    if count(m in received: m == 1) > t { y := 1  halt }\n"
     "    if |received| > n - t { y := 2 } else { if |received| < t { x := 0 } } } } }\n"
     "environment waits { every round: forall p in P: count(q in P: q in HO[p]) >= min(n - t, count(q in P: true)) }\n"
     "environment half { every round: forall p in P: count(q in P: q in HO[p]) >= n / 2 }\n"
     "environment some { every round: forall p in P: count(q in P: q in HO[p]) > t }\n"
     "environment liars { at most t processes are byzantine\n"
     "                    every round: forall p in P: count(q in P: q in HO[p]) == min(count(q in P: true), n - t) }\n"
     "environment exactly { every round: forall p in P: |HO[p]| == n - t }\n"
     "safety good: forall p in correct: p.y == 1 => p.x == 1\n",
     .property = "good",
     .environment = "waits",
     .with = {{"n", 3}, {"t", 1}},
     .again = {{"n", 4}, {"t", 1}}},
};

#define OTHERS                                                                                                         \
  HEAD "param t where 0 <= t and t < n\n"                                                                              \
       "process P[n] { input x: 0..1 input w: bool var y: 0..2 = 0\n"                                                  \
       "  round { send x to others when w  send 1 to all when x == 1 and not w update {\n"                             \
       "    if |received| >= n { y := 2 } else if count(m in received: m == 1) >= n - t { y := 1 }\n"                  \
       "    if |received| == 0 { w := true } } } }\n"                                                                  \
       "environment synced { synchronous }\n"                                                                          \
       "environment omits { at most t processes omit; synchronous }\n"                                                 \
       "environment crash { at most t processes crash; synchronous }\n"                                                \
       "environment liars { at most t processes are byzantine; synchronous }\n"                                        \
       "environment sizes { every round: forall p in P: |HO[p]| >= n - t }\n"                                          \
       "environment exactly { every round: forall p in P: |HO[p]| == n - t }\n"                                        \
       "safety good: forall p in correct: p.y == 1 => p.x == 1\n"
/* More environments of a scene. */
static const struct {
  const char *text, *environment; /* NULL: the last scene */
} more_environments[] = {{NULL, "half"},     {NULL, "some"},     {NULL, "liars"},   {NULL, "exactly"},
                         {OTHERS, "synced"}, {OTHERS, "omits"},  {OTHERS, "crash"}, {OTHERS, "liars"},
                         {OTHERS, "sizes"},  {OTHERS, "exactly"}};

/* In a short run each scene has another form in the next mode; in a sanitized build it is in one of the three modes. */
static void steps_are_matched(enum derive_mode mode) {
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (one_in() == 1 || i % 3 == (size_t)mode % 3)
      for (int form = ROUND_JOINT; form <= ROUND_IN_TURNS; form++)
        if (!is_short() || form == ((i / 3 + (size_t)mode) % 2 ? ROUND_JOINT : ROUND_IN_TURNS))
          simulate(&scenes[i], mode, (enum round_form)form);
  for (size_t i = 0; i < sizeof more_environments / sizeof *more_environments; i++) {
    struct scene s = scenes[sizeof scenes / sizeof *scenes - 1];
    if (more_environments[i].text)
      s = (struct scene){.text = more_environments[i].text,
                         .property = "good",
                         .with = {{"n", 3}, {"t", 1}},
                         .again = {{"n", 4}, {"t", 1}}};
    s.environment = more_environments[i].environment;
    if (one_in() == 1 || i == (size_t)mode % 3)
      simulate(&s, mode, i % 2 ? ROUND_JOINT : ROUND_IN_TURNS);
  }
}

static void every_step_is_matched_with_flags(void **unused) {
  (void)unused;
  steps_are_matched(DERIVE_FLAGS);
}

static void every_step_is_matched_counted(void **unused) {
  (void)unused;
  steps_are_matched(DERIVE_COUNTED);
}

static void every_step_is_matched_whole(void **unused) {
  (void)unused;
  steps_are_matched(DERIVE_WHOLE);
}

static void the_instance_does_not_matter(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    struct world a, b;
    struct text one = {0}, two = {0};
    if (!scenes[i].again[0].name || i % one_in() != 0)
      continue;
    assert_true(open_world(&a, &scenes[i], scenes[i].with, DERIVE_FLAGS));
    assert_true(open_world(&b, &scenes[i], scenes[i].again, DERIVE_FLAGS));
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

#define VOTES                                                                                                          \
  HEAD "process P[n] { input x: bool var d: bool = false\n"                                                            \
       "  round { send x to all update { if 2 * count(m in received: m) > n { d := true } } } }\n"

typedef void mistake_fn(struct world *);

static struct term *number_of(struct world *w, int64_t x) {
  struct term *t = arena_alloc(&w->dv.system->arena, sizeof *t);
  t->op = TERM_NUMBER;
  t->number = x;
  return t;
}

static struct term *both(struct world *w, enum term_op op, struct term *a, struct term *b) {
  struct term *t = arena_alloc(&w->dv.system->arena, sizeof *t);
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

static void leave_out_the_round(struct world *w) { w->dv.system->moves[0].guard = number_of(w, 0); }

static void leave_out_parts_that_change(struct world *w) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    if (w->dv.is_part_move.at[i])
      w->dv.system->moves[i].guard = number_of(w, 0);
}

/* Every amount is at most 1: as if a round were the step of one process. */
static void one_at_a_time(struct world *w) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++) {
    struct counter_move *m = &w->dv.system->moves[i];
    for (uint32_t k = 0; k < m->namounts; k++) {
      struct term *amount = number_of(w, 0);
      amount->op = TERM_AMOUNT;
      amount->index = k;
      m->guard = both(w, TERM_AND, m->guard, both(w, TERM_LE, amount, number_of(w, 1)));
    }
  }
}

static void nothing_is_unsafe(struct world *w) { w->dv.system->properties[0].unsafe = number_of(w, 0); }

/* It takes two to violate it. */
static void unsafe_by_many_only(struct world *w) {
  struct term *many = number_of(w, 0);
  for (uint32_t i = 0; i < w->dv.system->ncounters; i++)
    many = both(w, TERM_OR, many, both(w, TERM_LE, number_of(w, 3), counter_of(w, i)));
  struct counter_property *p = &w->dv.system->properties[0];
  p->unsafe = both(w, TERM_AND, p->unsafe, many);
}

static void nobody_begins_in_the_last_state(struct world *w) {
  uint32_t last = UINT32_MAX;
  for (uint32_t l = 0; l < w->dv.locals.n; l++)
    if (w->dv.counter.at[l] != NO_COUNTER && w->dv.locals.at[l][LOCAL_VAR(0)] == 1)
      last = last == UINT32_MAX ? w->dv.counter.at[l] : last;
  assert_int_not_equal(last, UINT32_MAX);
  w->dv.system->start = both(w, TERM_AND, w->dv.system->start, both(w, TERM_EQ, counter_of(w, last), number_of(w, 0)));
}

/* Who does not change is not asked whether it may. */
static void who_stays_breaks_nothing(struct world *w) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    w->dv.system->moves[i].controls[w->dv.violated] = NULL;
}

/* ---- mistakes of rounds in turns ---- */

static void no_change(struct world *w, bool chosen) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    if (w->dv.turns.at[i].kind == TURN_CHANGE && w->dv.turns.at[i].chosen == chosen) {
      w->dv.system->moves[i].guard = number_of(w, 0);
      return;
    }
  fail(); /* there is none */
}

static void a_change_is_left_out(struct world *w) { no_change(w, true); }

static void the_rest_does_not_change(struct world *w) { no_change(w, false); }

/* What was sent is unknown when local states change: it counts as nothing. */
static void nothing_is_frozen(struct world *w) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    for (uint32_t k = 0; k < w->dv.system->ncounters && w->dv.turns.at[i].kind == TURN_BEGIN; k++)
      if (strncmp(w->dv.system->counters[k].name, "sent", 4) == 0)
        w->dv.system->moves[i].counters[k] = number_of(w, 0);
}

/* The conditions are about processes that have not changed, not about what was sent when the round began. */
static void sent_by_who_is_left(struct world *w) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    for (uint32_t k = 0; k < w->dv.system->ncounters && w->dv.turns.at[i].kind == TURN_CHANGE; k++)
      if (strncmp(w->dv.system->counters[k].name, "sent", 4) == 0 && !w->dv.system->moves[i].counters[k])
        w->dv.system->moves[i].counters[k] = number_of(w, 0);
}

/* Processes that change stay where they were, too. */
static void who_changes_stays(struct world *w) {
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    for (uint32_t k = 0; k < w->dv.system->ncounters && w->dv.turns.at[i].kind == TURN_BEGIN; k++)
      if (w->dv.system->moves[i].counters[k] && w->dv.system->moves[i].counters[k]->op == TERM_NUMBER)
        w->dv.system->moves[i].counters[k] = NULL;
}

static void a_local_state_is_forgotten(struct world *w) { w->dv.locals.n--; }

static bool reads_op(const struct term *t, enum term_op op) {
  return t && (t->op == op || reads_op(t->kid[0], op) || reads_op(t->kid[1], op) || reads_op(t->kid[2], op));
}

/* Turns comparisons round: those of parameters with numbers; or those of counters with them, without amounts. */
static uint32_t turn_comparisons(struct term *t, bool counters) {
  uint32_t turned = 0;
  bool fits =
      reads_op(t, TERM_COUNTER) == counters && !reads_op(t, TERM_AMOUNT) && (counters || reads_op(t, TERM_PARAM));
  if ((t->op == TERM_LE || t->op == TERM_LT) && fits) {
    struct term *left = t->kid[0], *right = t->kid[1];
    bool done = t->number; /* terms are shared */
    t->number = 1;
    t->kid[0] = done ? left : right;
    t->kid[1] = done ? right : left;
    return 1;
  }
  for (int i = 0; i < 3; i++)
    turned += t->kid[i] ? turn_comparisons(t->kid[i], counters) : 0;
  return turned;
}

static void first_values_are_those_of_others(struct world *w) {
  assert_true(turn_comparisons(w->dv.system->start, false) > 0);
}

static void who_hears_too_little_goes_on(struct world *w) {
  uint32_t turned = 0;
  for (uint32_t i = 0; i < w->dv.system->nmoves; i++)
    turned += turn_comparisons(w->dv.system->moves[i].guard, true);
  assert_true(turned > 0);
}

#define BEGINS                                                                                                         \
  HEAD "process P[n] { input x: bool var d: bool = x and n > 1 round { send d to all update { x := d } } }\n"
#define WAITS                                                                                                          \
  HEAD "process P[n] { input x: bool var d: bool = false round { send x to all update { d := count(m in received: m) " \
       "< n - 1 } } }\n"                                                                                               \
       "environment e { every round: forall p in P: count(q in P: q in HO[p]) == min(n - 1, count(q in P: true)) }\n"

static void mistakes_are_found(void **unused) {
  (void)unused;
  static const struct {
    const char *text;
    enum derive_mode mode;
    mistake_fn *make;
    const char *says;
    enum round_form form;
  } cases[] = {
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_WHOLE, a_change_is_left_out,
       "a step of the algorithm is none", ROUND_IN_TURNS},
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_COUNTED, the_rest_does_not_change,
       "a step of the algorithm is none", ROUND_IN_TURNS},
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_WHOLE, nothing_is_frozen,
       "a step of the algorithm is none", ROUND_IN_TURNS},
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_WHOLE, sent_by_who_is_left,
       "a step of the algorithm is none", ROUND_IN_TURNS},
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_WHOLE, who_changes_stays,
       "a step of the algorithm is none", ROUND_IN_TURNS},
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_WHOLE, one_at_a_time, "a step of the algorithm is none",
       ROUND_IN_TURNS},
      {VOTES "safety s: forall p in P: not p.d\n", DERIVE_FLAGS, leave_out_parts_that_change,
       "a step of the algorithm is none", ROUND_IN_TURNS},
      {VOTES "safety s: forall p in P: not p.d\n", DERIVE_COUNTED, nothing_is_unsafe, "are not unsafe", ROUND_IN_TURNS},
      {VOTES "safety s: step forall p in P: p.d'\n", DERIVE_WHOLE, who_stays_breaks_nothing, "violates",
       ROUND_IN_TURNS},
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_WHOLE, leave_out_the_round,
       "a step of the algorithm is none", ROUND_JOINT},
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_COUNTED, leave_out_the_round,
       "a step of the algorithm is none", ROUND_JOINT},
      {VOTES "safety s: forall p in P: not p.d\n", DERIVE_COUNTED, leave_out_parts_that_change,
       "a step of the algorithm is none", ROUND_JOINT},
      {VOTES "safety s: forall p in P: not p.d\n", DERIVE_FLAGS, leave_out_parts_that_change,
       "a step of the algorithm is none", ROUND_JOINT},
      {VOTES "safety s: forall p in P: p.d => p.d\n", DERIVE_WHOLE, one_at_a_time, "a step of the algorithm is none",
       ROUND_JOINT},
      {VOTES "safety s: forall p in P: not p.x\n", DERIVE_FLAGS, nothing_is_unsafe, "are not unsafe", ROUND_JOINT},
      {VOTES "safety s: forall p in P: not p.d\n", DERIVE_COUNTED, nothing_is_unsafe, "are not unsafe", ROUND_JOINT},
      {VOTES "safety s: forall p in P: not p.d\n", DERIVE_WHOLE, nothing_is_unsafe, "are not unsafe", ROUND_JOINT},
      {VOTES "safety s: exists p, q in P: p != q and not p.x and not q.x\n", DERIVE_WHOLE, unsafe_by_many_only,
       "are not unsafe", ROUND_JOINT},
      {VOTES "safety s: forall p in P: not p.d\n", DERIVE_WHOLE, nobody_begins_in_the_last_state, "no start",
       ROUND_JOINT},
      {VOTES "safety s: step forall p in P: p.d'\n", DERIVE_WHOLE, who_stays_breaks_nothing, "violates", ROUND_JOINT},
      {VOTES "safety s: step forall p in P: p.d'\n", DERIVE_FLAGS, who_stays_breaks_nothing, "violates", ROUND_JOINT},
      {VOTES "safety s: forall p in P: not p.d\n", DERIVE_WHOLE, a_local_state_is_forgotten, "was not derived",
       ROUND_JOINT},
      {BEGINS "safety s: forall p in P: p.d => p.d\n", DERIVE_WHOLE, first_values_are_those_of_others, "no start",
       ROUND_JOINT},
      {WAITS "safety s: forall p in P: p.d => p.x\n", DERIVE_COUNTED, who_hears_too_little_goes_on,
       "a step of the algorithm is none", ROUND_JOINT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct scene s = {.text = cases[i].text, .property = "s", .with = {{"n", 3}}};
    struct world w;
    struct validation out;
    assert_true(open_world_as(&w, &s, s.with, cases[i].mode, cases[i].form));
    assert_true(compare(&w, cases[i].form, true, &out));
    if (out.difference.n) {
      print_error("%zu, without a mistake: %s\n", i, out.difference.at);
      fail();
    }
    validation_release(&out);
    size_t locals = w.dv.locals.n;
    cases[i].make(&w);
    assert_true(compare(&w, cases[i].form, true, &out));
    if (!out.difference.n || !strstr(out.difference.at, cases[i].says)) {
      print_error("%zu, %s: %s\n", i, cases[i].says, text_or_empty(&out.difference));
      fail();
    }
    validation_release(&out);
    w.dv.locals.n = locals;
    close_world(&w);
  }
}

static void it_ends_when_it_is_told_to(void **unused) {
  (void)unused;
  struct scene s = {.text = VOTES "safety s: forall p in P: not p.d\n", .property = "s", .with = {{"n", 3}}};
  struct world w;
  struct validation out = {0};
  uint32_t property = 0;
  struct query q = {.properties = &property, .nproperties = 1};
  volatile sig_atomic_t stop = 1;
  assert_true(open_world(&w, &s, s.with, DERIVE_FLAGS));
  assert_null(validator_new(&w.dv, &w.shape, &q, &stop));
  stop = 0;
  struct validator *c = validator_new(&w.dv, &w.shape, &q, &stop);
  assert_non_null(c);
  stop = 1;
  assert_true(validate_instance(c, w.interp, NULL, &out));
  assert_true(out.cut && out.steps == 0);
  validator_free(c);
  derivation_release(&w.dv);
  assert_false(derive(&w.dv, &w.shape, w.interp, &q, DERIVE_FLAGS, &stop));
  assert_true(w.dv.stopped);
  close_world(&w);
}

/* ---- refusals ---- */

#define PROCESS(vars, send, update) HEAD "process P[n] { " vars " round { " send " update { " update " } } }\n"
#define PROPERTY "safety s: forall p in P: p.x == p.x\n"

static void what_does_not_fit_is_refused(void **unused) {
  (void)unused;
  static const struct {
    const char *text, *reason, *quote;
  } cases[] = {
      {PROCESS("input x: 0..1", "send x to all", "if P(1) in heard { x := 0 }") PROPERTY, NULL, "P(1)"},
      {PROCESS("input x: 0..9 distinct", "send x to all", "") PROPERTY, "inputs are distinct", "x"},
      {PROCESS("input x: 0..1", "send x to P(1)", "") PROPERTY, "does not go to all", "send"},
      {PROCESS("input x: 0..1", "send x to others",
               "") "environment e { every round: forall p, q in P: HO[p] & HO[q] != {} }\n" PROPERTY,
       "only if messages go to all, not to others", "forall"},
      {PROCESS("input x: 0..1", "send x to others",
               "") "environment e { every round: forall p in P: count(q in P: q in HO[p]) >= n - 1 }\n" PROPERTY,
       "only if messages go to all, not to others", "forall"},
      {PROCESS("input x: 0..1", "send x to all", "if |received| * n > 2 { x := 0 }") PROPERTY,
       "the value of a parameter matters", "n"},
      {PROCESS("input x: 0..1", "send x to all",
               "if 2 * |received| > n { x := 0 }") "environment e { at most 2 messages are lost "
                                                   "}\n" PROPERTY,
       "expressed by counters", "at most"},
      {PROCESS("input x: 0..1", "send x to all",
               "") "environment e { every round: exists q in P: forall p in P: q in HO[p] }\n" PROPERTY,
       "relates processes to each other", "exists q"},
      {PROCESS("input x: 0..1", "send x to all", "x := min(received)") PROPERTY, "an update may fail: 'min' of nothing",
       "min(received)"},
      {PROCESS("input x: 0..1", "send x to all when x == 1",
               "") "environment e { every round: forall p in P: count(q in P: q "
                   "in HO[p]) >= 1 }\n" PROPERTY,
       "only if every process that takes part sends", "forall"},
      {PROCESS("input x: 0..1", "send x to all",
               "") "environment e { every round: exists S in subsets(P): |S| == 1 and forall p "
                   "in P: HO[p] == S }\n" PROPERTY,
       "one that relates heard-of sets", "exists"},
      {PROCESS("input x: 0..1 var y: 0..9 = if n < 9 then n else 9", "send x to all",
               "") "safety s: forall p in P: p.y > 0\n",
       "the value of a parameter matters to a first value", "n"},
      {PROCESS("input x: 0..1 var y: 0..9 = if n < 9 then 1 else 10 / (n - n)", "send x to all",
               "") "safety s: forall p in P: p.y > 0\n",
       "first value", NULL},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: count(p in P: p.x == 1) <= n\n",
       "a parameter that has no fixed value", "n"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: step exists p in P: p.x == p.x'\n",
       "a step property that is not of the form", NULL},
      {PROCESS("oracle x: 0..1", "send x to all", "") "safety s: true\n", "oracle", "x"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: correct == P\n", "compares sets of them",
       "correct == P"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: faulty == {}\n", "compares sets of them", "faulty"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: P <= correct\n", "compares sets of them", "P <="},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: |correct| >= 1\n", "counts processes", "|"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: sum(p.x for p in P) <= 9\n", "counts processes", "sum"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: forall p in {r for r in P}: p.x == p.x\n",
       "goes through a set of processes", "{"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: exists S in subsets(P): |S| == 2\n",
       "sets of processes", "subsets"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: forall v in {p.x for p in P}: v == v\n",
       "values of what several processes have", "{"},
      {PROCESS("var x: bool = number(me) == 1", "send x to all", "") "safety s: forall p in P: p.x\n",
       "begin differently", "number"},
      {PROCESS("input x: 0..1", "send x to all",
               "") "environment e { at most 1 processes are byzantine }\nsafety s: forall p in "
                   "faulty: p.x == 0\n",
       "may fail", NULL},
      /* products that fit only if they wrap: 2^62 * (4 - n) is 0 here, and 4 * 2^62 is not a number */
      {PROCESS("input x: 0..1", "send x to all", "") "environment e { at most 4611686018427387904 * (4 - n) processes "
                                                     "crash }\n" PROPERTY,
       "beyond 64 bits", "4"},
      {PROCESS("input x: 0..1", "send x to all", "") "environment e { every round: forall p in P: |HO[p]| >= "
                                                     "4611686018427387904 * (4 - n) }\n" PROPERTY,
       "beyond 64 bits", "4"},
      {PROCESS("input x: 0..1", "send x to all", "if 4294967296 * (4294967296 * (4 - n)) < |received| { x := 0 }")
           PROPERTY,
       NULL, NULL},
      {PROCESS(
           "input x: 0..1", "send x to all",
           "if 1073741824 * (1073741824 * (16 * (count(m in received: m == 0) - count(m in received: m == 1)))) > 0 "
           "{ x := 0 }") PROPERTY,
       NULL, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct scene s = {.text = cases[i].text, .property = "s", .with = {{"n", 4}}};
    struct world w;
    assert_false(open_world(&w, &s, s.with, DERIVE_FLAGS));
    if (cases[i].reason && !strstr(w.dv.refused, cases[i].reason)) {
      print_error("%s: %s\n", cases[i].text, w.dv.refused);
      fail();
    }
    if (cases[i].quote && strncmp(w.text + w.dv.at.from, cases[i].quote, 1) != 0) {
      print_error("%s: at %.20s\n", cases[i].text, w.text + w.dv.at.from);
      fail();
    }
    close_world(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_step_is_matched_with_flags),
                                     cmocka_unit_test(every_step_is_matched_counted),
                                     cmocka_unit_test(every_step_is_matched_whole),
                                     cmocka_unit_test(the_instance_does_not_matter),
                                     cmocka_unit_test(mistakes_are_found),
                                     cmocka_unit_test(it_ends_when_it_is_told_to),
                                     cmocka_unit_test(what_does_not_fit_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
