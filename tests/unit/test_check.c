/* The checker: what good models are lowered to, and what it says of typical mistakes. */
#include "checked_text.h"

#define HEAD "algorithm A\nparam n where n >= 1\ntype Value = 1..3\n"
/* Line 5 declares x; the rest of the process is put in by the test. */
#define PROCESS(vars, send, update)                                                                                    \
  HEAD "process P[n] {\n  input x: Value\n" vars "\n  round {\n    " send "\n    update { " update " }\n  }\n}\n"
#define UPDATE(update) PROCESS("", "send x to all", update)
#define PLAIN UPDATE("x := min(received)")

static const struct stmt *statement(const struct checked_text *k, uint32_t i) {
  return k->model->roles[0].body[0].update.at[i];
}

/* The right-hand side of the last statement of an update. */
static void lowered(const char *text, const char *expected) {
  struct checked_text k;
  check_good(&k, text);
  const struct block *b = &k.model->roles[0].body[0].update;
  assert_node(&k, b->at[b->n - 1]->expr, expected);
  release(&k);
}

/* ---- expressions ---- */

static void test_options(void **state) {
  (void)state;
#define V "  var v: Value? = none\n  var w: Value?? = none\n"
  lowered(PROCESS(V, "send x to all", "v := x"), "some(var0)");
  lowered(PROCESS(V, "send x to all", "v := none"), "none");
  lowered(PROCESS(V, "send x to all", "w := v"), "some(var1)");
  lowered(PROCESS(V, "send x to all", "v := if v == x then 2 else none"), "if((var1 == some(var0)), some(2), none)");
  lowered(PROCESS(V, "send x to all", "x := v otherwise 1"), "(var1 otherwise 1)");
  /* the wrapping goes into the element, so that 'otherwise' still sees the empty choice */
  lowered(PROCESS(V, "send x to all", "v := pick(received) otherwise none"),
          "(pick(some(#0) for x#0 in received) otherwise none)");
  lowered(PROCESS(V, "send x to all", "v := from(P(1))"), "from(P(1))");
#undef V
}

static void test_sets(void **state) {
  (void)state;
#define S "  var s: set of Value = {}\n  var b: bool = false\n"
  lowered(PROCESS(S, "send x to all", "s := s | {1, x}"), "(var1 | {1, var0})");
  lowered(PROCESS(S, "send x to all", "s := s - {x}"), "(var1 - {var0})");
  lowered(PROCESS(S, "send x to all", "b := {x} <= s"), "({var0} <= var1)");
  lowered(PROCESS(S, "send x to all", "b := s >= {x}"), "({var0} <= var1)");
  lowered(PROCESS(S, "send x to all", "b := x not in s"), "not((var0 in var1))");
  lowered(PROCESS(S, "send x to all", "s := {m + 1 for m in received}"), "{range check((#0 + 1)) for m#0 in received}");
  lowered(PROCESS(S, "send s to all", "s := union(received)"), "union(#0 for x#0 in received)");
  lowered(PROCESS(S, "send x to all", "s := mostfrequent(received)"), "mostfrequent(#0 for x#0 in received)");
#undef S
}

static void test_aggregates(void **state) {
  (void)state;
  lowered(UPDATE("x := min(received)"), "min(#0 for x#0 in received)");
  lowered(UPDATE("x := max(x, 2)"), "max(#0 for x#0 in {var0, 2})");
  lowered(PROCESS("  var c: 0..n = 0\n", "send x to all", "c := count(m in received: m == x)"),
          "count(m#0 in received: (#0 == var0))");
  lowered(PROCESS("  var p: P = me\n", "send x to all", "p := pick(sender(m) for m in received)"),
          "pick(sender(#0) for m#0 in received)");
  lowered(PROCESS("  var c: 0..n = 0\n", "send x to all", "c := |heard|"), "|heard|");
}

