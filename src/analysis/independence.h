/* Which actions of one process accord: taken one after the other, with different messages, they give the same whatever
   the order, and neither keeps the other from being taken. From the text alone; false if in doubt. */
#ifndef RONDO_ANALYSIS_INDEPENDENCE_H
#define RONDO_ANALYSIS_INDEPENDENCE_H

#include "analysis/action_use.h"

struct independence {
  bool **of; /* by role: [a * nactions + b] */
  bool *
      *fails; /* [role][action]: taking it, or finding out whether it can be taken, may end in an error of the model */
};
struct independence *independence_of(const struct model *, const struct query *, const struct action_uses *,
                                     struct arena *);

#endif
