/* A search whose space has laid out its keys anew. */
#include "search/sweep.h"

#include "base/memory.h"

static const uint8_t *key_now(void *space, const uint8_t *bytes, uint32_t *length) {
  struct state now = ((struct space *)space)->ops->widened(space, &(struct state){bytes, *length});
  *length = now.length;
  return now.bytes;
}

static state_ref moved(const struct search *s, const struct store *before, state_ref ref) {
  if (ref == STORE_NONE)
    return ref;
  struct stored at = store_key(before, ref);
  const uint8_t *key = key_now(s->space, at.bytes, &at.length);
  return store_seek(s->store, key, at.length);
}

/* The end of the lane, or the state there. */
static void move_bounds(const struct search *s, const struct store *before, state_ref *bound, uint32_t lanes) {
  for (uint32_t i = 0; i < lanes; i++) {
    state_ref ref = store_from(before, bound[i]);
    bound[i] = ref >= store_end_of(before, i) ? store_end_of(s->store, i) : moved(s, before, ref);
  }
}

/* What was found in the layer that is begun again will be found again. */
static void move_findings(const struct sweep *w, const struct store *before) {
  struct search *s = w->search;
  for (uint32_t i = 0; i < s->space->question->nproperties; i++) {
    struct finding *f = &s->findings[i];
    if (f->found && f->rounds >= w->rounds)
      *f = (struct finding){0};
    if (!f->found)
      continue;
    f->state = moved(s, before, f->state);
    f->target = moved(s, before, f->target);
  }
}

/* For a moment there are two stores; the index is moved from one to the other. */
static bool has_room(const struct search *s) {
  return s->limits.memory == 0 || s->stats.memory + store_bytes(s->store) < s->limits.memory;
}

static bool can_be_kept(struct sweep *w) {
  const struct search *s = w->search;
  bool suits = s->space->ops->widen && !s->ranks && !s->spill_folder && store_signature(s->store) == 0;
  if (!suits || s->stage->kind != STAGE_EXPAND)
    return false;
  sweep_refresh(w);
  return has_room(s);
}

bool search_rekey(struct sweep *w) {
  struct search *s = w->search;
  struct stage *at = s->stage;
  if (!can_be_kept(w))
    return false;
  crew_free(s->crew);
  s->crew = NULL;
  s->space->ops->widen(s->space);
  struct store *before = s->store;
  s->store = store_rekey(before, key_now, s->space);
  move_findings(w, before);
  move_bounds(s, before, at->layer.from, at->layer.lanes);
  move_bounds(s, before, at->layer.to, at->layer.lanes);
  move_bounds(s, before, at->next.from, at->next.lanes);
  store_free(before);
  s->error = w->error = (struct finding){0};
  s->end = w->end = SEARCH_EXHAUSTED;
  s->pause = false;
  w->transitions = at->transitions;
  sweep_forget(w);
  return true;
}
