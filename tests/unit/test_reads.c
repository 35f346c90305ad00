/* What a round reads, what an action does, and what can be forgotten: one small update each. */
#include "analysis/action_use.h"
#include "analysis/read_sets.h"
#include "lang/typecheck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct checked {
  struct arena arena;
  struct model *model;
};

static struct checked check(const char *text) {
  struct checked k;
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct diags diags;
  struct param_binding n = {"n", 3};
  arena_init(&k.arena);
  diags_init(&diags, &source);
  struct ast *file = parse_file(&source, &k.arena, &diags);
  k.model = diags.errors ? NULL : model_typecheck(file, &source, &n, 1, false, &diags);
  if (!k.model) {
    struct text out = {0};
    diags_print(&diags, false, &out);
    print_error("%s\n%s\n", text, text_or_empty(&out));
    text_release(&out);
  }
  diags_release(&diags);
  assert_non_null(k.model);
  return k;
}

static void release(struct checked *k) {
  model_free(k->model);
  arena_release(&k->arena);
}

static void assert_vars(const struct model *m, const bool *set, const char *expected, const char *why) {
  struct text out = {0};
  for (uint32_t i = 0; i < m->roles[0].nvars; i++)
    if (set[i])
      text_addf(&out, "%s%s", out.n ? " " : "", m->roles[0].vars[i].name);
  if (strcmp(text_or_empty(&out), expected) != 0)
    print_error("in: %s\n", why);
  assert_string_equal(text_or_empty(&out), expected);
  text_release(&out);
}

#define HEAD "algorithm A\nparam n where n >= 1\ninput boss: P\n"
#define VARS                                                                                                           \
  "  input a: 0..3\n  var b: 0..3 = 0\n  var c: 0..3 = 0\n  var w: [0..3] 0..3 = [i in 0..3: 0]\n"                     \
  "  var q: P = me\n  var f: bool = false\n  oracle o: P each phase\n"
#define DEFS                                                                                                           \
  "  def both = a + b\n  def deep = both + 1\n  def down(i: 0..3): 0..3 = if i == 0 then c else "                      \
  "down(i - 1)\n  def boss_of = q\n"

static char *model_with(struct arena *arena, const char *update) {
  return arena_printf(arena,
                      HEAD "process P[n] {\n" VARS DEFS "  phase ph { round { send a to all  update { %s } } }\n}\n"
                           "environment free {}\nsafety nothing: true\n",
                      update);
}

/* --- variables --- */

static const struct {
  const char *update, *reads, *writes;
} flows[] = {
    {"b := a", "a", "b"},
    {"a := 1  b := a", "", "a b"}, /* order matters */
    {"b := a  a := 1", "a", "a b"},
    {"a := a", "a", "a"},
    {"let t = a  a := 1  b := t", "a", "a b"},
    {"if a == 1 { b := 1 } else { b := 2 } c := b", "a", "b c"},
    {"if a == 1 { b := 1 } c := b", "a b", "b c"},
    {"if f { a := 1 } else if a == 2 { a := 0 } else { a := 1 } b := a", "a f", "a b"},
    {"if f { b := 1  halt } c := b", "b f", "b c"},
    {"if f { halt } else { b := 1 } c := b", "f", "b c"}, /* whoever goes on has assigned b */
    {"w[a] := b", "a b w", "w"},                          /* a part: the rest stays */
    {"w := [i in 0..3: 1]  w[a] := b", "a b", "w"},
    {"foreach m in received { c := m }", "c", "c"}, /* perhaps nothing was received */
    {"c := 0  foreach m in received { c := m }", "", "c"},
    {"foreach m in received { if c < m { b := c  c := m } }", "b c", "b c"},
    {"foreach m in received { c := m  b := c } ", "b c", "b c"},
    {"if exists v in w[a]..3: v == b { c := v }", "a b w", "c"},
    {"c := if both > 3 then 1 else 0", "a b", "c"},
    {"c := if deep > 3 then 1 else 0", "a b", "c"},
    {"a := 0  b := 0  c := if deep > 3 then 1 else 0", "", "a b c"},
    {"b := down(3)", "c", "b"}, /* a def that calls itself */
    {"f := q == me", "q", "f"},
    {"f := o == me", "o", "f"},
};

