#include "search/visited_records.h"

#include "base/memory.h"
#include "search/hash_compaction.h"
#include "search/huge_pages.h"
#include "search/visited_sharing.h"

#include <assert.h>

/* --- chunks --- */

/* Returns the number of the first of so many chunks, which are allocated together. */
static uint32_t chunks_take(struct visited_set *s, uint32_t partition, size_t pieces) {
  uint32_t first = atomic_fetch_add(&s->nchunks, (uint32_t)pieces);
  if (pieces > CHUNKS_MAX || first + pieces > CHUNKS_MAX)
    memory_resize_array(NULL, SIZE_MAX, 2); /* reports out of memory */
  uint8_t *at = pages_alloc(pieces << CHUNK_BITS);
  for (uint32_t i = 0; i < pieces; i++) {
    s->pages[first + i] = at + ((size_t)i << CHUNK_BITS);
    s->chunks[first + i] = (struct record_chunk){.used = i + 1 < pieces ? (uint32_t)CHUNK_SIZE : 0,
                                                 .next = i + 1 < pieces ? first + i + 1 : 0,
                                                 .pieces = i == 0 ? (uint32_t)pieces : 0,
                                                 .partition = partition};
  }
  return first;
}

#define BASE_NONE UINT64_MAX /* larger than every parent, so that no difference can be encoded */

void visited_partition_next_chunk(struct visited_set *s, uint32_t partition, size_t pieces) {
  struct visited_partition *l = &s->partition[partition];
  uint32_t first = chunks_take(s, partition, pieces);
  s->chunks[l->last].next = first;
  l->last = first + (uint32_t)pieces - 1;
  l->base = pieces == 1 ? 0 : BASE_NONE;
}

/* Reserves space for a record. It lies within one chunk unless it is longer than a chunk. */
static inline state_ref reserve(struct visited_set *s, uint32_t partition, size_t size) {
  struct visited_partition *l = &s->partition[partition];
  state_ref before = 0; /* the part of a long record in chunks that it fills */
  if (s->chunks[l->last].used + size + BEHIND > CHUNK_SIZE) {
    size_t pieces = (size >> CHUNK_BITS) + 1; /* the last one is never full */
    visited_partition_next_chunk(s, partition, pieces);
    before = (pieces - 1) << CHUNK_BITS;
  }
  struct record_chunk *last = &s->chunks[l->last];
  state_ref ref = ((state_ref)l->last << CHUNK_BITS | last->used) - before;
  last->used += (uint32_t)(size - before);
  return ref;
}

/* --- partitions --- */

void visited_partition_begin(struct visited_set *s, uint32_t partition) {
  s->partition[partition].last = chunks_take(s, partition, 1);
  s->chunks[s->partition[partition].last].used = FIRST; /* so that no record has position 0 */
  s->partitions = partition + 1;
}

void visited_partition_undo(struct visited_set *s, uint32_t partition, const struct partition_end *end) {
  s->partition[partition].last = end->last; /* if a chunk was started for the record, it is lost; that is rare */
  s->partition[partition].base = end->base;
  s->chunks[end->last].used = end->used;
  s->chunks[end->last].next = 0;
}

/* The start of the records of a chunk. */
static const uint8_t *first_in(const struct visited_set *s, uint32_t chunk) {
  state_ref first = visited_first_of(s, s->chunks[chunk].partition);
  return s->pages[chunk] + (first >> CHUNK_BITS == chunk ? FIRST : 0);
}

/* The parent of the last delta record before `end` in its chunk; it is the sum of all differences before it. */
static state_ref parent_before(const struct visited_set *s, uint32_t chunk, const uint8_t *end) {
  state_ref parent = 0;
  for (const uint8_t *at = first_in(s, chunk), *key; at < end;) {
    uint32_t length;
    fault_cost c;
    uint64_t far;
    key = record_key(s, at, &length, &c);
    number_read(at, &far);
    parent += delta_is_plain(at) ? 0 : far >> 1;
    at = key + length;
  }
  return parent;
}

