/* Sessions through include/rondo.h: every function on models of rounds, messages and shared memory; JSON that is wrong;
 * interruptions. */
#include "rondo.h"

#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "short.h"

static const char flood[] =
    "algorithm Flood\nparam n\n"
    "process P[n] {\n  input x: 0..1\n  var seen: set of 0..1 = {x}\n"
    "  repeat 2 { round { send seen to all\n update { seen := seen | union(m for m in received) } } }\n}\n"
    "environment crashing {\n  at most 1 processes crash\n  synchronous\n}\n"
    "environment many { every round: forall p in P: |HO[p]| >= 2 }\n"
    "safety same: forall p, q in P: p.seen == q.seen\n"
    "cover both: exists p in P: |p.seen| == 2\n";

/* Oracles, free choices, coins and Byzantine processes. */
static const char mixed[] = "algorithm Mixed\nparam n\n"
                            "process P[n] {\n  oracle c: P each phase\n  var x: 0..2 = 0\n"
                            "  phase { round talk { send x to all\n"
                            "    update { if exists m in received: m == 2 { x := random(0..1) } else { if c == me { x "
                            ":= pick(0..2) } } } } }\n}\n"
                            "environment lying { at most 1 processes are byzantine }\n"
                            "safety low: forall p in P: p.x < 2\n";

static const char two_steps[] =
    "algorithm Two\nmessage a(v: 0..1)\n"
    "process S[2] { start { send a(0) to R  send a(1) to R } }\n"
    "process R[1] { var x: 0..9 = 0  on a(v) { x := x + v + 1 } }\n"
    "environment e {\n  at most 1 processes crash\n  at most 1 messages are lost\n  channels fifo\n}\n"
    "safety small: forall r in R: r.x < 3\n"
    "safety slow: step forall r in R: r.x' <= r.x + 1\n"
    "cover some: exists r in R: r.x > 0\n";

static const char locks[] = "algorithm Locks\nparam n = 2 where n == 2\n"
                            "shared taken: bool = false\n"
                            "process P[n] {\n"
                            "  step look when not taken {}\n"
                            "  step enter { taken := true }\n"
                            "  step critical {}\n"
                            "  step leave { taken := false  goto look }\n"
                            "}\n"
                            "environment any {}\n"
                            "safety exclusion: forall p, q in P: at(p, critical) and at(q, critical) => p == q\n";

/* A step that fails: x leaves its range. */
static const char failing[] =
    "algorithm Failing\nparam n\nprocess P[n] { var x: 0..1 = 0\n"
    "  round { send x to all update { x := x + 1 } } }\nenvironment calm { synchronous }\nsafety s: true\n";

/* --- opening --- */

struct opened {
  rondo *context;
  rondo_model *model;
  rondo_session *session;
};

static struct opened open_at(const char *text, const char *n, const char *environment) {
  struct opened o = {.context = rondo_new(NULL)};
  o.model = rondo_open_text(o.context, "model.rondo", text, strlen(text));
  assert_non_null(o.model);
  if (n)
    assert_true(rondo_set(o.model, "n", n));
  o.session = rondo_session_new(o.model, environment, NULL);
  if (!o.session)
    fail_msg("%s", rondo_diagnostic_at(o.context, 0)->text);
  return o;
}

static struct opened open_session(const char *text) {
  return open_at(text, text == flood || text == mixed || text == failing ? "3" : NULL, NULL);
}

static void close_session(struct opened *o) {
  rondo_session_free(o->session);
  rondo_close(o->model);
  rondo_free(o->context);
}

