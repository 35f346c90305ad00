/* One round: oracles, crashes, messages, heard-of sets, updates. */
#include "symbolic/encode.h"

#include <string.h>

static struct sym_value ***table(struct encoder *e, uint32_t n) {
  struct sym_value ***rows = arena_array(&e->arena, n + (size_t)1, sizeof *rows);
  for (uint32_t p = 0; p < n; p++)
    rows[p] = arena_array(&e->arena, n + (size_t)1, sizeof **rows);
  return rows;
}

static truth **truths(struct encoder *e, uint32_t n) {
  truth **rows = arena_array(&e->arena, n + (size_t)1, sizeof *rows);
  for (uint32_t p = 0; p < n; p++) {
    rows[p] = arena_array(&e->arena, n + (size_t)1, sizeof **rows);
    for (uint32_t q = 0; q < n; q++)
      rows[p][q] = EXPR_FALSE;
  }
  return rows;
}

static bool chosen_at(const struct model *m, const struct var *v, uint32_t point) {
  return v->kind == VAR_ORACLE && (v->each == EACH_ROUND || m->points[point].phase_start);
}

static bool forgotten_after(const struct model *m, const struct var *v, uint32_t point) {
  return v->kind == VAR_ORACLE && (v->each == EACH_ROUND || m->points[point].phase_end);
}

static const char *name_of(struct encoder *e, const char *what, uint32_t p, uint32_t q) {
  return arena_printf(&e->arena, "%s.%u.%u", what, p + 1, q + 1);
}

/* The variables of p for sending and updating, with the oracles of this round. */
static void choose_oracles(struct encoder *e, const struct sym_state *s, struct sym_round *r, uint32_t p) {
  const struct role *role = &e->l.model->roles[model_role_of(e->l.model, p)];
  r->oracles[p] = arena_array(&e->arena, role->nvars + (size_t)1, sizeof **r->oracles);
  truth active = sym_process_active(&e->l, &s->of[p]);
  for (uint32_t i = 0; i < role->nvars; i++) {
    struct sym_value *v = s->of[p].vars[i];
    e->l.at = role->vars[i].at;
    if (chosen_at(e->l.model, &role->vars[i], s->point))
      v = sym_ite(&e->l, active, sym_new(e, role->vars[i].type, name_of(e, role->vars[i].name, p, i)), v);
    r->oracles[p][i] = v;
  }
}

/* ---- sending ---- */

struct encoded_send {
  truth when;
  const struct send *send;
  struct sym_value *message, *to;
};

static struct encoded_send *send_all(struct encoder *e, struct scope *s, const struct body *body, truth active) {
  struct encoded_send *out = arena_array(&e->arena, body->nsends + (size_t)1, sizeof *out);
  for (uint32_t i = 0; i < body->nsends; i++) {
    const struct send *send = &body->sends[i];
    e->l.at = send->at;
    s->path = active;
    truth when = lower_guard(s, &send->guard);
    scope_narrow(s, when);
    out[i] = (struct encoded_send){expr_and(&e->t.graph, active, when), send, NULL, NULL};
    if (when != EXPR_FALSE) {
      out[i].message = lower_node(s, send->message);
      out[i].to = send->to ? lower_node(s, send->to) : NULL;
    }
  }
  s->path = EXPR_TRUE;
  return out;
}

/* The message from p to q. Returns the condition that p sends two messages to q, which is an error. mixed: messages of
   different types reach q. */
static truth send_to(struct scope *s, struct sym_round *r, const struct encoded_send *out, uint32_t n, uint32_t q,
                     bool mixed) {
  struct encoder *e = encoder_of(s);
  uint32_t p = s->me;
  truth error = EXPR_FALSE;
  for (uint32_t i = 0; i < n; i++) {
    truth it = out[i].when == EXPR_FALSE
                   ? EXPR_FALSE
                   : expr_and(&e->t.graph, out[i].when, send_reaches(s, out[i].send, out[i].to, q));
    const struct type *type = out[i].send->message->type;
    if (it == EXPR_FALSE)
      continue;
    if (mixed && r->message[p][q] && type != r->type[p][q])
      lower_refuse(&e->l, out[i].send->at, "messages of different types from one process to another");
    error = expr_or(&e->t.graph, error, expr_and(&e->t.graph, it, r->sent[p][q]));
    r->message[p][q] = r->message[p][q] ? sym_ite(&e->l, it, out[i].message, r->message[p][q]) : out[i].message;
    r->type[p][q] = type;
    r->sent[p][q] = expr_or(&e->t.graph, r->sent[p][q], it);
  }
  return error;
}

