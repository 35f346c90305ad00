/* Steps under M, and shared memory: a rule for each action of each process (and, if it takes one message, of each sender),
   and for each fault. Which messages are taken is a choice; whether they are there, match and suffice are conditions
   (sem/action.c, sem/event_step.c and sem/event_judge.c say the same). */
#include "export/lower_steps.h"

#include <string.h>

/* --- an action --- */

static wire channel_to(struct lowering *l, uint32_t q, uint32_t p) {
  const struct role *role = &l->model->roles[model_role_of(l->model, q)];
  if (role->ring)
    return circuit_truth(l->circuit, p == role->first + (q - role->first + 1) % role->count);
  if (!role->graph)
    return circuit_truth(l->circuit, true);
  struct local_state nobody = {0};
  begin_process(l, q, &nobody, l->now.globals);
  l->quiet = true;
  l->failed = circuit_truth(l->circuit, false);
  wire in = neighbours_of(l).leaf[p];
  l->quiet = false;
  return circuit_and(l->circuit, in, circuit_not(l->circuit, l->failed));
}

/* Whether it can be asked: place, `once`, alive. */
static void guard_action(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  const struct role *role = &l->model->roles[model_role_of(l->model, a->p)];
  const struct local_state *now = &l->now.local[a->p];
  rule_guard(l, active(l, now));
  if (role->point_var != NO_VAR) {
    wire at = now->vars[role->point_var].leaf[0];
    const char *first = role->vars[role->point_var].type->labels[0];
    if (a->action->point != ANY_POINT)
      rule_guard(l, circuit_equal(c, at, circuit_number(c, a->action->point)));
    else if (!strcmp(first, "start"))
      rule_guard(l, circuit_not(c, circuit_equal(c, at, circuit_number(c, 0))));
  }
  if (a->action->once != NO_SLOT)
    rule_guard(l, circuit_not(c, now->vars[a->action->once].leaf[0]));
}

static void bind(struct lowering *l, const struct action *a, struct symbol message, uint32_t sender) {
  wire from = circuit_number(l->circuit, sender);
  l->slot[a->slot] = message;
  l->slot_sender[a->slot] = from;
  if (a->from_slot != NO_SLOT)
    l->slot[a->from_slot] = symbol_number(l, l->model->processes, from);
  for (uint32_t i = 0; i < a->nparts; i++)
    l->slot[a->parts[i].slot] = symbol_part(l, message, a->parts[i].field);
}

/* Is the message there (or made up by a liar), and does it match? */
static void check_taking(struct acting *a, struct taking *t, struct symbol message) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  wire liar = l->now.local[t->sender].byzantine;
  wire there = pending(a->s, a->action->kind, t->sender, a->p, t->code);
  t->forged = circuit_truth(c, false);
  if (!circuit_is(c, liar, 0)) {
    wire path = l->path;
    t->forged = circuit_and(c, liar, channel_to(l, t->sender, a->p));
    begin_process(l, a->p, &a->after, a->globals);
    l->path = path;
    there = circuit_if(c, liar, t->forged, there);
  }
  rule_guard(l, circuit_implies(c, t->when, there));
  if (!a->action->match)
    return;
  bind(l, a->action, message, t->sender);
  wire path = path_and(l, circuit_and(c, t->when, there));
  wire fits = lower_truth(l, a->action->match);
  l->path = path;
  assume(l, circuit_implies(c, t->when, fits));
}

/* `at most k messages are duplicated`: what is taken may stay. */
static void choose_kept(struct acting *a, struct taking *t) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  t->kept = circuit_truth(c, false);
  if (!clause_of(l, CLAUSE_DUPLICATED) || !consumes(a->action))
    return;
  t->kept = choice_truth(l, arena_printf(l->arena, "stays_from_%s", process_name(l, t->sender)));
  rule_guard(l, circuit_implies(c, t->kept, circuit_and(c, t->when, circuit_not(c, t->forged))));
}

static void charge_kept(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  if (l->duplicated_cell == UINT32_MAX)
    return;
  wire sum = circuit_number(c, 0);
  for (uint32_t i = 0; i < a->ntaken; i++)
    sum = circuit_arithmetic(c, GATE_ADD, sum, circuit_count(c, a->taken[i].kept));
  int64_t most = l->program->cells.at[l->duplicated_cell].hi;
  wire after = circuit_arithmetic(c, GATE_ADD, cell_wire(l, l->duplicated_cell), sum);
  assume(l, circuit_at_most(c, after, circuit_number(c, most)));
  rule_change_allowed(l, l->duplicated_cell, after);
}

