#include "search/worker.h"

#include "base/memory.h"
#include "base/thread.h"
#include "search/compaction_path.h"
#include "search/rank_paths.h"
#include "search/spill.h"

#include <math.h>
#include <string.h>

/* States that go elsewhere, or came from there, have parents that are not known yet. */
static struct visited_set *new_store(const struct search *s) {
  bool delta = !s->ranks && !s->spill_folder;
  return s->limits.signature ? visited_new_compact(s->limits.signature) : delta ? visited_new_delta() : visited_new();
}

void search_init(struct search *s, struct system *space, const struct limits *limits) {
  *s = (struct search){.space = space, .limits = *limits, .threaded_from = UINT32_MAX, .resumed_from = UINT32_MAX};
  uint32_t n = space->query->nproperties;
  s->findings = memory_alloc((n ? n : 1) * sizeof *s->findings);
}

void search_release(struct search *s) {
  worker_pool_free(s->pool);
  memory_free(s->findings);
  visited_free(s->visited_set);
  for (uint32_t i = 0; i < s->ntexts; i++)
    memory_free(s->texts[i]);
  memory_free(s->texts);
  rank_paths_free(s);
  memory_free(s->error_text);
  spill_free(s->spill);
  memory_free(s->spill_error_text);
  *s = (struct search){0};
}

bool search_all_decided(const struct search *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->space->query->nproperties; i++) {
    const struct property *p = question_property(s->space, i);
    if (p->kind != PROPERTY_LIVE && !p->stability_of) {
      any = true;
      if (!s->findings[i].found)
        return false;
    }
  }
  return any;
}

void search_set_decided(struct search *s) {
  s->space->decided = 0;
  for (uint32_t i = 0; i < s->space->query->nproperties && i < 64; i++)
    s->space->decided |= (uint64_t)s->findings[i].found << i;
}

void search_stop(struct search *s, enum search_end why) {
  if (s->end == SEARCH_EXHAUSTED)
    s->end = why;
}

void search_reset(struct search *s, struct worker *w) {
  worker_pool_free(s->pool);
  s->pool = NULL;
  spill_free(s->spill);
  s->spill = NULL;
  s->pause = false;
  visited_free(s->visited_set);
  s->visited_set = new_store(s);
  memset(s->findings, 0, s->space->query->nproperties * sizeof *s->findings);
  s->error = w->error = (struct finding){0};
  s->end = w->end = SEARCH_EXHAUSTED;
  s->cut = false;
  s->complete = 0;
  s->stats = (struct search_stats){0};
  s->threaded_from = s->resumed_from = UINT32_MAX;
  vec_release(&s->stage->first);
  *s->stage = (struct search_stage){0};
  w->transitions = w->frontier_states = w->rounds = 0;
  worker_clear(w);
  if (s->ranks)
    ranks_reset(w);
}

/* --- layers --- */

/* What was added to each partition since `layer` began is what it is. */
static void layer_close(const struct visited_set *visited_set, struct layer *layer) {
  for (uint32_t i = 0; i < layer->partitions; i++) {
    layer->to[i] = visited_end_of(visited_set, i);
    layer->from[i] = visited_from(visited_set, layer->from[i]);
  }
}

/* Threads are worth it from so many states of a layer on. */
#define PARALLEL_MIN_STATES 8192

static bool is_for_many(struct worker *w, uint64_t states) {
  struct search *s = w->search;
  if (s->limits.threads < 2 || states < s->limits.threads_from || s->single_threaded)
    return false;
  if (!s->pool && !(s->pool = worker_pool_new(w, s->limits.threads)))
    s->single_threaded = true;
  return s->pool;
}

static bool look_beyond(struct worker *w) {
  worker_probe_next_layer(w);
  return true;
}

