/* The plain interp of steps, written down by hand: for small models, all that can happen in a configuration, and what
   comes of it. */
#include "step_text.h"

/* What can happen after the events of `path` (one on each line, as they are shown), all of it: "event => next". The
   environment is the file's first. */
struct situation {
  const char *model;
  enum semantics semantics;
  const char *path, *expected;
};

static void try_situation(const struct situation *t) {
  struct step_run s = step_run_begin(t->model, t->semantics, false);
  step_run_follow(&s, t->path);
  assert_lines(&s, t->expected);
  step_run_end(&s);
}

static void try_all(const struct situation *t, size_t n) {
  for (size_t i = 0; i < n; i++)
    try_situation(&t[i]);
}
#define TRY(situations) try_all(situations, sizeof situations / sizeof *situations)

#define TWO                                                                                                            \
  "algorithm A\nmessage a(v: 0..1)\n"                                                                                  \
  "process S[1] { start { send a(0) to R  send a(1) to R } }\n"                                                        \
  "process R[1] { var x: 0..9 = 0  on a(v) { x := x + v + 1 } }\n"

/* --- where a message lies --- */

static void test_semantics(void **state) {
  (void)state;
  static const struct situation all[] = {
      {TWO, SEMANTICS_M, "", "S1:start => S1@end R1 x=0 | S1>R1 a(0), S1>R1 a(1)\n"},
      {TWO, SEMANTICS_M, "S1:start",
       "R1:a[a(0)<S1] => S1@end R1 x=1 | S1>R1 a(1)\n"
       "R1:a[a(1)<S1] => S1@end R1 x=2 | S1>R1 a(0)\n"},
      {TWO, SEMANTICS_M, "S1:start\nR1:a[a(0)<S1]", "R1:a[a(1)<S1] => S1@end R1 x=3\n"},
      {TWO, SEMANTICS_M, "S1:start\nR1:a[a(0)<S1]\nR1:a[a(1)<S1]", ""},
      {TWO, SEMANTICS_M_MP, "", "S1:start => S1@end R1 x=0 | S1>R1 a(0)~, S1>R1 a(1)~\n"},
      {TWO, SEMANTICS_M_MP, "S1:start",
       "deliver a(0) S1>R1 => S1@end R1 x=0 | S1>R1 a(1)~, S1>R1 a(0)\n"
       "deliver a(1) S1>R1 => S1@end R1 x=0 | S1>R1 a(0)~, S1>R1 a(1)\n"},
      {TWO, SEMANTICS_M_MP, "S1:start\ndeliver a(1) S1>R1",
       "R1:a[a(1)<S1] => S1@end R1 x=2 | S1>R1 a(0)~\n"
       "deliver a(0) S1>R1 => S1@end R1 x=0 | S1>R1 a(0), S1>R1 a(1)\n"},
      {TWO, SEMANTICS_M_MP, "S1:start\ndeliver a(1) S1>R1\ndeliver a(0) S1>R1",
       "R1:a[a(0)<S1] => S1@end R1 x=1 | S1>R1 a(1)\n"
       "R1:a[a(1)<S1] => S1@end R1 x=2 | S1>R1 a(0)\n"},
      {TWO, SEMANTICS_MP, "S1:start\ndeliver a(1) S1>R1",
       "R1:a[a(1)<S1] => S1@end R1 x=2 | S1>R1 a(0)~\n"
       "deliver a(0) S1>R1 => S1@end R1 x=0 | S1>R1 a(0), S1>R1 a(1)\n"},
      /* two messages are more than the action takes */
      {TWO, SEMANTICS_MP, "S1:start\ndeliver a(1) S1>R1\ndeliver a(0) S1>R1", ""},
  };
  TRY(all);
}

/* --- channels --- */

#define AGAIN                                                                                                          \
  "algorithm A\nmessage a, b\n"                                                                                        \
  "process S[1] { step once { send a to R  send b to R  send a to R } }\n"                                             \
  "process R[1] { var x: 0..9 = 0  on a { x := x + 1 }  on b { x := x + 3 } }\n"

