/* Saving and loading a visited set. */
#include "search/huge_pages.h"
#include "search/visited_records.h"
#include "system/system.h"

void visited_save(const struct visited_set *s, struct saver *to) {
  save_number(to, s->delta);
  save_number(to, s->common_length);
  save_number(to, s->partitions);
  for (uint32_t i = 0; i < s->partitions; i++)
    save_number(to, s->partition[i].last);
  save_number(to, s->nchunks);
  for (uint32_t i = 0; i < s->nchunks; i++) {
    const struct record_chunk *c = &s->chunks[i];
    save_number(to, c->used);
    save_number(to, c->next);
    save_number(to, c->pieces);
    save_number(to, c->partition);
    save_bytes(to, s->pages[i], c->used);
  }
}

static void chunks_load(struct visited_set *s, struct loader *from) {
  uint64_t n = load_below(from, CHUNKS_MAX);
  for (uint32_t i = 0, left = 0; i < n && !from->bad; i++) {
    struct record_chunk c = {.used = (uint32_t)load_below(from, CHUNK_SIZE + 1), .next = (uint32_t)load_below(from, n)};
    c.pieces = (uint32_t)load_below(from, n - i + 1);
    c.partition = (uint32_t)load_below(from, s->partitions);
    from->bad |= (left == 0) != (c.pieces > 0);
    const void *bytes = load_borrowed(from, c.used);
    if (from->bad)
      break;
    left = (c.pieces ? c.pieces : left) - 1;
    s->pages[i] = c.pieces ? pages_alloc((size_t)c.pieces << CHUNK_BITS) : s->pages[i - 1] + CHUNK_SIZE;
    s->chunks[i] = c;
    s->nchunks = i + 1;
    memcpy(s->pages[i], bytes, c.used);
  }
  for (uint32_t i = 0; i < s->partitions; i++)
    from->bad |= s->partition[i].last >= s->nchunks || s->chunks[s->partition[i].last].partition != i;
}

/* --- are the bytes records? --- */

/* Advances over a number; NULL: it does not end before `end`. */
static const uint8_t *number_checked(const uint8_t *at, const uint8_t *end, uint64_t *number) {
  for (const uint8_t *last = at; last < end && last - at < 10; last++)
    if (!(*last & 0x80)) {
      number_read(at, number);
      return last + 1;
    }
  return NULL;
}

/* Advances over a record; NULL: it does not end before `end`. */
static const uint8_t *record_checked(const struct visited_set *s, const uint8_t *at, const uint8_t *end,
                                     struct stored *stored) {
  uint64_t number;
  *stored = (struct stored){.length = s->common_length};
  if (s->delta && !delta_is_plain(at)) {
    stored->bytes = number_checked(at, end, &number);
  } else {
    at += s->delta + PARENT_BYTES;
    const uint8_t *key = at < end ? number_checked(at, end, &number) : NULL;
    if (!key || number >> 1 > UINT32_MAX)
      return NULL;
    stored->length = (uint32_t)(number >> 1);
    stored->bytes = key + (number & 1 ? COST_BYTES : 0);
  }
  bool fits = stored->bytes && stored->bytes <= end && stored->length <= (size_t)(end - stored->bytes);
  return fits ? stored->bytes + stored->length : NULL;
}

/* A chunk, and those that continue it. Some bytes behind the last record must exist. */
static bool chunk_is_sound(const struct visited_set *s, uint32_t chunk, visited_key_fn *valid, void *context) {
  const struct record_chunk *c = &s->chunks[chunk];
  uint32_t last = chunk + c->pieces - 1;
  size_t full = (size_t)(c->pieces - 1) << CHUNK_BITS, used = full + s->chunks[last].used;
  if (last >= s->nchunks || (c->pieces == 1 && c->used + BEHIND > CHUNK_SIZE))
    return false;
  for (uint32_t i = chunk; i < last; i++)
    if (s->chunks[i].used != CHUNK_SIZE || s->chunks[i].next != i + 1)
      return false;
  const uint8_t *at = s->pages[chunk] + (visited_first_of(s, c->partition) >> CHUNK_BITS == chunk ? FIRST : 0);
  const uint8_t *end = s->pages[chunk] + used;
  while (at && at < end) {
    struct stored stored;
    at = record_checked(s, at, end, &stored);
    if (at && !valid(context, &(struct state){stored.bytes, stored.length}))
      return false;
  }
  return at == end;
}

/* Each partition's chunks follow each other, from its first to its last. */
static bool chain_is_sound(const struct visited_set *s, uint32_t partition) {
  uint32_t at = (uint32_t)(visited_first_of(s, partition) >> CHUNK_BITS);
  if (s->chunks[at].pieces != 1 || s->chunks[at].used < FIRST)
    return false;
  while (true) {
    const struct record_chunk *c = &s->chunks[at];
    uint32_t last = at + c->pieces - 1;
    if (c->pieces == 0 || last >= s->nchunks || c->partition != partition)
      return false;
    uint32_t next = s->chunks[last].next;
    if (next == 0)
      return s->partition[partition].last == last;
    if (next <= last)
      return false;
    at = next;
  }
}

static bool records_are_sound(const struct visited_set *s, visited_key_fn *valid, void *context) {
  for (uint32_t i = 0; i < s->partitions; i++)
    if (!chain_is_sound(s, i))
      return false;
  for (uint32_t i = 0; i < s->nchunks; i++)
    if (s->chunks[i].pieces > 0 && !chunk_is_sound(s, i, valid, context))
      return false;
  return true;
}

bool visited_is_position(const struct visited_set *s, uint32_t partition, state_ref ref) {
  uint32_t number = (uint32_t)(ref >> CHUNK_BITS);
  if (ref >= STATE_REF_NONE || number >= s->nchunks || s->chunks[number].partition != partition)
    return false;
  return (ref & (CHUNK_SIZE - 1)) == s->chunks[number].used || visited_has(s, ref);
}

static void index_lane(struct visited_set *s, uint32_t partition) {
  struct visited_reader reader = visited_reader(s, visited_first_of(s, partition), visited_end_of(s, partition));
  while (visited_read(&reader))
    visited_index_record(s, partition, key_hash(reader.stored.bytes, reader.stored.length), reader.ref);
}

static bool any_key(void *context, const struct state *key) {
  (void)context;
  return key;
}

struct visited_set *visited_load(struct loader *from) {
  return visited_load_valid(from, any_key, NULL);
}

struct visited_set *visited_load_valid(struct loader *from, visited_key_fn *valid, void *context) {
  struct visited_set *s = visited_new_unpartitioned();
  s->delta = load_below(from, 2);
  s->common_length = (uint32_t)load_below(from, DELTA_MAX_KEY + 1);
  s->partitions = (uint32_t)load_below(from, MAX_PARTITIONS + 1);
  from->bad |= s->partitions == 0;
  for (uint32_t i = 0; i < s->partitions; i++)
    s->partition[i].last = (uint32_t)load_below(from, CHUNKS_MAX);
  chunks_load(s, from);
  from->bad = from->bad || !records_are_sound(s, valid, context);
  if (from->bad) {
    visited_free(s);
    return NULL;
  }
  for (uint32_t i = 0; i < s->partitions; i++) {
    index_lane(s, i);
    if (s->delta)
      visited_partition_restore_base(s, i);
  }
  return s;
}
