/* Which messages can ever be pending from whom to whom, from the text alone: the channels that a state needs. */
#ifndef RONDO_INTERLEAVE_ROUTES_H
#define RONDO_INTERLEAVE_ROUTES_H

#include "model/actions.h"
#include "sem/events.h"

struct routes {
  uint32_t nprocesses, nkinds;
  bool *may; /* [(from * nprocesses + to) * nkinds + kind] */
};

struct routes *routes_of(struct meaning *, const struct model *, const struct question *, const struct actions_use *,
                         struct arena *);
static inline bool route_carries(const struct routes *r, uint32_t from, uint32_t to, uint32_t kind) {
  return r->may[((size_t)from * r->nprocesses + to) * r->nkinds + kind];
}
/* Can anything be taken from that channel at all? */
bool route_is_read(const struct model *, const struct routes *, uint32_t from, uint32_t to);
bool role_takes(const struct model *, uint32_t role, uint32_t kind);

#endif
