#include "search/hash_compaction.h"
#include "search/huge_pages.h"
#include "search/visited_sharing.h"

#include "base/hash.h"
#include "base/memory.h"

#include <assert.h>
#include <string.h>

static size_t buckets_bytes(uint32_t buckets) { return (size_t)buckets * BUCKET_SLOTS * sizeof(uint64_t); }

struct visited_set *visited_new_unpartitioned(void) {
  struct visited_set *s = memory_alloc_aligned(_Alignof(struct visited_set), sizeof *s);
  for (uint32_t i = 0; i < SEGMENTS; i++) {
    s->segment[i] = (struct index_segment){
        .buckets = FIRST_BUCKETS, .slots = pages_alloc(buckets_bytes(FIRST_BUCKETS)), .version = 1};
  }
  s->index_bytes = SEGMENTS * buckets_bytes(FIRST_BUCKETS);
  s->sequential_exact = true;
  s->chunks = sparse_alloc(CHUNKS_MAX * sizeof *s->chunks);
  s->pages = sparse_alloc(CHUNKS_MAX * sizeof *s->pages);
  return s;
}

struct visited_set *visited_new(void) {
  struct visited_set *s = visited_new_unpartitioned();
  visited_partition_begin(s, 0);
  return s;
}

struct visited_set *visited_new_delta(void) {
  struct visited_set *s = visited_new();
  s->delta = true;
  return s;
}

_Static_assert(SIGNATURE_TOTAL_BITS == SEGMENT_BITS + TAG_BITS + SIGNATURE_BITS, "what a signature is");
_Static_assert(SIGNATURE_TEST_BITS == SIGNATURE_BITS, "and one for tests");

struct visited_set *visited_new_compact(uint32_t bits) {
  struct visited_set *s = visited_new_unpartitioned();
  s->compaction = compaction_new(bits);
  s->delta = true;
  s->common_length = SIGNATURE_BYTES;
  s->sequential_exact = false;
  s->high_load = true;
  visited_partition_begin(s, 0);
  return s;
}

uint32_t visited_signature_bits(const struct visited_set *s) { return s->compaction ? s->compaction->bits : 0; }

_Static_assert(VISITED_MAX_STATES * 4 <= (UINT64_C(3) << (SEGMENT_BITS + TAG_BITS)),
               "as large as can be, there is still room");

void visited_free(struct visited_set *s) {
  if (!s)
    return;
  compaction_free(s);
  for (uint32_t i = 0; i < SEGMENTS; i++)
    pages_free(s->segment[i].slots, buckets_bytes(s->segment[i].buckets));
  for (uint32_t i = 0; i < s->nchunks; i++)
    if (s->chunks[i].pieces)
      pages_free(s->pages[i], (size_t)s->chunks[i].pieces << CHUNK_BITS);
  sparse_free(s->chunks, CHUNKS_MAX * sizeof *s->chunks);
  sparse_free(s->pages, CHUNKS_MAX * sizeof *s->pages);
  visited_sharing_free(s->sharing);
  memory_free(s);
}

