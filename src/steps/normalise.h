/* Rows before they are stored: relative rounds; forwarded messages are moved to where they end up. */
#ifndef RONDO_STEPS_NORMALISE_H
#define RONDO_STEPS_NORMALISE_H

#include "steps/channel_contents.h"

struct step_system;

struct normaliser;
/* Call after transition_fusion_init; without transition fusion system->normaliser stays NULL */
void normaliser_init(struct step_system *);
void normaliser_release(struct step_system *);
size_t normaliser_bytes(const struct step_system *);
void normaliser_clear_cache(struct step_system *); /* the cache of changed contents */
/* Adds a message to the next row to be normalised; drops all messages added so far. */
void normalise_deferred_send(struct step_system *, uint32_t from, uint32_t to, message_id);
void normalise_drop_deferred(struct step_system *);
/* Does the row differ from the state in its messages only? */
bool only_messages_differ(const struct step_system *, const uint64_t *words, const content *row);
/* In place; returns the round distance. */
uint32_t row_normalise(struct step_system *, content *row);

#endif
