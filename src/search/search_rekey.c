/* Continues a search whose transition system has changed the layout of its keys. */
#include "search/visited_backend.h"

#include "base/memory.h"

static const uint8_t *key_now(void *space, const uint8_t *bytes, uint32_t *length) {
  struct state now = ((struct system *)space)->ops->widening.widened(space, &(struct state){bytes, *length});
  *length = now.length;
  return now.bytes;
}

static state_ref moved(const struct search *s, const struct visited_set *before, state_ref ref) {
  if (ref == STATE_REF_NONE)
    return ref;
  struct stored at = visited_get_key(before, ref);
  const uint8_t *key = key_now(s->space, at.bytes, &at.length);
  return visited_lookup(s->visited_set, key, at.length);
}

/* The first state of the partition at or after the reference, or the partition's end. */
static void move_bounds(const struct search *s, const struct visited_set *before, state_ref *bound,
                        uint32_t partitions) {
  for (uint32_t i = 0; i < partitions; i++) {
    state_ref ref = visited_from(before, bound[i]);
    bound[i] = ref >= visited_end_of(before, i) ? visited_end_of(s->visited_set, i) : moved(s, before, ref);
  }
}

/* Discards findings of the layer that is restarted; they will be found again. */
static void move_findings(const struct worker *w, const struct visited_set *before) {
  struct search *s = w->search;
  for (uint32_t i = 0; i < s->space->query->nproperties; i++) {
    struct finding *f = &s->findings[i];
    if (f->found && f->rounds >= w->rounds)
      *f = (struct finding){0};
    if (!f->found)
      continue;
    f->state = moved(s, before, f->state);
    f->target = moved(s, before, f->target);
  }
}

/* Two visited sets exist for a moment; the index moves from one to the other. */
static bool has_room(const struct search *s) {
  return s->limits.memory == 0 || s->stats.memory + visited_bytes(s->visited_set) < s->limits.memory;
}

static bool can_be_kept(struct worker *w) {
  const struct search *s = w->search;
  bool suits = s->space->ops->widening.widen && s->backend->keeps_keys;
  if (!suits || s->stage->kind != STAGE_EXPAND)
    return false;
  worker_update_stats(w);
  return has_room(s);
}

bool search_rekey(struct worker *w) {
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  if (!can_be_kept(w))
    return false;
  worker_pool_free(s->threads.pool);
  s->threads.pool = NULL;
  s->space->ops->widening.widen(s->space);
  struct visited_set *before = s->visited_set;
  s->visited_set = visited_rekey(before, key_now, s->space);
  move_findings(w, before);
  move_bounds(s, before, at->layer.from, at->layer.partitions);
  move_bounds(s, before, at->layer.to, at->layer.partitions);
  move_bounds(s, before, at->next.from, at->next.partitions);
  visited_free(before);
  s->error = w->error = (struct finding){0};
  s->end = w->end = SEARCH_EXHAUSTED;
  s->pause = false;
  w->transitions = at->transitions;
  worker_clear(w);
  return true;
}
