/* Results for tools that read SARIF 2.1.0 (OASIS): diagnostics, violated properties with the steps of their
   counterexamples, refused reductions, expectations that are not met. */
#ifndef RONDO_REPORT_SARIF_H
#define RONDO_REPORT_SARIF_H

#include "base/text.h"

#include <jansson.h>

struct sarif {
  json_t *results, *rules; /* arrays; owned */
};

void sarif_init(struct sarif *);
void sarif_release(struct sarif *);

/* A diagnostic as in JSON output (docs/json.md). title: of its code. */
void sarif_add_diagnostic(struct sarif *, const json_t *diagnostic, const char *title);
/* The answer of a check or a proof as JSON, of one instance or a table: what is violated or inconclusive. */
void sarif_add_answer(struct sarif *, const json_t *answer);
/* The answer of lint as JSON; file: of the model. */
void sarif_add_lint(struct sarif *, const json_t *answer, const char *file);
/* An expectation that is not met. */
void sarif_add_expectation(struct sarif *, const char *file, unsigned line, const char *message);

/* The whole log; status: the exit status. */
void sarif_text(const struct sarif *, int status, struct text *);

#endif