#define GOOD(s, call)                                                                                                  \
  do {                                                                                                                 \
    if (!(call))                                                                                                       \
      fail_msg("%s: %s", #call, rondo_session_error(s));                                                               \
  } while (0)

/* It fails, and says why. */
#define BAD(s, call, word)                                                                                             \
  do {                                                                                                                 \
    if (call)                                                                                                          \
      fail_msg("%s", #call);                                                                                           \
    if (!strstr(rondo_session_error(s), word))                                                                         \
      fail_msg("%s: %s", #call, rondo_session_error(s));                                                               \
  } while (0)

static json_t *parsed(rondo_session *s, char *text) {
  json_error_t error;
  if (!text)
    fail_msg("%s", rondo_session_error(s));
  json_t *j = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
  if (!j)
    fail_msg("%s in %s", error.text, text);
  rondo_string_free(text);
  return j;
}

static const char *string_at(const json_t *j, const char *key) {
  const char *s = json_string_value(json_object_get(j, key));
  return s ? s : "";
}

static bool true_at(const json_t *j, const char *key) {
  assert_true(json_is_boolean(json_object_get(j, key)));
  return json_is_true(json_object_get(j, key));
}

static json_int_t number_at(const json_t *j, const char *key) {
  assert_true(json_is_integer(json_object_get(j, key)));
  return json_integer_value(json_object_get(j, key));
}

static size_t size_at(const json_t *j, const char *key) {
  assert_true(json_is_array(json_object_get(j, key)));
  return json_array_size(json_object_get(j, key));
}

static json_t *nth_at(const json_t *j, const char *key, size_t i) { return json_array_get(json_object_get(j, key), i); }

/* The index of the choice with that text. */
static uint64_t choice_of(rondo_session *s, const char *text) {
  json_t *j = parsed(s, rondo_session_choices(s, 0, 1000));
  json_int_t index = -1;
  for (size_t i = 0; i < size_at(j, "choices"); i++)
    if (!strcmp(string_at(nth_at(j, "choices", i), "text"), text))
      index = number_at(nth_at(j, "choices", i), "index");
  if (index < 0)
    fail_msg("there is no '%s'", text);
  json_decref(j);
  return (uint64_t)index;
}

static void take_text(rondo_session *s, const char *text) { GOOD(s, rondo_session_take(s, choice_of(s, text))); }

/* --- the example of docs/embedding.md --- */

static void the_example(void **state) {
  (void)state;
  struct opened o = open_session(flood);
  rondo_session *s = o.session;
  assert_false(rondo_session_started(s));
  GOOD(s, rondo_session_start(s, 1)); /* 0, 0, 1 */
  assert_true(rondo_session_started(s));
  json_t *j = parsed(s, rondo_session_choices(s, 0, 5));
  assert_int_equal(size_at(j, "choices"), 5);
  assert_true(true_at(j, "more"));
  assert_string_equal(string_at(nth_at(j, "choices", 2), "kind"), "round");
  json_decref(j);
  GOOD(s, rondo_session_take(s, 2));
  assert_int_equal(rondo_session_length(s), 1);
  j = parsed(s, rondo_session_evaluate(s, 1, "|P(3).seen|", false));
  assert_true(true_at(j, "ok"));
  assert_true(*string_at(j, "text") != 0 && *string_at(j, "type") != 0);
  json_decref(j);
  GOOD(s, rondo_session_back(s, 1));
  assert_int_equal(rondo_session_length(s), 0);
  close_session(&o);
}

/* --- what all models have --- */

/* Initial states, choices, states, properties, traces, paths. */
static void walk_along(const char *text) {
  struct opened o = open_session(text);
  rondo_session *s = o.session;
  uint64_t n = 0, choices[4];
  bool exact = false;
  json_t *j = parsed(s, rondo_session_initials(s, 0, 2));
  assert_true(size_at(j, "initials") >= 1);
  assert_int_equal(number_at(nth_at(j, "initials", 0), "index"), 0);
  json_decref(j);
  GOOD(s, rondo_session_count_initials(s, 1000, &n, &exact));
  assert_true(exact && n >= 1);
  GOOD(s, rondo_session_start(s, n - 1));
  size_t length = 0;
  for (; length < 4 && !rondo_session_failed(s); length++) {
    GOOD(s, rondo_session_count_choices(s, 100, &choices[length], &exact));
    if (choices[length] == 0)
      break;
    choices[length] = choices[length] / 2;
    GOOD(s, rondo_session_take(s, choices[length]));
    json_decref(parsed(s, rondo_session_taken(s, length)));
    if (!rondo_session_failed(s)) {
      json_decref(parsed(s, rondo_session_state(s, length + 1)));
      json_decref(parsed(s, rondo_session_properties(s, length + 1)));
    }
  }
  assert_int_equal(rondo_session_length(s), length);
  json_t *before = parsed(s, rondo_session_path(s, 0));
  assert_int_equal(number_at(before, "initial"), n - 1);
  assert_int_equal(size_at(before, "choices"), length);
  for (size_t i = 0; i < length; i++)
    assert_int_equal(json_integer_value(nth_at(before, "choices", i)), choices[i]);
  char *trace = rondo_session_save(s, NULL);
  GOOD(s, trace);
  GOOD(s, rondo_session_start(s, 0));
  GOOD(s, rondo_session_load(s, trace, strlen(trace)));
  json_t *after = parsed(s, rondo_session_path(s, 0));
  assert_true(json_equal(before, after));
  json_decref(after);
  GOOD(s, rondo_session_start(s, 0));
  GOOD(s, rondo_session_replay(s, n - 1, choices, length));
  choices[0] = 1u << 30;
  if (length)
    BAD(s, rondo_session_replay(s, 0, choices, 1), "step 1");
  after = parsed(s, rondo_session_path(s, 0));
  assert_true(json_equal(before, after));
  json_decref(after);
  json_decref(before);
  rondo_string_free(trace);
  j = parsed(s, rondo_session_info(s));
  assert_string_equal(string_at(j, "schema"), "rondo-session/1");
  assert_int_equal(number_at(j, "length"), length);
  assert_true(size_at(j, "processes") >= 2 && size_at(j, "properties") >= 1 && size_at(j, "environments") >= 1);
  assert_int_equal(json_is_null(json_object_get(j, "failed")), !rondo_session_failed(s));
  json_decref(j);
  close_session(&o);
}

static void all_models(void **state) {
  (void)state;
  walk_along(flood);
  walk_along(mixed);
  walk_along(two_steps);
  walk_along(locks);
  walk_along(failing);
}

/* --- steps --- */

static void messages(void **state) {
  (void)state;
  struct opened o = open_session(two_steps);
  rondo_session *s = o.session;
  GOOD(s, rondo_session_start(s, 0));
  take_text(s, "S(1): 'start'");
  take_text(s, "S(1) crashes");
  json_t *j = parsed(s, rondo_session_forbidden(s, 0, 100));
  bool crash = false;
  for (size_t i = 0; i < size_at(j, "choices"); i++) {
    json_t *one = nth_at(j, "choices", i), *at = json_object_get(one, "clause_at");
    assert_false(true_at(one, "allowed"));
    assert_true(*string_at(one, "why") != 0);
    if (strcmp(string_at(one, "text"), "S(2) crashes") != 0)
      continue;
    crash = true;
    assert_string_equal(string_at(one, "kind"), "crash");
    assert_int_equal(number_at(one, "clause"), 0);
    assert_memory_equal(two_steps + number_at(at, "from"), "at most 1 proc", 14);
    assert_int_equal(number_at(at, "line"), 6);
    assert_int_equal(number_at(at, "column"), 3);
    assert_true(number_at(at, "to") > number_at(at, "from"));
  }
  assert_true(crash);
  json_decref(j);
  take_text(s, "R(1): 'a' with a(v: 0) from S(1)");
  take_text(s, "R(1): 'a' with a(v: 1) from S(1)");
  j = parsed(s, rondo_session_state(s, 4));
  assert_string_equal(string_at(nth_at(j, "processes", 0), "status"), "crashed");
  assert_int_equal(size_at(j, "messages"), 0);
  json_t *x = nth_at(nth_at(j, "processes", 2), "values", 0);
  assert_string_equal(string_at(x, "name"), "x");
  assert_string_equal(string_at(x, "text"), "3");
  assert_true(true_at(x, "changed"));
  json_decref(j);
  j = parsed(s, rondo_session_state(s, 1));
  assert_int_equal(size_at(j, "messages"), 2);
  assert_true(true_at(nth_at(j, "messages", 0), "added"));
  json_decref(j);
  j = parsed(s, rondo_session_properties(s, 4));
  json_t *small = nth_at(j, "properties", 0);
  assert_string_equal(string_at(small, "verdict"), "false");
  assert_true(true_at(small, "shown"));
  assert_string_equal(json_string_value(nth_at(small, "bindings", 0)), "r = R(1)");
  assert_string_equal(json_string_value(nth_at(small, "reads", 0)), "R(1).x = 3");
  json_decref(j);
  char *trace = rondo_session_save(s, "small");
  GOOD(s, trace);
  assert_non_null(strstr(trace, "\"small\""));
  rondo_string_free(trace);
  j = parsed(s, rondo_session_taken(s, 3));
  assert_string_equal(string_at(j, "action"), "a");
  assert_int_equal(size_at(j, "messages"), 1);
  json_decref(j);
  GOOD(s, rondo_session_back(s, 1));
  BAD(s, rondo_session_save(s, "small"), "");
  BAD(s, rondo_session_save(s, "nothing"), "unknown property 'nothing'");
  BAD(s, rondo_session_full_round(s), "no rounds");
  BAD(s, rondo_session_judge(s, "{}"), "no rounds");
  BAD(s, rondo_session_candidates(s, NULL), "no rounds");
  BAD(s, rondo_session_find_round(s, "[null]", 0), "no rounds");
  BAD(s, rondo_session_outcomes(s, 0, 0), "no rounds");
  BAD(s, rondo_session_round(s, 0), "no rounds");
  BAD(s, rondo_session_round_taken(s, 0), "no rounds");
  close_session(&o);
}

static void expressions(void **state) {
  (void)state;
  struct opened o = open_session(two_steps);
  rondo_session *s = o.session;
  GOOD(s, rondo_session_start(s, 0));
  take_text(s, "S(1): 'start'");
  take_text(s, "R(1): 'a' with a(v: 0) from S(1)");
  json_t *j = parsed(s, rondo_session_evaluate(s, 2, "R(1).x == 1", false));
  assert_true(true_at(j, "ok") && true_at(j, "truth"));
  assert_string_equal(string_at(j, "text"), "true");
  json_decref(j);
  j = parsed(s, rondo_session_evaluate(s, 2, "R(1).x' - R(1).x", true));
  assert_string_equal(string_at(j, "text"), "1");
  assert_true(json_is_null(json_object_get(j, "truth")));
  json_decref(j);
  j = parsed(s, rondo_session_evaluate(s, 2, "1 +\n  nobody", false));
  assert_false(true_at(j, "ok"));
  json_t *first = nth_at(j, "diagnostics", 0), *at = json_object_get(first, "at");
  assert_non_null(strstr(string_at(first, "message"), "nobody"));
  assert_int_equal(number_at(at, "line"), 2);
  assert_int_equal(number_at(at, "from"), 6);
  json_decref(j);
  j = parsed(s, rondo_session_evaluate(s, 2, "1 / 0", false));
  assert_false(true_at(j, "ok"));
  json_decref(j);
  static const char *const odd[] = {
      "\xff\xfe", "R(1).\xc3", "\"", "", "((((((((", "\x01", NULL, "\xf0\x9f\x98\x80 + 1", "99999999999999999999999"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    j = parsed(s, rondo_session_evaluate(s, 2, odd[i], false));
    assert_false(true_at(j, "ok"));
    assert_true(*string_at(j, "text") != 0);
    json_decref(j);
  }
  BAD(s, rondo_session_evaluate(s, 3, "1", false), "no state");
  BAD(s, rondo_session_evaluate(s, 0, "1", true), "no step");
  close_session(&o);
}

static void shared_memory(void **state) {
  (void)state;
  struct opened o = open_session(locks);
  rondo_session *s = o.session;
  GOOD(s, rondo_session_start(s, 0));
  json_t *j = parsed(s, rondo_session_state(s, 0));
  assert_string_equal(string_at(nth_at(j, "globals", 0), "name"), "taken");
  json_decref(j);
  j = parsed(s, rondo_session_forbidden(s, 0, 10));
  assert_int_equal(size_at(j, "choices"), 0);
  json_decref(j);
  j = parsed(s, rondo_session_ahead(s, "exclusion", RONDO_CURRENT, 0, 0));
  assert_string_equal(string_at(j, "reach"), "reachable");
  size_t steps = size_at(j, "choices");
  assert_int_equal(number_at(j, "steps"), steps);
  for (size_t i = 0; i < steps; i++)
    GOOD(s, rondo_session_take(s, (uint64_t)json_integer_value(nth_at(j, "choices", i))));
  json_decref(j);
  j = parsed(s, rondo_session_properties(s, steps));
  assert_true(true_at(nth_at(j, "properties", 0), "shown"));
  json_decref(j);
  close_session(&o);
}

/* --- looking ahead --- */

static void ahead(void **state) {
  (void)state;
  struct opened o = open_session(two_steps);
  rondo_session *s = o.session;
  BAD(s, rondo_session_ahead(s, "small", RONDO_CURRENT, 0, 0), "not started");
  GOOD(s, rondo_session_start(s, 0));
  json_t *j = parsed(s, rondo_session_ahead(s, "small", RONDO_CURRENT, 0, 0));
  assert_string_equal(string_at(j, "reach"), "reachable");
  assert_int_equal(number_at(j, "steps"), 3);
  json_decref(j);
  uint64_t first = choice_of(s, "S(2): 'start'");
  j = parsed(s, rondo_session_ahead(s, "small", first, 0, 0));
  assert_int_equal(json_integer_value(nth_at(j, "choices", 0)), first);
  assert_int_equal(size_at(j, "choices"), 3);
  json_decref(j);
  j = parsed(s, rondo_session_ahead(s, "small", RONDO_CURRENT, 0, 1));
  assert_string_equal(string_at(j, "reach"), "unknown");
  assert_string_equal(string_at(j, "why"), "the limit on steps");
  assert_false(true_at(j, "interrupted"));
  json_decref(j);
  j = parsed(s, rondo_session_ahead(s, "small", RONDO_CURRENT, 2, 0));
  assert_string_equal(string_at(j, "why"), "the limit on states");
  json_decref(j);
  j = parsed(s, rondo_session_ahead(s, NULL, RONDO_CURRENT, 0, 0));
  assert_string_equal(string_at(j, "reach"), "unreachable");
  assert_true(json_is_null(json_object_get(j, "choices")));
  json_decref(j);
  BAD(s, rondo_session_ahead(s, "large", RONDO_CURRENT, 0, 0), "unknown property 'large'");
  BAD(s, rondo_session_ahead(s, "small", 1000, 0, 0), "no choice 1000");
  close_session(&o);
  o = open_session(failing);
  s = o.session;
  GOOD(s, rondo_session_start(s, 0));
  j = parsed(s, rondo_session_ahead(s, NULL, RONDO_CURRENT, 0, 0));
  assert_int_equal(number_at(j, "steps"), 2);
  json_decref(j);
  GOOD(s, rondo_session_take(s, 0));
  GOOD(s, rondo_session_take(s, 0));
  assert_true(rondo_session_failed(s));
  j = parsed(s, rondo_session_info(s));
  json_t *failed = json_object_get(j, "failed");
  assert_true(*string_at(failed, "message") != 0);
  assert_int_equal(number_at(json_object_get(failed, "at"), "line"), 4);
  json_decref(j);
  BAD(s, rondo_session_take(s, 0), "go back");
  BAD(s, rondo_session_state(s, 2), "no state");
  close_session(&o);
}

/* --- rounds --- */

static char *dumped(const json_t *j) {
  char *text = json_dumps(j, JSON_COMPACT);
  assert_non_null(text);
  return text;
}

/* The full round, in which process p hears only itself. */
static char *deaf_round(rondo_session *s, size_t p) {
  json_t *j = parsed(s, rondo_session_full_round(s));
  json_t *part = nth_at(j, "parts", p);
  json_object_set_new(part, "heard", json_pack("[i]", (int)p));
  char *text = dumped(j);
  json_decref(j);
  return text;
}

static void rounds(void **state) {
  (void)state;
  struct opened o = open_at(flood, "3", "many");
  rondo_session *s = o.session;
  GOOD(s, rondo_session_start(s, 1));
  char *full = rondo_session_full_round(s), *deaf = deaf_round(s, 0);
  json_t *j = parsed(s, rondo_session_judge(s, full));
  assert_true(true_at(j, "possible") && true_at(j, "allowed"));
  assert_true(json_is_null(json_object_get(j, "why")) && json_is_null(json_object_get(j, "clause")));
  json_decref(j);
  j = parsed(s, rondo_session_judge(s, deaf));
  assert_true(true_at(j, "possible") && !true_at(j, "allowed"));
  assert_int_equal(number_at(j, "clause"), 0);
  assert_int_equal(number_at(json_object_get(j, "clause_at"), "line"), 13);
  json_decref(j);
  BAD(s, rondo_session_take_round(s, deaf), "does not allow");
  BAD(s, rondo_session_forbidden(s, 0, 10), "judged");
  j = parsed(s, rondo_session_candidates(s, NULL));
  json_t *first = nth_at(j, "processes", 0), *last = nth_at(first, "senders", 2);
  assert_true(true_at(first, "active") && !true_at(first, "may_crash") && !true_at(first, "may_forge"));
  assert_true(true_at(last, "sends"));
  assert_string_equal(string_at(last, "text"), "{1}");
  assert_int_equal(number_at(first, "payloads"), 4);
  json_decref(j);
  json_decref(parsed(s, rondo_session_candidates(s, deaf)));
  GOOD(s, rondo_session_take_round(s, "{\"parts\": [{\"heard\": [0, 1]}, {}, {\"heard\": [1, 2]}]}"));
  j = parsed(s, rondo_session_taken(s, 0));
  assert_true(json_is_null(json_object_get(j, "index")));
  json_decref(j);
  BAD(s, rondo_session_path(s, 1), "looked at");
  j = parsed(s, rondo_session_path(s, 0));
  uint64_t index = (uint64_t)json_integer_value(nth_at(j, "choices", 0));
  json_decref(j);
  json_t *taken = parsed(s, rondo_session_round_taken(s, 0));
  GOOD(s, rondo_session_back(s, 1));
  j = parsed(s, rondo_session_round(s, index));
  assert_true(json_equal(taken, j));
  json_decref(j);
  json_decref(taken);
  BAD(s, rondo_session_round(s, 100000), "no choice");
  char *payload = rondo_session_payload_text(s, 0, 3);
  assert_string_equal(payload, "{0, 1}");
  rondo_string_free(payload);
  BAD(s, rondo_session_payload_text(s, 0, 4), "no value 4");
  BAD(s, rondo_session_payload_text(s, 9, 0), "no process 9");
  BAD(s, rondo_session_oracle_text(s, 0, 0, 0), "no such oracle");
  rondo_string_free(full);
  free(deaf);
  close_session(&o);
}

static void outcomes(void **state) {
  (void)state;
  struct opened o = open_at(flood, "3", "many");
  rondo_session *s = o.session;
  GOOD(s, rondo_session_start(s, 1));
  json_t *j = parsed(s, rondo_session_outcomes(s, 0, 0));
  assert_true(true_at(j, "complete") && !true_at(j, "interrupted"));
  assert_int_equal(size_at(j, "outcomes"), 2);
  json_t *wanted = json_array();
  for (int p = 0; p < 3; p++) {
    json_t *one = nth_at(j, "outcomes", (size_t)p % 2);
    assert_string_equal(string_at(one, "search"), "found");
    json_array_append(wanted, p == 2 ? json_null() : json_object_get(one, "round"));
  }
  char *text = dumped(wanted);
  json_t *found = parsed(s, rondo_session_find_round(s, text, 0));
  assert_string_equal(string_at(found, "search"), "found");
  char *round = dumped(json_object_get(found, "round"));
  GOOD(s, rondo_session_take_round(s, round));
  free(round);
  json_decref(found);
  GOOD(s, rondo_session_back(s, 1));
  BAD(s, rondo_session_find_round(s, "[]", 0), "each of the 3 processes");
  BAD(s, rondo_session_find_round(s, "[null, 3, null]", 0), "object");
  BAD(s, rondo_session_find_round(s, NULL, 0), "no JSON");
  found = parsed(s, rondo_session_find_round(s, text, 1));
  assert_true(json_is_string(json_object_get(found, "search")));
  json_decref(found);
  BAD(s, rondo_session_outcomes(s, 3, 0), "no process 3");
  free(text);
  json_decref(wanted);
  json_decref(j);
  close_session(&o);
}

static void oracles_and_lies(void **state) {
  (void)state;
  struct opened o = open_session(mixed);
  rondo_session *s = o.session;
  uint64_t n;
  bool exact;
  GOOD(s, rondo_session_count_initials(s, 100, &n, &exact));
  GOOD(s, rondo_session_start(s, n - 1));
  json_t *j = parsed(s, rondo_session_state(s, 0));
  size_t liar = 9;
  for (size_t p = 0; p < 3; p++)
    if (!strcmp(string_at(nth_at(j, "processes", p), "status"), "byzantine"))
      liar = p;
  assert_true(liar < 3);
  json_decref(j);
  size_t honest = liar == 0 ? 1 : 0;
  json_t *round = parsed(s, rondo_session_full_round(s)), *part = nth_at(round, "parts", honest);
  json_object_set_new(part, "forged", json_pack("[{s:i,s:s}]", "sender", (int)liar, "payload", "2"));
  json_object_set_new(part, "updates", json_pack("[i]", 1));
  char *text = dumped(round);
  j = parsed(s, rondo_session_candidates(s, text));
  json_t *candidate = nth_at(j, "processes", honest);
  assert_true(true_at(candidate, "may_forge"));
  assert_true(true_at(nth_at(candidate, "senders", liar), "byzantine"));
  assert_true(true_at(nth_at(candidate, "oracles", 0), "chosen"));
  assert_int_equal(number_at(nth_at(candidate, "oracles", 0), "values"), 3);
  assert_int_equal(size_at(candidate, "updates"), 1);
  assert_true(true_at(nth_at(candidate, "updates", 0), "coin"));
  json_decref(j);
  GOOD(s, rondo_session_take_round(s, text));
  free(text);
  j = parsed(s, rondo_session_round_taken(s, 0));
  assert_int_equal(number_at(nth_at(nth_at(j, "parts", honest), "forged", 0), "payload"), 2);
  json_decref(j);
  json_decref(round);
  GOOD(s, rondo_session_take_round(s, "{\"parts\": [{}, {}, {}]}"));
  BAD(s, rondo_session_take_round(s, "{\"parts\": [{\"oracles\": []}, {\"oracles\": []}, {}]}"), "oracle 'c'");
  BAD(s, rondo_session_take_round(s, "{\"parts\": [{\"oracles\": [3]}, {\"oracles\": [3]}, {}]}"), "oracle 'c'");
  text = rondo_session_oracle_text(s, 0, 0, 2);
  assert_string_equal(text, "P(3)");
  rondo_string_free(text);
  BAD(s, rondo_session_oracle_text(s, 0, 0, 3), "no value");
  json_decref(parsed(s, rondo_session_outcomes(s, (uint32_t)honest, 2000)));
  close_session(&o);
}

/* A choice, written as a round and taken as such, is the same choice. */
static void rounds_come_back(const char *model, uint64_t initial) {
  struct opened o = open_session(model);
  rondo_session *s = o.session;
  uint64_t n;
  bool exact;
  GOOD(s, rondo_session_start(s, initial));
  GOOD(s, rondo_session_count_choices(s, 3000, &n, &exact));
  for (uint64_t i = 0; i < n; i += 1 + n / trials(60)) {
    char *round = rondo_session_round(s, i);
    GOOD(s, round);
    GOOD(s, rondo_session_take_round(s, round));
    json_t *path = parsed(s, rondo_session_path(s, 0));
    assert_int_equal(json_integer_value(nth_at(path, "choices", 0)), i);
    json_decref(path);
    rondo_string_free(round);
    GOOD(s, rondo_session_back(s, 1));
  }
  close_session(&o);
}

static void choices_as_rounds(void **state) {
  (void)state;
  rounds_come_back(flood, 1);
  rounds_come_back(mixed, 0);
  rounds_come_back(mixed, 1); /* somebody lies */
  rounds_come_back(failing, 0);
}

/* --- asynchronous rounds --- */

static const char fine_steps[] = "algorithm OwnRounds\n"
                                 "param n\n"
                                 "process P[n] {\n"
                                 "  input x: 0..1\n"
                                 "  var count: 0..3 = 0\n"
                                 "  round { send x to all update { count := (count + |received|) mod 4 } }\n"
                                 "}\n"
                                 "environment free { every round: forall p in P: p in HO[p] }\n"
                                 "environment prompt { synchronous }\n"
                                 "safety together: forall p, q in P: p.count == q.count\n"
                                 "cover three: exists p in P: p.count == 3\n";

static rondo_session *fine_session(rondo_model *m, const char *environment) {
  rondo_session *s = rondo_session_new(m, environment, "fine");
  if (!s)
    fail_msg("%s", rondo_diagnostic_at(rondo_of(m), 0)->text);
  return s;
}

static void asynchronous_rounds(void **state) {
  (void)state;
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open_text(r, "own.rondo", fine_steps, strlen(fine_steps));
  rondo_set(m, "n", "2");
  rondo_session *s = fine_session(m, "prompt");
  GOOD(s, rondo_session_start(s, 1));
  take_text(s, "P(1) ends round 1: hears all; P(2) hears all");
  json_t *j = parsed(s, rondo_session_choices(s, 0, 10)); /* P(1) must hear what P(2) has not sent */
  assert_int_equal(size_at(j, "choices"), 1);
  assert_string_equal(string_at(nth_at(j, "choices", 0), "kind"), "end_round");
  assert_string_equal(string_at(nth_at(j, "choices", 0), "text"), "P(2) ends round 1: hears all");
  assert_int_equal(number_at(nth_at(j, "choices", 0), "index"), 1);
  json_decref(j);
  j = parsed(s, rondo_session_forbidden(s, 0, 10));
  assert_int_equal(size_at(j, "choices"), 1);
  assert_int_equal(number_at(nth_at(j, "choices", 0), "process"), 0);
  assert_int_equal(number_at(nth_at(j, "choices", 0), "clause"), 0);
  json_decref(j);
  BAD(s, rondo_session_take(s, 0), "there is no choice 0");
  BAD(s, rondo_session_take_round(s, "{\"parts\": [{}, {}]}"), "must be named");
  BAD(s, rondo_session_take_round(s, "{\"process\": 2, \"parts\": [{}, {}]}"), "index of a process");
  BAD(s, rondo_session_take_round(s, "{\"process\": 0, \"parts\": [{}, {}]}"), "has not received");
  BAD(s, rondo_session_take_round(s, "{\"process\": 0, \"parts\": [{\"heard\": [0]}, {}]}"), "does not allow");
  j = parsed(s, rondo_session_state(s, 1));
  assert_int_equal(number_at(nth_at(j, "processes", 0), "rounds"), 1);
  assert_int_equal(number_at(nth_at(j, "processes", 1), "rounds"), 0);
  json_decref(j);
  j = parsed(s, rondo_session_properties(s, 1));
  assert_true(true_at(nth_at(j, "properties", 0), "shown"));
  json_decref(j);
  GOOD(s, rondo_session_take_round(s, "{\"process\": 1, \"parts\": [{}, {}]}")); /* as it was fixed */
  j = parsed(s, rondo_session_path(s, 0));
  assert_int_equal(json_integer_value(nth_at(j, "choices", 0)), 0);
  assert_int_equal(json_integer_value(nth_at(j, "choices", 1)), 1);
  json_decref(j);
  j = parsed(s, rondo_session_ahead(s, "three", RONDO_CURRENT, 0, 0));
  assert_string_equal(string_at(j, "reach"), "unreachable"); /* everybody counts in twos */
  json_decref(j);
  rondo_session_free(s);
  s = fine_session(m, "free");
  GOOD(s, rondo_session_start(s, 1));
  j = parsed(s, rondo_session_outcomes(s, 0, 0));
  assert_int_equal(size_at(j, "outcomes"), 2);
  assert_true(true_at(j, "complete"));
  json_decref(j);
  j = parsed(s, rondo_session_ahead(s, "three", RONDO_CURRENT, 0, 0));
  assert_string_equal(string_at(j, "reach"), "reachable");
  assert_int_equal(number_at(j, "steps"), 2); /* somebody hears all, and then only itself */
  json_decref(j);
  rondo_session_free(s);
  rondo_close(m);
  rondo_free(r);
}

/* The trace can be loaded; its path as numbers leads along it again; and the end shows what it is a trace of. */
static void walk_trace(rondo_model *m, const rondo_verdict *v, char *trace) {
  rondo_session *s = fine_session(m, v->environment);
  GOOD(s, rondo_session_load(s, trace, strlen(trace)));
  json_t *path = parsed(s, rondo_session_path(s, 0));
  size_t n = size_at(path, "choices");
  uint64_t *choices = calloc(n + 1, sizeof *choices);
  for (size_t i = 0; i < n; i++)
    choices[i] = (uint64_t)json_integer_value(nth_at(path, "choices", i));
  char *last = rondo_session_failed(s) ? NULL : rondo_session_state(s, n);
  GOOD(s, rondo_session_replay(s, (uint64_t)number_at(path, "initial"), choices, n));
  if (last) {
    char *again = rondo_session_state(s, n);
    assert_string_equal(last, again);
    rondo_string_free(again);
    char *saved = rondo_session_save(s, v->property);
    GOOD(s, saved);
    rondo_string_free(saved);
  }
  rondo_string_free(last);
  free(choices);
  json_decref(path);
  rondo_session_free(s);
  rondo_string_free(trace);
}

static unsigned check_in_fine_rounds(rondo_model *m) {
  rondo_options *options = rondo_options_new(rondo_of(m));
  unsigned traces = 0;
  rondo_option(options, "semantics", "fine");
  rondo_option(options, "max-states", "3000");
  rondo_option(options, "max-distance", "2");
  rondo_result *result = rondo_check(m, options);
  for (size_t i = 0; i < rondo_result_verdicts(result); i++) {
    rondo_verdict v = rondo_result_verdict(result, i);
    if (!v.has_trace || v.kind == RONDO_LIVE)
      continue;
    walk_trace(m, &v, rondo_result_trace_json(result, i));
    traces++;
  }
  rondo_result_free(result);
  rondo_options_free(options);
  return traces;
}

static void traces_of_fine_rounds(void **state) {
  (void)state;
  static const struct {
    const char *path, *n;
  } files[] = {{"models/broken/one_third_rule_half.rondo", "3"},
               {"models/broken/uniform_voting_split.rondo", "2"},
               {"models/broken/floodset_forgetful.rondo", "2"},
               {"models/broken/last_voting_no_timestamp.rondo", "2"},
               {"models/one_third_rule.rondo", "2"},
               {"models/floodset.rondo", "2"}};
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open_text(r, "own.rondo", fine_steps, strlen(fine_steps));
  rondo_set(m, "n", "2");
  assert_true(check_in_fine_rounds(m) >= 2);
  rondo_close(m);
  unsigned traces = 0;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    m = rondo_open(r, files[i].path);
    assert_non_null(m);
    rondo_set(m, "n", files[i].n);
    traces += check_in_fine_rounds(m);
    rondo_close(m);
  }
  assert_true(traces >= 2);
  rondo_free(r);
}

/* As many processes as a round can have, and one alone. */
static void many_and_one(void **state) {
  (void)state;
  static const char *const sizes[] = {"1", "64"};
  for (size_t i = 0; i < 2; i++) {
    struct opened o = open_at(flood, sizes[i], NULL);
    rondo_session *s = o.session;
    json_t *round = json_object(), *parts = json_array();
    json_object_set_new(round, "parts", parts);
    for (size_t p = 0; p < (i ? 64 : 1); p++)
      json_array_append_new(parts, json_object());
    char *text = dumped(round);
    GOOD(s, rondo_session_start(s, 1));
    GOOD(s, rondo_session_take_round(s, text));
    json_t *taken = parsed(s, rondo_session_round_taken(s, 0));
    assert_int_equal(size_at(nth_at(taken, "parts", 0), "heard"), json_array_size(parts));
    json_decref(taken);
    json_decref(round);
    free(text);
    close_session(&o);
  }
}

/* Two sessions of one model know nothing of each other. */
static void sessions_are_apart(void **state) {
  (void)state;
  struct opened o = open_session(flood);
  rondo_session *s = o.session, *other = rondo_session_new(o.model, "many", NULL);
  assert_non_null(other);
  GOOD(s, rondo_session_start(s, 1));
  GOOD(other, rondo_session_start(other, 5));
  GOOD(s, rondo_session_take(s, 3));
  BAD(other, rondo_session_back(other, 1), "only 0 steps");
  assert_string_equal(rondo_session_error(s), "");
  json_t *before = parsed(s, rondo_session_state(s, 1));
  rondo_session_free(other);
  json_t *after = parsed(s, rondo_session_state(s, 1));
  assert_true(json_equal(before, after));
  json_decref(before);
  json_decref(after);
  close_session(&o);
}

/* --- JSON that is wrong --- */

#define PARTS(one) "{\"parts\": [" one ", {}, {}]}"

static void wrong_rounds(void **state) {
  (void)state;
  static const struct {
    const char *round, *word;
  } all[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"null", "not JSON"}, /* or an object, says jansson */
      {"[]", "object"},
      {"{}", "'parts'"},
      {"{\"parts\": 3}", "'parts'"},
      {"{\"parts\": []}", "'parts'"},
      {"{\"parts\": [{}, {}, {}, {}]}", "'parts'"},
      {"{\"parts\": [{}, {}, {}], \"more\": 1}", "unknown key 'more'"},
      {"{\"parts\": [{}, {}, {}], \"parts\": 1}", "not JSON"},
      {PARTS("3"), "process 0"},
      {PARTS("{\"hears\": []}"), "unknown key 'hears'"},
      {PARTS("{\"heard\": 7}"), "list"},
      {PARTS("{\"heard\": [3]}"), "indices"},
      {PARTS("{\"heard\": [-1]}"), "indices"},
      {PARTS("{\"heard\": [0.5]}"), "indices"},
      {PARTS("{\"heard\": [\"\"]}"), "indices"},
      {PARTS("{\"heard\": [\"x\"]}"), "indices"},
      {PARTS("{\"heard\": [9223372036854775807]}"), "indices"},
      {PARTS("{\"heard\": [99999999999999999999]}"), "not JSON"},
      {PARTS("{\"heard\": [1e999]}"), "not JSON"},
      {PARTS("{\"heard\": [\"99999999999999999999\"]}"), "indices"},
      {PARTS("{\"crashes\": 1}"), "true or false"},
      {PARTS("{\"crashes\": null}"), "true or false"},
      {PARTS("{\"oracles\": {}}"), "list"},
      {PARTS("{\"oracles\": [-1]}"), "from 0"},
      {PARTS("{\"sends\": [4294967296]}"), "from 0"},
      {PARTS("{\"updates\": [[]]}"), "from 0"},
      {PARTS("{\"forged\": [0]}"), "objects"},
      {PARTS("{\"forged\": [{}]}"), "'sender'"},
      {PARTS("{\"forged\": [{\"sender\": 3, \"payload\": 0}]}"), "'sender'"},
      {PARTS("{\"forged\": [{\"sender\": 1}]}"), "'payload'"},
      {PARTS("{\"forged\": [{\"sender\": 1, \"payload\": \"18446744073709551616\"}]}"), "'payload'"},
      {PARTS("{\"forged\": [{\"sender\": 1, \"payload\": \"18446744073709551615\"}]}"), "no message"},
      {PARTS("{\"forged\": [{\"sender\": 1, \"payload\": 0, \"x\": 0}]}"), "unknown key"},
      {PARTS("{\"heard\": [0, \"\xff\"]}"), "not JSON"},
  };
  struct opened o = open_session(flood);
  rondo_session *s = o.session;
  BAD(s, rondo_session_take_round(s, PARTS("{}")), "not started");
  GOOD(s, rondo_session_start(s, 0));
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (rondo_session_judge(s, all[i].round))
      fail_msg("%s", all[i].round);
    if (!strstr(rondo_session_error(s), all[i].word) && strcmp(all[i].round, "null") != 0)
      fail_msg("%s: %s", all[i].round, rondo_session_error(s));
    BAD(s, rondo_session_take_round(s, all[i].round), "");
    BAD(s, rondo_session_candidates(s, all[i].round), "");
  }
  BAD(s, rondo_session_judge(s, NULL), "no JSON");
  GOOD(s, rondo_session_take_round(s, PARTS("{\"heard\": [0, 1, 2, 2], \"sends\": [], \"crashes\": false}")));
  GOOD(s, rondo_session_back(s, 1));
  char *deep = malloc(200001);
  memset(deep, '[', 200000);
  deep[200000] = 0;
  BAD(s, rondo_session_judge(s, deep), "not JSON");
  for (size_t i = 0; i + 5 < 200000; i += 5)
    memcpy(deep + i, "{\"a\":", 5);
  BAD(s, rondo_session_find_round(s, deep, 0), "not JSON");
  free(deep);
  close_session(&o);
}

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % n;
}