static void test_flow(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
    struct arena arena;
    arena_init(&arena);
    struct checked k = check(model_with(&arena, flows[i].update));
    struct read_set *r = read_set_of_update(k.model, 0, 0, &arena);
    assert_vars(k.model, r->vars, flows[i].reads, flows[i].update);
    assert_vars(k.model, r->writes, flows[i].writes, flows[i].update);
    release(&k);
    arena_release(&arena);
  }
}

/* --- what was received, and the rest --- */

enum { ME = 1, PHASE = 2, GLOBALS = 4, CHOOSES = 8, COUNTS = 16 };

static const struct {
  const char *update;
  enum received_use received;
  int flags;
  uint32_t named;
} looks[] = {
    {"b := a", RECEIVED_UNREAD, 0, 0},
    {"b := min(received) otherwise 0", RECEIVED_CONTENT, 0, 0},
    {"f := a in received", RECEIVED_CONTENT, 0, 0},
    {"f := {m for m in received} == {a}", RECEIVED_CONTENT, 0, 0},
    {"if exists m in received { b := m }", RECEIVED_CONTENT, CHOOSES, 0},
    {"if exists m in received { b := 1 }", RECEIVED_CONTENT, 0, 0},
    {"b := pick(received) otherwise 0", RECEIVED_CONTENT, CHOOSES, 0},
    {"b := random(0..3)", RECEIVED_UNREAD, CHOOSES, 0},
    {"f := |received| > 1", RECEIVED_CONTENT, COUNTS, 0},
    {"f := |heard| > 1", RECEIVED_CONTENT, COUNTS, 0},
    {"f := count(m in received: m == a) > 1", RECEIVED_CONTENT, COUNTS, 0},
    {"f := count(v in {m for m in received}: v > 1) > 1", RECEIVED_CONTENT, 0, 0},
    {"f := sum(received) > 1", RECEIVED_CONTENT, COUNTS, 0},
    {"b := min(mostfrequent(received)) otherwise 0", RECEIVED_CONTENT, COUNTS, 0},
    {"b := majority(received) otherwise 0", RECEIVED_CONTENT, COUNTS, 0},
    {"foreach m in received { b := m }", RECEIVED_CONTENT, CHOOSES | COUNTS, 0},
    {"f := me in heard", RECEIVED_SENDERS, ME | COUNTS, 0},
    {"f := exists m in received: sender(m) == me", RECEIVED_SENDERS, ME | COUNTS, 0},
    {"b := from(q) otherwise 0", RECEIVED_NAMED, COUNTS, 1},
    {"b := from(q) otherwise 0  c := from(q) otherwise 1", RECEIVED_NAMED, COUNTS, 1},
    {"b := from(q) otherwise 0  c := from(o) otherwise 1", RECEIVED_NAMED, COUNTS, 2},
    {"b := from(boss) otherwise 0", RECEIVED_NAMED, GLOBALS | COUNTS, 1},
    {"b := from(boss_of) otherwise 0", RECEIVED_NAMED, COUNTS, 1},
    {"b := from(P(ph)) otherwise 0", RECEIVED_NAMED, PHASE | COUNTS, 1},
    {"b := from(P(a + 1)) otherwise 0", RECEIVED_NAMED, COUNTS, 1},
    {"b := from(q) otherwise 0  q := me", RECEIVED_NAMED, ME | COUNTS, 1},
    {"q := boss  b := from(q) otherwise 0", RECEIVED_SENDERS, GLOBALS | COUNTS, 0}, /* not as before */
    {"q := boss  b := from(boss_of) otherwise 0", RECEIVED_SENDERS, GLOBALS | COUNTS, 0},
    {"f := exists p in P: from(p) == a", RECEIVED_SENDERS, COUNTS, 0},
    {"let t = q  b := from(t) otherwise 0", RECEIVED_SENDERS, COUNTS, 0},
    {"b := from(P(w[a])) otherwise 0", RECEIVED_SENDERS, COUNTS, 0}, /* may fail where it is not reached */
};

