/* Menus: what a process can become, given all that it may receive. A heard-of set matters only through how many it
   hears of each group of senders it cannot tell apart; if the update does not count, only through which groups. */
#include "space/menu_builder.h"

#include <string.h>

#define DOMAIN_MAX 4096 /* larger message types are left open and chosen part by part */

uint32_t group_least(const struct builder *b, const struct group *g) {
  if (b->offer->exact)
    return g->count;
  if (!b->rules->delivers)
    return 0;
  return b->rules->lossy ? g->self : g->must;
}

/* --- is the size of the heard-of set allowed? --- */

/* The fewest of a group that a choice stands for: if the update cannot count them, hearing a group means hearing
   any positive number of it; nobody can tell how many of the silent were heard. */
static uint32_t heard_least(const struct builder *b, uint32_t i) {
  const struct group *g = &b->offer->groups[i];
  uint32_t least = group_least(b, g);
  if (b->offer->need == i && least == 0)
    least = 1;
  if (g->silent)
    return least;
  if (b->counts || b->heard[i] == 0)
    return b->heard[i];
  return least ? least : 1;
}

static bool all_sizes_ok(const struct builder *b, uint32_t size, bool self) {
  for (uint32_t i = 0; i < b->nsizes; i++)
    if (!b->sizes[i]->ok[2 * (size_t)size + self])
      return false;
  return true;
}

/* Does what this choice stands for include a heard-of set of an allowed size? Leaves it in b->size and b->self. */
static bool sizes_allowed(struct builder *b, uint32_t liars) {
  const struct offer *o = b->offer;
  b->size = UINT32_MAX;
  if (!b->nsizes)
    return true;
  uint32_t low = liars, high = o->wild;
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

/* --- lines --- */

static uint32_t how_put(struct builder *b) {
  const struct offer *o = b->offer;
  size_t n = 3 + 2 * (size_t)o->n + 2 * b->forged.n;
  value small[64], *v = n <= 64 ? small : memory_alloc(n * sizeof *v);
  size_t k = 0;
  for (uint32_t i = 0; i < o->n; i++)
    v[k++] = b->heard[i];
  for (uint32_t i = 0; i < o->n; i++)
    v[k++] = b->removed[i];
  v[k++] = (value)b->lazy;
  v[k++] = b->size == UINT32_MAX ? -1 : (value)b->size;
  v[k++] = b->self;
  for (size_t i = 0; i < b->forged.n; i++) {
    v[k++] = b->forged.at[i];
    v[k++] = b->forged_tag.at[i];
  }
  uint32_t id = intern_put(b->space->vectors, v, k);
  if (v != small)
    memory_free(v);
  return id;
}

static void line_mask(struct builder *b, struct line *l, uint64_t mask) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < l->nmasks; i++)
    if ((l->masks[i] & mask) == mask)
      return;
  for (uint32_t i = 0; i < l->nmasks; i++)
    if ((l->masks[i] & mask) != l->masks[i])
      l->masks[kept++] = l->masks[i];
  uint64_t *grown = arena_array(&b->space->arena, kept + 1, sizeof *grown);
  if (kept)
    memcpy(grown, l->masks, kept * sizeof *grown);
  grown[kept] = mask;
  l->masks = grown;
  l->nmasks = kept + 1;
}

void line_add(struct builder *b, uint32_t effect, uint64_t mask) {
  struct line *found = NULL;
  for (size_t i = 0; i < b->lines.n && !found; i++)
    if (b->lines.at[i].effect == effect && (!b->every_cost || b->lines.at[i].cost == b->cost))
      found = &b->lines.at[i];
  if (!found) {
    struct line l = {.effect = effect, .cost = b->cost, .how = how_put(b)};
    vec_push(&b->lines, l);
    found = &b->lines.at[b->lines.n - 1];
  } else if (b->cost < found->cost) {
    found->cost = b->cost;
    found->how = how_put(b);
  }
  if (b->rules->coupling == COUPLED_NOSPLIT)
    line_mask(b, found, mask);
}

/* --- one way of receiving --- */

