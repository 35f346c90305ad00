/* Variables and messages that can have no effect any more. */
#ifndef RONDO_STEPS_DEAD_DATA_H
#define RONDO_STEPS_DEAD_DATA_H

#include "steps/channel_contents.h"

struct step_system;

struct dead_data;
void dead_data_init(struct step_system *);
void dead_data_release(struct step_system *);
size_t dead_data_bytes(const struct step_system *);
/* Replaces variables that are never read again by don't-cares, in place. Uses the program point and the status only. */
void clear_dead_variables(struct step_system *, uint32_t role, value *local);
/* The channel's content without messages that are dead for a receiver in that local state. */
content drop_dead_messages(struct step_system *, uint32_t to, content local, uint32_t from, content channel);
bool message_is_dead(struct step_system *, uint32_t to, content local, uint32_t from, message_id);
/* The row of a configuration, with dead data removed. */
void row_from_config(struct step_system *, const struct config *, content *row);

/* Is the message without effect as far as this action is concerned? */
bool message_never_affects(struct step_system *, uint32_t to, content local, uint32_t from, message_id,
                           uint32_t action);
/* Are messages dropped that may be taken, but without effect? */
bool drops_ineffective_messages(const struct step_system *);

#endif
