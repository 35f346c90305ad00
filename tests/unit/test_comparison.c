/* Verdicts of several semantics side by side: what is a difference, and what is only a limit. */
#include "base/memory.h"
#include "report/comparison.h"
#include "report/reproduction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N 3

/* One environment, two properties, three semantics. */
struct world {
  struct model m;
  struct environment environment;
  struct property properties[2];
  struct property_result of[N][3];
  struct run_result runs[N];
  struct check_result results[N];
  struct licences licences;
  struct comparison comparison;
};

static void world_init(struct world *w) {
  static const struct compared_semantics variants[N] = {{SEMANTICS_M, 0}, {SEMANTICS_M_MP, 0}, {SEMANTICS_MP, 0}};
  memset(w, 0, sizeof *w);
  w->environment.name = "calm";
  w->properties[0].name = "agreement";
  w->properties[1].name = "reached";
  w->properties[1].kind = PROPERTY_COVER;
  w->m = (struct model){.kind = MODEL_MESSAGES,
                        .name = "Small",
                        .source = {.path = "small.rondo", .text = ""},
                        .environments = &w->environment,
                        .nenvironments = 1,
                        .properties = w->properties,
                        .nproperties = 2};
  for (unsigned i = 0; i < REDUCTIONS; i++)
    w->licences.of[i].reason = "";
  for (unsigned i = 0; i < N; i++) {
    for (unsigned k = 0; k < 2; k++)
      w->of[i][k] = (struct property_result){
          .property = &w->properties[k], .index = k, .verdict = VERDICT_HOLDS, .proved = (char *)"so"};
    w->runs[i] = (struct run_result){.semantics = variants[i].semantics,
                                     .licences = &w->licences,
                                     .properties = w->of[i],
                                     .nproperties = 2,
                                     .end = SEARCH_EXHAUSTED,
                                     .stats = {.states = 100 * (i + 1), .transitions = 7},
                                     .transitions_counted = true,
                                     .successors = (char *)""};
    w->results[i] = (struct check_result){.model = &w->m, .runs = &w->runs[i], .nruns = 1};
  }
  w->comparison = (struct comparison){&w->m, w->results, variants, N};
}

static bool agrees(struct world *w, struct text *why) {
  text_release(why);
  return comparison_agrees(&w->comparison, why);
}

static void differences_are_named(void **unused) {
  (void)unused;
  struct world w;
  struct text why = {0};
  world_init(&w);
  assert_true(agrees(&w, &why));
  w.of[2][0].verdict = VERDICT_VIOLATED;
  assert_false(agrees(&w, &why));
  assert_string_equal(why.at, "'agreement' in environment 'calm': holds in m, violated in mp");
  w.of[1][1].verdict = VERDICT_VIOLATED;
  assert_false(agrees(&w, &why));
  assert_non_null(strstr(why.at, "'agreement'"));
  assert_non_null(strstr(why.at, "'reached' in environment 'calm': holds in m, violated in m-mp"));
  text_release(&why);
}

static void limits_differ_from_nothing(void **unused) {
  (void)unused;
  struct world w;
  struct text why = {0};
  world_init(&w);
  w.of[0][0].verdict = w.of[1][0].verdict = VERDICT_INCONCLUSIVE;
  w.of[2][0].verdict = VERDICT_VIOLATED;
  w.runs[0].end = SEARCH_STATES;
  w.runs[1].end = SEARCH_TIME;
  assert_true(agrees(&w, &why));
  w.of[1][0].verdict = VERDICT_HOLDS; /* two that are sure */
  assert_false(agrees(&w, &why));
  assert_non_null(strstr(why.at, "holds in m-mp, violated in mp"));
  text_release(&why);
}