/* Whatever it is, it is refused with a reason or it has an answer. */
static void use_round(rondo_session *s, const char *round) {
  char *said = rondo_session_judge(s, round);
  if (!said)
    assert_true(*rondo_session_error(s) != 0);
  rondo_string_free(said);
  rondo_string_free(rondo_session_candidates(s, round));
  if (rondo_session_take_round(s, round)) {
    rondo_string_free(rondo_session_round_taken(s, rondo_session_length(s) - 1));
    GOOD(s, rondo_session_back(s, 1));
  }
}

static void altered_rounds_of(const char *model) {
  static const char bytes[] = "0123456789-.e\"\\{}[],:ntf\x01\x80\xff ";
  struct opened o = open_session(model);
  rondo_session *s = o.session;
  uint64_t n;
  bool exact;
  GOOD(s, rondo_session_count_initials(s, 100, &n, &exact));
  GOOD(s, rondo_session_start(s, n - 1));
  json_t *j = parsed(s, rondo_session_full_round(s));
  json_object_set_new(nth_at(j, "parts", 0), "forged", json_pack("[{s:i,s:i}]", "sender", 1, "payload", 1));
  json_object_set_new(nth_at(j, "parts", 1), "updates", json_pack("[i,i]", 1, 2));
  json_object_set_new(nth_at(j, "parts", 2), "sends", json_pack("[i]", 0));
  char *text = dumped(j);
  json_decref(j);
  size_t length = strlen(text);
  use_round(s, text);
  for (size_t i = 0; i < length; i++) {
    char kept = text[i];
    text[i] = 0;
    BAD(s, rondo_session_judge(s, text), "");
    for (uint32_t k = 0; k < trials(8); k++) {
      text[i] = bytes[random_below(sizeof bytes - 1)];
      use_round(s, text);
    }
    text[i] = kept;
  }
  char *wanted = malloc(length * 3 + 10);
  sprintf(wanted, "[%s,null,%s]", text, text);
  rondo_string_free(rondo_session_find_round(s, wanted, 1000));
  for (size_t i = 0; i < strlen(wanted); i += 1 + random_below(5)) {
    char kept = wanted[i];
    wanted[i] = bytes[random_below(sizeof bytes - 1)];
    rondo_string_free(rondo_session_find_round(s, wanted, 100));
    wanted[i] = kept;
  }
  free(wanted);
  free(text);
  close_session(&o);
}

