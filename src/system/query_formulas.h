/* The state formulas of a query, and which initial values of inputs they read. */
#ifndef RONDO_SYSTEM_QUERY_FORMULAS_H
#define RONDO_SYSTEM_QUERY_FORMULAS_H

#include "model/model.h"

/* Those of its properties, then its atoms. */
static inline uint32_t query_nformulas(const struct query *q) { return q->nproperties + q->natoms; }
static inline const struct node *query_formula(const struct model *m, const struct query *q, uint32_t i) {
  return i < q->nproperties ? m->properties[q->properties[i]].formula : q->atoms[i - q->nproperties];
}

/* Whether states keep the initial values of inputs, which only `initial` reads: not at all, as a set, or for each
   process. */
enum initials_kept { INITIALS_NONE, INITIALS_SET, INITIALS_EACH };

/* What the formulas of a query need. INITIALS_SET: no input names a process. */
enum initials_kept initials_asked(const struct model *, const struct query *);

/* Does the formula, or a def that it calls, read the round number? */
bool formula_reads_round_number(const struct model *, const struct node *);

#endif
