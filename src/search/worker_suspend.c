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
  for (uint32_t i = 0; i < w->queue.nshort; i++) {
    const struct short_pending *p = &w->queue.short_pending[i];
    save_bytes(to, &p->key, sizeof p->key);
    save_number(to, p->from);
    save_number(to, p->fault_cost);
    save_number(to, p->invisible);
  }
  save_number(to, w->short_keyed.length);
  save_number(to, w->short_keyed.words);
  save_number(to, w->deferral.completed);
  save_number(to, w->deferral.states.n);
  for (size_t i = 0; i < w->deferral.states.n; i++) {
    save_number(to, w->deferral.states.at[i].ref);
    save_number(to, w->deferral.states.at[i].proviso);
  }
  save_bytes(to, w->recent, sizeof *w->recent << RECENT_BITS);
}

static bool key_is_valid(const struct worker *w, const uint8_t *bytes, uint32_t length) {
  return w->space->ops->checkpoint.valid(w->space, &(struct state){bytes, length});
}

static void load_pending(struct worker *w, struct loader *from) {
  w->queue.n = (uint32_t)load_below(from, BATCH);
  load_bytes(from, w->queue.pending, w->queue.n * sizeof *w->queue.pending);
  w->queue.keys.n = (size_t)load_below(from, (uint64_t)(from->end - from->at) + 1);
  vec_reserve(&w->queue.keys, w->queue.keys.n + KEY_SHORT_BYTES);
  load_bytes(from, w->queue.keys.at, w->queue.keys.n);
  uint64_t decided_by =
      w->space->query->nproperties < 64 ? (UINT64_C(1) << w->space->query->nproperties) - 1 : UINT64_MAX;
  for (uint32_t i = 0; i < w->queue.n && !from->bad; i++) {
    struct pending_insert *p = &w->queue.pending[i];
    from->bad |= p->key > w->queue.keys.n || p->length > w->queue.keys.n - p->key || (p->broken & ~decided_by) != 0;
    if (from->bad || !key_is_valid(w, w->queue.keys.at + p->key, p->length)) {
      from->bad = true;
      break;
    }
    p->hash = key_hash(w->queue.keys.at + p->key, p->length);
    p->probe_position = 0;
  }
}

static void load_short_pending(struct worker *w, struct loader *from) {
  w->queue.nshort = (uint32_t)load_below(from, BATCH);
  for (uint32_t i = 0; i < w->queue.nshort; i++) {
    struct short_pending *p = &w->queue.short_pending[i];
    load_bytes(from, &p->key, sizeof p->key);
    p->from = load_number(from);
    p->fault_cost = (fault_cost)load_number(from);
    p->invisible = load_below(from, 2);
    p->probe_position = 0;
  }
  w->short_keyed.length = (uint32_t)load_below(from, KEY_SHORT_BYTES + 1);
  w->short_keyed.words = (uint32_t)load_below(from, KEY_SHORT_BYTES / 8 + 1);
  from->bad |= w->short_keyed.words % 2 != 0 || w->short_keyed.length > 8 * w->short_keyed.words;
  for (uint32_t i = 0; i < w->queue.nshort && !from->bad; i++) {
    struct short_pending *p = &w->queue.short_pending[i];
    struct short_key given = p->key;
    p->key = (struct short_key){{0}};
    key_words((const uint8_t *)&given, w->short_keyed.length, &p->key);
    from->bad |= !key_is_valid(w, (const uint8_t *)&p->key, w->short_keyed.length);
    p->hash = key_hash_short(&p->key, w->short_keyed.length);
  }
}

void worker_load(struct worker *w, struct loader *from) {
  load_pending(w, from);
  load_short_pending(w, from);
  w->deferral.completed = memory_size(load_number(from));
  w->deferral.states.n = (size_t)load_below(from, (uint64_t)(from->end - from->at) / 16 + 1);
  vec_reserve(&w->deferral.states, w->deferral.states.n + 1);
  for (size_t i = 0; i < w->deferral.states.n; i++) {
    w->deferral.states.at[i].ref = load_number(from);
    w->deferral.states.at[i].proviso = load_below(from, 2);
  }
  from->bad |= w->deferral.completed > w->deferral.states.n;
  load_bytes(from, w->recent, sizeof *w->recent << RECENT_BITS);
  if (from->bad)
    w->queue.n = w->queue.nshort = 0, w->deferral.states.n = 0;
}

bool worker_refs_are_sound(const struct worker *w, bool (*is_state)(const struct search *, state_ref)) {
  const struct search *s = w->search;
  for (uint32_t i = 0; i < w->queue.n; i++)
    if (!is_state(s, w->queue.pending[i].from))
      return false;
  for (uint32_t i = 0; i < w->queue.nshort; i++)
    if (!is_state(s, w->queue.short_pending[i].from))
      return false;
  for (size_t i = 0; i < w->deferral.states.n; i++)
    if (!is_state(s, w->deferral.states.at[i].ref))
      return false;
  return true;
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