/* A model that fails in one semantics only. */
static void errors_are_compared(void **unused) {
  (void)unused;
  struct world w;
  struct text why = {0};
  world_init(&w);
  w.of[1][2] = (struct property_result){.index = NO_PROPERTY, .verdict = VERDICT_VIOLATED, .proved = (char *)"so"};
  w.runs[1].nproperties = 3;
  w.runs[1].end = SEARCH_MODEL_ERROR;
  assert_false(agrees(&w, &why));
  assert_non_null(strstr(why.at, "'no_error' in environment 'calm': holds in m, violated in m-mp"));
  w.runs[0].end = w.runs[2].end = SEARCH_DECIDED; /* they did not look at everything */
  assert_true(agrees(&w, &why));
  w.runs[0].end = SEARCH_EXHAUSTED;
  w.runs[0].cut = true; /* nor beyond so many steps */
  assert_true(agrees(&w, &why));
  text_release(&why);
}

static void differences_are_told(void **unused) {
  (void)unused;
  struct world w;
  struct text out = {0};
  struct style style = {.width = 96};
  world_init(&w);
  w.of[2][0].verdict = VERDICT_VIOLATED;
  comparison_text(&w.comparison, &style, &out);
  assert_non_null(strstr(out.at, "THE VERDICTS DIFFER"));
  assert_non_null(strstr(out.at, "a fault of rondo"));
  assert_null(strstr(out.at, "agree,"));
  json_t *j = comparison_json(&w.comparison);
  assert_true(json_is_false(json_object_get(j, "agrees")));
  assert_string_equal(json_string_value(json_object_get(j, "why")),
                      "'agreement' in environment 'calm': holds in m, violated in mp");
  json_decref(j);
  text_release(&out);
}

static void ratios_are_of_complete_searches(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  w.runs[0].end = SEARCH_STATES; /* the smallest, but it gave up */
  json_t *j = comparison_json(&w.comparison);
  json_t *rows = json_object_get(json_array_get(json_object_get(j, "environments"), 0), "semantics");
  double ratio[N];
  for (unsigned i = 0; i < N; i++)
    ratio[i] = json_real_value(json_object_get(json_array_get(rows, i), "ratio"));
  assert_true(ratio[0] == 0.5 && ratio[1] == 1.0 && ratio[2] == 1.5);
  assert_true(json_is_false(json_object_get(json_array_get(rows, 0), "complete")));
  json_decref(j);
}

/* Not to be found within the distance is a verdict here, in the table as in JSON. */
static void verdicts_within_a_distance(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  w.runs[1].distance_cut = true;
  w.of[1][0].verdict = VERDICT_INCONCLUSIVE;
  json_t *j = comparison_json(&w.comparison);
  json_t *rows = json_object_get(json_array_get(json_object_get(j, "environments"), 0), "semantics");
  json_t *first = json_array_get(json_object_get(json_array_get(rows, 1), "properties"), 0);
  assert_string_equal(json_string_value(json_object_get(first, "verdict")), "holds");
  json_decref(j);
}

static void commas_in_csv_are_quoted(void **unused) {
  (void)unused;
  const struct published_row rows[2] = {{.setting = "n = 2", .way = "w", .memory = "10,479.1 MB", .command = "check"}};
  const struct published_table table = {.name = "t", .rows = rows};
  struct reproduced_row ours = {0};
  struct text out = {0};
  reproduction_csv(&(struct reproduction){&table, &ours}, false, &out);
  assert_non_null(strstr(out.at, ",\"10,479.1 MB\","));
  text_release(&out);
}

static void malformed_tables_are_refused(void **unused) {
  (void)unused;
  static const char *const texts[] = {
      "[", "[]", "[{}]", "{}",
      "[{\"name\": \"t\", \"title\": \"\", \"tool\": \"\", \"about\": \"\", \"rows\": [{\"setting\": \"n\"}]}]"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct published p;
    struct text why = {0};
    assert_false(published_read(&p, texts[i], strlen(texts[i]), &why));
    assert_true(why.n > 0);
    published_release(&p);
    text_release(&why);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(differences_are_named),
      cmocka_unit_test(limits_differ_from_nothing),
      cmocka_unit_test(errors_are_compared),
      cmocka_unit_test(differences_are_told),
      cmocka_unit_test(ratios_are_of_complete_searches),
      cmocka_unit_test(verdicts_within_a_distance),
      cmocka_unit_test(malformed_tables_are_refused),
      cmocka_unit_test(commas_in_csv_are_quoted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
