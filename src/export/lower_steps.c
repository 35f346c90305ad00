/* Step models under semantics M, and shared memory: one rule per fault and per action of each process (and per sender,
   if the action receives one message). The received messages are choices; that they are pending, match and suffice are
   conditions. The interpreter's counterpart is in interp/action.c, interp/event_step.c and interp/event_allowed.c. */
#include "export/lower_steps.h"

#include <string.h>

/* --- actions --- */

static expr_id channel_to(struct model_lowering *l, uint32_t q, uint32_t p) {
  const struct role *role = &l->base.model->roles[model_role_of(l->base.model, q)];
  if (role->ring)
    return expr_truth(p == role->first + (q - role->first + 1) % role->count);
  if (!role->graph)
    return EXPR_TRUE;
  struct scope s;
  scope_of_process(&s, &l->base, &l->now, q);
  fail_fn *fail = l->base.fail;
  l->base.fail = NULL;
  truth in = sym_has_process(lower_neighbours(&s), p);
  l->base.fail = fail;
  return expr_and(l->base.graph, in, expr_not(l->base.graph, s.error));
}

/* The conditions under which the guard is evaluated: the process is at the action's point and alive, and `once` is not
   used up. */
static void action_guard(struct action_lowering *a) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  const struct role *role = &l->base.model->roles[model_role_of(l->base.model, a->p)];
  const struct sym_process *now = &l->now.of[a->p];
  rule_guard(l, sym_process_active(&l->base, now));
  if (role->point_var != NO_VAR) {
    struct number at = now->vars[role->point_var]->number;
    const char *first = role->vars[role->point_var].type->labels[0];
    if (a->action->point != ANY_POINT)
      rule_guard(l, number_is(c, at, a->action->point));
    else if (!strcmp(first, "start"))
      rule_guard(l, expr_not(c, number_is(c, at, 0)));
  }
  if (a->action->once != NO_SLOT)
    rule_guard(l, expr_not(c, now->vars[a->action->once]->truth));
}

static void bind(struct model_lowering *l, const struct action *a, struct sym_value *message, uint32_t sender) {
  l->scope.slot[a->slot] = message;
  l->scope.slot_sender[a->slot] = number_of(sender);
  if (a->from_slot != NO_SLOT)
    l->scope.slot[a->from_slot] = sym_number(&l->base, number_of(sender));
  for (uint32_t i = 0; i < a->nparts; i++)
    l->scope.slot[a->parts[i].slot] = message->part[a->parts[i].field];
}

/* Requires that the message is pending (or forged by a Byzantine sender) and matches. */
static void require_pending(struct action_lowering *a, struct message_taking *t, struct sym_value *message) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  expr_id liar = l->now.of[t->sender].byzantine;
  expr_id there = pending(a->s, a->action->kind, t->sender, a->p, t->code);
  t->forged = EXPR_FALSE;
  if (!expr_is_constant(c, liar, 0)) {
    t->forged = expr_and(c, liar, channel_to(l, t->sender, a->p));
    there = expr_ite(c, liar, t->forged, there);
  }
  rule_guard(l, expr_implies(c, t->when, there));
  if (!a->action->match)
    return;
  bind(l, a->action, message, t->sender);
  expr_id path = scope_narrow(&l->scope, expr_and(c, t->when, there));
  expr_id fits = lower_truth(&l->scope, a->action->match);
  l->scope.path = path;
  assume_evaluated(l, expr_implies(c, t->when, fits));
}

/* `at most k messages are duplicated`: a received message may stay in the channel. */
static void choose_kept(struct action_lowering *a, struct message_taking *t) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  t->kept = EXPR_FALSE;
  if (!clause_of_kind(l->program->environment, CLAUSE_DUPLICATED) || !consumes(a->action))
    return;
  t->kept = choice_truth(l, arena_printf(l->base.arena, "stays_from_%s", process_name(l, t->sender)));
  rule_guard(l, expr_implies(c, t->kept, expr_and(c, t->when, expr_not(c, t->forged))));
}

static void charge_kept(struct action_lowering *a) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  if (l->duplicated_variable == UINT32_MAX)
    return;
  expr_id sum = expr_number(c, 0);
  for (uint32_t i = 0; i < a->ntaken; i++)
    sum = expr_arithmetic(c, EXPR_ADD, sum, expr_bool_to_int(c, a->taken[i].kept));
  int64_t most = l->program->variables.at[l->duplicated_variable].hi;
  expr_id after = expr_arithmetic(c, EXPR_ADD, variable_expr(l, l->duplicated_variable), sum);
  assume(l, expr_at_most(c, after, expr_number(c, most)));
  rule_change_allowed(l, l->duplicated_variable, after);
}

