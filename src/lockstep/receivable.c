/* The messages that each process may receive in a round: senders are grouped by what the receiver can distinguish. */
#include "lockstep/expansion.h"
#include "lockstep/lockstep_local_steps.h"
#include "lockstep/outcome_product.h"
#include "lockstep/outcome_set.h"

#include <string.h>

bool actor_excused(const struct lockstep *s, const struct actor *sender, const struct actor *receiver) {
  value from = local_status(&s->pack, sender->original), to = local_status(&s->pack, receiver->original);
  return sender->crashing || (from & (STATUS_CRASHED | STATUS_OMITS_SEND | STATUS_BYZANTINE)) ||
         (to & STATUS_OMITS_RECEIVE);
}

/* The message from a sender to a receiver, NULL if none. `self`: the sender is the receiver itself. */
static const struct local_send *message_to(struct expansion *x, const struct actor *sender,
                                           const struct actor *receiver, bool self) {
  const struct lockstep *s = x->system;
  const struct local_send *found = NULL;
  if (sender->idle || sender->sending == UINT32_MAX)
    return NULL;
  const struct local_send_list *out = &s->local.round_sends.at[sender->sending];
  for (size_t i = 0; i < out->n; i++) {
    const struct local_send *one = &out->at[i];
    bool reaches;
    if (one->target == TARGET_OTHERS)
      reaches = !self;
    else if (one->target == TARGET_SET)
      reaches = one->to_role == ROLE_ANY || one->to_role == receiver->role;
    else
      reaches = round_send_reaches(s->model, one, sender->process, receiver->process);
    if (!reaches)
      continue;
    if (found) {
      struct model_error *error = arena_alloc(&x->system->arena, sizeof *error);
      *error = (struct model_error){"two messages to one receiver in a round", one->at, sender->process};
      x->send_error = error;
    }
    found = one;
  }
  return found;
}

/* Checks that no process sends two messages to one receiver, even if that receiver does not hear them or is not active.
 */
bool sends_agree(struct expansion *x) {
  const struct lockstep *s = x->system;
  for (uint32_t i = 0; i < x->actors.n; i++) {
    const struct actor *a = &x->actors.at[i];
    if (a->idle || a->sending == UINT32_MAX || s->local.round_sends.at[a->sending].n < 2)
      continue;
    for (uint32_t k = 0; k < x->actors.n && !x->send_error; k++) {
      if (i == k)
        message_to(x, a, a, true);
      if (i != k || a->count > 1)
        message_to(x, a, &x->actors.at[k], false);
    }
    if (x->send_error)
      return false;
  }
  return true;
}

/* Ids of compound values depend on the order of interning; results must not depend on it. */
static bool is_compound(const struct type *t) {
  while (t && t->kind == TYPE_OPTION)
    t = t->element;
  return t && (t->kind == TYPE_RECORD || t->kind == TYPE_ARRAY || t->kind == TYPE_SEQUENCE ||
               (t->kind == TYPE_SET && !t->mask));
}

bool message_before(const struct model *m, const struct type *t, value a, value b) {
  return is_compound(t) ? value_compare(&m->values, t, a, b) < 0 : a < b;
}

/* Returns the serial number of its group. */
static uint32_t add_group(struct round_receivable *o, struct sender_group g, const struct model *m,
                          const struct type *received) {
  for (uint32_t i = 0; i < o->n; i++) {
    struct sender_group *old = &o->groups[i];
    if (old->silent == g.silent && old->message == g.message && old->tag == g.tag) {
      old->count += g.count;
      old->must += g.must;
      old->self |= g.self;
      return old->serial;
    }
  }
  uint32_t at = o->n++;
  g.serial = at;
  for (; at > 0; at--) {
    const struct sender_group *p = &o->groups[at - 1];
    bool before = p->silent != g.silent     ? p->silent < g.silent
                  : p->message != g.message ? message_before(m, received, p->message, g.message)
                                            : p->tag < g.tag;
    if (before)
      break;
    o->groups[at] = *p;
  }
  o->groups[at] = g;
  return g.serial;
}

