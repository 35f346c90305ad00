/* A run as a space-time diagram: one line per process, time from left to right, with the claim in the caption. */
#ifndef RONDO_REPORT_DIAGRAM_H
#define RONDO_REPORT_DIAGRAM_H

#include "report/trace_text.h"

/* False for runs with too many steps (thousands) or messages (tens of thousands) to be readable. */
bool trace_drawable(const struct trace *);
/* Writes a complete SVG file. The trace must have been replayed and show its claim. */
void trace_svg(const struct trace *, struct interpreter *, struct text *);
void trace_document_svg(const struct trace_document *, const struct trace *, struct text *);

#endif
