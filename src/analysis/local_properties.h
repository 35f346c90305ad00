/* Locality (Chaouch-Saad, Charron-Bost, Merz 2009, section 3.2): may a property of runs in which each process is in a
   round of its own be checked on whole rounds? What it says of one process at a time may. What it says of several at
   once may, if whatever is wrong with each of them stays wrong: then all of it is there together, after the last of
   their rounds. That it stays is a property of steps of one process, and checked along. What happens for ever is local
   if each temporal operator speaks of one process, or says of each what it says of all. */
#ifndef RONDO_ANALYSIS_LOCAL_PROPERTIES_H
#define RONDO_ANALYSIS_LOCAL_PROPERTIES_H

#include "analysis/type_usage.h"

enum locality {
  LOCAL,                  /* of one process at a time */
  LOCAL_IF_STABLE,        /* if the steps keep what model->stabilities say */
  LOCAL_NOT,              /* and why */
  LOCAL_STATUS_DEPENDENT, /* neither, because of who is `correct` so far: that is a query about a moment */
  LOCAL_ROUNDS            /* it speaks of `round`: of whole rounds by itself */
};

bool property_reads_round(const struct model *,
                          const struct property *); /* it, or a def that it calls, reads `round` */

/* Adds model->stabilities: what must stay for each property to be local. Once, when the model is complete. */
void locality_add_stabilities(struct model *);

/* Why it is not local, or not for certain: reason and place live in the arena. */
enum locality locality_of(const struct model *, const struct query *, uint32_t property, struct arena *,
                          struct refusal *);

#endif
