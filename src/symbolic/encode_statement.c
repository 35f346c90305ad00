/* Statements: both branches are executed, and their results are merged. */
#include "symbolic/encode.h"

#include <string.h>

/* ---- guards with bindings ---- */

struct guard_witnesses {
  const struct guard *guard;
  VEC(truth) holds;
  VEC(struct sym_value *) value; /* nused per entry */
  VEC(struct number) sender;
};

static bool visit_witness(struct scope *s, void *context, truth bound) {
  struct guard_witnesses *w = context;
  const struct guard *g = w->guard;
  truth holds = truth_and(&s->e->t, bound, g->cond ? encode_truth(s, g->cond) : s->e->t.yes);
  if (holds == s->e->t.no)
    return true;
  arena_push(&s->e->arena, &w->holds, holds);
  for (uint32_t i = 0; i < g->nused; i++) {
    arena_push(&s->e->arena, &w->value, s->slot[g->used[i]]);
    arena_push(&s->e->arena, &w->sender, s->slot_sender[g->used[i]]);
  }
  return true;
}

truth encode_guard(struct scope *s, const struct guard *g) {
  struct encoder *e = s->e;
  if (g->ngen == 0)
    return g->cond ? encode_truth(s, g->cond) : e->t.yes;
  struct guard_witnesses w = {.guard = g};
  encode_generators(s, g->gen, g->ngen, visit_witness, &w);
  truth any = truth_any(&e->t, w.holds.at, w.holds.n);
  struct number chosen = g->nused && w.holds.n ? encode_choice(s, w.holds.at, w.holds.n) : number_of(0);
  for (uint32_t i = 0; i < g->nused && w.holds.n; i++) {
    struct sym_value *v = w.value.at[i];
    struct number sender = w.sender.at[i];
    for (size_t k = 1; k < w.holds.n; k++) {
      truth it = number_is(&e->t, chosen, (int64_t)k);
      v = sym_ite(e, it, w.value.at[k * g->nused + i], v);
      sender = number_if(&e->t, it, w.sender.at[k * g->nused + i], sender);
    }
    s->slot[g->used[i]] = v;
    s->slot_sender[g->used[i]] = sender;
  }
  return any;
}

/* ---- assignment ---- */

static struct sym_value *assigned(struct scope *s, const struct type *t, struct sym_value *old, const struct stmt *st,
                                  uint32_t step, struct sym_value *v) {
  struct encoder *e = s->e;
  if (step == st->npath)
    return encode_checked(s, t, v);
  struct sym_value *copy = arena_copy(&e->arena, old, sizeof *old);
  copy->part = arena_array(&e->arena, old->n + 1, sizeof *copy->part);
  memcpy(copy->part, old->part, old->n * sizeof *copy->part);
  if (!st->path[step].index) {
    uint32_t field = st->path[step].field;
    copy->part[field] = assigned(s, t->fields[field].type, old->part[field], st, step + 1, v);
    return copy;
  }
  struct sym_value *index = encode_checked(s, t->index, encode_node(s, st->path[step].index));
  for (uint32_t i = 0; i < old->n; i++) {
    truth it = sym_equal(e, index, sym_nth_value(e, t->index, i));
    if (it == e->t.no)
      continue;
    truth outer = scope_narrow(s, it);
    copy->part[i] = sym_ite(e, it, assigned(s, t->element, old->part[i], st, step + 1, v), old->part[i]);
    s->path = outer;
  }
  return copy;
}

static void exec_assign(struct scope *s, const struct stmt *st) {
  struct sym_value *v = encode_node(s, st->expr);
  const struct model *m = s->e->model;
  if (st->shared)
    s->globals[st->var] = assigned(s, m->globals[st->var].type, s->globals[st->var], st, 0, v);
  else
    s->vars[st->var] = assigned(s, m->roles[s->role].vars[st->var].type, s->vars[st->var], st, 0, v);
}

/* ---- merging branches ---- */

struct branch_state {
  struct sym_value **vars, **globals;
  truth halted;
};

