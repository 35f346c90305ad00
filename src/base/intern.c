#include "base/intern.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* A vector is stored in a chunk after its hash, its length and its name, so that a successful probe reads one cache
   line besides the slot. A slot holds the vector's address, with 16 bits of the hash in the upper bits, which
   user-space addresses leave free on all supported machines. Most unsuccessful probes therefore read the slot array
   only. */

enum { CHUNK_FIRST = 1 << 9, CHUNK_LARGEST = 1 << 17, SLOTS_FIRST = 64, HEADER = 2 };

struct intern_chunk {
  struct intern_chunk *next;
  int64_t words[];
};

/* Outgrown slot arrays are kept, because other threads may still be reading them. */
struct intern_slots {
  struct intern_slots *before;
  size_t mask;           /* number of slots minus one */
  _Atomic uint64_t at[]; /* tag << 48 | address; 0 is free */
};
struct intern_names {
  struct intern_names *before;
  size_t room;
  int64_t *at[]; /* by name; at[-2] is the hash, at[-1] is length << 32 | name */
};

struct intern {
  struct intern_slots *_Atomic slots;
  struct intern_names *_Atomic names;
  _Atomic size_t n;            /* number of names assigned */
  pthread_mutex_t *lock;       /* taken to add a vector; NULL: the table is not shared */
  intern_resolve_fn *resolver; /* obtains new names from another process; NULL: this table assigns them itself */
  void *resolver_context;
  struct intern_chunk *chunks;
  int64_t *free;
  size_t left, chunk_words; /* in 64-bit words */
  _Atomic size_t bytes;
};

static struct intern_slots *slots_new(size_t n, struct intern_slots *before) {
  struct intern_slots *slots = memory_alloc(sizeof *slots + n * sizeof *slots->at);
  slots->mask = n - 1;
  slots->before = before;
  return slots;
}

struct intern *intern_new(void) {
  struct intern *t = memory_alloc(sizeof *t);
  t->slots = slots_new(SLOTS_FIRST, NULL);
  t->chunk_words = CHUNK_FIRST;
  return t;
}

void intern_share(struct intern *t) {
  if (t->lock)
    return;
  t->lock = memory_alloc(sizeof *t->lock);
  pthread_mutex_init(t->lock, NULL);
}

