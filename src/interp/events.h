/* Parts of the semantics of steps that the reference and the fast transition system share, besides the actions
   themselves (interp/action.h). */
#ifndef RONDO_INTERP_EVENTS_H
#define RONDO_INTERP_EVENTS_H

#include "interp/action.h"

struct channels {
  enum channel kind;
  int64_t bound; /* the largest number of pending messages from one process to another; 0: unbounded */
};
struct channels environment_channels(const struct environment *);

/* Order: receiver, sender, place, kind, content. */
int packet_compare(const struct model *, const struct packet *, const struct packet *);

/* Is there a channel between them? On a ring, only to the next process; in a graph, only along its edges. */
bool channel_exists(struct interpreter *, const value *globals, uint32_t from, uint32_t to);

/* Are sent messages in their receiver's inbox at once (M), or in transit first? */
bool semantics_delivers(enum semantics);

/* May process p crash, or recover, now? status: by process. A process that crashed and recovered counts as one crash;
   the number of recovered processes must be within the limits of the clauses about recovery. */
bool crash_allowed(const struct model *, const struct environment *, const value *status, uint32_t p);
bool recovery_allowed(const struct model *, const struct environment *, const value *status, uint32_t p);
/* May n more messages be lost, or duplicated, after `before` of them? There must be a clause about it, and every such
   clause must allow it. */
bool loss_allowed(const struct environment *, int64_t before, int64_t n);
bool duplication_allowed(const struct environment *, int64_t before, int64_t n);

#endif
