/* Fairness groups. */
#ifndef RONDO_STEPS_STEP_FAIRNESS_H
#define RONDO_STEPS_STEP_FAIRNESS_H

#include "interp/event_step.h"
#include "system/system.h"

struct step_system;

void groups_init(struct step_system *);
/* The fairness group of an event, or of an action that takes one message (`in`, else NULL); NO_GROUP: none. */
uint32_t group_of_event(struct step_system *, const struct event *);
uint32_t group_of_action(struct step_system *, uint32_t p, uint32_t action, const struct inbox_entry *in);
/* The group by which the search knows it in the state in s->words: where fairness is to followed processes only, it is
   named by the hidden input, which renamings keep; NO_GROUP for all others. */
uint32_t group_in_state(const struct step_system *, uint32_t group);
void step_system_enabled(struct system *, const struct state *, group_fn *, void *context);

#endif
