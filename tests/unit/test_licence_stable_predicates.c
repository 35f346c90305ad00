/* Conditions that stay false once they are false: a condition, what processes do besides, and whether
   it stays. Each claim is also held against the interp by test_licence_sound_steps, on other models;
   here it is what is seen and what is not. */
#include "analysis/action_use.h"
#include "analysis/stable_predicates.h"
#include "lang/typecheck.h"

#include "model_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct subject {
  struct arena arena;
  struct model *model;
  struct query query;
  struct stable_predicates *stable;
};

static void subject_init(struct subject *s, const char *text) {
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  arena_init(&s->arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &s->arena, &diags);
  s->model = diags.errors ? NULL : model_typecheck(file, &source, NULL, 0, true, &diags);
  if (!s->model) {
    struct text out = {0};
    diags_print(&diags, false, &out);
    print_error("%s\n%s\n", text, text_or_empty(&out));
    text_release(&out);
  }
  diags_release(&diags);
  assert_non_null(s->model);
  s->query = (struct query){.semantics = SEMANTICS_M};
  s->stable = stable_predicates_of(s->model, &s->query, &s->arena);
}

static void subject_release(struct subject *s) {
  model_free(s->model);
  arena_release(&s->arena);
}

/* The last action of the first role has the condition. */
static const struct action *last_action(const struct subject *s) {
  const struct role *role = &s->model->roles[0];
  return &role->actions[role->nactions - 1];
}

#define VARIABLES                                                                                                      \
  "  input x: Value\n  var b: bool = false\n  var d: Value? = none\n  var l: Level = 0\n"                              \
  "  var h: Level = 0\n  var seen: set of Value = {}\n  stable kept: Level = 0\n"                                      \
  "  var w: [Value] bool = [v in Value: false]\n  var mood: {calm, cross, wild} = calm\n"                              \
  "  var note: (t: Level, v: Value?) = (t: 0, v: none)\n  def above(i: Level) = i > l\n"                               \
  "  var r: round = 1\n"

static char *make_model(struct arena *arena, const char *environment, const char *actions, const char *condition) {
  return arena_printf(arena,
                      "algorithm A\nparam n = 2\ntype Value = 1..3\ntype Level = 0..4\n"
                      "message ping(v: Value, t: Level, i: round), pong\n"
                      "shared s: Value? = none\nshared k: Level = 0\ninput boss: P\n"
                      "process P[n] {\n" VARIABLES "  start { send ping(x, 0, 1) to all }\n  %s\n  %s {}\n}\n"
                      "environment e { %s }\nsafety s: true\n",
                      actions, condition, environment);
}

static void assert_stays(const char *environment, const char *actions, const char *condition, bool stays) {
  struct arena arena;
  struct subject s;
  arena_init(&arena);
  char *text = make_model(&arena, environment, actions, condition);
  subject_init(&s, text);
  const struct action *a = last_action(&s);
  bool found = a->guard.cond && a->guard.ngen == 0 && predicate_stays_false(s.stable, 0, a->guard.cond);
  if (found != stays)
    print_error("%s\nit %s\n", text, found ? "is said to stay false" : "is not said to stay false");
  assert_int_equal(found, stays);
  subject_release(&s);
  arena_release(&arena);
}

#define stays(actions, condition) assert_stays("", actions, condition, true)
#define returns(actions, condition) assert_stays("", actions, condition, false)

#define ON(condition) "on m: ping if " condition

static void test_constants(void **state) {
  (void)state;
  stays("", "when false");
  stays("", ON("m.v == 2"));
  stays("", ON("m.v == x"));
  stays("", ON("sender(m) == me"));
  stays("", "on ping from q if q == boss");
  stays("", "on ping(v, t) if v == x and t > 1");
  stays("", "when not b"); /* nobody assigns it */
  stays("", "when b");
  stays("", "when d == none");
  stays("", "when number(me) == 1");
  stays("", ON("m.v in {1, x}"));
  stays("", ON("exists v in Value: v == m.v and v > x"));
  stays("", ON("forall q in P: q == me or q == sender(m)"));
  returns("on pong { x := pick(v for v in Value) }", ON("m.v == x"));
}

