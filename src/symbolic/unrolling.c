#include "symbolic/unrolling.h"

#include <string.h>

#define MEMORY_CHECK_INTERVAL 10 /* in checks of the watchdog */

/* ---- limits ---- */

static bool check_limits(void *context) {
  struct unrolling *s = context;
  bool heavy =
      s->options->memory && s->limit_checks++ % MEMORY_CHECK_INTERVAL == 0 && memory_resident() > s->options->memory;
  if (heavy || (s->options->interrupt && *s->options->interrupt))
    s->stop = 1;
  return s->stop;
}

bool unrolling_stopped(const struct unrolling *s) {
  return s->stop || (s->options->interrupt && *s->options->interrupt);
}

void unrolling_give_up(struct unrolling *s) {
  struct symbolic_answer *a = s->answer;
  a->end = unrolling_stopped(s) ? SYMBOLIC_STOPPED : SYMBOLIC_GAVE_UP;
  if (a->end == SYMBOLIC_GAVE_UP && !a->why)
    a->why = memory_strdup("the solver gave up");
}

/* ---- features read by the query ---- */

static bool query_reads(const struct model *m, const struct query *q, enum op op) {
  const struct environment *env = &m->environments[q->environment];
  bool any = !model_steps(m) && rounds_contain_op(m, op);
  for (uint32_t i = 0; i < q->nproperties; i++)
    any |= contains_op(m, m->properties[q->properties[i]].formula, op);
  for (uint32_t i = 0; i < env->nclauses; i++)
    any |= contains_op(m, env->clauses[i].pred, op);
  return any;
}

static bool has_rounds(const struct model *m) {
  bool any = false;
  for (uint32_t i = 0; i < m->nglobals; i++)
    any |= type_contains_kind(m->globals[i].type, TYPE_ROUND);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      any |= type_contains_kind(m->roles[r].vars[i].type, TYPE_ROUND);
  return any;
}

/* ---- lifetime ---- */

/* Finite queries are simplified and bit-blasted as a whole. An incremental solver keeps learned clauses between queries
   but skips most of the simplification: it was 2 to 10 times slower. */
static Z3_tactic make_tactic(struct unrolling *s) {
  Z3_context z3 = s->e.t.m.z3;
  Z3_tactic tactic = s->e.t.integers ? NULL : Z3_mk_tactic(z3, "qfbv");
  if (tactic)
    Z3_tactic_inc_ref(z3, tactic);
  return tactic;
}

void unrolling_init(struct unrolling *s, struct model *m, const struct query *q, const struct symbolic_options *o,
                    struct symbolic_answer *a, bool prefix) {
  *s = (struct unrolling){.model = m, .query = q, .options = o, .answer = a};
  s->e.environment = q->environment;
  s->e.semantics = q->semantics;
  s->e.prefix = prefix;
  s->e.keeps_initials = query_reads(m, q, NODE_INITIAL);
  s->e.counts_rounds = query_reads(m, q, NODE_ROUND_NUMBER) ||
                       clause_of_kind(&m->environments[q->environment], CLAUSE_FROM_ROUND) != NULL;
  s->e.counts_phases = query_reads(m, q, NODE_PHASE);
  encoder_init(&s->e, m,
               !prefix && (o->engine == SYMBOLIC_SPACER || has_rounds(m) || s->e.counts_rounds || s->e.counts_phases));
  s->e.l.stop = &s->stop;
  s->tactic = make_tactic(s);
  s->watchdog = watchdog_new(s->e.t.m.z3, check_limits, s);
}

static void drop_z3_model(struct unrolling *s) {
  if (s->found)
    Z3_model_dec_ref(s->e.t.m.z3, s->found);
  s->found = NULL;
}

void unrolling_release(struct unrolling *s) {
  watchdog_free(s->watchdog);
  s->answer->variables += s->e.t.fresh.n;
  drop_z3_model(s);
  if (s->tactic)
    Z3_tactic_dec_ref(s->e.t.m.z3, s->tactic);
  vec_release(&s->asserted);
  encoder_release(&s->e);
  memory_free(s->states);
  memory_free(s->steps);
}

