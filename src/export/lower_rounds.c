/* Rounds: one rule per point of the schedule, in which all processes send, hear the delivered messages and update.
   Heard-of sets, crashes, forged messages and oracles are choices; the clauses of the environment are conditions on
   them. The interpreter's counterpart is in interp/round_step.c and interp/environment.c. */
#include "export/lower.h"

#include <string.h>

struct round_message { /* the message from q to p in this round */
  expr_id when;
  struct sym_value *message; /* NULL: none can be sent */
};

struct round_lowering {
  struct model_lowering *l;
  uint32_t point, n;
  bool delivers, lossy, corrupts, heard_of_is_read; /* heard_of_is_read: some clause reads heard-of sets */
  struct sym_state seen;                            /* the state, with the oracles of this round */
  expr_id *active, *crashes, *receives;
  struct round_message **sent; /* [q][p] */
  expr_id **heard, **forged;   /* [p][q] */
  expr_id **lost, **corrupt;   /* [p][q]: counted against a budget */
};

static expr_id **square(struct model_lowering *l, uint32_t n) {
  expr_id **rows = arena_array(l->base.arena, n + 1, sizeof *rows);
  for (uint32_t i = 0; i < n; i++)
    rows[i] = arena_array(l->base.arena, n + 1, sizeof **rows);
  return rows;
}

static const struct role *role_of(const struct model_lowering *l, uint32_t p) {
  return &l->base.model->roles[model_role_of(l->base.model, p)];
}

static const char *pair_name(struct model_lowering *l, const char *what, uint32_t p, uint32_t q) {
  return arena_printf(l->base.arena, "%s_%s_%s", process_name(l, p), what, process_name(l, q));
}

/* --- before the exchange --- */

static bool chosen_here(const struct model_lowering *l, const struct var *v, uint32_t point) {
  return v->kind == VAR_ORACLE && (v->each == EACH_ROUND || l->base.model->points[point].phase_start);
}

static void choose_oracles(struct round_lowering *x, uint32_t p) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  const struct role *role = role_of(l, p);
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (!chosen_here(l, v, x->point))
      continue;
    const char *name = arena_printf(l->base.arena, "%s_%s", process_name(l, p), v->name);
    expr_id code = choice_number(l, name, 0, (int64_t)code_count(l, v->type, v->at) - 1);
    assume(l, expr_or(c, x->active[p], expr_equal(c, code, expr_number(c, 0))));
    x->seen.of[p].vars[i] = sym_ite(&l->base, x->active[p], value_of_code(l, v->type, code), x->seen.of[p].vars[i]);
  }
}

static bool may_crash(const struct model_lowering *l, uint32_t p) {
  return node_of(l->base.graph, l->now.of[p].crashed)->expr_kind == EXPR_VARIABLE;
}

static void choose_crashes(struct round_lowering *x) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  expr_id *down = arena_array(l->base.arena, x->n + 1, sizeof *down), any = EXPR_FALSE;
  for (uint32_t p = 0; p < x->n; p++) {
    x->crashes[p] = EXPR_FALSE;
    if (may_crash(l, p)) {
      x->crashes[p] = choice_truth(l, arena_printf(l->base.arena, "%s_crashes", process_name(l, p)));
      rule_guard(l, expr_implies(c, x->crashes[p], x->active[p]));
    }
    any = expr_or(c, any, x->crashes[p]);
    down[p] = expr_or(c, l->now.of[p].crashed, x->crashes[p]);
    x->receives[p] = expr_and(c, x->active[p], expr_not(c, x->crashes[p]));
  }
  rule_guard(l, expr_implies(c, any, faults_limited(&l->base, l->program->environment, CLAUSE_CRASH, down, false)));
}

/* --- sending --- */

static void add_sent(struct round_lowering *x, uint32_t q, const struct sym_sent *m) {
  struct model_lowering *l = x->l;
  struct round_message *to = &x->sent[q][m->to];
  expr_id path = l->scope.path;
  l->scope.path = EXPR_TRUE;
  scope_fail(&l->scope, expr_and(l->base.graph, to->when, m->when), m->at, "two messages to one receiver in a round");
  l->scope.path = path;
  const struct body *body = &role_of(l, m->to)->body[x->point];
  struct sym_value *message = body->mixed ? sym_default(&l->base, body->received) : m->message; /* nobody reads it */
  to->message = to->message ? sym_ite(&l->base, m->when, message, to->message) : message;
  to->when = expr_or(l->base.graph, to->when, m->when);
}

