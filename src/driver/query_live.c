/* A liveness property: from its text to a verdict and a lasso. */
#include "analysis/dataflow.h"
#include "analysis/live_formula.h"
#include "analysis/model_visitor.h"
#include "driver/context.h"
#include "driver/query.h"
#include "driver/query_symbolic.h"
#include "interp/eval.h"
#include "search/liveness_search.h"
#include "trace/lasso_replay.h"

struct live_check {
  struct query_context asked; /* about the model made for this property */
  uint32_t property;
  struct query query;
  struct live_formula form;
  struct environment said;               /* the original: the model's may assume less or more (live_approximate_each) */
  const struct property *shown_property; /* as reports name it */
  struct text *fault;
};

/* The environment's assumptions about whole runs. */
static struct assumptions assumptions_of(const struct model *m, uint32_t environment) {
  const struct environment *env = &m->environments[environment];
  const struct clause *marks[RUN_CLAUSES_MAX], *fair = environment_fairness(env);
  uint32_t n = model_steps(m) ? 0 : environment_run_clauses(env, marks);
  struct assumptions a = {.fair = fair && model_steps(m), .strong = fair && fair->strong};
  for (uint32_t i = 0; i < n; i++)
    *(marks[i]->kind == CLAUSE_FINALLY ? &a.finally : &a.often) |= UINT64_C(1) << i;
  return a;
}

/* Searches for a run that violates the property; assumptions: for a run that satisfies the assumptions. Returns true if
   there is one. The time limit stays in force until the caller removes it, so that it also applies to making the trace.
   */
static bool run_within_limits(struct liveness_search *l, const struct live_check *a,
                              const struct assumptions *assumptions) {
  const struct limits *limits = &l->graph.limits;
  l->graph.progress = progress_or_null(a->asked.options->rondo);
  l->graph.progress_context =
      &(struct progress_context){a->asked.options->rondo, a->asked.model, a->asked.stream, &a->query};
  interpreter_watch(a->asked.interp, limits->interrupt);
  watch_time(a->asked.options->rondo, limits->seconds);
  watch_resident_memory(a->asked.options->rondo, limits->memory);
  if (!assumptions)
    liveness_search_run(l);
  bool found = assumptions ? liveness_graph_begin(&l->graph) && liveness_search_satisfiable(l, assumptions) : l->found;
  watch_resident_memory(a->asked.options->rondo, 0);
  interpreter_watch(a->asked.interp, NULL);
  context_progress(a->asked.options->rondo, NULL);
  l->graph.progress = NULL; /* its context ends here */
  return found;
}

/* --- runs --- */

static struct trace *replayed(const struct live_check *a, const struct claim *claim, struct run *run) {
  struct text why = {0};
  struct trace *t = trace_confirmed(a->asked.interp, a->asked.model, claim, run, &why);
  if (!t)
    text_addf(a->fault, "the interpreter does not confirm what was found for '%s'\n  %s", a->shown_property->name,
              text_or_empty(&why));
  text_release(&why);
  return t;
}

static bool add_lasso(const struct live_check *a, const struct liveness_search *l, struct property_result *p) {
  struct run run = {0};
  struct claim claim = {.environment = a->query.environment,
                        .semantics = a->query.semantics,
                        .property = a->query.properties[0],
                        .lasso = true,
                        .text = a->form.text};
  interpreter_watch(a->asked.interp, a->asked.options->limits.interrupt);
  enum lasso_made made = lasso_run(l->graph.space, a->asked.interp, claim.environment, &l->lasso, &run, &claim.loop);
  interpreter_watch(a->asked.interp, NULL);
  if (made == LASSO_UNFOLLOWED) {
    text_addf(a->fault, "the interpreter has no run like the one found for '%s'", a->shown_property->name);
    return false;
  }
  if (made != LASSO_MADE) {
    property_result_describe_unshown(p,
                                     made == LASSO_STOPPED ? UNSHOWN_STOPPED
                                     : made == LASSO_PILES ? UNSHOWN_UNBOUNDED
                                                           : UNSHOWN_OPEN,
                                     search_interrupted(*a->asked.options->limits.interrupt),
                                     &a->asked.options->limits);
    return true;
  }
  a->asked.model->environments[claim.environment] = a->said; /* by which it is judged */
  p->trace = replayed(a, &claim, &run);
  if (p->trace)
    property_result_describe_lasso(p, l->shortest && p->trace->run.nsteps + 1 <= l->lasso.n);
  return p->trace;
}

