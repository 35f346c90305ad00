/* What can have no effect any more is forgotten: variables that nobody will read, messages that nobody will take or
   whose taking would change nothing. Decided from the text (analysis/action_use.h, analysis/stable_predicates.h) and
   the local state of the one process concerned, so it is remembered by that. */
#include "steps/step_system_internal.h"

#include "analysis/dataflow.h"
#include "analysis/model_visitor.h"
#include "analysis/stable_predicates.h"
#include "interp/local.h"

#include <string.h>

struct dead_data {
  bool variables;
  const struct step_live_variables *liveness;
  const struct stable_predicates *stable;
  bool *recovers;         /* by role */
  bool loses;             /* messages can be lost, whether that is a step or not */
  bool runs;              /* the query is about runs */
  bool drops_ineffective; /* a message may be forgotten because taking it changes nothing */
  struct memo dead;       /* (receiver and local state, sender and message_id) -> is it? */
  struct memo channels;   /* (receiver and local state, sender and content) -> content */
};

void dead_data_init(struct step_system *s) {
  const struct model *m = s->model;
  const struct licence *of = s->base.licences->of;
  struct dead_data *f = s->dead_data = arena_alloc(&s->arena, sizeof *f);
  f->variables = of[REDUCE_DEAD_VARIABLES].applied;
  if (f->variables)
    f->liveness = step_live_variables_of(m, s->base.query, &s->arena);
  /* a message that nobody wants still takes up room */
  s->drops_dead_messages = of[REDUCE_DEAD_MESSAGES].applied && s->cells.bound == 0 && !s->cells.arrivals;
  f->recovers = arena_array(&s->arena, m->nroles + 1, sizeof *f->recovers);
  for (uint32_t r = 0; r < m->nroles; r++)
    f->recovers[r] = role_recovers(m, s->base.query, r);
  f->loses = environment_has_fault(m, s->base.query, CLAUSE_LOST);
  /* Steps that change nothing can fill a run if they can be taken again and again, and then they are fair to others. */
  f->runs = query_is_live(m, s->base.query);
  f->drops_ineffective = !f->runs || (!s->fair && !s->duplicates);
  s->drops_blocked_messages = s->drops_dead_messages && s->cells.channels == CHANNEL_FIFO;
  if (!s->drops_dead_messages)
    return;
  f->stable = stable_predicates_of(m, s->base.query, &s->arena);
}

void dead_data_release(struct step_system *s) {
  memo_release(&s->dead_data->dead);
  memo_release(&s->dead_data->channels);
}

size_t dead_data_bytes(const struct step_system *s) {
  return memo_bytes(&s->dead_data->dead) + memo_bytes(&s->dead_data->channels);
}

/* --- variables --- */

void clear_dead_variables(struct step_system *s, uint32_t r, value *local) {
  const struct dead_data *f = s->dead_data;
  const struct role *role = &s->model->roles[r];
  value status = local[LOCAL_STATUS];
  if (!f->variables || (status & STATUS_BYZANTINE))
    return;
  uint32_t label = role->point_var == NO_VAR ? 0 : (uint32_t)local[LOCAL_VAR(role->point_var)];
  const bool *live = process_active(status) ? f->liveness->live[r][label] : f->liveness->idle[r];
  for (uint32_t i = 0; i < role->nvars; i++)
    if (!live[i])
      local[LOCAL_VAR(i)] = VALUE_DONT_CARE;
}

/* --- messages --- */

struct message_context { /* one message as one action sees it */
  struct step_system *space;
  uint32_t role;
  const struct action *action;
  const value *local; /* as it is packed: some variables may be blank */
  const value *filled;
  struct eval eval;
  bool unknown;
};

static bool look_unknown(void *context, const struct node *n) {
  struct message_context *g = context;
  g->unknown |=
      (op_traits(n->op) & TRAIT_SHARED) || (n->op == NODE_VAR && g->local[LOCAL_VAR(n->index)] == VALUE_DONT_CARE);
  return !g->unknown;
}

/* Is it false? Not knowing counts as no. */
static bool is_false(struct message_context *g, const struct node *n) {
  g->unknown = false;
  node_walk_deep(g->space->model, n, look_unknown, g);
  if (g->unknown)
    return false;
  jmp_buf failure;
  g->eval.failure = &failure;
  if (setjmp(failure))
    return false;
  return !eval_true(&g->eval, n);
}

