/* A suspended worker: saving it, moving its states to disk, and resolving candidates. */
#include "search/spill.h"
#include "search/visited_backend.h"
#include "search/visited_index.h"
#include "search/worker_internal.h"

/* --- checkpoints --- */

void worker_save(const struct worker *w, struct saver *to) {
  save_number(to, w->queue.n);
  save_bytes(to, w->queue.pending, w->queue.n * sizeof *w->queue.pending);
  save_number(to, w->queue.keys.n);
  save_bytes(to, w->queue.keys.at, w->queue.keys.n);
  save_number(to, w->queue.nshort);
  save_bytes(to, w->queue.short_pending, w->queue.nshort * sizeof *w->queue.short_pending);
  save_number(to, w->short_keyed.length);
  save_number(to, w->short_keyed.words);
  save_number(to, w->deferral.completed);
  save_number(to, w->deferral.states.n);
  save_bytes(to, w->deferral.states.at, w->deferral.states.n * sizeof *w->deferral.states.at);
  save_bytes(to, w->recent, sizeof *w->recent << RECENT_BITS);
}

void worker_load(struct worker *w, struct loader *from) {
  w->queue.n = (uint32_t)load_below(from, BATCH);
  load_bytes(from, w->queue.pending, w->queue.n * sizeof *w->queue.pending);
  w->queue.keys.n = (size_t)load_below(from, (uint64_t)(from->end - from->at));
  vec_reserve(&w->queue.keys, w->queue.keys.n);
  load_bytes(from, w->queue.keys.at, w->queue.keys.n);
  for (uint32_t i = 0; i < w->queue.n; i++)
    from->bad |= w->queue.pending[i].key > w->queue.keys.n ||
                 w->queue.pending[i].length > w->queue.keys.n - w->queue.pending[i].key;
  w->queue.nshort = (uint32_t)load_below(from, BATCH);
  load_bytes(from, w->queue.short_pending, w->queue.nshort * sizeof *w->queue.short_pending);
  w->short_keyed.length = (uint32_t)load_number(from);
  w->short_keyed.words = (uint32_t)load_number(from);
  w->deferral.completed = memory_size(load_number(from));
  w->deferral.states.n = (size_t)load_below(from, (uint64_t)(from->end - from->at) / sizeof *w->deferral.states.at + 1);
  vec_reserve(&w->deferral.states, w->deferral.states.n);
  load_bytes(from, w->deferral.states.at, w->deferral.states.n * sizeof *w->deferral.states.at);
  load_bytes(from, w->recent, sizeof *w->recent << RECENT_BITS);
}

/* --- states on disk --- */

/* Copies the bytes of the states that it has taken, because the visited set's memory will be reused. */
static void take_along(struct worker *w) {
  size_t n = 0;
  for (uint32_t i = 0; i < w->taken.n; i++)
    n += w->taken.states[i].stored.length;
  vec_reserve(&w->taken.bytes, n + KEY_SHORT_BYTES);
  uint8_t *to = w->taken.bytes.at;
  for (uint32_t i = 0; i < w->taken.n; i++) {
    struct stored *at = &w->taken.states[i].stored;
    if (at->length > 0)
      memcpy(to, at->bytes, at->length);
    at->bytes = to;
    to += at->length;
  }
}

void worker_relocate(struct worker *w, const struct spill *p) {
  for (uint32_t i = 0; i < w->queue.n; i++)
    w->queue.pending[i].from = spill_relocate(p, w->queue.pending[i].from);
  for (uint32_t i = 0; i < w->queue.nshort; i++)
    w->queue.short_pending[i].from = spill_relocate(p, w->queue.short_pending[i].from);
  for (size_t i = 0; i < w->deferral.states.n; i++)
    w->deferral.states.at[i].ref = spill_relocate(p, w->deferral.states.at[i].ref);
  for (uint32_t i = 0; i < w->taken.n; i++)
    w->taken.states[i].ref = spill_relocate(p, w->taken.states[i].ref);
  w->from = spill_relocate(p, w->from);
  take_along(w);
}

void worker_resolve_candidates(struct worker *w) {
  for (size_t i = 0; i < w->deferral.candidates.n; i++) {
    const struct candidate_successor *l = &w->deferral.candidates.at[i];
    if (l->deferred < w->deferral.states.n && w->deferral.states.at[l->deferred].ref == l->from &&
        spill_candidate_is_next(w->search, l->candidate))
      w->deferral.states.at[l->deferred].proviso = true;
  }
  vec_clear(&w->deferral.candidates);
}

/* With states on disk, the fault cost of an origin must be available without reading the disk, and an origin may be
   older than the disk log. An origin therefore combines a reference, whether that is an offset in the disk log, and the
   index of a fault cost. */
#define ORIGIN_ON_DISK (UINT64_C(1) << POSITION_BITS)
#define ORIGIN_CHARGE (POSITION_BITS + 1)

uint64_t worker_origin(struct worker *w, const struct frontier_state *at) {
  uint64_t i = 0;
  while (i < w->charges.n && w->charges.at[i] != at->stored.fault_cost)
    i++;
  if (i == w->charges.n)
    vec_push(&w->charges, at->stored.fault_cost);
  return at->ref | (w->search->backend->candidates ? ORIGIN_ON_DISK : 0) | i << ORIGIN_CHARGE;
}

void worker_set_from(struct worker *w, uint64_t origin) {
  w->from = origin;
  if (!w->search->backend->relocates) {
    w->from_charge = visited_cost(w->search->visited_set, origin);
    return;
  }
  w->from &= POSITION_MASK;
  if (w->search->backend->candidates && !(origin & ORIGIN_ON_DISK))
    w->from = spill_relocate(w->search->disk.spill, w->from);
  w->from_charge = w->charges.at[origin >> ORIGIN_CHARGE];
}

/* --- several ranks --- */

void worker_proviso_met(struct worker *w, state_ref from) {
  size_t low = 0, high = w->deferral.states.n;
  while (low < high) { /* there is one partition, so references ascend */
    size_t middle = (low + high) / 2;
    if (w->deferral.states.at[middle].ref < from)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < w->deferral.states.n && w->deferral.states.at[low].ref == from)
    w->deferral.states.at[low].proviso = true;
}
