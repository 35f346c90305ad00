/* Inside the store: records, and the chunks that they lie in.

   A full record is: parent (5 bytes), head (a number, 1 to 5), the charge if the head says so (4), the key. The head is twice
   the key's length, and one more if there is a charge: of most states it is 0. All but the key may change.

   A terse record is: how far its parent is from that of the terse record before it in the chunk, or from 0 (twice that, 1 to 6
   bytes, mostly one; none is 0), and a key of the usual length. Or it is 1 and a full record: if there is a charge, if the key's
   length is another, or if its parent comes before that other one. A store's records are all of one kind. */
#ifndef RONDO_SEARCH_RECORDS_H
#define RONDO_SEARCH_RECORDS_H

#include "search/store_look.h"

#define CHARGE_BYTES 4
#define HEAD_SHORT 64 /* keys shorter than that have a head of one byte */
#define TERSE_MOST 1024 /* bytes of a key */

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

/* The key of a full record, with its length, and the charge before it. */
static inline const uint8_t *full_key(const uint8_t *record, uint32_t *length, charge *c) {
  uint64_t head;
  const uint8_t *at = number_read(record + PARENT_BYTES, &head);
  *length = (uint32_t)(head >> 1);
  *c = 0;
  if (head & 1) {
    memcpy(c, at, CHARGE_BYTES);
    at += CHARGE_BYTES;
  }
  return at;
}

static inline bool terse_is_full(const uint8_t *record) { return *record & 1; }

/* Behind how far the parent is. */
static inline const uint8_t *terse_key(const uint8_t *record) {
  while (*record++ & 0x80) {
  }
  return record;
}

static inline const uint8_t *record_key(const struct store *s, const uint8_t *record, uint32_t *length, charge *c) {
  if (!s->terse)
    return full_key(record, length, c);
  if (terse_is_full(record))
    return full_key(record + 1, length, c);
  *length = s->usual;
  *c = 0;
  return terse_key(record);
}

/* To the lane; the caller knows that it is new. */
state_ref record_append(struct store *, uint32_t lane, const uint8_t *bytes, uint32_t length, state_ref parent, charge);
/* The parents of a lane's states, asked for one after the other from the first of a chunk on. */
struct parents {
  uint64_t chunk; /* of the last one, and one more */
  state_ref told;
};
state_ref parent_next(const struct store *, struct parents *, state_ref);

/* Where a lane ends: to take back what was appended since, because somebody else has put it there already. */
struct lane_end {
  uint32_t last, used;
  state_ref base;
};
static inline struct lane_end lane_end(const struct store *s, uint32_t lane) {
  const struct lane *l = &s->lane[lane];
  return (struct lane_end){l->last, s->chunks[l->last].used, l->base};
}
void lane_take_back(struct store *, uint32_t lane, const struct lane_end *);
void lane_begin(struct store *, uint32_t lane);
void lane_settle(struct store *, uint32_t lane); /* its records came from elsewhere: how it goes on */

/* --- without a call --- */

__attribute__((cold)) void lane_next_chunk(struct store *, uint32_t lane, size_t pieces);
/* The key's place in a full record, for which there is room. */
uint8_t *begin_full(struct store *, uint32_t lane, uint32_t length, state_ref parent, charge, state_ref *);

#define HEAD_MOST (POSITION_BITS / 7 + 1) /* bytes of how far a parent is */

/* A terse record up to its key, for which there is room. NULL: its parent cannot be told so. */
static inline uint8_t *begin_terse(struct store *s, uint32_t lane, uint32_t length, state_ref parent, state_ref *ref) {
  struct lane *l = &s->lane[lane];
  if (s->chunks[l->last].used + HEAD_MOST + length + BEHIND > CHUNK_SIZE)
    lane_next_chunk(s, lane, 1);
  state_ref told = parent == STORE_NONE ? 0 : parent; /* where no record stands */
  if (told < l->base)
    return NULL;
  struct chunk *last = &s->chunks[l->last];
  uint8_t *record = s->pages[l->last] + last->used, *key = number_write(record, (told - l->base) << 1);
  *ref = (state_ref)l->last << CHUNK_BITS | last->used;
  last->used += (uint32_t)(key - record) + length;
  l->base = told;
  return key;
}

static inline bool is_usual(const struct store *s, uint32_t length, charge c) { return length == s->usual && c == 0 && length > 0; }

/* Where its key goes. */
static inline uint8_t *record_begin(struct store *s, uint32_t lane, uint32_t length, state_ref parent, charge c, state_ref *ref) {
  uint8_t *key = is_usual(s, length, c) ? begin_terse(s, lane, length, parent, ref) : NULL;
  return key ? key : begin_full(s, lane, length, parent, c, ref);
}

/* record_append for the words of a short key. */
static inline state_ref record_append_words(struct store *s, uint32_t lane, const uint64_t *word, uint32_t length, state_ref parent,
                                            charge c) {
  state_ref ref;
  uint8_t *key = record_begin(s, lane, length, parent, c, &ref);
  memcpy(key, word, 16); /* there is room: the rest is overwritten by the next record */
  if (length > 16)
    memcpy(key + 16, word + 2, 16);
  return ref;
}

#endif
