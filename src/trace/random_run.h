/* A random run of the reference interpreter: for exploring a model, not for proving anything. */
#ifndef RONDO_TRACE_RANDOM_RUN_H
#define RONDO_TRACE_RANDOM_RUN_H

#include "system/system.h"

/* A run of so many rounds or steps; fewer if the algorithm ends (*why says so) or a step is an error of the model
   (*failed). The same seed gives the same run. False: no run was found; *why says so. */
bool random_run(struct interpreter *, struct model *, uint32_t environment, uint32_t length, uint64_t seed,
                struct run *, bool *failed, struct text *why);

#endif
