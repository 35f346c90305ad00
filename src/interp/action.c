#include "interp/action.h"
#include "interp/local.h"

#include <string.h>

void outbox_release(struct outbox *out) {
  memory_free(out->at);
  *out = (struct outbox){0};
}

/* --- enabled actions --- */

/* Labels: "start" if the role has such a block, then its steps. */
static bool begins_with_start(const struct role *role) {
  const char **label = role->vars[role->point_var].type->labels;
  return strcmp(label[0], "start") == 0;
}

static bool at_point(const struct role *role, const value *local, const struct action *a) {
  if (role->point_var == NO_VAR)
    return true;
  value at = local[LOCAL_VAR(role->point_var)];
  if (a->point == ANY_POINT)
    return at != 0 || !begins_with_start(role);
  return at == (value)a->point;
}

bool action_open(const struct model *m, uint32_t r, const value *local, uint32_t action) {
  const struct role *role = &m->roles[r];
  const struct action *a = &role->actions[action];
  return process_active(local[LOCAL_STATUS]) && at_point(role, local, a) &&
         (a->once == NO_SLOT || !local[LOCAL_VAR(a->once)]);
}

/* --- one evaluation --- */

static void action_begin(struct eval *e, struct interpreter *interp, uint32_t me, const value *local,
                         const value *globals) {
  local_begin(e, interp, me, 0, 1, (value *)local, globals); /* evaluating a condition assigns nothing */
  e->decisions = interp->decisions;
  interp->interpreted++;
}

/* Binds a message to its slot, and the names in the pattern to its parts. */
static void bind_message(struct eval *e, const struct action *a, const struct inbox_entry *in) {
  e->slot[a->slot] = in->message;
  e->slot_sender[a->slot] = in->from;
  if (a->from_slot != NO_SLOT)
    e->slot[a->from_slot] = in->from;
  size_t n;
  const value *part = value_parts(e->values, in->message, &n);
  for (uint32_t i = 0; i < a->nparts; i++)
    e->slot[a->parts[i].slot] = part[a->parts[i].field];
}

bool action_matches(struct interpreter *interp, uint32_t action, uint32_t me, const value *local, const value *globals,
                    const struct inbox_entry *in, bool *failed, struct model_error *error) {
  const struct model *m = interp->model;
  const struct action *a = &m->roles[model_role_of(m, me)].actions[action];
  *failed = false;
  if (a->trigger == TRIGGER_NONE || in->kind != a->kind)
    return false;
  if (!a->match)
    return true;
  struct eval e;
  jmp_buf failure;
  action_begin(&e, interp, me, local, globals);
  e.failure = &failure;
  if (setjmp(failure)) {
    *failed = true;
    *error = e.error;
    return false;
  }
  bind_message(&e, a, in);
  return eval_true(&e, a->match);
}

bool action_size(struct interpreter *interp, uint32_t action, uint32_t me, const value *local, const value *globals,
                 int64_t *size, struct model_error *error) {
  const struct model *m = interp->model;
  struct eval e;
  jmp_buf failure;
  action_begin(&e, interp, me, local, globals);
  e.failure = &failure;
  if (setjmp(failure)) {
    *error = e.error;
    return false;
  }
  *size = eval_node(&e, m->roles[e.role].actions[action].size);
  return true;
}

/* --- quorums --- */

static bool parts_agree(const struct values *values, const struct action *a, value x, value y) {
  size_t n;
  for (uint32_t i = 0; i < a->nparts; i++) {
    value part = value_parts(values, x, &n)[a->parts[i].field];
    if (part != value_parts(values, y, &n)[a->parts[i].field])
      return false;
  }
  return true;
}

struct quorum_search {
  struct interpreter *interp;
  const struct action *action;
  int64_t size;
  const struct inbox *inbox;
  quorum_fn *visit;
  void *context;
  struct inbox_entry *chosen;
  uint32_t n;
};

static bool same_entry(const struct inbox_entry *a, const struct inbox_entry *b) {
  return a->from == b->from && a->kind == b->kind && a->message == b->message && a->place == b->place &&
         a->forged == b->forged;
}

static bool quorum_complete(const struct quorum_search *g) {
  if (g->n == 0 && g->action->nparts > 0)
    return false;
  return g->action->exactly ? g->n == g->size : g->n >= g->size;
}

/* Extends the quorum from message number i, which is the first one of its sender. */
static bool quorum_search_from(struct quorum_search *g, uint32_t i) {
  if (interpreter_stopped(g->interp))
    return false;
  if (i == g->inbox->n)
    return !quorum_complete(g) || g->visit(g->context, g->chosen, g->n);
  const struct inbox_entry *in = g->inbox->at;
  uint32_t end = i;
  while (end < g->inbox->n && in[end].from == in[i].from)
    end++;
  if (!quorum_search_from(g, end)) /* no message from this sender */
    return false;
  for (uint32_t k = i; k < end; k++) {
    if (k > i && same_entry(&in[k - 1], &in[k]))
      continue;
    if (g->n > 0 && !parts_agree(&g->interp->model->values, g->action, g->chosen[0].message, in[k].message))
      continue;
    g->chosen[g->n++] = in[k];
    bool more = quorum_search_from(g, end);
    g->n--;
    if (!more)
      return false;
  }
  return true;
}

