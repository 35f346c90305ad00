/* Which processes a diagram draws as one line: those that do the same throughout, to and from processes that do the
   same (colour refinement). */
#ifndef RONDO_REPORT_DIAGRAM_FOLD_H
#define RONDO_REPORT_DIAGRAM_FOLD_H

#include "trace/trace.h"

struct fold {
  uint32_t *class_of; /* by process; classes are numbered by their first members */
  uint32_t n, nclasses;
};
/* All processes in one class. */
void fold_init(struct fold *, uint32_t n);
void fold_release(struct fold *);
/* Splits classes: members with different texts are separated. Releases the texts. Returns whether a class was split. */
bool fold_split(struct fold *, struct text *by_process);

/* Rounds: witnesses of the property stay alone. */
void fold_rounds(struct fold *, const struct trace *, const bool *witness);

#endif
