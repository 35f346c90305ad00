#include "search/parcels.h"

#include "base/hash.h"
#include "search/store_look.h"

#include <string.h>

/* Parcels go when all of them together have so many bytes. */
#define POSTED_MOST ((size_t)4 << 20)

/* Most states that are found again are found again soon: who sent one lately, at no higher cost, need not send it again. */
struct sent_lately {
  struct short_key key;
  uint32_t length; /* 0: nothing */
  charge charge;
};
#define LATELY_BITS 15

void parcels_new(struct sweep *w) {
  struct parcels *x = memory_alloc(sizeof *x);
  struct ranks *r = w->search->ranks;
  uint32_t nproperties = w->space->question->nproperties;
  *x = (struct parcels){.ranks = r, .sweep = w};
  x->out = memory_alloc(r->n * sizeof *x->out);
  x->replies = memory_alloc(r->n * sizeof *x->replies);
  x->first = memory_alloc((r->n + 1) * sizeof *x->first);
  x->lately = memory_alloc(sizeof *x->lately << LATELY_BITS);
  x->standings = memory_alloc(r->n * STANDINGS * sizeof *x->standings);
  x->targets = memory_alloc((nproperties + 1) * sizeof *x->targets);
  x->found_at = memory_alloc((nproperties + 1) * sizeof *x->found_at);
  w->parcels = x;
}

void parcels_forget(struct parcels *x) {
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    vec_clear(&x->out[i]);
    vec_clear(&x->replies[i]);
  }
  x->posted = 0;
  x->starts = x->layer = 0;
  x->peeking = x->halted = x->resting = false;
  memset(x->lately, 0, sizeof *x->lately << LATELY_BITS);
}

void parcels_free(struct parcels *x) {
  if (!x)
    return;
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    vec_release(&x->out[i]);
    vec_release(&x->replies[i]);
  }
  for (uint32_t i = 0; i <= x->sweep->space->question->nproperties; i++)
    vec_release(&x->targets[i]);
  vec_release(&x->in);
  memory_free(x->out);
  memory_free(x->replies);
  memory_free(x->first);
  memory_free(x->lately);
  memory_free(x->standings);
  memory_free(x->targets);
  memory_free(x->found_at);
  vec_release(&x->layers);
  x->sweep->parcels = NULL;
  memory_free(x);
}

/* --- into the store --- */

struct arrived {
  const uint8_t *key;
  uint64_t hash;
  state_ref from;
  uint64_t left_off;
  uint32_t length;
  charge charge;
};
#define BATCH 64

/* True: it is a state of the layer that is being made. */
static bool keep(struct parcels *x, const struct arrived *a) {
  struct sweep *w = x->sweep;
  struct store *store = w->search->store;
  state_ref ref;
  if (x->peeking) {
    w->search->cut |= store_find(store, a->key, a->length, a->hash) == STORE_NONE;
    return false;
  }
  if (store_put(store, a->key, a->length, a->hash, a->left_off, a->from, a->charge, &ref)) {
    if (w->space->ops->stored)
      w->space->ops->stored(w->space, &(struct state){a->key, a->length});
    return true;
  }
  if (ref < w->next->from[0])
    return false;
  if (a->charge < store_charge(store, ref))
    store_relink(store, ref, a->from, a->charge);
  return true;
}

/* In a parcel, a state is: from where (the sender's reference), twice the length and one more if there is a charge, the
   charge, the key. */
static const uint8_t *read_arrived(const uint8_t *at, struct arrived *a) {
  uint32_t head;
  *a = (struct arrived){0};
  memcpy(&a->from, at, STORE_PARENT); /* little end first */
  memcpy(&head, at + STORE_PARENT, sizeof head);
  at += STORE_PARENT + sizeof head;
  if (head & 1) {
    memcpy(&a->charge, at, sizeof a->charge);
    at += sizeof a->charge;
  }
  a->length = head >> 1;
  a->key = at;
  return at + a->length;
}

