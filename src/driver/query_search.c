#include "driver/query.h"

#include "analysis/features.h"
#include "analysis/local_properties.h"
#include "analysis/may_fail.h"
#include "analysis/round_window.h"
#include "async/async.h"
#include "driver/context.h"
#include "driver/divergence.h"
#include "driver/query_symbolic.h"
#include "search/ranks.h"
#include "steps/step_system.h"
#include "trace/simplify.h"

/* A shorter counterexample is looked for among so many states (or so many times those of the search), for so long. */
#define SHORTER_STATES 200000
#define SHORTER_STATES_FACTOR 10
#define SHORTER_SECONDS 5.0

/* How far apart processes may get at first, and at last, if nobody says. */
#define DISTANCE_START 4
#define DISTANCE_MAX 64

/* One query being answered. */
struct search_query {
  struct model *model;
  struct interpreter *interp;
  struct arena *arena;
  const struct command_options *options;
  struct query query;
  struct text *refused, *fault;
  const struct query_context *asked;
};

struct system *query_system(const struct query_context *a, const struct query *q,
                            const struct reduction_request *requested, const struct licences **licences) {
  struct system_options options = {.successors = a->options->successors,
                                   .per_message = a->options->rondo->tests.message_moves_always  ? PER_MESSAGE_ALWAYS
                                                  : a->options->rondo->tests.message_moves_never ? PER_MESSAGE_NEVER
                                                                                                 : PER_MESSAGE_AUTO,
                                   .narrow_keys = a->options->rondo->tests.narrow_keys,
                                   .max_distance = a->options->max_distance ? a->options->max_distance : ANY_DISTANCE};
  *licences = licences_grant(a->model, q, requested, a->arena);
  interpreter_follow(a->interp, q->semantics, model_steps(a->model) && !(*licences)->of[REDUCE_MESSAGE_ORDER].applied);
  if (q->semantics == SEMANTICS_FINE)
    return async_system_new(a->interp, a->model, q, *licences, &options);
  return model_steps(a->model) ? step_system_new(a->interp, a->model, q, *licences, &options)
                               : lockstep_new(a->interp, a->model, q, *licences, &options);
}

static void search_with(struct ranks *ranks, struct search *s, struct system *space, const struct search_query *a,
                        const struct limits *limits, struct checkpoints *checkpoints) {
  search_init(s, space, limits);
  s->ranks = ranks;
  s->checkpoints = checkpoints;
  s->spill_folder = a->options->spill;
  s->progress = progress_or_null(a->options->rondo);
  s->progress_context = &(struct progress_context){a->options->rondo, a->model};
  interpreter_watch(a->interp, checkpoints ? limits->insist : limits->interrupt);
  watch_time(a->options->rondo, limits->seconds);
  watch_resident_memory(a->options->rondo, ranks ? 0 : limits->memory);
  search_run(s);
  watch_resident_memory(a->options->rondo, 0);
  watch_time(a->options->rondo, 0);
  interpreter_watch(a->interp, NULL); /* what was found is told in full */
  context_progress(a->options->rondo, NULL);
}

static void search_alone(struct search *s, struct system *space, const struct search_query *a,
                         const struct limits *limits, struct checkpoints *checkpoints) {
  search_with(NULL, s, space, a, limits, checkpoints);
}

/* The ranks that can answer a query together, once they are ready for it; NULL: this process does it alone. False: rank
   0 has ended. */
static bool ranks_for(const struct search_query *a, struct ranks **ranks) {
  *ranks = a->query.semantics == SEMANTICS_FINE ? NULL : a->options->ranks;
  return !*ranks || ranks_ready(*ranks, a->model->values.vectors);
}

/* The space of the query has names that can be common; if not, the first rank does it alone. */
static bool is_for_ranks(struct system *space) { return space->ops->names && space->ops->names(space, 0); }

/* A run is told although the search was stopped, unless that takes as long again as the search may take, or there is a
   signal while it is told. */
