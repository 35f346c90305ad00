#ifndef RONDO_DRIVER_RUNAWAY_H
#define RONDO_DRIVER_RUNAWAY_H

#include "report/result.h"

/* Does the replayed run show a stretch that some processes can repeat for ever while others stay behind? period: after so
   many phases nobody can tell; 0: they can be told for ever. */
bool runaway_find(const struct trace *, struct meaning *, uint32_t period, struct runaway *);
/* Steps: likewise; rounds move by multiples of modulus. */
bool runaway_find_steps(const struct trace *, struct meaning *, struct space *, value modulus, struct runaway *);

#endif
