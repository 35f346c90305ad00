/* Counter systems: the language, cubes, graphs, engines and certificates, each against something
 * slower. */
#include "lang/typecheck_counters.h"
#include "param/certificate.h"
#include "param/engine_result_io.h"
#include "param/path_run.h"
#include "report/proof_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct counter_system *checked(const char *text, struct text *errors) {
  struct arena arena;
  struct source source = {"m", text, strlen(text)};
  struct diags diags;
  arena_init(&arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &arena, &diags);
  struct counter_system *s = diags.errors ? NULL : counters_typecheck(file, &source, NULL, 0, &diags);
  for (size_t i = 0; i < diags.n; i++)
    text_addf(errors, "%s%s%s%s\n", diags.at[i].message, diags.at[i].help ? " [" : "",
              diags.at[i].help ? diags.at[i].help : "", diags.at[i].help ? "]" : "");
  diags_release(&diags);
  arena_release(&arena);
  return s;
}

static struct counter_system *good(const char *text) {
  struct text errors = {0};
  struct counter_system *s = checked(text, &errors);
  if (!s)
    print_error("%s\n%s", text, text_or_empty(&errors));
  text_release(&errors);
  assert_non_null(s);
  return s;
}

static struct counter_graph *graph_of(const struct counter_system *s) {
  struct text why = {0};
  struct counter_graph *g = counter_graph_new(s, &s->properties[0], false, NULL, &why);
  text_release(&why);
  assert_non_null(g);
  return g;
}

/* ---- the language ---- */

#define BODY "param N\ncounter a, b\nstart a + b == N\n"

