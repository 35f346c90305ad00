#include "steps/may_enable.h"

#include "analysis/dataflow.h"
#include "base/hash.h"
#include "base/memory.h"
#include "interp/local.h"
#include "lockstep/state_pack.h"

#include <string.h>

/* (a, b) -> a set of actions */
struct mask_slot {
  uint64_t a, b, mask;
  bool used;
};
struct mask_memo {
  struct mask_slot *slot;
  size_t capacity, count;
};

struct may_enable {
  struct state_cells *cells;
  const struct stable_predicates *stable;
  bool recovers;
  struct mask_memo locals, now, channels;
  value *local; /* scratch: a copy that the interpreter may hold */
  value *globals;
};

static struct mask_slot *mask_find(struct mask_memo *m, uint64_t a, uint64_t b) {
  size_t i = hash_mix(a, b) & (m->capacity - 1);
  while (m->slot[i].used && (m->slot[i].a != a || m->slot[i].b != b))
    i = (i + 1) & (m->capacity - 1);
  return &m->slot[i];
}

static struct mask_slot *mask_at(struct mask_memo *m, uint64_t a, uint64_t b) {
  if (2 * (m->count + 1) > m->capacity) {
    struct mask_memo old = *m;
    m->capacity = old.capacity ? 2 * old.capacity : 256;
    m->slot = memory_alloc(m->capacity * sizeof *m->slot);
    for (size_t i = 0; i < old.capacity; i++)
      if (old.slot[i].used)
        *mask_find(m, old.slot[i].a, old.slot[i].b) = old.slot[i];
    memory_free(old.slot);
  }
  return mask_find(m, a, b);
}

static uint64_t mask_keep(struct mask_memo *m, uint64_t a, uint64_t b, uint64_t mask) {
  *mask_at(m, a, b) = (struct mask_slot){a, b, mask, true};
  m->count++;
  return mask;
}

static bool crash_recovers(const struct state_cells *c) {
  const struct environment *env = &c->model->environments[c->query->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CRASH && env->clauses[i].recovers)
      return true;
  return false;
}

struct may_enable *may_enable_new(struct state_cells *c) {
  uint32_t longest = 1;
  for (uint32_t r = 0; r < c->model->nroles; r++) {
    if (c->model->roles[r].nactions > MAY_ENABLE_ACTIONS)
      return NULL;
    if (role_local_length(&c->model->roles[r]) > longest)
      longest = role_local_length(&c->model->roles[r]);
  }
  struct may_enable *h = memory_alloc(sizeof *h);
  h->cells = c;
  h->stable = stable_predicates_of(c->model, c->query, &c->arena);
  h->recovers = crash_recovers(c);
  h->local = memory_alloc(longest * sizeof *h->local);
  h->globals = memory_alloc((c->model->nglobals + 1) * sizeof *h->globals);
  return h;
}

void may_enable_free(struct may_enable *h) {
  if (!h)
    return;
  memory_free(h->locals.slot);
  memory_free(h->now.slot);
  memory_free(h->channels.slot);
  memory_free(h->local);
  memory_free(h->globals);
  memory_free(h);
}

size_t may_enable_bytes(const struct may_enable *h) {
  return (h->locals.capacity + h->now.capacity + h->channels.capacity) * sizeof(struct mask_slot);
}

/* --- conditions --- */

struct guard_query {
  struct may_enable *may_enable;
  const struct role *role;
  uint32_t role_index, me;
  const struct action *action;
  const struct inbox_entry *message; /* NULL: none is at hand */
};

struct guard_reads {
  const struct guard_query *guard_query;
  bool unknown; /* reads what is not at hand */
};

/* What an operator may have that needs nothing but its parts, or who the process is. */
#define KNOWN_TRAITS                                                                                                   \
  (TRAIT_SELF | TRAIT_PROCESSES | TRAIT_NUMBERED | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS | TRAIT_FAILS |     \
   TRAIT_CALLS)

static bool note_guard_read(void *context, const struct node *n) {
  struct guard_reads *r = context;
  const struct guard_query *a = r->guard_query;
  if (n->op == NODE_VAR)
    r->unknown |= a->may_enable->local[LOCAL_VAR(n->index)] == VALUE_DONT_CARE;
  else if (n->op == NODE_SLOT || n->op == NODE_SENDER)
    r->unknown |= !a->message;
  else
    r->unknown |= (op_traits(n->op) & ~(unsigned)KNOWN_TRAITS) != 0;
  return true;
}

static bool is_known(const struct guard_query *a, const struct node *condition) {
  struct guard_reads r = {a, false};
  node_walk_deep(a->may_enable->cells->model, condition, note_guard_read, &r);
  return !r.unknown;
}

