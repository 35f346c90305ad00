/* A sweep at rest: it is written down, its states go elsewhere, or it hears what became of them. */
#include "search/spill.h"
#include "search/store_look.h"
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
  w->keys.n = (size_t)load_below(from, (uint64_t)(from->end - from->at));
  vec_reserve(&w->keys, w->keys.n);
  load_bytes(from, w->keys.at, w->keys.n);
  w->nbrief_pending = (uint32_t)load_below(from, BATCH);
  load_bytes(from, w->brief_pending, w->nbrief_pending * sizeof *w->brief_pending);
  w->brief.length = (uint32_t)load_number(from);
  w->brief.words = (uint32_t)load_number(from);
  w->completed = memory_size(load_number(from));
  w->reduced.n = (size_t)load_below(from, (uint64_t)(from->end - from->at) / sizeof *w->reduced.at + 1);
  vec_reserve(&w->reduced, w->reduced.n);
  load_bytes(from, w->reduced.at, w->reduced.n * sizeof *w->reduced.at);
  load_bytes(from, w->recent, sizeof *w->recent << RECENT_BITS);
}

/* --- on disk --- */

/* Bytes of states that it has taken lie in memory that others will use. */
static void take_along(struct sweep *w) {
  size_t n = 0;
  for (uint32_t i = 0; i < w->ntaken; i++)
    n += w->taken[i].stored.length;
  vec_reserve(&w->taken_bytes, n + STORE_SHORT);
  uint8_t *to = w->taken_bytes.at;
  for (uint32_t i = 0; i < w->ntaken; i++) {
    struct stored *at = &w->taken[i].stored;
    if (at->length > 0)
      memcpy(to, at->bytes, at->length);
    at->bytes = to;
    to += at->length;
  }
}

void sweep_move(struct sweep *w, const struct spill *p) {
  for (uint32_t i = 0; i < w->npending; i++)
    w->pending[i].from = spill_place(p, w->pending[i].from);
  for (uint32_t i = 0; i < w->nbrief_pending; i++)
    w->brief_pending[i].from = spill_place(p, w->brief_pending[i].from);
  for (size_t i = 0; i < w->reduced.n; i++)
    w->reduced.at[i].ref = spill_place(p, w->reduced.at[i].ref);
  for (uint32_t i = 0; i < w->ntaken; i++)
    w->taken[i].ref = spill_place(p, w->taken[i].ref);
  w->from = spill_place(p, w->from);
  take_along(w);
}

void sweep_learn(struct sweep *w) {
  for (size_t i = 0; i < w->led_to.n; i++) {
    const struct led_to *l = &w->led_to.at[i];
    if (l->reduced < w->reduced.n && w->reduced.at[l->reduced].ref == l->from &&
        spill_candidate_is_next(w->search, l->candidate))
      w->reduced.at[l->reduced].ahead = true;
  }
  vec_clear(&w->led_to);
}

/* With states on disk, the charge of an origin must be known without asking for it, and an origin may be older than the shelf: a
   reference, whether it is a place on the shelf, and the number of a charge. */
#define ORIGIN_ON_SHELF (UINT64_C(1) << POSITION_BITS)
#define ORIGIN_CHARGE (POSITION_BITS + 1)

uint64_t sweep_origin(struct sweep *w, const struct taken *at) {
  uint64_t i = 0;
  while (i < w->charges.n && w->charges.at[i] != at->stored.charge)
    i++;
  if (i == w->charges.n)
    vec_push(&w->charges, at->stored.charge);
  return at->ref | (w->search->spill ? ORIGIN_ON_SHELF : 0) | i << ORIGIN_CHARGE;
}

void sweep_set_from(struct sweep *w, uint64_t origin) {
  w->from = origin;
  if (!w->search->spill_folder) {
    w->from_charge = store_charge(w->search->store, origin);
    return;
  }
  w->from &= POSITION_MASK;
  if (w->search->spill && !(origin & ORIGIN_ON_SHELF))
    w->from = spill_place(w->search->spill, w->from);
  w->from_charge = w->charges.at[origin >> ORIGIN_CHARGE];
}

/* --- several ranks --- */

void sweep_made_headway(struct sweep *w, state_ref from) {
  size_t low = 0, high = w->reduced.n;
  while (low < high) { /* one lane: references ascend */
    size_t middle = (low + high) / 2;
    if (w->reduced.at[middle].ref < from)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < w->reduced.n && w->reduced.at[low].ref == from)
    w->reduced.at[low].ahead = true;
}
