/* The store and the breadth-first search, over small explicit graphs that play the part of a space.
 */
#include "base/memory.h"
#include "search/bfs.h"
#include "search/visited_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "short.h"
#include "store_filling.h"

/* The store */

static uint32_t make_key(uint8_t *key, uint32_t i, uint32_t pad) {
  uint32_t length = 4 + pad;
  memset(key, (int)(i % 251), length);
  memcpy(key, &i, 4);
  return length;
}

static void fill(struct visited_set *s, uint32_t n, uint32_t pad, uint8_t *key) {
  state_ref parent = STATE_REF_NONE;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t length = make_key(key, i, pad * (i % 7));
    state_ref ref, again;
    uint64_t h = key_hash(key, length);
    assert_true(visited_insert(s, key, length, h, 0, parent, i, &ref));
    assert_false(visited_insert(s, key, length, h, looked(s, h), 0, 0, &again));
    assert_int_equal(ref, again);
    assert_true(parent == STATE_REF_NONE || ref > parent);
    parent = ref;
  }
}

/* Reading on gives what going from one to the next gives, from any state to any other. */
static void read_through(const struct visited_set *s, state_ref from, state_ref end) {
  struct visited_reader reader = visited_reader(s, from, end);
  for (state_ref r = from; r < end; r = visited_next(s, r)) {
    struct stored at = visited_get(s, r);
    assert_true(visited_read(&reader));
    assert_int_equal(reader.ref, r);
    assert_true(reader.stored.bytes == at.bytes && reader.stored.length == at.length);
    assert_true(reader.stored.parent == at.parent && reader.stored.fault_cost == at.fault_cost);
  }
  assert_false(visited_read(&reader));
}

static void go_through(const struct visited_set *s, uint32_t n, uint32_t pad, uint8_t *key) {
  state_ref before = STATE_REF_NONE;
  uint32_t i = 0;
  for (state_ref r = visited_first(); r < visited_end(s); r = visited_next(s, r), i++) {
    struct stored at = visited_get(s, r);
    uint32_t length = make_key(key, i, pad * (i % 7));
    assert_int_equal(at.length, length);
    assert_memory_equal(at.bytes, key, length);
    assert_int_equal(at.parent, before);
    assert_int_equal(at.fault_cost, i);
    assert_int_equal(visited_find(s, key, length, key_hash(key, length)), r);
    before = r;
  }
  assert_int_equal(i, n);
  assert_int_equal(visited_count(s), n);
  read_through(s, visited_first(), visited_end(s));
  if (n > 10)
    read_through(s, visited_next(s, visited_first()), before);
}

/* Keys as words and as bytes are the same keys. */
static void store_takes_words(void **unused) {
  (void)unused;
  struct visited_set *s = visited_new();
  for (uint32_t length = 1; length <= KEY_SHORT_BYTES; length++)
    for (uint32_t i = 0; i < 3000; i++) {
      struct short_key key = {{0}};
      for (uint32_t b = 0; b < length; b++)
        ((uint8_t *)key.word)[b] = (uint8_t)((i >> 8 * (b % 2)) ^ (b * 7));
      const uint8_t *bytes = (const uint8_t *)key.word;
      uint64_t h = key_hash_words(key.word, length);
      assert_int_equal(h, key_hash(bytes, length));
      state_ref known = visited_find(s, bytes, length, h), ref, again;
      fault_cost c = i % 3 ? 0 : i;
      bool fresh = i % 2 ? visited_insert(s, bytes, length, h, 0, i, c, &ref)
                         : visited_insert_words(s, key.word, length, h, 0, i, c, &ref);
      assert_int_equal(fresh, known == STATE_REF_NONE);
      assert_true(fresh || ref == known);
      assert_false(visited_insert_words(s, key.word, length, h, looked(s, h), 0, 0, &again));
      assert_int_equal(again, ref);
      assert_memory_equal(visited_get(s, ref).bytes, bytes, length);
      assert_int_equal(visited_get(s, ref).length, length);
      if (fresh)
        assert_true(visited_cost(s, ref) == c && visited_get(s, ref).parent == i);
    }
  read_through(s, visited_first(), visited_end(s));
  visited_free(s);
}

/* Of stores: how many keys, and how much longer they are than they need to be. */
static const struct {
  uint32_t n, pad;
} shapes[] = {{0, 0}, {1, 0}, {300000, 0}, {200000, 9}, {3000, 5000}, {20, 1000000}};

static void store_keeps_every_key_once(void **unused) {
  (void)unused;
  uint8_t *key = memory_alloc(8000000);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    struct visited_set *s = visited_new();
    fill(s, shapes[i].n, shapes[i].pad, key);
    go_through(s, shapes[i].n, shapes[i].pad, key);
    visited_free(s);
  }
  memory_free(key);
}

