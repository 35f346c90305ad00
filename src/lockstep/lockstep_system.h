/* The transition system of lockstep rounds. */
#ifndef RONDO_LOCKSTEP_LOCKSTEP_SYSTEM_H
#define RONDO_LOCKSTEP_LOCKSTEP_SYSTEM_H

#include "system/system.h"

struct system *lockstep_new(struct interpreter *, struct model *, const struct query *, const struct licences *,
                            const struct system_options *);

#endif
