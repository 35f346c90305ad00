#ifndef RONDO_LOCKSTEP_LOCKSTEP_CONCRETISE_H
#define RONDO_LOCKSTEP_LOCKSTEP_CONCRETISE_H

#include "lockstep/lockstep.h"

/* Turns a path of canonical states into a concrete run, with real identities, round numbers and heard-of sets. */
bool lockstep_concretise(struct system *, const struct state *path, uint32_t n, const struct path_goal *, struct run *);
bool lockstep_concretise_path(struct system *, const struct state *path, uint32_t n, const struct step_requirement *,
                              struct run *);

/* A concrete configuration whose canonical form is the given initial state; NULL: there is none. */
struct config *lockstep_real_start(struct lockstep *, const struct state *initial);

#endif