static uint64_t word_at(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

uint64_t key_hash(const uint8_t *bytes, uint32_t length) {
  if (length > KEY_SHORT_BYTES)
    return hash_bytes(bytes, length);
  uint8_t whole[KEY_SHORT_BYTES] = {0};
  struct short_key key;
  if (length > 0)
    memcpy(whole, bytes, length);
  key_words(whole, length, &key);
  return key_hash_short(&key, length);
}

/* Inline, because keys are short. */
static bool same_bytes(const uint8_t *a, const uint8_t *b, uint32_t n) {
  if (n < 8) {
    for (; n > 0; n--)
      if (*a++ != *b++)
        return false;
    return true;
  }
  for (uint32_t i = 0; i + 8 < n; i += 8)
    if (word_at(a + i) != word_at(b + i))
      return false;
  return word_at(a + n - 8) == word_at(b + n - 8);
}

static bool record_is(const struct visited_set *s, state_ref ref, const uint8_t *bytes, uint32_t length) {
  uint32_t n;
  fault_cost c;
  const uint8_t *key = record_key(s, record_at(s, ref), &n, &c);
  return n == length && same_bytes(key, bytes, length);
}

/* The slot that holds the key, or the empty slot where it belongs. */
static uint64_t *slot_for(const struct visited_set *s, const struct index_segment *g, const uint8_t *bytes,
                          uint32_t length, uint64_t tag, uint64_t probe_position) {
  for (uint64_t *slot = probe_start(g, tag, probe_position);; slot = next_slot(g, slot))
    if (*slot == 0 || (*slot >> POSITION_BITS == tag && record_is(s, *slot & POSITION_MASK, bytes, length)))
      return slot;
}

/* Compares a record's key with words. Bytes after the key are readable but belong to something else. */
static inline bool key_is_words(const uint8_t *key, const uint64_t *word, uint32_t length) {
  for (; length > 8; length -= 8, key += 8, word++)
    if (word_at(key) != *word)
      return false;
  return key_word(key, length) == *word;
}

static inline bool record_is_words(const struct visited_set *s, state_ref ref, const uint64_t *word, uint32_t length) {
  const uint8_t *key = record_at(s, ref);
  if (s->delta && !delta_is_plain(key))
    return length == s->common_length && key_is_words(delta_key(key), word, length);
  key += s->delta + PARENT_BYTES;
  uint8_t head = *key++;
  if (head >> 1 != length || head >= 2 * HEADER_SHORT_KEY)
    return false;
  return key_is_words(key + (head & 1 ? COST_BYTES : 0), word, length);
}

static uint64_t *slot_for_words(const struct visited_set *s, const struct index_segment *g, const uint64_t *word,
                                uint32_t length, uint64_t tag, uint64_t probe_position) {
  for (uint64_t *slot = probe_start(g, tag, probe_position);; slot = next_slot(g, slot))
    if (*slot == 0 || (*slot >> POSITION_BITS == tag && record_is_words(s, *slot & POSITION_MASK, word, length)))
      return slot;
}

static uint64_t *empty_slot(const struct index_segment *g, uint64_t tag) {
  uint64_t *slot = home_bucket(g, tag);
  while (*slot != 0)
    slot = next_slot(g, slot);
  return slot;
}

static bool exceeds_load(const struct index_segment *g, unsigned parts) {
  return __atomic_load_n(&g->used, __ATOMIC_RELAXED) * UINT64_C(64) > (uint64_t)parts * g->buckets * BUCKET_SLOTS &&
         g->buckets < BUCKETS_MAX;
}

static unsigned load_limit(const struct visited_set *s) {
  return atomic_load_explicit(&s->high_load, memory_order_relaxed) ? LOAD_MAX_TIGHT : LOAD_MAX;
}

bool index_segment_is_full(const struct visited_set *s, const struct index_segment *g) {
  return exceeds_load(g, load_limit(s));
}

bool index_segment_is_nearly_full(const struct visited_set *s, const struct index_segment *g) {
  return exceeds_load(g, load_limit(s) - LOAD_MARGIN);
}

/* Small segments double. Large ones grow by a fraction, to whole huge pages, so that they are never half empty. */
#define BUCKETS_PER_PAGE (HUGE_PAGE / (BUCKET_SLOTS * sizeof(uint64_t)))
static uint32_t buckets_after(const struct visited_set *s, uint32_t buckets) {
  if (buckets < BUCKETS_PER_PAGE)
    return 2 * buckets;
  size_t more = buckets / (s->high_load ? GROWTH_DIVISOR_TIGHT : GROWTH_DIVISOR),
         whole = (buckets + more + BUCKETS_PER_PAGE - 1) / BUCKETS_PER_PAGE * BUCKETS_PER_PAGE;
  return whole < BUCKETS_MAX ? (uint32_t)whole : BUCKETS_MAX;
}

/* Moves a slot to its home bucket or the next bucket with room. All buckets from `first` on already have their final
   contents, `fill` slots each. False: there is no room, or its home is before `first`. */
static inline bool migrate_slot(const struct index_segment *g, uint8_t *fill, size_t first, uint64_t slot) {
  size_t bucket = home_slot(g->buckets, slot >> POSITION_BITS) >> BUCKET_BITS;
  if (bucket < first)
    return false;
  while (bucket < g->buckets && fill[bucket] == BUCKET_SLOTS)
    bucket++;
  if (bucket == g->buckets)
    return false;
  g->slots[bucket << BUCKET_BITS | fill[bucket]++] = slot;
  return true;
}

/* Rehashes a segment that had so many buckets, in place. Home buckets keep their order and never move towards the
   start, so it proceeds from the last bucket to the first. Slots that would end up before the current bucket, or beyond
   the end, wait until all others are placed. */
static void migrate_buckets(const struct index_segment *g, uint32_t buckets) {
  VEC(uint64_t) waiting = {0};
  uint8_t *fill = memory_alloc(g->buckets);
  for (size_t bucket = buckets; bucket-- > 0;) {
    uint64_t *at = g->slots + (bucket << BUCKET_BITS), slots[BUCKET_SLOTS + 1];
    memcpy(slots, at, BUCKET_SLOTS * sizeof *slots);
    memset(at, 0, BUCKET_SLOTS * sizeof *slots);
    slots[BUCKET_SLOTS] = 0;
    for (const uint64_t *slot = slots; *slot != 0; slot++)
      if (!migrate_slot(g, fill, bucket, *slot))
        vec_push(&waiting, *slot);
  }
  for (size_t i = 0; i < waiting.n; i++)
    *empty_slot(g, waiting.at[i] >> POSITION_BITS) = waiting.at[i];
  vec_release(&waiting);
  memory_free(fill);
}

void index_segment_grow(struct visited_set *s, struct index_segment *g) {
  uint32_t before = g->buckets, buckets = buckets_after(s, before);
  size_t old_bytes = buckets_bytes(before), bytes = buckets_bytes(buckets);
  uint64_t *slots;
  if (old_bytes < HUGE_PAGE) {
    slots = pages_alloc(bytes);
    memcpy(slots, g->slots, old_bytes);
    pages_free(g->slots, old_bytes);
  } else {
    slots = pages_grow(g->slots, old_bytes, bytes);
  }
  __atomic_store_n(&g->slots, slots, __ATOMIC_RELAXED);
  __atomic_store_n(&g->buckets, buckets, __ATOMIC_RELAXED);
  migrate_buckets(g, before);
  s->index_bytes += bytes - old_bytes;
  g->version++;
}

static inline void count_one(struct visited_set *s, uint32_t partition) {
  _Atomic uint64_t *count = &s->partition[partition].count; /* written by this thread only */
  atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline void slot_filled(struct visited_set *s, uint32_t partition, struct index_segment *g) {
  count_one(s, partition);
  g->used++;
  if (index_segment_is_full(s, g))
    index_segment_grow(s, g);
}

static void fill_slot(struct visited_set *s, uint32_t partition, struct index_segment *g, uint64_t *slot, uint64_t tag,
                      state_ref ref) {
  assert(ref < STATE_REF_NONE);
  *slot = tag << POSITION_BITS | ref;
  slot_filled(s, partition, g);
}

bool visited_insert_words(struct visited_set *s, const uint64_t *word, uint32_t length, uint64_t hash,
                          uint64_t probe_position, state_ref parent, fault_cost c, state_ref *ref) {
  struct index_segment *g = (struct index_segment *)index_segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint64_t *slot = slot_for_words(s, g, word, length, tag, probe_position);
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  *ref = record_append_words(s, 0, word, length, parent, c);
  fill_slot(s, 0, g, slot, tag, *ref);
  return true;
}

bool visited_insert(struct visited_set *s, const uint8_t *bytes, uint32_t length, uint64_t hash,
                    uint64_t probe_position, state_ref parent, fault_cost c, state_ref *ref) {
  struct index_segment *g = (struct index_segment *)index_segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint64_t *slot = slot_for(s, g, bytes, length, tag, probe_position);
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  *ref = record_append(s, 0, bytes, length, parent, c);
  fill_slot(s, 0, g, slot, tag, *ref);
  return true;
}

void visited_take_index(struct visited_set *s, struct visited_set *from) {
  for (uint32_t i = 0; i < SEGMENTS; i++) {
    struct index_segment own = s->segment[i];
    s->segment[i] = from->segment[i];
    from->segment[i] = own;
    memset(s->segment[i].slots, 0, buckets_bytes(s->segment[i].buckets));
    s->segment[i].used = 0;
  }
  size_t bytes = s->index_bytes;
  s->index_bytes = (size_t)from->index_bytes;
  from->index_bytes = bytes;
}

void visited_index_record(struct visited_set *s, uint32_t partition, uint64_t hash, state_ref ref) {
  struct index_segment *g = (struct index_segment *)index_segment_of(s, hash);
  fill_slot(s, partition, g, empty_slot(g, tag_of(hash)), tag_of(hash), ref);
}

/* --- shared --- */

static void slot_filled_shared(struct visited_set *s, uint32_t partition, struct index_segment *g) {
  uint32_t *mine = &s->sharing->gate[partition].used[g - s->segment];
  count_one(s, partition);
  if (++*mine < s->sharing->report_after)
    return;
  __atomic_add_fetch(&g->used, *mine, __ATOMIC_RELAXED);
  *mine = 0;
  if (index_segment_is_full(s, g))
    visited_sharing_grow(s, partition, g);
}

void visited_slot_filled(struct visited_set *s, uint32_t partition, struct index_segment *g) {
  if (s->sharing)
    slot_filled_shared(s, partition, g);
  else
    slot_filled(s, partition, g);
}

/* Finds the slot that holds the key; if it is empty, appends a record and claims the slot by compare-and-swap. If
   `word` is not NULL, the key is short and `bytes` are the bytes of its words. */
static bool insert_shared(struct visited_set *s, uint32_t partition, const uint8_t *bytes, const uint64_t *word,
                          uint32_t length, uint64_t hash, uint64_t probe_position, state_ref parent, fault_cost c,
                          state_ref *ref) {
  struct index_segment *g = (struct index_segment *)index_segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  struct partition_end end = partition_end(s, partition);
  bool written = false;
  for (uint64_t *at = probe_start(g, tag, probe_position);; at = next_slot(g, at)) {
    uint64_t slot = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (slot == 0) {
      if (!written && word)
        *ref = record_append_words(s, partition, word, length, parent, c);
      else if (!written)
        *ref = record_append(s, partition, bytes, length, parent, c);
      written = true;
      if (__atomic_compare_exchange_n(at, &slot, tag << POSITION_BITS | *ref, false, __ATOMIC_RELEASE,
                                      __ATOMIC_ACQUIRE)) {
        slot_filled_shared(s, partition, g);
        return true;
      }
    }
    state_ref other = slot & POSITION_MASK;
    if (slot >> POSITION_BITS == tag &&
        (word ? record_is_words(s, other, word, length) : record_is(s, other, bytes, length))) {
      if (written)
        visited_partition_undo(s, partition, &end);
      *ref = other;
      return false;
    }
  }
}

/* Not inlined, so that the common path need not save registers. */
__attribute__((noinline)) static bool insert_shared_or_compact(struct visited_set *s, uint32_t partition,
                                                               const uint8_t *bytes, const uint64_t *word,
                                                               uint32_t length, uint64_t hash, uint64_t probe_position,
                                                               state_ref parent, fault_cost c, state_ref *ref) {
  return s->compaction ? compaction_insert(s, partition, bytes, length, hash, probe_position, parent, c, ref)
                       : insert_shared(s, partition, bytes, word, length, hash, probe_position, parent, c, ref);
}

bool visited_insert_words_in(struct visited_set *s, uint32_t partition, const uint64_t *word, uint32_t length,
                             uint64_t hash, uint64_t probe_position, state_ref parent, fault_cost c, state_ref *ref) {
  return s->sequential_exact ? visited_insert_words(s, word, length, hash, probe_position, parent, c, ref)
                             : insert_shared_or_compact(s, partition, (const uint8_t *)word, word, length, hash,
                                                        probe_position, parent, c, ref);
}

bool visited_insert_in(struct visited_set *s, uint32_t partition, const uint8_t *bytes, uint32_t length, uint64_t hash,
                       uint64_t probe_position, state_ref parent, fault_cost c, state_ref *ref) {
  return s->sequential_exact
             ? visited_insert(s, bytes, length, hash, probe_position, parent, c, ref)
             : insert_shared_or_compact(s, partition, bytes, NULL, length, hash, probe_position, parent, c, ref);
}

state_ref visited_find(const struct visited_set *s, const uint8_t *bytes, uint32_t length, uint64_t hash) {
  if (s->compaction)
    return compaction_find(s, bytes, length, hash);
  uint64_t slot = *slot_for(s, index_segment_of(s, hash), bytes, length, tag_of(hash), 0);
  return slot == 0 ? STATE_REF_NONE : slot & POSITION_MASK;
}

uint32_t visited_partitions(const struct visited_set *s) { return s->partitions; }

uint64_t visited_count(const struct visited_set *s) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < s->partitions; i++)
    count += atomic_load_explicit(&((struct visited_set *)s)->partition[i].count, memory_order_relaxed);
  return count;
}

size_t visited_bytes(const struct visited_set *s) {
  uint32_t n = s->nchunks;
  /* If shared, other threads write to their last chunks, which then count as full. */
  size_t unused = s->partitions > 1 ? 0 : CHUNK_SIZE - s->chunks[s->partition[0].last].used;
  return sizeof *s + (s->compaction ? compaction_bytes(s) : 0) + s->index_bytes + n * sizeof *s->chunks +
         ((size_t)n << CHUNK_BITS) - unused;
}

/* Segments grow at about the same time. */
size_t visited_growth(const struct visited_set *s) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < SEGMENTS; i++)
    bytes += buckets_bytes(buckets_after(s, s->segment[i].buckets)) - buckets_bytes(s->segment[i].buckets);
  return bytes;
}

size_t visited_chunk_bytes(const struct visited_set *s) { return s->partitions * CHUNK_SIZE; }

bool visited_grows_soon(const struct visited_set *s) {
  for (uint32_t i = 0; i < SEGMENTS; i++)
    if (index_segment_is_nearly_full(s, &s->segment[i]))
      return true;
  return false;
}

void visited_raise_load(struct visited_set *s) { s->high_load = true; }