static void test_truth(void **state) {
  (void)state;
  stays("on pong { b := true }", "when not b");
  returns("on pong { b := true }", "when b");
  stays("on pong { b := false }", "when b");
  stays("on pong { b := b or x == 1 }", "when not b");
  stays("on pong { b := b and x == 1 }", "when b");
  returns("on pong { b := b and x == 1 }", "when not b");
  stays("on pong { if not b { b := x == 1 } }", "when not b");
  stays("on pong { if b == false { b := x == 1 } }", "when not b");
  returns("on pong { if b { b := x == 1 } }", "when not b");
  stays("on pong { if x == 1 { b := x == 1 } }", "when not b");
  returns("on pong { if x == 1 {} else { b := x == 1 } }", "when not b");
  stays("on pong { if x == 1 { b := true } else { b := b } }", "when not b");
  returns("on pong { b := not b }", "when not b");
  returns("on pong { b := true }\n  on ping { b := false }", "when not b");
  stays("on pong { b := true }", "when not b and not b");
  stays("on pong { b := true }", "when not b or x == 1");
  returns("on pong { b := true }", "when b or x == 1");
  stays("on pong { b := true }", "when b => x == 1");
  returns("on pong { b := true }", "when x == 1 => b");
  stays("on pong { b := true }", "when b == false");
  returns("on pong { b := true }", "when b != false");
  returns("on pong { b := pick(true, false) }", "when not b");
}

