/* Outcome sets: the possible updates of a process, given everything that it may receive. A heard-of set matters only
   through the number heard of each group of indistinguishable senders; if the update does not count, only through the
   set of groups heard. */
#include "lockstep/outcome_set.h"

#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_builder.h"
#include "lockstep/outcome_product.h"

#include <string.h>

/* --- tables --- */

void outcome_tables_init(struct outcome_tables *t, enum outcomes_by by) {
  t->by = by;
  t->receivables = intern_new();
  t->next_lists = intern_new();
}

void outcome_tables_release(struct outcome_tables *t) {
  intern_free(t->receivables);
  intern_free(t->next_lists);
  memo_release(&t->outcome_sets_of);
  memo_release(&t->local_successors_of);
  memo_release(&t->within_bag);
  memo_release(&t->region_roots);
  vec_release(&t->outcome_sets);
  vec_release(&t->local_successors);
  vec_release(&t->regions);
}

size_t outcome_tables_bytes(const struct outcome_tables *t) {
  return intern_bytes(t->receivables) + intern_bytes(t->next_lists) + memo_bytes(&t->outcome_sets_of) +
         memo_bytes(&t->local_successors_of) + memo_bytes(&t->within_bag) + memo_bytes(&t->region_roots) +
         vec_bytes(&t->outcome_sets) + vec_bytes(&t->local_successors) + vec_bytes(&t->regions);
}

/* --- receivables and outcome sets --- */

#define DOMAIN_MAX 4096 /* messages of larger types are left open and chosen part by part */

uint32_t group_least(const struct outcome_builder *b, const struct sender_group *g) {
  if (b->receivable->exact)
    return g->count;
  if (!b->rules->delivers)
    return 0;
  return b->rules->lossy ? g->self : g->must;
}

/* --- is the size of the heard-of set allowed? --- */

/* The smallest number of a group that a choice stands for. If the update cannot count, hearing a group stands for
   hearing any positive number of it. The number of silent senders heard is never observable. */
static uint32_t heard_least(const struct outcome_builder *b, uint32_t i) {
  const struct sender_group *g = &b->receivable->groups[i];
  uint32_t least = group_least(b, g);
  if (b->receivable->need == i && least == 0)
    least = 1;
  if (g->silent)
    return least;
  if (b->counts || b->heard[i] == 0)
    return b->heard[i];
  return least ? least : 1;
}

static bool all_sizes_ok(const struct outcome_builder *b, uint32_t size, bool self) {
  for (uint32_t i = 0; i < b->nsizes; i++)
    if (!b->sizes[i]->ok[2 * (size_t)size + self])
      return false;
  return true;
}

/* Does this choice stand for some heard-of set of an allowed size? If so, sets b->size and b->self. */
static bool sizes_allowed(struct outcome_builder *b, uint32_t byzantine_senders) {
  const struct round_receivable *o = b->receivable;
  b->size = UINT32_MAX;
  if (!b->nsizes)
    return true;
  uint32_t low = byzantine_senders, high = o->nbyzantine;
  bool with = true, without = !b->rules->delivers;
  uint32_t with_low = 0, without_high = 0;
  for (uint32_t i = 0; i < o->n; i++) {
    uint32_t least = heard_least(b, i);
    low += least;
    high += b->heard[i];
    if (o->groups[i].self) {
      with = b->heard[i] > 0;
      with_low = least == 0;
      without = without && least < o->groups[i].count;
      without_high = b->heard[i] == o->groups[i].count;
    }
  }
  for (uint32_t size = low; size <= high; size++) {
    if (with && size >= low + with_low && all_sizes_ok(b, size, true)) {
      b->size = size;
      b->self = true;
      return true;
    }
    if (without && size + without_high <= high && all_sizes_ok(b, size, false)) {
      b->size = size;
      b->self = false;
      return true;
    }
  }
  return false;
}

/* --- outcomes --- */

static uint32_t how_put(struct outcome_builder *b) {
  const struct round_receivable *o = b->receivable;
  size_t n = 2 + 2 * (size_t)o->n + 2 * b->forged.n;
  value small[64], *v = n <= 64 ? small : memory_alloc(n * sizeof *v);
  size_t k = 0;
  for (uint32_t i = 0; i < o->n; i++)
    v[k++] = b->heard[i];
  for (uint32_t i = 0; i < o->n; i++)
    v[k++] = b->removed[i];
  v[k++] = b->size == UINT32_MAX ? -1 : (value)b->size;
  v[k++] = b->self;
  for (size_t i = 0; i < b->forged.n; i++) {
    v[k++] = b->forged.at[i];
    v[k++] = b->forged_tag.at[i];
  }
  uint32_t id = intern_put(b->system->vectors, v, k);
  if (v != small)
    memory_free(v);
  return id;
}

