/* Licences: small models with one construct each that grants or forbids a reduction, and the place
 * that is blamed. */
#include "analysis/licence.h"
#include "lang/typecheck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct licensed {
  struct arena arena;
  struct model *model;
  struct licences *licences;
};

/* All properties of the first environment are checked together. */
static struct licensed license(const char *text, const char *requested) {
  struct licensed k = {0};
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  struct param_binding n = {"n", 3};
  struct text out = {0};
  arena_init(&k.arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &k.arena, &diags);
  k.model = diags.errors ? NULL : model_typecheck(file, &source, &n, 1, false, &diags);
  if (!k.model) {
    diags_print(&diags, false, &out);
    print_error("%s\n%s\n", text, text_or_empty(&out));
  }
  diags_release(&diags);
  assert_non_null(k.model);
  uint32_t *all = arena_array(&k.arena, k.model->nproperties + 1, sizeof *all);
  for (uint32_t i = 0; i < k.model->nproperties; i++)
    all[i] = i;
  struct query *q = arena_alloc(&k.arena, sizeof *q);
  *q = (struct query){.environment = 0, .properties = all, .nproperties = k.model->nproperties};
  struct reduction_request w;
  assert_true(reduction_request_parse(requested, &w, &out));
  k.licences = licences_grant(k.model, q, &w, &k.arena);
  text_release(&out);
  for (int i = 0; i < REDUCTIONS; i++)
    assert_non_null(k.licences->of[i].reason);
  return k;
}

static void release(struct licensed *k) {
  model_free(k->model);
  arena_release(&k->arena);
}

static const char *blamed(struct licensed *k, struct span at) {
  return arena_strndup(&k->arena, k->model->source.text + at.from, at.to - at.from);
}

/* at: the text that is blamed, or NULL: granted; reason: part of what is said, or NULL. */
static void assert_licence(const char *text, enum reduction r, const char *at, const char *reason) {
  struct licensed k = license(text, "auto");
  const struct licence *l = &k.licences->of[r];
  bool as_expected = l->granted == (at == NULL) && (!at || strcmp(blamed(&k, l->at), at) == 0) &&
                     (!reason || strstr(l->reason, reason));
  if (!as_expected)
    print_error("%s\n%s: %s, '%s' blames '%s'\n", text, reduction_name(r), l->granted ? "granted" : "refused",
                l->reason, blamed(&k, l->at));
  assert_true(as_expected);
  assert_true(!l->applied || l->granted);
  release(&k);
}

#define granted(text, r) assert_licence(text, REDUCE_##r, NULL, NULL)
#define refused(text, r, at) assert_licence(text, REDUCE_##r, at, NULL)

/* A process with an input x of type Value and a round; the test puts in the rest. */
#define ALGORITHM(types, vars, send, update, rest)                                                                     \
  "algorithm A\nparam n where n >= 1\ntype Value = 1..3\n" types "process P[n] {\n"                                    \
  "  input x: Value\n  var d: Value? = none\n" vars "  round {\n    " send "\n    update {\n"                          \
  "      " update "\n    }\n  }\n}\n" rest
#define FREE "environment free {}\nsafety some: forall p, q in P, v in p.d, w in q.d: v == w\n"
#define UPDATE(update) ALGORITHM("", "", "send x to all", update, FREE)
#define VARS(vars, update) ALGORITHM("", vars, "send x to all", update, FREE)
#define WITH(update, rest) ALGORITHM("", "", "send x to all", update, rest)
#define TAKE "if exists v in Value: {m for m in received} == {v} { d := v }"
#define SAFETY(text) WITH(TAKE, "environment free {}\nsafety s: " text "\n")
#define ENVIRONMENT(text) WITH(TAKE, "environment e { " text " }\nsafety s: forall p in P: p.d == none\n")

/* --- the algorithms of the papers --- */

#define ONE_THIRD(choice)                                                                                              \
  UPDATE("if 3 * |received| > 2 * n {\n        x := " choice                                                           \
         "\n        if exists v in Value: 3 * count(m in received: m == v) > 2 * n { d := v }\n  "                     \
         "    }")

static void test_one_third_rule(void **state) {
  (void)state;
  const char *text = ONE_THIRD("min(mostfrequent(received))");
  assert_licence(text, REDUCE_PARTITION, "min(mostfrequent(received))",
                 "'min' orders the values of Value; 'order' applies instead");
  granted(text, ORDER);
  granted(text, SYMMETRY);
  struct licensed k = license(text, "auto");
  assert_true(k.licences->anonymous);
  assert_int_equal(k.licences->identity[0], IDENTITY_ANONYMOUS);
  assert_string_equal(k.licences->value_type->name, "Value");
  assert_true(k.licences->of[REDUCE_ORDER].applied && !k.licences->of[REDUCE_PARTITION].applied);
  assert_true(k.licences->of[REDUCE_MERGING].applied && k.licences->of[REDUCE_MESSAGE_ORDER].applied);
  assert_false(k.licences->of[REDUCE_ROUND_RANK].applied || k.licences->unlicensed);
  release(&k);
}

