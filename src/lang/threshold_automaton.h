/* Threshold automata in ByMC's format (`.ta`), in TACO's dialect of it, and with resets (`.eta`). A file is read into a
   counter system without properties, whose counters are the locations and the shared variables, and its
   specifications, which are formulas of temporal logic. Each specification then gives a counter system of its own, with
   one property: the states that must not be reached.

   A run may stop anywhere; from then on its last state is repeated. What a run must do in any case is said by the
   specification itself, as in `<>[](loc0 == 0) -> ...`. */
#ifndef RONDO_LANG_THRESHOLD_AUTOMATON_H
#define RONDO_LANG_THRESHOLD_AUTOMATON_H

#include "lang/typecheck.h"
#include "model/automaton_system.h"

/* Is this the text of a threshold automaton? By the name of the file, or else by the first word. */
bool source_is_threshold_automaton(const struct source *);

/* NULL if there was an error. Parameters with a binding get its value; all others are any natural numbers. */
struct threshold_automaton *threshold_automaton_read(const struct source *, const struct param_binding *,
                                                     size_t nbindings, struct diags *);
/* The same with unknowns that have no value left open. They are parameters in its terms, products of them and other
   numbers included, so it must not be given to any engine: it is for finding values (param/unknown_values.h). */
struct threshold_automaton *threshold_automaton_read_open(const struct source *, const struct param_binding *,
                                                          size_t nbindings, struct diags *);
void threshold_automaton_free(struct threshold_automaton *);

/* The system whose only property is violated by the runs that violate the specification; it borrows from the automaton.
   NULL: reported. */
struct counter_system *threshold_automaton_specification(const struct threshold_automaton *, uint32_t specification,
                                                         struct diags *);

/* The same for runs that stop, whatever cycles the automaton has: its property is violated if and only if such a run
   violates the specification. NULL: it is too large. */
struct counter_system *threshold_automaton_stopping_runs(const struct threshold_automaton *, uint32_t specification);

/* The system whose unsafe states are reachable if and only if some run satisfies the premise of the specification: `a`
   of `a -> b`, `<>a` of `[](a -> b)`. If it has none, or for `any`: if there is a run. NULL: it was refused. */
struct counter_system *threshold_automaton_premise(const struct threshold_automaton *, uint32_t specification,
                                                   bool any);

#endif