static bool includes(const uint64_t *set, const uint64_t *part, uint32_t words) {
  for (uint32_t i = 0; i < words; i++)
    if (part[i] & ~set[i])
      return false;
  return true;
}

/* Adds the set of groups heard unless it is a subset of another one, and removes its own subsets. */
static void outcome_mask(struct outcome_builder *b, struct local_outcome *l) {
  uint32_t kept = 0, words = bitset_words(b->receivable->n);
  memset(b->mask, 0, words * sizeof *b->mask);
  for (uint32_t i = 0; i < b->receivable->n; i++)
    if (b->heard[i])
      b->mask[i / 64] |= UINT64_C(1) << i % 64;
  for (uint32_t i = 0; i < l->nmasks; i++)
    if (includes(l->masks + (size_t)i * words, b->mask, words))
      return;
  uint64_t *grown = arena_array(&b->system->arena, ((size_t)l->nmasks + 1) * words, sizeof *grown);
  for (uint32_t i = 0; i < l->nmasks; i++)
    if (!includes(b->mask, l->masks + (size_t)i * words, words))
      memcpy(grown + (size_t)kept++ * words, l->masks + (size_t)i * words, words * sizeof *grown);
  memcpy(grown + (size_t)kept * words, b->mask, words * sizeof *grown);
  l->masks = grown;
  l->nmasks = kept + 1;
}

void outcome_add(struct outcome_builder *b, uint32_t update) {
  struct local_outcome *found = NULL;
  for (size_t i = 0; i < b->outcomes.n && !found; i++)
    if (b->outcomes.at[i].update == update && (!b->every_cost || b->outcomes.at[i].cost == b->cost))
      found = &b->outcomes.at[i];
  if (!found) {
    struct local_outcome l = {.update = update, .cost = b->cost, .how = how_put(b)};
    vec_push(&b->outcomes, l);
    found = &b->outcomes.at[b->outcomes.n - 1];
  } else if (b->cost < found->cost) {
    found->cost = b->cost;
    found->how = how_put(b);
  }
  if (b->rules->coupling == COUPLED_NOSPLIT)
    outcome_mask(b, found);
}

/* --- one combination of received messages --- */

static void bag_entry(struct outcome_builder *b, value message, uint32_t tag, uint32_t count, bool lazy) {
  size_t at = b->bag.n;
  if (!lazy)
    for (size_t i = 0; i < b->bag.n; i += BAG_ENTRY) {
      value *entry = b->bag.at + i;
      value sender = tag == NO_SENDER ? -1 : (value)tag;
      if (!entry[3] && entry[0] == message && entry[1] == sender) {
        entry[2] += b->counts ? count : 0;
        return;
      }
      if (entry[3] || entry[0] > message || (entry[0] == message && entry[1] > sender)) {
        at = i;
        break;
      }
    }
  vec_reserve(&b->bag, b->bag.n + BAG_ENTRY);
  memmove(b->bag.at + at + BAG_ENTRY, b->bag.at + at, (b->bag.n - at) * sizeof *b->bag.at);
  b->bag.n += BAG_ENTRY;
  value *entry = b->bag.at + at;
  entry[0] = message;
  entry[1] = tag == NO_SENDER ? -1 : (value)tag;
  entry[2] = b->counts ? count : 1;
  entry[3] = lazy;
}

/* Here each sender is a group of its own. */
static bool set_allowed(const struct outcome_builder *b) {
  if (!b->receivable->allowed)
    return true;
  uint64_t set = 0;
  for (uint32_t i = 0; i < b->receivable->n; i++)
    if (b->heard[i])
      set |= UINT64_C(1) << b->receivable->groups[i].tag;
  return (uint64_t)intern_at(b->system->vectors, b->receivable->allowed - 1)[set / 64] >> set % 64 & 1;
}

