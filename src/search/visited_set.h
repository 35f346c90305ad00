/* The exact visited set of states: every key once, in the order in which it came, with the state it was
   first reached from and what the way to it cost. Insert-only. Keys lie one behind the other in
   large chunks that never move, so a state's name is its position, going through a layer is reading
   memory in order, and nothing is ever copied to grow. The index is cut into segments that grow one
   at a time.
   Several threads can fill a shared visited set: each appends to a partition of its own, and a slot of the index
   belongs to who is the first to fill it. They wait for each other only while a segment grows. References grow along a
   partition. */
#ifndef RONDO_SEARCH_VISITED_SET_H
#define RONDO_SEARCH_VISITED_SET_H

#include "base/archive.h"

#include <string.h>

/* A stored state. Later states of a partition have larger references; STATE_REF_NONE is larger than all of them. */
typedef uint64_t state_ref;
#define STATE_REF_NONE ((UINT64_C(1) << 38) - 1)
#define VISITED_MAX_STATES (UINT64_C(3) << 27) /* states; the caller stops before it adds more */

/* Faulty processes, then lost or corrupted messages: compares as a number. Each count stops at
 * 65535. */
typedef uint32_t fault_cost;

static inline fault_cost fault_cost_add(fault_cost c, uint32_t processes, uint32_t messages) {
  uint64_t p = (uint64_t)(c >> 16) + processes, m = (uint64_t)(c & 0xFFFF) + messages;
  return (uint32_t)(p < 0xFFFF ? p : 0xFFFF) << 16 | (uint32_t)(m < 0xFFFF ? m : 0xFFFF);
}
static inline uint32_t fault_cost_processes(fault_cost c) { return c >> 16; }
static inline uint32_t fault_cost_messages(fault_cost c) { return c & 0xFFFF; }

struct visited_set;

struct stored {
  const uint8_t *bytes; /* stays where it is as long as the visited set */
  uint32_t length;
  state_ref parent; /* STATE_REF_NONE: initial */
  fault_cost fault_cost;
};

struct visited_set *visited_new(void);
/* In less memory: parents are told from each other, so that they cannot be changed (but for states with a fault_cost),
   and to find one takes visited_get some time. visited_get_key and visited_reader do not tell them. */
struct visited_set *visited_new_delta(void);
/* With a signature of so many bits for each state instead of its key (search/hash_compaction.h): states with the same
   one are taken for one. SIGNATURE_TOTAL_BITS, or fewer, to see what comes of it. Keys are there only where
   visited_reader goes through what was added since the last visited_next_layer, or between that and the one before; and
   visited_save is not for it. */
struct visited_set *visited_new_compact(uint32_t bits);
#define SIGNATURE_TOTAL_BITS 69u
#define SIGNATURE_TEST_BITS 40u                              /* or not more than these */
uint32_t visited_signature_bits(const struct visited_set *); /* how many; 0: keys are whole */
void visited_next_layer(struct visited_set *);               /* a layer begins */
void visited_free(struct visited_set *);

#define MAX_PARTITIONS 64
void visited_share(struct visited_set *, uint32_t partitions); /* for so many threads */
/* Whoever looks keys up in a shared visited set, or adds some, is inside while it does. */
void visited_enter(struct visited_set *, uint32_t partition);
void visited_leave(struct visited_set *, uint32_t partition);

/* Most keys are short: as words, they are hashed and compared without a call. Bytes behind the key's, up to the next
   multiple of 16, are read but do not count. */
#define KEY_SHORT_BYTES 32
struct short_key {
  uint64_t word[KEY_SHORT_BYTES / 8];
};
static inline uint64_t key_word(const uint8_t *bytes, uint32_t length) { /* the first 8 of them, if there are so many */
  uint64_t word;
  memcpy(&word, bytes, 8);
  return length < 8 ? word & ((UINT64_C(1) << 8 * length) - 1) : word;
}
static inline void key_words(const uint8_t *bytes, uint32_t length,
                             struct short_key *key) { /* length <= KEY_SHORT_BYTES */
  key->word[0] = key_word(bytes, length);
  key->word[1] = length <= 8 ? 0 : key_word(bytes + 8, length - 8);
  if (length > 16) {
    key->word[2] = key_word(bytes + 16, length - 16);
    key->word[3] = length <= 24 ? 0 : key_word(bytes + 24, length - 24);
  }
}
static inline uint64_t hash_fold(uint64_t a, uint64_t b) { /* each bit of the product depends on all of theirs */
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}
static inline uint64_t key_hash_words(const uint64_t *word, uint32_t length) { /* 2 of them, or 4 if length > 16 */
  uint64_t h = hash_fold(word[0] ^ 0x9E3779B97F4A7C15u, word[1] ^ 0xE7037ED1A0B428DBu);
  if (length > 16)
    h ^= hash_fold(word[2] ^ 0xA0761D6478BD642Fu, word[3] ^ 0x589965CC75374CC3u);
  return hash_fold(h, 0x8EBC6AF09C88C6E3u ^ length);
}
static inline uint64_t key_hash_short(const struct short_key *key, uint32_t length) {
  return key_hash_words(key->word, length);
}
uint64_t key_hash(const uint8_t *bytes, uint32_t length); /* the same, of any key */

