/* A run as one page that needs nothing else: the caption, the diagram, and the run as text, whose parts open and close.
 */
#ifndef RONDO_REPORT_TRACE_HTML_H
#define RONDO_REPORT_TRACE_HTML_H

#include "trace/trace.h"

void trace_html(const struct trace *, struct interpreter *, struct text *);

#endif
