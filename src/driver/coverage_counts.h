/* Exact coverage: the state graph without any reduction, by the reference interpreter. */
#ifndef RONDO_DRIVER_COVERAGE_COUNTS_H
#define RONDO_DRIVER_COVERAGE_COUNTS_H

#include "interp/eval.h"
#include "report/coverage_report.h"

struct coverage_counting {
  struct interpreter *interp;
  uint32_t environment;
  enum semantics semantics; /* rounds: COARSE */
  uint64_t most_steps;      /* ends after so many */
  uint64_t most_states;     /* 0: any number */
  size_t most_memory;       /* of states; 0: any */
  bool faults_only;         /* ends when each fault and each clause of the environment is known to be taken */
  /* Results: */
  bool complete; /* every state and step was seen */
  uint64_t nstates, nsteps;
};

/* Adds to the counts of the report, and marks items of code, and of this environment, as taken. The interpreter's
   `stop` ends it. */
void coverage_count(struct coverage_counting *, struct coverage_report *);

/* How the interpreter marks that an item of code is taken (interp/coverage.h); 0: it marks no items of this kind. */
unsigned coverage_mark_of(enum coverage_kind);

#endif
