#ifndef RONDO_LOCKSTEP_LOCKSTEP_CONCRETISE_H
#define RONDO_LOCKSTEP_LOCKSTEP_CONCRETISE_H

#include "lockstep/lockstep.h"

/* A path of canonical states as a real run: who hears whom, un-permuted, with real round numbers. */
bool lockstep_concretise(struct system *, const struct state *path, uint32_t n, const struct path_goal *, struct run *);
bool lockstep_concretise_path(struct system *, const struct state *path, uint32_t n, const struct step_requirement *,
                              struct run *);

/* A real configuration whose canonical form is the given initial state; NULL: there is none. */
struct config *lockstep_real_start(struct lockstep *, const struct state *initial);

#endif