static void test_unordered_variant(void **state) {
  (void)state;
  const char *text = ONE_THIRD("pick(mostfrequent(received))");
  granted(text, PARTITION);
  struct licensed k = license(text, "auto");
  assert_true(k.licences->of[REDUCE_PARTITION].applied && !k.licences->of[REDUCE_ORDER].applied);
  release(&k);
}

static const char *const uniform_voting =
    "algorithm UniformVoting\nparam n where n >= 2\nparam k = n where k >= 1\ntype Value = 1..k\n"
    "process P[n] {\n  input x: Value\n  var vote: Value? = none\n  var decided: Value? = none\n  "
    "phase {\n"
    "    round propose {\n      send x to all\n"
    "      update { if exists v in Value: {m for m in received} == {v} { vote := v }  x := "
    "min(received) }\n    }\n"
    "    round confirm {\n      send (x, vote) to all\n      update {\n"
    "        if exists m in received, v in m.vote { x := v } else { x := min(m.x for m in "
    "received) }\n"
    "        if exists v in Value: {m.vote for m in received} == {v} { decided := v }\n        "
    "vote := none\n"
    "      }\n    }\n  }\n}\nenvironment nosplit { every round: forall p, q in P: HO[p] & HO[q] != "
    "{} }\n"
    "safety agreement: forall p, q in P, v in p.decided, w in q.decided: v == w\n"
    "safety validity: forall v in Value: (forall p in P: initial(p.x) == v) => forall q in P, w in "
    "q.decided: w == v\n"
    "safety integrity: forall p in P, v in p.decided: exists q in P: v == initial(q.x)\n"
    "cover decision: forall p in P: p.decided != none\n";

static void test_uniform_voting(void **state) {
  (void)state;
  struct licensed k = license(uniform_voting, "auto");
  const struct licences *l = k.licences;
  assert_true(l->anonymous && l->of[REDUCE_SYMMETRY].applied);
  assert_true(l->of[REDUCE_ORDER].applied && !l->of[REDUCE_PARTITION].granted);
  assert_string_equal(blamed(&k, l->of[REDUCE_PARTITION].at), "min(received)");
  assert_true(l->of[REDUCE_MERGING].applied);
  assert_false(l->of[REDUCE_ROUND_RANK].applied);
  release(&k);
}

#define LAST_VOTING(choice, adopt, extra)                                                                              \
  "algorithm LastVoting\nparam n where n >= 1\ntype Value = 1..3\nprocess P[n] {\n  input x: "                         \
  "Value\n"                                                                                                            \
  "  oracle c: P each phase\n  var ts: round = 0\n  var vote: Value? = none\n  var ready: bool = "                     \
  "false\n"                                                                                                            \
  "  var decided: Value? = none\n  phase ph {\n    round collect {\n      send (x, ts) to c\n"                         \
  "      update {\n        if me == c and 2 * |received| > n {\n"                                                      \
  "          let newest = max(m.ts for m in received)\n          vote := " choice                                      \
  "\n        }\n      }\n    }\n    round propose {\n"                                                                 \
  "      send v to all when me == c and exists v in vote\n"                                                            \
  "      update { if exists v in from(c) { x := v  ts := " adopt " } }\n    }\n"                                       \
  "    round acknowledge {\n      send true to c when ts == ph\n"                                                      \
  "      update { ready := me == c and 2 * |received| > n }\n    }\n    round decide {\n"                              \
  "      send v to all when ready and exists v in vote\n      update {\n"                                              \
  "        if exists v in from(c) { decided := v }\n        vote := none\n        ready := "                           \
  "false\n"                                                                                                            \
  "      }\n    }\n  }\n}\n" extra

#define LAST_PROPERTIES                                                                                                \
  "safety agreement: forall p, q in P, v in p.decided, w in q.decided: v == w\n"                                       \
  "safety validity: forall v in Value: (forall p in P: initial(p.x) == v) => forall q in P, w in "                     \
  "q.decided: w == v\n"
#define NEWEST "pick(m.x for m in received if m.ts == newest)"

static void test_last_voting(void **state) {
  (void)state;
  struct licensed k =
      license(LAST_VOTING(NEWEST, "ph",
                          "environment free {}\n" LAST_PROPERTIES
                          "safety steps: step forall p, q in P: p.decided != none => q.decided' == q.decided\n"
                          "cover rivals: exists p, q in P: p.x != q.x and p.ts > 0 and q.ts > 0\n"),
              "auto");
  const struct licences *l = k.licences;
  assert_int_equal(l->identity[0], IDENTITY_EQUALITY);
  assert_false(l->anonymous);
  assert_true(l->of[REDUCE_SYMMETRY].applied && l->of[REDUCE_ROUND_RANK].applied);
  assert_true(l->of[REDUCE_PARTITION].applied && l->of[REDUCE_DEAD_VARIABLES].applied);
  assert_false(l->of[REDUCE_MERGING].granted);
  assert_non_null(strstr(l->of[REDUCE_MERGING].reason, "'steps' speaks of steps of several processes"));
  release(&k);
}

