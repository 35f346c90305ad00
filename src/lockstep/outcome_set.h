/* Outcome sets: (projection, receivable) -> the distinct updates, with their costs.
     receivable: the messages that can be received */
#ifndef RONDO_LOCKSTEP_OUTCOME_SET_H
#define RONDO_LOCKSTEP_OUTCOME_SET_H

#include "base/vec.h"
#include "interp/eval.h"
#include "lockstep/round_rules.h"
#include "system/memo.h"

struct lockstep;

struct sender_group { /* senders whose messages the receiver cannot distinguish */
  value message;
  bool silent;     /* they send no message to the receiver: visible only in HO */
  bool self;       /* the receiver is in this group */
  uint32_t tag;    /* the sender, if it is distinguishable; else NO_SENDER */
  uint32_t count;  /* number of senders */
  uint32_t must;   /* number of senders that must be heard, because no fault excuses them */
  uint32_t serial; /* the order in which the groups were made */
};

struct round_receivable { /* everything that one receiver may receive */
  struct sender_group *groups;
  uint32_t n;
  uint32_t *group_of;  /* [2 * actor + (is it the receiver itself)]: 1 + its group; 0: none. NULL: not needed */
  uint32_t nbyzantine; /* Byzantine senders: each may send any message or none */
  uint32_t *byzantine_tags;
  uint32_t need;    /* this group must be heard (kernel); UINT32_MAX: no such group */
  bool exact;       /* every receivable message is heard (uniform rounds) */
  uint32_t sized;   /* bit i: size rule i applies to the receiver because the query follows it */
  uint32_t allowed; /* 1 + the allowed heard-of sets, one bit each, in system->vectors; 0: all sets */
};

struct local_outcome { /* an element of an outcome set */
  uint32_t update;
  uint32_t cost; /* lost messages */
  uint32_t how;  /* an example of its cause, in system->vectors: the number heard of each group, then forged messages */
  uint64_t *masks; /* no-split: the maximal sets of groups that lead to it, bitset_words(groups) words each */
  uint32_t nmasks;
  uint32_t first_mask; /* number of masks of the outcomes before it */
};

static inline uint32_t bitset_words(uint32_t n) { return n / 64 + 1; }

struct local_outcome_set {
  struct local_outcome *outcomes;
  uint32_t n;
};

enum outcomes_by { OUTCOMES_BY_EITHER, OUTCOMES_BY_ENUMERATION, OUTCOMES_BY_REGIONS };

struct decision_node { /* see outcome_regions.c */
  struct form form;
  uint32_t child[3];      /* by sign + 1: 1 + node; 0: not explored yet */
  uint32_t local_updates; /* leaf: 1 + list of updates */
};

struct outcome_tables {
  enum outcomes_by by;
  struct intern *receivables;
  struct intern *next_lists;       /* [(local, cost), ...]: the possible next local states of a process */
  struct memo outcome_sets_of;     /* (projection, receivable) -> outcome_sets */
  struct memo local_successors_of; /* (local and point, outcome_set) -> local_successors */
  VEC(struct local_outcome_set) outcome_sets;
  VEC(struct lockstep_successors) local_successors;
  struct memo within_bag;   /* (projection, bag) -> vectors: the updates of the bag and of all its sub-bags */
  struct memo region_roots; /* (projection, messages) -> regions */
  VEC(struct decision_node) regions;
};

void outcome_tables_init(struct outcome_tables *, enum outcomes_by);
void outcome_tables_release(struct outcome_tables *);
size_t outcome_tables_bytes(const struct outcome_tables *);

/* The order of messages of one type in a receivable. */
bool message_before(const struct model *, const struct type *, value a, value b);
uint32_t receivable_put(struct lockstep *, uint32_t rules_index, const struct round_receivable *); /* interned */
uint32_t receivable_find(struct lockstep *, uint32_t rules_index,
                         const struct round_receivable *); /* INTERN_NONE if new */
uint32_t outcome_set_of(struct lockstep *, uint32_t context, const struct rules *, const struct round_receivable *,
                        uint32_t id);
#define BAG_ENTRY 4 /* message, sender or -1, count, lazy */

#endif
