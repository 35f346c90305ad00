/* The checker on processes that take steps: what they are lowered to, and what it says of typical
 * mistakes. */
#include "checked_text.h"

#define HEAD "algorithm A\nparam n where n >= 1\ntype Value = 1..3\n"
#define MESSAGES HEAD "message ask(v: Value), reply(v: Value, ok: bool), done\n"
/* Line 6 declares x. */
#define PROCESS(kind, vars, body) kind "process P[n] {\n  var x: Value = 1\n" vars "\n  " body "\n}\n"
#define P(body) PROCESS(MESSAGES, "", body)
#define ASK "start { send ask(x) to all }\n"
#define SHARED(stores, body) HEAD stores "\nprocess P[n] {\n  var x: Value = 1\n  " body "\n}\n"

/* The whole model as text: from the first line that begins like this, as far as what is expected
 * goes. */
static void assert_dump(const char *text, const char *expected) {
  struct checked_text k;
  struct text out = {0};
  check_good(&k, text);
  model_print(k.model, &out);
  const char *line = strstr(expected, "\n");
  size_t head = line ? (size_t)(line - expected) : strlen(expected);
  const char *at = text_or_empty(&out);
  while (at && strncmp(at, expected, head) != 0)
    at = (at = strchr(at, '\n')) ? at + 1 : NULL;
  if (!at || strncmp(at, expected, strlen(expected)) != 0)
    fail_msg("expected\n%s\nin\n%s", expected, text_or_empty(&out));
  text_release(&out);
  release(&k);
}

static const struct action *action(const struct checked_text *k, uint32_t i) {
  assert_true(i < k->model->roles[0].nactions);
  return &k->model->roles[0].actions[i];
}

/* ---- whole algorithms ---- */

static void test_paxos(void **state) {
  (void)state;
  assert_dump("algorithm Paxos param n param leaders = 2 type Ballot = 0..leaders\n"
              "message prepare(b: Ballot), promise(b: Ballot, vb: Ballot, v: Leader?)\n"
              "message accept(b: Ballot, v: Leader), accepted(b: Ballot, v: Leader)\n"
              "process Leader[leaders] {\n"
              "  def ballot = number(me)\n"
              "  start { send prepare(ballot) to Acceptor }\n"
              "  on Q: n / 2 + 1 of promise(b == ballot) once {\n"
              "    let best = max(m.vb for m in Q)\n"
              "    send accept(ballot, pick(v for m in Q, v in m.v if m.vb == best) otherwise me) to "
              "Acceptor\n"
              "  }\n}\n"
              "process Acceptor[n] {\n"
              "  var promised: Ballot = 0\n"
              "  var last: (b: Ballot, v: Leader?) = (b: 0, v: none)\n"
              "  on prepare(b) from l if b > promised { promised := b  send promise(b, last.b, last.v) to "
              "l }\n"
              "  on accept(b, v) if b >= promised { promised := b  last := (b, v)  send accepted(b, v) to "
              "Learner }\n"
              "}\n"
              "process Learner[1] {\n"
              "  var chosen: set of Leader = {}\n"
              "  on Q: n / 2 + 1 of accepted(b, v) same b, v { chosen := chosen | {v} }\n"
              "}\n"
              "safety agreement: forall l in Learner: |l.chosen| <= 1\n",
              "message prepare(b: Ballot)\n"
              "message promise(b: Ballot, vb: Ballot, v: Leader?)\n"
              "message accept(b: Ballot, v: Leader)\n"
              "message accepted(b: Ballot, v: Leader)\n"
              "def ballot/0 = number(me)\n"
              "process Leader: 2 from 0\n"
              "  point at: {start, end} = start\n"
              "  once once 1: bool = false\n"
              "  action start at start then end\n"
              "    send prepare(ballot()) to Acceptor\n"
              "  action promise on ((n / 2) + 1) of #0: promise matching (#0.b == ballot()) once var1\n"
              "    let #1 = max(#1.vb for m#1 in received)\n"
              "    send accept(ballot(), (pick(#3 for m#2 in received, v#3 in #2.v if (#2.vb == #1)) "
              "otherwise me)) to "
              "Acceptor\n"
              "process Acceptor: 3 from 2\n"
              "  var promised: Ballot = 0\n"
              "  var last: (b: Ballot, v: Leader?) = (0, none)\n"
              "  action prepare on #0: prepare with #1 = b from #2 if (#1 > var0)\n"
              "    promised := #1\n"
              "    send promise(#1, var1.b, var1.v) to #2\n"
              "  action accept on #0: accept with #1 = b, #2 = v if (#1 >= var0)\n"
              "    promised := #1\n"
              "    last := (#1, some(#2))\n"
              "    send accepted(#1, #2) to Learner\n"
              "process Learner: 1 from 5\n"
              "  var chosen: set of Leader = {}\n"
              "  action accepted on ((n / 2) + 1) of #0: accepted same #1 = b, #2 = v\n"
              "    chosen := (var0 | {#2})\n");
}

