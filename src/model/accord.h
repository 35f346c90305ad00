/* Which actions of one process accord: taken one after the other, with different messages, they give the same whatever
   the order, and neither keeps the other from being taken. From the text alone; false if in doubt. */
#ifndef RONDO_MODEL_ACCORD_H
#define RONDO_MODEL_ACCORD_H

#include "model/actions.h"

struct accords {
  bool **of;    /* by role: [a * nactions + b] */
  bool **fails; /* [role][action]: taking it, or finding out whether it can be taken, may end in an error of the model */
};
struct accords *accords_of(const struct model *, const struct question *, const struct actions_use *, struct arena *);

#endif