static truth send_round(struct encoder *e, const struct sym_state *s, struct sym_round *r) {
  truth error = EXPR_FALSE;
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++) {
    struct scope scope;
    scope_of_process(&scope, &e->l, s, p);
    const struct role *role = &e->l.model->roles[scope.role];
    const struct body *body = &role->body[s->point];
    memcpy(scope.vars, r->oracles[p], role->nvars * sizeof *scope.vars);
    struct encoded_send *out = send_all(e, &scope, body, sym_process_active(&e->l, &s->of[p]));
    error = expr_or(&e->t.graph, error, scope.error);
    for (uint32_t q = 0; q < e->l.model->nprocesses; q++) {
      bool mixed = e->l.model->roles[model_role_of(e->l.model, q)].body[s->point].mixed;
      error = expr_or(&e->t.graph, error, send_to(&scope, r, out, body->nsends, q, mixed));
    }
  }
  return error;
}

/* ---- nondeterministic choices ---- */

static struct sym_round round_new(struct encoder *e) {
  uint32_t n = e->l.model->nprocesses;
  struct sym_round r = {.crash = arena_array(&e->arena, n + (size_t)1, sizeof *r.crash),
                        .oracles = arena_array(&e->arena, n + (size_t)1, sizeof *r.oracles),
                        .heard = truths(e, n),
                        .forged = truths(e, n),
                        .forgery = table(e, n),
                        .sent = truths(e, n),
                        .message = table(e, n)};
  r.type = arena_array(&e->arena, n + (size_t)1, sizeof *r.type);
  for (uint32_t p = 0; p < n; p++)
    r.type[p] = arena_array(&e->arena, n + (size_t)1, sizeof **r.type);
  return r;
}

static bool crashes(const struct encoder *e) {
  const struct environment *env = &e->l.model->environments[e->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CRASH && env->clauses[i].limit > 0)
      return true;
  return false;
}

static void choose_heard(struct encoder *e, const struct sym_state *s, struct sym_round *r) {
  const struct environment *env = &e->l.model->environments[e->environment];
  bool lossy = clause_of_kind(env, CLAUSE_LOST) != NULL;
  bool delivers = lossy || clause_of_kind(env, CLAUSE_SYNCHRONOUS);
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++)
    for (uint32_t q = 0; q < e->l.model->nprocesses; q++) {
      truth updates = expr_and(&e->t.graph, sym_process_active(&e->l, &s->of[p]), expr_not(&e->t.graph, r->crash[p]));
      truth must =
          delivers && !(lossy && p != q) ? expr_and(&e->t.graph, updates, encode_must_hear(e, s, r, p, q)) : EXPR_FALSE;
      r->heard[p][q] = must == EXPR_TRUE ? must : truth_new(&e->t, name_of(e, "heard", p, q));
    }
}

static void choose_forgeries(struct encoder *e, const struct sym_state *s, struct sym_round *r) {
  bool corrupts = environment_may_corrupt(e->l.model, &e->l.model->environments[e->environment]);
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++) {
    const struct body *body = &e->l.model->roles[model_role_of(e->l.model, p)].body[s->point];
    for (uint32_t q = 0; q < e->l.model->nprocesses && body->received; q++) {
      if (s->of[q].byzantine == EXPR_FALSE && (!corrupts || r->sent[q][p] == EXPR_FALSE))
        continue;
      e->l.at = body->at;
      if (body->received->count == UINT64_MAX)
        lower_refuse(&e->l, body->at, "forged messages with too many values to choose from");
      r->forged[p][q] = truth_new(&e->t, name_of(e, "forged", p, q));
      r->forgery[p][q] = sym_new(e, body->received, name_of(e, "forgery", p, q));
    }
  }
}

/* ---- updates ---- */

static uint32_t receive(struct encoder *e, const struct sym_round *r, uint32_t p, bool mixed,
                        struct sym_received *entries) {
  uint32_t n = 0;
  for (uint32_t q = 0; q < e->l.model->nprocesses; q++) {
    truth arrives = expr_and(&e->t.graph, r->heard[p][q], expr_or(&e->t.graph, r->sent[q][p], r->forged[p][q]));
    struct sym_value *message = r->message[q][p];
    if (arrives == EXPR_FALSE)
      continue;
    if (r->forgery[p][q] && !mixed) /* mixed messages are not read */
      message = message ? sym_ite(&e->l, r->forged[p][q], r->forgery[p][q], message) : r->forgery[p][q];
    entries[n++] = (struct sym_received){arrives, message, number_of(q)};
  }
  return n;
}

