/* The stages of checking an instance of a model, in their order. Each line of the lists below calls one stage, which is
   implemented in another file. */
#include "driver/check_pipeline.h"

#include "analysis/features.h"
#include "analysis/local_properties.h"
#include "driver/answer_stream.h"
#include "driver/check_audit.h"
#include "driver/check_coverage.h"
#include "driver/context.h"
#include "driver/query_run.h"
#include "driver/query_split.h"
#include "driver/query_symbolic.h"
#include "driver/semantics.h"
#include "interp/eval.h"
#include "search/liveness_search.h"

#include <string.h>

/* Round distances that are tried by default: the first, and the largest. */
#define DISTANCE_START 4
#define DISTANCE_MAX 64

/* ---- how a query is answered ---- */

/* By explicit-state search. */
static bool answer_by_search(struct query_run *q) {
  if (!query_takes_part(q)) /* licences and the transition system; some ranks may have no part in it */
    return true;
  query_explore(q);                                                       /* breadth-first search, within the limits */
  if (split_failed(q->about->split) || split_replaces(q->about->split)) { /* other searches answer instead */
    query_run_release(q);
    return !split_failed(q->about->split);
  }
  query_repeat(q);                 /* again by one thread: traces must not depend on threads and ranks */
  query_reclassify_step_errors(q); /* a step property that has no value is an error of the model */
  query_fill_result(q);            /* the verdicts */
  q->result->runs_all_code =
      q->interp->coverage && !q->query.until && !q->ranks && q->licences && licences_keep_code(q->licences);
  lockstep_licences(q->about, &q->query, &q->search, q->result); /* do they hold in asynchronous rounds, too? */
  bool ok = query_make_traces(q) &&                              /* concrete, simplified, replayed on the interpreter */
            query_shorten_traces(q) &&                           /* steps: without partial-order reduction */
            query_find_divergence(q);                            /* do processes get further and further apart? */
  split_filter(q->about->split, q->result);                      /* what other searches have decided */
  query_run_release(q);
  return ok;
}

/* By bounded model checking, k-induction or Spacer. */
static bool answer_by_solver(struct query_run *q) {
  *q->result = (struct run_result){0};
  if (q->options->ranks.is_helper) /* the first rank does that alone */
    return true;
  return symbolic_query_answer(q->about, &q->query, q->result, q->refused, q->fault);
}

/* Whatever time is left, so that the exit status does not depend on it. */
static bool refuses_until(const struct query_context *of, const struct query *q, struct text *refused) {
  const struct command_options *o = of->options;
  enum symbolic_engine engine;
  if (!q->until || o->ranks.is_helper || !symbolic_engine_find(o->engine, &engine))
    return false;
  text_addf(refused, "engine '%s' does not support the 'until' of '%s'\n  help: leave out '--engine %s'", o->engine,
            of->model->properties[q->properties[0]].name, o->engine);
  if (!of->quiet)
    context_error(o->rondo, E0901, "%s", refused->at);
  return true;
}

bool query_supported(struct rondo *context, const struct model *m, const struct query *q, struct text *refused) {
  enum feature lacking;
  struct span at;
  struct diags diags;
  if (!features_refused(m, q, ENGINE_SEARCH, &lacking, &at))
    return true;
  diags_init(&diags, &m->source);
  diag_error(&diags, E0901, at, "the search cannot do this: %s", feature_text(lacking));
  if (refused)
    text_addf(refused, "the search cannot do this: %s", feature_text(lacking));
  context_diagnostics(context, &diags);
  diags_release(&diags);
  return false;
}

/* ---- queries that the time limit cuts off ---- */

/* Is the time up, or was the command interrupted, so that no further query begins? Several ranks must all begin, and
   with checkpoints searches are numbered, so these begin every query. */
static bool is_too_late(const struct query_context *of, enum search_end *end) {
  const struct command_options *o = of->options;
  if (o->ranks.all || o->storage.checkpoints)
    return false;
  bool late = of->deadline > 0 && clock_seconds() >= of->deadline;
  *end = late ? SEARCH_TIME : SEARCH_INTERRUPTED;
  return late || *o->limits.interrupt;
}