void unrolling_check(struct unrolling *s, enum engine_id engine) {
  enum feature lacking;
  struct span at;
  if (features_refused(s->model, s->query, engine, &lacking, &at))
    lower_refuse(&s->e.l, at, "%s", feature_text(lacking));
  environment_check_clauses(&s->e);
}

/* ---- queries ---- */

void unrolling_assert(struct unrolling *s, truth condition) {
  truth facts = terms_facts(&s->e.t);
  if (facts != EXPR_TRUE)
    vec_push(&s->asserted, facts);
  if (condition != EXPR_TRUE)
    vec_push(&s->asserted, condition);
}

enum answer unrolling_ask(struct unrolling *s, truth condition) {
  if (condition == EXPR_FALSE && s->watchdog && !unrolling_stopped(s)) {
    unrolling_assert(s, EXPR_TRUE);
    drop_z3_model(s);
    return ANSWER_NO;
  }
  return unrolling_ask_term(s, terms_translate(&s->e.t, condition));
}

enum answer unrolling_ask_term(struct unrolling *s, Z3_ast condition) {
  Z3_context z3 = s->e.t.m.z3;
  unrolling_assert(s, EXPR_TRUE);
  drop_z3_model(s);
  if (!s->watchdog && !s->answer->why)
    s->answer->why = memory_strdup("there is no thread that could watch the limits");
  if (unrolling_stopped(s) || !s->watchdog || s->e.t.failed)
    return ANSWER_UNKNOWN;
  Z3_solver solver = s->tactic ? Z3_mk_solver_from_tactic(z3, s->tactic) : Z3_mk_solver(z3);
  Z3_solver_inc_ref(z3, solver);
  for (size_t i = 0; i < s->asserted.n; i++)
    Z3_solver_assert(z3, solver, terms_translate(&s->e.t, s->asserted.at[i]));
  Z3_solver_assert(z3, solver, condition);
  z3_disable_ctrl_c(z3, solver);
  Z3_lbool sat = s->e.t.failed ? Z3_L_UNDEF : Z3_solver_check(z3, solver);
  if (sat == Z3_L_TRUE && (s->found = Z3_solver_get_model(z3, solver)))
    Z3_model_inc_ref(z3, s->found);
  if (sat == Z3_L_UNDEF && !s->answer->why)
    s->answer->why = memory_strdup(Z3_solver_get_reason_unknown(z3, solver));
  Z3_solver_dec_ref(z3, solver);
  return sat == Z3_L_FALSE ? ANSWER_NO : s->found ? ANSWER_YES : ANSWER_UNKNOWN;
}

/* ---- goals ---- */

struct sym_step *unrolling_step(struct unrolling *s, const struct sym_state *from) {
  return model_steps(s->model) ? encode_step(&s->e, from) : encode_round(&s->e, from);
}

struct verdict_terms unrolling_goal(struct unrolling *s, uint32_t i, const struct sym_state *before,
                                    const struct sym_state *after) {
  const struct property *p = &s->model->properties[s->query->properties[i]];
  struct terms *t = &s->e.t;
  if (p->kind != PROPERTY_SAFETY && p->kind != PROPERTY_COVER)
    lower_refuse(&s->e.l, p->at, "'%s' speaks of whole runs", p->name);
  if (p->step && !before)
    return (struct verdict_terms){EXPR_FALSE, EXPR_FALSE};
  struct verdict_terms v =
      p->step ? encode_formula(&s->e, p->formula, before, after) : encode_formula(&s->e, p->formula, after, NULL);
  truth judged =
      p->step && model_steps(s->model) ? expr_not(&t->graph, encode_stutter(&s->e, before, after)) : EXPR_TRUE;
  v.error = expr_and(&t->graph, v.error, judged);
  truth shown = p->kind == PROPERTY_COVER ? v.holds : expr_not(&t->graph, v.holds);
  return (struct verdict_terms){truth_all(&t->graph, (truth[]){shown, judged, expr_not(&t->graph, v.error)}, 3),
                                v.error};
}

bool unrolling_decided(const struct unrolling *s) {
  bool all = s->query->nproperties > 0;
  for (uint32_t i = 0; i < s->query->nproperties; i++)
    all &= s->answer->findings[i].found || s->answer->proved[i] || (s->skip && s->skip[i]);
  return all;
}

/* ---- runs with the fewest faults ---- */

