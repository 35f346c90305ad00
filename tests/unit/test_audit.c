/* Answers of several ways side by side: what contradicts what, and what is only a limit. */
#include "base/memory.h"
#include "report/audit_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N 2

/* One environment, a safety property, a cover and a live property; two ways. */
struct world {
  struct model m;
  struct environment environment;
  struct property properties[3];
  struct property_result of[N][3], live[N][2];
  struct run_result runs[N][2];
  struct licences licences[N];
  struct audit_variant ways[N];
};

static void world_init(struct world *w) {
  static const char *const options[N] = {"", "--reduce none"};
  memset(w, 0, sizeof *w);
  w->environment.name = "calm";
  w->properties[0] = (struct property){.name = "agreement", .kind = PROPERTY_SAFETY};
  w->properties[1] = (struct property){.name = "reached", .kind = PROPERTY_COVER};
  w->properties[2] = (struct property){.name = "ends", .kind = PROPERTY_LIVE};
  w->m = (struct model){.kind = MODEL_MESSAGES,
                        .name = "Small",
                        .environments = &w->environment,
                        .nenvironments = 1,
                        .properties = w->properties,
                        .nproperties = 3};
  for (unsigned i = 0; i < N; i++) {
    w->of[i][0] = (struct property_result){
        .property = &w->properties[0], .proved = (char *)"every run", .evidence = {.none_before = NO_LENGTH}};
    w->of[i][1] = (struct property_result){
        .property = &w->properties[1], .proved = (char *)"reached after 3 steps", .evidence = {true, 3, 3, true, 0}};
    w->live[i][0] = (struct property_result){.property = &w->properties[2], .proved = (char *)"every run"};
    for (unsigned k = 0; k < 2; k++)
      w->runs[i][k] = (struct run_result){.semantics = SEMANTICS_M,
                                          .licences = &w->licences[i],
                                          .properties = k ? w->live[i] : w->of[i],
                                          .nproperties = k ? 1 : 2,
                                          .query_group = k,
                                          .errors = {.none_before = NO_LENGTH},
                                          .stats = {.states = 10},
                                          .end = SEARCH_EXHAUSTED};
    w->ways[i] =
        (struct audit_variant){.options = options[i], .result = {.model = &w->m, .runs = w->runs[i], .nruns = 2}};
  }
}

/* The only contradiction, in words; "": there is none. */
static const char *conflicts_text(struct world *w) {
  static char said[300];
  struct conflicts c = {0};
  struct text out = {0};
  audit_compare(w->ways, N, &c);
  assert_true(c.at.n <= 1);
  if (c.at.n == 1)
    conflict_print(&c.at.at[0], w->ways, &out);
  snprintf(said, sizeof said, "%s%s", c.at.n && c.at.at[0].forced ? "forced: " : "", text_or_empty(&out));
  text_release(&out);
  vec_release(&c.at);
  return said;
}

static void violate(struct property_result *p, uint32_t length, bool shortest) {
  p->verdict = VERDICT_VIOLATED;
  p->proved = (char *)"after some steps";
  p->evidence = (struct evidence){.found = true, .length = length, .none_before = shortest ? length : 0};
}

static void verdicts_differ(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  assert_string_equal(conflicts_text(&w), "");
  violate(&w.of[1][0], LENGTH_UNKNOWN, false);
  assert_string_equal(conflicts_text(&w), "'agreement' in environment 'calm': holds (every run) as asked, "
                                          "violated (after some steps) with --reduce none");
  w.licences[0].unlicensed = true;
  assert_non_null(strstr(conflicts_text(&w), "forced: 'agreement'"));
  violate(&w.of[0][0], LENGTH_UNKNOWN, false);
  assert_string_equal(conflicts_text(&w), "");
}

static void lengths_differ(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  violate(&w.of[0][0], 5, true);
  violate(&w.of[1][0], 5, true);
  assert_string_equal(conflicts_text(&w), "");
  violate(&w.of[1][0], 4, true);
  assert_non_null(strstr(conflicts_text(&w), "'agreement'"));
  violate(&w.of[1][0], 6, true);
  assert_non_null(strstr(conflicts_text(&w), "'agreement'"));
  violate(&w.of[1][0], 6, false); /* by a detour */
  assert_string_equal(conflicts_text(&w), "");
  violate(&w.of[1][0], LENGTH_UNKNOWN, false);
  assert_string_equal(conflicts_text(&w), "");
}

static void costs_differ(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  w.of[0][1].evidence.fault_cost = 1;
  assert_string_equal(conflicts_text(&w), ""); /* of steps nothing is said of it */
  w.runs[0][0].semantics = w.runs[1][0].semantics = SEMANTICS_COARSE;
  assert_non_null(strstr(conflicts_text(&w), "'reached'"));
}

/* Whole rounds, and rounds of one's own: what is local is the same. */
static void semantics_differ(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  w.runs[0][0].semantics = SEMANTICS_COARSE;
  w.runs[1][0].semantics = SEMANTICS_FINE;
  violate(&w.of[1][0], 1, true);
  assert_string_equal(conflicts_text(&w), ""); /* said of whole rounds only */
  w.of[0][0].rounds = (struct licence){.granted = true, .reason = "it is local"};
  assert_non_null(strstr(conflicts_text(&w), "'agreement' in environment 'calm': holds (every run) as asked"));
  violate(&w.of[0][0], 3, true); /* rounds and steps are not counted alike */
  assert_string_equal(conflicts_text(&w), "");
  w.of[1][0].evidence = (struct evidence){.none_before = NO_LENGTH};
  assert_non_null(strstr(conflicts_text(&w), "'agreement'"));
  w.properties[0].step = true; /* what all do in a round may be wrong, and what each does not */
  assert_string_equal(conflicts_text(&w), "");
}

