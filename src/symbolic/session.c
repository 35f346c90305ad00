#include "symbolic/session.h"

#include "model/flow.h"

#include <string.h>
#include <time.h>

#define LOOK_EVERY 20 /* ms */
#define WEIGH_EVERY 10 /* looks */

/* ---- limits ---- */

/* z3 knows nothing of our limits: it is interrupted, again and again, since it may just be between two questions. */
static void *watch(void *context) {
  struct session *s = context;
  const struct timespec pause = {0, LOOK_EVERY * 1000000L};
  for (unsigned looks = 0;; looks++) {
    pthread_mutex_lock(&s->lock);
    bool ended = s->ended;
    pthread_mutex_unlock(&s->lock);
    if (ended)
      return NULL;
    bool heavy = s->options->memory && looks % WEIGH_EVERY == 0 && memory_resident() > s->options->memory;
    if (heavy || (s->options->interrupt && *s->options->interrupt))
      s->stop = 1;
    if (s->stop)
      Z3_interrupt(s->e.t.m.z3);
    nanosleep(&pause, NULL);
  }
}

bool session_stopped(const struct session *s) { return s->stop || (s->options->interrupt && *s->options->interrupt); }

void session_unknown(struct session *s) {
  struct symbolic_answer *a = s->answer;
  a->end = session_stopped(s) ? SYMBOLIC_STOPPED : SYMBOLIC_GAVE_UP;
  if (a->end == SYMBOLIC_GAVE_UP && !a->why)
    a->why = memory_strdup(s->solver ? Z3_solver_get_reason_unknown(s->e.t.m.z3, s->solver) : "the solver gave up");
}

/* ---- what the question reads ---- */

static bool note_reads(void *context, const struct node *n) {
  struct encoder *e = context;
  e->keeps_initials |= n->op == NODE_INITIAL;
  e->counts_rounds |= n->op == NODE_ROUND_NUMBER;
  e->counts_phases |= n->op == NODE_PHASE;
  return true;
}

static void note_needs(struct encoder *e, const struct question *q) {
  struct model *m = e->model;
  const struct environment *env = &m->environments[q->environment];
  for (uint32_t i = 0; i < q->nproperties; i++)
    node_walk_deep(m, m->properties[q->properties[i]].formula, note_reads, e);
  for (uint32_t i = 0; i < env->nclauses; i++) {
    e->counts_rounds |= env->clauses[i].kind == CLAUSE_FROM_ROUND;
    if (env->clauses[i].pred)
      node_walk_deep(m, env->clauses[i].pred, note_reads, e);
  }
  for (uint32_t r = 0; r < m->nroles && !model_steps(m); r++)
    for (uint32_t i = 0; i < m->npoints; i++) {
      const struct body *b = &m->roles[r].body[i];
      for (uint32_t k = 0; k < b->nsends; k++) {
        guard_walk(&b->sends[k].guard, note_reads, e);
        node_walk_deep(m, b->sends[k].message, note_reads, e);
        if (b->sends[k].to)
          node_walk_deep(m, b->sends[k].to, note_reads, e);
      }
      block_walk(&b->update, note_reads, e);
      block_walk(&b->finally, note_reads, e);
    }
  for (uint32_t i = 0; i < m->ndefs; i++)
    node_walk(m->defs[i].body, note_reads, e);
}

static bool has_rounds(const struct model *m) {
  bool any = false;
  for (uint32_t i = 0; i < m->nglobals; i++)
    any |= type_mentions(m->globals[i].type, TYPE_ROUND);
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t i = 0; i < m->roles[r].nvars; i++)
      any |= type_mentions(m->roles[r].vars[i].type, TYPE_ROUND);
  return any;
}

/* ---- life ---- */

/* Whatever is finite is bit-blasted: that solver is the quickest at what these questions are made of. */
static Z3_solver make_solver(struct session *s) {
  Z3_context z3 = s->e.t.m.z3;
  Z3_solver solver = s->e.t.integers ? Z3_mk_simple_solver(z3)
                                     : Z3_mk_solver_for_logic(z3, Z3_mk_string_symbol(z3, "QF_FD"));
  Z3_solver_inc_ref(z3, solver);
  return solver;
}

void session_init(struct session *s, struct model *m, const struct question *q, const struct symbolic_options *o,
                  struct symbolic_answer *a, bool prefix) {
  *s = (struct session){.model = m, .question = q, .options = o, .answer = a};
  s->e.model = m;
  s->e.environment = q->environment;
  s->e.semantics = q->semantics;
  s->e.prefix = prefix;
  s->e.stop = &s->stop;
  arena_init(&s->e.arena);
  note_needs(&s->e, q);
  terms_init(&s->e.t, !prefix && (o->engine == SYMBOLIC_SPACER || has_rounds(m) || s->e.counts_rounds || s->e.counts_phases));
  s->solver = make_solver(s);
  pthread_mutex_init(&s->lock, NULL);
  s->watched = pthread_create(&s->watchdog, NULL, watch, s) == 0;
}

static void forget_model(struct session *s) {
  if (s->found)
    Z3_model_dec_ref(s->e.t.m.z3, s->found);
  s->found = NULL;
}

void session_release(struct session *s) {
  pthread_mutex_lock(&s->lock);
  s->ended = true;
  pthread_mutex_unlock(&s->lock);
  if (s->watched)
    pthread_join(s->watchdog, NULL);
  pthread_mutex_destroy(&s->lock);
  s->answer->variables += s->e.t.fresh.n - s->asked;
  forget_model(s);
  Z3_solver_dec_ref(s->e.t.m.z3, s->solver);
  terms_release(&s->e.t);
  arena_release(&s->e.arena);
  memory_free(s->states);
  memory_free(s->steps);
}

/* ---- asking ---- */

