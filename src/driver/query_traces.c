/* Traces of what a search found: concrete, simplified, replayed, and the shortest if possible; and runs in which the
   round distance is unbounded. */
#include "driver/query_run.h"

#include "analysis/may_fail.h"
#include "analysis/round_window.h"
#include "driver/context.h"
#include "driver/divergence.h"
#include "trace/simplify.h"

/* Limits of the search for a shorter counterexample: states (or a multiple of those of the search), and time. */
#define SHORTER_STATES 200000
#define SHORTER_STATES_FACTOR 10
#define SHORTER_SECONDS 5.0

void trace_watch_begin(const struct query_run *a) {
  const struct limits *limits = &a->options->limits;
  double seconds = limits->seconds, left = a->about->deadline > 0 ? trace_seconds(a->about->deadline) : 0;
  interpreter_watch(a->interp, *limits->interrupt ? limits->insist : limits->interrupt);
  watch_time(a->options->rondo, left > 0 && (seconds == 0 || left < seconds) ? left : seconds);
}

sig_atomic_t trace_watch_end(const struct query_run *a) {
  sig_atomic_t why = interpreter_stopped(a->interp);
  watch_time(a->options->rondo, 0);
  interpreter_watch(a->interp, NULL);
  return why;
}

/* The run of a finding, replayed. NULL: the system and the interpreter disagree, or it was interrupted. */
static struct trace *trace_make(const struct query_run *a, const struct search *s, const struct finding *f,
                                const struct property_result *p, struct text *fault) {
  uint32_t n;
  struct path_goal goal;
  struct run run = {0};
  struct state *path = search_path(s, f, &n, &goal);
  bool ok = path && s->space->ops->concretise(s->space, path, n, &goal, &run);
  memory_free(path);
  if (!ok) {
    text_addf(fault, "no run leads to what was found for '%s', %s", property_result_name(p), p->proved);
    return NULL;
  }
  struct claim claim = {.environment = a->query.environment,
                        .semantics = a->query.semantics,
                        .property = f->property == UINT32_MAX ? NO_PROPERTY : s->space->query->properties[f->property],
                        .error = f->error.message != NULL};
  struct text why = {0};
  if (claim.property != NO_PROPERTY || claim.error ||
      !model_steps(a->model)) /* a run to the farthest state stays as it is */
    run_simplify(&run, a->interp, a->model, &claim);
  struct trace *t = trace_confirmed(a->interp, a->model, &claim, &run, &why);
  if (!t)
    text_addf(fault, "the interpreter does not confirm what was found for '%s', %s\n  %s", property_result_name(p),
              p->proved, text_or_empty(&why));
  text_release(&why);
  return t;
}

/* NULL without a fault: it was interrupted. */
static struct trace *trace_of(const struct query_run *a, const struct search *s, const struct finding *f,
                              const struct property_result *p, sig_atomic_t *cut) {
  struct text fault = {0};
  trace_watch_begin(a);
  struct trace *t = trace_make(a, s, f, p, &fault);
  *cut = trace_watch_end(a);
  if (!*cut && !t)
    text_add(a->fault, text_or_empty(&fault));
  text_release(&fault);
  return t;
}

static bool is_faulty(const struct query_run *a) { return a->fault->n > 0; }

/* --- step properties that may fail --- */

/* The run as it is, if evaluating the property of its last step is an error of the model. */
static struct trace *step_property_error(const struct query_run *a, const struct search *s, const struct finding *f) {
  uint32_t n;
  struct path_goal goal;
  struct run run = {0};
  struct text why = {0};
  trace_watch_begin(a);
  struct state *path = search_has_path(s, f) ? search_path(s, f, &n, &goal) : NULL;
  struct trace *t = NULL;
  if (path && s->space->ops->concretise(s->space, path, n, &goal, &run)) {
    struct claim claim = {.environment = a->query.environment,
                          .semantics = a->query.semantics,
                          .property = s->space->query->properties[f->property],
                          .error = true};
    t = trace_confirmed(a->interp, a->model, &claim, &run, &why);
  }
  trace_watch_end(a);
  text_release(&why);
  memory_free(path);
  return t;
}