/* Bytes behind them, up to STORE_SHORT, can be read. */
static void take_in(struct parcels *x, const uint8_t *at, size_t n, bytes *reply) {
  const struct store *store = x->sweep->search->store;
  struct arrived batch[BATCH];
  const uint8_t *end = at + n;
  while (at < end) {
    uint32_t k = 0;
    for (; k < BATCH && at < end; k++) {
      at = read_arrived(at, &batch[k]);
      batch[k].hash = store_hash(batch[k].key, batch[k].length);
      store_prefetch_index(store, batch[k].hash);
    }
    for (uint32_t i = 0; i < k; i++)
      batch[i].left_off = store_prefetch_record(store, batch[i].hash, 0);
    for (uint32_t i = 0; i < k; i++)
      if (keep(x, &batch[i]) && reply) {
        vec_reserve(reply, reply->n + sizeof batch[i].from);
        memcpy(reply->at + reply->n, &batch[i].from, sizeof batch[i].from);
        reply->n += sizeof batch[i].from;
      }
  }
}

static bytes *reply_to(struct parcels *x, uint32_t rank) {
  return x->sweep->space->puts_off && !x->peeking ? &x->replies[rank] : NULL;
}

static void take_own(struct parcels *x) {
  uint32_t me = x->ranks->rank;
  take_in(x, x->out[me].at, x->out[me].n, reply_to(x, me));
  x->posted -= x->out[me].n;
  vec_clear(&x->out[me]);
}

/* --- what is handed over when ranks meet --- */

static void hear_replies(struct parcels *x) {
  x->ranks->ops->exchange(x->ranks, x->replies, &x->in, x->first);
  for (size_t at = 0; at < x->in.n; at += sizeof(state_ref)) {
    state_ref ref;
    memcpy(&ref, x->in.at + at, sizeof ref);
    sweep_made_headway(x->sweep, ref);
  }
  for (uint32_t i = 0; i < x->ranks->n; i++)
    vec_clear(&x->replies[i]);
}

static void hand_over(struct parcels *x) {
  uint32_t n = x->ranks->n;
  bool replies = x->sweep->space->puts_off;
  if (replies)
    hear_replies(x);
  x->ranks->ops->exchange(x->ranks, x->out, &x->in, x->first);
  for (uint32_t i = 0; i < n; i++)
    vec_clear(&x->out[i]);
  x->posted = 0;
  vec_reserve(&x->in, x->in.n + STORE_SHORT);
  memset(x->in.at + x->in.n, 0, STORE_SHORT);
  for (uint32_t i = 0; i < n; i++)
    take_in(x, x->in.at + x->first[i], x->first[i + 1] - x->first[i], reply_to(x, i));
}

static void say_standing(struct parcels *x, bool left, uint64_t *mine) {
  struct sweep *w = x->sweep;
  mine[STANDING_KNOWN] = x->ranks->known;
  mine[STANDING_LEFT] = left;
  mine[STANDING_SENT] = x->posted;
  mine[STANDING_STATES] = store_count(w->search->store);
  mine[STANDING_TRANSITIONS] = w->transitions;
  mine[STANDING_MEMORY] = store_bytes(w->search->store) + w->space->ops->memory(w->space);
  mine[STANDING_END] = w->end;
  mine[STANDING_RESTART] = w->space->restart;
  mine[STANDING_RESTS] = x->resting;
  mine[STANDING_ENDING] = (uint64_t)w->search->ending;
  mine[STANDING_CUT] = w->search->cut;
}

static uint64_t total(const struct parcels *x, enum standing what) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < x->ranks->n; i++)
    sum += x->standings[i * STANDINGS + what];
  return sum;
}

