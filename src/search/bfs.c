#include "search/sweep.h"

#include "base/memory.h"
#include "base/thread.h"
#include "search/paths.h"
#include "search/retrace.h"
#include "search/spill.h"

#include <math.h>
#include <string.h>

/* States that go elsewhere, or came from there, have parents that are not known yet. */
static struct store *new_store(const struct search *s) {
  bool terse = !s->ranks && !s->spill_folder;
  return s->limits.signature ? store_new_compact(s->limits.signature) : terse ? store_new_terse() : store_new();
}

void search_init(struct search *s, struct space *space, const struct limits *limits) {
  *s = (struct search){.space = space, .limits = *limits, .threaded_from = UINT32_MAX,
                       .resumed_from = UINT32_MAX};
  uint32_t n = space->question->nproperties;
  s->findings = memory_alloc((n ? n : 1) * sizeof *s->findings);
}

void search_release(struct search *s) {
  crew_free(s->crew);
  memory_free(s->findings);
  store_free(s->store);
  for (uint32_t i = 0; i < s->ntexts; i++)
    memory_free(s->texts[i]);
  memory_free(s->texts);
  told_paths_free(s);
  memory_free(s->error_text);
  spill_free(s->spill);
  memory_free(s->spill_trouble);
  *s = (struct search){0};
}