static void test_peterson(void **state) {
  (void)state;
  assert_dump("algorithm Peterson param n\n"
              "shared flag: [P] bool = [p in P: false]\n"
              "shared turn: P\n"
              "process P[n] {\n"
              "  step want     { flag[me] := true }\n"
              "  step yields   { turn := pick(q for q in P if q != me) }\n"
              "  step enter    when turn == me or forall q in P: q != me => not flag[q] {}\n"
              "  step critical {}\n"
              "  step leave    { flag[me] := false  goto want }\n"
              "}\n"
              "environment scheduler { fair }\n"
              "safety mutex: forall p, q in P: at(p, critical) and at(q, critical) => p == q\n",
              "  shared flag: [P] bool = [false for p#0 in P]\n"
              "  shared turn: P = pick(#0 for v#0 in P)\n"
              "process P: 3 from 0\n"
              "  point at: {want, yields, enter, critical, leave, end} = want\n"
              "  action want at want then yields\n"
              "    flag[me] := true\n"
              "  action yields at yields then enter\n"
              "    turn := pick(#0 for q#0 in P if (#0 != me))\n"
              "  action enter at enter then critical if ((turn == me) or (forall q#0 in P: ((#0 != me) => "
              "not(flag[#0]))))\n"
              "  action critical at critical then leave\n"
              "  action leave at leave then end\n"
              "    flag[me] := false\n"
              "    at := want\n"
              "environment scheduler\n"
              "  fair to messages\n"
              "safety mutex in scheduler: (forall p#0 in P, q#1 in P: (((#0.at == critical) and (#1.at == "
              "critical)) "
              "=> (#0 == #1)))\n");
}

/* ---- kinds of models ---- */

static void test_kinds(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum model_kind kind;
  } cases[] = {
      {HEAD "process P[n] { input x: Value round { send x to all } }", MODEL_ROUNDS},
      {P(ASK "on ask(v) { x := v }"), MODEL_MESSAGES},
      {MESSAGES "process P[n] { var x: Value = 1 step s { x := 2 } }", MODEL_MESSAGES},
      {HEAD "process P[n] { var x: Value = 1 step s { x := 2 } }", MODEL_SHARED},
      {HEAD "process P[n] { var x: Value = 1 start { x := 2 } when x == 2 { x := 3 } }", MODEL_SHARED},
      {SHARED("shared r: Value = 1", "when r == 1 { r := x }"), MODEL_SHARED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct checked_text k;
    check_good(&k, cases[i].text);
    assert_int_equal(k.model->kind, cases[i].kind);
    release(&k);
  }
}

/* ---- triggers ---- */

static void test_triggers(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, P(ASK "on m: ask(v > x) from q if exists w in Value: w > m.v { x := w  send "
                       "reply(m.v, q == me) to "
                       "sender(m) }\n"
                       "  on reply(v, ok == true) once { x := v }\n"
                       "  on done {}\n"
                       "  when x == 3 once { send done to others }"));
  const struct action *a = action(&k, 1);
  assert_string_equal(a->name, "ask");
  assert_int_equal(a->trigger, TRIGGER_ONE);
  assert_int_equal(a->point, ANY_POINT);
  assert_int_equal(a->next, ANY_POINT);
  assert_int_equal(a->nparts, 0);
  assert_int_equal(a->once, NO_SLOT);
  assert_node(&k, a->match, "(#0.v > var0)");
  assert_int_equal(a->guard.ngen, 1);
  assert_int_equal(a->guard.nused, 1);
  const struct send *s = a->body.at[1]->send;
  assert_int_equal(s->target, TARGET_ONE);
  assert_node(&k, s->message, "(#0.v, (#1 == me))");
  assert_node(&k, s->to, "sender(#0)");
  assert_type(&k, s->to->type, "P");
  a = action(&k, 2);
  assert_int_equal(a->nparts, 1);
  assert_int_equal(a->parts[0].field, 0);
  assert_int_equal(a->from_slot, NO_SLOT);
  const struct role *role = &k.model->roles[0];
  assert_int_equal(role->vars[a->once].kind, VAR_ONCE);
  assert_int_equal(action(&k, 4)->once, a->once + 1);
  assert_string_equal(action(&k, 4)->name, "when");
  assert_int_equal(action(&k, 4)->body.at[0]->send->target, TARGET_OTHERS);
  assert_int_equal(k.model->messages[2].type->size, 0);
  assert_int_equal(k.model->messages[2].type->count, 1);
  release(&k);
}