static void errors_say_what_is_wrong(void **unused) {
  (void)unused;
  static const struct {
    const char *text, *error;
  } cases[] = {
      {BODY "unsafe u: a * b > 1", "'a * b' is not linear [one side of '*' must be a number"},
      {BODY "unsafe u: N * a > 1", "'N * a' is not linear"},
      {BODY "unsafe u: a > N / 2", "'/' of something that varies is not linear [multiply it out"},
      {"counter idle, busy\nunsafe u: idel > 1", "unknown name 'idel' [did you mean the counter 'idle'?]"},
      {BODY "unsafe u: zebra > 1", "unknown name 'zebra' [declare it with 'counter zebra'"},
      {BODY "unsafe u: a + 1", "expected a condition, not a number"},
      {BODY "unsafe u: a + (b > 1) > 2", "expected a number, not a condition"},
      {BODY "move m: 1 of a -> c\nunsafe u: a > 1", "unknown counter 'c'"},
      {BODY "move m: 1 of N -> a\nunsafe u: a > 1", "the parameter 'N' is not a counter"},
      {BODY "move m: 1 of a -> a\nunsafe u: a > 1", "'a' goes to itself"},
      {BODY "move m: a := 1, a := 2\nunsafe u: a > 1", "'a' is changed twice in one move"},
      {BODY "move m: a := 1, 1 of a -> b\nunsafe u: a > 1", "the move 'm' assigns 'a' and moves some of it"},
      {BODY "move m: N := 1\nunsafe u: a > 1", "the parameter 'N' never changes"},
      {BODY "move m any a: a of a -> b\nunsafe u: a > 1",
       "'a' is already declared [the counter 'a' is declared at line 3"},
      {BODY "move m any d: d of a -> b\nunsafe u: d > 1", "unknown name 'd'"},
      {BODY, "says nothing of what must not be"},
      {"param N where a > 1\ncounter a\nunsafe u: a > 1", "a condition on the parameters reads the counter 'a'"},
      {"param N = M\nparam M\ncounter a\nunsafe u: a > 1", "parameter 'M' has no value yet"},
      {"param n: bool\ncounter a\nunsafe u: a > 1", "a parameter of a counter system is a number"},
      {"counter a, a\nunsafe u: a > 1", "'a' is already declared"},
      {"control c: {x, y} = 3\ncounter a\nunsafe u: c == x", "expected a label, not a number"},
      {"control c: {x, y}\ncontrol d: {z}\nunsafe u: c == z", "a label is compared with a label"},
      {"control c: {x, y}\nunsafe u: c < y", "a label has no order"},
      {"control c: {x, y}\nunsafe u: c == nine", "unknown name 'nine'"},
      {"control c: 0..5000\nunsafe u: c == 1", "a control has at most 1000 values [make it a counter]"},
      {"param N\ncontrol c: 0..N\nunsafe u: c == 1",
       "the bounds of a control must be numbers [what has no fixed bound"},
      {"control c: set of bool\nunsafe u: true", "a control is a bool, a range or one of"},
      {"counter a\nprocess P[3] {}\nunsafe u: a > 1", "a counter system has no process"},
      {"counter a\nsafety s: a > 1\nunsafe u: a > 1", "a counter system has no property [what must not be reached"},
      {"counter a\nunsafe u: a > 1\nunsafe u: a > 2", "'u' is already declared"},
      {"counter a\ndef f = f + 1\nunsafe u: f > 1", "the def 'f' needs itself"},
      {"counter a\ndef f(x: int) = x + a\nunsafe u: f > 1", "'f' takes 1 argument, not 0"},
      {"counter a\nunsafe u: sum(a) > 1", "'sum' is not a def"},
      {"param N = 3 where N > 4\ncounter a\nunsafe u: a > 1", "parameter condition not met: 'N > 4'"},
      {"counter a\nunsafe u: a > 9223372036854775807 + 1", "a number beyond 64 bits"},
      {"counter a\nunsafe u: a > 1 / 0", "division by zero"},
      {"counter a\nunsafe u: exists x in a: x > 1", "this has no meaning in a counter system"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct text text = {0}, errors = {0};
    text_addf(&text, "counters C\n%s\n", cases[i].text);
    struct counter_system *s = checked(text.at, &errors);
    if (s || !strstr(text_or_empty(&errors), cases[i].error))
      print_error("%s\n  says: %s  not: %s\n", text.at, text_or_empty(&errors), cases[i].error);
    assert_null(s);
    assert_non_null(strstr(text_or_empty(&errors), cases[i].error));
    text_release(&text);
    text_release(&errors);
  }
}

static void errors_come_all_at_once(void **unused) {
  (void)unused;
  struct text errors = {0};
  assert_null(checked("counters C\nparam N where N > a\ncounter a, b\nstart c == 1\nmove m: 1 of a -> d\n"
                      "move m: a := b * b\nunsafe u: e > 1\n",
                      &errors));
  int n = 0;
  for (const char *at = errors.at; (at = strchr(at, '\n')); at++)
    n++;
  assert_int_equal(n, 5);
  text_release(&errors);
}

/* What moves imply stands in their guards. */
static void moves_keep_counters_natural(void **unused) {
  (void)unused;
  struct counter_system *s = good("counters C\nparam N\ncounter a, b, c\ncontrol k: 0..2 = 0\n"
                                  "move flow any d, e: d of a -> b, e of a -> c\n"
                                  "move set: a := b - c\n"
                                  "move step: k := k + 1\n"
                                  "unsafe u: a > 1\n");
  int64_t counters[] = {3, 1, 2}, controls[] = {2}, after[3], there[1], amounts[] = {2, 1}, params[] = {0};
  struct counter_state now = {counters, controls}, next = {after, there};
  assert_true(counter_moves(s, 0, params, &now, amounts, &next));
  assert_true(after[0] == 0 && after[1] == 3 && after[2] == 3);
  amounts[1] = 2; /* four of three */
  assert_false(counter_moves(s, 0, params, &now, amounts, &next));
  amounts[0] = 4, amounts[1] = -1;
  assert_false(counter_moves(s, 0, params, &now, amounts, &next));
  assert_false(counter_moves(s, 1, params, &now, amounts, &next)); /* 1 - 2 */
  assert_false(counter_moves(s, 2, params, &now, amounts, &next)); /* beyond 2 */
  counter_system_free(s);
}

/* What has no value in a branch that is never taken is no error. */
static void dead_branches_may_fail(void **state) {
  (void)state;
  counter_system_free(good("counters C\ncounter a\ndef k = 0\n"
                           "unsafe u: a > (if k == 0 then 2 else 1 / k) and (k == 0 or a > 1 / k)\n"
                           "unsafe v: k > 0 and a > 1 / k or (k > 0 => a > 1 mod k)\n"));
}

/* ---- cubes ---- */

static int roll(unsigned *seed, int low, int high) {
  *seed = *seed * 1103515245u + 12345u;
  return low + (int)((*seed >> 16) % (unsigned)(high - low + 1));
}

static void random_cube(struct cube *c, uint32_t variables, unsigned *seed, int largest) {
  int64_t row[8];
  cube_init(c, variables);
  for (int n = roll(seed, 1, 5); n > 0; n--) {
    row[0] = roll(seed, -6, 6);
    for (uint32_t v = 1; v <= variables; v++)
      row[v] = roll(seed, 0, 2) ? roll(seed, -largest, largest) : 0;
    cube_add(c, row, roll(seed, 0, 4) == 0);
  }
}

/* A cube that implies another one has none of its points outside. */
static void implied_cubes_are_larger(void **unused) {
  (void)unused;
  unsigned seed = 11, implied = 0;
  for (int round = 0; round < 6000; round++) {
    struct cube a, b, more;
    random_cube(&a, 3, &seed, 1);
    random_cube(&b, 3, &seed, 1);
    random_cube(&more, 3, &seed, 2);
    if (round % 2) /* often: a is a part of b */
      cube_add_cube(&a, &b);
    cube_add_cube(&a, &more);
    bool within = !a.empty && !b.empty && cube_implies(&a, &b);
    implied += within;
    assert_true(a.empty || cube_implies(&a, &a));
    for (int x = -7; x <= 7 && within; x++)
      for (int y = -7; y <= 7; y++)
        for (int z = -7; z <= 7; z++) {
          int64_t point[] = {x, y, z};
          assert_true(!cube_holds(&a, point) || cube_holds(&b, point));
        }
    cube_release(&a);
    cube_release(&b);
    cube_release(&more);
  }
  assert_true(implied > 500 && implied < 5000);
}

/* Exactly the points that have a value for the variable, or (if it is not exact) those at least. */
static void elimination_projects(void **unused) {
  (void)unused;
  unsigned seed = 7, exact_ones = 0;
  for (int round = 0; round < 3000; round++) {
    struct cube c, projected;
    random_cube(&c, 3, &seed, round % 2 ? 1 : 3);
    cube_copy(&projected, &c);
    bool exact = cube_eliminate(&projected, 2);
    exact_ones += exact;
    for (int x = -3; x <= 3; x++)
      for (int y = -3; y <= 3; y++) {
        bool some = false;
        for (int z = -60; z <= 60 && !some; z++) {
          int64_t point[] = {x, y, z};
          some = cube_holds(&c, point);
        }
        int64_t point[] = {x, y, 0};
        bool there = cube_holds(&projected, point);
        assert_true(exact ? there == some : there || !some);
      }
    cube_release(&c);
    cube_release(&projected);
  }
  assert_true(exact_ones > 1500 && exact_ones < 3000);
}

/* A constraint is added: exactly its points go, whatever the cube makes of its rows. */
static void cubes_keep_their_points(void **unused) {
  (void)unused;
  unsigned seed = 3;
  for (int round = 0; round < 3000; round++) {
    struct cube c;
    int64_t row[4];
    bool equal = roll(&seed, 0, 3) == 0;
    random_cube(&c, 3, &seed, 2);
    struct cube more;
    cube_copy(&more, &c);
    for (int i = 0; i < 4; i++)
      row[i] = roll(&seed, -3, 3);
    cube_add(&more, row, equal);
    for (int x = -2; x <= 2; x++)
      for (int y = -2; y <= 2; y++)
        for (int z = -2; z <= 2; z++) {
          int64_t point[] = {x, y, z}, sum = row[0] + row[1] * x + row[2] * y + row[3] * z;
          assert_int_equal(cube_holds(&more, point), cube_holds(&c, point) && (equal ? sum == 0 : sum >= 0));
        }
    cube_release(&c);
    cube_release(&more);
  }
}

static void preimages_are_what_leads_there(void **unused) {
  (void)unused;
  unsigned seed = 11;
  for (int round = 0; round < 1000; round++) {
    struct cube c, before;
    int64_t rows[2][4];
    const int64_t *images[] = {rows[0], rows[1]};
    random_cube(&c, 2, &seed, 2);
    for (int i = 0; i < 8; i++)
      rows[i / 4][i % 4] = roll(&seed, -2, 2);
    cube_copy(&before, &c);
    cube_preimage(&before, images, 2, 4);
    for (int k = 0; k < 27; k++) {
      int64_t at[] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, there[2];
      for (int i = 0; i < 2; i++)
        there[i] = rows[i][0] + rows[i][1] * at[0] + rows[i][2] * at[1] + rows[i][3] * at[2];
      assert_int_equal(cube_holds(&before, at), cube_holds(&c, there));
    }
    cube_release(&c);
    cube_release(&before);
  }
}

static void overflow_is_noticed(void **unused) {
  (void)unused;
  struct cube c;
  int64_t low[] = {1, INT64_MAX - 1, INT64_MAX - 2}, high[] = {5, -(INT64_MAX - 3), 7};
  cube_init(&c, 2);
  cube_add(&c, low, false);
  cube_add(&c, high, false);
  cube_eliminate(&c, 0);
  assert_true(c.overflow);
  cube_release(&c);
}

/* ---- graphs ---- */

/* The unfolded conditions say what the terms say, at every small point and every value of the
 * control. */
static void unfolding_keeps_the_meaning(void **unused) {
  (void)unused;
  static const char *const conditions[] = {"a != b",
                                           "not (a == b or b > 1)",
                                           "a < b => b <= 2",
                                           "min(a, b) > 1 or max(a, b) < N",
                                           "a in {0, 2}",
                                           "b not in 1..2",
                                           "(if f then a else b) >= N",
                                           "f == (a > b)",
                                           "k == y and a > 0 or k == x and b > 0",
                                           "k in {x, z} => f",
                                           "(if a > b then a - b else b - a) <= 1",
                                           "if k == x then a == 1 else b == 1",
                                           "2 * a - 3 * (b - N) >= r",
                                           "r * 1 + a > 3",
                                           "not (f or a > 1 and b > 1)",
                                           "min(a, b, N) == a"};
  for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
    struct text text = {0};
    text_addf(&text,
              "counters C\nparam N\ncounter a, b\ncontrol k: {x, y, z}\ncontrol f: bool\ncontrol "
              "r: 1..2\n"
              "unsafe u from %s: not (%s)\n",
              conditions[i], conditions[i]);
    struct counter_system *s = good(text.at);
    struct text why = {0};
    struct counter_graph *g = counter_graph_unfold(s, &s->properties[0], false, NULL, &why);
    assert_non_null(g);
    for (int64_t n = 0; n < 4 * 4 * 4 * 12; n++) {
      int64_t params[] = {n % 4}, counters[] = {n / 4 % 4, n / 16 % 4};
      int64_t controls[] = {n / 64 % 3, n / 192 % 2, 1 + n / 384};
      int64_t point[] = {params[0], counters[0], counters[1]};
      struct counter_state state = {counters, controls};
      bool start = false, unsafe = false, known = false;
      for (size_t l = 0; l < g->locations.n; l++) {
        if (memcmp(g->locations.at[l].controls.at[0], controls, sizeof controls) != 0)
          continue;
        known = true;
        for (size_t k = 0; k < g->locations.at[l].start.n; k++)
          start |= cube_holds(&g->locations.at[l].start.at[k], point);
        for (size_t k = 0; k < g->locations.at[l].unsafe.n; k++)
          unsafe |= cube_holds(&g->locations.at[l].unsafe.at[k], point);
      }
      assert_int_equal(start, counter_starts(s, &s->properties[0], params, &state));
      assert_true(!known || unsafe == counter_unsafe(s, &s->properties[0], params, &state));
    }
    counter_graph_free(g);
    counter_system_free(s);
    text_release(&text);
  }
}

