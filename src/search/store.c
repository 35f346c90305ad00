#include "search/compact.h"
#include "search/sharing.h"

#include "base/hash.h"
#include "base/memory.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

/* Look-ups hit memory at random, and half of what they cost is address translation: large arrays
   ask for huge pages. Contents are undefined. */
static void *pages_alloc(size_t size) {
  if (size < HUGE_PAGE)
    return memory_alloc(size);
  uint8_t *at = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return memory_alloc(SIZE_MAX / 2); /* which knows what to do when there is no memory */
  size_t before = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
  if (before)
    munmap(at, before);
  munmap(at + before + size, HUGE_PAGE - before);
  madvise(at + before, size, MADV_HUGEPAGE);
  return at + before;
}

static void pages_free(void *at, size_t size) {
  if (size < HUGE_PAGE)
    memory_free(at);
  else
    munmap(at, size);
}

/* Zeros, of which most are never touched. */
static void *sparse_alloc(size_t size) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at != MAP_FAILED ? at : memory_alloc(SIZE_MAX / 2); /* which knows what to do when there is no memory */
}

static size_t slots_bytes(uint32_t lines) { return (size_t)lines * LINE_SLOTS * sizeof(uint64_t); }

struct store *store_without_lanes(void) {
  struct store *s = memory_alloc_aligned(_Alignof(struct store), sizeof *s);
  for (uint32_t i = 0; i < SEGMENTS; i++) {
    s->segment[i] = (struct segment){.lines = FIRST_LINES, .slots = pages_alloc(slots_bytes(FIRST_LINES)), .age = 1};
  }
  s->index_bytes = SEGMENTS * slots_bytes(FIRST_LINES);
  s->head_at = PARENT_BYTES;
  s->plain = true;
  s->chunks = sparse_alloc(CHUNKS_MOST * sizeof *s->chunks);
  s->pages = sparse_alloc(CHUNKS_MOST * sizeof *s->pages);
  return s;
}

struct store *store_new(void) {
  struct store *s = store_without_lanes();
  store_begin_lane(s, 0);
  return s;
}

_Static_assert(STORE_SIGNATURE == SEGMENT_BITS + TAG_BITS + SIGNATURE_BITS, "what a signature is");
_Static_assert(STORE_SIGNATURE_FEW == SIGNATURE_BITS, "and one for tests");

struct store *store_new_compact(uint32_t bits) {
  struct store *s = store_without_lanes();
  s->compact = compact_new(bits);
  s->head_at = 0;
  s->plain = false;
  s->tight = true;
  store_begin_lane(s, 0);
  return s;
}

uint32_t store_signature(const struct store *s) { return s->compact ? s->compact->bits : 0; }

_Static_assert(STORE_MOST * 4 <= (UINT64_C(3) << (SEGMENT_BITS + TAG_BITS)), "as large as can be, there is still room");

void store_free(struct store *s) {
  if (!s)
    return;
  compact_free(s);
  for (uint32_t i = 0; i < SEGMENTS; i++)
    pages_free(s->segment[i].slots, slots_bytes(s->segment[i].lines));
  for (uint32_t i = 0; i < s->nchunks; i++)
    if (s->chunks[i].pieces)
      pages_free(s->pages[i], (size_t)s->chunks[i].pieces << CHUNK_BITS);
  munmap(s->chunks, CHUNKS_MOST * sizeof *s->chunks);
  munmap(s->pages, CHUNKS_MOST * sizeof *s->pages);
  for (size_t i = 0; i < s->spare.n; i++)
    pages_free(s->spare.at[i], CHUNK_SIZE);
  vec_release(&s->spare);
  sharing_free(s->sharing);
  memory_free(s);
}

