#include "search/message_batches.h"

#include "search/visited_index.h"

#include <string.h>

/* Most states that are reached again are reached again soon: a state that was sent recently, at no higher cost, need
   not be sent again. */
struct recently_sent {
  struct short_key key;
  uint32_t length; /* 0: empty */
  fault_cost fault_cost;
};
#define LATELY_BITS 15

void batches_new(struct worker *w) {
  struct message_batches *x = memory_alloc(sizeof *x);
  struct ranks *r = w->search->ranks;
  uint32_t nproperties = w->space->query->nproperties;
  *x = (struct message_batches){.ranks = r, .worker = w};
  x->out = memory_alloc(r->n * sizeof *x->out);
  x->replies = memory_alloc(r->n * sizeof *x->replies);
  x->first = memory_alloc((r->n + 1) * sizeof *x->first);
  x->recently_sent = memory_alloc(sizeof *x->recently_sent << LATELY_BITS);
  x->statuses = memory_alloc(r->n * RANK_STATUSES * sizeof *x->statuses);
  x->targets = memory_alloc((nproperties + 1) * sizeof *x->targets);
  x->found_at = memory_alloc((nproperties + 1) * sizeof *x->found_at);
  w->batches = x;
}

void batches_clear(struct message_batches *x) {
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    vec_clear(&x->out[i]);
    vec_clear(&x->replies[i]);
  }
  x->queued = 0;
  x->starts = x->layer = 0;
  x->probing = x->halted = x->resting = false;
  memset(x->recently_sent, 0, sizeof *x->recently_sent << LATELY_BITS);
}

void batches_free(struct message_batches *x) {
  if (!x)
    return;
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    vec_release(&x->out[i]);
    vec_release(&x->replies[i]);
  }
  for (uint32_t i = 0; i <= x->worker->space->query->nproperties; i++)
    vec_release(&x->targets[i]);
  vec_release(&x->in);
  memory_free(x->out);
  memory_free(x->replies);
  memory_free(x->first);
  memory_free(x->recently_sent);
  memory_free(x->statuses);
  memory_free(x->targets);
  memory_free(x->found_at);
  vec_release(&x->layers);
  x->worker->batches = NULL;
  memory_free(x);
}

/* --- insertion into the visited set --- */

#define BATCH 64

/* True: the state is in the layer being built. */
static bool insert_received(struct message_batches *x, const struct received_state *a) {
  struct worker *w = x->worker;
  struct visited_set *visited_set = w->search->visited_set;
  state_ref ref;
  if (x->probing) {
    w->search->cut |= visited_find(visited_set, a->key, a->length, a->hash) == STATE_REF_NONE;
    return false;
  }
  if (visited_insert(visited_set, a->key, a->length, a->hash, a->probe_position, a->from, a->fault_cost, &ref)) {
    if (w->space->ops->statistics.stored)
      w->space->ops->statistics.stored(w->space, &(struct state){a->key, a->length});
    return true;
  }
  if (ref < w->next->from[0])
    return false;
  if (a->fault_cost < visited_cost(visited_set, ref))
    visited_set_parent(visited_set, ref, a->from, a->fault_cost);
  return true;
}

/* In a batch, a state consists of its parent (the sender's reference), twice the key's length plus one if there is a
   fault cost, the cost, and the key. */
const uint8_t *batches_next(const uint8_t *at, struct received_state *a) {
  uint32_t head;
  *a = (struct received_state){0};
  memcpy(&a->from, at, RECORD_PARENT_BYTES); /* little-endian */
  memcpy(&head, at + RECORD_PARENT_BYTES, sizeof head);
  at += RECORD_PARENT_BYTES + sizeof head;
  if (head & 1) {
    memcpy(&a->fault_cost, at, sizeof a->fault_cost);
    at += sizeof a->fault_cost;
  }
  a->length = head >> 1;
  a->key = at;
  return at + a->length;
}

/* Bytes after the batch, up to KEY_SHORT_BYTES, are readable. */
static void receive_batch(struct message_batches *x, const uint8_t *at, size_t n, bytes *reply) {
  const struct visited_set *visited_set = x->worker->search->visited_set;
  struct received_state batch[BATCH];
  const uint8_t *end = at + n;
  while (at < end) {
    uint32_t k = 0;
    for (; k < BATCH && at < end; k++) {
      at = batches_next(at, &batch[k]);
      batch[k].hash = key_hash(batch[k].key, batch[k].length);
      visited_prefetch_bucket(visited_set, batch[k].hash);
    }
    for (uint32_t i = 0; i < k; i++)
      batch[i].probe_position = visited_prefetch_record(visited_set, batch[i].hash, 0);
    for (uint32_t i = 0; i < k; i++)
      if (insert_received(x, &batch[i]) && reply) {
        vec_reserve(reply, reply->n + sizeof batch[i].from);
        memcpy(reply->at + reply->n, &batch[i].from, sizeof batch[i].from);
        reply->n += sizeof batch[i].from;
      }
  }
}