/* One message, from one sender: any code. */
static bool take_one(struct acting *a, uint32_t q) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  uint32_t kind = a->action->kind;
  const struct route *r = route_of(a->s, kind, q, a->p);
  if (!r->exists && circuit_is(c, l->now.local[q].byzantine, 0))
    return false;
  struct taking *t = a->taken = arena_alloc(l->arena, sizeof *t);
  a->ntaken = 1;
  *t = (struct taking){.sender = q, .when = circuit_truth(c, true)};
  t->code = choice_number(l, l->model->messages[kind].name, 0, (int64_t)a->s->codes[kind] - 1);
  struct symbol message = symbol_of_code(l, l->model->messages[kind].type, t->code);
  check_taking(a, t, message);
  choose_kept(a, t);
  bind(l, a->action, message, q);
  return true;
}

/* Codes of messages that can match at all, whatever the state: the others are no choices. */
static uint32_t matching_codes(struct acting *a, uint32_t q, int64_t *codes) {
  struct lowering *l = a->s->l;
  uint32_t n = 0, kind = a->action->kind;
  for (int64_t code = 0; code < (int64_t)a->s->codes[kind]; code++) {
    if (a->action->match) {
      bind(l, a->action, symbol_of_code(l, l->model->messages[kind].type, circuit_number(l->circuit, code)), q);
      l->quiet = true;
      wire failed = l->failed, fits = lower_truth(l, a->action->match);
      bool fails = l->failed != failed;
      l->failed = failed;
      l->quiet = false;
      if (circuit_is(l->circuit, fits, 0) && !fails)
        continue;
    }
    codes[n++] = code;
  }
  return n;
}

/* A set of messages, one from each sender at most: for each sender none, or which. */
static void take_quorum(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  uint32_t kind = a->action->kind, n = a->s->n;
  const struct type *type = l->model->messages[kind].type;
  int64_t *codes = arena_array(l->arena, memory_size(a->s->codes[kind] + 1), sizeof *codes);
  struct received_message *received = arena_array(l->arena, n + 1, sizeof *received);
  a->taken = arena_array(l->arena, n + 1, sizeof *a->taken);
  for (uint32_t q = 0; q < n; q++) {
    if (!route_of(a->s, kind, q, a->p)->exists && circuit_is(c, l->now.local[q].byzantine, 0))
      continue;
    uint32_t ncodes = matching_codes(a, q, codes);
    wire which = choice_number(l, arena_printf(l->arena, "%s_from_%s", l->model->messages[kind].name, process_name(l, q)), 0, ncodes);
    struct taking *t = &a->taken[a->ntaken];
    *t = (struct taking){.sender = q, .when = circuit_less(c, circuit_number(c, 0), which), .code = circuit_number(c, 0)};
    struct symbol message = symbol_default(l, type);
    if (ncodes == a->s->codes[kind]) {
      t->code = circuit_if(c, t->when, circuit_arithmetic(c, GATE_SUB, which, circuit_number(c, 1)), circuit_number(c, 0));
      circuit_within(c, t->code, 0, (int64_t)a->s->codes[kind] - 1);
      message = symbol_if(l, t->when, symbol_of_code(l, type, t->code), message);
    } else {
      for (uint32_t i = 0; i < ncodes; i++) {
        wire is = circuit_equal(c, which, circuit_number(c, i + 1));
        t->code = circuit_if(c, is, circuit_number(c, codes[i]), t->code);
        message = symbol_if(l, is, symbol_of_code(l, type, circuit_number(c, codes[i])), message);
      }
    }
    check_taking(a, t, message);
    choose_kept(a, t);
    received[a->ntaken++] = (struct received_message){t->when, q, message};
  }
  wire size = lower_number(l, a->action->size), sum = circuit_number(c, 0), first = circuit_truth(c, false);
  for (uint32_t i = 0; i < a->ntaken; i++) {
    sum = circuit_arithmetic(c, GATE_ADD, sum, circuit_count(c, received[i].when));
    for (uint32_t k = 0; k < i; k++) /* they agree on what must be the same */
      for (uint32_t j = 0; j < a->action->nparts; j++) {
        uint32_t field = a->action->parts[j].field;
        wire same = symbol_equal(l, symbol_part(l, received[i].message, field), symbol_part(l, received[k].message, field));
        assume(l, circuit_implies(c, circuit_and(c, received[i].when, received[k].when), same));
      }
    first = circuit_or(c, first, received[i].when);
  }
  assume(l, a->action->exactly ? circuit_equal(c, sum, size) : circuit_at_most(c, size, sum));
  if (a->action->nparts > 0)
    assume(l, first);
  l->received = received;
  l->nreceived = a->ntaken;
  for (uint32_t j = 0; j < a->action->nparts; j++) {
    struct symbol part = symbol_default(l, type->fields[a->action->parts[j].field].type);
    for (uint32_t i = 0; i < a->ntaken; i++)
      part = symbol_if(l, received[i].when, symbol_part(l, received[i].message, a->action->parts[j].field), part);
    l->slot[a->action->parts[j].slot] = part;
  }
}