static uint64_t word_at(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

uint64_t store_hash(const uint8_t *bytes, uint32_t length) {
  if (length > STORE_SHORT)
    return hash_bytes(bytes, length);
  uint8_t whole[STORE_SHORT] = {0};
  struct short_key key;
  if (length > 0)
    memcpy(whole, bytes, length);
  store_words(whole, length, &key);
  return store_hash_short(&key, length);
}

static uint8_t *write_head(uint8_t *at, uint32_t length, charge c) {
  uint64_t head = (uint64_t)length << 1 | (c != 0);
  for (; head >= 0x80; head >>= 7)
    *at++ = (uint8_t)(head | 0x80);
  *at++ = (uint8_t)head;
  if (c != 0) {
    memcpy(at, &c, CHARGE_BYTES);
    at += CHARGE_BYTES;
  }
  return at;
}

static void write_parent(uint8_t *record, state_ref parent) {
  memcpy(record, &parent, PARENT_BYTES); /* little end first */
}

/* Keys are short: no call. */
static bool same_bytes(const uint8_t *a, const uint8_t *b, uint32_t n) {
  if (n < 8) {
    for (; n > 0; n--)
      if (*a++ != *b++)
        return false;
    return true;
  }
  for (uint32_t i = 0; i + 8 < n; i += 8)
    if (word_at(a + i) != word_at(b + i))
      return false;
  return word_at(a + n - 8) == word_at(b + n - 8);
}

static bool record_is(const struct store *s, state_ref ref, const uint8_t *bytes, uint32_t length) {
  uint32_t n;
  charge c;
  const uint8_t *key = read_head(record_at(s, ref), &n, &c);
  return n == length && same_bytes(key, bytes, length);
}

/* The slot that holds the key, or the empty one where it belongs. */
static uint64_t *slot_for(const struct store *s, const struct segment *g, const uint8_t *bytes,
                          uint32_t length, uint64_t tag, unsigned first) {
  for (uint64_t *line = home_of(g, tag);; line = next_line(g, line), first = 0)
    for (unsigned i = first; i < LINE_SLOTS; i++)
      if (line[i] == 0 ||
          (line[i] >> POSITION_BITS == tag && record_is(s, line[i] & POSITION_MASK, bytes, length)))
        return &line[i];
}

/* A record's key against words: what lies behind it is there, but not its own. */
static inline bool record_is_words(const struct store *s, state_ref ref, const uint64_t *word, uint32_t length) {
  const uint8_t *key = record_at(s, ref) + PARENT_BYTES;
  uint8_t head = *key++;
  if (head >> 1 != length || head >= 2 * HEAD_SHORT)
    return false;
  key += head & 1 ? CHARGE_BYTES : 0;
  for (; length > 8; length -= 8, key += 8, word++)
    if (word_at(key) != *word)
      return false;
  return store_word(key, length) == *word;
}

static uint64_t *slot_for_words(const struct store *s, const struct segment *g, const uint64_t *word, uint32_t length,
                                uint64_t tag, unsigned first) {
  for (uint64_t *line = home_of(g, tag);; line = next_line(g, line), first = 0)
    for (unsigned i = first; i < LINE_SLOTS; i++)
      if (line[i] == 0 ||
          (line[i] >> POSITION_BITS == tag && record_is_words(s, line[i] & POSITION_MASK, word, length)))
        return &line[i];
}

static uint64_t *empty_slot(const struct segment *g, uint64_t tag) {
  for (uint64_t *line = home_of(g, tag);; line = next_line(g, line))
    for (unsigned i = 0; i < LINE_SLOTS; i++)
      if (line[i] == 0)
        return &line[i];
}

static void spare_lock(struct store *s) {
  if (s->sharing)
    pthread_mutex_lock(&s->sharing->spare);
}
static void spare_unlock(struct store *s) {
  if (s->sharing)
    pthread_mutex_unlock(&s->sharing->spare);
}

static bool is_filled(const struct segment *g, unsigned parts) {
  return __atomic_load_n(&g->used, __ATOMIC_RELAXED) * UINT64_C(64) > (uint64_t)parts * g->lines * LINE_SLOTS && g->lines < LINES_MOST;
}

static unsigned full_parts(const struct store *s) { return atomic_load_explicit(&s->tight, memory_order_relaxed) ? FULL_TIGHT : FULL; }

bool segment_is_filling_up(const struct store *s, const struct segment *g) { return is_filled(g, full_parts(s)); }

bool segment_fills_up_soon(const struct store *s, const struct segment *g) { return is_filled(g, full_parts(s) - SOON); }

static void slots_discard(struct store *s, const struct segment *g) {
  size_t bytes = slots_bytes(g->lines);
  if (bytes < CHUNK_SIZE || s->tight) {
    pages_free(g->slots, bytes);
    return;
  }
  spare_lock(s);
  for (size_t at = 0; at < bytes; at += CHUNK_SIZE)
    vec_push(&s->spare, (uint8_t *)g->slots + at);
  spare_unlock(s);
  s->spare_bytes += bytes;
}

uint8_t *store_pages(struct store *s, size_t pieces) {
  uint8_t *at = NULL;
  if (pieces == 1 && s->spare_bytes > 0) {
    spare_lock(s);
    if (s->spare.n > 0) {
      at = s->spare.at[--s->spare.n];
      s->spare_bytes -= CHUNK_SIZE;
    }
    spare_unlock(s);
  }
  return at ? at : pages_alloc(pieces << CHUNK_BITS);
}

void store_pages_back(struct store *s, uint8_t *at, size_t pieces) {
  if (pieces != 1 || s->tight) {
    pages_free(at, pieces << CHUNK_BITS);
    return;
  }
  spare_lock(s);
  vec_push(&s->spare, at);
  spare_unlock(s);
  s->spare_bytes += CHUNK_SIZE;
}

/* The number of the first of so many, which are allocated together. */
static uint32_t chunks_take(struct store *s, uint32_t lane, size_t pieces) {
  uint32_t first = atomic_fetch_add(&s->nchunks, (uint32_t)pieces);
  if (pieces > CHUNKS_MOST || first + pieces > CHUNKS_MOST)
    memory_resize_array(NULL, SIZE_MAX, 2); /* as good as out of memory */
  uint8_t *at = store_pages(s, pieces);
  for (uint32_t i = 0; i < pieces; i++) {
    s->pages[first + i] = at + ((size_t)i << CHUNK_BITS);
    s->chunks[first + i] = (struct chunk){.used = i + 1 < pieces ? (uint32_t)CHUNK_SIZE : 0,
                                          .next = i + 1 < pieces ? first + i + 1 : 0,
                                          .pieces = i == 0 ? (uint32_t)pieces : 0,
                                          .lane = lane};
  }
  return first;
}

void store_begin_lane(struct store *s, uint32_t lane) {
  s->lane[lane].last = chunks_take(s, lane, 1);
  s->chunks[s->lane[lane].last].used = FIRST; /* so that no record stands at 0 */
  s->lanes = lane + 1;
}

/* Twice as many, or if memory is short half as many again, whole pages. */
#define LINES_A_PAGE 64
static uint32_t lines_after(const struct store *s, uint32_t lines) {
  if (!s->tight || lines < 4 * LINES_A_PAGE)
    return 2 * lines;
  uint32_t more = (lines / 2 + LINES_A_PAGE - 1) / LINES_A_PAGE * LINES_A_PAGE;
  return lines + more < LINES_MOST ? lines + more : LINES_MOST;
}

void segment_grow(struct store *s, struct segment *g) {
  struct segment bigger = {.lines = lines_after(s, g->lines), .used = g->used, .age = g->age + 1};
  bigger.slots = pages_alloc(slots_bytes(bigger.lines));
  for (size_t i = 0; i < (size_t)g->lines * LINE_SLOTS; i++) {
    uint64_t slot = g->slots[i];
    if (slot == 0)
      continue;
    *empty_slot(&bigger, slot >> POSITION_BITS) = slot;
  }
  slots_discard(s, g);
  s->index_bytes += slots_bytes(bigger.lines) - slots_bytes(g->lines);
  __atomic_store_n(&g->slots, bigger.slots, __ATOMIC_RELAXED);
  __atomic_store_n(&g->lines, bigger.lines, __ATOMIC_RELAXED);
  g->age = bigger.age;
}

/* Room for a record that does not straddle chunks, unless it is longer than one. */
static inline state_ref reserve(struct store *s, uint32_t lane, size_t size) {
  uint32_t at = s->lane[lane].last;
  struct chunk *last = &s->chunks[at];
  if (last->used + size + BEHIND > CHUNK_SIZE) {
    size_t pieces = (size >> CHUNK_BITS) + 1; /* the last one is never full */
    uint32_t first = chunks_take(s, lane, pieces);
    last->next = first;
    s->lane[lane].last = first + (uint32_t)pieces - 1;
    s->chunks[s->lane[lane].last].used = (uint32_t)(size - ((pieces - 1) << CHUNK_BITS));
    return (state_ref)first << CHUNK_BITS;
  }
  state_ref ref = (state_ref)at << CHUNK_BITS | last->used;
  last->used += (uint32_t)size;
  return ref;
}

state_ref store_reserve(struct store *s, uint32_t lane, size_t size) { return reserve(s, lane, size); }

static state_ref append(struct store *s, uint32_t lane, const uint8_t *bytes, uint32_t length, state_ref parent,
                        charge c) {
  uint8_t head[5 + CHARGE_BYTES];
  size_t size = (size_t)(write_head(head, length, c) - head);
  state_ref ref = reserve(s, lane, PARENT_BYTES + size + length);
  uint8_t *record = record_at(s, ref);
  write_parent(record, parent);
  memcpy(record + PARENT_BYTES, head, size);
  if (length > 0)
    memcpy(record + PARENT_BYTES + size, bytes, length);
  return ref;
}

static inline void count_one(struct store *s, uint32_t lane) {
  _Atomic uint64_t *count = &s->lane[lane].count; /* others only read it */
  atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1, memory_order_relaxed);
}