/* Receives one message from one sender, with any code. */
static bool take_one(struct action_lowering *a, uint32_t q) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  uint32_t kind = a->action->kind;
  const struct route *r = route_of(a->s, kind, q, a->p);
  if (!r->exists && expr_is_constant(c, l->now.of[q].byzantine, 0))
    return false;
  struct message_taking *t = a->taken = arena_alloc(l->base.arena, sizeof *t);
  a->ntaken = 1;
  *t = (struct message_taking){.sender = q, .when = EXPR_TRUE};
  t->code = choice_number(l, l->base.model->messages[kind].name, 0, (int64_t)a->s->codes[kind] - 1);
  struct sym_value *message = value_of_code(l, l->base.model->messages[kind].type, t->code);
  require_pending(a, t, message);
  choose_kept(a, t);
  bind(l, a->action, message, q);
  return true;
}

/* The codes of messages that can match in some state. The others are not offered as choices. */
static uint32_t matching_codes(struct action_lowering *a, uint32_t q, int64_t *codes) {
  struct model_lowering *l = a->s->l;
  uint32_t n = 0, kind = a->action->kind;
  for (int64_t code = 0; code < (int64_t)a->s->codes[kind]; code++) {
    if (a->action->match) {
      bind(l, a->action, value_of_code(l, l->base.model->messages[kind].type, expr_number(l->base.graph, code)), q);
      fail_fn *fail = collect_failures(l);
      truth fits = lower_truth(&l->scope, a->action->match);
      bool fails = l->scope.error != EXPR_FALSE;
      l->base.fail = fail;
      if (expr_is_constant(l->base.graph, fits, 0) && !fails)
        continue;
    }
    codes[n++] = code;
  }
  return n;
}

/* Receives a quorum: for each sender, a choice of one message or none. */
static void take_quorum(struct action_lowering *a) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  uint32_t kind = a->action->kind, n = a->s->n;
  const struct type *type = l->base.model->messages[kind].type;
  int64_t *codes = arena_array(l->base.arena, memory_size(a->s->codes[kind] + 1), sizeof *codes);
  struct sym_received *received = arena_array(l->base.arena, n + 1, sizeof *received);
  a->taken = arena_array(l->base.arena, n + 1, sizeof *a->taken);
  for (uint32_t q = 0; q < n; q++) {
    if (!route_of(a->s, kind, q, a->p)->exists && expr_is_constant(c, l->now.of[q].byzantine, 0))
      continue;
    uint32_t ncodes = matching_codes(a, q, codes);
    expr_id which = choice_number(
        l, arena_printf(l->base.arena, "%s_from_%s", l->base.model->messages[kind].name, process_name(l, q)), 0,
        ncodes);
    struct message_taking *t = &a->taken[a->ntaken];
    *t =
        (struct message_taking){.sender = q, .when = expr_less(c, expr_number(c, 0), which), .code = expr_number(c, 0)};
    struct sym_value *message = sym_default(&l->base, type);
    if (ncodes == a->s->codes[kind]) {
      t->code = expr_ite(c, t->when, expr_arithmetic(c, EXPR_SUB, which, expr_number(c, 1)), expr_number(c, 0));
      expr_assert_bounds(c, t->code, 0, (int64_t)a->s->codes[kind] - 1);
      message = sym_ite(&l->base, t->when, value_of_code(l, type, t->code), message);
    } else {
      for (uint32_t i = 0; i < ncodes; i++) {
        expr_id is = expr_equal(c, which, expr_number(c, i + 1));
        t->code = expr_ite(c, is, expr_number(c, codes[i]), t->code);
        message = sym_ite(&l->base, is, value_of_code(l, type, expr_number(c, codes[i])), message);
      }
    }
    require_pending(a, t, message);
    choose_kept(a, t);
    received[a->ntaken++] = (struct sym_received){t->when, message, number_of(q)};
  }
  expr_id size = lower_number(l, a->action->size), sum = expr_number(c, 0), first = EXPR_FALSE;
  for (uint32_t i = 0; i < a->ntaken; i++) {
    sum = expr_arithmetic(c, EXPR_ADD, sum, expr_bool_to_int(c, received[i].there));
    for (uint32_t k = 0; k < i; k++) /* the messages agree on the parts that must be equal */
      for (uint32_t j = 0; j < a->action->nparts; j++) {
        uint32_t field = a->action->parts[j].field;
        expr_id same = sym_equal(&l->base, received[i].message->part[field], received[k].message->part[field]);
        assume_evaluated(l, expr_implies(c, expr_and(c, received[i].there, received[k].there), same));
      }
    first = expr_or(c, first, received[i].there);
  }
  assume_evaluated(l, a->action->exactly ? expr_equal(c, sum, size) : expr_at_most(c, size, sum));
  if (a->action->nparts > 0)
    assume_evaluated(l, first);
  l->scope.received = received;
  l->scope.nreceived = a->ntaken;
  for (uint32_t j = 0; j < a->action->nparts; j++) {
    struct sym_value *part = sym_default(&l->base, type->fields[a->action->parts[j].field].type);
    for (uint32_t i = 0; i < a->ntaken; i++)
      part = sym_ite(&l->base, received[i].there, received[i].message->part[a->action->parts[j].field], part);
    l->scope.slot[a->action->parts[j].slot] = part;
  }
}