static void test_numbers(void **state) {
  (void)state;
  static const char *const grows[] = {
      "on ping(v, t) if t > l { l := t }",
      "on ping(v, t) if t >= l { l := t }",
      "on ping(v, t) if l < t { l := t }",
      "on ping(v, t) if not t < l { l := t }",
      "on ping(v, t) if not (t < l or b) { l := t }",
      "on ping(v, t) if b and t > l { l := t }",
      "on m: ping(t > l) { l := m.t }",
      "on m: ping if m.t > l { l := m.t }",
      "on m: ping(v) if m.t > l { l := m.t }",
      "on ping(v, t) { if t > l { d := v  l := t } }",
      "on ping(v, t) { if t <= l { d := v } else { l := t } }",
      "on ping(v, t) { if t > l and b { l := t } else if t > l { l := t } }",
      "on ping(v, t) { if t > l or b and t == l { l := t } }",
      "on ping(v, t) { if not (t < l and not t == l) { l := t } }",
      "on ping(v, t) { l := max(l, t) }",
      "on ping(v, t) { l := max(t, l) }",
      "on ping(v, t) { l := max(0, t, l + 1) }",
      "on ping(v, t) { l := if t > l then t else l }",
      "on pong { l := l + 1 }",
      "on ping(v, t) { l := l + t }",
      "on pong { l := l + n }",
      "on pong { l := |P| + l }",
      "on pong { l := 4 }",
      "on pong { if l < 3 { l := 3 } }",
      "on pong { if l <= 2 { l := 2 } }",
      "on pong { if l == 1 { l := 2 } }",
      "on pong { if not l > 2 { l := 2 } }",
      "on pong { let u = l + 1  l := u }",
      "on ping(v, t) { let u = t  if u > l { l := u } }",
      "on Q: 1 of ping(t > l) same t { l := t }",
      "on Q: 1 of ping(t) same t if t > l { l := t }",
      "on Q: 1 of ping { l := max(m.t for m in Q if m.t > l) otherwise l }",
      "on Q: 1 of ping { l := pick(m.t for m in Q if m.t >= l) otherwise l }",
      "on Q: 1 of ping { foreach m in Q { if m.t > l { l := m.t } } }",
      "when exists t in Level: t > l { l := t }",
  };
  for (size_t i = 0; i < sizeof grows / sizeof *grows; i++) {
    stays(grows[i], ON("m.t > l"));
    stays(grows[i], ON("m.t >= l"));
    stays(grows[i], ON("l < m.t"));
    stays(grows[i], ON("l == 0"));
    returns(grows[i], ON("m.t < l"));
    returns(grows[i], ON("m.t == l and b or m.t == h + l"));
  }
  stays("on ping(v, t) if t == l { l := t }", ON("m.t == l"));
  stays("on pong { l := l }", ON("m.t == l"));
  static const char *const may_fall[] = {
      "on ping(v, t) { l := t }",
      "on ping(v, t) if t < l { l := t }",
      "on ping(v, t) if t > l or b { l := t }",
      "on ping(v, t) if b => t > l { l := t }",
      "on ping(v, t) if t > l { l := t - 1 }",
      "on ping(v, t) if t > l { l := h }",
      "on ping(v, t) if t > h { l := t }",
      "on ping(v, t) { if t > l {} else { l := t } }",
      "on ping(v, t) { if t > l { l := t }  l := t }",
      "on ping(v, t) { if t > l { l := 4  l := t } }",
      "on ping(v, t) if t > l { if b { l := 4 }  l := t }",
      "on ping(v, t) { let u = l + 1  l := 0  l := u }",
      "on m: ping { let u = m.t  if u > l { let z = h  l := z } }",
      "on Q: 1 of ping if l < 2 { foreach m in Q { l := 2  l := m.t } }",
      "on Q: 1 of ping if h > l { foreach m in Q { l := h  h := 0 } }",
      "on Q: 1 of ping(t > l) { l := min(m.t for m in Q) otherwise 0 }",
      "on Q: 1 of ping { l := max(m.t for m in Q) otherwise l }",
      "on Q: 1 of ping { l := min(m.t for m in Q if m.t > l) otherwise 0 }",
      "on ping(v, t) { l := min(l, t) }",
      "on pong { l := l - 1 }",
      "on pong { l := 3 }",
      "on pong { if l < 4 { l := 2 } }",
      "on pong { if l == 3 { l := 2 } }",
      "on pong { l := (l + 1) mod 3 }",
      "on pong { l := 2 * l }",
      "on ping(v, t) { l := if t > l then 0 else l }",
      "when exists t in Level: t > l { l := t - 1 }",
      "when (exists t in Level: t > l) and exists u in Level { l := u }",
      "on pong { l := pick(i for i in Level) }",
      "on ping(v, t) if above(t) { l := t }", /* not looked into */
      "on ping(v, t) if t > l { l := h  l := t }",
  };
  for (size_t i = 0; i < sizeof may_fall / sizeof *may_fall; i++)
    returns(may_fall[i], ON("m.t > l"));
  stays("on ping(v, t) { l := min(l, t) }", ON("m.t < l"));
  stays("on pong { l := l - 1 }", ON("m.t <= l"));
  stays("on pong { l := 0 }", "when l == 4");
  stays("on pong { l := l + 1 }", "when l < n + 1");
  stays("on pong { l := l + 1 }", ON("m.t > l + 1"));
  stays("on pong { l := l + 1 }", ON("m.t - l > 0"));
  returns("on pong { l := l + 1 }", ON("l - m.t > 0"));
  stays("on pong { l := l + 1 }", ON("2 * m.t > 2 * l"));
  returns("on pong { l := l + 1 }", ON("-1 * m.t > -1 * l"));
  stays("on pong { l := l + 1  h := h + 1 }", ON("m.t > max(l, h)"));
  returns("on pong { l := l + 1  h := h - 1 }", ON("m.t > max(l, h)"));
  returns("on pong { l := l + 1 }", ON("m.t == l"));
  stays("on pong { l := l + 1 }", ON("above(m.t)"));
  returns("on pong { l := 0 }", ON("above(m.t)"));
  stays("on ping(v, t, i) if i > r { r := i }", ON("m.i > r"));
  stays("on pong { r := r + 1 }", ON("m.i >= r"));
  returns("on ping(v, t, i) { r := i }", ON("m.i >= r"));
}

