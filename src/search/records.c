#include "search/records.h"

#include "base/memory.h"
#include "search/compact.h"
#include "search/pages.h"
#include "search/sharing.h"

#include <assert.h>

/* --- chunks --- */

/* The number of the first of so many, which are allocated together. */
static uint32_t chunks_take(struct store *s, uint32_t lane, size_t pieces) {
  uint32_t first = atomic_fetch_add(&s->nchunks, (uint32_t)pieces);
  if (pieces > CHUNKS_MOST || first + pieces > CHUNKS_MOST)
    memory_resize_array(NULL, SIZE_MAX, 2); /* as good as out of memory */
  uint8_t *at = pages_alloc(pieces << CHUNK_BITS);
  for (uint32_t i = 0; i < pieces; i++) {
    s->pages[first + i] = at + ((size_t)i << CHUNK_BITS);
    s->chunks[first + i] = (struct chunk){.used = i + 1 < pieces ? (uint32_t)CHUNK_SIZE : 0,
                                          .next = i + 1 < pieces ? first + i + 1 : 0,
                                          .pieces = i == 0 ? (uint32_t)pieces : 0,
                                          .lane = lane};
  }
  return first;
}

#define BASE_NONE UINT64_MAX /* no parent is told from it */

void lane_next_chunk(struct store *s, uint32_t lane, size_t pieces) {
  struct lane *l = &s->lane[lane];
  uint32_t first = chunks_take(s, lane, pieces);
  s->chunks[l->last].next = first;
  l->last = first + (uint32_t)pieces - 1;
  l->base = pieces == 1 ? 0 : BASE_NONE;
}

/* Room for a record that does not straddle chunks, unless it is longer than one. */
static inline state_ref reserve(struct store *s, uint32_t lane, size_t size) {
  struct lane *l = &s->lane[lane];
  state_ref before = 0; /* in chunks that a long one fills */
  if (s->chunks[l->last].used + size + BEHIND > CHUNK_SIZE) {
    size_t pieces = (size >> CHUNK_BITS) + 1; /* the last one is never full */
    lane_next_chunk(s, lane, pieces);
    before = (pieces - 1) << CHUNK_BITS;
  }
  struct chunk *last = &s->chunks[l->last];
  state_ref ref = ((state_ref)l->last << CHUNK_BITS | last->used) - before;
  last->used += (uint32_t)(size - before);
  return ref;
}

/* --- lanes --- */

void lane_begin(struct store *s, uint32_t lane) {
  s->lane[lane].last = chunks_take(s, lane, 1);
  s->chunks[s->lane[lane].last].used = FIRST; /* so that no record stands at 0 */
  s->lanes = lane + 1;
}

void lane_take_back(struct store *s, uint32_t lane, const struct lane_end *end) {
  s->lane[lane].last = end->last; /* a chunk that was begun for it is lost; that is rare */
  s->lane[lane].base = end->base;
  s->chunks[end->last].used = end->used;
  s->chunks[end->last].next = 0;
}

/* Where the records of a chunk begin. */
static const uint8_t *first_in(const struct store *s, uint32_t chunk) {
  state_ref first = store_first_of(s, s->chunks[chunk].lane);
  return s->pages[chunk] + (first >> CHUNK_BITS == chunk ? FIRST : 0);
}

/* The parent of the last terse record before `end` in its chunk: all those before it lead there. */
static state_ref parent_before(const struct store *s, uint32_t chunk, const uint8_t *end) {
  state_ref parent = 0;
  for (const uint8_t *at = first_in(s, chunk), *key; at < end;) {
    uint32_t length;
    charge c;
    uint64_t far;
    key = record_key(s, at, &length, &c);
    number_read(at, &far);
    parent += terse_is_full(at) ? 0 : far >> 1;
    at = key + length;
  }
  return parent;
}

void lane_settle(struct store *s, uint32_t lane) {
  uint32_t last = s->lane[lane].last;
  s->lane[lane].base = s->chunks[last].pieces == 0 ? BASE_NONE : parent_before(s, last, s->pages[last] + s->chunks[last].used);
}

/* --- writing --- */

static uint8_t *write_head(uint8_t *at, uint32_t length, charge c) {
  at = number_write(at, (uint64_t)length << 1 | (c != 0));
  if (c != 0) {
    memcpy(at, &c, CHARGE_BYTES);
    at += CHARGE_BYTES;
  }
  return at;
}

static void write_parent(uint8_t *full, state_ref parent) { memcpy(full, &parent, PARENT_BYTES); /* little end first */ }

/* The first one that there is says what is usual, if it comes before the store is shared. */
static void find_usual(struct store *s, uint32_t length) {
  if (s->terse && !s->sharing && s->usual == 0 && length <= TERSE_MOST)
    s->usual = length;
}

/* In a store of terse ones, with a 1 before it. */
uint8_t *begin_full(struct store *s, uint32_t lane, uint32_t length, state_ref parent, charge c, state_ref *ref) {
  uint8_t head[5 + CHARGE_BYTES];
  size_t size = (size_t)(write_head(head, length, c) - head);
  find_usual(s, length);
  *ref = reserve(s, lane, s->terse + PARENT_BYTES + size + length);
  uint8_t *record = record_at(s, *ref);
  if (s->terse)
    *record++ = 1;
  write_parent(record, parent);
  memcpy(record + PARENT_BYTES, head, size);
  return record + PARENT_BYTES + size;
}

state_ref record_append(struct store *s, uint32_t lane, const uint8_t *bytes, uint32_t length, state_ref parent, charge c) {
  state_ref ref;
  uint8_t *key = record_begin(s, lane, length, parent, c, &ref);
  if (length > 0)
    memcpy(key, bytes, length);
  return ref;
}

