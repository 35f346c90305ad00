/* Derived counter systems against the algorithms they come from: every step of the reference, for
   few processes, must be one of the derived system; what is violated must be unsafe; and the system
   must not depend on the instance that it was found with. */
#include "checking.h"

#include "lang/check_counters.h"
#include "param/derive.h"
#include "param/graph.h"
#include "sem/counters.h"
#include "symbolic/solver.h"

#include <stdio.h>
#include <stdlib.h>

enum { CONFIGS_MOST = 120, BINDINGS_MOST = 6 };

struct scene {
  const char *path, *text;             /* one of them */
  const char *environment, *property;  /* NULL: the first environment */
  struct binding given[BINDINGS_MOST]; /* what is fixed */
  struct binding with[BINDINGS_MOST];  /* the instance: all parameters that have no default */
  struct binding again[BINDINGS_MOST]; /* another one; none: all zero */
};

struct state {
  int64_t counters[64], controls[32];
};

struct world {
  struct checking k;
  char *text;
  struct meaning *meaning;
  struct round_shape shape;
  struct derivation dv;
  const struct property *property;
  struct graph *graph;
  int64_t *params;
  VEC(struct config *) configs;
  VEC(struct state) states; /* of the counter system, for each: as one way to it has it */
  struct solver *solver;
  VEC(int64_t) pairs; /* steps that were looked for, as rows */
  const struct config *at;
  struct state now; /* its state */
  uint32_t environment;
};

