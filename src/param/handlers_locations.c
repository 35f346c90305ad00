/* Reachable locations of one process, and the rules between them. Guards are not evaluated: a rule whose guard never
   holds makes locations that stay empty. */
#include "param/handlers_internal.h"

#include "base/memory.h"
#include "interp/action.h"
#include "model/node.h"

#include <string.h>

uint32_t handler_local_put(struct handler_builder *h, const value *local) {
  value *v = arena_copy(&h->h->arena, local, h->length * sizeof *v);
  for (uint32_t i = 1 + h->b.role->nvars; i < h->length && !h->h->keeps_initial; i++)
    v[i] = 0;
  for (size_t i = 0; i < h->h->locals.n; i++)
    if (memcmp(h->h->locals.at[i], v, h->length * sizeof *v) == 0)
      return (uint32_t)i;
  vec_push(&h->h->locals, v);
  return (uint32_t)h->h->locals.n - 1;
}

static uint32_t location_put(struct handler_builder *h, struct handler_location l) {
  struct handler_system *s = h->h;
  for (size_t i = 0; i < s->locations.n; i++) {
    const struct handler_location *o = &s->locations.at[i];
    if (o->local == l.local && o->sent == l.sent && o->partly == l.partly && o->taken == l.taken &&
        o->doomed == l.doomed) {
      s->locations.at[i].begins |= l.begins;
      return (uint32_t)i;
    }
  }
  if (s->locations.n == LOCATIONS_MAX)
    derive_refuse(&h->b, h->b.role->at, "there are more than %d local states", LOCATIONS_MAX);
  else
    vec_push(&s->locations, l);
  return (uint32_t)s->locations.n - 1;
}

static bool is_unconditional(const struct action_outcome *o) {
  bool any = !o;
  for (size_t i = 0; o && i < o->guards.n; i++)
    any |= o->guards.at[i].cube.n == 0 && !o->guards.at[i].cube.empty;
  return any;
}

static bool rule_put(struct handler_builder *h, struct handler_rule r) {
  if (h->h->rules.n == RULES_MAX)
    return derive_refuse(&h->b, h->b.role->at, "there are more than %d rules", RULES_MAX);
  for (size_t i = 0; i < h->h->rules.n; i++) {
    const struct handler_rule *o = &h->h->rules.at[i];
    if (o->from == r.from && o->to == r.to && o->crashes && r.crashes && (is_unconditional(o->outcome) || o->outcome == r.outcome))
      return true; /* it can crash so in any case */
  }
  vec_push(&h->h->rules, r);
  return !h->b.d->refused;
}

/* ---- crashes ---- */

static uint32_t crashed(struct handler_builder *h, const struct handler_location *from, content_set partly) {
  struct handler_location l = *from;
  value *v = memory_alloc(h->length * sizeof *v);
  memcpy(v, h->h->locals.at[from->local], h->length * sizeof *v);
  v[LOCAL_STATUS] |= STATUS_CRASHED;
  l.local = handler_local_put(h, v);
  l.partly = partly & ~l.sent;
  l.taken = 0;
  l.begins = false;
  memory_free(v);
  return location_put(h, l);
}

/* It crashes after some of the messages of an action were sent to some. */
static bool add_crashes(struct handler_builder *h, uint32_t from, uint32_t action, const struct action_outcome *o) {
  struct handler_location l = h->h->locations.at[from];
  if (!h->crashes || (h->live && !l.doomed))
    return true;
  content_set sent = o ? o->sent & ~l.sent : 0;
  if (!o)
    return rule_put(h, (struct handler_rule){from, crashed(h, &l, 0), NO_ACTION, UINT32_MAX, true, NULL});
  for (content_set part = sent; part; part = (part - 1) & sent)
    if (!rule_put(h, (struct handler_rule){from, crashed(h, &l, part), action, o->message, true, o}))
      return false;
  return true;
}

/* ---- actions ---- */

static bool consumes(const struct action *a) {
  return a->trigger == TRIGGER_ONE || (a->trigger == TRIGGER_QUORUM && a->taken);
}

