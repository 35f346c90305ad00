/* A visited set that several threads fill: who may come in, and how its index grows. */
#ifndef RONDO_SEARCH_VISITED_SHARING_H
#define RONDO_SEARCH_VISITED_SHARING_H

#include "search/visited_index.h"

#include <pthread.h>

/* Whoever wants to add something is inside, unless a segment is growing. */
struct partition_gate {
  _Alignas(64) atomic_bool inside; /* one for each partition */
  uint32_t used[SEGMENTS];         /* slots of each segment that this partition has filled since it last told */
};

struct visited_sharing {
  struct partition_gate gate[MAX_PARTITIONS];
  atomic_bool growing;      /* nobody comes in */
  atomic_bool open;         /* nobody is in: who waits helps */
  _Atomic uint32_t next;    /* segment to be looked at */
  _Atomic uint32_t helping; /* partitions */
  pthread_mutex_t grow_lock, parent_lock;
  uint32_t partitions;
  uint32_t report_after; /* so many slots that a partition has filled */
};

void visited_sharing_free(struct visited_sharing *);
void visited_sharing_grow(
    struct visited_set *, uint32_t partition,
    const struct index_segment *); /* that one, and others, if nobody has done it in the meantime */

/* --- visited_set.c --- */

/* A segment grow_lock when so many 64ths of it are full. */
#define LOAD_MAX 51
#define LOAD_MAX_TIGHT 60
#define LOAD_MARGIN 3 /* as many less, and it will grow soon */
/* By this part of what it has, if it is large. */
#define GROWTH_DIVISOR 5
#define GROWTH_DIVISOR_TIGHT 8

void index_segment_grow(struct visited_set *, struct index_segment *);
bool index_segment_is_full(const struct visited_set *, const struct index_segment *);
bool index_segment_is_nearly_full(const struct visited_set *, const struct index_segment *);

#endif
