/* Inside the visited set: records that hold signatures instead of keys (hash compaction: Wolper and Leroy 1993, Stern
   and Dill 1995).

   Two states with the same signature are taken for one. A signature is what the index has of a key's hash, segment and
   tag, and SIGNATURE_BITS more of another hash in the record. The keys themselves are kept for the layer that is being
   read and the one that is being made, each partition's one behind the other, in the order of its records.

   Records are delta, with signatures for keys. */
#ifndef RONDO_SEARCH_HASH_COMPACTION_H
#define RONDO_SEARCH_HASH_COMPACTION_H

#include "base/vec.h"
#include "search/visited_records.h"

#define SIGNATURE_BYTES 5
#define SIGNATURE_BITS (8 * SIGNATURE_BYTES)

struct key_chunk {
  uint8_t *at;
  size_t used, pieces;
};
typedef VEC(struct key_chunk) key_log;

struct compaction_partition {
  _Alignas(64) state_ref fresh_from; /* from here on keys are in `fresh`, before that, if at all, in `old` */
  key_log fresh, old;
};

struct hash_compaction {
  uint32_t bits; /* of a signature */
  _Atomic size_t key_bytes;
  struct compaction_partition partition[MAX_PARTITIONS];
};

struct hash_compaction *compaction_new(uint32_t bits);
void compaction_free(struct visited_set *);
bool compaction_insert(struct visited_set *, uint32_t partition, const uint8_t *bytes, uint32_t length, uint64_t hash,
                       uint64_t probe_position, state_ref parent, fault_cost, state_ref *);
state_ref compaction_find(const struct visited_set *, const uint8_t *bytes, uint32_t length, uint64_t hash);
void compaction_read_key(struct visited_reader *); /* of the state that it has come to */
size_t compaction_bytes(const struct visited_set *);

#endif