/* Lines that are nearly all full: a look goes on and on, also beyond the last line. */
static void store_looks_on(void **unused) {
  (void)unused;
  struct visited_set *s = visited_new();
  uint32_t far = 0, farthest = 0, around = 0;
  visited_raise_load(s);
  for (uint64_t i = 0; i < 400000; i++) {
    uint64_t word[2] = {i, i * i};
    uint64_t h = key_hash_words(word, 14);
    uint64_t probe_position = looked(s, h), at = probe_position & PROBE_SLOT_MASK,
             home = home_slot(index_segment_of(s, h)->buckets, tag_of(h));
    state_ref ref, again;
    far += at < home || at >= home + BUCKET_SLOTS;
    farthest += at >= home + 15 * BUCKET_SLOTS;
    around += at < home;
    assert_true(visited_insert_words(s, word, 14, h, probe_position, STATE_REF_NONE, 0, &ref));
    assert_false(visited_insert_words(s, word, 14, h, probe_position, STATE_REF_NONE, 0,
                                      &again)); /* where it left off, it is not; but behind that */
    assert_int_equal(again, ref);
    assert_false(visited_insert(s, (const uint8_t *)word, 14, h, looked(s, h), STATE_REF_NONE, 0, &again));
    assert_int_equal(again, ref);
    assert_int_equal(visited_find(s, (const uint8_t *)word, 14, h), ref);
  }
  assert_true(far > 10000 && farthest > 100 && around > 100);
  visited_free(s);
}

/* What was written down and read again is the same store: references, parents, charges, look-ups; and it can be filled
 * further. */
static void store_is_written_down(void **unused) {
  (void)unused;
  uint8_t *key = memory_alloc(8000000);
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    struct visited_set *s = visited_new();
    fill(s, shapes[i].n, shapes[i].pad, key);
    struct saver saved = saver_in_memory();
    visited_save(s, &saved);
    struct loader from = loader_of(&saved);
    struct visited_set *again = visited_load(&from);
    assert_true(again && !from.bad && from.at == from.end);
    go_through(again, shapes[i].n, shapes[i].pad, key);
    assert_int_equal(visited_end(s), visited_end(again));
    uint32_t length = make_key(key, 4000000, 0);
    state_ref one, other;
    assert_true(visited_insert(s, key, length, key_hash(key, length), 0, STATE_REF_NONE, 0, &one));
    assert_true(visited_insert(again, key, length, key_hash(key, length), 0, STATE_REF_NONE, 0, &other));
    assert_int_equal(one, other);
    visited_free(again);
    struct loader part = {from.end - saved.bytes.n, from.end - 1, false};
    assert_null(visited_load(&part));
    assert_true(part.bad);
    saver_release(&saved);
    visited_free(s);
  }
  memory_free(key);
}

/* Terse stores tell parents from each other: near, far, before those of other states, none; keys of most states are as
   long as the first, and few have a fault_cost, which can become less. */
struct delta_state {
  state_ref ref, parent;
  fault_cost fault_cost;
  uint32_t length;
};

static uint64_t drawn(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  return *seed ^= *seed << 17;
}

static void put_tersely(struct visited_set *s, struct delta_state *all, uint32_t from, uint32_t to, uint32_t usual,
                        uint8_t *key) {
  uint64_t seed = 88172645463325252u + from;
  uint32_t near = 0;
  for (uint32_t i = from; i < to; i++) {
    struct delta_state *t = &all[i];
    near += drawn(&seed) % 8 ? 0 : (uint32_t)(drawn(&seed) % 40);
    near = near < i ? near : 0;
    t->parent = i < 3 || drawn(&seed) % 1000 == 0 ? STATE_REF_NONE
                : drawn(&seed) % 50               ? all[near].ref
                                                  : all[drawn(&seed) % i].ref;
    t->fault_cost = drawn(&seed) % 20 ? 0 : 1 + (fault_cost)(drawn(&seed) % 9);
    t->length = make_key(
        key, i,
        i == 0 || drawn(&seed) % 30 ? usual : (uint32_t)(drawn(&seed) % 60) + (drawn(&seed) % 2000 ? 0 : 5000000));
    memset(key + t->length, 0xA5, 32); /* not the key's */
    uint64_t h = key_hash(key, t->length);
    struct short_key words = {{0}};
    bool as_words = t->length <= KEY_SHORT_BYTES && i % 2;
    if (as_words)
      key_words(key, t->length, &words);
    state_ref again;
    assert_true(as_words
                    ? visited_insert_words(s, words.word, t->length, h, looked(s, h), t->parent, t->fault_cost, &t->ref)
                    : visited_insert(s, key, t->length, h, looked(s, h), t->parent, t->fault_cost, &t->ref));
    assert_false(visited_insert(s, key, t->length, h, looked(s, h), 0, 0, &again));
    assert_int_equal(again, t->ref);
    assert_int_equal(visited_has_cost(s, t->ref), t->fault_cost != 0);
    if (t->fault_cost > 4) {
      t->fault_cost -= 2;
      t->parent = all[i / 3].ref;
      visited_improve_parent(s, t->ref, t->parent, t->fault_cost);
      visited_improve_parent(s, t->ref, STATE_REF_NONE, t->fault_cost); /* no cheaper */
    }
  }
}

static void has_all(const struct visited_set *s, const struct delta_state *all, uint32_t n, uint8_t *key) {
  struct visited_reader r = visited_reader(s, visited_first(), visited_end(s));
  assert_int_equal(visited_count(s), n);
  for (uint32_t i = 0; i < n; i++) {
    const struct delta_state *t = &all[i];
    make_key(key, i, t->length - 4);
    assert_true(visited_read(&r));
    assert_int_equal(r.ref, t->ref);
    assert_int_equal(r.stored.length, t->length);
    assert_int_equal(r.stored.fault_cost, t->fault_cost);
    assert_memory_equal(r.stored.bytes, key, t->length);
    assert_int_equal(visited_find(s, key, t->length, key_hash(key, t->length)), t->ref);
    if (i % 97 == 0 || t->fault_cost || i + 100 > n) {
      assert_int_equal(visited_get(s, t->ref).parent, t->parent);
      assert_true(visited_get_key(s, t->ref).bytes == r.stored.bytes);
    }
  }
  assert_false(visited_read(&r));
}

