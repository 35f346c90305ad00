#include "base/intern.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"

#include <string.h>

/* A vector lies in a chunk behind its hash and its length, so that a probe that hits reads one
   cache line. A slot keeps 32 bits of the hash beside the name: most probes that miss never leave
   the slot array, and growing it touches no vector. */

enum { CHUNK_FIRST = 1 << 9, CHUNK_LARGEST = 1 << 17, SLOTS_FIRST = 64, HEADER = 2 };

struct chunk {
  struct chunk *next;
  int64_t words[];
};

struct intern {
  uint64_t *slots;   /* tag << 32 | name + 1; 0 is free */
  size_t mask;       /* slots - 1 */
  VEC(int64_t *) at; /* by name; at[-2] is the hash, at[-1] the length */
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

static inline uint32_t intern_tag(uint64_t hash) { return (uint32_t)(hash ^ (hash >> 32)); }

/* The slot that holds the vector, or the free slot where it belongs. */
static inline size_t intern_probe(const struct intern *t, uint64_t hash, const int64_t *at,
                                  size_t n) {
  uint32_t tag = intern_tag(hash);
  for (size_t i = tag & t->mask;; i = (i + 1) & t->mask) {
    uint64_t slot = t->slots[i];
    if (!slot)
      return i;
    if (slot >> 32 != tag)
      continue;
    const int64_t *kept = t->at.at[(uint32_t)slot - 1];
    if ((uint64_t)kept[-2] == hash && (size_t)kept[-1] == n &&
        (n == 0 || memcmp(kept, at, n * sizeof *at) == 0))
      return i;
  }
}

static void intern_grow_slots(struct intern *t) {
  size_t old = t->mask + 1, mask = 2 * old - 1;
  uint64_t *slots = memory_alloc(2 * old * sizeof *slots);
  for (size_t i = 0; i < old; i++) {
    uint64_t slot = t->slots[i];
    if (!slot)
      continue;
    size_t to = (size_t)(slot >> 32) & mask;
    while (slots[to])
      to = (to + 1) & mask;
    slots[to] = slot;
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
    return (uint32_t)t->slots[i] - 1;
  if (t->at.n >= INTERN_NONE - 1)
    memory_resize_array(NULL, SIZE_MAX, sizeof *at); /* out of names: as good as out of memory */
  int64_t *words = intern_reserve(t, n + HEADER);
  words[0] = (int64_t)hash;
  words[1] = (int64_t)n;
  if (n)
    memcpy(words + HEADER, at, n * sizeof *at);
  vec_push(&t->at, words + HEADER);
  uint32_t name = (uint32_t)(t->at.n - 1);
  t->slots[i] = (uint64_t)intern_tag(hash) << 32 | (name + 1);
  if (2 * t->at.n > t->mask) /* half full at most: probes stay short */
    intern_grow_slots(t);
  return name;
}

uint32_t intern_find(const struct intern *t, const int64_t *at, size_t n) {
  uint64_t slot = t->slots[intern_probe(t, hash_bytes(at, n * sizeof *at), at, n)];
  return slot ? (uint32_t)slot - 1 : INTERN_NONE;
}

const int64_t *intern_at(const struct intern *t, uint32_t id) { return t->at.at[id]; }
size_t intern_length(const struct intern *t, uint32_t id) { return (size_t)t->at.at[id][-1]; }
uint64_t intern_hash(const struct intern *t, uint32_t id) { return (uint64_t)t->at.at[id][-2]; }
size_t intern_count(const struct intern *t) { return t->at.n; }

size_t intern_bytes(const struct intern *t) {
  return sizeof *t + t->bytes + t->at.cap * sizeof *t->at.at + (t->mask + 1) * sizeof *t->slots;
}
