/* A outcome_set under construction: shared by outcome_set.c, which tries every way of hearing, and outcome_regions.c,
   which tries one of each kind. */
#ifndef RONDO_LOCKSTEP_OUTCOME_BUILDER_H
#define RONDO_LOCKSTEP_OUTCOME_BUILDER_H

#include "lockstep/lockstep.h"

struct outcome_builder {
  struct lockstep *system;
  uint32_t projection;
  const struct rules *rules;
  const struct size_rule **sizes; /* of this role */
  uint32_t nsizes;
  uint32_t size; /* an allowed size of the heard-of set, UINT32_MAX: any */
  bool self;     /* and whether it hears itself then */
  const struct round_receivable *receivable;
  const struct read_set *reads;
  const struct type *type; /* of messages */
  bool counts;             /* how many of a group matters, not only whether */
  bool tagged;
  bool every_cost;
  uint32_t *heard;          /* by group */
  uint32_t *removed;        /* by group: corrupted */
  VEC(value) forged;        /* messages made up: Byzantine (LAZY_FIRST: an open one), then corrupted ones */
  VEC(uint32_t) forged_tag; /* NO_SENDER if untagged */
  uint64_t *mask;           /* no-split: the groups heard */
  uint32_t cost;
  uint32_t ncorrupted;
  VEC(value) bag;
  VEC(struct local_outcome) outcomes;
};

/* The fewest of a group that must be heard. */
uint32_t group_least(const struct outcome_builder *, const struct sender_group *);
/* b->heard and b->cost describe a way of receiving that has this update. */
void outcome_add(struct outcome_builder *, uint32_t update);

/* Makes the whole outcome_set if it can be done by regions and is worth it. */
bool outcomes_by_regions(struct outcome_builder *);
/* Likewise, bag by bag, if everything offered may be lost. */
bool outcomes_by_subbags(struct outcome_builder *);

#endif