/* Finds or adds. True: it is new. hash is key_hash of the key; probe_position is 0, or see visited_index.h. */
bool visited_insert(struct visited_set *, const uint8_t *bytes, uint32_t length, uint64_t hash, uint64_t probe_position,
                    state_ref parent, fault_cost, state_ref *ref);
bool visited_insert_in(struct visited_set *, uint32_t partition, const uint8_t *bytes, uint32_t length, uint64_t hash,
                       uint64_t probe_position, state_ref parent, fault_cost, state_ref *ref);
/* The same for a short key, as words whose unused bytes are 0: 2 if it has at most 16 bytes, else 4. */
bool visited_insert_words(struct visited_set *, const uint64_t *word, uint32_t length, uint64_t hash,
                          uint64_t probe_position, state_ref parent, fault_cost, state_ref *ref);
bool visited_insert_words_in(struct visited_set *, uint32_t partition, const uint64_t *word, uint32_t length,
                             uint64_t hash, uint64_t probe_position, state_ref parent, fault_cost, state_ref *ref);
/* STATE_REF_NONE if absent. */
state_ref visited_find(const struct visited_set *, const uint8_t *bytes, uint32_t length, uint64_t hash);
static inline state_ref visited_lookup(const struct visited_set *s, const uint8_t *bytes, uint32_t length) {
  return visited_find(s, bytes, length, key_hash(bytes, length));
}
/* Another way to the same state, no dearer. */
void visited_set_parent(struct visited_set *, state_ref, state_ref parent, fault_cost);
void visited_improve_parent(struct visited_set *, state_ref, state_ref parent,
                            fault_cost);                      /* the same if it is cheaper; any thread */
bool visited_has_cost(const struct visited_set *, state_ref); /* false: it costs nothing, and never will */
struct stored visited_get(const struct visited_set *, state_ref);
struct stored visited_get_key(const struct visited_set *,
                              state_ref); /* the same, but for the parent, which may not be told */
fault_cost visited_cost(const struct visited_set *, state_ref);

/* In the order of insertion, of the first partition: for (r = visited_first(); r < visited_end(s); r = visited_next(s,
   r)). Whatever is added to a partition after a call of visited_end_of has a reference that is not smaller than what it
   returned. */
state_ref visited_first(void);
bool visited_has(const struct visited_set *, state_ref); /* is it a state's? For any number */
/* The first state at or after an end that visited_end once returned. */
state_ref visited_from(const struct visited_set *, state_ref);
state_ref visited_next(const struct visited_set *, state_ref);
state_ref visited_end(const struct visited_set *);
state_ref visited_first_of(const struct visited_set *, uint32_t partition);
state_ref visited_end_of(const struct visited_set *, uint32_t partition);
uint32_t visited_partition_of(const struct visited_set *, state_ref);
uint32_t visited_partitions(const struct visited_set *); /* how many there are */

/* The same, faster, and with what is stored: visited_reader gives one for the states from `from` to `end`, visited_read
   goes on to the next one, in `ref` and `stored`; false: that was the last one. */
struct visited_reader {
  const struct visited_set *visited_set;
  state_ref ref, end;
  struct stored stored;
  const uint8_t *at, *stop; /* what is left of a chunk */
  state_ref next;           /* the state at `at` */
  bool delta;               /* records are, */
  uint32_t common_length;   /* and then their keys are so long */
  const void *keys;         /* signatures: where the keys are, and how far it has come there */
  size_t key_chunk, key_at;
};
static inline struct visited_reader visited_reader(const struct visited_set *s, state_ref from, state_ref end) {
  return (struct visited_reader){.visited_set = s, .end = end, .next = from};
}
bool visited_read_slow(struct visited_reader *); /* at the end of a chunk, or where the head is long */

/* What records are is said in search/visited_records.h. */
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
    r->stored.parent = parent & RECORD_PARENT_MASK; /* little end first */
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

/* The states of a delta visited set under other keys, no two of them the same, with the same charges and parents,
   partition by partition in the same order. The old visited set has no index any more: nothing can be looked up there,
   nor added. */
typedef const uint8_t *rekey_fn(void *context, const uint8_t *bytes,
                                uint32_t *length); /* its own until it is called again */
struct visited_set *visited_rekey(struct visited_set *, rekey_fn *, void *context);

/* With the same references. Bad: NULL. The index is made anew. */
void visited_save(const struct visited_set *, struct saver *);
struct visited_set *visited_load(struct loader *);

uint64_t visited_count(const struct visited_set *);
size_t visited_bytes(const struct visited_set *); /* in use, index and all */
/* What it takes at once when its index grows, and whether that is about to happen. */
size_t visited_growth(const struct visited_set *);
bool visited_grows_soon(const struct visited_set *);
size_t visited_chunk_bytes(const struct visited_set *); /* what it takes at once otherwise */
/* There is not enough memory for that: the index gets fuller before it grows, and grows by less. */
void visited_raise_load(struct visited_set *);

#endif