static void bag_entry(struct builder *b, value message, uint32_t tag, uint32_t count, bool lazy) {
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

/* Each sender is a group of its own then. */
static bool set_allowed(const struct builder *b) {
  if (!b->offer->allowed)
    return true;
  uint64_t set = 0;
  for (uint32_t i = 0; i < b->offer->n; i++)
    if (b->heard[i])
      set |= UINT64_C(1) << b->offer->groups[i].tag;
  return (uint64_t)intern_at(b->space->vectors, b->offer->allowed - 1)[set / 64] >> set % 64 & 1;
}

static void receive_this(struct builder *b) {
  const struct offer *o = b->offer;
  uint64_t mask = 0;
  if (!set_allowed(b) || round_stopped(b->space))
    return;
  if (!sizes_allowed(b, (uint32_t)b->forged.n - b->ncorrupted + (uint32_t)__builtin_popcountll(b->lazy)))
    return;
  vec_clear(&b->bag);
  for (uint32_t i = 0; i < o->n; i++) {
    if (b->heard[i])
      mask |= UINT64_C(1) << (i < 63 ? i : 63);
    uint32_t count = b->heard[i] - b->removed[i];
    if (count && !o->groups[i].silent && b->reads->received != RECEIVED_UNREAD)
      bag_entry(b, o->groups[i].message, b->tagged || !b->offer->allowed ? o->groups[i].tag : NO_SENDER, count, false);
  }
  if (b->reads->received != RECEIVED_UNREAD) {
    for (size_t i = 0; i < b->forged.n; i++)
      bag_entry(b, b->forged.at[i], b->forged_tag.at[i], 1, false);
    for (uint32_t i = 0; i < o->wild && b->lazy; i++)
      if (b->lazy >> i & 1)
        bag_entry(b, 0, b->tagged ? o->wild_tags[i] : NO_SENDER, 1, true);
  }
  const struct list *effects = step_effects(b->space, b->context, b->bag.at, b->bag.n);
  for (uint32_t i = 0; i < effects->n; i++)
    line_add(b, effects->at[i], mask);
}

/* --- messages made up --- */

/* Corruption: up to corrupt_each of what is heard is replaced by anything. */
static void corrupt(struct builder *b, uint32_t group, uint64_t message) {
  receive_this(b);
  if ((int64_t)b->ncorrupted >= b->rules->corrupt_each || round_stopped(b->space))
    return;
  b->ncorrupted++;
  b->cost += b->rules->corrupt_charged;
  for (uint32_t i = group; i < b->offer->n; i++) {
    if (b->offer->groups[i].silent || b->removed[i] >= b->heard[i])
      continue;
    b->removed[i]++;
    for (uint64_t k = i > group ? 0 : message; k < b->type->count; k++) {
      vec_push(&b->forged, type_nth(&b->space->model->values, b->type, k));
      vec_push(&b->forged_tag, b->tagged ? b->offer->groups[i].tag : NO_SENDER);
      corrupt(b, i, k);
      b->forged.n--;
      b->forged_tag.n--;
    }
    b->removed[i]--;
  }
  b->cost -= b->rules->corrupt_charged;
  b->ncorrupted--;
}

static void then_corrupt(struct builder *b) {
  if (b->rules->corrupts && b->type && b->reads->received != RECEIVED_UNREAD)
    corrupt(b, 0, 0);
  else
    receive_this(b);
}

/* Each Byzantine sender: silent, or any message; who says what does not matter unless senders are told apart. */
static void lie(struct builder *b, uint32_t sender, uint64_t message) {
  const struct offer *o = b->offer;
  if (round_stopped(b->space))
    return;
  if (sender == o->wild) {
    then_corrupt(b);
    return;
  }
  if (!b->tagged)
    then_corrupt(b); /* the rest is silent */
  else
    lie(b, sender + 1, 0);
  for (uint64_t k = message; k < b->type->count; k++) {
    vec_push(&b->forged, type_nth(&b->space->model->values, b->type, k));
    vec_push(&b->forged_tag, b->tagged ? o->wild_tags[sender] : NO_SENDER);
    lie(b, sender + 1, b->tagged ? 0 : k);
    b->forged.n--;
    b->forged_tag.n--;
  }
}

/* Message types too large to go through: open messages, whose parts the interpreter chooses as they are read. */
static void lie_lazily(struct builder *b) {
  for (uint64_t set = 0; set < UINT64_C(1) << b->offer->wild; set++) {
    if (!b->tagged && (set & (set + 1)))
      continue; /* who is silent does not matter */
    b->lazy = set;
    then_corrupt(b);
  }
  b->lazy = 0;
}

static void with_heard(struct builder *b) {
  const struct offer *o = b->offer;
  if (!o->wild || !b->type || b->reads->received == RECEIVED_UNREAD)
    then_corrupt(b);
  else if (b->type->count <= DOMAIN_MAX)
    lie(b, 0, 0);
  else
    lie_lazily(b);
}

static void choose_heard(struct builder *b, uint32_t i) {
  const struct offer *o = b->offer;
  if (i == o->n) {
    with_heard(b);
    return;
  }
  const struct group *g = &o->groups[i];
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
      h = 1; /* next: none of them */
    }
  }
  b->cost = cost;
}

