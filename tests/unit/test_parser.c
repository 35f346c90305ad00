/* Lexer, parser, formatter: small texts against the tree they mean, the errors they earn, and the
 * layout they get. */
#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "lang/ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a text, what became of it ---- */

struct parsed_text {
  struct source source;
  struct arena arena;
  struct diags diags;
  struct ast *tree;
};

static void reading_start(struct parsed_text *r, const char *text) {
  r->source = (struct source){.path = "m", .text = text, .length = strlen(text)};
  arena_init(&r->arena);
  diags_init(&r->diags, &r->source);
}

static void reading_end(struct parsed_text *r) {
  diags_release(&r->diags);
  arena_release(&r->arena);
}

static void assert_no_errors(struct parsed_text *r) {
  struct text shown = {0};
  diags_print(&r->diags, false, &shown);
  assert_string_equal(text_or_empty(&shown), "");
  text_release(&shown);
}

static void assert_tree(const struct ast *tree, const char *expected) {
  struct text shown = {0};
  ast_print(tree, &shown);
  assert_string_equal(text_or_empty(&shown), expected);
  text_release(&shown);
}

static void assert_expression(const char *text, const char *expected) {
  struct parsed_text r;
  reading_start(&r, text);
  r.tree = parse_expression(&r.source, &r.arena, &r.diags);
  assert_no_errors(&r);
  assert_tree(r.tree, expected);
  reading_end(&r);
}

/* The only declaration (or, inside a process, the only member) of a model that has no errors. */
static void assert_declaration(const char *text, const char *expected) {
  struct parsed_text r;
  struct text model = {0};
  text_addf(&model, "algorithm A %s", text);
  reading_start(&r, model.at);
  r.tree = parse_file(&r.source, &r.arena, &r.diags);
  assert_no_errors(&r);
  assert_int_equal(r.tree->n, 1);
  assert_tree(r.tree->kid[0], expected);
  reading_end(&r);
  text_release(&model);
}

static void assert_member(const char *text, const char *expected) {
  struct parsed_text r;
  struct text model = {0};
  text_addf(&model, "algorithm A process P[n] { %s }", text);
  reading_start(&r, model.at);
  r.tree = parse_file(&r.source, &r.arena, &r.diags);
  assert_no_errors(&r);
  assert_int_equal(r.tree->kid[0]->n, 3);
  assert_tree(r.tree->kid[0]->kid[2], expected);
  reading_end(&r);
  text_release(&model);
}

/* The messages in the order of the text, one on each line: "LINE:COLUMN MESSAGE [HELP]". */
static void assert_errors(const char *text, const char *expected) {
  struct parsed_text r;
  struct text shown = {0};
  reading_start(&r, text);
  r.tree = parse_file(&r.source, &r.arena, &r.diags);
  assert_non_null(r.tree);
  uint32_t last = 0;
  for (size_t done = 0; done < r.diags.n; done++) {
    const struct diag *next = NULL;
    for (size_t i = 0; i < r.diags.n; i++)
      if ((r.diags.at[i].at.from > last || (done == 0 && r.diags.at[i].at.from == 0)) &&
          (!next || r.diags.at[i].at.from < next->at.from))
        next = &r.diags.at[i];
    assert_non_null(next);
    last = next->at.from;
    uint32_t line, column;
    source_place(&r.source, next->at.from, &line, &column);
    text_addf(&shown, "%u:%u %s", line, column, next->message);
    if (next->help)
      text_addf(&shown, " [%s]", next->help);
    text_add(&shown, "\n");
  }
  assert_string_equal(text_or_empty(&shown), expected);
  text_release(&shown);
  reading_end(&r);
}

/* ---- expressions ---- */

static void expressions_bind_as_in_the_grammar(void **state) {
  (void)state;
  assert_expression("1 + 2 * -x", "(BINARY + (NUMBER 1) (BINARY * (NUMBER 2) (UNARY - (NAME x))))");
  assert_expression("a - b - c", "(BINARY - (BINARY - (NAME a) (NAME b)) (NAME c))");
  assert_expression("(a)", "(NAME a)");
  assert_expression("a and b or not c and d", "(BINARY or (BINARY and (NAME a) (NAME b)) "
                                              "(BINARY and (UNARY not (NAME c)) (NAME d)))");
  assert_expression("a => b => c", "(BINARY => (NAME a) (BINARY => (NAME b) (NAME c)))");
  assert_expression("min(s) otherwise x", "(BINARY otherwise (CALL min (NAME s)) (NAME x))");
  assert_expression("always (a until eventually b)",
                    "(UNARY always (BINARY until (NAME a) (UNARY eventually (NAME b))))");
  assert_expression("7 mod 2 / 3", "(BINARY / (BINARY mod (NUMBER 7) (NUMBER 2)) (NUMBER 3))");
  assert_expression("x - {y}", "(BINARY - (NAME x) (SET (NAME y)))");
  assert_expression("s ++ [q]", "(BINARY ++ (NAME s) (SEQUENCE (NAME q)))");
  assert_expression("9223372036854775807", "(NUMBER 9223372036854775807)");
}

