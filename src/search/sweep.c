#include "search/sweep_parts.h"

#include "base/memory.h"
#include "search/parcels.h"
#include "search/spill.h"
#include "search/store_look.h"

#include <string.h>

/* Looks at clock and memory are some way apart; a state expanded counts for more than a step found. */
#define TICKS_PER_LOOK 2048
#define TICKS_PER_STATE 16
#define TICKS_UNDISTURBED 128 /* nor is the question whether to go on asked all the time */

#define BRIEF_MOST 1024 /* of one state, before they are emitted after all */

/* The same for keys of two words on ways that cost nothing, which are most of what goes through space->brief: small, so that it stays
   close at hand. What a place holds at first belongs elsewhere, so that no key is found there. */
struct recent_pair {
  uint64_t word[2];
};

static inline struct recent_pair *recent_pair(const struct sweep *w, uint64_t hash) {
  return &w->recent_pairs[hash & ((1u << RECENT_BITS) - 1)];
}

/* The hash goes by the length of keys as well. */
static void forget_pairs(struct sweep *w) {
  w->pairs_length = w->brief.length;
  memset(w->recent_pairs, 0, sizeof *w->recent_pairs << RECENT_BITS);
  struct short_key other = {{0}};
  struct recent_pair *of_zeros = recent_pair(w, store_hash_short(&other, w->pairs_length));
  do
    other.word[0]++;
  while (recent_pair(w, store_hash_short(&other, w->pairs_length)) == of_zeros);
  of_zeros->word[0] = other.word[0];
}

struct sweep *sweep_new(struct search *s, struct space *space, uint32_t lane) {
  struct sweep *w = memory_alloc(sizeof *w);
  w->search = s;
  w->space = space;
  w->lane = lane;
  uint32_t n = space->question->nproperties;
  w->findings = lane == 0 ? s->findings : memory_alloc((n ? n : 1) * sizeof *w->findings);
  w->recent = memory_alloc(sizeof *w->recent << RECENT_BITS);
  w->recent_pairs = memory_alloc(sizeof *w->recent_pairs << RECENT_BITS);
  w->brief = (struct short_states){.at = memory_alloc(BRIEF_MOST * STATE_SHORT), .quiet = memory_alloc(BRIEF_MOST), .most = BRIEF_MOST};
  w->pending = memory_alloc(BATCH * sizeof *w->pending);
  w->brief_pending = memory_alloc(BATCH * sizeof *w->brief_pending);
  if (store_signature(s->store) > 0)
    w->waiting = memory_alloc(REDUCED_MOST * sizeof *w->waiting);
  return w;
}

void sweep_forget(struct sweep *w) {
  w->completed = w->npending = w->nbrief_pending = w->brief.n = w->at = w->ntaken = 0;
  vec_clear(&w->keys);
  vec_clear(&w->reduced);
  vec_clear(&w->led_to);
  memset(w->recent, 0, sizeof *w->recent << RECENT_BITS);
  w->pairs_length = 0;
}

void sweep_free(struct sweep *w) {
  if (!w)
    return;
  if (w->lane != 0)
    memory_free(w->findings);
  vec_release(&w->keys);
  vec_release(&w->reduced);
  vec_release(&w->led_to);
  vec_release(&w->charges);
  vec_release(&w->taken_bytes);
  vec_release(&w->one);
  vec_release(&w->asked);
  memory_free(w->recent);
  memory_free(w->recent_pairs);
  memory_free(w->brief.at);
  memory_free(w->brief.quiet);
  memory_free(w->pending);
  memory_free(w->brief_pending);
  memory_free(w->waiting);
  memory_free(w);
}

/* --- from time to time --- */

static bool come_to_rest(struct sweep *w);
static bool complete_reduced(struct sweep *w);

/* In the middle of a state's steps. A state on a shelf is the sweep's own while it is expanded. */
static bool can_rest_here(const struct sweep *w) {
  return w->rests == REST_ANYWHERE || (w->rests == REST_BETWEEN && w->search->spill && !w->space->puts_off);
}

__attribute__((cold, noinline)) static bool tick_slowly(struct sweep *w) {
  w->ticks = 0;
  if (!sweep_undisturbed(w))
    return false;
  if (++w->looks >= TICKS_PER_LOOK / TICKS_UNDISTURBED || w->search->limits.spill_from > 0) {
    w->looks = 0;
    if (!sweep_look(w))
      return false;
  }
  return !w->search->pause || !can_rest_here(w) || come_to_rest(w);
}

