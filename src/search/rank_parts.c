#include "search/rank_parts.h"

#include "search/visited_backend.h"
#include "search/worker_internal.h"

#include <string.h>

#define append(to, from, count)                                                                                        \
  do {                                                                                                                 \
    size_t more_ = (count);                                                                                            \
    vec_reserve(to, (to)->n + more_ + 1);                                                                              \
    if (more_ > 0)                                                                                                     \
      memcpy((to)->at + (to)->n, from, more_ * sizeof *(to)->at);                                                      \
    (to)->n += more_;                                                                                                  \
  } while (0)

/* Added to a state's parent when it is sent. */
#define SENT_DEFERRED (UINT64_C(1) << 38)
#define SENT_PROVISO (UINT64_C(1) << 39)

/* One part whose states this rank has loaded. */
struct part {
  struct visited_set *states;
  VEC(state_ref) layers;
  VEC(struct deferred_state) deferred; /* those that are not completed */
  state_ref left;                      /* the states of the current layer from here on are left */
  uint32_t number;
};

struct joint_finding {
  struct finding finding;
  uint32_t part; /* where its state is; NO_RANK: nothing was found */
  bool agreed;   /* all ranks knew it */
  bytes target;
};

/* What all parts say together. */
struct joint {
  struct search *search;
  struct worker *worker;
  struct message_batches *batches;
  VEC(struct part) parts;
  struct joint_finding *findings; /* by property, then the error */
  uint32_t nfindings;
  uint64_t transitions, stage_transitions, frontier_states, decided;
  bool begun;
  bool order_mattered, order_unstable, distance_cut;
  uint32_t channel_bound, distance, farthest; /* farthest: the part with the largest distance */
  VEC(state_ref) layers;                      /* where the layers begin here, and the end of the newest */
  state_ref left;
  uint64_t done;
};

static void release(struct joint *j) {
  for (size_t i = 0; i < j->parts.n; i++) {
    visited_free(j->parts.at[i].states);
    vec_release(&j->parts.at[i].layers);
    vec_release(&j->parts.at[i].deferred);
  }
  for (uint32_t i = 0; i < j->nfindings; i++)
    vec_release(&j->findings[i].target);
  memory_free(j->findings);
  vec_release(&j->parts);
  vec_release(&j->layers);
}

/* --- loading --- */

static struct finding *finding_of(struct worker *w, uint32_t i) {
  return i < w->space->query->nproperties ? &w->findings[i] : &w->error;
}

static bool is_cheaper(const struct finding *a, const struct finding *b) {
  return a->rounds < b->rounds || (a->rounds == b->rounds && a->fault_cost < b->fault_cost);
}

/* As ranks agree on findings: the cheapest one; among equals, that of the lowest rank. */
static bool add_findings(struct joint *j, uint32_t part) {
  const struct message_batches *x = j->batches;
  for (uint32_t i = 0; i < j->nfindings; i++) {
    const struct finding *f = finding_of(j->worker, i);
    struct joint_finding *to = &j->findings[i];
    bool agreed = x->found_at[i] != NO_RANK;
    if (agreed && (!f->found || x->found_at[i] >= j->search->saving.written_by))
      return false;
    if (part == 0)
      to->finding = *f;
    else if (agreed != to->agreed || (agreed && x->found_at[i] != to->part && to->finding.found))
      return false;
    to->agreed = agreed;
    if (!f->found || (!agreed && to->part != NO_RANK && !is_cheaper(f, &to->finding)))
      continue;
    to->finding = *f;
    to->part = agreed ? x->found_at[i] : part;
    if (to->part == part) {
      vec_clear(&to->target);
      append(&to->target, x->targets[i].at, x->targets[i].n);
    }
  }
  return true;
}

static bool is_left(const struct search_stage *at, state_ref *left) {
  *left = at->begun ? at->at[0] : at->layer.from[0];
  for (size_t i = 0; i < at->first.n; i++)
    *left = at->first.at[i] < *left ? at->first.at[i] : *left;
  return at->layer.partitions == 1;
}

