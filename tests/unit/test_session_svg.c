/* Diagrams of sessions through include/rondo.h: parts of a path, what elements say of themselves, options that are
 * wrong. */
#include "rondo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char flood[] =
    "algorithm Flood\nparam n\n"
    "process P[n] {\n  input x: 0..1\n  var seen: set of 0..1 = {x}\n"
    "  repeat 2 { round { send seen to all\n update { seen := seen | union(m for m in received) } } }\n}\n"
    "environment crashing {\n  at most 1 processes crash\n  synchronous\n}\n"
    "safety same: forall p, q in P: p.seen == q.seen\n";

static const char counting[] = "algorithm Counting\nparam n\n"
                               "process P[n] { var x: 0..9 = 0\n"
                               "  phase { round { send x to all update { x := (x + 1) mod 10 } } } }\n"
                               "environment calm { synchronous }\nsafety low: forall p in P: p.x < 9\n";

static const char relay[] =
    "algorithm Relay\nparam n\nmessage token(v: 0..9)\n"
    "process A[1] { start { send token(0) to B } on token(v) { send token((v + 1) mod 10) to B } }\n"
    "process B[n] { on token(v) { send token(v) to A } }\n"
    "environment any {}\nsafety low: true\n";

static const char failing[] =
    "algorithm Failing\nparam n\nprocess P[n] { var x: 0..1 = 0\n"
    "  round { send x to all update { x := x + 1 } } round { send x to all update { x := x + 1 } } }\n"
    "environment calm { synchronous }\nsafety s: true\n";

struct opened {
  rondo *context;
  rondo_model *model;
  rondo_session *session;
};

static struct opened open_at(const char *text, const char *n, const char *semantics) {
  struct opened o = {.context = rondo_new(NULL)};
  o.model = rondo_open_text(o.context, "model.rondo", text, strlen(text));
  assert_non_null(o.model);
  assert_true(rondo_set(o.model, "n", n));
  o.session = rondo_session_new(o.model, NULL, semantics);
  assert_non_null(o.session);
  return o;
}

static void close_session(struct opened *o) {
  rondo_session_free(o->session);
  rondo_close(o->model);
  rondo_free(o->context);
}

static unsigned count(const char *text, const char *what) {
  unsigned n = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
    n++;
  return n;
}

static char *drawn(rondo_session *s, const char *options) {
  char *svg = rondo_session_svg(s, options);
  if (!svg)
    fail_msg("%s", rondo_session_error(s));
  assert_int_equal(strncmp(svg, "<svg ", 5), 0);
  assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
  assert_int_equal(count(svg, "<svg"), 1);
  assert_null(strstr(svg, "<script"));
  assert_null(strstr(svg, "onclick"));
  assert_non_null(strstr(svg, "role=\"img\" aria-label=\""));
  return svg;
}

static void has_steps(rondo_session *s, const char *options, unsigned from, unsigned to) {
  char *svg = drawn(s, options), *again = drawn(s, options), step[40];
  assert_string_equal(svg, again);
  for (unsigned i = 0; i <= rondo_session_length(s) + 1; i++) {
    snprintf(step, sizeof step, "data-step=\"%u\"", i);
    bool within = i > from && i <= to;
    if (i != from && within != (strstr(svg, step) != NULL))
      fail_msg("%s: %s, %zu", options ? options : "", step, rondo_session_length(s));
  }
  rondo_string_free(svg);
  rondo_string_free(again);
}

static void parts_of_long_paths(void **state) {
  const struct {
    const char *text, *n, *semantics;
    unsigned rounds;
  } cases[] = {{counting, "3", NULL, 300},
               {counting, "9", NULL, 300},
               {counting, "3", "fine", 100},
               {relay, "2", NULL, 300},
               {relay, "8", NULL, 300}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct opened o = open_at(cases[i].text, cases[i].n, cases[i].semantics);
    assert_true(rondo_session_start(o.session, 0));
    has_steps(o.session, NULL, 0, 0);
    for (unsigned k = 0; k < 300; k++)
      if (!rondo_session_take(o.session, cases[i].semantics ? k % 3 : 0))
        fail_msg("%u: %s", k, rondo_session_error(o.session));
    unsigned n = cases[i].rounds;
    has_steps(o.session, NULL, n > 100 ? n - 100 : 0, n);
    has_steps(o.session, "{\"from\": 0, \"to\": 7}", 0, 7);
    has_steps(o.session, "{\"from\": 41, \"to\": 47, \"fold\": false}", 41, 47);
    has_steps(o.session, "{\"from\": 60, \"to\": 60, \"caption\": true}", 60, 60);
    close_session(&o);
  }
}