static bool add_error(const struct live_check *a, const struct liveness_search *l, struct property_result *p) {
  uint32_t n, atom = l->graph.error_at.atom;
  struct path_goal goal;
  struct run run = {0};
  if (l->graph.error_at.from == UINT32_MAX)
    return true; /* in the choice of initial states */
  struct claim claim = {.environment = a->query.environment,
                        .semantics = a->query.semantics,
                        .property = atom == UINT32_MAX ? NO_PROPERTY : a->query.properties[0],
                        .error = true,
                        .text = atom == UINT32_MAX ? NULL : a->form.atoms[atom]};
  struct system *space = l->graph.space;
  struct state *path = liveness_search_error_path(l, &n, &goal);
  struct step_requirement *any = memory_alloc(n * sizeof *any);
  for (uint32_t i = 0; i < n; i++)
    any[i].group = NO_GROUP;
  bool ok = goal.kind == GOAL_ERROR ? space->ops->concretise(space, path, n, &goal, &run)
                                    : space->ops->liveness.concretise_path(space, path, n, any, &run);
  memory_free(path);
  memory_free(any);
  if (!ok) {
    text_addf(a->fault, "no run leads to the error that was found for '%s'", a->shown_property->name);
    return false;
  }
  p->trace = replayed(a, &claim, &run);
  if (p->trace)
    property_result_describe_error(p);
  return p->trace;
}

static bool add_traces(const struct live_check *a, const struct liveness_search *l, struct run_result *r) {
  bool shown = !a->asked.options->output.no_trace;
  if (shown && live_shows_violation(l) && !add_lasso(a, l, &r->properties[0]))
    return false;
  if (!l->graph.error.found)
    return true;
  struct property_result *error = &r->properties[1];
  if (!add_error(a, l, error))
    return false;
  if (!shown && error->trace) { /* only its length is reported */
    trace_free(error->trace);
    error->trace = NULL;
  }
  return true;
}

/* --- vacuity --- */

/* Which assumption no run satisfies; NULL: some run satisfies all. */
static const char *unsatisfied_assumption(const struct live_check *a, struct liveness_search *l) {
  const struct model *m = a->asked.model;
  const struct environment *env = &m->environments[a->query.environment];
  const struct clause *marks[RUN_CLAUSES_MAX];
  struct assumptions whole = l->assumptions;
  const struct assumptions *all = &whole;
  whole.coins = false;
  if (l->found || l->graph.end != SEARCH_EXHAUSTED || l->graph.cut || l->graph.space->distance_cut ||
      liveness_search_satisfiable(l, all) || l->graph.end != SEARCH_EXHAUSTED)
    return NULL;
  uint32_t n = model_steps(m) ? 0 : environment_run_clauses(env, marks);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t mark = UINT64_C(1) << i;
    struct assumptions one = {.often = all->often & mark, .finally = all->finally & mark};
    if (!liveness_search_satisfiable(l, &one) && l->graph.end == SEARCH_EXHAUSTED) {
      struct text said = {0};
      clause_print(m, marks[i], &said);
      const char *quoted = arena_printf(a->asked.arena, "'%s'", text_or_empty(&said));
      text_release(&said);
      return quoted;
    }
  }
  return arena_printf(a->asked.arena, "all that environment '%s' assumes", env->name);
}

/* --- the query --- */

static bool finds_coin(void *context, const struct node *n) {
  bool *found = context;
  *found |= n->op == NODE_RANDOM;
  return !*found;
}

struct coin_search {
  const struct model *model;
  bool found;
};

static void visit_coin(void *context, const struct visit_site *at, const struct node *n) {
  struct coin_search *s = context;
  if (at->place == SITE_PROCESS)
    node_walk_deep(s->model, n, finds_coin, &s->found);
}

/* Is there a `random` in what processes do? */
static bool uses_coins(const struct live_check *a) {
  struct coin_search s = {a->asked.model, false};
  const struct model_visitor visitor = {.model = a->asked.model, .query = &a->query, .node = visit_coin, .context = &s};
  model_visit(&visitor);
  return s.found;
}

