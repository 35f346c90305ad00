#include "search/bfs.h"

#include "base/memory.h"
#include "base/vec.h"
#include "search/store_look.h"

#include <string.h>
#include <time.h>

/* Looks at clock and memory are some way apart; a state expanded counts for more than a step found.
 */
#define TICKS_PER_LOOK 2048
#define TICKS_PER_STATE 16
#define TICKS_UNDISTURBED 128 /* nor is the question whether to go on asked all the time */
#define SECONDS_PER_PROGRESS 0.1

/* A successor on its way into the store. They go in together, so that the waits for memory overlap.
 */
struct pending {
  uint64_t hash, broken;
  state_ref from;
  size_t key; /* its bytes are keys.at[key .. key + length) */
  uint32_t reduced; /* where `from` stands in sweep->reduced, if it does */
  uint32_t length;
  uint32_t left_off; /* of its look-up */
  charge charge;
};
#define BATCH 64
#define BATCH_BYTES 65536

/* Likewise, of space->brief. */
struct brief_pending {
  uint64_t hash;
  state_ref from;
  charge charge;
  uint32_t left_off;
};
#define BRIEF_MOST 1024 /* of one state, before they are emitted after all */

/* A state of which only some steps were taken (space->partial): the others follow unless one of those led to a state of
   the next layer. That is known once they are in the store, so a few of them wait for it together. */
struct reduced {
  state_ref ref;
  bool ahead;
};
#define REDUCED_MOST 32

/* What was emitted lately, with what the way to it cost: most states that are found again are found again soon, and then nobody need ask the
   store, unless the new way is the cheaper one. */
struct recent {
  struct short_key key;
  uint32_t length; /* 0: nothing */
  charge charge;
};
#define RECENT_BITS 12

/* A property of states that may yet be decided, and by which answer. */
struct asked {
  uint32_t property;
  enum verdict3 found;
};