static void test_numbers(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k,
             PROCESS("  var c: 0..9 = n\n", "send x + 1 to all", "c := x * 2 + 1\n c := if |heard| > 1 then n else x"));
  assert_type(&k, k.model->roles[0].body[0].received, "2..4");
  assert_type(&k, statement(&k, 0)->expr->type, "3..7");
  assert_type(&k, statement(&k, 1)->expr->type, "0..9");
  release(&k);
  /* what never fits is an error at run time only in a branch, and nothing where the parameters rule it out */
  lowered(UPDATE("x := if |heard| > 1 then x + 5 else 1"),
          "if((|heard| > 1), range check((var0 + 5)), range check(1))");
  lowered(UPDATE("x := if n == 3 then 1 else 7 / (n - 3)"), "if((n == 3), range check(1), range check((7 / (n - 3))))");
  /* a round is advanced by constants, compared with them, and reduced modulo a number */
  lowered(PROCESS("  var r: round = 0\n", "send r to all", "if r > 0 { r := 1 }\n r := r + 1"), "(var1 + 1)");
  lowered(PROCESS("  var r: round = 0\n", "send r to all", "x := if r mod 2 == 0 then 1 else 2"),
          "if(((var1 mod 2) == 0), 1, 2)");
}

static void test_records(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, PROCESS("  var a: (k: Value, b: bool) = (1, true)\n", "send (x, a.b, 3) to all",
                         "a := (b: false, k: 2)\n a.k := 3\n if (1, x) < (x, 2) { x := 1 }"));
  assert_type(&k, k.model->roles[0].body[0].received, "(x: Value, b: bool, _3: 3..3)");
  assert_node(&k, statement(&k, 0)->expr, "(2, false)");
  assert_int_equal(statement(&k, 1)->npath, 1);
  assert_int_equal(statement(&k, 1)->path[0].field, 0);
  release(&k);
}

static void test_arrays(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, PROCESS("  var a: [P] [Value] Value? = [p in P: [v in Value: none]]\n", "send a[me] to all",
                         "a[me][x] := 2\n a[P(1), 2] := none"));
  assert_type(&k, k.model->roles[0].body[0].received, "[Value] Value?");
  assert_int_equal(statement(&k, 1)->npath, 2);
  release(&k);
}

static void test_defs(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, HEAD "def quorum = n / 2 + 1\ndef down(a: 0..9): 0..9 = if a == 0 then 0 else "
                      "down(a - 1)\n"
                      "process P[n] { input x: Value def big = x > quorum\n"
                      "round { send x to all update { if big and down(2) == 0 { x := 1 } } } }");
  assert_int_equal(k.model->ndefs, 3);
  assert_node(&k, k.model->defs[0].body, "((n / 2) + 1)");
  assert_node(&k, k.model->defs[1].body, "if((#0 == 0), 0, down(range check((#0 - 1))))");
  assert_node(&k, k.model->defs[2].body, "(var0 > quorum())");
  release(&k);
}

/* ---- guards and sends ---- */

static void test_guards(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, PROCESS("  var v: Value? = none\n", "send (x, v) to all",
                         "if 2 * |received| > n and exists m in received, w in m.v: w > 1 { x := w }"
                         " else if exists m in received: m.x == 1 { v := none }"));
  const struct guard *g = &statement(&k, 0)->guard;
  assert_int_equal(g->ngen, 2);
  assert_int_equal(g->nused, 1);
  assert_int_equal(g->used[0], g->gen[1].slot);
  assert_node(&k, g->cond, "(((2 * |received|) > n) and (#1 > 1))");
  /* names that the block does not use stay a plain condition */
  const struct stmt *other = statement(&k, 0)->other.at[0];
  assert_int_equal(other->guard.ngen, 0);
  assert_node(&k, other->guard.cond, "(exists m#0 in received: (#0.x == 1))");
  release(&k);

  /* what may fail is not computed before the conditions on its left were seen to hold */
  check_good(
      &k, PROCESS("  var s: set of Value = {}\n", "send x to all", "if s != {} and exists v in {min(s)} { x := v }"));
  g = &statement(&k, 0)->guard;
  assert_int_equal(g->ngen, 2);
  assert_node(&k, g->gen[0].range, "if((var1 != {}), some(true), none)");
  assert_int_equal(g->nused, 1);
  release(&k);
}

