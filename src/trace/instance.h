/* Which instance of a quantified property fails (or, of a cover, is reached), and with what values.
 */
#ifndef RONDO_TRACE_INSTANCE_H
#define RONDO_TRACE_INSTANCE_H

#include "base/vec.h"
#include "trace/trace.h"

struct instance {
  VEC(char *) bound; /* "p = P(1)": names bound by quantifiers, outermost first */
  VEC(char *) read;  /* "P(1).decided' = 2": fields that the innermost part reads */
};

/* Empty where there is nothing to say. */
void instance_find(struct instance *, struct meaning *, const struct trace *);
/* Of any formula: what makes it true, or false (as `truth` says it is), in a state, or (after is not NULL) in a step. */
void instance_explain(struct instance *, struct meaning *, const struct node *formula, const struct config *before,
                      const struct config *after, bool truth);
void instance_release(struct instance *);

#endif