static void altered_rounds(void **state) {
  (void)state;
  altered_rounds_of(flood);
  altered_rounds_of(mixed);
}

static void altered_traces(void **state) {
  (void)state;
  static const char bytes[] = "0123456789-.e\"\\{}[],:ntf\x01\x80\xff ";
  struct opened o = open_session(two_steps);
  rondo_session *s = o.session;
  GOOD(s, rondo_session_start(s, 0));
  take_text(s, "S(1): 'start'");
  char *trace = rondo_session_save(s, NULL);
  size_t length = strlen(trace);
  for (size_t i = 0; i < length; i++) {
    char kept = trace[i];
    trace[i] = bytes[random_below(sizeof bytes - 1)];
    if (!rondo_session_load(s, trace, length))
      assert_true(*rondo_session_error(s) != 0);
    trace[i] = kept;
  }
  GOOD(s, rondo_session_load(s, trace, length));
  BAD(s, rondo_session_load(s, trace, length / 2), "not JSON");
  rondo_string_free(trace);
  close_session(&o);
}

/* --- loops --- */

static const char turns[] = "algorithm Turns\nshared taken: bool = false\n"
                            "process P[2] {\n  step look when not taken {}\n  step enter { taken := true }\n"
                            "  step leave { taken := false  goto look }\n}\n"
                            "environment any {}\nenvironment just { fair }\n"
                            "live enters: forall p in P: always eventually at(p, leave)\n"
                            "live free in any, just: always eventually not taken\n"
                            "safety fine: true\n";