static void store_tells_parents_from_each_other(void **unused) {
  (void)unused;
  static const uint32_t usual[] = {0, 1, 8, 14, 28, 70, 3000};
  enum { HALF = 60000 };
  uint8_t *key = memory_alloc(6000000);
  struct delta_state *all = memory_alloc(2 * HALF * sizeof *all);
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
    struct visited_set *s = visited_new_delta();
    uint32_t half = usual[i] > 1000 ? 3000 : HALF;
    put_tersely(s, all, 0, half, usual[i], key);
    has_all(s, all, half, key);
    struct saver saved = saver_in_memory();
    visited_save(s, &saved);
    struct loader from = loader_of(&saved);
    struct visited_set *again = visited_load(&from);
    assert_true(again && !from.bad && from.at == from.end);
    visited_free(s);
    has_all(again, all, half, key);
    put_tersely(again, all, half, 2 * half, usual[i], key);
    has_all(again, all, 2 * half, key);
    visited_free(again);
    saver_release(&saved);
  }
  memory_free(all);
  memory_free(key);
}

/* Other keys for all states: longer ones, or shorter ones, from which the old ones can be told. */
struct other_keys {
  int32_t longer;
  uint8_t *key;
};

static const uint8_t *other_key(void *context, const uint8_t *bytes, uint32_t *length) {
  struct other_keys *o = context;
  uint32_t i;
  memcpy(&i, bytes, 4);
  *length = (uint32_t)((int32_t)*length + o->longer);
  memset(o->key, (int)(i % 251), *length);
  i *= 2654435761u;
  memcpy(o->key, &i, 4);
  return o->key;
}

struct partition_state {
  state_ref ref;
  uint32_t parent; /* its number; UINT32_MAX: none */
  uint32_t length;
  fault_cost fault_cost;
};

static void put_into_lanes(struct visited_set *s, uint32_t lanes, struct partition_state *all, uint32_t n,
                           uint8_t *key) {
  uint64_t seed = 271828 + lanes;
  if (lanes > 1)
    visited_share(s, lanes);
  for (uint32_t i = 0, near = 0; i < n; i++) {
    struct partition_state *t = &all[i];
    near = near + 1 < i && drawn(&seed) % 3 == 0 ? near + 1 : near;
    t->parent = near;
    if (i < 3 || drawn(&seed) % 1000 == 0)
      t->parent = UINT32_MAX;
    else if (drawn(&seed) % 50 == 0)
      t->parent =
          drawn(&seed) % 2 ? (uint32_t)(drawn(&seed) % i) : i - 1 - (uint32_t)(drawn(&seed) % (i < 40 ? i : 40));
    t->fault_cost = drawn(&seed) % 20 ? 0 : 1 + (fault_cost)(drawn(&seed) % 9);
    t->length = make_key(key, i, drawn(&seed) % 30 ? 9 : (uint32_t)(drawn(&seed) % 60) + 4);
    uint32_t lane = (uint32_t)(drawn(&seed) % lanes);
    if (lanes > 1)
      visited_enter(s, lane);
    assert_true(visited_insert_in(s, lane, key, t->length, key_hash(key, t->length), 0,
                                  t->parent == UINT32_MAX ? STATE_REF_NONE : all[t->parent].ref, t->fault_cost,
                                  &t->ref));
    if (lanes > 1)
      visited_leave(s, lane);
  }
}

static void states_get_other_keys(void **unused) {
  (void)unused;
  enum { STATES = 200000 };
  static const int32_t longer[] = {0, 1, -4, 20};
  uint8_t *key = memory_alloc(1000), *other = memory_alloc(1000);
  struct partition_state *all = memory_alloc(STATES * sizeof *all);
  for (uint32_t turn = 0; turn < 12; turn++) {
    uint32_t lanes = 1 + turn % 3;
    struct other_keys how = {longer[turn / 3], other};
    struct visited_set *s = visited_new_delta();
    put_into_lanes(s, lanes, all, STATES, key);
    struct visited_set *now = visited_rekey(s, other_key, &how);
    assert_int_equal(visited_count(now), STATES);
    assert_int_equal(visited_partitions(now), lanes);
    state_ref last[3] = {0};
    for (uint32_t i = 0; i < STATES; i++) {
      struct partition_state *t = &all[i];
      uint32_t length = make_key(key, i, t->length - 4), lane = visited_partition_of(s, t->ref);
      const uint8_t *bytes = other_key(&how, key, &length);
      state_ref ref = visited_lookup(now, bytes, length);
      assert_true(ref != STATE_REF_NONE && visited_partition_of(now, ref) == lane && ref > last[lane]);
      assert_int_equal(visited_cost(now, ref), t->fault_cost);
      if (i % 37 == 0 || t->fault_cost) {
        state_ref parent = visited_get(now, ref).parent;
        assert_int_equal(parent, t->parent == UINT32_MAX ? STATE_REF_NONE : all[t->parent].ref);
      }
      t->ref = last[lane] = ref;
    }
    for (uint32_t i = 0; i < 1000; i++) { /* it goes on */
      uint32_t length = make_key(key, STATES + i, 20);
      state_ref ref;
      assert_true(visited_insert_in(now, 0, key, length, key_hash(key, length), 0, all[i].ref, 0, &ref));
      assert_int_equal(visited_get(now, ref).parent, all[i].ref);
    }
    visited_free(s);
    visited_free(now);
  }
  memory_free(all);
  memory_free(other);
  memory_free(key);
}

