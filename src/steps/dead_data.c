/* Dead data: variables that will not be read again become don't-cares. Messages that will not be taken, or that would
   change nothing, are dropped. Both are decided from the program text (analysis/action_use.h,
   analysis/stable_predicates.h) and the local state of the process concerned, and cached by that local state. */
#include "steps/dead_data.h"

#include "analysis/action_use.h"
#include "analysis/model_visitor.h"
#include "interp/local.h"
#include "steps/constant_memory.h"
#include "steps/guard_eval.h"
#include "steps/process_moves.h"
#include "steps/step_system_internal.h"

#include <string.h>

struct dead_data {
  bool variables;
  const struct step_live_variables *liveness;
  const struct stable_predicates *stable;
  bool *recovers;         /* by role */
  bool loses;             /* messages can be lost, whether or not loss is a step */
  bool runs;              /* the query is a liveness query */
  bool drops_ineffective; /* messages may be dropped because taking them changes nothing */
  struct memo dead;       /* (receiver and local state, sender and message_id) -> is the message dead? */
  struct memo channels;   /* (receiver and local state, sender and content) -> content */
};

void dead_data_init(struct step_system *s) {
  const struct model *m = s->model;
  const struct licence *of = s->base.licences->of;
  struct dead_data *f = s->dead.data = arena_alloc(&s->arena, sizeof *f);
  f->variables = of[REDUCE_DEAD_VARIABLES].applied;
  if (f->variables)
    f->liveness = step_live_variables_of(m, s->base.query, &s->arena);
  /* in a bounded channel a dead message still occupies space */
  s->dead.drops_dead_messages = of[REDUCE_DEAD_MESSAGES].applied && s->cells.bound == 0 && !s->cells.arrivals;
  f->recovers = arena_array(&s->arena, m->nroles + 1, sizeof *f->recovers);
  for (uint32_t r = 0; r < m->nroles; r++)
    f->recovers[r] = role_recovers(m, s->base.query, r);
  f->loses = environment_has_fault(m, s->base.query, CLAUSE_LOST);
  /* A run may consist of steps that change nothing if these can be repeated, and such a run is fair to other groups. */
  f->runs = query_is_live(m, s->base.query);
  f->drops_ineffective = !f->runs || (!s->liveness.fair && !s->faults.duplicates);
  s->dead.drops_blocked_messages = s->dead.drops_dead_messages && s->cells.channels == CHANNEL_FIFO;
  if (!s->dead.drops_dead_messages)
    return;
  f->stable = stable_predicates_of(m, s->base.query, &s->arena);
}

void dead_data_release(struct step_system *s) {
  memo_release(&s->dead.data->dead);
  memo_release(&s->dead.data->channels);
}

size_t dead_data_bytes(const struct step_system *s) {
  return memo_bytes(&s->dead.data->dead) + memo_bytes(&s->dead.data->channels);
}

/* --- variables --- */

