/* Exports of counter systems for other tools, one property each: the three targets of Alberti et al. 2016, which are
   Horn clauses (for muZ and similar solvers), MCMT and nuXmv. */
#ifndef RONDO_EXPORT_COUNTER_EXPORT_H
#define RONDO_EXPORT_COUNTER_EXPORT_H

#include "param/counter_graph.h"

/* SMT-LIB, logic HORN: one predicate per location. "sat" means safe, "unsat" means that some run is unsafe. The graph
   may be minimised. */
void export_horn(const struct counter_graph *, struct text *);

/* MCMT 2.5: counters, parameters and the location are global integers. Each transition of the graph becomes one
   transition. */
void export_mcmt(const struct counter_graph *, struct text *);

/* nuXmv: the system as written; the control stays symbolic. */
void export_smv(const struct counter_system *, const struct counter_property *, struct text *);

#endif