static inline bool tick(struct sweep *w, uint32_t ticks) {
  w->ticks += ticks;
  return w->ticks < TICKS_UNDISTURBED || tick_slowly(w);
}

/* --- findings --- */

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

bool sweep_found_step(struct sweep *w, uint32_t property, charge c) {
  bool is_better = better(&w->findings[property], w->rounds, c);
  found_step(&w->findings[property], w->rounds, property, w->from, STORE_NONE, c);
  return is_better;
}

static void found_error(struct sweep *w, const struct model_error *error, charge c) {
  struct finding *f = &w->error;
  if (better(f, w->rounds, c)) {
    found_step(f, w->rounds, UINT32_MAX, w->from, STORE_NONE, c);
    f->error = *error;
  }
}

/* Of states that one thread put into the store it would have come upon the first one first. */
static void join_finding(struct finding *f, const struct finding *other) {
  bool first = f->found && f->rounds == other->rounds && f->charge == other->charge && !f->by_step && other->state < f->state;
  if (other->found && (first || better(f, other->rounds, other->charge)))
    *f = *other;
}

void sweep_join(struct sweep *w, struct sweep *other) {
  for (uint32_t i = 0; i < w->space->question->nproperties; i++) {
    join_finding(&w->findings[i], &other->findings[i]);
    other->findings[i] = w->findings[i];
  }
  join_finding(&w->error, &other->error);
  other->error = w->error;
  w->transitions += other->transitions;
  w->frontier_states += other->frontier_states;
  other->transitions = other->frontier_states = 0;
  if (w->end == SEARCH_EXHAUSTED)
    w->end = other->end;
  w->unchecked |= other->unchecked;
  other->unchecked = false;
  w->made &= other->made;
}

/* The properties of states of which there may be something to be found in this layer. */
static void find_asked(struct sweep *w) {
  vec_clear(&w->asked);
  for (uint32_t i = 0; i < w->space->question->nproperties; i++) {
    const struct property *p = question_property(w->space, i);
    if (is_state_property(p) && (!w->findings[i].found || w->findings[i].rounds == w->rounds))
      vec_push(&w->asked, ((struct asked){i, p->kind == PROPERTY_COVER ? V_TRUE : V_FALSE}));
  }
}

__attribute__((cold, noinline)) static void found_state(struct sweep *w, state_ref ref, charge c, uint32_t i, enum verdict3 v,
                                                        const struct model_error *error) {
  struct finding *f = v == V_ERROR ? &w->error : &w->findings[i];
  if (better(f, w->rounds, c)) {
    *f = (struct finding){.found = true, .rounds = w->rounds, .charge = c, .state = ref, .target = STORE_NONE, .property = i};
    if (v == V_ERROR)
      f->error = *error;
  }
}

/* What is asked of the states of this layer, of one of them. */
static inline void check_state(struct sweep *w, state_ref ref, const struct state *state, charge c) {
  for (size_t i = 0; i < w->asked.n; i++) {
    struct model_error error;
    uint32_t property = w->asked.at[i].property;
    enum verdict3 v = w->space->ops->holds(w->space, property, state, &error);
    if (v == w->asked.at[i].found || v == V_ERROR)
      found_state(w, ref, c, property, v, &error);
  }
}

/* --- into the store --- */

/* It led to a state of the next layer. Steps that are put off from layer to layer are put off no further than to the last
   one, so it does not matter whether somebody else found that state first. */
static void made_headway(struct sweep *w, const struct pending *p) {
  if (p->reduced < w->reduced.n && w->reduced.at[p->reduced].ref == p->from)
    w->reduced.at[p->reduced].ahead = true;
}

/* A state that was found before: is it of the layer that is being made? */
static inline bool is_of_next(const struct sweep *w, state_ref ref) {
  return w->search->spill || ref >= w->next->from[w->next->lanes == 1 ? 0 : store_lane(w->search->store, ref)];
}

/* Is there room for so many states more? Several threads have no limit of states: see search_run. */
static bool has_room(const struct sweep *w, uint32_t n) {
  return w->shared || w->search->spill || store_count(w->search->store) + n <= w->search->limits.states;
}
static inline bool is_full(const struct sweep *w) { return !w->room && !has_room(w, 1); }