static struct number faulty_processes(struct unrolling *s, const struct sym_state *state,
                                      const struct sym_step *failing) {
  uint32_t n = s->model->nprocesses;
  truth *faulty = arena_array(&s->e.arena, n + (size_t)1, sizeof *faulty);
  for (uint32_t p = 0; p < n; p++) {
    faulty[p] = sym_process_faulty(&s->e.l, &state->of[p]);
    if (failing && failing->round.crash)
      faulty[p] = expr_or(&s->e.t.graph, faulty[p], failing->round.crash[p]);
  }
  return number_count(&s->e.t.graph, faulty, n);
}

static struct number harmed_messages(struct unrolling *s, const struct sym_state *state) {
  return lower_sum(&s->e.l, lower_sum(&s->e.l, state->lost, state->corrupted), state->duplicated);
}

/* Minimises the cost by repeated queries and adds the minimum to *goal. Returns false if the solver answers unknown. */
static bool minimise(struct unrolling *s, truth *goal, struct number cost) {
  while (!number_constant(cost)) {
    int64_t now = number_value(&s->e, s->found, cost);
    truth cheaper = expr_and(&s->e.t.graph, *goal, number_less(&s->e.t.graph, cost, number_of(now)));
    enum answer a = unrolling_ask(s, cheaper);
    if (a == ANSWER_UNKNOWN)
      return false;
    if (a == ANSWER_NO) {
      *goal = expr_and(&s->e.t.graph, *goal, number_is(&s->e.t.graph, cost, now));
      return unrolling_ask(s, *goal) == ANSWER_YES;
    }
  }
  return true;
}

/* Records the cheapest run to the goal. failing: its last step ends in an error. */
static bool find_cheapest(struct unrolling *s, struct symbolic_finding *f, truth goal, const struct sym_step *failing,
                          const struct sym_state *last, bool error, uint32_t property) {
  enum answer a = unrolling_ask(s, goal);
  if (a == ANSWER_NO)
    return true;
  struct number faulty = faulty_processes(s, failing ? failing->before : last, failing);
  struct number harmed = harmed_messages(s, last);
  if (a == ANSWER_UNKNOWN || !minimise(s, &goal, faulty) || !minimise(s, &goal, harmed))
    return false;
  f->faulty = (uint32_t)number_value(&s->e, s->found, faulty);
  f->harmed = (uint32_t)number_value(&s->e, s->found, harmed);
  f->error = error;
  f->property = property;
  f->rounds = s->nsteps;
  finding_fill(s, f, failing != NULL);
  if (!unrolling_stopped(s))
    return true;
  finding_release(f); /* an interrupt also aborts model evaluation, so the extracted run may be incomplete */
  return false;
}

/* Does the last step end in an error? */
bool unrolling_check_errors(struct unrolling *s, const struct sym_step *step) {
  return find_cheapest(s, &s->answer->error, step->fails, step, step->after, true, UINT32_MAX);
}

static bool is_open(const struct unrolling *s, uint32_t i) {
  return !s->answer->findings[i].found && !s->answer->proved[i] && !(s->skip && s->skip[i]);
}

/* Checks the last step and the last state. A first query asks whether there is any finding at all. */
bool unrolling_check_layer(struct unrolling *s, const struct sym_step *step, const struct sym_state *last) {
  const struct sym_state *before = step ? step->before : NULL;
  uint32_t n = s->query->nproperties;
  struct verdict_terms *goal = arena_array(&s->e.arena, n + (size_t)1, sizeof *goal);
  truth any = EXPR_FALSE;
  for (uint32_t i = 0; i < n; i++)
    if (is_open(s, i)) {
      goal[i] = unrolling_goal(s, i, before, last);
      any = expr_or(&s->e.t.graph, any, expr_or(&s->e.t.graph, goal[i].holds, goal[i].error));
    }
  enum answer a = unrolling_ask(s, any);
  for (uint32_t i = 0; i < n && a == ANSWER_YES; i++) {
    struct symbolic_finding *error = &s->answer->error;
    if (is_open(s, i) && (!find_cheapest(s, &s->answer->findings[i], goal[i].holds, NULL, last, false, i) ||
                          (!error->found && !find_cheapest(s, error, goal[i].error, NULL, last, true, i))))
      return false;
  }
  return a != ANSWER_UNKNOWN;
}