static void sums_that_stay_are_found(void **unused) {
  (void)unused;
  struct counter_system *s = good("counters C\nparam N, M\ncounter a, b, c, d\n"
                                  "start a + b == N and c == 0 and d == M and b == 2\n"
                                  "move m any x: x of a -> b\nmove n: c := c + 2, d := d - 1\nunsafe u: a > 1\n");
  struct counter_graph *g = graph_of(s);
  assert_int_equal(g->conserved.n, 2); /* a + b == N, c + 2 d == 2 M */
  int64_t yes[] = {5, 7, 1, 4, 6, 4}, no[] = {5, 7, 1, 4, 6, 5}, worse[] = {5, 7, 1, 3, 6, 4};
  assert_true(cube_holds(&g->conserved, yes));
  assert_false(cube_holds(&g->conserved, no) || cube_holds(&g->conserved, worse));
  counter_graph_free(g);
  counter_system_free(s);
}

/* A repetition does exactly what taking the move one or more times does. */
static void repetitions_are_exact(void **unused) {
  (void)unused;
  struct counter_system *s = good("counters C\nparam N\ncounter a, b\nstart a == 0 and b == 0\n"
                                  "move m: a := a + 2, b := b - 1 when a <= N and 2 * b >= a - 3\nunsafe u: a > 9\n");
  struct counter_graph *g = graph_of(s);
  assert_int_equal(g->transitions.n, 2);
  const struct counter_transition *t = &g->transitions.at[1];
  assert_true(t->repeats && t->namounts == 1);
  for (int64_t n = 0; n < 8 * 8 * 8; n++) {
    int64_t params[] = {n % 8}, a = n / 8 % 8, b = n / 64;
    int64_t counters[] = {a, b};
    for (int64_t times = 1; times <= 8; times++) {
      int64_t point[] = {params[0], a, b, times}, after[2];
      struct counter_state now = {counters, NULL}, next = {after, NULL};
      bool possible = counter_moves(s, 0, params, &now, NULL, &next); /* the times-th */
      assert_int_equal(cube_holds(&t->guard, point), possible);
      if (!possible)
        break;
      memcpy(counters, after, sizeof counters);
    }
  }
  counter_graph_free(g);
  counter_system_free(s);
}

