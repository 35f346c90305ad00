/* A visited set shared by several threads: when a thread may use it, and how its index grows. */
#ifndef RONDO_SEARCH_VISITED_SHARING_H
#define RONDO_SEARCH_VISITED_SHARING_H

#include "search/visited_index.h"

#include <pthread.h>

/* A thread is inside while it uses the visited set; it waits outside while a segment grows. */
struct partition_gate {
  _Alignas(64) atomic_bool inside; /* one gate per partition */
  uint32_t used[SEGMENTS]; /* slots of each segment filled by this partition since it last updated index_segment.used */
};

struct visited_sharing {
  struct partition_gate gate[MAX_PARTITIONS];
  atomic_bool growing;      /* threads may not enter */
  atomic_bool open;         /* all threads have left: waiting threads may help growing */
  _Atomic uint32_t next;    /* the next segment to examine */
  _Atomic uint32_t helping; /* partitions that are helping */
  pthread_mutex_t grow_lock, parent_lock;
  uint32_t partitions;
  uint32_t report_after; /* a partition updates index_segment.used after so many filled slots */
};

void visited_sharing_free(struct visited_sharing *);
/* Grows this segment, and others that are nearly full, unless another thread has done so already. */
void visited_sharing_grow(struct visited_set *, uint32_t partition, const struct index_segment *);

/* --- visited_set.c --- */

/* A segment grows when so many 64ths of its slots are filled. */
#define LOAD_MAX 51
#define LOAD_MAX_TIGHT 60
#define LOAD_MARGIN 3 /* growth is imminent at so many 64ths less */
/* A large segment grows by this fraction of its size. */
#define GROWTH_DIVISOR 5
#define GROWTH_DIVISOR_TIGHT 8

void index_segment_grow(struct visited_set *, struct index_segment *);
bool index_segment_is_full(const struct visited_set *, const struct index_segment *);
bool index_segment_is_nearly_full(const struct visited_set *, const struct index_segment *);

#endif
