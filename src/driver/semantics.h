/* The semantics of a kind of model, and how one is chosen. */
#ifndef RONDO_DRIVER_SEMANTICS_H
#define RONDO_DRIVER_SEMANTICS_H

#include "driver/options.h"

/* Those of a kind of model, the cheapest (and default) first; returns how many. */
uint32_t semantics_of_kind(enum model_kind, const enum semantics **);
/* What the options ask for, else the default. False: the model does not have it; that was reported. */
bool semantics_choose(const struct model *, const struct command_options *, enum semantics *);
/* By its name (NULL: the default), for a model. False: *why says what is wrong. */
bool semantics_find(const struct model *, const char *name, enum semantics *, struct text *why);

#endif