static void test_sends(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, PROCESS("  var v: Value? = none\n  oracle c: P each phase\n  var s: set of P = {}\n",
                         "send w to q when me == c and exists w in v, q in s\n send 1 to c\n"
                         "send 2 to others\n send 3 to P\n send 1 to s",
                         "v := none\n s := {me}"));
  const struct send *s = k.model->roles[0].body[0].sends;
  assert_int_equal(k.model->roles[0].body[0].nsends, 5);
  assert_int_equal(s[0].guard.nused, 2);
  assert_int_equal(s[0].target, TARGET_ONE);
  assert_node(&k, s[0].message, "#0");
  assert_int_equal(s[1].target, TARGET_ONE);
  assert_int_equal(s[2].target, TARGET_OTHERS);
  assert_int_equal(s[3].target, TARGET_SET);
  assert_int_equal(s[3].to_role, 0);
  assert_int_equal(s[4].target, TARGET_EXPR);
  assert_type(&k, k.model->roles[0].body[0].received, "Value");
  release(&k);
}

#define TWO_ROLES                                                                                                      \
  HEAD "process C[1] { var y: bool = false var all_of: set of P = {}\n"                                                \
       "  once { round vote { update { all_of := heard y := |received| == n } }\n"                                     \
       "         round tell { send y to P } } }\n"                                                                     \
       "process P[n] { input x: Value var y: bool = true\n"                                                            \
       "  once { round vote { send x to C } round { update { if exists m in received { y := m } "                      \
       "} } } }\n"

static void test_roles(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, TWO_ROLES "safety s: forall p in C | P: p.y or p in P\n"
                           "safety t: forall p in P & correct: p.x == 1\n");
  const struct model *m = k.model;
  assert_int_equal(m->nprocesses, 4);
  assert_int_equal(m->roles[1].first, 1);
  assert_int_equal(m->npoints, 2);
  assert_string_equal(m->points[1].name, "tell");
  assert_int_equal(m->points[1].next, POINT_END);
  assert_type(&k, m->roles[0].body[0].received, "Value");
  assert_null(m->roles[0].body[1].received);
  assert_null(m->roles[1].body[0].received);
  assert_type(&k, m->roles[1].body[1].received, "bool");
  assert_node(&k, m->properties[0].formula, "(forall p#0 in (C | P): (#0.y or (#0 in P)))");
  release(&k);
}

/* ---- the schedule ---- */

static void test_schedule(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, HEAD "process P[n] { input x: Value\n"
                      "once { round a { send x to all } }\n"
                      "repeat 2 as i { round b { send i to all } round { update { x := i } } }\n"
                      "phase ph { round a { send ph to all } } }");
  const struct point *p = k.model->points;
  assert_int_equal(k.model->npoints, 6);
  assert_int_equal(k.model->round_names.n, 2);
  assert_int_equal(p[0].name_id, p[5].name_id);
  assert_int_equal(p[2].name_id, NO_NAME);
  assert_int_equal(p[1].loop, 1);
  assert_int_equal(p[4].loop, 2);
  assert_int_equal(p[4].next, 5);
  assert_int_equal(p[5].next, 5);
  assert_true(p[3].phase_start && !p[3].phase_end && p[4].phase_end && !p[4].endless);
  assert_true(p[5].phase_start && p[5].phase_end && p[5].endless);
  assert_ptr_equal(k.model->roles[0].body[1].sends, k.model->roles[0].body[3].sends);
  assert_type(&k, k.model->roles[0].body[1].received, "1..2");
  assert_type(&k, k.model->roles[0].body[5].received, "round");
  release(&k);
  check_good(&k, HEAD "process P[n] { input x: Value round { send x to all } round {} }");
  assert_int_equal(k.model->npoints, 2);
  assert_int_equal(k.model->points[1].next, 0);
  release(&k);
  check_good(&k, HEAD "process P[n] { input x: Value repeat n { round {} } finally { x := 1 } }");
  assert_int_equal(k.model->roles[0].body[1].finally.n, 0);
  assert_int_equal(k.model->roles[0].body[2].finally.n, 1);
  release(&k);
}

/* ---- parameters ---- */

static void assert_params(struct checked_text *k, const char *expected) {
  struct text out = {0};
  assert_non_null(k->model);
  for (uint32_t i = 0; i < k->model->nparams; i++)
    text_addf(&out, "%s=%d ", k->model->params[i].name, (int)k->model->params[i].value);
  assert_string_equal(text_or_empty(&out), expected);
  text_release(&out);
}

