#include "search/sharing.h"

#include "base/memory.h"
#include "search/records.h"

#include <sched.h>

/* There is always room for what all of them add before the first one sees that a segment is filling up. */
#define SHARED_LINES 4096
#define UNTOLD 1024 /* slots that all lanes together fill before they tell */
_Static_assert(UNTOLD * 64 < (64 - FULL_TIGHT) * SHARED_LINES * LINE_SLOTS && UNTOLD >= STORE_LANES, "and room for them");

void store_share(struct store *s, uint32_t lanes) {
  if (s->sharing)
    return;
  struct sharing *shared = memory_alloc_aligned(_Alignof(struct sharing), sizeof *shared);
  shared->lanes = lanes;
  shared->tell = UNTOLD / lanes;
  pthread_mutex_init(&shared->grows, NULL);
  pthread_mutex_init(&shared->relinks, NULL);
  for (uint32_t i = 0; i < SEGMENTS; i++)
    while (s->segment[i].lines < SHARED_LINES)
      segment_grow(s, &s->segment[i]);
  s->sharing = shared;
  s->plain = false;
  for (uint32_t i = s->lanes; i < lanes; i++)
    lane_begin(s, i);
}

void sharing_free(struct sharing *shared) {
  if (!shared)
    return;
  pthread_mutex_destroy(&shared->grows);
  pthread_mutex_destroy(&shared->relinks);
  memory_free(shared);
}

/* Segments fill up at about the same time, so when one of them must grow all do that are about to, by as many threads as come by. */
static void grow_some(struct store *s) {
  for (uint32_t i; (i = atomic_fetch_add(&s->sharing->next, 1)) < SEGMENTS;)
    if (segment_fills_up_soon(s, &s->segment[i]))
      segment_grow(s, &s->segment[i]);
}

/* Who says that it helps before it looks whether it still may is waited for. */
static void help(struct store *s) {
  struct sharing *shared = s->sharing;
  if (atomic_load(&shared->open)) {
    atomic_fetch_add(&shared->helping, 1);
    if (atomic_load(&shared->open))
      grow_some(s);
    atomic_fetch_sub(&shared->helping, 1);
  }
  sched_yield();
}

/* What one thread says before it looks what the others say: both are seen in that order by all. */
void store_enter(struct store *s, uint32_t lane) {
  struct sharing *shared = s->sharing;
  while (true) {
    atomic_store(&shared->gate[lane].inside, true);
    if (!atomic_load(&shared->growing))
      return;
    atomic_store(&shared->gate[lane].inside, false);
    while (atomic_load(&shared->growing))
      help(s);
  }
}

void store_leave(struct store *s, uint32_t lane) {
  atomic_store_explicit(&s->sharing->gate[lane].inside, false, memory_order_release);
}

/* The lane is outside while it waits for the others to be. */
void sharing_grow(struct store *s, uint32_t lane, const struct segment *g) {
  struct sharing *shared = s->sharing;
  bool inside = shared->gate[lane].inside; /* not if it is the only one just now */
  store_leave(s, lane);
  while (pthread_mutex_trylock(&shared->grows) != 0)
    help(s);
  atomic_store(&shared->growing, true);
  for (uint32_t i = 0; i < shared->lanes; i++)
    while (atomic_load(&shared->gate[i].inside))
      sched_yield();
  if (segment_is_filling_up(s, g)) { /* nobody has done it in the meantime */
    atomic_store(&shared->next, 0);
    atomic_store(&shared->open, true);
    grow_some(s);
    atomic_store(&shared->open, false);
    while (atomic_load(&shared->helping) > 0)
      sched_yield();
  }
  atomic_store(&shared->growing, false);
  pthread_mutex_unlock(&shared->grows);
  if (inside)
    store_enter(s, lane);
}