/* If a step property cannot be evaluated, the search reports a violation. It is an error of the model. */
static void reclassify_in(const struct query_run *a, struct search *s) {
  for (uint32_t i = 0; i < query_nrequested(a->model, s->space->query); i++) {
    const struct property *p = &a->model->properties[s->space->query->properties[i]];
    struct finding *f = &s->findings[i];
    if (!p->step || !f->found || !node_may_fail(a->model, &a->query, p->formula, NULL, NULL))
      continue;
    struct trace *t = step_property_error(a, s, f);
    if (!t)
      continue;
    if (!s->error.found || f->rounds < s->error.rounds) {
      s->error = *f;
      s->error.error = t->error;
    }
    f->found = false;
    s->end = SEARCH_MODEL_ERROR;
    s->complete = s->complete < s->error.rounds ? s->complete : s->error.rounds;
    trace_free(t);
  }
}

void query_reclassify_step_errors(struct query_run *a) {
  reclassify_in(a, &a->search);
  if (a->repeat_system)
    reclassify_in(a, &a->repeat);
}

/* What was found for each of a result's properties; the last may be an error of the model. */
static const struct finding *finding_of(const struct search *s, uint32_t i) {
  return i < query_nrequested(s->space->model, s->space->query) ? &s->findings[i] : &s->error;
}

bool query_make_traces(struct query_run *a) {
  struct run_result *r = a->result;
  const struct search *shown = a->repeat_system ? &a->repeat : &a->search;
  sig_atomic_t cut;
  for (uint32_t i = 0; i < r->nproperties && !a->options->output.no_trace; i++) {
    struct property_result *p = &r->properties[i];
    const struct finding *f = finding_of(&a->search, i), *way = finding_of(shown, i);
    if (f->found && (!way->found || f->rounds != way->rounds || f->fault_cost != way->fault_cost)) {
      text_addf(a->fault, "one thread alone does not find what several found for '%s'", property_result_name(p));
      return false;
    }
    if (!f->found || !search_has_path(shown, way))
      continue;
    p->trace = trace_of(a, shown, way, p, &cut);
    if (is_faulty(a))
      return false;
    if (!p->trace)
      property_result_describe_unshown(p, UNSHOWN_STOPPED, search_interrupted(cut), &a->options->limits);
  }
  return true;
}

/* --- the shortest runs --- */

/* A violation or an error with its run. Runs that reach a cover need not be short. */
static bool is_counterexample(const struct property_result *p) { return p->trace && p->verdict == VERDICT_VIOLATED; }

static uint32_t longest_counterexample(const struct run_result *r) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (is_counterexample(&r->properties[i]) && r->properties[i].trace->run.nsteps > longest)
      longest = r->properties[i].trace->run.nsteps;
  return longest;
}

/* Replaces the trace of p if a shorter one was found. False: a fault. */
static bool compare_lengths(const struct query_run *a, const struct search *s, const struct finding *f,
                            struct property_result *p) {
  uint32_t known = p->trace->run.nsteps;
  bool sure = s->complete >= known;
  sig_atomic_t cut;
  if (f->found && f->state != STATE_REF_NONE && f->rounds < known) {
    struct trace *shorter = trace_of(a, s, f, p, &cut);
    if (is_faulty(a))
      return false;
    if (shorter) {
      trace_free(p->trace);
      p->trace = shorter;
    }
    sure = shorter != NULL;
  } else if (!f->found && s->end == SEARCH_EXHAUSTED && !s->cut) {
    text_addf(a->fault, "without %s nothing is found for '%s', with it a run of %u steps",
              s->space->licences->of[REDUCE_FUSION].concerns ? "relays" : "partial-order", property_result_name(p),
              known);
    return false;
  }
  property_result_describe_trace(p, sure);
  return true;
}

/* Partial-order reduction and fusion do not preserve shortest runs: searches without them for shorter runs than the
   known ones. */