/* One layer's expansion or check under way. */
struct sweep {
  struct search *search;
  state_ref next_layer; /* states from here on belong to the layer being made */
  state_ref from;       /* the state being expanded, STORE_NONE for initial ones */
  charge from_charge;
  state_ref layer_at, layer_end; /* what is left of the layer while it is expanded all at once */
  uint32_t rounds; /* of what is being found */
  uint32_t ticks, looks;
  double started, last_progress;
  struct pending pending[BATCH];
  uint32_t npending;
  VEC(uint8_t) keys;
  VEC(struct reduced) reduced;
  VEC(struct asked) asked;
  struct recent *recent;
  struct short_states brief;
  struct brief_pending brief_pending[BATCH];
  struct short_key brief_keys[BATCH];
  uint32_t nbrief_pending;
  bool puts_off; /* steps have been put off: from then on it counts where each step leads */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void search_init(struct search *s, struct space *space, const struct limits *limits) {
  *s = (struct search){.space = space, .limits = *limits};
  uint32_t n = space->question->nproperties;
  s->findings = memory_alloc((n ? n : 1) * sizeof *s->findings);
  s->store = store_new();
}

void search_release(struct search *s) {
  memory_free(s->findings);
  store_free(s->store);
  *s = (struct search){0};
}

static const struct property *property_at(const struct search *s, uint32_t i) {
  return &s->space->model->properties[s->space->question->properties[i]];
}

static bool is_state_property(const struct property *p) {
  return p->kind != PROPERTY_LIVE && !p->step;
}

static void stop(struct search *s, enum search_end why) {
  if (s->end == SEARCH_EXHAUSTED)
    s->end = why;
}

static void refresh(struct search *s, const struct sweep *w) {
  s->stats.states = store_count(s->store);
  s->stats.seconds = now() - w->started;
  s->stats.memory = store_bytes(s->store) + s->space->ops->memory(s->space);
}

/* False: a limit was reached. */
static bool look(struct sweep *w) {
  struct search *s = w->search;
  refresh(s, w);
  if (s->limits.seconds > 0 && s->stats.seconds >= s->limits.seconds)
    stop(s, SEARCH_TIME);
  if (s->limits.memory > 0 && s->stats.memory >= s->limits.memory)
    stop(s, SEARCH_MEMORY);
  if (s->progress && s->stats.seconds - w->last_progress >= SECONDS_PER_PROGRESS) {
    w->last_progress = s->stats.seconds;
    s->progress(s->progress_context, &s->stats);
  }
  return !search_limited(s->end);
}

/* False: somebody wants the search to stop. */
static bool undisturbed(struct search *s) {
  if (!s->limits.interrupt || !*s->limits.interrupt)
    return true;
  stop(s, *s->limits.interrupt == INTERRUPT_TIME ? SEARCH_TIME : SEARCH_INTERRUPTED);
  return false;
}

static bool tick_slowly(struct sweep *w) {
  w->ticks = 0;
  if (!undisturbed(w->search))
    return false;
  if (++w->looks < TICKS_PER_LOOK / TICKS_UNDISTURBED)
    return true;
  w->looks = 0;
  return look(w);
}

static inline bool tick(struct sweep *w, uint32_t ticks) {
  w->ticks += ticks;
  return w->ticks < TICKS_UNDISTURBED || tick_slowly(w);
}

/* Keeps the better of what is known and what was found now; a layer's findings are never better
   than an earlier layer's. */
static bool better(const struct finding *old, uint32_t rounds, charge c) {
  return !old->found || (rounds == old->rounds && c < old->charge);
}

static void found_step(struct finding *f, uint32_t rounds, uint32_t property, state_ref from,
                       state_ref target, charge c) {
  if (better(f, rounds, c))
    *f = (struct finding){.found = true,
                          .by_step = true,
                          .rounds = rounds,
                          .charge = c,
                          .state = from,
                          .target = target,
                          .property = property};
}

static void found_error(struct sweep *w, const struct model_error *error, charge c) {
  struct finding *f = &w->search->error;
  if (better(f, w->rounds, c)) {
    found_step(f, w->rounds, UINT32_MAX, w->from, STORE_NONE, c);
    f->error = *error;
  }
}

/* It led to a state of the next layer. Steps that are put off from layer to layer are put off no further than to the last
   one, so it does not matter whether somebody else found that state first. */
static void made_headway(struct sweep *w, const struct pending *p) {
  if (p->reduced < w->reduced.n && w->reduced.at[p->reduced].ref == p->from)
    w->reduced.at[p->reduced].ahead = true;
}

/* STORE_NONE: there are as many states as allowed already. */
static state_ref keep(struct sweep *w, const struct pending *p, const uint8_t *key) {
  struct search *s = w->search;
  state_ref ref;
  if (store_count(s->store) >= s->limits.states) {
    ref = store_find(s->store, key, p->length, p->hash);
    if (ref == STORE_NONE)
      return ref;
  } else if (store_put(s->store, key, p->length, p->hash, p->left_off, p->from, p->charge, &ref)) {
    made_headway(w, p);
    if (s->space->ops->stored)
      s->space->ops->stored(s->space, &(struct state){key, p->length});
    return ref;
  }
  if (ref >= w->next_layer) {
    made_headway(w, p);
    if (p->charge < store_charge(s->store, ref))
      store_relink(s->store, ref, p->from, p->charge);
  }
  return ref;
}

/* False: a limit was reached. */
static bool flush(struct sweep *w) {
  struct search *s = w->search;
  for (uint32_t i = 0; i < w->npending; i++)
    w->pending[i].left_off = store_prefetch_record(s->store, w->pending[i].hash);
  for (uint32_t i = 0; i < w->npending; i++) {
    const struct pending *p = &w->pending[i];
    state_ref ref = keep(w, p, w->keys.at + p->key);
    if (ref == STORE_NONE) {
      stop(s, SEARCH_STATES);
      break;
    }
    for (uint64_t broken = p->broken; broken != 0; broken &= broken - 1) {
      uint32_t property = (uint32_t)__builtin_ctzll(broken);
      found_step(&s->findings[property], w->rounds, property, p->from, ref, p->charge);
    }
  }
  w->npending = 0;
  vec_clear(&w->keys);
  return !search_limited(s->end);
}

/* Was the state emitted lately, at no higher cost? */
static inline bool is_recent(struct sweep *w, const struct short_key *key, uint32_t length, uint64_t hash, charge c) {
  struct recent *r = &w->recent[hash & ((1u << RECENT_BITS) - 1)];
  uint64_t other = (key->word[0] ^ r->key.word[0]) | (key->word[1] ^ r->key.word[1]) | (length ^ r->length);
  if (length > 16)
    other |= (key->word[2] ^ r->key.word[2]) | (key->word[3] ^ r->key.word[3]);
  if (!other && r->charge <= c)
    return true;
  *r = (struct recent){*key, length, c};
  return false;
}

static bool emit(void *context, const struct state *state, const struct edge *edge) {
  struct sweep *w = context;
  charge c = w->from_charge;
  if (edge->processes | edge->faults)
    c = charge_add(w->from_charge, edge->processes, edge->faults);
  if (!tick(w, 1))
    return false;
  if (edge->error) {
    found_error(w, edge->error, c);
    return true;
  }
  w->search->stats.transitions += w->from != STORE_NONE;
  struct short_key key = {{0}};
  bool is_short = state->length <= STORE_SHORT;
  uint64_t hash;
  if (is_short) {
    store_words(state->bytes, state->length, &key);
    hash = store_hash_short(&key, state->length);
    if (!w->puts_off && is_recent(w, &key, state->length, hash, c) && !edge->broken)
      return true;
  } else {
    hash = store_hash(state->bytes, state->length);
  }
  struct pending *p = &w->pending[w->npending++];
  *p = (struct pending){.hash = hash,
                        .broken = edge->broken,
                        .from = w->from,
                        .key = w->keys.n,
                        .reduced = (uint32_t)w->reduced.n - 1,
                        .length = state->length,
                        .charge = c};
  store_prefetch_index(w->search->store, p->hash);
  vec_reserve(&w->keys, w->keys.n + state->length + sizeof key);
  if (is_short) /* the rest is overwritten by the next one */
    memcpy(w->keys.at + w->keys.n, &key, sizeof key);
  else
    memcpy(w->keys.at + w->keys.n, state->bytes, state->length);
  w->keys.n += state->length;
  return (w->npending < BATCH && w->keys.n < BATCH_BYTES) || flush(w);
}

/* --- the same for short states with nothing to say of the steps to them --- */

static inline bool keep_briefly(struct sweep *w, const struct brief_pending *p, const uint64_t *word) {
  struct search *s = w->search;
  uint32_t length = w->brief.length;
  state_ref ref;
  if (store_count(s->store) >= s->limits.states) {
    ref = store_find(s->store, (const uint8_t *)word, length, p->hash);
    if (ref == STORE_NONE) {
      stop(s, SEARCH_STATES);
      return false;
    }
  } else if (store_put_words(s->store, word, length, p->hash, p->left_off, p->from, p->charge, &ref)) {
    if (s->space->ops->stored)
      s->space->ops->stored(s->space, &(struct state){(const uint8_t *)word, length});
    return true;
  }
  if (ref >= w->next_layer && p->charge < store_charge(s->store, ref))
    store_relink(s->store, ref, p->from, p->charge);
  return true;
}

static bool flush_briefly(struct sweep *w) {
  struct search *s = w->search;
  uint32_t n = w->nbrief_pending;
  w->nbrief_pending = 0;
  for (uint32_t i = 0; i < n; i++)
    w->brief_pending[i].left_off = store_prefetch_record(s->store, w->brief_pending[i].hash);
  for (uint32_t i = 0; i < n; i++)
    if (!keep_briefly(w, &w->brief_pending[i], w->brief_keys[i].word))
      return false;
  return true;
}

static inline uint64_t words_differ(const uint64_t *a, const uint64_t *b, uint32_t words) {
  uint64_t other = (a[0] ^ b[0]) | (a[1] ^ b[1]);
  return words == 2 ? other : other | (a[2] ^ b[2]) | (a[3] ^ b[3]);
}

/* What the space put into the list. */
static inline bool take_brief_of(struct sweep *w, uint32_t words) {
  uint32_t n = w->brief.n, length = w->brief.length;
  charge c = w->from_charge;
  const uint64_t *word = w->brief.at;
  w->brief.n = 0;
  w->search->stats.transitions += n;
  for (uint32_t i = 0; i < n; i++, word += words) {
    uint64_t hash = store_hash_words(word, length);
    struct recent *r = &w->recent[hash & ((1u << RECENT_BITS) - 1)];
    if (!(words_differ(r->key.word, word, words) | (r->length ^ length)) && r->charge <= c)
      continue;
    memcpy(r->key.word, word, words * sizeof *word);
    r->length = length;
    r->charge = c;
    store_prefetch_index(w->search->store, hash);
    memcpy(w->brief_keys[w->nbrief_pending].word, word, words * sizeof *word);
    w->brief_pending[w->nbrief_pending++] = (struct brief_pending){hash, w->from, c, 0};
    if (w->nbrief_pending == BATCH && !flush_briefly(w))
      return false;
  }
  return tick(w, n);
}

static bool take_brief(struct sweep *w) { return w->brief.words == 2 ? take_brief_of(w, 2) : take_brief_of(w, 4); }

/* The properties of states of which there may be something to be found in this layer. */
static void find_asked(struct sweep *w) {
  struct search *s = w->search;
  vec_clear(&w->asked);
  for (uint32_t i = 0; i < s->space->question->nproperties; i++) {
    const struct property *p = property_at(s, i);
    if (is_state_property(p) && (!s->findings[i].found || s->findings[i].rounds == w->rounds))
      vec_push(&w->asked, ((struct asked){i, p->kind == PROPERTY_COVER ? V_TRUE : V_FALSE}));
  }
}

static void found_state(struct sweep *w, state_ref ref, charge c, uint32_t i, enum verdict3 v,
                        const struct model_error *error) {
  struct search *s = w->search;
  struct finding *f = v == V_ERROR ? &s->error : &s->findings[i];
  if (better(f, w->rounds, c)) {
    *f = (struct finding){.found = true, .rounds = w->rounds, .charge = c, .state = ref, .target = STORE_NONE, .property = i};
    if (v == V_ERROR)
      f->error = *error;
  }
}

static inline void check_state(struct sweep *w, state_ref ref, const struct stored *at, const struct asked *asked) {
  struct space *space = w->search->space;
  struct state state = {at->bytes, at->length};
  struct model_error error;
  enum verdict3 v = space->ops->holds(space, asked->property, &state, &error);
  if (v == asked->found || v == V_ERROR)
    found_state(w, ref, at->charge, asked->property, v, &error);
}

/* False: a limit was reached. */
static bool check_layer(struct sweep *w, state_ref from, state_ref to) {
  struct search *s = w->search;
  struct store_reader r = store_reader(s->store, from, to);
  if (from < to)
    s->stats.frontier = 0;
  find_asked(w);
  while (store_read(&r)) {
    s->stats.frontier++;
    for (size_t i = 0; i < w->asked.n; i++)
      check_state(w, r.ref, &r.stored, &w->asked.at[i]);
    if (!search_limited(s->end) && !tick(w, 1))
      return false;
  }
  return true;
}

/* A layer as a frontier: its states one after the other. */
/* The question is not about what comes after it. */
static bool is_over(const struct search *s, const struct stored *at) {
  struct model_error ignored;
  return s->space->question->until &&
         s->space->ops->atom(s->space, 0, &(struct state){at->bytes, at->length}, &ignored) == V_TRUE;
}

static bool next_of_layer(void *context, struct state *state, uint64_t *origin, uint32_t *c) {
  struct sweep *w = context;
  struct search *s = w->search;
  struct stored at = {0};
  for (; w->layer_at < w->layer_end; w->layer_at = store_next(s->store, w->layer_at)) {
    at = store_at(s->store, w->layer_at);
    if (!is_over(s, &at))
      break;
  }
  if (w->layer_at >= w->layer_end || !tick(w, TICKS_PER_STATE))
    return false;
  *state = (struct state){at.bytes, at.length};
  *origin = w->layer_at;
  *c = at.charge;
  w->layer_at = store_next(s->store, w->layer_at);
  return true;
}

static bool emit_from(void *context, uint64_t origin, const struct state *state,
                      const struct edge *edge) {
  struct sweep *w = context;
  w->from = origin;
  w->from_charge = store_charge(w->search->store, origin);
  return emit(w, state, edge);
}

typedef bool steps_fn(struct space *, const struct state *, emit_fn *, void *context);

static bool steps_from(struct sweep *w, state_ref r, const struct stored *at, steps_fn *steps) {
  struct search *s = w->search;
  w->from = r;
  w->from_charge = at->charge;
  s->space->partial = false;
  return steps(s->space, &(struct state){at->bytes, at->length}, emit, w) && (w->brief.n == 0 || take_brief(w)) &&
         tick(w, TICKS_PER_STATE);
}

/* Those of which nothing came that is still to be expanded take their other steps, too. */
static bool complete_reduced(struct sweep *w) {
  if (w->reduced.n == 0)
    return true;
  if (!flush(w))
    return false;
  size_t n = w->reduced.n;
  w->reduced.n = 0; /* what is emitted from here on counts for nobody */
  for (size_t i = 0; i < n; i++) {
    state_ref r = w->reduced.at[i].ref;
    struct stored at = store_at(w->search->store, r);
    if (!w->reduced.at[i].ahead && !steps_from(w, r, &at, w->search->space->ops->others))
      return false;
  }
  return flush(w);
}

static bool expand_one_by_one(struct sweep *w, state_ref from, state_ref to) {
  struct search *s = w->search;
  struct store_reader r = store_reader(s->store, from, to);
  while (store_read(&r)) {
    if (is_over(s, &r.stored))
      continue;
    vec_push(&w->reduced, ((struct reduced){r.ref, false}));
    if (!steps_from(w, r.ref, &r.stored, s->space->ops->successors))
      return false;
    w->puts_off |= s->space->partial;
    if (!s->space->partial)
      w->reduced.n--;
    else if (w->reduced.n >= REDUCED_MOST && !complete_reduced(w))
      return false;
  }
  return flush(w) && flush_briefly(w) && complete_reduced(w);
}

static bool expand_layer(struct sweep *w, state_ref from, state_ref to) {
  struct search *s = w->search;
  if (s->space->together) {
    w->layer_at = from;
    w->layer_end = to;
    return s->space->ops->expand(s->space, next_of_layer, emit_from, w) && !search_limited(s->end) && flush(w);
  }
  s->space->brief = &w->brief;
  bool whole = expand_one_by_one(w, from, to);
  s->space->brief = NULL;
  return whole;
}

/* Is there anything new after this layer? Then the search is cut off, else it has seen everything.
 */
static bool peek(void *context, const struct state *state, const struct edge *edge) {
  struct sweep *w = context;
  struct search *s = w->search;
  s->cut = edge->error || edge->broken ||
           store_find(s->store, state->bytes, state->length,
                      store_hash(state->bytes, state->length)) == STORE_NONE;
  return !s->cut && tick(w, 1);
}

static void look_beyond(struct sweep *w, state_ref from, state_ref to) {
  struct search *s = w->search;
  struct store_reader r = store_reader(s->store, from, to);
  while (store_read(&r)) {
    struct state state = {r.stored.bytes, r.stored.length};
    s->space->partial = false;
    if (is_over(s, &r.stored))
      continue;
    if (!s->space->ops->successors(s->space, &state, peek, w) ||
        (s->space->partial && !s->space->ops->others(s->space, &state, peek, w)) ||
        !tick(w, TICKS_PER_STATE)) {
      undisturbed(s);
      return;
    }
  }
}

static bool all_decided(const struct search *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->space->question->nproperties; i++)
    if (property_at(s, i)->kind != PROPERTY_LIVE && !property_at(s, i)->stability_of) {
      any = true;
      if (!s->findings[i].found)
        return false;
    }
  return any;
}

