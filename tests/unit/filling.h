/* Looking keys up; and several threads that put overlapping numbers into a shared store, each into its lane. */
#ifndef RONDO_TESTS_FILLING_H
#define RONDO_TESTS_FILLING_H

#include "search/store_look.h"

#include <pthread.h>

/* Where a look left off that went on as long as lines were full. */
static inline uint64_t looked(const struct store *s, uint64_t hash) {
  uint64_t left_off = 0;
  do
    left_off = store_prefetch_record(s, hash, left_off);
  while (left_off & LOOKS_ON);
  return left_off;
}

#define FILLERS 4

struct filler {
  struct store *store;
  uint32_t lane, keys; /* keys: a prime, so that each goes through all of them */
  uint32_t charges;    /* number i costs i modulo this */
  bool reads;          /* what it has put there is looked at */
  uint64_t fresh;
};

static void *fill_lane(void *context) {
  struct filler *f = context;
  for (uint64_t i = 0; i < f->keys; i++) {
    uint64_t key = (i * 7 + f->lane * 1000) % f->keys, word[2] = {key * 0x9E3779B97F4A7C15u, key};
    uint64_t h = store_hash_words(word, 12);
    charge c = (charge)(key % f->charges);
    state_ref ref;
    store_enter(f->store, f->lane);
    uint64_t left_off = i % 3 ? looked(f->store, h) : 0;
    f->fresh += i % 2 ? store_put_in(f->store, f->lane, (const uint8_t *)word, 12, h, left_off, key + 1, c, &ref)
                      : store_put_words_in(f->store, f->lane, word, 12, h, left_off, key + 1, c, &ref);
    if (f->reads)
      assert_int_equal(store_at(f->store, ref).parent, key + 1);
    store_leave(f->store, f->lane);
  }
  return NULL;
}

/* Every number is new to one of them. begin: where each lane's are. */
static void fill_by_several(const struct filler *how, state_ref *begin) {
  struct filler fillers[FILLERS];
  pthread_t threads[FILLERS];
  uint64_t fresh = 0;
  store_share(how->store, FILLERS);
  for (uint32_t i = 0; i < FILLERS; i++)
    begin[i] = store_end_of(how->store, i);
  for (uint32_t i = 0; i < FILLERS; i++) {
    fillers[i] = *how;
    fillers[i].lane = i;
    assert_int_equal(pthread_create(&threads[i], NULL, fill_lane, &fillers[i]), 0);
  }
  for (uint32_t i = 0; i < FILLERS; i++) {
    pthread_join(threads[i], NULL);
    fresh += fillers[i].fresh;
  }
  assert_int_equal(fresh, how->keys);
  assert_int_equal(store_count(how->store), how->keys);
}

#endif
