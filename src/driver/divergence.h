#ifndef RONDO_DRIVER_DIVERGENCE_H
#define RONDO_DRIVER_DIVERGENCE_H

#include "report/check_result.h"

/* Does the replayed run show a stretch that some processes can repeat for ever while others stay behind? period: after
   so many phases nobody can tell; 0: they can be told for ever. */
bool divergence_find(const struct trace *, struct interpreter *, uint32_t period, struct divergent_segment *);
/* Steps: likewise; rounds move by multiples of modulus. */
bool divergence_find_steps(const struct trace *, struct interpreter *, struct system *, value modulus,
                           struct divergent_segment *);

#endif