static bool any_false(struct message_context *g, const struct condition_list *c) {
  for (uint32_t i = 0; i < c->n; i++)
    if (is_false(g, c->at[i]))
      return true;
  return false;
}

static bool all_false(struct message_context *g, const struct condition_list *c) {
  for (uint32_t i = 0; i < c->n; i++)
    if (!is_false(g, c->at[i]))
      return false;
  return true;
}

static void message_context_bind(struct message_context *g, uint32_t to, uint32_t from, value message) {
  const struct action *a = g->action;
  size_t n;
  local_begin(&g->eval, g->space->interp, to, 0, 1, (value *)g->filled, NULL);
  g->eval.slot[a->slot] = message;
  g->eval.slot_sender[a->slot] = from;
  if (a->from_slot != NO_SLOT)
    g->eval.slot[a->from_slot] = from;
  const value *part = value_parts(&g->space->model->values, message, &n);
  for (uint32_t i = 0; i < a->nparts; i++)
    g->eval.slot[a->parts[i].slot] = part[a->parts[i].field];
}

/* Can the process never come to where the action is taken? */
static bool out_of_reach(const struct message_context *g) {
  const struct dead_data *f = g->space->dead_data;
  const struct role *role = &g->space->model->roles[g->role];
  const struct action *a = g->action;
  if (a->once != NO_SLOT && g->local[LOCAL_VAR(a->once)] == 1 && !f->recovers[g->role])
    return true;
  return role->point_var != NO_VAR && a->point != ANY_POINT &&
         !point_reaches(f->stable, g->role, (uint32_t)g->local[LOCAL_VAR(role->point_var)], a->point);
}

/* Will the action never take the message (or, if that is enough, never do anything with it)? A quorum that is taken
   takes others along. */
static bool never_affected(struct message_context *g, uint32_t to, uint32_t from, value message, bool or_idle) {
  const struct action *a = g->action;
  const struct stable_predicates *stable = g->space->dead_data->stable;
  uint32_t number = (uint32_t)(a - g->space->model->roles[g->role].actions);
  const struct condition_list *effects;
  if (out_of_reach(g))
    return true;
  message_context_bind(g, to, from, message);
  return any_false(g, action_necessary_conditions(stable, g->role, number)) ||
         (or_idle && g->space->dead_data->drops_ineffective &&
          !(a->trigger == TRIGGER_QUORUM && (a->taken || g->space->dead_data->runs)) &&
          action_change_conditions(stable, g->role, number, &effects) && all_false(g, effects));
}

/* Nobody will take the message (or, unless it stands in the way of others, taking it would change nothing). */
static bool is_never_affecting(struct step_system *s, uint32_t to, content local, uint32_t from, message_id l,
                               bool or_idle) {
  uint32_t r = s->role_of[to], n, kind = message_id_kind(&s->channels, l);
  const struct role *role = &s->model->roles[r];
  const value *v = content_values(&s->cells, to, local, &n);
  value *filled = memory_alloc((n + 1) * sizeof *filled);
  memcpy(filled, v, n * sizeof *v);
  local_fill_dont_care(&s->cells, r, filled);
  struct message_context *g = memory_alloc(sizeof *g);
  *g = (struct message_context){.space = s, .role = r, .local = v, .filled = filled};
  bool useless = true;
  for (uint32_t a = 0; a < role->nactions && useless; a++) {
    g->action = &role->actions[a];
    if (g->action->trigger != TRIGGER_NONE && g->action->kind == kind)
      useless = never_affected(g, to, from, message_id_value(&s->channels, l), or_idle);
  }
  memory_free(filled);
  memory_free(g);
  return useless;
}

/* It will never take a step again. */
static bool has_stopped(const struct step_system *s, uint32_t p, content local) {
  uint32_t n;
  value status = content_values(&s->cells, p, local, &n)[LOCAL_STATUS];
  return (status & (STATUS_HALTED | STATUS_BYZANTINE)) ||
         ((status & STATUS_CRASHED) && !s->dead_data->recovers[s->role_of[p]]);
}