static void test_params(void **state) {
  (void)state;
  const char *text = "algorithm A param n, t where 3 * t < n and t >= 1 param k = n - t param b: bool = true\n"
                     "process P[n] { input x: 1..k round { send x to all when b } }";
  struct checked_text k;
  struct param_binding both[] = {{"n", 4}, {"t", 1}};
  check_with(&k, text, both, 2, false);
  assert_params(&k, "n=4 t=1 k=3 b=1 ");
  release(&k);
  check_with(&k, text, both, 1, true);
  assert_params(&k, "n=4 t=1 k=3 b=1 ");
  release(&k);
  check_with(&k, text, NULL, 0, true);
  assert_params(&k, "n=4 t=1 k=3 b=1 ");
  release(&k);
  check_with(&k, "algorithm A param n process P[n] { input x: bool round { send x to all } }", NULL, 0, true);
  assert_params(&k, "n=3 ");
  release(&k);
}

/* 9^9 combinations, none of which will do: the search gives up. */
static void test_param_search_ends(void **state) {
  (void)state;
  struct checked_text k;
  struct text out = {0};
  check_with(&k,
             "algorithm A param a, b, c, d, e, f, g, h, n where a + b + c + d + e + f + g + h + n > 1000\n"
             "process P[n] { input x: bool round { send x to all } }",
             NULL, 0, true);
  assert_null(k.model);
  assert_non_null(strstr(diagnostics_text(&k, &out), "no small values satisfy the conditions"));
  text_release(&out);
  release(&k);
}

/* Each literal has a type of its own: finding it must not take longer the more there are. */
static void test_many_types(void **state) {
  (void)state;
  struct text text = {0};
  text_add(&text, "algorithm A process P[1] { var x: 0..1 = 0 round { update { if x in {0");
  for (int i = 1; i < 50000; i++)
    text_addf(&text, ", %d", i);
  text_add(&text, "} { x := 1 } } } }");
  struct checked_text k;
  check_with(&k, text.at, NULL, 0, false);
  assert_non_null(k.model);
  assert_true(k.model->ntypes >= 50000);
  release(&k);
  text_release(&text);
}

struct param_mistake {
  struct param_binding given[2];
  size_t n;
  const char *message, *advice;
};

static void test_param_mistakes(void **state) {
  (void)state;
  const char *text = "algorithm A param n, t where t >= 0 and 3 * t < n param b: bool = true\n"
                     "process P[n] { input x: bool round { send x to all when b } }";
  const struct param_mistake mistakes[] = {
      {{{"n", 3}}, 1, "parameter 't' has no value", "give it one with -D t=3"},
      {{{"n", 3}, {"t", 1}}, 2, "parameter condition not met: '3 * t < n' with t = 1, n = 3", NULL},
      {{{"n", 3}, {"T", 1}}, 2, "'A' has no parameter 'T'", "its parameters are: n, t, b"},
      {{{"n", 3}, {"t", -1}}, 2, "parameter condition not met: 't >= 0' with t = -1", NULL},
      {{{"n", 10000000}, {"t", 0}}, 2, "too many processes", NULL},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    struct checked_text k;
    struct text out = {0};
    check_with(&k, text, mistakes[i].given, mistakes[i].n, false);
    assert_null(k.model);
    const char *said = diagnostics_text(&k, &out);
    if (!strstr(said, mistakes[i].message) || (mistakes[i].advice && !strstr(said, mistakes[i].advice)))
      fail_msg("expected '%s', got:\n%s", mistakes[i].message, said);
    text_release(&out);
    release(&k);
  }
}

/* ---- environments and properties ---- */

