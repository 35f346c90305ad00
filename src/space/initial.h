#ifndef RONDO_SPACE_INITIAL_H
#define RONDO_SPACE_INITIAL_H

#include "sem/round.h"
#include "space/round_space.h"

/* Emits every initial state once or more often; false if stopped. */
bool initial_states(struct round_space *, emit_fn *, void *context);

#endif
