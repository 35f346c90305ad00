/* A fast path for the common round. */
#ifndef RONDO_LOCKSTEP_FAST_PATH_H
#define RONDO_LOCKSTEP_FAST_PATH_H

#include "lockstep/state_pack.h"

struct layer_product;
struct lockstep;

void fast_path_prepare(struct lockstep *);
bool fast_path_task(struct lockstep *, const struct unpacked_state *, struct layer_product *);

#endif
