#ifndef RONDO_SPACE_CONCRETISE_H
#define RONDO_SPACE_CONCRETISE_H

#include "space/round_space.h"

/* A path of canonical states as a real run: who hears whom, un-permuted, with real round numbers. */
bool round_concretise(struct space *, const struct state *path, uint32_t n, const struct goal *, struct run *);
bool round_concretise_path(struct space *, const struct state *path, uint32_t n, const struct step_wish *, struct run *);

/* A real configuration whose canonical form is the given initial state; NULL: there is none. */
struct config *round_real_start(struct round_space *, const struct state *initial);

#endif