static void test_channels(void **state) {
  (void)state;
  static const struct situation all[] = {
      {AGAIN, SEMANTICS_M, "", "S1:once => S1@end R1 x=0 | S1>R1 a, S1>R1 a, S1>R1 b\n"},
      {AGAIN "environment e { channels bag bound 2 }", SEMANTICS_M, "", ""},
      {AGAIN "environment e { channels bag bound 3 }", SEMANTICS_M, "",
       "S1:once => S1@end R1 x=0 | S1>R1 a, S1>R1 a, S1>R1 b\n"},
      {AGAIN "environment e { channels set }", SEMANTICS_M, "", "S1:once => S1@end R1 x=0 | S1>R1 a, S1>R1 b\n"},
      {AGAIN "environment e { channels set bound 2 }", SEMANTICS_M, "",
       "S1:once => S1@end R1 x=0 | S1>R1 a, S1>R1 b\n"},
      {AGAIN "environment e { channels fifo }", SEMANTICS_M, "",
       "S1:once => S1@end R1 x=0 | S1>R1 a, S1>R1 b, S1>R1 a\n"},
      {AGAIN, SEMANTICS_M, "S1:once",
       "R1:a[a<S1] => S1@end R1 x=1 | S1>R1 a, S1>R1 b\n"
       "R1:b[b<S1] => S1@end R1 x=3 | S1>R1 a, S1>R1 a\n"},
      {AGAIN "environment e { channels fifo }", SEMANTICS_M, "S1:once",
       "R1:a[a<S1] => S1@end R1 x=1 | S1>R1 b, S1>R1 a\n"},
      {AGAIN "environment e { channels fifo }", SEMANTICS_M, "S1:once\nR1:a[a<S1]",
       "R1:b[b<S1] => S1@end R1 x=4 | S1>R1 a\n"},
      {AGAIN "environment e { channels fifo }", SEMANTICS_M_MP, "S1:once",
       "deliver a S1>R1 => S1@end R1 x=0 | S1>R1 a, S1>R1 b~, S1>R1 a~\n"},
      {AGAIN "environment e { channels fifo }", SEMANTICS_M_MP, "S1:once\ndeliver a S1>R1",
       "R1:a[a<S1] => S1@end R1 x=1 | S1>R1 b~, S1>R1 a~\n"
       "deliver b S1>R1 => S1@end R1 x=0 | S1>R1 a, S1>R1 b, S1>R1 a~\n"},
      {AGAIN "environment e { channels fifo }", SEMANTICS_M_MP, "S1:once\ndeliver a S1>R1\ndeliver b S1>R1",
       "R1:a[a<S1] => S1@end R1 x=1 | S1>R1 b, S1>R1 a~\n"
       "deliver a S1>R1 => S1@end R1 x=0 | S1>R1 a, S1>R1 b, S1>R1 a\n"},
  };
  TRY(all);
}

/* Sets absorb a message wherever the other one is; an action that takes the other one makes room first. */
static void test_absorbed(void **state) {
  (void)state;
  const char *model = "algorithm A\nmessage a\n"
                      "process P[1] { var x: 0..3 = 0  start { send a to me }\n"
                      "  on a { x := x + 1  if x < 2 { send a to me } } when x == 0 { send a to me } }\n"
                      "environment e { channels set }";
  const struct situation all[] = {
      {model, SEMANTICS_M_MP, "P1:start",
       "P1:when => P1@end x=0 | P1>P1 a~\ndeliver a P1>P1 => P1@end x=0 | P1>P1 a\n"},
      {model, SEMANTICS_M_MP, "P1:start\ndeliver a P1>P1",
       "P1:when => P1@end x=0 | P1>P1 a\nP1:a[a<P1] => P1@end x=1 | P1>P1 a~\n"},
  };
  TRY(all);
}

static void test_arrivals(void **state) {
  (void)state;
  const char *model = "algorithm A\nmessage a(v: 0..1)\n"
                      "process S[2] { step one { send a(1) to R } step two { send a(0) to R } }\n"
                      "process R[1] { on a {} }\n";
  const char *path = "S2:one\nS1:one\nS2:two\nS1:two";
  for (int arrivals = 0; arrivals < 2; arrivals++) {
    struct step_run s = step_run_begin(model, SEMANTICS_M_MP, arrivals);
    step_run_follow(&s, path);
    assert_config(&s, arrivals ? "S1@end S2@end R1 | S2>R1 a(1)~, S1>R1 a(1)~, S2>R1 a(0)~, S1>R1 a(0)~"
                               : "S1@end S2@end R1 | S1>R1 a(0)~, S1>R1 a(1)~, S2>R1 a(0)~, S2>R1 a(1)~");
    step_run_follow(&s, "deliver a(1) S1>R1\ndeliver a(0) S2>R1\nR1:a[a(1)<S1]");
    assert_config(&s, arrivals ? "S1@end S2@end R1 | S2>R1 a(1)~, S2>R1 a(0), S1>R1 a(0)~"
                               : "S1@end S2@end R1 | S1>R1 a(0)~, S2>R1 a(1)~, S2>R1 a(0)");
    step_run_end(&s);
  }
}

/* --- quorums --- */

#define VOTES(senders, what)                                                                                           \
  "algorithm A\nmessage a(v: 0..1)\n"                                                                                  \
  "process S[" senders "] { step vote { send a(number(me) / 3) to R } }\n"                                             \
  "process R[1] { var x: 0..9 = 0  on Q: " what " }\n"
#define VOTED "S1:vote\nS2:vote\nS3:vote"
#define SENT "S1@end S2@end S3@end "

