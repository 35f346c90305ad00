#include "base/intern.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

/* A vector lies in a chunk behind its hash, its length and its name, so that a probe that hits
   reads one cache line besides the slot. A slot is the vector's address with 16 bits of the hash in
   the upper bits, which user addresses leave free on the machines we know: most probes that miss
   never leave the slot array. */

enum { CHUNK_FIRST = 1 << 9, CHUNK_LARGEST = 1 << 17, SLOTS_FIRST = 64, HEADER = 2 };

struct chunk {
  struct chunk *next;
  int64_t words[];
};

struct intern {
  uint64_t *slots;   /* tag << 48 | address; 0 is free */
  size_t mask;       /* slots - 1 */
  VEC(int64_t *) at; /* by name; at[-2] is the hash, at[-1] length << 32 | name */
  struct chunk *chunks;
  int64_t *free;
  size_t left, chunk_words; /* in 64-bit words */
  size_t bytes;
};

struct intern *intern_new(void) {
  struct intern *t = memory_alloc(sizeof *t);
  t->slots = memory_alloc(SLOTS_FIRST * sizeof *t->slots);
  t->mask = SLOTS_FIRST - 1;
  t->chunk_words = CHUNK_FIRST;
  return t;
}

void intern_free(struct intern *t) {
  if (!t)
    return;
  while (t->chunks) {
    struct chunk *next = t->chunks->next;
    memory_free(t->chunks);
    t->chunks = next;
  }
  vec_release(&t->at);
  memory_free(t->slots);
  memory_free(t);
}

enum { ADDRESS_BITS = 48 };

static inline uint64_t intern_slot(uint64_t hash, const int64_t *at) {
  return hash >> ADDRESS_BITS << ADDRESS_BITS | (uint64_t)(uintptr_t)at;
}

static inline const int64_t *slot_vector(uint64_t slot) {
  return (const int64_t *)(uintptr_t)(slot & ((UINT64_C(1) << ADDRESS_BITS) - 1));
}

static inline uint64_t vector_mark(size_t n, uint32_t name) { return (uint64_t)n << 32 | name; }

/* The slot that holds the vector, or the free slot where it belongs. */
static inline size_t intern_probe(const struct intern *t, uint64_t hash, const int64_t *at,
                                  size_t n) {
  for (size_t i = (size_t)hash & t->mask;; i = (i + 1) & t->mask) {
    uint64_t slot = t->slots[i];
    if (!slot)
      return i;
    if ((slot ^ hash) >> ADDRESS_BITS)
      continue;
    const int64_t *kept = slot_vector(slot);
    if ((uint64_t)kept[-2] == hash && (uint64_t)kept[-1] >> 32 == n &&
        (n == 0 || memcmp(kept, at, n * sizeof *at) == 0))
      return i;
  }
}

static inline uint32_t intern_name(const struct intern *t, size_t slot) {
  return (uint32_t)slot_vector(t->slots[slot])[-1];
}

/* Goes through the vectors in the order of their names, that is, of their addresses. */
static void intern_grow_slots(struct intern *t) {
  size_t mask = 2 * t->mask + 1;
  uint64_t *slots = memory_alloc((mask + 1) * sizeof *slots);
  for (size_t name = 0; name < t->at.n; name++) {
    uint64_t hash = (uint64_t)t->at.at[name][-2];
    size_t to = (size_t)hash & mask;
    while (slots[to])
      to = (to + 1) & mask;
    slots[to] = intern_slot(hash, t->at.at[name]);
  }
  memory_free(t->slots);
  t->slots = slots;
  t->mask = mask;
}

/* Chunks never move: that is what keeps the vectors' addresses. */
static int64_t *intern_reserve(struct intern *t, size_t words) {
  if (t->left < words) {
    if (t->chunks && t->chunk_words < CHUNK_LARGEST)
      t->chunk_words *= 2;
    size_t size = words > t->chunk_words ? words : t->chunk_words;
    size_t bytes;
    if (__builtin_mul_overflow(size, sizeof(int64_t), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct chunk), &bytes))
      bytes = SIZE_MAX;
    struct chunk *chunk = memory_resize(NULL, bytes);
    chunk->next = t->chunks;
    t->chunks = chunk;
    t->free = chunk->words;
    t->left = size;
    t->bytes += bytes;
  }
  int64_t *at = t->free;
  t->free += words;
  t->left -= words;
  return at;
}

uint32_t intern_put(struct intern *t, const int64_t *at, size_t n) {
  uint64_t hash = hash_bytes(at, n * sizeof *at);
  size_t i = intern_probe(t, hash, at, n);
  if (t->slots[i])
    return intern_name(t, i);
  if (t->at.n >= INTERN_NONE || n > UINT32_MAX)
    memory_resize_array(NULL, SIZE_MAX, sizeof *at); /* out of names: as good as out of memory */
  int64_t *words = intern_reserve(t, n + HEADER), *kept = words + HEADER;
  uint32_t name = (uint32_t)t->at.n;
  kept[-2] = (int64_t)hash;
  kept[-1] = (int64_t)vector_mark(n, name);
  if (n)
    memcpy(kept, at, n * sizeof *at);
  vec_push(&t->at, kept);
  t->slots[i] = intern_slot(hash, kept);
  if (2 * t->at.n > t->mask) /* half full at most: probes stay short */
    intern_grow_slots(t);
  return name;
}

uint32_t intern_find(const struct intern *t, const int64_t *at, size_t n) {
  size_t i = intern_probe(t, hash_bytes(at, n * sizeof *at), at, n);
  return t->slots[i] ? intern_name(t, i) : INTERN_NONE;
}

const int64_t *intern_at(const struct intern *t, uint32_t id) { return t->at.at[id]; }
size_t intern_length(const struct intern *t, uint32_t id) {
  return (size_t)((uint64_t)t->at.at[id][-1] >> 32);
}
uint64_t intern_hash(const struct intern *t, uint32_t id) { return (uint64_t)t->at.at[id][-2]; }
size_t intern_count(const struct intern *t) { return t->at.n; }

size_t intern_bytes(const struct intern *t) {
  return sizeof *t + t->bytes + t->at.cap * sizeof *t->at.at + (t->mask + 1) * sizeof *t->slots;
}
