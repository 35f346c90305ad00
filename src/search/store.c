#include "search/store.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A record is: parent (5 bytes), charge (4), length of the key (1 to 5, seven bits each), the key.
   Its position is the chunk's number, then the offset in it. */
#define CHUNK_BITS 21
#define CHUNK_SIZE ((size_t)1 << CHUNK_BITS)
#define PARENT_BYTES 5
#define CHARGE_BYTES 4
#define HEAD_BYTES (PARENT_BYTES + CHARGE_BYTES)
#define FIRST 1 /* position 0 marks an empty slot of the index */

/* A slot of the index is 26 bits of the hash and the record's position. The segment comes from 5
   other bits, and a slot's home from the upper bits of the 26: a segment can grow without reading a
   single key. A home is a cache line of slots, filled from its start; what finds it full goes to the
   next line. Most look-ups touch one line. */
#define SEGMENT_BITS 3
#define SEGMENTS (1u << SEGMENT_BITS)
#define TAG_BITS 26
#define POSITION_BITS 38
#define POSITION_MASK ((UINT64_C(1) << POSITION_BITS) - 1)
#define LINE_BITS 3
#define LINE_SLOTS (1u << LINE_BITS)
#define FIRST_SLOT_BITS 6

#define HUGE_PAGE ((size_t)1 << 21)

struct segment {
  uint64_t *slots;
  uint32_t bits, used;
};

struct chunk {
  uint8_t *at;
  uint32_t used;
  uint32_t pieces; /* allocated together with those after it; 0: the rest of a record longer than a chunk */
};

struct store {
  struct segment segment[SEGMENTS];
  VEC(struct chunk) chunks;
  uint64_t count;
  size_t index_bytes;
  uint32_t age; /* how often some segment has grown, from 1 */
};

/* Look-ups hit memory at random, and half of what they cost is address translation: large arrays
   ask for huge pages. Contents are undefined. */
static void *pages_alloc(size_t size) {
  if (size < HUGE_PAGE)
    return memory_alloc(size);
  uint8_t *at = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return memory_alloc(SIZE_MAX / 2); /* which knows what to do when there is no memory */
  size_t before = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
  if (before)
    munmap(at, before);
  munmap(at + before + size, HUGE_PAGE - before);
  madvise(at + before, size, MADV_HUGEPAGE);
  return at + before;
}

static void pages_free(void *at, size_t size) {
  if (size < HUGE_PAGE)
    memory_free(at);
  else
    munmap(at, size);
}

static uint64_t *slots_alloc(uint32_t bits) { return pages_alloc(sizeof(uint64_t) << bits); }

struct store *store_new(void) {
  struct store *s = memory_alloc(sizeof *s);
  for (uint32_t i = 0; i < SEGMENTS; i++) {
    s->segment[i].bits = FIRST_SLOT_BITS;
    s->segment[i].slots = slots_alloc(FIRST_SLOT_BITS);
  }
  s->index_bytes = SEGMENTS * (sizeof(uint64_t) << FIRST_SLOT_BITS);
  s->age = 1;
  vec_push(&s->chunks, ((struct chunk){pages_alloc(CHUNK_SIZE), FIRST, 1}));
  return s;
}

void store_free(struct store *s) {
  if (!s)
    return;
  for (uint32_t i = 0; i < SEGMENTS; i++)
    pages_free(s->segment[i].slots, sizeof(uint64_t) << s->segment[i].bits);
  for (size_t i = 0; i < s->chunks.n; i++)
    if (s->chunks.at[i].pieces)
      pages_free(s->chunks.at[i].at, (size_t)s->chunks.at[i].pieces << CHUNK_BITS);
  vec_release(&s->chunks);
  memory_free(s);
}

