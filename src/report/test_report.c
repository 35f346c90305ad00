#include "report/test_report.h"

#include "trace/value_json.h"

#include <string.h>

static const char *const outcome_names[] = {"not run", "passed", "failed", "unreadable", "skipped"};

static size_t file_count(const struct tested_file *f, enum test_outcome outcome) {
  size_t n = 0;
  for (size_t i = 0; i < f->lines.n; i++)
    n += f->lines.at[i].outcome == outcome;
  return n;
}

size_t tested_count(const struct tested_files *t, enum test_outcome outcome) {
  size_t n = 0;
  for (size_t i = 0; i < t->at.n; i++)
    n += file_count(&t->at.at[i], outcome);
  return n;
}

static double file_seconds(const struct tested_file *f) {
  double s = 0;
  for (size_t i = 0; i < f->lines.n; i++)
    s += f->lines.at[i].seconds;
  return s;
}

/* ---- text ---- */

/* Every line of it with the same indentation. */
static void add_indented(struct text *out, const char *text, const char *indent) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    text_addf(out, "%s%.*s\n", n ? indent : "", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

static void line_text(const struct tested_file *f, const struct tested_line *l, const struct style *style,
                      struct text *out) {
  bool bad = l->outcome == TEST_FAILED || l->outcome == TEST_UNREADABLE;
  if (!bad && !style->verbose)
    return;
  text_add(out, "    ");
  paint_add(out, style,
            bad                         ? PAINT_BAD
            : l->outcome == TEST_PASSED ? PAINT_GOOD
                                        : PAINT_FAINT,
            outcome_names[l->outcome]);
  text_addf(out, "  %s:%u: %s", f->path, l->line, l->expect);
  if (style->verbose && l->seconds > 0) {
    text_add(out, "  ");
    seconds_add(out, l->seconds);
  }
  text_add(out, "\n");
  if (l->why)
    add_indented(out, l->why, "      ");
  if (bad && l->command) {
    struct text command = {0};
    text_addf(&command, "      repeat: %s\n", l->command);
    paint_add(out, style, PAINT_FAINT, command.at);
    text_release(&command);
  }
}

void test_file_text(const struct tested_file *f, const struct style *style, size_t path_width, struct text *out) {
  size_t failed = file_count(f, TEST_FAILED) + file_count(f, TEST_UNREADABLE), passed = file_count(f, TEST_PASSED);
  size_t skipped = file_count(f, TEST_SKIPPED);
  text_add(out, "  ");
  paint_add(out, style,
            failed   ? PAINT_BAD
            : passed ? PAINT_GOOD
                     : PAINT_FAINT,
            failed   ? "FAILED "
            : passed ? "passed "
                     : "skipped");
  text_add(out, "  ");
  size_t start = out->n;
  text_add(out, f->path);
  text_pad_to(out, start, path_width);
  if (failed)
    text_addf(out, "  %zu of %zu", failed, failed + passed);
  else
    text_addf(out, "  %zu", passed);
  if (skipped)
    text_addf(out, ", %zu skipped", skipped);
  text_add(out, "  ");
  seconds_add(out, file_seconds(f));
  text_add(out, "\n");
  for (size_t i = 0; i < f->lines.n; i++)
    line_text(f, &f->lines.at[i], style, out);
}

void test_summary_text(const struct tested_files *t, const struct style *style, struct text *out) {
  size_t failed = tested_count(t, TEST_FAILED) + tested_count(t, TEST_UNREADABLE);
  size_t skipped = tested_count(t, TEST_SKIPPED), waiting = tested_count(t, TEST_WAITING);
  struct text line = {0};
  text_addf(&line, "test: %zu passed, %zu failed", tested_count(t, TEST_PASSED), failed);
  text_add(out, t->at.n ? "\n" : "");
  paint_add(out, style, failed ? PAINT_BAD : waiting ? PAINT_UNSURE : PAINT_GOOD, line.at);
  text_add(out, "\n  ");
  if (skipped) {
    count_add(out, skipped, "long expectation", "long expectations");
    text_add(out, " skipped; ");
  }
  if (waiting)
    text_addf(out, "interrupted: %zu not run; ", waiting);
  count_add(out, t->at.n, "file", "files");
  text_add(out, ", ");
  seconds_add(out, t->seconds);
  text_add(out, "\n");
  text_release(&line);
}

/* ---- JSON ---- */

static json_t *any_text(const char *s) { return text_to_json(s, strlen(s)); }

json_t *test_json(const struct tested_files *t, bool answers) {
  json_t *tests = json_array();
  size_t failed = tested_count(t, TEST_FAILED) + tested_count(t, TEST_UNREADABLE);
  for (size_t i = 0; i < t->at.n; i++)
    for (size_t k = 0; k < t->at.at[i].lines.n; k++) {
      const struct tested_line *l = &t->at.at[i].lines.at[k];
      json_t *j = json_object();
      json_object_set_new(j, "file", any_text(t->at.at[i].path));
      json_object_set_new(j, "line", json_integer(l->line));
      json_object_set_new(j, "expect", any_text(l->expect));
      json_object_set_new(j, "result", json_string(outcome_names[l->outcome]));
      json_object_set_new(j, "why", l->why ? any_text(l->why) : json_null());
      json_object_set_new(j, "command", l->command ? any_text(l->command) : json_null());
      json_object_set_new(j, "seconds", json_real(l->seconds));
      if (answers)
        json_object_set(j, "answer", l->answer ? l->answer : json_null());
      json_array_append_new(tests, j);
    }
  return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:f, s:o}", "schema", "rondo-test/1", "passed",
                   (int)tested_count(t, TEST_PASSED), "failed", (int)failed, "skipped",
                   (int)tested_count(t, TEST_SKIPPED), "not_run", (int)tested_count(t, TEST_WAITING), "files",
                   (int)t->at.n, "seconds", t->seconds, "tests", tests);
}

