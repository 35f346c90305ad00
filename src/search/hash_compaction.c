#include "search/hash_compaction.h"

#include "base/hash.h"
#include "base/memory.h"
#include "search/huge_pages.h"

struct hash_compaction *compaction_new(uint32_t bits) {
  struct hash_compaction *c = memory_alloc_aligned(_Alignof(struct hash_compaction), sizeof *c);
  c->bits = bits;
  return c;
}

/* --- signatures --- */

#define SEED 0x2545F4914F6CDD1Du

/* With few bits, for tests, the hash for the index is derived from the signature as well. */
static uint64_t signature_of(const struct visited_set *s, const uint8_t *bytes, uint32_t length, uint64_t *hash) {
  uint32_t bits = s->compaction->bits;
  uint64_t signature = hash_bytes_seeded(bytes, length, SEED) >> (64 - SIGNATURE_BITS);
  if (bits == SIGNATURE_TOTAL_BITS)
    return signature;
  signature &= (UINT64_C(1) << bits) - 1;
  *hash = hash_fold(signature ^ SEED, 0x9E3779B97F4A7C15u);
  return signature;
}

static bool record_has(const struct visited_set *s, state_ref ref, uint64_t signature) {
  uint64_t word;
  memcpy(&word, visited_get_key(s, ref).bytes, sizeof word); /* little-endian */
  return (word & ((UINT64_C(1) << SIGNATURE_BITS) - 1)) == signature;
}

/* --- keys --- */

static void keep_key(struct visited_set *s, uint32_t partition, const uint8_t *bytes, uint32_t length) {
  key_log *log = &s->compaction->partition[partition].fresh;
  size_t size = 5 + (size_t)length + BEHIND;
  struct key_chunk *last = log->n ? &log->at[log->n - 1] : NULL;
  if (!last || last->used + size > last->pieces << CHUNK_BITS) {
    size_t pieces = (size >> CHUNK_BITS) + 1;
    struct key_chunk more = {pages_alloc(pieces << CHUNK_BITS), 0, pieces};
    s->compaction->key_bytes += pieces << CHUNK_BITS;
    vec_push(log, more);
    last = &log->at[log->n - 1];
  }
  uint8_t *at = last->at + last->used;
  at = number_write(at, length);
  if (length > 0)
    memcpy(at, bytes, length);
  last->used = (size_t)(at + length - last->at);
}

/* Keeps so many chunks for reuse. */
static void log_discard(struct visited_set *s, key_log *log, size_t but) {
  while (log->n > but) {
    const struct key_chunk *last = &log->at[--log->n];
    pages_free(last->at, last->pieces << CHUNK_BITS);
    s->compaction->key_bytes -= last->pieces << CHUNK_BITS;
  }
  if (log->n > 0)
    log->at[0].used = 0;
}

void visited_next_layer(struct visited_set *s) {
  for (uint32_t i = 0; s->compaction && i < s->partitions; i++) {
    struct compaction_partition *l = &s->compaction->partition[i];
    log_discard(s, &l->old, 1);
    key_log emptied = l->old;
    l->old = l->fresh;
    l->fresh = emptied;
    l->fresh_from = visited_end_of(s, i);
  }
}

void compaction_free(struct visited_set *s) {
  if (!s->compaction)
    return;
  for (uint32_t i = 0; i < MAX_PARTITIONS; i++) {
    struct compaction_partition *l = &s->compaction->partition[i];
    log_discard(s, &l->old, 0);
    log_discard(s, &l->fresh, 0);
    vec_release(&l->old);
    vec_release(&l->fresh);
  }
  memory_free(s->compaction);
}

static size_t unused_in(const key_log *log) {
  const struct key_chunk *last = log->n ? &log->at[log->n - 1] : NULL;
  return last ? (last->pieces << CHUNK_BITS) - last->used : 0;
}

size_t compaction_bytes(const struct visited_set *s) {
  const struct hash_compaction *c = s->compaction;
  size_t unused = s->partitions > 1 ? 0 : unused_in(&c->partition[0].fresh) + unused_in(&c->partition[0].old);
  return sizeof *c + c->key_bytes - unused;
}

/* --- look-up and insertion --- */

bool compaction_insert(struct visited_set *s, uint32_t partition, const uint8_t *bytes, uint32_t length, uint64_t hash,
                       uint64_t probe_position, state_ref parent, fault_cost c, state_ref *ref) {
  uint64_t asked = hash, signature = signature_of(s, bytes, length, &hash);
  struct index_segment *g = (struct index_segment *)index_segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  struct partition_end end = partition_end(s, partition);
  bool written = false;
  for (uint64_t *at = probe_start(g, tag, hash == asked ? probe_position : 0);; at = next_slot(g, at)) {
    uint64_t slot = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (slot == 0) {
      if (!written)
        *ref = record_append(s, partition, (const uint8_t *)&signature, SIGNATURE_BYTES, parent, c); /* little-endian */
      written = true;
      if (__atomic_compare_exchange_n(at, &slot, tag << POSITION_BITS | *ref, false, __ATOMIC_RELEASE,
                                      __ATOMIC_ACQUIRE)) {
        keep_key(s, partition, bytes, length);
        visited_slot_filled(s, partition, g);
        return true;
      }
    }
    if (slot >> POSITION_BITS == tag && record_has(s, slot & POSITION_MASK, signature)) {
      if (written)
        visited_partition_undo(s, partition, &end);
      *ref = slot & POSITION_MASK;
      return false;
    }
  }
}

state_ref compaction_find(const struct visited_set *s, const uint8_t *bytes, uint32_t length, uint64_t hash) {
  uint64_t signature = signature_of(s, bytes, length, &hash), tag = tag_of(hash);
  const struct index_segment *g = index_segment_of(s, hash);
  for (uint64_t *at = home_bucket(g, tag);; at = next_slot(g, at)) {
    uint64_t slot = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (slot == 0)
      return STATE_REF_NONE;
    if (slot >> POSITION_BITS == tag && record_has(s, slot & POSITION_MASK, signature))
      return slot & POSITION_MASK;
  }
}

/* --- reading a layer --- */

static void find_keys(struct visited_reader *r) {
  const struct compaction_partition *l =
      &r->visited_set->compaction->partition[visited_partition_of(r->visited_set, r->ref)];
  r->keys = r->ref >= l->fresh_from ? &l->fresh : &l->old;
}

void compaction_read_key(struct visited_reader *r) {
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
