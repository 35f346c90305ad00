#include "search/worker.h"

#include "base/memory.h"
#include "base/thread.h"
#include "search/rank_paths.h"
#include "search/spill.h"

#include <math.h>
#include <string.h>

/* An empty visited set. */
static void new_visited_set(struct search *s) {
  s->backend = s->ranks              ? &visited_on_ranks
               : s->limits.signature ? &visited_compacted
               : s->disk.folder      ? &visited_spillable
                                     : &visited_in_memory;
  s->visited_set = s->backend->new_set(s);
}

void search_init(struct search *s, struct system *space, const struct limits *limits) {
  *s =
      (struct search){.space = space, .limits = *limits, .threads.from = UINT32_MAX, .saving.resumed_from = UINT32_MAX};
  uint32_t n = space->query->nproperties;
  s->findings = memory_alloc((n ? n : 1) * sizeof *s->findings);
}

void search_release(struct search *s) {
  worker_pool_free(s->threads.pool);
  memory_free(s->findings);
  visited_free(s->visited_set);
  for (uint32_t i = 0; i < s->saving.ntexts; i++)
    memory_free(s->saving.texts[i]);
  memory_free(s->saving.texts);
  rank_paths_free(s);
  memory_free(s->across.error_text);
  spill_free(s->disk.spill);
  memory_free(s->disk.error_text);
  *s = (struct search){0};
}

bool search_all_decided(const struct search *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->space->query->nproperties; i++) {
    const struct property *p = question_property(s->space, i);
    if (p->kind != PROPERTY_LIVE && !p->stability_of) {
      any = true;
      if (!s->findings[i].found && !search_decided_elsewhere(s, i))
        return false;
    }
  }
  return any;
}

/* With partial-order reduction, what is decided elsewhere counts as open, so that a search for the same properties by
   one thread takes the same steps. */
static void search_set_decided(struct search *s) {
  bool reduced = s->space->uses_proviso;
  s->space->decided = 0;
  for (uint32_t i = 0; i < s->space->query->nproperties && i < 64; i++)
    s->space->decided |= (uint64_t)(s->findings[i].found || (search_decided_elsewhere(s, i) && !reduced)) << i;
}

void search_stop(struct search *s, enum search_end why) {
  if (s->end == SEARCH_EXHAUSTED)
    s->end = why;
}

void search_reset(struct search *s, struct worker *w) {
  worker_pool_free(s->threads.pool);
  s->threads.pool = NULL;
  spill_free(s->disk.spill);
  s->disk.spill = NULL;
  s->pause = false;
  visited_free(s->visited_set);
  new_visited_set(s);
  memset(s->findings, 0, s->space->query->nproperties * sizeof *s->findings);
  s->error = w->error = (struct finding){0};
  s->end = w->end = SEARCH_EXHAUSTED;
  s->cut = false;
  s->complete = 0;
  s->stats = (struct search_stats){0};
  s->threads.from = s->saving.resumed_from = UINT32_MAX;
  vec_release(&s->stage->first);
  *s->stage = (struct search_stage){0};
  w->transitions = w->frontier_states = w->rounds = 0;
  worker_clear(w);
  if (s->backend->reset)
    s->backend->reset(w);
}

/* --- layers --- */

static bool is_for_many(struct worker *w, uint64_t states) {
  struct search *s = w->search;
  if (s->limits.threads < 2 || states < s->limits.threads_from || s->threads.single)
    return false;
  if (!s->threads.pool && !(s->threads.pool = worker_pool_new(w, s->limits.threads)))
    s->threads.single = true;
  return s->threads.pool;
}

static bool run(struct worker *w, bool (*work)(struct worker *)) {
  const struct visited_backend *b = w->search->backend;
  return b->run ? b->run(w, work) : work(w);
}

static bool run_stage(struct worker *w, enum stage_kind kind) {
  static bool (*const works[])(struct worker *) = {[STAGE_CHECK] = worker_check,
                                                   [STAGE_EXPAND] = worker_expand,
                                                   [STAGE_DEFERRED] = worker_expand_deferred,
                                                   [STAGE_BEYOND] = worker_probe_next_layer};
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  const struct layer *next = kind == STAGE_EXPAND || kind == STAGE_DEFERRED ? &at->next : &at->layer;
  at->kind = kind;
  if (!at->begun)
    at->transitions = w->transitions;
  if (kind != STAGE_BEYOND && is_for_many(w, at->states)) {
    w->made = worker_pool_run(s->threads.pool, works[kind], &at->layer, next);
  } else {
    struct frontier f;
    s->backend->open_frontier(&f, s, &at->layer);
    w->taken.frontier = &f;
    w->next = next;
    w->taken.at = w->taken.n = 0;
    w->made = run(w, works[kind]);
    frontier_release(&f);
  }
  w->taken.frontier = NULL;
  at->begun = false;
  vec_clear(&at->first);
  s->error = w->error;
  search_stop(s, w->end);
  return w->made;
}

