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
      rows[p][q] = e->t.no;
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
  const struct role *role = &e->model->roles[model_role_of(e->model, p)];
  r->oracles[p] = arena_array(&e->arena, role->nvars + (size_t)1, sizeof **r->oracles);
  truth active = sym_process_active(e, &s->of[p]);
  for (uint32_t i = 0; i < role->nvars; i++) {
    struct sym_value *v = s->of[p].vars[i];
    e->at = role->vars[i].at;
    if (chosen_at(e->model, &role->vars[i], s->point))
      v = sym_ite(e, active, sym_new(e, role->vars[i].type, name_of(e, role->vars[i].name, p, i)), v);
    r->oracles[p][i] = v;
  }
}

/* ---- sending ---- */

struct encoded_send {
  truth when;
  const struct send *send;
  struct sym_value *message, *to;
};

static truth reaches(struct encoder *e, const struct encoded_send *s, uint32_t from, uint32_t to) {
  switch (s->send->target) {
  case TARGET_SET:
    return truth_of(&e->t, s->send->to_role == ROLE_ANY || model_role_of(e->model, to) == s->send->to_role);
  case TARGET_OTHERS:
    return truth_of(&e->t, from != to);
  case TARGET_ONE:
    return number_is(&e->t, s->to->number, to);
  case TARGET_EXPR:
    return sym_has(e, s->to, sym_number(e, number_of(to)));
  }
  encode_refuse(e, s->send->at, "a message to whom is not encoded");
}

static struct encoded_send *send_all(struct scope *s, const struct body *body, truth active) {
  struct encoder *e = s->e;
  struct encoded_send *out = arena_array(&e->arena, body->nsends + (size_t)1, sizeof *out);
  for (uint32_t i = 0; i < body->nsends; i++) {
    const struct send *send = &body->sends[i];
    e->at = send->at;
    s->path = active;
    truth when = encode_guard(s, &send->guard);
    scope_narrow(s, when);
    out[i] = (struct encoded_send){truth_and(&e->t, active, when), send, NULL, NULL};
    if (when != e->t.no) {
      out[i].message = encode_node(s, send->message);
      out[i].to = send->to ? encode_node(s, send->to) : NULL;
    }
  }
  s->path = e->t.yes;
  return out;
}

/* The message from p to q. Returns the condition that p sends two messages to q, which is an error. */
static truth send_to(struct encoder *e, struct sym_round *r, const struct encoded_send *out, uint32_t n, uint32_t p,
                     uint32_t q) {
  truth error = e->t.no;
  for (uint32_t i = 0; i < n; i++) {
    truth it = out[i].when == e->t.no ? e->t.no : truth_and(&e->t, out[i].when, reaches(e, &out[i], p, q));
    if (it == e->t.no)
      continue;
    error = truth_or(&e->t, error, truth_and(&e->t, it, r->sent[p][q]));
    r->message[p][q] = r->message[p][q] ? sym_ite(e, it, out[i].message, r->message[p][q]) : out[i].message;
    r->type[p][q] = out[i].send->message->type;
    r->sent[p][q] = truth_or(&e->t, r->sent[p][q], it);
  }
  return error;
}

static truth send_round(struct encoder *e, const struct sym_state *s, struct sym_round *r) {
  truth error = e->t.no;
  for (uint32_t p = 0; p < e->model->nprocesses; p++) {
    struct scope scope;
    scope_of_process(&scope, e, s, p);
    const struct role *role = &e->model->roles[scope.role];
    const struct body *body = &role->body[s->point];
    memcpy(scope.vars, r->oracles[p], role->nvars * sizeof *scope.vars);
    struct encoded_send *out = send_all(&scope, body, sym_process_active(e, &s->of[p]));
    error = truth_or(&e->t, error, scope.error);
    for (uint32_t q = 0; q < e->model->nprocesses; q++)
      error = truth_or(&e->t, error, send_to(e, r, out, body->nsends, p, q));
  }
  return error;
}

/* ---- nondeterministic choices ---- */

static struct sym_round round_new(struct encoder *e) {
  uint32_t n = e->model->nprocesses;
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
  const struct environment *env = &e->model->environments[e->environment];
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (env->clauses[i].kind == CLAUSE_CRASH && env->clauses[i].limit > 0)
      return true;
  return false;
}

static void choose_heard(struct encoder *e, const struct sym_state *s, struct sym_round *r) {
  const struct environment *env = &e->model->environments[e->environment];
  bool lossy = clause_of_kind(env, CLAUSE_LOST) != NULL;
  bool delivers = lossy || clause_of_kind(env, CLAUSE_SYNCHRONOUS);
  for (uint32_t p = 0; p < e->model->nprocesses; p++)
    for (uint32_t q = 0; q < e->model->nprocesses; q++) {
      truth updates = truth_and(&e->t, sym_process_active(e, &s->of[p]), truth_not(&e->t, r->crash[p]));
      truth must =
          delivers && !(lossy && p != q) ? truth_and(&e->t, updates, encode_must_hear(e, s, r, p, q)) : e->t.no;
      r->heard[p][q] = must == e->t.yes ? must : truth_new(&e->t, name_of(e, "heard", p, q));
    }
}

