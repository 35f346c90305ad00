/* From a path of stored states to a concrete run. */
#ifndef RONDO_STEPS_STEP_CONCRETISE_H
#define RONDO_STEPS_STEP_CONCRETISE_H

#include "system/system.h"

struct step_system;

bool step_system_concretise(struct system *, const struct state *path, uint32_t n, const struct path_goal *,
                            struct run *);
bool step_system_concretise_path(struct system *, const struct state *path, uint32_t n, const struct step_requirement *,
                                 struct run *);

#endif