/* All slots of a line at once, against one after the other. */
static void lines_are_looked_at_as_a_whole(void **unused) {
  (void)unused;
  static const uint64_t positions[] = {0, 1, UINT64_C(1) << 32, UINT64_C(1) << 31, POSITION_MASK};
  uint64_t seed = 4711, line[BUCKET_SLOTS];
  for (uint32_t turn = 0; turn < 200000; turn++) {
    uint64_t few = 1 + drawn(&seed) % 12, scale = drawn(&seed) % 2 ? 1 : ((UINT64_C(1) << TAG_BITS) - 1) / few;
    uint32_t full = (uint32_t)(drawn(&seed) % (BUCKET_SLOTS + 1)), expected = 0;
    for (uint32_t i = 0; i < BUCKET_SLOTS; i++)
      line[i] = i < full ? drawn(&seed) % few * scale << POSITION_BITS | positions[drawn(&seed) % 5] : 0;
    uint64_t tag = drawn(&seed) % few * scale;
    while (expected < BUCKET_SLOTS && line[expected] != 0 && line[expected] >> POSITION_BITS != tag)
      expected++;
    assert_int_equal(bucket_probe(line, tag), expected);
  }
}

/* A difference and the key, and the index is never half empty; all are found again however often it grew. */
static void terse_stores_are_small(void **unused) {
  (void)unused;
  const uint64_t states = trials(3000000);
  struct visited_set *s = visited_new_delta();
  state_ref parent = STATE_REF_NONE, ref;
  for (uint64_t i = 0; i < states; i++) {
    uint64_t word[2] = {i * 0x9E3779B97F4A7C15u, i};
    assert_true(visited_insert_words(s, word, 12, key_hash_words(word, 12), 0, parent, 0, &ref));
    parent = i % 3 ? parent : i == 0 ? ref : visited_next(s, parent);
    if (i > states / 2 && i % 1000 == 0)
      assert_true(visited_bytes(s) < i * (13 + 15) + 20 * CHUNK_SIZE);
  }
  for (uint64_t i = 0; i < states; i++) {
    uint64_t word[2] = {i * 0x9E3779B97F4A7C15u, i};
    assert_true(visited_find(s, (const uint8_t *)word, 12, key_hash_words(word, 12)) != STATE_REF_NONE);
  }
  visited_free(s);
}

static void store_accounts_for_its_memory(void **unused) {
  (void)unused;
  struct visited_set *s = visited_new();
  uint8_t key[64];
  size_t before = visited_bytes(s);
  assert_true(before < 100000);
  fill(s, 1000000, 0, key);
  size_t each = (visited_bytes(s) - before) / 1000000;
  assert_true(each >= 14 + 10 && each <= 14 + 22); /* record, then 8 bytes of index at a load of 0.4 to 0.8 */
  visited_free(s);
}

static uint32_t shared_keys(void) { return is_short() ? 200003 : 2000003; } /* primes */

static void is_filled_by_several(struct visited_set *s) {
  state_ref begin[FILLER_THREADS];
  const uint32_t keys = shared_keys();
  uint64_t read = 0;
  store_fill_by_threads(&(struct store_filler){.store = s, .keys = keys, .charges = 1, .reads = !s->delta}, begin);
  bool *seen = calloc(keys, sizeof *seen);
  for (uint32_t i = 0; i < FILLER_THREADS; i++) {
    struct visited_reader r = visited_reader(s, begin[i], visited_end_of(s, i));
    for (; visited_read(&r); read++) {
      uint32_t key;
      memcpy(&key, r.stored.bytes + 8, sizeof key);
      assert_true(key < keys && !seen[key]);
      assert_int_equal(visited_partition_of(s, r.ref), i);
      if (read % 10007 == 0)
        assert_int_equal(visited_get(s, r.ref).parent, key + 1);
      seen[key] = true;
    }
  }
  assert_int_equal(read, keys);
  free(seen);
  struct saver saved = saver_in_memory();
  visited_save(s, &saved);
  struct loader from = loader_of(&saved);
  struct visited_set *again = visited_load(&from);
  assert_true(again && !from.bad);
  assert_int_equal(visited_count(again), visited_count(s));
  assert_int_equal(visited_partitions(again), visited_partitions(s));
  for (uint64_t key = 0; key < keys; key++) {
    uint64_t word[2] = {key * 0x9E3779B97F4A7C15u, key}, h = key_hash_words(word, 12);
    assert_int_equal(visited_find(again, (const uint8_t *)word, 12, h), visited_find(s, (const uint8_t *)word, 12, h));
  }
  visited_free(again);
  saver_release(&saved);
  visited_free(s);
}