static void elements_say_what_they_show(void **state) {
  struct opened o = open_at(relay, "2", NULL);
  (void)state;
  assert_true(rondo_session_start(o.session, 0));
  for (unsigned k = 0; k < 2; k++)
    assert_true(rondo_session_take(o.session, 0));
  char *svg = drawn(o.session, NULL);
  assert_non_null(strstr(svg, "data-kind=\"token\" data-message=\"token(v: 0)\""));
  assert_non_null(strstr(svg, "data-process=\"0\""));
  assert_non_null(strstr(svg, "<title>A(1) to B(1): token(v: 0)</title>"));
  assert_non_null(strstr(svg, "var(--rondo-kind1,"));
  assert_null(strstr(svg, "Relay, n = 2, environment any, semantics m</text>"));
  rondo_string_free(svg);
  svg = drawn(o.session, "{\"caption\": true}");
  assert_non_null(strstr(svg, "Relay, n = 2, environment any, semantics m</text>"));
  rondo_string_free(svg);
  close_session(&o);
}

static void witnesses_are_emphasised(void **state) {
  struct opened o = open_at(flood, "2", NULL);
  (void)state;
  assert_true(rondo_session_start(o.session, 1));
  char *svg = drawn(o.session, NULL);
  assert_null(strstr(svg, "fails"));
  rondo_string_free(svg);
  svg = drawn(o.session, "{\"property\": \"same\", \"caption\": true}");
  assert_non_null(strstr(svg, "now same fails"));
  rondo_string_free(svg);
  assert_true(rondo_session_take(o.session, 0));
  svg = drawn(o.session,
              "{\"property\": \"same\", \"to\": 0, \"caption\": true}"); /* not at the end: nothing is claimed */
  assert_null(strstr(svg, "fails"));
  rondo_string_free(svg);
  close_session(&o);
}

static void errors_are_drawn(void **state) {
  struct opened o = open_at(failing, "2", NULL);
  (void)state;
  assert_true(rondo_session_start(o.session, 0));
  assert_true(rondo_session_take(o.session, 0));
  assert_true(rondo_session_take(o.session, 0));
  assert_true(rondo_session_failed(o.session));
  char *svg = drawn(o.session, "{\"from\": 1, \"caption\": true}");
  assert_non_null(strstr(svg, "error of P(1)"));
  rondo_string_free(svg);
  assert_null(rondo_session_svg(o.session, "{\"from\": 2}"));
  assert_string_equal(rondo_session_error(o.session), "there is no state after the error");
  close_session(&o);
}

static void wrong(rondo_session *s, const char *options, const char *why) {
  assert_null(rondo_session_svg(s, options));
  if (!strstr(rondo_session_error(s), why))
    fail_msg("%s: %s", options, rondo_session_error(s));
}

static void wrong_options(void **state) {
  struct opened o = open_at(counting, "2", NULL);
  (void)state;
  wrong(o.session, NULL, "has not started");
  assert_true(rondo_session_start(o.session, 0));
  wrong(o.session, "", "JSON");
  wrong(o.session, "[", "JSON");
  wrong(o.session, "[]", "not a JSON object");
  wrong(o.session, "{\"from\": 1}", "the path has 0 rounds");
  wrong(o.session, "{\"to\": 1}", "the path has 0 rounds");
  wrong(o.session, "{\"to\": -1}", "'to' is not a number");
  wrong(o.session, "{\"to\": \"x\"}", "'to' is not a number");
  wrong(o.session, "{\"fold\": 1}", "'fold' is not true or false");
  wrong(o.session, "{\"property\": 1}", "'property' is not a name");
  wrong(o.session, "{\"property\": \"none\"}", "unknown property 'none'");
  wrong(o.session, "{\"from\": 0, \"to\": 100000}", "at most 500");
  close_session(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_of_long_paths),
      cmocka_unit_test(elements_say_what_they_show),
      cmocka_unit_test(witnesses_are_emphasised),
      cmocka_unit_test(errors_are_drawn),
      cmocka_unit_test(wrong_options),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
