/* The space of fine-grained rounds. */
#ifndef RONDO_FINE_FINE_H
#define RONDO_FINE_FINE_H

#include "space/space.h"

#define FINE_MOST 64 /* processes */

struct space *fine_space_new(struct meaning *, struct model *, const struct question *, const struct licences *,
                             const struct space_options *);

#endif
