/* Rounds: for each point of the schedule one rule, in which all processes send, hear what the environment lets through,
   and update. Who hears whom, who crashes, what is forged and what oracles say are choices; the clauses of the environment
   are conditions on them (sem/round.c and sem/environment.c say the same). */
#include "export/lower.h"

#include <string.h>

struct sent_to { /* what q sends to p in this round */
  wire when;
  struct symbol message;
};

struct exchange {
  struct lowering *l;
  uint32_t point, n;
  bool delivers, lossy, corrupts, judged; /* judged: some clause speaks of who hears whom */
  struct local_state *local; /* with the oracles of this round */
  wire *active, *crashes, *receives;
  struct sent_to **sent;      /* [q][p] */
  wire **heard, **forged;     /* [p][q] */
  wire **lost, **corrupt;     /* [p][q]: charged */
};

static wire **square(struct lowering *l, uint32_t n) {
  wire **rows = arena_array(l->arena, n + 1, sizeof *rows);
  for (uint32_t i = 0; i < n; i++)
    rows[i] = arena_array(l->arena, n + 1, sizeof **rows);
  return rows;
}

static const struct role *role_of(const struct lowering *l, uint32_t p) { return &l->model->roles[model_role_of(l->model, p)]; }

static const char *pair_name(struct lowering *l, const char *what, uint32_t p, uint32_t q) {
  return arena_printf(l->arena, "%s_%s_%s", process_name(l, p), what, process_name(l, q));
}

/* --- before the exchange --- */

static bool chosen_here(const struct lowering *l, const struct var *v, uint32_t point) {
  return v->kind == VAR_ORACLE && (v->each == EACH_ROUND || l->model->points[point].phase_start);
}

static void choose_oracles(struct exchange *x, uint32_t p) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  const struct role *role = role_of(l, p);
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (!chosen_here(l, v, x->point))
      continue;
    const char *name = arena_printf(l->arena, "%s_%s", process_name(l, p), v->name);
    wire code = choice_number(l, name, 0, (int64_t)code_count(l, v->type, v->at) - 1);
    assume(l, circuit_or(c, x->active[p], circuit_equal(c, code, circuit_number(c, 0))));
    x->local[p].vars[i] = symbol_if(l, x->active[p], symbol_of_code(l, v->type, code), x->local[p].vars[i]);
  }
}

static bool may_crash(const struct lowering *l, uint32_t p) {
  return node_of(l->circuit, l->now.local[p].crashed)->gate == GATE_CELL;
}

static void choose_crashes(struct exchange *x) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  wire *down = arena_array(l->arena, x->n + 1, sizeof *down), any = circuit_truth(c, false);
  for (uint32_t p = 0; p < x->n; p++) {
    x->crashes[p] = circuit_truth(c, false);
    if (may_crash(l, p)) {
      x->crashes[p] = choice_truth(l, arena_printf(l->arena, "%s_crashes", process_name(l, p)));
      rule_guard(l, circuit_implies(c, x->crashes[p], x->active[p]));
    }
    any = circuit_or(c, any, x->crashes[p]);
    down[p] = circuit_or(c, l->now.local[p].crashed, x->crashes[p]);
    x->receives[p] = circuit_and(c, x->active[p], circuit_not(c, x->crashes[p]));
  }
  rule_guard(l, circuit_implies(c, any, faults_fit(l, CLAUSE_CRASH, down, false)));
}

/* --- sending --- */

static void add_sent(struct exchange *x, uint32_t q, const struct sent_message *m) {
  struct lowering *l = x->l;
  struct sent_to *to = &x->sent[q][m->to];
  wire path = l->path;
  l->path = circuit_truth(l->circuit, true);
  fail_if(l, circuit_and(l->circuit, to->when, m->when), m->at, "two messages to one receiver in a round");
  l->path = path;
  const struct type *t = role_of(l, m->to)->body[x->point].received;
  struct symbol message = symbol_as(l, m->message, t);
  to->message = to->message.leaf ? symbol_if(l, m->when, message, to->message) : message;
  to->when = circuit_or(l->circuit, to->when, m->when);
}

