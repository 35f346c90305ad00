/* Processes that can be exchanged without changing the state: only the moves of one of them are explored. */
#ifndef RONDO_STEPS_AUTOMORPHIC_H
#define RONDO_STEPS_AUTOMORPHIC_H

#include "steps/state_cells.h"

struct step_system;

struct automorphic_processes {
  bool any;
  bool named;   /* some value may contain the identity of a process */
  bool *role;   /* by role: its processes may be renamed */
  uint32_t *of; /* by process, for the current state: the first process that can be exchanged with it */
  uint32_t *to;
  content *row, *swapped;
};
void automorphic_init(struct step_system *);
void automorphic_find(struct step_system *, const uint64_t *words);

#endif