static void test_quorums(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, P(ASK "on Q: exactly x + 1 of reply(ok == true) same v taken if |Q| > 1 and "
                       "exists o in Q: sender(o) "
                       "!= me { x := v  send ask(min(m.v for m in Q)) to {sender(m) for m in Q} }\n"
                       "on R: 2 of ask(v) same v { x := v foreach m in R { x := m.v } }\n"
                       "on ask(v) { send reply(v: v, ok: true) to P }"));
  const struct action *a = action(&k, 1);
  assert_int_equal(a->trigger, TRIGGER_QUORUM);
  assert_true(a->exactly && a->taken);
  assert_node(&k, a->size, "(var0 + 1)");
  assert_node(&k, a->match, "(#0.ok == true)");
  assert_int_equal(a->nparts, 1);
  assert_node(&k, a->guard.cond, "((|received| > 1) and (exists o#2 in received: (sender(#2) != me)))");
  const struct send *s = a->body.at[1]->send;
  assert_int_equal(s->target, TARGET_EXPR);
  assert_node(&k, s->message, "(min(#3.v for m#3 in received))");
  assert_node(&k, s->to, "{sender(#3) for m#3 in received}");
  assert_false(action(&k, 2)->exactly || action(&k, 2)->taken);
  assert_int_equal(action(&k, 2)->body.at[1]->kind, STMT_FOREACH);
  release(&k);
}

/* Whom `from` can mean: those who send such messages to the role, and those who may be Byzantine.
 */
#define THREE                                                                                                          \
  "algorithm A param n message up(v: bool), down(v: bool)\n"                                                           \
  "process A[1] { var c: B = B(1) start { send up(true) to c }\n"                                                      \
  "  on m: down from q { if q == c { send up(m.v) to q } } }\n"                                                        \
  "process B[n] { on m: up from q { send down(m.v) to q } }\n"                                                         \
  "process C[2] { start { send down(true) to C }\n"                                                                    \
  "  on m: down from q { if q != me { send down(m.v) to C(2) } } }\n"

static void test_senders(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, THREE);
  const struct role *roles = k.model->roles;
  assert_type(&k, roles[1].actions[0].body.at[0]->send->to->type, "A");
  assert_type(&k, roles[0].actions[1].body.at[0]->guard.cond->kid[0]->type, "B");
  /* B answers somebody, which the text alone does not show */
  assert_type(&k, roles[2].actions[1].body.at[0]->guard.cond->kid[0]->type, "process");
  release(&k);
  check_good(&k, THREE "environment e { at most 1 A are byzantine }\n");
  assert_type(&k, k.model->roles[1].actions[0].body.at[0]->send->to->type, "A");
  release(&k);
  check_good(&k, THREE "environment e { at most 1 processes are byzantine }\n");
  assert_type(&k, k.model->roles[1].actions[0].body.at[0]->send->to->type, "process");
  release(&k);
}

/* ---- program points ---- */

