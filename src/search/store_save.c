/* A store written down, and read again. */
#include "search/records.h"
#include "search/pages.h"

void store_save(const struct store *s, struct saver *to) {
  save_number(to, s->terse);
  save_number(to, s->usual);
  save_number(to, s->lanes);
  for (uint32_t i = 0; i < s->lanes; i++)
    save_number(to, s->lane[i].last);
  save_number(to, s->nchunks);
  for (uint32_t i = 0; i < s->nchunks; i++) {
    const struct chunk *c = &s->chunks[i];
    save_number(to, c->used);
    save_number(to, c->next);
    save_number(to, c->pieces);
    save_number(to, c->lane);
    save_bytes(to, s->pages[i], c->used);
  }
}

static void chunks_load(struct store *s, struct loader *from) {
  uint64_t n = load_below(from, CHUNKS_MOST);
  for (uint32_t i = 0, left = 0; i < n && !from->bad; i++) {
    struct chunk c = {.used = (uint32_t)load_below(from, CHUNK_SIZE + 1), .next = (uint32_t)load_below(from, n)};
    c.pieces = (uint32_t)load_below(from, n - i + 1);
    c.lane = (uint32_t)load_below(from, s->lanes);
    from->bad |= (left == 0) != (c.pieces > 0);
    const void *bytes = load_place(from, c.used);
    if (from->bad)
      break;
    left = (c.pieces ? c.pieces : left) - 1;
    s->pages[i] = c.pieces ? pages_alloc((size_t)c.pieces << CHUNK_BITS) : s->pages[i - 1] + CHUNK_SIZE;
    s->chunks[i] = c;
    s->nchunks = i + 1;
    memcpy(s->pages[i], bytes, c.used);
  }
  for (uint32_t i = 0; i < s->lanes; i++)
    from->bad |= s->lane[i].last >= s->nchunks || s->chunks[s->lane[i].last].lane != i;
}

static void index_lane(struct store *s, uint32_t lane) {
  struct store_reader reader = store_reader(s, store_first_of(s, lane), store_end_of(s, lane));
  while (store_read(&reader))
    store_index(s, lane, store_hash(reader.stored.bytes, reader.stored.length), reader.ref);
}

struct store *store_load(struct loader *from) {
  struct store *s = store_without_lanes();
  s->terse = load_below(from, 2);
  s->usual = (uint32_t)load_below(from, TERSE_MOST + 1);
  s->lanes = (uint32_t)load_below(from, STORE_LANES + 1);
  from->bad |= s->lanes == 0;
  for (uint32_t i = 0; i < s->lanes; i++)
    s->lane[i].last = (uint32_t)load_below(from, CHUNKS_MOST);
  chunks_load(s, from);
  if (from->bad) {
    store_free(s);
    return NULL;
  }
  for (uint32_t i = 0; i < s->lanes; i++) {
    index_lane(s, i);
    if (s->terse)
      lane_settle(s, i);
  }
  return s;
}
