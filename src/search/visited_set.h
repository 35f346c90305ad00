/* The visited set. It stores every key once, in order of insertion, with the state it was first reached from and the
   fault cost of the path to it. Insert-only.

   Keys are stored consecutively in large chunks that never move: a state's reference is its position, iterating over a
   layer reads memory sequentially, and growing copies no keys. The index is divided into segments that grow one at a
   time.

   Several threads can fill a shared visited set: each appends to its own partition, and they claim index slots by
   compare-and-swap. They wait for each other only while a segment grows. References increase within a partition. */
#ifndef RONDO_SEARCH_VISITED_SET_H
#define RONDO_SEARCH_VISITED_SET_H

#include "base/archive.h"

#include <string.h>

/* Reference to a stored state. Later states of a partition have larger references; STATE_REF_NONE is larger than all of
   them. */
typedef uint64_t state_ref;
#define STATE_REF_NONE ((UINT64_C(1) << 38) - 1)
#define STATE_REF_FORGOTTEN                                                                                            \
  (STATE_REF_NONE - 1)                         /* as a parent: not an initial state; too close to the end for a state */
#define VISITED_MAX_STATES (UINT64_C(3) << 27) /* the caller must stop before it inserts more */

/* Number of faulty processes (upper 16 bits), then of lost or corrupted messages (lower 16 bits), so costs compare as
   integers. Each count saturates at 65535. */
typedef uint32_t fault_cost;

static inline fault_cost fault_cost_add(fault_cost c, uint32_t processes, uint32_t messages) {
  uint64_t p = (uint64_t)(c >> 16) + processes, m = (uint64_t)(c & 0xFFFF) + messages;
  return (uint32_t)(p < 0xFFFF ? p : 0xFFFF) << 16 | (uint32_t)(m < 0xFFFF ? m : 0xFFFF);
}
static inline uint32_t fault_cost_processes(fault_cost c) { return c >> 16; }
static inline uint32_t fault_cost_messages(fault_cost c) { return c & 0xFFFF; }

struct visited_set;

struct stored {
  const uint8_t *bytes; /* valid as long as the visited set */
  uint32_t length;
  state_ref parent; /* STATE_REF_NONE: an initial state */
  fault_cost fault_cost;
};

struct visited_set *visited_new(void);
/* Uses less memory: parents are stored as differences. They cannot be changed (except for states with a fault cost),
   and visited_get takes longer to find one. visited_get_key and visited_reader do not return parents. */
struct visited_set *visited_new_delta(void);
/* Stores a signature of so many bits instead of each key (search/hash_compaction.h): states with equal signatures are
   treated as equal. `bits` is SIGNATURE_TOTAL_BITS, or less to test collisions. Keys are available only through
   visited_reader, and only for states inserted since the last but one visited_next_layer. visited_save does not support
   it. */
struct visited_set *visited_new_compact(uint32_t bits);
#define SIGNATURE_TOTAL_BITS 69u
#define SIGNATURE_TEST_BITS 40u                              /* the upper limit for fewer bits */
uint32_t visited_signature_bits(const struct visited_set *); /* 0: full keys */
void visited_next_layer(struct visited_set *);               /* call when a layer begins */
void visited_free(struct visited_set *);

#define MAX_PARTITIONS 64
void visited_share(struct visited_set *, uint32_t partitions); /* for so many threads */
/* Look-ups in a shared visited set and insertions into it must happen between visited_enter and visited_leave. */
void visited_enter(struct visited_set *, uint32_t partition);
void visited_leave(struct visited_set *, uint32_t partition);

/* Most keys are short: as words they are hashed and compared inline. Bytes after the key, up to the next multiple of
   16, are read but ignored. */
