/* Licences of models of steps: small models with one construct each that grants or forbids a
 * reduction, and the place that is blamed. */
#include "analysis/licence.h"
#include "analysis/round_window.h"
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
  struct query query;
  struct licences *licences;
};

/* All properties of the first environment are checked together. */
static struct licensed license(const char *text, const char *requested) {
  struct licensed k = {0};
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  struct text out = {0};
  arena_init(&k.arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &k.arena, &diags);
  k.model = diags.errors ? NULL : model_typecheck(file, &source, NULL, 0, true, &diags);
  if (!k.model) {
    diags_print(&diags, false, &out);
    print_error("%s\n%s\n", text, text_or_empty(&out));
  }
  diags_release(&diags);
  assert_non_null(k.model);
  uint32_t *all = arena_array(&k.arena, k.model->nproperties + 1, sizeof *all);
  for (uint32_t i = 0; i < k.model->nproperties; i++)
    all[i] = i;
  k.query = (struct query){.semantics = SEMANTICS_M, .properties = all};
  k.query.nproperties = k.model->nproperties;
  struct reduction_request w;
  assert_true(reduction_request_parse(requested, &w, &out));
  k.licences = licences_grant(k.model, &k.query, &w, &k.arena);
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
  bool as_expected = l->concerns && l->granted == (at == NULL) && (!at || strcmp(blamed(&k, l->at), at) == 0) &&
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

/* Processes that send their input to all, and do something with what comes. */
#define STEPS(declarations, shape, vars, actions, rest)                                                                \
  "algorithm A\nparam n = 3 where n >= 1\ntype Value = 1..3\nmessage ping(v: Value), pong\n" declarations              \
  "process P[n]" shape " {\n  input x: Value\n  var d: Value? = none\n" vars actions "}\n" rest
#define TELL "  start { send ping(x) to all }\n"
#define TAKE "  on ping(v) { d := v }\n"
#define FREE "environment free {}\nsafety some: forall p, q in P, v in p.d, w in q.d: v == w\n"
#define ACTIONS(actions) STEPS("", "", "", TELL actions, FREE)
#define VARS(vars, actions) STEPS("", "", vars, TELL actions, FREE)
#define ENVIRONMENT(clauses)                                                                                           \
  STEPS("", "", "", TELL TAKE,                                                                                         \
        "environment e { " clauses " }\nsafety s: forall p in P: p.d == "                                              \
        "none\n")
#define SAFETY(text) STEPS("", "", "", TELL TAKE, "environment free {}\nsafety s: " text "\n")
#define PROPERTY(text) STEPS("", "", "", TELL TAKE, "environment free {}\n" text "\n")

/* --- what concerns which --- */

static void test_concerns(void **state) {
  (void)state;
  static const enum reduction messages[] = {REDUCE_SYMMETRY,      REDUCE_PARTITION,      REDUCE_ORDER,
                                            REDUCE_MESSAGE_ORDER, REDUCE_DEAD_VARIABLES, REDUCE_VALUES,
                                            REDUCE_LOSS,          REDUCE_DEAD_MESSAGES,  REDUCE_PARTIAL_ORDER};
  struct licensed k = license(ACTIONS(TAKE), "auto");
  unsigned concerned = 0, all = 0;
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
    all |= 1u << messages[i];
  for (int i = 0; i < REDUCTIONS; i++)
    concerned |= (unsigned)k.licences->of[i].concerns << i;
  assert_int_equal(concerned, all);
  release(&k);

  const char *shared = "algorithm A\nparam n = 3\ntype Value = 1..3\nshared r: Value? = none\n"
                       "process P[n] {\n  input x: Value\n  var d: Value? = none\n"
                       "  step swap { if r == none { r := x } }\n  step read { d := r }\n}\n" FREE;
  k = license(shared, "auto");
  assert_false(k.licences->of[REDUCE_LOSS].concerns);
  assert_false(k.licences->of[REDUCE_DEAD_MESSAGES].concerns);
  assert_false(k.licences->of[REDUCE_MESSAGE_ORDER].concerns);
  assert_true(k.licences->of[REDUCE_VALUES].applied && k.licences->of[REDUCE_PARTITION].applied);
  assert_true(k.licences->of[REDUCE_SYMMETRY].applied);
  assert_true(k.licences->of[REDUCE_PARTIAL_ORDER].applied);
  assert_true(k.licences->of[REDUCE_DEAD_VARIABLES].applied);
  release(&k);

  k = license(ACTIONS(TAKE), "merging!,round-rank!,symmetry"); /* nothing to force */
  assert_false(k.licences->unlicensed || k.licences->of[REDUCE_MERGING].applied);
  release(&k);

  const char *rounds = "algorithm A\nprocess P[2] {\n  input x: bool\n"
                       "  round { send x to all  update { x := true } }\n}\nsafety s: true\n";
  k = license(rounds, "auto,values!,partial-order!");
  assert_true(k.licences->of[REDUCE_MERGING].concerns && k.licences->of[REDUCE_ROUND_RANK].concerns);
  assert_false(k.licences->of[REDUCE_VALUES].concerns || k.licences->of[REDUCE_LOSS].concerns);
  assert_false(k.licences->of[REDUCE_DEAD_MESSAGES].concerns);
  assert_false(k.licences->of[REDUCE_PARTIAL_ORDER].concerns || k.licences->unlicensed);
  release(&k);
}

/* --- process symmetry --- */

static enum identity_use identity_of(const char *text) {
  struct licensed k = license(text, "auto");
  enum identity_use use = k.licences->identity[0];
  assert_int_equal(k.licences->of[REDUCE_SYMMETRY].granted, use != IDENTITY_NUMBERED);
  release(&k);
  return use;
}

static void assert_identities(const char *const *texts, size_t n, enum identity_use use) {
  for (size_t i = 0; i < n; i++) {
    enum identity_use found = identity_of(texts[i]);
    if (found != use)
      print_error("%s\n", texts[i]);
    assert_int_equal(found, use);
  }
}
#define identities(texts, use) assert_identities(texts, sizeof texts / sizeof *texts, use)

static void test_anonymous(void **state) {
  (void)state;
  static const char *const texts[] = {
      ACTIONS(TAKE),
      ACTIONS("  on Q: n / 2 + 1 of ping(v) same v { d := v }\n"),
      ACTIONS("  on Q: 2 of ping if |Q| == n { d := x }\n"),
      ACTIONS("  on ping(v) from q { d := v }\n"), /* who it was is not asked */
      VARS("  var id: 1..n = number(me)\n", TAKE), /* initial states need not be symmetric */
      STEPS("shared u: 0..3 = 0\n", "", "", "  step up { if u < 3 { u := u + 1 } }\n", FREE),
      ENVIRONMENT("at most 1 processes crash"),
      ENVIRONMENT("at most 1 processes are byzantine"),
      ENVIRONMENT("at most 1 processes crash and recover"),
      ENVIRONMENT("channels fifo bound 2; at most 1 messages are lost"),
      SAFETY("forall p, q in P: p.x == q.x => p == q"),
      SAFETY("forall p in correct: not at(p, end)"),
      STEPS("", "", "  var id: 1..n = number(me)\n", TELL TAKE,
            "environment e { at most 1 processes crash }\nsafety s: true\n"),
  };
  identities(texts, IDENTITY_ANONYMOUS);
}

static void test_equality(void **state) {
  (void)state;
  static const char *const texts[] = {
      ACTIONS("  on ping from q { send pong to q }\n"),
      ACTIONS("  on ping(v) from q if q != me { d := v }\n"),
      ACTIONS("  on m: ping { send pong to sender(m) }\n"),
      ACTIONS("  on Q: 2 of ping if exists m in Q: sender(m) == me { d := x }\n"),
      ACTIONS("  on ping { send pong to others }\n"),
      ACTIONS("  on ping { send pong to {q for q in P if q != me} }\n"),
      VARS("  var l: P? = none\n", "  on ping from q { l := q }\n"),
      VARS("  var l: P? = none\n", TAKE),
      STEPS("message name(p: P)\n", "", "", TELL TAKE "  on name(p) { halt }\n", FREE),
      STEPS("input boss: P\n", "", "", TELL TAKE, FREE),
      STEPS("shared owner: P? = none\n", "", "", TELL TAKE, FREE),
      STEPS("shared u: [P] bool = [p in P: false]\n", "", "", "  step a { u[me] := true }\n", FREE),
      STEPS("", " graph P - {me}", "", TELL TAKE, FREE),
      STEPS("", " graph P - {me}", "", "  start { send ping(x) to neighbours }\n" TAKE, FREE),
      STEPS("", "", "  var l: P = me\n", TELL TAKE,
            "environment e { at most 1 processes crash and recover }\nsafety s: true\n"),
  };
  identities(texts, IDENTITY_EQUALITY);
}

static void test_ring(void **state) {
  (void)state;
  static const char *const texts[] = {
      STEPS("", " ring", "", "  start { send ping(x) to next }\n" TAKE, FREE),
      STEPS("", " ring", "  var l: P? = none\n", "  on ping(v) from q { l := q }\n", FREE),
      STEPS("", " ring", "", TAKE, FREE),
      STEPS("", " ring", "", "  start { send ping(x) to next }\n" TAKE,
            "environment e { at most 1 processes are byzantine }\nsafety s: true\n"),
  };
  identities(texts, IDENTITY_RING);
  assert_licence(texts[0], REDUCE_SYMMETRY, NULL, "the ring of P can be turned");
  refused(STEPS("", " ring", "  var i: 1..n = 1\n", "  start { i := number(next) }\n" TAKE, FREE), SYMMETRY,
          "number(next)");
  /* rounds have no rotations */
  const char *rounds = "algorithm A\nparam n = 3\nprocess P[n] ring {\n  input x: bool\n"
                       "  round { send x to next  update { x := true } }\n}\nsafety s: true\n";
  struct licensed k = license(rounds, "auto");
  assert_int_equal(k.licences->identity[0], IDENTITY_NUMBERED);
  release(&k);
}

static void test_numbered(void **state) {
  (void)state;
  refused(ACTIONS("  on ping(v) if number(me) == 1 { d := v }\n"), SYMMETRY, "number(me)");
  refused(ACTIONS("  on ping { send pong to P(1) }\n"), SYMMETRY, "P(1)");
  refused(ACTIONS("  on ping from q { if q == P(1) { d := x } }\n"), SYMMETRY, "P(1)");
  refused(ACTIONS("  on Q: number(me) of ping { d := x }\n"), SYMMETRY, "number(me)");
  refused(STEPS("message mine(i: 1..n)\n", "", "", TELL "  on mine(i == number(me)) { d := x }\n", FREE), SYMMETRY,
          "number(me)");
  refused(STEPS("", " graph {P(number(me) + 1)}", "", TELL TAKE, FREE), SYMMETRY, "P(number(me) + 1)");
  refused(VARS("  def chief = number(me) == 1\n", TAKE "  when chief once { d := x }\n"), SYMMETRY, "number(me)");
  refused(SAFETY("P(1) in correct"), SYMMETRY, "P(1)");
  refused(STEPS("shared turn: P = P(1)\n", "", "", "  step a { turn := P(1) }\n", FREE), SYMMETRY, "P(1)");
  /* who recovers computes first values again */
  refused(STEPS("", "", "  var id: 1..n = number(me)\n", TELL TAKE,
                "environment e { at most 1 processes crash and recover }\nsafety s: true\n"),
          SYMMETRY, "number(me)");
  granted(STEPS("", "", "  stable id: 1..n = number(me)\n", TELL TAKE,
                "environment e { at most 1 processes crash and recover }\nsafety s: true\n"),
          SYMMETRY);
  granted(STEPS("", "", "  var id: 1..n = number(me)\n", TELL TAKE,
                "environment e { at most 0 processes crash and recover }\nsafety s: true\n"),
          SYMMETRY);
  granted(PROPERTY("live l: forall p in P: eventually p.d != none"), SYMMETRY);
  refused(
      STEPS("", "", "", TELL TAKE, "environment e { fair processes }\nlive l: forall p in P: eventually p.d != none\n"),
      SYMMETRY, "fair processes");
  refused(STEPS("", "", "", TELL TAKE, "environment e { fair }\nlive l: forall p in P: eventually p.d != none\n"),
          VALUES, "fair");
}

static void test_roles(void **state) {
  (void)state;
  struct licensed k =
      license("algorithm A\nmessage ask(i: 1..2), answer\nprocess Client[2] {\n  var got: bool = false\n"
              "  start { send ask(number(me)) to Server }\n  on answer { got := true }\n}\n"
              "process Server[3] {\n  on ask from c { send answer to c }\n}\nsafety s: true\n",
              "auto");
  assert_int_equal(k.licences->identity[0], IDENTITY_NUMBERED);
  assert_int_equal(k.licences->identity[1], IDENTITY_ANONYMOUS);
  assert_true(k.licences->of[REDUCE_SYMMETRY].applied);
  assert_non_null(strstr(k.licences->of[REDUCE_SYMMETRY].reason, "'number(me)'"));
  release(&k);
}

/* --- values --- */

static void test_values_granted(void **state) {
  (void)state;
  static const char *const texts[] = {
      ACTIONS(TAKE),
      ACTIONS("  on ping(v == x) { d := x }\n"),
      ACTIONS("  on Q: 2 of ping(v) same v if d != v { d := v }\n"),
      ACTIONS("  on ping { d := pick(v for v in Value) }\n"), /* made up, but any of them */
      ACTIONS("  on ping { if count(v in Value: v != x) == 2 { d := x } }\n"),
      VARS("  var w: [Value] bool = [v in Value: false]\n", "  on ping(v) { w[v] := true }\n"),
      VARS("  var y: Value = 1\n", TAKE), /* an initial state need not be symmetric */
      VARS("  input y: Value where y != 2\n", TAKE),
      STEPS("shared r: Value? = none\n", "", "", "  step a { if r == none { r := x } d := r }\n", FREE),
      STEPS("input z: Value\n", "", "", TELL "  on ping(v == z) { d := x }\n", FREE),
      ENVIRONMENT("at most 1 processes are byzantine"),
      ENVIRONMENT("channels set; at most 1 processes crash"),
      SAFETY("forall p in P, v in p.d: exists q in P: v == initial(q.x)"),
      STEPS("", "", "  stable y: Value = 1\n", TELL TAKE,
            "environment e { at most 1 processes crash and recover }\nsafety s: true\n"),
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    granted(texts[i], VALUES);
}

static void test_values_refused(void **state) {
  (void)state;
  refused(ACTIONS("  on ping(v > x) { d := x }\n"), VALUES, "v > x");
  refused(ACTIONS("  on ping(v) if v > x { d := v }\n"), VALUES, "v > x");
  refused(ACTIONS("  on ping(v == 1) { d := x }\n"), VALUES, "1");
  refused(ACTIONS("  on ping { send ping(2) to all }\n"), VALUES, "2");
  refused(ACTIONS("  on Q: x of ping { d := x }\n"), VALUES, "x");
  refused(ACTIONS("  on Q: 2 of ping { d := max(m.v for m in Q) otherwise x }\n"), VALUES, "max(m.v for m in Q)");
  refused(STEPS("shared r: Value = 1\n", "", "", "  step a { r := 2 }\n", FREE), VALUES, "2");
  refused(STEPS("", "", "  var y: Value = 1\n", TELL TAKE,
                "environment e { at most 1 processes crash and recover }\nsafety s: true\n"),
          VALUES, "1");
  refused(SAFETY("forall p in P: p.d != 3"), VALUES, "3");
  /* the order in which values are tried shows where one of them may fail */
  refused(VARS("  var w: set of Value = {}\n",
               "  on ping { if exists v in w: 6 / count(u in w: u != v) > 1 { d := x } }\n"),
          VALUES, "exists v in w: 6 / count(u in w: u != v) > 1");
}

static void test_which_type(void **state) {
  (void)state;
  /* without inputs: the type of most values that can be renamed */
  const char *text = "algorithm A\ntype Colour = {red, green, blue}\ntype Level = 1..4\n"
                     "message m(c: Colour, l: Level)\nprocess P[2] {\n  var got: Colour? = none\n"
                     "  start { send m(pick(c for c in Colour), 1) to all }\n"
                     "  on m(c, l) { got := c }\n}\nsafety s: true\n";
  struct licensed k = license(text, "auto");
  assert_true(k.licences->of[REDUCE_VALUES].applied);
  assert_string_equal(k.licences->value_type->name, "Colour");
  assert_false(k.licences->of[REDUCE_PARTITION].granted);
  release(&k);
  /* program points are no values */
  text = "algorithm A\nprocess P[2] {\n  var b: bool = false\n  step one { b := true }\n"
         "  step two { b := false }\n}\nsafety s: true\n";
  assert_licence(text, REDUCE_VALUES, "", "no named type");
}

static void test_initial_values(void **state) {
  (void)state;
  granted(ACTIONS(TAKE), PARTITION);
  granted(ACTIONS("  on ping(v) if v > x { d := v }\n"), ORDER);
  refused(ACTIONS("  on ping(v) if v > x { d := v }\n"), PARTITION, "v > x");
  granted(STEPS("shared r: Value? = none\n", "", "", "  step a { if r == none { r := x } }\n", FREE), PARTITION);
  refused(STEPS("shared r: Value\n", "", "", "  step a { r := x }\n", FREE), PARTITION, "r");
  refused(STEPS("input z: Value\n", "", "", TELL TAKE, FREE), PARTITION, "z");
  refused(ACTIONS("  on ping { d := pick(v for v in Value) }\n"), PARTITION, "pick(v for v in Value)");
  refused(ENVIRONMENT("at most 1 processes are byzantine"), PARTITION, "at most 1 processes are byzantine");
  granted(ENVIRONMENT("at most 1 processes crash"), PARTITION);
}

/* --- channels --- */

static void test_channels(void **state) {
  (void)state;
  granted(ACTIONS(TAKE), MESSAGE_ORDER);
  granted(ENVIRONMENT("channels fifo"), MESSAGE_ORDER);
  granted(ACTIONS(TAKE), DEAD_MESSAGES);
  granted(ENVIRONMENT("channels set"), DEAD_MESSAGES);
  granted(ENVIRONMENT("channels fifo"), DEAD_MESSAGES);
  refused(ENVIRONMENT("channels bag bound 2"), DEAD_MESSAGES, "channels bag bound 2");
  granted(ENVIRONMENT("any messages are lost"), LOSS);
  granted(ENVIRONMENT("at most 1 messages are lost; channels set"), LOSS);
  refused(ENVIRONMENT("any messages are lost; channels fifo"), LOSS, "channels fifo");
  refused(ENVIRONMENT("any messages are lost; channels set bound 1"), LOSS, "channels set bound 1");
  struct licensed k = license(ENVIRONMENT("at most 1 processes crash"), "auto");
  assert_true(k.licences->of[REDUCE_LOSS].applied); /* in the middle of an action */
  release(&k);
  k = license(ACTIONS(TAKE), "auto");
  assert_false(k.licences->of[REDUCE_LOSS].applied);
  release(&k);
}

static void test_partial_order(void **state) {
  (void)state;
  granted(ACTIONS(TAKE), PARTIAL_ORDER);
  granted(PROPERTY("cover c: exists p in P: p.d != none"), PARTIAL_ORDER);
  granted(PROPERTY("safety s: step forall p in P: p.d != none => p.d' == p.d"), PARTIAL_ORDER);
  granted(ENVIRONMENT("any messages are lost"), PARTIAL_ORDER);
  granted(ENVIRONMENT("at most 1 processes crash and recover"), PARTIAL_ORDER);
  refused(PROPERTY("live l: forall p in P: eventually p.d != none"), PARTIAL_ORDER, "l");
  refused(ENVIRONMENT("at most 2 messages are duplicated"), PARTIAL_ORDER, "at most 2 messages are duplicated");
  refused(ENVIRONMENT("channels bag bound 2"), PARTIAL_ORDER, "channels bag bound 2");
  refused(ENVIRONMENT("any messages are lost; channels fifo"), PARTIAL_ORDER, "any messages are lost");
}

/* --- dead variables --- */

static void test_dead_variables(void **state) {
  (void)state;
  struct licensed k = license(ACTIONS(TAKE), "auto");
  assert_true(k.licences->of[REDUCE_DEAD_VARIABLES].applied); /* x, after the start */
  release(&k);
  granted(PROPERTY("safety s: step forall p in P: p.d != none => p.d' == p.d"), DEAD_VARIABLES);
  granted(PROPERTY("safety s: step forall p in P, v in p.d: p.d' == v"), DEAD_VARIABLES);
  /* which steps there are would matter */
  refused(PROPERTY("safety s: step forall p in P: p.d != p.d'"), DEAD_VARIABLES, "s");
}

/* --- rounds without bound --- */

#define TERMS(vars, actions, rest)                                                                                     \
  "algorithm A\nparam n = 3\nmessage news(t: round, v: 1..2), old(o: round)\nprocess P[n] {\n"                         \
  "  var t: round = 0\n" vars "  when true once { t := t + 1  send news(t, 1) to others }\n" actions "}\n" rest
#define CATCH_UP "  on m: news if m.t > t { t := m.t }\n"
#define CALM "safety s: forall p, q in P: p.t <= q.t or p.t > q.t\n"

/* Which fields fade, and what is read of the rest then: as digits, field by field. */
static void fading(const char *text, const char *expires, const char *unread) {
  struct licensed k = license(text, "auto");
  const struct round_window *w = k.licences->window;
  assert_true(k.licences->of[REDUCE_ROUND_WINDOW].applied);
  assert_int_equal(w->expires[0][0], expires[0] - '0');
  assert_int_equal(w->expires[1][0], expires[1] - '0');
  assert_int_equal(w->unread[0][0][1], unread[0] - '0');
  release(&k);
}

static void test_round_window(void **state) {
  (void)state;
  granted(TERMS("", CATCH_UP, CALM), ROUND_WINDOW);
  refused(TERMS("", "  when t > 3 { t := t + 1 }\n", CALM), ROUND_WINDOW, "3");
  refused(TERMS("", CATCH_UP, "safety s: forall p in P: p.t >= 0\n"), ROUND_WINDOW, "0");
  refused(TERMS("", "  when true { t := 1 }\n", CALM), ROUND_WINDOW, "1");
  refused(TERMS("  input first: round = 1\n", CATCH_UP, "safety s: forall p in P: p.t >= initial(p.first)\n"),
          ROUND_WINDOW, "initial(p.first)");
  struct licensed k = license(TERMS("", "  when t mod 4 == 1 and P(t) == me { t := t + 1 }\n", CALM), "auto");
  assert_true(k.licences->of[REDUCE_ROUND_WINDOW].applied);
  assert_int_equal(k.licences->window->modulus, 12);
  assert_false(k.licences->of[REDUCE_PARTIAL_ORDER].granted);
  release(&k);

  /* compared with what only grows; not with each other, nor with what goes back, nor counted, nor computed with */
  fading(TERMS("", CATCH_UP, CALM), "11", "1");
  fading(TERMS("  var u: round = 0\n", CATCH_UP "  on news(t == u) { u := t }\n", CALM), "01", "0");
  fading(TERMS("  var u: round = 0\n", CATCH_UP "  when u > t { u := t }\n  on old(o > u) {}\n", CALM), "10", "1");
  fading(TERMS("  var u: round = 0\n", CATCH_UP "  on m: old { u := m.o }\n", CALM), "10", "1");
  fading(TERMS("", CATCH_UP "  on m: old if m.o mod 2 == 0 {}\n", CALM), "10", "1");
  fading(TERMS("", CATCH_UP "  on m: old { send news(m.o + 1, 2) to others }\n", CALM), "10", "1");
  fading(TERMS("", CATCH_UP "  on Q: 2 of old(o) same o {}\n", CALM), "10", "1");
  fading(TERMS("", CATCH_UP "  on m: old { t := max(t, m.o) }\n", CALM), "11", "1");
  fading(TERMS("", CATCH_UP, "environment e { channels set }\n" CALM), "00", "0");
  /* what is read of a message before its round, or sent on to who reads it */
  fading(TERMS("  var d: 0..2 = 0\n", "  on m: news if m.t > t { d := m.v }\n", CALM), "11", "1");
  fading(TERMS("  var d: 0..2 = 0\n", "  on m: news { if m.v == 2 { d := 1 } else if m.t > t { t := m.t } }\n", CALM),
         "11", "0");
  fading(TERMS("  var d: 0..2 = 0\n", "  on m: news if (m.t, m.v) > (t, d) { t := m.t }\n", CALM), "11", "1");
  fading(TERMS("", "  on m: news { send news(m.t, m.v) to others }\n", CALM), "11", "1");
  fading(TERMS("  var d: 0..2 = 0\n",
               "  on m: news { send news(m.t, m.v) to others }\n  on m: news if m.t <= t { d := m.v }\n", CALM),
         "11", "0");
}

/* --- messages that are passed on --- */

#define PASS "  on m: ping { send ping(m.v) to others }\n"

static void test_relays(void **state) {
  (void)state;
  granted(ACTIONS(PASS), FUSION);
  refused(STEPS("", "", "", TELL PASS, "environment e { at most 1 processes crash }\nsafety s: true\n"), FUSION,
          "at most 1 processes crash");
  refused(STEPS("", "", "", TELL PASS, "environment e { channels fifo }\nsafety s: true\n"), FUSION, "channels fifo");
  refused(STEPS("", "", "", TELL PASS, "environment e { any messages are lost }\nsafety s: true\n"), FUSION,
          "any messages are lost");
  refused(STEPS("", "", "", TELL PASS, "environment e { fair }\nlive l: always true\n"), FUSION, "fair");
  granted(STEPS("", "", "", TELL PASS, "environment e { fair }\nsafety s: true\n"), FUSION);
  struct licensed k = license(ACTIONS("  on m: ping { send ping(x) to others }\n"), "auto");
  assert_false(k.licences->of[REDUCE_FUSION].concerns); /* it sends something of its own */
  release(&k);
}

/* --- messages in flight, and whether anything can happen --- */

#define LOSING(text)                                                                                                   \
  STEPS("", "", "", TELL TAKE,                                                                                         \
        "environment e { any messages are lost; at most 1 processes crash }\nsafety s: " text "\n")

static void test_flight(void **state) {
  (void)state;
  static const char *const observed[] = {SAFETY("not quiescent"), SAFETY("not deadlocked"),
                                         SAFETY("|pending(ping)| < 9"),
                                         SAFETY("forall m in pending(ping): sender(m) != receiver(m)")};
  for (size_t i = 0; i < sizeof observed / sizeof *observed; i++) {
    assert_licence(observed[i], REDUCE_DEAD_MESSAGES, "s", NULL);
    assert_licence(observed[i], REDUCE_PARTIAL_ORDER, "s", NULL);
    assert_licence(observed[i], REDUCE_SYMMETRY, NULL, NULL);
    assert_licence(observed[i], REDUCE_MESSAGE_ORDER, NULL, NULL);
  }
  refused(LOSING("not deadlocked"), LOSS, "s");
  refused(LOSING("|pending(ping)| < 9"), LOSS, "s");
  granted(LOSING("true"), LOSS);
  granted(SAFETY("not deadlocked"), LOSS); /* there is nothing to lose */
  refused(STEPS("", "", "", TELL PASS, "environment e {}\nsafety s: not quiescent\n"), FUSION, "s");
  /* the values of messages are only compared, but their rounds are not those that were sent */
  granted(SAFETY("forall l, m in pending(ping): l.v == m.v"), VALUES);
  refused(SAFETY("forall l, m in pending(ping): l.v <= m.v"), VALUES, "l.v <= m.v");
  granted(TERMS("", "  on m: news if m.t > t { t := m.t }\n", "environment e {}\nsafety s: not quiescent\n"),
          ROUND_WINDOW);
  refused(TERMS("", "  on m: news if m.t > t { t := m.t }\n",
                "environment e {}\nsafety s: forall l, m in pending(news): l.t == m.t\n"),
          ROUND_WINDOW, "s");
}

/* --- semantics --- */

static void test_semantics(void **state) {
  (void)state;
  struct licensed k = license(ACTIONS(TAKE), "auto");
  struct licence l = semantics_licence(k.model, &k.query, &k.arena);
  assert_true(l.granted);
  assert_non_null(strstr(l.reason, "processes and globals only"));
  k.query.semantics = SEMANTICS_MP;
  assert_true(semantics_licence(k.model, &k.query, &k.arena).granted);
  release(&k);
  k = license(PROPERTY("live l: forall p in P: eventually p.d != none"), "auto");
  l = semantics_licence(k.model, &k.query, &k.arena);
  assert_true(l.granted);
  release(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_concerns),       cmocka_unit_test(test_anonymous),
      cmocka_unit_test(test_equality),       cmocka_unit_test(test_ring),
      cmocka_unit_test(test_numbered),       cmocka_unit_test(test_roles),
      cmocka_unit_test(test_values_granted), cmocka_unit_test(test_values_refused),
      cmocka_unit_test(test_which_type),     cmocka_unit_test(test_initial_values),
      cmocka_unit_test(test_channels),       cmocka_unit_test(test_partial_order),
      cmocka_unit_test(test_dead_variables), cmocka_unit_test(test_semantics),
      cmocka_unit_test(test_round_window),   cmocka_unit_test(test_relays),
      cmocka_unit_test(test_flight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
