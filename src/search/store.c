#include "search/compact.h"
#include "search/pages.h"
#include "search/sharing.h"

#include "base/hash.h"
#include "base/memory.h"

#include <assert.h>
#include <string.h>

static size_t slots_bytes(uint32_t lines) { return (size_t)lines * LINE_SLOTS * sizeof(uint64_t); }

struct store *store_without_lanes(void) {
  struct store *s = memory_alloc_aligned(_Alignof(struct store), sizeof *s);
  for (uint32_t i = 0; i < SEGMENTS; i++) {
    s->segment[i] = (struct segment){.lines = FIRST_LINES, .slots = pages_alloc(slots_bytes(FIRST_LINES)), .age = 1};
  }
  s->index_bytes = SEGMENTS * slots_bytes(FIRST_LINES);
  s->plain = true;
  s->chunks = sparse_alloc(CHUNKS_MOST * sizeof *s->chunks);
  s->pages = sparse_alloc(CHUNKS_MOST * sizeof *s->pages);
  return s;
}

struct store *store_new(void) {
  struct store *s = store_without_lanes();
  lane_begin(s, 0);
  return s;
}

struct store *store_new_terse(void) {
  struct store *s = store_new();
  s->terse = true;
  return s;
}

_Static_assert(STORE_SIGNATURE == SEGMENT_BITS + TAG_BITS + SIGNATURE_BITS, "what a signature is");
_Static_assert(STORE_SIGNATURE_FEW == SIGNATURE_BITS, "and one for tests");

struct store *store_new_compact(uint32_t bits) {
  struct store *s = store_without_lanes();
  s->compact = compact_new(bits);
  s->terse = true;
  s->usual = SIGNATURE_BYTES;
  s->plain = false;
  s->tight = true;
  lane_begin(s, 0);
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
  sparse_free(s->chunks, CHUNKS_MOST * sizeof *s->chunks);
  sparse_free(s->pages, CHUNKS_MOST * sizeof *s->pages);
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
  const uint8_t *key = record_key(s, record_at(s, ref), &n, &c);
  return n == length && same_bytes(key, bytes, length);
}

/* The slot that holds the key, or the empty one where it belongs. */
static uint64_t *slot_for(const struct store *s, const struct segment *g, const uint8_t *bytes, uint32_t length, uint64_t tag,
                          uint64_t left_off) {
  for (uint64_t *slot = slot_from(g, tag, left_off);; slot = next_slot(g, slot))
    if (*slot == 0 || (*slot >> POSITION_BITS == tag && record_is(s, *slot & POSITION_MASK, bytes, length)))
      return slot;
}

/* A record's key against words: what lies behind it is there, but not its own. */
static inline bool key_is_words(const uint8_t *key, const uint64_t *word, uint32_t length) {
  for (; length > 8; length -= 8, key += 8, word++)
    if (word_at(key) != *word)
      return false;
  return store_word(key, length) == *word;
}

static inline bool record_is_words(const struct store *s, state_ref ref, const uint64_t *word, uint32_t length) {
  const uint8_t *key = record_at(s, ref);
  if (s->terse && !terse_is_full(key))
    return length == s->usual && key_is_words(terse_key(key), word, length);
  key += s->terse + PARENT_BYTES;
  uint8_t head = *key++;
  if (head >> 1 != length || head >= 2 * HEAD_SHORT)
    return false;
  return key_is_words(key + (head & 1 ? CHARGE_BYTES : 0), word, length);
}

static uint64_t *slot_for_words(const struct store *s, const struct segment *g, const uint64_t *word, uint32_t length, uint64_t tag,
                                uint64_t left_off) {
  for (uint64_t *slot = slot_from(g, tag, left_off);; slot = next_slot(g, slot))
    if (*slot == 0 || (*slot >> POSITION_BITS == tag && record_is_words(s, *slot & POSITION_MASK, word, length)))
      return slot;
}

static uint64_t *empty_slot(const struct segment *g, uint64_t tag) {
  uint64_t *slot = home_of(g, tag);
  while (*slot != 0)
    slot = next_slot(g, slot);
  return slot;
}