static void relations_chain(void **state) {
  (void)state;
  assert_expression("a <= b < c", "(BINARY and (RELATION <= (NAME a) (NAME b)) "
                                  "(RELATION < (NAME b) (NAME c)))");
  assert_expression("p not in S & T", "(RELATION not in (NAME p) (BINARY & (NAME S) (NAME T)))");
  assert_expression("x in 1..n - 1", "(RELATION in (NAME x) (INTERVAL (NUMBER 1) (BINARY - (NAME n) (NUMBER 1))))");
  assert_expression("0..k", "(INTERVAL (NUMBER 0) (NAME k))");
}

static void bars_count_or_unite(void **state) {
  (void)state;
  assert_expression("|A| + |B - C| > 2", "(RELATION > (BINARY + (CARDINALITY (NAME A)) "
                                         "(CARDINALITY (BINARY - (NAME B) (NAME C)))) (NUMBER 2))");
  assert_expression("A | B | {x}", "(BINARY | (BINARY | (NAME A) (NAME B)) (SET (NAME x)))");
  assert_expression("|(A | B)|", "(CARDINALITY (BINARY | (NAME A) (NAME B)))");
  assert_expression("||x| + 1|", "(CARDINALITY (BINARY + (CARDINALITY (NAME x)) (NUMBER 1)))");
  assert_expression("S | {|x|}", "(BINARY | (NAME S) (SET (CARDINALITY (NAME x))))");
}

static void binders_and_comprehensions(void **state) {
  (void)state;
  assert_expression("forall p, q in P, v in p.d: v == q", "(QUANTIFIER 1 (RELATION == (NAME v) (NAME q)) "
                                                          "(GENERATOR (NAMES (NAME p) (NAME q)) (NAME P) _) "
                                                          "(GENERATOR (NAMES (NAME v)) (SELECT d (NAME p)) _))");
  assert_expression("exists m in got and x", "(BINARY and (QUANTIFIER 0 _ (GENERATOR (NAMES (NAME m)) (NAME got) _)) "
                                             "(NAME x))");
  assert_expression("f(exists m in got, x)",
                    "(CALL f (QUANTIFIER 0 _ (GENERATOR (NAMES (NAME m)) (NAME got) _)) (NAME x))");
  assert_expression("{m.x for m in got, v in m.v if v > 1}",
                    "(SET_OF (SELECT x (NAME m)) (GENERATOR (NAMES (NAME m)) (NAME got) _) "
                    "(GENERATOR (NAMES (NAME v)) (SELECT v (NAME m)) "
                    "(RELATION > (NAME v) (NUMBER 1))))");
  assert_expression("max(k for k in 1..3)", "(CALL_OVER max (NAME k) (GENERATOR (NAMES (NAME k)) "
                                            "(INTERVAL (NUMBER 1) (NUMBER 3)) _))");
  assert_expression("count(m in got: m == v)", "(COUNT (RELATION == (NAME m) (NAME v)) (GENERATOR (NAMES (NAME m)) "
                                               "(NAME got) _))");
  assert_expression("count + 1", "(BINARY + (NAME count) (NUMBER 1))");
  assert_expression("{}", "(SET)");
}

static void brackets_and_parentheses(void **state) {
  (void)state;
  assert_expression("[p in P: f(p)]", "(ARRAY_OF p (NAME P) (CALL f (NAME p)))");
  assert_expression("[p in P, q]", "(SEQUENCE (RELATION in (NAME p) (NAME P)) (NAME q))");
  assert_expression("[p in P and (exists q in P: q == p)]",
                    "(SEQUENCE (BINARY and (RELATION in (NAME p) (NAME P)) (QUANTIFIER 0 "
                    "(RELATION == (NAME q) (NAME p)) (GENERATOR (NAMES (NAME q)) (NAME P) _))))");
  assert_expression("[]", "(SEQUENCE)");
  assert_expression("HO[p, propose]", "(INDEX (NAME HO) (NAME p) (NAME propose))");
  assert_expression("p.a[1].b'", "(PRIMED (SELECT b (INDEX (SELECT a (NAME p)) (NUMBER 1))))");
  assert_expression("(a, b) > (1, 2)", "(RELATION > (TUPLE (NAME a) (NAME b)) (TUPLE (NUMBER 1) (NUMBER 2)))");
  assert_expression("(x: 1, y: none)", "(TUPLE (ITEM x (NUMBER 1)) (ITEM y (NONE)))");
  assert_expression("(x: 1)", "(TUPLE (ITEM x (NUMBER 1)))");
  assert_expression("if a then b else if c then true else false",
                    "(CONDITIONAL (NAME a) (NAME b) (CONDITIONAL (NAME c) (TRUE) (FALSE)))");
  assert_expression("now()", "(CALL now)");
}