static void begin_trace(const struct search_query *a) {
  const struct limits *limits = &a->options->limits;
  interpreter_watch(a->interp, *limits->interrupt ? NULL : limits->interrupt);
  watch_time(a->options->rondo, limits->seconds);
}

/* Not 0: it was cut short, as search_interrupted says. */
static sig_atomic_t end_trace(const struct search_query *a) {
  sig_atomic_t why = interpreter_stopped(a->interp);
  watch_time(a->options->rondo, 0);
  interpreter_watch(a->interp, NULL);
  return why;
}

/* The run that shows a finding, replayed. NULL: the space and the reference disagree, or it was cut short. */
static struct trace *trace_make(const struct search_query *a, const struct search *s, const struct finding *f,
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
      !model_steps(a->model)) /* else any part of it may be what counts */
    run_simplify(&run, a->interp, a->model, &claim);
  struct trace *t = trace_confirmed(a->interp, a->model, &claim, &run, &why);
  if (!t)
    text_addf(fault, "the reference does not confirm what was found for '%s', %s\n  %s", property_result_name(p),
              p->proved, text_or_empty(&why));
  text_release(&why);
  return t;
}

/* NULL without a fault: it was cut short. */
static struct trace *trace_of(const struct search_query *a, const struct search *s, const struct finding *f,
                              const struct property_result *p, sig_atomic_t *cut) {
  struct text fault = {0};
  begin_trace(a);
  struct trace *t = trace_make(a, s, f, p, &fault);
  *cut = end_trace(a);
  if (!*cut && !t)
    text_add(a->fault, text_or_empty(&fault));
  text_release(&fault);
  return t;
}

static bool is_faulty(const struct search_query *a) { return a->fault->n > 0; }

/* --- step properties that may fail --- */

/* The run as it is, if evaluating the property of its last step is an error of the model. */
static struct trace *step_property_error(const struct search_query *a, const struct search *s,
                                         const struct finding *f) {
  uint32_t n;
  struct path_goal goal;
  struct run run = {0};
  struct text why = {0};
  begin_trace(a);
  struct state *path = search_has_path(s, f) ? search_path(s, f, &n, &goal) : NULL;
  struct trace *t = NULL;
  if (path && s->space->ops->concretise(s->space, path, n, &goal, &run)) {
    struct claim claim = {.environment = a->query.environment,
                          .semantics = a->query.semantics,
                          .property = s->space->query->properties[f->property],
                          .error = true};
    t = trace_confirmed(a->interp, a->model, &claim, &run, &why);
  }
  end_trace(a);
  text_release(&why);
  memory_free(path);
  return t;
}

/* The search takes a step of which a property cannot be evaluated for one that breaks it. It is an error of the model.
 */
static void reclassify_step_errors(const struct search_query *a, struct search *s) {
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
    trace_release(t);
    memory_free(t);
  }
}

/* What was found for each of a result's properties; the last may be an error of the model. */
static const struct finding *finding_of(const struct search *s, uint32_t i) {
  return i < query_nrequested(s->space->model, s->space->query) ? &s->findings[i] : &s->error;
}

/* s found what is told by the way that `told` took to it. */
static bool add_traces(const struct search_query *a, const struct search *s, const struct search *told,
                       struct run_result *r) {
  sig_atomic_t cut;
  for (uint32_t i = 0; i < r->nproperties; i++) {
    struct property_result *p = &r->properties[i];
    const struct finding *f = finding_of(s, i), *way = finding_of(told, i);
    if (f->found && (!way->found || f->rounds != way->rounds || f->fault_cost != way->fault_cost)) {
      text_addf(a->fault, "one thread alone does not find what several found for '%s'", property_result_name(p));
      return false;
    }
    if (!f->found || !search_has_path(told, way))
      continue;
    p->trace = trace_of(a, told, way, p, &cut);
    if (is_faulty(a))
      return false;
    if (!p->trace)
      property_result_describe_unshown(p, UNSHOWN_STOPPED, search_interrupted(cut), &a->options->limits);
  }
  return true;
}

