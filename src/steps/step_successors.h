/* Successors: a step picks a process and one of its moves, and patches the packed state. */
#ifndef RONDO_STEPS_STEP_SUCCESSORS_H
#define RONDO_STEPS_STEP_SUCCESSORS_H

#include "steps/moves.h"

struct step_system;

enum step_subset { STEPS_ALL, STEPS_STUBBORN, STEPS_DEFERRED }; /* STUBBORN, DEFERRED: for partial-order reduction */
/* The successors of the state in system->words. */
bool move_successors(struct step_system *, enum step_subset, emit_fn *, void *context);
bool short_key_successors(struct step_system *, emit_fn *, void *context); /* all successors, by short moves */

/* Calls the function for every enabled move, with its successor, not normalised, in system->next. False: stopped, or
   the keys are too narrow. */
typedef bool step_fn(void *context, uint32_t process, const struct move *);
bool step_system_each_move(struct step_system *, step_fn *, void *context);

#endif