static struct global_state state_after(struct acting *a) {
  struct lowering *l = a->s->l;
  struct global_state after = {arena_array(l->arena, a->s->n + 1, sizeof *after.local), a->globals, circuit_number(l->circuit, 0)};
  memcpy(after.local, l->now.local, a->s->n * sizeof *after.local);
  after.local[a->p] = a->after;
  return after;
}

/* --- rules --- */

static wire *no_rows(struct lowering *l) {
  wire *row = arena_array(l->arena, l->program->cells.n + 1, sizeof *row);
  for (size_t i = 0; i < l->program->cells.n; i++)
    row[i] = NO_WIRE;
  return row;
}

static bool may_crash(const struct lowering *l, uint32_t p) {
  return node_of(l->circuit, l->now.local[p].crashed)->gate == GATE_CELL;
}

static void guard_crash(struct lowering *l, uint32_t p) {
  struct circuit *c = l->circuit;
  wire *down = arena_array(l->arena, l->model->nprocesses + 1, sizeof *down);
  for (uint32_t q = 0; q < l->model->nprocesses; q++)
    down[q] = q == p ? circuit_truth(c, true) : circuit_or(c, l->now.local[q].crashed, l->now.local[q].recovered);
  rule_guard(l, active(l, &l->now.local[p]));
  rule_guard(l, faults_fit(l, CLAUSE_CRASH, down, false));
}

/* The body, and what it sends; false: there is nothing to take. crashing: in the middle of it, some messages are out. */
static bool run_action(struct acting *a, uint32_t sender, bool crashing) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  const struct role *role = &l->model->roles[model_role_of(l->model, a->p)];
  const struct local_state *now = &l->now.local[a->p];
  a->after = local_copy(l, model_role_of(l->model, a->p), now);
  a->globals = globals_copy(l, l->now.globals);
  a->row = no_rows(l);
  a->ntaken = 0;
  begin_process(l, a->p, &a->after, a->globals);
  if (crashing)
    guard_crash(l, a->p);
  guard_action(a);
  if (a->action->trigger == TRIGGER_ONE && !take_one(a, sender))
    return false;
  if (a->action->trigger == TRIGGER_QUORUM)
    take_quorum(a);
  else if (a->action->trigger != TRIGGER_ONE && a->action->trigger != TRIGGER_NONE)
    refuse(l, a->action->at, "what this waits for cannot be written in this format");
  wire guard = lower_guard(l, &a->action->guard);
  circuit_note(c, guard, a->action->at);
  assume(l, guard);
  a->after.halted = circuit_truth(c, false);
  if (role->point_var != NO_VAR && a->action->next != ANY_POINT)
    a->after.vars[role->point_var] = symbol_number(l, a->after.vars[role->point_var].type, circuit_number(c, a->action->next));
  if (a->action->once != NO_SLOT)
    a->after.vars[a->action->once] = symbol_as(l, symbol_truth(l, circuit_truth(c, true)), a->after.vars[a->action->once].type);
  vec_clear(&l->outbox);
  lower_block(l, &a->action->body);
  l->path = circuit_truth(c, true);
  return true;
}

static void finish_action(struct acting *a) {
  struct lowering *l = a->s->l;
  wire *out = arena_array(l->arena, l->outbox.n + 1, sizeof *out);
  for (size_t i = 0; i < l->outbox.n; i++)
    out[i] = circuit_and(l->circuit, l->outbox.at[i].when, circuit_not(l->circuit, l->now.local[l->outbox.at[i].to].byzantine));
  charge_kept(a);
  consume(a);
  keep_bound(a, out);
  check_room(a, out);
  post_all(a, out);
  change_rows(a);
  if (l->program->live.property) {
    wire forged = circuit_truth(l->circuit, false);
    for (uint32_t i = 0; i < a->ntaken; i++)
      forged = circuit_or(l->circuit, forged, circuit_and(l->circuit, a->taken[i].when, a->taken[i].forged));
    bool one = a->action->trigger == TRIGGER_ONE;
    live_action(l, a->p, a->action, one ? a->taken[0].sender : 0, one ? a->taken[0].code : NO_WIRE, forged);
  }
  struct global_state after = state_after(a);
  rule_end(l, &after);
}

