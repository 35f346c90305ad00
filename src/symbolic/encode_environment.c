/* The constraints of an environment's clauses, as terms: the counterpart of interp/environment.c. */
#include "symbolic/encode.h"

static const struct environment *environment(const struct encoder *e) {
  return &e->model->environments[e->environment];
}

void environment_check_clauses(struct encoder *e) {
  const struct clause *unknown = environment_unknown_clause(environment(e));
  if (unknown)
    encode_refuse(e, unknown->at, "this clause is not encoded");
}

/* Faulty processes of a role beyond the role's own limit count against the clauses for all processes. */
static truth limited(struct encoder *e, enum clause_kind kind, const truth *faulty, bool recovering) {
  const struct model *m = e->model;
  struct number excess = number_of(0);
  for (uint32_t r = 0; r < m->nroles; r++) {
    const struct role *role = &m->roles[r];
    int64_t own = fault_limit(environment(e), kind, r, recovering, role->count);
    struct number n = number_count(&e->t, faulty + role->first, role->count), over;
    if (!number_plus(&e->t, n, number_of(-own), &over) ||
        !number_plus(&e->t, excess, number_if(&e->t, number_less(&e->t, number_of(own), n), over, number_of(0)),
                     &excess))
      encode_refuse(e, environment(e)->at, "limits too large to follow");
  }
  int64_t shared = fault_limit(environment(e), kind, ROLE_ANY, recovering, m->nprocesses);
  return number_at_most(&e->t, excess, number_of(shared));
}

truth faults_limited(struct encoder *e, enum clause_kind kind, const truth *faulty) {
  return limited(e, kind, faulty, false);
}

truth recoveries_limited(struct encoder *e, const truth *recovered) {
  return limited(e, CLAUSE_CRASH, recovered, true);
}

/* ---- one round ---- */

truth encode_must_hear(struct encoder *e, const struct sym_state *s, const struct sym_round *r, uint32_t p,
                       uint32_t q) {
  if (p == q)
    return e->t.yes;
  const truth excused[] = {r->crash[q], s->of[q].crashed, s->of[q].omits_send, s->of[q].byzantine,
                           s->of[p].omits_receive};
  return truth_not(&e->t, truth_any(&e->t, excused, sizeof excused / sizeof *excused));
}

static truth crashes_allowed(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  uint32_t n = e->model->nprocesses;
  truth *down = arena_array(&e->arena, n + 1, sizeof *down), ok = e->t.yes;
  for (uint32_t p = 0; p < n; p++) {
    ok = truth_and(&e->t, ok, truth_implies(&e->t, r->crash[p], sym_process_active(e, &s->of[p])));
    down[p] = truth_or(&e->t, s->of[p].crashed, r->crash[p]);
  }
  truth any = truth_any(&e->t, r->crash, n);
  return truth_and(&e->t, ok, truth_implies(&e->t, any, faults_limited(e, CLAUSE_CRASH, down)));
}

static truth updates(struct encoder *e, const struct sym_state *s, const struct sym_round *r, uint32_t p) {
  return truth_and(&e->t, sym_process_active(e, &s->of[p]), truth_not(&e->t, r->crash[p]));
}

static truth deliveries_allowed(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  const struct environment *env = environment(e);
  bool lossy = clause_of_kind(env, CLAUSE_LOST) != NULL;
  truth ok = e->t.yes;
  if (!lossy && !clause_of_kind(env, CLAUSE_SYNCHRONOUS))
    return ok;
  for (uint32_t p = 0; p < e->model->nprocesses; p++)
    for (uint32_t q = 0; q < e->model->nprocesses; q++) {
      if (lossy && p != q)
        continue;
      truth must = truth_and(&e->t, updates(e, s, r, p), encode_must_hear(e, s, r, p, q));
      ok = truth_and(&e->t, ok, truth_implies(&e->t, must, r->heard[p][q]));
    }
  return ok;
}

static truth forgeries_allowed(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  truth ok = e->t.yes;
  bool corrupts = environment_may_corrupt(e->model, environment(e));
  for (uint32_t p = 0; p < e->model->nprocesses; p++)
    for (uint32_t q = 0; q < e->model->nprocesses; q++) {
      truth may = truth_or(&e->t, s->of[q].byzantine, corrupts ? r->sent[q][p] : e->t.no);
      ok = truth_and(&e->t, ok, truth_implies(&e->t, r->forged[p][q], truth_and(&e->t, r->heard[p][q], may)));
    }
  return ok;
}