/* In case the transition system stopped by itself when it was interrupted. */
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
  bool made = run(w, worker_initial);
  s->error = w->error;
  search_stop(s, w->end);
  return s->backend->close_layer(w, made);
}

/* After a layer, so that it depends on counts only. */
static bool ends_trial(struct worker *w) {
  struct search *s = w->search;
  const struct limits *l = &s->limits;
  if (l->trial_states == 0 && l->trial_rounds == 0)
    return false;
  s->backend->count(w);
  if (w->rounds == 0)
    s->initial_states = s->stats.states;
  return (l->trial_states > 0 && s->stats.states - s->initial_states >= l->trial_states) ||
         (l->trial_rounds > 0 && w->rounds == l->trial_rounds);
}

/* Checks the new layer. False: the search ends with it; s->end gives the reason. */
static bool check_layer(struct worker *w, bool made) {
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  bool any = s->backend->layer_states(w) > 0;
  if (s->space->restart)
    return false;
  if (any && !at->begun) {
    s->stats.depth = w->rounds;
    w->frontier_states = 0;
  }
  /* Even if a limit cut the layer short: a violation remains a violation. */
  bool checked = !w->unchecked || run_stage(w, STAGE_CHECK);
  if (any)
    s->stats.frontier = w->unchecked ? w->frontier_states : at->states;
  if (s->space->restart)
    return false;
  if (s->backend->layer_checked)
    s->backend->layer_checked(w);
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
  if (ends_trial(w) || (s->layer && !s->layer(s->layer_context, s))) {
    s->trial_ended = true;
    search_stop(s, SEARCH_STATES);
    return false;
  }
  for (uint32_t i = 0; i < s->space->query->nproperties && s->found; i++)
    if (s->findings[i].found && s->findings[i].rounds == w->rounds && !question_property(s->space, i)->stability_of)
      s->found(s->found_context, s, i);
  w->rounds++;
  search_set_decided(s);
  return true;
}

/* There may be more threads than when the layer was begun, possibly in another process. */
static void make_lanes(struct worker *w, bool begun) {
  struct search *s = w->search;
  struct layer *next = &s->stage->next;
  if (is_for_many(w, s->stage->states) && s->threads.from == UINT32_MAX)
    s->threads.from = w->rounds;
  visited_next_layer(s->visited_set);
  for (uint32_t i = begun ? next->partitions : 0; i < visited_partitions(s->visited_set); i++)
    next->from[i] = visited_end_of(s->visited_set, i);
  next->partitions = visited_partitions(s->visited_set);
}

/* A layer with this many states is looked at before it is finished; and again when it is so many times as large. */
#define LARGE_LAYER 1000000
#define LARGER 16

/* Builds the next layer. If it becomes very large although the current one is small, the states found so far are
   checked: everything may be decided already. If not, the layer is expanded again from its beginning, so only
   layers that take seconds are looked at. Where several threads or ranks might work on the layer, on disk, and with
   checkpoints the layer is finished in any case, because the number of states would depend on them. */
static bool expand_layer(struct worker *w) {
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  bool alone = !s->checkpoints && !s->backend->distributed && !s->backend->relocates && !s->space->uses_proviso &&
               at->states < PARALLEL_MIN_STATES && !is_for_many(w, at->states);
  uint64_t large = s->limits.look_from > 0 ? s->limits.look_from : LARGE_LAYER;
  for (at->look_at = alone ? large : 0;; at->look_at *= LARGER) {
    bool made = run_stage(w, STAGE_EXPAND);
    if (made || !at->looks || s->space->restart)
      return made;
    at->looks = false;
    if (worker_look(w)) {
      search_stop(s, SEARCH_DECIDED);
      return false;
    }
    w->transitions = at->transitions;
    worker_clear(w);
  }
}

