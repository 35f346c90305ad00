/* rondo run --runs N: many random runs, and what happened in them. */
#ifndef RONDO_DRIVER_RUN_STATISTICS_H
#define RONDO_DRIVER_RUN_STATISTICS_H

#include "driver/options.h"

/* The i-th run has the seed `seed` + i, so `rondo run --seed` shows it. Returns the exit status. */
int runs_count(const struct command_options *, struct model *, uint32_t environment, enum semantics, uint32_t length,
               uint64_t seed);
/* Is the property observed along random runs in this environment? */
bool is_observed(const struct property *, uint32_t environment);

#endif
