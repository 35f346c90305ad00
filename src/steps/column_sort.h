/* Canonical forms of scalarsets whose columns can be sorted. */
#ifndef RONDO_STEPS_COLUMN_SORT_H
#define RONDO_STEPS_COLUMN_SORT_H

#include "steps/scalarsets.h"

struct canonical;

/* Sorts the members of a plain scalarset. Records the members that moved in `to` (by element), which may be NULL. */
void scalarset_sort(struct canonical *, const struct element_scalarset *, content *row, uint32_t *to);

#endif