static void test_points(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k,
             P("start { x := 2 }\n"
               "step wait when x == 1 { x := 2 } or on ask(v) { x := v  goto end }\n"
               "on done { halt }\n"
               "step tell { if x == 1 { send ask(x) to all  goto wait } else { send done to all } }") //
             "process R[1] { step wait {} step rest {} }\n"
             "process S[1] { var y: bool = true when y { y := false } }\n"
             "safety s: forall p in P: at(p, start) or at(p, end)\n"
             "safety t: forall p in P | R: at(p, wait)\n"
             "safety u: step forall p in all, q in R: at(p, tell) => at(q, rest)'\n"
             "safety w: forall q in S: q.y\n");
  const struct role *role = &k.model->roles[0];
  assert_int_equal(role->point_var, 1);
  assert_int_equal(role->vars[1].kind, VAR_POINT);
  assert_type(&k, role->vars[1].type, "{start, wait, tell, end}");
  assert_int_equal(k.model->roles[2].point_var, NO_VAR);
  assert_int_equal(role->nactions, 5);
  assert_int_equal(action(&k, 0)->point, 0);
  assert_int_equal(action(&k, 0)->next, 1);
  assert_int_equal(action(&k, 1)->point, 1);
  assert_int_equal(action(&k, 2)->point, 1);
  assert_int_equal(action(&k, 2)->next, 2);
  assert_int_equal(action(&k, 3)->point, ANY_POINT);
  assert_int_equal(action(&k, 4)->next, 3);
  assert_string_equal(action(&k, 2)->name, "wait");
  const struct stmt *jump = action(&k, 2)->body.at[1];
  assert_int_equal(jump->kind, STMT_ASSIGN);
  assert_int_equal(jump->var, role->point_var);
  assert_node(&k, jump->expr, "end");
  const struct property *p = k.model->properties;
  assert_node(&k, p[0].formula, "(forall p#0 in P: ((#0.at == start) or (#0.at == end)))");
  assert_node(&k, p[1].formula,
              "(forall p#0 in (P | R): (((#0 in P) and (#0.at == wait)) or ((#0 in R) and (#0.at "
              "== wait))))");
  assert_node(&k, p[2].formula, "(forall p#0 in all, q#1 in R: (((#0 in P) and (#0.at == tell)) => (#1.at' == rest)))");
  release(&k);
}

/* ---- stores ---- */

static void test_stores(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, HEAD "shared a, b: Value = 1\nshared any: [P] Value?\ninput chief: P\nghost most: Value = a\n"
                      "def free = a == b\n"
                      "process P[n] { var x: Value = 1  stable y: Value = 2  ghost g: Value = 1\n"
                      "  step s when free and me != chief { any[me] := x  b := y  most := max(most, x)  g := "
                      "most } }\n"
                      "safety s: step a <= a' and any'[P(1)] == none and forall p in P: p.g <= most'\n");
  const struct var *g = k.model->globals;
  assert_int_equal(k.model->nglobals, 5);
  assert_int_equal(g[0].kind, VAR_SHARED);
  assert_int_equal(g[3].kind, VAR_INPUT);
  assert_int_equal(g[4].kind, VAR_GHOST);
  assert_node(&k, g[2].init, "pick(#0 for v#0 in [P] Value?)");
  assert_node(&k, g[4].init, "a");
  const struct role *role = &k.model->roles[0];
  assert_int_equal(role->vars[1].kind, VAR_STABLE);
  const struct block *body = &action(&k, 0)->body;
  assert_true(body->at[0]->shared && body->at[0]->var == 2 && body->at[0]->npath == 1);
  assert_true(body->at[1]->shared && body->at[1]->var == 1);
  assert_true(body->at[2]->shared && body->at[2]->var == 4);
  assert_false(body->at[3]->shared);
  assert_node(&k, k.model->properties[0].formula,
              "(((a <= a') and (any'[P(1)] == none)) and (forall p#0 in P: (#0.g <= most')))");
  release(&k);
}

static void test_rings_and_graphs(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, MESSAGES "process P[n] ring { var x: Value = 1 start { send ask(x) to next } on ask(v) { x := v } }\n"
                          "process R[2] graph (P | R) - {me} { start { send done to neighbours send done to all } "
                          "on done {} }\n");
  assert_true(k.model->roles[0].ring);
  assert_int_equal(action(&k, 0)->body.at[0]->send->to->op, NODE_NEXT);
  assert_node(&k, k.model->roles[1].graph, "((P | R) - {me})");
  const struct send *s = k.model->roles[1].actions[0].body.at[0]->send;
  assert_int_equal(s->target, TARGET_EXPR);
  assert_int_equal(s->to->op, NODE_NEIGHBOURS);
  assert_type(&k, s->to->type, "set of process");
  release(&k);
}

/* ---- environments and properties ---- */