static uint32_t menu_compute(struct round_space *s, uint32_t context, const struct rules *rules,
                             const struct offer *offer) {
  const value *c = intern_at(s->contexts, context);
  uint32_t role = (uint32_t)c[1], point = (uint32_t)c[2];
  struct builder b = {.space = s, .context = context, .rules = rules, .offer = offer};
  b.reads = s->updates[(size_t)role * s->model->npoints + point];
  b.type = s->model->roles[role].body[point].received;
  b.every_cost = rules->lossy && s->all_costs;
  b.counts = b.reads->counts || b.every_cost || rules->corrupts || losses_by_size(rules);
  b.tagged = b.reads->received == RECEIVED_SENDERS || b.reads->received == RECEIVED_NAMED;
  b.sizes = memory_alloc((rules->nsizes + 1) * sizeof *b.sizes);
  for (uint32_t i = 0; i < rules->nsizes && !offer->allowed; i++)
    if (rules->sizes[i].role == role && (!rules->sizes[i].followed || offer->sized >> i & 1))
      b.sizes[b.nsizes++] = &rules->sizes[i];
  b.heard = memory_alloc((offer->n + 1) * sizeof *b.heard);
  b.removed = memory_alloc((offer->n + 1) * sizeof *b.removed);
  if (!regions_build(&b) && !subbags_build(&b))
    choose_heard(&b, 0);
  struct menu menu = {keep_array(&s->arena, b.lines.at, b.lines.n, sizeof *b.lines.at), (uint32_t)b.lines.n};
  vec_push(&s->menus, menu);
  memory_free(b.sizes);
  memory_free(b.heard);
  memory_free(b.removed);
  vec_release(&b.forged);
  vec_release(&b.forged_tag);
  vec_release(&b.bag);
  vec_release(&b.lines);
  return (uint32_t)s->menus.n - 1;
}

static uint32_t offer_intern(struct round_space *s, uint32_t rules_index, const struct offer *o, bool add) {
  size_t n = 7 + 5 * (size_t)o->n + o->wild;
  value small[128], *v = n <= 128 ? small : memory_alloc(n * sizeof *v);
  size_t k = 0;
  v[k++] = rules_index;
  v[k++] = o->wild;
  v[k++] = o->need;
  v[k++] = o->exact;
  v[k++] = o->sized;
  v[k++] = o->allowed;
  v[k++] = o->n;
  /* who it is itself matters only where sizes or losses are counted */
  bool self = s->rules[rules_index]->lossy || s->rules[rules_index]->nsizes;
  for (uint32_t i = 0; i < o->n; i++) {
    const struct group *g = &o->groups[i];
    v[k++] = g->message;
    v[k++] = g->silent | (self && g->self) << 1;
    v[k++] = g->tag;
    v[k++] = g->count;
    v[k++] = g->must;
  }
  for (uint32_t i = 0; i < o->wild; i++)
    v[k++] = o->wild_tags[i];
  uint32_t id = add ? intern_put(s->offers, v, k) : intern_find(s->offers, v, k);
  if (v != small)
    memory_free(v);
  return id;
}

uint32_t offer_put(struct round_space *s, uint32_t rules_index, const struct offer *o) {
  return offer_intern(s, rules_index, o, true);
}

uint32_t offer_find(struct round_space *s, uint32_t rules_index, const struct offer *o) {
  return offer_intern(s, rules_index, o, false);
}

uint32_t menu_of(struct round_space *s, uint32_t context, const struct rules *rules, const struct offer *o,
                 uint32_t id) {
  uint32_t menu;
  if (!memo_find(&s->menus_of, context, id, &menu)) {
    menu = menu_compute(s, context, rules, o);
    if (!round_stopped(s))
      memo_add(&s->menus_of, context, id, menu);
  }
  return menu;
}
