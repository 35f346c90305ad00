/* Elements that can be exchanged without changing the row. */
#ifndef RONDO_STEPS_INTERCHANGEABLE_ELEMENTS_H
#define RONDO_STEPS_INTERCHANGEABLE_ELEMENTS_H

#include "steps/scalarsets.h"

struct canonical;

struct partition;

/* Splits classes whose elements can be exchanged, alone or together with others, without
   changing the row. Every order of such elements gives the same form. */
void partition_cut_interchangeable(struct canonical *, struct partition *);
/* Does the row stay the same if a[i] and b[i] are exchanged for all i? The 2n elements are distinct. */
bool elements_interchangeable(struct canonical *, const uint32_t *a, const uint32_t *b, uint32_t n);

#endif