/* Values of the control that nobody reads any more do not count. */
static void dead_control_is_merged(void **unused) {
  (void)unused;
  struct counter_system *s = good("counters C\nparam N where N > 1\ncounter a, b\ncontrol k: {x, y, z} = x\ncontrol v: "
                                  "0..9 = 0\n"
                                  "start a == N and b == 0\n"
                                  "move choose any d: v := v + d, k := y when k == x\n"
                                  "move use: 1 of a -> b, k := z when k == y and v >= 5\nunsafe u: b > 1\n");
  struct text why = {0};
  struct counter_graph *all = counter_graph_unfold(s, &s->properties[0], false, NULL, &why), *g = graph_of(s);
  assert_int_equal(all->locations.n, 1 + 10 + 5);
  assert_true(g->locations.n <= 4);
  counter_graph_free(all);
  counter_graph_free(g);
  counter_system_free(s);
}

/* ---- engines ---- */

#define TICKETS                                                                                                        \
  "counters Tickets\nparam N where N >= 1\ncounter idle, waiting, inside, free\n"                                      \
  "start idle == N and waiting == 0 and inside == 0 and free == "
#define TICKET_MOVES                                                                                                   \
  "\nmove want: 1 of idle -> waiting\nmove enter: 1 of waiting -> inside, free := free - 1\n"                          \
  "move leave: 1 of inside -> idle, free := free + 1\nunsafe two: inside >= 2\n"

