/* One event of a run of steps as JSON: the choices made. */
#ifndef RONDO_TRACE_EVENT_JSON_H
#define RONDO_TRACE_EVENT_JSON_H

#include "interp/config.h"

#include <jansson.h>

extern const char *const packet_place_names[3];

json_t *line_to_json(const struct model *, struct span); /* null: no source position */
json_t *message_to_json(const struct model *, uint32_t kind, value);
json_t *numbers_to_json(const uint32_t *, uint32_t n);
/* A list of small numbers, for memory_free even on failure; empty if it is missing. False: *why gives the reason. */
bool numbers_from_json(const json_t *, const char *what, uint32_t **, uint32_t *n, struct text *why);

void event_to_json(const struct model *, const struct event *, json_t *into);
/* Fills in the witness's event. False: *why gives the reason. Whether the event can happen is checked by the replay. */
bool event_from_json(const json_t *, struct model *, struct witness *, struct text *why);

#endif
