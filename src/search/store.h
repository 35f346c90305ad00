/* The exact store of states: every key once, in the order in which it came, with the state it was
   first reached from and what the way to it cost. Insert-only. Keys lie one behind the other in
   large chunks that never move, so a state's name is its position, going through a layer is reading
   memory in order, and nothing is ever copied to grow. The index is cut into segments that grow one
   at a time.
   Several threads can fill a shared store: each appends to a lane of its own, and a slot of the index belongs to who is the first
   to fill it. They wait for each other only while a segment grows. References grow along a lane. */
#ifndef RONDO_SEARCH_STORE_H
#define RONDO_SEARCH_STORE_H

#include "base/archive.h"

#include <string.h>

/* A stored state. Later states of a lane have larger references; STORE_NONE is larger than all of them. */
typedef uint64_t state_ref;
#define STORE_NONE ((UINT64_C(1) << 38) - 1)
#define STORE_MOST (UINT64_C(3) << 27) /* states; the caller stops before it adds more */

/* Faulty processes, then lost or corrupted messages: compares as a number. Each count stops at
 * 65535. */
typedef uint32_t charge;

static inline charge charge_add(charge c, uint32_t processes, uint32_t messages) {
  uint64_t p = (uint64_t)(c >> 16) + processes, m = (uint64_t)(c & 0xFFFF) + messages;
  return (uint32_t)(p < 0xFFFF ? p : 0xFFFF) << 16 | (uint32_t)(m < 0xFFFF ? m : 0xFFFF);
}
static inline uint32_t charge_processes(charge c) { return c >> 16; }
static inline uint32_t charge_messages(charge c) { return c & 0xFFFF; }

struct store;

struct stored {
  const uint8_t *bytes; /* stays where it is as long as the store */
  uint32_t length;
  state_ref parent; /* STORE_NONE: initial */
  charge charge;
};

struct store *store_new(void);
/* In less memory: parents are told from each other, so that they cannot be changed (but for states with a charge), and to find one takes
   store_at some time. store_key and store_reader do not tell them. */
struct store *store_new_terse(void);
/* With a signature of so many bits for each state instead of its key (search/compact.h): states with the same one are taken for
   one. STORE_SIGNATURE, or fewer, to see what comes of it. Keys are there only where store_reader goes through what was added since
   the last store_turn, or between that and the one before; and store_save is not for it. */
struct store *store_new_compact(uint32_t bits);
#define STORE_SIGNATURE 69u
#define STORE_SIGNATURE_FEW 40u /* or not more than these */
uint32_t store_signature(const struct store *); /* how many; 0: keys are whole */
void store_turn(struct store *);                /* a layer begins */
void store_free(struct store *);

#define STORE_LANES 64
void store_share(struct store *, uint32_t lanes); /* for so many threads */
/* Whoever looks keys up in a shared store, or adds some, is inside while it does. */
void store_enter(struct store *, uint32_t lane);
void store_leave(struct store *, uint32_t lane);

/* Most keys are short: as words, they are hashed and compared without a call. Bytes behind the key's, up to the next
   multiple of 16, are read but do not count. */
#define STORE_SHORT 32
struct short_key {
  uint64_t word[STORE_SHORT / 8];
};
static inline uint64_t store_word(const uint8_t *bytes, uint32_t length) { /* the first 8 of them, if there are so many */
  uint64_t word;
  memcpy(&word, bytes, 8);
  return length < 8 ? word & ((UINT64_C(1) << 8 * length) - 1) : word;
}
static inline void store_words(const uint8_t *bytes, uint32_t length, struct short_key *key) { /* length <= STORE_SHORT */
  key->word[0] = store_word(bytes, length);
  key->word[1] = length <= 8 ? 0 : store_word(bytes + 8, length - 8);
  if (length > 16) {
    key->word[2] = store_word(bytes + 16, length - 16);
    key->word[3] = length <= 24 ? 0 : store_word(bytes + 24, length - 24);
  }
}
static inline uint64_t store_folded(uint64_t a, uint64_t b) { /* each bit of the product depends on all of theirs */
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}
static inline uint64_t store_hash_words(const uint64_t *word, uint32_t length) { /* 2 of them, or 4 if length > 16 */
  uint64_t h = store_folded(word[0] ^ 0x9E3779B97F4A7C15u, word[1] ^ 0xE7037ED1A0B428DBu);
  if (length > 16)
    h ^= store_folded(word[2] ^ 0xA0761D6478BD642Fu, word[3] ^ 0x589965CC75374CC3u);
  return store_folded(h, 0x8EBC6AF09C88C6E3u ^ length);
}
static inline uint64_t store_hash_short(const struct short_key *key, uint32_t length) {
  return store_hash_words(key->word, length);
}
uint64_t store_hash(const uint8_t *bytes, uint32_t length); /* the same, of any key */

/* Finds or adds. True: it is new. hash is store_hash of the key; left_off is 0, or see store_look.h. */
bool store_put(struct store *, const uint8_t *bytes, uint32_t length, uint64_t hash, uint64_t left_off,
               state_ref parent, charge, state_ref *ref);