static bool run_stage(struct worker *w, enum stage_kind kind) {
  static bool (*const works[])(struct worker *) = {[STAGE_CHECK] = worker_check,
                                                   [STAGE_EXPAND] = worker_expand,
                                                   [STAGE_DEFERRED] = worker_expand_deferred,
                                                   [STAGE_BEYOND] = look_beyond};
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  const struct layer *next = kind == STAGE_EXPAND || kind == STAGE_DEFERRED ? &at->next : &at->layer;
  at->kind = kind;
  if (!at->begun)
    at->transitions = w->transitions;
  if (kind != STAGE_BEYOND && is_for_many(w, at->states)) {
    w->made = worker_pool_run(s->pool, works[kind], &at->layer, next);
  } else {
    struct frontier f;
    frontier_of(&f, s, &at->layer);
    w->frontier = &f;
    w->next = next;
    w->at = w->ntaken = 0;
    w->made = s->ranks ? ranks_run(w, works[kind]) : works[kind](w);
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
static void note_interrupt(struct worker *w) {
  worker_may_continue(w);
  search_stop(w->search, w->end);
}

static bool make_initial(struct worker *w) {
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  at->kind = STAGE_INITIAL;
  at->layer = (struct layer){.partitions = 1, .from = {visited_first()}};
  w->next = &at->layer;
  bool made = s->ranks ? ranks_run(w, worker_initial) : worker_initial(w);
  s->error = w->error;
  search_stop(s, w->end);
  if (s->spill)
    return spill_close_layer(w, made);
  at->states = visited_count(s->visited_set);
  return made;
}

/* Checks the layer that was made. False: the search ends with it; s->end says why. */
static bool check_layer(struct worker *w, bool made) {
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  if (!s->spill)
    layer_close(s->visited_set, &at->layer);
  if (s->ranks && !at->begun)
    ranks_close_layer(w);
  bool any = s->ranks ? ranks_layer(w) > 0 : !layer_empty(&at->layer);
  if (s->space->restart)
    return false;
  if (any && !at->begun) {
    s->stats.depth = w->rounds;
    w->frontier_states = 0;
  }
  bool checked =
      !w->unchecked || run_stage(w, STAGE_CHECK); /* also what a limit cut short: a violation is a violation */
  if (any)
    s->stats.frontier = s->ranks ? ranks_layer(w) : w->unchecked ? w->frontier_states : at->states;
  if (s->space->restart)
    return false;
  if (s->ranks)
    ranks_agree_on_findings(w);
  if (!made || !checked) {
    note_interrupt(w);
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
    run_stage(w, STAGE_BEYOND);
    return false;
  }
  w->rounds++;
  search_set_decided(s);
  return true;
}

/* Threads may be more than when the layer was begun, and in another process. */
static void make_lanes(struct worker *w, bool begun) {
  struct search *s = w->search;
  struct layer *next = &s->stage->next;
  if (is_for_many(w, s->stage->states) && s->threaded_from == UINT32_MAX)
    s->threaded_from = w->rounds;
  visited_next_layer(s->visited_set);
  for (uint32_t i = begun ? next->partitions : 0; i < visited_partitions(s->visited_set); i++)
    next->from[i] = visited_end_of(s->visited_set, i);
  next->partitions = visited_partitions(s->visited_set);
}

/* Layer by layer. */
static void explore(struct worker *w, bool resumed) {
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  w->unchecked = true;
  bool made = resumed || make_initial(w), amid = resumed && at->kind != STAGE_CHECK;
  if (s->ranks && !ranks_share(w, made))
    return;
  while (amid || check_layer(w, made)) {
    if (!amid)
      at->before = visited_count(s->visited_set);
    make_lanes(w, amid);
    w->unchecked = s->ranks || amid;
    made = ((amid && at->kind == STAGE_DEFERRED) || run_stage(w, STAGE_EXPAND)) &&
           (!s->ranks || !s->space->uses_proviso || run_stage(w, STAGE_DEFERRED));
    amid = false;
    if (s->space->restart && !s->ranks)
      return;
    if (s->spill) {
      made = spill_close_layer(w, made);
      continue;
    }
    at->layer = at->next;
    at->states = visited_count(s->visited_set) - at->before;
  }
}

/* From the beginning, or from where it was written down. */
static void go(struct worker *w) {
  struct search *s = w->search;
  enum checkpoint_found found = s->checkpoints ? checkpoint_read(s, w) : CHECKPOINT_NONE;
  if (found == CHECKPOINT_END)
    return;
  explore(w, found == CHECKPOINT_RUNNING);
  while (s->space->restart) { /* keys mean something else from now on */
    bool kept = search_rekey(w);
    if (!kept)
      search_reset(s, w);
    if (!s->ranks) /* where there are several it says that keys were too narrow, be it another's */
      s->space->restart = false;
    explore(w, kept);
  }
  if (s->ranks)
    ranks_end(w);
  worker_update_stats(w);
  if (s->checkpoints)
    checkpoint_write_end(s, w);
}

void search_run(struct search *s) {
  s->visited_set = new_store(s);
  bool limited = s->limits.states != 0 && s->limits.states <= VISITED_MAX_STATES;
  if (s->limits.states == 0 || (!limited && !s->ranks))
    s->limits.states = s->ranks ? UINT64_MAX : VISITED_MAX_STATES;
  if (s->limits.threads_from == 0)
    s->limits.threads_from = PARALLEL_MIN_STATES;
  s->single_threaded =
      !threads_exist() || limited || s->ranks ||
      !s->space->ops->clone; /* how many states there are when several threads stop is anybody's guess */
  struct worker *w = worker_new(s, s->space, 0);
  struct search_stage stage = {0};
  s->stage = &stage;
  worker_start_clock(w);
  if (!s->ranks || ranks_begin(w))
    go(w);
  if (s->spill && !search_limited(s->end)) { /* nothing there is needed any more */
    visited_free(s->visited_set);
    s->visited_set = visited_new();
  }
  worker_pool_detach(s->pool);
  batches_free(w->batches);
  worker_free(w);
  vec_release(&stage.first);
  s->stage = NULL;
}

uint32_t search_rerun_depth(const struct search *s) {
  uint32_t rounds = 0, from = s->threaded_from;
  if (s->space->order_unstable && s->resumed_from < from)
    from = s->resumed_from;
  for (uint32_t i = 0; i <= s->space->query->nproperties; i++) {
    const struct finding *f = i < s->space->query->nproperties ? &s->findings[i] : &s->error;
    if (f->found && f->rounds >= from && f->rounds >= rounds)
      rounds = f->rounds ? f->rounds : 1; /* 0 is no limit */
  }
  return rounds;
}

/* Each pair of states with the same chance: of all functions from keys to signatures one is taken. */
double search_omission_probability(const struct search *s) {
  double n = (double)s->stats.states, pairs = n > 1 ? n * (n - 1) / 2 : 0;
  double missed = s->limits.signature ? ldexp(pairs, -(int)s->limits.signature) : 0;
  return missed < 1 ? missed : 1;
}

state_ref search_find(const struct search *s, const struct state *state) {
  return s->spill ? spill_find(s, state->bytes, state->length)
                  : visited_lookup(s->visited_set, state->bytes, state->length);
}

struct path_goal finding_goal(const struct finding *f) {
  return (struct path_goal){.kind = !f->by_step                 ? GOAL_STATE
                                    : f->property == UINT32_MAX ? GOAL_ERROR
                                                                : GOAL_BROKEN_STEP,
                            .property = f->property};
}

bool search_has_path(const struct search *s, const struct finding *f) {
  return s->ranks ? rank_path_is_known(s, f) : f->state != STATE_REF_NONE;
}

struct state *search_path(const struct search *s, const struct finding *f, uint32_t *n, struct path_goal *goal) {
  if (s->paths)
    return rank_path(s, f, n, goal);
  *goal = finding_goal(f);
  if (s->limits.signature)
    return compaction_path(s, f, n);
  if (s->spill)
    return spill_path(s, f, n);
  uint32_t length = f->target != STATE_REF_NONE;
  for (state_ref r = f->state; r != STATE_REF_NONE; r = visited_get(s->visited_set, r).parent)
    length++;
  struct state *path = memory_alloc((length ? length : 1) * sizeof *path);
  uint32_t at = length;
  if (f->target != STATE_REF_NONE) {
    struct stored last = visited_get(s->visited_set, f->target);
    path[--at] = (struct state){last.bytes, last.length};
  }
  for (state_ref r = f->state; r != STATE_REF_NONE;) {
    struct stored on = visited_get(s->visited_set, r);
    path[--at] = (struct state){on.bytes, on.length};
    r = on.parent;
  }
  *n = length;
  return path;
}
