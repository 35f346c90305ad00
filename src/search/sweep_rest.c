/* A sweep at rest: it is written down, or its states go elsewhere. */
#include "search/sweep_parts.h"

/* --- written down, by who has it for himself --- */

void sweep_save(const struct sweep *w, struct saver *to) {
  save_number(to, w->npending);
  save_bytes(to, w->pending, w->npending * sizeof *w->pending);
  save_number(to, w->keys.n);
  save_bytes(to, w->keys.at, w->keys.n);
  save_number(to, w->nbrief_pending);
  save_bytes(to, w->brief_pending, w->nbrief_pending * sizeof *w->brief_pending);
  save_number(to, w->brief.length);
  save_number(to, w->brief.words);
  save_number(to, w->completed);
  save_number(to, w->reduced.n);
  save_bytes(to, w->reduced.at, w->reduced.n * sizeof *w->reduced.at);
  save_bytes(to, w->recent, sizeof *w->recent << RECENT_BITS);
}

void sweep_load(struct sweep *w, struct loader *from) {
  w->npending = (uint32_t)load_below(from, BATCH);
  load_bytes(from, w->pending, w->npending * sizeof *w->pending);
  w->keys.n = load_below(from, (uint64_t)(from->end - from->at));
  vec_reserve(&w->keys, w->keys.n);
  load_bytes(from, w->keys.at, w->keys.n);
  w->nbrief_pending = (uint32_t)load_below(from, BATCH);
  load_bytes(from, w->brief_pending, w->nbrief_pending * sizeof *w->brief_pending);
  w->brief.length = (uint32_t)load_number(from);
  w->brief.words = (uint32_t)load_number(from);
  w->completed = load_number(from);
  w->reduced.n = load_below(from, (uint64_t)(from->end - from->at) / sizeof *w->reduced.at + 1);
  vec_reserve(&w->reduced, w->reduced.n);
  load_bytes(from, w->reduced.at, w->reduced.n * sizeof *w->reduced.at);
  load_bytes(from, w->recent, sizeof *w->recent << RECENT_BITS);
}