/* Expands layer after layer. */
static void explore(struct worker *w, bool resumed) {
  struct search *s = w->search;
  struct search_stage *at = s->stage;
  w->unchecked = true;
  bool made = resumed || make_initial(w), amid = resumed && at->kind != STAGE_CHECK;
  if (s->backend->initial_made && !s->backend->initial_made(w, made))
    return;
  while (amid || check_layer(w, made)) {
    if (!amid)
      at->before = visited_count(s->visited_set);
    make_lanes(w, amid);
    w->unchecked = s->backend->check_later || amid;
    made = ((amid && at->kind == STAGE_DEFERRED) || expand_layer(w)) &&
           (s->backend->proviso != PROVISO_AFTER_LAYER || !s->space->uses_proviso || run_stage(w, STAGE_DEFERRED));
    amid = false;
    if (s->space->restart)
      return;
    made = s->backend->close_layer(w, made);
  }
}

/* Starts the search, or resumes it from a checkpoint. */
static void go(struct worker *w) {
  struct search *s = w->search;
  enum checkpoint_found found = s->checkpoints ? checkpoint_read(s, w) : CHECKPOINT_NONE;
  if (found == CHECKPOINT_END)
    return;
  explore(w, found == CHECKPOINT_RUNNING);
  while (s->space->restart) { /* keys have changed their meaning */
    bool kept = search_rekey(w);
    if (!kept)
      search_reset(s, w);
    if (!s->backend->distributed) /* else `restart` stays set: keys were too narrow on this rank or on another */
      s->space->restart = false;
    explore(w, kept);
  }
  if (s->backend->end)
    s->backend->end(w);
  worker_update_stats(w);
  if (s->checkpoints)
    checkpoint_write_end(s, w);
}

void search_run(struct search *s) {
  new_visited_set(s);
  bool limited = s->limits.states != 0 && s->limits.states <= VISITED_MAX_STATES, many = s->backend->distributed;
  if (s->limits.states == 0 || (!limited && !many))
    s->limits.states = many ? UINT64_MAX : VISITED_MAX_STATES;
  if (s->limits.threads_from == 0)
    s->limits.threads_from = PARALLEL_MIN_STATES;
  /* A limit on states needs one thread: with several, the number of states at which they stop is not deterministic. */
  s->threads.single = !threads_exist() || limited || many || !s->space->ops->threads.clone;
  struct worker *w = worker_new(s, s->space, 0);
  struct search_stage stage = {0};
  s->stage = &stage;
  worker_start_clock(w);
  if (!s->backend->begin || s->backend->begin(w))
    go(w);
  if (s->backend->done)
    s->backend->done(s);
  worker_pool_detach(s->threads.pool);
  batches_free(w->batches);
  worker_free(w);
  vec_release(&stage.first);
  s->stage = NULL;
}

uint32_t search_rerun_depth(const struct search *s) {
  uint32_t rounds = 0, from = s->threads.from;
  if (s->space->order_unstable && s->saving.resumed_from < from)
    from = s->saving.resumed_from;
  for (uint32_t i = 0; i <= s->space->query->nproperties; i++) {
    const struct finding *f = i < s->space->query->nproperties ? &s->findings[i] : &s->error;
    if (f->found && f->rounds >= from && f->rounds >= rounds)
      rounds = f->rounds ? f->rounds : 1; /* 0 would mean no limit */
  }
  return rounds;
}

/* The signature is modelled as a random function of the key, so each pair of states collides with equal probability. */
double search_omission_probability(const struct search *s) {
  double n = (double)s->stats.states, pairs = n > 1 ? n * (n - 1) / 2 : 0;
  double missed = s->limits.signature ? ldexp(pairs, -(int)s->limits.signature) : 0;
  return missed < 1 ? missed : 1;
}

state_ref search_find(const struct search *s, const struct state *state) { return s->backend->find(s, state); }

struct path_goal finding_goal(const struct finding *f) {
  return (struct path_goal){.kind = !f->by_step                 ? GOAL_STATE
                                    : f->property == UINT32_MAX ? GOAL_ERROR
                                                                : GOAL_BROKEN_STEP,
                            .property = f->property};
}

bool search_has_path(const struct search *s, const struct finding *f) { return s->backend->has_path(s, f); }

struct state *search_path(const struct search *s, const struct finding *f, uint32_t *n, struct path_goal *goal) {
  return s->backend->path(s, f, n, goal);
}
