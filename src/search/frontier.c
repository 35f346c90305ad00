#include "search/spill.h"

void frontier_of(struct frontier *f, const struct search *s, const struct layer *layer) {
  const struct stage *at = s->stage;
  if (s->spill) {
    *f = (struct frontier){.layer = layer, .on_shelf = true, .shelf = spill_reader(s->spill, layer)};
    return;
  }
  *f = (struct frontier){.layer = layer, .in_order = s->spill_folder};
  for (uint32_t i = 0; i < layer->lanes; i++)
    f->reader[i] = store_reader(s->store, at->begun ? at->at[i] : layer->from[i], layer->to[i]);
  if (!at->begun)
    return;
  f->first = at->first.at;
  f->nfirst = at->first.n;
  f->taken = at->done;
}

void frontier_release(struct frontier *f) {
  if (f->on_shelf)
    shelf_reader_release(&f->shelf);
}

/* From its own lane, then from the others in turn. */
static uint32_t take_from_memory(struct frontier *f, uint32_t lane, struct taken *to) {
  uint32_t n = 0, lanes = f->layer->lanes, at = f->in_order || lane >= lanes ? 0 : lane;
  for (; n < TAKEN_MOST && f->nfirst > 0; f->nfirst--, f->first++)
    to[n++] = (struct taken){*f->first, store_key(f->reader[0].store, *f->first)};
  for (uint32_t i = 0; i < lanes; i++, at = at + 1 < lanes ? at + 1 : 0)
    for (struct store_reader *r = &f->reader[at]; n < TAKEN_MOST && store_read(r);)
      to[n++] = (struct taken){r->ref, r->stored};
  return n;
}

uint32_t frontier_take(struct frontier *f, uint32_t lane, struct taken *to, shelf_bytes *bytes) {
  if (f->lock)
    pthread_mutex_lock(f->lock);
  uint32_t n = f->on_shelf ? spill_take(&f->shelf, to, TAKEN_MOST, bytes) : take_from_memory(f, lane, to);
  f->taken += n;
  if (f->lock)
    pthread_mutex_unlock(f->lock);
  return n;
}