/* --- the shortest story --- */

/* A violation or an error with its run. How short a way to a cover is matters to nobody. */
static bool is_counterexample(const struct property_result *p) { return p->trace && p->verdict == VERDICT_VIOLATED; }

static uint32_t longest_counterexample(const struct run_result *r) {
  uint32_t longest = 0;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (is_counterexample(&r->properties[i]) && r->properties[i].trace->run.nsteps > longest)
      longest = r->properties[i].trace->run.nsteps;
  return longest;
}

/* Takes over the trace of a shorter run for p, or learns that there is none. False: a fault. */
static bool compare_lengths(const struct search_query *a, const struct search *s, const struct finding *f,
                            struct property_result *p) {
  uint32_t known = p->trace->run.nsteps;
  bool sure = s->complete >= known;
  sig_atomic_t cut;
  if (f->found && f->state != STATE_REF_NONE && f->rounds < known) {
    struct trace *shorter = trace_of(a, s, f, p, &cut);
    if (is_faulty(a))
      return false;
    if (shorter) {
      trace_release(p->trace);
      memory_free(p->trace);
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

/* Partial-order reduction, and passing messages on at once, keep what can be found, not the shortest way to it: the
   same is looked for without it, among the runs that are shorter than those known. */
static bool search_shorter(const struct search_query *a, uint64_t states, struct run_result *r) {
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
  limits.signature = 0; /* what it does not find is not there */
  limits.rounds = longest_counterexample(r) - 1;
  limits.states = states > SHORTER_STATES / SHORTER_STATES_FACTOR ? states * SHORTER_STATES_FACTOR : SHORTER_STATES;
  if (limits.seconds == 0 || limits.seconds > SHORTER_SECONDS)
    limits.seconds = SHORTER_SECONDS;
  limits_until(&limits, a->asked->deadline);
  struct system *space = query_system(a->asked, &q, &requested, &licences);
  search_alone(&s, space, a, &limits, NULL); /* it does not take long */
  for (uint32_t i = 0, k = 0; i < r->nproperties && ok; i++)
    if (is_counterexample(&r->properties[i]))
      ok = compare_lengths(a, &s, r->properties[i].property ? &s.findings[k++] : &s.error, &r->properties[i]);
  search_release(&s);
  space->ops->free(space);
  return ok;
}

/* Steps: whatever is told by its own run, and as short as can be. */
static bool shorten_counterexamples(const struct search_query *a, const struct search *s, struct run_result *r) {
  const struct licences *l = r->licences;
  bool reduced = l->of[REDUCE_PARTIAL_ORDER].applied || l->of[REDUCE_FUSION].applied;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (r->properties[i].trace)
      property_result_describe_trace(&r->properties[i],
                                     is_counterexample(&r->properties[i]) && !reduced && !l->unlicensed);
  if (!reduced || l->unlicensed || a->options->lengths_unused || longest_counterexample(r) < 2 ||
      s->end == SEARCH_INTERRUPTED)
    return true;
  return search_shorter(a, s->stats.states, r);
}

/* Partial-order reduction takes longer ways: what it does not find within so many steps may be there all the same. */
static struct reduction_request wishes_of(const struct command_options *o) {
  struct reduction_request requested = o->requested;
  if (o->limits.rounds > 0 && requested.reduce[REDUCE_PARTIAL_ORDER] == REQUEST_AUTO)
    requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_OFF;
  if (o->limits.rounds > 0 && requested.reduce[REDUCE_FUSION] == REQUEST_AUTO)
    requested.reduce[REDUCE_FUSION] = REQUEST_OFF;
  return requested;
}

/* --- processes that run apart --- */

/* The run as far as it counts. NULL: that is a fault. */
static struct trace *trace_prefix(const struct search_query *a, struct trace *t, uint32_t n) {
  struct run run = {.initial = config_copy(a->model, t->run.initial),
                    .steps = memory_alloc((n + 1) * sizeof *run.steps)};
  struct text why = {0};
  for (uint32_t i = 0; i < n; i++)
    run.steps[run.nsteps++] = witness_copy(a->model, t->run.steps[i]);
  struct trace *first = trace_confirmed(a->interp, a->model, &t->claim, &run, &why);
  if (!first)
    text_addf(a->fault, "part of a run is not one: %s", text_or_empty(&why));
  text_release(&why);
  trace_release(t);
  memory_free(t);
  return first;
}

/* The run to the farthest state, if part of it can be repeated for ever. */
static bool find_divergence(const struct search_query *a, const struct search *s, struct run_result *r) {
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
  trace_release(t);
  memory_free(t);
  return true;
}

/* What the farthest state of several ranks is depends on them. */
static bool find_divergence_alone(const struct search_query *a, const struct search *s,
                                  const struct reduction_request *requested, struct run_result *r) {
  const struct licences *licences;
  struct search alone;
  if (!s->space->distance_cut)
    return true;
  struct limits limits = a->options->limits;
  limits_until(&limits, a->asked->deadline);
  struct system *space = query_system(a->asked, &a->query, requested, &licences);
  search_alone(&alone, space, a, &limits, NULL);
  bool ok = find_divergence(a, &alone, r);
  search_release(&alone);
  space->ops->free(space);
  return ok;
}

/* With one thread, so far. False: that was more than the limits allow. */
static bool search_again(const struct search_query *a, const struct search *s,
                         const struct reduction_request *requested, uint32_t rounds, uint32_t signature,
                         struct search *again, struct system **space) {
  struct limits limits = a->options->limits;
  const struct licences *licences;
  limits.rounds = rounds;
  limits.signature = signature;
  limits.threads = 1;
  if (limits.seconds > 0)
    limits.seconds = limits.seconds > s->stats.seconds ? limits.seconds - s->stats.seconds : 1e-3;
  if (limits.memory > 0 && memory_resident() == 0) /* else what s has counts anyway */
    limits.memory = limits.memory > s->stats.memory ? limits.memory - s->stats.memory : 1;
  *space = query_system(a->asked, &a->query, requested, &licences);
  search_alone(again, *space, a, &limits, a->options->checkpoints);
  if (!search_limited(again->end))
    return true;
  search_release(again);
  (*space)->ops->free(*space);
  return false;
}

/* Where states were taken for others, the way to a finding may be lost, and one thread find it elsewhere than several.
 */
static bool has_same_paths(const struct search_query *a, const struct search *s, const struct search *again) {
  for (uint32_t i = 0; i <= s->space->query->nproperties; i++) {
    const struct finding *f = i < s->space->query->nproperties ? &s->findings[i] : &s->error;
    const struct finding *g = i < s->space->query->nproperties ? &again->findings[i] : &again->error;
    uint32_t n;
    struct path_goal goal;
    if (!f->found)
      continue;
    if (!g->found || f->rounds != g->rounds || f->fault_cost != g->fault_cost)
      return false;
    if (g->state == STATE_REF_NONE)
      continue;
    begin_trace(a);
    struct state *path = search_path(again, g, &n, &goal);
    end_trace(a);
    memory_free(path);
    if (!path)
      return false;
  }
  return true;
}

/* Whole keys may find it by another way. */
static bool search_exact(const struct search_query *a, struct search *s, const struct reduction_request *requested,
                         struct search *again, struct system **space) {
  uint32_t n = s->space->query->nproperties, rounds = 1;
  for (uint32_t i = 0; i <= n; i++) {
    const struct finding *f = i < n ? &s->findings[i] : &s->error;
    rounds = f->found && f->rounds > rounds ? f->rounds : rounds;
  }
  if (!search_again(a, s, requested, rounds, 0, again, space))
    return false;
  for (uint32_t i = 0; i <= n; i++) {
    struct finding *f = i < n ? &s->findings[i] : &s->error;
    const struct finding *g = i < n ? &again->findings[i] : &again->error;
    f->rounds = g->found ? g->rounds : f->rounds;
    f->fault_cost = g->found ? g->fault_cost : f->fault_cost;
  }
  return true;
}

/* What several threads or ranks found is looked for again by one, so that the story is the same whatever their number.
   False: that is not needed, or was more than the limits allow; what was found is as short, but may differ from what
   one thread tells. */
static bool search_deterministic(const struct search_query *a, struct search *s,
                                 const struct reduction_request *requested, struct search *again,
                                 struct system **space) {
  uint32_t rounds = a->options->rondo->tests.no_deterministic_search ? 0 : search_rerun_depth(s),
           signature = s->limits.signature;
  if (a->options->no_trace)
    return false;
  if (rounds > 0 && search_again(a, s, requested, rounds, signature, again, space)) {
    if (!signature || has_same_paths(a, s, again))
      return true;
    search_release(again);
    (*space)->ops->free(*space);
  }
  return signature && !has_same_paths(a, s, s) && search_exact(a, s, requested, again, space);
}

static bool answer(const struct search_query *a, struct run_result *r) {
  const struct licences *licences;
  enum symbolic_engine engine;
  bool symbolic = symbolic_engine_find(a->options->engine, &engine);
  if (a->options->is_helper_rank && (symbolic || a->query.semantics == SEMANTICS_FINE)) {
    *r = (struct run_result){0}; /* the first rank does that alone */
    return true;
  }
  if (symbolic && a->query.until) {
    text_addf(a->refused, "'%s' has an 'until', which is the search's\n  help: leave out '--engine %s'",
              a->model->properties[a->query.properties[0]].name, a->options->engine);
    if (!a->asked->quiet)
      context_error(a->options->rondo, "%s", a->refused->at);
    return false;
  }
  if (symbolic)
    return symbolic_query_answer(a->asked, &a->query, r, a->refused, a->fault);
  struct reduction_request requested = wishes_of(a->options);
  struct search s;
  struct text decimal = {0};
  char *counted = NULL;
  struct ranks *ranks;
  if (!ranks_for(a, &ranks)) {
    *r = (struct run_result){0};
    return true;
  }
  struct system *space = query_system(a->asked, &a->query, &requested, &licences);
  if (ranks && !is_for_ranks(space))
    ranks = NULL;
  if (a->options->is_helper_rank && !ranks) {
    *r = (struct run_result){0};
    space->ops->free(space);
    return true;
  }
  search_with(ranks, &s, space, a, &a->options->limits, a->options->checkpoints);
  if (space->ops->heard_of_assignments(space, &decimal))
    counted = memory_strdup(text_or_empty(&decimal));
  text_release(&decimal);
  struct search again;
  struct system *own;
  bool repeated = search_deterministic(a, &s, &requested, &again, &own);
  reclassify_step_errors(a, &s);
  if (repeated)
    reclassify_step_errors(a, &again);
  if (repeated && again.error.found)
    s.error.error = again.error.error; /* of several as cheap */
  run_result_fill(r, &s, licences);
  r->heard_of_assignments = counted;
  lockstep_licences(a->asked, &a->query, &s, r);
  bool ok = a->options->no_trace || (add_traces(a, &s, repeated ? &again : &s, r) &&
                                     (!model_steps(a->model) || shorten_counterexamples(a, &s, r)));
  if (repeated) {
    search_release(&again);
    own->ops->free(own);
  }
  if (ok && (a->query.semantics == SEMANTICS_FINE || model_steps(a->model)) && !a->options->is_helper_rank)
    ok = ranks ? find_divergence_alone(a, &s, &requested, r) : find_divergence(a, &s, r);
  search_release(&s);
  space->ops->free(space);
  return ok;
}

/* Engines ask for themselves; the search is made of many parts, so it is asked for here. */
bool query_supported(struct rondo *context, const struct model *m, const struct query *q, struct text *refused) {
  enum feature lacking;
  struct span at;
  struct diags diags;
  if (!features_refused(m, q, ENGINE_SEARCH, &lacking, &at))
    return true;
  diags_init(&diags, &m->source);
  diag_error(&diags, at, "the search cannot do this: %s", feature_text(lacking));
  if (refused)
    text_addf(refused, "the search cannot do this: %s", feature_text(lacking));
  context_diagnostics(context, &diags);
  diags_release(&diags);
  return false;
}

bool query_answer(const struct query_context *of, const struct query *q, struct run_result *r, struct text *refused,
                  struct text *fault) {
  if (!query_supported(of->options->rondo, of->model, q, refused))
    return false;
  struct command_options o = *of->options;
  struct query_context about = *of;
  about.options = &o;
  struct search_query a = {of->model, of->interp, of->arena, &o, *q, refused, fault, &about};
  limits_until(&o.limits, of->deadline);
  if (q->semantics != SEMANTICS_FINE || o.max_distance)
    return answer(&a, r);
  /* Further and further, until there is no further, or no end of it. */
  for (o.max_distance = DISTANCE_START; answer(&a, r); o.max_distance *= 2) {
    if (!r->distance_cut || r->divergence || search_limited(r->end) || r->end != SEARCH_EXHAUSTED ||
        o.max_distance >= DISTANCE_MAX)
      return true;
    run_result_release(r);
    limits_until(&o.limits, of->deadline);
  }
  return false;
}

/* Of what is asked in rounds of one's own, that which reads `round`, or that which does not: the former is about whole
   rounds. Adds a run, unless there is nothing of the kind. */
static bool answer_part(const struct query_group *query_group, const struct query_context *of, bool whole,
                        struct check_result *c, struct text *refused, struct text *fault) {
  bool fine = of->semantics == SEMANTICS_FINE;
  struct query_context a = *of;
  uint32_t *properties = arena_array(a.arena, query_group->properties.n + 1, sizeof *properties), n = 0;
  for (size_t i = 0; i < query_group->properties.n; i++)
    if (whole == (fine && property_reads_round(a.model, &a.model->properties[query_group->properties.at[i]])))
      properties[n++] = query_group->properties.at[i];
  if (n == 0 && (whole || query_group->properties.n > 0))
    return true;
  if (whole)
    a.semantics = SEMANTICS_COARSE;
  struct query q = query_make(&a, query_group->environment, properties, n);
  return query_answer(&a, &q, &c->runs[c->nruns++], refused, fault) && lockstep_recheck(&a, &q, c, refused, fault);
}

bool query_groups_answer(const struct query_groups *in, const struct query_context *asked, struct check_result *c,
                         struct text *refused, struct text *fault) {
  struct query_context about = *asked, *of = &about;
  if (of->deadline == 0 && of->options->limits.seconds > 0)
    of->deadline = clock_seconds() + of->options->limits.seconds;
  *c = (struct check_result){.model = of->model, .interp = of->interp};
  c->runs = memory_alloc((2 * in->at.n + in->live.n) * sizeof *c->runs);
  bool ok = true;
  for (size_t i = 0; i < in->at.n && ok; i++) {
    uint32_t first = c->nruns;
    ok = answer_part(&in->at.at[i], of, false, c, refused, fault) &&
         answer_part(&in->at.at[i], of, true, c, refused, fault);
    while (first < c->nruns)
      c->runs[first++].query_group = (uint32_t)i;
  }
  struct query_context for_ever = *of;
  if (of->semantics == SEMANTICS_FINE) /* what happens for ever is asked of whole rounds */
    for_ever.semantics = SEMANTICS_COARSE;
  for (size_t i = 0; i < in->live.n && ok && !of->options->is_helper_rank; i++) { /* those are one rank's, too */
    struct run_result *r = &c->runs[c->nruns++];
    ok = live_query_answer(&for_ever, &in->live.at[i], r, fault);
    if (ok)
      live_lockstep_licence(of, &in->live.at[i], r);
    r->query_group = (uint32_t)(in->at.n + i);
  }
  check_result_conclude(c);
  return ok;
}
