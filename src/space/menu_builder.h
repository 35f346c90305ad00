/* A menu under construction: shared by menu.c, which tries every way of hearing, and regions.c, which tries one of each
   kind. */
#ifndef RONDO_SPACE_MENU_BUILDER_H
#define RONDO_SPACE_MENU_BUILDER_H

#include "space/round_space.h"

struct builder {
  struct round_space *space;
  uint32_t context;
  const struct rules *rules;
  const struct size_rule **sizes; /* of this role */
  uint32_t nsizes;
  uint32_t size;                /* an allowed size of the heard-of set, UINT32_MAX: any */
  bool self;                    /* and whether it hears itself then */
  const struct offer *offer;
  const struct reads *reads;
  const struct type *type;      /* of messages */
  bool counts;                  /* how many of a group matters, not only whether */
  bool tagged;
  bool every_cost;
  uint32_t *heard;              /* by group */
  uint32_t *removed;            /* by group: corrupted */
  VEC(value) forged;            /* messages made up: Byzantine, then corrupted ones */
  VEC(uint32_t) forged_tag;     /* NO_SENDER if untagged */
  uint64_t lazy;                /* which Byzantine senders send an open message */
  uint32_t cost;
  uint32_t ncorrupted;
  VEC(value) bag;
  VEC(struct line) lines;
};

/* The fewest of a group that must be heard. */
uint32_t group_least(const struct builder *, const struct group *);
/* b->heard and b->cost describe a way of receiving that has this effect; mask: the groups heard. */
void line_add(struct builder *, uint32_t effect, uint64_t mask);

/* Makes the whole menu if it can be done by regions and is worth it. */
bool regions_build(struct builder *);
/* Likewise, bag by bag, if everything offered may be lost. */
bool subbags_build(struct builder *);

#endif
