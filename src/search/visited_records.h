/* Inside the visited set: records, and the chunks that they lie in.

   A full record is: parent (5 bytes), head (a number, 1 to 5), the fault_cost if the head says so (4), the key. The
   head is twice the key's length, and one more if there is a fault_cost: of most states it is 0. All but the key may
   change.

   A delta record is: how far its parent is from that of the delta record before it in the chunk, or from 0 (twice that,
   1 to 6 bytes, mostly one; none is 0), and a key of the common_length length. Or it is 1 and a full record: if there
   is a fault_cost, if the key's length is another, or if its parent comes before that other one. A visited set's
   records are all of one kind. */
#ifndef RONDO_SEARCH_VISITED_RECORDS_H
#define RONDO_SEARCH_VISITED_RECORDS_H

#include "search/visited_index.h"

#define COST_BYTES 4
#define HEADER_SHORT_KEY 64 /* keys shorter than that have a head of one byte */
#define DELTA_MAX_KEY 1024  /* bytes of a key */

/* Behind a record that is not longer than a chunk so many bytes can be read and written. */
#define BEHIND 32

/* A number, seven bits a byte, the lowest first; all but the last byte have the eighth one set. What is behind it. */
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

/* The key of a full record, with its length, and the fault_cost before it. */
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

/* Behind how far the parent is. */
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

/* To the partition; the caller knows that it is new. */
state_ref record_append(struct visited_set *, uint32_t partition, const uint8_t *bytes, uint32_t length,
                        state_ref parent, fault_cost);
/* The parents of a partition's states, asked for one after the other from the first of a chunk on. */
struct parent_decoder {
  uint64_t chunk; /* of the last one, and one more */
  state_ref base_parent;
};
state_ref parent_decode_next(const struct visited_set *, struct parent_decoder *, state_ref);

/* Where a partition ends: to take back what was appended since, because somebody else has put it there already. */
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
void visited_partition_restore_base(struct visited_set *,
                                    uint32_t partition); /* its records came from elsewhere: how it goes on */

/* --- without a call --- */

__attribute__((cold)) void visited_partition_next_chunk(struct visited_set *, uint32_t partition, size_t pieces);
/* The key's place in a full record, for which there is room. */
uint8_t *plain_record_begin(struct visited_set *, uint32_t partition, uint32_t length, state_ref parent, fault_cost,
                            state_ref *);

#define HEADER_MAX_BYTES (POSITION_BITS / 7 + 1) /* bytes of how far a parent is */

/* A delta record up to its key, for which there is room. NULL: its parent cannot be base_parent so. */
static inline uint8_t *delta_record_begin(struct visited_set *s, uint32_t partition, uint32_t length, state_ref parent,
                                          state_ref *ref) {
  struct visited_partition *l = &s->partition[partition];
  if (s->chunks[l->last].used + HEADER_MAX_BYTES + length + BEHIND > CHUNK_SIZE)
    visited_partition_next_chunk(s, partition, 1);
  state_ref base_parent = parent == STATE_REF_NONE ? 0 : parent; /* where no record stands */
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

/* Where its key goes. */
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
  memcpy(key, word, 16); /* there is room: the rest is overwritten by the next record */
  if (length > 16)
    memcpy(key + 16, word + 2, 16);
  return ref;
}

#endif
