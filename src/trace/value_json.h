/* Values as JSON, independent of internal numbers: numbers, true and false, labels of enums as strings, identities as
   "P(2)", none as null, {"set": [...]}, objects for records, lists for arrays and sequences, and {"some": v} around the
   value of an option whose element is an option itself. */
#ifndef RONDO_TRACE_VALUE_JSON_H
#define RONDO_TRACE_VALUE_JSON_H

#include "model/model.h"

#include <jansson.h>

json_t *value_to_json(const struct model *, const struct type *, value); /* a new reference */
/* In the Informal Trace Format: {"#bigint": "1"}, {"#set": [...]}, {"#map": [[index, value], ...]}. */
json_t *value_to_itf(const struct model *, const struct type *, value);
json_t *number_to_itf(int64_t);
/* False: it is not a value of that type; *why says what was found instead. */
bool value_from_json(struct model *, const struct type *, const json_t *, value *, struct text *why);

json_t *text_to_json(const char *, size_t); /* invalid UTF-8 bytes become '?' */
json_t *process_to_json(const struct model *, uint32_t process);
bool process_from_json(const struct model *, const json_t *, uint32_t *process, struct text *why);
bool process_from_name(const struct model *, const char *name, uint32_t *process);

#endif