static void send_all(struct round_lowering *x, uint32_t q) {
  struct model_lowering *l = x->l;
  const struct body *body = &role_of(l, q)->body[x->point];
  begin_process(l, &x->seen, q);
  l->scope.path = x->active[q];
  for (uint32_t i = 0; i < body->nsends; i++)
    lower_send(&l->scope, &body->sends[i]);
  l->scope.path = EXPR_TRUE;
  x->sent[q] = arena_array(l->base.arena, x->n + 1, sizeof **x->sent);
  for (uint32_t p = 0; p < x->n; p++)
    x->sent[q][p].when = EXPR_FALSE;
  for (size_t i = 0; i < l->scope.posted.n; i++)
    add_sent(x, q, &l->scope.posted.at[i]);
}

/* --- who hears whom --- */

static expr_id must_hear(struct round_lowering *x, uint32_t p, uint32_t q) {
  struct expr_graph *c = x->l->base.graph;
  const struct sym_process *sender = &x->l->now.of[q], *receiver = &x->l->now.of[p];
  if (p == q)
    return EXPR_TRUE;
  expr_id excused =
      expr_or(c, expr_or(c, x->crashes[q], sender->crashed), expr_or(c, sender->omits_send, sender->byzantine));
  return expr_not(c, expr_or(c, excused, receiver->omits_receive));
}

/* One choice per pair: not heard, heard as sent, or replaced by another message (from a Byzantine sender, or
 * corrupted). */
static void choose_pair(struct round_lowering *x, uint32_t p, uint32_t q) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  const struct type *t = role_of(l, p)->body[x->point].received;
  expr_id no = EXPR_FALSE, yes = EXPR_TRUE, zero = expr_number(c, 0), one = expr_number(c, 1);
  expr_id sent = x->sent[q][p].when, liar = l->now.of[q].byzantine, receives = x->receives[p];
  expr_id must = x->delivers ? must_hear(x, p, q) : no;
  expr_id bound = x->lossy && p != q ? no : must; /* not allowed to be lost at all */
  expr_id may_lie = t ? expr_or(c, liar, x->corrupts ? sent : no) : no;
  bool speaks = !expr_is_constant(c, sent, 0) || !expr_is_constant(c, may_lie, 0);
  int64_t lies = expr_is_constant(c, may_lie, 0) ? 0 : (int64_t)code_count(l, t, l->base.model->roles[0].at);
  int64_t least = expr_is_constant(c, bound, 1) ? 1 : 0;
  x->lost[p][q] = x->corrupt[p][q] = no;
  x->forged[p][q] = zero;
  x->heard[p][q] = yes;
  if (!speaks && !x->heard_of_is_read)
    return;
  if (lies == 0) {
    if (least == 1)
      return;
    x->heard[p][q] = choice_truth(l, pair_name(l, "hears", p, q));
  } else {
    expr_id what = choice_number(l, pair_name(l, "hears", p, q), least,
                                 lies + 1); /* 0: nothing, 1: the message as sent, else a forged one */
    expr_id is_forged = expr_less(c, one, what);
    x->heard[p][q] = expr_less(c, zero, what);
    x->forged[p][q] = expr_ite(c, is_forged, expr_arithmetic(c, EXPR_SUB, what, one), zero);
    expr_assert_bounds(c, x->forged[p][q], 0, lies);
    rule_guard(l, expr_implies(c, is_forged, receives));
    if (!x->heard_of_is_read) /* a Byzantine process without a message is equivalent to one not heard */
      rule_guard(l, expr_implies(c, expr_and(c, liar, receives), expr_or(c, is_forged, expr_not(c, x->heard[p][q]))));
    rule_guard_or_assume(l, expr_implies(c, is_forged, may_lie));
    x->corrupt[p][q] = expr_and(c, is_forged, sent);
  }
  expr_id heard = x->heard[p][q];
  rule_guard(l, expr_or(c, heard, expr_not(c, expr_and(c, bound, receives))));
  if (!x->heard_of_is_read) /* fixes a choice that is never read, if p does not receive */
    rule_guard(l, expr_or(c, heard, receives));
  if (x->lossy)
    x->lost[p][q] = expr_and(c, expr_and(c, receives, sent), expr_and(c, must, expr_not(c, heard)));
}

