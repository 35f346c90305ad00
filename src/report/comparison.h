/* The same queries asked in every semantics that a model has, side by side. */
#ifndef RONDO_REPORT_COMPARISON_H
#define RONDO_REPORT_COMPARISON_H

#include "report/check_result.h"
#include "report/layout.h"

#include <jansson.h>

#define COMPARE_SCHEMA "rondo-compare/1"

struct compared_semantics {
  enum semantics semantics;
  uint32_t distance; /* fine rounds: up to this */
};

struct comparison {
  const struct model *model;
  const struct check_result *of; /* by variant: the same runs, in the same order */
  const struct compared_semantics *variants;
  uint32_t n;
};

/* Do all verdicts agree? A limit reached is no verdict, but for the distance of fine rounds: what is not to be found
   there is not to be found anywhere, if the property is local. If they do not, *why says which differ and how.
   Properties that are not local may differ. */
bool comparison_agrees(const struct comparison *, struct text *why);
/* Does a property that is not local have different verdicts? */
bool comparison_differs(const struct comparison *);
/* The worst of all: that fine rounds go no further than they were asked to is none. */
enum verdict comparison_verdict(const struct comparison *);
void comparison_text(const struct comparison *, const struct style *, struct text *);
json_t *comparison_json(const struct comparison *); /* a new reference */

#endif
