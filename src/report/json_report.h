/* The result of `check` as JSON; see docs/json.md. */
#ifndef RONDO_REPORT_JSON_REPORT_H
#define RONDO_REPORT_JSON_REPORT_H

#include "report/check_result.h"

#include <jansson.h>

#define CHECK_SCHEMA "rondo-check/1"

json_t *report_json(const struct check_result *); /* a new reference */
json_t *licences_json(const struct licences *, const struct model *);
json_t *stats_json(const struct run_result *);
void json_text(json_t *, struct text *); /* indented, with a final newline; releases the JSON value */

#endif