/* ---- declarations ---- */

static void declarations_of_data(void **state) {
  (void)state;
  assert_declaration("param n, t: int = 3 where n > t", "(PARAM (NAMES (NAME n) (NAME t)) (TYPE_INT) (NUMBER 3) "
                                                        "(RELATION > (NAME n) (NAME t)))");
  assert_declaration("type V = unordered 1..k + 1",
                     "(TYPEDEF V (TYPE_RANGE /2 (NUMBER 1) (BINARY + (NAME k) (NUMBER 1))))");
  assert_declaration("type V = unordered {a, b}", "(TYPEDEF V (TYPE_ENUM /2 (NAME a) (NAME b)))");
  assert_declaration("type V = (n - 1)..n", "(TYPEDEF V (TYPE_RANGE (BINARY - (NAME n) (NUMBER 1)) (NAME n)))");
  assert_declaration("type L = seq of P up to t + 1 distinct",
                     "(TYPEDEF L (TYPE_SEQ /1 (TYPE_NAME P) (BINARY + (NAME t) (NUMBER 1))))");
  assert_declaration("type R = (a: bool, b: set of V?)?", "(TYPEDEF R (TYPE_OPTION (TYPE_RECORD (FIELD a (TYPE_BOOL)) "
                                                          "(FIELD b (TYPE_SET (TYPE_OPTION (TYPE_NAME V)))))))");
  assert_declaration("message go, stop(r: round)", "(MESSAGES (SIGNATURE go) (SIGNATURE stop (FIELD r (TYPE_ROUND))))");
  assert_declaration("def f(x: V): bool = x == 1", "(DEF f (FIELDS (FIELD x (TYPE_NAME V))) (TYPE_BOOL) "
                                                   "(RELATION == (NAME x) (NUMBER 1)))");
  assert_declaration("def g = 1", "(DEF g _ _ (NUMBER 1))");
  assert_declaration("shared f: [P] set of V = [p in P: {}] where true",
                     "(STORE 2 (NAMES (NAME f)) (TYPE_ARRAY (TYPE_NAME P) (TYPE_SET "
                     "(TYPE_NAME V))) (ARRAY_OF p (NAME P) (SET)) (TRUE) _)");
  assert_declaration("oracle c: P distinct each phase", "(STORE 4 /1 (NAMES (NAME c)) (TYPE_NAME P) _ _ (UNIT 1))");
  assert_declaration("stable v: bool = true", "(STORE 5 (NAMES (NAME v)) (TYPE_BOOL) (TRUE) _ _)");
  assert_declaration("resilience 3 * f < n", "(RESILIENCE (RELATION < (BINARY * (NUMBER 3) (NAME f)) (NAME n)))");
}

static void rounds(void **state) {
  (void)state;
  assert_member("phase ph { round a { send x to c when me == c update { x := 1 } } round { } }",
                "(PHASE ph (ROUND a (SEND (NAME x) (NAME c) (RELATION == (NAME me) (NAME c))) "
                "(BLOCK (ASSIGN (NAME x) (NUMBER 1)))) (ROUND _))");
  assert_member("once { round { } }", "(ONCE (ROUND _))");
  assert_member("repeat f + 1 as k { round { } }", "(REPEAT k (BINARY + (NAME f) (NUMBER 1)) (ROUND _))");
  assert_member("round { send 1 to all send 2 to next }",
                "(ROUND (SEND (NUMBER 1) (NAME all) _) (SEND (NUMBER 2) (NAME next) _) _)");
  assert_member("finally { halt }", "(FINALLY (BLOCK (HALT)))");
}

static void statements(void **state) {
  (void)state;
  assert_member("start { a[i].b := 1 let z = a b := z }",
                "(START (BLOCK (ASSIGN (SELECT b (INDEX (NAME a) (NAME i))) (NUMBER 1)) "
                "(LET z (NAME a)) (ASSIGN (NAME b) (NAME z))))");
  assert_member("start { if a { } else if b { halt } else { goto s } send m(1) to q }",
                "(START (BLOCK (IF (NAME a) (BLOCK) (IF (NAME b) (BLOCK (HALT)) (BLOCK (GOTO s)))) "
                "(SEND (CALL m (NUMBER 1)) (NAME q) _)))");
  assert_member("start { foreach m in received { s := s | {m} } }",
                "(START (BLOCK (FOREACH m (NAME received) (BLOCK (ASSIGN (NAME s) "
                "(BINARY | (NAME s) (SET (NAME m))))))))");
  assert_member("start { if exists v in V: {m for m in r} == {v} { } }",
                "(START (BLOCK (IF (QUANTIFIER 0 (RELATION == (SET_OF (NAME m) (GENERATOR "
                "(NAMES (NAME m)) (NAME r) _)) (SET (NAME v))) (GENERATOR (NAMES (NAME v)) "
                "(NAME V) _)) (BLOCK) _)))");
}

