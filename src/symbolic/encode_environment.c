/* The constraints of an environment's clauses, as terms: the counterpart of interp/environment.c. */
#include "symbolic/encode.h"

static const struct environment *environment(const struct encoder *e) {
  return &e->l.model->environments[e->environment];
}

void environment_check_clauses(struct encoder *e) {
  const struct clause *unknown = environment_unknown_clause(environment(e));
  if (unknown)
    lower_refuse(&e->l, unknown->at, "this clause is not encoded");
}

/* ---- one round ---- */

truth encode_must_hear(struct encoder *e, const struct sym_state *s, const struct sym_round *r, uint32_t p,
                       uint32_t q) {
  if (p == q)
    return EXPR_TRUE;
  const truth excused[] = {r->crash[q], s->of[q].crashed, s->of[q].omits_send, s->of[q].byzantine,
                           s->of[p].omits_receive};
  return expr_not(&e->t.graph, truth_any(&e->t.graph, excused, sizeof excused / sizeof *excused));
}

static truth crashes_allowed(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  uint32_t n = e->l.model->nprocesses;
  truth *down = arena_array(&e->arena, n + 1, sizeof *down), ok = EXPR_TRUE;
  for (uint32_t p = 0; p < n; p++) {
    ok = expr_and(&e->t.graph, ok, expr_implies(&e->t.graph, r->crash[p], sym_process_active(&e->l, &s->of[p])));
    down[p] = expr_or(&e->t.graph, s->of[p].crashed, r->crash[p]);
  }
  truth any = truth_any(&e->t.graph, r->crash, n);
  return expr_and(&e->t.graph, ok,
                  expr_implies(&e->t.graph, any, faults_limited(&e->l, environment(e), CLAUSE_CRASH, down, false)));
}

static truth updates(struct encoder *e, const struct sym_state *s, const struct sym_round *r, uint32_t p) {
  return expr_and(&e->t.graph, sym_process_active(&e->l, &s->of[p]), expr_not(&e->t.graph, r->crash[p]));
}

static truth deliveries_allowed(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  const struct environment *env = environment(e);
  bool lossy = clause_of_kind(env, CLAUSE_LOST) != NULL;
  truth ok = EXPR_TRUE;
  if (!lossy && !clause_of_kind(env, CLAUSE_SYNCHRONOUS))
    return ok;
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++)
    for (uint32_t q = 0; q < e->l.model->nprocesses; q++) {
      if (lossy && p != q)
        continue;
      truth must = expr_and(&e->t.graph, updates(e, s, r, p), encode_must_hear(e, s, r, p, q));
      ok = expr_and(&e->t.graph, ok, expr_implies(&e->t.graph, must, r->heard[p][q]));
    }
  return ok;
}

static truth forgeries_allowed(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  truth ok = EXPR_TRUE;
  bool corrupts = environment_may_corrupt(e->l.model, environment(e));
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++)
    for (uint32_t q = 0; q < e->l.model->nprocesses; q++) {
      truth may = expr_or(&e->t.graph, s->of[q].byzantine, corrupts ? r->sent[q][p] : EXPR_FALSE);
      ok = expr_and(&e->t.graph, ok,
                    expr_implies(&e->t.graph, r->forged[p][q], expr_and(&e->t.graph, r->heard[p][q], may)));
    }
  return ok;
}

/* The number of messages to receiver p that count as lost, or as corrupted. */
static struct number charged(struct encoder *e, const struct sym_state *s, const struct sym_round *r,
                             enum clause_kind kind, uint32_t p) {
  uint32_t n = e->l.model->nprocesses;
  truth *at = arena_array(&e->arena, n + 1, sizeof *at);
  for (uint32_t q = 0; q < n; q++)
    at[q] = expr_and(&e->t.graph, expr_and(&e->t.graph, updates(e, s, r, p), r->sent[q][p]),
                     kind == CLAUSE_LOST
                         ? expr_and(&e->t.graph, expr_not(&e->t.graph, r->heard[p][q]), encode_must_hear(e, s, r, p, q))
                         : expr_and(&e->t.graph, r->heard[p][q], r->forged[p][q]));
  return number_count(&e->t.graph, at, n);
}