static void test_quorums(void **state) {
  (void)state;
  static const struct situation all[] = {
      /* looked at, not taken; a(1) is the third one's */
      {VOTES("3", "2 of a { x := 3 * |Q| }"), SEMANTICS_M, VOTED,
       "R1:a[a(0)<S1 a(0)<S2] => " SENT "R1 x=6 | S1>R1 a(0), S2>R1 a(0), S3>R1 a(1)\n"
       "R1:a[a(0)<S1 a(0)<S2 a(1)<S3] => " SENT "R1 x=9 | S1>R1 a(0), S2>R1 a(0), S3>R1 a(1)\n"
       "R1:a[a(0)<S1 a(1)<S3] => " SENT "R1 x=6 | S1>R1 a(0), S2>R1 a(0), S3>R1 a(1)\n"
       "R1:a[a(0)<S2 a(1)<S3] => " SENT "R1 x=6 | S1>R1 a(0), S2>R1 a(0), S3>R1 a(1)\n"},
      {VOTES("3", "exactly 3 of a { x := count(m in Q: m.v == 0) }"), SEMANTICS_M, VOTED,
       "R1:a[a(0)<S1 a(0)<S2 a(1)<S3] => " SENT "R1 x=2 | S1>R1 a(0), S2>R1 a(0), S3>R1 a(1)\n"},
      {VOTES("3", "1 of a(v) same v if v == 0 taken { x := 5 + v }"), SEMANTICS_M, VOTED,
       "R1:a[a(0)<S1] => " SENT "R1 x=5 | S2>R1 a(0), S3>R1 a(1)\n"
       "R1:a[a(0)<S1 a(0)<S2] => " SENT "R1 x=5 | S3>R1 a(1)\n"
       "R1:a[a(0)<S2] => " SENT "R1 x=5 | S1>R1 a(0), S3>R1 a(1)\n"},
      {VOTES("3", "2 of a(v < 1) once { x := sum(number(sender(m)) for m in Q) }"), SEMANTICS_M, VOTED,
       "R1:a[a(0)<S1 a(0)<S2] => " SENT "R1 x=3* | S1>R1 a(0), S2>R1 a(0), S3>R1 a(1)\n"},
      {VOTES("3", "2 of a(v < 1) once { x := sum(number(sender(m)) for m in Q) }"), SEMANTICS_M,
       VOTED "\nR1:a[a(0)<S1 a(0)<S2]", ""},
      {VOTES("3", "4 of a { x := 1 }"), SEMANTICS_M, VOTED, ""},
      /* nothing at all is a quorum of none */
      {VOTES("1", "0 of a { x := 1 + |Q| }"), SEMANTICS_M, "S1:vote",
       "R1:a => S1@end R1 x=1 | S1>R1 a(0)\nR1:a[a(0)<S1] => S1@end R1 x=2 | S1>R1 a(0)\n"},
      {VOTES("1", "0 of a(v) same v { x := 1 + v }"), SEMANTICS_M, "S1:vote",
       "R1:a[a(0)<S1] => S1@end R1 x=1 | S1>R1 a(0)\n"},
      /* MP: all that is new must be among them; what was looked at is seen, and may be looked at again */
      {VOTES("3", "2 of a { x := 3 * |Q| }"), SEMANTICS_MP, VOTED "\ndeliver a(0) S1>R1\ndeliver a(0) S2>R1",
       "R1:a[a(0)<S1 a(0)<S2] => " SENT "R1 x=6 | S1>R1 a(0)^, S2>R1 a(0)^, S3>R1 a(1)~\n"
       "deliver a(1) S3>R1 => " SENT "R1 x=0 | S1>R1 a(0), S2>R1 a(0), S3>R1 a(1)\n"},
      {VOTES("3", "2 of a { x := 3 * |Q| }"), SEMANTICS_MP,
       VOTED "\ndeliver a(0) S1>R1\ndeliver a(0) S2>R1\nR1:a[a(0)<S1 a(0)<S2]\ndeliver a(1) S3>R1",
       "R1:a[a(0)^<S1 a(0)^<S2 a(1)<S3] => " SENT "R1 x=9 | S1>R1 a(0)^, S2>R1 a(0)^, S3>R1 a(1)^\n"
       "R1:a[a(0)^<S1 a(1)<S3] => " SENT "R1 x=6 | S1>R1 a(0)^, S2>R1 a(0)^, S3>R1 a(1)^\n"
       "R1:a[a(0)^<S2 a(1)<S3] => " SENT "R1 x=6 | S1>R1 a(0)^, S2>R1 a(0)^, S3>R1 a(1)^\n"},
  };
  TRY(all);
}

/* One message from each sender; FIFO: the oldest. */
static void test_quorum_of_many(void **state) {
  (void)state;
#define CHATTER                                                                                                        \
  "algorithm A\nmessage a(v: 0..1)\n"                                                                                  \
  "process S[2] { step one { send a(1) to R  send a(0) to R } }\n"                                                     \
  "process R[1] { var x: 0..9 = 0  on Q: 2 of a { x := 1 + sum(m.v for m in Q) } }\n"
  static const struct situation all[] = {
      {CHATTER, SEMANTICS_M, "S1:one\nS2:one",
       "R1:a[a(0)<S1 a(0)<S2] => S1@end S2@end R1 x=1 | S1>R1 a(0), S1>R1 a(1), S2>R1 a(0), S2>R1 a(1)\n"
       "R1:a[a(0)<S1 a(1)<S2] => S1@end S2@end R1 x=2 | S1>R1 a(0), S1>R1 a(1), S2>R1 a(0), S2>R1 a(1)\n"
       "R1:a[a(1)<S1 a(0)<S2] => S1@end S2@end R1 x=2 | S1>R1 a(0), S1>R1 a(1), S2>R1 a(0), S2>R1 a(1)\n"
       "R1:a[a(1)<S1 a(1)<S2] => S1@end S2@end R1 x=3 | S1>R1 a(0), S1>R1 a(1), S2>R1 a(0), S2>R1 a(1)\n"},
      {CHATTER "environment e { channels fifo }", SEMANTICS_M, "S1:one\nS2:one",
       "R1:a[a(1)<S1 a(1)<S2] => S1@end S2@end R1 x=3 | S1>R1 a(1), S1>R1 a(0), S2>R1 a(1), S2>R1 a(0)\n"},
  };
  TRY(all);
}