static void hear_standings(struct parcels *x, const uint64_t *mine) {
  struct sweep *w = x->sweep;
  struct search *s = w->search;
  size_t memory = 0;
  uint64_t behind = UINT64_MAX;
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    const uint64_t *its = &x->standings[i * STANDINGS];
    behind = its[STANDING_KNOWN] < behind ? its[STANDING_KNOWN] : behind;
    memory += x->ranks->machine[i] == x->ranks->machine[x->ranks->rank] ? its[STANDING_MEMORY] : 0;
    if (search_limited((enum search_end)its[STANDING_END]))
      sweep_stop(w, (enum search_end)its[STANDING_END]);
  }
  names_catch_up(x->ranks, behind, x->standings[STANDING_KNOWN]);
  s->elsewhere.states = total(x, STANDING_STATES) - mine[STANDING_STATES];
  s->elsewhere.transitions = total(x, STANDING_TRANSITIONS) - mine[STANDING_TRANSITIONS];
  s->elsewhere.memory = memory_size(memory - mine[STANDING_MEMORY]);
  w->space->restart |= total(x, STANDING_RESTART) > 0;
  if (total(x, STANDING_RESTS) > 0)
    s->pause = true;
  s->cut |= total(x, STANDING_CUT) > 0;
  if (total(x, STANDING_STATES) > s->limits.states)
    sweep_stop(w, SEARCH_STATES);
}

/* --- resting --- */

/* Somebody does, and everybody else does so, too, or is through: all that was found is where it belongs. */
static bool all_rest(const struct parcels *x) {
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    const uint64_t *its = &x->standings[i * STANDINGS];
    if ((its[STANDING_LEFT] && !its[STANDING_RESTS]) || its[STANDING_RESTART] ||
        search_limited((enum search_end)its[STANDING_END]))
      return false;
  }
  return total(x, STANDING_RESTS) > 0;
}

static void write_down(struct parcels *x) {
  struct sweep *w = x->sweep;
  struct search *s = w->search;
  names_meet(x->ranks); /* what was handed over may have brought new ones */
  if (w->space->puts_off)
    hear_replies(x);
  checkpoint_write(s, &w, 1);
  s->pause = x->resting = false;
  for (uint32_t i = 0; i < x->ranks->n; i++)
    if (x->standings[i * STANDINGS + STANDING_ENDING] != SEARCH_EXHAUSTED)
      sweep_stop(w, (enum search_end)x->standings[i * STANDINGS + STANDING_ENDING]);
}

/* --- meeting --- */

/* left: this rank has more to do. True: somebody has, or something is still under way. */
static bool meet(struct parcels *x, bool left) {
  struct sweep *w = x->sweep;
  uint64_t mine[STANDINGS];
  take_own(x);
  x->ranks->ops->meet(x->ranks);
  say_standing(x, left, mine);
  x->ranks->ops->gather(x->ranks, mine, STANDINGS, x->standings);
  hear_standings(x, mine);
  hand_over(x);
  if (all_rest(x))
    write_down(x);
  return total(x, STANDING_LEFT) > 0 || (w->space->puts_off && total(x, STANDING_SENT) > 0);
}

bool parcels_rest(struct parcels *x) {
  struct sweep *w = x->sweep;
  x->resting = true;
  while (x->resting && !search_limited(w->end) && !w->space->restart)
    meet(x, true);
  x->resting = false;
  return !search_limited(w->end) && !w->space->restart;
}

void parcels_finish(struct parcels *x) {
  while (meet(x, false))
    ;
  /* what came with the last parcels is in the stores by now, and may have brought new names */
  x->ranks->ops->meet(x->ranks);
  struct search *s = x->sweep->search;
  uint64_t mine[3] = {store_count(s->store) - s->stage->before, x->halted, s->cut};
  uint64_t *all = memory_alloc(3 * x->ranks->n * sizeof *all);
  x->ranks->ops->gather(x->ranks, mine, 3, all);
  x->layer = 0;
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    x->layer += all[3 * i];
    x->halted |= all[3 * i + 1] != 0;
    s->cut |= all[3 * i + 2] != 0;
  }
  memory_free(all);
}

/* --- parcels --- */

