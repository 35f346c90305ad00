/* A run as a space-time diagram: one line per process, time from left to right, with the claim in the caption. */
#ifndef RONDO_REPORT_DIAGRAM_H
#define RONDO_REPORT_DIAGRAM_H

#include "report/trace_text.h"

/* False for runs with too many steps (thousands) or messages (tens of thousands) to be readable. */
bool trace_drawable(const struct trace *);
struct diagram_options {
  bool caption; /* the claim, the model, the formula above the drawing */
  bool fold;    /* more than six processes: draw identical ones as one line, and rounds as heard-of matrices */
};
/* Draws a part of a run (trace_window), or all of it. */
void trace_svg_part(const struct trace *, struct interpreter *, const struct diagram_options *, struct text *);
/* Writes a complete SVG file. The trace must have been replayed and show its claim. */
void trace_svg(const struct trace *, struct interpreter *, struct text *);
void trace_document_svg(const struct trace_document *, const struct trace *, const struct diagram_options *,
                        struct text *);
extern const struct diagram_options diagram_whole; /* as in files */

#endif
