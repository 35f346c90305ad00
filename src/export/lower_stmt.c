/* Statements, guards that bind, and free choices: what sem/exec.c and sem/foreach.c do, as wires. */
#include "export/lower.h"

#include <stdio.h>
#include <string.h>

/* --- free choices --- */

void assume(struct lowering *l, wire w) { l->possible = circuit_and(l->circuit, l->possible, w); }

static const char *choice_name(struct lowering *l, const char *name) {
  bool taken = false;
  for (size_t i = 0; i < l->rule->choices.n && !taken; i++)
    taken = !strcmp(l->rule->choices.at[i].name, name);
  for (size_t i = 0; i < l->program->cells.n && !taken; i++)
    taken = !strcmp(l->program->cells.at[i].name, name);
  return taken ? choice_name(l, arena_printf(l->arena, "%s_%zu", name, l->rule->choices.n)) : name;
}

static wire choice_new(struct lowering *l, const char *name, bool truth, int64_t lo, int64_t hi) {
  if (!l->rule)
    refuse(l, (struct span){0, 0}, "a free choice where none can be written");
  struct choice choice = {choice_name(l, plain_name(l, arena_printf(l->arena, "any_%s", name))), truth, lo, hi};
  vec_push(&l->rule->choices, choice);
  return circuit_param(l->circuit, (uint32_t)l->rule->choices.n - 1, truth, lo, hi);
}

wire choice_number(struct lowering *l, const char *name, int64_t lo, int64_t hi) {
  return lo == hi ? circuit_number(l->circuit, lo) : choice_new(l, name, false, lo, hi);
}

wire choice_truth(struct lowering *l, const char *name) { return choice_new(l, name, true, 0, 1); }

/* Where nothing is to be chosen, the choice is its first value: no step is written twice for nothing. */
void choose_one(struct lowering *l, const char *name, const wire *possible, uint32_t n, wire *which) {
  struct circuit *c = l->circuit;
  uint32_t candidates = 0, only = 0;
  wire any = circuit_truth(c, false);
  for (uint32_t i = 0; i < n; i++) {
    which[i] = circuit_truth(c, false);
    any = circuit_or(c, any, possible[i]);
    if (!circuit_is(c, possible[i], 0)) {
      candidates++;
      only = i;
    }
  }
  if (candidates == 0)
    return;
  if (candidates == 1) {
    which[only] = circuit_truth(c, true);
    return;
  }
  wire chosen = choice_number(l, arena_printf(l->arena, "%s_%s", l->me == UINT32_MAX ? "model" : process_name(l, l->me), name), 0, n - 1);
  wire chooses = circuit_and(c, l->path, any);
  for (uint32_t i = 0; i < n; i++) {
    which[i] = circuit_equal(c, chosen, circuit_number(c, i));
    wire allowed = i == 0 ? circuit_implies(c, chooses, possible[i]) : circuit_and(c, chooses, possible[i]);
    assume(l, circuit_implies(c, which[i], allowed));
  }
}

/* Any value of a finite type. */
struct symbol choose_value(struct lowering *l, const char *name, const struct type *t, struct span at) {
  return symbol_of_code(l, t, choice_number(l, name, 0, (int64_t)code_count(l, t, at) - 1));
}

/* --- guards that bind --- */

struct guard_binding {
  wire when;
  struct symbol *slot;
  wire *sender;
};

struct guard_bindings {
  const struct guard *guard;
  struct guard_binding *all;
  size_t n, cap;
};

static bool same_binding(struct lowering *l, const struct guard *g, const struct guard_binding *a) {
  for (uint32_t i = 0; i < g->nused; i++) {
    struct symbol now = l->slot[g->used[i]];
    uint32_t n = now.type ? type_leaves(l, now.type, (struct span){0, 0}) : 1;
    if (memcmp(a->slot[i].leaf, now.leaf, n * sizeof *now.leaf) || a->sender[i] != l->slot_sender[g->used[i]])
      return false;
  }
  return true;
}