static void store_is_filled_by_several(void **unused) {
  (void)unused;
  is_filled_by_several(visited_new());
  is_filled_by_several(visited_new_delta()); /* in which nothing is usual, for it is empty when it is shared */
  struct visited_set *s = visited_new_delta();
  s->common_length = 12;
  is_filled_by_several(s);
}

static void store_relinks(void **unused) {
  (void)unused;
  struct visited_set *s = visited_new();
  uint8_t key[64];
  fill(s, 10, 3, key);
  state_ref r = visited_next(s, visited_next(s, visited_first()));
  visited_set_parent(s, r, visited_first(), fault_cost_add(0, 2, 5));
  assert_int_equal(visited_get(s, r).parent, visited_first());
  assert_int_equal(fault_cost_processes(visited_cost(s, r)), 2);
  assert_int_equal(fault_cost_messages(visited_cost(s, r)), 5);
  visited_free(s);
}

static void charges_compare_processes_first_and_saturate(void **unused) {
  (void)unused;
  assert_true(fault_cost_add(0, 1, 0) > fault_cost_add(0, 0, 60000));
  assert_int_equal(fault_cost_messages(fault_cost_add(fault_cost_add(0, 0, 60000), 0, 60000)), 65535);
  assert_int_equal(fault_cost_processes(fault_cost_add(fault_cost_add(0, 0, 60000), 0, 60000)), 0);
  assert_int_equal(fault_cost_processes(fault_cost_add(fault_cost_add(0, 1, 0), UINT32_MAX, 0)), 65535);
}

/* A graph as a space. Node 0 is the only initial state. */

struct arc {
  uint32_t from, to, processes, faults;
  uint64_t broken;
  bool error;
};

struct graph {
  struct system space;
  struct model model;
  struct query query;
  const struct arc *arcs;
  size_t narcs;
  uint32_t holds[8]; /* by property: the node at which it is false (safety) or true (cover) */
  uint32_t error_at; /* evaluating a property there is an error */
  uint32_t grid;     /* > 0: nodes (x, y) of a square, instead of arcs */
  uint64_t stored;
  sig_atomic_t *interrupt_after;
  uint32_t countdown;
  bool gives_up;          /* when it is interrupted: it tells no more steps */
  uint32_t restart_after; /* so many states are expanded, once; 0: never */
};

static const struct model_error some_error = {"division by zero", {3, 4}, 0};

static uint32_t node_of(const struct state *s) {
  uint32_t v;
  memcpy(&v, s->bytes, 4);
  return v;
}

static bool put_node(uint32_t v, const struct edge *e, emit_fn *emit, void *context) {
  uint8_t key[16] = {0};
  memcpy(key, &v, 4);
  return emit(context, &(struct state){key, 4 + v % 3}, e);
}

static bool graph_initial(struct system *s, emit_fn *emit, void *context) {
  (void)s;
  return put_node(0, &(struct edge){0}, emit, context);
}

static bool grid_successors(const struct graph *g, uint32_t v, emit_fn *emit, void *context) {
  uint32_t x = v % g->grid, y = v / g->grid;
  return (x + 1 == g->grid || put_node(v + 1, &(struct edge){.faults = 1}, emit, context)) &&
         (y + 1 == g->grid || put_node(v + g->grid, &(struct edge){0}, emit, context));
}

static bool graph_successors(struct system *s, const struct state *from, emit_fn *emit, void *context) {
  struct graph *g = (struct graph *)s;
  uint32_t v = node_of(from);
  if (g->interrupt_after && g->countdown-- == 0)
    *g->interrupt_after = 1;
  if (g->gives_up && *g->interrupt_after)
    return true;
  if (g->restart_after && --g->restart_after == 0) {
    s->restart = true;
    g->stored = 0;
    return false;
  }
  if (g->grid)
    return grid_successors(g, v, emit, context);
  for (size_t i = 0; i < g->narcs; i++) {
    const struct arc *a = &g->arcs[i];
    struct edge e = {
        .faults = a->faults, .processes = a->processes, .broken = a->broken, .error = a->error ? &some_error : NULL};
    if (a->from == v && !put_node(a->to, &e, emit, context))
      return false;
  }
  return true;
}

static enum verdict3 graph_holds(struct system *s, uint32_t i, const struct state *at, struct model_error *error) {
  struct graph *g = (struct graph *)s;
  if (g->error_at && node_of(at) == g->error_at) {
    *error = some_error;
    return V_ERROR;
  }
  bool there = node_of(at) == g->holds[i];
  return there == (g->model.properties[i].kind == PROPERTY_COVER) ? V_TRUE : V_FALSE;
}

static void graph_stored(struct system *s, const struct state *at) {
  (void)at;
  ((struct graph *)s)->stored++;
}

static size_t graph_memory(const struct system *s) {
  (void)s;
  return 1000;
}

static const struct system_ops graph_ops = {.initial = graph_initial,
                                            .successors = graph_successors,
                                            .holds = graph_holds,
                                            .statistics.stored = graph_stored,
                                            .memory = graph_memory};

static const uint32_t identity[8] = {0, 1, 2, 3, 4, 5, 6, 7};