static bool add_outcome(struct handler_builder *h, uint32_t from, uint32_t action, const struct action_outcome *o) {
  const struct action *a = &h->b.role->actions[action];
  struct handler_location l = h->h->locations.at[from];
  if (o->guards.n == 0)
    return true;
  if (a->trigger != TRIGGER_NONE && l.taken >> a->kind & 1)
    return derive_refuse(&h->b, a->at,
                         "a process that has taken a message '%s' reads such messages again, so it matters which one "
                         "it took",
                         h->b.m->messages[a->kind].name);
  l.local = o->after;
  l.sent |= o->sent;
  l.taken |= consumes(a) ? 1u << a->kind : 0;
  l.begins = false;
  uint32_t to = location_put(h, l);
  return rule_put(h, (struct handler_rule){from, to, action, o->message, false, o}) && add_crashes(h, from, action, o);
}

static bool add_successors(struct handler_builder *h, uint32_t from) {
  const struct role *role = h->b.role;
  const value *local = h->h->locals.at[h->h->locations.at[from].local];
  if (!process_active(local[LOCAL_STATUS]))
    return true;
  for (uint32_t a = 0; a < role->nactions; a++) {
    local = h->h->locals.at[h->h->locations.at[from].local];
    if (!action_open(h->b.m, 0, local, a))
      continue;
    const struct action_outcomes *all = outcomes_of(h, h->h->locations.at[from].local, a);
    if (!all)
      return false;
    for (size_t i = 0; i < all->at.n; i++)
      if (!add_outcome(h, from, a, &all->at.at[i]))
        return false;
  }
  return add_crashes(h, from, NO_ACTION, NULL);
}

/* ---- the beginning ---- */

/* If nobody is Byzantine in the instance, that must be so in all of them. */
static bool check_byzantine(struct handler_builder *h) {
  if (!h->byzantine || h->h->byzantine != UINT32_MAX)
    return true;
  struct term *limit = limit_term(&h->b, CLAUSE_BYZANTINE);
  return (limit->op == TERM_NUMBER && limit->number <= 0) ||
         derive_refuse(&h->b, h->byzantine->at, "no small numbers allow a Byzantine process: give the limit a value");
}

static bool add_initial(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  struct locals initial = {0};
  struct model_error error;
  bool ok = local_initials(d->interp, d->q->environment, d->role->first, NULL, &initial, &error);
  if (!ok)
    derive_refuse(d, error.at, "a first value may fail: %s", error.message);
  for (size_t i = 0; i < initial.n && ok; i++) {
    const value *v = initial.at + i * initial.length;
    if (v[LOCAL_STATUS] & STATUS_BYZANTINE) {
      if (h->h->byzantine == UINT32_MAX)
        h->h->byzantine = location_put(h, (struct handler_location){.local = handler_local_put(h, v), .begins = true});
      continue;
    }
    struct handler_location l = {.local = handler_local_put(h, v), .begins = true};
    location_put(h, l);
    l.doomed = true;
    if (h->live && h->crashes)
      location_put(h, l);
  }
  locals_release(&initial);
  return ok && !d->d->refused && check_byzantine(h);
}

/* Byzantine processes send any message of its type. */
static bool add_forged(struct handler_builder *h) {
  const struct model *m = h->b.m;
  for (uint32_t k = 0; k < m->nmessages && h->byzantine; k++)
    for (uint64_t i = 0; i < m->messages[k].type->count; i++) {
      value message = type_nth(&h->b.interp->model->values, m->messages[k].type, i);
      if (content_find(h->h, k, message) != UINT32_MAX)
        continue;
      if (h->h->contents.n == CONTENTS_MAX)
        return derive_refuse(&h->b, m->messages[k].at, "there are too many different messages");
      vec_push(&h->h->contents, ((struct message_content){k, message}));
    }
  return true;
}

static bool find_initial(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_INITIAL;
  return !*found;
}

static void clear(struct handler_system *s) {
  for (size_t i = 0; i < s->outcomes.n; i++)
    outcomes_release(s->outcomes.at[i]);
  vec_clear(&s->outcomes);
  vec_clear(&s->locations);
  vec_clear(&s->rules);
  s->byzantine = UINT32_MAX;
  s->sends = false;
}

bool handlers_locations(struct handler_builder *h) {
  struct derivation_builder *d = &h->b;
  struct handler_system *s = h->h;
  node_walk_deep(d->m, d->m->properties[d->q->properties[0]].formula, find_initial, &s->keeps_initial);
  if (!add_forged(h))
    return false;
  do { /* messages that are found make further outcomes possible */
    clear(s);
    if (!add_initial(h))
      return false;
    for (uint32_t l = 0; l < s->locations.n; l++)
      if (derive_stopped(d) || !add_successors(h, l))
        return false;
  } while (s->sends);
  return true;
}
