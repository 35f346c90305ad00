/* The files of `rondo test`: found, read, and their `// expect:` lines understood. */
#ifndef RONDO_DRIVER_TEST_FILES_H
#define RONDO_DRIVER_TEST_FILES_H

#include "driver/expectation.h"
#include "report/test_report.h"

struct test_file {
  char *path; /* owned */
  VEC(struct expectation) expectations;
  VEC(char *) unreadable; /* by expectation: why it cannot be read, or NULL; owned */
};

struct test_files {
  VEC(struct test_file) at;
  size_t without; /* files in folders that have no expectation */
};

/* Files, folders, and FILE:LINE for one expectation. What is wrong is reported. False: a file cannot be read or has no
   expectation; what can be tested is there all the same. */
bool test_files_find(struct test_files *, const struct command_options *);
void test_files_release(struct test_files *);

#endif
