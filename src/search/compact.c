#include "search/compact.h"

#include "base/hash.h"
#include "base/memory.h"
#include "search/pages.h"

struct compact *compact_new(uint32_t bits) {
  struct compact *c = memory_alloc_aligned(_Alignof(struct compact), sizeof *c);
  c->bits = bits;
  return c;
}

/* --- signatures --- */

#define SEED 0x2545F4914F6CDD1Du

/* Of few bits, for tests: then the index goes by the same few. */
static uint64_t signature_of(const struct store *s, const uint8_t *bytes, uint32_t length, uint64_t *hash) {
  uint32_t bits = s->compact->bits;
  uint64_t signature = hash_bytes_seeded(bytes, length, SEED) >> (64 - SIGNATURE_BITS);
  if (bits == STORE_SIGNATURE)
    return signature;
  signature &= (UINT64_C(1) << bits) - 1;
  *hash = store_folded(signature ^ SEED, 0x9E3779B97F4A7C15u);
  return signature;
}

static bool record_has(const struct store *s, state_ref ref, uint64_t signature) {
  uint64_t word;
  memcpy(&word, store_key(s, ref).bytes, sizeof word); /* little end first */
  return (word & ((UINT64_C(1) << SIGNATURE_BITS) - 1)) == signature;
}

/* --- keys --- */

static void keep_key(struct store *s, uint32_t lane, const uint8_t *bytes, uint32_t length) {
  key_log *log = &s->compact->lane[lane].fresh;
  size_t size = 5 + (size_t)length + BEHIND;
  struct key_chunk *last = log->n ? &log->at[log->n - 1] : NULL;
  if (!last || last->used + size > last->pieces << CHUNK_BITS) {
    size_t pieces = (size >> CHUNK_BITS) + 1;
    struct key_chunk more = {pages_alloc(pieces << CHUNK_BITS), 0, pieces};
    s->compact->key_bytes += pieces << CHUNK_BITS;
    vec_push(log, more);
    last = &log->at[log->n - 1];
  }
  uint8_t *at = last->at + last->used;
  at = number_write(at, length);
  if (length > 0)
    memcpy(at, bytes, length);
  last->used = (size_t)(at + length - last->at);
}

/* But for so many chunks, to begin with the next time. */
static void log_discard(struct store *s, key_log *log, size_t but) {
  while (log->n > but) {
    const struct key_chunk *last = &log->at[--log->n];
    pages_free(last->at, last->pieces << CHUNK_BITS);
    s->compact->key_bytes -= last->pieces << CHUNK_BITS;
  }
  if (log->n > 0)
    log->at[0].used = 0;
}

void store_turn(struct store *s) {
  for (uint32_t i = 0; s->compact && i < s->lanes; i++) {
    struct compact_lane *l = &s->compact->lane[i];
    log_discard(s, &l->old, 1);
    key_log emptied = l->old;
    l->old = l->fresh;
    l->fresh = emptied;
    l->fresh_from = store_end_of(s, i);
  }
}

void compact_free(struct store *s) {
  if (!s->compact)
    return;
  for (uint32_t i = 0; i < STORE_LANES; i++) {
    struct compact_lane *l = &s->compact->lane[i];
    log_discard(s, &l->old, 0);
    log_discard(s, &l->fresh, 0);
    vec_release(&l->old);
    vec_release(&l->fresh);
  }
  memory_free(s->compact);
}

static size_t unused_in(const key_log *log) {
  const struct key_chunk *last = log->n ? &log->at[log->n - 1] : NULL;
  return last ? (last->pieces << CHUNK_BITS) - last->used : 0;
}

size_t compact_bytes(const struct store *s) {
  const struct compact *c = s->compact;
  size_t unused = s->lanes > 1 ? 0 : unused_in(&c->lane[0].fresh) + unused_in(&c->lane[0].old);
  return sizeof *c + c->key_bytes - unused;
}

/* --- finding and adding --- */

bool compact_put(struct store *s, uint32_t lane, const uint8_t *bytes, uint32_t length, uint64_t hash, uint64_t left_off,
                 state_ref parent, charge c, state_ref *ref) {
  uint64_t asked = hash, signature = signature_of(s, bytes, length, &hash);
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  struct lane_end end = lane_end(s, lane);
  bool written = false;
  for (uint64_t *at = slot_from(g, tag, hash == asked ? left_off : 0);; at = next_slot(g, at)) {
    uint64_t slot = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (slot == 0) {
      if (!written)
        *ref = record_append(s, lane, (const uint8_t *)&signature, SIGNATURE_BYTES, parent, c); /* little end first */
      written = true;
      if (__atomic_compare_exchange_n(at, &slot, tag << POSITION_BITS | *ref, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
        keep_key(s, lane, bytes, length);
        store_filled(s, lane, g);
        return true;
      }
    }
    if (slot >> POSITION_BITS == tag && record_has(s, slot & POSITION_MASK, signature)) {
      if (written)
        lane_take_back(s, lane, &end);
      *ref = slot & POSITION_MASK;
      return false;
    }
  }
}

state_ref compact_find(const struct store *s, const uint8_t *bytes, uint32_t length, uint64_t hash) {
  uint64_t signature = signature_of(s, bytes, length, &hash), tag = tag_of(hash);
  const struct segment *g = segment_of(s, hash);
  for (uint64_t *at = home_of(g, tag);; at = next_slot(g, at)) {
    uint64_t slot = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (slot == 0)
      return STORE_NONE;
    if (slot >> POSITION_BITS == tag && record_has(s, slot & POSITION_MASK, signature))
      return slot & POSITION_MASK;
  }
}

/* --- a layer --- */

static void find_keys(struct store_reader *r) {
  const struct compact_lane *l = &r->store->compact->lane[store_lane(r->store, r->ref)];
  r->keys = r->ref >= l->fresh_from ? &l->fresh : &l->old;
}

void compact_read_key(struct store_reader *r) {
  if (!r->keys)
    find_keys(r);
  const key_log *log = r->keys;
  if (r->key_at == log->at[r->key_chunk].used) {
    r->key_chunk++;
    r->key_at = 0;
  }
  const struct key_chunk *chunk = &log->at[r->key_chunk];
  uint64_t length;
  r->stored.bytes = number_read(chunk->at + r->key_at, &length);
  r->stored.length = (uint32_t)length;
  r->key_at = (size_t)(r->stored.bytes + length - chunk->at);
}
