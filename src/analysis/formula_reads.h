/* The read set of a formula about states or steps, and what it can distinguish. An unknown operator reads everything
   and distinguishes everything. */
#ifndef RONDO_ANALYSIS_FORMULA_READS_H
#define RONDO_ANALYSIS_FORMULA_READS_H

#include "model/model.h"

struct formula_reads {
  bool **vars;   /* [role][variable]: as p.x, before or after the step */
  bool *globals; /* by global, likewise */
  bool status;   /* who is correct, who is faulty */
  bool initials; /* first values of inputs */
  bool rounds, phase;
  bool quiescence; /* steps: whether anything can happen */
  bool deadlock;   /* steps: likewise, and who is in the middle of something */
  bool messages;   /* steps: messages in flight */
};

/* Follows calls of defs. The arrays live in the arena. */
struct formula_reads formula_reads_of(const struct model *, const struct node *, struct arena *);

/* Adds all variables and globals. */
void formula_reads_variables(const struct model *, struct formula_reads *);

/* Can it count processes, beyond the number of its quantifiers over processes? False: it refers to processes only
   through such quantifiers, and only compares the processes that they name. */
bool formula_counts_processes(const struct model *, const struct node *, uint32_t *quantifiers);

/* A step property `forall p in R: ...` that reads only the variables of p before and after the step, not p itself. So
   it can be checked process by process. */
bool property_is_one_process_step(const struct property *);
/* Likewise `forall p in correct: ...`, which also reads whether p is correct before the step. */
bool property_is_correct_step(const struct property *);

#endif