static struct number charged_in_all(struct encoder *e, const struct sym_state *s, const struct sym_round *r,
                                    enum clause_kind kind) {
  struct number sum = number_of(0);
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++)
    sum = lower_sum(&e->l, sum, charged(e, s, r, kind, p));
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
  truth ok = EXPR_TRUE;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *c = &env->clauses[i];
    if ((c->kind != CLAUSE_LOST && c->kind != CLAUSE_CORRUPTED) || c->limit == INT64_MAX)
      continue;
    if (c->per == PER_RECEIVER) {
      for (uint32_t p = 0; p < e->l.model->nprocesses; p++)
        ok = expr_and(&t->graph, ok, number_at_most(&t->graph, charged(e, s, r, c->kind, p), number_of(c->limit)));
      continue;
    }
    struct number now = charged_in_all(e, s, r, c->kind), all = now;
    if (c->per == PER_RUN && !number_plus(&t->graph, now, c->kind == CLAUSE_LOST ? s->lost : s->corrupted, &all))
      lower_refuse(&e->l, c->at, "limits too large to follow");
    truth none = c->per == PER_RUN ? number_is(&t->graph, now, 0) : EXPR_FALSE;
    ok = expr_and(&t->graph, ok, expr_or(&t->graph, none, number_at_most(&t->graph, all, number_of(c->limit))));
  }
  return ok;
}

/* ---- predicates ---- */

static truth clause_holds(struct encoder *e, const struct clause *c, const struct sym_state *s,
                          const struct sym_round *r) {
  struct sym_state seen = *s; /* the state, with the oracles of this round */
  struct scope scope;
  seen.of = arena_copy(&e->arena, s->of, (e->l.model->nprocesses + (size_t)1) * sizeof *s->of);
  for (uint32_t p = 0; p < e->l.model->nprocesses; p++)
    seen.of[p].vars = r->oracles[p];
  scope_of_formula(&scope, &e->l, &seen, NULL);
  scope.heard = r->heard;
  scope.corrupt = r->forged;
  truth holds = lower_truth(&scope, c->pred);
  return expr_and(&e->t.graph, holds, expr_not(&e->t.graph, scope.error));
}

/* Does the clause apply to this round? */
static truth clause_applies(struct encoder *e, const struct clause *c, const struct sym_state *s) {
  if (!clause_is_about_round(e->l.model, c, s->point))
    return EXPR_FALSE;
  if (c->kind == CLAUSE_EVERY)
    return EXPR_TRUE;
  return number_at_most(&e->t.graph, number_of((int64_t)c->from - 1), s->rounds);
}

static truth clauses_hold(struct encoder *e, const struct sym_state *s, const struct sym_round *r,
                          bool without_messages) {
  const struct environment *env = environment(e);
  truth ok = EXPR_TRUE;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    truth speaks = clause_applies(e, &env->clauses[i], s);
    if (speaks != EXPR_FALSE && !(without_messages && clause_reads_heard_of(e->l.model, &env->clauses[i])))
      ok = expr_and(&e->t.graph, ok, expr_implies(&e->t.graph, speaks, clause_holds(e, &env->clauses[i], s, r)));
  }
  return ok;
}

truth environment_allows(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  const truth all[] = {crashes_allowed(e, s, r), deliveries_allowed(e, s, r), forgeries_allowed(e, s, r),
                       budgets_kept(e, s, r), clauses_hold(e, s, r, false)};
  return truth_all(&e->t.graph, all, sizeof all / sizeof *all);
}

truth environment_allows_failing(struct encoder *e, const struct sym_state *s, const struct sym_round *r) {
  return expr_and(&e->t.graph, crashes_allowed(e, s, r), clauses_hold(e, s, r, true));
}