static void handlers(void **state) {
  (void)state;
  assert_member("on m: go if a once { }", "(ALTERNATIVE (TRIGGER m /16 _ _ (PATTERN go) _ _ (NAME a)) (BLOCK))");
  assert_member("on go(b == x, c) from q { }",
                "(ALTERNATIVE (TRIGGER _ _ (PATTERN go (ARGUMENT == b (NAME x)) (ARGUMENT c _)) _ "
                "(FROM q) _) (BLOCK))");
  assert_member("on Q: exactly n - t of go(r) same r, s taken { }",
                "(ALTERNATIVE (TRIGGER Q /1056 _ (BINARY - (NAME n) (NAME t)) (PATTERN go "
                "(ARGUMENT r _)) (SAME (NAME r) (NAME s)) _ _) (BLOCK))");
  assert_member("on Q: quorum(n) of go { }",
                "(ALTERNATIVE (TRIGGER Q _ (CALL quorum (NAME n)) (PATTERN go) _ _ _) (BLOCK))");
  assert_member("when a once { }", "(ALTERNATIVE (TRIGGER /16 (NAME a) _ _ _ _ _) (BLOCK))");
  assert_member("step s { } or when a { } or on go { }", "(STEP s (ALTERNATIVE _ (BLOCK)) "
                                                         "(ALTERNATIVE (TRIGGER (NAME a) _ _ _ _ _) (BLOCK)) "
                                                         "(ALTERNATIVE (TRIGGER _ _ (PATTERN go) _ _ _) (BLOCK)))");
}

static void environments(void **state) {
  (void)state;
  assert_declaration("environment e extends a, b { at most f processes crash; fair strong }",
                     "(ENVIRONMENT e (NAMES (NAME a) (NAME b)) "
                     "(CLAUSE_FAULT processes 0 (NAME f) _) (CLAUSE_FAIR /256))");
  assert_declaration("environment e { any messages are lost each round synchronous }",
                     "(ENVIRONMENT e _ (CLAUSE_FAULT messages 5 /128 _ (UNIT 2)) "
                     "(CLAUSE_SYNCHRONOUS))");
  assert_declaration("environment e { at most 1 Q omit to send each receiver }",
                     "(ENVIRONMENT e _ (CLAUSE_FAULT Q 2 (NUMBER 1) (UNIT 4)))");
  assert_declaration("environment e { at most f P crash and recover any P crash }",
                     "(ENVIRONMENT e _ (CLAUSE_FAULT P 0 /2048 (NAME f) _) "
                     "(CLAUSE_FAULT P 0 /128 _ _))");
  assert_declaration("environment e { every round: a; infinitely often: b "
                     "eventually always phase: c from round 3: d channels fifo bound 2 }",
                     "(ENVIRONMENT e _ (CLAUSE_EVERY (UNIT 2) (NAME a)) (CLAUSE_OFTEN _ (NAME b)) "
                     "(CLAUSE_FINALLY (UNIT 1) (NAME c)) (CLAUSE_FROM_ROUND (NUMBER 3) (NAME d)) "
                     "(CLAUSE_CHANNELS fifo (NUMBER 2)))");
}

static void properties_and_moves(void **state) {
  (void)state;
  assert_declaration("safety a: step x' >= x", "(PROPERTY a 0 /4 _ (RELATION >= (PRIMED (NAME x)) (NAME x)))");
  assert_declaration("live almost surely b in e, f: eventually x",
                     "(PROPERTY b 2 /8 (NAMES (NAME e) (NAME f)) (UNARY eventually (NAME x)))");
  assert_declaration("cover almost: x", "(PROPERTY almost 1 _ (NAME x))");
  assert_declaration("safety a on request: x", "(PROPERTY a 0 /4096 _ (NAME x))");
  assert_declaration("cover a in e on request: x", "(PROPERTY a 1 /4096 (NAMES (NAME e)) (NAME x))");
  assert_declaration("counter a, b", "(COUNTER (NAME a) (NAME b))");
  assert_declaration("start a == n", "(COUNTER_START (RELATION == (NAME a) (NAME n)))");
  assert_declaration("move m any d: a := a - d, 2 * d of b -> c when a >= d",
                     "(MOVE m (NAMES (NAME d)) (RELATION >= (NAME a) (NAME d)) "
                     "(EFFECT_ASSIGN a (BINARY - (NAME a) (NAME d))) "
                     "(EFFECT_MOVE (BINARY * (NUMBER 2) (NAME d)) (NAME b) (NAME c)))");
  assert_declaration("unsafe u from a > 0: b == 0", "(UNSAFE u (RELATION > (NAME a) (NUMBER 0)) "
                                                    "(RELATION == (NAME b) (NUMBER 0)))");
}