/* --- program points, choices, shared variables --- */

static void test_steps(void **state) {
  (void)state;
#define TURNS                                                                                                          \
  "algorithm A\nshared turn: 0..2 = 0\n"                                                                               \
  "process P[2] {\n"                                                                                                   \
  "  var x: 0..2 = 0\n"                                                                                                \
  "  step take when turn == 0 { turn := number(me) }\n"                                                                \
  "  step use when turn == number(me) { x := pick(1..2)  turn := 0  if x == 1 { goto take } }\n"                       \
  "  step rest { halt  x := 0 } }\n"
  static const struct situation all[] = {
      {TURNS, SEMANTICS_INTERLEAVING, "",
       "P1:take => P1@use x=0 P2@take x=0 turn=1\nP2:take => P1@take x=0 P2@use x=0 turn=2\n"},
      {TURNS, SEMANTICS_INTERLEAVING, "P1:take",
       "P1:use #0 => P1@take x=1 P2@take x=0 turn=0\nP1:use #1 => P1@rest x=2 P2@take x=0 turn=0\n"},
      {TURNS, SEMANTICS_INTERLEAVING, "P1:take\nP1:use #1",
       "P1:rest => P1@end halted x=2 P2@take x=0 turn=0\n"
       "P2:take => P1@rest x=2 P2@use x=0 turn=2\n"},
      {TURNS, SEMANTICS_INTERLEAVING, "P1:take\nP1:use #1\nP1:rest\nP2:take\nP2:use #1\nP2:rest", ""},
      /* a handler waits for `start`, a step has several ways, a guard binds by free choice */
      {"algorithm A\nprocess P[1] { var x: 0..3 = 0  start { x := 1 }\n"
       "  step s when x == 1 { x := 2 } or when x < 9 { x := 3 }\n"
       "  when exists v in 0..1: v > 0 or x == 2 once { x := v } }",
       SEMANTICS_INTERLEAVING, "", "P1:start => P1@s x=1\n"},
      {"algorithm A\nprocess P[1] { var x: 0..3 = 0  start { x := 1 }\n"
       "  step s when x == 1 { x := 2 } or when x < 9 { x := 3 }\n"
       "  when exists v in 0..1: v > 0 or x == 2 once { x := v } }",
       SEMANTICS_INTERLEAVING, "P1:start", "P1:s => P1@end x=2\nP1:s => P1@end x=3\nP1:when => P1@s x=1*\n"},
      {"algorithm A\nprocess P[1] { var x: 0..3 = 0  start { x := 1 }\n"
       "  step s when x == 1 { x := 2 }\n"
       "  when exists v in 0..1: v > 0 or x == 2 once { x := v } }",
       SEMANTICS_INTERLEAVING, "P1:start\nP1:s", "P1:when #0 => P1@end x=0*\nP1:when #1 => P1@end x=1*\n"},
  };
  TRY(all);
}

/* --- topologies --- */

static void test_topologies(void **state) {
  (void)state;
  static const struct situation all[] = {
      {"algorithm A\nmessage a(hop: 1..3)\nprocess P[3] ring {\n"
       "  step s when number(me) == 3 { send a(1) to next }\n"
       "  on a(hop) if hop < 3 { send a(hop + 1) to next } }",
       SEMANTICS_M, "P3:s", "P1:a[a(1)<P3] => P1@s P2@s P3@end | P1>P2 a(2)\n"},
      {"algorithm A\nmessage a\nprocess P[3] graph {q for q in P if number(q) == number(me) + 1} {\n"
       "  step s when number(me) == 2 { send a to neighbours }\n  on a {} }",
       SEMANTICS_M, "", "P2:s => P1@s P2@end P3@s | P2>P3 a\n"},
      {"algorithm A\nmessage a\nprocess P[3] graph {q for q in P if number(q) == number(me) + 1} {\n"
       "  step s when number(me) == 2 { send a to P(1) }\n  on a {} }",
       SEMANTICS_M, "", "P2:s => error: a message from P(2) to P(1), but there is no channel\n"},
      /* all, others, sets, one; and names that a graph binds are its own */
      {"algorithm A\nmessage a(p: P)\nprocess P[3] graph {q for q in P if q != P(3)} {\n"
       "  var w: P = P(3)\n"
       "  when me == P(1) once { let q = P(2)  send a(q) to {w2 for w2 in P if w2 != P(3)}  send a(q) to q  w := q }\n"
       "  on a {} }",
       SEMANTICS_M, "", "P1:when => P1 w=P(2)* P2 w=P(3) P3 w=P(3) | P1>P1 a(P(2)), P1>P2 a(P(2)), P1>P2 a(P(2))\n"},
      {"algorithm A\nmessage a\nprocess P[2] { step s when me == P(1) { send a to all  send a to others } on a {} }\n"
       "process R[1] { on a {} }\n",
       SEMANTICS_M, "", "P1:s => P1@end P2@s R1 | P1>P1 a, P1>P2 a, P1>P2 a, P1>R1 a, P1>R1 a\n"},
  };
  TRY(all);
}