static bool senders_explicit(const struct expansion *x) {
  return x->system->form.explicit_senders || x->rules->nfilters;
}

/* Can the receiver or a condition distinguish this sender from another one with the same message? */
static uint32_t tag_for(struct expansion *x, const struct actor *sender, const struct list *named,
                        const struct read_set *reads) {
  const struct lockstep *s = x->system;
  if (s->pack.bag)
    return NO_SENDER;
  if (!s->form.group || senders_explicit(x) || reads->received == RECEIVED_SENDERS)
    return sender->process;
  if (reads->received == RECEIVED_NAMED)
    for (uint32_t i = 0; i < named->n; i++)
      if (named->at[i] == sender->process)
        return sender->process;
  return NO_SENDER;
}

/* The senders that the update names, computed from the local state; all senders if they cannot be computed. */
static struct list named_senders(struct expansion *x, const struct actor *r, const struct read_set *reads) {
  struct lockstep *s = x->system;
  struct list l = {NULL, 0};
  if (reads->received != RECEIVED_NAMED)
    return l;
  uint32_t projection = projection_of(s, r->local, x->from->point, r->process, x->from->phase, x->from->globals);
  uint32_t id;
  if (memo_find(&s->local.named_of, projection, 0, &id))
    return s->local.lists.at[id];
  uint32_t n = s->model->nprocesses, count = 0;
  uint32_t *at = memory_alloc((n + reads->nnamed + 1) * sizeof *at);
  value *local = memory_alloc((s->interp->max_local + 1) * sizeof *local);
  memcpy(local, local_values(&s->pack, r->local), role_local_length(&s->model->roles[r->role]) * sizeof *local);
  struct eval *e = &s->eval;
  jmp_buf failure;
  local_begin(e, s->interp, r->process, x->from->point, x->from->phase, local,
              intern_at(s->pack.vectors, x->from->globals));
  e->failure = &failure;
  if (setjmp(failure) == 0) {
    for (uint32_t i = 0; i < reads->nnamed; i++)
      at[i] = (uint32_t)eval_node(e, reads->named[i]);
    count = reads->nnamed;
  } else {
    for (uint32_t i = 0; i < n; i++)
      at[i] = i;
    count = n;
  }
  struct list kept = {arena_keep_array(&s->arena, at, count, sizeof *at), count};
  vec_push(&s->local.lists, kept);
  memo_add(&s->local.named_of, projection, 0, (uint32_t)s->local.lists.n - 1);
  memory_free(at);
  memory_free(local);
  return kept;
}

static void receivable_from(struct expansion *x, struct round_receivable *o, uint32_t sender, uint32_t receiver,
                            const struct read_set *reads, const struct list *named, const uint32_t *uniform) {
  const struct actor *a = &x->actors.at[sender], *r = &x->actors.at[receiver];
  uint32_t available = uniform ? uniform[sender] : a->count;
  bool must = !actor_excused(x->system, a, r), unread = reads->received == RECEIVED_UNREAD;
  uint32_t tag = unread && !senders_explicit(x) ? NO_SENDER : tag_for(x, a, named, reads);
  if (local_status(&x->system->pack, a->original) & STATUS_BYZANTINE) {
    for (uint32_t i = 0; i < available; i++)
      o->byzantine_tags[o->nbyzantine++] = x->system->pack.bag ? NO_SENDER : a->process;
    return;
  }
  const struct type *received =
      unread ? NULL : x->system->model->roles[local_role(&x->system->pack, r->original)].body[x->from->point].received;
  bool includes_self = sender == receiver;
  uint32_t self = includes_self ? 1 : 0;
  if (uniform && includes_self)
    self = available == a->count; /* in a bag, it cannot matter whether the receiver is among those heard */
  for (int own = 0; own < 2; own++) {
    uint32_t count = own ? self : available - self;
    if (count == 0)
      continue;
    const struct local_send *m = message_to(x, a, r, own);
    if (!m && !x->rules->heard_matters)
      continue;
    struct sender_group g = {.message = m && !unread ? m->message : 0,
                             .silent = !m,
                             .self = own,
                             .tag = tag,
                             .count = count,
                             .must = own || must ? count : 0};
    if (!m && !senders_explicit(x))
      g.tag = NO_SENDER;
    uint32_t serial = add_group(o, g, x->system->model, received);
    if (o->group_of)
      o->group_of[2 * sender + (uint32_t)own] = 1 + serial;
  }
}

