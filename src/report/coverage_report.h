/* What no run of an instance takes, and how often the rest is taken: text, JSON, lcov. */
#ifndef RONDO_REPORT_COVERAGE_REPORT_H
#define RONDO_REPORT_COVERAGE_REPORT_H

#include "analysis/coverage_items.h"
#include "report/layout.h"

#include <jansson.h>

/* Something that no run takes. */
struct coverage_claim {
  enum diag_code code;
  struct span at;
  const char *kind; /* as in JSON; borrowed */
  char *message;    /* owned */
};

enum item_state { ITEM_UNKNOWN, ITEM_TAKEN, ITEM_NEVER };

struct coverage_report {
  const struct model *model;   /* borrowed; NULL: claims about several instances */
  const struct source *source; /* borrowed */
  struct coverage_items items;
  enum item_state *states; /* by item. TAKEN is only said if some run is known that takes it */
  VEC(struct coverage_claim) claims;
  bool asked;       /* by --coverage; then: */
  uint64_t *counts; /* by item: in how many steps it is taken. Clauses: how many steps they exclude */
  bool counted_all; /* of all states; else of the first ones */
  uint64_t nstates, nsteps;
  const char *why_not; /* why nothing is said about code that no run executes; NULL: it is */
};

struct coverage_report *coverage_report_new(const struct model *);
void coverage_report_free(struct coverage_report *);

/* Makes claims of the items that no run takes, except those inside of others. */
void coverage_claim_items(struct coverage_report *);
void coverage_claim_add(struct coverage_report *, enum diag_code, struct span, const char *kind, struct text *message);
/* Sorts the claims by their places. */
void coverage_claims_sort(struct coverage_report *);
/* For several instances of one text: what all of them claim. *all is NULL before the first of them. */
void coverage_claims_intersect(struct coverage_report **all, const struct coverage_report *one, const struct source *);

/* As warnings. */
void coverage_diagnostics(const struct coverage_report *, struct diags *);
/* A short list; with --coverage all of it, and the text with its counts. */
void coverage_text(const struct coverage_report *, const struct style *, struct text *);
json_t *coverage_json(const struct coverage_report *);
/* For genhtml and editors. */
void coverage_lcov(const struct coverage_report *, struct text *);

#endif
