/* Which instance of a quantified property fails (or is reached, for a cover), and with which values. */
#ifndef RONDO_TRACE_PROPERTY_INSTANCE_H
#define RONDO_TRACE_PROPERTY_INSTANCE_H

#include "base/vec.h"
#include "trace/trace.h"

struct property_instance {
  VEC(char *) bound;       /* "p = P(1)": names bound by quantifiers, outermost first */
  VEC(char *) read;        /* "P(1).decided' = 2": fields that the innermost part reads */
  VEC(uint32_t) processes; /* the processes among the bound names */
  bool everyone;           /* the innermost part quantifies over others, too */
};

/* The result is empty if there is nothing to report. */
void property_instance_find(struct property_instance *, struct interpreter *, const struct trace *);
/* For any formula: what makes it true or false (`truth` is its value) in a state or, if after is not NULL, in a
   step. */
void property_instance_explain(struct property_instance *, struct interpreter *, const struct node *formula,
                               const struct config *before, const struct config *after, bool truth);
void property_instance_release(struct property_instance *);

#endif
