/* Counter systems for other people's tools, one property each. The paper that they come from
   (Alberti et al. 2016) used three: Horn clauses for muZ and its kin, MCMT, and nuXmv. */
#ifndef RONDO_EXPORT_COUNTER_EXPORT_H
#define RONDO_EXPORT_COUNTER_EXPORT_H

#include "param/counter_graph.h"

/* SMT-LIB, logic HORN: a predicate for each location. "sat": never unsafe, "unsat": some run is.
 * The graph is unfolded, perhaps merged. */
void export_horn(const struct counter_graph *, struct text *);

/* MCMT 2.5: counters, parameters and the location are global integers; a transition for each of the
 * graph. */
void export_mcmt(const struct counter_graph *, struct text *);

/* nuXmv: the model as it is written; control stays symbolic. */
void export_smv(const struct counter_system *, const struct counter_property *, struct text *);

#endif