void intern_free(struct intern *t) {
  if (!t)
    return;
  while (t->chunks) {
    struct intern_chunk *next = t->chunks->next;
    memory_free(t->chunks);
    t->chunks = next;
  }
  for (struct intern_slots *s = t->slots, *before; s; s = before) {
    before = s->before;
    memory_free(s);
  }
  for (struct intern_names *s = t->names, *before; s; s = before) {
    before = s->before;
    memory_free(s);
  }
  if (t->lock)
    pthread_mutex_destroy(t->lock);
  memory_free(t->lock);
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

/* acquire: pairs with the release stores of slots and names, so that a reader sees complete vectors. */
static inline struct intern_slots *slots_of(const struct intern *t) {
  return atomic_load_explicit(&((struct intern *)t)->slots, memory_order_acquire);
}
static inline int64_t *const *names_of(const struct intern *t) {
  return atomic_load_explicit(&((struct intern *)t)->names, memory_order_acquire)->at;
}

/* The slot that holds the vector, or the free slot where it belongs. *found is the vector in the slot. */
static inline size_t intern_probe(const struct intern_slots *s, uint64_t hash, const int64_t *at, size_t n,
                                  const int64_t **found) {
  for (size_t i = (size_t)hash & s->mask;; i = (i + 1) & s->mask) {
    uint64_t slot = atomic_load_explicit(&s->at[i], memory_order_acquire);
    *found = NULL;
    if (!slot)
      return i;
    if ((slot ^ hash) >> ADDRESS_BITS)
      continue;
    const int64_t *kept = slot_vector(slot);
    *found = kept;
    if ((uint64_t)kept[-2] == hash && (uint64_t)kept[-1] >> 32 == n &&
        (n == 0 || memcmp(kept, at, n * sizeof *at) == 0))
      return i;
  }
}

/* Inserts the vectors in the order of their names, which is the order of their addresses. */
static void intern_grow_slots(struct intern *t) {
  struct intern_slots *old = t->slots, *slots = slots_new(2 * (old->mask + 1), t->lock ? old : NULL);
  int64_t *const *names = names_of(t);
  for (size_t name = 0; name < t->n; name++) {
    uint64_t hash = (uint64_t)names[name][-2];
    size_t to = (size_t)hash & slots->mask;
    while (atomic_load_explicit(&slots->at[to], memory_order_relaxed))
      to = (to + 1) & slots->mask;
    atomic_store_explicit(&slots->at[to], intern_slot(hash, names[name]), memory_order_relaxed);
  }
  atomic_store_explicit(&t->slots, slots, memory_order_release);
  if (!t->lock)
    memory_free(old);
}

static void intern_name(struct intern *t, int64_t *kept) {
  struct intern_names *old = t->names;
  size_t n = t->n;
  if (!old || n == old->room) {
    size_t room = old ? 2 * old->room : SLOTS_FIRST;
    struct intern_names *names = memory_alloc(sizeof *names + room * sizeof *names->at);
    names->room = room;
    names->before = t->lock ? old : NULL;
    if (old)
      memcpy(names->at, old->at, n * sizeof *names->at);
    names->at[n] = kept;
    atomic_store_explicit(&t->names, names, memory_order_release);
    if (!t->lock)
      memory_free(old);
  } else {
    old->at[n] = kept;
  }
  atomic_store_explicit(&t->n, n + 1, memory_order_release);
}

/* Chunks never move, so the addresses of vectors stay valid. */
static int64_t *intern_reserve(struct intern *t, size_t words) {
  if (t->left < words) {
    if (t->chunks && t->chunk_words < CHUNK_LARGEST)
      t->chunk_words *= 2;
    size_t size = words > t->chunk_words ? words : t->chunk_words;
    size_t bytes;
    if (__builtin_mul_overflow(size, sizeof(int64_t), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct intern_chunk), &bytes))
      bytes = SIZE_MAX;
    struct intern_chunk *chunk = memory_resize(NULL, bytes);
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

static uint32_t assign_name(struct intern *t, uint64_t hash, const int64_t *at, size_t n) {
  const int64_t *found;
  struct intern_slots *slots = t->slots;
  size_t i = intern_probe(slots, hash, at, n, &found);
  if (found) /* another thread added it first */
    return (uint32_t)found[-1];
  if (t->n >= INTERN_NONE || n > UINT32_MAX)
    memory_resize_array(NULL, SIZE_MAX, sizeof *at); /* out of names: handled as out of memory */
  int64_t *words = intern_reserve(t, n + HEADER), *kept = words + HEADER;
  uint32_t name = (uint32_t)t->n;
  kept[-2] = (int64_t)hash;
  kept[-1] = (int64_t)vector_mark(n, name);
  if (n)
    memcpy(kept, at, n * sizeof *at);
  intern_name(t, kept);
  atomic_store_explicit(&slots->at[i], intern_slot(hash, kept), memory_order_release);
  if (2 * t->n > slots->mask) /* load factor at most 1/2, so that probes stay short */
    intern_grow_slots(t);
  return name;
}

uint32_t intern_put(struct intern *t, const int64_t *at, size_t n) {
  uint64_t hash = hash_bytes(at, n * sizeof *at);
  const int64_t *found;
  intern_probe(slots_of(t), hash, at, n, &found);
  if (found)
    return (uint32_t)found[-1];
  if (t->resolver) {
    t->resolver(t->resolver_context, at, n);
    return intern_find(t, at, n);
  }
  if (!t->lock)
    return assign_name(t, hash, at, n);
  pthread_mutex_lock(t->lock);
  uint32_t name = assign_name(t, hash, at, n);
  pthread_mutex_unlock(t->lock);
  return name;
}

void intern_set_resolver(struct intern *t, intern_resolve_fn *resolver, void *context) {
  t->resolver = resolver;
  t->resolver_context = context;
}

uint32_t intern_put_local(struct intern *t, const int64_t *at, size_t n) {
  return assign_name(t, hash_bytes(at, n * sizeof *at), at, n);
}

uint32_t intern_find(const struct intern *t, const int64_t *at, size_t n) {
  const int64_t *found;
  intern_probe(slots_of(t), hash_bytes(at, n * sizeof *at), at, n, &found);
  return found ? (uint32_t)found[-1] : INTERN_NONE;
}

const int64_t *intern_at(const struct intern *t, uint32_t id) { return names_of(t)[id]; }
size_t intern_length(const struct intern *t, uint32_t id) { return (size_t)((uint64_t)names_of(t)[id][-1] >> 32); }
uint64_t intern_hash(const struct intern *t, uint32_t id) { return (uint64_t)names_of(t)[id][-2]; }
size_t intern_count(const struct intern *t) { return t->n; }

size_t intern_bytes(const struct intern *t) {
  const struct intern_names *names = t->names;
  size_t arrays = (names ? names->room * sizeof *names->at : 0) + (slots_of(t)->mask + 1) * sizeof *slots_of(t)->at;
  return sizeof *t + t->bytes + (t->lock ? 2 : 1) * arrays; /* shared tables keep the outgrown arrays */
}