static void engines_find_proofs(void **unused) {
  (void)unused;
  struct counter_system *s = good(TICKETS "1" TICKET_MOVES);
  struct counter_graph *g = graph_of(s);
  static const char *const names[] = {"horn", "backward", "guards"};
  for (int e = 0; e < ENGINES; e++) {
    struct engine_result o;
    struct text script = {0}, why = {0};
    bool expected = false;
    for (int i = 0; i < 3; i++)
      expected |= !strcmp(engines[e].name, names[i]);
    if (!expected)
      continue;
    engine_result_init(&o);
    engines[e].run(g, NULL, &o);
    assert_int_equal(o.kind, ENGINE_SAFE);
    certificate_print(g, o.invariant, &script);
    assert_true(certificate_check(script.at, CERTIFICATE_QUESTIONS, NULL, &why));
    text_release(&script);
    text_release(&why);
    engine_result_release(&o);
  }
  counter_graph_free(g);
  counter_system_free(s);
}

/* Paths and texts may hold any bytes. */
static void bytes_that_are_no_text(void **unused) {
  (void)unused;
  struct counter_system *s = good(TICKETS "2" TICKET_MOVES);
  s->source.path = "\xff.rondo";
  json_t *j = counter_model_json(s);
  assert_string_equal(json_string_value(json_object_get(j, "file")), "?.rondo");
  json_decref(j);
  counter_system_free(s);
}