static void choose_forgeries(struct encoder *e, const struct sym_state *s, struct sym_round *r) {
  bool corrupts = environment_may_corrupt(e->model, &e->model->environments[e->environment]);
  for (uint32_t p = 0; p < e->model->nprocesses; p++) {
    const struct body *body = &e->model->roles[model_role_of(e->model, p)].body[s->point];
    for (uint32_t q = 0; q < e->model->nprocesses && body->received; q++) {
      if (s->of[q].byzantine == e->t.no && (!corrupts || r->sent[q][p] == e->t.no))
        continue;
      e->at = body->at;
      if (body->received->count == UINT64_MAX)
        encode_refuse(e, body->at, "forged messages with too many values to choose from");
      r->forged[p][q] = truth_new(&e->t, name_of(e, "forged", p, q));
      r->forgery[p][q] = sym_new(e, body->received, name_of(e, "forgery", p, q));
    }
  }
}

/* ---- updates ---- */

static uint32_t receive(struct encoder *e, const struct sym_round *r, uint32_t p, struct sym_received *entries) {
  uint32_t n = 0;
  for (uint32_t q = 0; q < e->model->nprocesses; q++) {
    truth arrives = truth_and(&e->t, r->heard[p][q], truth_or(&e->t, r->sent[q][p], r->forged[p][q]));
    struct sym_value *message = r->message[q][p];
    if (arrives == e->t.no)
      continue;
    if (r->forgery[p][q])
      message = message ? sym_ite(e, r->forged[p][q], r->forgery[p][q], message) : r->forgery[p][q];
    entries[n++] = (struct sym_received){arrives, message, number_of(q)};
  }
  return n;
}

static truth update(struct encoder *e, const struct sym_state *s, const struct sym_round *r, uint32_t p,
                    struct sym_process *next) {
  struct scope scope;
  scope_of_process(&scope, e, s, p);
  const struct role *role = &e->model->roles[scope.role];
  const struct body *body = &role->body[s->point];
  struct sym_received *entries = arena_array(&e->arena, e->model->nprocesses + (size_t)1, sizeof *entries);
  truth acts = truth_and(&e->t, sym_process_active(e, &s->of[p]), truth_not(&e->t, r->crash[p]));
  memcpy(scope.vars, r->oracles[p], role->nvars * sizeof *scope.vars);
  scope.received = entries;
  scope.nreceived = receive(e, r, p, entries);
  scope.path = acts;
  encode_block(&scope, &body->update);
  encode_block(&scope, &body->finally);
  *next = s->of[p];
  next->halted = truth_or(&e->t, s->of[p].halted, truth_and(&e->t, acts, scope.halted));
  next->crashed = truth_or(&e->t, s->of[p].crashed, r->crash[p]);
  next->vars = arena_array(&e->arena, role->nvars + (size_t)1, sizeof *next->vars);
  truth active = sym_process_active(e, next);
  for (uint32_t i = 0; i < role->nvars; i++) {
    struct sym_value *v = sym_ite(e, acts, scope.vars[i], s->of[p].vars[i]);
    if (forgotten_after(e->model, &role->vars[i], s->point))
      v = sym_default(e, role->vars[i].type);
    else if (role->vars[i].kind == VAR_ORACLE)
      v = sym_ite(e, active, v, sym_default(e, role->vars[i].type));
    next->vars[i] = v;
  }
  return scope.error;
}

static struct sym_state *advance(struct encoder *e, const struct sym_state *s) {
  const struct point *point = &e->model->points[s->point];
  struct sym_state *next = arena_copy(&e->arena, s, sizeof *s);
  next->point = point->next;
  if (e->prefix || e->counts_rounds)
    next->rounds = encode_sum(e, s->rounds, number_of(1));
  if ((e->prefix || e->counts_phases) && point->phase_end && point->endless)
    next->phase = encode_sum(e, s->phase, number_of(1));
  next->of = arena_array(&e->arena, e->model->nprocesses + (size_t)1, sizeof *next->of);
  return next;
}

struct sym_step *encode_round(struct encoder *e, const struct sym_state *s) {
  struct sym_step *step = arena_alloc(&e->arena, sizeof *step);
  struct sym_round *r = &step->round;
  uint32_t n = e->model->nprocesses;
  *r = round_new(e);
  for (uint32_t p = 0; p < n; p++) {
    choose_oracles(e, s, r, p);
    r->crash[p] = crashes(e) ? truth_new(&e->t, name_of(e, "crash", p, p)) : e->t.no;
  }
  truth unsent = send_round(e, s, r), failed = e->t.no;
  choose_heard(e, s, r);
  choose_forgeries(e, s, r);
  step->before = s;
  step->after = advance(e, s);
  for (uint32_t p = 0; p < n; p++)
    failed = truth_or(&e->t, failed, update(e, s, r, p, &step->after->of[p]));
  truth sent = truth_and(&e->t, truth_not(&e->t, unsent), environment_allows(e, s, r));
  step->after->lost = encode_sum(e, s->lost, environment_charged(e, s, r, CLAUSE_LOST));
  step->after->corrupted = encode_sum(e, s->corrupted, environment_charged(e, s, r, CLAUSE_CORRUPTED));
  step->allowed = truth_and(&e->t, sent, truth_not(&e->t, failed));
  step->fails = truth_or(&e->t, truth_and(&e->t, sent, failed),
                         unsent == e->t.no ? unsent : truth_and(&e->t, unsent, environment_allows_failing(e, s, r)));
  return step;
}

struct verdict_terms encode_formula(struct encoder *e, const struct node *n, const struct sym_state *before,
                                    const struct sym_state *after) {
  struct scope s;
  scope_init(&s, e);
  s.before = before;
  s.after = after;
  s.globals = before->globals;
  s.point = before->point;
  s.phase = before->phase;
  truth holds = encode_truth(&s, n);
  return (struct verdict_terms){holds, s.error};
}