/* --- clauses of the environment --- */

static expr_id rounds_done(struct round_lowering *x) {
  struct model_lowering *l = x->l;
  return l->rounds_variable != UINT32_MAX ? variable_expr(l, l->rounds_variable)
                                          : expr_number(l->base.graph, l->base.model->points[x->point].number - 1);
}

/* The predicate of a clause, for this round. */
static expr_id predicate(struct round_lowering *x, const struct clause *k) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  expr_id **is_forged = square(l, x->n);
  for (uint32_t p = 0; p < x->n; p++)
    for (uint32_t q = 0; q < x->n; q++)
      is_forged[p][q] = expr_less(c, expr_number(c, 0), x->forged[p][q]);
  begin_property(l, &x->seen, NULL);
  l->scope.heard = (expr_id *const *)x->heard;
  l->scope.corrupt = (expr_id *const *)is_forged;
  fail_fn *fail = collect_failures(l);
  expr_id holds = lower_truth(&l->scope, k->pred);
  l->base.fail = fail;
  holds = expr_and(c, holds, expr_not(c, l->scope.error));
  expr_set_span(c, holds, k->at);
  return holds;
}

static void apply_predicate_clause(struct round_lowering *x, const struct clause *k) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  expr_id asked = EXPR_TRUE;
  if (k->kind == CLAUSE_FROM_ROUND)
    asked = expr_at_most(c, expr_number(c, k->from), expr_arithmetic(c, EXPR_ADD, rounds_done(x), expr_number(c, 1)));
  rule_guard_or_assume(l, expr_implies(c, asked, predicate(x, k)));
}

/* Liveness: does the round satisfy a clause about the whole run? Rounds with other names need not satisfy it. */
static void apply_run_clause(struct round_lowering *x, const struct clause *k) {
  struct model_lowering *l = x->l;
  bool named = k->name_id == NO_NAME || l->base.model->points[x->point].name_id == k->name_id;
  live_clause(l, k, named ? predicate(x, k) : expr_truth(k->kind == CLAUSE_FINALLY));
}

static expr_id count_charged(struct round_lowering *x, expr_id **of, uint32_t only) {
  struct expr_graph *c = x->l->base.graph;
  expr_id sum = expr_number(c, 0);
  for (uint32_t p = 0; p < x->n; p++)
    for (uint32_t q = 0; q < x->n && (only == UINT32_MAX || p == only); q++)
      sum = expr_arithmetic(c, EXPR_ADD, sum, expr_bool_to_int(c, of[p][q]));
  return sum;
}

static void apply_budget(struct round_lowering *x, const struct clause *k) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  expr_id **of = k->kind == CLAUSE_LOST ? x->lost : x->corrupt;
  uint32_t cell = k->kind == CLAUSE_LOST ? l->lost_variable : l->corrupted_variable;
  int64_t most = (int64_t)x->n * x->n;
  if (k->limit == INT64_MAX || (k->limit >= most && k->per != PER_RUN))
    return;
  expr_id limit = expr_number(c, k->limit), sum = count_charged(x, of, UINT32_MAX);
  if (k->per == PER_ROUND)
    assume(l, expr_at_most(c, sum, limit));
  for (uint32_t p = 0; p < x->n && k->per == PER_RECEIVER; p++)
    assume(l, expr_at_most(c, count_charged(x, of, p), limit));
  if (k->per != PER_RUN)
    return;
  expr_id after = expr_arithmetic(c, EXPR_ADD, variable_expr(l, cell), sum);
  assume(l, expr_or(c, expr_equal(c, sum, expr_number(c, 0)), expr_at_most(c, after, limit)));
}

static void apply_clauses(struct round_lowering *x) {
  const struct environment *env = x->l->program->environment;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *k = &env->clauses[i];
    if (clause_is_about_round(x->l->base.model, k, x->point))
      apply_predicate_clause(x, k);
    if (k->kind == CLAUSE_LOST || k->kind == CLAUSE_CORRUPTED)
      apply_budget(x, k);
    if (x->l->program->live.property && clause_is_of_runs(k))
      apply_run_clause(x, k);
  }
}

