#include "search/spill.h"

void frontier_release(struct frontier *f) {
  if (f->on_disk)
    disk_log_reader_release(&f->disk_log);
}

/* From its own partition first, then from the others in order. */
static uint32_t take_from_memory(struct frontier *f, uint32_t partition, struct frontier_state *to) {
  uint32_t n = 0, partitions = f->layer->partitions, at = f->in_order || partition >= partitions ? 0 : partition;
  for (; n < TAKE_MAX && f->nfirst > 0; f->nfirst--, f->first++)
    to[n++] = (struct frontier_state){*f->first, visited_get_key(f->reader[0].visited_set, *f->first)};
  for (uint32_t i = 0; i < partitions; i++, at = at + 1 < partitions ? at + 1 : 0)
    for (struct visited_reader *r = &f->reader[at]; n < TAKE_MAX && visited_read(r);)
      to[n++] = (struct frontier_state){r->ref, r->stored};
  return n;
}

uint32_t frontier_take(struct frontier *f, uint32_t partition, struct frontier_state *to, disk_log_bytes *bytes) {
  if (f->lock)
    pthread_mutex_lock(f->lock);
  uint32_t n = f->on_disk ? spill_take(f, to, TAKE_MAX, bytes) : take_from_memory(f, partition, to);
  f->taken += n;
  if (f->lock)
    pthread_mutex_unlock(f->lock);
  return n;
}
