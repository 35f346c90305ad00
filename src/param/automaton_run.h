/* Runs of threshold automata, and the truth of specifications on them, by plain arithmetic: neither the tableau of
   lang/ta_specification.c nor an engine has a part in it. */
#ifndef RONDO_PARAM_AUTOMATON_RUN_H
#define RONDO_PARAM_AUTOMATON_RUN_H

#include "interp/counter_run.h"
#include "model/automaton_system.h"

struct automaton_run {
  struct arena arena;
  int64_t *params;  /* of the automaton's system, all of them */
  int64_t **states; /* values of the counters; neighbours differ, and the last state is repeated forever */
  uint32_t nstates; /* at least 1 */
  uint32_t ncounters;
};

/* The run of a system of one specification (threshold_automaton_specification), after its replay. */
void automaton_run_init(struct automaton_run *, const struct threshold_automaton *, const struct counter_run *);
void automaton_run_release(struct automaton_run *);

/* Is it a run of the automaton on which the specification is false? The cautious answer is no. */
bool automaton_run_violates(const struct automaton_run *, const struct threshold_automaton *, uint32_t specification);

#endif