static void charge_run(struct round_lowering *x, uint32_t cell, expr_id **of) {
  struct model_lowering *l = x->l;
  if (cell == UINT32_MAX)
    return;
  expr_id after = expr_arithmetic(l->base.graph, EXPR_ADD, variable_expr(l, cell), count_charged(x, of, UINT32_MAX));
  rule_change_allowed(l, cell, after); /* apply_clauses keeps it in its range */
}

/* --- updates --- */

static void receive(struct round_lowering *x, uint32_t p) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  const struct type *t = role_of(l, p)->body[x->point].received;
  struct sym_received *received = arena_array(l->base.arena, x->n + 1, sizeof *received);
  l->scope.received = received;
  for (uint32_t q = 0; q < x->n && t; q++) {
    expr_id is_forged = expr_less(c, expr_number(c, 0), x->forged[p][q]);
    expr_id got = expr_and(c, x->heard[p][q], expr_or(c, x->sent[q][p].when, is_forged));
    if (expr_is_constant(c, got, 0))
      continue;
    struct sym_value *message = x->sent[q][p].message ? x->sent[q][p].message : sym_default(&l->base, t);
    if (!expr_is_constant(c, is_forged, 0)) {
      expr_id code =
          expr_ite(c, is_forged, expr_arithmetic(c, EXPR_SUB, x->forged[p][q], expr_number(c, 1)), expr_number(c, 0));
      expr_assert_bounds(c, code, 0, (int64_t)code_count(l, t, (struct span){0, 0}) - 1);
      message = sym_ite(&l->base, is_forged, value_of_code(l, t, code), message);
    }
    received[l->scope.nreceived++] = (struct sym_received){got, message, number_of(q)};
  }
}

static void update(struct round_lowering *x, uint32_t p, struct sym_process *after) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  uint32_t r = model_role_of(l->base.model, p);
  const struct role *role = &l->base.model->roles[r];
  const struct body *body = &role->body[x->point];
  const struct sym_process *now = &l->now.of[p];
  begin_process(l, &x->seen, p);
  receive(x, p);
  l->scope.path = x->receives[p];
  lower_block(&l->scope, &body->update);
  lower_block(&l->scope, &body->finally);
  *after = process_after(l, now);
  for (uint32_t i = 0; i < role->nvars; i++)
    after->vars[i] = sym_ite(&l->base, x->receives[p], after->vars[i], now->vars[i]);
  after->halted = expr_ite(c, x->receives[p], after->halted, now->halted);
  after->crashed = expr_or(c, now->crashed, x->crashes[p]);
  expr_id idle = expr_not(c, sym_process_active(&l->base, after));
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (v->kind != VAR_ORACLE)
      continue;
    expr_id forgotten = v->each == EACH_ROUND || l->base.model->points[x->point].phase_end ? EXPR_TRUE : idle;
    struct sym_value *none = sym_canonical(&l->base, v->type, sym_default(&l->base, v->type));
    after->vars[i] = sym_ite(&l->base, forgotten, none, after->vars[i]);
  }
}

/* --- the rule of a round --- */

static void advance(struct round_lowering *x) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  const struct point *point = &l->base.model->points[x->point];
  expr_id one = expr_number(c, 1);
  if (l->point_variable != UINT32_MAX)
    rule_change(l, l->point_variable, expr_number(c, point->next == POINT_END ? l->base.model->npoints : point->next));
  if (l->phase_variable != UINT32_MAX && point->phase_end && point->endless)
    rule_change(l, l->phase_variable, expr_arithmetic(c, EXPR_ADD, variable_expr(l, l->phase_variable), one));
  if (l->rounds_variable != UINT32_MAX) {
    expr_id rounds = variable_expr(l, l->rounds_variable),
            most = expr_number(c, l->program->variables.at[l->rounds_variable].hi);
    expr_id more = expr_ite(c, expr_less(c, rounds, most), expr_arithmetic(c, EXPR_ADD, rounds, one), most);
    expr_assert_bounds(c, more, 1, l->program->variables.at[l->rounds_variable].hi);
    rule_change(l, l->rounds_variable, more);
  }
}