static inline void filled(struct store *s, uint32_t lane, struct segment *g) {
  count_one(s, lane);
  g->used++;
  if (segment_is_filling_up(s, g))
    segment_grow(s, g);
}

static void occupy(struct store *s, uint32_t lane, struct segment *g, uint64_t *slot, uint64_t tag, state_ref ref) {
  assert(ref < STORE_NONE);
  *slot = tag << POSITION_BITS | ref;
  filled(s, lane, g);
}

_Static_assert(STORE_SHORT < HEAD_SHORT, "their head is one byte");

static void write_words(struct store *s, uint32_t lane, const uint64_t *word, uint32_t length, state_ref parent, charge c,
                        state_ref *ref) {
  *ref = reserve(s, lane, PARENT_BYTES + 1 + (c ? CHARGE_BYTES : 0u) + length);
  uint8_t *record = record_at(s, *ref), *key = record + PARENT_BYTES + 1;
  uint64_t both = (parent & STORE_PARENT_MASK) | (uint64_t)length << (8 * PARENT_BYTES + 1); /* parent and head, and the key comes over the rest */
  memcpy(record, &both, sizeof both);
  if (c != 0)
    key = write_head(record + PARENT_BYTES, length, c);
  memcpy(key, word, 16); /* there is room: the rest is overwritten by the next record */
  if (length > 16)
    memcpy(key + 16, word + 2, 16);
}