/* The verdict on a property at the end of the path, and whether its violation is shown. */
static const char *verdict_of(rondo_session *s, const char *name, bool *shown, char why[static 200]) {
  static const char *const verdicts[] = {"true", "false", "error", "not_asked"};
  json_t *j = parsed(s, rondo_session_properties(s, rondo_session_length(s))), *p;
  const char *found = NULL;
  size_t i;
  json_array_foreach(json_object_get(j, "properties"), i, p) if (!strcmp(string_at(p, "name"), name)) {
    for (size_t k = 0; k < 4; k++)
      found = strcmp(verdicts[k], string_at(p, "verdict")) ? found : verdicts[k];
    *shown = true_at(p, "shown");
    snprintf(why, 200, "%s", string_at(p, "why"));
  }
  json_decref(j);
  assert_non_null(found);
  return found;
}

static void loops(void **state) {
  (void)state;
  char why[200];
  bool shown;
  size_t position;
  struct opened o = open_at(turns, NULL, "any");
  rondo_session *s = o.session;
  BAD(s, rondo_session_close_loop(s, 0), "not started");
  assert_false(rondo_session_find_loop(s, &position));
  GOOD(s, rondo_session_start(s, 0));
  assert_false(rondo_session_find_loop(s, &position)); /* somebody can act */
  BAD(s, rondo_session_close_loop(s, 0), "another step");
  BAD(s, rondo_session_close_loop(s, 1), "only 0 steps");
  take_text(s, "P(2): 'look'");
  for (int i = 0; i < 2; i++) { /* the first process, twice */
    take_text(s, "P(1): 'look'");
    take_text(s, "P(1): 'enter'");
    assert_int_equal(rondo_session_find_loop(s, &position), i == 1);
    take_text(s, "P(1): 'leave'");
  }
  GOOD(s, rondo_session_find_loop(s, &position));
  assert_int_equal(position, 4); /* the shortest one */
  BAD(s, rondo_session_close_loop(s, 3), "does not come back");
  assert_string_equal(verdict_of(s, "enters", &shown, why), "not_asked");
  BAD(s, rondo_session_save(s, "enters"), "does not end in a loop");
  GOOD(s, rondo_session_close_loop(s, 1));
  assert_string_equal(verdict_of(s, "enters", &shown, why), "false");
  assert_true(shown);
  assert_string_equal(verdict_of(s, "free", &shown, why), "true");
  assert_false(shown);
  BAD(s, rondo_session_save(s, "free"), "true of the run");
  char *trace = rondo_session_save(s, "enters"), *plain = rondo_session_save(s, NULL);
  assert_non_null(strstr(trace, "\"loop\": 1"));
  assert_null(strstr(plain, "\"loop\""));
  json_t *j = parsed(s, rondo_session_info(s));
  assert_int_equal(number_at(j, "loop"), 1);
  json_decref(j);
  /* Any change opens it; loading a trace closes it again. */
  take_text(s, "P(1): 'look'");
  GOOD(s, rondo_session_back(s, 1));
  assert_string_equal(verdict_of(s, "enters", &shown, why), "not_asked");
  GOOD(s, rondo_session_load(s, trace, strlen(trace)));
  assert_string_equal(verdict_of(s, "enters", &shown, why), "false");
  char *again = rondo_session_save(s, "enters");
  assert_string_equal(again, trace);
  rondo_session_open_loop(s);
  assert_string_equal(verdict_of(s, "enters", &shown, why), "not_asked");
  /* A loop that is none: refused, and the path is as it was. */
  char *at = strstr(trace, "\"loop\": 1");
  at[8] = '2';
  GOOD(s, rondo_session_back(s, 5));
  BAD(s, rondo_session_load(s, trace, strlen(trace)), "does not come back");
  assert_int_equal(rondo_session_length(s), 2);
  rondo_string_free(trace);
  rondo_string_free(plain);
  rondo_string_free(again);
  close_session(&o);
}

