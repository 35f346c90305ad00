#include "search/worker_internal.h"

#include "base/memory.h"
#include "search/visited_backend.h"
#include "search/visited_index.h"

#include <string.h>

/* Time and memory are checked only every so many ticks. Expanding a state counts as more ticks than finding a step. */
#define TICKS_PER_LIMIT_CHECK 2048
#define TICKS_PER_STATE 16
#define TICKS_PER_INTERRUPT_CHECK 128 /* interruptions are checked more often */

#define SHORT_STATES_MAX 1024 /* of one state; further ones are passed to emit */

struct worker *worker_new(struct search *s, struct system *space, uint32_t partition) {
  struct worker *w = memory_alloc(sizeof *w);
  w->search = s;
  w->space = space;
  w->partition = partition;
  w->send = s->backend->send;
  uint32_t n = space->query->nproperties;
  w->findings = partition == 0 ? s->findings : memory_alloc((n ? n : 1) * sizeof *w->findings);
  w->recent = memory_alloc(sizeof *w->recent << RECENT_BITS);
  w->short_keyed = (struct short_states){.at = memory_alloc(SHORT_STATES_MAX * STATE_SHORT),
                                         .invisible = memory_alloc(SHORT_STATES_MAX),
                                         .most = SHORT_STATES_MAX};
  w->queue.pending = memory_alloc(BATCH * sizeof *w->queue.pending);
  w->queue.short_pending = memory_alloc(BATCH * sizeof *w->queue.short_pending);
  if (visited_signature_bits(s->visited_set) > 0)
    w->deferral.waiting = memory_alloc(DEFERRED_MAX * sizeof *w->deferral.waiting);
  return w;
}

void worker_clear(struct worker *w) {
  w->deferral.completed = w->queue.n = w->queue.nshort = w->short_keyed.n = w->taken.at = w->taken.n = 0;
  vec_clear(&w->queue.keys);
  vec_clear(&w->deferral.states);
  vec_clear(&w->deferral.candidates);
  memset(w->recent, 0, sizeof *w->recent << RECENT_BITS);
}

void worker_free(struct worker *w) {
  if (!w)
    return;
  if (w->partition != 0)
    memory_free(w->findings);
  vec_release(&w->queue.keys);
  vec_release(&w->deferral.states);
  vec_release(&w->deferral.candidates);
  vec_release(&w->charges);
  vec_release(&w->taken.bytes);
  vec_release(&w->taken.one);
  vec_release(&w->open_properties);
  memory_free(w->recent);
  memory_free(w->short_keyed.at);
  memory_free(w->short_keyed.invisible);
  memory_free(w->queue.pending);
  memory_free(w->queue.short_pending);
  memory_free(w->deferral.waiting);
  memory_free(w);
}

/* --- periodic checks --- */

static bool suspend(struct worker *w);

/* Can the worker be suspended between two steps of a state? With a disk log it can: the worker has its own copy of the
   state it expands. */
static bool can_suspend_here(const struct worker *w) {
  return w->suspend_at == SUSPEND_ANYWHERE || (w->suspend_at == SUSPEND_BETWEEN_STATES && w->search->disk.full &&
                                               w->search->backend->candidates && !w->space->uses_proviso);
}

static bool suspend_here(struct worker *w) {
  w->amid_state = w->suspend_at == SUSPEND_BETWEEN_STATES;
  bool more = suspend(w);
  w->amid_state = false;
  return more;
}

__attribute__((cold, noinline)) static bool tick_slowly(struct worker *w) {
  w->clock.ticks = 0;
  if (!worker_may_continue(w))
    return false;
  if (++w->clock.looks >= TICKS_PER_LIMIT_CHECK / TICKS_PER_INTERRUPT_CHECK || w->search->limits.spill_from > 0 ||
      w->search->limits.look_from > 0) {
    w->clock.looks = 0;
    if (!worker_check_limits(w))
      return false;
  }
  return !w->search->pause || !can_suspend_here(w) || suspend_here(w);
}