static struct sym_state state_after(struct action_lowering *a) {
  struct model_lowering *l = a->s->l;
  struct sym_state after = l->now;
  after.of = arena_array(l->base.arena, a->s->n + 1, sizeof *after.of);
  after.globals = a->globals;
  memcpy(after.of, l->now.of, a->s->n * sizeof *after.of);
  after.of[a->p] = a->after;
  return after;
}

/* --- rules --- */

static expr_id *no_rows(struct model_lowering *l) {
  expr_id *row = arena_array(l->base.arena, l->program->variables.n + 1, sizeof *row);
  for (size_t i = 0; i < l->program->variables.n; i++)
    row[i] = NO_EXPR;
  return row;
}

static bool may_crash(const struct model_lowering *l, uint32_t p) {
  return node_of(l->base.graph, l->now.of[p].crashed)->expr_kind == EXPR_VARIABLE;
}

static void guard_crash(struct model_lowering *l, uint32_t p) {
  struct expr_graph *c = l->base.graph;
  expr_id *down = arena_array(l->base.arena, l->base.model->nprocesses + 1, sizeof *down);
  for (uint32_t q = 0; q < l->base.model->nprocesses; q++)
    down[q] = q == p ? EXPR_TRUE : expr_or(c, l->now.of[q].crashed, l->now.of[q].recovered);
  rule_guard(l, sym_process_active(&l->base, &l->now.of[p]));
  rule_guard(l, faults_limited(&l->base, l->program->environment, CLAUSE_CRASH, down, false));
}

/* Executes the body and its sends. Returns false if the action is never possible. crashing: the process crashes during
   the action, after sending some of its messages. */
static bool run_action(struct action_lowering *a, uint32_t sender, bool crashing) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  const struct role *role = &l->base.model->roles[model_role_of(l->base.model, a->p)];
  const struct sym_process *now = &l->now.of[a->p];
  a->row = no_rows(l);
  a->ntaken = 0;
  begin_process(l, &l->now, a->p);
  if (crashing)
    guard_crash(l, a->p);
  action_guard(a);
  if (a->action->trigger == TRIGGER_ONE && !take_one(a, sender))
    return false;
  if (a->action->trigger == TRIGGER_QUORUM)
    take_quorum(a);
  else if (a->action->trigger != TRIGGER_ONE && a->action->trigger != TRIGGER_NONE)
    refuse(l, a->action->at, "what this waits for cannot be written in this format");
  expr_id guard = lower_guard(&l->scope, &a->action->guard);
  if (guard == EXPR_FALSE && l->rule->failures.n == 0)
    return false;
  expr_set_span(c, guard, a->action->at);
  assume_evaluated(l, guard);
  if (role->point_var != NO_VAR && a->action->next != ANY_POINT)
    l->scope.vars[role->point_var] = sym_number(&l->base, number_of(a->action->next));
  if (a->action->once != NO_SLOT)
    l->scope.vars[a->action->once] = sym_truth(&l->base, EXPR_TRUE);
  if (guard != EXPR_FALSE) /* otherwise it has no witness that the body could use */
    lower_block(&l->scope, &a->action->body);
  l->scope.path = EXPR_TRUE;
  a->after = process_after(l, now);
  a->globals = l->scope.globals;
  return true;
}