static uint64_t word_at(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

uint64_t store_hash(const uint8_t *bytes, uint32_t length) {
  if (length > STORE_SHORT)
    return hash_bytes(bytes, length);
  uint8_t whole[STORE_SHORT] = {0};
  struct short_key key;
  if (length > 0)
    memcpy(whole, bytes, length);
  store_words(whole, length, &key);
  return store_hash_short(&key, length);
}

static const struct segment *segment_of(const struct store *s, uint64_t hash) {
  return &s->segment[hash >> (64 - SEGMENT_BITS)];
}

static uint64_t tag_of(uint64_t hash) { return (hash >> 16) & ((1u << TAG_BITS) - 1); }

static uint64_t *home_of(const struct segment *g, uint64_t tag) {
  return &g->slots[tag >> (TAG_BITS - g->bits + LINE_BITS) << LINE_BITS];
}

static uint64_t *next_line(const struct segment *g, uint64_t *line) {
  line += LINE_SLOTS;
  return line == g->slots + ((size_t)1 << g->bits) ? g->slots : line;
}

void store_prefetch_index(const struct store *s, uint64_t hash) {
  __builtin_prefetch(home_of(segment_of(s, hash), tag_of(hash)));
}

static uint8_t *record_at(const struct store *s, state_ref ref) {
  return s->chunks.at[ref >> CHUNK_BITS].at + (ref & (CHUNK_SIZE - 1));
}

/* Where a look at the home line left off: how many slots are not the key's, and the age of the index, for lines move when
   it grows. */
#define AGE_SHIFT (LINE_BITS + 1)

uint32_t store_prefetch_record(const struct store *s, uint64_t hash) {
  uint64_t tag = tag_of(hash);
  const uint64_t *line = home_of(segment_of(s, hash), tag);
  uint32_t i = 0;
  for (; i < LINE_SLOTS && line[i] != 0; i++)
    if (line[i] >> POSITION_BITS == tag) {
      const uint8_t *record = record_at(s, line[i] & POSITION_MASK);
      __builtin_prefetch(record);
      __builtin_prefetch(record + HEAD_BYTES + 8); /* it may lie across two lines */
      break;
    }
  return s->age << AGE_SHIFT | i;
}

static const uint8_t *read_length(const uint8_t *at, uint32_t *length) {
  uint32_t n = *at & 0x7F;
  for (unsigned shift = 7; *at++ & 0x80; shift += 7)
    n |= (uint32_t)(*at & 0x7F) << shift;
  *length = n;
  return at;
}

static uint8_t *write_length(uint8_t *at, uint32_t length) {
  for (; length >= 0x80; length >>= 7)
    *at++ = (uint8_t)(length | 0x80);
  *at++ = (uint8_t)length;
  return at;
}

static void write_link(uint8_t *record, state_ref parent, charge c) {
  memcpy(record, &parent, PARENT_BYTES); /* little end first */
  memcpy(record + PARENT_BYTES, &c, CHARGE_BYTES);
}

/* Keys are short: no call. */
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

static bool record_is(const struct store *s, state_ref ref, const uint8_t *bytes, uint32_t length) {
  uint32_t n;
  const uint8_t *key = read_length(record_at(s, ref) + HEAD_BYTES, &n);
  return n == length && same_bytes(key, bytes, length);
}

/* The slot that holds the key, or the empty one where it belongs. */
static uint64_t *slot_for(const struct store *s, const struct segment *g, const uint8_t *bytes,
                          uint32_t length, uint64_t tag, unsigned first) {
  for (uint64_t *line = home_of(g, tag);; line = next_line(g, line), first = 0)
    for (unsigned i = first; i < LINE_SLOTS; i++)
      if (line[i] == 0 ||
          (line[i] >> POSITION_BITS == tag && record_is(s, line[i] & POSITION_MASK, bytes, length)))
        return &line[i];
}

static uint64_t *empty_slot(const struct segment *g, uint64_t tag) {
  for (uint64_t *line = home_of(g, tag);; line = next_line(g, line))
    for (unsigned i = 0; i < LINE_SLOTS; i++)
      if (line[i] == 0)
        return &line[i];
}

static void segment_grow(struct store *s, struct segment *g) {
  struct segment bigger = {.bits = g->bits + 1, .used = g->used};
  size_t size = (size_t)1 << bigger.bits;
  bigger.slots = slots_alloc(bigger.bits);
  for (size_t i = 0; i < size / 2; i++) {
    uint64_t slot = g->slots[i];
    if (slot == 0)
      continue;
    *empty_slot(&bigger, slot >> POSITION_BITS) = slot;
  }
  pages_free(g->slots, sizeof(uint64_t) << g->bits);
  *g = bigger;
  s->age++;
  s->index_bytes += size / 2 * sizeof *g->slots;
}

/* Room for a record that does not straddle chunks, unless it is longer than one. */
static state_ref reserve(struct store *s, size_t size) {
  struct chunk *last = &s->chunks.at[s->chunks.n - 1];
  if (last->used + size > CHUNK_SIZE) {
    size_t pieces = (size + CHUNK_SIZE - 1) >> CHUNK_BITS;
    uint8_t *at = pages_alloc(pieces << CHUNK_BITS);
    for (size_t i = 0; i < pieces; i++) {
      struct chunk piece = {at + (i << CHUNK_BITS), i + 1 < pieces ? (uint32_t)CHUNK_SIZE : 0,
                            i == 0 ? (uint32_t)pieces : 0};
      vec_push(&s->chunks, piece);
    }
    last = &s->chunks.at[s->chunks.n - 1];
    last->used = (uint32_t)(size - ((pieces - 1) << CHUNK_BITS));
    return (uint64_t)(s->chunks.n - pieces) << CHUNK_BITS;
  }
  state_ref ref = (uint64_t)(s->chunks.n - 1) << CHUNK_BITS | last->used;
  last->used += (uint32_t)size;
  return ref;
}

static state_ref append(struct store *s, const uint8_t *bytes, uint32_t length, state_ref parent,
                        charge c) {
  uint8_t digits[5];
  size_t ndigits = (size_t)(write_length(digits, length) - digits);
  state_ref ref = reserve(s, HEAD_BYTES + ndigits + length);
  uint8_t *record = record_at(s, ref);
  write_link(record, parent, c);
  memcpy(record + HEAD_BYTES, digits, ndigits);
  if (length > 0)
    memcpy(record + HEAD_BYTES + ndigits, bytes, length);
  return ref;
}

bool store_put(struct store *s, const uint8_t *bytes, uint32_t length, uint64_t hash, uint32_t left_off,
               state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  unsigned first = left_off >> AGE_SHIFT == s->age ? left_off & ((1u << AGE_SHIFT) - 1) : 0;
  uint64_t *slot = slot_for(s, g, bytes, length, tag, first);
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  *ref = append(s, bytes, length, parent, c);
  assert(*ref < STORE_NONE);
  *slot = tag << POSITION_BITS | *ref;
  s->count++;
  if (++g->used * UINT64_C(5) > (UINT64_C(4) << g->bits) && g->bits < TAG_BITS)
    segment_grow(s, g);
  return true;
}

state_ref store_find(const struct store *s, const uint8_t *bytes, uint32_t length, uint64_t hash) {
  uint64_t slot = *slot_for(s, segment_of(s, hash), bytes, length, tag_of(hash), 0);
  return slot == 0 ? STORE_NONE : slot & POSITION_MASK;
}

void store_relink(struct store *s, state_ref ref, state_ref parent, charge c) {
  write_link(record_at(s, ref), parent, c);
}

struct stored store_at(const struct store *s, state_ref ref) {
  const uint8_t *record = record_at(s, ref);
  struct stored found = {0};
  memcpy(&found.parent, record, PARENT_BYTES);
  memcpy(&found.charge, record + PARENT_BYTES, CHARGE_BYTES);
  found.bytes = read_length(record + HEAD_BYTES, &found.length);
  return found;
}

charge store_charge(const struct store *s, state_ref ref) {
  charge c;
  memcpy(&c, record_at(s, ref) + PARENT_BYTES, CHARGE_BYTES);
  return c;
}

state_ref store_first(void) { return FIRST; }

state_ref store_from(const struct store *s, state_ref ref) {
  size_t chunk = (size_t)(ref >> CHUNK_BITS);
  if (chunk + 1 < s->chunks.n && (ref & (CHUNK_SIZE - 1)) >= s->chunks.at[chunk].used)
    ref = (state_ref)(chunk + 1)
          << CHUNK_BITS; /* the rest of that chunk was too small for what followed */
  return ref;
}

state_ref store_next(const struct store *s, state_ref ref) {
  const uint8_t *record = record_at(s, ref);
  uint32_t length;
  const uint8_t *key = read_length(record + HEAD_BYTES, &length);
  return store_from(s, ref + (state_ref)(key + length - record));
}

state_ref store_end(const struct store *s) {
  return ((state_ref)(s->chunks.n - 1) << CHUNK_BITS) + s->chunks.at[s->chunks.n - 1].used;
}

uint64_t store_count(const struct store *s) { return s->count; }

size_t store_bytes(const struct store *s) {
  return sizeof *s + s->index_bytes + s->chunks.cap * sizeof *s->chunks.at +
         ((s->chunks.n - 1) << CHUNK_BITS) + s->chunks.at[s->chunks.n - 1].used;
}
