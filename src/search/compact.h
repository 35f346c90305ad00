/* Inside the store: records that hold signatures instead of keys (hash compaction: Wolper and Leroy 1993, Stern and Dill 1995).

   Two states with the same signature are taken for one. A signature is what the index has of a key's hash, segment and tag, and
   SIGNATURE_BITS more of another hash in the record. The keys themselves are kept for the layer that is being read and the one that
   is being made, each lane's one behind the other, in the order of its records.

   Records are terse, with signatures for keys. */
#ifndef RONDO_SEARCH_COMPACT_H
#define RONDO_SEARCH_COMPACT_H

#include "base/vec.h"
#include "search/records.h"

#define SIGNATURE_BYTES 5
#define SIGNATURE_BITS (8 * SIGNATURE_BYTES)

struct key_chunk {
  uint8_t *at;
  size_t used, pieces;
};
typedef VEC(struct key_chunk) key_log;

struct compact_lane {
  _Alignas(64) state_ref fresh_from; /* from here on keys are in `fresh`, before that, if at all, in `old` */
  key_log fresh, old;
};

struct compact {
  uint32_t bits; /* of a signature */
  _Atomic size_t key_bytes;
  struct compact_lane lane[STORE_LANES];
};

struct compact *compact_new(uint32_t bits);
void compact_free(struct store *);
bool compact_put(struct store *, uint32_t lane, const uint8_t *bytes, uint32_t length, uint64_t hash, uint64_t left_off,
                 state_ref parent, charge, state_ref *);
state_ref compact_find(const struct store *, const uint8_t *bytes, uint32_t length, uint64_t hash);
void compact_read_key(struct store_reader *); /* of the state that it has come to */
size_t compact_bytes(const struct store *);

#endif
