/* Internals of the visited set: records, and the chunks that hold them.

   A plain record consists of the parent (5 bytes), a header (varint, 1 to 5 bytes), the fault cost if there is one (4
   bytes), and the key. The header is twice the key's length, plus one if there is a fault cost; for most states the
   cost is 0 and is left out. Everything but the key may change.

   A delta record consists of the difference between its parent and that of the previous delta record in the chunk (0
   for the first; the number stored is twice the difference, 1 to 6 bytes, usually one; no parent counts as 0), and a
   key of length common_length. Alternatively it is the byte 1 followed by a plain record: if there is a fault cost, if
   the key has another length, or if the parent is smaller than the previous one.

   All records of a visited set are of the same kind. */
#ifndef RONDO_SEARCH_VISITED_RECORDS_H
#define RONDO_SEARCH_VISITED_RECORDS_H

#include "search/visited_index.h"

#define COST_BYTES 4
#define HEADER_SHORT_KEY 64 /* shorter keys have a header of one byte */
#define DELTA_MAX_KEY 1024  /* longest key in bytes */

/* So many bytes after a record that fits into a chunk can be read and written. */
#define BEHIND 32

/* Varint: seven bits per byte, least significant first; every byte but the last has bit 7 set. Returns the address
   after it. */
static inline const uint8_t *number_read(const uint8_t *at, uint64_t *number) {
  *number = *at & 0x7F;
  for (unsigned shift = 7; *at++ & 0x80; shift += 7)
    *number |= (uint64_t)(*at & 0x7F) << shift;
  return at;
}
static inline uint8_t *number_write(uint8_t *at, uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    *at++ = (uint8_t)(number | 0x80);
  *at++ = (uint8_t)number;
  return at;
}

/* The key of a plain record, its length and its fault cost. */
static inline const uint8_t *plain_key(const uint8_t *record, uint32_t *length, fault_cost *c) {
  uint64_t head;
  const uint8_t *at = number_read(record + PARENT_BYTES, &head);
  *length = (uint32_t)(head >> 1);
  *c = 0;
  if (head & 1) {
    memcpy(c, at, COST_BYTES);
    at += COST_BYTES;
  }
  return at;
}

static inline bool delta_is_plain(const uint8_t *record) { return *record & 1; }

/* The key follows the parent's difference. */
static inline const uint8_t *delta_key(const uint8_t *record) {
  while (*record++ & 0x80) {
  }
  return record;
}

static inline const uint8_t *record_key(const struct visited_set *s, const uint8_t *record, uint32_t *length,
                                        fault_cost *c) {
  if (!s->delta)
    return plain_key(record, length, c);
  if (delta_is_plain(record))
    return plain_key(record + 1, length, c);
  *length = s->common_length;
  *c = 0;
  return delta_key(record);
}

/* Appends to the partition; the caller knows that the key is new. */
state_ref record_append(struct visited_set *, uint32_t partition, const uint8_t *bytes, uint32_t length,
                        state_ref parent, fault_cost);
/* Decodes the parents of a partition's states, which must be requested in order from the first state of a chunk. */
struct parent_decoder {
  uint64_t chunk; /* 1 + the chunk of the last state */
  state_ref base_parent;
};
state_ref parent_decode_next(const struct visited_set *, struct parent_decoder *, state_ref);

/* The end of a partition, used to undo an append when another thread has inserted the same key first. */
struct partition_end {
  uint32_t last, used;
  state_ref base;
};
static inline struct partition_end partition_end(const struct visited_set *s, uint32_t partition) {
  const struct visited_partition *l = &s->partition[partition];
  return (struct partition_end){l->last, s->chunks[l->last].used, l->base};
}
void visited_partition_undo(struct visited_set *, uint32_t partition, const struct partition_end *);
void visited_partition_begin(struct visited_set *, uint32_t partition);
/* Restores `base` after the partition's records were loaded. */
void visited_partition_restore_base(struct visited_set *, uint32_t partition);

/* --- inline --- */

__attribute__((cold)) void visited_partition_next_chunk(struct visited_set *, uint32_t partition, size_t pieces);
/* Allocates a plain record and returns the address of its key. */
uint8_t *plain_record_begin(struct visited_set *, uint32_t partition, uint32_t length, state_ref parent, fault_cost,
                            state_ref *);

#define HEADER_MAX_BYTES (POSITION_BITS / 7 + 1) /* longest encoding of a parent's difference */

/* Allocates a delta record, writes everything but the key, and returns the address of the key. NULL: the parent cannot
   be encoded as a difference. */
static inline uint8_t *delta_record_begin(struct visited_set *s, uint32_t partition, uint32_t length, state_ref parent,
                                          state_ref *ref) {
  struct visited_partition *l = &s->partition[partition];
  if (s->chunks[l->last].used + HEADER_MAX_BYTES + length + BEHIND > CHUNK_SIZE)
    visited_partition_next_chunk(s, partition, 1);
  state_ref base_parent = parent == STATE_REF_NONE ? 0 : parent; /* no record has position 0 */
  if (base_parent < l->base)
    return NULL;
  struct record_chunk *last = &s->chunks[l->last];
  uint8_t *record = s->pages[l->last] + last->used, *key = number_write(record, (base_parent - l->base) << 1);
  *ref = (state_ref)l->last << CHUNK_BITS | last->used;
  last->used += (uint32_t)(key - record) + length;
  l->base = base_parent;
  return key;
}

static inline bool has_common_length(const struct visited_set *s, uint32_t length, fault_cost c) {
  return length == s->common_length && c == 0 && length > 0;
}

/* Allocates a record of either kind and returns the address of its key. */
static inline uint8_t *record_begin(struct visited_set *s, uint32_t partition, uint32_t length, state_ref parent,
                                    fault_cost c, state_ref *ref) {
  uint8_t *key = has_common_length(s, length, c) ? delta_record_begin(s, partition, length, parent, ref) : NULL;
  return key ? key : plain_record_begin(s, partition, length, parent, c, ref);
}

/* record_append for the words of a short key. */
static inline state_ref record_append_words(struct visited_set *s, uint32_t partition, const uint64_t *word,
                                            uint32_t length, state_ref parent, fault_cost c) {
  state_ref ref;
  uint8_t *key = record_begin(s, partition, length, parent, c, &ref);
  memcpy(key, word, 16); /* there is room: the next record overwrites the rest */
  if (length > 16)
    memcpy(key + 16, word + 2, 16);
  return ref;
}

#endif
