#ifndef RONDO_SPACE_INITIAL_H
#define RONDO_SPACE_INITIAL_H

#include "sem/round.h"
#include "space/round_space.h"

/* Emits every initial state once or more often; false if stopped. */
bool initial_states(struct round_space *, emit_fn *, void *context);

/* A raw initial state (its members are processes in order) whose canonical form is the given state. */
bool initial_find(struct round_space *, const struct state *, struct global *raw);

#endif
