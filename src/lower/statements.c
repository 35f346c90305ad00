/* Statements: both branches are executed, and their results are merged. */
#include "lower/lowering.h"

#include <string.h>

/* ---- guards with bindings ---- */

struct guard_witnesses {
  const struct guard *guard;
  VEC(truth) holds;
  VEC(struct sym_value *) value; /* nused per entry */
  VEC(struct number) sender;
};

/* Do the names that are used have the values of the i-th witness? */
static bool same_witness(const struct scope *s, const struct guard_witnesses *w, size_t i) {
  const struct guard *g = w->guard;
  for (uint32_t k = 0; k < g->nused; k++) {
    struct number a = w->sender.at[i * g->nused + k], b = s->slot_sender[g->used[k]];
    if (a.node != b.node || a.lo != b.lo || a.hi != b.hi ||
        !sym_identical(w->value.at[i * g->nused + k], s->slot[g->used[k]]))
      return false;
  }
  return true;
}

static bool visit_witness(struct scope *s, void *context, truth bound) {
  struct guard_witnesses *w = context;
  const struct guard *g = w->guard;
  truth holds = expr_and(s->l->graph, bound, g->cond ? lower_truth(s, g->cond) : EXPR_TRUE);
  if (holds == EXPR_FALSE)
    return true;
  for (size_t i = 0; i < w->holds.n; i++)
    if (same_witness(s, w, i)) {
      w->holds.at[i] = expr_or(s->l->graph, w->holds.at[i], holds);
      return true;
    }
  arena_push(s->l->arena, &w->holds, holds);
  for (uint32_t i = 0; i < g->nused; i++) {
    arena_push(s->l->arena, &w->value, s->slot[g->used[i]]);
    arena_push(s->l->arena, &w->sender, s->slot_sender[g->used[i]]);
  }
  return true;
}

truth lower_guard(struct scope *s, const struct guard *g) {
  struct lowering *l = s->l;
  if (g->ngen == 0)
    return g->cond ? lower_truth(s, g->cond) : EXPR_TRUE;
  struct guard_witnesses w = {.guard = g};
  lower_bindings(s, g->gen, g->ngen, visit_witness, &w);
  truth any = truth_any(l->graph, w.holds.at, w.holds.n);
  truth *which = arena_array(l->arena, w.holds.n + 1, sizeof *which);
  if (g->nused && w.holds.n)
    l->choose(s, g->gen[0].name, w.holds.at, w.holds.n, which);
  for (uint32_t i = 0; i < g->nused && w.holds.n; i++) {
    struct sym_value *v = w.value.at[i];
    struct number sender = w.sender.at[i];
    for (size_t k = 1; k < w.holds.n; k++) {
      v = sym_ite(l, which[k], w.value.at[k * g->nused + i], v);
      sender = number_if(l->graph, which[k], w.sender.at[k * g->nused + i], sender);
    }
    s->slot[g->used[i]] = v;
    s->slot_sender[g->used[i]] = sender;
  }
  return any;
}

/* ---- assignment ---- */

static struct sym_value *assigned(struct scope *s, const struct type *t, struct sym_value *old, const struct stmt *st,
                                  uint32_t step, struct sym_value *v) {
  struct lowering *l = s->l;
  if (step == st->npath) {
    v = lower_checked(s, t, v, st->expr->at, "value");
    return l->exports ? sym_canonical(l, t, v) : v;
  }
  struct sym_value *copy = arena_copy(l->arena, old, sizeof *old);
  copy->part = arena_array(l->arena, old->n + 1, sizeof *copy->part);
  memcpy(copy->part, old->part, old->n * sizeof *copy->part);
  if (!st->path[step].index) {
    uint32_t field = st->path[step].field;
    copy->part[field] = assigned(s, t->fields[field].type, old->part[field], st, step + 1, v);
    return copy;
  }
  struct sym_value *index =
      lower_checked(s, t->index, lower_node(s, st->path[step].index), st->path[step].index->at, "index");
  for (uint32_t i = 0; i < old->n; i++) {
    truth it = sym_equal(l, index, sym_nth_value(l, t->index, i));
    if (it == EXPR_FALSE)
      continue;
    truth outer = scope_narrow(s, it);
    copy->part[i] = sym_ite(l, it, assigned(s, t->element, old->part[i], st, step + 1, v), old->part[i]);
    s->path = outer;
  }
  return copy;
}

