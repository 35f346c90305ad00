#include "steps/may_enable.h"

#include "interp/local.h"
#include "steps/guard_eval.h"
#include "system/memo.h"

struct may_enable {
  struct state_cells *cells;
  const struct stable_predicates *stable;
  bool recovers;
  struct memo locals, now, channels; /* -> indices into masks */
  VEC(uint64_t) masks;               /* sets of actions */
};

static bool mask_find(const struct may_enable *h, const struct memo *m, uint64_t a, uint64_t b, uint64_t *mask) {
  uint32_t place;
  if (!memo_find(m, a, b, &place))
    return false;
  *mask = h->masks.at[place];
  return true;
}

static uint64_t mask_add(struct may_enable *h, struct memo *m, uint64_t a, uint64_t b, uint64_t mask) {
  memo_add(m, a, b, (uint32_t)h->masks.n);
  vec_push(&h->masks, mask);
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
  for (uint32_t r = 0; r < c->model->nroles; r++)
    if (c->model->roles[r].nactions > MAY_ENABLE_ACTIONS)
      return NULL;
  struct may_enable *h = memory_alloc(sizeof *h);
  h->cells = c;
  h->stable = stable_predicates_of(c->model, c->query, &c->arena);
  h->recovers = crash_recovers(c);
  return h;
}

void may_enable_free(struct may_enable *h) {
  if (!h)
    return;
  memo_release(&h->locals);
  memo_release(&h->now);
  memo_release(&h->channels);
  vec_release(&h->masks);
  memory_free(h);
}

size_t may_enable_bytes(const struct may_enable *h) {
  return memo_bytes(&h->locals) + memo_bytes(&h->now) + memo_bytes(&h->channels) + h->masks.cap * sizeof *h->masks.at;
}

/* The traits of operators that can be evaluated from their operands and the identity of the process alone. */
#define KNOWN_TRAITS                                                                                                   \
  (TRAIT_SELF | TRAIT_PROCESSES | TRAIT_NUMBERED | TRAIT_BINDS | TRAIT_MULTIPLICITY | TRAIT_ORDERS | TRAIT_FAILS |     \
   TRAIT_CALLS)

static void begin(struct may_enable *h, struct guard_eval *g, uint32_t p, content local) {
  guard_eval_begin(g, h->cells, p, local, ~(unsigned)KNOWN_TRAITS);
}

/* Is a necessary condition false forever, with no condition before it that can fail? */
static bool is_disabled_forever(struct may_enable *h, struct guard_eval *g) {
  uint32_t number = (uint32_t)(g->action - h->cells->model->roles[g->role].actions);
  return guard_any_false(g, action_necessary_conditions(h->stable, g->role, number));
}

/* --- local states --- */

uint64_t may_enable_of_local(struct may_enable *h, uint32_t p, content local) {
  uint64_t mask = 0;
  if (mask_find(h, &h->locals, p, local, &mask))
    return mask;
  struct guard_eval g;
  begin(h, &g, p, local);
  const struct role *role = &h->cells->model->roles[g.role];
  value status = g.local[LOCAL_STATUS];
  if (h->recovers && !(status & (STATUS_BYZANTINE | STATUS_HALTED)))
    mask = (UINT64_C(1) << role->nactions) - 1; /* a crash and a recovery may lead to any program point */
  else if (process_active(status))
    for (uint32_t i = 0; i < role->nactions; i++) {
      g.action = &role->actions[i];
      bool never = guard_out_of_reach(&g, h->stable) || guard_used_up(&g) || is_disabled_forever(h, &g);
      mask |= (uint64_t)!never << i;
    }
  guard_eval_end(&g);
  return mask_add(h, &h->locals, p, local, mask);
}

uint64_t disabled_now_of_local(struct may_enable *h, uint32_t p, content local) {
  uint64_t mask = 0;
  if (mask_find(h, &h->now, p, local, &mask))
    return mask;
  struct guard_eval g;
  begin(h, &g, p, local);
  for (uint32_t i = 0; i < h->cells->model->roles[g.role].nactions; i++)
    mask |= (uint64_t)!action_open(h->cells->model, g.role, g.local, i) << i;
  guard_eval_end(&g);
  return mask_add(h, &h->now, p, local, mask);
}

/* --- messages --- */

static uint64_t may_take_message(struct may_enable *h, struct guard_eval *g, uint64_t open,
                                 const struct inbox_entry *in) {
  const struct role *role = &h->cells->model->roles[g->role];
  uint64_t mask = 0;
  g->in = in;
  for (uint32_t i = 0; i < role->nactions; i++) {
    g->action = &role->actions[i];
    if (open >> i & 1 && g->action->trigger != TRIGGER_NONE && g->action->kind == in->kind)
      mask |= (uint64_t)!is_disabled_forever(h, g) << i;
  }
  return mask;
}

uint64_t may_enable_of_channel(struct may_enable *h, uint32_t p, content local, uint32_t x, content channel) {
  uint64_t key = (uint64_t)(p * h->cells->model->nprocesses + x) << 32 | channel, mask = 0;
  if (channel == 0 || mask_find(h, &h->channels, key, local, &mask))
    return mask;
  uint64_t open = may_enable_of_local(h, p, local);
  uint32_t cell = h->cells->channel[x * h->cells->model->nprocesses + p], n;
  const value *v = content_values(h->cells, cell, channel, &n);
  struct guard_eval g;
  begin(h, &g, p, local);
  for (uint32_t i = 0; i + 2 < n; i += 3) {
    struct inbox_entry in = {.from = x, .kind = (uint32_t)v[i + 1], .message = v[i + 2]};
    mask |= may_take_message(h, &g, open, &in);
    v = content_values(h->cells, cell, channel, &n); /* the table may have moved */
  }
  guard_eval_end(&g);
  return mask_add(h, &h->channels, key, local, mask);
}