static void errors_differ(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  w.runs[1][0].errors = (struct evidence){.found = true, .length = 2, .none_before = 2};
  w.of[1][2] = (struct property_result){
      .verdict = VERDICT_VIOLATED, .proved = (char *)"after 2 steps", .evidence = w.runs[1][0].errors};
  w.runs[1][0].nproperties = 3;
  assert_string_equal(conflicts_text(&w), "'no_error' in environment 'calm': no error in any run as asked, "
                                          "violated (after 2 steps) with --reduce none");
  w.runs[0][0].errors.none_before = 3; /* it ended early, but not that early */
  assert_non_null(strstr(conflicts_text(&w), "no error in runs of length up to 2 as asked"));
  w.runs[0][0].errors.none_before = 2;
  assert_string_equal(conflicts_text(&w), "");
  w.runs[0][0].errors = (struct evidence){.found = true, .length = 1, .none_before = 1};
  assert_non_null(strstr(conflicts_text(&w), "'no_error'"));
}

static void covers_differ(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  w.of[1][1].verdict = VERDICT_VIOLATED;
  w.of[1][1].proved = (char *)"never reached: every run";
  w.of[1][1].evidence = (struct evidence){.none_before = NO_LENGTH};
  assert_string_equal(conflicts_text(&w), "'reached' in environment 'calm': holds (reached after 3 steps) as asked, "
                                          "violated (never reached: every run) with --reduce none");
}

static void live_properties_differ(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  w.live[1][0].verdict = VERDICT_VIOLATED;
  assert_non_null(strstr(conflicts_text(&w), "'ends'"));
  w.live[1][0].verdict = VERDICT_INCONCLUSIVE;
  assert_string_equal(conflicts_text(&w), "");
  w.live[1][0].verdict = VERDICT_HOLDS;
  w.live[1][0].vacuous = true;
  assert_non_null(strstr(conflicts_text(&w), "'ends'"));
  w.live[1][0].vacuous = false;
  w.live[1][1] = (struct property_result){.verdict = VERDICT_VIOLATED, .proved = (char *)"after 1 step"};
  w.runs[1][1].nproperties = 2;
  assert_non_null(strstr(conflicts_text(&w), "'no_error'"));
}

static void limits_contradict_nothing(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  violate(&w.of[0][0], 7, true);
  w.of[1][0].verdict = VERDICT_INCONCLUSIVE;
  w.of[1][0].proved = (char *)"no violation within 6 steps";
  w.of[1][0].evidence = (struct evidence){.none_before = 7};
  w.runs[1][0].end = SEARCH_STATES;
  assert_string_equal(conflicts_text(&w), "");
  struct audit_note note = audit_note_for(&w.ways[1], &w.runs[0][0]);
  assert_int_equal(note.end, AUDIT_UNDECIDED);
  assert_string_equal(note.why, "no violation within 6 steps");
  memory_free(note.why);
  w.of[1][0].evidence.none_before = 8; /* bmc to a depth of 7, say: it had to find it */
  assert_non_null(strstr(conflicts_text(&w), "'agreement'"));
  w.runs[1][0].hashed = true; /* it may have missed it */
  w.runs[1][0].missed = 0.5;
  assert_string_equal(conflicts_text(&w), "");
}

static void distances_bound_what_is_said(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  violate(&w.of[0][0], 7, true);
  w.runs[0][0].distance = 2;
  w.runs[1][0].distance = 1;
  w.runs[1][0].distance_cut = true;
  assert_string_equal(conflicts_text(&w), "");
  w.runs[1][0].distance = 2;
  assert_non_null(strstr(conflicts_text(&w), "'agreement'"));
}

static void other_questions_are_not_compared(void **unused) {
  (void)unused;
  struct world w;
  world_init(&w);
  violate(&w.of[0][0], 7, true);
  w.runs[0][0].semantics = SEMANTICS_FINE;
  assert_string_equal(conflicts_text(&w), "");
  struct audit_note note = audit_note_for(&w.ways[1], &w.runs[0][0]);
  assert_int_equal(note.end, AUDIT_UNDECIDED);
  memory_free(note.why);
}

static void notes_are_one_line(void **unused) {
  (void)unused;
  struct run_result r = {.end = SEARCH_EXHAUSTED};
  struct audit_note notes[] = {
      {.way = "--reduce none", .states = 12},
      {.way = "plain", .end = AUDIT_UNDECIDED, .why = (char *)"the limit of 2 states was reached"},
      {.way = "bmc", .end = AUDIT_REFUSED, .why = (char *)"no channels\n  help: none"}};
  struct text out = {0};
  r.audits = notes;
  r.naudits = 3;
  audit_text(&r, &out);
  assert_string_equal(out.at, "2 ways agree: as asked, --reduce none (12 states); plain undecided: "
                              "the limit of 2 states was "
                              "reached; bmc not possible: no channels");
  assert_false(audit_complete(&r));
  notes[1].end = AUDIT_AGREES;
  assert_true(audit_complete(&r));
  text_release(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verdicts_differ),
      cmocka_unit_test(lengths_differ),
      cmocka_unit_test(costs_differ),
      cmocka_unit_test(semantics_differ),
      cmocka_unit_test(errors_differ),
      cmocka_unit_test(covers_differ),
      cmocka_unit_test(live_properties_differ),
      cmocka_unit_test(limits_contradict_nothing),
      cmocka_unit_test(distances_bound_what_is_said),
      cmocka_unit_test(other_questions_are_not_compared),
      cmocka_unit_test(notes_are_one_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
