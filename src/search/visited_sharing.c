#include "search/visited_sharing.h"

#include "base/memory.h"
#include "search/visited_records.h"

#include <sched.h>

/* A segment always has room for the slots that all partitions can fill before the first thread notices that it is
   filling up. */
#define SHARED_BUCKETS 4096
#define UNREPORTED 1024 /* slots that all partitions together fill before they update index_segment.used */
_Static_assert(UNREPORTED * 64 < (64 - LOAD_MAX_TIGHT) * SHARED_BUCKETS * BUCKET_SLOTS && UNREPORTED >= MAX_PARTITIONS,
               "and room for them");

void visited_share(struct visited_set *s, uint32_t partitions) {
  if (s->sharing)
    return;
  struct visited_sharing *shared = memory_alloc_aligned(_Alignof(struct visited_sharing), sizeof *shared);
  shared->partitions = partitions;
  shared->report_after = UNREPORTED / partitions;
  pthread_mutex_init(&shared->grow_lock, NULL);
  pthread_mutex_init(&shared->parent_lock, NULL);
  for (uint32_t i = 0; i < SEGMENTS; i++)
    while (s->segment[i].buckets < SHARED_BUCKETS)
      index_segment_grow(s, &s->segment[i]);
  s->sharing = shared;
  s->sequential_exact = false;
  for (uint32_t i = s->partitions; i < partitions; i++)
    visited_partition_begin(s, i);
}

void visited_sharing_free(struct visited_sharing *shared) {
  if (!shared)
    return;
  pthread_mutex_destroy(&shared->grow_lock);
  pthread_mutex_destroy(&shared->parent_lock);
  memory_free(shared);
}

/* Segments fill up at about the same time, so when one must grow, all that are nearly full grow, with the help of all
   waiting threads. */
static void grow_segments(struct visited_set *s) {
  for (uint32_t i; (i = atomic_fetch_add(&s->sharing->next, 1)) < SEGMENTS;)
    if (index_segment_is_nearly_full(s, &s->segment[i]))
      index_segment_grow(s, &s->segment[i]);
}

/* `helping` is incremented before `open` is checked again, so the growing thread waits for every thread that saw `open`
   set. All operations are sequentially consistent. */
static void help_grow(struct visited_set *s) {
  struct visited_sharing *shared = s->sharing;
  if (atomic_load(&shared->open)) {
    atomic_fetch_add(&shared->helping, 1);
    if (atomic_load(&shared->open))
      grow_segments(s);
    atomic_fetch_sub(&shared->helping, 1);
  }
  sched_yield();
}

/* Sequentially consistent: a thread sets `inside` before it reads `growing`, and visited_sharing_grow sets `growing`
   before it reads `inside`, so at least one of the two sees the other. */
void visited_enter(struct visited_set *s, uint32_t partition) {
  struct visited_sharing *shared = s->sharing;
  while (true) {
    atomic_store(&shared->gate[partition].inside, true);
    if (!atomic_load(&shared->growing))
      return;
    atomic_store(&shared->gate[partition].inside, false);
    while (atomic_load(&shared->growing))
      help_grow(s);
  }
}

void visited_leave(struct visited_set *s, uint32_t partition) {
  atomic_store_explicit(&s->sharing->gate[partition].inside, false, memory_order_release);
}

/* The calling partition leaves while it waits for the others to leave. */
void visited_sharing_grow(struct visited_set *s, uint32_t partition, const struct index_segment *g) {
  struct visited_sharing *shared = s->sharing;
  bool inside = shared->gate[partition].inside; /* false while only one thread is running */
  visited_leave(s, partition);
  while (pthread_mutex_trylock(&shared->grow_lock) != 0)
    help_grow(s);
  atomic_store(&shared->growing, true);
  for (uint32_t i = 0; i < shared->partitions; i++)
    while (atomic_load(&shared->gate[i].inside))
      sched_yield();
  if (index_segment_is_full(s, g)) { /* no other thread has done it in the meantime */
    atomic_store(&shared->next, 0);
    atomic_store(&shared->open, true);
    grow_segments(s);
    atomic_store(&shared->open, false);
    while (atomic_load(&shared->helping) > 0)
      sched_yield();
  }
  atomic_store(&shared->growing, false);
  pthread_mutex_unlock(&shared->grow_lock);
  if (inside)
    visited_enter(s, partition);
}