/* ---- JUnit ---- */

/* The length of the UTF-8 character at s; 0: it is none, or one that XML 1.0 does not allow. */
static size_t xml_character(const unsigned char *s) {
  if (*s < 0x80)
    return *s >= 0x20 || *s == '\t' || *s == '\n' || *s == '\r';
  size_t n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc2 ? 2 : 0;
  uint32_t code = n == 4 ? *s & 7 : n == 3 ? *s & 15 : *s & 31;
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (s[i] & 63);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  bool valid = n > 0 && code >= least[n] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && code != 0xfffe &&
               code != 0xffff;
  return valid ? n : 0;
}

static void add_xml(struct text *out, const char *s) {
  while (*s) {
    size_t n = xml_character((const unsigned char *)s);
    if (n == 0)
      text_add(out, "?");
    else if (*s == '&')
      text_add(out, "&amp;");
    else if (*s == '<')
      text_add(out, "&lt;");
    else if (*s == '>')
      text_add(out, "&gt;");
    else if (*s == '"')
      text_add(out, "&quot;");
    else if (*s == '\n')
      text_add(out, "&#10;");
    else
      text_add_n(out, s, n);
    s += n ? n : 1;
  }
}

static void junit_case(const struct tested_file *f, const struct tested_line *l, struct text *out) {
  text_add(out, "    <testcase classname=\"");
  add_xml(out, f->path);
  text_addf(out, "\" name=\"line %u: ", l->line);
  add_xml(out, l->expect);
  text_add(out, "\" file=\"");
  add_xml(out, f->path);
  text_addf(out, "\" line=\"%u\" time=\"%.3f\"", l->line, l->seconds);
  if (l->outcome == TEST_PASSED) {
    text_add(out, "/>\n");
    return;
  }
  text_add(out, ">\n");
  if (l->outcome == TEST_SKIPPED || l->outcome == TEST_WAITING) {
    text_addf(out, "      <skipped message=\"%s\"/>\n", l->outcome == TEST_SKIPPED ? "long" : "interrupted");
  } else {
    const char *element = l->outcome == TEST_UNREADABLE ? "error" : "failure", *why = l->why ? l->why : "";
    struct text first = {0};
    text_add_n(&first, why, strcspn(why, "\n"));
    text_addf(out, "      <%s message=\"", element);
    add_xml(out, text_or_empty(&first));
    text_add(out, "\">");
    add_xml(out, why);
    if (l->command) {
      text_add(out, "&#10;");
      add_xml(out, l->command);
    }
    text_addf(out, "</%s>\n", element);
    text_release(&first);
  }
  text_add(out, "    </testcase>\n");
}

static void junit_counts(struct text *out, size_t tests, size_t failures, size_t errors, size_t skipped, double time) {
  text_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n", tests, failures,
            errors, skipped, time);
}

void test_junit(const struct tested_files *t, struct text *out) {
  size_t all = 0;
  for (size_t i = 0; i < t->at.n; i++)
    all += t->at.at[i].lines.n;
  text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rondo\"");
  junit_counts(out, all, tested_count(t, TEST_FAILED), tested_count(t, TEST_UNREADABLE),
               tested_count(t, TEST_SKIPPED) + tested_count(t, TEST_WAITING), t->seconds);
  for (size_t i = 0; i < t->at.n; i++) {
    const struct tested_file *f = &t->at.at[i];
    text_add(out, "  <testsuite name=\"");
    add_xml(out, f->path);
    text_add(out, "\"");
    junit_counts(out, f->lines.n, file_count(f, TEST_FAILED), file_count(f, TEST_UNREADABLE),
                 file_count(f, TEST_SKIPPED) + file_count(f, TEST_WAITING), file_seconds(f));
    for (size_t k = 0; k < f->lines.n; k++)
      junit_case(f, &f->lines.at[k], out);
    text_add(out, "  </testsuite>\n");
  }
  text_add(out, "</testsuites>\n");
}

void tested_files_release(struct tested_files *t) {
  for (size_t i = 0; i < t->at.n; i++) {
    for (size_t k = 0; k < t->at.at[i].lines.n; k++) {
      memory_free(t->at.at[i].lines.at[k].why);
      json_decref(t->at.at[i].lines.at[k].answer);
    }
    vec_release(&t->at.at[i].lines);
  }
  vec_release(&t->at);
}
