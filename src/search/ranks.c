#include "search/ranks.h"

#include "search/message_batches.h"
#include "search/rank_paths.h"
#include "search/visited_backend.h"

#include <string.h>

/* --- findings --- */

static struct finding *finding(struct worker *w, uint32_t i) {
  return i < w->space->query->nproperties ? &w->findings[i] : &w->error;
}

/* Broadcasts the finding of one rank, with the text of its error. */
static void tell_finding(struct worker *w, uint32_t from, uint32_t i) {
  struct search *s = w->search;
  struct ranks *r = s->ranks;
  struct finding *f = finding(w, i);
  ranks_broadcast(r, from, f, sizeof *f);
  if (i < s->space->query->nproperties)
    return;
  const char *text = r->rank == from ? f->error.message : NULL;
  uint64_t n = text ? strlen(text) + 1 : 0;
  ranks_broadcast(r, from, &n, sizeof n);
  size_t length = memory_size(n);
  char *copy = memory_alloc(length + 1);
  if (text)
    memcpy(copy, text, length);
  ranks_broadcast(r, from, copy, length);
  memory_free(s->across.error_text);
  s->across.error_text = copy;
  f->error.message = copy;
}

/* For each property, the cheapest finding of this layer; among equals, that of the lowest rank. */
static void agree_on_findings(struct worker *w) {
  struct message_batches *x = w->batches;
  struct ranks *r = x->ranks;
  uint32_t n = w->space->query->nproperties + 1;
  uint64_t *mine = memory_alloc(n * sizeof *mine), *all = memory_alloc((size_t)n * r->n * sizeof *all);
  for (uint32_t i = 0; i < n; i++) {
    const struct finding *f = finding(w, i);
    mine[i] = f->found ? (uint64_t)f->rounds << 32 | f->fault_cost : UINT64_MAX;
  }
  ranks_allgather(r, mine, n, all);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t best = 0;
    for (uint32_t k = 1; k < r->n; k++)
      if (all[(size_t)k * n + i] < all[(size_t)best * n + i])
        best = k;
    if (x->found_at[i] == NO_RANK && all[(size_t)best * n + i] != UINT64_MAX) {
      x->found_at[i] = best;
      tell_finding(w, best, i);
    }
  }
  w->search->error = w->error;
  if (x->layer > 0)
    w->search->stats.frontier = x->layer;
  memory_free(mine);
  memory_free(all);
}

/* --- layers --- */

static bool run(struct worker *w, bool (*work)(struct worker *)) {
  struct message_batches *x = w->batches;
  x->probing = w->search->stage->kind == STAGE_BEYOND;
  x->halted = !work(w);
  if (x->halted && !w->space->restart)
    worker_may_continue(w); /* the transition system may have stopped by itself */
  batches_finish(x);
  return !x->halted;
}

static uint64_t layer_states(const struct worker *w) { return w->batches->layer; }

static bool close_layer(struct worker *w, bool made) {
  memory_close_layer(w, made);
  const struct layer *layer = &w->search->stage->layer;
  struct message_batches *x = w->batches;
  if (x->layers.n == 0)
    vec_push(&x->layers, layer->from[0]);
  vec_push(&x->layers, layer->to[0]);
  return made;
}

/* Up to here every rank has generated the same initial states by itself; from here on each expands its own states. */
static bool share(struct worker *w, bool made) {
  struct message_batches *x = w->batches;
  struct ranks *r = x->ranks;
  if (w->space->restart || x->shared)
    return true;
  if (!made) {
    r->broken = w->search->end;
    return false;
  }
  if (!ranks_agree(r, x->starts))
    ranks_fail(r, "ranks disagree about the initial states");
  dictionary_share(r, w->space);
  return x->shared = true;
}

/* --- statistics of the transition systems --- */

enum { SEEN_ORDER, SEEN_CHANNEL_BOUND, SEEN_DISTANCE, SEEN_DISTANCE_CUT, SEEN_COUNTS, SEEN };

