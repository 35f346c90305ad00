/* What the script of a page (viewer/viewer.js) needs of a run: the states as text, and the lines that each step runs.
 */
#ifndef RONDO_REPORT_TRACE_VIEW_H
#define RONDO_REPORT_TRACE_VIEW_H

#include "trace/trace.h"

#include <jansson.h>

/* { "unit": "round", "loop": null or number of steps,
     "processes": [{"name": "P(1)", "role": "P"}],
     "start": {"globals": [[name, text], ...], "locals": [{"status": [...], "values": [[name, text], ...]}, ...]},
     "steps": [{"title": text, "lines": [line, ...], "changes": [[process or null, name, text], ...],
                "statuses": [[process, [...]], ...]}, ...] }
   A new reference. */
json_t *trace_view(const struct trace *);

#endif
