/* One event of a run of steps as JSON: what was chosen. */
#ifndef RONDO_TRACE_EVENT_JSON_H
#define RONDO_TRACE_EVENT_JSON_H

#include "interp/config.h"

#include <jansson.h>

extern const char *const packet_place_names[3];

json_t *line_to_json(const struct model *, struct span); /* null: no place */

void event_to_json(const struct model *, const struct event *, json_t *into);
/* The witness has an event to be filled in. False: *why says what is wrong; whether it can happen is for the replay
   to say. */
bool event_from_json(const json_t *, struct model *, struct witness *, struct text *why);

#endif