static void finish_action(struct action_lowering *a) {
  struct model_lowering *l = a->s->l;
  expr_id *out = arena_array(l->base.arena, l->scope.posted.n + 1, sizeof *out);
  for (size_t i = 0; i < l->scope.posted.n; i++)
    out[i] = expr_and(l->base.graph, l->scope.posted.at[i].when,
                      expr_not(l->base.graph, l->now.of[l->scope.posted.at[i].to].byzantine));
  charge_kept(a);
  consume(a);
  require_channel_bound(a, out);
  fail_on_overflow(a, out);
  post_all(a, out);
  change_rows(a);
  if (l->program->live.property) {
    expr_id forged = EXPR_FALSE;
    for (uint32_t i = 0; i < a->ntaken; i++)
      forged = expr_or(l->base.graph, forged, expr_and(l->base.graph, a->taken[i].when, a->taken[i].forged));
    bool one = a->action->trigger == TRIGGER_ONE;
    live_action(l, a->p, a->action, one ? a->taken[0].sender : 0, one ? a->taken[0].code : NO_EXPR, forged);
  }
  struct sym_state after = state_after(a);
  rule_end(l, &after);
}

/* A crash during an action: a nonempty subset of its messages is sent, and the action has no other effect. The complete
   action must have been possible. */
static void finish_crash(struct action_lowering *a) {
  struct model_lowering *l = a->s->l;
  struct expr_graph *c = l->base.graph;
  size_t n = l->scope.posted.n;
  expr_id *out = arena_array(l->base.arena, n + 1, sizeof *out),
          *whole = arena_array(l->base.arena, n + 1, sizeof *whole), any = EXPR_FALSE;
  const struct clause *k = clause_of_kind(l->program->environment, CLAUSE_CHANNELS);
  for (size_t i = 0; i < n; i++) {
    expr_id sent = l->scope.posted.at[i].when, listens = expr_not(c, l->now.of[l->scope.posted.at[i].to].byzantine);
    expr_id chosen = choice_truth(l, arena_printf(l->base.arena, "out_%zu", i + 1));
    assume(l, expr_implies(c, chosen, sent));
    whole[i] = expr_and(c, sent, listens);
    out[i] = expr_and(c, chosen, listens);
    any = expr_or(c, any, chosen);
  }
  assume(l, any);
  for (size_t i = 0; i < l->rule->failures.n; i++) /* no crash during an action that fails */
    assume(l, expr_not(c, l->rule->failures.at[i].when));
  l->rule->failures.n = 0;
  if (k && k->bound) {
    if (a->s->channel == CHANNEL_FIFO)
      refuse(l, k->at,
             "crashes in the middle of an action, with bounded fifo channels, cannot be written in this format");
    require_channel_bound(a, whole);
  }
  a->ntaken = 0; /* the received messages are still pending */
  require_channel_bound(a, out);
  fail_on_overflow(a, out);
  post_all(a, out);
  change_rows(a);
  a->after = process_copy(l, a->p, &l->now.of[a->p]);
  a->after.crashed = EXPR_TRUE;
  a->after.recovered = EXPR_FALSE;
  a->globals = l->now.globals;
  struct sym_state after = state_after(a);
  rule_end(l, &after);
}

static void drop_rule(struct model_lowering *l) {
  rule_release(&l->program->rules.at[--l->program->rules.n]);
  l->rule = NULL;
}

static void action_rules(struct channel_layout *s, uint32_t p, const struct action *action) {
  struct model_lowering *l = s->l;
  uint32_t senders = action->trigger == TRIGGER_ONE ? s->n : 1;
  for (uint32_t q = 0; q < senders; q++)
    for (int crashing = 0; crashing <= may_crash(l, p); crashing++) {
      struct action_lowering a = {.s = s, .p = p, .action = action};
      const char *from =
          action->trigger == TRIGGER_ONE ? arena_printf(l->base.arena, "_from_%s", process_name(l, q)) : "";
      const char *verb = crashing ? "crashes_in" : "does";
      rule_begin(l, arena_printf(l->base.arena, "%s_%s_%s%s", process_name(l, p), verb, action->name, from),
                 action->at);
      bool possible = run_action(&a, q, crashing);
      if (!possible || (crashing && l->scope.posted.n == 0))
        drop_rule(l);
      else if (crashing)
        finish_crash(&a);
      else
        finish_action(&a);
    }
}

