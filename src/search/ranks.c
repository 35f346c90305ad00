#include "search/ranks.h"

#include "search/message_batches.h"
#include "search/rank_paths.h"

#include <string.h>

/* --- findings --- */

static struct finding *finding(struct worker *w, uint32_t i) {
  return i < w->space->query->nproperties ? &w->findings[i] : &w->error;
}

/* The finding of one rank becomes everybody's, with the text of its error. */
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
  memory_free(s->error_text);
  s->error_text = copy;
  f->error.message = copy;
}

/* Of this layer: the cheapest, of the first rank that has one. */
void ranks_agree_on_findings(struct worker *w) {
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
  memory_free(mine);
  memory_free(all);
}

/* --- layers --- */

bool ranks_run(struct worker *w, bool (*work)(struct worker *)) {
  struct message_batches *x = w->batches;
  x->probing = w->search->stage->kind == STAGE_BEYOND;
  x->halted = !work(w);
  if (x->halted && !w->space->restart)
    worker_may_continue(w); /* a space may have given up by itself */
  batches_finish(x);
  return !x->halted;
}

uint64_t ranks_layer(const struct worker *w) { return w->batches->layer; }

void ranks_close_layer(struct worker *w) {
  const struct layer *layer = &w->search->stage->layer;
  struct message_batches *x = w->batches;
  if (x->layers.n == 0)
    vec_push(&x->layers, layer->from[0]);
  vec_push(&x->layers, layer->to[0]);
}

/* Up to here every rank has found the same by itself; from here on each finds its own. */
bool ranks_share(struct worker *w, bool made) {
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

/* --- what the spaces saw --- */

enum { SEEN_ORDER, SEEN_CHANNEL_BOUND, SEEN_DISTANCE, SEEN_DISTANCE_CUT, SEEN_COUNTS, SEEN };

static void join_spaces(struct worker *w) {
  struct ranks *r = w->search->ranks;
  struct system *space = w->space;
  const uint64_t *counts = NULL;
  uint64_t n = space->ops->counts ? space->ops->counts(space, &counts) : 0, most[SEEN] = {0};
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
  space->ops->set_counts(space, own, length);
  ranks_barrier(r); /* that may have brought new names */
  memory_free(own);
  memory_free(all);
}

/* --- from the first to the last --- */

bool ranks_begin(struct worker *w) {
  struct ranks *r = w->search->ranks;
  if (r->broken != SEARCH_EXHAUSTED) {
    w->search->end = r->broken;
    return false;
  }
  r->known = 0;
  vec_clear(&r->given);
  batches_new(w);
  ranks_reset(w);
  return true;
}

void ranks_reset(struct worker *w) {
  struct message_batches *x = w->batches;
  for (uint32_t i = 0; i <= w->space->query->nproperties; i++)
    x->found_at[i] = NO_RANK;
  vec_clear(&x->layers);
  batches_clear(x);
}

void ranks_end(struct worker *w) {
  if (w->batches->shared)
    rank_paths_make(w->batches);
  join_spaces(w);
  dictionary_unshare(w->search->ranks);
  w->search->threaded_from = 0;
}
