/* A run as a trace in the Informal Trace Format of Apalache (ITF, JSON): states only. */
#ifndef RONDO_REPORT_TRACE_ITF_H
#define RONDO_REPORT_TRACE_ITF_H

#include "trace/trace.h"

#include <jansson.h>

/* Every variable of a role is a map from its processes; shared variables are plain values. `status` gives the fault and
   halting status of processes, `messages` the pending messages (step models), `round` the number of completed rounds
   (round models). Returns a new reference. */
json_t *itf_json(const struct trace *);

#endif