static void words_may_be_names(void **state) {
  (void)state;
  assert_member("start { start := step + round.state  from := set  of := to  count := on }",
                "(START (BLOCK (ASSIGN (NAME start) (BINARY + (NAME step) (SELECT state "
                "(NAME round)))) (ASSIGN (NAME from) (NAME set)) (ASSIGN (NAME of) (NAME to)) "
                "(ASSIGN (NAME count) (NAME on))))");
  assert_member("start { stable := recover  request := stable }", "(START (BLOCK (ASSIGN (NAME stable) (NAME recover)) "
                                                                  "(ASSIGN (NAME request) (NAME stable))))");
}

static void nodes_know_their_place(void **state) {
  (void)state;
  struct parsed_text r;
  reading_start(&r, "(a + b) * f(c).x");
  r.tree = parse_expression(&r.source, &r.arena, &r.diags);
  assert_no_errors(&r);
  assert_int_equal(r.tree->at.from, 0);
  assert_int_equal(r.tree->at.to, 16);
  assert_int_equal(r.tree->word.from, 8);
  const struct ast *sum = r.tree->kid[0], *select = r.tree->kid[1];
  assert_int_equal(sum->at.from, 1);
  assert_int_equal(sum->at.to, 6);
  assert_int_equal(sum->word.from, 3);
  assert_int_equal(select->at.from, 10);
  assert_int_equal(select->word.from, 15);
  assert_int_equal(select->kid[0]->at.to, 14);
  reading_end(&r);
}

/* ---- errors ---- */

static void errors_in_expressions(void **state) {
  (void)state;
  assert_errors("algorithm A safety a: x = 1 && !y || z", "1:25 unexpected '=' [write '==']\n"
                                                          "1:29 unexpected '&&' [write 'and']\n"
                                                          "1:32 unexpected '!' [write 'not']\n"
                                                          "1:35 unexpected '||' [write 'or']\n");
  assert_errors("algorithm A safety a: p \xE2\x88\x88 P \xE2\x88\xA7 x \xE2\x89\xA4 1",
                "1:25 unexpected character '\xE2\x88\x88' [write 'in']\n"
                "1:29 unexpected character '\xE2\x88\xA7' [write 'and']\n"
                "1:33 unexpected character '\xE2\x89\xA4' [write '<=']\n");
  assert_errors("algorithm A safety a: $$$ x", "1:23 unexpected character '$'\n");
  assert_errors("algorithm A safety a: x == \"yes no\"",
                "1:28 unexpected character '\"' [there are no strings; a type can list names: "
                "{active, passive}]\n");
  assert_errors("algorithm A safety a: 99999999999999999999 > 2n",
                "1:23 number too large (more than 9223372036854775807)\n"
                "1:46 name starts with a digit [write 'x3' for a name, '3 * x' for a product]\n");
  assert_errors("algorithm A safety a: forall x: x",
                "1:31 expected 'in', found ':' [say what it ranges over: 'x in SET']\n");
  assert_errors("algorithm A safety a: (x", "1:24 expected ')', found end of file [the '(' at line 1 is not closed]\n");
  assert_errors("algorithm A safety a: if x then y",
                "1:33 expected 'else', found end of file [a conditional expression needs its "
                "'else': it must have a value]\n");
  assert_errors("algorithm A safety a: x <> y", "1:25 unexpected '<>' [write '!=']\n");
}