static void graph_init(struct graph *g, struct property *properties, uint32_t n, const struct arc *arcs, size_t narcs) {
  *g = (struct graph){.arcs = arcs, .narcs = narcs};
  g->model = (struct model){.properties = properties, .nproperties = n};
  g->query = (struct query){.properties = identity, .nproperties = n};
  g->space = (struct system){.ops = &graph_ops, .model = &g->model, .query = &g->query, .edges_complete = true};
}

static struct property safety = {.name = "safe", .kind = PROPERTY_SAFETY};

static uint32_t signature; /* bits, of all searches; 0: whole keys */

static struct search searched(struct graph *g, struct limits limits) {
  struct search s;
  limits.signature = signature;
  search_init(&s, &g->space, &limits);
  search_run(&s);
  assert_int_equal(g->stored, s.stats.states);
  return s;
}

static void expect_path(const struct search *s, const struct finding *f, const uint32_t *nodes, uint32_t n,
                        enum goal_kind kind) {
  uint32_t length;
  struct path_goal goal;
  struct state *path = search_path(s, f, &length, &goal);
  assert_int_equal(length, n);
  for (uint32_t i = 0; i < n; i++)
    assert_int_equal(node_of(&path[i]), nodes[i]);
  assert_int_equal(goal.kind, kind);
  memory_free(path);
}
#define EXPECT_PATH(s, f, kind, ...)                                                                                   \
  expect_path(s, f, (uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4, kind)

static void whole_space_when_it_holds(void **unused) {
  (void)unused;
  struct graph g;
  graph_init(&g, &safety, 1, NULL, 0);
  g.grid = 300;
  g.holds[0] = UINT32_MAX;
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.end, SEARCH_EXHAUSTED);
  assert_int_equal(s.stats.states, 300 * 300);
  assert_int_equal(s.stats.transitions, 2 * 300 * 299);
  assert_int_equal(s.stats.depth, 598);
  assert_false(s.findings[0].found);
  search_release(&s);
}

static void shortest_then_cheapest(void **unused) {
  (void)unused;
  /* two rounds to 9 by four ways; the cheapest comes neither first nor last, and a longer free way
   * does not count */
  static const struct arc arcs[] = {{0, 1, 0, 9, 0, 0}, {0, 2, 1, 0, 0, 0}, {0, 3, 0, 2, 0, 0}, {0, 4, 0, 3, 0, 0},
                                    {1, 9, 0, 0, 0, 0}, {2, 9, 0, 0, 0, 0}, {3, 9, 0, 2, 0, 0}, {4, 9, 0, 2, 0, 0},
                                    {0, 5, 0, 0, 0, 0}, {5, 6, 0, 0, 0, 0}, {6, 9, 0, 0, 0, 0}};
  struct graph g;
  graph_init(&g, &safety, 1, arcs, sizeof arcs / sizeof *arcs);
  g.holds[0] = 9;
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.end, SEARCH_DECIDED);
  assert_int_equal(s.findings[0].rounds, 2);
  assert_int_equal(s.findings[0].fault_cost, fault_cost_add(0, 0, 4));
  EXPECT_PATH(&s, &s.findings[0], GOAL_STATE, 0, 3, 9);
  search_release(&s);
}

static void violated_at_once(void **unused) {
  (void)unused;
  struct graph g;
  graph_init(&g, &safety, 1, NULL, 0);
  g.grid = 5;
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.stats.states, 1);
  assert_int_equal(s.findings[0].rounds, 0);
  EXPECT_PATH(&s, &s.findings[0], GOAL_STATE, 0);
  search_release(&s);
}

static void a_violation_does_not_stop_the_others(void **unused) {
  (void)unused;
  struct property properties[] = {
      {.kind = PROPERTY_SAFETY}, {.kind = PROPERTY_COVER}, {.kind = PROPERTY_LIVE}, {.kind = PROPERTY_SAFETY}};
  struct graph g;
  graph_init(&g, properties, 4, NULL, 0);
  g.grid = 10;
  g.holds[0] = 11;
  g.holds[1] = 99;
  g.holds[3] = UINT32_MAX;
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.end, SEARCH_EXHAUSTED);
  assert_int_equal(s.stats.states, 100);
  assert_int_equal(s.findings[0].rounds, 2);
  assert_int_equal(s.findings[1].rounds, 18);
  assert_false(s.findings[2].found);
  assert_false(s.findings[3].found);
  search_release(&s);

  g.stored = 0;
  g.holds[3] = 5;
  g.holds[1] = 24;
  s = searched(&g, (struct limits){0});
  assert_int_equal(s.end, SEARCH_DECIDED);
  assert_int_equal(s.complete, 7);
  search_release(&s);
}

static void steps_are_broken_even_on_the_way_back(void **unused) {
  (void)unused;
  static const struct arc arcs[] = {{0, 1, 0, 0, 0, 0}, {1, 2, 0, 5, 1, 0}, {1, 0, 0, 3, 1, 0}, {2, 3, 0, 0, 1, 0}};
  struct property step = {.kind = PROPERTY_SAFETY, .step = true};
  struct graph g;
  graph_init(&g, &step, 1, arcs, 4);
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.findings[0].rounds, 2);
  assert_int_equal(s.findings[0].fault_cost, 3);
  EXPECT_PATH(&s, &s.findings[0], GOAL_BROKEN_STEP, 0, 1, 0);
  search_release(&s);
}