static bool is_filled(const struct segment *g, unsigned parts) {
  return __atomic_load_n(&g->used, __ATOMIC_RELAXED) * UINT64_C(64) > (uint64_t)parts * g->lines * LINE_SLOTS && g->lines < LINES_MOST;
}

static unsigned full_parts(const struct store *s) { return atomic_load_explicit(&s->tight, memory_order_relaxed) ? FULL_TIGHT : FULL; }

bool segment_is_filling_up(const struct store *s, const struct segment *g) { return is_filled(g, full_parts(s)); }

bool segment_fills_up_soon(const struct store *s, const struct segment *g) { return is_filled(g, full_parts(s) - SOON); }

/* Small ones double. Large ones become larger by a part, whole huge pages, so that they are never half empty. */
#define LINES_A_PAGE (HUGE_PAGE / (LINE_SLOTS * sizeof(uint64_t)))
static uint32_t lines_after(const struct store *s, uint32_t lines) {
  if (lines < LINES_A_PAGE)
    return 2 * lines;
  size_t more = lines / (s->tight ? GROWTH_TIGHT : GROWTH), whole = (lines + more + LINES_A_PAGE - 1) / LINES_A_PAGE * LINES_A_PAGE;
  return whole < LINES_MOST ? (uint32_t)whole : LINES_MOST;
}

/* To its home, or behind it, where all lines from `first` on have `fill` slots of what they will have. False: there is no place there. */
static inline bool settles(const struct segment *g, uint8_t *fill, size_t first, uint64_t slot) {
  size_t line = home_at(g->lines, slot >> POSITION_BITS) >> LINE_BITS;
  if (line < first)
    return false;
  while (line < g->lines && fill[line] == LINE_SLOTS)
    line++;
  if (line == g->lines)
    return false;
  g->slots[line << LINE_BITS | fill[line]++] = slot;
  return true;
}

/* The lines of a segment that had so many. Homes keep their order and are no nearer to the start than before, so it goes from
   the last line to the first, in place. What would come to lie before its line, or beyond the end, waits until all is settled. */
static void spread(const struct segment *g, uint32_t lines) {
  VEC(uint64_t) waiting = {0};
  uint8_t *fill = memory_alloc(g->lines);
  for (size_t line = lines; line-- > 0;) {
    uint64_t *at = g->slots + (line << LINE_BITS), slots[LINE_SLOTS + 1];
    memcpy(slots, at, LINE_SLOTS * sizeof *slots);
    memset(at, 0, LINE_SLOTS * sizeof *slots);
    slots[LINE_SLOTS] = 0;
    for (const uint64_t *slot = slots; *slot != 0; slot++)
      if (!settles(g, fill, line, *slot))
        vec_push(&waiting, *slot);
  }
  for (size_t i = 0; i < waiting.n; i++)
    *empty_slot(g, waiting.at[i] >> POSITION_BITS) = waiting.at[i];
  vec_release(&waiting);
  memory_free(fill);
}

