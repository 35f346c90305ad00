/* What a formula about states or steps reads, and what it can tell apart. Whatever is not understood is taken to read
   everything and to tell everything apart. */
#ifndef RONDO_ANALYSIS_FORMULA_READS_H
#define RONDO_ANALYSIS_FORMULA_READS_H

#include "model/model.h"

struct formula_reads {
  bool **vars;   /* [role][variable]: as p.x, before or after the step */
  bool *globals; /* by global, likewise */
  bool status;   /* who is correct, who is faulty */
  bool initials; /* first values of inputs */
  bool rounds, phase;
};

/* Follows calls of defs. The arrays live in the arena. */
struct formula_reads formula_reads_of(const struct model *, const struct node *, struct arena *);

/* Can it tell how many processes look alike to it, beyond as many as it has quantifiers over processes? False: it
   speaks of processes through such quantifiers alone, and only compares those that they name. */
bool formula_counts_processes(const struct model *, const struct node *, uint32_t *quantifiers);

/* A step property `forall p in R: ...` that speaks of what p stores before and after the step, and of nothing else, p's
   identity included: whether a step keeps it is decided process by process. */
bool property_is_one_process_step(const struct property *);

#endif