static void visit_guard(struct lowering *l, void *context, wire when) {
  struct guard_bindings *b = context;
  const struct guard *g = b->guard;
  if (g->cond)
    when = circuit_and(l->circuit, when, lower_truth(l, g->cond));
  if (circuit_is(l->circuit, when, 0))
    return;
  for (size_t i = 0; i < b->n; i++)
    if (same_binding(l, g, &b->all[i])) {
      b->all[i].when = circuit_or(l->circuit, b->all[i].when, when);
      return;
    }
  if (b->n == b->cap) {
    size_t cap = b->cap ? 2 * b->cap : 8;
    struct guard_binding *grown = arena_array(l->arena, cap, sizeof *grown);
    if (b->n)
      memcpy(grown, b->all, b->n * sizeof *grown);
    b->all = grown;
    b->cap = cap;
  }
  struct guard_binding *one = &b->all[b->n++];
  one->when = when;
  one->slot = arena_array(l->arena, g->nused + 1, sizeof *one->slot);
  one->sender = arena_array(l->arena, g->nused + 1, sizeof *one->sender);
  for (uint32_t i = 0; i < g->nused; i++) {
    one->slot[i] = l->slot[g->used[i]];
    one->sender[i] = l->slot_sender[g->used[i]];
  }
}

/* Does the guard hold? The names that it binds have the values of the witness that was chosen. */
wire lower_guard(struct lowering *l, const struct guard *g) {
  struct circuit *c = l->circuit;
  if (g->ngen == 0)
    return g->cond ? lower_truth(l, g->cond) : circuit_truth(c, true);
  struct guard_bindings b = {.guard = g};
  lower_bindings(l, g->gen, g->ngen, visit_guard, &b);
  wire any = circuit_truth(c, false);
  wire *when = arena_array(l->arena, b.n + 1, sizeof *when), *which = arena_array(l->arena, b.n + 1, sizeof *which);
  for (size_t i = 0; i < b.n; i++) {
    when[i] = b.all[i].when;
    any = circuit_or(c, any, when[i]);
  }
  if (b.n == 0)
    return any;
  if (g->nused > 0)
    choose_one(l, g->gen[0].name, when, (uint32_t)b.n, which);
  for (uint32_t i = 0; i < g->nused; i++) {
    struct symbol v = b.all[0].slot[i];
    wire sender = b.all[0].sender[i];
    for (size_t k = 1; k < b.n; k++) {
      v = symbol_if(l, which[k], b.all[k].slot[i], v);
      if (sender != NO_WIRE)
        sender = circuit_if(c, which[k], b.all[k].sender[i], sender);
    }
    l->slot[g->used[i]] = v;
    l->slot_sender[g->used[i]] = sender;
  }
  return any;
}

/* --- states on two branches --- */

struct local_state local_copy(struct lowering *l, uint32_t role, const struct local_state *s) {
  struct local_state copy = *s;
  uint32_t n = l->model->roles[role].nvars;
  copy.vars = arena_array(l->arena, n + 1, sizeof *copy.vars);
  memcpy(copy.vars, s->vars, n * sizeof *copy.vars);
  return copy;
}

struct symbol *globals_copy(struct lowering *l, const struct symbol *globals) {
  struct symbol *copy = arena_array(l->arena, l->model->nglobals + 1, sizeof *copy);
  if (l->model->nglobals)
    memcpy(copy, globals, l->model->nglobals * sizeof *copy);
  return copy;
}

void local_merge(struct lowering *l, uint32_t role, wire when, struct local_state *then, const struct local_state *other) {
  struct circuit *c = l->circuit;
  for (uint32_t i = 0; i < l->model->roles[role].nvars; i++)
    then->vars[i] = symbol_if(l, when, then->vars[i], other->vars[i]);
  then->halted = circuit_if(c, when, then->halted, other->halted);
  then->crashed = circuit_if(c, when, then->crashed, other->crashed);
  then->recovered = circuit_if(c, when, then->recovered, other->recovered);
}

void begin_process(struct lowering *l, uint32_t p, struct local_state *self, struct symbol *globals) {
  l->me = p;
  l->role = model_role_of(l->model, p);
  l->self = self;
  l->globals = globals;
  l->before = l->after = NULL;
  l->heard = l->corrupt = NULL;
  l->received = NULL;
  l->nreceived = 0;
  l->slot = arena_array(l->arena, l->model->nslots + 1, sizeof *l->slot);
  l->slot_sender = arena_array(l->arena, l->model->nslots + 1, sizeof *l->slot_sender);
}

