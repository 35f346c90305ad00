/* Calls of defs written out: what properties and environments say is then seen as it stands. */
#ifndef RONDO_MODEL_DEF_INLINING_H
#define RONDO_MODEL_DEF_INLINING_H

#include "model/model.h"

/* The expression with every call of a def that cannot come to call itself replaced by its body, arguments in place.
   Calls stay where the expression would become too large, and where an error in an argument would be lost (arguments
   are evaluated before the body): analyses must expect that calls are left. The arguments must be free of free choice.
   New nodes live in the model's arena; new slots are added to the model. */
struct node *node_inlined(struct model *, struct node *);

#endif
