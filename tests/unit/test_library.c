/* include/rondo.h from inside one process: contexts that know nothing of each other, thousands of them, wrong uses. */
#include "rondo.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char echo[] = "algorithm Echo\n"
                           "param n where n >= 2\n"
                           "process P[n] {\n"
                           "  input x: bool\n"
                           "  var decided: bool? = none\n"
                           "  round { send x to all  update { decided := forall m in received: m } }\n"
                           "}\n"
                           "environment lossy { at most 1 messages are lost }\n"
                           "environment calm { synchronous }\n"
                           "safety agreement in calm, lossy: forall p, q in P: p.decided != none and q.decided != none "
                           "=> p.decided == q.decided\n"
                           "cover decides in calm: exists p in P: p.decided == true\n"
                           "live ends in calm: eventually forall p in P: p.decided != none\n";

static rondo_model *open_echo(rondo *r, const char *n) {
  rondo_model *m = rondo_open_text(r, "echo.rondo", echo, strlen(echo));
  assert_non_null(m);
  assert_true(rondo_set(m, "n", n));
  return m;
}

static void checks_and_tells(void **state) {
  (void)state;
  rondo *r = rondo_new(NULL);
  rondo_model *m = open_echo(r, "3");
  rondo_result *result = rondo_check(m, NULL);
  assert_int_equal(rondo_result_status(result), RONDO_VIOLATED);
  assert_int_equal(rondo_result_verdicts(result), 4);
  unsigned violated = 0, live = 0;
  for (size_t i = 0; i < rondo_result_verdicts(result); i++) {
    rondo_verdict v = rondo_result_verdict(result, i);
    live += v.kind == RONDO_LIVE;
    if (v.status != RONDO_VIOLATED) {
      assert_int_equal(v.status, RONDO_HOLDS);
      continue;
    }
    violated++;
    assert_string_equal(v.property, "agreement");
    assert_string_equal(v.environment, "lossy");
    assert_int_equal(rondo_result_trace(result, i).steps, 1);
    assert_int_equal(rondo_result_trace(result, i).loop, -1);
    char *text = rondo_result_trace_text(result, i), *json = rondo_result_trace_json(result, i);
    assert_non_null(strstr(text, "round 1"));
    assert_non_null(strstr(json, "\"agreement\""));
    rondo_string_free(text);
    rondo_string_free(json);
  }
  assert_int_equal(violated, 1);
  assert_int_equal(live, 1);
  assert_true(rondo_result_states(result) > 0);
  assert_non_null(strstr(rondo_result_text(result), "agreement"));
  assert_int_equal(rondo_result_verdict(result, 99).status, RONDO_BAD_INPUT);
  assert_null(rondo_result_trace_text(result, 99));
  assert_int_equal(rondo_diagnostics(r), 0);
  rondo_result_free(result);
  rondo_close(m);
  rondo_free(r);
}

struct told_verdicts {
  unsigned found, final, violated;
};

static void tell_verdict(void *context, const rondo_verdict *v, bool final) {
  struct told_verdicts *told = context;
  told->found += !final;
  told->final += final;
  told->violated += final && v->status == RONDO_VIOLATED && v->has_trace && !strcmp(v->property, "agreement");
}

static void verdicts_are_told(void **state) {
  (void)state;
  struct told_verdicts told = {0};
  rondo_host host = {.context = &told, .verdict = tell_verdict};
  rondo *r = rondo_new(&host);
  rondo_model *m = open_echo(r, "3");
  rondo_result *result = rondo_check(m, NULL);
  assert_int_equal(told.final, rondo_result_verdicts(result));
  assert_int_equal(told.violated, 1);
  assert_int_equal(told.found, 1); /* the cover, and the search goes on for agreement */
  rondo_result_free(result);
  rondo_options *lines = rondo_options_new(r);
  assert_true(rondo_option(lines, "json", "lines"));
  result = rondo_check(m, lines);
  assert_non_null(strstr(rondo_result_text(result), "\"event\":\"header\""));
  rondo_result_free(result);
  rondo_options_free(lines);
  rondo_close(m);
  rondo_free(r);
}

static void commands_answer(void **state) {
  (void)state;
  rondo *r = rondo_new(NULL);
  rondo_model *m = open_echo(r, "2");
  rondo_options *json = rondo_options_new(r), *one = rondo_options_new(r);
  assert_true(rondo_option(json, "json", NULL));
  assert_true(rondo_option(one, "property", "agreement"));
  assert_true(rondo_option(one, "env", "calm"));
  rondo_result *result = rondo_check(m, json);
  assert_true(*rondo_result_text(result) == '{');
  rondo_result_free(result);
  result = rondo_check(m, one);
  assert_int_equal(rondo_result_status(result), RONDO_HOLDS);
  assert_int_equal(rondo_result_verdicts(result), 1);
  rondo_result_free(result);
  result = rondo_lint(m, NULL);
  assert_non_null(strstr(rondo_result_text(result), "symmetry"));
  rondo_result_free(result);
  result = rondo_export(m, "promela", one);
  assert_int_equal(rondo_result_status(result), RONDO_HOLDS);
  assert_non_null(strstr(rondo_result_text(result), "proctype"));
  rondo_result_free(result);
  result = rondo_run(m, NULL);
  assert_non_null(strstr(rondo_result_text(result), "round 1"));
  rondo_result_free(result);
  result = rondo_format(m);
  assert_non_null(strstr(rondo_result_text(result), "algorithm Echo"));
  rondo_result_free(result);
  result = rondo_compare(m, NULL);
  assert_non_null(strstr(rondo_result_text(result), "fine"));
  rondo_result_free(result);
  assert_int_equal(rondo_diagnostics(r), 0);
  rondo_options_free(json);
  rondo_options_free(one);
  rondo_close(m);
  rondo_free(r);
}