_Static_assert(STORE_SHORT < HEAD_SHORT, "their head is one byte");

/* --- one state --- */

static const uint8_t *full_at(const struct store *s, state_ref ref) {
  const uint8_t *record = record_at(s, ref);
  return !s->terse ? record : terse_is_full(record) ? record + 1 : NULL;
}

void store_relink(struct store *s, state_ref ref, state_ref parent, charge c) {
  uint8_t *record = (uint8_t *)full_at(s, ref);
  uint32_t length;
  charge before;
  assert(record); /* else there is no room for it */
  const uint8_t *key = full_key(record, &length, &before);
  assert(before != 0 || c == 0); /* nor here */
  write_parent(record, parent);
  if (before != 0)
    memcpy((uint8_t *)key - CHARGE_BYTES, &c, CHARGE_BYTES);
}

bool store_charged(const struct store *s, state_ref ref) {
  const uint8_t *full = full_at(s, ref);
  return full && full[PARENT_BYTES] & 1;
}

void store_cheapen(struct store *s, state_ref ref, state_ref parent, charge c) {
  if (!store_charged(s, ref))
    return;
  if (s->sharing)
    pthread_mutex_lock(&s->sharing->relinks);
  if (c < store_charge(s, ref))
    store_relink(s, ref, parent, c);
  if (s->sharing)
    pthread_mutex_unlock(&s->sharing->relinks);
}

struct stored store_key(const struct store *s, state_ref ref) {
  struct stored found = {.parent = STORE_NONE};
  found.bytes = record_key(s, record_at(s, ref), &found.length, &found.charge);
  return found;
}

struct stored store_at(const struct store *s, state_ref ref) {
  struct stored found = store_key(s, ref);
  const uint8_t *full = full_at(s, ref);
  if (full) {
    found.parent = 0;
    memcpy(&found.parent, full, PARENT_BYTES);
  } else {
    state_ref told = parent_before(s, (uint32_t)(ref >> CHUNK_BITS), found.bytes);
    found.parent = told ? told : STORE_NONE;
  }
  return found;
}

state_ref parent_next(const struct store *s, struct parents *p, state_ref ref) {
  const uint8_t *full = full_at(s, ref);
  uint64_t chunk = (ref >> CHUNK_BITS) + 1, far = 0;
  state_ref parent = 0;
  if (chunk != p->chunk)
    *p = (struct parents){.chunk = chunk};
  if (full) {
    memcpy(&parent, full, PARENT_BYTES);
    return parent;
  }
  number_read(record_at(s, ref), &far);
  p->told += far >> 1;
  return p->told ? p->told : STORE_NONE;
}

charge store_charge(const struct store *s, state_ref ref) { return store_key(s, ref).charge; }

/* --- all of them --- */

state_ref store_first(void) { return FIRST; }

state_ref store_first_of(const struct store *s, uint32_t lane) {
  uint32_t i = 0;
  while (s->chunks[i].lane != lane)
    i++;
  return ((state_ref)i << CHUNK_BITS) + FIRST;
}

state_ref store_from(const struct store *s, state_ref ref) {
  const struct chunk *chunk = &s->chunks[ref >> CHUNK_BITS];
  if (chunk->next && (ref & (CHUNK_SIZE - 1)) >= chunk->used)
    ref = (state_ref)chunk->next << CHUNK_BITS; /* the rest of that chunk was too small for what followed */
  return ref;
}

static state_ref behind(const struct store *s, state_ref ref) {
  struct stored at = store_key(s, ref);
  return ref + (state_ref)(at.bytes + at.length - record_at(s, ref));
}

bool store_has(const struct store *s, state_ref ref) {
  uint32_t number = (uint32_t)(ref >> CHUNK_BITS);
  if (number >= s->nchunks || s->chunks[number].pieces == 0 || (ref & (CHUNK_SIZE - 1)) >= s->chunks[number].used)
    return false;
  state_ref at = ((state_ref)number << CHUNK_BITS) + (state_ref)(first_in(s, number) - s->pages[number]);
  while (at < ref)
    at = behind(s, at);
  return at == ref;
}

state_ref store_next(const struct store *s, state_ref ref) { return store_from(s, behind(s, ref)); }

/* What comes after the end is somebody else's, who may be writing there. */
bool store_read_on(struct store_reader *r) {
  const struct store *s = r->store;
  if (r->next < r->end && r->next >> CHUNK_BITS != r->end >> CHUNK_BITS)
    r->next = store_from(s, r->next);
  if (r->next >= r->end)
    return false;
  const struct chunk *chunk = &s->chunks[r->next >> CHUNK_BITS];
  size_t stop = r->next >> CHUNK_BITS == r->end >> CHUNK_BITS ? r->end & (CHUNK_SIZE - 1) : chunk->used;
  r->terse = s->terse;
  r->usual = s->usual;
  r->ref = r->next;
  r->stored = s->terse ? store_key(s, r->ref) : store_at(s, r->ref);
  r->next = behind(s, r->ref);
  r->stop = s->pages[r->ref >> CHUNK_BITS] + stop;
  r->at = r->next >> CHUNK_BITS == r->ref >> CHUNK_BITS ? record_at(s, r->next) : r->stop;
  if (s->compact) {
    compact_read_key(r);
    r->at = r->stop; /* each key is elsewhere */
  }
  return true;
}

state_ref store_end_of(const struct store *s, uint32_t lane) {
  return ((state_ref)s->lane[lane].last << CHUNK_BITS) + s->chunks[s->lane[lane].last].used;
}

state_ref store_end(const struct store *s) { return store_end_of(s, 0); }

uint32_t store_lane(const struct store *s, state_ref ref) { return s->chunks[ref >> CHUNK_BITS].lane; }
