/* An outcome set under construction: shared by outcome_set.c, which tries every combination of received messages, and
   outcome_regions.c, which tries one combination for each region. */
#ifndef RONDO_LOCKSTEP_OUTCOME_BUILDER_H
#define RONDO_LOCKSTEP_OUTCOME_BUILDER_H

#include "lockstep/lockstep.h"

struct outcome_builder {
  struct lockstep *system;
  uint32_t projection;
  const struct rules *rules;
  const struct size_rule **sizes; /* the size rules of this role */
  uint32_t nsizes;
  uint32_t size; /* an allowed size of the heard-of set; UINT32_MAX: any */
  bool self;     /* whether the receiver hears itself, for that size */
  const struct round_receivable *receivable;
  const struct read_set *reads;
  const struct type *type; /* of messages */
  bool counts;             /* the number heard of a group matters, not only whether it is 0 */
  bool tagged;
  bool every_cost;
  uint32_t *heard;          /* by group */
  uint32_t *removed;        /* by group: corrupted */
  VEC(value) forged;        /* forged messages: first Byzantine ones (LAZY_FIRST: left open), then corrupted ones */
  VEC(uint32_t) forged_tag; /* NO_SENDER if untagged */
  uint64_t *mask;           /* no-split: the groups heard */
  uint32_t cost;
  uint32_t ncorrupted;
  VEC(value) bag;
  VEC(struct local_outcome) outcomes;
};

/* The smallest number of a group that must be heard. */
uint32_t group_least(const struct outcome_builder *, const struct sender_group *);
/* Adds the update that results from receiving b->heard, at b->cost. */
void outcome_add(struct outcome_builder *, uint32_t update);

/* Computes the whole outcome set by regions, if that is possible and worthwhile. */
bool outcomes_by_regions(struct outcome_builder *);
/* Likewise, bag by bag, if every receivable message may be lost. */
bool outcomes_by_subbags(struct outcome_builder *);

#endif