static void test_looks(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
    struct arena arena;
    arena_init(&arena);
    struct checked k = check(model_with(&arena, looks[i].update));
    struct read_set *r = read_set_of_update(k.model, 0, 0, &arena);
    int flags = (r->me ? ME : 0) | (r->phase ? PHASE : 0) | (r->globals ? GLOBALS : 0) | (r->chooses ? CHOOSES : 0) |
                (r->counts ? COUNTS : 0);
    if (r->received != looks[i].received || flags != looks[i].flags || r->nnamed != looks[i].named)
      print_error("in: %s\n", looks[i].update);
    assert_int_equal(r->received, looks[i].received);
    assert_int_equal(flags, looks[i].flags);
    assert_int_equal(r->nnamed, looks[i].named);
    release(&k);
    arena_release(&arena);
  }
}

static void test_sends(void **state) {
  (void)state;
  struct checked k =
      check(HEAD "process P[n] {\n" VARS "  phase { round { send v to q when me == o and exists v in {a, b} } }\n}\n"
                 "environment free {}\nsafety nothing: true\n");
  struct read_set *r = read_set_of_sends(k.model, 0, 0, &k.arena);
  assert_vars(k.model, r->vars, "a b q o", "sends");
  assert_vars(k.model, r->writes, "", "sends");
  assert_true(r->me && r->chooses && !r->phase && !r->globals);
  assert_int_equal(r->received, RECEIVED_UNREAD);
  release(&k);
}

/* --- liveness --- */

static struct live_variables *live_for(struct checked *k, const char *environment, uint32_t properties) {
  static uint32_t all[] = {0, 1, 2, 3};
  struct query q = {.properties = all, .nproperties = properties};
  for (uint32_t i = 0; i < k->model->nenvironments; i++)
    if (strcmp(k->model->environments[i].name, environment) == 0)
      q.environment = i;
  return live_variables_of(k->model, &q, &k->arena);
}

#define TWO_ROUNDS                                                                                                     \
  "algorithm A\nparam n where n >= 1\nprocess P[n] {\n  input a: 0..3\n  var b: 0..3 = 0\n"                            \
  "  var c: 0..3 = 0\n  var d: 0..3 = 0\n"

static void test_straight(void **state) {
  (void)state;
  struct checked k =
      check(TWO_ROUNDS "  once {\n    round { send a to all  update { b := min(received) otherwise 0 } }\n"
                       "    round { send b to all  update { c := a  d := b } }\n  }\n}\n"
                       "environment free {}\nsafety one: forall p in P: p.d <= 3\n"
                       "safety two: forall p in P: initial(p.a) <= 3\n");
  struct live_variables *l = live_for(&k, "free", 1);
  assert_vars(k.model, l->live[0][0], "a d", "start"); /* d: the property reads it in every state */
  assert_vars(k.model, l->live[0][1], "a b d", "second round");
  assert_vars(k.model, l->live[0][2], "d", "end");
  assert_vars(k.model, l->idle[0], "d", "idle");
  l = live_for(&k, "free", 2); /* the first value of an input is kept apart */
  assert_vars(k.model, l->live[0][2], "d", "end");
  release(&k);
}

static void test_endless(void **state) {
  (void)state;
  /* b is read only in the next phase: alive at the end of the loop */
  struct checked k = check(TWO_ROUNDS "  phase {\n    round { send b to all  update { c := 1 } }\n"
                                      "    round { send c to all  update { b := min(received) otherwise 0  d := 1 } }\n"
                                      "  }\n}\nenvironment free {}\nsafety nothing: true\n");
  struct live_variables *l = live_for(&k, "free", 1);
  assert_vars(k.model, l->live[0][0], "b", "first");
  assert_vars(k.model, l->live[0][1], "c", "second");
  assert_vars(k.model, l->idle[0], "", "idle");
  release(&k);
}

static void test_branches(void **state) {
  (void)state;
  struct checked k = check(TWO_ROUNDS "  phase {\n    round { send c to all  update {\n"
                                      "      if a == 0 { halt } else if a == 1 { b := 1 } else { a := 2 }\n"
                                      "      c := b  b := 0\n"
                                      "    } }\n  }\n}\nenvironment free {}\nsafety one: forall p in P: p.d <= 3\n");
  struct live_variables *l = live_for(&k, "free", 1);
  assert_vars(k.model, l->live[0][0], "a b c d", "loop");
  assert_vars(k.model, l->idle[0], "d", "idle");
  release(&k);
  /* whoever halts reads nothing any more, so only the path that goes on counts */
  k = check(TWO_ROUNDS "  phase { round { send c to all  update { b := 1  halt } } }\n}\n"
                       "environment free {}\nsafety nothing: true\n");
  l = live_for(&k, "free", 1);
  assert_vars(k.model, l->live[0][0], "c", "halts");
  release(&k);
}