static void send_all(struct exchange *x, uint32_t q) {
  struct lowering *l = x->l;
  const struct body *body = &role_of(l, q)->body[x->point];
  struct local_state self = local_copy(l, model_role_of(l->model, q), &x->local[q]);
  begin_process(l, q, &self, globals_copy(l, l->now.globals));
  l->path = x->active[q];
  vec_clear(&l->outbox);
  for (uint32_t i = 0; i < body->nsends; i++)
    lower_send(l, &body->sends[i]);
  l->path = circuit_truth(l->circuit, true);
  x->sent[q] = arena_array(l->arena, x->n + 1, sizeof **x->sent);
  for (uint32_t p = 0; p < x->n; p++)
    x->sent[q][p].when = circuit_truth(l->circuit, false);
  for (size_t i = 0; i < l->outbox.n; i++)
    add_sent(x, q, &l->outbox.at[i]);
}

/* --- who hears whom --- */

static wire must_hear(struct exchange *x, uint32_t p, uint32_t q) {
  struct circuit *c = x->l->circuit;
  const struct local_state *sender = &x->l->now.local[q], *receiver = &x->l->now.local[p];
  if (p == q)
    return circuit_truth(c, true);
  wire excused = circuit_or(c, circuit_or(c, x->crashes[q], sender->crashed), circuit_or(c, sender->omits_send, sender->byzantine));
  return circuit_not(c, circuit_or(c, excused, receiver->omits_receive));
}

/* One choice for each pair: not heard, heard, or told something else, by a liar or on the way. */
static void choose_pair(struct exchange *x, uint32_t p, uint32_t q) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  const struct type *t = role_of(l, p)->body[x->point].received;
  wire no = circuit_truth(c, false), yes = circuit_truth(c, true), zero = circuit_number(c, 0), one = circuit_number(c, 1);
  wire sent = x->sent[q][p].when, liar = l->now.local[q].byzantine, receives = x->receives[p];
  wire must = x->delivers ? must_hear(x, p, q) : no;
  wire bound = x->lossy && p != q ? no : must; /* it is not even charged */
  wire may_lie = t ? circuit_or(c, liar, x->corrupts ? sent : no) : no;
  bool speaks = !circuit_is(c, sent, 0) || !circuit_is(c, may_lie, 0);
  int64_t lies = circuit_is(c, may_lie, 0) ? 0 : (int64_t)code_count(l, t, l->model->roles[0].at);
  int64_t least = circuit_is(c, bound, 1) ? 1 : 0;
  x->lost[p][q] = x->corrupt[p][q] = no;
  x->forged[p][q] = zero;
  x->heard[p][q] = yes;
  if (!speaks && !x->judged)
    return;
  if (lies == 0) {
    if (least == 1)
      return;
    x->heard[p][q] = choice_truth(l, pair_name(l, "hears", p, q));
  } else {
    wire what = choice_number(l, pair_name(l, "hears", p, q), least, lies + 1); /* 0: nothing, 1: what was sent */
    wire told = circuit_less(c, one, what);
    x->heard[p][q] = circuit_less(c, zero, what);
    x->forged[p][q] = circuit_if(c, told, circuit_arithmetic(c, GATE_SUB, what, one), zero);
    circuit_within(c, x->forged[p][q], 0, lies);
    rule_guard(l, circuit_implies(c, told, receives));
    if (!x->judged) /* a liar that tells nothing is as good as not heard */
      rule_guard(l, circuit_implies(c, circuit_and(c, liar, receives), circuit_or(c, told, circuit_not(c, x->heard[p][q]))));
    rule_guard_or_assume(l, circuit_implies(c, told, may_lie));
    x->corrupt[p][q] = circuit_and(c, told, sent);
  }
  wire heard = x->heard[p][q];
  rule_guard(l, circuit_or(c, heard, circuit_not(c, circuit_and(c, bound, receives))));
  if (!x->judged) /* of those who do not listen, nobody asks */
    rule_guard(l, circuit_or(c, heard, receives));
  if (x->lossy)
    x->lost[p][q] = circuit_and(c, circuit_and(c, receives, sent), circuit_and(c, must, circuit_not(c, heard)));
}

/* --- what the environment says of it --- */

static bool speaks(const struct exchange *x, const struct clause *k) {
  const struct model *m = x->l->model;
  return (k->kind == CLAUSE_EVERY || k->kind == CLAUSE_FROM_ROUND) && (k->name_id == NO_NAME || m->points[x->point].name_id == k->name_id);
}