static bytes *reply_to(struct message_batches *x, uint32_t rank) {
  return x->worker->space->uses_proviso && !x->probing ? &x->replies[rank] : NULL;
}

static void take_own(struct message_batches *x) {
  uint32_t me = x->ranks->rank;
  receive_batch(x, x->out[me].at, x->out[me].n, reply_to(x, me));
  x->queued -= x->out[me].n;
  vec_clear(&x->out[me]);
}

/* --- exchange when ranks synchronise --- */

static void receive_replies(struct message_batches *x) {
  ranks_exchange(x->ranks, x->replies, &x->in, x->first);
  for (size_t at = 0; at < x->in.n; at += sizeof(state_ref)) {
    state_ref ref;
    memcpy(&ref, x->in.at + at, sizeof ref);
    worker_proviso_met(x->worker, ref);
  }
  for (uint32_t i = 0; i < x->ranks->n; i++)
    vec_clear(&x->replies[i]);
}

static void exchange_batches(struct message_batches *x) {
  uint32_t n = x->ranks->n;
  bool replies = x->worker->space->uses_proviso;
  if (replies)
    receive_replies(x);
  ranks_exchange(x->ranks, x->out, &x->in, x->first);
  for (uint32_t i = 0; i < n; i++)
    vec_clear(&x->out[i]);
  x->queued = 0;
  vec_reserve(&x->in, x->in.n + KEY_SHORT_BYTES);
  memset(x->in.at + x->in.n, 0, KEY_SHORT_BYTES);
  for (uint32_t i = 0; i < n; i++)
    receive_batch(x, x->in.at + x->first[i], x->first[i + 1] - x->first[i], reply_to(x, i));
}

static void fill_status(struct message_batches *x, bool left, uint64_t *mine) {
  struct worker *w = x->worker;
  mine[RANK_STATUS_KNOWN] = x->ranks->known;
  mine[RANK_STATUS_LEFT] = left;
  mine[RANK_STATUS_SENT] = x->queued;
  mine[RANK_STATUS_STATES] = visited_count(w->search->visited_set);
  mine[RANK_STATUS_TRANSITIONS] = w->transitions;
  mine[RANK_STATUS_MEMORY] = visited_bytes(w->search->visited_set) + w->space->ops->memory(w->space);
  mine[RANK_STATUS_END] = w->end;
  mine[RANK_STATUS_RESTART] = w->space->restart;
  mine[RANK_STATUS_RESTS] = x->resting;
  mine[RANK_STATUS_ENDING] = (uint64_t)w->search->saving.ending;
  mine[RANK_STATUS_CUT] = w->search->cut;
}

static uint64_t total(const struct message_batches *x, enum rank_status what) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < x->ranks->n; i++)
    sum += x->statuses[i * RANK_STATUSES + what];
  return sum;
}

static void receive_statuses(struct message_batches *x, const uint64_t *mine) {
  struct worker *w = x->worker;
  struct search *s = w->search;
  size_t memory = 0;
  uint64_t behind = UINT64_MAX;
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    const uint64_t *its = &x->statuses[i * RANK_STATUSES];
    behind = its[RANK_STATUS_KNOWN] < behind ? its[RANK_STATUS_KNOWN] : behind;
    memory += ranks_share_machine(x->ranks, i, x->ranks->rank) ? its[RANK_STATUS_MEMORY] : 0;
    if (search_limited((enum search_end)its[RANK_STATUS_END]))
      worker_stop(w, (enum search_end)its[RANK_STATUS_END]);
  }
  dictionary_catch_up(x->ranks, behind, x->statuses[RANK_STATUS_KNOWN]);
  s->across.others.states = total(x, RANK_STATUS_STATES) - mine[RANK_STATUS_STATES];
  s->across.others.transitions = total(x, RANK_STATUS_TRANSITIONS) - mine[RANK_STATUS_TRANSITIONS];
  s->across.others.memory = memory_size(memory - mine[RANK_STATUS_MEMORY]);
  w->space->restart |= total(x, RANK_STATUS_RESTART) > 0;
  if (total(x, RANK_STATUS_RESTS) > 0)
    s->pause = true;
  s->cut |= total(x, RANK_STATUS_CUT) > 0;
  if (total(x, RANK_STATUS_STATES) > s->limits.states)
    worker_stop(w, SEARCH_STATES);
}

