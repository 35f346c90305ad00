/* One event of a run of steps as JSON: what was chosen. */
#ifndef RONDO_TRACE_EVENT_JSON_H
#define RONDO_TRACE_EVENT_JSON_H

#include "interp/config.h"

#include <jansson.h>

extern const char *const packet_place_names[3];

json_t *line_to_json(const struct model *, struct span); /* null: no place */
json_t *message_to_json(const struct model *, uint32_t kind, value);
json_t *numbers_to_json(const uint32_t *, uint32_t n);
/* A list of small numbers, for memory_free even on failure; none if it is missing. False: *why. */
bool numbers_from_json(const json_t *, const char *what, uint32_t **, uint32_t *n, struct text *why);

void event_to_json(const struct model *, const struct event *, json_t *into);
/* The witness has an event to be filled in. False: *why says what is wrong; whether it can happen is for the replay
   to say. */
bool event_from_json(const json_t *, struct model *, struct witness *, struct text *why);

#endif