/* What is new is known when the store is emptied. */
static state_ref keep_candidate(struct sweep *w, const struct pending *p, const uint8_t *key) {
  struct store *store = w->search->store;
  state_ref ref;
  w->unchecked = true;
  if (!store_put_in(store, w->lane, key, p->length, p->hash, p->left_off, p->from, p->charge, &ref))
    store_cheapen(store, ref, p->from, p->charge);
  if (w->space->puts_off && p->reduced < w->reduced.n && w->reduced.at[p->reduced].ref == p->from)
    vec_push(&w->led_to, ((struct led_to){p->reduced, p->from, ref}));
  return ref;
}

/* STORE_NONE: there are as many states as allowed already. */
static state_ref keep(struct sweep *w, const struct pending *p, const uint8_t *key) {
  struct store *store = w->search->store;
  state_ref ref;
  if (w->search->spill)
    return keep_candidate(w, p, key);
  if (is_full(w)) {
    ref = store_find(store, key, p->length, p->hash);
    if (ref == STORE_NONE)
      return ref;
  } else if (store_put_in(store, w->lane, key, p->length, p->hash, p->left_off, p->from, p->charge, &ref)) {
    made_headway(w, p);
    w->unchecked = true; /* the space may be in the middle of something */
    if (w->space->ops->stored)
      w->space->ops->stored(w->space, &(struct state){key, p->length});
    return ref;
  }
  if (is_of_next(w, ref)) {
    made_headway(w, p);
    store_cheapen(store, ref, p->from, p->charge);
  }
  return ref;
}

/* False: a limit was reached. */
static bool put(struct sweep *w, const struct pending *p) {
  state_ref ref = keep(w, p, w->keys.at + p->key);
  if (ref == STORE_NONE) {
    sweep_stop(w, SEARCH_STATES);
    return false;
  }
  state_ref target = w->search->spill ? ref | SPILL_CANDIDATE : ref;
  for (uint64_t broken = p->broken; broken != 0; broken &= broken - 1) {
    uint32_t property = (uint32_t)__builtin_ctzll(broken);
    found_step(&w->findings[property], w->rounds, property, p->from, target, p->charge);
  }
  return true;
}