static wire rounds_done(struct exchange *x) {
  struct lowering *l = x->l;
  return l->rounds_cell != UINT32_MAX ? cell_wire(l, l->rounds_cell) : circuit_number(l->circuit, l->model->points[x->point].number - 1);
}

/* What a clause says, of this round. */
static wire predicate(struct exchange *x, const struct clause *k) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  struct global_state seen = {x->local, l->now.globals, rounds_done(x)};
  wire **told = square(l, x->n);
  for (uint32_t p = 0; p < x->n; p++)
    for (uint32_t q = 0; q < x->n; q++)
      told[p][q] = circuit_less(c, circuit_number(c, 0), x->forged[p][q]);
  begin_process(l, 0, NULL, l->now.globals);
  l->me = UINT32_MAX;
  l->before = &seen;
  l->heard = (wire *const *)x->heard;
  l->corrupt = (wire *const *)told;
  l->quiet = true;
  l->failed = circuit_truth(c, false);
  wire holds = lower_truth(l, k->pred);
  l->quiet = false;
  holds = circuit_and(c, holds, circuit_not(c, l->failed));
  circuit_note(c, holds, k->at);
  l->heard = l->corrupt = NULL;
  l->before = NULL;
  return holds;
}

static void judge_predicate(struct exchange *x, const struct clause *k) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  wire asked = circuit_truth(c, true);
  if (k->kind == CLAUSE_FROM_ROUND)
    asked = circuit_at_most(c, circuit_number(c, k->from), circuit_arithmetic(c, GATE_ADD, rounds_done(x), circuit_number(c, 1)));
  rule_guard_or_assume(l, circuit_implies(c, asked, predicate(x, k)));
}

/* Live: does the round meet what is said of the whole run? Of rounds with other names nothing is asked. */
static void judge_run(struct exchange *x, const struct clause *k) {
  struct lowering *l = x->l;
  bool named = k->name_id == NO_NAME || l->model->points[x->point].name_id == k->name_id;
  live_clause(l, k, named ? predicate(x, k) : circuit_truth(l->circuit, k->kind == CLAUSE_FINALLY));
}

static wire charge(struct exchange *x, wire **of, uint32_t only) {
  struct circuit *c = x->l->circuit;
  wire sum = circuit_number(c, 0);
  for (uint32_t p = 0; p < x->n; p++)
    for (uint32_t q = 0; q < x->n && (only == UINT32_MAX || p == only); q++)
      sum = circuit_arithmetic(c, GATE_ADD, sum, circuit_count(c, of[p][q]));
  return sum;
}

static void judge_budget(struct exchange *x, const struct clause *k) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  wire **of = k->kind == CLAUSE_LOST ? x->lost : x->corrupt;
  uint32_t cell = k->kind == CLAUSE_LOST ? l->lost_cell : l->corrupted_cell;
  int64_t most = (int64_t)x->n * x->n;
  if (k->limit == INT64_MAX || (k->limit >= most && k->per != PER_RUN))
    return;
  wire limit = circuit_number(c, k->limit), sum = charge(x, of, UINT32_MAX);
  if (k->per == PER_ROUND)
    assume(l, circuit_at_most(c, sum, limit));
  for (uint32_t p = 0; p < x->n && k->per == PER_RECEIVER; p++)
    assume(l, circuit_at_most(c, charge(x, of, p), limit));
  if (k->per != PER_RUN)
    return;
  wire after = circuit_arithmetic(c, GATE_ADD, cell_wire(l, cell), sum);
  assume(l, circuit_or(c, circuit_equal(c, sum, circuit_number(c, 0)), circuit_at_most(c, after, limit)));
}

static void judge(struct exchange *x) {
  const struct environment *env = x->l->program->environment;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    const struct clause *k = &env->clauses[i];
    if (speaks(x, k))
      judge_predicate(x, k);
    if (k->kind == CLAUSE_LOST || k->kind == CLAUSE_CORRUPTED)
      judge_budget(x, k);
    if (x->l->program->live.property && clause_of_runs(k))
      judge_run(x, k);
  }
}