static void test_labels(void **state) {
  (void)state;
  stays("when mood == calm { mood := cross }\n  when mood == cross { mood := wild }", "when mood == calm");
  stays("when mood == calm { mood := cross }\n  when mood < wild { mood := wild }", "when mood < wild");
  returns("when mood == calm { mood := cross }", "when mood == cross");
  returns("when mood == cross { mood := calm }", "when mood == calm");
  stays("when mood == cross { mood := calm }", "when mood == wild");
  returns("on pong { mood := pick(cross, wild) }", "when mood == calm");
}

static void test_options_and_sets(void **state) {
  (void)state;
  stays("on ping(v) { d := v }", "when d == none");
  returns("on ping(v) { d := v }", "when d != none");
  returns("on ping(v) { d := none }", "when d == none");
  stays("on ping(v) { if d == none { d := s } }", "when d == none");
  returns("on ping(v) { d := s }", "when d == none");
  stays("on ping(v) { if s != none { d := s } }", "when d == none");
  returns("on ping(v) { if s != none { s := none  d := s } }", "when d == none");
  stays("on ping(v) { d := if b then v else d }", "when d == none");
  returns("on ping(v) { d := if b then v else none }", "when d == none");
  stays("on ping(v) { d := s otherwise v }", "when d == none");
  returns("on ping(v) { d := v }", ON("d == m.v"));
  stays("on ping(v) { seen := seen | {v} }", ON("m.v not in seen"));
  stays("on ping(v) { seen := {v} | seen }", ON("not {m.v} <= seen"));
  returns("on ping(v) { seen := seen | {v} }", ON("m.v in seen"));
  stays("on ping(v) { seen := seen - {v} }", ON("m.v in seen"));
  stays("on ping(v) { seen := seen & {v} }", ON("m.v in seen"));
  stays("on ping(v) { seen := {} }", ON("m.v in seen"));
  returns("on ping(v) { seen := {v} }", ON("m.v not in seen"));
  stays("on ping(v) { seen := seen | {v} }", "when |seen| < 2");
  stays("on ping(v) { seen := seen | {v} }", "when count(v in seen: v != x) < 2");
  stays("on ping(v) { seen := seen | {v} }", "when forall v in seen: v == x");
  returns("on ping(v) { seen := seen | {v} }", "when not (forall v in seen: v == x)");
  stays("on ping(v) { seen := seen | {v} }", ON("m.t > 2 and m.v not in seen | {x}"));
}

static void test_parts(void **state) {
  (void)state;
  stays("on ping(v) { w[v] := true }", ON("not w[m.v]"));
  returns("on ping(v) { w[v] := true }", ON("w[m.v]"));
  returns("on ping(v) { w[v] := true  w[x] := false }", ON("not w[m.v]"));
  returns("on ping(v) { w := [u in Value: u == v] }", ON("not w[m.v]"));
  stays("on ping(v) { if not w[v] { w[v] := b } }", ON("not w[m.v]"));
  returns("on ping(v) { if not w[x] { w[v] := b } }", ON("not w[m.v]"));
  returns("on ping(v) { w[v] := true  x := v }", "when not w[x]");
  stays("on ping(v, t) if t > note.t { note.t := t }", ON("m.t > note.t"));
  returns("on ping(v, t) if t > note.t { note := (t: t, v: v) }", ON("m.t > note.t"));
  returns("on ping(v, t) if t > note.t { note.t := t  note.v := none }", ON("m.t > note.t"));
}

static void test_shared(void **state) {
  (void)state;
  stays("when s == none { s := x }", "when s == none");
  returns("when s == none { s := x }\n  when b { s := none }", "when s == none");
  stays("when k < l { k := l }", "when k < 2");
  stays("when k < l { k := l  l := 0 }", "when k < 2");
  returns("when k < l { l := 0  k := l }", "when k < 2");
  returns("when k < l { k := l }", "when k < l or l > 0 and k == 1");
  stays("when k < l { k := l }", "when k < h");
}