bool action_quorums(struct interpreter *interp, uint32_t role, uint32_t action, int64_t size,
                    const struct inbox *matching, quorum_fn *visit, void *context) {
  struct quorum_search g = {.interp = interp,
                            .action = &interp->model->roles[role].actions[action],
                            .size = size,
                            .inbox = matching,
                            .visit = visit,
                            .context = context};
  g.chosen = memory_alloc((matching->n + 1) * sizeof *g.chosen);
  bool more = quorum_search_from(&g, 0);
  memory_free(g.chosen);
  return more;
}

/* --- taking an action --- */

static bool messages_agree(const struct eval *e, const struct action *a, const struct inbox_entry *in, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    if (!parts_agree(e->values, a, in[0].message, in[i].message))
      return false;
  return n > 0 || a->nparts == 0;
}

static void bind_quorum(struct eval *e, const struct action *a, const struct inbox_entry *in, uint32_t n) {
  struct received_entry *entries = arena_array(e->scratch, n + 1, sizeof *entries);
  struct received *r = arena_alloc(e->scratch, sizeof *r);
  const uint32_t *counts = e->decisions ? e->decisions->quorum : NULL;
  for (uint32_t i = 0; i < n; i++)
    entries[i] =
        (struct received_entry){.message = in[i].message, .sender = in[i].from, .count = counts ? counts[i] : 1};
  *r = (struct received){entries, n};
  e->received = r;
  e->received_type = e->model->messages[a->kind].type;
  if (n > 0)
    bind_message(e, a, &in[0]); /* all messages agree on the parts named */
}

static void mark(const struct eval *e, uint32_t var, value v, struct span at) {
  e->local[LOCAL_VAR(var)] = v;
  if (e->record.assigned_at)
    e->record.assigned_at[var] = at;
}

/* The body cannot read the program point, so the point advances first, and a `goto` in the body overrides it. */
static void advance(const struct eval *e, const struct action *a) {
  uint32_t point_var = e->model->roles[e->role].point_var;
  if (point_var != NO_VAR && a->next != ANY_POINT)
    mark(e, point_var, a->next, a->at);
  if (a->once != NO_SLOT)
    mark(e, a->once, 1, a->at);
}

static enum action_result run_action(struct eval *e, const struct action *a, const struct inbox_entry *messages,
                                     uint32_t n) {
  jmp_buf failure;
  e->failure = &failure;
  if (setjmp(failure))
    return ACTION_ERROR;
  if (a->trigger == TRIGGER_ONE)
    bind_message(e, a, &messages[0]);
  if (a->trigger == TRIGGER_QUORUM) {
    if (!messages_agree(e, a, messages, n))
      return ACTION_REFUSED;
    bind_quorum(e, a, messages, n);
  }
  bool enabled = eval_guard(e, &a->guard);
  coverage_mark(e->interp->coverage, a->at, enabled ? COVERED_RUN | COVERED_TRUE : COVERED_FALSE);
  if (!enabled)
    return ACTION_REFUSED;
  advance(e, a);
  eval_block(e, &a->body);
  return ACTION_DONE;
}

enum action_result action_take(struct interpreter *interp, uint32_t action, uint32_t me, value *local, value *globals,
                               const struct inbox_entry *messages, uint32_t n, struct choices *choices,
                               struct outbox *out, const struct assigned_places *places, struct model_error *error) {
  const struct model *m = interp->model;
  struct eval e;
  out->n = 0;
  action_begin(&e, interp, me, local, globals);
  e.shared = globals;
  e.outbox = out;
  e.choices = choices;
  e.record.assigned_at = places ? places->local : NULL;
  e.record.shared_at = places ? places->shared : NULL;
  enum action_result result = run_action(&e, &m->roles[e.role].actions[action], messages, n);
  interp->order_mattered |= e.order_mattered;
  if (result == ACTION_ERROR)
    *error = e.error;
  return choices->bad ? ACTION_BAD_SCRIPT : result;
}

/* --- recovery --- */

static bool survives(enum var_kind kind) { return kind == VAR_INPUT || kind == VAR_STABLE || kind == VAR_GHOST; }

bool action_recover(struct interpreter *interp, uint32_t me, value *local, const value *globals,
                    struct choices *choices, struct model_error *error) {
  struct eval e;
  jmp_buf failure;
  action_begin(&e, interp, me, local, globals);
  e.choices = choices;
  e.failure = &failure;
  if (setjmp(failure)) {
    *error = e.error;
    return false;
  }
  const struct role *role = &e.model->roles[e.role];
  for (uint32_t i = 0; i < role->nvars; i++)
    if (!survives(role->vars[i].kind))
      local_first_value(&e, i);
  if (role->point_var != NO_VAR && begins_with_start(role))
    local[LOCAL_VAR(role->point_var)] = 1;
  local[LOCAL_STATUS] = (local[LOCAL_STATUS] & ~(value)STATUS_CRASHED) | STATUS_RECOVERED;
  return true;
}