/* The place of the assignment, for comments in exported models. */
static void note_place(struct lowering *l, const struct sym_value *v, struct span at) {
  struct leaves all = {0};
  sym_leaves(l, v, &all);
  for (size_t i = 0; i < all.at.n; i++)
    expr_set_span(l->graph, all.at.at[i], at);
  vec_release(&all.at);
}

static void exec_assign(struct scope *s, const struct stmt *st) {
  struct sym_value *v = lower_node(s, st->expr), **place = st->shared ? &s->globals[st->var] : &s->vars[st->var];
  const struct model *m = s->l->model;
  const struct type *t = (st->shared ? &m->globals[st->var] : &m->roles[s->role].vars[st->var])->type;
  *place = assigned(s, t, *place, st, 0, v);
  if (s->l->exports)
    note_place(s->l, *place, st->at);
}

/* ---- merging branches ---- */

struct branch_state {
  struct sym_value **vars, **globals;
  truth halted;
};

static struct branch_state branch_save(const struct scope *s) {
  const struct model *m = s->l->model;
  uint32_t n = m->roles[s->role].nvars;
  struct branch_state b = {arena_array(s->l->arena, n + 1, sizeof *b.vars),
                           arena_array(s->l->arena, m->nglobals + 1, sizeof *b.globals), s->halted};
  memcpy(b.vars, s->vars, n * sizeof *b.vars);
  memcpy(b.globals, s->globals, m->nglobals * sizeof *b.globals);
  return b;
}

static void branch_restore(struct scope *s, const struct branch_state *b) {
  const struct model *m = s->l->model;
  memcpy(s->vars, b->vars, m->roles[s->role].nvars * sizeof *s->vars);
  memcpy(s->globals, b->globals, m->nglobals * sizeof *s->globals);
  s->halted = b->halted;
}

/* The result is the saved state `b` where the condition holds, else the current state. */
static void branch_merge(struct scope *s, truth condition, const struct branch_state *b) {
  struct lowering *l = s->l;
  for (uint32_t i = 0; i < l->model->roles[s->role].nvars; i++)
    s->vars[i] = sym_ite(l, condition, b->vars[i], s->vars[i]);
  for (uint32_t i = 0; i < l->model->nglobals; i++)
    s->globals[i] = sym_ite(l, condition, b->globals[i], s->globals[i]);
  s->halted = expr_ite(l->graph, condition, b->halted, s->halted);
}

/* Executes the statements of the block from index i on. */
static void exec_from(struct scope *s, const struct block *b, uint32_t i);

static void exec_under(struct scope *s, truth condition, const struct block *b, uint32_t i) {
  truth old = scope_narrow(s, condition);
  exec_from(s, b, i);
  s->path = old;
}

static void exec_if(struct scope *s, const struct stmt *st) {
  truth when = lower_guard(s, &st->guard);
  expr_set_span(s->l->graph, when, st->at);
  if (when == EXPR_TRUE || when == EXPR_FALSE) {
    exec_from(s, when == EXPR_TRUE ? &st->then : &st->other, 0);
    return;
  }
  struct branch_state before = branch_save(s);
  exec_under(s, when, &st->then, 0);
  struct branch_state then = branch_save(s);
  branch_restore(s, &before);
  exec_under(s, expr_not(s->l->graph, when), &st->other, 0);
  branch_merge(s, when, &then);
}

/* ---- foreach ---- */

