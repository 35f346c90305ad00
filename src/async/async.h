/* The transition system of asynchronous rounds. */
#ifndef RONDO_ASYNC_ASYNC_H
#define RONDO_ASYNC_ASYNC_H

#include "system/system.h"

#define ASYNC_PROCESSES_MAX 64

struct system *async_system_new(struct interpreter *, struct model *, const struct query *, const struct licences *,
                                const struct system_options *);

#endif
