#include "search/store_look.h"

#include "base/hash.h"
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
  for (size_t i = 0; i < s->spare.n; i++)
    pages_free(s->spare.at[i], CHUNK_SIZE);
  vec_release(&s->spare);
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

/* The key, with its length, and the charge before it. */
static inline const uint8_t *read_head(const uint8_t *record, uint32_t *length, charge *c) {
  const uint8_t *at = record + PARENT_BYTES;
  uint64_t head = *at++;
  if (head & 0x80) {
    head &= 0x7F;
    unsigned shift = 7;
    do
      head |= (uint64_t)(*at & 0x7F) << shift;
    while (shift += 7, *at++ & 0x80);
  }
  *length = (uint32_t)(head >> 1);
  *c = 0;
  if (head & 1) {
    memcpy(c, at, CHARGE_BYTES);
    at += CHARGE_BYTES;
  }
  return at;
}

static uint8_t *write_head(uint8_t *at, uint32_t length, charge c) {
  uint64_t head = (uint64_t)length << 1 | (c != 0);
  for (; head >= 0x80; head >>= 7)
    *at++ = (uint8_t)(head | 0x80);
  *at++ = (uint8_t)head;
  if (c != 0) {
    memcpy(at, &c, CHARGE_BYTES);
    at += CHARGE_BYTES;
  }
  return at;
}