static inline bool tick(struct worker *w, uint32_t ticks) {
  w->clock.ticks += ticks;
  return w->clock.ticks < TICKS_PER_INTERRUPT_CHECK || tick_slowly(w);
}

/* --- findings --- */

/* Is the new finding better? A finding of a later layer is never better than an earlier one. */
static bool better(const struct finding *old, uint32_t rounds, fault_cost c) {
  return !old->found || (rounds == old->rounds && c < old->fault_cost);
}

static void found_step(struct finding *f, uint32_t rounds, uint32_t property, state_ref from, state_ref target,
                       fault_cost c) {
  if (better(f, rounds, c))
    *f = (struct finding){.found = true,
                          .by_step = true,
                          .rounds = rounds,
                          .fault_cost = c,
                          .state = from,
                          .target = target,
                          .property = property};
}

bool worker_found_step(struct worker *w, uint32_t property, fault_cost c) {
  bool is_better = better(&w->findings[property], w->rounds, c);
  found_step(&w->findings[property], w->rounds, property, w->from, STATE_REF_NONE, c);
  return is_better;
}

static void found_error(struct worker *w, const struct model_error *error, fault_cost c) {
  struct finding *f = &w->error;
  if (better(f, w->rounds, c)) {
    found_step(f, w->rounds, UINT32_MAX, w->from, STATE_REF_NONE, c);
    f->error = *error;
  }
}

/* Prefer the lowest reference, which is the state that a single thread would have found first. */
static void join_finding(struct finding *f, const struct finding *other) {
  bool first = f->found && f->rounds == other->rounds && f->fault_cost == other->fault_cost && !f->by_step &&
               other->state < f->state;
  if (other->found && (first || better(f, other->rounds, other->fault_cost)))
    *f = *other;
}