void clear_dead_variables(struct step_system *s, uint32_t r, value *local) {
  const struct dead_data *f = s->dead.data;
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

/* Will the action never take the message of g, or, with or_idle, never change anything by taking it? A quorum that
   consumes its messages consumes other messages too. */
static bool never_affected(struct step_system *s, struct guard_eval *g, uint32_t number, bool or_idle) {
  const struct dead_data *f = s->dead.data;
  const struct action *a = g->action = &s->model->roles[g->role].actions[number];
  const struct condition_list *effects;
  if (guard_out_of_reach(g, f->stable) || (guard_used_up(g) && !f->recovers[g->role]))
    return true;
  return guard_any_false(g, action_necessary_conditions(f->stable, g->role, number)) ||
         (or_idle && f->drops_ineffective && !(a->trigger == TRIGGER_QUORUM && (a->taken || f->runs)) &&
          action_change_conditions(f->stable, g->role, number, &effects) && guard_all_false(g, effects));
}

/* Will the action (NO_ACTION: all actions for its kind) never take the message, or, with or_idle, never change anything
   by taking it? */
static bool is_never_affecting(struct step_system *s, uint32_t to, content local, uint32_t from, message_id l,
                               uint32_t action, bool or_idle) {
  struct inbox_entry in = {
      .from = from, .kind = message_id_kind(&s->channels, l), .message = message_id_value(&s->channels, l)};
  const struct role *role = &s->model->roles[s->role_of[to]];
  struct guard_eval g;
  bool useless = true;
  guard_eval_begin(&g, &s->cells, to, local, TRAIT_SHARED);
  g.in = &in;
  for (uint32_t a = 0; a < role->nactions && useless; a++)
    if (action == NO_ACTION ? role->actions[a].trigger != TRIGGER_NONE && role->actions[a].kind == in.kind
                            : a == action)
      useless = never_affected(s, &g, a, or_idle);
  guard_eval_end(&g);
  return useless;
}

/* Will the process never take a step again? */
static bool has_stopped(const struct step_system *s, uint32_t p, content local) {
  uint32_t n;
  value status = content_values(&s->cells, p, local, &n)[LOCAL_STATUS];
  return (status & (STATUS_HALTED | STATUS_BYZANTINE)) ||
         ((status & STATUS_CRASHED) && !s->dead.data->recovers[s->role_of[p]]);
}

bool message_never_affects(struct step_system *s, uint32_t to, content local, uint32_t from, message_id l,
                           uint32_t action) {
  return has_stopped(s, to, local) || is_never_affecting(s, to, local, from, l, action, true);
}

bool drops_ineffective_messages(const struct step_system *s) {
  return s->dead.drops_dead_messages && s->dead.data->drops_ineffective && s->cells.channels != CHANNEL_FIFO &&
         s->interp->semantics != SEMANTICS_MP;
}

bool message_is_dead(struct step_system *s, uint32_t to, content local, uint32_t from, message_id l) {
  struct dead_data *f = s->dead.data;
  uint32_t n, known;
  if (content_values(&s->cells, to, local, &n)[LOCAL_STATUS] & STATUS_BYZANTINE)
    return true;
  if (!s->dead.drops_dead_messages || has_stopped(s, to, local))
    return s->dead.drops_dead_messages;
  if (s->cells.channels == CHANNEL_FIFO || s->interp->semantics == SEMANTICS_MP)
    return false; /* it blocks other messages */
  uint64_t a = (uint64_t)to << 32 | local, b = (uint64_t)from << 32 | l;
  if (memo_find(&f->dead, a, b, &known))
    return known;
  bool dead = is_never_affecting(s, to, local, from, l, NO_ACTION, true);
  memo_add(&f->dead, a, b, dead);
  return dead;
}

static content without_dead(struct step_system *s, uint32_t to, content local, uint32_t from, content channel) {
  uint32_t cell = s->cells.channel[(size_t)from * s->model->nprocesses + to], kept = 0;
  uint32_t n = channel_decode(&s->cells, cell, channel, NULL, 0);
  struct channel_packet *packets = memory_alloc((n + 1) * sizeof *packets);
  channel_decode(&s->cells, cell, channel, packets, n);
  if (s->cells.channels == CHANNEL_FIFO) {
    /* messages behind a message that is never taken are never reached */
    message_id first = message_id_put(&s->channels, packets[0].kind, packets[0].message);
    bool stuck = n > 1 && !s->dead.data->loses && s->interp->semantics != SEMANTICS_MP &&
                 is_never_affecting(s, to, local, from, first, NO_ACTION, false);
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
  struct dead_data *f = s->dead.data;
  if (!s->dead.drops_dead_messages || channel == 0)
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
  for (uint32_t p = 0; p < m->nprocesses && s->dead.constant_memory; p++)
    row[p] = clear_unread_variables(s, p, row[p], globals_of_row(s, row, s->role_of[p]));
  for (uint32_t p = 0; p < m->nprocesses; p++)
    for (uint32_t i = 0; i < s->moves_store.ninbound[p]; i++) {
      const struct inbound *in = &s->moves_store.inbound[p][i];
      row[in->cell] = drop_dead_messages(s, p, row[p], in->from, row[in->cell]);
    }
}