/* False: a limit was reached. */
static bool flush(struct sweep *w) {
  struct store *store = w->search->store;
  w->room = has_room(w, w->npending);
  if (w->shared)
    store_enter(store, w->lane);
  for (uint32_t i = 0; i < w->npending; i++)
    w->pending[i].left_off = store_prefetch_record(store, w->pending[i].hash, 0);
  for (uint32_t i = 0; i < w->npending && put(w, &w->pending[i]);)
    i++;
  if (w->shared)
    store_leave(store, w->lane);
  w->npending = 0;
  vec_clear(&w->keys);
  return !search_limited(w->end);
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
  w->transitions += w->from != STORE_NONE;
  if (w->parcels)
    return parcels_post(w->parcels, state, edge, c);
  struct short_key key = {{0}};
  bool is_short = state->length <= STORE_SHORT;
  uint64_t hash;
  if (is_short) {
    store_words(state->bytes, state->length, &key);
    hash = store_hash_short(&key, state->length);
    if (!w->space->puts_off && is_recent(w, &key, state->length, hash, c) && !edge->broken)
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

static inline bool keep_briefly(struct sweep *w, const struct brief_pending *p) {
  struct store *store = w->search->store;
  uint32_t length = w->brief.length;
  const uint64_t *word = p->key.word;
  state_ref ref;
  if (is_full(w)) {
    ref = store_find(store, (const uint8_t *)word, length, p->hash);
    if (ref == STORE_NONE) {
      sweep_stop(w, SEARCH_STATES);
      return false;
    }
  } else if (store_put_words_in(store, w->lane, word, length, p->hash, p->left_off, p->from, p->charge, &ref)) {
    struct state state = {(const uint8_t *)word, length};
    if (w->space->ops->stored && !w->search->spill)
      w->space->ops->stored(w->space, &state);
    if (p->quiet && p->charge == 0)
      return true;
    if (p->charge == 0) /* a candidate in which something is found is new: else it would have been found before */
      check_state(w, w->search->spill ? ref | SPILL_CANDIDATE : ref, &state, 0);
    else
      w->unchecked = true; /* there may be a cheaper way to it yet */
    return true;
  }
  if (store_charged(store, ref) && is_of_next(w, ref))
    store_cheapen(store, ref, p->from, p->charge);
  return true;
}

/* Those that go on to another line wait for it together. */
static void look_ahead(const struct store *store, struct brief_pending *p, uint32_t n) {
  uint32_t waiting[BATCH], left = 0;
  for (uint32_t i = 0; i < n; i++) {
    p[i].left_off = store_prefetch_record(store, p[i].hash, 0);
    waiting[left] = i;
    left += (p[i].left_off & LOOKS_ON) != 0;
  }
  for (uint32_t of = left; of > 0; of = left) {
    left = 0;
    for (uint32_t k = 0; k < of; k++) {
      struct brief_pending *at = &p[waiting[k]];
      at->left_off = store_prefetch_record(store, at->hash, at->left_off);
      waiting[left] = waiting[k];
      left += (at->left_off & LOOKS_ON) != 0;
    }
  }
}

static bool flush_briefly(struct sweep *w) {
  struct store *store = w->search->store;
  uint32_t n = w->nbrief_pending;
  bool more = true;
  w->room = has_room(w, n);
  w->nbrief_pending = 0;
  if (w->shared)
    store_enter(store, w->lane);
  look_ahead(store, w->brief_pending, n);
  for (uint32_t i = 0; i < n && more; i++)
    more = keep_briefly(w, &w->brief_pending[i]);
  if (w->shared)
    store_leave(store, w->lane);
  return more;
}

/* Asks for the lines of those that came last, together: to find where in memory they are takes as long as to get them. A whole batch goes
   into the store. */
static bool ask_for_index(struct sweep *w) {
  for (uint32_t i = w->nbrief_pending - ASKED; i < w->nbrief_pending; i++)
    store_prefetch_index(w->search->store, w->brief_pending[i].hash);
  return w->nbrief_pending < BATCH || flush_briefly(w);
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
  w->transitions += n;
  for (uint32_t i = 0; i < n; i++, word += words) {
    uint64_t hash = store_hash_words(word, length);
    struct recent *r = &w->recent[hash & ((1u << RECENT_BITS) - 1)];
    if (!(words_differ(r->key.word, word, words) | (r->length ^ length)) && r->charge <= c)
      continue;
    memcpy(r->key.word, word, words * sizeof *word);
    r->length = length;
    r->charge = c;
    struct brief_pending *p = &w->brief_pending[w->nbrief_pending++];
    memcpy(p->key.word, word, words * sizeof *word);
    p->hash = hash;
    p->from = w->from;
    p->charge = c;
    p->quiet = w->brief.quiet[i];
    if (w->nbrief_pending % ASKED == 0 && !ask_for_index(w))
      return false;
  }
  return tick(w, n);
}

static bool take_pairs(struct sweep *w) {
  uint32_t n = w->brief.n, length = w->brief.length;
  const uint64_t *word = w->brief.at;
  if (w->pairs_length != length)
    forget_pairs(w);
  w->brief.n = 0;
  w->transitions += n;
  for (uint32_t i = 0; i < n; i++, word += 2) {
    uint64_t hash = store_hash_words(word, length);
    struct recent_pair *r = recent_pair(w, hash);
    if (!((r->word[0] ^ word[0]) | (r->word[1] ^ word[1])))
      continue;
    r->word[0] = word[0];
    r->word[1] = word[1];
    struct brief_pending *p = &w->brief_pending[w->nbrief_pending++];
    p->key.word[0] = word[0];
    p->key.word[1] = word[1];
    p->hash = hash;
    p->from = w->from;
    p->charge = 0;
    p->quiet = w->brief.quiet[i];
    if (w->nbrief_pending % ASKED == 0 && !ask_for_index(w))
      return false;
  }
  return tick(w, n);
}

static bool take_brief(struct sweep *w) {
  if (w->brief.words == 2 && w->from_charge == 0)
    return take_pairs(w);
  return w->brief.words == 2 ? take_brief_of(w, 2) : take_brief_of(w, 4);
}

/* --- a layer --- */

/* The next state of the frontier; NULL: there is none left. */
static inline const struct taken *next_taken(struct sweep *w) {
  if (w->at == w->ntaken) {
    w->at = 0;
    w->ntaken = frontier_take(w->frontier, w->lane, w->taken, &w->taken_bytes);
  }
  return w->at < w->ntaken ? &w->taken[w->at++] : NULL;
}

/* Memory is full. Which of the states that put steps off made headway is known when all candidates have their place. */
static bool make_room(struct sweep *w) {
  struct search *s = w->search;
  bool puts_off = w->space->puts_off;
  if (puts_off && !(flush(w) && flush_briefly(w) && (s->spill || complete_reduced(w))))
    return false;
  if (w->shared) {
    crew_rest(s->crew);
  } else {
    spill_make_room(s, &w, 1);
    s->pause = false;
  }
  if (search_limited(w->end) || (w->shared && *w->halt))
    return false;
  return !puts_off || complete_reduced(w);
}

/* The search is to be written down. Where the order in which states come to the store is chance, or will come out the same, all
   of them go there; else they are written down where they are, so that everything goes on as if nothing had been. */
static bool come_to_rest(struct sweep *w) {
  struct search *s = w->search;
  if (search_limited(w->end) || w->space->restart)
    return true;
  if (w->parcels)
    return parcels_rest(w->parcels);
  if (s->spill_folder)
    return make_room(w);
  if ((w->shared || w->rests == REST_ANYWHERE) && !(flush(w) && flush_briefly(w) && complete_reduced(w)))
    return false;
  if (w->shared) {
    crew_rest(s->crew);
    return !*w->halt;
  }
  checkpoint_write(s, &w, 1);
  s->pause = false;
  if (s->ending != SEARCH_EXHAUSTED)
    sweep_stop(w, (enum search_end)s->ending);
  return !search_limited(w->end);
}

static inline bool rest(struct sweep *w) {
  return !atomic_load_explicit(&w->search->pause, memory_order_relaxed) || come_to_rest(w);
}

bool sweep_check(struct sweep *w) {
  const struct taken *at;
  find_asked(w);
  w->rests = REST_BETWEEN;
  bool more = true;
  while ((more = rest(w)) && (at = next_taken(w))) {
    w->frontier_states++;
    check_state(w, at->ref, &(struct state){at->stored.bytes, at->stored.length}, at->stored.charge);
    if (!search_limited(w->end) && !(more = tick(w, 1)))
      break;
  }
  w->rests = REST_NEVER;
  return more;
}

/* The question is not about what comes after it. */
static bool is_over(const struct sweep *w, const struct stored *at) {
  struct model_error ignored;
  return w->space->question->until &&
         w->space->ops->atom(w->space, 0, &(struct state){at->bytes, at->length}, &ignored) == V_TRUE;
}

/* A layer as a frontier: its states one after the other. */
static bool next_of_layer(void *context, struct state *state, uint64_t *origin, uint32_t *c) {
  struct sweep *w = context;
  const struct taken *at;
  do
    at = next_taken(w);
  while (at && is_over(w, &at->stored));
  if (!at || !tick(w, TICKS_PER_STATE))
    return false;
  *state = (struct state){at->stored.bytes, at->stored.length};
  *origin = w->search->spill_folder ? sweep_origin(w, at) : at->ref;
  *c = at->stored.charge;
  return true;
}

static bool emit_from(void *context, uint64_t origin, const struct state *state,
                      const struct edge *edge) {
  struct sweep *w = context;
  sweep_set_from(w, origin);
  return emit(w, state, edge);
}

typedef bool steps_fn(struct space *, const struct state *, emit_fn *, void *context);

static bool steps_from(struct sweep *w, state_ref r, const struct stored *at, steps_fn *steps) {
  w->from = r;
  w->from_charge = at->charge;
  w->space->partial = false;
  return steps(w->space, &(struct state){at->bytes, at->length}, emit, w) && (w->brief.n == 0 || take_brief(w)) &&
         tick(w, TICKS_PER_STATE);
}

/* Those of which nothing came that is still to be expanded take their other steps, too. */
static bool complete(struct sweep *w, const struct reduced *r) {
  struct stored at = w->waiting         ? w->waiting[r - w->reduced.at]
                     : w->search->spill ? spill_at(w->search, r->ref, &w->one)
                                        : store_key(w->search->store, r->ref);
  return r->ahead || steps_from(w, r->ref, &at, w->space->ops->others);
}

static bool complete_reduced(struct sweep *w) {
  if (w->reduced.n == 0)
    return true;
  if (!flush(w))
    return false;
  size_t n = w->reduced.n;
  w->reduced.n = 0; /* what is emitted from here on counts for nobody */
  for (size_t i = 0; i < n; i++)
    if (!complete(w, &w->reduced.at[i]))
      return false;
  return flush(w);
}

bool sweep_complete_layer(struct sweep *w) {
  bool more;
  w->rests = REST_BETWEEN;
  while ((more = rest(w)) && w->completed < w->reduced.n && (more = complete(w, &w->reduced.at[w->completed++])))
    ;
  w->rests = REST_NEVER;
  w->completed = 0;
  vec_clear(&w->reduced);
  return more && !sweep_cut_short(w);
}

static bool expand_one_by_one(struct sweep *w) {
  const struct taken *at;
  while (true) {
    if (!rest(w))
      return false;
    if (!(at = next_taken(w)))
      break;
    if (is_over(w, &at->stored))
      continue;
    if (w->space->puts_off)
      vec_push(&w->reduced, ((struct reduced){at->ref, false}));
    if (!steps_from(w, at->ref, &at->stored, w->space->ops->successors))
      return false;
    if (!w->space->puts_off)
      continue;
    if (!w->space->partial) {
      w->reduced.n--;
      continue;
    }
    if (w->waiting)
      w->waiting[w->reduced.n - 1] = at->stored;
    if (w->reduced.n >= REDUCED_MOST && !w->parcels && !w->search->spill && !complete_reduced(w))
      return false;
  }
  if (!flush(w) || !flush_briefly(w))
    return false;
  if (w->search->spill && w->reduced.n > 0) {
    w->search->pause = true;
    return come_to_rest(w);
  }
  return w->parcels || complete_reduced(w);
}

bool sweep_expand(struct sweep *w) {
  bool whole;
  find_asked(w);
  if (w->space->together) {
    w->rests = REST_ANYWHERE;
    whole = w->space->ops->expand(w->space, next_of_layer, emit_from, w) && !search_limited(w->end) && flush(w);
  } else {
    w->rests = REST_BETWEEN;
    w->space->brief = w->parcels ? NULL : &w->brief;
    whole = expand_one_by_one(w);
    w->space->brief = NULL;
  }
  w->rests = REST_NEVER;
  return whole && !sweep_cut_short(w);
}

bool sweep_initial(struct sweep *w) {
  w->from = STORE_NONE;
  w->from_charge = 0;
  w->rests = w->search->spill_folder ? REST_ANYWHERE : REST_NEVER;
  bool made = w->space->ops->initial(w->space, emit, w) && flush(w);
  w->rests = REST_NEVER;
  return made && !sweep_cut_short(w);
}

static bool peek(void *context, const struct state *state, const struct edge *edge) {
  struct sweep *w = context;
  struct search *s = w->search;
  if (w->parcels) {
    s->cut |= edge->error || edge->broken;
    return !s->cut && tick(w, 1) && parcels_post(w->parcels, state, edge, 0);
  }
  if (s->spill) {
    state_ref ref;
    store_put_in(s->store, w->lane, state->bytes, state->length, store_hash(state->bytes, state->length), 0, STORE_NONE, 0, &ref);
    s->cut = edge->error || edge->broken;
    return !s->cut && tick(w, 1);
  }
  s->cut = edge->error || edge->broken || store_seek(s->store, state->bytes, state->length) == STORE_NONE;
  return !s->cut && tick(w, 1);
}

void sweep_look_beyond(struct sweep *w) {
  const struct taken *at;
  struct search *s = w->search;
  while ((at = next_taken(w))) {
    struct state state = {at->stored.bytes, at->stored.length};
    w->space->partial = false;
    if (is_over(w, &at->stored))
      continue;
    if (!w->space->ops->successors(w->space, &state, peek, w) ||
        (w->space->partial && !w->space->ops->others(w->space, &state, peek, w)) ||
        !tick(w, TICKS_PER_STATE)) {
      sweep_undisturbed(w);
      return;
    }
    if (s->spill && s->pause && (s->cut = spill_has_new(w)))
      return;
  }
  if (s->spill)
    s->cut = spill_has_new(w);
  sweep_cut_short(w);
}