static void test_environments(void **state) {
  (void)state;
  struct checked_text k;
  check_good(&k, P(ASK "on ask(v) { x := v }") "environment a { at most n - 1 P crash and recover; "
                                               "channels fifo bound 2; fair }\n"
                                               "environment b extends a { any messages are lost; at most "
                                               "1 message are duplicated; channels fifo bound 2 }\n"
                                               "environment c { channels set; at most 1 processes are "
                                               "byzantine; at most 1 processes crash }\n"
                                               "safety s on request: true\ncover t in b on request: "
                                               "true\nsafety u: true\n");
  const struct clause *a = k.model->environments[0].clauses, *b = k.model->environments[1].clauses,
                      *c = k.model->environments[2].clauses;
  assert_int_equal(a[0].kind, CLAUSE_CRASH);
  assert_true(a[0].recovers && a[0].role == 0 && a[0].limit == 2);
  assert_int_equal(a[1].kind, CLAUSE_CHANNELS);
  assert_int_equal(a[1].channel, CHANNEL_FIFO);
  assert_int_equal(a[1].bound, 2);
  assert_int_equal(k.model->environments[1].nclauses, 5); /* the channels are said once */
  assert_int_equal(b[3].kind, CLAUSE_LOST);
  assert_int_equal(b[3].limit, INT64_MAX);
  assert_int_equal(b[4].kind, CLAUSE_DUPLICATED);
  assert_int_equal(c[0].channel, CHANNEL_SET);
  assert_int_equal(c[0].bound, 0);
  assert_false(c[2].recovers);
  const struct property *p = k.model->properties;
  assert_true(p[0].on_request && p[1].on_request && !p[2].on_request);
  release(&k);
}

/* ---- mistakes ---- */

