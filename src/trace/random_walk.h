/* A random walk with the reference interpreter. */
#ifndef RONDO_TRACE_RANDOM_WALK_H
#define RONDO_TRACE_RANDOM_WALK_H

#include "interp/config.h"

struct random_walk {
  struct interpreter *interp;
  struct model *model;
  uint32_t environment;
  uint64_t state;
};

static inline uint64_t draw(struct random_walk *r) { /* splitmix64 */
  uint64_t z = (r->state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static inline uint64_t below(struct random_walk *r, uint64_t n) { return n ? draw(r) % n : 0; }

static inline bool chance(struct random_walk *r, double p) { return (double)(draw(r) >> 11) * 0x1p-53 < p; }

/* Steps: a random enabled event; NULL: nothing but faults is enabled. */
struct witness *random_event(struct random_walk *, const struct config *);

#endif