static void test_parts(void **state) {
  (void)state;
  struct checked k = check("algorithm A\nparam n where n >= 1\nprocess P[n] {\n  input a: 0..3\n"
                           "  var w: [0..3] bool = [i in 0..3: false]\n  var v: [0..3] bool = [i in 0..3: false]\n"
                           "  phase { round { send v[0] to all  update { w[a] := true  v[a] := true } } }\n}\n"
                           "environment free {}\nsafety nothing: true\n");
  struct live_variables *l = live_for(&k, "free", 1);
  assert_vars(k.model, l->live[0][0], "a v", "assigning a part of what nobody reads");
  struct read_set *r = read_set_of_update(k.model, 0, 0, &k.arena);
  assert_vars(k.model, r->vars, "a w v", "but the step needs it");
  release(&k);
}

static void test_foreach_liveness(void **state) {
  (void)state;
  struct checked k = check(TWO_ROUNDS "  once { round { send a to all  update {\n"
                                      "    foreach m in received { d := c  c := b  b := m }\n  } } }\n}\n"
                                      "environment free {}\nsafety one: forall p in P: p.d <= 3\n");
  struct live_variables *l = live_for(&k, "free", 1);
  assert_vars(k.model, l->live[0][0], "a b c d", "through the turns of the loop");
  release(&k);
}

#define ORACLES                                                                                                        \
  "algorithm A\nparam n where n >= 1\nprocess P[n] {\n  input a: 0..3\n  oracle o: P each phase\n"                     \
  "  oracle r: P each round\n  var f: bool = false\n  phase {\n"                                                       \
  "    round one { send a to o  update { f := r == me } }\n    round two { send a to all }\n"                          \
  "    round three { send a to all }\n  }\n}\n"                                                                        \
  "environment free {}\nenvironment agreed { every round: forall p, q in P: o[p] == o[q] }\n"                          \
  "environment named { every round: forall p in P: o[p] in HO[p, two] }\n"                                             \
  "environment heard { every round: forall p in P, q in HO[p]: o[q] == o[p] }\n"                                       \
  "environment often { infinitely often phase: forall p, q in P: o[p] == o[q] }\n"                                     \
  "safety nothing: true\nlive some in often: eventually exists p in P: p.f\n"

static void test_oracles(void **state) {
  (void)state;
  struct checked k = check(ORACLES);
  struct live_variables *l = live_for(&k, "free", 1);
  assert_vars(k.model, l->live[0][0], "a", "chosen here");
  assert_vars(k.model, l->live[0][1], "a", "nobody asks again");
  l = live_for(&k, "agreed", 1);
  assert_vars(k.model, l->live[0][0], "a", "chosen here");
  assert_vars(k.model, l->live[0][1], "a o", "the environment asks in every round");
  assert_vars(k.model, l->live[0][2], "a o", "the environment asks in every round");
  assert_vars(k.model, l->idle[0], "", "quantifiers leave out who takes no part");
  l = live_for(&k, "named", 1);
  assert_vars(k.model, l->live[0][1], "a o", "the environment asks in round two");
  assert_vars(k.model, l->live[0][2], "a", "and not after it");
  l = live_for(&k, "heard", 1);
  assert_vars(k.model, l->idle[0], "o", "somebody who crashed may be in HO");
  l = live_for(&k, "often", 1);
  assert_vars(k.model, l->live[0][1], "a", "safety has no use for what happens infinitely often");
  l = live_for(&k, "often", 2);
  assert_vars(k.model, l->live[0][1], "a o f", "a live property has");
  release(&k);
}