static const struct rejected_text mistakes[] = {
    /* messages */
    {P("start { send aks(x) to all }\n on ask(v) { x := v }"), "unknown message 'aks'"},
    {P("start { send aks(x) to all }\n on ask(v) { x := v }"), "did you mean 'ask' (declared at line 4)?"},
    {P("on aks(v) { x := v }"), "unknown message 'aks'"},
    {P("on Q: 9 of aks { x := 2 }"), "unknown message 'aks'"},
    {P("start { send x to all }"), "'x' is not a message"},
    {P("start { send (x, true) to all }"), "only a message can be sent"},
    {P("start { send reply(x) to all }"), "message 'reply' has 2 fields, not 1"},
    {P("start { send reply to all }"), "it is declared as 'reply(v: Value = 1..3, ok: bool)' (line 4)"},
    {P("start { send done(x) to all }"), "message 'done' has no fields"},
    {P("start { send reply(okay: true, v: x) to all }"), "message 'reply' has no field 'okay'"},
    {P("start { send reply(v: 1, v: x) to all }"), "field 'v' is given twice"},
    {P("start { send reply(v: 1, true) to all }"), "either all parts of a message have names"},
    {P("start { send ask(true) to all }"), "expected Value = 1..3 for 'v' of 'ask', found bool"},
    {P("start { send ask(7) to all }"), "value 7 is outside Value = 1..3"},
    {P("start { x := ask }"), "message 'ask' is not a value"},
    {P("start { x := ask(1) }"), "message 'ask' is not a value"},
    {P("start { ask := 1 }"), "'ask' cannot be assigned to"},
    {P("start { send ask(1) to all when x == 1 }"), "write 'if CONDITION { send ... }'"},
    {PROCESS(MESSAGES, "  var c: P? = none", "start { send ask(1) to c }"), "'if exists q in c { send ... to q }'"},
    {HEAD "message ask(v: int)\nprocess P[n] { on ask {} }", "cannot be of type int"},
    {HEAD "message ask, ask\nprocess P[n] { on ask {} }", "'ask' is already declared"},
    {HEAD "message ask(v: bool, v: bool)\nprocess P[n] { on ask {} }", "field 'v' is declared twice"},
    {PROCESS(MESSAGES, "  var ask: bool = true", "on ask {}"), "the message 'ask' is declared at line 4"},
    /* patterns */
    {P("on ask(w) { x := w }"), "message 'ask' has no field 'w'"},
    {P("on reply(vv) { x := vv }"), "did you mean 'v'?"},
    {P("on done(v) { x := v }"), "it has no fields at all"},
    {P("on ask(3) { x := 1 }"), "name the field that is meant"},
    {PROCESS(MESSAGES, "  var v: Value = 1", "on ask(v) { x := v }"), "name the message, 'on m: ask', and write m.v"},
    {P("on ask(v, v) { x := v }"), "it is bound twice"},
    {P("on ask(v == true) { x := 1 }"), "cannot compare Value = 1..3 with bool"},
    {P("on ask(v == y) { x := 1 }"), "unknown name 'y'"},
    {P("on ask(v > 1) { x := v }"), "name it alone in the pattern, 'ask(v)'"},
    {P("on reply(v, ok == v) { x := v }"), "compare fields after 'if'"},
    {P("on Q: 2 of ask(v > 1) { x := v }"), "read it as 'm.v for m in Q'"},
    {P("on ask(v == pick(Value)) { x := 1 }"), "what is waited for is no choice"},
    {P("on ask(v) same v { x := v }"), "'same' is for the messages of a quorum"},
    {P("on ask(v) taken { x := v }"), "a single message is always taken"},
    {P("on ask(v) when v > 1 { x := v }"), "the condition of 'on' is written 'if'"},
    {P("step s if x > 1 { x := 1 }"), "expected 'when', found 'if'"},
    {P("on ask(v) if v { x := 1 }"), "a condition must be true or false"},
    {P("on ask(v) from x { x := v }"), "'x' is already declared"},
    /* quorums */
    {P("on Q: 2 of ask(v) { x := 2 }"), "add 'same v' if all of them must agree on it"},
    {P("on Q: 2 of ask same w { x := 2 }"), "message 'ask' has no field 'w'"},
    {P("on Q: 2 of ask(v) same v, v { x := v }"), "it is bound twice"},
    {P("on Q: 2 of ask from q { x := 2 }"), "the messages of a quorum have several senders"},
    {P("on Q: true of ask { x := 2 }"), "the size of a quorum must be a number, not bool"},
    {P("on Q: P of ask { x := 2 }"), "|...| is the size of a set"},
    {P("on Q: |Q| of ask { x := 2 }"), "unknown name 'Q'"},
    {P("on Q: pick(Value) of ask { x := 2 }"), "what is waited for is no choice"},
    {P("on Q: 2 of ask { let S = Q  x := 2 }"), "a quorum has a name already"},
    {P("on Q: 2 of ask { if Q == {} { x := 2 } }"), "as in '|Q| == 0'"},
    {P("on Q: 2 of ask { if Q == {m for m in Q} { x := 2 } }"), "write {m for m in Q}"},
    {P("on Q: 2 of ask { x := min(m.v for m in received) }"), "the messages of this quorum are 'Q'"},
    {P("on ask(v) { x := min(received) }"), "'received' belongs to rounds"},
    {P("on Q: 2 of ask { if me in heard { x := 2 } }"), "{sender(m) for m in Q}"},
    {P("on ask(v) { if from(me) == none { x := v } }"), "'on MESSAGE from q'"},
    {P("on m: ask { if sender(x) == me { x := m.v } }"), "'sender' needs a message: one that"},
    {P("on ask(v) { foreach p in P { x := v } }"), "'foreach' goes through a quorum only"},
    /* steps */
    {P("step one { goto thre }\n step three { x := 2 }"), "did you mean 'three'?"},
    {P("step one { goto two  x := 1 }\n step two {}"), "'goto' must be the last thing that an action does"},
    {P("step one { if x == 1 { goto one }\n x := 1 }"), "put it into 'else { ... }'"},
    {P("step one { if x == 1 { if x == 2 { goto one } x := 2 } }"), "'goto' must be the last thing"},
    {P("step one on Q: 1 of ask { foreach m in Q { goto one } }"), "'goto' inside 'foreach'"},
    {P("start { x := 1 }\n step one { goto start }"), "nobody goes back to 'start'"},
    {P("on ask(v) { x := v goto there }"), "process 'P' has no steps"},
    {P("step one {}\n step one {}"), "step 'one' is declared twice"},
    {P("step end {}"), "a step cannot be called 'end'"},
    {P("step start {}"), "a step cannot be called 'start'"},
    {P("start {}\n start {}"), "second 'start' in a process"},
    {P("start {}\n round {}"), "rounds and steps cannot be mixed"},
    {P("start {}") "process R[2] { phase { round {} } }", "'message' at line 4 makes it one"},
    {P("finally { x := 1 }"), "'finally' in a model of steps"},
    {MESSAGES "process P[n] { var x: Value = 1 }", "'P' never does anything"},
    /* places */
    {P("step one when at(me, one) {}"), "'at' can only be used in a property"},
    {P("step one {}") "safety s: forall p in P: at(p, two)", "unknown step 'two' of process 'P'"},
    {P("on done {}") "safety s: forall p in P: at(p, two)", "process 'P' has no steps"},
    {P("step one {}") "safety s: forall p in P: at(p.x, one)", "'at' needs a process, not Value"},
    {P("step one {}") "safety s: forall p in P: at(p)", "'at' needs a process and the name of a step"},
    {P("step one {}") "safety s: forall p in P: p.at == p.at", "asked with 'at(p, STEP)'"},
    {P("step one {}") "safety s: forall p in P: at(p, one)'", "can only be used in a step property"},
    {P("step one {}") "safety s: round > 1", "'round' counts rounds"},
    {PROCESS(MESSAGES, "  var at: bool = true", "step one {}"), "'at' is a built-in name"},
    /* stores */
    {SHARED("", "shared r: Value = 1 step one { r := 1 }"), "a shared variable is declared at file level"},
    {SHARED("input r: Value", "step one { r := 1 }"), "declared with 'shared' (line 4)"},
    {SHARED("", "step one { n := 1 }"), "variables of the process and shared ones change"},
    {SHARED("var r: Value = 1", "step one { r := 1 }"), "or declare it 'shared'"},
    {SHARED("stable r: Value = 1", "step one { r := 1 }"), "only inputs, shared variables and ghosts"},
    {SHARED("shared r: round", "step one { r := 1 }"), "unless it has a first value"},
    {SHARED("shared r: Value = r", "step one { r := 1 }"), "'r' has no value yet"},
    {SHARED("shared r: Value = 1", "step one { r := true }"), "expected Value = 1..3 for 'r', found bool"},
    {SHARED("shared r: Value = 1", "var y: Value = r step one { r := 1 }"), "a first value cannot read"},
    {SHARED("shared r: Value = 1\ndef f = r", "var y: Value = f step one { r := 1 }"), "'f' reads what is shared"},
    {SHARED("ghost g: bool = true", "step one when g { x := 1 }"), "ghost 'g' can only be read by"},
    {SHARED("ghost g: bool = true\ndef f = g", "step one when f { x := 1 }"), "'f' reads a ghost"},
    {PROCESS(MESSAGES, "  ghost g: Value = 1", "start { send ask(g) to all }"), "ghost 'g' can only be read by"},
    {PROCESS(MESSAGES, "  oracle o: P each step", "step one {}"), "an oracle is for processes that proceed in rounds"},
    {HEAD "process P[n] { stable x: Value = 1 round {} }", "a stable variable is for processes that take steps"},
    {HEAD "ghost g: bool = true process P[n] { round {} }", "a ghost of a round algorithm belongs to a process"},
    {SHARED("shared r: Value = 1", "round {}"), "'shared' at line 4 makes it one"},
    {SHARED("input i: Value", "step one {}") "safety s: step i' == i", "only a variable can be primed"},
    {SHARED("shared a: [P] bool", "step one {}") "safety s: step forall p in P: a[p]'", "put the prime behind"},
    /* rings and graphs */
    {MESSAGES "process P[n] ring { start { send done to others } on done {} }", "can only send to 'next'"},
    {MESSAGES "process P[n] ring { start { send done to P(2) } on done {} }", "can only send to 'next'"},
    {P("start { send done to next }"), "'next' needs a ring"},
    {P("start { send done to neighbours }"), "'neighbours' needs a graph"},
    {MESSAGES "process P[n] ring { start { send done to neighbours } }", "the neighbour on a ring is 'next'"},
    {MESSAGES "process P[n] ring graph P { on done {} }", "a ring has a graph already"},
    {MESSAGES "process P[n] graph n { on done {} }", "a graph is the set of processes that 'me' can send to"},
    {MESSAGES "process P[n] graph {q for q in P if x} { var x: bool = true on done {} }", "the graph stays as it is"},
    {HEAD "process P[n] graph P { round {} }", "'graph' is for processes that take steps"},
    /* environments */
    {P("on done {}") "environment e { synchronous }", "no message is lost unless a clause says so"},
    {P("on done {}") "environment e { every round: uniform }", "this clause is for processes that proceed in rounds"},
    {P("on done {}") "environment e { at most 1 processes omit }", "'omit' is for processes that proceed in rounds"},
    {P("on done {}") "environment e { any messages are corrupted }", "come from a process that is byzantine"},
    {P("on done {}") "environment e { at most 1 messages are lost each round }", "counted in the whole run"},
    {P("on done {}") "environment e { at most 1 P crash each phase }", "a limit on processes is for the whole run"},
    {P("on done {}") "environment e { at most 1 P crash and stay }", "expected 'recover', found 'stay'"},
    {P("on done {}") "environment e { channels fifo bound 0 }", "must hold at least one message"},
    {P("on done {}") "environment e { channels heap }", "expected 'set', 'bag' or 'fifo'"},
    {P("on done {}") "environment e { channels set channels bag }", "'e' has two kinds of channels"},
    {SHARED("", "step one {}") "environment e { any messages are lost }", "there are no messages in this model"},
    {SHARED("", "step one {}") "environment e { any P are byzantine }", "here processes can crash"},
    {SHARED("", "step one {}") "environment e { channels set }", "so it has no channels"},
    {HEAD "message tick(r: round) process P[n] { on tick {} }\nenvironment e { any P are byzantine }",
     "a range instead of 'round'"},
    {HEAD "process P[n] { round {} }\nenvironment e { at most 1 P crash and recover }", "do not recover"},
    /* properties */
    {P("on done {}") "safety s on demand: true", "expected 'request', found 'demand'"},
};

