/* Limits, interruptions, progress, and the time of checkpoints. */
#include "base/memory.h"
#include "search/visited_backend.h"

#include <time.h>

#define SECONDS_PER_PROGRESS 0.1

double search_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool search_time_is_up(const struct limits *l, const struct search_stats *s) {
  return l->seconds > 0 && s->seconds >= l->seconds;
}

size_t search_memory_used(struct memory_sample *look, const struct search_stats *s) {
  size_t resident = memory_resident_recent(look, s->seconds);
  return resident > s->memory ? resident : s->memory;
}

void search_report_progress(struct search_clock *c, search_progress_fn *progress, void *context,
                            const struct search_stats *s) {
  if (!progress || s->seconds - c->last_progress < SECONDS_PER_PROGRESS)
    return;
  c->last_progress = s->seconds;
  progress(context, s);
}

void worker_start_clock(struct worker *w) { w->clock.started = search_now(); }
void worker_add_elapsed(struct worker *w, double seconds) { w->clock.started -= seconds; }

/* Lets the worker continue to where a checkpoint can be written; the search ends there. False: it cannot. */
static bool ends_suspended(struct worker *w, enum search_end why) {
  struct search *s = w->search;
  if (!s->checkpoints || w->suspend_at == SUSPEND_NEVER || s->stage->kind == STAGE_INITIAL || search_limited(w->end) ||
      worker_must_end(w))
    return false;
  s->saving.ending = (int)why;
  s->saving.wanted = s->pause = true;
  return true;
}

void worker_stop(struct worker *w, enum search_end why) {
  if (w->end == SEARCH_EXHAUSTED)
    w->end = why;
  if (w->shared)
    *w->halt = true;
}

void worker_update_stats(struct worker *w) {
  struct search *s = w->search;
  s->backend->count(w);
  s->stats.transitions = w->transitions + s->across.others.transitions;
  s->stats.seconds = search_now() - w->clock.started;
  s->stats.memory = visited_bytes(s->visited_set) + w->space->ops->memory(w->space) +
                    (s->threads.pool ? worker_pool_memory(s->threads.pool) : 0) + s->across.others.memory;
}

/* The resident memory counts if it exceeds what the search has accounted for. There must be room for the index to grow
   and for the next chunks of the partitions. */
static bool memory_is_full(struct search *s) {
  size_t limit = s->limits.memory;
  if (limit == 0)
    return false;
  size_t used = s->backend->distributed ? s->stats.memory : search_memory_used(&s->look, &s->stats);
  used += visited_chunk_bytes(s->visited_set);
  if (used + visited_growth(s->visited_set) >= limit)
    visited_raise_load(s->visited_set);
  return used + (visited_grows_soon(s->visited_set) ? visited_growth(s->visited_set) : 0) >= limit;
}

/* Spilling is worthwhile only if the visited set takes at least one part in so many of the memory limit; otherwise it
   would free too little. */
#define WORTH 8

/* States go to disk when the worker is suspended; if that is not possible, the search ends. */
static void make_room(struct worker *w) {
  struct search *s = w->search;
  bool worth = s->limits.spill_from > 0 || visited_bytes(s->visited_set) >= s->limits.memory / WORTH;
  if (s->backend->relocates && worth && (w->suspend_at != SUSPEND_NEVER || s->backend->candidates))
    s->disk.full = s->pause = true;
  else if (!ends_suspended(w, SEARCH_MEMORY))
    worker_stop(w, SEARCH_MEMORY);
}

static bool is_for_test(const struct search *s) {
  return s->limits.spill_from > 0 && s->backend->relocates && visited_count(s->visited_set) >= s->limits.spill_from;
}

/* The layer being built has become so large that the states found so far are worth a look: see expand_layer. */
static bool wants_look(const struct worker *w) {
  const struct search_stage *at = w->search->stage;
  return at->kind == STAGE_EXPAND && at->look_at > 0 &&
         visited_count(w->search->visited_set) - at->before >= at->look_at;
}

bool worker_check_limits(struct worker *w) {
  struct search *s = w->search;
  if (w->partition != 0) { /* the first worker checks the limits for all */
    w->memory = w->space->ops->memory(w->space);
    return true;
  }
  worker_update_stats(w);
  if (search_time_is_up(&s->limits, &s->stats) && !ends_suspended(w, SEARCH_TIME))
    worker_stop(w, SEARCH_TIME);
  if (memory_is_full(s) || (is_for_test(s) && w->suspend_at != SUSPEND_NEVER))
    make_room(w);
  if (s->checkpoints && s->stats.seconds >= s->saving.due)
    s->saving.wanted = s->pause = true;
  if (visited_count(s->visited_set) >= VISITED_MAX_STATES)
    worker_stop(w, SEARCH_STATES);
  search_report_progress(&w->clock, s->progress, s->progress_context, &s->stats);
  s->stage->looks = wants_look(w);
  return !search_limited(w->end) && !s->stage->looks;
}

bool worker_may_continue(struct worker *w) {
  const struct limits *l = &w->search->limits;
  if (w->search->backend->serve)
    w->search->backend->serve(w);
  if (w->shared && *w->halt)
    return false;
  if (!l->interrupt || !*l->interrupt)
    return true;
  enum search_end why = search_interrupted(*l->interrupt);
  if (ends_suspended(w, why))
    return true;
  worker_stop(w, why);
  return false;
}

bool worker_must_end(const struct worker *w) {
  const volatile sig_atomic_t *insist = w->search->limits.insist;
  return insist && *insist;
}

bool worker_was_interrupted(struct worker *w) {
  const struct limits *l = &w->search->limits;
  const volatile sig_atomic_t *told = w->search->checkpoints ? l->insist : l->interrupt;
  if (!told || !*told)
    return false;
  worker_stop(w, search_interrupted(l->interrupt ? *l->interrupt : *told));
  return true;
}
