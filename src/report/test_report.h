/* What `rondo test` found, as text, JSON and JUnit XML. */
#ifndef RONDO_REPORT_TEST_REPORT_H
#define RONDO_REPORT_TEST_REPORT_H

#include "report/layout.h"

#include <jansson.h>

enum test_outcome {
  TEST_WAITING, /* not run, because it was interrupted */
  TEST_PASSED,
  TEST_FAILED,
  TEST_UNREADABLE, /* the line cannot be understood */
  TEST_SKIPPED     /* long, and --short was given */
};

struct tested_line {
  uint32_t line;
  const char *expect;  /* the text of the line; borrowed */
  const char *command; /* to repeat it; borrowed, or NULL */
  enum test_outcome outcome;
  double seconds;
  char *why;      /* FAILED, UNREADABLE; else NULL; owned */
  json_t *answer; /* of the check, or NULL; owned */
};

struct tested_file {
  const char *path; /* borrowed */
  VEC(struct tested_line) lines;
};

struct tested_files {
  VEC(struct tested_file) at;
  double seconds;
};

size_t tested_count(const struct tested_files *, enum test_outcome);
/* One file: a line, and what failed. */
void test_file_text(const struct tested_file *, const struct style *, size_t path_width, struct text *);
void test_summary_text(const struct tested_files *, const struct style *, struct text *);
/* answers: with the answer of each check. */
json_t *test_json(const struct tested_files *, bool answers);
void test_junit(const struct tested_files *, struct text *);
void tested_files_release(struct tested_files *);

#endif