/* Without processes the provers take turns. */
static void proves_alone(void **state) {
  (void)state;
  rondo *r = rondo_new(NULL);
  rondo_model *m = rondo_open(r, "models/counters/bbp_correctness.rondo");
  if (m) { /* the tests may run elsewhere */
    rondo_result *result = rondo_prove(m, NULL);
    assert_int_equal(rondo_result_status(result), RONDO_HOLDS);
    rondo_result_free(result);
  }
  rondo_close(m);
  rondo_free(r);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *interrupt_soon(void *context) {
  usleep(200000);
  rondo_interrupt(context);
  return NULL;
}

/* Without processes nobody can be killed: every phase of a proof and of a threshold must look at the limits itself.
   Slow machines get some seconds more. */
static void proofs_obey_limits(void **state) {
  (void)state;
  static const char *const models[] = {"counters/floodset", "counters/goba", "counters/soba_send_omission", "ben_or"};
  for (unsigned i = 0; i < 4 * 4; i++) {
    char path[256];
    bool interrupted = i & 1, threshold = i & 2;
    if (threshold && i / 4 == 3)
      continue;
    rondo *r = rondo_new(NULL);
    snprintf(path, sizeof path, "models/%s.rondo", models[i / 4]);
    rondo_model *m = rondo_open(r, path);
    if (!m) { /* the tests may run elsewhere */
      rondo_free(r);
      return;
    }
    rondo_options *o = rondo_options_new(r);
    pthread_t other;
    assert_true(rondo_option(o, "max-time", interrupted ? "60s" : "200ms"));
    if (!threshold)
      assert_true(rondo_option(o, "property", "agreement"));
    double start = seconds();
    if (interrupted)
      assert_int_equal(pthread_create(&other, NULL, interrupt_soon, r), 0);
    rondo_result *result = threshold ? rondo_threshold(m, "agreement", o) : rondo_prove(m, o);
    double taken = seconds() - start;
    if (interrupted)
      pthread_join(other, NULL);
    assert_int_not_equal(rondo_result_status(result), RONDO_FAULT);
    assert_true(taken < 8);
    rondo_result_free(result);
    rondo_options_free(o);
    rondo_close(m);
    rondo_free(r);
  }
}

/* A host whose second process, which checks the certificate, says nothing and ends well. */
static bool start_process(void *context, void (*work)(void *argument, int wire), void *argument,
                          rondo_process *process) {
  int wire[2], *started = context;
  if (pipe(wire) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    if (++*started == 2 && write(wire[1], "r0\n", 3) == 3)
      _exit(0);
    work(argument, wire[1]);
    _exit(0);
  }
  ++*started;
  close(wire[1]);
  *process = (rondo_process){.id = child, .wire = wire[0]};
  return child > 0;
}

static void end_process(void *context, const rondo_process *process) {
  (void)context;
  kill((pid_t)process->id, SIGKILL);
  close(process->wire);
  waitpid((pid_t)process->id, NULL, 0);
}

static void silence_confirms_nothing(void **state) {
  (void)state;
  int started = 0;
  rondo_host host = {.context = &started, .start_process = start_process, .end_process = end_process};
  rondo *r = rondo_new(&host);
  rondo_model *m = rondo_open(r, "models/counters/bbp_unforgeability.rondo");
  if (!m) {
    rondo_free(r);
    return;
  }
  rondo_options *o = rondo_options_new(r);
  assert_true(rondo_option(o, "engine", "horn"));
  rondo_result *result = rondo_prove(m, o);
  assert_int_equal(started, 2);
  assert_int_equal(rondo_result_status(result), RONDO_INCONCLUSIVE);
  assert_non_null(strstr(rondo_result_text(result), "failed its check"));
  rondo_result_free(result);
  rondo_options_free(o);
  rondo_close(m);
  rondo_free(r);
}

static void wrong_uses_are_told(void **state) {
  (void)state;
  static const char wrong[] = "algorithm X\nprocess P[2] {\n  var x: bool = 3\n  round { }\n}\nsafety s: true\n";
  rondo *r = rondo_new(NULL);
  assert_null(rondo_open(r, "no/such/file.rondo"));
  assert_int_equal(rondo_diagnostics(r), 1);
  assert_null(rondo_diagnostic_at(r, 0)->path);
  rondo_clear_diagnostics(r);
  assert_null(rondo_open_text(r, "x", "algorithm", 9));
  assert_true(rondo_diagnostics(r) > 0);
  rondo_clear_diagnostics(r);
  rondo_model *m = rondo_open_text(r, "wrong.rondo", wrong, strlen(wrong));
  assert_non_null(m); /* it parses */
  rondo_result *result = rondo_check(m, NULL);
  assert_int_equal(rondo_result_status(result), RONDO_BAD_INPUT);
  assert_int_equal(rondo_result_verdicts(result), 0);
  const rondo_diagnostic *d = rondo_diagnostic_at(r, 0);
  assert_non_null(d);
  assert_int_equal(d->severity, RONDO_ERROR);
  assert_string_equal(d->path, "wrong.rondo");
  assert_int_equal(d->line, 3);
  assert_int_equal(d->end_line, 3);
  assert_true(d->to > d->from && d->to <= strlen(wrong));
  assert_null(rondo_diagnostic_at(r, 1000));
  rondo_result_free(result);
  assert_false(rondo_set(m, "n", "many"));
  rondo_options *o = rondo_options_new(r);
  assert_false(rondo_option(o, "no-such-option", NULL));
  assert_false(rondo_option(o, "max-time", NULL));
  assert_false(rondo_option(o, "no-trace", "yes"));
  assert_true(rondo_option(o, "to", "promela")); /* there is one, though not for check */
  result = rondo_check(m, o);
  assert_int_equal(rondo_result_status(result), RONDO_BAD_INPUT);
  rondo_result_free(result);
  rondo_options_free(o);
  rondo_close(m);
  rondo_free(r);
}

static void interruptions_are_obeyed(void **state) {
  (void)state;
  rondo *r = rondo_new(NULL);
  rondo_model *m = open_echo(r, "3");
  rondo_interrupt(r);
  rondo_result *result = rondo_check(m, NULL);
  assert_int_equal(rondo_result_status(result), RONDO_INCONCLUSIVE);
  rondo_result_free(result);
  rondo_clear_diagnostics(r);
  static const char text[] = "algorithm A\nprocess P[1] {\n  input x: bool\n  round { send x to all }\n}\n";
  assert_null(rondo_open_text(r, "a.rondo", text, sizeof text - 1)); /* reading is interrupted, too */
  assert_int_equal(rondo_diagnostics(r), 1);
  assert_string_equal(rondo_diagnostic_at(r, 0)->code, "N0106");
  assert_int_equal(rondo_diagnostic_at(r, 0)->severity, RONDO_NOTE);
  rondo_clear_diagnostics(r);
  rondo_resume(r);
  result = rondo_check(m, NULL);
  assert_int_equal(rondo_result_status(result), RONDO_VIOLATED);
  rondo_result_free(result);
  rondo_close(m);
  rondo_free(r);
}

/* A limit of one context is none of another. */
static void *check_often(void *context) {
  const char *seconds = context;
  for (int i = 0; i < 20; i++) {
    rondo *r = rondo_new(NULL);
    rondo_model *m = open_echo(r, i % 2 ? "2" : "3");
    rondo_options *o = rondo_options_new(r);
    rondo_option(o, "max-time", seconds);
    rondo_option(o, "property", "agreement");
    rondo_option(o, "env", "calm");
    rondo_result *result = rondo_check(m, o);
    if (rondo_result_status(result) != RONDO_HOLDS)
      return "not held";
    rondo_result_free(result);
    rondo_options_free(o);
    rondo_close(m);
    rondo_free(r);
  }
  return NULL;
}

static void contexts_are_apart(void **state) {
  (void)state;
  pthread_t other;
  void *fault;
  rondo *stopped = rondo_new(NULL);
  rondo_interrupt(stopped);
  assert_int_equal(pthread_create(&other, NULL, check_often, (void *)"60s"), 0);
  assert_null(check_often((void *)"5m"));
  pthread_join(other, &fault);
  assert_null(fault);
  rondo_free(stopped);
}

static void opens_and_closes_thousands(void **state) {
  (void)state;
  for (int i = 0; i < 2000; i++) {
    rondo *r = rondo_new(NULL);
    rondo_model *m = open_echo(r, "2");
    if (i % 100 == 0)
      rondo_result_free(rondo_check(m, NULL));
    rondo_close(m);
    rondo_free(r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(checks_and_tells),         cmocka_unit_test(verdicts_are_told),
      cmocka_unit_test(commands_answer),          cmocka_unit_test(proves_alone),
      cmocka_unit_test(proofs_obey_limits),       cmocka_unit_test(silence_confirms_nothing),
      cmocka_unit_test(wrong_uses_are_told),      cmocka_unit_test(contexts_are_apart),
      cmocka_unit_test(interruptions_are_obeyed), cmocka_unit_test(opens_and_closes_thousands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