/* In the middle of an action: any part of its messages is out (at least one), and nothing else has happened. That it could
   have been taken as a whole is a condition. */
static void finish_crash(struct acting *a) {
  struct lowering *l = a->s->l;
  struct circuit *c = l->circuit;
  size_t n = l->outbox.n;
  wire *out = arena_array(l->arena, n + 1, sizeof *out), *whole = arena_array(l->arena, n + 1, sizeof *whole), any = circuit_truth(c, false);
  const struct clause *k = clause_of(l, CLAUSE_CHANNELS);
  for (size_t i = 0; i < n; i++) {
    wire sent = l->outbox.at[i].when, listens = circuit_not(c, l->now.local[l->outbox.at[i].to].byzantine);
    wire chosen = choice_truth(l, arena_printf(l->arena, "out_%zu", i + 1));
    assume(l, circuit_implies(c, chosen, sent));
    whole[i] = circuit_and(c, sent, listens);
    out[i] = circuit_and(c, chosen, listens);
    any = circuit_or(c, any, chosen);
  }
  assume(l, any);
  for (size_t i = 0; i < l->rule->failures.n; i++) /* an action that fails is not crashed in */
    assume(l, circuit_not(c, l->rule->failures.at[i].when));
  l->rule->failures.n = 0;
  if (k && k->bound) {
    if (a->s->channel == CHANNEL_FIFO)
      refuse(l, k->at, "crashes in the middle of an action, with bounded fifo channels, cannot be written in this format");
    keep_bound(a, whole);
  }
  a->ntaken = 0; /* what it took is still there */
  keep_bound(a, out);
  check_room(a, out);
  post_all(a, out);
  change_rows(a);
  a->after = local_copy(l, model_role_of(l->model, a->p), &l->now.local[a->p]);
  a->after.crashed = circuit_truth(c, true);
  a->after.recovered = circuit_truth(c, false);
  a->globals = l->now.globals;
  struct global_state after = state_after(a);
  rule_end(l, &after);
}

static void drop_rule(struct lowering *l) {
  struct rule *r = &l->program->rules.at[--l->program->rules.n];
  vec_release(&r->choices);
  vec_release(&r->guards);
  vec_release(&r->failures);
  vec_release(&r->changes);
  vec_release(&r->steps);
  vec_release(&r->meets);
  l->rule = NULL;
}

static void action_rules(struct steps *s, uint32_t p, const struct action *action) {
  struct lowering *l = s->l;
  uint32_t senders = action->trigger == TRIGGER_ONE ? s->n : 1;
  for (uint32_t q = 0; q < senders; q++)
    for (int crashing = 0; crashing <= may_crash(l, p); crashing++) {
      struct acting a = {.s = s, .p = p, .action = action};
      const char *from = action->trigger == TRIGGER_ONE ? arena_printf(l->arena, "_from_%s", process_name(l, q)) : "";
      const char *verb = crashing ? "crashes_in" : "does";
      rule_begin(l, arena_printf(l->arena, "%s_%s_%s%s", process_name(l, p), verb, action->name, from), action->at);
      bool possible = run_action(&a, q, crashing);
      if (!possible || (crashing && l->outbox.n == 0))
        drop_rule(l);
      else if (crashing)
        finish_crash(&a);
      else
        finish_action(&a);
    }
}