static void test_environments(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, PLAIN "environment base { every round: nosplit and reflexive; synchronous }\n"
                       "environment more extends base {\n"
                       "  infinitely often: (forall p in P: |HO[p]| > 1) and (forall p in P: |SHO[p]| > 1)\n"
                       "  at most n - 1 processes are byzantine; any messages are lost each round\n"
                       "  at most 1 P omit to send; at most 2 messages are corrupted each receiver\n"
                       "}\n");
  assert_int_equal(k.model->nenvironments, 2);
  const struct environment *base = &k.model->environments[0], *more = &k.model->environments[1];
  assert_int_equal(base->nclauses, 3);
  assert_node(&k, base->clauses[0].pred, "(forall p#0 in all, q#1 in all: ((HO[#0] & HO[#1]) != {}))");
  assert_node(&k, base->clauses[1].pred, "(forall p#0 in all: (#0 in HO[#0]))");
  assert_int_equal(more->nclauses, 8);
  assert_int_equal(more->clauses[3].kind, CLAUSE_OFTEN); /* not split: both at once */
  assert_int_equal(more->clauses[3].pred->op, NODE_AND);
  assert_int_equal(more->clauses[4].limit, 2);
  assert_int_equal(more->clauses[5].limit, INT64_MAX);
  assert_int_equal(more->clauses[5].per, PER_ROUND);
  assert_int_equal(more->clauses[6].role, 0);
  assert_true(more->clauses[6].omits_send && !more->clauses[6].omits_receive);
  assert_int_equal(more->clauses[7].per, PER_RECEIVER);
  release(&k);

  check_good(&k, PROCESS("  oracle c: P each phase\n", "send x to c",
                         "x := min(received) otherwise x") "environment e { every phase: (uniform) and forall p, "
                                                           "q in P: c[p] == c[q]\n every round: kernel }\n");
  const struct clause *c = k.model->environments[0].clauses;
  assert_node(&k, c[0].pred, "(exists S#0 in subsets(all): (forall p#1 in all: (HO[#1] == #0)))");
  assert_node(&k, c[1].pred, "(forall p#0 in P, q#1 in P: (c[#0] == c[#1]))");
  assert_int_equal(c[1].unit, EACH_PHASE);
  assert_node(&k, c[2].pred, "(exists q#0 in all: (forall p#1 in all: (#0 in HO[#1])))");
  release(&k);
}

static void test_round_names(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, HEAD "process P[n] { input x: Value phase { round a { send x to all } round b {} } }\n"
                      "environment e { every round: (forall p in P: |HO[p, b]| > 1) and (forall p in "
                      "P: |HO[p]| > 0)\n"
                      "infinitely often phase: forall p in P: |HO[p, a]| > 1 and |HO[p, b]| > 1 }\n");
  const struct clause *c = k.model->environments[0].clauses;
  assert_int_equal(c[0].name_id, 1);
  assert_int_equal(c[1].name_id, NO_NAME);
  assert_int_equal(c[2].name_id, NO_NAME); /* a whole phase may speak of its rounds */
  release(&k);
}

static void test_properties(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, PROCESS("  var v: Value? = none\n", "send x to all",
                         "v := x") "environment a {}\nenvironment b {}\n"
                                   "safety s: forall p, q in P, y in p.v: y == initial(q.x) or round < |faulty|\n"
                                   "safety t in b, a: step forall p in P: p.v != none => p.v' == p.v\n"
                                   "live u in b: forall p in P: (p.v == none) until p.v != none\n"
                                   "live almost surely w in b: exists p in correct: always eventually p.x == 1\n"
                                   "cover z: exists p in P: p.x != 1\n");
  const struct property *p = k.model->properties;
  assert_node(&k, p[0].formula,
              "(forall p#0 in P, q#1 in P, y#2 in #0.v: ((#2 == initial(#1.x)) or (round < |faulty|)))");
  assert_int_equal(p[0].nenvironments, 1);
  assert_int_equal(p[0].environments[0], 0);
  assert_int_equal(p[1].nenvironments, 2);
  assert_int_equal(p[1].environments[0], 1);
  assert_true(p[1].step && !p[0].step);
  assert_node(&k, p[1].formula, "(forall p#0 in P: ((#0.v != none) => (#0.v' == #0.v)))");
  assert_true(p[3].almost_surely && !p[2].almost_surely);
  assert_int_equal(p[4].kind, PROPERTY_COVER);
  release(&k);
  check_good(&k, PLAIN "safety s: true\n");
  assert_string_equal(k.model->environments[0].name, "free");
  release(&k);
}

static void test_globals(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, "algorithm A param n input chief: P input go: bool\n"
                 "process P[n] { input x: bool where x or me == chief\n"
                 "  var y: bool = not x  ghost g: bool = y\n"
                 "  round { send x to all when me == chief and go update { g := g or y  y := "
                 "from(chief) != none } } }\n"
                 "safety s: chief in correct => chief.x and not chief.g\n");
  assert_int_equal(k.model->nglobals, 2);
  assert_node(&k, k.model->roles[0].vars[0].where, "(var0 or (me == chief))");
  assert_node(&k, k.model->properties[0].formula, "((chief in correct) => (chief.x and not(chief.g)))");
  release(&k);
}