bool store_put_words(struct store *s, const uint64_t *word, uint32_t length, uint64_t hash, uint32_t left_off,
                     state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint64_t *slot = slot_for_words(s, g, word, length, tag, begin_at(g, left_off));
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  write_words(s, 0, word, length, parent, c, ref);
  occupy(s, 0, g, slot, tag, *ref);
  return true;
}

bool store_put(struct store *s, const uint8_t *bytes, uint32_t length, uint64_t hash, uint32_t left_off,
               state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint64_t *slot = slot_for(s, g, bytes, length, tag, begin_at(g, left_off));
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  *ref = append(s, 0, bytes, length, parent, c);
  occupy(s, 0, g, slot, tag, *ref);
  return true;
}

void store_index(struct store *s, uint32_t lane, uint64_t hash, state_ref ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  occupy(s, lane, g, empty_slot(g, tag_of(hash)), tag_of(hash), ref);
}

/* --- shared --- */

/* Where the lane ended before a record was written that somebody else has put there already. */
void store_take_back(struct store *s, uint32_t lane, uint32_t last, uint32_t used) {
  s->lane[lane].last = last; /* a chunk that was begun for it is lost; that is rare */
  s->chunks[last].used = used;
  s->chunks[last].next = 0;
}

static void told(struct store *s, uint32_t lane, struct segment *g) {
  uint32_t *mine = &s->sharing->gate[lane].used[g - s->segment];
  count_one(s, lane);
  if (++*mine < s->sharing->tell)
    return;
  __atomic_add_fetch(&g->used, *mine, __ATOMIC_RELAXED);
  *mine = 0;
  if (segment_is_filling_up(s, g))
    sharing_grow(s, lane, g);
}