static bool was_sent_lately(struct parcels *x, const struct state *state, uint64_t hash, charge c) {
  struct sent_lately *l = &x->lately[hash & ((1u << LATELY_BITS) - 1)];
  struct short_key key = {{0}};
  if (state->length > STORE_SHORT)
    return false;
  store_words(state->bytes, state->length, &key);
  if (l->length == state->length && l->charge <= c && memcmp(&l->key, &key, sizeof key) == 0)
    return true;
  *l = (struct sent_lately){key, state->length, c};
  return false;
}

static void put_state(bytes *to, const struct state *state, state_ref from, charge c) {
  uint32_t head = state->length << 1 | (c != 0);
  vec_reserve(to, to->n + STORE_PARENT + sizeof head + sizeof c + state->length + STORE_SHORT);
  uint8_t *at = to->at + to->n;
  memcpy(at, &from, STORE_PARENT);
  at += STORE_PARENT;
  memcpy(at, &head, sizeof head);
  at += sizeof head;
  if (c != 0) {
    memcpy(at, &c, sizeof c);
    at += sizeof c;
  }
  memcpy(at, state->bytes, state->length);
  to->n = (size_t)(at + state->length - to->at);
}

bool parcels_post(struct parcels *x, const struct state *state, const struct edge *edge, charge c) {
  struct sweep *w = x->sweep;
  for (uint64_t broken = edge->broken; broken != 0 && !x->peeking; broken &= broken - 1) {
    uint32_t property = (uint32_t)__builtin_ctzll(broken);
    if (sweep_found_step(w, property, c)) {
      bytes *target = &x->targets[property];
      vec_reserve(target, state->length + (size_t)1);
      memcpy(target->at, state->bytes, state->length);
      target->n = state->length;
    }
  }
  uint64_t hash = store_hash(state->bytes, state->length);
  /* other bits than those that the store and `lately` go by */
  uint32_t owner = (uint32_t)((hash_mix(hash, 0x2545F4914F6CDD1D) >> 32) * x->ranks->n >> 32);
  if (w->from == STORE_NONE && !x->peeking) { /* all ranks find all of these */
    x->starts += hash;
    if (owner != x->ranks->rank)
      return true;
  } else if (!w->space->puts_off && was_sent_lately(x, state, hash, c)) {
    return true;
  }
  size_t before = x->out[owner].n;
  put_state(&x->out[owner], state, w->from, c);
  x->posted += x->out[owner].n - before;
  if (x->posted < POSTED_MOST)
    return true;
  if (w->from == STORE_NONE && !x->peeking) {
    take_own(x);
    return true;
  }
  meet(x, true);
  return !search_limited(w->end) && !w->space->restart && !(x->peeking && w->search->cut);
}

/* --- written down --- */

void load_key(struct loader *from, bytes *key) {
  size_t n;
  const void *at = load_block(from, &n);
  vec_reserve(key, n + STORE_SHORT);
  memset(key->at, 0, n + STORE_SHORT);
  key->n = n;
  if (n)
    memcpy(key->at, at, n);
}

/* Parcels are empty then. */
void parcels_save(const struct parcels *x, struct saver *to) {
  uint32_t n = x->sweep->space->question->nproperties + 1;
  save_number(to, x->layer);
  save_bytes(to, x->found_at, n * sizeof *x->found_at);
  for (uint32_t i = 0; i < n; i++)
    save_block(to, x->targets[i].at, x->targets[i].n);
  save_block(to, x->layers.at, x->layers.n * sizeof *x->layers.at);
}

void parcels_load(struct parcels *x, struct loader *from) {
  uint32_t n = x->sweep->space->question->nproperties + 1;
  x->layer = load_number(from);
  load_bytes(from, x->found_at, n * sizeof *x->found_at);
  for (uint32_t i = 0; i < n; i++)
    load_key(from, &x->targets[i]);
  size_t length;
  const void *layers = load_block(from, &length);
  vec_reserve(&x->layers, length / sizeof *x->layers.at + 1);
  x->layers.n = length / sizeof *x->layers.at;
  if (length)
    memcpy(x->layers.at, layers, length);
}