static void test_model_errors(void **state) {
  (void)state;
  static const struct situation all[] = {
      {"algorithm A\nmessage a(hop: 1..3)\nprocess P[1] ring {\n"
       "  step s { send a(3) to next }\n  on a(hop) { send a(hop + 1) to next } }",
       SEMANTICS_M, "P1:s", "P1:a[a(3)<P1] => error: value '4' is outside 1..3\n"},
      {"algorithm A\nshared x: 0..2 = 2\nprocess P[1] { when true { x := x + 1 } }", SEMANTICS_INTERLEAVING, "",
       "P1:when => error: value '3' is outside 0..2\n"},
      /* in matching, and in the size of a quorum */
      {"algorithm A\nmessage a(v: 0..1)\nprocess P[1] { var x: 0..1 = 0\n"
       "  step s { send a(1) to me }\n  on a(v == 1 / x) {} }",
       SEMANTICS_M, "P1:s", "P1:a[a(1)<P1] => error: division by zero\n"},
      {"algorithm A\nmessage a(v: 0..1)\nprocess P[1] { var x: 0..1 = 0\n"
       "  step s { send a(1) to me }\n  on Q: 1 of a(v == 1 / x) { x := |Q| } }",
       SEMANTICS_M, "P1:s", "P1:a[a(1)<P1] => error: division by zero\n"},
      {"algorithm A\nmessage a(v: 0..1)\nprocess P[1] { var x: 0..1 = 0\n"
       "  step s { send a(1) to me }\n  on Q: 1 / x of a { x := |Q| } }",
       SEMANTICS_M, "P1:s", "P1:a => error: division by zero\n"},
  };
  TRY(all);
}

/* --- crashes --- */

static void test_crashes(void **state) {
  (void)state;
#define ALL                                                                                                            \
  "algorithm A\nmessage a, b\nshared g: 0..1 = 0\n"                                                                    \
  "process S[1] { var x: 0..1 = 0  on b { x := 1  g := 1  send a to R } }\n"                                           \
  "process R[2] { start { if me == R(1) { send b to S } } on a {} }\n"
  static const struct situation all[] = {
      {ALL "environment e { at most 1 S crash }", SEMANTICS_M, "R1:start\nR2:start",
       "S1:b[b<R1] => S1 x=1 R1@end R2@end g=1 | S1>R1 a, S1>R2 a\n"
       "crash S1 => S1 crashed x=0 R1@end R2@end g=0 | R1>S1 b\n"
       "crash S1:b[b<R1] out 0 => S1 crashed x=0 R1@end R2@end g=0 | R1>S1 b, S1>R1 a\n"
       "crash S1:b[b<R1] out 0 1 => S1 crashed x=0 R1@end R2@end g=0 | R1>S1 b, S1>R1 a, S1>R2 a\n"
       "crash S1:b[b<R1] out 1 => S1 crashed x=0 R1@end R2@end g=0 | R1>S1 b, S1>R2 a\n"},
      {ALL "environment e { at most 1 S crash }", SEMANTICS_M, "R1:start\nR2:start\ncrash S1:b[b<R1] out 1",
       "R2:a[a<S1] => S1 crashed x=0 R1@end R2@end g=0 | R1>S1 b\n"},
      /* the others' limit; what is sent to the dead stays */
      {ALL "environment e { at most 1 processes crash }", SEMANTICS_M, "crash S1",
       "R1:start => S1 crashed x=0 R1@end R2@start g=0 | R1>S1 b\n"
       "R2:start => S1 crashed x=0 R1@start R2@end g=0\n"},
      {ALL "environment e { at most 1 S crash; at most 1 R crash }", SEMANTICS_M, "R1:start\ncrash S1\ncrash R1",
       "R2:start => S1 crashed x=0 R1@end crashed R2@end g=0 | R1>S1 b\n"},
  };
  TRY(all);
}

static void test_crash_under_mp(void **state) {
  (void)state;
  static const struct situation all[] = {
      /* an action that cannot be taken cannot be crashed in */
      {TWO "environment e { at most 1 S crash }", SEMANTICS_M_MP, "",
       "S1:start => S1@end R1 x=0 | S1>R1 a(0)~, S1>R1 a(1)~\n"
       "crash S1 => S1@start crashed R1 x=0\n"
       "crash S1:start out 0 => S1@start crashed R1 x=0 | S1>R1 a(0)~\n"
       "crash S1:start out 0 1 => S1@start crashed R1 x=0 | S1>R1 a(0)~, S1>R1 a(1)~\n"
       "crash S1:start out 1 => S1@start crashed R1 x=0 | S1>R1 a(1)~\n"},
      {TWO "environment e { at most 1 S crash; channels fifo bound 1 }", SEMANTICS_M, "",
       "crash S1 => S1@start crashed R1 x=0\n"},
  };
  TRY(all);
}

