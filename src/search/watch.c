/* Limits, interruptions and progress, and when the search is to be written down. */
#include "base/memory.h"
#include "search/parcels.h"
#include "search/spill.h"

#include <time.h>

#define SECONDS_PER_PROGRESS 0.1

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void sweep_start(struct sweep *w) { w->started = now(); }
void sweep_started(struct sweep *w, double seconds) { w->started -= seconds; }

/* It goes on to where the search can be written down, and ends there. */
static bool ends_at_rest(struct sweep *w, enum search_end why) {
  struct search *s = w->search;
  const volatile sig_atomic_t *insist = s->limits.insist;
  if (!s->checkpoints || w->rests == REST_NEVER || search_limited(w->end) || (insist && *insist))
    return false;
  s->ending = (int)why;
  s->pause = true;
  return true;
}

void sweep_stop(struct sweep *w, enum search_end why) {
  if (w->end == SEARCH_EXHAUSTED)
    w->end = why;
  if (w->shared)
    *w->halt = true;
}

void sweep_refresh(struct sweep *w) {
  struct search *s = w->search;
  s->stats.states = (s->spill ? spill_states(s->spill) : store_count(s->store)) + s->elsewhere.states;
  s->stats.disk = s->spill ? spill_bytes(s->spill) : 0;
  s->stats.transitions = w->transitions + s->elsewhere.transitions;
  s->stats.seconds = now() - w->started;
  s->stats.layer = s->stage ? s->stage->states : 0;
  s->stats.done = s->stage && w->frontier ? w->frontier->taken : 0;
  if (w->parcels && s->stats.layer > 0) { /* others are about as far with theirs */
    s->stats.done = s->stats.done * ranks_layer(w) / s->stats.layer;
    s->stats.layer = ranks_layer(w);
  }
  s->stats.memory = store_bytes(s->store) + w->space->ops->memory(w->space) + (s->crew ? crew_memory(s->crew) : 0) +
                    s->elsewhere.memory;
}

/* What the process has in core counts, if it is more than what the search knows of. There must be room for the index to grow, and for
   the pages that lanes take next. */
static bool memory_is_full(struct search *s) {
  size_t limit = s->limits.memory, used = s->stats.memory, resident = s->ranks ? 0 : memory_resident_lately(&s->look, s->stats.seconds);
  if (limit == 0)
    return false;
  used = (resident > used ? resident : used) + store_page(s->store);
  if (used + store_growth(s->store) >= limit)
    store_tighten(s->store);
  return used + (store_grows_soon(s->store) ? store_growth(s->store) : 0) >= limit;
}

/* The store must be worth it: else there is no room for anything. */
#define WORTH 8

/* States go to disk where the sweep comes to rest, or the search ends. */
static void make_room(struct sweep *w) {
  struct search *s = w->search;
  bool worth = s->limits.spill_from > 0 || store_bytes(s->store) >= s->limits.memory / WORTH;
  if (s->spill_folder && worth && (w->rests != REST_NEVER || s->spill))
    s->pause = true;
  else if (!ends_at_rest(w, SEARCH_MEMORY))
    sweep_stop(w, SEARCH_MEMORY);
}

static bool is_for_test(const struct search *s) {
  return s->limits.spill_from > 0 && s->spill_folder && store_count(s->store) >= s->limits.spill_from;
}

bool sweep_look(struct sweep *w) {
  struct search *s = w->search;
  if (w->lane != 0) { /* the first one looks for all */
    w->memory = w->space->ops->memory(w->space);
    return true;
  }
  sweep_refresh(w);
  if (s->limits.seconds > 0 && s->stats.seconds >= s->limits.seconds && !ends_at_rest(w, SEARCH_TIME))
    sweep_stop(w, SEARCH_TIME);
  if (memory_is_full(s) || (is_for_test(s) && w->rests != REST_NEVER))
    make_room(w);
  if (s->checkpoints && s->stats.seconds >= s->checkpoint_due)
    s->pause = true;
  if (store_count(s->store) >= STORE_MOST)
    sweep_stop(w, SEARCH_STATES);
  if (s->progress && s->stats.seconds - w->last_progress >= SECONDS_PER_PROGRESS) {
    w->last_progress = s->stats.seconds;
    s->progress(s->progress_context, &s->stats);
  }
  return !search_limited(w->end);
}

bool sweep_undisturbed(struct sweep *w) {
  const struct limits *l = &w->search->limits;
  if (w->parcels)
    parcels_serve(w->parcels);
  if (w->shared && *w->halt)
    return false;
  if (!l->interrupt || !*l->interrupt)
    return true;
  enum search_end why = search_interrupted(*l->interrupt);
  if (ends_at_rest(w, why))
    return true;
  sweep_stop(w, why);
  return false;
}

bool sweep_cut_short(struct sweep *w) {
  const struct limits *l = &w->search->limits;
  const volatile sig_atomic_t *told = w->search->checkpoints ? l->insist : l->interrupt;
  if (!told || !*told)
    return false;
  sweep_stop(w, search_interrupted(l->interrupt ? *l->interrupt : *told));
  return true;
}