/* The result of a query that was not begun. */
static void query_leave_open(const struct query_context *of, const struct query *q, enum search_end end,
                             struct run_result *r) {
  static const struct licences none;
  const struct property *p = q->nproperties == 1 ? &of->model->properties[q->properties[0]] : NULL;
  struct system unmade = {.model = of->model, .query = q, .licences = &none};
  enum symbolic_engine engine;
  if (p && p->kind == PROPERTY_LIVE) {
    struct liveness_search l = {.graph = {.space = &unmade, .limits = of->options->limits, .end = end}};
    run_result_fill_live(r, &unmade, &l, &none, p, NULL, NULL);
  } else {
    struct search s = {.space = &unmade, .limits = of->options->limits, .end = end};
    s.findings = memory_alloc((q->nproperties + (size_t)1) * sizeof *s.findings);
    run_result_fill(r, &s, &none);
    memory_free(s.findings);
  }
  if (symbolic_engine_find(of->options->engine, &engine))
    r->engine = of->options->engine;
}

static void group_leave_open(const struct query_groups *in, size_t i, const struct query_context *of,
                             enum search_end end, struct run_result *r) {
  struct query q = {.semantics = of->semantics};
  if (i < in->at.n) {
    q.environment = in->at.at[i].environment;
    q.properties = in->at.at[i].properties.at;
    q.nproperties = (uint32_t)in->at.at[i].properties.n;
  } else {
    q.environment = in->live.at[i - in->at.n].environment;
    q.properties = &in->live.at[i - in->at.n].property;
    q.nproperties = 1;
  }
  query_leave_open(of, &q, end, r);
  for (uint32_t k = 0; i < in->at.n && k < r->nproperties; k++)
    r->properties[k].unasked = in->at.at[i].unasked;
  r->query_group = (uint32_t)i;
}

int exit_status_of(enum verdict v) {
  switch (v) {
  case VERDICT_HOLDS:
    return EXIT_HOLDS;
  case VERDICT_VIOLATED:
    return EXIT_VIOLATED;
  case VERDICT_INCONCLUSIVE:
    break;
  }
  return EXIT_INCONCLUSIVE;
}

/* Prepares the answer that the host gets if the i-th query does not end in time. */
static void prepare_answer(const struct query_groups *in, size_t i, const struct query_context *of,
                           const struct check_result *c) {
  const struct command_options *o = of->options;
  struct text out = {0};
  if (!of->stream || of->stream->in_table || o->ranks.is_helper || !answer_may_be_overdue(o->rondo))
    return;
  struct check_result known = *c;
  known.runs = memory_alloc((c->nruns + in->at.n + in->live.n) * sizeof *known.runs);
  memcpy(known.runs, c->runs, c->nruns * sizeof *known.runs);
  for (; i < in->at.n + in->live.n; i++)
    group_leave_open(in, i, of, o->limits.seconds > 0 ? SEARCH_TIME : SEARCH_INTERRUPTED, &known.runs[known.nruns++]);
  check_result_conclude(&known);
  stream_rest(of->stream, &known, &out);
  answer_prepare(o->rondo, &out, exit_status_of(known.verdict));
  of->stream->prepared = true;
  while (known.nruns > c->nruns)
    run_result_release(&known.runs[--known.nruns]);
  memory_free(known.runs);
}

/* ---- one query ---- */

bool query_answer(const struct query_context *of, const struct query *q, struct run_result *r, struct text *refused,
                  struct text *fault) {
  enum symbolic_engine engine;
  struct command_options o = *of->options;
  struct query_context about = *of;
  about.options = &o;
  if (!query_supported(o.rondo, of->model, q, refused) || refuses_until(of, q, refused)) /* solvers check the rest */
    return false;
  enum search_end late;
  if (is_too_late(of, &late)) {
    query_leave_open(of, q, late, r);
    return true;
  }
  bool further = q->semantics == SEMANTICS_FINE && o.max_distance == 0, ok;
  if (further)
    o.max_distance = DISTANCE_START;
  for (;; o.max_distance *= 2) { /* asynchronous rounds: until no larger distance occurs, or it is unbounded */
    struct query_run run = {.about = &about,
                            .model = of->model,
                            .interp = of->interp,
                            .arena = of->arena,
                            .options = &o,
                            .query = *q,
                            .result = r,
                            .refused = refused,
                            .fault = fault};
    limits_until(&o.limits, of->deadline);
    ok = symbolic_engine_find(o.engine, &engine) ? answer_by_solver(&run) : answer_by_search(&run);
    if (!ok || !further || !r->distance_cut || r->divergence || r->end != SEARCH_EXHAUSTED ||
        o.max_distance >= DISTANCE_MAX)
      return ok;
    run_result_release(r);
  }
}

/* ---- all queries about an instance ---- */

