/* The space of processes that take steps one at a time: message passing and shared memory. */
#ifndef RONDO_INTERLEAVE_INTERLEAVE_H
#define RONDO_INTERLEAVE_INTERLEAVE_H

#include "space/space.h"

struct space *interleave_space_new(struct meaning *, struct model *, const struct question *, const struct licences *,
                                   const struct space_options *);

#endif
