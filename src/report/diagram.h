/* A run as a space-time diagram: a line for each process, time from left to right; the claim in the caption. */
#ifndef RONDO_REPORT_DIAGRAM_H
#define RONDO_REPORT_DIAGRAM_H

#include "report/trace_text.h"

/* Nobody can look at thousands of steps, or at tens of thousands of messages. */
bool trace_drawable(const struct trace *);
/* The whole of an SVG file. The trace was replayed and shows its claim. */
void trace_svg(const struct trace *, struct interpreter *, struct text *);
void trace_document_svg(const struct trace_document *, const struct trace *, struct text *);

#endif