static struct branch_state branch_save(const struct scope *s) {
  const struct model *m = s->e->model;
  uint32_t n = m->roles[s->role].nvars;
  struct branch_state l = {arena_array(&s->e->arena, n + 1, sizeof *l.vars),
                           arena_array(&s->e->arena, m->nglobals + 1, sizeof *l.globals), s->halted};
  memcpy(l.vars, s->vars, n * sizeof *l.vars);
  memcpy(l.globals, s->globals, m->nglobals * sizeof *l.globals);
  return l;
}

static void branch_restore(struct scope *s, const struct branch_state *l) {
  const struct model *m = s->e->model;
  memcpy(s->vars, l->vars, m->roles[s->role].nvars * sizeof *s->vars);
  memcpy(s->globals, l->globals, m->nglobals * sizeof *s->globals);
  s->halted = l->halted;
}

/* The result is the saved state `l` where the condition holds, else the current state. */
static void branch_merge(struct scope *s, truth condition, const struct branch_state *l) {
  struct encoder *e = s->e;
  for (uint32_t i = 0; i < e->model->roles[s->role].nvars; i++)
    s->vars[i] = sym_ite(e, condition, l->vars[i], s->vars[i]);
  for (uint32_t i = 0; i < e->model->nglobals; i++)
    s->globals[i] = sym_ite(e, condition, l->globals[i], s->globals[i]);
  s->halted = truth_if(&e->t, condition, l->halted, s->halted);
}

/* Executes the statements of the block from index i on. */
static void exec_from(struct scope *s, const struct block *b, uint32_t i);

static void exec_under(struct scope *s, truth condition, const struct block *b, uint32_t i) {
  truth old = scope_narrow(s, condition);
  exec_from(s, b, i);
  s->path = old;
}

static void exec_if(struct scope *s, const struct stmt *st) {
  struct terms *t = &s->e->t;
  truth c = encode_guard(s, &st->guard);
  if (c == t->yes || c == t->no) {
    exec_from(s, c == t->yes ? &st->then : &st->other, 0);
    return;
  }
  struct branch_state before = branch_save(s);
  exec_under(s, c, &st->then, 0);
  struct branch_state then = branch_save(s);
  branch_restore(s, &before);
  exec_under(s, truth_not(t, c), &st->other, 0);
  branch_merge(s, c, &then);
}

/* ---- foreach ---- */

/* One iteration, for message `of` if `there` holds. Choices inside the body are made anew in each iteration. */
static void exec_for_message(struct scope *s, const struct stmt *st, const struct sym_received *of, truth there) {
  struct encoder *e = s->e;
  if (there == e->t.no)
    return;
  truth old = scope_narrow(s, there);
  struct branch_state before = branch_save(s);
  s->slot[st->slot] = of->message;
  s->slot_sender[st->slot] = of->sender;
  exec_from(s, &st->then, 0);
  s->path = old;
  branch_merge(s, truth_not(&e->t, there), &before);
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
  struct encoder *e = s->e;
  uint32_t n = s->nreceived;
  truth *open = arena_array(&e->arena, n + 1, sizeof *open);
  struct sym_received next = {e->t.no, NULL, number_of(0)};
  for (uint32_t i = 0; i < n; i++)
    open[i] = truth_and(&e->t, s->received[i].there, truth_not(&e->t, taken[i]));
  struct number chosen = encode_choice(s, open, n);
  next.there = truth_any(&e->t, open, n);
  for (uint32_t i = 0; i < n; i++) {
    truth it = number_is(&e->t, chosen, i);
    if (open[i] == e->t.no || it == e->t.no)
      continue;
    next.message = next.message ? sym_ite(e, it, s->received[i].message, next.message) : s->received[i].message;
    next.sender = number_if(&e->t, it, s->received[i].sender, next.sender);
    taken[i] = truth_or(&e->t, taken[i], truth_and(&e->t, next.there, it));
  }
  return next;
}

