/* Variables that are never read again because shared memory will not change. */
#ifndef RONDO_STEPS_CONSTANT_MEMORY_H
#define RONDO_STEPS_CONSTANT_MEMORY_H

#include "steps/state_cells.h"

struct step_system;

struct constant_memory;
/* Leaves system->constant_memory NULL if there are no such variables */
void constant_memory_init(struct step_system *);
void constant_memory_release(struct step_system *);
/* The local state of p with such variables cleared, given the contents of the globals that its role uses. */
content clear_unread_variables(struct step_system *, uint32_t p, content local, uint32_t globals);
uint32_t globals_of_row(struct step_system *, const content *row, uint32_t role);
uint32_t globals_after(struct step_system *, uint32_t role, uint32_t globals, uint32_t writes);

#endif
