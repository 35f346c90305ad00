/* Initial states. */
#ifndef RONDO_STEPS_STEP_INITIAL_H
#define RONDO_STEPS_STEP_INITIAL_H

#include "system/system.h"

struct step_system;

bool step_system_initial(struct step_system *, emit_fn *, void *context);
/* An initial configuration with the key of the state. */
struct config *step_system_initial_find(struct step_system *, const struct state *);

#endif
