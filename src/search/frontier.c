#include "search/spill.h"

void frontier_of(struct frontier *f, const struct search *s, const struct layer *layer) {
  const struct stage *at = s->stage;
  if (s->spill) {
    *f = (struct frontier){.layer = layer, .on_shelf = true, .shelf = spill_reader(s->spill, layer)};
    return;
  }
  *f = (struct frontier){.layer = layer, .reader = store_reader(s->store, layer->from[0], layer->to[0])};
  if (!at->begun)
    return;
  f->lane = at->lane;
  f->reader = at->lane < layer->lanes ? store_reader(s->store, at->at, layer->to[at->lane]) : store_reader(s->store, 0, 0);
  f->first = at->first.at;
  f->nfirst = at->first.n;
  f->taken = at->done;
}

void frontier_release(struct frontier *f) {
  if (f->on_shelf)
    shelf_reader_release(&f->shelf);
}

static uint32_t take_from_memory(struct frontier *f, struct taken *to) {
  uint32_t n = 0;
  for (; n < TAKEN_MOST && f->nfirst > 0; f->nfirst--, f->first++)
    to[n++] = (struct taken){*f->first, store_at(f->reader.store, *f->first)};
  while (n < TAKEN_MOST) {
    if (store_read(&f->reader))
      to[n++] = (struct taken){f->reader.ref, f->reader.stored};
    else if (++f->lane < f->layer->lanes)
      f->reader = store_reader(f->reader.store, f->layer->from[f->lane], f->layer->to[f->lane]);
    else
      break;
  }
  return n;
}

uint32_t frontier_take(struct frontier *f, struct taken *to, shelf_bytes *bytes) {
  if (f->lock)
    pthread_mutex_lock(f->lock);
  uint32_t n = f->on_shelf ? spill_take(&f->shelf, to, TAKEN_MOST, bytes) : take_from_memory(f, to);
  f->taken += n;
  if (f->lock)
    pthread_mutex_unlock(f->lock);
  return n;
}