static void test_mistakes(void **state) {
  (void)state;
  check_rejected(mistakes, sizeof mistakes / sizeof *mistakes);
}

/* One mistake each: what follows from it is not reported again. */
static void test_one_error_each(void **state) {
  (void)state;
  static const char *const texts[] = {
      P("on aks(v) from q { x := v  send ask(v) to q }"),
      P("on Q: 1 of aks(v) same v { x := v  if exists m in Q: m.v == v { x := 1 } }"),
      P("on ask(w) { x := w }"),
      P("on m: aks { x := m.v }"),
      HEAD "message ask(v: int)\nprocess P[n] { var x: Value = 1 start { send ask(1) to all } on "
           "ask(v) { x := v } }",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct checked_text k;
    struct text out = {0};
    check_text(&k, texts[i]);
    if (k.diags.errors != 1)
      fail_msg("%s\n%s", texts[i], diagnostics_text(&k, &out));
    text_release(&out);
    release(&k);
  }
}

static void test_all_errors_at_once(void **state) {
  (void)state;
  struct checked_text k;
  check_text(&k, P("start { send aks(x) to all }\n step one { goto two }\n on Q: true of ask { x := "
                   "received }") "environment e { synchronous }\nsafety s: forall p in P: at(p, three)\n");
  assert_null(k.model);
  assert_int_equal(k.diags.errors, 6);
  release(&k);
}

