/* Outcomes as text, from the process of an engine to the one that judges it. Both have the same
 * graph. */
#ifndef RONDO_PARAM_WIRE_H
#define RONDO_PARAM_WIRE_H

#include "param/engine.h"

void outcome_write(const struct outcome *, const struct graph *, struct text *);
/* False: not what outcome_write writes. The outcome is initialised in any case. */
bool outcome_read(struct outcome *, const struct graph *, const char *bytes, size_t n);

void cube_write(const struct cube *, struct text *);
/* Into one that is not initialised; *n is how many bytes it took. */
bool cube_read(struct cube *, const char *bytes, size_t *n);

#endif