void store_filled(struct store *s, uint32_t lane, struct segment *g) {
  if (s->sharing)
    told(s, lane, g);
  else
    filled(s, lane, g);
}

/* The slot that holds the key, as it was seen; if it was empty it is the lane's record that it holds now. bytes are those of a
   short key's words if `word` is not NULL. */
static bool put_shared(struct store *s, uint32_t lane, const uint8_t *bytes, const uint64_t *word, uint32_t length, uint64_t hash,
                       uint32_t left_off, state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint32_t last = s->lane[lane].last, used = s->chunks[last].used;
  bool written = false;
  unsigned first = begin_at(g, left_off);
  for (uint64_t *line = home_of(g, tag);; line = next_line(g, line), first = 0)
    for (unsigned i = first; i < LINE_SLOTS; i++) {
      uint64_t slot = __atomic_load_n(&line[i], __ATOMIC_ACQUIRE);
      if (slot == 0) {
        if (!written && word)
          write_words(s, lane, word, length, parent, c, ref);
        else if (!written)
          *ref = append(s, lane, bytes, length, parent, c);
        written = true;
        if (__atomic_compare_exchange_n(&line[i], &slot, tag << POSITION_BITS | *ref, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE)) {
          told(s, lane, g);
          return true;
        }
      }
      state_ref other = slot & POSITION_MASK;
      if (slot >> POSITION_BITS == tag &&
          (word ? record_is_words(s, other, word, length) : record_is(s, other, bytes, length))) {
        if (written)
          store_take_back(s, lane, last, used);
        *ref = other;
        return false;
      }
    }
}

/* Not inlined, so that the usual way saves no registers. */
__attribute__((noinline)) static bool put_otherwise(struct store *s, uint32_t lane, const uint8_t *bytes, const uint64_t *word,
                                                    uint32_t length, uint64_t hash, uint32_t left_off, state_ref parent, charge c,
                                                    state_ref *ref) {
  return s->compact ? compact_put(s, lane, bytes, length, hash, left_off, parent, c, ref)
                    : put_shared(s, lane, bytes, word, length, hash, left_off, parent, c, ref);
}

bool store_put_words_in(struct store *s, uint32_t lane, const uint64_t *word, uint32_t length, uint64_t hash,
                        uint32_t left_off, state_ref parent, charge c, state_ref *ref) {
  return s->plain ? store_put_words(s, word, length, hash, left_off, parent, c, ref)
                  : put_otherwise(s, lane, (const uint8_t *)word, word, length, hash, left_off, parent, c, ref);
}

bool store_put_in(struct store *s, uint32_t lane, const uint8_t *bytes, uint32_t length, uint64_t hash, uint32_t left_off,
                  state_ref parent, charge c, state_ref *ref) {
  return s->plain ? store_put(s, bytes, length, hash, left_off, parent, c, ref)
                  : put_otherwise(s, lane, bytes, NULL, length, hash, left_off, parent, c, ref);
}

state_ref store_find(const struct store *s, const uint8_t *bytes, uint32_t length, uint64_t hash) {
  if (s->compact)
    return compact_find(s, bytes, length, hash);
  uint64_t slot = *slot_for(s, segment_of(s, hash), bytes, length, tag_of(hash), 0);
  return slot == 0 ? STORE_NONE : slot & POSITION_MASK;
}

void store_relink(struct store *s, state_ref ref, state_ref parent, charge c) {
  if (s->compact) {
    compact_relink(s, ref, parent, c);
    return;
  }
  uint8_t *record = record_at(s, ref);
  uint32_t length;
  charge before;
  const uint8_t *key = read_head(record, &length, &before);
  assert(before != 0 || c == 0); /* else there is no room for it */
  write_parent(record, parent);
  if (before != 0)
    memcpy((uint8_t *)key - CHARGE_BYTES, &c, CHARGE_BYTES);
}

bool store_charged(const struct store *s, state_ref ref) { return record_at(s, ref)[s->head_at] & 1; }

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

struct stored store_at(const struct store *s, state_ref ref) {
  if (s->compact)
    return compact_at(s, ref);
  const uint8_t *record = record_at(s, ref);
  struct stored found = {0};
  memcpy(&found.parent, record, PARENT_BYTES);
  found.bytes = read_head(record, &found.length, &found.charge);
  return found;
}