static void tell_decided(struct search *s) {
  s->space->decided = 0;
  for (uint32_t i = 0; i < s->space->question->nproperties && i < 64; i++)
    s->space->decided |= (uint64_t)s->findings[i].found << i;
}

/* Layer by layer; s->end says why it ended. */
static void explore(struct sweep *w) {
  struct search *s = w->search;
  state_ref from = store_first();
  w->from = STORE_NONE;
  w->next_layer = from;
  bool made = s->space->ops->initial(s->space, emit, w) && flush(w);
  while (true) {
    state_ref to = store_end(s->store);
    from = store_from(s->store, from);
    if (s->space->restart)
      return;
    if (from < to)
      s->stats.depth = w->rounds;
    bool checked =
        check_layer(w, from, to); /* also what a limit cut short: a violation is a violation */
    if (s->space->restart)
      return;
    if (!made || !checked) {
      undisturbed(s); /* for a space that gave up by itself when it was interrupted */
      return;
    }
    s->complete = w->rounds + 1;
    if (s->error.found)
      stop(s, SEARCH_MODEL_ERROR);
    else if (all_decided(s) && from < to)
      stop(s, SEARCH_DECIDED);
    if (s->end != SEARCH_EXHAUSTED || from >= to)
      return;
    if (s->limits.rounds > 0 && w->rounds == s->limits.rounds) {
      look_beyond(w, from, to);
      return;
    }
    w->rounds++;
    w->next_layer = to;
    tell_decided(s);
    made = expand_layer(w, from, to);
    from = to;
  }
}