static void charge_run(struct exchange *x, uint32_t cell, wire **of) {
  struct lowering *l = x->l;
  if (cell == UINT32_MAX)
    return;
  wire after = circuit_arithmetic(l->circuit, GATE_ADD, cell_wire(l, cell), charge(x, of, UINT32_MAX));
  rule_change_allowed(l, cell, after); /* judge has seen to it */
}

/* --- updates --- */

static void receive(struct exchange *x, uint32_t p) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  const struct type *t = role_of(l, p)->body[x->point].received;
  l->received = arena_array(l->arena, x->n + 1, sizeof *l->received);
  l->nreceived = 0;
  for (uint32_t q = 0; q < x->n && t; q++) {
    wire told = circuit_less(c, circuit_number(c, 0), x->forged[p][q]);
    wire got = circuit_and(c, x->heard[p][q], circuit_or(c, x->sent[q][p].when, told));
    if (circuit_is(c, got, 0))
      continue;
    struct symbol message = x->sent[q][p].message.leaf ? x->sent[q][p].message : symbol_default(l, t);
    if (!circuit_is(c, told, 0)) {
      wire code = circuit_if(c, told, circuit_arithmetic(c, GATE_SUB, x->forged[p][q], circuit_number(c, 1)), circuit_number(c, 0));
      circuit_within(c, code, 0, (int64_t)code_count(l, t, (struct span){0, 0}) - 1);
      message = symbol_if(l, told, symbol_of_code(l, t, code), message);
    }
    l->received[l->nreceived++] = (struct received_message){got, q, message};
  }
}

static void update(struct exchange *x, uint32_t p, struct local_state *after) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  uint32_t r = model_role_of(l->model, p);
  const struct role *role = &l->model->roles[r];
  const struct body *body = &role->body[x->point];
  const struct local_state *now = &l->now.local[p];
  *after = local_copy(l, r, &x->local[p]);
  begin_process(l, p, after, globals_copy(l, l->now.globals));
  receive(x, p);
  after->halted = circuit_truth(c, false); /* on the path */
  l->path = x->receives[p];
  lower_block(l, &body->update);
  lower_block(l, &body->finally);
  l->path = circuit_truth(c, true);
  local_merge(l, r, x->receives[p], after, now);
  after->crashed = circuit_or(c, now->crashed, x->crashes[p]);
  wire idle = circuit_not(c, active(l, after));
  for (uint32_t i = 0; i < role->nvars; i++) {
    const struct var *v = &role->vars[i];
    if (v->kind != VAR_ORACLE)
      continue;
    wire forgotten = v->each == EACH_ROUND || l->model->points[x->point].phase_end ? circuit_truth(c, true) : idle;
    after->vars[i] = symbol_if(l, forgotten, symbol_default(l, v->type), after->vars[i]);
  }
}

/* --- a round --- */

static void advance(struct exchange *x) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  const struct point *point = &l->model->points[x->point];
  wire one = circuit_number(c, 1);
  if (l->point_cell != UINT32_MAX)
    rule_change(l, l->point_cell, circuit_number(c, point->next == POINT_END ? l->model->npoints : point->next));
  if (l->phase_cell != UINT32_MAX && point->phase_end && point->endless)
    rule_change(l, l->phase_cell, circuit_arithmetic(c, GATE_ADD, cell_wire(l, l->phase_cell), one));
  if (l->rounds_cell != UINT32_MAX) {
    wire rounds = cell_wire(l, l->rounds_cell), most = circuit_number(c, l->program->cells.at[l->rounds_cell].hi);
    wire more = circuit_if(c, circuit_less(c, rounds, most), circuit_arithmetic(c, GATE_ADD, rounds, one), most);
    circuit_within(c, more, 1, l->program->cells.at[l->rounds_cell].hi);
    rule_change(l, l->rounds_cell, more);
  }
}

/* --max-rounds: seen from the phase, or counted. */
static void limit_rounds(struct exchange *x) {
  struct lowering *l = x->l;
  struct circuit *c = l->circuit;
  const struct model *m = l->model;
  uint32_t length = 0;
  for (uint32_t i = 0; i < m->npoints; i++)
    length += m->points[i].endless;
  if (!l->max_rounds || length == 0)
    return;
  wire done = circuit_number(c, m->points[x->point].number - 1), most = circuit_number(c, l->max_rounds);
  if (l->phase_cell == UINT32_MAX)
    done = cell_wire(l, l->rounds_cell);
  else if (m->points[x->point].endless)
    done = circuit_arithmetic(c, GATE_ADD, done, circuit_arithmetic(c, GATE_MUL, circuit_number(c, length),
                              circuit_arithmetic(c, GATE_SUB, cell_wire(l, l->phase_cell), circuit_number(c, 1))));
  rule_guard(l, circuit_less(c, done, most));
}

