#include "search/ranks.h"

#include "search/parcels.h"
#include "search/paths.h"

#include <string.h>

/* What all ranks know together, and where each part of it is. */
struct together {
  struct search *search;
  struct parcels parcels;
  uint32_t *found_at;     /* by property, then the error: which rank found it; NOBODY */
  VEC(state_ref) starts;  /* of the layers in this rank's store, and the end of the last one */
  bool shared;            /* names are common */
};
#define NOBODY UINT32_MAX

/* --- findings --- */

static struct finding *finding(struct together *t, uint32_t i) {
  struct sweep *w = t->parcels.sweep;
  return i < w->space->question->nproperties ? &w->findings[i] : &w->error;
}

/* The finding of one rank becomes everybody's, with the text of its error. */
static void tell_finding(struct together *t, uint32_t from, uint32_t i) {
  struct ranks *r = t->parcels.ranks;
  struct finding *f = finding(t, i);
  r->ops->tell(r, from, f, sizeof *f);
  if (i < t->search->space->question->nproperties)
    return;
  const char *text = r->rank == from ? f->error.message : NULL;
  uint64_t n = text ? strlen(text) + 1 : 0;
  r->ops->tell(r, from, &n, sizeof n);
  char *copy = memory_alloc(n + 1);
  if (text)
    memcpy(copy, text, n);
  r->ops->tell(r, from, copy, n);
  memory_free(t->search->error_text);
  t->search->error_text = copy;
  f->error.message = copy;
}

/* Of this layer: the cheapest, of the first rank that has one. */
static void agree_on_findings(struct together *t) {
  struct ranks *r = t->parcels.ranks;
  uint32_t n = t->search->space->question->nproperties + 1;
  uint64_t *mine = memory_alloc(n * sizeof *mine), *all = memory_alloc((size_t)n * r->n * sizeof *all);
  for (uint32_t i = 0; i < n; i++) {
    const struct finding *f = finding(t, i);
    mine[i] = f->found ? (uint64_t)f->rounds << 32 | f->charge : UINT64_MAX;
  }
  r->ops->gather(r, mine, n, all);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t best = 0;
    for (uint32_t k = 1; k < r->n; k++)
      if (all[(size_t)k * n + i] < all[(size_t)best * n + i])
        best = k;
    if (t->found_at[i] == NOBODY && all[(size_t)best * n + i] != UINT64_MAX) {
      t->found_at[i] = best;
      tell_finding(t, best, i);
    }
  }
  t->search->error = *finding(t, n - 1);
  memory_free(mine);
  memory_free(all);
}

/* --- layers --- */

/* Each rank does its part; false: not all of it was done. */
static bool all_do(struct together *t, bool (*work)(struct sweep *), const struct layer *layer, const struct layer *next) {
  struct parcels *x = &t->parcels;
  struct sweep *w = x->sweep;
  struct search *s = t->search;
  struct frontier f = {.layer = layer, .reader = store_reader(s->store, layer->from[0], layer->to[0])};
  w->frontier = &f;
  w->next = next;
  w->at = w->ntaken = 0;
  x->halted = !work(w);
  if (x->halted && !w->space->restart)
    sweep_undisturbed(w); /* a space may have given up by itself */
  parcels_finish(x);
  if (s->end == SEARCH_EXHAUSTED)
    s->end = w->end;
  return !x->halted;
}



static bool look_beyond(struct sweep *w) {
  w->parcels->peeking = true;
  sweep_look_beyond(w);
  return true;
}

static bool expand_all(struct together *t, const struct layer *layer, const struct layer *next) {
  return all_do(t, sweep_expand, layer, next) &&
         (!t->search->space->puts_off || all_do(t, sweep_complete_reduced, layer, next));
}

/* Up to here every rank has found the same by itself; from here on each finds its own. */
static void share_names(struct together *t) {
  struct parcels *x = &t->parcels;
  struct ranks *r = x->ranks;
  if (!ranks_agree(r, x->starts))
    r->ops->fail(r, "ranks disagree about the initial states");
  names_share(r, t->search->space);
  t->shared = true;
}

static void stop(struct search *s, enum search_end why) {
  if (s->end == SEARCH_EXHAUSTED)
    s->end = why;
}

static void open_layer(struct together *t, struct layer *layer) {
  struct store *store = t->search->store;
  layer->lanes = 1;
  layer->from[0] = store_end(store);
  t->parcels.before = store_count(store);
}

static void close_layer(struct together *t, struct layer *layer) {
  struct store *store = t->search->store;
  layer->to[0] = store_end(store);
  layer->from[0] = store_from(store, layer->from[0]);
  if (t->starts.n == 0)
    vec_push(&t->starts, layer->from[0]);
  vec_push(&t->starts, layer->to[0]);
}

