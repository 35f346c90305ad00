/* Cutoffs on the number of values (docs/language.md, "All numbers of values"): if a property is violated with any
   number of values of a type, it is violated with so many. Three theorems, each with its condition on the text:

   - Homomorphism. No process and no clause of the environment tells values apart: they are copied, collected in sets,
     chosen, and compared by `min` and `max` only. Then every map of the values that keeps their order (without `min`
   and `max`: every map) takes runs to runs. A violation binds a few values. A map that keeps these apart, and merges
   all others, takes it to a violation with few values.
   - Voting (value_cutoff_voting.c). Processes vote in rounds, on values that they have received most often, and decide
     on what enough of them sent. Then two values are enough: one, and all others.
   - Occurrence. With the licence `order`, runs depend on the order of the values that processes start with, and no
     others occur. So there need not be more values than processes. */
#ifndef RONDO_ANALYSIS_VALUE_CUTOFF_H
#define RONDO_ANALYSIS_VALUE_CUTOFF_H

#include "analysis/type_usage.h"

struct value_cutoff {
  bool granted;
  uint32_t values;    /* GRANTED: so many values are enough, for fewer and for more */
  const char *by;     /* GRANTED: "by order", "by renaming", "by majorities of one value", "one for each process" */
  uint32_t also;      /* GRANTED: a property that must hold with so many values, too; UINT32_MAX: none */
  bool fits;          /* by voting: the processes are as it wants them */
  struct refusal why; /* not granted */
};

/* The named range; NULL: there is none, or more than one. */
const struct type *value_type_named(const struct model *, const char *name);

/* About the only property of the query, a model of rounds, and a named range whose upper bound nothing else in the
   text depends on. */
struct value_cutoff value_cutoff_by_homomorphism(const struct model *, const struct query *, const struct type *,
                                                 struct arena *);
struct value_cutoff value_cutoff_by_voting(const struct model *, const struct query *, const struct type *,
                                           struct arena *);
/* Likewise, of steps as well, and the number of processes is fixed. */
struct value_cutoff value_cutoff_by_occurrence(const struct model *, const struct query *, const struct type *,
                                               struct arena *);

#endif