/* The number of messages to receiver p that count as lost, or as corrupted. */
static struct number charged(struct encoder *e, const struct sym_state *s, const struct sym_round *r,
                             enum clause_kind kind, uint32_t p) {
  uint32_t n = e->model->nprocesses;
  truth *at = arena_array(&e->arena, n + 1, sizeof *at);
  for (uint32_t q = 0; q < n; q++)
    at[q] = truth_and(&e->t, truth_and(&e->t, updates(e, s, r, p), r->sent[q][p]),
                      kind == CLAUSE_LOST
                          ? truth_and(&e->t, truth_not(&e->t, r->heard[p][q]), encode_must_hear(e, s, r, p, q))
                          : truth_and(&e->t, r->heard[p][q], r->forged[p][q]));
  return number_count(&e->t, at, n);
}

static struct number charged_in_all(struct encoder *e, const struct sym_state *s, const struct sym_round *r,
                                    enum clause_kind kind) {
  struct number sum = number_of(0);
  for (uint32_t p = 0; p < e->model->nprocesses; p++)
    sum = encode_sum(e, sum, charged(e, s, r, kind, p));
  return sum;
}

struct number environment_charged(struct encoder *e, const struct sym_state *s, const struct sym_round *r,
                                  enum clause_kind kind) {
  bool counted = false;
  const struct environment *env = environment(e);
  for (uint32_t i = 0; i < env->nclauses; i++)
    counted |= env->clauses[i].kind == kind &&
               (e->prefix || (env->clauses[i].per == PER_RUN && env->clauses[i].limit < INT64_MAX));
  return counted ? charged_in_all(e, s, r, kind) : number_of(0);
}

static truth budgets_kept(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  const struct environment *env = environment(e);
  struct terms *t = &e->t;
  truth ok = t->yes;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if ((c->kind != CLAUSE_LOST && c->kind != CLAUSE_CORRUPTED) || c->limit == INT64_MAX)
      continue;
    if (c->per == PER_RECEIVER) {
      for (uint32_t p = 0; p < e->model->nprocesses; p++)
        ok = truth_and(t, ok, number_at_most(t, charged(e, s, r, c->kind, p), number_of(c->limit)));
      continue;
    }
    struct number now = charged_in_all(e, s, r, c->kind), all = now;
    if (c->per == PER_RUN && !number_plus(t, now, c->kind == CLAUSE_LOST ? s->lost : s->corrupted, &all))
      encode_refuse(e, c->at, "limits too large to follow");
    truth none = c->per == PER_RUN ? number_is(t, now, 0) : t->no;
    ok = truth_and(t, ok, truth_or(t, none, number_at_most(t, all, number_of(c->limit))));
  }
  return ok;
}

/* ---- predicates ---- */

static truth clause_holds(struct encoder *e, const struct clause *c, const struct sym_state *s,
                          const struct sym_round *r) {
  struct sym_state seen = *s; /* the state, with the oracles of this round */
  struct scope scope;
  seen.of = arena_copy(&e->arena, s->of, (e->model->nprocesses + (size_t)1) * sizeof *s->of);
  for (uint32_t p = 0; p < e->model->nprocesses; p++)
    seen.of[p].vars = r->oracles[p];
  scope_init(&scope, e);
  scope.before = &seen;
  scope.globals = s->globals;
  scope.point = s->point;
  scope.phase = s->phase;
  scope.heard = r->heard;
  scope.corrupt = r->forged;
  truth holds = encode_truth(&scope, c->pred);
  return truth_and(&e->t, holds, truth_not(&e->t, scope.error));
}

/* Does the clause apply to this round? */
static truth clause_applies(struct encoder *e, const struct clause *c, const struct sym_state *s) {
  if (!clause_is_about_round(e->model, c, s->point))
    return e->t.no;
  if (c->kind == CLAUSE_EVERY)
    return e->t.yes;
  return number_at_most(&e->t, number_of((int64_t)c->from - 1), s->rounds);
}

static truth clauses_hold(struct encoder *e, const struct sym_state *s, const struct sym_round *r,
                          bool without_messages) {
  const struct environment *env = environment(e);
  truth ok = e->t.yes;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    truth speaks = clause_applies(e, &env->clauses[i], s);
    if (speaks != e->t.no && !(without_messages && clause_reads_heard_of(e->model, &env->clauses[i])))
      ok = truth_and(&e->t, ok, truth_implies(&e->t, speaks, clause_holds(e, &env->clauses[i], s, r)));
  }
  return ok;
}

truth environment_allows(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  const truth all[] = {crashes_allowed(e, s, r), deliveries_allowed(e, s, r), forgeries_allowed(e, s, r),
                       budgets_kept(e, s, r), clauses_hold(e, s, r, false)};
  return truth_all(&e->t, all, sizeof all / sizeof *all);
}

truth environment_allows_failing(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  return truth_and(&e->t, crashes_allowed(e, s, r), clauses_hold(e, s, r, true));
}