#define KEY_SHORT_BYTES 32
struct short_key {
  uint64_t word[KEY_SHORT_BYTES / 8];
};
static inline uint64_t key_word(const uint8_t *bytes, uint32_t length) { /* the first 8 bytes, or fewer if length < 8 */
  uint64_t word;
  memcpy(&word, bytes, 8);
  return length < 8 ? word & ((UINT64_C(1) << 8 * length) - 1) : word;
}
/* For keys of at most KEY_SHORT_BYTES. */
static inline void key_words(const uint8_t *bytes, uint32_t length, struct short_key *key) {
  key->word[0] = key_word(bytes, length);
  key->word[1] = length <= 8 ? 0 : key_word(bytes + 8, length - 8);
  if (length > 16) {
    key->word[2] = key_word(bytes + 16, length - 16);
    key->word[3] = length <= 24 ? 0 : key_word(bytes + 24, length - 24);
  }
}
static inline uint64_t hash_fold(uint64_t a, uint64_t b) { /* each bit of the result depends on all bits of a and b */
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}
static inline uint64_t key_hash_words(const uint64_t *word, uint32_t length) { /* 2 words, or 4 if length > 16 */
  uint64_t h = hash_fold(word[0] ^ 0x9E3779B97F4A7C15u, word[1] ^ 0xE7037ED1A0B428DBu);
  if (length > 16)
    h ^= hash_fold(word[2] ^ 0xA0761D6478BD642Fu, word[3] ^ 0x589965CC75374CC3u);
  return hash_fold(h, 0x8EBC6AF09C88C6E3u ^ length);
}
static inline uint64_t key_hash_short(const struct short_key *key, uint32_t length) {
  return key_hash_words(key->word, length);
}
uint64_t key_hash(const uint8_t *bytes, uint32_t length); /* the same for a key of any length */

/* Finds or inserts a key; returns true if it is new. hash is key_hash of the key; probe_position is 0, or as described
   in visited_index.h. */
bool visited_insert(struct visited_set *, const uint8_t *bytes, uint32_t length, uint64_t hash, uint64_t probe_position,
                    state_ref parent, fault_cost, state_ref *ref);
bool visited_insert_in(struct visited_set *, uint32_t partition, const uint8_t *bytes, uint32_t length, uint64_t hash,
                       uint64_t probe_position, state_ref parent, fault_cost, state_ref *ref);
/* The same for a short key, given as words whose unused bytes are 0: 2 words if it has at most 16 bytes, else 4. */
bool visited_insert_words(struct visited_set *, const uint64_t *word, uint32_t length, uint64_t hash,
                          uint64_t probe_position, state_ref parent, fault_cost, state_ref *ref);
bool visited_insert_words_in(struct visited_set *, uint32_t partition, const uint64_t *word, uint32_t length,
                             uint64_t hash, uint64_t probe_position, state_ref parent, fault_cost, state_ref *ref);
/* STATE_REF_NONE if absent. */
state_ref visited_find(const struct visited_set *, const uint8_t *bytes, uint32_t length, uint64_t hash);
static inline state_ref visited_lookup(const struct visited_set *s, const uint8_t *bytes, uint32_t length) {
  return visited_find(s, bytes, length, key_hash(bytes, length));
}
/* Replaces the parent by another of no higher cost. */
void visited_set_parent(struct visited_set *, state_ref, state_ref parent, fault_cost);
/* The same, but only if the cost is lower; any thread may call it. */
void visited_improve_parent(struct visited_set *, state_ref, state_ref parent, fault_cost);
bool visited_has_cost(const struct visited_set *, state_ref); /* false: the cost is 0 and stays 0 */
struct stored visited_get(const struct visited_set *, state_ref);
/* Like visited_get, but the parent may be missing. */
struct stored visited_get_key(const struct visited_set *, state_ref);
fault_cost visited_cost(const struct visited_set *, state_ref);

/* Iterates over the first partition in order of insertion: for (r = visited_first(); r < visited_end(s); r =
   visited_next(s, r)). A state inserted into a partition after a call of visited_end_of has a reference at least as
   large as the value that call returned. */