/* Layer by layer, as one process does it (bfs.c); s->end says why it ended. */
static void explore(struct together *t) {
  struct search *s = t->search;
  struct sweep *w = t->parcels.sweep;
  struct layer layer, next;
  layer.from[0] = layer.to[0] = store_first();
  layer.lanes = 1;
  bool made = all_do(t, sweep_initial, &layer, &layer);
  if (!made && !s->space->restart && !t->shared) {
    t->parcels.ranks->broken = s->end;
    return;
  }
  if (!s->space->restart && !t->shared)
    share_names(t);
  while (true) {
    close_layer(t, &layer);
    uint64_t states = t->parcels.layer;
    if (s->space->restart)
      return;
    if (states > 0) {
      s->stats.depth = w->rounds;
      s->stats.frontier = states;
    }
    bool checked = all_do(t, sweep_check, &layer, &layer); /* also what a limit cut short */
    if (s->space->restart)
      return;
    agree_on_findings(t);
    if (!made || !checked)
      return;
    s->complete = w->rounds + 1;
    if (s->error.found)
      stop(s, SEARCH_MODEL_ERROR);
    else if (search_all_decided(s) && states > 0)
      stop(s, SEARCH_DECIDED);
    if (s->end != SEARCH_EXHAUSTED || states == 0)
      return;
    if (s->limits.rounds > 0 && w->rounds == s->limits.rounds) {
      all_do(t, look_beyond, &layer, &layer);
      return;
    }
    w->rounds++;
    search_tell_decided(s);
    open_layer(t, &next);
    made = expand_all(t, &layer, &next);
    layer = next;
  }
}

/* Everything that was found is forgotten. The space still says `restart`: that its keys were too narrow, or another rank's. */
static void begin_again(struct together *t) {
  struct search *s = t->search;
  struct sweep *w = t->parcels.sweep;
  uint32_t n = s->space->question->nproperties;
  store_free(s->store);
  s->store = store_new();
  memset(s->findings, 0, n * sizeof *s->findings);
  s->error = w->error = (struct finding){0};
  s->end = w->end = SEARCH_EXHAUSTED;
  s->cut = false;
  s->complete = 0;
  s->stats = (struct search_stats){0};
  w->rounds = 0;
  w->transitions = 0;
  for (uint32_t i = 0; i <= n; i++)
    t->found_at[i] = NOBODY;
  vec_clear(&t->starts);
  sweep_forget(w);
  parcels_forget(&t->parcels);
}

/* --- what the spaces saw --- */

enum { SEEN_ORDER, SEEN_CHANNEL_BOUND, SEEN_DISTANCE, SEEN_DISTANCE_CUT, SEEN_COUNTS, SEEN };

static void join_spaces(struct together *t) {
  struct ranks *r = t->parcels.ranks;
  struct space *space = t->search->space;
  const uint64_t *counts = NULL;
  uint64_t n = space->ops->counts ? space->ops->counts(space, &counts) : 0, most[SEEN] = {0};
  uint64_t mine[SEEN] = {space->order_mattered, space->channel_bound, space->distance, space->distance_cut, n};
  uint64_t *all = memory_alloc(r->n * SEEN * sizeof *all);
  r->ops->gather(r, mine, SEEN, all);
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
    memcpy(own, counts, n * sizeof *own);
  all = memory_alloc((size_t)r->n * length * sizeof *all);
  r->ops->gather(r, own, length, all);
  for (uint32_t k = 0; k < length; k++) {
    own[k] = 0;
    for (uint32_t i = 0; i < r->n; i++)
      own[k] += all[(size_t)i * length + k];
  }
  space->ops->set_counts(space, own, length);
  r->ops->meet(r); /* that may have brought new names */
  memory_free(own);
  memory_free(all);
}

void ranks_run(struct search *s) {
  if (s->ranks->broken != SEARCH_EXHAUSTED) {
    s->end = s->ranks->broken;
    return;
  }
  uint32_t n = s->space->question->nproperties;
  struct together t = {.search = s};
  t.found_at = memory_alloc((n + (size_t)1) * sizeof *t.found_at);
  for (uint32_t i = 0; i <= n; i++)
    t.found_at[i] = NOBODY;
  if (s->limits.states == 0)
    s->limits.states = UINT64_MAX;
  s->ranks->known = 0;
  vec_clear(&s->ranks->given);
  struct sweep *w = sweep_new(s, s->space, 0);
  parcels_init(&t.parcels, w);
  sweep_start(w);
  explore(&t);
  while (s->space->restart) {
    begin_again(&t);
    explore(&t);
  }
  if (t.shared)
    told_paths_make(&t.parcels, t.found_at, t.starts.at);
  join_spaces(&t);
  sweep_refresh(w);
  names_part(s->ranks);
  s->threaded_from = 0;
  parcels_release(&t.parcels);
  sweep_free(w);
  vec_release(&t.starts);
  memory_free(t.found_at);
}