static void engines_find_runs(void **unused) {
  (void)unused;
  struct counter_system *s = good(TICKETS "2" TICKET_MOVES);
  struct counter_graph *g = graph_of(s);
  static const char *const names[] = {"backward", "bounded", "explicit"};
  for (int e = 0; e < ENGINES; e++) {
    struct engine_result o, again;
    struct text why = {0}, wire = {0};
    bool expected = false;
    for (int i = 0; i < 3; i++)
      expected |= !strcmp(engines[e].name, names[i]);
    if (!expected)
      continue;
    engine_result_init(&o);
    engines[e].run(g, NULL, &o);
    assert_int_equal(o.kind, ENGINE_UNSAFE);
    assert_true(counter_run_replay(&o.run, s, &s->properties[0], false, &why));
    assert_int_equal(o.run.params[0], 2);
    engine_result_write(&o, g, &wire);
    assert_true(engine_result_read(&again, g, wire.at, wire.n));
    assert_int_equal(again.run.steps.n, o.run.steps.n);
    assert_true(counter_run_replay(&again.run, s, &s->properties[0], false, &why));
    engine_result_release(&again);
    for (size_t cut = 0; cut < wire.n; cut++) { /* a worker may die in the middle of a word */
      assert_false(engine_result_read(&again, g, wire.at, cut));
      engine_result_release(&again);
    }
    text_add_n(&wire, "", 1); /* more than a result */
    assert_false(engine_result_read(&again, g, wire.at, wire.n));
    engine_result_release(&again);
    memset(wire.at, 0xff, sizeof(uint64_t)); /* an unknown verdict */
    assert_false(engine_result_read(&again, g, wire.at, wire.n - 1));
    engine_result_release(&again);
    o.run.start.counters[0]++;
    assert_false(counter_run_replay(&o.run, s, &s->properties[0], false, &why));
    text_release(&wire);
    text_release(&why);
    engine_result_release(&o);
  }
  counter_graph_free(g);
  counter_system_free(s);
}

/* Counting backwards goes on for ever: after each reset, one more process has to arrive. */
static void guards_are_enough_with_resets(void **unused) {
  (void)unused;
  struct counter_system *s =
      good("counters Rounds\nparam N, t where N > 3 * t and t >= 1\ncounter zero, one, sent, done, x, y\n"
           "start zero == N and one + sent + done + x + y == 0\n"
           "move vote0: 1 of zero -> sent, x := x + 1\nmove vote1: 1 of one -> sent, y := y + 1\n"
           "move again0: 1 of sent -> zero, x := 0, y := 0 when x >= N - t\n"
           "move again1: 1 of sent -> one, x := 0, y := 0 when y >= t + 1\n"
           "move decide: 1 of sent -> done when y >= N - t\n"
           "unsafe decided: done >= 1\nunsafe one_round: x < 1 and sent >= 1\n");
  struct text why = {0}, script = {0};
  for (uint32_t i = 0; i < 2; i++) {
    struct counter_graph *g = counter_graph_new(s, &s->properties[i], false, NULL, &why);
    struct engine_result o;
    assert_non_null(g);
    engine_result_init(&o);
    engine_guards(g, NULL, &o);
    assert_int_equal(o.kind, i ? ENGINE_UNDECIDED : ENGINE_SAFE);
    if (!i)
      certificate_print(g, o.invariant, &script);
    engine_result_release(&o);
    engine_result_init(&o);
    engine_explicit(g, NULL, &o);
    assert_int_equal(o.kind, i ? ENGINE_UNSAFE : ENGINE_UNDECIDED);
    assert_true(!i || counter_run_replay(&o.run, s, &s->properties[i], false, &why));
    engine_result_release(&o);
    counter_graph_free(g);
  }
  assert_true(certificate_check(script.at, CERTIFICATE_QUESTIONS, NULL, &why));
  text_release(&script);
  text_release(&why);
  counter_system_free(s);
}

