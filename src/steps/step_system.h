/* The transition system of processes that take steps one at a time: message passing and shared memory. */
#ifndef RONDO_STEPS_STEP_SYSTEM_H
#define RONDO_STEPS_STEP_SYSTEM_H

#include "system/system.h"

struct system *step_system_new(struct interpreter *, struct model *, const struct query *, const struct licences *,
                               const struct system_options *);

#endif