static void test_finally(void **state) {
  (void)state;
  struct checked k =
      check(TWO_ROUNDS "  repeat 2 { round { send a to all  update { b := min(received) otherwise 0 } } }\n"
                       "  finally { d := b  if d == 0 { d := c } }\n}\n"
                       "environment free {}\nsafety one: forall p in P: p.d <= 3\n");
  struct live_variables *l = live_for(&k, "free", 1);
  assert_vars(k.model, l->live[0][0], "a c d", "first");
  assert_vars(k.model, l->live[0][1], "a c d", "last");
  assert_vars(k.model, l->live[0][2], "d", "end");
  struct read_set *r = read_set_of_update(k.model, 0, 0, &k.arena);
  assert_vars(k.model, r->vars, "", "not the last round");
  r = read_set_of_update(k.model, 0, 1, &k.arena);
  assert_vars(k.model, r->vars, "c", "the last round runs finally");
  assert_vars(k.model, r->writes, "b d", "the last round runs finally");
  release(&k);
}

/* --- actions --- */

#define ACTION_MODEL                                                                                                   \
  "algorithm A\nparam n where n >= 1\nmessage ping(i: 0..3), pong\ninput boss: P\n"                                    \
  "shared s: 0..3 = 0\nshared r: 0..3 = 0\nprocess P[n] {\n  input a: 0..3\n  var b: 0..3 = 0\n"                       \
  "  var c: 0..3 = 0\n  var w: [0..3] 0..3 = [i in 0..3: 0]\n  var f: bool = false\n"                                  \
  "  def both = a + s\n  start { send ping(a) to all }\n  on pong { f := true }\n  %s\n}\n"                            \
  "environment free {}\nsafety nothing: forall p in P: p.c < 3 and s < 3\n"

enum trait { READS_ME = 1, READS_SENDERS = 2, MAKES_CHOICES = 4, MAY_HALT = 8, IS_SEEN = 16 };

/* "at" is the program point, "taken" the flag of `once`: all but `start` depend on the point. */
static const struct {
  const char *action, *needs, *reads, *writes;
  unsigned traits;
} actions[] = {
    {"on ping(i) { b := i }", "at", "at", "b", 0},
    {"on ping(i) if i > a { b := c }", "a at", "a c at", "b", 0},
    {"on ping(i == a) { c := b }", "a at", "a b at", "c", IS_SEEN},
    {"on ping if both > 1 { f := true }", "a at s", "a at s", "f", 0},
    {"on ping { s := 1  r := s }", "at", "at", "s r", IS_SEEN},
    {"on ping { r := s  s := 1 }", "at", "at s", "s r", IS_SEEN},
    {"on ping { r := r }", "at", "at r", "r", 0},
    {"on ping { b := 1  r := b }", "at", "at", "b r", 0},
    {"on ping { w[a] := 1 }", "at", "a w at", "w", 0},
    {"on ping { if f { b := 1 } }", "at", "f at", "b", 0},
    {"on Q: b + 1 of ping { f := true }", "b at", "b at", "f", 0},
    {"on Q: 2 of ping { foreach m in Q { b := m.i } }", "at", "b at", "b", MAKES_CHOICES},
    {"when f once { halt }", "f at taken", "f at taken", "taken", MAY_HALT},
    {"when exists i in 0..3: i > a { b := i }", "a at", "a at", "b", MAKES_CHOICES},
    {"when f { b := pick(a, c) }", "f at", "a c f at", "b", MAKES_CHOICES},
    {"when me == boss { f := true }", "at boss", "at boss", "f", READS_ME},
    {"on ping from q { send pong to q }", "at", "at", "", READS_SENDERS},
    {"on m: ping { send pong to sender(m) }", "at", "at", "", READS_SENDERS},
    {"on ping { send ping(b) to others }", "at", "b at", "", READS_ME},
    {"step one { b := 1 }", "at", "at", "b at", 0},
    {"step one when f { if b > 1 { goto one } }", "f at", "b f at", "at", 0},
};

static void assert_names(const struct model *m, const bool *vars, const bool *shared, const char *expected,
                         const char *why) {
  struct text out = {0};
  const struct role *role = &m->roles[0];
  for (uint32_t i = 0; i < role->nvars; i++)
    if (vars[i])
      text_addf(&out, "%s%s", out.n ? " " : "", role->vars[i].kind == VAR_ONCE ? "taken" : role->vars[i].name);
  for (uint32_t i = 0; i < m->nglobals; i++)
    if (shared[i])
      text_addf(&out, "%s%s", out.n ? " " : "", m->globals[i].name);
  if (strcmp(text_or_empty(&out), expected) != 0)
    print_error("in: %s\n", why);
  assert_string_equal(text_or_empty(&out), expected);
  text_release(&out);
}