/* --- suspension for checkpoints --- */

/* Some rank is suspended, and all others are suspended or have finished: every state is with its owner. */
static bool all_rest(const struct message_batches *x) {
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    const uint64_t *its = &x->statuses[i * RANK_STATUSES];
    if ((its[RANK_STATUS_LEFT] && !its[RANK_STATUS_RESTS]) || its[RANK_STATUS_RESTART] ||
        search_limited((enum search_end)its[RANK_STATUS_END]))
      return false;
  }
  return total(x, RANK_STATUS_RESTS) > 0;
}

static void write_checkpoint(struct message_batches *x) {
  struct worker *w = x->worker;
  struct search *s = w->search;
  dictionary_synchronise(x->ranks); /* the exchange may have created new names */
  if (w->space->uses_proviso)
    receive_replies(x);
  checkpoint_write(s, &w, 1);
  s->pause = x->resting = false;
  for (uint32_t i = 0; i < x->ranks->n; i++)
    if (x->statuses[i * RANK_STATUSES + RANK_STATUS_ENDING] != SEARCH_EXHAUSTED)
      worker_stop(w, (enum search_end)x->statuses[i * RANK_STATUSES + RANK_STATUS_ENDING]);
}

/* --- synchronisation --- */

/* left: this rank has work left. True: some rank has, or messages are still in transit. */
static bool synchronise(struct message_batches *x, bool left) {
  struct worker *w = x->worker;
  uint64_t mine[RANK_STATUSES];
  take_own(x);
  ranks_barrier(x->ranks);
  fill_status(x, left, mine);
  ranks_allgather(x->ranks, mine, RANK_STATUSES, x->statuses);
  receive_statuses(x, mine);
  exchange_batches(x);
  if (all_rest(x))
    write_checkpoint(x);
  return total(x, RANK_STATUS_LEFT) > 0 || (w->space->uses_proviso && total(x, RANK_STATUS_SENT) > 0);
}

bool batches_suspend(struct message_batches *x) {
  struct worker *w = x->worker;
  x->resting = true;
  while (x->resting && !search_limited(w->end) && !w->space->restart)
    synchronise(x, true);
  x->resting = false;
  return !search_limited(w->end) && !w->space->restart;
}

void batches_finish(struct message_batches *x) {
  while (synchronise(x, false))
    ;
  /* the last batches are in the visited sets by now, and may have created new names */
  ranks_barrier(x->ranks);
  struct search *s = x->worker->search;
  uint64_t mine[3] = {visited_count(s->visited_set) - s->stage->before, x->halted, s->cut};
  uint64_t *all = memory_alloc(3 * x->ranks->n * sizeof *all);
  ranks_allgather(x->ranks, mine, 3, all);
  x->layer = 0;
  for (uint32_t i = 0; i < x->ranks->n; i++) {
    x->layer += all[3 * i];
    x->halted |= all[3 * i + 1] != 0;
    s->cut |= all[3 * i + 2] != 0;
  }
  memory_free(all);
}

/* --- batches --- */

static bool was_recently_sent(struct message_batches *x, const struct state *state, uint64_t hash, fault_cost c) {
  struct recently_sent *l = &x->recently_sent[hash & ((1u << LATELY_BITS) - 1)];
  struct short_key key = {{0}};
  if (state->length > KEY_SHORT_BYTES)
    return false;
  key_words(state->bytes, state->length, &key);
  if (l->length == state->length && l->fault_cost <= c && memcmp(&l->key, &key, sizeof key) == 0)
    return true;
  *l = (struct recently_sent){key, state->length, c};
  return false;
}

void batches_put(bytes *to, const struct state *state, state_ref from, fault_cost c) {
  uint32_t head = state->length << 1 | (c != 0);
  vec_reserve(to, to->n + RECORD_PARENT_BYTES + sizeof head + sizeof c + state->length + KEY_SHORT_BYTES);
  uint8_t *at = to->at + to->n;
  memcpy(at, &from, RECORD_PARENT_BYTES);
  at += RECORD_PARENT_BYTES;
  memcpy(at, &head, sizeof head);
  at += sizeof head;
  if (c != 0) {
    memcpy(at, &c, sizeof c);
    at += sizeof c;
  }
  memcpy(at, state->bytes, state->length);
  to->n = (size_t)(at + state->length - to->at);
}