static void test_phase_king(void **state) {
  (void)state;
  const char *text = "algorithm PhaseKing\nparam n where n >= 1\ntype Value = 0..1\nprocess P[n] {\n  input x: "
                     "Value\n"
                     "  var maj: Value = 0\n  var decided: Value? = none\n  repeat 2 as k {\n    round vote {\n   "
                     "   send x to all\n"
                     "      update { maj := min(mostfrequent(received)) otherwise 0 }\n    }\n    round king {\n"
                     "      send maj to all when me == P(k)\n      update { x := from(P(k)) otherwise maj }\n    "
                     "}\n  }\n"
                     "  finally { decided := x }\n}\nenvironment byzantine { at most 1 processes are byzantine; "
                     "synchronous }\n"
                     "safety agreement: forall p, q in correct, v in p.decided, w in q.decided: v == w\n";
  refused(text, SYMMETRY, "P(k)");
  refused(text, PARTITION, "0");
  refused(text, ORDER, "0");
  granted(text, ROUND_RANK);
  struct licensed k = license(text, "auto");
  assert_int_equal(k.licences->identity[0], IDENTITY_NUMBERED);
  release(&k);
}

/* --- process symmetry --- */

static enum identity_use identity_of(const char *text) {
  struct licensed k = license(text, "auto");
  enum identity_use use = k.licences->identity[0];
  assert_int_equal(k.licences->anonymous, use == IDENTITY_ANONYMOUS);
  assert_int_equal(k.licences->of[REDUCE_SYMMETRY].granted, use != IDENTITY_NUMBERED);
  release(&k);
  return use;
}