void session_assert(struct session *s, truth condition) {
  truth facts = terms_facts(&s->e.t);
  if (facts != s->e.t.yes)
    Z3_solver_assert(s->e.t.m.z3, s->solver, facts);
  if (condition != s->e.t.yes)
    Z3_solver_assert(s->e.t.m.z3, s->solver, condition);
}

/* By a literal that stands for the condition: what the solver learns is kept for the next question. */
enum answer session_ask(struct session *s, truth condition) {
  Z3_context z3 = s->e.t.m.z3;
  session_assert(s, s->e.t.yes);
  forget_model(s);
  if (session_stopped(s))
    return ANSWER_UNKNOWN;
  if (condition == s->e.t.no)
    return ANSWER_NO;
  s->asked++;
  truth asked = truth_new(&s->e.t, "asked");
  Z3_solver_assert(z3, s->solver, truth_implies(&s->e.t, asked, condition));
  Z3_lbool sat = Z3_solver_check_assumptions(z3, s->solver, 1, &asked);
  if (sat == Z3_L_TRUE) {
    s->found = Z3_solver_get_model(z3, s->solver);
    if (s->found)
      Z3_model_inc_ref(z3, s->found);
    return s->found ? ANSWER_YES : ANSWER_UNKNOWN;
  }
  if (sat == Z3_L_FALSE)
    Z3_solver_assert(z3, s->solver, truth_not(&s->e.t, asked));
  return sat == Z3_L_FALSE ? ANSWER_NO : ANSWER_UNKNOWN;
}

/* ---- goals ---- */

struct sstep *session_step(struct session *s, const struct sstate *from) {
  return model_steps(s->model) ? encode_event(&s->e, from) : encode_round(&s->e, from);
}

struct verdict_terms session_goal(struct session *s, uint32_t i, const struct sstate *before,
                                  const struct sstate *after) {
  const struct property *p = &s->model->properties[s->question->properties[i]];
  struct terms *t = &s->e.t;
  if (p->kind == PROPERTY_LIVE || (p->step && !before))
    return (struct verdict_terms){t->no, t->no};
  struct verdict_terms v = p->step ? encode_formula(&s->e, p->formula, before, after)
                                   : encode_formula(&s->e, p->formula, after, NULL);
  truth judged = p->step && model_steps(s->model) ? truth_not(t, encode_stutter(&s->e, before, after)) : t->yes;
  v.error = truth_and(t, v.error, judged);
  truth shown = p->kind == PROPERTY_COVER ? v.holds : truth_not(t, v.holds);
  return (struct verdict_terms){truth_all(t, (truth[]){shown, judged, truth_not(t, v.error)}, 3), v.error};
}

bool session_decided(const struct session *s) {
  bool all = s->question->nproperties > 0;
  for (uint32_t i = 0; i < s->question->nproperties; i++)
    all &= s->answer->findings[i].found || s->answer->proved[i] || (s->skip && s->skip[i]);
  return all;
}

/* ---- the cheapest way ---- */

static struct number faulty_processes(struct session *s, const struct sstate *state, const struct sstep *failing) {
  uint32_t n = s->model->nprocesses;
  truth *faulty = arena_array(&s->e.arena, n + (size_t)1, sizeof *faulty);
  for (uint32_t p = 0; p < n; p++) {
    faulty[p] = sprocess_faulty(&s->e, &state->of[p]);
    if (failing && failing->round.crash)
      faulty[p] = truth_or(&s->e.t, faulty[p], failing->round.crash[p]);
  }
  return number_count(&s->e.t, faulty, n);
}

static struct number harmed_messages(struct session *s, const struct sstate *state) {
  struct number sum = number_of(0);
  number_plus(&s->e.t, state->lost, state->corrupted, &sum);
  number_plus(&s->e.t, sum, state->duplicated, &sum);
  return sum;
}

/* Asks for less until there is no less; *goal then says so. False: the solver does not know. */
static bool minimise(struct session *s, truth *goal, struct number cost) {
  while (!number_constant(cost)) {
    int64_t now = number_value(&s->e, s->found, cost);
    truth cheaper = truth_and(&s->e.t, *goal, number_less(&s->e.t, cost, number_of(now)));
    enum answer a = session_ask(s, cheaper);
    if (a == ANSWER_UNKNOWN)
      return false;
    if (a == ANSWER_NO) {
      *goal = truth_and(&s->e.t, *goal, number_is(&s->e.t, cost, now));
      return session_ask(s, *goal) == ANSWER_YES;
    }
  }
  return true;
}

/* Notes the cheapest run to the goal. failing: its last step ends in an error. */
static bool look_for(struct session *s, struct symbolic_finding *f, truth goal, const struct sstep *failing,
                     const struct sstate *last, bool error, uint32_t property) {
  enum answer a = session_ask(s, goal);
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
  return true;
}

/* Does the last step end in an error? */
bool session_failing(struct session *s, const struct sstep *step) {
  return look_for(s, &s->answer->error, step->fails, step, step->after, true, UINT32_MAX);
}

/* What the last step breaks, then what is true of the last state. */
bool session_layer(struct session *s, const struct sstep *step, const struct sstate *last) {
  const struct sstate *before = step ? step->before : NULL;
  for (uint32_t i = 0; i < s->question->nproperties; i++) {
    struct symbolic_finding *f = &s->answer->findings[i], *error = &s->answer->error;
    if (f->found || s->answer->proved[i] || (s->skip && s->skip[i]))
      continue;
    struct verdict_terms goal = session_goal(s, i, before, last);
    if (!look_for(s, f, goal.holds, NULL, last, false, i))
      return false;
    if (!error->found && !look_for(s, error, goal.error, NULL, last, true, i))
      return false;
  }
  return true;
}