/* Takes over the states of the part that was just loaded. */
static bool add_states(struct joint *j, uint32_t number) {
  struct search *s = j->search;
  struct worker *w = j->worker;
  const struct search_stage *at = s->stage;
  vec_push(&j->parts, ((struct part){.states = s->visited_set, .number = number}));
  struct part *p = &j->parts.at[j->parts.n - 1];
  s->visited_set = NULL;
  append(&p->layers, j->batches->layers.at, j->batches->layers.n);
  for (size_t i = w->deferral.completed; i < w->deferral.states.n; i++)
    vec_push(&p->deferred, w->deferral.states.at[i]);
  size_t n = p->layers.n;
  return is_left(at, &p->left) && n > 1 && w->queue.n == 0 && w->queue.nshort == 0 &&
         visited_from(p->states, p->layers.at[n - 2]) == at->layer.from[0] && p->layers.at[n - 1] == at->layer.to[0];
}

static void add_progress(struct joint *j, uint32_t part) {
  const struct worker *w = j->worker;
  const struct search_stage *at = j->search->stage;
  const struct system *space = w->space;
  j->transitions += w->transitions;
  j->stage_transitions += at->transitions;
  j->frontier_states += w->frontier_states;
  j->decided &= space->decided;
  j->begun |= at->begun;
  j->order_mattered |= space->order_mattered;
  j->order_unstable |= space->order_unstable;
  j->distance_cut |= space->distance_cut;
  j->channel_bound = space->channel_bound > j->channel_bound ? space->channel_bound : j->channel_bound;
  if (space->distance > j->distance) {
    j->distance = space->distance;
    j->farthest = part;
  }
}

/* Loading adds what the parts have counted: one rank keeps it. If the farthest state is in another part than the last
   one, that part is loaded again. */
static bool take_counts(struct joint *j, struct text *why) {
  struct search *s = j->search;
  struct system *space = s->space;
  const uint64_t *counts = NULL;
  uint32_t n = space->ops->ranks.counts ? space->ops->ranks.counts(space, &counts) : 0;
  uint64_t *sum = memory_alloc((n + (size_t)1) * sizeof *sum);
  if (n > 0)
    memcpy(sum, counts, n * sizeof *sum);
  bool ok = j->farthest + 1 == s->saving.written_by || checkpoint_load_part(s, j->worker, j->farthest, false, why);
  if (space->ops->ranks.set_counts)
    space->ops->ranks.set_counts(space, sum, s->ranks->rank == 0 ? n : 0);
  memory_free(sum);
  return ok;
}

static bool load_parts(struct joint *j, struct text *why) {
  struct search *s = j->search;
  struct worker *w = j->worker;
  uint32_t rounds = 0;
  enum stage_kind kind = STAGE_CHECK;
  bool ok = true;
  for (uint32_t i = 0; i < s->saving.written_by && ok; i++) {
    bool mine = i % s->ranks->n == s->ranks->rank;
    ok = checkpoint_load_part(s, w, i, mine, why) && add_findings(j, i) && (!mine || add_states(j, i)) &&
         (i == 0 || (w->rounds == rounds && s->stage->kind == kind));
    rounds = w->rounds;
    kind = s->stage->kind;
    if (ok)
      add_progress(j, i);
  }
  if (!ok && why->n == 0)
    text_add(why, "the parts of a checkpoint do not match; this search begins again");
  return ok && take_counts(j, why);
}

/* --- states to their owners --- */