static void test_recovery(void **state) {
  (void)state;
  const char *back = "at most 1 processes crash and recover";
  assert_stays(back, "on pong { b := true }", "when not b", false);
  assert_stays("at most 1 processes crash", "on pong { b := true }", "when not b", true);
  assert_stays("at most 0 processes crash and recover", "on pong { b := true }", "when not b", true);
  assert_stays(back, "on pong { kept := kept + 1 }", ON("m.t > kept"), true);
  assert_stays(back, "on pong { l := l + 1 }", ON("m.t > l"), false);
  assert_stays(back, "on pong { k := k + 1 }", ON("m.t > k"), true); /* shared memory stays */
  assert_stays(back, "", ON("m.v == x"), true);
  assert_stays(back, "", ON("m.t > l"), true); /* it comes out the same */
}

/* --- program points --- */

static void assert_reaches(const char *text, const char *const *expected) {
  struct subject s;
  subject_init(&s, text);
  uint32_t n = role_npoints(&s.model->roles[0]);
  for (uint32_t from = 0; from < n; from++) {
    char found[16] = {0};
    for (uint32_t to = 0; to < n; to++)
      found[to] = point_reaches(s.stable, 0, from, to) ? 'x' : '.';
    assert_string_equal(found, expected[from]);
  }
  subject_release(&s);
}

#define POINTS(handler, environment)                                                                                   \
  "algorithm A\nmessage go, stop\nprocess P[2] {\n  var b: bool = false\n"                                             \
  "  start { send go to all }\n  step one on go { if b { goto three } }\n  step two {}\n"                              \
  "  step three when b { goto two } or when not b { if b { goto two } else { goto one } }\n"                           \
  "  step four {}\n  on stop { " handler " }\n}\nenvironment e { " environment " }\nsafety s: true\n"

static void test_points(void **state) {
  (void)state;
  static const char *const straight[] = {"xxxx..", ".xxx..", ".xxx..", ".xxx..", "....xx", ".....x"};
  static const char *const leaving[] = {"xxxxxx", ".xxxxx", ".xxxxx", ".xxxxx", "....xx", "....xx"};
  static const char *const back[] = {"xxxx..", ".xxx..", ".xxx..", ".xxx..", ".xxxxx", ".xxx.x"};
  assert_reaches(POINTS("b := true", ""), straight);
  assert_reaches(POINTS("goto four", ""), leaving);
  assert_reaches(POINTS("b := true", "at most 1 processes crash and recover"), back);
}

/* --- what keeps an action from taking a message, and what it changes --- */

static void conditions_text(const struct subject *s, const struct condition_list *c, struct text *out) {
  for (uint32_t i = 0; i < c->n; i++) {
    text_add(out, i ? "; " : "");
    node_print(s->model, c->at[i], out);
  }
}

/* effects: NULL: there is no telling */
static void assert_conditions(const char *actions, const char *action, const char *vetoes, const char *effects) {
  struct arena arena;
  struct subject s;
  struct text found = {0};
  const struct condition_list *c;
  arena_init(&arena);
  char *text = arena_printf(&arena,
                            "algorithm A\nparam n = 2\ntype Value = 1..3\ntype Level = 0..4\n"
                            "message ping(v: Value, t: Level, i: round), pong\n"
                            "shared s: Value? = none\nshared k: Level = 0\n"
                            "process P[n] {\n" VARIABLES "  %s\n  %s\n}\n"
                            "environment e {}\nsafety s: true\n",
                            actions, action);
  subject_init(&s, text);
  uint32_t last = s.model->roles[0].nactions - 1;
  conditions_text(&s, action_necessary_conditions(s.stable, 0, last), &found);
  if (strcmp(text_or_empty(&found), vetoes))
    print_error("%s\n", text);
  assert_string_equal(text_or_empty(&found), vetoes);
  text_release(&found);
  bool told = action_change_conditions(s.stable, 0, last, &c);
  if (told)
    conditions_text(&s, c, &found);
  if (told != (effects != NULL))
    print_error("%s\n%s\n", text, text_or_empty(&found));
  assert_int_equal(told, effects != NULL);
  if (effects)
    assert_string_equal(text_or_empty(&found), effects);
  text_release(&found);
  subject_release(&s);
  arena_release(&arena);
}

#define GROWS "on pong { l := l + 1  b := true }"