static void errors_in_statements(void **state) {
  (void)state;
  assert_errors("algorithm A process P[n] { start {\n"
                "  x = 1;\n"
                "  y == 2;\n"
                "  if x := 1 { x := 2 }\n"
                "  elif y { }\n"
                "  for m in s { }\n"
                "  while x { y := 1 }\n"
                "  send m all\n"
                "  x++\n"
                "  sned m to all\n"
                "  let z := 1\n"
                "  else { }\n"
                "  if a then { }\n"
                "  x := )\n"
                "} }",
                "2:5 expected ':=', found '=' [an assignment is written ':=']\n"
                "2:8 unexpected ';' [leave it out: statements and declarations need no semicolon]\n"
                "3:5 expected ':=', found '==' [an assignment is written ':='; a condition that is waited for stands "
                "before a block, 'when CONDITION { ... }']\n"
                "4:8 unexpected ':=' [write '==']\n"
                "5:3 unexpected 'elif' [write 'else if']\n"
                "6:3 'for' is no statement ['foreach m in Q { ... }' goes through the messages of a quorum, in rounds "
                "'foreach m in received { ... }']\n"
                "7:3 unexpected 'while' [there is no 'while'; 'foreach m in Q { ... }' goes through the messages of a "
                "quorum, in rounds 'foreach m in received { ... }', and 'goto NAME' repeats a step]\n8:10 expected "
                "'to', found 'all' [write 'send MESSAGE to all', 'to others', "
                "'to p' or 'to ROLE']\n"
                "9:4 expected ':=', found '++' [write 'x := x + 1']\n"
                "10:8 expected ':=', found 'm' [did you mean 'send'?]\n"
                "11:9 expected '=', found ':=' ['let' gives a value a name, once: "
                "'let x = ...']\n"
                "12:3 expected a statement, found 'else' ['else' follows the '}' of its 'if' at "
                "once]\n"
                "13:8 expected '{', found 'then' [as a statement: 'if CONDITION { ... } else "
                "{ ... }']\n"
                "14:8 expected an expression, found ')'\n");
}

static void errors_of_braces(void **state) {
  (void)state;
  assert_errors("algorithm A\n"
                "process P[n] {\n"
                "  round {\n"
                "    update {\n"
                "      if a {\n"
                "        x := 1\n"
                "      y := 2\n"
                "    }\n"
                "  }\n"
                "}\n"
                "safety s: true\n",
                "11:1 expected '}', found 'safety' [the '{' at line 5 is not closed]\n");
  assert_errors("algorithm A\n"
                "process P[n] {\n"
                "  phase {\n"
                "    round a {\n"
                "      update {\n"
                "        x := 1\n"
                "    }\n"
                "    round b { }\n"
                "  }\n"
                "}\n",
                "8:5 expected '}', found 'round' [the '{' at line 5 is not closed]\n");
  assert_errors("algorithm A\nprocess P[n] {\n  start { }\n",
                "3:11 expected '}', found end of file [the '{' at line 2 is not closed]\n");
  assert_errors("algorithm A\nprocess P[n] { } }\nsafety s: true", "2:18 unexpected '}' [no '{' is open here]\n");
}

static void errors_of_declarations(void **state) {
  (void)state;
  assert_errors("", "1:1 the file is empty [a model starts with 'algorithm NAME']\n");
  assert_errors("// nothing\n", "1:1 the file is empty [a model starts with 'algorithm NAME']\n");
  assert_errors("algoritm A param n", "1:1 expected 'algorithm', found 'algoritm' "
                                      "[did you mean 'algorithm'?]\n");
  assert_errors("param n", "1:1 expected 'algorithm', found 'param' [a model starts with 'algorithm NAME' or "
                           "'counters NAME']\n");
  assert_errors("algorithm A\nenviroment e { }\nsafty s: x ==\nsafety t: true",
                "2:1 unknown declaration 'enviroment' [did you mean 'environment'?]\n"
                "3:1 unknown declaration 'safty' [did you mean 'safety'?]\n"
                "4:1 expected an expression, found 'safety'\n");
  assert_errors("algorithm A\nprocess P(n) {\n  var x = 1\n  input if: V\n"
                "  round r { }\n  ruond r { }\n"
                "  x := 1\n}\nenvironment e {\n  at least 1 P crash\n  fair\n  sometimes: x\n}",
                "2:10 expected '[', found '(' [say how many there are: 'process P[n] { ... }']\n"
                "3:9 expected ':', found '=' [a variable has a type: 'var x: Value = 1']\n"
                "4:9 expected a variable's name, found 'if' ['if' is a word of the language and "
                "cannot be a name]\n"
                "6:3 unknown word 'ruond' [did you mean 'round'?]\n"
                "7:3 expected a variable, a round or a handler, found 'x' [statements stand in "
                "'update' of a round, in 'start', in a step or handler]\n"
                "10:6 expected 'most', found 'least'\n"
                "12:3 expected a clause, found 'sometimes' [as 'every round: ...', 'infinitely "
                "often: ...', 'at most f processes crash', 'any messages are lost', 'synchronous', "
                "'fair', 'channels fifo']\n");
  assert_errors("algorithm A process P[n] { round { x := 1 } round { update { } send 1 to all }\n"
                "var y: int }",
                "1:36 expected 'send' or 'update', found 'x' [a statement stands in "
                "'update { ... }'; is there one '}' too many before it?]\n"
                "1:64 'send' after 'update' [a round sends from its state at the start: put "
                "'send' before 'update']\n"
                "2:1 'var' after the first round or handler [variables and definitions come "
                "first in a process]\n");
}

