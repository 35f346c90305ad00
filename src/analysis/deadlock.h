/* Can a model of steps have a deadlock at all, as far as its text shows? */
#ifndef RONDO_ANALYSIS_DEADLOCK_H
#define RONDO_ANALYSIS_DEADLOCK_H

#include "model/model.h"

/* False: every step of every role is a proper end or has a way without a trigger, and the environment does not bound
   channels. Then no process waits in the middle of something, whatever happens. */
bool deadlock_possible(const struct model *, uint32_t environment);

#endif