static void an_error_ends_the_search_after_its_layer(void **unused) {
  (void)unused;
  static const struct arc arcs[] = {{0, 1, 0, 0, 0, 0}, {0, 2, 0, 1, 0, 0}, {1, 3, 0, 5, 0, 1},
                                    {2, 3, 0, 1, 0, 1}, {2, 4, 0, 0, 0, 0}, {4, 5, 0, 0, 0, 0}};
  struct graph g;
  graph_init(&g, &safety, 1, arcs, 6);
  g.holds[0] = UINT32_MAX;
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.end, SEARCH_MODEL_ERROR);
  assert_int_equal(s.stats.states, 4);
  assert_true(s.error.found);
  assert_int_equal(s.error.rounds, 2);
  assert_string_equal(s.error.error.message, "division by zero");
  EXPECT_PATH(&s, &s.error, GOAL_ERROR, 0, 2);
  search_release(&s);
}

static void an_error_in_a_property_is_an_error(void **unused) {
  (void)unused;
  static const struct arc arcs[] = {{0, 1, 0, 0, 0, 0}, {1, 2, 0, 0, 0, 0}, {2, 3, 0, 0, 0, 0}};
  struct graph g;
  graph_init(&g, &safety, 1, arcs, 3);
  g.holds[0] = UINT32_MAX;
  g.error_at = 2;
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.end, SEARCH_MODEL_ERROR);
  assert_int_equal(s.error.property, 0);
  EXPECT_PATH(&s, &s.error, GOAL_STATE, 0, 1, 2);
  search_release(&s);
}

static void limits_are_honoured(void **unused) {
  (void)unused;
  struct graph g;
  graph_init(&g, &safety, 1, NULL, 0);
  g.grid = 1000;
  g.holds[0] = UINT32_MAX;
  struct search s = searched(&g, (struct limits){.states = 5000});
  assert_int_equal(s.end, SEARCH_STATES);
  assert_int_equal(s.stats.states, 5000);
  assert_int_equal(s.complete, 99); /* 99 * 100 / 2 = 4950 */
  search_release(&s);

  g.stored = 0;
  size_t before = memory_resident();
  s = searched(&g, (struct limits){.memory = before + 8000000}); /* a million states are more */
  assert_int_equal(s.end, SEARCH_MEMORY);
  assert_in_range(memory_resident(), before + 1, (before + 8000000) / 100 * 105);
  search_release(&s);

  g.stored = 0;
  s = searched(&g, (struct limits){.seconds = 0.01});
  assert_int_equal(s.end, SEARCH_TIME);
  search_release(&s);

  g.stored = 0;
  sig_atomic_t interrupt = 0;
  g.interrupt_after = &interrupt;
  g.countdown = 10;
  s = searched(&g, (struct limits){.interrupt = &interrupt});
  assert_int_equal(s.end, SEARCH_INTERRUPTED);
  assert_int_equal(s.complete, 5);
  search_release(&s);
}

/* What a space tells after an interruption may be too little, in the last layer as well as beyond the last round. */
static void a_space_that_gives_up_has_not_told_everything(void **unused) {
  (void)unused;
  static const struct arc arcs[] = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  for (uint32_t rounds = 0; rounds <= 1; rounds++)
    for (uint32_t from = 0; from <= rounds; from++) {
      struct graph g;
      sig_atomic_t interrupt = 0;
      graph_init(&g, &safety, 1, arcs, 2);
      g.holds[0] = 2;
      g.interrupt_after = &interrupt;
      g.countdown = from;
      g.gives_up = true;
      struct search s = searched(&g, (struct limits){.interrupt = &interrupt, .rounds = rounds});
      assert_int_equal(s.end, SEARCH_INTERRUPTED);
      search_release(&s);
    }
}

static void rounds_beyond_the_limit_are_noticed(void **unused) {
  (void)unused;
  struct graph g;
  graph_init(&g, &safety, 1, NULL, 0);
  g.grid = 4;
  g.holds[0] = UINT32_MAX;
  struct search s = searched(&g, (struct limits){.rounds = 5});
  assert_int_equal(s.end, SEARCH_EXHAUSTED);
  assert_true(s.cut);
  assert_int_equal(s.stats.depth, 5);
  search_release(&s);

  g.stored = 0;
  s = searched(&g, (struct limits){.rounds = 6}); /* the far corner: nothing follows */
  assert_false(s.cut);
  assert_int_equal(s.stats.states, 16);
  search_release(&s);
}

static void exactly_as_many_states_as_allowed_is_enough(void **unused) {
  (void)unused;
  struct graph g;
  graph_init(&g, &safety, 1, NULL, 0);
  g.grid = 10;
  g.holds[0] = UINT32_MAX;
  struct search s = searched(&g, (struct limits){.states = 100});
  assert_int_equal(s.end, SEARCH_EXHAUSTED);
  search_release(&s);
}

static void a_violation_in_a_layer_cut_short_counts(void **unused) {
  (void)unused;
  struct graph g;
  graph_init(&g, &safety, 1, NULL, 0);
  g.grid = 100;
  g.holds[0] = 3;
  struct search s = searched(&g, (struct limits){.states = 7}); /* node 3 is the seventh */
  assert_int_equal(s.end, SEARCH_STATES);
  assert_true(s.findings[0].found);
  search_release(&s);
}