static void errors_of_handlers(void **state) {
  (void)state;
  assert_errors("algorithm A process P[n] { on go(3) { }\non go when x { }\nstep s if x { } or if y { }\n"
                "on Q: 2 go { }\nstep { x := 1 }\n}\n"
                "environment e { at most 1 P crash and go; fair }\nsafety s on x: true",
                "1:34 expected a field's name, found '3' [name the field that is meant: "
                "'MESSAGE(field == value)']\n"
                "2:7 expected 'if', found 'when' [the condition of 'on' is written 'if'; 'when' waits "
                "for no message]\n"
                "3:8 expected 'when', found 'if' [a step that waits for a condition is written "
                "'step NAME when CONDITION { ... }']\n"
                "3:20 expected 'when', found 'if' [a step that waits for a condition is written "
                "'step NAME when CONDITION { ... }']\n"
                "4:9 expected 'of', found 'go' [a quorum is written 'on Q: SIZE of MESSAGE']\n"
                "5:6 expected the step's name, found '{' [a step has a name: 'step NAME { ... }']\n"
                "7:39 expected 'recover', found 'go'\n"
                "8:13 expected 'request', found 'x' ['on request': it is checked only if --property "
                "asks for it]\n");
}

static void noise_is_bounded(void **state) {
  (void)state;
  static const char *const pieces[] = {"(",  "{",   "[",       "|",     "not ",   "-",     "f(",           "if x then ",
                                       "x+", "x:=", "x<x<",    "$ ",    "{ ",     "} ",    "exists x in ", "x.",
                                       "x[", "; ",  "x or x ", "a => ", "[p in ", "a <(a<"};
  static const char *const heads[] = {
      "algorithm A safety s: ", "algorithm A type T = ", "algorithm A process P[n] { start { ", ""};
  for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
      struct text text = {0};
      text_add(&text, heads[h]);
      for (int k = 0; k < 20000; k++)
        text_add(&text, pieces[i]);
      struct parsed_text r;
      reading_start(&r, text.at);
      r.tree = parse_file(&r.source, &r.arena, &r.diags);
      assert_int_equal(r.tree->kind, AST_FILE);
      assert_true(r.diags.errors > 0);
      reading_end(&r);
      text_release(&text);
    }
}

static void long_sums_end_in_an_error(void **state) {
  (void)state;
  struct text text = {0};
  text_add(&text, "algorithm A safety s: x");
  for (int k = 0; k < 5000; k++)
    text_add(&text, " + x");
  assert_errors(text.at, "1:4025 expression too large [give a part of it a name with 'def' or "
                         "'let']\n");
  text_release(&text);
}

/* ---- formatting ---- */

static char *formatted(const char *text) {
  struct source source = {.path = "m", .text = text, .length = strlen(text)};
  struct text out = {0};
  format_source(&source, &out);
  text_add(&out, "");
  return out.at;
}

static void assert_format(const char *text, const char *expected) {
  char *once = formatted(text);
  assert_string_equal(once, expected);
  char *twice = formatted(once);
  assert_string_equal(twice, once);
  struct parsed_text before, after;
  reading_start(&before, text);
  reading_start(&after, once);
  before.tree = parse_file(&before.source, &before.arena, &before.diags);
  after.tree = parse_file(&after.source, &after.arena, &after.diags);
  assert_no_errors(&before);
  assert_no_errors(&after);
  assert_true(ast_same(before.tree, after.tree));
  reading_end(&before);
  reading_end(&after);
  free(once);
  free(twice);
}

static void format_spaces(void **state) {
  (void)state;
  assert_format("algorithm A\nparam n,t=2 where n>=1 and 3*t<n\ntype V=unordered 1 .. n-1",
                "algorithm A\nparam n, t = 2 where n >= 1 and 3 * t < n\n"
                "type V = unordered 1..n - 1\n");
  assert_format("algorithm A\nsafety a :forall p , q in P:| p . s |+| {x ,y} |==-1 and not ( a'|b )",
                "algorithm A\n"
                "safety a: forall p, q in P: |p.s| + |{x, y}| == -1 and not (a' | b)\n");
  assert_format("algorithm A\nmessage go (a :[ P ]V ?), no\nsafety a: HO [ p ,r ]=={ }",
                "algorithm A\nmessage go(a: [P] V?), no\nsafety a: HO[p, r] == {}\n");
  assert_format("algorithm A\nsafety a on request :x\nenvironment e{at most f P crash  and "
                "recover;channels  fifo bound 2}",
                "algorithm A\nsafety a on request: x\n"
                "environment e { at most f P crash and recover; channels fifo bound 2 }\n");
  assert_format("counters C\nmove m any d:d of a->b,x:=x+d when x>0",
                "counters C\nmove m any d: d of a -> b, x := x + d when x > 0\n");
  assert_format("algorithm A\nsafety s: | |x|+1 | == 1 and (a | |b|)==c",
                "algorithm A\nsafety s: ||x| + 1| == 1 and (a | |b|) == c\n");
}

