#ifndef RONDO_LOCKSTEP_LOCKSTEP_INITIAL_H
#define RONDO_LOCKSTEP_LOCKSTEP_INITIAL_H

#include "interp/round_step.h"
#include "lockstep/lockstep.h"

/* Emits every initial state at least once; returns false if stopped. */
bool initial_states(struct lockstep *, emit_fn *, void *context);

/* A raw initial state (its members are the processes in order) whose canonical form is the given state. */
bool initial_find(struct lockstep *, const struct state *, struct unpacked_state *raw);

#endif