static bool is_false(const struct guard_query *a, const struct node *condition) {
  struct may_enable *h = a->may_enable;
  struct eval e;
  jmp_buf failure;
  struct choices none = {0};
  local_begin(&e, h->cells->interp, a->me, 0, 1, h->local, h->globals);
  e.choices = &none;
  e.failure = &failure;
  if (setjmp(failure)) {
    choices_release(&none);
    return false;
  }
  if (a->message) {
    const struct action *x = a->action;
    size_t n;
    e.slot[x->slot] = a->message->message;
    e.slot_sender[x->slot] = a->message->from;
    if (x->from_slot != NO_SLOT)
      e.slot[x->from_slot] = a->message->from;
    const value *parts = x->nparts ? value_parts(e.values, a->message->message, &n) : NULL;
    for (uint32_t i = 0; i < x->nparts; i++)
      e.slot[x->parts[i].slot] = parts[x->parts[i].field];
  }
  bool result = !eval_true(&e, condition);
  bool certain = none.taken.n == 0;
  choices_release(&none);
  return result && certain;
}

/* One of the conditions that must hold is false for good, and nothing that comes before it can fail. */
static bool is_disabled_forever(const struct guard_query *a) {
  uint32_t number = (uint32_t)(a->action - a->role->actions);
  const struct condition_list *vetoes = action_necessary_conditions(a->may_enable->stable, a->role_index, number);
  for (uint32_t i = 0; i < vetoes->n; i++)
    if (is_known(a, vetoes->at[i]) && is_false(a, vetoes->at[i]))
      return true;
  return false;
}

/* --- local states --- */

static void load_local(struct may_enable *h, uint32_t p, content local) {
  uint32_t n;
  const value *v = content_values(h->cells, p, local, &n);
  memcpy(h->local, v, n * sizeof *v);
}

static uint64_t all_actions(const struct role *role) { return (UINT64_C(1) << role->nactions) - 1; }

static bool may_enable_locally(struct guard_query *a) {
  const struct action *x = a->action;
  const value *local = a->may_enable->local;
  if (a->role->point_var != NO_VAR) {
    value at = local[LOCAL_VAR(a->role->point_var)];
    if (x->point != ANY_POINT && at != VALUE_DONT_CARE &&
        !point_reaches(a->may_enable->stable, a->role_index, (uint32_t)at, x->point))
      return false;
  }
  if (x->once != NO_VAR && local[LOCAL_VAR(x->once)] == 1)
    return false;
  a->message = NULL;
  return !is_disabled_forever(a);
}

uint64_t may_enable_of_local(struct may_enable *h, uint32_t p, content local) {
  struct mask_slot *known = mask_at(&h->locals, p, local);
  if (known->used)
    return known->mask;
  load_local(h, p, local);
  const struct model *m = h->cells->model;
  uint32_t r = model_role_of(m, p);
  const struct role *role = &m->roles[r];
  value status = h->local[LOCAL_STATUS];
  uint64_t mask = 0;
  if (h->recovers && !(status & (STATUS_BYZANTINE | STATUS_HALTED)))
    mask = all_actions(role); /* a crash may take it anywhere */
  else if (process_active(status))
    for (uint32_t i = 0; i < role->nactions; i++) {
      struct guard_query a = {h, role, r, p, &role->actions[i], NULL};
      mask |= (uint64_t)may_enable_locally(&a) << i;
    }
  return mask_keep(&h->locals, p, local, mask);
}

uint64_t disabled_now_of_local(struct may_enable *h, uint32_t p, content local) {
  struct mask_slot *known = mask_at(&h->now, p, local);
  if (known->used)
    return known->mask;
  load_local(h, p, local);
  const struct model *m = h->cells->model;
  uint32_t r = model_role_of(m, p);
  uint64_t mask = 0;
  for (uint32_t i = 0; i < m->roles[r].nactions; i++)
    mask |= (uint64_t)!action_open(m, r, h->local, i) << i;
  return mask_keep(&h->now, p, local, mask);
}

/* --- messages --- */

static uint64_t may_take_message(struct may_enable *h, uint32_t p, uint64_t open, uint32_t x, uint32_t kind,
                                 value message) {
  const struct model *m = h->cells->model;
  uint32_t r = model_role_of(m, p);
  const struct role *role = &m->roles[r];
  struct inbox_entry entry = {.from = x, .kind = kind, .message = message};
  uint64_t mask = 0;
  for (uint32_t i = 0; i < role->nactions; i++) {
    const struct action *action = &role->actions[i];
    if (!(open >> i & 1) || action->trigger == TRIGGER_NONE || action->kind != kind)
      continue;
    struct guard_query a = {h, role, r, p, action, &entry};
    mask |= (uint64_t)!is_disabled_forever(&a) << i;
  }
  return mask;
}

uint64_t may_enable_of_channel(struct may_enable *h, uint32_t p, content local, uint32_t x, content channel) {
  if (channel == 0)
    return 0;
  uint64_t key = (uint64_t)(p * h->cells->model->nprocesses + x) << 32 | channel;
  struct mask_slot *known = mask_at(&h->channels, key, local);
  if (known->used)
    return known->mask;
  uint64_t open = may_enable_of_local(h, p, local), mask = 0;
  uint32_t cell = h->cells->channel[x * h->cells->model->nprocesses + p], n;
  const value *v = content_values(h->cells, cell, channel, &n);
  for (uint32_t i = 0; i + 2 < n; i += 3) {
    load_local(h, p, local);
    mask |= may_take_message(h, p, open, x, (uint32_t)v[i + 1], v[i + 2]);
    v = content_values(h->cells, cell, channel, &n); /* tables may have moved */
  }
  return mask_keep(&h->channels, key, local, mask);
}