/* Why the query cannot be answered, or NULL. */
static const char *refusal(const struct live_check *a, const struct system *space, const struct automaton *automaton) {
  enum symbolic_engine engine;
  if (symbolic_engine_find(a->asked.options->engine, &engine))
    return "this engine does not check live properties";
  if (!space->ops->atom || !space->ops->liveness.concretise_path)
    return "this semantics does not support infinite runs";
  if (!environment_run_clauses_fit(&a->asked.model->environments[a->query.environment]))
    return "its environment has more than 64 clauses about whole runs";
  if (a->form.refused)
    return a->form.refused;
  if (!automaton)
    return "its automaton would become too large";
  if (a->shown_property->almost_surely && !automaton_is_limit_deterministic(automaton))
    return "'almost surely' is for 'eventually', 'always eventually' and 'leads to'";
  if (a->shown_property->almost_surely && !space->probabilistic && uses_coins(a))
    return "'random' is not distinguished from free choice in models of this kind";
  return NULL;
}

static bool live_check_run(const struct live_check *a, const struct reduction_request *requested, struct run_result *r,
                           bool traces) {
  const struct licences *licences;
  struct system *space = query_system(&a->asked, &a->query, requested, &licences);
  struct assumptions assumptions = assumptions_of(a->asked.model, a->query.environment);
  assumptions.coins = a->shown_property->almost_surely;
  struct automaton *automaton = a->form.refused ? NULL : automaton_of(a->form.pool, a->form.violated);
  const char *refused = refusal(a, space, automaton);
  struct liveness_search l;
  struct limits limits = a->asked.options->limits;
  bool ok = true;
  limits_until(&limits, a->asked.deadline); /* making the transition system may have taken time */
  liveness_search_init(&l, space, automaton, &assumptions, &limits);
  if (!refused)
    run_within_limits(&l, a, NULL);
  if (!refused && assumptions.coins)
    refused = space->coins_lost;
  run_result_fill_live(r, space, &l, licences, a->shown_property, refused,
                       refused ? NULL : unsatisfied_assumption(a, &l));
  if (!refused && traces)
    ok = add_traces(a, &l, r);
  watch_time(a->asked.options->rondo, 0);
  liveness_search_release(&l);
  automaton_free(automaton);
  space->ops->free(space);
  return ok;
}

/* --- a model for the query --- */

/* A result keeps the model that it refers to. */
static void live_check_release(struct live_check *a, struct run_result *keeps) {
  live_formula_release(&a->form);
  if (keeps) {
    keeps->model = a->asked.model;
    keeps->interp = a->asked.interp;
    keeps->interp->coverage = NULL; /* which may be gone before the result is */
    return;
  }
  interpreter_free(a->asked.interp);
  model_free(a->asked.model);
}

static bool live_check_init(struct live_check *a, const struct query_context *about, const struct live_query *in,
                            struct text *fault) {
  struct text error = {0};
  *a = (struct live_check){.asked = *about,
                           .property = in->property,
                           .shown_property = &about->model->properties[in->property],
                           .fault = fault};
  a->asked.model = model_load(about->parsed, about->bindings, about->nbindings, false, true, &error);
  text_release(&error);
  if (!a->asked.model) {
    text_add(fault, "a model that was read cannot be read again");
    return false;
  }
  live_formula_init(&a->form, a->asked.model, in->property, in->environment);
  a->asked.interp = interpreter_new(a->asked.model);
  a->asked.interp->coverage = about->interp->coverage;
  a->said = a->asked.model->environments[in->environment];
  a->query = (struct query){.environment = in->environment,
                            .semantics = about->semantics,
                            .properties = &a->property,
                            .nproperties = 1,
                            .atoms = a->form.atoms,
                            .natoms = a->form.natoms};
  if (query_supported(a->asked.options->rondo, a->asked.model, &a->query, fault))
    return true;
  live_check_release(a, NULL);
  return false;
}

/* --- `for each` assumptions --- */

