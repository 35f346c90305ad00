/* A trace as a story: how it starts; for each round what was sent, who heard whom, what changed and on which line, or
   for each step who does what with which messages, and what comes of it; and at the end what fails and with which
   values. */
#ifndef RONDO_REPORT_TRACE_TEXT_H
#define RONDO_REPORT_TRACE_TEXT_H

#include "report/layout.h"
#include "trace/trace.h"

void trace_print(const struct trace *, const struct style *, struct text *); /* the start, the rounds or steps */
void trace_explain(const struct trace *, struct interpreter *, const struct style *, struct text *); /* the end */

#endif