/* Everything that was found is forgotten: keys mean something else now. */
static void begin_again(struct sweep *w) {
  struct search *s = w->search;
  double started = w->started, last_progress = w->last_progress;
  store_free(s->store);
  s->store = store_new();
  memset(s->findings, 0, s->space->question->nproperties * sizeof *s->findings);
  s->error = (struct finding){0};
  s->end = SEARCH_EXHAUSTED;
  s->cut = false;
  s->complete = 0;
  s->stats = (struct search_stats){0};
  s->space->restart = false;
  vec_release(&w->keys);
  vec_release(&w->reduced);
  vec_release(&w->asked);
  struct sweep again = {.search = s, .started = started, .last_progress = last_progress, .recent = w->recent,
                        .brief = w->brief};
  *w = again;
  w->brief.n = 0;
  memset(w->recent, 0, sizeof *w->recent << RECENT_BITS);
}

void search_run(struct search *s) {
  struct sweep w = {.search = s, .started = now()};
  w.recent = memory_alloc(sizeof *w.recent << RECENT_BITS);
  if (s->limits.states == 0 || s->limits.states > STORE_MOST)
    s->limits.states = STORE_MOST;
  w.brief = (struct short_states){.at = memory_alloc(BRIEF_MOST * STATE_SHORT), .most = BRIEF_MOST};
  explore(&w);
  while (s->space->restart) {
    begin_again(&w);
    explore(&w);
  }
  refresh(s, &w);
  vec_release(&w.keys);
  vec_release(&w.reduced);
  vec_release(&w.asked);
  memory_free(w.recent);
  memory_free(w.brief.at);
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
