/* The result of `check` as JSON; see docs/json.md. */
#ifndef RONDO_REPORT_JSON_REPORT_H
#define RONDO_REPORT_JSON_REPORT_H

#include "report/check_result.h"

#include <jansson.h>

#define CHECK_SCHEMA "rondo-check/1"
#define RUNS_SCHEMA "rondo-runs/1"         /* of run --runs */
#define LINES_SCHEMA "rondo-check-lines/1" /* of --json=lines */

/* All of these are new references. */
json_t *report_json(const struct check_result *);
json_t *property_json(const struct check_result *, const struct property_result *, uint32_t run);
json_t *run_json(const struct check_result *, const struct run_result *);
json_t *licences_json(const struct licences *, const struct model *);
json_t *stats_json(const struct run_result *);
void json_text(json_t *, struct text *); /* indented, with a final newline; releases the JSON value */
void json_line(json_t *, struct text *); /* likewise, on one line */

#endif