bool store_put_in(struct store *, uint32_t lane, const uint8_t *bytes, uint32_t length, uint64_t hash, uint64_t left_off,
                  state_ref parent, charge, state_ref *ref);
/* The same for a short key, as words whose unused bytes are 0: 2 if it has at most 16 bytes, else 4. */
bool store_put_words(struct store *, const uint64_t *word, uint32_t length, uint64_t hash, uint64_t left_off,
                     state_ref parent, charge, state_ref *ref);
bool store_put_words_in(struct store *, uint32_t lane, const uint64_t *word, uint32_t length, uint64_t hash, uint64_t left_off,
                        state_ref parent, charge, state_ref *ref);
/* STORE_NONE if absent. */
state_ref store_find(const struct store *, const uint8_t *bytes, uint32_t length, uint64_t hash);
static inline state_ref store_seek(const struct store *s, const uint8_t *bytes, uint32_t length) {
  return store_find(s, bytes, length, store_hash(bytes, length));
}
/* Another way to the same state, no dearer. */
void store_relink(struct store *, state_ref, state_ref parent, charge);
void store_cheapen(struct store *, state_ref, state_ref parent, charge); /* the same if it is cheaper; any thread */
bool store_charged(const struct store *, state_ref); /* false: it costs nothing, and never will */
struct stored store_at(const struct store *, state_ref);
struct stored store_key(const struct store *, state_ref); /* the same, but for the parent, which may not be told */
charge store_charge(const struct store *, state_ref);

/* In the order of insertion, of the first lane: for (r = store_first(); r < store_end(s); r = store_next(s, r)).
   Whatever is added to a lane after a call of store_end_of has a reference that is not smaller than what it
   returned. */
state_ref store_first(void);
bool store_has(const struct store *, state_ref); /* is it a state's? For any number */
/* The first state at or after an end that store_end once returned. */
state_ref store_from(const struct store *, state_ref);
state_ref store_next(const struct store *, state_ref);
state_ref store_end(const struct store *);
state_ref store_first_of(const struct store *, uint32_t lane);
state_ref store_end_of(const struct store *, uint32_t lane);
uint32_t store_lane(const struct store *, state_ref);
uint32_t store_lanes(const struct store *); /* how many there are */

/* The same, faster, and with what is stored: store_reader gives one for the states from `from` to `end`, store_read goes on to
   the next one, in `ref` and `stored`; false: that was the last one. */
struct store_reader {
  const struct store *store;
  state_ref ref, end;
  struct stored stored;
  const uint8_t *at, *stop; /* what is left of a chunk */
  state_ref next;           /* the state at `at` */
  bool terse;               /* records are, */
  uint32_t usual;           /* and then their keys are so long */
  const void *keys;         /* signatures: where the keys are, and how far it has come there */
  size_t key_chunk, key_at;
};
static inline struct store_reader store_reader(const struct store *s, state_ref from, state_ref end) {
  return (struct store_reader){.store = s, .end = end, .next = from};
}
bool store_read_on(struct store_reader *); /* at the end of a chunk, or where the head is long */

/* What records are is said in search/records.h. */
#define STORE_PARENT 5
#define STORE_PARENT_MASK ((UINT64_C(1) << 8 * STORE_PARENT) - 1)
static inline bool store_read(struct store_reader *r) {
  uint32_t head = r->terse ? 0 : STORE_PARENT;
  if (r->at >= r->stop || r->at[head] & (r->terse ? 0x01 : 0x81))
    return store_read_on(r);
  if (r->terse) {
    r->stored.length = r->usual;
    while (r->at[head] & 0x80)
      head++;
  } else {
    uint64_t parent;
    memcpy(&parent, r->at, sizeof parent);
    r->stored.parent = parent & STORE_PARENT_MASK; /* little end first */
    r->stored.length = r->at[head] >> 1;
  }
  r->stored.charge = 0;
  r->stored.bytes = r->at + head + 1;
  r->ref = r->next;
  uint32_t size = head + 1 + r->stored.length;
  r->at += size;
  r->next += size;
  return true;
}

/* The states of a terse store under other keys, no two of them the same, with the same charges and parents, lane by lane in the same order.
   The old store has no index any more: nothing can be looked up there, nor added. */
typedef const uint8_t *rekey_fn(void *context, const uint8_t *bytes, uint32_t *length); /* its own until it is called again */
struct store *store_rekey(struct store *, rekey_fn *, void *context);

/* With the same references. Bad: NULL. The index is made anew. */
void store_save(const struct store *, struct saver *);
struct store *store_load(struct loader *);

uint64_t store_count(const struct store *);
size_t store_bytes(const struct store *); /* in use, index and all */
/* What it takes at once when its index grows, and whether that is about to happen. */
size_t store_growth(const struct store *);
bool store_grows_soon(const struct store *);
size_t store_page(const struct store *); /* what it takes at once otherwise */
/* There is not enough memory for that: the index gets fuller before it grows, and grows by less. */
void store_tighten(struct store *);

#endif
