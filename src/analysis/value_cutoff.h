/* Cutoffs on the number of values (docs/language.md, "All numbers of values"): if a property is violated with any number
   of values of a type, it is violated with so many. Two theorems, each with its condition on the text:

   - Homomorphism. No process and no clause of the environment tells values apart: they are copied, collected in sets,
     chosen, and compared by `min` and `max` only. Then every map of the values that keeps their order (without `min` and
     `max`: every map) takes runs to runs. A violation binds a few values. A map that keeps these apart, and merges all
     others, takes it to a violation with few values.
   - Occurrence. With the licence `order`, runs depend on the order of the values that processes start with, and no
     others occur. So there need not be more values than processes. */
#ifndef RONDO_ANALYSIS_VALUE_CUTOFF_H
#define RONDO_ANALYSIS_VALUE_CUTOFF_H

#include "analysis/type_usage.h"

struct value_cutoff {
  bool granted;
  uint32_t values;    /* GRANTED: so many values are enough, for fewer and for more */
  const char *by;     /* GRANTED: "by order", "by renaming", "one for each process" */
  struct refusal why; /* otherwise */
};

/* The named range; NULL: there is none, or more than one. */
const struct type *value_type_named(const struct model *, const char *name);

/* About the only property of the query, a model of rounds, and a named range whose upper bound nothing else in the
   text depends on. */
struct value_cutoff value_cutoff_by_homomorphism(const struct model *, const struct query *, const struct type *,
                                                 struct arena *);
/* Likewise, and the number of processes is fixed. */
struct value_cutoff value_cutoff_by_occurrence(const struct model *, const struct query *, const struct type *,
                                               struct arena *);

#endif
