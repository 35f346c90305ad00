/* Which kinds of messages can ever be pending from one process to another, judged by the program text alone. This
   determines the channels that a state needs. */
#ifndef RONDO_STEPS_MESSAGE_ROUTES_H
#define RONDO_STEPS_MESSAGE_ROUTES_H

#include "analysis/action_use.h"
#include "interp/events.h"

struct message_routes {
  uint32_t nprocesses, nkinds;
  bool *may; /* [(from * nprocesses + to) * nkinds + kind] */
};

struct message_routes *message_routes_of(struct interpreter *, const struct model *, const struct action_uses *,
                                         struct arena *);
static inline bool message_route_carries(const struct message_routes *r, uint32_t from, uint32_t to, uint32_t kind) {
  return r->may[((size_t)from * r->nprocesses + to) * r->nkinds + kind];
}
/* Can a message ever be taken from that channel? */
bool message_route_is_read(const struct model *, const struct message_routes *, uint32_t from, uint32_t to);

#endif
