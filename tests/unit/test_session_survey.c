/* rondo_session_survey, rondo_session_step and rondo_session_export, through include/rondo.h. */
#include "rondo.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char counter[] = "algorithm Counter\n"
                              "process P[1] {\n"
                              "  var x: 0..3 = 0\n"
                              "  step up { x := min({x + 1, 3}) }\n"
                              "  step again { x := min({x + 1, 3}) }\n"
                              "}\n"
                              "safety small: forall p in P: p.x < 2\n"
                              "cover three: exists p in P: p.x == 3\n";

struct fixture {
  rondo *context;
  rondo_model *model;
  rondo_session *session;
};

static void open_session(struct fixture *f) {
  f->context = rondo_new(NULL);
  f->model = rondo_open_text(f->context, "counter.rondo", counter, strlen(counter));
  assert_non_null(f->model);
  f->session = rondo_session_new(f->model, NULL, NULL);
  assert_non_null(f->session);
  assert_true(rondo_session_start(f->session, 0));
}

static void close_session(struct fixture *f) {
  rondo_session_free(f->session);
  rondo_close(f->model);
  rondo_free(f->context);
}

static json_t *read_answer(char *text) {
  assert_non_null(text);
  json_t *j = json_loads(text, 0, NULL);
  rondo_string_free(text);
  assert_non_null(j);
  return j;
}

static const json_t *target_of(const json_t *survey, const char *property) {
  const json_t *targets = json_object_get(survey, "targets");
  for (size_t i = 0; i < json_array_size(targets); i++) {
    const char *name = json_string_value(json_object_get(json_array_get(targets, i), "property"));
    if (name && !strcmp(name, property))
      return json_array_get(targets, i);
  }
  return NULL;
}

static void finds_all_targets_in_one_search(void **state) {
  struct fixture f;
  (void)state;
  open_session(&f);
  json_t *j = read_answer(rondo_session_survey(f.session, 0, true, NULL, 0, 0));
  assert_true(json_is_true(json_object_get(j, "complete")));
  assert_int_equal(json_integer_value(json_object_get(j, "states")), 3);
  assert_string_equal(json_string_value(json_object_get(target_of(j, "small"), "reach")), "reachable");
  assert_int_equal(json_integer_value(json_object_get(target_of(j, "small"), "steps")), 2);
  assert_string_equal(json_string_value(json_object_get(target_of(j, "three"), "reach")), "unreachable");
  assert_int_equal(json_array_size(json_object_get(j, "classes")), 3);
  assert_int_equal(json_array_size(json_object_get(j, "edges")), 2);
  assert_int_equal(json_integer_value(json_object_get(json_object_get(j, "final"), "steps")), 2);
  json_decref(j);
  close_session(&f);
}

static void limits_and_projections(void **state) {
  struct fixture f;
  (void)state;
  open_session(&f);
  json_t *j = read_answer(rondo_session_survey(f.session, 0, true, "exists p in P: p.x > 0", 0, 0));
  assert_int_equal(json_array_size(json_object_get(j, "classes")), 2);
  json_decref(j);
  j = read_answer(rondo_session_survey(f.session, 0, false, NULL, 0, 1));
  assert_false(json_is_true(json_object_get(j, "complete")));
  assert_string_equal(json_string_value(json_object_get(target_of(j, "small"), "reach")), "unknown");
  json_decref(j);
  assert_null(rondo_session_survey(f.session, 0, true, "nonsense(", 0, 0));
  assert_non_null(strstr(rondo_session_error(f.session), "error"));
  assert_null(rondo_session_survey(f.session, 7, false, NULL, 0, 0));
  close_session(&f);
}

static void describes_steps_and_exports(void **state) {
  struct fixture f;
  (void)state;
  open_session(&f);
  assert_true(rondo_session_take(f.session, 0));
  json_t *j = read_answer(rondo_session_step(f.session, 0));
  assert_true(json_array_size(json_object_get(j, "changes")) > 0);
  json_decref(j);
  assert_null(rondo_session_step(f.session, 1));
  char *trace = rondo_session_export(f.session, "trace", NULL), *itf = rondo_session_export(f.session, "itf", NULL);
  assert_non_null(strstr(trace, "rondo-trace/1"));
  assert_non_null(strstr(itf, "#meta"));
  rondo_string_free(trace);
  rondo_string_free(itf);
  assert_null(rondo_session_export(f.session, "pdf", NULL));
  close_session(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(finds_all_targets_in_one_search),
                                     cmocka_unit_test(limits_and_projections),
                                     cmocka_unit_test(describes_steps_and_exports)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