void visited_partition_restore_base(struct visited_set *s, uint32_t partition) {
  uint32_t last = s->partition[partition].last;
  s->partition[partition].base =
      s->chunks[last].pieces == 0 ? BASE_NONE : parent_before(s, last, s->pages[last] + s->chunks[last].used);
}

/* --- writing --- */

static uint8_t *write_head(uint8_t *at, uint32_t length, fault_cost c) {
  at = number_write(at, (uint64_t)length << 1 | (c != 0));
  if (c != 0) {
    memcpy(at, &c, COST_BYTES);
    at += COST_BYTES;
  }
  return at;
}

static void write_parent(uint8_t *full, state_ref parent) { memcpy(full, &parent, PARENT_BYTES); /* little-endian */ }

/* The first key stored sets the common length, if it comes before the visited set is shared. */
static void note_common_length(struct visited_set *s, uint32_t length) {
  if (s->delta && !s->sharing && s->common_length == 0 && length <= DELTA_MAX_KEY)
    s->common_length = length;
}

/* If records are delta records, a byte 1 precedes it. */
uint8_t *plain_record_begin(struct visited_set *s, uint32_t partition, uint32_t length, state_ref parent, fault_cost c,
                            state_ref *ref) {
  uint8_t head[5 + COST_BYTES];
  size_t size = (size_t)(write_head(head, length, c) - head);
  note_common_length(s, length);
  *ref = reserve(s, partition, s->delta + PARENT_BYTES + size + length);
  uint8_t *record = record_at(s, *ref);
  if (s->delta)
    *record++ = 1;
  write_parent(record, parent);
  memcpy(record + PARENT_BYTES, head, size);
  return record + PARENT_BYTES + size;
}

state_ref record_append(struct visited_set *s, uint32_t partition, const uint8_t *bytes, uint32_t length,
                        state_ref parent, fault_cost c) {
  state_ref ref;
  uint8_t *key = record_begin(s, partition, length, parent, c, &ref);
  if (length > 0)
    memcpy(key, bytes, length);
  return ref;
}

_Static_assert(KEY_SHORT_BYTES < HEADER_SHORT_KEY, "their head is one byte");

/* --- one state --- */

static const uint8_t *full_at(const struct visited_set *s, state_ref ref) {
  const uint8_t *record = record_at(s, ref);
  return !s->delta ? record : delta_is_plain(record) ? record + 1 : NULL;
}

void visited_set_parent(struct visited_set *s, state_ref ref, state_ref parent, fault_cost c) {
  uint8_t *record = (uint8_t *)full_at(s, ref);
  uint32_t length;
  fault_cost before;
  assert(record); /* a delta record has no room for another parent */
  const uint8_t *key = plain_key(record, &length, &before);
  assert(before != 0 || c == 0); /* nor is there room for a cost if there was none */
  write_parent(record, parent);
  if (before != 0)
    memcpy((uint8_t *)key - COST_BYTES, &c, COST_BYTES);
}

bool visited_has_cost(const struct visited_set *s, state_ref ref) {
  const uint8_t *full = full_at(s, ref);
  return full && full[PARENT_BYTES] & 1;
}

void visited_improve_parent(struct visited_set *s, state_ref ref, state_ref parent, fault_cost c) {
  if (!visited_has_cost(s, ref))
    return;
  if (s->sharing)
    pthread_mutex_lock(&s->sharing->parent_lock);
  if (c < visited_cost(s, ref))
    visited_set_parent(s, ref, parent, c);
  if (s->sharing)
    pthread_mutex_unlock(&s->sharing->parent_lock);
}

struct stored visited_get_key(const struct visited_set *s, state_ref ref) {
  struct stored found = {.parent = STATE_REF_NONE};
  found.bytes = record_key(s, record_at(s, ref), &found.length, &found.fault_cost);
  return found;
}

struct stored visited_get(const struct visited_set *s, state_ref ref) {
  struct stored found = visited_get_key(s, ref);
  const uint8_t *full = full_at(s, ref);
  if (full) {
    found.parent = 0;
    memcpy(&found.parent, full, PARENT_BYTES);
  } else {
    state_ref base_parent = parent_before(s, (uint32_t)(ref >> CHUNK_BITS), found.bytes);
    found.parent = base_parent ? base_parent : STATE_REF_NONE;
  }
  return found;
}