static void test_recovery(void **state) {
  (void)state;
#define BACK                                                                                                           \
  "algorithm A\nmessage a\n"                                                                                           \
  "process P[1] { input i: 1..2 = 2  stable s: 0..9 = 1  var x: 0..9 = s + 1  ghost g: 0..9 = 0  var c: 0..1 = "       \
  "pick(0..1)\n"                                                                                                       \
  "  start { s := 5  x := 0  g := 7 }\n  step one { send a to me }  on a once { x := 9 } }\n"                          \
  "environment e { at most 1 P crash and recover }"
  static const struct situation all[] = {
      {BACK, SEMANTICS_M, "P1:start\nP1:one\nP1:a[a<P1]\ncrash P1",
       "recover P1 #0 => P1@one back i=2 s=5 x=6 g=7 c=0\n"
       "recover P1 #1 => P1@one back i=2 s=5 x=6 g=7 c=1\n"},
      /* what was pending still is; it may crash again */
      {BACK, SEMANTICS_M, "P1:start\nP1:one\ncrash P1\nrecover P1 #1",
       "P1:a[a<P1] => P1@one back i=2 s=5 x=9 g=7 c=1*\n"
       "P1:one => P1@end back i=2 s=5 x=6 g=7 c=1 | P1>P1 a, P1>P1 a\n"
       "crash P1 => P1@one crashed i=2 s=5 x=6 g=7 c=1 | P1>P1 a\n"
       "crash P1:one out 0 => P1@one crashed i=2 s=5 x=6 g=7 c=1 | P1>P1 a, P1>P1 a\n"},
      /* only those of whom it is said */
      {"algorithm A\nprocess P[1] { when true once {} }\nprocess Q[2] { when true once {} }\n"
       "environment e { at most 1 P crash; at most 1 Q crash and recover }",
       SEMANTICS_INTERLEAVING, "crash P1\ncrash Q2\nrecover Q2",
       "Q1:when => P1 crashed Q1* Q2 back\nQ2:when => P1 crashed Q1 Q2 back*\n"
       "crash Q2 => P1 crashed Q1 Q2 crashed\n"},
      {BACK, SEMANTICS_M, "crash P1\nrecover P1 #0",
       "P1:one => P1@end back i=2 s=1 x=2 g=0 c=0 | P1>P1 a\n"
       "crash P1 => P1@one crashed i=2 s=1 x=2 g=0 c=0\n"
       "crash P1:one out 0 => P1@one crashed i=2 s=1 x=2 g=0 c=0 | P1>P1 a\n"},
  };
  TRY(all);
}

/* --- liars --- */

static void test_byzantine(void **state) {
  (void)state;
#define LIES                                                                                                           \
  "algorithm A\nmessage a(v: 0..1), b\n"                                                                               \
  "process S[2] { step vote { send a(0) to R }  on b {} }\n"                                                           \
  "process R[1] { var x: 0..9 = 0  on a(v) from q if v == 1 { x := 1  send b to S }\n"                                 \
  "  on Q: 2 of a(v) same v { x := 2 + v } }\n"                                                                        \
  "environment e { at most 1 S are byzantine }"
  static const struct situation all[] = {
      {LIES, SEMANTICS_M, "?S2", /* the initial state in which S2 is one */
       "R1:a[a(1)<S2!] => S1@vote S2 byzantine R1 x=1 | R1>S1 b\n"
       "S1:b[b<S2!] => S1@vote S2 byzantine R1 x=0\n"
       "S1:vote => S1@end S2 byzantine R1 x=0 | S1>R1 a(0)\n"},
      {LIES, SEMANTICS_M, "?S2\nS1:vote",
       "R1:a[a(0)<S1 a(0)<S2!] => S1@end S2 byzantine R1 x=2 | S1>R1 a(0)\n"
       "R1:a[a(1)<S2!] => S1@end S2 byzantine R1 x=1 | R1>S1 b, S1>R1 a(0)\n"
       "S1:b[b<S2!] => S1@end S2 byzantine R1 x=0 | S1>R1 a(0)\n"},
      {LIES, SEMANTICS_MP, "?S2\nS1:vote\ndeliver a(0) S1>R1",
       "R1:a[a(0)<S1 a(0)<S2!] => S1@end S2 byzantine R1 x=2 | S1>R1 a(0)^\n"
       "S1:b[b<S2!] => S1@end S2 byzantine R1 x=0 | S1>R1 a(0)\n"},
      /* a ring: only from the one before */
      {"algorithm A\nmessage a\nprocess P[3] ring { step s { send a to next }  step t on a {} }\n"
       "environment e { at most 1 processes are byzantine }",
       SEMANTICS_M, "?P2\nP3:s\nP1:s",
       "P1:t[a<P3] => P1@end P2 byzantine P3@t\n"
       "P3:t[a<P2!] => P1@t P2 byzantine P3@end | P3>P1 a\n"},
      {"algorithm A\nmessage a\nprocess P[3] graph P - {me} - {P(1)} { step s { send a to P(3) }  step t on a {} }\n"
       "environment e { at most 1 processes are byzantine }",
       SEMANTICS_M, "?P2\nP1:s", "P3:s => error: a message from P(3) to P(3), but there is no channel\n"},
  };
  TRY(all);
}

