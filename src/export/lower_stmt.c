/* Statements, guards with bindings, and nondeterministic choices: the symbolic counterpart of interp/exec.c and
   interp/exec_foreach.c. */
#include "export/lower.h"

#include <stdio.h>
#include <string.h>

/* --- nondeterministic choices --- */

void assume(struct model_lowering *l, expr_id w) { l->possible = expr_and(l->expr_graph, l->possible, w); }

static const char *choice_name(struct model_lowering *l, const char *name) {
  bool taken = false;
  for (size_t i = 0; i < l->rule->choices.n && !taken; i++)
    taken = !strcmp(l->rule->choices.at[i].name, name);
  for (size_t i = 0; i < l->program->variables.n && !taken; i++)
    taken = !strcmp(l->program->variables.at[i].name, name);
  return taken ? choice_name(l, arena_printf(l->arena, "%s_%zu", name, l->rule->choices.n)) : name;
}

static expr_id choice_new(struct model_lowering *l, const char *name, bool truth, int64_t lo, int64_t hi) {
  if (!l->rule)
    refuse(l, (struct span){0, 0}, "a free choice where none can be written");
  struct choice choice = {choice_name(l, plain_name(l, arena_printf(l->arena, "any_%s", name))), truth, lo, hi};
  vec_push(&l->rule->choices, choice);
  return expr_choice(l->expr_graph, (uint32_t)l->rule->choices.n - 1, truth, lo, hi);
}

expr_id choice_number(struct model_lowering *l, const char *name, int64_t lo, int64_t hi) {
  return lo == hi ? expr_number(l->expr_graph, lo) : choice_new(l, name, false, lo, hi);
}

expr_id choice_truth(struct model_lowering *l, const char *name) { return choice_new(l, name, true, 0, 1); }

/* Where there is nothing to choose, the choice is fixed to its first value, so that no step occurs twice. */
void choose_one(struct model_lowering *l, const char *name, const expr_id *possible, uint32_t n, expr_id *which) {
  struct expr_graph *c = l->expr_graph;
  uint32_t candidates = 0, only = 0;
  expr_id any = expr_truth(c, false);
  for (uint32_t i = 0; i < n; i++) {
    which[i] = expr_truth(c, false);
    any = expr_or(c, any, possible[i]);
    if (!expr_is_constant(c, possible[i], 0)) {
      candidates++;
      only = i;
    }
  }
  if (candidates == 0)
    return;
  if (candidates == 1) {
    which[only] = expr_truth(c, true);
    return;
  }
  expr_id chosen = choice_number(
      l, arena_printf(l->arena, "%s_%s", l->me == UINT32_MAX ? "model" : process_name(l, l->me), name), 0, n - 1);
  expr_id chooses = expr_and(c, l->path, any);
  for (uint32_t i = 0; i < n; i++) {
    which[i] = expr_equal(c, chosen, expr_number(c, i));
    expr_id allowed = i == 0 ? expr_implies(c, chooses, possible[i]) : expr_and(c, chooses, possible[i]);
    assume(l, expr_implies(c, which[i], allowed));
  }
}

/* A choice among all values of a finite type. */
struct flat_value choose_value(struct model_lowering *l, const char *name, const struct type *t, struct span at) {
  return flat_of_code(l, t, choice_number(l, name, 0, (int64_t)code_count(l, t, at) - 1));
}

/* --- guards with bindings --- */

struct guard_binding {
  expr_id when;
  struct flat_value *slot;
  expr_id *sender;
};

struct guard_bindings {
  const struct guard *guard;
  struct guard_binding *all;
  size_t n, cap;
};

static bool same_binding(struct model_lowering *l, const struct guard *g, const struct guard_binding *a) {
  for (uint32_t i = 0; i < g->nused; i++) {
    struct flat_value now = l->slot[g->used[i]];
    uint32_t n = now.type ? type_leaves(l, now.type, (struct span){0, 0}) : 1;
    if (memcmp(a->slot[i].leaf, now.leaf, n * sizeof *now.leaf) || a->sender[i] != l->slot_sender[g->used[i]])
      return false;
  }
  return true;
}