/* In one search. Adds its run, unless others replace it (query_split.h). */
static bool answer_together(const struct query_context *a, uint32_t environment, const uint32_t *properties, uint32_t n,
                            struct check_result *c, struct text *refused, struct text *fault) {
  struct query q = query_make(a, environment, properties, n);
  struct run_result r = {0};
  bool ok = query_answer(a, &q, &r, refused, fault); /* above */
  if (split_replaces(a->split) || split_failed(a->split))
    return ok;
  c->runs[c->nruns++] = r;
  return ok &&
         lockstep_recheck(a, &q, c, refused, fault); /* what lockstep rounds do not license, in asynchronous ones */
}

/* Asynchronous rounds: properties that read `round` are checked in lockstep rounds (lockstep), the others in
   asynchronous ones. Adds a run, unless there are no such properties. */
static bool answer_part(const struct query_group *group, const struct query_context *of, bool lockstep,
                        struct check_result *c, struct text *refused, struct text *fault) {
  bool async = of->semantics == SEMANTICS_FINE;
  struct query_context a = *of;
  uint32_t *properties = arena_array(a.arena, group->properties.n + 1, sizeof *properties), n = 0;
  for (size_t i = 0; i < group->properties.n; i++)
    if (lockstep == (async && property_reads_round(a.model, &a.model->properties[group->properties.at[i]])))
      properties[n++] = group->properties.at[i];
  if (n == 0 && (lockstep || group->properties.n > 0))
    return true;
  if (lockstep)
    a.semantics = SEMANTICS_COARSE;
  a.split = split_new(&a, group->environment, properties, n, c, refused, fault);
  bool ok = answer_together(&a, group->environment, properties, n, c, refused, fault);
  while (ok && split_replaces(a.split) && (n = split_next(a.split, properties)) > 0) {
    struct query_context one = a;
    one.split = NULL;
    ok = answer_together(&one, group->environment, properties, n, c, refused, fault);
    if (ok && of->stream && !of->options->audit)
      stream_runs(of->stream, c);
  }
  split_free(a.split);
  return ok;
}

/* The search for deadlocks that nobody asked for takes at most so many states, or as many as another search took. */
#define UNASKED_STATES 200000

static uint64_t unasked_limit(const struct command_options *o, const struct check_result *c) {
  uint64_t most = UNASKED_STATES;
  for (uint32_t i = 0; i < c->nruns; i++)
    most = c->runs[i].stats.states > most ? c->runs[i].stats.states : most;
  return o->limits.states > 0 && o->limits.states < most ? o->limits.states : most;
}

/* Does the model have an error there? Then more searches only find it again. */
static bool has_error(const struct check_result *c, uint32_t environment) {
  for (uint32_t i = 0; i < c->nruns; i++)
    if (c->runs[i].environment == environment && c->runs[i].errors.found)
      return true;
  return false;
}

static bool answer_group(const struct query_group *group, const struct query_context *of, struct check_result *c,
                         struct text *refused, struct text *fault) {
  struct command_options o = *of->options;
  struct query_context a = *of;
  uint32_t first = c->nruns;
  if (group->unasked && has_error(c, group->environment))
    return true;
  if (group->unasked) {
    o.limits.states = unasked_limit(of->options, c);
    a.options = &o;
  }
  bool ok = answer_part(group, &a, false, c, refused, fault) && answer_part(group, &a, true, c, refused, fault);
  for (; first < c->nruns; first++)
    for (uint32_t k = 0; k < c->runs[first].nproperties; k++)
      c->runs[first].properties[k].unasked = group->unasked;
  return ok;
}

/* Live properties are checked in lockstep rounds, by one rank. */
static bool answer_live(const struct live_query *live, const struct query_context *of, struct check_result *c,
                        struct text *fault) {
  struct query_context a = *of;
  enum search_end late;
  if (a.options->ranks.is_helper)
    return true;
  if (a.semantics == SEMANTICS_FINE)
    a.semantics = SEMANTICS_COARSE;
  struct run_result *r = &c->runs[c->nruns++];
  if (is_too_late(of, &late)) {
    struct query q = {.environment = live->environment, .semantics = a.semantics, .properties = &live->property};
    q.nproperties = 1;
    query_leave_open(of, &q, late, r);
    return true;
  }
  bool ok = live_query_answer(&a, live, r, fault); /* product with the automaton, fair cycles, lasso, replay */
  if (ok)
    live_lockstep_licence(of, live, r);
  return ok;
}