void worker_merge(struct worker *w, struct worker *other) {
  for (uint32_t i = 0; i < w->space->query->nproperties; i++) {
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

/* The state properties that can still be decided, or decided at lower cost, in this layer. */
static void find_open_properties(struct worker *w) {
  vec_clear(&w->open_properties);
  for (uint32_t i = 0; i < w->space->query->nproperties; i++) {
    const struct property *p = question_property(w->space, i);
    if (is_state_property(p) && (!w->findings[i].found || w->findings[i].rounds == w->rounds) &&
        !search_decided_elsewhere(w->search, i))
      vec_push(&w->open_properties, ((struct open_property){i, p->kind == PROPERTY_COVER ? V_TRUE : V_FALSE}));
  }
}

__attribute__((cold, noinline)) static void found_state(struct worker *w, state_ref ref, fault_cost c, uint32_t i,
                                                        enum verdict3 v, const struct model_error *error) {
  struct finding *f = v == V_ERROR ? &w->error : &w->findings[i];
  if (better(f, w->rounds, c)) {
    *f = (struct finding){
        .found = true, .rounds = w->rounds, .fault_cost = c, .state = ref, .target = STATE_REF_NONE, .property = i};
    if (v == V_ERROR)
      f->error = *error;
  }
}

/* Evaluates the open properties in one state of the layer. */
static inline void check_state(struct worker *w, state_ref ref, const struct state *state, fault_cost c) {
  for (size_t i = 0; i < w->open_properties.n; i++) {
    struct model_error error;
    uint32_t property = w->open_properties.at[i].property;
    enum verdict3 v = w->space->ops->holds(w->space, property, state, &error);
    if (v == w->open_properties.at[i].found || v == V_ERROR)
      found_state(w, ref, c, property, v, &error);
  }
}

/* --- insertion into the visited set --- */

/* The step led to a state of the next layer, or to a candidate for one. It does not matter whether another worker found
   that state first: steps can be deferred from layer to layer only until the last layer. */
static void proviso_met(struct worker *w, const struct pending_insert *p, state_ref ref) {
  if (p->deferred >= w->deferral.states.n || w->deferral.states.at[p->deferred].ref != p->from)
    return;
  if (w->search->backend->candidates)
    vec_push(&w->deferral.candidates, ((struct candidate_successor){p->deferred, p->from, ref}));
  else
    w->deferral.states.at[p->deferred].proviso = true;
}

/* Is a state that was found before in the layer being built? */
static inline bool is_of_next(const struct worker *w, state_ref ref) {
  return w->search->backend->candidates ||
         ref >= w->next->from[w->next->partitions == 1 ? 0 : visited_partition_of(w->search->visited_set, ref)];
}

/* Is there room for n more states? With several threads the limit on states does not apply: see search_run. */
static bool has_room(const struct worker *w, uint32_t n) {
  return w->shared || w->search->backend->candidates ||
         visited_count(w->search->visited_set) + n <= w->search->limits.states;
}
static inline bool is_full(const struct worker *w) { return !w->room && !has_room(w, 1); }

static inline state_ref finding_ref(const struct worker *w, state_ref ref) {
  return w->search->backend->candidates ? ref | CANDIDATE_TAG : ref;
}

/* STATE_REF_NONE: the limit on states is reached. */
static state_ref insert(struct worker *w, const struct pending_insert *p, const uint8_t *key) {
  struct visited_set *visited_set = w->search->visited_set;
  state_ref ref;
  if (is_full(w)) {
    ref = visited_find(visited_set, key, p->length, p->hash);
    if (ref == STATE_REF_NONE)
      return ref;
  } else if (visited_insert_in(visited_set, w->partition, key, p->length, p->hash, p->probe_position, p->from,
                               p->fault_cost, &ref)) {
    proviso_met(w, p, ref);
    w->unchecked = true; /* not checked here: the transition system may be in the middle of a computation */
    if (w->space->ops->statistics.stored && !w->search->backend->candidates)
      w->space->ops->statistics.stored(w->space, &(struct state){key, p->length});
    return ref;
  }
  if (is_of_next(w, ref)) {
    proviso_met(w, p, ref);
    visited_improve_parent(visited_set, ref, p->from, p->fault_cost);
  }
  return ref;
}

/* False: a limit was reached. */
static bool put(struct worker *w, const struct pending_insert *p) {
  state_ref ref = insert(w, p, w->queue.keys.at + p->key);
  if (ref == STATE_REF_NONE) {
    worker_stop(w, SEARCH_STATES);
    return false;
  }
  state_ref target = finding_ref(w, ref);
  for (uint64_t broken = p->broken; broken != 0; broken &= broken - 1) {
    uint32_t property = (uint32_t)__builtin_ctzll(broken);
    found_step(&w->findings[property], w->rounds, property, p->from, target, p->fault_cost);
  }
  return true;
}

/* False: a limit was reached. */
static bool flush(struct worker *w) {
  struct visited_set *visited_set = w->search->visited_set;
  w->room = has_room(w, w->queue.n);
  if (w->shared)
    visited_enter(visited_set, w->partition);
  for (uint32_t i = 0; i < w->queue.n; i++)
    w->queue.pending[i].probe_position = visited_prefetch_record(visited_set, w->queue.pending[i].hash, 0);
  for (uint32_t i = 0; i < w->queue.n && put(w, &w->queue.pending[i]);)
    i++;
  if (w->shared)
    visited_leave(visited_set, w->partition);
  w->queue.n = 0;
  vec_clear(&w->queue.keys);
  return !search_limited(w->end);
}

/* Was the state emitted recently, at no higher cost? */
static inline bool is_recent(struct worker *w, const struct short_key *key, uint32_t length, uint64_t hash,
                             fault_cost c) {
  struct recent_state *r = &w->recent[hash & ((1u << RECENT_BITS) - 1)];
  uint64_t other = (key->word[0] ^ r->key.word[0]) | (key->word[1] ^ r->key.word[1]) | (length ^ r->length);
  if (length > 16)
    other |= (key->word[2] ^ r->key.word[2]) | (key->word[3] ^ r->key.word[3]);
  if (!other && r->fault_cost <= c)
    return true;
  *r = (struct recent_state){*key, length, c};
  return false;
}

static bool emit(void *context, const struct state *state, const struct edge *edge) {
  struct worker *w = context;
  fault_cost c = w->from_charge;
  if (edge->processes | edge->faults)
    c = fault_cost_add(w->from_charge, edge->processes, edge->faults);
  if (!tick(w, 1))
    return false;
  if (edge->error) {
    found_error(w, edge->error, c);
    return true;
  }
  w->transitions += w->from != STATE_REF_NONE;
  if (w->send)
    return w->send(w, state, edge, c);
  struct short_key key = {{0}};
  bool is_short = state->length <= KEY_SHORT_BYTES;
  uint64_t hash;
  if (is_short) {
    key_words(state->bytes, state->length, &key);
    hash = key_hash_short(&key, state->length);
    if (!w->space->uses_proviso && is_recent(w, &key, state->length, hash, c) && !edge->broken)
      return true;
  } else {
    hash = key_hash(state->bytes, state->length);
  }
  struct pending_insert *p = &w->queue.pending[w->queue.n++];
  *p = (struct pending_insert){.hash = hash,
                               .broken = edge->broken,
                               .from = w->from,
                               .key = w->queue.keys.n,
                               .deferred = (uint32_t)w->deferral.states.n - 1,
                               .length = state->length,
                               .fault_cost = c};
  visited_prefetch_bucket(w->search->visited_set, p->hash);
  vec_reserve(&w->queue.keys, w->queue.keys.n + state->length + sizeof key);
  if (is_short) /* the next key overwrites the unused bytes */
    memcpy(w->queue.keys.at + w->queue.keys.n, &key, sizeof key);
  else
    memcpy(w->queue.keys.at + w->queue.keys.n, state->bytes, state->length);
  w->queue.keys.n += state->length;
  return (w->queue.n < BATCH && w->queue.keys.n < BATCH_BYTES) || flush(w);
}

/* --- the same for short keys whose steps violate nothing and carry no cost --- */

static inline bool insert_short(struct worker *w, const struct short_pending *p) {
  struct visited_set *visited_set = w->search->visited_set;
  uint32_t length = w->short_keyed.length;
  const uint64_t *word = p->key.word;
  state_ref ref;
  if (is_full(w)) {
    ref = visited_find(visited_set, (const uint8_t *)word, length, p->hash);
    if (ref == STATE_REF_NONE) {
      worker_stop(w, SEARCH_STATES);
      return false;
    }
  } else if (visited_insert_words_in(visited_set, w->partition, word, length, p->hash, p->probe_position, p->from,
                                     p->fault_cost, &ref)) {
    struct state state = {(const uint8_t *)word, length};
    if (w->space->ops->statistics.stored && !w->search->backend->candidates)
      w->space->ops->statistics.stored(w->space, &state);
    if (p->invisible && p->fault_cost == 0)
      return true;
    if (p->fault_cost == 0) /* a candidate with a finding is new, otherwise it would have been found before */
      check_state(w, finding_ref(w, ref), &state, 0);
    else
      w->unchecked = true; /* a cheaper path to it may still be found */
    return true;
  }
  if (visited_has_cost(visited_set, ref) && is_of_next(w, ref))
    visited_improve_parent(visited_set, ref, p->from, p->fault_cost);
  return true;
}

/* Look-ups that continue in another bucket wait for it together. */
static void prefetch_records(const struct visited_set *visited_set, struct short_pending *p, uint32_t n) {
  uint32_t waiting[BATCH], left = 0;
  for (uint32_t i = 0; i < n; i++) {
    p[i].probe_position = visited_prefetch_record(visited_set, p[i].hash, 0);
    waiting[left] = i;
    left += (p[i].probe_position & PROBE_CONTINUES) != 0;
  }
  for (uint32_t of = left; of > 0; of = left) {
    left = 0;
    for (uint32_t k = 0; k < of; k++) {
      struct short_pending *at = &p[waiting[k]];
      at->probe_position = visited_prefetch_record(visited_set, at->hash, at->probe_position);
      waiting[left] = waiting[k];
      left += (at->probe_position & PROBE_CONTINUES) != 0;
    }
  }
}

static bool flush_short(struct worker *w) {
  struct visited_set *visited_set = w->search->visited_set;
  uint32_t n = w->queue.nshort;
  bool more = true;
  w->room = has_room(w, n);
  w->queue.nshort = 0;
  if (w->shared)
    visited_enter(visited_set, w->partition);
  prefetch_records(visited_set, w->queue.short_pending, n);
  for (uint32_t i = 0; i < n && more; i++)
    more = insert_short(w, &w->queue.short_pending[i]);
  if (w->shared)
    visited_leave(visited_set, w->partition);
  return more;
}

/* Prefetches the buckets of the last group together, because address translation takes as long as the memory access.
   Inserts a full batch. */
static bool prefetch_buckets(struct worker *w) {
  for (uint32_t i = w->queue.nshort - PREFETCH_GROUP; i < w->queue.nshort; i++)
    visited_prefetch_bucket(w->search->visited_set, w->queue.short_pending[i].hash);
  return w->queue.nshort < BATCH || flush_short(w);
}

static inline uint64_t words_differ(const uint64_t *a, const uint64_t *b, uint32_t words) {
  uint64_t other = (a[0] ^ b[0]) | (a[1] ^ b[1]);
  return words == 2 ? other : other | (a[2] ^ b[2]) | (a[3] ^ b[3]);
}

/* Takes the successors that the transition system put into the list. */
static inline bool take_short_of(struct worker *w, uint32_t words) {
  uint32_t n = w->short_keyed.n, length = w->short_keyed.length;
  fault_cost c = w->from_charge;
  const uint64_t *word = w->short_keyed.at;
  w->short_keyed.n = 0;
  w->transitions += n;
  for (uint32_t i = 0; i < n; i++, word += words) {
    uint64_t hash = key_hash_words(word, length);
    struct recent_state *r = &w->recent[hash & ((1u << RECENT_BITS) - 1)];
    if (!(words_differ(r->key.word, word, words) | (r->length ^ length)) && r->fault_cost <= c)
      continue;
    memcpy(r->key.word, word, words * sizeof *word);
    r->length = length;
    r->fault_cost = c;
    struct short_pending *p = &w->queue.short_pending[w->queue.nshort++];
    memcpy(p->key.word, word, words * sizeof *word);
    p->hash = hash;
    p->from = w->from;
    p->fault_cost = c;
    p->invisible = w->short_keyed.invisible[i];
    if (w->queue.nshort % PREFETCH_GROUP == 0 && !prefetch_buckets(w))
      return false;
  }
  return tick(w, n);
}

static bool take_short(struct worker *w) {
  return w->short_keyed.words == 2 ? take_short_of(w, 2) : take_short_of(w, 4);
}

/* --- layers --- */

/* The next state of the frontier; NULL: there is none left. */
static inline const struct frontier_state *next_taken(struct worker *w) {
  if (w->taken.at == w->taken.n) {
    w->taken.at = 0;
    w->taken.n = frontier_take(w->taken.frontier, w->partition, w->taken.states, &w->taken.bytes);
  }
  return w->taken.at < w->taken.n ? &w->taken.states[w->taken.at++] : NULL;
}

bool worker_flush(struct worker *w) { return flush(w) && flush_short(w); }

/* For a checkpoint, or because memory is full. */
static bool suspend(struct worker *w) {
  return search_limited(w->end) || w->space->restart || w->search->backend->suspend(w);
}

bool worker_suspend_all(struct worker *w) {
  struct search *s = w->search;
  if (w->shared) {
    worker_pool_suspend(s->threads.pool);
    return !search_limited(w->end) && !*w->halt;
  }
  s->backend->suspend_all(s, &w, 1);
  s->pause = false;
  return !search_limited(w->end);
}

static inline bool rest(struct worker *w) {
  return !atomic_load_explicit(&w->search->pause, memory_order_relaxed) || suspend(w);
}

bool worker_check(struct worker *w) {
  const struct frontier_state *at;
  find_open_properties(w);
  w->suspend_at = SUSPEND_BETWEEN_STATES;
  bool more = true;
  while ((more = rest(w)) && (at = next_taken(w))) {
    w->frontier_states++;
    check_state(w, at->ref, &(struct state){at->stored.bytes, at->stored.length}, at->stored.fault_cost);
    if (!(more = search_limited(w->end) ? !worker_must_end(w) : tick(w, 1)))
      break;
  }
  w->suspend_at = SUSPEND_NEVER;
  return more && !worker_was_interrupted(w); /* else the last property may not have been evaluated */
}

/* Nothing is cheaper than what costs nothing. */
static bool is_decided(const struct worker *w) {
  const struct search *s = w->search;
  for (uint32_t i = 0; i < s->space->query->nproperties; i++)
    if (s->findings[i].found && s->findings[i].rounds == w->rounds && s->findings[i].fault_cost > 0)
      return false;
  return search_all_decided(s);
}

bool worker_look(struct worker *w) {
  const struct frontier_state *at;
  struct search *s = w->search;
  struct layer found = s->stage->next;
  struct frontier f;
  for (uint32_t i = 0; i < found.partitions; i++)
    found.to[i] = visited_end_of(s->visited_set, i);
  s->stage->kind = STAGE_CHECK;
  s->backend->open_frontier(&f, s, &found);
  w->taken.frontier = &f;
  w->taken.at = w->taken.n = 0;
  find_open_properties(w);
  while (!is_decided(w) && (at = next_taken(w)) && tick(w, 1))
    if (at->stored.fault_cost == 0)
      check_state(w, at->ref, &(struct state){at->stored.bytes, at->stored.length}, 0);
  frontier_release(&f);
  w->taken.frontier = NULL;
  return is_decided(w);
}

/* The query does not ask about successors of this state. */
static bool is_over(const struct worker *w, const struct stored *at) {
  struct model_error ignored;
  return w->space->query->until &&
         w->space->ops->atom(w->space, 0, &(struct state){at->bytes, at->length}, &ignored) == V_TRUE;
}

/* Iterates over the layer for a transition system that expands many states at once. */
static bool next_of_layer(void *context, struct state *state, uint64_t *origin, uint32_t *c) {
  struct worker *w = context;
  const struct frontier_state *at;
  do
    at = next_taken(w);
  while (at && is_over(w, &at->stored));
  if (!at || !tick(w, TICKS_PER_STATE))
    return false;
  *state = (struct state){at->stored.bytes, at->stored.length};
  *origin = w->search->backend->relocates ? worker_origin(w, at) : at->ref;
  *c = at->stored.fault_cost;
  return true;
}

static bool emit_from(void *context, uint64_t origin, const struct state *state, const struct edge *edge) {
  struct worker *w = context;
  worker_set_from(w, origin);
  return emit(w, state, edge);
}

typedef bool steps_fn(struct system *, const struct state *, emit_fn *, void *context);

static bool steps_from(struct worker *w, state_ref r, const struct stored *at, steps_fn *steps) {
  w->from = r;
  w->from_charge = at->fault_cost;
  w->space->has_deferred = false;
  return steps(w->space, &(struct state){at->bytes, at->length}, emit, w) && (w->short_keyed.n == 0 || take_short(w)) &&
         tick(w, TICKS_PER_STATE);
}

/* Takes the deferred steps of a state that did not meet the proviso. */
static bool complete(struct worker *w, const struct deferred_state *r) {
  struct stored at = w->deferral.waiting ? w->deferral.waiting[r - w->deferral.states.at]
                                         : w->search->backend->get(w->search, r->ref, &w->taken.one);
  return r->proviso || steps_from(w, r->ref, &at, w->space->ops->deferred);
}

bool worker_expand_waiting(struct worker *w) {
  if (w->deferral.states.n == 0)
    return true;
  if (!flush(w))
    return false;
  size_t n = w->deferral.states.n;
  w->deferral.states.n = 0; /* successors from here on are not subject to the proviso */
  for (size_t i = 0; i < n; i++)
    if (!complete(w, &w->deferral.states.at[i]))
      return false;
  return flush(w);
}

bool worker_expand_deferred(struct worker *w) {
  bool more;
  w->suspend_at = SUSPEND_BETWEEN_STATES;
  while ((more = rest(w)) && w->deferral.completed < w->deferral.states.n &&
         (more = complete(w, &w->deferral.states.at[w->deferral.completed++])))
    ;
  w->suspend_at = SUSPEND_NEVER;
  w->deferral.completed = 0;
  vec_clear(&w->deferral.states);
  return more && !worker_was_interrupted(w);
}

static bool expand_each(struct worker *w) {
  const struct frontier_state *at;
  while (true) {
    if (!rest(w))
      return false;
    if (!(at = next_taken(w)))
      break;
    if (is_over(w, &at->stored))
      continue;
    if (w->space->uses_proviso)
      vec_push(&w->deferral.states, ((struct deferred_state){at->ref, false}));
    if (!steps_from(w, at->ref, &at->stored, w->space->ops->successors))
      return false;
    if (!w->space->uses_proviso)
      continue;
    if (!w->space->has_deferred) {
      w->deferral.states.n--;
      continue;
    }
    if (w->deferral.waiting)
      w->deferral.waiting[w->deferral.states.n - 1] = at->stored;
    if (w->deferral.states.n >= DEFERRED_MAX && w->search->backend->proviso == PROVISO_AT_ONCE &&
        !worker_expand_waiting(w))
      return false;
  }
  if (!worker_flush(w))
    return false;
  switch (w->deferral.states.n > 0 ? w->search->backend->proviso : PROVISO_AFTER_LAYER) {
  case PROVISO_AT_ONCE:
    return worker_expand_waiting(w);
  case PROVISO_WHEN_EMPTIED:
    w->search->pause = true;
    return suspend(w);
  case PROVISO_AFTER_LAYER:
    break;
  }
  return true;
}

bool worker_expand(struct worker *w) {
  bool whole;
  find_open_properties(w);
  if (w->space->layerwise) {
    w->suspend_at = SUSPEND_ANYWHERE;
    whole = w->space->ops->expand(w->space, next_of_layer, emit_from, w) && !search_limited(w->end) && flush(w);
  } else {
    w->suspend_at = SUSPEND_BETWEEN_STATES;
    w->space->short_keyed = w->send ? NULL : &w->short_keyed;
    whole = expand_each(w);
    w->space->short_keyed = NULL;
  }
  w->suspend_at = SUSPEND_NEVER;
  return whole && !worker_was_interrupted(w);
}

bool worker_initial(struct worker *w) {
  w->from = STATE_REF_NONE;
  w->from_charge = 0;
  w->suspend_at = w->search->backend->relocates ? SUSPEND_ANYWHERE : SUSPEND_NEVER;
  bool made = w->space->ops->initial(w->space, emit, w) && flush(w);
  w->suspend_at = SUSPEND_NEVER;
  return made && !worker_was_interrupted(w);
}

static bool probe_successor(void *context, const struct state *state, const struct edge *edge) {
  struct worker *w = context;
  struct search *s = w->search;
  s->cut |= edge->error || edge->broken;
  return !s->cut && s->backend->probe(w, state, edge) && !s->cut && tick(w, 1);
}

bool worker_probe_next_layer(struct worker *w) {
  const struct frontier_state *at;
  struct search *s = w->search;
  while ((at = next_taken(w))) {
    struct state state = {at->stored.bytes, at->stored.length};
    if (is_over(w, &at->stored))
      continue;
    if (!system_all_successors(w->space, &state, probe_successor, w) || !tick(w, TICKS_PER_STATE)) {
      worker_may_continue(w);
      return true;
    }
    if (s->backend->has_new && s->pause && (s->cut = s->backend->has_new(w)))
      return true;
  }
  if (s->backend->has_new)
    s->cut = s->backend->has_new(w);
  worker_was_interrupted(w);
  return true;
}