/* ---- warnings ---- */

static const struct rejected_text warnings[] = {
    {P(ASK "on ask(v) { x := v }"), "message 'done' is never used"},
    {P(ASK "on ask(v) { x := v } on done {}"), "message 'done' is never sent"},
    {P(ASK), "message 'ask' is never taken"},
    {P(ASK "on ask(v) { x := 1 }"), "'v' is never used"},
    {P(ASK "on ask from q { x := 1 }"), "'q' is never used"},
    {P(ASK "on Q: 4 of ask { x := 1 }"), "only 3 processes send 'ask' to 'P'"},
    {P("start { send ask(1) to R }\n on ask(v) { x := v }") "process R[1] { on done {} }",
     "nobody whom this reaches takes 'ask'"},
    {P("start { send ask(1) to R }\n on ask(v) { x := v }") "process R[1] { on done {} }", "nobody sends 'ask' to 'P'"},
    {SHARED("shared r: Value = 1", "step one { r := 2 }"), "variable 'r' is never read"},
};

static void test_warnings(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++) {
    struct checked_text k;
    struct text out = {0};
    check_good(&k, warnings[i].text);
    const char *said = diagnostics_text(&k, &out);
    if (!strstr(said, warnings[i].message))
      fail_msg("%s\nexpected '%s', got:\n%s", warnings[i].text, warnings[i].message, said);
    text_release(&out);
    release(&k);
  }
}

static void test_no_warnings(void **state) {
  (void)state;
  struct checked_text k;
  struct text out = {0};
  check_good(&k, HEAD "message ask(v: Value), done\n"
                      "process P[n] { var x: Value = 1 start { send ask(x) to all }\n"
                      "  on Q: 2 of ask same v if x < 3 { x := 3 } on m: done {} }\n"
                      "environment e { at most 1 processes are byzantine }\n"); /* who may send done */
  assert_string_equal(diagnostics_text(&k, &out), "");
  text_release(&out);
  release(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_paxos),
      cmocka_unit_test(test_peterson),
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_triggers),
      cmocka_unit_test(test_quorums),
      cmocka_unit_test(test_senders),
      cmocka_unit_test(test_points),
      cmocka_unit_test(test_stores),
      cmocka_unit_test(test_rings_and_graphs),
      cmocka_unit_test(test_environments),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_one_error_each),
      cmocka_unit_test(test_all_errors_at_once),
      cmocka_unit_test(test_warnings),
      cmocka_unit_test(test_no_warnings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