static truth update(struct encoder *e, const struct sym_state *s, const struct sym_round *r, uint32_t p,
                    struct sym_process *next) {
  struct scope scope;
  scope_of_process(&scope, &e->l, s, p);
  const struct role *role = &e->l.model->roles[scope.role];
  const struct body *body = &role->body[s->point];
  struct sym_received *entries = arena_array(&e->arena, e->l.model->nprocesses + (size_t)1, sizeof *entries);
  truth acts = expr_and(&e->t.graph, sym_process_active(&e->l, &s->of[p]), expr_not(&e->t.graph, r->crash[p]));
  memcpy(scope.vars, r->oracles[p], role->nvars * sizeof *scope.vars);
  scope.received = entries;
  scope.nreceived = receive(e, r, p, body->mixed, entries);
  scope.path = acts;
  lower_block(&scope, &body->update);
  lower_block(&scope, &body->finally);
  *next = s->of[p];
  next->halted = expr_or(&e->t.graph, s->of[p].halted, expr_and(&e->t.graph, acts, scope.halted));
  next->crashed = expr_or(&e->t.graph, s->of[p].crashed, r->crash[p]);
  next->vars = arena_array(&e->arena, role->nvars + (size_t)1, sizeof *next->vars);
  truth active = sym_process_active(&e->l, next);
  for (uint32_t i = 0; i < role->nvars; i++) {
    struct sym_value *v = sym_ite(&e->l, acts, scope.vars[i], s->of[p].vars[i]);
    if (forgotten_after(e->l.model, &role->vars[i], s->point))
      v = sym_default(&e->l, role->vars[i].type);
    else if (role->vars[i].kind == VAR_ORACLE)
      v = sym_ite(&e->l, active, v, sym_default(&e->l, role->vars[i].type));
    next->vars[i] = v;
  }
  return scope.error;
}

static struct sym_state *advance(struct encoder *e, const struct sym_state *s) {
  const struct point *point = &e->l.model->points[s->point];
  struct sym_state *next = arena_copy(&e->arena, s, sizeof *s);
  next->point = point->next;
  if (e->prefix || e->counts_rounds)
    next->rounds = lower_sum(&e->l, s->rounds, number_of(1));
  if ((e->prefix || e->counts_phases) && point->phase_end && point->endless)
    next->phase = lower_sum(&e->l, s->phase, number_of(1));
  next->of = arena_array(&e->arena, e->l.model->nprocesses + (size_t)1, sizeof *next->of);
  return next;
}

struct sym_step *encode_round(struct encoder *e, const struct sym_state *s) {
  struct sym_step *step = arena_alloc(&e->arena, sizeof *step);
  struct sym_round *r = &step->round;
  uint32_t n = e->l.model->nprocesses;
  *r = round_new(e);
  for (uint32_t p = 0; p < n; p++) {
    choose_oracles(e, s, r, p);
    r->crash[p] = crashes(e) ? truth_new(&e->t, name_of(e, "crash", p, p)) : EXPR_FALSE;
  }
  truth unsent = send_round(e, s, r), failed = EXPR_FALSE;
  choose_heard(e, s, r);
  choose_forgeries(e, s, r);
  step->before = s;
  step->after = advance(e, s);
  for (uint32_t p = 0; p < n; p++)
    failed = expr_or(&e->t.graph, failed, update(e, s, r, p, &step->after->of[p]));
  truth sent = expr_and(&e->t.graph, expr_not(&e->t.graph, unsent), environment_allows(e, s, r));
  step->after->lost = lower_sum(&e->l, s->lost, environment_charged(e, s, r, CLAUSE_LOST));
  step->after->corrupted = lower_sum(&e->l, s->corrupted, environment_charged(e, s, r, CLAUSE_CORRUPTED));
  step->allowed = expr_and(&e->t.graph, sent, expr_not(&e->t.graph, failed));
  step->fails =
      expr_or(&e->t.graph, expr_and(&e->t.graph, sent, failed),
              unsent == EXPR_FALSE ? unsent : expr_and(&e->t.graph, unsent, environment_allows_failing(e, s, r)));
  return step;
}

struct verdict_terms encode_formula(struct encoder *e, const struct node *n, const struct sym_state *before,
                                    const struct sym_state *after) {
  struct scope s;
  scope_of_formula(&s, &e->l, before, after);
  truth holds = lower_truth(&s, n);
  return (struct verdict_terms){holds, s.error};
}