static void write_parent(uint8_t *record, state_ref parent) {
  memcpy(record, &parent, PARENT_BYTES); /* little end first */
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
  charge c;
  const uint8_t *key = read_head(record_at(s, ref), &n, &c);
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

/* A record's key against words: what lies behind it is there, but not its own. */
static inline bool record_is_words(const struct store *s, state_ref ref, const uint64_t *word, uint32_t length) {
  const uint8_t *key = record_at(s, ref) + PARENT_BYTES;
  uint8_t head = *key++;
  if (head >> 1 != length || head >= 2 * HEAD_SHORT)
    return false;
  key += head & 1 ? CHARGE_BYTES : 0;
  for (; length > 8; length -= 8, key += 8, word++)
    if (word_at(key) != *word)
      return false;
  return store_word(key, length) == *word;
}

static uint64_t *slot_for_words(const struct store *s, const struct segment *g, const uint64_t *word, uint32_t length,
                                uint64_t tag, unsigned first) {
  for (uint64_t *line = home_of(g, tag);; line = next_line(g, line), first = 0)
    for (unsigned i = first; i < LINE_SLOTS; i++)
      if (line[i] == 0 ||
          (line[i] >> POSITION_BITS == tag && record_is_words(s, line[i] & POSITION_MASK, word, length)))
        return &line[i];
}

static uint64_t *empty_slot(const struct segment *g, uint64_t tag) {
  for (uint64_t *line = home_of(g, tag);; line = next_line(g, line))
    for (unsigned i = 0; i < LINE_SLOTS; i++)
      if (line[i] == 0)
        return &line[i];
}

static void slots_discard(struct store *s, const struct segment *g) {
  size_t bytes = sizeof(uint64_t) << g->bits;
  if (bytes < CHUNK_SIZE)
    pages_free(g->slots, bytes);
  for (size_t at = 0; bytes >= CHUNK_SIZE && at < bytes; at += CHUNK_SIZE)
    vec_push(&s->spare, (uint8_t *)g->slots + at);
}

static uint8_t *chunk_alloc(struct store *s, size_t pieces) {
  return pieces == 1 && s->spare.n > 0 ? s->spare.at[--s->spare.n] : pages_alloc(pieces << CHUNK_BITS);
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
  slots_discard(s, g);
  *g = bigger;
  s->age++;
  s->index_bytes += size / 2 * sizeof *g->slots;
}

/* Room for a record that does not straddle chunks, unless it is longer than one; behind one that does not, BEHIND bytes of
   the chunk can be read and written. */
#define BEHIND 32
static state_ref reserve(struct store *s, size_t size) {
  struct chunk *last = &s->chunks.at[s->chunks.n - 1];
  if (last->used + size + BEHIND > CHUNK_SIZE) {
    size_t pieces = (size + CHUNK_SIZE - 1) >> CHUNK_BITS;
    uint8_t *at = chunk_alloc(s, pieces);
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
  uint8_t head[5 + CHARGE_BYTES];
  size_t size = (size_t)(write_head(head, length, c) - head);
  state_ref ref = reserve(s, PARENT_BYTES + size + length);
  uint8_t *record = record_at(s, ref);
  write_parent(record, parent);
  memcpy(record + PARENT_BYTES, head, size);
  if (length > 0)
    memcpy(record + PARENT_BYTES + size, bytes, length);
  return ref;
}

static void occupy(struct store *s, struct segment *g, uint64_t *slot, uint64_t tag, state_ref ref) {
  assert(ref < STORE_NONE);
  *slot = tag << POSITION_BITS | ref;
  s->count++;
  if (++g->used * UINT64_C(5) > (UINT64_C(4) << g->bits) && g->bits < TAG_BITS)
    segment_grow(s, g);
}

static inline unsigned begin_at(const struct store *s, uint32_t left_off) {
  return left_off >> AGE_SHIFT == s->age ? left_off & ((1u << AGE_SHIFT) - 1) : 0;
}

bool store_put_words(struct store *s, const uint64_t *word, uint32_t length, uint64_t hash, uint32_t left_off,
                     state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint64_t *slot = slot_for_words(s, g, word, length, tag, begin_at(s, left_off));
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  *ref = reserve(s, PARENT_BYTES + 1 + (c ? CHARGE_BYTES : 0u) + length);
  uint8_t *record = record_at(s, *ref);
  write_parent(record, parent);
  uint8_t *key = write_head(record + PARENT_BYTES, length, c);
  memcpy(key, word, 16); /* there is room: the rest is overwritten by the next record */
  if (length > 16)
    memcpy(key + 16, word + 2, 16);
  occupy(s, g, slot, tag, *ref);
  return true;
}

bool store_put(struct store *s, const uint8_t *bytes, uint32_t length, uint64_t hash, uint32_t left_off,
               state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint64_t *slot = slot_for(s, g, bytes, length, tag, begin_at(s, left_off));
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  *ref = append(s, bytes, length, parent, c);
  occupy(s, g, slot, tag, *ref);
  return true;
}

state_ref store_find(const struct store *s, const uint8_t *bytes, uint32_t length, uint64_t hash) {
  uint64_t slot = *slot_for(s, segment_of(s, hash), bytes, length, tag_of(hash), 0);
  return slot == 0 ? STORE_NONE : slot & POSITION_MASK;
}

void store_relink(struct store *s, state_ref ref, state_ref parent, charge c) {
  uint8_t *record = record_at(s, ref);
  uint32_t length;
  charge before;
  const uint8_t *key = read_head(record, &length, &before);
  assert(before != 0 || c == 0); /* else there is no room for it */
  write_parent(record, parent);
  if (before != 0)
    memcpy((uint8_t *)key - CHARGE_BYTES, &c, CHARGE_BYTES);
}

struct stored store_at(const struct store *s, state_ref ref) {
  const uint8_t *record = record_at(s, ref);
  struct stored found = {0};
  memcpy(&found.parent, record, PARENT_BYTES);
  found.bytes = read_head(record, &found.length, &found.charge);
  return found;
}

charge store_charge(const struct store *s, state_ref ref) {
  uint32_t length;
  charge c;
  read_head(record_at(s, ref), &length, &c);
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
  charge c;
  const uint8_t *key = read_head(record, &length, &c);
  return store_from(s, ref + (state_ref)(key + length - record));
}

bool store_read_on(struct store_reader *r) {
  const struct store *s = r->store;
  r->next = store_from(s, r->next);
  if (r->next >= r->end)
    return false;
  const struct chunk *chunk = &s->chunks.at[r->next >> CHUNK_BITS];
  size_t stop = r->next >> CHUNK_BITS == r->end >> CHUNK_BITS ? r->end & (CHUNK_SIZE - 1) : chunk->used;
  r->ref = r->next;
  r->stored = store_at(s, r->ref);
  r->next = store_next(s, r->ref);
  r->stop = chunk->at + stop;
  r->at = r->next >> CHUNK_BITS == r->ref >> CHUNK_BITS ? record_at(s, r->next) : r->stop;
  return true;
}

state_ref store_end(const struct store *s) {
  return ((state_ref)(s->chunks.n - 1) << CHUNK_BITS) + s->chunks.at[s->chunks.n - 1].used;
}

uint64_t store_count(const struct store *s) { return s->count; }

size_t store_bytes(const struct store *s) {
  return sizeof *s + s->index_bytes + s->chunks.cap * sizeof *s->chunks.at +
         ((s->chunks.n - 1 + s->spare.n) << CHUNK_BITS) + s->chunks.at[s->chunks.n - 1].used;
}