/* More lies than anybody will live to see. */
static void test_stop(void **state) {
  (void)state;
  struct step_run s = step_run_begin("algorithm A\nmessage a(v: 1..50)\n"
                                     "process P[7] { on Q: 7 of a { send a(|Q|) to all } }\n"
                                     "environment e { at most 6 processes are byzantine }",
                                     SEMANTICS_M, false);
  volatile sig_atomic_t stop = 1;
  struct lines none = {.story = &s};
  interpreter_watch(s.interp, &stop);
  for (size_t i = 1; i < s.initials.n; i++) /* at the first nobody lies, and nothing happens */
    assert_false(config_successors(s.interp, 0, s.initials.at[i], add_line, &none));
  assert_int_equal(none.at.n, 0);
  step_run_end(&s);
}

/* --- losses and duplicates --- */

static void test_budgets(void **state) {
  (void)state;
  static const struct situation all[] = {
      {TWO "environment e { at most 1 messages are lost }", SEMANTICS_M, "S1:start\nlose a(0) S1>R1",
       "R1:a[a(1)<S1] => S1@end R1 x=2 (1 lost)\n"},
      {TWO "environment e { at most 2 messages are lost; channels fifo }", SEMANTICS_M, "S1:start",
       "R1:a[a(0)<S1] => S1@end R1 x=1 | S1>R1 a(1)\n"
       "lose a(0) S1>R1 => S1@end R1 x=0 (1 lost) | S1>R1 a(1)\n"
       "lose a(1) S1>R1 => S1@end R1 x=0 (1 lost) | S1>R1 a(0)\n"},
      {TWO "environment e { any messages are lost }", SEMANTICS_M_MP, "S1:start\ndeliver a(0) S1>R1",
       "R1:a[a(0)<S1] => S1@end R1 x=1 | S1>R1 a(1)~\n"
       "deliver a(1) S1>R1 => S1@end R1 x=0 | S1>R1 a(0), S1>R1 a(1)\n"
       "lose a(0) S1>R1 => S1@end R1 x=0 (1 lost) | S1>R1 a(1)~\n"
       "lose a(1) S1>R1 => S1@end R1 x=0 (1 lost) | S1>R1 a(0)\n"},
      /* messages to a process that has crashed are lost, too: they take room in a bounded channel */
      {TWO "environment e { any messages are lost; at most 1 R crash }", SEMANTICS_M, "S1:start\ncrash R1",
       "lose a(0) S1>R1 => S1@end R1 crashed x=0 (1 lost) | S1>R1 a(1)\n"
       "lose a(1) S1>R1 => S1@end R1 crashed x=0 (1 lost) | S1>R1 a(0)\n"},
      {TWO "environment e { at most 1 messages are duplicated }", SEMANTICS_M, "S1:start",
       "R1:a[a(0)+<S1] => S1@end R1 x=1 (1 duplicated) | S1>R1 a(0), S1>R1 a(1)\n"
       "R1:a[a(0)<S1] => S1@end R1 x=1 | S1>R1 a(1)\n"
       "R1:a[a(1)+<S1] => S1@end R1 x=2 (1 duplicated) | S1>R1 a(0), S1>R1 a(1)\n"
       "R1:a[a(1)<S1] => S1@end R1 x=2 | S1>R1 a(0)\n"},
      {TWO "environment e { at most 1 messages are duplicated }", SEMANTICS_M, "S1:start\nR1:a[a(0)+<S1]",
       "R1:a[a(0)<S1] => S1@end R1 x=2 (1 duplicated) | S1>R1 a(1)\n"
       "R1:a[a(1)<S1] => S1@end R1 x=3 (1 duplicated) | S1>R1 a(0)\n"},
      {TWO "environment e { any messages are duplicated }", SEMANTICS_MP,
       "S1:start\ndeliver a(0) S1>R1\nR1:a[a(0)+<S1]",
       "R1:a[a(0)^+<S1] => S1@end R1 x=2 (2 duplicated) | S1>R1 a(1)~, S1>R1 a(0)^\n"
       "R1:a[a(0)^<S1] => S1@end R1 x=2 (1 duplicated) | S1>R1 a(1)~\n"
       "deliver a(1) S1>R1 => S1@end R1 x=1 (1 duplicated) | S1>R1 a(1), S1>R1 a(0)^\n"},
      /* a quorum that is taken, either or both may stay; one that is looked at needs no copies */
      {VOTES("2", "2 of a taken { x := 1 }") "environment e { at most 1 messages are duplicated }", SEMANTICS_M,
       "S1:vote\nS2:vote",
       "R1:a[a(0)+<S1 a(0)<S2] => S1@end S2@end R1 x=1 (1 duplicated) | S1>R1 a(0)\n"
       "R1:a[a(0)<S1 a(0)+<S2] => S1@end S2@end R1 x=1 (1 duplicated) | S2>R1 a(0)\n"
       "R1:a[a(0)<S1 a(0)<S2] => S1@end S2@end R1 x=1\n"},
      {VOTES("2", "2 of a { x := 1 }") "environment e { at most 1 messages are duplicated }", SEMANTICS_M,
       "S1:vote\nS2:vote", "R1:a[a(0)<S1 a(0)<S2] => S1@end S2@end R1 x=1 | S1>R1 a(0), S2>R1 a(0)\n"},
  };
  TRY(all);
}