static void run_stmt(struct lowering *l, const struct stmt *s);

/* Runs a block as if `when` held, and keeps the rest where it does not. */
static void run_when(struct lowering *l, wire when, const struct block *b, const struct stmt *one) {
  if (circuit_is(l->circuit, when, 0) || (b && b->n == 0))
    return;
  struct local_state old = local_copy(l, l->role, l->self);
  struct symbol *globals = globals_copy(l, l->globals);
  wire path = path_and(l, when);
  if (!circuit_is(l->circuit, l->path, 0)) {
    if (b)
      lower_block(l, b);
    else
      run_stmt(l, one);
  }
  l->path = path;
  local_merge(l, l->role, when, l->self, &old);
  for (uint32_t i = 0; i < l->model->nglobals; i++)
    l->globals[i] = symbol_if(l, when, l->globals[i], globals[i]);
}

/* `halt` ends the block: nothing after it happens. */
void lower_block(struct lowering *l, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    if (circuit_is(l->circuit, l->self->halted, 0))
      run_stmt(l, b->at[i]);
    else
      run_when(l, circuit_not(l->circuit, l->self->halted), NULL, b->at[i]);
  }
}

/* --- assignment --- */

static struct symbol assigned(struct lowering *l, struct symbol old, const struct stmt *s, uint32_t step, struct symbol v) {
  if (step == s->npath) {
    lower_check(l, old.type, v, s->expr->at, "value");
    return symbol_as(l, v, old.type);
  }
  struct symbol made = {old.type, NULL};
  uint32_t n = type_leaves(l, old.type, s->at);
  made.leaf = arena_copy(l->arena, old.leaf, n * sizeof *old.leaf);
  if (!s->path[step].index) {
    struct symbol part = symbol_part(l, made, s->path[step].field);
    struct symbol to = assigned(l, part, s, step + 1, v);
    memcpy(part.leaf, to.leaf, type_leaves(l, part.type, s->at) * sizeof *part.leaf);
    return made;
  }
  const struct type *index = old.type->index;
  struct symbol i = lower_node(l, s->path[step].index);
  lower_check(l, index, i, s->path[step].index->at, "index");
  for (uint32_t k = 0; k < index->count; k++) {
    wire here = symbol_equal(l, i, symbol_of_value(l, index, type_nth(&l->model->values, index, k)));
    if (circuit_is(l->circuit, here, 0))
      continue;
    struct symbol part = symbol_part(l, made, k);
    wire path = path_and(l, here);
    struct symbol to = symbol_if(l, here, assigned(l, part, s, step + 1, v), part);
    l->path = path;
    memcpy(part.leaf, to.leaf, type_leaves(l, part.type, s->at) * sizeof *part.leaf);
  }
  return made;
}

static void note_symbol(struct lowering *l, struct symbol s, struct span at) {
  uint32_t n = s.type ? type_leaves(l, s.type, at) : 1;
  for (uint32_t i = 0; i < n; i++)
    circuit_note(l->circuit, s.leaf[i], at);
}

static void assign(struct lowering *l, const struct stmt *s) {
  struct symbol *place = s->shared ? &l->globals[s->var] : &l->self->vars[s->var];
  struct symbol v = lower_node(l, s->expr);
  *place = assigned(l, *place, s, 0, v);
  note_symbol(l, *place, s->at);
}

/* --- sending --- */

static wire reaches(struct lowering *l, const struct send *s, struct symbol to, uint32_t p) {
  struct circuit *c = l->circuit;
  switch (s->target) {
  case TARGET_SET: return circuit_truth(c, s->to_role == ROLE_ANY || model_role_of(l->model, p) == s->to_role);
  case TARGET_OTHERS: return circuit_truth(c, p != l->me);
  case TARGET_ONE: return circuit_equal(c, to.leaf[0], circuit_number(c, p));
  case TARGET_EXPR: return to.leaf[p];
  }
  refuse(l, s->at, "a message to whom cannot be written in this format");
}