/* What is not fair is no run, whatever it violates. */
static void unfair_loops(void **state) {
  (void)state;
  char why[200];
  bool shown;
  struct opened o = open_at(turns, NULL, "just");
  rondo_session *s = o.session;
  static const char *const steps[] = {"P(2): 'look'",  "P(1): 'look'",  "P(1): 'enter'", "P(1): 'leave'",
                                      "P(2): 'enter'", "P(2): 'leave'", "P(2): 'look'"};
  GOOD(s, rondo_session_start(s, 0));
  for (size_t i = 0; i < 4; i++)
    take_text(s, steps[i]);
  GOOD(s, rondo_session_close_loop(s, 1)); /* without P(2), which could go on at any time */
  assert_string_equal(verdict_of(s, "free", &shown, why), "not_asked");
  assert_non_null(strstr(why, "not fair to P(2)"));
  assert_string_equal(verdict_of(s, "enters", &shown, why), "not_asked");
  BAD(s, rondo_session_save(s, "enters"), "not fair");
  for (size_t i = 4; i < 7; i++)
    take_text(s, steps[i]);
  GOOD(s, rondo_session_close_loop(s, 1));
  assert_string_equal(verdict_of(s, "free", &shown, why), "true");
  assert_string_equal(verdict_of(s, "enters", &shown, why), "true");
  close_session(&o);
}