/* One iteration, for message `of` if `there` holds. Choices inside the body are made anew in each iteration. */
static void exec_for_message(struct scope *s, const struct stmt *st, const struct sym_received *of, truth there) {
  struct lowering *l = s->l;
  if (there == EXPR_FALSE)
    return;
  truth old = scope_narrow(s, there);
  struct branch_state before = branch_save(s);
  s->slot[st->slot] = of->message;
  s->slot_sender[st->slot] = of->sender;
  exec_from(s, &st->then, 0);
  s->path = old;
  branch_merge(s, expr_not(l->graph, there), &before);
}

#define ORDERS_OF_MOST 4

/* An error in any order is an error of the model, so all orders are executed to collect their errors. */
static void collect_errors_of_all_orders(struct scope *s, const struct stmt *st, uint32_t *order, uint32_t done) {
  uint32_t n = s->nreceived;
  if (done < n) {
    for (uint32_t i = done; i < n; i++) {
      uint32_t swap = order[done];
      order[done] = order[i];
      order[i] = swap;
      collect_errors_of_all_orders(s, st, order, done + 1);
      order[i] = order[done];
      order[done] = swap;
    }
    return;
  }
  struct branch_state before = branch_save(s);
  size_t sent = s->posted.n;
  for (uint32_t i = 0; i < n; i++)
    exec_for_message(s, st, &s->received[order[i]], s->received[order[i]].there);
  s->posted.n = sent;
  branch_restore(s, &before);
}

/* The next message, if there is one: a nondeterministic choice among those not yet taken. */
static struct sym_received next_of(struct scope *s, truth *taken) {
  struct lowering *l = s->l;
  uint32_t n = s->nreceived;
  truth *open = arena_array(l->arena, n + 1, sizeof *open);
  struct sym_received next = {EXPR_FALSE, NULL, number_of(0)};
  for (uint32_t i = 0; i < n; i++)
    open[i] = expr_and(l->graph, s->received[i].there, expr_not(l->graph, taken[i]));
  truth *which = arena_array(l->arena, n + 1, sizeof *which);
  l->choose(s, "next", open, n, which);
  next.there = truth_any(l->graph, open, n);
  for (uint32_t i = 0; i < n; i++) {
    truth it = which[i];
    if (open[i] == EXPR_FALSE || it == EXPR_FALSE)
      continue;
    next.message = next.message ? sym_ite(l, it, s->received[i].message, next.message) : s->received[i].message;
    next.sender = number_if(l->graph, it, s->received[i].sender, next.sender);
    taken[i] = expr_or(l->graph, taken[i], expr_and(l->graph, next.there, it));
  }
  return next;
}

/* A dry run finds out whether the body can fail, or makes a choice. If it can fail, the errors of all orders are
   collected. Returns whether it can. */
static bool collect_errors(struct scope *s, const struct stmt *st) {
  struct lowering *l = s->l;
  uint32_t n = s->nreceived;
  truth error = s->error;
  struct branch_state before = branch_save(s);
  size_t sent = s->posted.n;
  bool chose = s->chose;
  s->chose = false;
  for (uint32_t i = 0; i < n; i++)
    exec_for_message(s, st, &s->received[i], s->received[i].there);
  bool fails = s->error != error, chooses = s->chose;
  s->posted.n = sent;
  s->error = error;
  s->chose |= chose;
  branch_restore(s, &before);
  if (!fails)
    return false;
  uint32_t *order = arena_array(l->arena, n + 1, sizeof *order);
  if (chooses || n > ORDERS_OF_MOST)
    lower_refuse(l, st->at, "a 'foreach' whose body can fail%s", chooses ? " and chooses" : ", over so many messages");
  for (uint32_t i = 0; i < n; i++)
    order[i] = i;
  collect_errors_of_all_orders(s, st, order, 0);
  return true;
}

