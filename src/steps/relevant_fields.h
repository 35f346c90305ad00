/* Which fields of a state matter to a process, given its local state. */
#ifndef RONDO_STEPS_RELEVANT_FIELDS_H
#define RONDO_STEPS_RELEVANT_FIELDS_H

#include "steps/state_cells.h"

struct step_system;

struct process_relevant_fields { /* for a process in some local state */
  bool known;
  bool reads_channels; /* its inbound channels matter */
  bool reads_quorum;   /* it may read several messages at a time */
  uint64_t uses;       /* bit set of the globals that matter */
};
void relevant_fields_init(struct step_system *);
void relevant_fields_release(struct step_system *);
size_t relevant_fields_bytes(const struct step_system *);
struct process_relevant_fields relevant_fields_of(struct step_system *, uint32_t p, content local);
void memory_used_locate(struct step_system *); /* after a new key layout */

#endif
