/* Bags: in how many ways processes with lists of what they can become can be bag_distribute over local states. */
#ifndef RONDO_LOCKSTEP_BAG_DISTRIBUTION_H
#define RONDO_LOCKSTEP_BAG_DISTRIBUTION_H

#include "base/intern.h"

#define DISTRIBUTION_MAX 10 /* different local states */

/* words: (local state or LIST list, how many) pairs. Calls visit once for each bag that can come about, with `counts`
   of the local states next[0..n), sorted; false stops. Returns false if stopped; *done tells whether it could be done
   at all: no costs, and few local states. */
typedef bool bag_distribution_fn(void *context, const uint32_t *next, const uint32_t *counts, uint32_t n);
bool bag_distribute(const struct intern *lists, const uint32_t *words, uint32_t length, bool *done,
                    bag_distribution_fn *, void *context);

#endif
