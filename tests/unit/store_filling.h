/* Looking keys up; and several threads that put overlapping numbers into a shared store, each into its lane. */
#ifndef RONDO_TESTS_FILLING_H
#define RONDO_TESTS_FILLING_H

#include "search/visited_index.h"

#include <pthread.h>

/* Where a look left off that went on as long as lines were full. */
static inline uint64_t looked(const struct visited_set *s, uint64_t hash) {
  uint64_t probe_position = 0;
  do
    probe_position = visited_prefetch_record(s, hash, probe_position);
  while (probe_position & PROBE_CONTINUES);
  return probe_position;
}

#define FILLER_THREADS 4

struct store_filler {
  struct visited_set *store;
  uint32_t lane, keys; /* keys: a prime, so that each goes through all of them */
  uint32_t charges;    /* number i costs i modulo this */
  bool reads;          /* what it has put there is looked at */
  uint64_t fresh;
};

static void *store_fill_partition(void *context) {
  struct store_filler *f = context;
  for (uint64_t i = 0; i < f->keys; i++) {
    uint64_t key = (i * 7 + f->lane * 1000) % f->keys, word[2] = {key * 0x9E3779B97F4A7C15u, key};
    uint64_t h = key_hash_words(word, 12);
    fault_cost c = (fault_cost)(key % f->charges);
    state_ref ref;
    visited_enter(f->store, f->lane);
    uint64_t probe_position = i % 3 ? looked(f->store, h) : 0;
    f->fresh +=
        i % 2 ? visited_insert_in(f->store, f->lane, (const uint8_t *)word, 12, h, probe_position, key + 1, c, &ref)
              : visited_insert_words_in(f->store, f->lane, word, 12, h, probe_position, key + 1, c, &ref);
    if (f->reads)
      assert_int_equal(visited_get(f->store, ref).parent, key + 1);
    visited_leave(f->store, f->lane);
  }
  return NULL;
}

/* Every number is new to one of them. begin: where each lane's are. */
static void store_fill_by_threads(const struct store_filler *how, state_ref *begin) {
  struct store_filler fillers[FILLER_THREADS];
  pthread_t threads[FILLER_THREADS];
  uint64_t fresh = 0;
  visited_share(how->store, FILLER_THREADS);
  for (uint32_t i = 0; i < FILLER_THREADS; i++)
    begin[i] = visited_end_of(how->store, i);
  for (uint32_t i = 0; i < FILLER_THREADS; i++) {
    fillers[i] = *how;
    fillers[i].lane = i;
    assert_int_equal(pthread_create(&threads[i], NULL, store_fill_partition, &fillers[i]), 0);
  }
  for (uint32_t i = 0; i < FILLER_THREADS; i++) {
    pthread_join(threads[i], NULL);
    fresh += fillers[i].fresh;
  }
  assert_int_equal(fresh, how->keys);
  assert_int_equal(visited_count(how->store), how->keys);
}

#endif