static void test_actions(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    struct arena arena;
    arena_init(&arena);
    const char *why = actions[i].action;
    struct checked k = check(arena_printf(&arena, ACTION_MODEL, why));
    uint32_t all[] = {0};
    struct query q = {.semantics = SEMANTICS_M, .properties = all, .nproperties = 1};
    const struct action_uses *use = action_uses_of(k.model, &q, &k.arena);
    const struct action_use *a = &use->of[0][k.model->roles[0].nactions - 1];
    assert_names(k.model, a->needs, a->needs_shared, actions[i].needs, why);
    assert_names(k.model, a->reads, a->reads_shared, actions[i].reads, why);
    assert_names(k.model, a->writes, a->writes_shared, actions[i].writes, why);
    unsigned traits = (a->me ? READS_ME : 0) | (a->senders ? READS_SENDERS : 0) | (a->chooses ? MAKES_CHOICES : 0) |
                      (a->halts ? MAY_HALT : 0) | (a->visible ? IS_SEEN : 0);
    if (traits != actions[i].traits)
      print_error("in: %s\n", why);
    assert_int_equal(traits, actions[i].traits);
    release(&k);
    arena_release(&arena);
  }
}

static void test_addressees(void **state) {
  (void)state;
  struct checked k = check("algorithm A\nparam n where n >= 1\nmessage ask, tell, go\nprocess P[n] {\n"
                           "  start { send ask to Q  send go to all }\n  on tell {}\n}\nprocess Q[2] {\n"
                           "  var one: P? = none\n  on ask from p { send tell to p }\n"
                           "  on m: go { send tell to sender(m)  send go to others }\n"
                           "  when exists p in one { send tell to p  send go to {q for q in Q} }\n}\n"
                           "process R[2] ring {\n  start { send go to next }\n}\nsafety s: true\n");
  struct query q = {.semantics = SEMANTICS_M};
  const struct action_uses *use = action_uses_of(k.model, &q, &k.arena);
  const struct send_use *s = use->of[0][0].sends;
  assert_true(s[0].to == TO_ROLE && s[0].role == 1 && s[1].to == TO_ROLE && s[1].role == ROLE_ANY);
  s = use->of[1][0].sends;
  assert_true(s[0].to == TO_SENDER && s[0].role == 0); /* who asks is a P */
  s = use->of[1][1].sends;
  assert_true(s[0].to == TO_SENDER && s[0].role == ROLE_ANY);
  assert_true(s[1].to == TO_ROLE && s[1].role == ROLE_ANY);
  s = use->of[1][2].sends;
  assert_true(s[0].to == TO_SOMEBODY && s[0].role == 0 && s[1].to == TO_SOMEBODY && s[1].role == 1);
  s = use->of[2][0].sends;
  assert_true(s[0].to == TO_NEXT && s[0].role == 2);
  release(&k);
}

/* Steps that a property sees. */
static void assert_seen(const char *property, const char *seen) {
  struct arena arena;
  arena_init(&arena);
  struct checked k =
      check(arena_printf(&arena,
                         "algorithm A\nparam n where n >= 1\nmessage go\nshared k: 0..3 = 0\nprocess P[n] {\n"
                         "  var a: 0..3 = 0\n  var b: 0..3 = 0\n  var d: 0..3? = none\n"
                         "  on go { a := 1 }\n  on go { b := 1 }\n  on go { d := 1 }\n  on go { k := 1 }\n"
                         "  on go { halt }\n  on go { send go to all }\n}\n"
                         "environment e { at most 1 processes crash and recover }\n%s\n",
                         property));
  uint32_t all[] = {0};
  struct query q = {.semantics = SEMANTICS_M, .properties = all, .nproperties = 1};
  const struct action_uses *use = action_uses_of(k.model, &q, &k.arena);
  char found[16] = {0};
  size_t n = 0;
  for (uint32_t i = 0; i < 6; i++)
    if (use->of[0][i].visible)
      found[n++] = "abdkh."[i];
  if (use->crash_visible)
    found[n++] = 'c';
  if (use->recovery_visible[0])
    found[n++] = 'r';
  if (strcmp(found, seen))
    print_error("%s\n", property);
  assert_string_equal(found, seen);
  release(&k);
  arena_release(&arena);
}