static void crash_rules(struct channel_layout *s, uint32_t p) {
  struct model_lowering *l = s->l;
  struct expr_graph *c = l->base.graph;
  struct action_lowering a = {.s = s, .p = p};
  if (!may_crash(l, p))
    return;
  uint32_t r = model_role_of(l->base.model, p);
  const struct role *role = &l->base.model->roles[r];
  rule_begin(l, arena_printf(l->base.arena, "%s_crashes", process_name(l, p)), (struct span){0, 0});
  guard_crash(l, p);
  a.after = process_copy(l, p, &l->now.of[p]);
  a.after.crashed = EXPR_TRUE;
  a.after.recovered = EXPR_FALSE;
  a.globals = l->now.globals;
  struct sym_state after = state_after(&a);
  rule_end(l, &after);
  if (node_of(c, l->now.of[p].recovered)->expr_kind != EXPR_VARIABLE)
    return;
  rule_begin(l, arena_printf(l->base.arena, "%s_recovers", process_name(l, p)), (struct span){0, 0});
  expr_id *back = arena_array(l->base.arena, s->n + 1, sizeof *back);
  for (uint32_t q = 0; q < s->n; q++)
    back[q] = q == p ? EXPR_TRUE : l->now.of[q].recovered;
  rule_guard(l, l->now.of[p].crashed);
  rule_guard(l, faults_limited(&l->base, l->program->environment, CLAUSE_CRASH, back, true));
  begin_process(l, &l->now, p);
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (v->kind == VAR_INPUT || v->kind == VAR_STABLE || v->kind == VAR_GHOST)
      continue;
    l->scope.vars[i] = first_value(l, v, arena_printf(l->base.arena, "%s_%s", process_name(l, p), v->name), EXPR_TRUE);
  }
  if (role->point_var != NO_VAR && !strcmp(role->vars[role->point_var].type->labels[0], "start"))
    l->scope.vars[role->point_var] = sym_number(&l->base, number_of(1));
  a.after = process_after(l, &l->now.of[p]);
  a.after.halted = l->now.of[p].halted;
  a.after.crashed = EXPR_FALSE;
  a.after.recovered = EXPR_TRUE;
  after = state_after(&a);
  rule_end(l, &after);
}

/* Any pending message may be lost; in a FIFO channel, at any position. */
static void loss_rule(struct channel_layout *s, uint32_t kind, uint32_t q, uint32_t p) {
  struct model_lowering *l = s->l;
  struct expr_graph *c = l->base.graph;
  const struct route *r = route_of(s, kind, q, p);
  if (!r->exists)
    return;
  struct action_lowering a = {.s = s, .p = p, .row = no_rows(l), .globals = l->now.globals};
  rule_begin(l, arena_printf(l->base.arena, "%s_is_lost", route_name(s, kind, q, p)),
             clause_of_kind(l->program->environment, CLAUSE_LOST)->at);
  if (s->channel == CHANNEL_FIFO) {
    expr_id which = choice_number(l, "place", 0, s->length - 1), lost = EXPR_FALSE;
    for (uint32_t i = 0; i < s->length; i++) {
      expr_id is = expr_equal(c, which, expr_number(c, i));
      assume(l, expr_implies(c, is, expr_not(c, expr_equal(c, row_at(s, r, i), expr_number(c, 0)))));
      lost = expr_or(c, lost, is);
      expr_id next = i + 1 < s->length ? row_at(s, r, i + 1) : expr_number(c, 0);
      a.row[r->cell + i] = expr_ite(c, lost, next, row_at(s, r, i));
    }
    change_rows(&a);
  } else {
    expr_id code = choice_number(l, l->base.model->messages[kind].name, 0, (int64_t)s->codes[kind] - 1);
    rule_guard(l, pending(s, kind, q, p, code));
    counter_add(l, r->cell, EXPR_TRUE, code, -1, s->channel == CHANNEL_SET);
  }
  if (l->lost_variable != UINT32_MAX) {
    expr_id after = expr_arithmetic(c, EXPR_ADD, variable_expr(l, l->lost_variable), expr_number(c, 1));
    rule_guard(l, expr_less(c, variable_expr(l, l->lost_variable),
                            expr_number(c, l->program->variables.at[l->lost_variable].hi)));
    rule_change_allowed(l, l->lost_variable, after);
  }
  a.after = l->now.of[p];
  struct sym_state after = state_after(&a);
  rule_end(l, &after);
}

void lower_steps(struct model_lowering *l) {
  struct channel_layout *s = l->steps;
  const struct model *m = l->base.model;
  for (uint32_t p = 0; p < s->n; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    for (uint32_t i = 0; i < role->nactions; i++)
      action_rules(s, p, &role->actions[i]);
    crash_rules(s, p);
  }
  for (uint32_t kind = 0;
       clause_of_kind(l->program->environment, CLAUSE_LOST) && kind < (s->channel == CHANNEL_FIFO ? 1 : m->nmessages);
       kind++)
    for (uint32_t q = 0; q < s->n; q++)
      for (uint32_t p = 0; p < s->n; p++)
        loss_rule(s, kind, q, p);
}