static void test_anonymous(void **state) {
  (void)state;
  static const char *const texts[] = {
      UPDATE("d := x"),
      UPDATE("if |heard| > 1 { d := x }"),
      UPDATE("if 2 * |received| > |P| { d := x }"),
      VARS("  var id: 1..3 = number(me)\n", "if id == 1 { d := x }"), /* initial states need not be symmetric */
      VARS("  input id: 1..n = number(me)\n", "if id == 1 { d := x }"),
      VARS("  input id: 1..n distinct\n", "if id == 1 { d := x }"),
      ENVIRONMENT("every round: forall p, q in P: HO[p] & HO[q] != {}"),
      ENVIRONMENT("every round: exists S in subsets(P): forall p in P: HO[p] == S and p in HO[p]"),
      ENVIRONMENT("every round: forall p in P: 2 * |HO[p]| > n; at most 1 processes crash"),
      ENVIRONMENT("at most 1 processes are byzantine; synchronous"),
      SAFETY("forall p, q in P: p.x == q.x => p == q"),
      SAFETY("|correct| >= 1 and forall p in correct: p.x >= 1"),
      WITH(TAKE, "environment e { at most 1 processes are byzantine }\n"
                 "safety s: forall p in correct: exists q in correct: p.x == q.x\n"),
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_int_equal(identity_of(texts[i]), IDENTITY_ANONYMOUS);
}

static void test_equality(void **state) {
  (void)state;
  static const char *const texts[] = {
      VARS("  var f: bool = false\n", "f := from(me) == x"),
      VARS("  var f: bool = false\n", "f := me in heard"),
      VARS("  var s: set of P = {}\n", "s := heard"),
      VARS("  var l: P? = none\n", "if exists m in received { l := sender(m) }"),
      VARS("  var l: P? = none\n", "if exists q in P: from(q) == x { l := q }"),
      VARS("  var l: P? = none\n", "l := pick(heard) otherwise me"),
      VARS("  var w: [P] bool = [q in P: false]\n", "w := [q in P: q in heard]"),
      VARS("  var q: P = P(1)\n", "d := from(q)"), /* a first value again */
      ALGORITHM("", "", "send x to others", "d := pick(received) otherwise x", FREE),
      ALGORITHM("", "  oracle c: P each round\n", "send x to c", "d := pick(received) otherwise x", FREE),
      ALGORITHM("input boss: P\n", "", "send x to all", "d := from(boss)", FREE),
      ALGORITHM("input boss: P\n", "", "send x to all", "d := x", FREE),
      ALGORITHM("", "", "send (x, me) to all", "d := x", FREE),
      ALGORITHM("", "  def mine = me\n", "send x to mine", "d := x", FREE),
      ALGORITHM("", "  oracle c: P each round\n", "send x to c", TAKE,
                "environment e { every round: forall p, q in P: c[p] == c[q] }\nsafety s: true\n"),
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    enum identity_use use = identity_of(texts[i]);
    if (use != IDENTITY_EQUALITY)
      print_error("%s\n", texts[i]);
    assert_int_equal(use, IDENTITY_EQUALITY);
  }
}

static void test_numbered(void **state) {
  (void)state;
  refused(VARS("  var f: bool = false\n", "f := number(me) == 1"), SYMMETRY, "number(me)");
  refused(ALGORITHM("", "", "send x to P(1)", TAKE, FREE), SYMMETRY, "P(1)");
  refused(ALGORITHM("", "  def first_one = P(1)\n", "send x to first_one", TAKE, FREE), SYMMETRY, "P(1)");
  refused(ALGORITHM("", "  var i: 1..3 = 1\n", "send x to P(i)", TAKE, FREE), SYMMETRY, "P(i)");
  refused(ALGORITHM("", "", "send number(me) to all", "d := pick(received) otherwise x", FREE), SYMMETRY, "number(me)");
  refused(LAST_VOTING(NEWEST, "ph",
                      "environment e { every round: forall p in P: HO[p] == P }\n"
                      "safety s: forall p in P: p.ts > 0 => P(1) in correct\n"),
          SYMMETRY, "P(1)");
  refused(ENVIRONMENT("every round: forall p in P: P(1) in HO[p]"), SYMMETRY, "P(1)");
  /* an oracle out of force names the first process: whoever is heard may be idle */
  refused(ALGORITHM("", "  oracle c: P each round\n", "send x to c", TAKE,
                    "environment e { every round: forall p in P, q in HO[p]: c[q] == c[p] "
                    "}\nsafety s: true\n"),
          SYMMETRY, "c");
  /* the first that satisfies it ends the search for one that fails */
  refused(SAFETY("exists p in P: 6 / count(v in p.d: v == 1) == 6"), SYMMETRY,
          "exists p in P: 6 / count(v in p.d: v == 1) == 6");
  refused(VARS("  var f: bool = false\n", "f := exists m in received: 6 / (m - 1) == 3"), SYMMETRY,
          "exists m in received: 6 / (m - 1) == 3");
  refused(WITH(TAKE, "environment e { at most 1 processes are byzantine }\n"
                     "safety s: exists p in faulty: p.x == 1\n"),
          SYMMETRY, "exists p in faulty: p.x == 1");
  granted(WITH(TAKE, FREE "live l: forall p in P: eventually p.d != none\n"), SYMMETRY);
  granted(WITH(TAKE, "environment e { eventually always for some q in P: forall p in P: q in HO[p] }\n"
                     "live l: forall p in P: eventually p.d != none\n"),
          SYMMETRY);
  refused(WITH(TAKE, FREE "live l: eventually P(1).d != none\n"), SYMMETRY, "P(1)");
}

static void test_roles(void **state) {
  (void)state;
#define ROLES(to, update)                                                                                              \
  "algorithm A\nparam n where n >= 1\nprocess S[n] {\n  var got: 0..9 = 0\n  once { round {\n"                         \
  "    update { " update " }\n  } }\n}\nprocess C[2] {\n  input y: 1..3\n  once { round { send y to " to               \
  " } }\n}\nenvironment free {}\nsafety s: forall p in S: p.got == 0\n"
  struct licensed k = license(ROLES("S", "got := count(m in received: m == 1)"), "auto");
  assert_true(k.licences->anonymous && k.licences->of[REDUCE_SYMMETRY].applied);
  release(&k);
  k = license(ROLES("S(1)", "got := count(m in received: m == 1)"), "auto");
  assert_int_equal(k.licences->identity[0], IDENTITY_NUMBERED);
  assert_int_equal(k.licences->identity[1], IDENTITY_ANONYMOUS);
  assert_true(k.licences->of[REDUCE_SYMMETRY].applied); /* for the clients */
  assert_non_null(strstr(k.licences->of[REDUCE_SYMMETRY].reason, "'S(1)'"));
  assert_string_equal(blamed(&k, k.licences->identity_at[0]), "S(1)");
  release(&k);
  k = license(ROLES("S(1)", "got := if C(1) in heard then 1 else 0"), "auto");
  assert_false(k.licences->of[REDUCE_SYMMETRY].granted);
  release(&k);
}

/* --- initial values: equality --- */

static void test_partition_granted(void **state) {
  (void)state;
  static const char *const texts[] = {
      UPDATE(TAKE),
      UPDATE("d := x"),
      UPDATE("if exists v in mostfrequent(received) { x := v }"),
      UPDATE("x := majority(received) otherwise x"),
      UPDATE("if exists v in received: v != x { d := v }"),
      UPDATE("if |{m for m in received}| == 1 { d := x }"),
      UPDATE("if exists v, w in Value: v != w and v in received and w in received { d := v }"),
      UPDATE("if forall v in Value: v in received { d := x }"), /* all of the type: a renaming keeps
                                                                   it */
      VARS("  var seen: set of Value = {x}\n", "seen := seen | {m for m in received}"),
      VARS("  var tally: [Value] 0..n = [v in Value: 0]\n", "tally := [v in Value: count(m in received: m == v)]"),
      VARS("  var tally: [Value] 0..n = [v in Value: 0]\n", "tally[x] := 1"),
      VARS("  var y: Value = x\n", "y := x"),
      VARS("  var i: 0..9 = 0\n", "i := 3  if i == 3 and |received| > 1 { d := x }"),
      VARS("  var m: (a: Value, b: 0..3) = (x, 0)\n", "m := (a: x, b: 1)"),
      VARS("  def same(a: Value, b: Value) = a == b\n", "if exists v in received: same(v, x) { d := v }"),
      ENVIRONMENT("at most 1 processes crash; synchronous"),
      SAFETY("forall p in P, v in p.d: exists q in P: v == initial(q.x)"),
      SAFETY("forall v in Value: (forall p in P: initial(p.x) == v) => forall q in P, w in q.d: w "
             "== v"),
      WITH(TAKE, FREE "live l: forall p in P: eventually p.d != none\n"),
      LAST_VOTING(NEWEST, "ph", "environment free {}\n" LAST_PROPERTIES),
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    granted(texts[i], PARTITION);
}

static void test_partition_refused(void **state) {
  (void)state;
  /* order */
  refused(UPDATE("x := min(received)"), PARTITION, "min(received)");
  refused(UPDATE("if exists v in received: v > x { d := v }"), PARTITION, "v > x");
  refused(UPDATE("x := (max((a: m, b: 1) for m in received)).a"), PARTITION, "max((a: m, b: 1) for m in received)");
  refused(SAFETY("forall p, q in P, v in p.d: v <= q.x"), PARTITION, "v <= q.x");
  refused(VARS("  input y: Value where y < x\n", "d := y"), PARTITION, "y < x");
  refused(VARS("  def smaller(a: Value, b: Value) = a < b\n", "if exists v in received: smaller(v, x) { d := v }"),
          PARTITION, "a < b");
  /* particular values */
  refused(UPDATE("if x == 1 { d := x }"), PARTITION, "1");
  refused(UPDATE("x := 2"), PARTITION, "2");
  refused(UPDATE("if x in {1, 2} { d := x }"), PARTITION, "x in {1, 2}");
  refused(UPDATE("if x == n { d := x }"), PARTITION, "x == n");
  refused(UPDATE("if x in 1..2 { d := x }"), PARTITION, "x in 1..2");
  refused(UPDATE("if exists v in 1..3: v == x { d := x }"), PARTITION, "v == x");
  refused(UPDATE("x := if |received| > 1 then x else 1"), PARTITION, "1");
  refused(VARS("  var maj: Value = 3\n", "maj := x"), PARTITION, "3");
  refused(VARS("  input y: Value where y != 2\n", "d := y"), PARTITION, "2");
  refused(SAFETY("forall p in P: p.d != 1"), PARTITION, "1");
  refused(VARS("  def one: Value = 1\n", "d := one"), PARTITION, "1");
  /* arithmetic and other numbers */
  refused(UPDATE("if (x + 1) mod 2 == 0 { d := x }"), PARTITION, "x + 1");
  refused(UPDATE("if sum(received) > 4 { d := x }"), PARTITION, "sum(received)");
  refused(UPDATE("if |received| == x { d := x }"), PARTITION, "|received| == x");
  refused(VARS("  var y: 0..9 = 0\n", "y := x"), PARTITION, "x");
  refused(VARS("  var y: 1..3 = 1\n", "y := x"), PARTITION, "x");
  refused(VARS("  var y: 1..3 = 1\n", "x := y"), PARTITION, "y");
  refused(VARS("  var y: 1..3? = none\n", "d := y"), PARTITION, "y");
  refused(VARS("  var w: [1..3] bool = [i in 1..3: false]\n", "w[x] := true"), PARTITION, "x");
  refused(VARS("  var s: set of 1..3 = {}\n", "if x in s { d := x }"), PARTITION, "x in s");
  refused(VARS("  def odd(i: 0..9) = i mod 2 == 1\n", "if odd(x) { d := x }"), PARTITION, "odd(x)");
  refused(SAFETY("forall p in P, v in p.d: v mod 2 == 0"), PARTITION, "v mod 2");
  refused(SAFETY("forall p in P: exists q in P: p.x == |q.d|"), PARTITION, "p.x == |q.d|");
  /* the size of the type */
  refused(UPDATE("if count(v in Value: v in received) > 1 { d := x }"), PARTITION, "count(v in Value: v in received)");
  /* no such inputs */
  struct licensed k = license(ALGORITHM("", "", "send x to all", TAKE, FREE), "auto");
  assert_true(k.licences->of[REDUCE_PARTITION].granted);
  release(&k);
  const char *none = "algorithm A\nparam n where n >= 1\ntype Value = 1..3\nprocess P[n] {\n"
                     "  input x: Value = number(me)\n  round { send x to all  update { x := x } }\n}\n"
                     "environment free {}\nsafety s: forall p in P: p.x >= 1\n";
  assert_licence(none, REDUCE_PARTITION, "", "no input of a named type");
}

static void test_made_up(void **state) {
  (void)state;
  refused(UPDATE("x := random(Value)"), PARTITION, "random(Value)");
  refused(UPDATE("x := pick(v for v in Value if v != x) otherwise x"), PARTITION, "pick(v for v in Value if v != x)");
  refused(UPDATE("if exists v in Value: v != x { x := v }"), PARTITION, "v");
  refused(UPDATE("if exists v in Value: v not in received { x := v }"), PARTITION, "v");
  refused(UPDATE("x := pick({v for v in Value}) otherwise x"), PARTITION, "{v for v in Value}");
  refused(ALGORITHM("", "  oracle hint: Value each round\n", "send x to all", "d := hint", FREE), PARTITION, "hint");
  refused(ALGORITHM("", "", "send v to all when exists v in Value", TAKE, FREE), PARTITION, "v");
  refused(VARS("  var y: Value = random(Value)\n", "d := y"), PARTITION, "random(Value)");
  assert_licence(ENVIRONMENT("at most 1 processes are byzantine"), REDUCE_PARTITION,
                 "at most 1 processes are byzantine", "forged messages");
  refused(ENVIRONMENT("at most 1 messages are corrupted each receiver"), PARTITION,
          "at most 1 messages are corrupted each receiver");
  granted(ENVIRONMENT("at most 0 processes are byzantine"), PARTITION);
  /* forged messages that hold no values are harmless */
  granted(ALGORITHM("", "", "send true to all", "if |received| > 1 { d := x }",
                    "environment e { at most 1 processes are byzantine }\nsafety s: true\n"),
          PARTITION);
  /* a witness that occurs is not made up */
  granted(UPDATE("x := pick(v for v in Value if v in received) otherwise x"), PARTITION);
  refused(ALGORITHM("input all_of: Value\n", "", "send x to all", TAKE, FREE), PARTITION, "all_of");
  refused(VARS("  input y: Value\n", "if x == y { d := x }"), PARTITION, "y");
  refused(VARS("  input y: Value\n", "if x == y { d := x }"), ORDER, "y");
  refused(VARS("  input s: set of Value\n", "if x in s { d := x }"), PARTITION, "s");
}

/* --- initial values: order --- */

static void test_order(void **state) {
  (void)state;
  static const char *const texts[] = {
      UPDATE("x := min(received) otherwise x"),
      UPDATE("if exists v in received: v > x { d := v }"),
      UPDATE("if exists v in Value: 2 * count(m in received: m == v) > n { d := v }"),
      UPDATE("if exists v in Value: count(m in received: m == v and m >= x) >= 1 { d := v }"),
      UPDATE("if exists v in Value: not (forall m in received: m != v) { d := v }"),
      UPDATE("if exists v in Value: |received| > 1 and {v} == {m for m in received} { d := min(v, "
             "x) }"),
      UPDATE("if exists v in Value: {v} <= {m for m in received} { d := v }"),
      UPDATE("x := max(v for v in Value if v in received) otherwise x"),
      VARS("  var seen: set of Value = {x}\n", "seen := seen | {m for m in received}  x := min(seen)"),
      VARS("  def often(v: Value, s: set of Value) = v in s\n",
           "if exists v in Value: often(v, {m for m in received}) { d := max(v, x) }"),
      SAFETY("forall v in Value: (forall p in P: initial(p.x) == v) => forall q in P, w in q.d: w "
             ">= v"),
      SAFETY("forall v in Value: (forall p in correct: p.x == v) => forall q in correct, w in q.d: "
             "w >= v"),
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    granted(texts[i], ORDER);
  /* one step beyond what occurs */
  refused(UPDATE("if exists v in Value: v > x { d := x }"), ORDER, "exists v in Value: v > x");
  refused(UPDATE("if forall v in Value: v <= x { d := x }"), ORDER, "forall v in Value: v <= x");
  refused(UPDATE("if exists v in Value: count(m in received: m == v) >= 0 { d := x }"), ORDER,
          "exists v in Value: count(m in received: m == v) >= 0");
  refused(UPDATE("if exists v in Value: 2 * count(m in received: m != v) > n { d := v }"), ORDER, "v");
  refused(UPDATE("if exists v, w in Value: v == w and v > x { d := x }"), ORDER,
          "exists v, w in Value: v == w and v > x");
  refused(UPDATE("x := max(Value)"), ORDER, "max(Value)");
  refused(VARS("  var w: [Value] bool = [v in Value: false]\n", "w[min(received)] := true"), ORDER,
          "[v in Value: false]");
  refused(SAFETY("forall v in Value: exists p in P: p.x <= v"), ORDER, "forall v in Value: exists p in P: p.x <= v");
  refused(SAFETY("forall v in Value: (forall p in faulty: p.x == v) => forall q in P, w in q.d: w >= v"), ORDER,
          "forall v in Value: (forall p in faulty: p.x == v) => forall q in P, w in q.d: w >= v");
  refused(UPDATE("if x == 1 { d := min(received) }"), ORDER, "1");
  refused(UPDATE("x := random(Value)"), ORDER, "random(Value)");
  refused(ENVIRONMENT("at most 1 processes are byzantine"), ORDER, "at most 1 processes are byzantine");
  /* what may fail for a value that does not occur fails earlier or later */
  refused(UPDATE("if exists v in Value: v in received and 6 / count(m in received: m == v) > 1 { d "
                 ":= v }"),
          ORDER, "v");
}

static void test_which_type(void **state) {
  (void)state;
  struct licensed k = license(ALGORITHM("type Colour = {red, green, blue, white}\n", "  input hue: Colour\n",
                                        "send hue to all", "if hue in received { d := x }", FREE),
                              "auto");
  assert_string_equal(k.licences->value_type->name, "Colour"); /* it has more */
  assert_true(k.licences->of[REDUCE_PARTITION].applied);
  release(&k);
  refused(ALGORITHM("type Colour = {red, green, blue, white}\n", "  input hue: Colour\n", "send hue to all",
                    "if red in received { d := x }", FREE),
          PARTITION, "red");
  refused(ALGORITHM("type Colour = {red, green, blue, white}\n", "  input hue: Colour\n", "send hue to all",
                    "if min(received) == hue { d := x }", FREE),
          PARTITION, "min(received)");
}

/* --- round numbers --- */

static void test_round_rank(void **state) {
  (void)state;
  granted(LAST_VOTING(NEWEST, "ph", "environment free {}\nsafety s: forall p in P: p.ts > 0 => p.x == p.x\n"),
          ROUND_RANK);
  granted(LAST_VOTING(NEWEST, "min(ts, ph)", "environment free {}\nsafety s: true\n"), ROUND_RANK);
  refused(LAST_VOTING(NEWEST, "ph + 1", "environment free {}\nsafety s: true\n"), ROUND_RANK, "ph + 1");
  refused(LAST_VOTING(NEWEST, "5", "environment free {}\nsafety s: true\n"), ROUND_RANK, "5");
  refused(LAST_VOTING(NEWEST, "n", "environment free {}\nsafety s: true\n"), ROUND_RANK, "n");
  refused(LAST_VOTING("pick(m.x for m in received if m.ts mod 2 == 1)", "ph", "environment free {}\nsafety s: true\n"),
          ROUND_RANK, "m.ts mod 2");
  refused(LAST_VOTING("pick(m.x for m in received if P(m.ts) == me)", "ph", "environment free {}\nsafety s: true\n"),
          ROUND_RANK, "P(m.ts)");
  refused(LAST_VOTING(NEWEST, "ph", "environment free {}\nsafety s: forall p in P: p.ts < 3\n"), ROUND_RANK, "3");
  /* a residue weighs more than a sum, wherever it stands */
  assert_licence(
      LAST_VOTING("pick(m.x for m in received if P(m.ts) == me)", "ph + 1", "environment free {}\nsafety s: true\n"),
      REDUCE_ROUND_RANK, "P(m.ts)", "residue");
#define ROTATING(vars, update)                                                                                         \
  "algorithm A\nparam n where n >= 1\nprocess P[n] {\n  input x: 1..3\n" vars                                          \
  "  phase ph { round { send x to P(ph)  update { " update " } } }\n}\nenvironment free {}\nsafety s: true\n"
  granted(ROTATING("", "x := x"), ROUND_RANK); /* of the phase number the residue is kept */
  granted(ROTATING("  var r: round = 0\n", "if ph mod 2 == 1 and me == P(ph) { r := ph }"), ROUND_RANK);
  refused(ROTATING("  var r: round = 0\n", "if P(r) == me { r := ph }"), ROUND_RANK, "P(r)");
  refused(ROTATING("  var r: round = 0\n", "if ph mod 1000 == 1 { r := ph }"), ROUND_RANK, "ph mod 1000");
  struct licensed k = license(ONE_THIRD("min(mostfrequent(received))"), "auto");
  assert_true(k.licences->of[REDUCE_ROUND_RANK].granted && !k.licences->of[REDUCE_ROUND_RANK].useful);
  release(&k);
#define STAMPED(init, update)                                                                                          \
  "algorithm A\nparam n where n >= 1\nprocess P[n] {\n  input x: 1..3\n  var r: round = " init                         \
  "\n  var s: set of round = {}\n  phase ph { round { send r to all  update { " update                                 \
  " } } }\n}\nenvironment free {}\nsafety s: forall p in P: p.r >= 0\n"
  granted(STAMPED("0", "r := max(received) otherwise ph"), ROUND_RANK);
  granted(STAMPED("1", "s := s | {ph}  r := ph"), ROUND_RANK);
  refused(STAMPED("2", "r := ph"), ROUND_RANK, "2");
  refused(STAMPED("0", "if r == 1 { r := ph }"), ROUND_RANK, "1");
  refused(STAMPED("0", "s := {ph, 4}"), ROUND_RANK, "4");
}

/* --- the others, and requested --- */

static void test_merging_and_dead(void **state) {
  (void)state;
  const char *one = WITH(TAKE, "environment free {}\nsafety s: step forall p in P: p.d != none => p.d' == p.d\n");
  granted(one, MERGING);
  const char *two = WITH(TAKE, "environment free {}\nsafety s: step forall p, q in P: p.d != none => q.d' == q.d\n");
  refused(two, MERGING, "s");
  const char *live = WITH(TAKE, "environment free {}\nlive l: forall p in P: eventually p.d != none\n");
  refused(live, MERGING, "l");
  granted(WITH(TAKE, "environment free {}\ncover c: exists p in P: p.d != none\n"), MERGING);
  struct licensed k = license(WITH("d := x", "environment free {}\nsafety s: forall p in P: p.x >= 1\n"), "auto");
  assert_true(k.licences->of[REDUCE_DEAD_VARIABLES].applied); /* d is never read */
  release(&k);
  k = license(WITH("d := x", FREE), "auto");
  assert_true(k.licences->of[REDUCE_DEAD_VARIABLES].granted && !k.licences->of[REDUCE_DEAD_VARIABLES].applied);
  assert_false(k.licences->of[REDUCE_MESSAGE_ORDER].applied); /* nobody reads what is received */
  release(&k);
}

static void test_wishes(void **state) {
  (void)state;
  struct reduction_request w;
  struct text out = {0};
  assert_true(reduction_request_parse("auto", &w, &out));
  for (int i = 0; i < REDUCTIONS; i++)
    assert_int_equal(w.reduce[i], REQUEST_AUTO);
  assert_true(reduction_request_parse("none", &w, &out));
  for (int i = 0; i < REDUCTIONS; i++)
    assert_int_equal(w.reduce[i], REQUEST_OFF);
  assert_true(reduction_request_parse("symmetry, partition!", &w, &out));
  assert_int_equal(w.reduce[REDUCE_SYMMETRY], REQUEST_ON);
  assert_int_equal(w.reduce[REDUCE_PARTITION], REQUEST_FORCED);
  assert_int_equal(w.reduce[REDUCE_ORDER], REQUEST_OFF);
  assert_true(reduction_request_parse("partition!,auto", &w, &out));
  assert_int_equal(w.reduce[REDUCE_SYMMETRY], REQUEST_AUTO);
  assert_int_equal(w.reduce[REDUCE_PARTITION], REQUEST_FORCED);
  assert_int_equal(out.n, 0);
  static const char *const wrong[] = {"symetry", "", "symmetry,", "auto,none", "zzz", "!", ",", "none!", "partition!!"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_false(reduction_request_parse(wrong[i], &w, &out));
    assert_true(out.n > 0);
    if (i == 0)
      assert_string_equal(out.at, "unknown reduction 'symetry': did you mean 'symmetry'?");
    text_release(&out);
  }
}

static void test_applied(void **state) {
  (void)state;
  const char *text = ONE_THIRD("min(mostfrequent(received))");
  struct licensed k = license(text, "none");
  for (int i = 0; i < REDUCTIONS; i++)
    assert_false(k.licences->of[i].applied || k.licences->of[i].forced);
  release(&k);
  k = license(text, "partition,symmetry");
  assert_true(k.licences->of[REDUCE_SYMMETRY].applied && !k.licences->of[REDUCE_ORDER].applied);
  assert_false(k.licences->of[REDUCE_PARTITION].applied || k.licences->unlicensed);
  assert_non_null(strstr(k.licences->of[REDUCE_PARTITION].reason, "orders the values"));
  release(&k);
  k = license(text, "partition!");
  assert_true(k.licences->of[REDUCE_PARTITION].applied && k.licences->of[REDUCE_PARTITION].forced);
  assert_true(k.licences->unlicensed);
  assert_non_null(strstr(k.licences->of[REDUCE_PARTITION].reason, "forced, although 'min' orders"));
  release(&k);
  k = license(text, "auto,partition!"); /* the stronger one wins */
  assert_true(k.licences->of[REDUCE_PARTITION].forced && !k.licences->of[REDUCE_ORDER].applied);
  release(&k);
  k = license(text, "order!"); /* granted anyway */
  assert_true(k.licences->of[REDUCE_ORDER].applied && !k.licences->of[REDUCE_ORDER].forced);
  assert_false(k.licences->unlicensed);
  release(&k);
  k = license(UPDATE(TAKE), "order");
  assert_true(k.licences->of[REDUCE_ORDER].applied && !k.licences->of[REDUCE_PARTITION].applied);
  release(&k);
  k = license(UPDATE(TAKE), "order,partition");
  assert_true(!k.licences->of[REDUCE_ORDER].applied && k.licences->of[REDUCE_PARTITION].applied);
  release(&k);
  const char *none = "algorithm A\nparam n where n >= 1\nprocess P[n] {\n  input x: bool\n"
                     "  round { send x to all  update { x := x } }\n}\nenvironment free {}\nsafety s: true\n";
  k = license(none, "partition!"); /* there is nothing to choose */
  assert_false(k.licences->of[REDUCE_PARTITION].applied || k.licences->unlicensed);
  assert_null(k.licences->value_type);
  release(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_third_rule),
      cmocka_unit_test(test_unordered_variant),
      cmocka_unit_test(test_uniform_voting),
      cmocka_unit_test(test_last_voting),
      cmocka_unit_test(test_phase_king),
      cmocka_unit_test(test_anonymous),
      cmocka_unit_test(test_equality),
      cmocka_unit_test(test_numbered),
      cmocka_unit_test(test_roles),
      cmocka_unit_test(test_partition_granted),
      cmocka_unit_test(test_partition_refused),
      cmocka_unit_test(test_made_up),
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_which_type),
      cmocka_unit_test(test_round_rank),
      cmocka_unit_test(test_merging_and_dead),
      cmocka_unit_test(test_wishes),
      cmocka_unit_test(test_applied),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
