/* Outcomes as text, from the process of an engine to the one that judges it. Both have the same
 * graph. */
#ifndef RONDO_PARAM_ENGINE_RESULT_IO_H
#define RONDO_PARAM_ENGINE_RESULT_IO_H

#include "param/engine.h"

void engine_result_write(const struct engine_result *, const struct counter_graph *, struct text *);
/* False: not what engine_result_write writes. The outcome is initialised in any case. */
bool engine_result_read(struct engine_result *, const struct counter_graph *, const char *bytes, size_t n);

void cube_write(const struct cube *, struct text *);
/* Into one that is not initialised; *n is how many bytes it took. */
bool cube_read(struct cube *, const char *bytes, size_t *n);

#endif
