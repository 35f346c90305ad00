/* The results of the same queries under every semantics of a model, side by side. */
#ifndef RONDO_REPORT_COMPARISON_H
#define RONDO_REPORT_COMPARISON_H

#include "report/check_result.h"
#include "report/layout.h"

#include <jansson.h>

#define COMPARE_SCHEMA "rondo-compare/1"

struct compared_semantics {
  enum semantics semantics;
  uint32_t distance; /* fine rounds: the largest round distance */
};

struct comparison {
  const struct model *model;
  const struct check_result *of; /* by variant: the same runs in the same order */
  const struct compared_semantics *variants;
  uint32_t n;
};

/* Do all verdicts agree? A result ended by a limit is not a verdict, except for the limit on the distance of fine
   rounds: for a local property, that limit hides no violation. On a disagreement, *why says which verdicts differ.
   Properties that are not local may differ. */
bool comparison_agrees(const struct comparison *, struct text *why);
/* Does a property that is not local have different verdicts? */
bool comparison_differs(const struct comparison *);
/* The worst verdict of all. The requested limit on the distance of fine rounds does not count as inconclusive. */
enum verdict comparison_verdict(const struct comparison *);
void comparison_text(const struct comparison *, const struct style *, struct text *);
json_t *comparison_json(const struct comparison *); /* a new reference */

#endif