static void exec_foreach(struct scope *s, const struct stmt *st) {
  struct encoder *e = s->e;
  uint32_t n = s->nreceived;
  truth *taken = arena_array(&e->arena, n + 1, sizeof *taken), error = s->error;
  struct branch_state before = branch_save(s);
  size_t sent = s->posted.n;
  bool chose = s->chose;
  /* dry run: can the body fail, or make a choice? */
  s->chose = false;
  for (uint32_t i = 0; i < n; i++)
    exec_for_message(s, st, &s->received[i], s->received[i].there);
  bool fails = s->error != error, chooses = s->chose;
  s->posted.n = sent;
  s->error = error;
  branch_restore(s, &before);
  if (fails) {
    uint32_t *order = arena_array(&e->arena, n + 1, sizeof *order);
    if (chooses || n > ORDERS_OF_MOST)
      encode_refuse(e, st->at, "a 'foreach' whose body can fail%s",
                    chooses ? " and chooses" : ", over so many messages");
    for (uint32_t i = 0; i < n; i++)
      order[i] = i;
    collect_errors_of_all_orders(s, st, order, 0);
  }
  error = s->error;
  for (uint32_t i = 0; i < n; i++)
    taken[i] = e->t.no;
  for (uint32_t i = 0; i < n; i++) {
    struct sym_received next = next_of(s, taken);
    if (next.message)
      exec_for_message(s, st, &next, next.there);
  }
  s->error = fails ? error : s->error;
  s->chose |= chose;
}

/* ---- sending (actions only) ---- */

static truth reaches(struct scope *s, const struct send *send, const struct sym_value *to, uint32_t p) {
  struct encoder *e = s->e;
  switch (send->target) {
  case TARGET_SET:
    return truth_of(&e->t, send->to_role == ROLE_ANY || model_role_of(e->model, p) == send->to_role);
  case TARGET_OTHERS:
    return truth_of(&e->t, p != s->me);
  case TARGET_ONE:
    return process_is(s, to, p);
  case TARGET_EXPR:
    return sym_has(e, to, sym_number(e, number_of(p)));
  }
  encode_refuse(e, send->at, "a message to whom is not encoded");
}

static void exec_send(struct scope *s, const struct send *send) {
  struct encoder *e = s->e;
  const struct role *role = &e->model->roles[s->role];
  struct sym_value *message = encode_checked(s, e->model->messages[send->kind].type, encode_node(s, send->message));
  struct sym_value *to = send->to ? encode_node(s, send->to) : NULL;
  struct sym_value *reachable = role->graph ? encode_neighbours(s) : NULL;
  for (uint32_t p = 0; p < e->model->nprocesses; p++) {
    truth sent = reaches(s, send, to, p);
    truth channel = role->ring  ? truth_of(&e->t, p == role->first + (s->me - role->first + 1) % role->count)
                    : reachable ? sym_has(e, reachable, sym_number(e, number_of(p)))
                                : e->t.yes;
    scope_fail(s, truth_and(&e->t, sent, truth_not(&e->t, channel)));
    sent = truth_and(&e->t, sent, s->path);
    if (sent != e->t.no)
      arena_push(&e->arena, &s->posted, ((struct sym_sent){sent, p, send->kind, message}));
  }
}

/* ---- blocks ---- */

static void exec_stmt(struct scope *s, const struct stmt *st) {
  s->e->at = st->at;
  switch (st->kind) {
  case STMT_IF:
    exec_if(s, st);
    return;
  case STMT_LET:
    s->slot[st->slot] = encode_node(s, st->expr);
    return;
  case STMT_ASSIGN:
    exec_assign(s, st);
    return;
  case STMT_FOREACH:
    exec_foreach(s, st);
    return;
  case STMT_HALT:
    s->halted = s->e->t.yes;
    return;
  case STMT_SEND:
    exec_send(s, st->send);
    return;
  }
  encode_refuse(s->e, st->at, "this statement is not encoded");
}

/* `halt` ends the block: later statements are not executed. */
static void exec_from(struct scope *s, const struct block *b, uint32_t i) {
  struct terms *t = &s->e->t;
  for (; i < b->n && s->halted != t->yes; i++) {
    if (s->halted != t->no) { /* it may have halted */
      truth halted = s->halted;
      struct branch_state before = branch_save(s);
      s->halted = t->no;
      exec_under(s, truth_not(t, halted), b, i);
      branch_merge(s, halted, &before);
      return;
    }
    exec_stmt(s, b->at[i]);
  }
}

void encode_block(struct scope *s, const struct block *b) { exec_from(s, b, 0); }
