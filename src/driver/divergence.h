#ifndef RONDO_DRIVER_DIVERGENCE_H
#define RONDO_DRIVER_DIVERGENCE_H

#include "report/check_result.h"

/* Does the replayed run contain a segment that some processes can repeat forever while others stay behind? period:
   phases that differ by a multiple of it are indistinguishable; 0: all phases can be distinguished. */
bool divergence_find(const struct trace *, struct interpreter *, uint32_t period, struct divergent_segment *);
/* The same for models of steps; rounds increase by multiples of the modulus. */
bool divergence_find_steps(const struct trace *, struct interpreter *, struct system *, value modulus,
                           struct divergent_segment *);

#endif