state_ref visited_first(void);
/* Whether this is the reference of a stored state; accepts any number. */
bool visited_has(const struct visited_set *, state_ref);
/* The first state at or after a value that visited_end returned. */
state_ref visited_from(const struct visited_set *, state_ref);
state_ref visited_next(const struct visited_set *, state_ref);
state_ref visited_end(const struct visited_set *);
state_ref visited_first_of(const struct visited_set *, uint32_t partition);
state_ref visited_end_of(const struct visited_set *, uint32_t partition);
uint32_t visited_partition_of(const struct visited_set *, state_ref);
uint32_t visited_partitions(const struct visited_set *); /* how many there are */

/* Faster iteration, which also returns the stored data. visited_reader covers the states from `from` up to `end`;
   visited_read advances to the next state and sets `ref` and `stored`; false: there are no more. */
struct visited_reader {
  const struct visited_set *visited_set;
  state_ref ref, end;
  struct stored stored;
  const uint8_t *at, *stop; /* the rest of the current chunk */
  state_ref next;           /* the state at `at` */
  bool delta;               /* delta records */
  uint32_t common_length;   /* delta records: the length of their keys */
  const void *keys;         /* hash compaction: where the keys are, and the position in them */
  size_t key_chunk, key_at;
};
static inline struct visited_reader visited_reader(const struct visited_set *s, state_ref from, state_ref end) {
  return (struct visited_reader){.visited_set = s, .end = end, .next = from};
}
bool visited_read_slow(struct visited_reader *); /* at the end of a chunk, or where the header is long */

/* search/visited_records.h describes the record formats. */
#define RECORD_PARENT_BYTES 5
#define RECORD_PARENT_MASK ((UINT64_C(1) << 8 * RECORD_PARENT_BYTES) - 1)
static inline bool visited_read(struct visited_reader *r) {
  uint32_t head = r->delta ? 0 : RECORD_PARENT_BYTES;
  if (r->at >= r->stop || r->at[head] & (r->delta ? 0x01 : 0x81))
    return visited_read_slow(r);
  if (r->delta) {
    r->stored.length = r->common_length;
    while (r->at[head] & 0x80)
      head++;
  } else {
    uint64_t parent;
    memcpy(&parent, r->at, sizeof parent);
    r->stored.parent = parent & RECORD_PARENT_MASK; /* little-endian */
    r->stored.length = r->at[head] >> 1;
  }
  r->stored.fault_cost = 0;
  r->stored.bytes = r->at + head + 1;
  r->ref = r->next;
  uint32_t size = head + 1 + r->stored.length;
  r->at += size;
  r->next += size;
  return true;
}

/* Copies the states of a visited set with delta records to a new one under other keys, which must be distinct. Costs
   and parents are kept, and so is the order in each partition. The old visited set loses its index: it allows no more
   look-ups or insertions. The result of a rekey_fn is valid until its next call. */
typedef const uint8_t *rekey_fn(void *context, const uint8_t *bytes, uint32_t *length);
struct visited_set *visited_rekey(struct visited_set *, rekey_fn *, void *context);

/* References are preserved; the index is rebuilt. visited_load returns NULL if the data is invalid. */
void visited_save(const struct visited_set *, struct saver *);
struct visited_set *visited_load(struct loader *);
/* The same for data from outside, which may be any bytes; it is invalid unless every key is valid. */
struct state;
typedef bool visited_key_fn(void *context, const struct state *key);
struct visited_set *visited_load_valid(struct loader *, visited_key_fn *valid, void *context);
/* Is it the reference of a state of the partition, or the place behind the last one in a chunk? */
bool visited_is_position(const struct visited_set *, uint32_t partition, state_ref);

uint64_t visited_count(const struct visited_set *);
size_t visited_bytes(const struct visited_set *); /* memory in use, including the index */
/* How much memory the next growth of the index needs at once, and whether it is imminent. */
size_t visited_growth(const struct visited_set *);
bool visited_grows_soon(const struct visited_set *);
size_t visited_chunk_bytes(const struct visited_set *); /* how much memory new chunks need at once */
/* For when memory is too short to grow the index: allows a higher load and grows by less. */
void visited_raise_load(struct visited_set *);

#endif