static void nothing_to_start_from(void **unused) {
  (void)unused;
  struct graph g;
  graph_init(&g, &safety, 1, NULL, 0);
  struct system_ops none = graph_ops;
  none.initial = graph_initial;
  g.space.ops = &none;
  g.holds[0] = UINT32_MAX;
  struct search s = searched(&g, (struct limits){0}); /* one state, no arcs */
  assert_int_equal(s.end, SEARCH_EXHAUSTED);
  assert_int_equal(s.stats.states, 1);
  assert_int_equal(s.stats.depth, 0);
  search_release(&s);
}

static void begins_again_when_keys_are_too_narrow(void **unused) {
  (void)unused;
  struct property properties[] = {safety, safety};
  struct graph g;
  graph_init(&g, properties, 2, NULL, 0);
  g.grid = 30;
  g.holds[0] = 3; /* found before, and again */
  g.holds[1] = 30 * 30 - 1;
  g.restart_after = 500;
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.stats.states, 900);
  assert_int_equal(s.stats.transitions, 2 * 30 * 29);
  assert_int_equal(s.findings[0].rounds, 3);
  assert_int_equal(s.findings[1].rounds, 58);
  assert_false(g.space.restart);
  search_release(&s);
}

/* The first arc of each node, the others later. */
static bool first_successor(struct system *s, const struct state *from, emit_fn *emit, void *context) {
  struct graph *g = (struct graph *)s;
  for (size_t i = 0; i < g->narcs; i++)
    if (g->arcs[i].from == node_of(from)) {
      s->has_deferred = true;
      return put_node(g->arcs[i].to, &(struct edge){0}, emit, context);
    }
  return true;
}

static bool other_successors(struct system *s, const struct state *from, emit_fn *emit, void *context) {
  struct graph *g = (struct graph *)s;
  bool first = true;
  for (size_t i = 0; i < g->narcs; i++) {
    if (g->arcs[i].from != node_of(from))
      continue;
    if (!first && !put_node(g->arcs[i].to, &(struct edge){0}, emit, context))
      return false;
    first = false;
  }
  return true;
}

static void takes_other_steps_where_the_first_lead_back(void **unused) {
  (void)unused;
  static const struct arc arcs[] = {{.from = 0, .to = 1}, {.from = 0, .to = 4}, {.from = 1, .to = 0},
                                    {.from = 1, .to = 2}, {.from = 2, .to = 2}, {.from = 2, .to = 3}};
  struct property properties[] = {safety, safety};
  struct graph g;
  graph_init(&g, properties, 2, arcs, sizeof arcs / sizeof *arcs);
  struct system_ops ops = graph_ops;
  ops.successors = first_successor;
  ops.deferred = other_successors;
  g.space.ops = &ops;
  g.space.uses_proviso = true;
  g.holds[0] = 3;
  g.holds[1] = 4; /* put off for good: the first step from 0 gets ahead */
  struct search s = searched(&g, (struct limits){0});
  assert_int_equal(s.stats.states, 4);
  assert_true(s.findings[0].found);
  assert_false(s.findings[1].found);
  search_release(&s);
}

static int with_signatures(void **unused) {
  (void)unused;
  signature = SIGNATURE_TOTAL_BITS;
  return 0;
}

int main(void) {
  const struct CMUnitTest of_store[] = {
      cmocka_unit_test(store_keeps_every_key_once),
      cmocka_unit_test(store_looks_on),
      cmocka_unit_test(store_is_written_down),
      cmocka_unit_test(store_accounts_for_its_memory),
      cmocka_unit_test(store_takes_words),
      cmocka_unit_test(store_is_filled_by_several),
      cmocka_unit_test(store_relinks),
      cmocka_unit_test(store_tells_parents_from_each_other),
      cmocka_unit_test(lines_are_looked_at_as_a_whole),
      cmocka_unit_test(states_get_other_keys),
      cmocka_unit_test(terse_stores_are_small),
      cmocka_unit_test(charges_compare_processes_first_and_saturate),
  };
  const struct CMUnitTest of_search[] = {
      cmocka_unit_test(whole_space_when_it_holds),
      cmocka_unit_test(shortest_then_cheapest),
      cmocka_unit_test(violated_at_once),
      cmocka_unit_test(a_violation_does_not_stop_the_others),
      cmocka_unit_test(steps_are_broken_even_on_the_way_back),
      cmocka_unit_test(an_error_ends_the_search_after_its_layer),
      cmocka_unit_test(an_error_in_a_property_is_an_error),
      cmocka_unit_test(limits_are_honoured),
      cmocka_unit_test(a_space_that_gives_up_has_not_told_everything),
      cmocka_unit_test(rounds_beyond_the_limit_are_noticed),
      cmocka_unit_test(exactly_as_many_states_as_allowed_is_enough),
      cmocka_unit_test(a_violation_in_a_layer_cut_short_counts),
      cmocka_unit_test(nothing_to_start_from),
      cmocka_unit_test(begins_again_when_keys_are_too_narrow),
      cmocka_unit_test(takes_other_steps_where_the_first_lead_back),
  };
  return cmocka_run_group_tests(of_store, NULL, NULL) + cmocka_run_group_tests(of_search, NULL, NULL) +
         cmocka_run_group_tests_name("of_search, with signatures", of_search, with_signatures, NULL);
}