bool message_never_affects(struct step_system *s, uint32_t to, content local, uint32_t from, message_id l,
                           uint32_t action) {
  uint32_t r = s->role_of[to], n;
  const value *v = content_values(&s->cells, to, local, &n);
  value *filled = memory_alloc((n + 1) * sizeof *filled);
  memcpy(filled, v, n * sizeof *v);
  local_fill_dont_care(&s->cells, r, filled);
  struct message_context *g = memory_alloc(sizeof *g);
  *g = (struct message_context){.space = s, .role = r, .local = v, .filled = filled};
  g->action = &s->model->roles[r].actions[action];
  bool none = has_stopped(s, to, local) || never_affected(g, to, from, message_id_value(&s->channels, l), true);
  memory_free(filled);
  memory_free(g);
  return none;
}

bool drops_ineffective_messages(const struct step_system *s) {
  return s->drops_dead_messages && s->dead_data->drops_ineffective && s->cells.channels != CHANNEL_FIFO &&
         s->interp->semantics != SEMANTICS_MP;
}

bool message_is_dead(struct step_system *s, uint32_t to, content local, uint32_t from, message_id l) {
  struct dead_data *f = s->dead_data;
  uint32_t n, known;
  if (content_values(&s->cells, to, local, &n)[LOCAL_STATUS] & STATUS_BYZANTINE)
    return true;
  if (!s->drops_dead_messages || has_stopped(s, to, local))
    return s->drops_dead_messages;
  if (s->cells.channels == CHANNEL_FIFO || s->interp->semantics == SEMANTICS_MP)
    return false; /* it stands in the way */
  uint64_t a = (uint64_t)to << 32 | local, b = (uint64_t)from << 32 | l;
  if (memo_find(&f->dead, a, b, &known))
    return known;
  bool dead = is_never_affecting(s, to, local, from, l, true);
  memo_add(&f->dead, a, b, dead);
  return dead;
}

static content without_dead(struct step_system *s, uint32_t to, content local, uint32_t from, content channel) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to], kept = 0;
  uint32_t n = channel_decode(&s->cells, cell, channel, NULL, 0);
  struct channel_packet *packets = memory_alloc((n + 1) * sizeof *packets);
  channel_decode(&s->cells, cell, channel, packets, n);
  if (s->cells.channels == CHANNEL_FIFO) {
    /* what lies behind a message that nobody will ever take is never reached */
    message_id first = message_id_put(&s->channels, packets[0].kind, packets[0].message);
    bool stuck = n > 1 && !s->dead_data->loses && s->interp->semantics != SEMANTICS_MP &&
                 is_never_affecting(s, to, local, from, first, false);
    kept = stuck ? 1 : n;
  } else {
    for (uint32_t i = 0; i < n; i++)
      if (!message_is_dead(s, to, local, from, message_id_put(&s->channels, packets[i].kind, packets[i].message)))
        packets[kept++] = packets[i];
  }
  content left = kept == n ? channel : channel_encode(&s->cells, cell, packets, kept);
  memory_free(packets);
  return left;
}

content drop_dead_messages(struct step_system *s, uint32_t to, content local, uint32_t from, content channel) {
  struct dead_data *f = s->dead_data;
  if (!s->drops_dead_messages || channel == 0)
    return channel;
  uint64_t a = (uint64_t)to << 32 | local, b = (uint64_t)from << 32 | channel;
  uint32_t left;
  if (memo_find(&f->channels, a, b, &left))
    return left;
  left = has_stopped(s, to, local) ? 0 : without_dead(s, to, local, from, channel);
  memo_add(&f->channels, a, b, left);
  return left;
}

/* --- rows --- */

void row_from_config(struct step_system *s, const struct config *config, content *row) {
  const struct model *m = s->model;
  struct config *kept = config_copy(m, config);
  for (uint32_t p = 0; p < m->nprocesses; p++)
    clear_dead_variables(s, s->role_of[p], kept->local[p]);
  state_cells_from_config(&s->cells, kept, row);
  config_free(kept);
  for (uint32_t p = 0; p < m->nprocesses && s->constant_memory; p++)
    row[p] = clear_unread_variables(s, p, row[p], globals_of_row(s, row, s->role_of[p]));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    for (uint32_t i = 0; i < s->moves_store.ninbound[p]; i++) {
      const struct inbound *in = &s->moves_store.inbound[p][i];
      row[in->cell] = drop_dead_messages(s, p, row[p], in->from, row[in->cell]);
    }
}