/* Converts serial numbers to indices: groups moved when others were inserted before them. */
static void number_groups(struct round_receivable *o, uint32_t nactors) {
  uint32_t *place = o->group_of + 2 * (size_t)nactors;
  for (uint32_t i = 0; i < o->n; i++)
    place[o->groups[i].serial] = i;
  for (uint32_t i = 0; i < 2 * nactors; i++)
    if (o->group_of[i])
      o->group_of[i] = 1 + place[o->group_of[i] - 1];
}

/* The group of the actor's message to the receiver. */
static uint32_t group_with(const struct round_receivable *o, uint32_t actor) {
  uint32_t others = o->group_of[2 * actor], own = o->group_of[2 * actor + 1];
  uint32_t first = others && (!own || others < own) ? others : own;
  return first ? first - 1 : UINT32_MAX;
}

/* Must it be known which senders are in which group? */
static bool needs_group_of(const struct expansion *x) {
  return x->on_derivation || x->rules->coupling == COUPLED_KERNEL || x->rules->coupling == COUPLED_NOSPLIT;
}

/* False: the kernel sends nothing that can be heard, or there is a model error (x->send_error). */
bool receivable_make(struct expansion *x, uint32_t receiver, uint32_t kernel, const uint32_t *uniform) {
  struct lockstep *s = x->system;
  struct actor *r = &x->actors.at[receiver];
  const struct read_set *reads = s->local.updates[(size_t)r->role * s->model->npoints + x->from->point];
  uint32_t n = (uint32_t)x->actors.n;
  struct round_receivable *o = &r->receivable;
  if (!o->groups) { /* one block for the three arrays */
    uint32_t nbyzantine = 0;
    for (uint32_t i = 0; i < n; i++)
      if (local_status(&s->pack, x->actors.at[i].original) & STATUS_BYZANTINE)
        nbyzantine += x->actors.at[i].count;
    size_t ngroups = 2 * (size_t)n + 1, ngroup_of = needs_group_of(x) ? 4 * (size_t)n + 1 : 0;
    o->groups = memory_alloc(ngroups * sizeof *o->groups + (ngroup_of + nbyzantine) * sizeof(uint32_t));
    uint32_t *rest = (uint32_t *)(void *)(o->groups + ngroups);
    o->group_of = ngroup_of ? rest : NULL;
    o->byzantine_tags = rest + ngroup_of;
  }
  o->n = o->nbyzantine = 0;
  if (o->group_of)
    memset(o->group_of, 0, 2 * n * sizeof *o->group_of);
  o->need = UINT32_MAX;
  o->exact = uniform != NULL;
  o->allowed = uniform ? 0 : allowed_sets(x, r); /* for uniform rounds this was checked by uniform_allowed */
  o->sized = 0;
  for (uint32_t i = 0; i < x->rules->nsizes; i++)
    if (x->rules->sizes[i].followed && actor_followed(x, r, x->rules->sizes[i].followed - 1))
      o->sized |= UINT32_C(1) << i;
  struct list named = named_senders(x, r, reads);
  for (uint32_t i = 0; i < n; i++)
    receivable_from(x, o, i, receiver, reads, &named, uniform);
  if (x->send_error)
    return false;
  if (o->group_of)
    number_groups(o, n);
  if (kernel != UINT32_MAX) {
    o->need = group_with(o, kernel);
    return o->need != UINT32_MAX;
  }
  return true;
}

void receivable_release(struct round_receivable *o) {
  memory_free(o->groups);
  memset(o, 0, sizeof *o);
}