static size_t count_bindings(const struct binding *b) {
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
static bool open_world(struct world *w, const struct scene *s, const struct binding *with,
                       enum derive_mode mode) {
  struct arena arena;
  struct diags diags;
  *w = (struct world){.text = text_of(s)};
  check_with(&w->k, w->text, with, count_bindings(with), false);
  if (!w->k.model) {
    struct text out = {0};
    print_error("%s\n%s\n", w->text, told(&w->k, &out));
    fail();
  }
  w->meaning = meaning_new(w->k.model);
  arena_init(&arena);
  diags_init(&diags, &w->k.source);
  struct ast *file = parse_file(&w->k.source, &arena, &diags);
  assert_true(counters_of_rounds(file, &w->k.source, s->given, count_bindings(s->given), &w->shape,
                                 &diags));
  diags_release(&diags);
  arena_release(&arena);
  w->environment = environment_named(w->k.model, s->environment);
  uint32_t property = UINT32_MAX;
  for (uint32_t i = 0; i < w->k.model->nproperties; i++)
    if (strcmp(w->k.model->properties[i].name, s->property) == 0)
      property = i;
  assert_int_not_equal(property, UINT32_MAX);
  w->property = &w->k.model->properties[property];
  struct question q = {.environment = w->environment, .properties = &property, .nproperties = 1};
  return derive(&w->dv, &w->shape, w->meaning, &q, mode, NULL);
}

static void close_world(struct world *w) {
  for (size_t i = 0; i < w->configs.n; i++)
    config_free(w->configs.at[i]);
  vec_release(&w->configs);
  vec_release(&w->states);
  if (w->solver)
    solver_free(w->solver);
  vec_release(&w->pairs);
  graph_free(w->graph);
  free(w->params);
  derivation_release(&w->dv);
  counter_system_free(w->shape.system);
  meaning_free(w->meaning);
  release(&w->k);
  free(w->text);
}

/* ---- states ---- */

static uint32_t last_pass(const struct world *w) {
  const struct point *points = w->k.model->points;
  uint32_t p = w->shape.first, rounds = w->shape.rounds;
  while (p + rounds < w->k.model->npoints && points[p + rounds].loop == points[p].loop + 1)
    p += rounds;
  return p;
}

static void place(const struct world *w, const struct config *c, struct state *s) {
  const struct derivation *dv = &w->dv;
  uint32_t point = c->point == POINT_END ? w->k.model->npoints : c->point;
  if (w->shape.passes) {
    uint32_t last = last_pass(w), first = w->shape.first, rounds = w->shape.rounds;
    uint32_t done = point < first ? 0 : point < last ? (point - first) / rounds
                                                     : (last - first) / rounds;
    if (point >= first && point < last)
      point = first + (point - first) % rounds;
    s->counters[dv->passes] = done;
  }
  if (dv->where != UINT32_MAX)
    s->controls[dv->where] = derived_round(dv, c->point == POINT_END ? POINT_END : point);
}

static struct state state_of(const struct world *w, const struct config *c) {
  const struct derivation *dv = &w->dv;
  struct state s = {0};
  assert_true(dv->system->ncounters <= 64 && dv->system->ncontrols <= 32);
  for (uint32_t p = 0; p < c->nprocesses; p++)
    for (uint32_t part = 0; part < dv->nparts; part++) {
      if (!part_exists(dv, part))
        continue;
      uint32_t l = derived_local(dv, c->point, part, c->local[p]);
      assert_int_not_equal(l, UINT32_MAX);
      if (dv->counter.at[l] != NO_COUNTER)
        s.counters[dv->counter.at[l]]++;
      else
        s.controls[dv->flag.at[l]] = 1;
    }
  place(w, c, &s);
  return s;
}

static struct counter_state as_state(struct state *s) {
  return (struct counter_state){s->counters, s->controls};
}

/* ---- steps ---- */

static int64_t broken_of(const struct world *w, const struct state *s) {
  return w->property->step ? s->controls[w->dv.system->ncontrols - 1] : 0;
}

/* One process's part changes by itself, if there is a move for that. */
static bool change_one(struct world *w, struct state *s, uint32_t from, uint32_t to, bool breaks) {
  const struct derivation *dv = &w->dv;
  for (uint32_t m = 0; m < dv->system->nmoves; m++) {
    struct state next = *s, wanted = *s;
    struct counter_state before = as_state(s), after = as_state(&next);
    int64_t one = 1;
    if (dv->system->moves[m].namounts > 1 ||
        !counter_moves(dv->system, m, w->params, &before, &one, &after))
      continue;
    if (dv->counter.at[from] == NO_COUNTER) {
      wanted.controls[dv->flag.at[to]] = 1;
    } else {
      wanted.counters[dv->counter.at[from]]--;
      wanted.counters[dv->counter.at[to]]++;
    }
    if (w->property->step && breaks)
      wanted.controls[dv->system->ncontrols - 1] = 1;
    if (memcmp(&next, &wanted, sizeof next) == 0) {
      *s = next;
      return true;
    }
  }
  return false;
}

/* A transition with any amounts leads there. */
static bool leads(const struct world *w, const struct transition *t, const struct state *from,
                  const struct state *to) {
  const struct graph *g = w->graph;
  struct solver *solver = w->solver;
  int64_t *row = calloc(t->guard.width, sizeof *row);
  solver_push(solver);
  solver_add_cube(solver, &t->guard, NULL);
  for (uint32_t i = 0; i < g->nparams; i++)
    solver_add_value(solver, i, w->params[g->param[i]]);
  for (uint32_t i = 0; i < g->ncounters; i++) {
    solver_add_value(solver, g->nparams + i, from->counters[i]);
    memcpy(row, t->update[i], t->guard.width * sizeof *row);
    row[0] -= to->counters[i];
    solver_add_row(solver, row, t->guard.width, true, NULL);
  }
  bool yes = solver_check(solver) == ANSWER_YES;
  solver_pop(solver);
  free(row);
  return yes;
}

static bool at_location(const struct world *w, uint32_t location, const struct state *s) {
  return memcmp(w->graph->locations.at[location].controls.at[0], s->controls,
                w->dv.system->ncontrols * sizeof(int64_t)) == 0;
}

static bool round_leads(const struct world *w, const struct state *from, const struct state *to) {
  for (size_t i = 0; i < w->graph->transitions.n; i++) {
    const struct transition *t = &w->graph->transitions.at[i];
    if (at_location(w, t->from, from) && at_location(w, t->to, to) && leads(w, t, from, to))
      return true;
  }
  return false;
}

/* The state after it. */
static struct state match(struct world *w, const struct config *before, const struct config *after,
                          bool broken) {
  const struct derivation *dv = &w->dv;
  struct state from = w->now, to = state_of(w, after);
  for (uint32_t p = 0; p < before->nprocesses; p++)
    for (uint32_t part = 0; part < dv->nparts; part++) {
      if (!part_exists(dv, part))
        continue;
      uint32_t l = derived_local(dv, before->point, part, before->local[p]);
      uint32_t next = derived_local(dv, after->point, part, after->local[p]);
      if (l != next && !change_one(w, &from, l, next, broken))
        change_one(w, &from, l, next, false);
    }
  for (uint32_t l = 0; l < dv->locals.n; l++)
    if (dv->counter.at[l] == NO_COUNTER) { /* who was there may be gone; nobody minds */
      assert_true(from.controls[dv->flag.at[l]] >= to.controls[dv->flag.at[l]]);
      to.controls[dv->flag.at[l]] = from.controls[dv->flag.at[l]];
    }
  if (w->property->step)
    to.controls[dv->system->ncontrols - 1] = broken || broken_of(w, &from);
  if (broken_of(w, &from) && !broken_of(w, &w->now)) /* what follows does not matter */
    return to;
  if (!round_leads(w, &from, &to)) {
    struct text all = {0};
    counter_system_print(dv->system, &all);
    print_error("%s\n", all.at);
    for (uint32_t i = 0; i < dv->system->ncounters; i++)
      print_error("%s %d -> %d\n", dv->system->counters[i].name, (int)from.counters[i],
                  (int)to.counters[i]);
    for (uint32_t i = 0; i < dv->system->ncontrols; i++)
      print_error("%s %d -> %d\n", dv->system->controls[i].name, (int)from.controls[i],
                  (int)to.controls[i]);
    text_release(&all);
    fail_msg("a step of the algorithm is none of the counter system");
  }
  return to;
}

static bool is_new_pair(struct world *w, const struct state *a, const struct state *b, bool broken) {
  uint32_t nc = w->dv.system->ncounters, nk = w->dv.system->ncontrols;
  size_t width = 2 * (size_t)(nc + nk) + 1, at = w->pairs.n;
  for (uint32_t i = 0; i < nc; i++) {
    vec_push(&w->pairs, a->counters[i]);
    vec_push(&w->pairs, b->counters[i]);
  }
  for (uint32_t i = 0; i < nk; i++) {
    vec_push(&w->pairs, a->controls[i]);
    vec_push(&w->pairs, b->controls[i]);
  }
  vec_push(&w->pairs, (int64_t)broken);
  for (size_t i = 0; i < at; i += width)
    if (memcmp(w->pairs.at + i, w->pairs.at + at, width * sizeof(int64_t)) == 0) {
      w->pairs.n = at;
      return false;
    }
  return true;
}

static void look_at(struct world *w, const struct config *c, struct state s) {
  struct model_error error;
  for (size_t i = 0; i < w->configs.n; i++)
    if (config_equal(w->k.model, w->configs.at[i], c))
      return;
  struct counter_state state = as_state(&s);
  if (!w->property->step)
    if (config_holds(w->meaning, w->property->formula, c, NULL, &error) == V_FALSE)
      assert_true(counter_unsafe(w->dv.system, &w->dv.system->properties[0], w->params, &state));
  if (w->configs.n < CONFIGS_MOST) {
    vec_push(&w->configs, config_copy(w->k.model, c));
    vec_push(&w->states, s);
  }
}

static bool on_initial(void *context, const struct config *c) {
  struct world *w = context;
  struct state s = state_of(w, c);
  struct counter_state state = as_state(&s);
  assert_true(counter_starts(w->dv.system, &w->dv.system->properties[0], w->params, &state));
  look_at(w, c, s);
  return true;
}

static bool on_step(void *context, const struct witness *witness, enum step_result result,
                    const struct config *next, const struct model_error *error) {
  struct world *w = context;
  struct model_error ignored;
  (void)witness;
  (void)error;
  assert_int_equal(result, STEP_OK);
  struct state b = state_of(w, next);
  bool broken = w->property->step && config_holds(w->meaning, w->property->formula, w->at, next,
                                                  &ignored) == V_FALSE;
  if (is_new_pair(w, &w->now, &b, broken))
    look_at(w, next, match(w, w->at, next, broken));
  return true;
}

static void simulate(const struct scene *s, enum derive_mode mode) {
  struct world w;
  struct text why = {0};
  if (!open_world(&w, s, s->with, mode)) {
    print_error("%s: %s\n", s->path ? s->path : s->text, w.dv.refused);
    fail();
  }
  w.graph = graph_unfold(w.dv.system, &w.dv.system->properties[0], true, NULL, &why);
  if (!w.graph && mode == DERIVE_WHOLE) { /* exact, and too large to be of use */
    text_release(&why);
    close_world(&w);
    return;
  }
  assert_non_null(w.graph);
  w.params = calloc(w.dv.system->nparams + 1, sizeof *w.params);
  for (uint32_t i = 0; i < w.k.model->nparams; i++)
    w.params[i] = w.k.model->params[i].value;
  for (uint32_t i = w.k.model->nparams; i < w.dv.system->nparams; i++) { /* quotients */
    struct counter_values values = {.params = w.params};
    int64_t of;
    assert_true(term_value(w.dv.system->params[i].of, &values, &of));
    for (int64_t q = 0; q <= of; q++) {
      w.params[i] = q;
      if (counter_params_hold(w.dv.system, true, w.params))
        break;
    }
  }
  assert_true(counter_params_hold(w.dv.system, false, w.params));
  uint32_t most = 0;
  for (size_t i = 0; i < w.graph->transitions.n; i++)
    if (w.graph->transitions.at[i].guard.width > most)
      most = w.graph->transitions.at[i].guard.width;
  w.solver = solver_new();
  solver_variables(w.solver, most);
  config_initials(w.meaning, w.environment, on_initial, &w);
  for (size_t i = 0; i < w.configs.n; i++) {
    w.at = w.configs.at[i];
    w.now = w.states.at[i];
    if (w.at->point != POINT_END && !broken_of(&w, &w.now)) /* what follows does not matter */
      config_successors(w.meaning, w.environment, w.at, on_step, &w);
  }
  text_release(&why);
  close_world(&w);
}

/* ---- the scenes ---- */

#define HEAD "algorithm T\nparam n where n >= 1\n"

static const struct scene scenes[] = {
    {.path = "models/one_third_rule.rondo", .property = "agreement", .given = {{"k", 2}},
     .with = {{"n", 3}, {"k", 2}}, .again = {{"n", 5}, {"k", 2}}},
    {.path = "models/one_third_rule.rondo", .property = "irrevocability", .given = {{"k", 2}},
     .with = {{"n", 3}, {"k", 2}}, .again = {{"n", 4}, {"k", 2}}},
    {.path = "models/one_third_rule.rondo", .property = "integrity", .given = {{"k", 3}},
     .with = {{"n", 2}, {"k", 3}}, .again = {{"n", 4}, {"k", 3}}},
    {.path = "models/broken/one_third_rule_half.rondo", .property = "irrevocability",
     .given = {{"k", 2}}, .with = {{"n", 3}, {"k", 2}}, .again = {{"n", 5}, {"k", 2}}},
    {.path = "models/floodset.rondo", .property = "agreement", .given = {{"k", 2}},
     .with = {{"n", 3}, {"f", 1}, {"k", 2}}, .again = {{"n", 4}, {"f", 2}, {"k", 2}}},
    {.path = "models/floodset.rondo", .property = "validity", .given = {{"k", 2}},
     .with = {{"n", 3}, {"f", 2}, {"k", 2}}, .again = {{"n", 4}, {"f", 1}, {"k", 2}}},
    {.path = "models/floodset.rondo", .property = "agreement_of_correct", .given = {{"k", 2}},
     .environment = "omission", .with = {{"n", 3}, {"f", 1}, {"k", 2}}},
    {.path = "models/floodset.rondo", .property = "agreement", .given = {{"k", 2}},
     .environment = "receive_omission", .with = {{"n", 3}, {"f", 1}, {"k", 2}}},
    {.path = "models/floodset.rondo", .property = "agreement", .given = {{"k", 2}},
     .environment = "send_omission", .with = {{"n", 3}, {"f", 1}, {"k", 2}}},
    {.path = "models/uniform_voting.rondo", .property = "agreement", .given = {{"k", 2}},
     .with = {{"n", 3}, {"k", 2}}, .again = {{"n", 4}, {"k", 2}}},
    {.path = "models/uniform_voting.rondo", .property = "irrevocability", .given = {{"k", 2}},
     .environment = "uniform", .with = {{"n", 3}, {"k", 2}}, .again = {{"n", 4}, {"k", 2}}},
    {.text = HEAD "param t where 0 <= t and t < n\n"
                  "process P[n] { input x: 0..1 var y: 0..1 = x var sure: bool = false\n"
                  "  once { round { send y to all update {\n"
                  "    y := min(mostfrequent(received))\n"
                  "    sure := 2 * count(m in received: m == y) > n + 2 * t } } } }\n"
                  "environment byzantine { at most t processes are byzantine; synchronous }\n"
                  "safety good: forall p, q in correct: p.sure => p.y == q.y\n",
     .property = "good", .with = {{"n", 3}, {"t", 1}}, .again = {{"n", 5}, {"t", 1}}},
    {.text = HEAD "param t where 0 <= t and t < n\n"
                  "process P[n] { input x: bool var sent: bool = false var done: bool = false\n"
                  "  round { send true to all when x and not sent update {\n"
                  "    sent := sent or x\n"
                  "    if |received| > t { x := true }\n"
                  "    if |received| >= n - t { done := true  halt } } } }\n"
                  "environment byzantine { at most t processes are byzantine }\n"
                  "safety good: (exists p in P: p.done) => exists q in P: q.x\n",
     .property = "good", .with = {{"n", 3}, {"t", 1}}, .again = {{"n", 4}, {"t", 1}}},
    {.text = HEAD "param alpha where 0 <= alpha\n"
                  "process P[n] { input x: 0..1 var d: bool = false\n"
                  "  round { send x to all update {\n"
                  "    if count(m in received: m == 1) > alpha { x := 1 } else { d := true } } } }\n"
                  "environment noise { at most alpha messages are corrupted each receiver }\n"
                  "safety good: forall p in P: p.d => p.x == 1\n",
     .property = "good", .with = {{"n", 2}, {"alpha", 1}}, .again = {{"n", 3}, {"alpha", 1}}},
    {.text = HEAD "process P[n] { input x: 0..2 var best: 0..2 = x\n"
                  "  once { round a { send best to all update { best := max(received) otherwise 0 } }\n"
                  "         round b { send x to all when best > 0\n"
                  "           update { if 2 * |received| < n { best := 0 } } } } }\n"
                  "environment most { every round: forall p in P: 2 * |HO[p]| > n }\n"
                  "safety good: forall p in P: p.best >= p.x\n",
     .property = "good", .with = {{"n", 3}}},
};

static void steps_are_matched(enum derive_mode mode) {
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    simulate(&scenes[i], mode);
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
    if (!scenes[i].again[0].name)
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

/* ---- refusals ---- */

#define PROCESS(vars, send, update)                                                                \
  HEAD "process P[n] { " vars " round { " send " update { " update " } } }\n"
#define PROPERTY "safety s: forall p in P: p.x == p.x\n"

static void what_does_not_fit_is_refused(void **unused) {
  (void)unused;
  static const struct {
    const char *text, *reason, *quote;
  } cases[] = {
      {PROCESS("input x: 0..1", "send x to all", "if P(1) in heard { x := 0 }") PROPERTY,
       NULL, "P(1)"},
      {PROCESS("input x: 0..9 distinct", "send x to all", "") PROPERTY, "inputs are distinct", "x"},
      {PROCESS("input x: 0..1", "send x to others", "") PROPERTY, "does not go to all", "send"},
      {PROCESS("input x: 0..1", "send x to all", "if |received| * n > 2 { x := 0 }") PROPERTY,
       "the value of a parameter matters", "n"},
      {PROCESS("input x: 0..1", "send x to all", "if 2 * |received| > n { x := 0 }")
           "environment e { at most 2 messages are lost }\n" PROPERTY,
       "told in counts", "at most"},
      {PROCESS("input x: 0..1", "send x to all", "")
           "environment e { every round: exists q in P: forall p in P: q in HO[p] }\n" PROPERTY,
       "ties processes together", "exists q"},
      {PROCESS("input x: 0..1", "send x to all", "x := min(received)") PROPERTY,
       "an update may fail: 'min' of nothing", "min(received)"},
      {PROCESS("input x: 0..1", "send x to all", "")
           "safety s: count(p in P: p.x == 1) <= n\n",
       "a parameter that has no fixed value", "n"},
      {PROCESS("input x: 0..1", "send x to all", "") "safety s: step exists p in P: p.x == p.x'\n",
       "a step property that is not of the form", NULL},
      {PROCESS("oracle x: 0..1", "send x to all", "") "safety s: true\n", "an oracle", "x"},
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_is_matched_with_flags),
      cmocka_unit_test(every_step_is_matched_counted), cmocka_unit_test(every_step_is_matched_whole),
      cmocka_unit_test(the_instance_does_not_matter),
      cmocka_unit_test(what_does_not_fit_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