static struct span span_of(const struct lowering *l, uint32_t point) {
  for (uint32_t r = 0; r < l->model->nroles; r++)
    if (l->model->roles[r].body[point].at.to)
      return l->model->roles[r].body[point].at;
  return (struct span){0, 0};
}

static void one_round(struct lowering *l, uint32_t point) {
  struct circuit *c = l->circuit;
  const struct model *m = l->model;
  const struct environment *env = l->program->environment;
  struct exchange *x = arena_alloc(l->arena, sizeof *x);
  uint32_t n = m->nprocesses;
  *x = (struct exchange){.l = l, .point = point, .n = n};
  x->lossy = clause_of(l, CLAUSE_LOST) != NULL;
  x->delivers = x->lossy || clause_of(l, CLAUSE_SYNCHRONOUS);
  x->corrupts = clause_of(l, CLAUSE_CORRUPTED) != NULL;
  for (uint32_t i = 0; i < env->nclauses; i++)
    if (speaks(x, &env->clauses[i]) || env->clauses[i].kind == CLAUSE_EVERY || env->clauses[i].kind == CLAUSE_FROM_ROUND) {
      x->corrupts |= mentions(l, env->clauses[i].pred, NODE_SHO);
      x->judged |= speaks(x, &env->clauses[i]) && (mentions(l, env->clauses[i].pred, NODE_HO) || mentions(l, env->clauses[i].pred, NODE_SHO));
    }
  for (uint32_t i = 0; l->program->live.property && i < env->nclauses; i++)
    x->judged |= clause_of_runs(&env->clauses[i]);
  x->active = arena_array(l->arena, n + 1, sizeof *x->active);
  x->crashes = arena_array(l->arena, n + 1, sizeof *x->crashes);
  x->receives = arena_array(l->arena, n + 1, sizeof *x->receives);
  x->sent = arena_array(l->arena, n + 1, sizeof *x->sent);
  x->heard = square(l, n), x->forged = square(l, n), x->lost = square(l, n), x->corrupt = square(l, n);
  const char *name = m->points[point].name ? arena_printf(l->arena, "round_%s_%u", m->points[point].name, point + 1)
                                           : arena_printf(l->arena, "round_%u", point + 1);
  rule_begin(l, name, span_of(l, point));
  if (l->point_cell != UINT32_MAX)
    rule_guard(l, circuit_equal(c, cell_wire(l, l->point_cell), circuit_number(c, point)));
  limit_rounds(x);
  l->point = point;
  l->phase = l->phase_cell != UINT32_MAX ? cell_wire(l, l->phase_cell) : circuit_number(c, 1);
  x->local = arena_array(l->arena, n + 1, sizeof *x->local);
  for (uint32_t p = 0; p < n; p++) {
    x->local[p] = local_copy(l, model_role_of(m, p), &l->now.local[p]);
    x->active[p] = active(l, &l->now.local[p]);
  }
  choose_crashes(x);
  for (uint32_t p = 0; p < n; p++)
    choose_oracles(x, p);
  for (uint32_t q = 0; q < n; q++)
    send_all(x, q);
  for (uint32_t p = 0; p < n; p++)
    for (uint32_t q = 0; q < n; q++)
      choose_pair(x, p, q);
  judge(x);
  struct global_state after = {arena_array(l->arena, n + 1, sizeof *after.local), l->now.globals, circuit_number(c, 0)};
  for (uint32_t p = 0; p < n; p++)
    update(x, p, &after.local[p]);
  charge_run(x, l->lost_cell, x->lost);
  charge_run(x, l->corrupted_cell, x->corrupt);
  advance(x);
  rule_end(l, &after);
}

void lower_rounds(struct lowering *l) {
  for (uint32_t i = 0; i < l->model->npoints; i++)
    one_round(l, i);
}