bool search_all_decided(const struct search *s) {
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

void search_tell_decided(struct search *s) {
  s->space->decided = 0;
  for (uint32_t i = 0; i < s->space->question->nproperties && i < 64; i++)
    s->space->decided |= (uint64_t)s->findings[i].found << i;
}

void search_stop(struct search *s, enum search_end why) {
  if (s->end == SEARCH_EXHAUSTED)
    s->end = why;
}

void search_forget(struct search *s, struct sweep *w) {
  crew_free(s->crew);
  s->crew = NULL;
  spill_free(s->spill);
  s->spill = NULL;
  s->pause = false;
  store_free(s->store);
  s->store = new_store(s);
  memset(s->findings, 0, s->space->question->nproperties * sizeof *s->findings);
  s->error = w->error = (struct finding){0};
  s->end = w->end = SEARCH_EXHAUSTED;
  s->cut = false;
  s->complete = 0;
  s->stats = (struct search_stats){0};
  s->threaded_from = s->resumed_from = UINT32_MAX;
  vec_release(&s->stage->first);
  *s->stage = (struct stage){0};
  w->transitions = w->frontier_states = w->rounds = 0;
  sweep_forget(w);
  if (s->ranks)
    ranks_forget(w);
}

/* --- layers --- */

/* What was added to each lane since `layer` began is what it is. */
static void layer_close(const struct store *store, struct layer *layer) {
  for (uint32_t i = 0; i < layer->lanes; i++) {
    layer->to[i] = store_end_of(store, i);
    layer->from[i] = store_from(store, layer->from[i]);
  }
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

static bool look_beyond(struct sweep *w) {
  sweep_look_beyond(w);
  return true;
}

static bool go_through(struct sweep *w, enum stage_kind kind) {
  static bool (*const works[])(struct sweep *) = {
      [STAGE_CHECK] = sweep_check, [STAGE_EXPAND] = sweep_expand, [STAGE_OTHERS] = sweep_complete_layer,
      [STAGE_BEYOND] = look_beyond};
  struct search *s = w->search;
  struct stage *at = s->stage;
  const struct layer *next = kind == STAGE_EXPAND || kind == STAGE_OTHERS ? &at->next : &at->layer;
  at->kind = kind;
  if (!at->begun)
    at->transitions = w->transitions;
  if (kind != STAGE_BEYOND && is_for_many(w, at->states)) {
    w->made = crew_do(s->crew, works[kind], &at->layer, next);
  } else {
    struct frontier f;
    frontier_of(&f, s, &at->layer);
    w->frontier = &f;
    w->next = next;
    w->at = w->ntaken = 0;
    w->made = s->ranks ? ranks_do(w, works[kind]) : works[kind](w);
    frontier_release(&f);
  }
  w->frontier = NULL;
  at->begun = false;
  vec_clear(&at->first);
  s->error = w->error;
  search_stop(s, w->end);
  return w->made;
}

/* For a space that gave up by itself when it was interrupted. */
static void find_out_why(struct sweep *w) {
  sweep_undisturbed(w);
  search_stop(w->search, w->end);
}

static bool make_initial(struct sweep *w) {
  struct search *s = w->search;
  struct stage *at = s->stage;
  at->kind = STAGE_INITIAL;
  at->layer = (struct layer){.lanes = 1, .from = {store_first()}};
  w->next = &at->layer;
  bool made = s->ranks ? ranks_do(w, sweep_initial) : sweep_initial(w);
  s->error = w->error;
  search_stop(s, w->end);
  if (s->spill)
    return spill_close_layer(w, made);
  at->states = store_count(s->store);
  return made;
}

/* Checks the layer that was made. False: the search ends with it; s->end says why. */
static bool goes_on(struct sweep *w, bool made) {
  struct search *s = w->search;
  struct stage *at = s->stage;
  if (!s->spill)
    layer_close(s->store, &at->layer);
  if (s->ranks && !at->begun)
    ranks_close_layer(w);
  bool any = s->ranks ? ranks_layer(w) > 0 : !layer_empty(&at->layer);
  if (s->space->restart)
    return false;
  if (any && !at->begun) {
    s->stats.depth = w->rounds;
    w->frontier_states = 0;
  }
  bool checked = !w->unchecked || go_through(w, STAGE_CHECK); /* also what a limit cut short: a violation is a violation */
  if (any)
    s->stats.frontier = s->ranks ? ranks_layer(w) : w->unchecked ? w->frontier_states : at->states;
  if (s->space->restart)
    return false;
  if (s->ranks)
    ranks_agree_on_findings(w);
  if (!made || !checked) {
    find_out_why(w);
    if (s->error.found) /* in the choice of an initial state */
      search_stop(s, SEARCH_MODEL_ERROR);
    return false;
  }
  s->complete = w->rounds + 1;
  if (s->error.found)
    search_stop(s, SEARCH_MODEL_ERROR);
  else if (search_all_decided(s) && any)
    search_stop(s, SEARCH_DECIDED);
  if (s->end != SEARCH_EXHAUSTED || !any)
    return false;
  if (s->limits.rounds > 0 && w->rounds == s->limits.rounds) {
    go_through(w, STAGE_BEYOND);
    return false;
  }
  w->rounds++;
  search_tell_decided(s);
  return true;
}

/* Threads may be more than when the layer was begun, and in another process. */
static void make_lanes(struct sweep *w, bool begun) {
  struct search *s = w->search;
  struct layer *next = &s->stage->next;
  if (is_for_many(w, s->stage->states) && s->threaded_from == UINT32_MAX)
    s->threaded_from = w->rounds;
  store_turn(s->store);
  for (uint32_t i = begun ? next->lanes : 0; i < store_lanes(s->store); i++)
    next->from[i] = store_end_of(s->store, i);
  next->lanes = store_lanes(s->store);
}

/* Layer by layer. */
static void explore(struct sweep *w, bool resumed) {
  struct search *s = w->search;
  struct stage *at = s->stage;
  w->unchecked = true;
  bool made = resumed || make_initial(w), amid = resumed && at->kind != STAGE_CHECK;
  if (s->ranks && !ranks_share(w, made))
    return;
  while (amid || goes_on(w, made)) {
    if (!amid)
      at->before = store_count(s->store);
    make_lanes(w, amid);
    w->unchecked = s->ranks || amid;
    made = ((amid && at->kind == STAGE_OTHERS) || go_through(w, STAGE_EXPAND)) &&
           (!s->ranks || !s->space->puts_off || go_through(w, STAGE_OTHERS));
    amid = false;
    if (s->space->restart && !s->ranks)
      return;
    if (s->spill) {
      made = spill_close_layer(w, made);
      continue;
    }
    at->layer = at->next;
    at->states = store_count(s->store) - at->before;
  }
}

/* From the beginning, or from where it was written down. */
static void go(struct sweep *w) {
  struct search *s = w->search;
  enum checkpoint_found found = s->checkpoints ? checkpoint_read(s, w) : CHECKPOINT_NONE;
  if (found == CHECKPOINT_END)
    return;
  explore(w, found == CHECKPOINT_AMID);
  while (s->space->restart) { /* keys mean something else from now on */
    bool kept = search_rekey(w);
    if (!kept)
      search_forget(s, w);
    if (!s->ranks) /* where there are several it says that keys were too narrow, be it another's */
      s->space->restart = false;
    explore(w, kept);
  }
  if (s->ranks)
    ranks_end(w);
  sweep_refresh(w);
  if (s->checkpoints)
    checkpoint_write_end(s, w);
}

void search_run(struct search *s) {
  s->store = new_store(s);
  bool limited = s->limits.states != 0 && s->limits.states <= STORE_MOST;
  if (s->limits.states == 0 || (!limited && !s->ranks))
    s->limits.states = s->ranks ? UINT64_MAX : STORE_MOST;
  if (s->limits.threads_from == 0)
    s->limits.threads_from = CREW_LEAST;
  s->alone = !threads_exist() || limited || s->ranks || !s->space->ops->another; /* how many states there are when several threads stop is anybody's guess */
  struct sweep *w = sweep_new(s, s->space, 0);
  struct stage stage = {0};
  s->stage = &stage;
  sweep_start(w);
  if (!s->ranks || ranks_begin(w))
    go(w);
  if (s->spill && !search_limited(s->end)) { /* nothing there is needed any more */
    store_free(s->store);
    s->store = store_new();
  }
  crew_dismiss(s->crew);
  parcels_free(w->parcels);
  sweep_free(w);
  vec_release(&stage.first);
  s->stage = NULL;
}

uint32_t search_unsettled(const struct search *s) {
  uint32_t rounds = 0, from = s->threaded_from;
  if (s->space->unsteady && s->resumed_from < from)
    from = s->resumed_from;
  for (uint32_t i = 0; i <= s->space->question->nproperties; i++) {
    const struct finding *f = i < s->space->question->nproperties ? &s->findings[i] : &s->error;
    if (f->found && f->rounds >= from && f->rounds >= rounds)
      rounds = f->rounds ? f->rounds : 1; /* 0 is no limit */
  }
  return rounds;
}

/* Each pair of states with the same chance: of all functions from keys to signatures one is taken. */
double search_missed(const struct search *s) {
  double n = (double)s->stats.states, pairs = n > 1 ? n * (n - 1) / 2 : 0;
  double missed = s->limits.signature ? ldexp(pairs, -(int)s->limits.signature) : 0;
  return missed < 1 ? missed : 1;
}

state_ref search_find(const struct search *s, const struct state *state) {
  return s->spill ? spill_find(s, state->bytes, state->length) : store_seek(s->store, state->bytes, state->length);
}

struct goal finding_goal(const struct finding *f) {
  return (struct goal){.kind = !f->by_step                 ? GOAL_STATE
                               : f->property == UINT32_MAX ? GOAL_ERROR
                                                           : GOAL_BROKEN_STEP,
                       .property = f->property};
}

bool search_has_path(const struct search *s, const struct finding *f) {
  return s->ranks ? told_path_is_known(s, f) : f->state != STORE_NONE;
}

struct state *search_path(const struct search *s, const struct finding *f, uint32_t *n,
                          struct goal *goal) {
  if (s->paths)
    return told_path(s, f, n, goal);
  *goal = finding_goal(f);
  if (s->limits.signature)
    return retrace(s, f, n);
  if (s->spill)
    return spill_path(s, f, n);
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
  return path;
}
