/* The `// expect:` lines of a model: what `rondo test` wants of each check. docs/testing.md describes them. */
#ifndef RONDO_DRIVER_EXPECTATION_H
#define RONDO_DRIVER_EXPECTATION_H

#include "driver/options.h"

#include <jansson.h>

enum expected_number {
  EXPECTED_STATES,
  EXPECTED_TRANSITIONS,
  EXPECTED_ASSIGNMENTS,
  EXPECTED_DEPTH,
  EXPECTED_DISTANCE,
  EXPECTED_CHANNELS,
  EXPECTED_NUMBERS
};

struct expected_property {
  char *name;          /* owned */
  const char *verdict; /* as in JSON */
};

struct expectation {
  uint32_t line;
  char *text;                                     /* after "expect:"; owned */
  bool is_long;                                   /* left out by --short */
  bool prove;                                     /* the model is a counter system */
  char *error;                                    /* part of an error message, or NULL; owned */
  char *numbers[EXPECTED_NUMBERS];                /* decimal, or "unbounded"; NULL: any; owned */
  VEC(struct expected_property) properties;       /* in the order of the line */
  VEC(char *) options;                            /* words for the command, those for the properties included; owned */
  bool has_time, has_memory, has_threads, ranged; /* the options that the line itself has */
};

/* Reads one line, the text after "expect:". False: *why says what is wrong; the expectation has its text and line
   only. */
bool expectation_read(struct expectation *, struct rondo *, uint32_t line, const char *text, size_t length, bool prove,
                      struct text *why);
void expectation_release(struct expectation *);

/* Does the answer of a check meet it? status: of the command; answer: its JSON, or NULL; errors: its diagnostics as
   text. False: *why says what differs. */
bool expectation_met(const struct expectation *, int status, const json_t *answer, const char *errors,
                     struct text *why);

#endif