static void format_indents(void **state) {
  (void)state;
  assert_format("\n\n  algorithm A\n"
                "process P[n]ring{\n"
                "var s:set of V={}\n\n\n\n"
                "step a{ x:=1 y:=2 if c{halt}else{} }\n"
                "or on Q:2 of go(r==r)same r{\n"
                "x:=1\n"
                "// why\n"
                "}\n"
                "start\n"
                "{\n"
                "if a and\n"
                "b {\n"
                "x := [p in P:\n"
                "1\n"
                "]\n"
                "}\n"
                "else if c { y:=1 }\n"
                "// the rest\n"
                "else {\n"
                "// nothing\n"
                "}\n"
                "}\n"
                "}\n"
                "environment e{fair;synchronous\n"
                "every round:x}\n\n",
                "algorithm A\n"
                "process P[n] ring {\n"
                "  var s: set of V = {}\n"
                "\n"
                "  step a { x := 1  y := 2  if c { halt } else {} }\n"
                "    or on Q: 2 of go(r == r) same r {\n"
                "      x := 1\n"
                "      // why\n"
                "    }\n"
                "  start\n"
                "  {\n"
                "    if a and\n"
                "      b {\n"
                "      x := [p in P:\n"
                "        1\n"
                "      ]\n"
                "    }\n"
                "    else if c { y := 1 }\n"
                "    // the rest\n"
                "    else {\n"
                "      // nothing\n"
                "    }\n"
                "  }\n"
                "}\n"
                "environment e { fair; synchronous\n"
                "  every round: x }\n");
}

static void format_keeps_columns(void **state) {
  (void)state;
  assert_format("algorithm A// why\nparam n   // one\nparam t        // two\n"
                "param long_one // three\nparam k\t// tab",
                "algorithm A  // why\nparam n   // one\nparam t         // two\n"
                "param long_one  // three\nparam k  // tab\n");
  assert_format("algorithm A\nprocess P[n] {\n  step go     { x := 1 }\n  step rest   { y := 1 }\n"
                "  step   on_and_on { z := 1 }\n}\n",
                "algorithm A\nprocess P[n] {\n  step go     { x := 1 }\n  step rest   { y := 1 }\n"
                "  step on_and_on { z := 1 }\n}\n");
  assert_format("algorithm A\r\n// caf\xC3\xA9 \r\nparam n // \xC3\xA9\r\n",
                "algorithm A\n// caf\xC3\xA9\nparam n  // \xC3\xA9\n");
}

static void format_hangs_lines(void **state) {
  (void)state;
  assert_format("algorithm A\ndef f =     if a then b\n            else if c then d\n"
                "            else e\nsafety s: a and\nb and\n      c\n",
                "algorithm A\ndef f = if a then b\n        else if c then d\n        else e\n"
                "safety s: a and\n  b and\n  c\n");
}

static void format_leaves_errors_alone(void **state) {
  (void)state;
  char *text = formatted("algorithm   A  safety s:  (");
  assert_string_equal(text, "algorithm   A  safety s:  (");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expressions_bind_as_in_the_grammar),
      cmocka_unit_test(relations_chain),
      cmocka_unit_test(bars_count_or_unite),
      cmocka_unit_test(binders_and_comprehensions),
      cmocka_unit_test(brackets_and_parentheses),
      cmocka_unit_test(declarations_of_data),
      cmocka_unit_test(rounds),
      cmocka_unit_test(statements),
      cmocka_unit_test(handlers),
      cmocka_unit_test(environments),
      cmocka_unit_test(properties_and_moves),
      cmocka_unit_test(words_may_be_names),
      cmocka_unit_test(nodes_know_their_place),
      cmocka_unit_test(errors_in_expressions),
      cmocka_unit_test(errors_in_statements),
      cmocka_unit_test(errors_of_braces),
      cmocka_unit_test(errors_of_declarations),
      cmocka_unit_test(errors_of_handlers),
      cmocka_unit_test(noise_is_bounded),
      cmocka_unit_test(long_sums_end_in_an_error),
      cmocka_unit_test(format_spaces),
      cmocka_unit_test(format_indents),
      cmocka_unit_test(format_keeps_columns),
      cmocka_unit_test(format_hangs_lines),
      cmocka_unit_test(format_leaves_errors_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
