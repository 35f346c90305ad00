#include "search/sweep.h"

#include "base/memory.h"

#include <string.h>
#include <time.h>

void search_init(struct search *s, struct space *space, const struct limits *limits) {
  *s = (struct search){.space = space, .limits = *limits, .threaded_from = UINT32_MAX};
  uint32_t n = space->question->nproperties;
  s->findings = memory_alloc((n ? n : 1) * sizeof *s->findings);
  s->store = store_new();
}

void search_release(struct search *s) {
  crew_free(s->crew);
  memory_free(s->findings);
  store_free(s->store);
  *s = (struct search){0};
}

static bool all_decided(const struct search *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->space->question->nproperties; i++) {
    const struct property *p = question_property(s->space, i);
    if (p->kind != PROPERTY_LIVE && !p->stability_of) {
      any = true;
      if (!s->findings[i].found)
        return false;
    }
  }
  return any;
}

static void tell_decided(struct search *s) {
  s->space->decided = 0;
  for (uint32_t i = 0; i < s->space->question->nproperties && i < 64; i++)
    s->space->decided |= (uint64_t)s->findings[i].found << i;
}

/* --- layers --- */

/* What was added to each lane since `layer` began is what it is. */
static void layer_close(const struct store *store, struct layer *layer) {
  for (uint32_t i = 0; i < layer->lanes; i++) {
    layer->to[i] = store_end_of(store, i);
    layer->from[i] = store_from(store, layer->from[i]);
  }
}

static void layer_open(const struct store *store, uint32_t lanes, struct layer *layer) {
  layer->lanes = lanes;
  for (uint32_t i = 0; i < lanes; i++)
    layer->from[i] = store_end_of(store, i);
}

/* Threads are worth it from so many states of a layer on. */
#define CREW_LEAST 8192

static bool is_for_many(struct sweep *w, uint64_t states) {
  struct search *s = w->search;
  if (s->limits.threads < 2 || states < s->limits.threads_from || s->alone)
    return false;
  if (!s->crew && !(s->crew = crew_new(w, s->limits.threads)))
    s->alone = true;
  return s->crew;
}

static bool go_through(struct sweep *w, bool (*work)(struct sweep *), const struct layer *layer, const struct layer *next,
                       uint64_t states) {
  struct search *s = w->search;
  if (is_for_many(w, states)) {
    w->made = crew_do(s->crew, work, layer, next);
  } else {
    struct frontier f = {.layer = layer, .reader = store_reader(s->store, layer->from[0], layer->to[0])};
    w->frontier = &f;
    w->next = next;
    w->at = w->ntaken = 0;
    w->made = work(w);
  }
  s->error = w->error;
  if (s->end == SEARCH_EXHAUSTED)
    s->end = w->end;
  return w->made;
}

static bool look_beyond(struct sweep *w) {
  sweep_look_beyond(w);
  return true;
}

static void stop(struct search *s, enum search_end why) {
  if (s->end == SEARCH_EXHAUSTED)
    s->end = why;
}

/* For a space that gave up by itself when it was interrupted. */
static void find_out_why(struct sweep *w) {
  sweep_undisturbed(w);
  stop(w->search, w->end);
}

/* Layer by layer; s->end says why it ended. */
static void explore(struct sweep *w) {
  struct search *s = w->search;
  struct layer layer = {.lanes = 1, .from = {store_first()}}, next;
  uint64_t before = 0;
  w->next = &layer;
  bool made = sweep_initial(w);
  s->error = w->error;
  stop(s, w->end);
  while (true) {
    uint64_t states = store_count(s->store) - before;
    layer_close(s->store, &layer);
    bool any = !layer_empty(&layer);
    if (s->space->restart)
      return;
    if (any) {
      s->stats.depth = w->rounds;
      w->frontier_states = 0;
    }
    bool checked =
        go_through(w, sweep_check, &layer, &layer, states); /* also what a limit cut short: a violation is a violation */
    if (any)
      s->stats.frontier = w->frontier_states;
    if (s->space->restart)
      return;
    if (!made || !checked) {
      find_out_why(w);
      return;
    }
    s->complete = w->rounds + 1;
    if (s->error.found)
      stop(s, SEARCH_MODEL_ERROR);
    else if (all_decided(s) && any)
      stop(s, SEARCH_DECIDED);
    if (s->end != SEARCH_EXHAUSTED || !any)
      return;
    if (s->limits.rounds > 0 && w->rounds == s->limits.rounds) {
      go_through(w, look_beyond, &layer, &layer, 0);
      return;
    }
    w->rounds++;
    tell_decided(s);
    before = store_count(s->store);
    if (is_for_many(w, states) && s->threaded_from == UINT32_MAX)
      s->threaded_from = w->rounds;
    layer_open(s->store, s->crew ? s->limits.threads : layer.lanes, &next);
    made = go_through(w, sweep_expand, &layer, &next, states);
    layer = next;
  }
}

/* Everything that was found is forgotten: keys mean something else now. */
static void begin_again(struct sweep *w) {
  struct search *s = w->search;
  crew_free(s->crew);
  s->crew = NULL;
  s->threaded_from = UINT32_MAX;
  store_free(s->store);
  s->store = store_new();
  memset(s->findings, 0, s->space->question->nproperties * sizeof *s->findings);
  s->error = w->error = (struct finding){0};
  s->end = w->end = SEARCH_EXHAUSTED;
  s->cut = false;
  s->complete = 0;
  s->stats = (struct search_stats){0};
  s->space->restart = false;
  w->rounds = 0;
  w->transitions = 0;
  sweep_forget(w);
}

void search_run(struct search *s) {
  bool limited = s->limits.states != 0 && s->limits.states <= STORE_MOST;
  if (!limited)
    s->limits.states = STORE_MOST;
  if (s->limits.threads_from == 0)
    s->limits.threads_from = CREW_LEAST;
  s->alone = limited || !s->space->ops->another; /* how many states there are when several threads stop is anybody's guess */
  struct sweep *w = sweep_new(s, s->space, 0);
  sweep_start(w);
  explore(w);
  while (s->space->restart) {
    begin_again(w);
    explore(w);
  }
  sweep_refresh(w);
  crew_dismiss(s->crew);
  sweep_free(w);
}

uint32_t search_unsettled(const struct search *s) {
  uint32_t rounds = 0;
  for (uint32_t i = 0; i <= s->space->question->nproperties; i++) {
    const struct finding *f = i < s->space->question->nproperties ? &s->findings[i] : &s->error;
    if (f->found && f->rounds >= s->threaded_from && f->rounds > rounds)
      rounds = f->rounds;
  }
  return rounds;
}

struct state *search_path(const struct search *s, const struct finding *f, uint32_t *n,
                          struct goal *goal) {
  uint32_t length = f->target != STORE_NONE;
  for (state_ref r = f->state; r != STORE_NONE; r = store_at(s->store, r).parent)
    length++;
  struct state *path = memory_alloc((length ? length : 1) * sizeof *path);
  uint32_t at = length;
  if (f->target != STORE_NONE) {
    struct stored last = store_at(s->store, f->target);
    path[--at] = (struct state){last.bytes, last.length};
  }
  for (state_ref r = f->state; r != STORE_NONE;) {
    struct stored on = store_at(s->store, r);
    path[--at] = (struct state){on.bytes, on.length};
    r = on.parent;
  }
  *n = length;
  *goal = (struct goal){.kind = !f->by_step                 ? GOAL_STATE
                                : f->property == UINT32_MAX ? GOAL_ERROR
                                                            : GOAL_BROKEN_STEP,
                        .property = f->property};
  return path;
}