static void receive_this(struct outcome_builder *b) {
  const struct round_receivable *o = b->receivable;
  if (!set_allowed(b) || lockstep_stopped(b->system))
    return;
  if (!sizes_allowed(b, (uint32_t)b->forged.n - b->ncorrupted))
    return;
  vec_clear(&b->bag);
  for (uint32_t i = 0; i < o->n; i++) {
    uint32_t count = b->heard[i] - b->removed[i];
    if (count && !o->groups[i].silent && b->reads->received != RECEIVED_UNREAD)
      bag_entry(b, o->groups[i].message, b->tagged || !b->receivable->allowed ? o->groups[i].tag : NO_SENDER, count,
                false);
  }
  for (size_t i = 0; i < b->forged.n && b->reads->received != RECEIVED_UNREAD; i++) {
    bool open = b->forged.at[i] == LAZY_FIRST;
    bag_entry(b, open ? 0 : b->forged.at[i], b->forged_tag.at[i], 1, open);
  }
  const struct list *local_updates = step_updates(b->system, b->projection, b->bag.at, b->bag.n);
  for (uint32_t i = 0; i < local_updates->n; i++)
    outcome_add(b, local_updates->at[i]);
}

/* --- forged messages --- */

/* Corruption: up to corrupt_each of the messages heard are replaced by arbitrary ones. */
static void corrupt_from(struct outcome_builder *b, uint32_t group, uint64_t message) {
  receive_this(b);
  if ((int64_t)b->ncorrupted >= b->rules->corrupt_each || lockstep_stopped(b->system))
    return;
  b->ncorrupted++;
  b->cost += b->rules->corrupt_charged;
  for (uint32_t i = group; i < b->receivable->n; i++) {
    if (b->receivable->groups[i].silent || b->removed[i] >= b->heard[i])
      continue;
    b->removed[i]++;
    for (uint64_t k = i > group ? 0 : message; k < b->type->count; k++) {
      vec_push(&b->forged, type_nth(&b->system->model->values, b->type, k));
      vec_push(&b->forged_tag, b->tagged ? b->receivable->groups[i].tag : NO_SENDER);
      corrupt_from(b, i, k);
      b->forged.n--;
      b->forged_tag.n--;
    }
    b->removed[i]--;
  }
  b->cost -= b->rules->corrupt_charged;
  b->ncorrupted--;
}

static void choose_corrupted(struct outcome_builder *b) {
  if (b->rules->corrupts && b->type && b->reads->received != RECEIVED_UNREAD)
    corrupt_from(b, 0, 0);
  else
    receive_this(b);
}

/* Each Byzantine sender is silent or sends any message; which of them sends what matters only if senders are
   distinguished. If the message type is too large to enumerate, the message is left open, and the interpreter chooses
   its parts when they are read. */
static void choose_byzantine(struct outcome_builder *b, uint32_t sender, uint64_t message) {
  const struct round_receivable *o = b->receivable;
  if (lockstep_stopped(b->system))
    return;
  if (sender == o->nbyzantine) {
    choose_corrupted(b);
    return;
  }
  if (!b->tagged)
    choose_corrupted(b); /* the others are silent */
  else
    choose_byzantine(b, sender + 1, 0);
  bool open = b->type->count > DOMAIN_MAX;
  for (uint64_t k = message; k < (open ? 1 : b->type->count); k++) {
    vec_push(&b->forged, open ? LAZY_FIRST : type_nth(&b->system->model->values, b->type, k));
    vec_push(&b->forged_tag, b->tagged ? o->byzantine_tags[sender] : NO_SENDER);
    choose_byzantine(b, sender + 1, b->tagged ? 0 : k);
    b->forged.n--;
    b->forged_tag.n--;
  }
}

static void with_heard(struct outcome_builder *b) {
  const struct round_receivable *o = b->receivable;
  if (!o->nbyzantine || !b->type || b->reads->received == RECEIVED_UNREAD)
    choose_corrupted(b);
  else
    choose_byzantine(b, 0, 0);
}

static void choose_heard(struct outcome_builder *b, uint32_t i) {
  const struct round_receivable *o = b->receivable;
  if (lockstep_stopped(b->system))
    return;
  if (i == o->n) {
    with_heard(b);
    return;
  }
  const struct sender_group *g = &o->groups[i];
  uint32_t least = group_least(b, g), cost = b->cost;
  if (o->need == i && least == 0)
    least = 1;
  for (uint32_t h = g->count;; h--) {
    b->heard[i] = h;
    b->cost = cost + (b->rules->lossy && !g->silent && h < g->must ? g->must - h : 0);
    choose_heard(b, i + 1);
    if ((g->silent && !o->allowed) || h == least || h == 0)
      break;
    if (!b->counts) {
      if (least > 0)
        break;
      h = 1; /* continue with 0 */
    }
  }
  b->cost = cost;
}