/* --- beginnings, properties, foreach --- */

static void test_globals(void **state) {
  (void)state;
  struct step_run s =
      step_run_begin("algorithm A\ninput k: 1..3 where k != 2\nshared s: 0..4 = k + 1\nghost h: 0..9 = s * 2\n"
                     "process P[1] { var x: 0..9 = k  when true once { s := 0  h := x } }",
                     SEMANTICS_INTERLEAVING, false);
  assert_int_equal(s.initials.n, 2);
  assert_config(&s, "P1 x=1 k=1 s=2 h=4");
  s.at = s.initials.at[1];
  assert_config(&s, "P1 x=3 k=3 s=4 h=8");
  step_run_end(&s);
}

static void test_step_properties(void **state) {
  (void)state;
  struct step_run s = step_run_begin("algorithm A\nmessage a\nshared g: 0..3 = 0\n"
                                     "process P[1] { start { send a to me }  on a { g := g + 1 } }\n"
                                     "safety never: step g' == 3\nsafety grows: step g' == g + 1\n",
                                     SEMANTICS_M_MP, false);
  const char *path[] = {"P1:start", "deliver a P1>P1", "P1:a[a<P1]"};
  enum verdict3 never[] = {V_FALSE, V_TRUE, V_FALSE}, grows[] = {V_FALSE, V_TRUE, V_TRUE};
  for (int i = 0; i < 3; i++) {
    struct config *before = config_copy(s.model, s.at);
    step_run_follow(&s, path[i]);
    assert_int_equal(config_stutters(s.model, before, s.at), i == 1);
    assert_int_equal(config_holds(s.interp, s.model->properties[0].formula, before, s.at, NULL), never[i]);
    assert_int_equal(config_holds(s.interp, s.model->properties[1].formula, before, s.at, NULL), grows[i]);
    config_free(before);
  }
  step_run_end(&s);
}

/* All that a body does depends on the order: variables, shared ones, messages. */
static void test_foreach(void **state) {
  (void)state;
  static const struct situation all[] = {
      {"algorithm A\nmessage a(v: 0..1), b(w: 0..9)\nshared g: 0..9 = 0\n"
       "process S[2] { step vote { send a(number(me) - 1) to R }  on b {} }\n"
       "process R[1] { var x: 0..9 = 0\n"
       "  on Q: 2 of a taken { foreach m in Q { x := 2 * x + m.v  g := 2 * g + m.v  send b(g) to S(1) } } }",
       SEMANTICS_M, "S1:vote\nS2:vote",
       "R1:a[a(0)<S1 a(1)<S2] #0 => S1@end S2@end R1 x=1 g=1 | R1>S1 b(0), R1>S1 b(1)\n"
       "R1:a[a(0)<S1 a(1)<S2] #1 => S1@end S2@end R1 x=2 g=2 | R1>S1 b(1), R1>S1 b(2)\n"},
  };
  TRY(all);
}

/* What a step leaves for showing it. */
static void test_log(void **state) {
  (void)state;
  struct step_run s = step_run_begin("algorithm A\nmessage a, b\nshared g: 0..3 = 0\n"
                                     "process P[2] { var x: 0..1 = 0  start { send a to others }\n"
                                     "  on a from q { x := 1  g := 2  send b to q }  on b {} }\n",
                                     SEMANTICS_M, false);
  step_run_follow(&s, "P1:start\nP2:start");
  struct step_log log = {0};
  struct model_error error;
  struct witness *w = step_run_witness(&s, "P2:a[a<P1]");
  struct config *next = config_new(s.model);
  assert_int_equal(config_step(s.interp, 0, s.at, w, next, &log, &error), STEP_OK);
  assert_int_equal(log.nsent, 1);
  assert_int_equal(log.sent[0].from, 1);
  assert_int_equal(log.sent[0].to, 0);
  assert_int_equal(log.sent[0].kind, 1);
  assert_int_equal(log.narrivals, 1);
  assert_int_equal(log.arrivals[0].from, 0);
  assert_true(log.arrivals[0].gone);
  assert_int_equal(log.nchanges, 2);
  assert_int_equal(log.changes[0].process, 1);
  assert_true(log.changes[0].at.to > log.changes[0].at.from);
  assert_int_equal(log.changes[1].process, PROCESS_SHARED);
  assert_int_equal(log.changes[1].after, 2);
  assert_true(log.changes[1].at.from > log.changes[0].at.from);
  step_log_release(&log);
  witness_free(w);
  config_free(next);
  step_run_end(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_semantics),
      cmocka_unit_test(test_channels),
      cmocka_unit_test(test_absorbed),
      cmocka_unit_test(test_arrivals),
      cmocka_unit_test(test_quorums),
      cmocka_unit_test(test_quorum_of_many),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_topologies),
      cmocka_unit_test(test_model_errors),
      cmocka_unit_test(test_crashes),
      cmocka_unit_test(test_crash_under_mp),
      cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_byzantine),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_budgets),
      cmocka_unit_test(test_globals),
      cmocka_unit_test(test_step_properties),
      cmocka_unit_test(test_foreach),
      cmocka_unit_test(test_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