static void exec_foreach(struct scope *s, const struct stmt *st) {
  uint32_t n = s->nreceived;
  bool fails = !s->l->fail && collect_errors(s, st);
  truth *taken = arena_array(s->l->arena, n + 1, sizeof *taken), error = s->error;
  for (uint32_t i = 0; i < n; i++)
    taken[i] = EXPR_FALSE;
  for (uint32_t i = 0; i < n; i++) {
    struct sym_received next = next_of(s, taken);
    if (next.message)
      exec_for_message(s, st, &next, next.there);
  }
  s->error = fails ? error : s->error;
}

/* ---- sending ---- */

truth send_reaches(struct scope *s, const struct send *send, const struct sym_value *to, uint32_t p) {
  switch (send->target) {
  case TARGET_SET:
    return expr_truth(send->to_role == ROLE_ANY || model_role_of(s->l->model, p) == send->to_role);
  case TARGET_OTHERS:
    return expr_truth(p != s->me);
  case TARGET_ONE:
    return process_is(s, to, p);
  case TARGET_EXPR:
    return sym_has_process(to, p);
  }
  lower_refuse(s->l, send->at, "a message to whom is not encoded");
}

static void post(struct scope *s, const struct send *send) {
  struct lowering *l = s->l;
  const struct role *role = &l->model->roles[s->role];
  bool steps = model_steps(l->model);
  struct sym_value *message = lower_node(s, send->message);
  if (steps) /* in rounds, the receiver's type is that of all messages it can receive */
    message = lower_checked(s, l->model->messages[send->kind].type, message, send->at, "value");
  struct sym_value *to = send->to ? lower_node(s, send->to) : NULL;
  struct sym_value *reachable = role->graph ? lower_neighbours(s) : NULL;
  for (uint32_t p = 0; p < l->model->nprocesses; p++) {
    truth sent = send_reaches(s, send, to, p);
    truth channel = role->ring && steps ? expr_truth(p == role->first + (s->me - role->first + 1) % role->count)
                    : reachable         ? sym_has_process(reachable, p)
                                        : EXPR_TRUE;
    scope_fail(s, expr_and(l->graph, sent, expr_not(l->graph, channel)), send->at,
               "a message where there is no channel");
    sent = expr_and(l->graph, sent, s->path);
    if (sent != EXPR_FALSE)
      arena_push(l->arena, &s->posted, ((struct sym_sent){sent, p, send->kind, message, send->at}));
  }
}

void lower_send(struct scope *s, const struct send *send) {
  truth when = lower_guard(s, &send->guard), old = scope_narrow(s, when);
  if (when != EXPR_FALSE)
    post(s, send);
  s->path = old;
}

/* ---- blocks ---- */

static void exec_stmt(struct scope *s, const struct stmt *st) {
  s->l->at = st->at;
  switch (st->kind) {
  case STMT_IF:
    exec_if(s, st);
    return;
  case STMT_LET:
    s->slot[st->slot] = lower_node(s, st->expr);
    return;
  case STMT_ASSIGN:
    exec_assign(s, st);
    return;
  case STMT_FOREACH:
    exec_foreach(s, st);
    return;
  case STMT_HALT:
    s->halted = EXPR_TRUE;
    return;
  case STMT_SEND:
    lower_send(s, st->send);
    return;
  }
  lower_refuse(s->l, st->at, "this statement is not encoded");
}

/* `halt` ends the block: later statements are not executed. */
static void exec_from(struct scope *s, const struct block *b, uint32_t i) {
  struct expr_graph *c = s->l->graph;
  for (; i < b->n && s->halted != EXPR_TRUE; i++) {
    if (s->halted != EXPR_FALSE) { /* it may have halted */
      truth halted = s->halted;
      struct branch_state before = branch_save(s);
      s->halted = EXPR_FALSE;
      exec_under(s, expr_not(c, halted), b, i);
      branch_merge(s, halted, &before);
      return;
    }
    exec_stmt(s, b->at[i]);
  }
}

void lower_block(struct scope *s, const struct block *b) { exec_from(s, b, 0); }