bool query_groups_answer(const struct query_groups *in, const struct query_context *asked, struct check_result *c,
                         struct text *refused, struct text *fault) {
  struct query_context of = *asked;
  bool ok = true;
  if (of.deadline == 0 && of.options->limits.seconds > 0)
    of.deadline = clock_seconds() + of.options->limits.seconds;
  *c = (struct check_result){.model = of.model, .interp = of.interp};
  size_t most =
      in->live.n + 2 * in->at.n; /* a run for each, another one in asynchronous rounds, and if they are split */
  for (size_t i = 0; i < in->at.n; i++)
    most += 2 * in->at.at[i].properties.n;
  c->runs = memory_alloc((most + 1) * sizeof *c->runs);
  for (size_t i = 0; i < in->at.n + in->live.n && ok; i++) {
    uint32_t first = c->nruns;
    prepare_answer(in, i, &of, c);
    ok = i < in->at.n ? answer_group(&in->at.at[i], &of, c, refused, fault)
                      : answer_live(&in->live.at[i - in->at.n], &of, c, fault);
    while (first < c->nruns)
      c->runs[first++].query_group = (uint32_t)i;
    if (ok && of.stream && !of.options->audit)
      stream_runs(of.stream, c);
  }
  check_result_conclude(c); /* the worst verdict */
  return ok;
}

/* ---- an instance ---- */

static int report_fault(struct rondo *context, enum audit_outcome audit, const struct text *fault) {
  if (audit == AUDIT_FORCED_REDUCTION) {
    context_error(context, E0905,
                  "the audit disagrees with an answer that rests on a reduction forced against its licence%s\n"
                  "  help: leave out the '!' in '--reduce'",
                  text_or_empty(fault));
    return EXIT_BAD_INPUT;
  }
  context_error(context, E1001, "a fault of rondo itself: %s%s", audit == AUDIT_FAULT ? "the audit disagrees" : "",
                text_or_empty(fault));
  return EXIT_FAULT;
}

int check_instance(const struct parsed_file *parsed, const struct param_binding *bindings,
                   const struct command_options *o, struct answer_stream *stream, struct checked_instance *i,
                   struct text *error) {
  struct query_groups groups;
  enum semantics semantics;
  enum audit_outcome audit = AUDIT_CONSISTENT;
  struct text fault = {0};
  size_t said = error->n;
  double seconds = o->limits.seconds, begins = o->rondo->began > 0 ? o->rondo->began : clock_seconds();
  double deadline = seconds > 0 ? begins + seconds : 0;
  o->rondo->began = 0; /* the next instance begins when this one is answered */
  watch_answer(o->rondo, deadline, seconds);
  o->rondo->reading_deadline = deadline;
  *i = (struct checked_instance){0};
  arena_init(&i->arena);
  bool quiet = !stream || stream->in_table;
  i->model = model_load(parsed, bindings, o->defines.n, false, quiet, error); /* types, parameters, static errors */
  if (!i->model || !semantics_choose(i->model, o, &semantics) || /* as asked, or the cheapest of its kind */
      !query_groups_make(&groups, i->model, o))                  /* properties by environment, live ones alone */
    return EXIT_BAD_INPUT;
  i->interp = interpreter_new(i->model);
  struct coverage *seen;
  struct query_context about = {.parsed = parsed,
                                .bindings = bindings,
                                .nbindings = o->defines.n,
                                .model = i->model,
                                .interp = i->interp,
                                .arena = &i->arena,
                                .options = o,
                                .semantics = semantics,
                                .semantics_by_default = !o->has_semantics,
                                .deadline = deadline,
                                .stream = stream};
  if (stream) {
    stream->model = i->model;
    stream->semantics = semantics;
    stream_begin(stream, &groups);
  }
  seen = i->interp->coverage = coverage_begin(&about);
  bool ok = query_groups_answer(&groups, &about, &i->result, error, &fault); /* above */
  if (ok && seen)
    ok = coverage_answer(&about, &i->result, seen, &fault); /* what no run takes */
  i->interp->coverage = NULL;
  coverage_free(seen);
  if (ok && o->audit)
    audit = audit_answer(&groups, &about, &i->result, &fault); /* everything again in other ways, and compared */
  query_groups_release(&groups);
  if (o->rondo->tests.fault) {
    text_add(&fault, "as a test has asked for");
    ok = false;
  }
  int status = !ok && error->n > said ? EXIT_BAD_INPUT /* an engine refused it, and the error was reported */
               : !ok || audit != AUDIT_CONSISTENT ? report_fault(o->rondo, audit, &fault)
                                                  : exit_status_of(i->result.verdict);
  text_release(&fault);
  return status;
}

void checked_instance_release(struct checked_instance *i) {
  check_result_release(&i->result);
  interpreter_free(i->interp);
  model_free(i->model);
  arena_release(&i->arena);
}
