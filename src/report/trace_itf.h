/* A run as a trace in the Informal Trace Format of Apalache (ITF, JSON): states only. */
#ifndef RONDO_REPORT_TRACE_ITF_H
#define RONDO_REPORT_TRACE_ITF_H

#include "trace/trace.h"

#include <jansson.h>

/* Every variable of a role is a map from its processes; shared variables stand for themselves; `status` says who is
   faulty or has halted, `messages` what is pending (steps), `round` how many rounds are done (rounds). A new reference.
 */
json_t *itf_json(const struct trace *);

#endif