/* ---- mistakes ---- */

static const struct rejected_text mistakes[] = {
    /* names */
    {UPDATE("x := min(recieved)"), "unknown name 'recieved'"},
    {UPDATE("x := min(recieved)"), "did you mean 'received'?"},
    {PROCESS("  var sender: P = self\n", "send x to all", "x := x"), "write 'me'"},
    {PROCESS("  var ready: Boolean = false\n", "send x to all", "x := x"), "write 'bool'"},
    {PROCESS("  var decided: Value? = none\n", "send x to all", "decison := x"), "unknown variable 'decison'"},
    {PROCESS("  var decided: Value? = none\n", "send x to all", "decison := x"),
     "did you mean 'decided' (declared at line 6)?"},
    {UPDATE("let x = 3"), "'x' is already declared"},
    {UPDATE("if exists n in received { x := n }"), "the parameter 'n' is declared at line 2"},
    {PROCESS("  var me: bool = true\n", "send x to all", ""), "'me' is a built-in name"},
    {UPDATE("x := minimum(received)"), "unknown function 'minimum'"},
    {UPDATE("x := x(1)"), "'x' cannot be called"},
    {UPDATE("x := Value"), "type 'Value' is not a value"},
    {UPDATE("if (exists m in received: m == 1) and (exists m in received: m == 2) { x := m }"), "'m' is bound twice"},
    {HEAD "type A1 = {a, b}\ntype B1 = {b, c}\nprocess P[n] { round {} }", "the enum label 'b' is declared at line 4"},
    /* types */
    {UPDATE("x := 7"), "value 7 is outside Value = 1..3"},
    {UPDATE("x := x + 5"), "values 6..8 are outside Value = 1..3"},
    {UPDATE("if |heard| > 1 { x := 7 }"), "value 7 is outside Value = 1..3"},
    {UPDATE("if n == 3 { x := x + 5 }"), "values 6..8 are outside Value = 1..3"},
    {UPDATE("if n == 3 or |heard| > 1 { x := 1 } else if |heard| > 2 { x := 1 / 0 } else { x := y }"),
     "unknown name 'y'"},
    {UPDATE("x := x / (n - 3)"), "division by zero"},
    {UPDATE("x := x + 5"), "values 6..8 are outside Value = 1..3"},
    {UPDATE("x := true"), "expected Value = 1..3 for 'x', found bool"},
    {UPDATE("x := none"), "declared with '?': 'Value?'"},
    {PROCESS("  var v: Value? = none\n", "send x to all", "x := v"), "it may be none"},
    {UPDATE("if x { x := 1 }"), "a condition must be true or false"},
    {UPDATE("if me < P(1) { x := 1 }"), "identities have no order"},
    {UPDATE("if x == me { x := 1 }"), "cannot compare Value = 1..3 with P"},
    {HEAD "type Ballot = 1..3\nprocess P[n] { input x: Value input b: Ballot round { send x to all "
          "when x == b } }",
     "cannot compare Value = 1..3 with Ballot = 1..3"},
    {PROCESS("  var v: Value? = none\n", "send x to all", "if v < 2 { x := 1 }"), "what may be none has no order"},
    {PROCESS("  var s: set of Value = {}\n", "send x to all", "s := s + {x}"), "written with '|'"},
    {PROCESS("  var s: set of Value = {}\n", "send x to all", "s := x"), "a set of one is written {x}"},
    {UPDATE("x := x otherwise 1"), "'otherwise' has no effect"},
    {UPDATE("x := 3 / 0"), "division by zero"},
    {UPDATE("x := if me == P(1) then 1 else true"), "the two branches of 'if' differ"},
    {UPDATE("if x[1] { x := 1 }"), "is not an array"},
    {PROCESS("  var r: round = 0\n", "send x to all", "x := r"), "a round grows without bound"},
    {PROCESS("  var r: round = 0\n", "send x to all", "r := r + x"), "'+' needs numbers, not round"},
    {PROCESS("  var l: P = me\n", "send me to all", "l := min(received)"), "identities have no order"},
    {"algorithm A param n type V = unordered 1..n process P[n] { input x: V round { send x to all "
     "update { x := min(received) } } }",
     "declared 'unordered'"},
    {HEAD "type W = 3..n - 3\nprocess P[n] { round {} }", "the range '3..n - 3' is empty: from 3 to 0"},
    {HEAD "type W = 0..9223372036854775807 + n\nprocess P[n] { round {} }", "a number beyond 64 bits"},
    {HEAD "type A1 = set of B1\ntype B1 = A1?\nprocess P[n] { round {} }", "is made of itself"},
    {PROCESS("  var y: Valeu = 1\n", "send x to all", ""), "did you mean 'Value' (declared at line 3)?"},
    {PROCESS("  var y: int = 1\n", "send x to all", ""), "cannot be of type int"},
    {PROCESS("  var a: (k: Value, b: bool) = (1, true)\n", "send x to all", "a := (b: true, c: 1)"),
     "expected (k: Value, b: bool)"},
    {PROCESS("", "send (x, me) to all", "if exists m in received { x := m.y }"), "unknown field 'y'"},
    /* processes */
    {PROCESS("  var b: bool\n", "send x to all", ""), "variable 'b' has no first value"},
    {PROCESS("  var y: Value = z\n  var z: Value = 1\n", "send x to all", ""), "variable 'z' has no value yet"},
    {UPDATE("send x to all"), "an update cannot send"},
    {UPDATE("goto x"), "'goto' belongs to processes with steps"},
    {PROCESS("", "send min(received) to all", ""), "'received' can only be used in an update"},
    {PROCESS("", "", "x := min(received)"), "nobody sends to 'P' in this round"},
    {UPDATE("if exists q in P: q.x == 1 { x := 1 }"), "a process cannot read 'x' of another process"},
    {UPDATE("if sender(x) == me { x := 1 }"), "'sender' needs a message"},
    {PROCESS("", "send x to 3", ""), "P(i) is the process with number i"},
    {PROCESS("  var c: P? = none\n", "send x to c", ""), "'send ... to q when exists q in c'"},
    {PROCESS("", "send none to all", ""), "the type of this message is not known"},
    {PROCESS("  ghost g: bool = false\n", "send x to all", "if g { x := 1 }"), "ghost 'g' can only be read by"},
    {PROCESS("  oracle c: P each phase\n", "send x to all", "c := me"), "the environment chooses it"},
    {HEAD "type Two = 1..2\nprocess P[n] { input x: Two distinct round {} }", "too few values for 3 processes"},
    {HEAD "def f(a: Value): Value = a\nprocess P[n] { input x: Value round { send f(1, 2) to all } }",
     "'f' needs 1 argument, not 2"},
    {HEAD "def f(a: Value) = f(a)\nprocess P[n] { input x: Value round { send f(1) to all } }",
     "'f' uses itself, so its type must be written out"},
    {UPDATE("if me in HO[me] { x := 1 }"), "'HO' can only be used in an environment"},
    {UPDATE("if me in correct { x := 1 }"), "'correct' can only be used in a property or an environment"},
    /* the schedule */
    {HEAD "process P[n] { phase { round {} } once { round {} } }", "this is never reached"},
    {HEAD "process P[n] { input x: Value phase { round {} } finally { x := 1 } }", "this is never reached"},
    {HEAD "process P[n] { once { round a {} round b {} } }\nprocess Q[1] { once { round a {} } }",
     "'Q' has 1 round here, but 'P' has 2"},
    {HEAD "process P[n] { once { round a {} } }\nprocess Q[1] { once { round b {} } }",
     "'Q' calls this round 'b', but 'P' calls it 'a'"},
    {HEAD "process P[n] { repeat 2 { round {} } }\nprocess Q[1] { phase { round {} } }",
     "'Q' has 'phase' where 'P' has 'repeat'"},
    {HEAD "process P[n] { repeat 1000000 { round {} } }", "'repeat' of 1000000 is too long"},
    {HEAD "process P[n] { input x: bool }", "'P' has no rounds"},
    {HEAD "process P[n] { input x: Value round { send x to all update { x := min(received) } } }\n"
          "process Q[1] { round { send true to P } }",
     "are of different types"},
    {"algorithm A param n", "'A' has no process"},
    /* environments */
    {PLAIN "environment good {}\nsafety s in goood: true", "did you mean 'good' (declared at line 12)?"},
    {PLAIN "environment a extends b {}\nenvironment b extends a {}", "extends itself"},
    {PLAIN "environment a { every round: forall p in P: p.x == 1 }", "an environment cannot read the variables"},
    {PLAIN "environment a { every round: forall p in P: |HO[p, vote]| > 1 }", "unknown round 'vote'"},
    {PLAIN "environment a { at most 1 proceses crash }", "did you mean 'processes'?"},
    {PLAIN "environment a { at most 0 - n processes crash }", "at most -3 faults"},
    {PLAIN "environment a { at most 1 messages are duplicated }", "cannot be duplicated"},
    {PLAIN "environment a { channels fifo }", "has no channels"},
    {PLAIN "environment a { every round: HO == {} }", "write HO[p]"},
    {"algorithm A param n process P[n] { round {} } process Coordinator[1] { round {} }\n"
     "environment a { at most 1 Coordinater crash }",
     "did you mean 'Coordinator'?"},
    {"algorithm A param n where n > // why\n 5 process P[n] { round {} }", "not met: 'n > 5' with n = 3"},
    {PLAIN "environment a { at most 1 processes crash each round }", "for the whole run"},
    /* properties */
    {PLAIN "safety s: x == 1", "write p.x for a process p"},
    {PLAIN "safety s: forall p in P: p.decided == 1", "unknown variable 'decided'"},
    {PLAIN "safety s: forall p in P: p.x' == p.x", "can only be used in a step property"},
    {PLAIN "safety s: forall p in P: eventually p.x == 1", "can only be used in a 'live' property"},
    {PLAIN "live s: forall p in P: p.x == 1", "says nothing about what happens later"},
    {PLAIN "safety s: forall p in P: pick(Value) == p.x", "'pick' is a free choice"},
    {PLAIN "safety s: forall p in P: number(p) == p.x", "'number' cannot be used in a property"},
    {PLAIN "safety s: forall p in P", "'forall' says nothing"},
    {PLAIN "safety s: me == me", "'me' can only be used in a process"},
    {PLAIN "safety s: true\nsafety s: true", "property 's' is already declared"},
    {TWO_ROLES "safety s: forall p in correct: p.x == 1", "process 'C' has no variable 'x'"},
    {TWO_ROLES "safety s: forall p in P, q in C: p == q", "cannot compare P with C"},
    {TWO_ROLES "safety s: forall p in P: initial(p.y)", "'initial' is for inputs"},
    /* other kinds of models */
    {"counters A counter a", "counter systems cannot be checked by this version of rondo"},
};

