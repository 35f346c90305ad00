/* Results as bytes (base/archive.h), sent from the process of an engine to the process that checks them. Both have the
 * same graph. */
#ifndef RONDO_PARAM_ENGINE_RESULT_IO_H
#define RONDO_PARAM_ENGINE_RESULT_IO_H

#include "param/engine.h"

void engine_result_write(const struct engine_result *, const struct counter_graph *, struct text *);
/* Returns false if the input was not written by engine_result_write. The result is initialised in any case. */
bool engine_result_read(struct engine_result *, const struct counter_graph *, const char *bytes, size_t n);

void cube_write(const struct cube *, struct text *);
/* Reads into an uninitialised cube; *n gets the number of bytes consumed. */
bool cube_read(struct cube *, const char *bytes, size_t *n);

#endif
