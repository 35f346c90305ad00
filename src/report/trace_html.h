/* A run as one self-contained HTML page: the caption, the diagram, and the run as text with collapsible parts. */
#ifndef RONDO_REPORT_TRACE_HTML_H
#define RONDO_REPORT_TRACE_HTML_H

#include "trace/trace.h"

void trace_html(const struct trace *, struct interpreter *, struct text *);

#endif
