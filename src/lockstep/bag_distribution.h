/* Enumerates the bags that arise when each of several processes takes one local state from a list of its own.
   Without it, one_third_rule with n = 8 takes 14 % more instructions. */
#ifndef RONDO_LOCKSTEP_BAG_DISTRIBUTION_H
#define RONDO_LOCKSTEP_BAG_DISTRIBUTION_H

#include "base/intern.h"

#define DISTRIBUTION_MAX 10 /* distinct local states */

/* words: pairs (local state, or LIST + list; number of processes). Calls visit once for each bag that can arise, with
   the `counts` of the local states next[0..n), sorted; visit returns false to stop. Returns false if stopped. *done is
   false if the lists have costs or too many distinct local states: then nothing is enumerated. */
typedef bool bag_distribution_fn(void *context, const uint32_t *next, const uint32_t *counts, uint32_t n);
bool bag_distribute(const struct intern *lists, const uint32_t *words, uint32_t length, bool *done,
                    bag_distribution_fn *, void *context);

#endif