static void large_states(void **state) {
  (void)state;
  static const char text[] = "algorithm Large\nparam n\ntype V = 1..n\n"
                             "process P[2] { var t: [V] [V] bool = [a in V: [b in V: true]]\n"
                             "  round { send true to all update { t := t } } }\nenvironment any {}\n";
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open_text(r, "large.rondo", text, strlen(text));
  static const struct {
    const char *n;
    bool fits;
  } tries[] = {{"10", true}, {"700", true}, {"800", false}, {"100000", false}, {"4000000000", false}};
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    assert_true(rondo_set(m, "n", tries[i].n));
    rondo_session *s = rondo_session_new(m, NULL, NULL);
    assert_true((s != NULL) == tries[i].fits);
    rondo_session_free(s);
  }
  rondo_close(m);
  rondo_free(r);
}

/* --- wrong uses --- */

static void wrong_uses(void **state) {
  (void)state;
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open_text(r, "flood.rondo", flood, strlen(flood));
  assert_null(rondo_session_new(m, NULL, NULL)); /* n has no value */
  assert_true(rondo_diagnostics(r) > 0);
  rondo_clear_diagnostics(r);
  rondo_set(m, "n", "2..3");
  assert_null(rondo_session_new(m, NULL, NULL));
  assert_non_null(strstr(rondo_diagnostic_at(r, 0)->message, "range"));
  rondo_clear_diagnostics(r);
  rondo_set(m, "n", "3");
  assert_null(rondo_session_new(m, "crashin", NULL));
  assert_string_equal(rondo_diagnostic_at(r, 0)->help, "did you mean 'crashing'?");
  rondo_clear_diagnostics(r);
  assert_null(rondo_session_new(m, NULL, "m"));
  assert_null(rondo_session_new(m, NULL, ""));
  assert_int_equal(rondo_diagnostics(r), 2);
  rondo_clear_diagnostics(r);
  rondo_set(m, "n", "65");
  assert_null(rondo_session_new(m, NULL, NULL));
  rondo_set(m, "n", "3");
  rondo_session *s = rondo_session_new(m, "many", "coarse");
  assert_non_null(s);
  rondo_set(m, "n", "4"); /* not for this one */
  assert_null(rondo_session_choices(s, 0, 1));
  assert_null(rondo_session_state(s, 0));
  assert_null(rondo_session_path(s, 0));
  assert_null(rondo_session_save(s, NULL));
  assert_null(rondo_session_taken(s, 0));
  BAD(s, rondo_session_start(s, 8), "no initial state 8");
  BAD(s, rondo_session_start(s, UINT64_MAX), "no initial state");
  GOOD(s, rondo_session_start(s, 7));
  BAD(s, rondo_session_take(s, UINT64_MAX), "no choice");
  BAD(s, rondo_session_back(s, 1), "only 0 steps");
  BAD(s, rondo_session_round_taken(s, SIZE_MAX), "only 0 steps");
  BAD(s, rondo_session_state(s, SIZE_MAX), "no state");
  BAD(s, rondo_session_properties(s, SIZE_MAX), "no state");
  json_t *j = parsed(s, rondo_session_choices(s, UINT64_MAX, SIZE_MAX));
  assert_int_equal(size_at(j, "choices"), 0);
  json_decref(j);
  j = parsed(s, rondo_session_choices(s, 0, SIZE_MAX));
  assert_true(size_at(j, "choices") > 0 && size_at(j, "choices") <= 10000);
  json_decref(j);
  rondo_session_free(s);
  rondo_session_free(NULL);
  rondo_close(m);
  m = rondo_open(r, "models/counters/bbp_correctness.rondo");
  if (m) { /* the tests may run elsewhere */
    rondo_clear_diagnostics(r);
    assert_null(rondo_session_new(m, NULL, NULL));
    assert_non_null(strstr(rondo_diagnostic_at(r, 0)->message, "counter system"));
  }
  rondo_close(m);
  rondo_free(r);
}