/* Limits and the flag end a search of states, however large the first values are. */
static void explicit_search_ends(void **unused) {
  (void)unused;
  struct counter_system *s =
      good("counters Many\nparam N where N >= 1000000000000\ncounter a, b, c\nstart a + b <= N and c == 0\n"
           "move grow: c := c + 1 when a >= 1\nunsafe never: c > N + N and a == 1\n"
           "unsafe large: c >= 3 and b >= 1\n");
  struct text why = {0};
  static const volatile sig_atomic_t stop = 1;
  struct engine_watch watch = {NULL, NULL, &stop};
  for (uint32_t i = 0; i < 2; i++) {
    struct counter_graph *g = counter_graph_new(s, &s->properties[i], false, NULL, &why);
    struct engine_result o;
    engine_result_init(&o);
    engine_explicit(g, i ? &watch : NULL, &o);
    assert_int_equal(o.kind, ENGINE_UNDECIDED);
    engine_result_release(&o);
    engine_result_init(&o);
    engine_guards(g, &watch, &o);
    assert_int_equal(o.kind, ENGINE_UNDECIDED);
    engine_result_release(&o);
    counter_graph_free(g);
  }
  text_release(&why);
  counter_system_free(s);
  s = good("counters Many\nparam N where N >= 1\ncounter a, b\nstart a <= 1000000000000 and b == 0\n"
           "move grow: b := b + 1 when a >= 2\nunsafe large: b >= 3\n");
  struct counter_graph *g = graph_of(s);
  struct engine_result o;
  engine_result_init(&o);
  engine_explicit_within(g, 100, NULL, &o);
  assert_int_equal(o.kind, ENGINE_UNSAFE);
  assert_true(counter_run_replay(&o.run, s, &s->properties[0], false, &why));
  engine_result_release(&o);
  counter_graph_free(g);
  counter_system_free(s);
}

/* Without widening this goes on for ever: a and b grow together, one move at a time in turn. */
static void backward_search_widens(void **unused) {
  (void)unused;
  struct counter_system *s = good("counters Turns\nparam N where N >= 0\ncounter a, b\ncontrol k: {x, y} = x\n"
                                  "start a == N and b == N\n"
                                  "move first: a := a + 1, k := y when k == x\n"
                                  "move second: b := b + 1, k := x when k == y\n"
                                  "unsafe apart: b > a\n");
  struct counter_graph *g = graph_of(s);
  struct engine_result o;
  struct text script = {0}, why = {0};
  engine_result_init(&o);
  engine_backward(g, NULL, &o);
  assert_int_equal(o.kind, ENGINE_SAFE);
  certificate_print(g, o.invariant, &script);
  assert_true(certificate_check(script.at, CERTIFICATE_QUESTIONS, NULL, &why));
  text_release(&script);
  text_release(&why);
  engine_result_release(&o);
  counter_graph_free(g);
  counter_system_free(s);
}

static void wrong_invariants_are_refused(void **unused) {
  (void)unused;
  static const char *const wrong[] = {
      "true",                                   /* unsafe states are inside */
      "false",                                  /* the start is outside */
      "(<= inside 0)",                          /* a move leaves it */
      "(<= inside 1)",                          /* likewise: nothing is said of what is free */
      "(and (= (+ inside free) 1) (<= N 100))", /* for some N only */
      "(and (= (+ inside free) 1) nonsense)",
  };
  struct counter_system *s = good(TICKETS "1" TICKET_MOVES);
  struct counter_graph *g = graph_of(s);
  cube_release(&g->conserved); /* or they would make some of these right */
  cube_init(&g->conserved, g->nvars);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct text script = {0}, why = {0};
    certificate_print(g, &wrong[i], &script);
    assert_false(certificate_check(script.at, CERTIFICATE_QUESTIONS, NULL, &why));
    text_release(&script);
    text_release(&why);
  }
  const char *right = "(= (+ inside free) 1)";
  struct text script = {0}, why = {0};
  certificate_print(g, &right, &script);
  assert_true(certificate_check(script.at, CERTIFICATE_QUESTIONS, NULL, &why));
  text_release(&script);
  text_release(&why);
  counter_graph_free(g);
  counter_system_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_say_what_is_wrong),
      cmocka_unit_test(errors_come_all_at_once),
      cmocka_unit_test(moves_keep_counters_natural),
      cmocka_unit_test(implied_cubes_are_larger),
      cmocka_unit_test(elimination_projects),
      cmocka_unit_test(cubes_keep_their_points),
      cmocka_unit_test(preimages_are_what_leads_there),
      cmocka_unit_test(overflow_is_noticed),
      cmocka_unit_test(unfolding_keeps_the_meaning),
      cmocka_unit_test(sums_that_stay_are_found),
      cmocka_unit_test(repetitions_are_exact),
      cmocka_unit_test(dead_control_is_merged),
      cmocka_unit_test(engines_find_proofs),
      cmocka_unit_test(bytes_that_are_no_text),
      cmocka_unit_test(engines_find_runs),
      cmocka_unit_test(guards_are_enough_with_resets),
      cmocka_unit_test(explicit_search_ends),
      cmocka_unit_test(backward_search_widens),
      cmocka_unit_test(wrong_invariants_are_refused),
      cmocka_unit_test(dead_branches_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