state_ref parent_decode_next(const struct visited_set *s, struct parent_decoder *p, state_ref ref) {
  const uint8_t *full = full_at(s, ref);
  uint64_t chunk = (ref >> CHUNK_BITS) + 1, far = 0;
  state_ref parent = 0;
  if (chunk != p->chunk)
    *p = (struct parent_decoder){.chunk = chunk};
  if (full) {
    memcpy(&parent, full, PARENT_BYTES);
    return parent;
  }
  number_read(record_at(s, ref), &far);
  p->base_parent += far >> 1;
  return p->base_parent ? p->base_parent : STATE_REF_NONE;
}

fault_cost visited_cost(const struct visited_set *s, state_ref ref) { return visited_get_key(s, ref).fault_cost; }

/* --- iteration --- */

state_ref visited_first(void) { return FIRST; }

state_ref visited_first_of(const struct visited_set *s, uint32_t partition) {
  uint32_t i = 0;
  while (s->chunks[i].partition != partition)
    i++;
  return ((state_ref)i << CHUNK_BITS) + FIRST;
}

state_ref visited_from(const struct visited_set *s, state_ref ref) {
  const struct record_chunk *chunk = &s->chunks[ref >> CHUNK_BITS];
  if (chunk->next && (ref & (CHUNK_SIZE - 1)) >= chunk->used)
    ref = (state_ref)chunk->next << CHUNK_BITS; /* the rest of that chunk was too small for the next record */
  return ref;
}

static state_ref behind(const struct visited_set *s, state_ref ref) {
  struct stored at = visited_get_key(s, ref);
  return ref + (state_ref)(at.bytes + at.length - record_at(s, ref));
}

bool visited_has(const struct visited_set *s, state_ref ref) {
  uint32_t number = (uint32_t)(ref >> CHUNK_BITS);
  if (number >= s->nchunks || s->chunks[number].pieces == 0 || (ref & (CHUNK_SIZE - 1)) >= s->chunks[number].used)
    return false;
  state_ref at = ((state_ref)number << CHUNK_BITS) + (state_ref)(first_in(s, number) - s->pages[number]);
  while (at < ref)
    at = behind(s, at);
  return at == ref;
}

state_ref visited_next(const struct visited_set *s, state_ref ref) { return visited_from(s, behind(s, ref)); }

/* Data after `end` may belong to another thread that is writing there. */
bool visited_read_slow(struct visited_reader *r) {
  const struct visited_set *s = r->visited_set;
  if (r->next < r->end && r->next >> CHUNK_BITS != r->end >> CHUNK_BITS)
    r->next = visited_from(s, r->next);
  if (r->next >= r->end)
    return false;
  const struct record_chunk *chunk = &s->chunks[r->next >> CHUNK_BITS];
  size_t stop = r->next >> CHUNK_BITS == r->end >> CHUNK_BITS ? r->end & (CHUNK_SIZE - 1) : chunk->used;
  r->delta = s->delta;
  r->common_length = s->common_length;
  r->ref = r->next;
  r->stored = s->delta ? visited_get_key(s, r->ref) : visited_get(s, r->ref);
  r->next = behind(s, r->ref);
  r->stop = s->pages[r->ref >> CHUNK_BITS] + stop;
  r->at = r->next >> CHUNK_BITS == r->ref >> CHUNK_BITS ? record_at(s, r->next) : r->stop;
  if (s->compaction) {
    compaction_read_key(r);
    r->at = r->stop; /* each key is elsewhere */
  }
  return true;
}

state_ref visited_end_of(const struct visited_set *s, uint32_t partition) {
  return ((state_ref)s->partition[partition].last << CHUNK_BITS) + s->chunks[s->partition[partition].last].used;
}

state_ref visited_end(const struct visited_set *s) { return visited_end_of(s, 0); }

uint32_t visited_partition_of(const struct visited_set *s, state_ref ref) {
  return s->chunks[ref >> CHUNK_BITS].partition;
}