void segment_grow(struct store *s, struct segment *g) {
  uint32_t before = g->lines, lines = lines_after(s, before);
  size_t old_bytes = slots_bytes(before), bytes = slots_bytes(lines);
  uint64_t *slots;
  if (old_bytes < HUGE_PAGE) {
    slots = pages_alloc(bytes);
    memcpy(slots, g->slots, old_bytes);
    pages_free(g->slots, old_bytes);
  } else {
    slots = pages_grow(g->slots, old_bytes, bytes);
  }
  __atomic_store_n(&g->slots, slots, __ATOMIC_RELAXED);
  __atomic_store_n(&g->lines, lines, __ATOMIC_RELAXED);
  spread(g, before);
  s->index_bytes += bytes - old_bytes;
  g->age++;
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

bool store_put_words(struct store *s, const uint64_t *word, uint32_t length, uint64_t hash, uint64_t left_off,
                     state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint64_t *slot = slot_for_words(s, g, word, length, tag, left_off);
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  *ref = record_append_words(s, 0, word, length, parent, c);
  occupy(s, 0, g, slot, tag, *ref);
  return true;
}

bool store_put(struct store *s, const uint8_t *bytes, uint32_t length, uint64_t hash, uint64_t left_off,
               state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  uint64_t *slot = slot_for(s, g, bytes, length, tag, left_off);
  if (*slot != 0) {
    *ref = *slot & POSITION_MASK;
    return false;
  }
  *ref = record_append(s, 0, bytes, length, parent, c);
  occupy(s, 0, g, slot, tag, *ref);
  return true;
}

void store_take_index(struct store *s, struct store *from) {
  for (uint32_t i = 0; i < SEGMENTS; i++) {
    struct segment own = s->segment[i];
    s->segment[i] = from->segment[i];
    from->segment[i] = own;
    memset(s->segment[i].slots, 0, slots_bytes(s->segment[i].lines));
    s->segment[i].used = 0;
  }
  size_t bytes = s->index_bytes;
  s->index_bytes = (size_t)from->index_bytes;
  from->index_bytes = bytes;
}

void store_index(struct store *s, uint32_t lane, uint64_t hash, state_ref ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  occupy(s, lane, g, empty_slot(g, tag_of(hash)), tag_of(hash), ref);
}

/* --- shared --- */

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
                       uint64_t left_off, state_ref parent, charge c, state_ref *ref) {
  struct segment *g = (struct segment *)segment_of(s, hash);
  uint64_t tag = tag_of(hash);
  struct lane_end end = lane_end(s, lane);
  bool written = false;
  for (uint64_t *at = slot_from(g, tag, left_off);; at = next_slot(g, at)) {
    uint64_t slot = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (slot == 0) {
      if (!written && word)
        *ref = record_append_words(s, lane, word, length, parent, c);
      else if (!written)
        *ref = record_append(s, lane, bytes, length, parent, c);
      written = true;
      if (__atomic_compare_exchange_n(at, &slot, tag << POSITION_BITS | *ref, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
        told(s, lane, g);
        return true;
      }
    }
    state_ref other = slot & POSITION_MASK;
    if (slot >> POSITION_BITS == tag && (word ? record_is_words(s, other, word, length) : record_is(s, other, bytes, length))) {
      if (written)
        lane_take_back(s, lane, &end);
      *ref = other;
      return false;
    }
  }
}

/* Not inlined, so that the usual way saves no registers. */
__attribute__((noinline)) static bool put_otherwise(struct store *s, uint32_t lane, const uint8_t *bytes, const uint64_t *word,
                                                    uint32_t length, uint64_t hash, uint64_t left_off, state_ref parent, charge c,
                                                    state_ref *ref) {
  return s->compact ? compact_put(s, lane, bytes, length, hash, left_off, parent, c, ref)
                    : put_shared(s, lane, bytes, word, length, hash, left_off, parent, c, ref);
}

bool store_put_words_in(struct store *s, uint32_t lane, const uint64_t *word, uint32_t length, uint64_t hash,
                        uint64_t left_off, state_ref parent, charge c, state_ref *ref) {
  return s->plain ? store_put_words(s, word, length, hash, left_off, parent, c, ref)
                  : put_otherwise(s, lane, (const uint8_t *)word, word, length, hash, left_off, parent, c, ref);
}

bool store_put_in(struct store *s, uint32_t lane, const uint8_t *bytes, uint32_t length, uint64_t hash, uint64_t left_off,
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
  return sizeof *s + (s->compact ? compact_bytes(s) : 0) + s->index_bytes + n * sizeof *s->chunks +
         ((size_t)n << CHUNK_BITS) - unused;
}

/* Segments grow at about the same time. */
size_t store_growth(const struct store *s) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < SEGMENTS; i++)
    bytes += slots_bytes(lines_after(s, s->segment[i].lines)) - slots_bytes(s->segment[i].lines);
  return bytes;
}

size_t store_page(const struct store *s) { return s->lanes * CHUNK_SIZE; }

bool store_grows_soon(const struct store *s) {
  for (uint32_t i = 0; i < SEGMENTS; i++)
    if (segment_fills_up_soon(s, &s->segment[i]))
      return true;
  return false;
}

void store_tighten(struct store *s) { s->tight = true; }
