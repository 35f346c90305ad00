/* Internals of the visited set: records that hold signatures instead of keys (hash compaction: Wolper and Leroy 1993,
   Stern and Dill 1995).

   Two states with equal signatures are treated as equal. A signature consists of the segment and the tag, which the
   index holds, and of SIGNATURE_BITS of a second hash, which the record holds. The keys themselves are kept only for
   the layer being read and the layer being built, consecutively for each partition in the order of its records.

   Records are delta records with signatures in place of keys. */
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
  _Alignas(64) state_ref fresh_from; /* keys from this state on are in `fresh`, earlier ones in `old` if at all */
  key_log fresh, old;
};

struct hash_compaction {
  uint32_t bits; /* length of a signature */
  _Atomic size_t key_bytes;
  struct compaction_partition partition[MAX_PARTITIONS];
};

struct hash_compaction *compaction_new(uint32_t bits);
void compaction_free(struct visited_set *);
bool compaction_insert(struct visited_set *, uint32_t partition, const uint8_t *bytes, uint32_t length, uint64_t hash,
                       uint64_t probe_position, state_ref parent, fault_cost, state_ref *);
state_ref compaction_find(const struct visited_set *, const uint8_t *bytes, uint32_t length, uint64_t hash);
void compaction_read_key(struct visited_reader *); /* the key of the reader's current state */
size_t compaction_bytes(const struct visited_set *);

#endif
