/* The same questions asked in every semantics that a model has, side by side. */
#ifndef RONDO_REPORT_COMPARISON_H
#define RONDO_REPORT_COMPARISON_H

#include "report/layout.h"
#include "report/result.h"

#include <jansson.h>

#define COMPARE_SCHEMA "rondo-compare/1"

struct comparison {
  const struct model *model;
  const struct check_result *of; /* by semantics: the same runs, in the same order */
  const enum semantics *semantics;
  uint32_t n;
};

/* Do all verdicts agree? A limit reached is no verdict. If not, *why says which differ and how. */
bool comparison_agrees(const struct comparison *, struct text *why);
void comparison_text(const struct comparison *, const struct style *, struct text *);
json_t *comparison_json(const struct comparison *); /* a new reference */

#endif
