/* Messages that are only forwarded. */
#ifndef RONDO_STEPS_TRANSITION_FUSION_H
#define RONDO_STEPS_TRANSITION_FUSION_H

#include "steps/channel_contents.h"

struct step_system;

struct transition_fusion;
/* Leaves system->transition_fusion NULL if there are no such messages */
void transition_fusion_init(struct step_system *);
void transition_fusion_release(struct step_system *);
size_t transition_fusion_bytes(const struct step_system *);
typedef void place_message_fn(struct step_system *, uint32_t from, uint32_t to, message_id);
/* Does the message stay in its channel? */
bool transition_fusion_keeps(struct step_system *, const content *row, uint32_t from, uint32_t to, message_id);
/* Puts the message into the channels where it ends up, unless it is dead there. */
void transition_fusion_place(struct step_system *, const content *row, uint32_t from, uint32_t to, message_id,
                             place_message_fn *);

#endif