static void test_mistakes(void **state) {
  (void)state;
  check_rejected(mistakes, sizeof mistakes / sizeof *mistakes);
}

static void test_all_errors_at_once(void **state) {
  (void)state;
  struct checked_text k;
  check_text(&k, UPDATE("x := yy\n x := true") "safety s: zz\nenvironment e { at most 1 cats crash }\n");
  assert_null(k.model);
  assert_int_equal(k.diags.errors, 4);
  release(&k);
}

static void test_warnings(void **state) {
  (void)state;
  struct checked_text k;
  struct text out = {0};
  check_good(&k, PROCESS("  var y: bool = false\n", "send x to all", "let z = 1\n y := true"));
  const char *said = diagnostics_text(&k, &out);
  assert_non_null(strstr(said, "warning[W0101]: variable 'y' is never read"));
  assert_non_null(strstr(said, "warning[W0102]: 'z' is never used"));
  text_release(&out);
  release(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_sets),
      cmocka_unit_test(test_aggregates),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_records),
      cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_defs),
      cmocka_unit_test(test_guards),
      cmocka_unit_test(test_sends),
      cmocka_unit_test(test_roles),
      cmocka_unit_test(test_schedule),
      cmocka_unit_test(test_params),
      cmocka_unit_test(test_param_search_ends),
      cmocka_unit_test(test_many_types),
      cmocka_unit_test(test_param_mistakes),
      cmocka_unit_test(test_environments),
      cmocka_unit_test(test_round_names),
      cmocka_unit_test(test_properties),
      cmocka_unit_test(test_globals),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_all_errors_at_once),
      cmocka_unit_test(test_warnings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
