/* Outcome sets where every message may be lost: the updates of a bag are those of receiving all of it, and those of the
   bag without one of its messages. So bags share their sub-bags, and each bag is handled once. Without it,
   one_third_rule with n = 14, k = 7 takes twice the time. */
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_builder.h"
#include "lockstep/outcome_set.h"

#include <string.h>

#define BAG_MOST (64 * BAG_ENTRY)

/* Sets of updates, sorted, in system->vectors. */
static uint32_t set_united(struct lockstep *s, uint32_t a, uint32_t b) {
  if (a == b)
    return a;
  size_t na = intern_length(s->vectors, a), nb = intern_length(s->vectors, b), n = 0, i = 0, k = 0;
  const value *pa = intern_at(s->vectors, a), *pb = intern_at(s->vectors, b);
  value *v = memory_alloc((na + nb + 1) * sizeof *v);
  while (i < na || k < nb) {
    bool first = k == nb || (i < na && pa[i] <= pb[k]);
    value next = first ? pa[i] : pb[k];
    i += i < na && pa[i] == next;
    k += k < nb && pb[k] == next;
    v[n++] = next;
  }
  uint32_t set = intern_put(s->vectors, v, n);
  memory_free(v);
  return set;
}

static uint32_t set_of_list(struct lockstep *s, const struct list *l) {
  uint32_t set = intern_put(s->vectors, NULL, 0);
  for (uint32_t i = 0; i < l->n; i++) {
    value one = l->at[i];
    set = set_united(s, set, intern_put(s->vectors, &one, 1));
  }
  return set;
}

/* The bag without one copy of its i-th message. */
static size_t bag_without(const value *bag, size_t length, size_t i, value *out) {
  memcpy(out, bag, length * sizeof *out);
  if (--out[i + 2] > 0)
    return length;
  memmove(out + i, out + i + BAG_ENTRY, (length - i - BAG_ENTRY) * sizeof *out);
  return length - BAG_ENTRY;
}

static uint32_t updates_within(struct lockstep *s, uint32_t projection, const value *bag, size_t length) {
  uint32_t id = intern_put(s->local.bags, bag, length), set;
  if (memo_find(&s->outcomes.within_bag, projection, id, &set))
    return set;
  value part[BAG_MOST];
  set = set_of_list(s, step_updates(s, projection, bag, length));
  for (size_t i = 0; i < length && !lockstep_stopped(s); i += BAG_ENTRY) {
    size_t n = bag_without(bag, length, i, part);
    set = set_united(s, set, updates_within(s, projection, part, n));
  }
  if (!lockstep_stopped(s))
    memo_add(&s->outcomes.within_bag, projection, id, set);
  return set;
}

static bool set_includes(const struct lockstep *s, uint32_t set, uint32_t update) {
  const value *v = intern_at(s->vectors, set);
  for (size_t i = 0; i < intern_length(s->vectors, set); i++)
    if (v[i] == (value)update)
      return true;
  return false;
}

static bool has_update(struct outcome_builder *b, uint32_t update, const value *bag, size_t length) {
  const struct list *l = step_updates(b->system, b->projection, bag, length);
  for (uint32_t i = 0; i < l->n; i++)
    if (l->at[i] == update)
      return true;
  return false;
}

/* An example: a sub-bag that leads to the update; stored in b->heard. */
static void find_example(struct outcome_builder *b, uint32_t update, const value *offered, size_t length) {
  value bag[BAG_MOST], part[BAG_MOST];
  memcpy(bag, offered, length * sizeof *bag);
  while (!lockstep_stopped(b->system) && !has_update(b, update, bag, length))
    for (size_t i = 0; i < length; i += BAG_ENTRY) {
      size_t n = bag_without(bag, length, i, part);
      if (set_includes(b->system, updates_within(b->system, b->projection, part, n), update)) {
        memcpy(bag, part, n * sizeof *bag);
        length = n;
        break;
      }
    }
  for (uint32_t g = 0; g < b->receivable->n; g++) {
    const struct sender_group *group = &b->receivable->groups[g];
    b->heard[g] = group->silent ? group->count : 0;
    for (size_t i = 0; i < length && !group->silent; i += BAG_ENTRY)
      if (bag[i] == group->message && bag[i + 1] == (group->tag == NO_SENDER ? -1 : (value)group->tag))
        b->heard[g] = b->counts ? (uint32_t)bag[i + 2] : group->count;
  }
}

bool outcomes_by_subbags(struct outcome_builder *b) {
  const struct round_receivable *o = b->receivable;
  struct lockstep *s = b->system;
  value bag[BAG_MOST];
  size_t length = 0;
  if (s->outcomes.by == OUTCOMES_BY_ENUMERATION || o->nbyzantine || o->exact || o->need != UINT32_MAX || b->nsizes ||
      o->allowed || b->rules->delivers || b->rules->corrupts || b->rules->coupling == COUPLED_NOSPLIT ||
      b->reads->received == RECEIVED_UNREAD || o->n > 60)
    return false;
  uint64_t messages = 0;
  for (uint32_t i = 0; i < o->n; i++) {
    const struct sender_group *g = &o->groups[i];
    if (g->silent)
      continue;
    messages += g->count;
    bag[length] = g->message;
    bag[length + 1] = g->tag == NO_SENDER ? -1 : (value)g->tag;
    bag[length + 2] = b->counts ? g->count : 1;
    bag[length + 3] = 0;
    length += BAG_ENTRY;
  }
  if (messages > 1000) /* limits the depth of the recursion */
    return false;
  uint32_t set = updates_within(s, b->projection, bag, length);
  b->size = UINT32_MAX;
  for (size_t i = 0; i < intern_length(s->vectors, set); i++) {
    uint32_t update = (uint32_t)intern_at(s->vectors, set)[i];
    find_example(b, update, bag, length);
    outcome_add(b, update);
  }
  return true;
}