static void join_spaces(struct worker *w) {
  struct ranks *r = w->search->ranks;
  struct system *space = w->space;
  const uint64_t *counts = NULL;
  uint64_t n = space->ops->ranks.counts ? space->ops->ranks.counts(space, &counts) : 0, most[SEEN] = {0};
  uint64_t mine[SEEN] = {space->order_mattered, space->channel_bound, space->distance, space->distance_cut, n};
  uint64_t *all = memory_alloc(r->n * SEEN * sizeof *all);
  ranks_allgather(r, mine, SEEN, all);
  for (uint32_t i = 0; i < r->n * SEEN; i++)
    most[i % SEEN] = all[i] > most[i % SEEN] ? all[i] : most[i % SEEN];
  memory_free(all);
  space->order_mattered = most[SEEN_ORDER];
  space->channel_bound = (uint32_t)most[SEEN_CHANNEL_BOUND];
  space->distance = (uint32_t)most[SEEN_DISTANCE];
  space->distance_cut = most[SEEN_DISTANCE_CUT];
  if (most[SEEN_COUNTS] == 0)
    return;
  uint32_t length = (uint32_t)most[SEEN_COUNTS];
  uint64_t *own = memory_alloc(length * sizeof *own);
  if (n)
    memcpy(own, counts, (size_t)n * sizeof *own);
  all = memory_alloc((size_t)r->n * length * sizeof *all);
  ranks_allgather(r, own, length, all);
  for (uint32_t k = 0; k < length; k++) {
    own[k] = 0;
    for (uint32_t i = 0; i < r->n; i++)
      own[k] += all[(size_t)i * length + k];
  }
  space->ops->ranks.set_counts(space, own, length);
  ranks_barrier(r); /* joining may have created new names */
  memory_free(own);
  memory_free(all);
}

/* --- start and end --- */

static void reset(struct worker *w) {
  struct message_batches *x = w->batches;
  for (uint32_t i = 0; i <= w->space->query->nproperties; i++)
    x->found_at[i] = NO_RANK;
  vec_clear(&x->layers);
  batches_clear(x);
}

static bool begin(struct worker *w) {
  struct ranks *r = w->search->ranks;
  if (r->broken != SEARCH_EXHAUSTED) {
    w->search->end = r->broken;
    return false;
  }
  r->known = 0;
  vec_clear(&r->given);
  batches_new(w);
  reset(w);
  return true;
}

static void end(struct worker *w) {
  if (w->batches->shared)
    rank_paths_make(w->batches);
  join_spaces(w);
  dictionary_unshare(w->search->ranks);
  w->search->threads.from = 0;
}

/* --- the backend --- */

/* Parents are references on other ranks, so differences between them would not be small. */
static struct visited_set *new_set(const struct search *s) {
  return s->limits.signature ? visited_new_compact(s->limits.signature) : visited_new();
}

static bool send(struct worker *w, const struct state *state, const struct edge *edge, fault_cost c) {
  return batches_send(w->batches, state, edge, c);
}

static bool probe(struct worker *w, const struct state *state, const struct edge *edge) {
  return batches_send(w->batches, state, edge, 0);
}

/* Assumes that the other ranks have progressed as far in their parts of the layer. */
static void count(struct worker *w) {
  struct search *s = w->search;
  memory_count(w);
  s->stats.states += s->across.others.states;
  if (w->batches && s->stats.layer > 0) {
    s->stats.done = s->stats.done * w->batches->layer / s->stats.layer;
    s->stats.layer = w->batches->layer;
  }
}

static void serve(struct worker *w) { batches_serve(w->batches); }
static bool suspend(struct worker *w) { return batches_suspend(w->batches); }

const struct visited_backend visited_on_ranks = {.new_set = new_set,
                                                 .proviso = PROVISO_AFTER_LAYER,
                                                 .check_later = true,
                                                 .distributed = true,
                                                 .begin = begin,
                                                 .run = run,
                                                 .initial_made = share,
                                                 .close_layer = close_layer,
                                                 .layer_states = layer_states,
                                                 .layer_checked = agree_on_findings,
                                                 .end = end,
                                                 .reset = reset,
                                                 .open_frontier = memory_open_frontier,
                                                 .send = send,
                                                 .get = memory_get,
                                                 .find = memory_find,
                                                 .has_path = rank_path_is_known,
                                                 .path = rank_path,
                                                 .probe = probe,
                                                 .serve = serve,
                                                 .count = count,
                                                 .suspend = suspend};