static void crash_rules(struct steps *s, uint32_t p) {
  struct lowering *l = s->l;
  struct circuit *c = l->circuit;
  struct acting a = {.s = s, .p = p};
  if (!may_crash(l, p))
    return;
  uint32_t r = model_role_of(l->model, p);
  const struct role *role = &l->model->roles[r];
  rule_begin(l, arena_printf(l->arena, "%s_crashes", process_name(l, p)), (struct span){0, 0});
  guard_crash(l, p);
  a.after = local_copy(l, r, &l->now.local[p]);
  a.after.crashed = circuit_truth(c, true);
  a.after.recovered = circuit_truth(c, false);
  a.globals = l->now.globals;
  struct global_state after = state_after(&a);
  rule_end(l, &after);
  if (node_of(c, l->now.local[p].recovered)->gate != GATE_CELL)
    return;
  rule_begin(l, arena_printf(l->arena, "%s_recovers", process_name(l, p)), (struct span){0, 0});
  wire *back = arena_array(l->arena, s->n + 1, sizeof *back);
  for (uint32_t q = 0; q < s->n; q++)
    back[q] = q == p ? circuit_truth(c, true) : l->now.local[q].recovered;
  rule_guard(l, l->now.local[p].crashed);
  rule_guard(l, faults_fit(l, CLAUSE_CRASH, back, true));
  a.after = local_copy(l, r, &l->now.local[p]);
  begin_process(l, p, &a.after, globals_copy(l, l->now.globals));
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (v->kind == VAR_INPUT || v->kind == VAR_STABLE || v->kind == VAR_GHOST)
      continue;
    a.after.vars[i] = first_value(l, v, arena_printf(l->arena, "%s_%s", process_name(l, p), v->name), circuit_truth(c, true));
  }
  if (role->point_var != NO_VAR && !strcmp(role->vars[role->point_var].type->labels[0], "start"))
    a.after.vars[role->point_var] = symbol_number(l, role->vars[role->point_var].type, circuit_number(c, 1));
  a.after.crashed = circuit_truth(c, false);
  a.after.recovered = circuit_truth(c, true);
  after = state_after(&a);
  rule_end(l, &after);
}

/* A pending message to a process that could still take it may be lost; of a FIFO channel any one. */
static void loss_rule(struct steps *s, uint32_t kind, uint32_t q, uint32_t p) {
  struct lowering *l = s->l;
  struct circuit *c = l->circuit;
  const struct route *r = route_of(s, kind, q, p);
  if (!r->exists)
    return;
  struct acting a = {.s = s, .p = p, .row = no_rows(l), .globals = l->now.globals};
  rule_begin(l, arena_printf(l->arena, "%s_is_lost", route_name(s, kind, q, p)), clause_of(l, CLAUSE_LOST)->at);
  rule_guard(l, active(l, &l->now.local[p]));
  if (s->channel == CHANNEL_FIFO) {
    wire which = choice_number(l, "place", 0, s->length - 1), lost = circuit_truth(c, false);
    for (uint32_t i = 0; i < s->length; i++) {
      wire is = circuit_equal(c, which, circuit_number(c, i));
      assume(l, circuit_implies(c, is, circuit_not(c, circuit_equal(c, row_at(s, r, i), circuit_number(c, 0)))));
      lost = circuit_or(c, lost, is);
      wire next = i + 1 < s->length ? row_at(s, r, i + 1) : circuit_number(c, 0);
      a.row[r->cell + i] = circuit_if(c, lost, next, row_at(s, r, i));
    }
    change_rows(&a);
  } else {
    wire code = choice_number(l, l->model->messages[kind].name, 0, (int64_t)s->codes[kind] - 1);
    rule_guard(l, pending(s, kind, q, p, code));
    bump(l, r->cell, circuit_truth(c, true), code, -1, s->channel == CHANNEL_SET);
  }
  if (l->lost_cell != UINT32_MAX) {
    wire after = circuit_arithmetic(c, GATE_ADD, cell_wire(l, l->lost_cell), circuit_number(c, 1));
    rule_guard(l, circuit_less(c, cell_wire(l, l->lost_cell), circuit_number(c, l->program->cells.at[l->lost_cell].hi)));
    rule_change_allowed(l, l->lost_cell, after);
  }
  a.after = l->now.local[p];
  struct global_state after = state_after(&a);
  rule_end(l, &after);
}

void lower_steps(struct lowering *l) {
  struct steps *s = l->steps;
  const struct model *m = l->model;
  for (uint32_t p = 0; p < s->n; p++) {
    const struct role *role = &m->roles[model_role_of(m, p)];
    for (uint32_t i = 0; i < role->nactions; i++)
      action_rules(s, p, &role->actions[i]);
    crash_rules(s, p);
  }
  for (uint32_t kind = 0; clause_of(l, CLAUSE_LOST) && kind < (s->channel == CHANNEL_FIFO ? 1 : m->nmessages); kind++)
    for (uint32_t q = 0; q < s->n; q++)
      for (uint32_t p = 0; p < s->n; p++)
        loss_rule(s, kind, q, p);
}