charge store_charge(const struct store *s, state_ref ref) {
  if (s->compact)
    return compact_charge(s, ref);
  uint32_t length;
  charge c;
  read_head(record_at(s, ref), &length, &c);
  return c;
}

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
  const uint8_t *record = record_at(s, ref);
  uint32_t length;
  charge c;
  const uint8_t *key = read_head(record, &length, &c);
  return ref + (state_ref)(key + length - record);
}

bool store_has(const struct store *s, state_ref ref) {
  uint32_t number = (uint32_t)(ref >> CHUNK_BITS);
  if (number >= s->nchunks || s->chunks[number].pieces == 0 || (ref & (CHUNK_SIZE - 1)) >= s->chunks[number].used)
    return false;
  state_ref at = (state_ref)number << CHUNK_BITS;
  for (at += number == 0 ? FIRST : 0; at < ref;)
    at = behind(s, at);
  return at == ref;
}

state_ref store_next(const struct store *s, state_ref ref) { return store_from(s, behind(s, ref)); }

/* What comes after the end is somebody else's, who may be writing there. */
bool store_read_on(struct store_reader *r) {
  const struct store *s = r->store;
  if (s->compact)
    return compact_read_on(r);
  if (r->next < r->end && r->next >> CHUNK_BITS != r->end >> CHUNK_BITS)
    r->next = store_from(s, r->next);
  if (r->next >= r->end)
    return false;
  const struct chunk *chunk = &s->chunks[r->next >> CHUNK_BITS];
  size_t stop = r->next >> CHUNK_BITS == r->end >> CHUNK_BITS ? r->end & (CHUNK_SIZE - 1) : chunk->used;
  r->ref = r->next;
  r->stored = store_at(s, r->ref);
  r->next = behind(s, r->ref);
  r->stop = s->pages[r->ref >> CHUNK_BITS] + stop;
  r->at = r->next >> CHUNK_BITS == r->ref >> CHUNK_BITS ? record_at(s, r->next) : r->stop;
  return true;
}

state_ref store_end_of(const struct store *s, uint32_t lane) {
  return ((state_ref)s->lane[lane].last << CHUNK_BITS) + s->chunks[s->lane[lane].last].used;
}

state_ref store_end(const struct store *s) { return store_end_of(s, 0); }

uint32_t store_lane(const struct store *s, state_ref ref) { return s->chunks[ref >> CHUNK_BITS].lane; }

uint32_t store_lanes(const struct store *s) { return s->lanes; }

uint64_t store_count(const struct store *s) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < s->lanes; i++)
    count += atomic_load_explicit(&((struct store *)s)->lane[i].count, memory_order_relaxed);
  return count;
}

size_t store_bytes(const struct store *s) {
  uint32_t n = s->nchunks;
  size_t unused = s->lanes > 1 ? 0 : CHUNK_SIZE - s->chunks[s->lane[0].last].used; /* shared: somebody is writing there */
  return sizeof *s + (s->compact ? compact_bytes(s) : 0) + s->index_bytes + s->spare_bytes + n * sizeof *s->chunks +
         ((size_t)n << CHUNK_BITS) - unused;
}

/* Segments grow at about the same time, each thread one after the other: the last ones are there twice for a while. */
size_t store_growth(const struct store *s) {
  size_t growers = s->lanes < SEGMENTS ? s->lanes : SEGMENTS;
  return s->index_bytes / (s->tight ? 2 : 1) + s->index_bytes / SEGMENTS * growers;
}

size_t store_page(const struct store *s) { return s->lanes * CHUNK_SIZE; }

bool store_grows_soon(const struct store *s) {
  for (uint32_t i = 0; i < SEGMENTS; i++)
    if (segment_fills_up_soon(s, &s->segment[i]))
      return true;
  return false;
}

void store_tighten(struct store *s) {
  if (s->tight)
    return;
  s->tight = true;
  spare_lock(s);
  for (; s->spare.n > 0; s->spare_bytes -= CHUNK_SIZE)
    pages_free(s->spare.at[--s->spare.n], CHUNK_SIZE);
  spare_unlock(s);
}
