/* Locality (Chaouch-Saad, Charron-Bost, Merz 2009, section 3.2): may a property of fine rounds be checked on whole
   rounds? A property of one process at a time may. A property of several processes may if whatever violates it in each
   of them is stable: then the whole violation is present in a state of whole rounds, after the last of the rounds
   involved. That it is stable (a stability) is a step property of one process, checked in the same search. A live
   property is local if each temporal operator is about one process, or distributes over processes. */
#ifndef RONDO_ANALYSIS_LOCAL_PROPERTIES_H
#define RONDO_ANALYSIS_LOCAL_PROPERTIES_H

#include "analysis/type_usage.h"

enum locality {
  LOCAL,                  /* of one process at a time */
  LOCAL_IF_STABLE,        /* if its stabilities hold */
  LOCAL_NOT,              /* with the reason */
  LOCAL_STATUS_DEPENDENT, /* not local, because `correct` and `faulty` so far depend on the moment */
  LOCAL_ROUNDS            /* it reads `round`, so it is about whole rounds */
};

bool property_reads_round(const struct model *,
                          const struct property *); /* it, or a def that it calls, reads `round` */

/* Adds the stabilities of all properties behind model->properties. Called once, when the model is complete. */
void locality_add_stabilities(struct model *);

/* The refusal says why it is not local; its strings live in the arena. */
enum locality locality_of(const struct model *, const struct query *, uint32_t property, struct arena *,
                          struct refusal *);

#endif