/* --- interruptions --- */

static void interrupted_before(void **state) {
  (void)state;
  struct opened o = open_session(flood);
  rondo_session *s = o.session;
  GOOD(s, rondo_session_start(s, 1));
  rondo_interrupt(o.context);
  BAD(s, rondo_session_choices(s, 0, 10), "interrupted");
  assert_true(rondo_session_interrupted(s));
  BAD(s, rondo_session_take(s, 0), "interrupted");
  BAD(s, rondo_session_initials(s, 0, 10), "interrupted");
  BAD(s, rondo_session_round(s, 0), "interrupted");
  json_t *j = parsed(s, rondo_session_outcomes(s, 0, 0));
  assert_true(!true_at(j, "complete") && true_at(j, "interrupted"));
  json_decref(j);
  j = parsed(s, rondo_session_find_round(s, "[null, null, null]", 0));
  assert_string_equal(string_at(j, "search"), "gave_up");
  assert_true(true_at(j, "interrupted"));
  json_decref(j);
  j = parsed(s, rondo_session_ahead(s, NULL, RONDO_CURRENT, 0, 0));
  assert_string_equal(string_at(j, "reach"), "unknown");
  assert_true(true_at(j, "interrupted"));
  json_decref(j);
  rondo_resume(o.context);
  GOOD(s, rondo_session_take(s, 0));
  assert_false(rondo_session_interrupted(s));
  close_session(&o);
}

static void *interrupt_soon(void *context) {
  nanosleep(&(struct timespec){0, 50000000}, NULL);
  rondo_interrupt(context);
  return NULL;
}

/* With nine processes that hear anybody there are too many rounds to go through. */
static void interrupted_meanwhile(void **state) {
  (void)state;
  struct opened o = open_at(flood, "9", "many");
  rondo_session *s = o.session;
  GOOD(s, rondo_session_start(s, 1));
  for (int i = 0; i < 3; i++) {
    pthread_t other;
    uint64_t n;
    bool exact;
    rondo_resume(o.context);
    assert_int_equal(pthread_create(&other, NULL, interrupt_soon, o.context), 0);
    if (i == 0) {
      BAD(s, rondo_session_choices(s, UINT64_MAX, 1), "interrupted");
    } else if (i == 1) {
      BAD(s, rondo_session_count_choices(s, UINT64_MAX, &n, &exact), "interrupted");
    } else {
      json_t *j = parsed(s, rondo_session_ahead(s, NULL, RONDO_CURRENT, UINT64_MAX, 0));
      assert_string_equal(string_at(j, "reach"), "unknown");
      assert_string_equal(string_at(j, "why"), "interrupted");
      json_decref(j);
    }
    pthread_join(other, NULL);
  }
  rondo_resume(o.context);
  GOOD(s, rondo_session_take(s, 0));
  close_session(&o);
}

/* Every process has an oracle with seven values: too many combinations to try them all. */
static void outcomes_are_interrupted(void **state) {
  (void)state;
  struct opened o = open_at(mixed, "7", NULL);
  rondo_session *s = o.session;
  pthread_t other;
  GOOD(s, rondo_session_start(s, 0));
  assert_int_equal(pthread_create(&other, NULL, interrupt_soon, o.context), 0);
  json_t *j = parsed(s, rondo_session_outcomes(s, 0, UINT64_MAX));
  assert_true(!true_at(j, "complete") && true_at(j, "interrupted"));
  assert_true(rondo_session_interrupted(s));
  json_decref(j);
  pthread_join(other, NULL);
  close_session(&o);
}

static const char oracles[] = "algorithm Oracles\nparam n\nprocess P[n] {\n"
                              "  oracle k: set of P each round\n  var seen: 0..n = 0\n"
                              "  round { send true to all update { seen := |received| } }\n}\n"
                              "environment first { every round: forall p in P: HO[p] == k[P(1)] }\nsafety s: true\n";

/* There are too many combinations of oracles to go through even if each is rejected at once. */
static void oracles_are_interrupted(void **state) {
  (void)state;
  struct opened o = open_at(oracles, "9", NULL);
  rondo_session *s = o.session;
  pthread_t other;
  GOOD(s, rondo_session_start(s, 0));
  assert_int_equal(pthread_create(&other, NULL, interrupt_soon, o.context), 0);
  BAD(s, rondo_session_choices(s, UINT64_MAX, 1), "interrupted");
  pthread_join(other, NULL);
  close_session(&o);
}

/* The time of a command does not run on in a session. */
static void limits_end_with_their_command(void **state) {
  (void)state;
  struct opened o = open_session(flood);
  rondo_options *options = rondo_options_new(o.context);
  rondo_option(options, "max-time", "1ms");
  rondo_result_free(rondo_check(o.model, options));
  struct timespec t = {0, 20000000};
  nanosleep(&t, NULL);
  GOOD(o.session, rondo_session_start(o.session, 0));
  GOOD(o.session, rondo_session_take(o.session, 0));
  rondo_options_free(options);
  close_session(&o);
}

static void thousands(void **state) {
  (void)state;
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open_text(r, "two.rondo", two_steps, strlen(two_steps));
  uint32_t n = trials(3000);
  for (uint32_t i = 0; i < n; i++) {
    rondo_session *s = rondo_session_new(m, NULL, i % 2 ? "mp" : NULL);
    assert_non_null(s);
    if (i % 3 == 0) {
      GOOD(s, rondo_session_start(s, 0));
      GOOD(s, rondo_session_take(s, 0));
      rondo_string_free(rondo_session_state(s, 1));
    }
    rondo_session_free(s);
  }
  rondo_close(m);
  rondo_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_example),
      cmocka_unit_test(all_models),
      cmocka_unit_test(messages),
      cmocka_unit_test(expressions),
      cmocka_unit_test(shared_memory),
      cmocka_unit_test(ahead),
      cmocka_unit_test(rounds),
      cmocka_unit_test(outcomes),
      cmocka_unit_test(oracles_and_lies),
      cmocka_unit_test(wrong_rounds),
      cmocka_unit_test(altered_rounds),
      cmocka_unit_test(altered_traces),
      cmocka_unit_test(loops),
      cmocka_unit_test(unfair_loops),
      cmocka_unit_test(large_states),
      cmocka_unit_test(wrong_uses),
      cmocka_unit_test(interrupted_before),
      cmocka_unit_test(interrupted_meanwhile),
      cmocka_unit_test(choices_as_rounds),
      cmocka_unit_test(asynchronous_rounds),
      cmocka_unit_test(traces_of_fine_rounds),
      cmocka_unit_test(many_and_one),
      cmocka_unit_test(sessions_are_apart),
      cmocka_unit_test(outcomes_are_interrupted),
      cmocka_unit_test(oracles_are_interrupted),
      cmocka_unit_test(limits_end_with_their_command),
      cmocka_unit_test(thousands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