/* Puts what a send says into the outbox, one for each receiver, receivers in order. */
static void post(struct lowering *l, const struct send *s) {
  struct circuit *c = l->circuit;
  struct symbol message = lower_node(l, s->message), to = {0};
  const struct role *role = &l->model->roles[l->role];
  bool steps = model_steps(l->model);
  if (steps) {
    const struct type *t = l->model->messages[s->kind].type;
    lower_check(l, t, message, s->at, "value");
    message = symbol_as(l, message, t);
  }
  if (s->to)
    to = lower_node(l, s->to);
  struct symbol reachable = {0};
  if (role->graph)
    reachable = neighbours_of(l);
  for (uint32_t p = 0; p < l->model->nprocesses; p++) {
    wire sent = reaches(l, s, to, p);
    if (circuit_is(c, sent, 0))
      continue;
    wire channel = circuit_truth(c, true);
    if (role->ring && steps)
      channel = circuit_truth(c, p == role->first + (l->me - role->first + 1) % role->count);
    else if (role->graph)
      channel = reachable.leaf[p];
    fail_if(l, circuit_and(c, sent, circuit_not(c, channel)), s->at, "a message where there is no channel");
    struct sent_message one = {circuit_and(c, circuit_and(c, l->path, sent), channel), p, s->kind, message, s->at};
    vec_push(&l->outbox, one);
  }
}

void lower_send(struct lowering *l, const struct send *s) {
  wire when = lower_guard(l, &s->guard), path = path_and(l, when);
  if (!circuit_is(l->circuit, l->path, 0))
    post(l, s);
  l->path = path;
}

/* --- foreach: the messages in any order, each position a choice --- */

static void foreach(struct lowering *l, const struct stmt *s) {
  struct circuit *c = l->circuit;
  uint32_t n = l->nreceived;
  wire *done = arena_array(l->arena, n + 1, sizeof *done), *left = arena_array(l->arena, n + 1, sizeof *left);
  wire *which = arena_array(l->arena, n + 1, sizeof *which);
  for (uint32_t i = 0; i < n; i++)
    done[i] = circuit_truth(c, false);
  for (uint32_t turn = 0; turn < n; turn++) {
    wire any = circuit_truth(c, false), sender = NO_WIRE;
    for (uint32_t i = 0; i < n; i++) {
      left[i] = circuit_and(c, l->received[i].when, circuit_not(c, done[i]));
      any = circuit_or(c, any, left[i]);
    }
    choose_one(l, "next", left, n, which);
    struct symbol message = l->received[0].message;
    for (uint32_t i = 0; i < n; i++) {
      message = i ? symbol_if(l, which[i], l->received[i].message, message) : message;
      wire from = circuit_number(c, l->received[i].sender);
      sender = i ? circuit_if(c, which[i], from, sender) : from;
      done[i] = circuit_or(c, done[i], circuit_and(c, any, which[i]));
    }
    l->slot[s->slot] = message;
    l->slot_sender[s->slot] = sender;
    run_when(l, circuit_and(c, any, circuit_not(c, l->self->halted)), &s->then, NULL);
  }
}

/* Each side begins with what was before. */
static void branch(struct lowering *l, const struct stmt *s) {
  wire when = lower_guard(l, &s->guard);
  circuit_note(l->circuit, when, s->at);
  struct local_state old = local_copy(l, l->role, l->self);
  struct symbol *old_globals = globals_copy(l, l->globals);
  run_when(l, when, &s->then, NULL);
  struct local_state then = local_copy(l, l->role, l->self);
  struct symbol *then_globals = globals_copy(l, l->globals);
  *l->self = old;
  memcpy(l->globals, old_globals, l->model->nglobals * sizeof *l->globals);
  run_when(l, circuit_not(l->circuit, when), &s->other, NULL);
  local_merge(l, l->role, when, &then, l->self);
  *l->self = then;
  for (uint32_t i = 0; i < l->model->nglobals; i++)
    l->globals[i] = symbol_if(l, when, then_globals[i], l->globals[i]);
}

static void run_stmt(struct lowering *l, const struct stmt *s) {
  switch (s->kind) {
  case STMT_IF: branch(l, s); return;
  case STMT_LET: l->slot[s->slot] = lower_node(l, s->expr); return;
  case STMT_ASSIGN: assign(l, s); return;
  case STMT_FOREACH: foreach(l, s); return;
  case STMT_HALT: l->self->halted = circuit_truth(l->circuit, true); return;
  case STMT_SEND: lower_send(l, s->send); return;
  }
  refuse(l, s->at, "this statement cannot be written in this format");
}
