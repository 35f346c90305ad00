/* The store with signatures instead of keys. */
#include "base/memory.h"
#include "search/hash_compaction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "short.h"
#include "store_filling.h"

#define LONGEST (CHUNK_SIZE + 100)

/* Number i as a key: of any length up to 100, now and then of more than a chunk. */
static uint32_t make_key(uint8_t *key, uint32_t i) {
  uint32_t length = i % 99991 == 50000 ? LONGEST : 4 + i * 7 % 97;
  memset(key, (int)(i % 251), length);
  memcpy(key, &i, 4);
  return length;
}

static uint64_t chance(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

struct known {
  state_ref ref, parent;
  fault_cost fault_cost;
};

static void read_layer(const struct visited_set *s, state_ref from, state_ref end, const struct known *known,
                       uint32_t first, uint32_t n, uint8_t *key) {
  struct visited_reader r = visited_reader(s, from, end);
  for (uint32_t i = first; i < first + n; i++) {
    uint32_t length = make_key(key, i);
    assert_true(visited_read(&r));
    assert_int_equal(r.ref, known[i].ref);
    assert_int_equal(r.stored.fault_cost, known[i].fault_cost);
    assert_int_equal(r.stored.length, length);
    assert_memory_equal(r.stored.bytes, key, length);
  }
  assert_false(visited_read(&r));
}

/* Layers of different sizes, whose states have parents near and far. */
static void layers_are_read_and_parents_found(void **unused) {
  (void)unused;
  static const uint32_t sizes[] = {1, 0, 3, 1000, 300000, 20, 300000, 1};
  uint8_t *key = malloc(LONGEST + 32);
  struct known *known = calloc(700000, sizeof *known);
  struct visited_set *s = visited_new_compact(SIGNATURE_TOTAL_BITS);
  uint64_t seed = 1;
  uint32_t n = 0;
  assert_int_equal(visited_signature_bits(s), SIGNATURE_TOTAL_BITS);
  for (size_t layer = 0; layer < sizeof sizes / sizeof *sizes; layer++) {
    state_ref from = visited_end(s), ref;
    uint32_t first = n;
    visited_next_layer(s);
    for (uint32_t near = n > 1000 ? n - 1000 : 0; n < first + sizes[layer]; n++) {
      struct known *k = &known[n];
      uint32_t length = make_key(key, n);
      uint64_t h = key_hash(key, length);
      near += near + 5 < first ? (uint32_t)chance(&seed) % 5 : 0;
      k->parent = n == 0               ? STATE_REF_NONE
                  : chance(&seed) % 50 ? known[near < n ? near : 0].ref
                                       : known[chance(&seed) % n].ref;
      k->fault_cost = chance(&seed) % 10 ? 0 : 1 + (fault_cost)chance(&seed) % 9;
      assert_int_equal(visited_find(s, key, length, h), STATE_REF_NONE);
      assert_true(visited_insert_in(s, 0, key, length, h, looked(s, h), k->parent, k->fault_cost, &k->ref));
      assert_false(visited_insert_in(s, 0, key, length, h, looked(s, h), 0, 0, &ref));
      assert_int_equal(ref, k->ref);
      assert_int_equal(visited_has_cost(s, ref), k->fault_cost != 0);
      if (chance(&seed) % 7 == 0 && k->fault_cost > 3) {
        k->fault_cost -= 3;
        k->parent = known[n / 2].ref;
        visited_improve_parent(s, ref, k->parent, k->fault_cost);
        visited_improve_parent(s, ref, 0, k->fault_cost); /* no cheaper */
      }
    }
    for (int twice = 0; twice < 2; twice++)
      read_layer(s, visited_from(s, from), visited_end(s), known, first, sizes[layer], key);
    visited_next_layer(s);
    read_layer(s, visited_from(s, from), visited_end(s), known, first, sizes[layer], key);
  }
  assert_int_equal(visited_count(s), n);
  for (uint32_t i = 0; i < n; i += 1 + i % 997) {
    uint32_t length = make_key(key, i);
    assert_int_equal(visited_find(s, key, length, key_hash(key, length)), known[i].ref);
    assert_int_equal(visited_cost(s, known[i].ref), known[i].fault_cost);
    assert_int_equal(visited_get(s, known[i].ref).parent, known[i].parent);
  }
  visited_free(s);
  free(known);
  free(key);
}

/* Whatever the keys are, a state takes few bytes once its layer is done. */
static void states_are_small(void **unused) {
  (void)unused;
  enum { STATES = 1000000 };
  struct visited_set *s = visited_new_compact(SIGNATURE_TOTAL_BITS);
  uint8_t key[64] = {0};
  state_ref parent = STATE_REF_NONE, ref;
  for (uint32_t i = 0; i < STATES; i++) {
    memcpy(key, &i, 4);
    assert_true(visited_insert_in(s, 0, key, sizeof key, key_hash(key, sizeof key), 0, parent, 0, &ref));
    parent = i % 3 ? parent : ref;
    if (i % 1000 == 0)
      visited_next_layer(s);
  }
  size_t index = s->index_bytes, records = visited_bytes(s) - index;
  assert_true(records < STATES * (size_t)8 + 4 * CHUNK_SIZE);
  visited_free(s);
}

/* With few bits there are as many states as signatures, at most. */
static void few_bits_are_soon_used_up(void **unused) {
  (void)unused;
  for (uint32_t bits = 1; bits <= 16; bits += 3) {
    struct visited_set *s = visited_new_compact(bits);
    uint32_t fresh = 0, all = 20u << bits;
    state_ref ref, again;
    for (uint32_t i = 0; i < all; i++) {
      uint8_t key[16] = {0};
      memcpy(key, &i, 4);
      uint64_t h = key_hash(key, 9);
      fresh += visited_insert_in(s, 0, key, 9, h, looked(s, h), STATE_REF_NONE, 0, &ref);
      assert_false(visited_insert_in(s, 0, key, 9, h, 0, STATE_REF_NONE, 0, &again));
      assert_true(ref == again && visited_find(s, key, 9, h) == ref);
    }
    assert_int_equal(visited_count(s), fresh);
    assert_true(fresh <= 1u << bits && fresh > 1u << (bits - 1));
    visited_free(s);
  }
}

/* Pairs of the same signature come as often as they should. */
static void signatures_look_random(void **unused) {
  (void)unused;
  enum { STATES = 100000, BITS = 30 }; /* 4.66 pairs are to be expected of each kind of keys */
  uint64_t missed = 0;
  for (uint64_t kind = 1; kind <= 40; kind++) {
    struct visited_set *s = visited_new_compact(BITS);
    for (uint64_t i = 0; i < STATES; i++) {
      uint64_t key[4] = {i * kind, i << kind, 0, i % 5};
      uint32_t length = 8 + (uint32_t)kind % 24;
      state_ref ref;
      missed +=
          !visited_insert_in(s, 0, (const uint8_t *)key, length, key_hash((const uint8_t *)key, length), 0, 0, 0, &ref);
    }
    visited_free(s);
  }
  assert_in_range(missed, 130, 250); /* 186 */
}

static uint32_t shared_keys(void) { return is_short() ? 50021 : 500009; } /* primes */

static void several_threads_fill_it(void **unused) {
  (void)unused;
  struct visited_set *s = visited_new_compact(SIGNATURE_TOTAL_BITS);
  state_ref begin[FILLER_THREADS];
  const uint32_t keys = shared_keys();
  uint64_t read = 0;
  store_fill_by_threads(&(struct store_filler){.store = s, .keys = keys, .charges = 3}, begin);
  bool *seen = calloc(keys, sizeof *seen);
  for (uint32_t i = 0; i < FILLER_THREADS; i++) {
    struct visited_reader r = visited_reader(s, begin[i], visited_end_of(s, i));
    for (; visited_read(&r); read++) {
      uint64_t word[2] = {0};
      memcpy(word, r.stored.bytes, 12);
      uint32_t key = (uint32_t)word[1];
      assert_int_equal(r.stored.length, 12);
      assert_true(key < keys && word[0] == key * 0x9E3779B97F4A7C15u && !seen[key]);
      assert_int_equal(r.stored.fault_cost, key % 3);
      assert_int_equal(visited_find(s, r.stored.bytes, 12, key_hash(r.stored.bytes, 12)), r.ref);
      if (read % 1009 == 0)
        assert_int_equal(visited_get(s, r.ref).parent, key + 1);
      seen[key] = true;
    }
  }
  assert_int_equal(read, keys);
  free(seen);
  visited_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_are_read_and_parents_found), cmocka_unit_test(states_are_small),
      cmocka_unit_test(few_bits_are_soon_used_up),         cmocka_unit_test(signatures_look_random),
      cmocka_unit_test(several_threads_fill_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