static void test_vetoes(void **state) {
  (void)state;
  /* #0 is the message, #1 ... its parts; var1 is b, var2 d, var3 l, var5 seen */
  assert_conditions(GROWS, "on ping(v, t) if t > l and not b { d := v }", "(#2 > var3); not(var1)", NULL);
  assert_conditions(GROWS, "on m: ping(t == l) { d := m.v }", "(#0.t >= var3)", NULL);
  assert_conditions(GROWS, "on ping(v, t) if t > l or t == l and d == none { d := none }",
                    "((#2 > var3) or (#2 >= var3))", NULL);
  assert_conditions(GROWS, "on ping(v, t) if t > l or d != none { d := none }", "", NULL);
  /* what may fail comes first: there would be an error */
  assert_conditions(GROWS, "on ping(v, t) if 6 / l > 2 and t > l { b := true }", "", NULL);
  assert_conditions(GROWS, "on ping(v, t) if t > l and 6 / l > 2 { b := true }", "(#2 > var3)", NULL);
  assert_conditions(GROWS, "on Q: 6 / l of ping(t > l) { b := true }", "", NULL);
  /* of a quorum, only what all have in common */
  assert_conditions(GROWS, "on Q: 2 of ping(t == l) if not b { b := true }", "(#0.t >= var3); not(var1)",
                    "(var1 != true)");
  assert_conditions(GROWS, "on Q: 2 of ping(t) same t if t >= l { b := true }", "(#1 >= var3)", "(var1 != true)");
  assert_conditions(GROWS, "on Q: 2 of ping if exists m in Q: m.t > l { b := true }", "", "(var1 != true)");
  /* names that a guard binds are not the message's */
  assert_conditions(GROWS, "on ping(v, t) if not b and exists u in Level: u > l { h := u }", "not(var1)", NULL);
  assert_conditions(GROWS, "when not b { d := none }", "not(var1)", NULL);
}

static void test_effects(void **state) {
  (void)state;
  assert_conditions(GROWS, "on ping {}", "", "");
  assert_conditions(GROWS, "on ping(v, t) { if t > l { l := t } }", "", "(#2 > var3)");
  assert_conditions(GROWS, "on ping(v, t) { if t > l and x == v { send pong to all } }", "",
                    "((#2 > var3) and (var0 == #1))");
  assert_conditions(GROWS, "on ping(v, t) { if t > l { b := true } else if not b { d := v } }", "",
                    "(#2 > var3); not(var1)");
  assert_conditions(GROWS, "on ping(v, t) { if t > l {} else { d := v } }", "", NULL);
  assert_conditions(GROWS, "on ping(v) { seen := seen | {v} }", "", "not(({#1} <= var5))");
  assert_conditions(GROWS, "on ping(v, t) { l := max(l, t) }", "", "(#2 > var3)");
  assert_conditions(GROWS, "on ping(v, t) { if d == none { b := true } }", "", "(var2 == none)");
  assert_conditions("on pong { d := none }", "on ping { if d == none { b := true } }", "", "(var1 != true)");
  assert_conditions(GROWS, "on ping(v) { d := v }", "", NULL);
  assert_conditions(GROWS, "on ping { send pong to all }", "", NULL);
  assert_conditions(GROWS, "on ping { halt }", "", NULL);
  assert_conditions(GROWS, "on ping once {}", "", NULL);
  assert_conditions(GROWS, "step one on ping {}", "", NULL);
  assert_conditions(GROWS, "on ping if 6 / l > 2 {}", "", NULL); /* it may fail */
  assert_conditions(GROWS, "on ping { let u = 6 / l }", "", NULL);
  assert_conditions(GROWS, "on ping { if 6 / l > 2 {} }", "", NULL);
  assert_conditions(GROWS, "on ping(v, t) { let u = t  if u > l { l := u } }", "", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_constants),        cmocka_unit_test(test_truth),
      cmocka_unit_test(test_numbers),          cmocka_unit_test(test_labels),
      cmocka_unit_test(test_options_and_sets), cmocka_unit_test(test_parts),
      cmocka_unit_test(test_shared),           cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_points),           cmocka_unit_test(test_vetoes),
      cmocka_unit_test(test_effects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
