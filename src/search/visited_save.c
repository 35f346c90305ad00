/* Saving and loading a visited set. */
#include "search/huge_pages.h"
#include "search/visited_records.h"

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

static void index_lane(struct visited_set *s, uint32_t partition) {
  struct visited_reader reader = visited_reader(s, visited_first_of(s, partition), visited_end_of(s, partition));
  while (visited_read(&reader))
    visited_index_record(s, partition, key_hash(reader.stored.bytes, reader.stored.length), reader.ref);
}

struct visited_set *visited_load(struct loader *from) {
  struct visited_set *s = visited_new_unpartitioned();
  s->delta = load_below(from, 2);
  s->common_length = (uint32_t)load_below(from, DELTA_MAX_KEY + 1);
  s->partitions = (uint32_t)load_below(from, MAX_PARTITIONS + 1);
  from->bad |= s->partitions == 0;
  for (uint32_t i = 0; i < s->partitions; i++)
    s->partition[i].last = (uint32_t)load_below(from, CHUNKS_MAX);
  chunks_load(s, from);
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