static uint32_t outcome_set_compute(struct lockstep *s, uint32_t projection, const struct rules *rules,
                                    const struct round_receivable *receivable) {
  const value *c = intern_at(s->local.projections, projection);
  uint32_t role = (uint32_t)c[1], point = (uint32_t)c[2];
  struct outcome_builder b = {.system = s, .projection = projection, .rules = rules, .receivable = receivable};
  b.reads = s->local.updates[(size_t)role * s->model->npoints + point];
  b.type = s->model->roles[role].body[point].received;
  b.every_cost = rules->lossy && s->form.all_costs;
  b.counts = b.reads->counts || b.every_cost || rules->corrupts || losses_by_size(rules);
  b.tagged = b.reads->received == RECEIVED_SENDERS || b.reads->received == RECEIVED_NAMED;
  b.sizes = memory_alloc((rules->nsizes + 1) * sizeof *b.sizes);
  for (uint32_t i = 0; i < rules->nsizes && !receivable->allowed; i++)
    if (rules->sizes[i].role == role && (!rules->sizes[i].followed || receivable->sized >> i & 1))
      b.sizes[b.nsizes++] = &rules->sizes[i];
  b.heard = memory_alloc((receivable->n + 1) * sizeof *b.heard);
  b.removed = memory_alloc((receivable->n + 1) * sizeof *b.removed);
  b.mask = memory_alloc(bitset_words(receivable->n) * sizeof *b.mask);
  if (!outcomes_by_regions(&b) && !outcomes_by_subbags(&b))
    choose_heard(&b, 0);
  for (uint32_t i = 1; i < b.outcomes.n; i++)
    b.outcomes.at[i].first_mask = b.outcomes.at[i - 1].first_mask + b.outcomes.at[i - 1].nmasks;
  struct local_outcome_set outcome_set = {
      arena_keep_array(&s->arena, b.outcomes.at, b.outcomes.n, sizeof *b.outcomes.at), (uint32_t)b.outcomes.n};
  vec_push(&s->outcomes.outcome_sets, outcome_set);
  memory_free(b.sizes);
  memory_free(b.heard);
  memory_free(b.removed);
  memory_free(b.mask);
  vec_release(&b.forged);
  vec_release(&b.forged_tag);
  vec_release(&b.bag);
  vec_release(&b.outcomes);
  return (uint32_t)s->outcomes.outcome_sets.n - 1;
}

static uint32_t receivable_intern(struct lockstep *s, uint32_t rules_index, const struct round_receivable *o,
                                  bool add) {
  size_t n = 7 + 5 * (size_t)o->n + o->nbyzantine;
  value small[128], *v = n <= 128 ? small : memory_alloc(n * sizeof *v);
  size_t k = 0;
  v[k++] = rules_index;
  v[k++] = o->nbyzantine;
  v[k++] = o->need;
  v[k++] = o->exact;
  v[k++] = o->sized;
  v[k++] = o->allowed;
  v[k++] = o->n;
  /* whether the receiver is in the group matters only where sizes or losses are counted */
  bool self = s->rules.at[rules_index]->lossy || s->rules.at[rules_index]->nsizes;
  for (uint32_t i = 0; i < o->n; i++) {
    const struct sender_group *g = &o->groups[i];
    v[k++] = g->message;
    v[k++] = g->silent | (self && g->self) << 1;
    v[k++] = g->tag;
    v[k++] = g->count;
    v[k++] = g->must;
  }
  for (uint32_t i = 0; i < o->nbyzantine; i++)
    v[k++] = o->byzantine_tags[i];
  uint32_t id = add ? intern_put(s->outcomes.receivables, v, k) : intern_find(s->outcomes.receivables, v, k);
  if (v != small)
    memory_free(v);
  return id;
}

uint32_t receivable_put(struct lockstep *s, uint32_t rules_index, const struct round_receivable *o) {
  return receivable_intern(s, rules_index, o, true);
}

uint32_t receivable_find(struct lockstep *s, uint32_t rules_index, const struct round_receivable *o) {
  return receivable_intern(s, rules_index, o, false);
}

uint32_t outcome_set_of(struct lockstep *s, uint32_t projection, const struct rules *rules,
                        const struct round_receivable *o, uint32_t id) {
  uint32_t outcome_set;
  if (!memo_find(&s->outcomes.outcome_sets_of, projection, id, &outcome_set)) {
    outcome_set = outcome_set_compute(s, projection, rules, o);
    if (!lockstep_stopped(s))
      memo_add(&s->outcomes.outcome_sets_of, projection, id, outcome_set);
  }
  return outcome_set;
}