static void test_visible(void **state) {
  (void)state;
  assert_seen("safety s: true", "");
  assert_seen("safety s: forall p in P: p.a == 0", "ar");
  assert_seen("cover s: k == 1", "k");
  assert_seen("safety s: forall p in correct: p.b == 0", "bcr");
  assert_seen("safety s: |faulty| <= 1", "c");
  assert_seen("safety s: step forall p in P: p.a <= p.a'", "ar");
  assert_seen("safety s: step k <= k'", "k");
  assert_seen("safety s: step forall p in P: p.d != none => p.d' == p.d", "dr");
  assert_seen("safety s: step forall p in P, v in p.d: p.d' == v", "dr");
  assert_seen("safety s: step forall p in P, v in p.d: v in p.d'", "dr");
  assert_seen("safety s: step forall p in P: p.a == 1 => p.a' == 1", "ar");
  assert_seen("safety s: step (forall p in P: p.a == 0) or k == k'", "akr");
  /* a step that leaves these alone may break them */
  assert_seen("safety s: step forall p in P: p.a < p.a'", "abdkhcr");
  assert_seen("safety s: step forall p in P: p.a == p.b'", "abdkhcr");
  assert_seen("safety s: step exists p in P: p.a == p.a'", "abdkhcr");
}

static void test_step_liveness(void **state) {
  (void)state;
#define POINTS(environment, property)                                                                                  \
  "algorithm A\nparam n where n >= 1\nmessage go(i: 0..3)\nprocess P[n] {\n  input x: 0..3\n"                          \
  "  stable t: 0..3 = 0\n  var a: 0..3 = 0\n  var b: 0..3 = 0\n  var c: 0..3 = x\n"                                    \
  "  start { send go(x) to all }\n  step one on go(i) { a := i  b := 2 }\n"                                            \
  "  step two when a > 0 { c := b  if c > 1 { goto four } }\n  step three { send go(c) to all }\n"                     \
  "  step four { halt }\n}\nenvironment e { " environment " }\nsafety s: " property "\n"
  uint32_t all[] = {0};
  struct query q = {.semantics = SEMANTICS_M, .properties = all, .nproperties = 1};
  struct checked k = check(POINTS("", "true"));
  struct step_live_variables *l = step_live_variables_of(k.model, &q, &k.arena);
  assert_vars(k.model, l->live[0][0], "x at", "start");
  assert_vars(k.model, l->live[0][1], "at", "one");
  assert_vars(k.model, l->live[0][2], "a b at", "two");
  assert_vars(k.model, l->live[0][3], "c at", "three");
  assert_vars(k.model, l->live[0][4], "at", "four");
  assert_vars(k.model, l->live[0][5], "at", "end");
  assert_vars(k.model, l->idle[0], "", "gone");
  release(&k);
  k = check(POINTS("at most 1 processes crash and recover", "forall p in P: p.b < 3"));
  l = step_live_variables_of(k.model, &q, &k.arena);
  /* c gets its first value again, and b is what a property reads */
  assert_vars(k.model, l->idle[0], "x b at", "crashed");
  assert_vars(k.model, l->live[0][0], "x b at", "start");
  assert_vars(k.model, l->live[0][2], "x a b at", "two");
  assert_vars(k.model, l->live[0][5], "x b at", "end");
  release(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flow),    cmocka_unit_test(test_looks),
      cmocka_unit_test(test_sends),   cmocka_unit_test(test_straight),
      cmocka_unit_test(test_endless), cmocka_unit_test(test_branches),
      cmocka_unit_test(test_parts),   cmocka_unit_test(test_foreach_liveness),
      cmocka_unit_test(test_oracles), cmocka_unit_test(test_finally),
      cmocka_unit_test(test_actions), cmocka_unit_test(test_addressees),
      cmocka_unit_test(test_visible), cmocka_unit_test(test_step_liveness),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
