/* Which values of the unknowns of an automaton does a run rule out? (Lazic, Konnov, Widder, Bloem 2017)

   Along a run all parameters and counters are numbers. What remains of a guard, of an update and of the atoms of a
   specification are linear constraints on the unknowns. Together they say for which values the same run is a run of the
   automaton that violates the specification. */
#ifndef RONDO_PARAM_UNKNOWN_VALUES_H
#define RONDO_PARAM_UNKNOWN_VALUES_H

#include "param/automaton_run.h"

/* The SMT-LIB name of an unknown, by its place in `unknowns`: u0, u1 ... */
void unknown_symbol(uint32_t place, struct text *);

/* Adds what the assumptions say of the unknowns alone, as an SMT-LIB condition. `of` gets, for each unknown, whether
   such an assumption reads it. False: an assumption is not linear in the unknowns. */
bool unknown_assumptions(const struct threshold_automaton *open, struct text *, bool *of);

/* Adds an SMT-LIB condition on the unknowns: this is a run on which the specification is false. The automaton was read
   with its unknowns left open. False: something is not linear in the unknowns, or the condition is too large. */
bool unknown_values_violating(const struct threshold_automaton *open, const struct automaton_run *,
                              uint32_t specification, struct text *);

#endif
