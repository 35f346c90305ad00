/* Independent actions of one process (Godefroid 1996, section 3.1): taken with different messages, they lead to the
   same state in either order, and neither disables the other. From the text alone; false if in doubt. */
#ifndef RONDO_ANALYSIS_INDEPENDENCE_H
#define RONDO_ANALYSIS_INDEPENDENCE_H

#include "analysis/action_use.h"

struct independence {
  bool **of;    /* by role: [a * nactions + b] */
  bool **fails; /* [role][action]: its guard or its body may be an error of the model */
};
struct independence *independence_of(const struct model *, const struct query *, const struct action_uses *,
                                     struct arena *);

#endif