/* Is there a run that satisfies more than all assumptions? */
static bool strengthened_is_satisfiable(const struct query_context *about, const struct live_query *in,
                                        struct text *fault) {
  struct live_check a;
  if (!live_check_init(&a, about, in, fault))
    return false;
  live_approximate_each(a.asked.model, in->property, in->environment, EACH_STRONGER);
  const struct licences *licences;
  struct system *space = query_system(&a.asked, &a.query, &about->options->requested, &licences);
  struct assumptions assumptions = assumptions_of(a.asked.model, in->environment);
  struct liveness_search l;
  liveness_search_init(&l, space, NULL, &assumptions, &about->options->limits);
  bool found = run_within_limits(&l, &a, &assumptions);
  watch_time(about->options->rondo, 0);
  liveness_search_release(&l);
  space->ops->free(space);
  live_check_release(&a, NULL);
  return found;
}

/* The query with less, or more, assumed. True: that is an answer. False: it is none, or there is a fault. */
static bool answered_by_approximation(const struct query_context *about, const struct live_query *in,
                                      enum each_approximation how, struct run_result *r, struct text *fault) {
  struct live_check a;
  if (!live_check_init(&a, about, in, fault))
    return false;
  if (!live_approximate_each(a.asked.model, in->property, in->environment, how)) {
    live_check_release(&a, NULL);
    return false;
  }
  /* Where more is assumed, every lasso is one of the query itself: the interpreter must confirm it. */
  bool ok = live_check_run(&a, &about->options->requested, r, how == EACH_STRONGER);
  a.asked.model->environments[in->environment] = a.said;
  live_check_release(&a, r);
  enum verdict v = r->properties[0].verdict;
  bool limited = search_limited(r->end), error = r->nproperties > 1;
  bool decided = v == (how == EACH_WEAKER ? VERDICT_HOLDS : VERDICT_VIOLATED);
  if (ok && decided && !error && how == EACH_WEAKER && !r->properties[0].vacuous)
    decided = strengthened_is_satisfiable(about, in, fault);
  if (ok && !error && (decided || limited) && fault->n == 0)
    return true;
  run_result_release(r);
  return false;
}

/* Steps: the query with fairness to the followed processes only, if that permits symmetry. It is an answer if the
   property holds; then also under all of the fairness, which some run always satisfies: any finite run can be continued
   so that each group gets its turn. Not so under MP, where messages that no action takes together block a process. */
static bool answered_by_followed(const struct query_context *about, const struct live_query *in, struct run_result *r,
                                 struct text *fault) {
  struct live_check a;
  if (!model_steps(about->model) || about->semantics == SEMANTICS_MP || !live_check_init(&a, about, in, fault))
    return false;
  bool ok = live_approximate_fairness(a.asked.model, in->environment);
  const struct licences *licences = licences_grant(a.asked.model, &a.query, &about->options->requested, about->arena);
  if (!ok || !licences->of[REDUCE_SYMMETRY].applied) {
    live_check_release(&a, NULL);
    return false;
  }
  ok = live_check_run(&a, &about->options->requested, r, false);
  a.asked.model->environments[in->environment] = a.said;
  live_check_release(&a, r);
  bool decided = r->properties[0].verdict == VERDICT_HOLDS || search_limited(r->end);
  if (ok && decided && r->nproperties == 1 && fault->n == 0)
    return true;
  run_result_release(r);
  return false;
}

/* All assumptions are those of the text. */
static bool answered_exactly(const struct query_context *about, const struct live_query *in, struct run_result *r,
                             struct text *fault) {
  struct live_check a;
  if (!live_check_init(&a, about, in, fault))
    return false;
  bool ok = live_check_run(&a, &about->options->requested, r, true);
  live_check_release(&a, r);
  return ok;
}

bool live_query_answer(const struct query_context *of, const struct live_query *in, struct run_result *r,
                       struct text *fault) {
  struct command_options o = *of->options;
  struct query_context about = *of;
  about.options = &o;
  for (enum each_approximation how = EACH_WEAKER; how <= EACH_STRONGER; how++) {
    limits_until(&o.limits, of->deadline);
    if (o.requested.reduce[REDUCE_SYMMETRY] != REQUEST_OFF && /* what it is done for */
        answered_by_approximation(&about, in, how, r, fault))
      return true;
    if (fault->n > 0)
      return false;
  }
  limits_until(&o.limits, of->deadline);
  if (o.requested.reduce[REDUCE_SYMMETRY] != REQUEST_OFF && answered_by_followed(&about, in, r, fault))
    return true;
  if (fault->n > 0)
    return false;
  limits_until(&o.limits, of->deadline);
  return answered_exactly(&about, in, r, fault);
}