static bool search_shorter(const struct query_run *a, uint64_t states, struct run_result *r) {
  struct reduction_request requested = a->options->requested;
  struct limits limits = a->options->limits;
  uint32_t *properties = arena_array(a->arena, r->nproperties + 1, sizeof *properties);
  struct query q = a->query;
  const struct licences *licences;
  struct search s;
  bool ok = true;
  q.nproperties = 0;
  q.properties = properties;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (is_counterexample(&r->properties[i]) && r->properties[i].property)
      properties[q.nproperties++] = r->properties[i].index;
  requested.reduce[REDUCE_PARTIAL_ORDER] = requested.reduce[REDUCE_FUSION] = REQUEST_OFF;
  limits.signature = 0; /* it must not miss states */
  limits.rounds = longest_counterexample(r) - 1;
  limits.states = states > SHORTER_STATES / SHORTER_STATES_FACTOR ? states * SHORTER_STATES_FACTOR : SHORTER_STATES;
  if (limits.seconds == 0 || limits.seconds > SHORTER_SECONDS)
    limits.seconds = SHORTER_SECONDS;
  limits_until(&limits, a->about->deadline);
  struct system *space = query_system(a->about, &q, &requested, &licences);
  query_search_alone(a, &s, space, &limits, NULL); /* it does not take long */
  for (uint32_t i = 0, k = 0; i < r->nproperties && ok; i++)
    if (is_counterexample(&r->properties[i]))
      ok = compare_lengths(a, &s, r->properties[i].property ? &s.findings[k++] : &s.error, &r->properties[i]);
  search_release(&s);
  space->ops->free(space);
  return ok;
}

bool query_shorten_traces(struct query_run *a) {
  struct run_result *r = a->result;
  const struct licences *l = r->licences;
  bool reduced = l->of[REDUCE_PARTIAL_ORDER].applied || l->of[REDUCE_FUSION].applied;
  if (a->options->output.no_trace || !model_steps(a->model))
    return true;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (r->properties[i].trace)
      property_result_describe_trace(&r->properties[i],
                                     is_counterexample(&r->properties[i]) && !reduced && !l->unlicensed);
  if (!reduced || l->unlicensed || a->options->lengths_unused || longest_counterexample(r) < 2 ||
      a->search.end == SEARCH_INTERRUPTED)
    return true;
  return search_shorter(a, a->search.stats.states, r);
}

/* --- unbounded round distance --- */

/* The first n steps of the run. NULL: a fault. */
static struct trace *trace_prefix(const struct query_run *a, struct trace *t, uint32_t n) {
  struct run run = {.initial = config_copy(a->model, t->run.initial),
                    .steps = memory_alloc((n + 1) * sizeof *run.steps)};
  struct text why = {0};
  for (uint32_t i = 0; i < n; i++)
    run.steps[run.nsteps++] = witness_copy(a->model, t->run.steps[i]);
  struct trace *first = trace_confirmed(a->interp, a->model, &t->claim, &run, &why);
  if (!first)
    text_addf(a->fault, "part of a run is not one: %s", text_or_empty(&why));
  text_release(&why);
  trace_free(t);
  return first;
}

/* The run to the farthest state, if part of it can be repeated for ever. */
static bool divergence_of(const struct query_run *a, const struct search *s, struct run_result *r) {
  const struct state *far = &s->space->farthest;
  state_ref ref = far->length ? search_find(s, far) : STATE_REF_NONE;
  sig_atomic_t cut;
  if (!s->space->distance_cut || ref == STATE_REF_NONE)
    return true;
  struct finding f = {.found = true, .state = ref, .target = STATE_REF_NONE, .property = UINT32_MAX};
  struct property_result unnamed = {.proved = (char *)"by how far processes get apart"};
  struct trace *t = trace_of(a, s, &f, &unnamed, &cut);
  if (!t)
    return !is_faulty(a);
  if (model_steps(a->model)
          ? divergence_find_steps(t, a->interp, s->space, s->space->licences->window->modulus, &r->segment)
          : divergence_find(t, a->interp, s->space->phase_period, &r->segment)) {
    r->divergence = model_steps(a->model) ? trace_prefix(a, t, r->segment.to) : t;
    return r->divergence;
  }
  trace_free(t);
  return true;
}

/* Several ranks: which state is the farthest depends on their number, so one process searches again. */
static bool divergence_alone(const struct query_run *a) {
  const struct licences *licences;
  struct search alone;
  if (!a->search.space->distance_cut)
    return true;
  struct limits limits = a->options->limits;
  limits_until(&limits, a->about->deadline);
  struct system *space = query_system(a->about, &a->query, &a->requested, &licences);
  query_search_alone(a, &alone, space, &limits, NULL);
  bool ok = divergence_of(a, &alone, a->result);
  search_release(&alone);
  space->ops->free(space);
  return ok;
}

bool query_find_divergence(struct query_run *a) {
  if ((a->query.semantics != SEMANTICS_FINE && !model_steps(a->model)) || a->options->ranks.is_helper)
    return true;
  return a->ranks ? divergence_alone(a) : divergence_of(a, &a->search, a->result);
}