/* --max-rounds: derived from the phase, or counted. */
static void limit_rounds(struct round_lowering *x) {
  struct model_lowering *l = x->l;
  struct expr_graph *c = l->base.graph;
  const struct model *m = l->base.model;
  uint32_t length = 0;
  for (uint32_t i = 0; i < m->npoints; i++)
    length += m->points[i].endless;
  if (!l->max_rounds || length == 0)
    return;
  expr_id done = expr_number(c, m->points[x->point].number - 1), most = expr_number(c, l->max_rounds);
  if (l->phase_variable == UINT32_MAX)
    done = variable_expr(l, l->rounds_variable);
  else if (m->points[x->point].endless)
    done = expr_arithmetic(
        c, EXPR_ADD, done,
        expr_arithmetic(c, EXPR_MUL, expr_number(c, length),
                        expr_arithmetic(c, EXPR_SUB, variable_expr(l, l->phase_variable), expr_number(c, 1))));
  rule_guard(l, expr_less(c, done, most));
}

static struct span span_of(const struct model_lowering *l, uint32_t point) {
  for (uint32_t r = 0; r < l->base.model->nroles; r++)
    if (l->base.model->roles[r].body[point].at.to)
      return l->base.model->roles[r].body[point].at;
  return (struct span){0, 0};
}

static void one_round(struct model_lowering *l, uint32_t point) {
  struct expr_graph *c = l->base.graph;
  const struct model *m = l->base.model;
  const struct environment *env = l->program->environment;
  struct round_lowering *x = arena_alloc(l->base.arena, sizeof *x);
  uint32_t n = m->nprocesses;
  *x = (struct round_lowering){.l = l, .point = point, .n = n};
  x->lossy = clause_of_kind(env, CLAUSE_LOST) != NULL;
  x->delivers = x->lossy || clause_of_kind(env, CLAUSE_SYNCHRONOUS);
  x->corrupts = environment_may_corrupt(m, env);
  for (uint32_t i = 0; i < env->nclauses; i++)
    x->heard_of_is_read |=
        clause_is_about_round(m, &env->clauses[i], point) && clause_reads_heard_of(m, &env->clauses[i]);
  for (uint32_t i = 0; l->program->live.property && i < env->nclauses; i++)
    x->heard_of_is_read |= clause_is_of_runs(&env->clauses[i]);
  x->active = arena_array(l->base.arena, n + 1, sizeof *x->active);
  x->crashes = arena_array(l->base.arena, n + 1, sizeof *x->crashes);
  x->receives = arena_array(l->base.arena, n + 1, sizeof *x->receives);
  x->sent = arena_array(l->base.arena, n + 1, sizeof *x->sent);
  x->heard = square(l, n), x->forged = square(l, n), x->lost = square(l, n), x->corrupt = square(l, n);
  const char *name = m->points[point].name
                         ? arena_printf(l->base.arena, "round_%s_%u", m->points[point].name, point + 1)
                         : arena_printf(l->base.arena, "round_%u", point + 1);
  rule_begin(l, name, span_of(l, point));
  if (l->point_variable != UINT32_MAX)
    rule_guard(l, expr_equal(c, variable_expr(l, l->point_variable), expr_number(c, point)));
  limit_rounds(x);
  l->now.point = point;
  x->seen = l->now;
  x->seen.rounds = number_at(c, rounds_done(x));
  x->seen.of = arena_array(l->base.arena, n + 1, sizeof *x->seen.of);
  for (uint32_t p = 0; p < n; p++) {
    x->seen.of[p] = process_copy(l, p, &l->now.of[p]);
    x->active[p] = sym_process_active(&l->base, &l->now.of[p]);
  }
  choose_crashes(x);
  for (uint32_t p = 0; p < n; p++)
    choose_oracles(x, p);
  for (uint32_t q = 0; q < n; q++)
    send_all(x, q);
  for (uint32_t p = 0; p < n; p++)
    for (uint32_t q = 0; q < n; q++)
      choose_pair(x, p, q);
  apply_clauses(x);
  struct sym_state after = l->now;
  after.of = arena_array(l->base.arena, n + 1, sizeof *after.of);
  for (uint32_t p = 0; p < n; p++)
    update(x, p, &after.of[p]);
  charge_run(x, l->lost_variable, x->lost);
  charge_run(x, l->corrupted_variable, x->corrupt);
  advance(x);
  rule_end(l, &after);
}

void lower_rounds(struct model_lowering *l) {
  for (uint32_t i = 0; i < l->base.model->npoints; i++)
    one_round(l, i);
}
