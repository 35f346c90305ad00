/* The pieces of a step of processes that take them one at a time: what the reference and the fast space must agree on
   beside the actions themselves (interp/action.h). */
#ifndef RONDO_INTERP_EVENTS_H
#define RONDO_INTERP_EVENTS_H

#include "interp/action.h"

struct channels {
  enum channel kind;
  int64_t bound; /* most pending messages from one process to another; 0: any number */
};
struct channels environment_channels(const struct environment *);

/* By receiver, sender, place, kind, content. */
int packet_compare(const struct model *, const struct packet *, const struct packet *);

/* Can a message go from one to the other at all? A ring has only the way to the next, a graph the ways it says. */
bool channel_exists(struct interpreter *, const value *globals, uint32_t from, uint32_t to);

/* Sent messages lie in their receiver's inbox at once (M), or are in transit first. */
bool semantics_delivers(enum semantics);

/* May process p crash, recover, now? status: by process. Those that crashed and recovered count as crashed once; those
   that are recovered now must be within the limits of the clauses that say so. */
bool crash_allowed(const struct model *, const struct environment *, const value *status, uint32_t p);
bool recovery_allowed(const struct model *, const struct environment *, const value *status, uint32_t p);
/* May n more messages be lost, be duplicated, after so many? Every clause must allow it, and there must be one. */
bool loss_allowed(const struct environment *, int64_t before, int64_t n);
bool duplication_allowed(const struct environment *, int64_t before, int64_t n);

#endif