bool batches_send(struct message_batches *x, const struct state *state, const struct edge *edge, fault_cost c) {
  struct worker *w = x->worker;
  for (uint64_t broken = edge->broken; broken != 0 && !x->probing; broken &= broken - 1) {
    uint32_t property = (uint32_t)__builtin_ctzll(broken);
    if (worker_found_step(w, property, c)) {
      bytes *target = &x->targets[property];
      vec_reserve(target, state->length + (size_t)1);
      memcpy(target->at, state->bytes, state->length);
      target->n = state->length;
    }
  }
  uint64_t hash = key_hash(state->bytes, state->length);
  uint32_t owner = batches_owner(x, hash);        /* of other bits than the place in `recently_sent` */
  if (w->from == STATE_REF_NONE && !x->probing) { /* all ranks generate all initial states */
    x->starts += hash;
    if (owner != x->ranks->rank)
      return true;
  } else if (!w->space->uses_proviso && was_recently_sent(x, state, hash, c)) {
    return true;
  }
  size_t before = x->out[owner].n;
  batches_put(&x->out[owner], state, w->from, c);
  x->queued += x->out[owner].n - before;
  if (x->queued < BATCH_BYTES_MAX)
    return true;
  if (w->from == STATE_REF_NONE && !x->probing) {
    take_own(x);
    return true;
  }
  synchronise(x, true);
  return !search_limited(w->end) && !w->space->restart && !(x->probing && w->search->cut);
}

/* --- checkpoints --- */

void load_key(struct loader *from, bytes *key) {
  size_t n;
  const void *at = load_block(from, &n);
  vec_reserve(key, n + KEY_SHORT_BYTES);
  memset(key->at, 0, n + KEY_SHORT_BYTES);
  key->n = n;
  if (n)
    memcpy(key->at, at, n);
}

/* The batches must be empty. */
void batches_save(const struct message_batches *x, struct saver *to) {
  uint32_t n = x->worker->space->query->nproperties + 1;
  save_number(to, x->layer);
  save_bytes(to, x->found_at, n * sizeof *x->found_at);
  for (uint32_t i = 0; i < n; i++)
    save_block(to, x->targets[i].at, x->targets[i].n);
  save_block(to, x->layers.at, x->layers.n * sizeof *x->layers.at);
}

void batches_load(struct message_batches *x, struct loader *from) {
  uint32_t n = x->worker->space->query->nproperties + 1;
  x->layer = load_number(from);
  load_bytes(from, x->found_at, n * sizeof *x->found_at);
  for (uint32_t i = 0; i < n; i++)
    load_key(from, &x->targets[i]);
  size_t length;
  const void *layers = load_block(from, &length);
  from->bad |= length % sizeof *x->layers.at != 0;
  vec_reserve(&x->layers, length / sizeof *x->layers.at + 1);
  x->layers.n = length / sizeof *x->layers.at;
  if (length)
    memcpy(x->layers.at, layers, length);
}

static bool target_is_sound(const struct message_batches *x, const bytes *key) {
  struct system *space = x->worker->space;
  return key->n == 0 ||
         (key->n <= UINT32_MAX && space->ops->checkpoint.valid(space, &(struct state){key->at, (uint32_t)key->n}));
}

bool batches_are_sound(const struct message_batches *x, uint32_t part, uint32_t parts) {
  const struct worker *w = x->worker;
  for (uint32_t i = 0; i <= w->space->query->nproperties; i++) {
    const struct finding *f = i < w->space->query->nproperties ? &w->findings[i] : &w->error;
    bool here = f->found && (x->found_at[i] == NO_RANK || x->found_at[i] == part);
    if ((x->found_at[i] != NO_RANK && (x->found_at[i] >= parts || !f->found)) || !target_is_sound(x, &x->targets[i]) ||
        (f->found && f->rounds >= x->layers.n + 1) ||
        (here && f->state != STATE_REF_NONE && !visited_has(w->search->visited_set, f->state)))
      return false;
  }
  for (size_t i = 1; i < x->layers.n; i++)
    if (x->layers.at[i] < x->layers.at[i - 1])
      return false;
  return true;
}