static bool deferred_is(const struct part *p, state_ref ref, bool *proviso) {
  for (size_t low = 0, high = p->deferred.n; low < high;) { /* references ascend */
    size_t middle = (low + high) / 2;
    const struct deferred_state *d = &p->deferred.at[middle];
    *proviso = d->proviso;
    if (d->ref == ref)
      return true;
    if (d->ref < ref)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

static void send(struct joint *j, const struct part *p, const struct visited_reader *at) {
  struct message_batches *x = j->batches;
  const struct stored *stored = &at->stored;
  bool proviso = false;
  uint64_t from = stored->parent == STATE_REF_NONE ? STATE_REF_NONE : STATE_REF_FORGOTTEN;
  if (deferred_is(p, at->ref, &proviso))
    from |= SENT_DEFERRED | (proviso ? SENT_PROVISO : 0);
  bytes *to = &x->out[batches_owner(x, key_hash(stored->bytes, stored->length))];
  size_t before = to->n;
  batches_put(to, &(struct state){stored->bytes, stored->length}, from, stored->fault_cost);
  x->queued += to->n - before;
}

static void receive(struct joint *j) {
  struct message_batches *x = j->batches;
  struct visited_set *states = j->search->visited_set;
  ranks_exchange(x->ranks, x->out, &x->in, x->first);
  for (uint32_t i = 0; i < x->ranks->n; i++)
    vec_clear(&x->out[i]);
  x->queued = 0;
  vec_reserve(&x->in, x->in.n + KEY_SHORT_BYTES);
  memset(x->in.at + x->in.n, 0, KEY_SHORT_BYTES);
  for (const uint8_t *at = x->in.at, *end = at + x->in.n; at < end;) {
    struct received_state a;
    state_ref ref;
    at = batches_next(at, &a);
    if (visited_count(states) >= VISITED_MAX_STATES)
      ranks_fail(x->ranks, "more states than so few ranks can hold");
    if (visited_insert(states, a.key, a.length, key_hash(a.key, a.length), 0, a.from & STATE_REF_NONE, a.fault_cost,
                       &ref) &&
        (a.from & SENT_DEFERRED))
      vec_push(&j->worker->deferral.states, ((struct deferred_state){ref, a.from & SENT_PROVISO}));
  }
}

/* Every rank sends its states of a part of a layer; returns when all of them are with their owners. */
static void distribute(struct joint *j, size_t layer, bool left) {
  struct message_batches *x = j->batches;
  struct ranks *r = x->ranks;
  uint64_t *all = memory_alloc(r->n * sizeof *all), more = 1;
  size_t part = 0;
  struct visited_reader reader = {0};
  for (bool open = false; more > 0;) {
    while (part < j->parts.n && x->queued < BATCH_BYTES_MAX) {
      const struct part *p = &j->parts.at[part];
      bool current = layer + 2 == p->layers.n, last = layer + 1 == p->layers.n;
      if (!open) {
        state_ref from = visited_from(p->states, p->layers.at[layer]);
        state_ref to = last ? visited_end(p->states) : p->layers.at[layer + 1];
        reader = visited_reader(p->states, current && left ? p->left : from, current && !left ? p->left : to);
        open = true;
      }
      if (visited_read(&reader)) {
        send(j, p, &reader);
      } else {
        open = false;
        part++;
      }
    }
    uint64_t mine = part < j->parts.n;
    receive(j);
    ranks_allgather(r, &mine, 1, all);
    more = 0;
    for (uint32_t i = 0; i < r->n; i++)
      more += all[i];
  }
  memory_free(all);
}

/* False on all ranks: the parts do not have the same layers. */
static bool distribute_layers(struct joint *j) {
  struct search *s = j->search;
  struct ranks *r = s->ranks;
  uint64_t mine = j->parts.n > 0 ? j->parts.at[0].layers.n : 0, *all = memory_alloc(r->n * sizeof *all), n = 0;
  for (size_t i = 0; i < j->parts.n; i++)
    mine = j->parts.at[i].layers.n == mine ? mine : 1; /* an impossible number */
  ranks_allgather(r, &mine, 1, all);
  for (uint32_t i = 0; i < r->n; i++)
    n = all[i] > n ? all[i] : n;
  bool same = n > 1;
  for (uint32_t i = 0; i < r->n; i++)
    same &= all[i] == 0 || all[i] == n; /* 0: it has no part */
  memory_free(all);
  if (!same)
    return false;
  visited_free(s->visited_set);
  s->visited_set = s->backend->new_set(s);
  vec_clear(&j->worker->deferral.states);
  j->worker->deferral.completed = 0;
  vec_push(&j->layers, visited_end(s->visited_set));
  for (size_t layer = 0; layer < n; layer++) {
    uint64_t before = visited_count(s->visited_set);
    distribute(j, layer, false);
    if (layer + 2 == n) { /* the current one: what is done comes first */
      j->done = visited_count(s->visited_set) - before;
      j->left = visited_end(s->visited_set);
      distribute(j, layer, true);
      s->stage->states = visited_count(s->visited_set) - before;
      s->stage->before = visited_count(s->visited_set);
    }
    if (layer + 1 < n)
      vec_push(&j->layers, visited_end(s->visited_set));
  }
  return true;
}

/* --- findings --- */

/* The state of a finding under its new reference, and the rank that owns it. False on all ranks: there is no such
   state. */
static bool relocate(struct joint *j, struct joint_finding *f, uint32_t *owner) {
  struct search *s = j->search;
  struct ranks *r = s->ranks;
  bytes key = {0};
  uint32_t holder = f->part % r->n;
  const struct part *p = NULL;
  for (size_t i = 0; i < j->parts.n; i++)
    if (j->parts.at[i].number == f->part)
      p = &j->parts.at[i];
  uint64_t n = UINT64_MAX;
  struct stored at = {0};
  if (p && visited_has(p->states, f->finding.state)) {
    at = visited_get_key(p->states, f->finding.state);
    n = at.length;
  }
  ranks_broadcast(r, holder, &n, sizeof n);
  if (n == UINT64_MAX)
    return false;
  key.n = memory_size(n);
  vec_reserve(&key, key.n + KEY_SHORT_BYTES);
  memset(key.at, 0, key.n + KEY_SHORT_BYTES);
  if (r->rank == holder)
    memcpy(key.at, at.bytes, at.length);
  ranks_broadcast(r, holder, key.at, key.n);
  *owner = batches_owner(j->batches, key_hash(key.at, (uint32_t)key.n));
  uint64_t ref = visited_lookup(s->visited_set, key.at, (uint32_t)key.n);
  ranks_broadcast(r, *owner, &ref, sizeof ref);
  f->finding.state = ref;
  vec_release(&key);
  return ref != STATE_REF_NONE;
}

/* What all ranks knew they know again; what one had found in the current layer, its owner has now. */
static bool take_findings(struct joint *j) {
  struct worker *w = j->worker;
  struct message_batches *x = j->batches;
  for (uint32_t i = 0; i < j->nfindings; i++) {
    struct joint_finding *f = &j->findings[i];
    uint32_t owner = 0;
    x->found_at[i] = NO_RANK;
    vec_clear(&x->targets[i]);
    *finding_of(w, i) = f->finding;
    if (f->part == NO_RANK)
      continue;
    if (f->finding.state != STATE_REF_NONE && !relocate(j, f, &owner))
      return false;
    *finding_of(w, i) = f->finding;
    if (f->agreed)
      x->found_at[i] = owner;
    else if (x->ranks->rank != owner)
      *finding_of(w, i) = (struct finding){.excluded = f->finding.excluded};
    if (x->ranks->rank == owner)
      append(&x->targets[i], f->target.at, f->target.n);
  }
  return true;
}

/* --- the whole --- */

static void take_progress(struct joint *j) {
  struct search *s = j->search;
  struct worker *w = j->worker;
  struct search_stage *at = s->stage;
  size_t n = j->layers.n;
  bool first = s->ranks->rank == 0;
  state_ref from = visited_from(s->visited_set, j->layers.at[n - 2]);
  w->transitions = first ? j->transitions : 0;
  w->frontier_states = first ? j->frontier_states : 0;
  at->transitions = first ? j->stage_transitions : 0;
  at->layer = (struct layer){.partitions = 1, .from = {from}, .to = {j->layers.at[n - 1]}};
  at->next = (struct layer){.partitions = 1, .from = {j->layers.at[n - 1]}};
  at->begun = j->begun;
  at->at[0] = visited_from(s->visited_set, j->left);
  at->done = j->done;
  vec_clear(&at->first);
  vec_clear(&j->batches->layers);
  append(&j->batches->layers, j->layers.at, n);
  s->space->decided = j->decided;
  s->space->order_mattered = j->order_mattered;
  s->space->order_unstable = j->order_unstable;
  s->space->distance_cut = j->distance_cut;
  s->space->channel_bound = j->channel_bound;
  s->space->distance = j->distance;
  memset(w->recent, 0, sizeof *w->recent << RECENT_BITS);
}

bool rank_parts_join(struct search *s, struct worker *w, struct text *why) {
  uint32_t n = s->space->query->nproperties + 1;
  struct joint j = {.search = s, .worker = w, .batches = w->batches, .nfindings = n, .decided = UINT64_MAX};
  j.findings = memory_alloc(n * sizeof *j.findings);
  for (uint32_t i = 0; i < n; i++)
    j.findings[i] = (struct joint_finding){.part = NO_RANK};
  bool ok = ranks_all_ok(s->ranks, load_parts(&j, why), why);
  if (ok) {
    ok = distribute_layers(&j) && take_findings(&j);
    if (!ok)
      text_add(why, "the parts of a checkpoint do not match; this search begins again");
  }
  if (ok)
    take_progress(&j);
  release(&j);
  return ok;
}
