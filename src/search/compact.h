/* Inside the store: records that hold signatures instead of keys (hash compaction: Wolper and Leroy 1993, Stern and Dill 1995).

   Two states with the same signature are taken for one. A signature is what the index has of a key's hash, segment and tag, and
   SIGNATURE_BITS more of another hash in the record. The keys themselves are kept for the layer that is being read and the one that
   is being made, each lane's one behind the other, in the order of its records.

   A record is: head (1 to 6 bytes, seven bits each), the signature (5). The head is how far the parent is from that of the record before
   it in the chunk, so mostly one byte. Where there is a charge both can change later: the head is 1, then parent (5) and charge (4). */
#ifndef RONDO_SEARCH_COMPACT_H
#define RONDO_SEARCH_COMPACT_H

#include "search/store_look.h"

#define SIGNATURE_BYTES 5
#define SIGNATURE_BITS (8 * SIGNATURE_BYTES)

struct key_chunk {
  uint8_t *at;
  size_t used, pieces;
};
typedef VEC(struct key_chunk) key_log;

struct compact_lane {
  _Alignas(64) state_ref base; /* the parent that the next record's is told from */
  state_ref fresh_from;        /* from here on keys are in `fresh`, before that, if at all, in `old` */
  key_log fresh, old;
};

struct compact {
  uint32_t bits; /* of a signature */
  _Atomic size_t key_bytes;
  struct compact_lane lane[STORE_LANES];
};

struct compact *compact_new(uint32_t bits);
void compact_free(struct store *);
bool compact_put(struct store *, uint32_t lane, const uint8_t *bytes, uint32_t length, uint64_t hash, uint32_t left_off,
                 state_ref parent, charge, state_ref *);
state_ref compact_find(const struct store *, const uint8_t *bytes, uint32_t length, uint64_t hash);
void compact_relink(struct store *, state_ref, state_ref parent, charge);
struct stored compact_at(const struct store *, state_ref); /* without the key */
charge compact_charge(const struct store *, state_ref);
bool compact_read_on(struct store_reader *);
size_t compact_bytes(const struct store *);

/* --- store.c, for this and for store_save.c --- */

struct store *store_without_lanes(void);
void store_index(struct store *, uint32_t lane, uint64_t hash, state_ref); /* a record that is not in the index */

/* Behind a record that is not longer than a chunk so many bytes can be read and written. */
#define BEHIND 32
state_ref store_reserve(struct store *, uint32_t lane, size_t size);
void store_take_back(struct store *, uint32_t lane, uint32_t last, uint32_t used); /* what was reserved when the lane ended there */
void store_filled(struct store *, uint32_t lane, struct segment *); /* a slot of it */
uint8_t *store_pages(struct store *, size_t pieces); /* chunks of memory, in one piece */
void store_pages_back(struct store *, uint8_t *, size_t pieces);

#endif