static void visit_guard(struct model_lowering *l, void *context, expr_id when) {
  struct guard_bindings *b = context;
  const struct guard *g = b->guard;
  if (g->cond)
    when = expr_and(l->expr_graph, when, lower_truth(l, g->cond));
  if (expr_is_constant(l->expr_graph, when, 0))
    return;
  for (size_t i = 0; i < b->n; i++)
    if (same_binding(l, g, &b->all[i])) {
      b->all[i].when = expr_or(l->expr_graph, b->all[i].when, when);
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

/* The condition that the guard holds. The names that it binds get the values of the chosen witness. */
expr_id lower_guard(struct model_lowering *l, const struct guard *g) {
  struct expr_graph *c = l->expr_graph;
  if (g->ngen == 0)
    return g->cond ? lower_truth(l, g->cond) : expr_truth(c, true);
  struct guard_bindings b = {.guard = g};
  lower_bindings(l, g->gen, g->ngen, visit_guard, &b);
  expr_id any = expr_truth(c, false);
  expr_id *when = arena_array(l->arena, b.n + 1, sizeof *when), *which = arena_array(l->arena, b.n + 1, sizeof *which);
  for (size_t i = 0; i < b.n; i++) {
    when[i] = b.all[i].when;
    any = expr_or(c, any, when[i]);
  }
  if (b.n == 0)
    return any;
  if (g->nused > 0)
    choose_one(l, g->gen[0].name, when, (uint32_t)b.n, which);
  for (uint32_t i = 0; i < g->nused; i++) {
    struct flat_value v = b.all[0].slot[i];
    expr_id sender = b.all[0].sender[i];
    for (size_t k = 1; k < b.n; k++) {
      v = flat_if(l, which[k], b.all[k].slot[i], v);
      if (sender != NO_EXPR)
        sender = expr_ite(c, which[k], b.all[k].sender[i], sender);
    }
    l->slot[g->used[i]] = v;
    l->slot_sender[g->used[i]] = sender;
  }
  return any;
}

/* --- merging branches --- */

struct local_state local_copy(struct model_lowering *l, uint32_t role, const struct local_state *s) {
  struct local_state copy = *s;
  uint32_t n = l->model->roles[role].nvars;
  copy.vars = arena_array(l->arena, n + 1, sizeof *copy.vars);
  memcpy(copy.vars, s->vars, n * sizeof *copy.vars);
  return copy;
}

struct flat_value *globals_copy(struct model_lowering *l, const struct flat_value *globals) {
  struct flat_value *copy = arena_array(l->arena, l->model->nglobals + 1, sizeof *copy);
  if (l->model->nglobals)
    memcpy(copy, globals, l->model->nglobals * sizeof *copy);
  return copy;
}

void local_merge(struct model_lowering *l, uint32_t role, expr_id when, struct local_state *then,
                 const struct local_state *other) {
  struct expr_graph *c = l->expr_graph;
  for (uint32_t i = 0; i < l->model->roles[role].nvars; i++)
    then->vars[i] = flat_if(l, when, then->vars[i], other->vars[i]);
  then->halted = expr_ite(c, when, then->halted, other->halted);
  then->crashed = expr_ite(c, when, then->crashed, other->crashed);
  then->recovered = expr_ite(c, when, then->recovered, other->recovered);
}

void begin_process(struct model_lowering *l, uint32_t p, struct local_state *self, struct flat_value *globals) {
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

static void run_stmt(struct model_lowering *l, const struct stmt *s);

/* Executes a block under the condition `when`; where it is false, the state is unchanged. */
static void run_when(struct model_lowering *l, expr_id when, const struct block *b, const struct stmt *one) {
  if (expr_is_constant(l->expr_graph, when, 0) || (b && b->n == 0))
    return;
  struct local_state old = local_copy(l, l->role, l->self);
  struct flat_value *globals = globals_copy(l, l->globals);
  expr_id path = path_and(l, when);
  if (!expr_is_constant(l->expr_graph, l->path, 0)) {
    if (b)
      lower_block(l, b);
    else
      run_stmt(l, one);
  }
  l->path = path;
  local_merge(l, l->role, when, l->self, &old);
  for (uint32_t i = 0; i < l->model->nglobals; i++)
    l->globals[i] = flat_if(l, when, l->globals[i], globals[i]);
}

/* `halt` ends the block: later statements are not executed. */
void lower_block(struct model_lowering *l, const struct block *b) {
  for (uint32_t i = 0; i < b->n; i++) {
    if (expr_is_constant(l->expr_graph, l->self->halted, 0))
      run_stmt(l, b->at[i]);
    else
      run_when(l, expr_not(l->expr_graph, l->self->halted), NULL, b->at[i]);
  }
}

/* --- assignment --- */

static struct flat_value assigned(struct model_lowering *l, struct flat_value old, const struct stmt *s, uint32_t step,
                                  struct flat_value v) {
  if (step == s->npath) {
    lower_check(l, old.type, v, s->expr->at, "value");
    return flat_as(l, v, old.type);
  }
  struct flat_value made = {old.type, NULL};
  uint32_t n = type_leaves(l, old.type, s->at);
  made.leaf = arena_copy(l->arena, old.leaf, n * sizeof *old.leaf);
  if (!s->path[step].index) {
    struct flat_value part = flat_part(l, made, s->path[step].field);
    struct flat_value to = assigned(l, part, s, step + 1, v);
    memcpy(part.leaf, to.leaf, type_leaves(l, part.type, s->at) * sizeof *part.leaf);
    return made;
  }
  const struct type *index = old.type->index;
  struct flat_value i = lower_node(l, s->path[step].index);
  lower_check(l, index, i, s->path[step].index->at, "index");
  for (uint32_t k = 0; k < index->count; k++) {
    expr_id here = flat_equal(l, i, flat_of_value(l, index, type_nth(&l->model->values, index, k)));
    if (expr_is_constant(l->expr_graph, here, 0))
      continue;
    struct flat_value part = flat_part(l, made, k);
    expr_id path = path_and(l, here);
    struct flat_value to = flat_if(l, here, assigned(l, part, s, step + 1, v), part);
    l->path = path;
    memcpy(part.leaf, to.leaf, type_leaves(l, part.type, s->at) * sizeof *part.leaf);
  }
  return made;
}

static void note_symbol(struct model_lowering *l, struct flat_value s, struct span at) {
  uint32_t n = s.type ? type_leaves(l, s.type, at) : 1;
  for (uint32_t i = 0; i < n; i++)
    expr_set_span(l->expr_graph, s.leaf[i], at);
}

static void assign(struct model_lowering *l, const struct stmt *s) {
  struct flat_value *place = s->shared ? &l->globals[s->var] : &l->self->vars[s->var];
  struct flat_value v = lower_node(l, s->expr);
  *place = assigned(l, *place, s, 0, v);
  note_symbol(l, *place, s->at);
}

/* --- sending --- */

static expr_id reaches(struct model_lowering *l, const struct send *s, struct flat_value to, uint32_t p) {
  struct expr_graph *c = l->expr_graph;
  switch (s->target) {
  case TARGET_SET:
    return expr_truth(c, s->to_role == ROLE_ANY || model_role_of(l->model, p) == s->to_role);
  case TARGET_OTHERS:
    return expr_truth(c, p != l->me);
  case TARGET_ONE:
    return expr_equal(c, to.leaf[0], expr_number(c, p));
  case TARGET_EXPR:
    return to.leaf[p];
  }
  refuse(l, s->at, "a message to whom cannot be written in this format");
}

/* Adds the messages of a send to the outbox, one per receiver, in order of receivers. */
static void post(struct model_lowering *l, const struct send *s) {
  struct expr_graph *c = l->expr_graph;
  struct flat_value message = lower_node(l, s->message), to = {0};
  const struct role *role = &l->model->roles[l->role];
  bool steps = model_steps(l->model);
  if (steps) {
    const struct type *t = l->model->messages[s->kind].type;
    lower_check(l, t, message, s->at, "value");
    message = flat_as(l, message, t);
  }
  if (s->to)
    to = lower_node(l, s->to);
  struct flat_value reachable = {0};
  if (role->graph)
    reachable = neighbours_of(l);
  for (uint32_t p = 0; p < l->model->nprocesses; p++) {
    expr_id sent = reaches(l, s, to, p);
    if (expr_is_constant(c, sent, 0))
      continue;
    expr_id channel = expr_truth(c, true);
    if (role->ring && steps)
      channel = expr_truth(c, p == role->first + (l->me - role->first + 1) % role->count);
    else if (role->graph)
      channel = reachable.leaf[p];
    fail_if(l, expr_and(c, sent, expr_not(c, channel)), s->at, "a message where there is no channel");
    struct sent_message one = {expr_and(c, expr_and(c, l->path, sent), channel), p, s->kind, message, s->at};
    vec_push(&l->outbox, one);
  }
}

void lower_send(struct model_lowering *l, const struct send *s) {
  expr_id when = lower_guard(l, &s->guard), path = path_and(l, when);
  if (!expr_is_constant(l->expr_graph, l->path, 0))
    post(l, s);
  l->path = path;
}

/* --- foreach: any order of the messages; each position is a choice --- */

static void foreach (struct model_lowering *l, const struct stmt *s) {
  struct expr_graph *c = l->expr_graph;
  uint32_t n = l->nreceived;
  expr_id *done = arena_array(l->arena, n + 1, sizeof *done), *left = arena_array(l->arena, n + 1, sizeof *left);
  expr_id *which = arena_array(l->arena, n + 1, sizeof *which);
  for (uint32_t i = 0; i < n; i++)
    done[i] = expr_truth(c, false);
  for (uint32_t turn = 0; turn < n; turn++) {
    expr_id any = expr_truth(c, false), sender = NO_EXPR;
    for (uint32_t i = 0; i < n; i++) {
      left[i] = expr_and(c, l->received[i].when, expr_not(c, done[i]));
      any = expr_or(c, any, left[i]);
    }
    choose_one(l, "next", left, n, which);
    struct flat_value message = l->received[0].message;
    for (uint32_t i = 0; i < n; i++) {
      message = i ? flat_if(l, which[i], l->received[i].message, message) : message;
      expr_id from = expr_number(c, l->received[i].sender);
      sender = i ? expr_ite(c, which[i], from, sender) : from;
      done[i] = expr_or(c, done[i], expr_and(c, any, which[i]));
    }
    l->slot[s->slot] = message;
    l->slot_sender[s->slot] = sender;
    run_when(l, expr_and(c, any, expr_not(c, l->self->halted)), &s->then, NULL);
  }
}

/* Both branches start in the same state. */
static void branch(struct model_lowering *l, const struct stmt *s) {
  expr_id when = lower_guard(l, &s->guard);
  expr_set_span(l->expr_graph, when, s->at);
  struct local_state old = local_copy(l, l->role, l->self);
  struct flat_value *old_globals = globals_copy(l, l->globals);
  run_when(l, when, &s->then, NULL);
  struct local_state then = local_copy(l, l->role, l->self);
  struct flat_value *then_globals = globals_copy(l, l->globals);
  *l->self = old;
  memcpy(l->globals, old_globals, l->model->nglobals * sizeof *l->globals);
  run_when(l, expr_not(l->expr_graph, when), &s->other, NULL);
  local_merge(l, l->role, when, &then, l->self);
  *l->self = then;
  for (uint32_t i = 0; i < l->model->nglobals; i++)
    l->globals[i] = flat_if(l, when, then_globals[i], l->globals[i]);
}

static void run_stmt(struct model_lowering *l, const struct stmt *s) {
  switch (s->kind) {
  case STMT_IF:
    branch(l, s);
    return;
  case STMT_LET:
    l->slot[s->slot] = lower_node(l, s->expr);
    return;
  case STMT_ASSIGN:
    assign(l, s);
    return;
  case STMT_FOREACH:
    foreach (l, s)
      ;
    return;
  case STMT_HALT:
    l->self->halted = expr_truth(l->expr_graph, true);
    return;
  case STMT_SEND:
    lower_send(l, s->send);
    return;
  }
  refuse(l, s->at, "this statement cannot be written in this format");
}
