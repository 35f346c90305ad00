/* What happens in which order when an instance of a model is checked. Each line of the lists below is a stage; how a
   stage works is in the file that has it. */
#include "driver/check_pipeline.h"

#include "analysis/features.h"
#include "analysis/local_properties.h"
#include "driver/check_audit.h"
#include "driver/context.h"
#include "driver/query_run.h"
#include "driver/query_symbolic.h"
#include "driver/semantics.h"
#include "report/json_report.h"
#include "report/text_report.h"
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
  query_explore(q);                /* breadth-first search, within the limits */
  query_repeat(q);                 /* again by one thread: traces must not depend on threads and ranks */
  query_reclassify_step_errors(q); /* a step property that has no value is an error of the model */
  query_fill_result(q);            /* the verdicts */
  lockstep_licences(q->about, &q->query, &q->search, q->result); /* do they hold in asynchronous rounds, too? */
  bool ok = query_make_traces(q) &&                              /* concrete, simplified, replayed on the interpreter */
            query_shorten_traces(q) &&                           /* steps: without partial-order reduction */
            query_find_divergence(q);                            /* do processes get further and further apart? */
  query_run_release(q);
  return ok;
}

/* By bounded model checking, k-induction or Spacer. */
static bool answer_by_solver(struct query_run *q) {
  *q->result = (struct run_result){0};
  if (q->options->ranks.is_helper) /* the first rank does that alone */
    return true;
  if (!q->query.until)
    return symbolic_query_answer(q->about, &q->query, q->result, q->refused, q->fault);
  text_addf(q->refused, "'%s' has an 'until', which is the search's\n  help: leave out '--engine %s'",
            q->model->properties[q->query.properties[0]].name, q->options->engine);
  if (!q->about->quiet)
    context_error(q->options->rondo, "%s", q->refused->at);
  return false;
}

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

/* ---- queries that there is no time for ---- */

/* Is it too late to begin with a query? Not with several ranks, which must all begin, nor with checkpoints, which
   number the searches. */
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

/* What is known before the i-th query, in case that it does not end in time. */
static void prepare_answer(const struct query_groups *in, size_t i, const struct query_context *of,
                           const struct check_result *c) {
  const struct command_options *o = of->options;
  struct text out = {0};
  if (!of->prepares || o->ranks.is_helper || !answer_may_be_overdue(o->rondo))
    return;
  struct check_result known = *c;
  known.runs = memory_alloc((c->nruns + in->at.n + in->live.n) * sizeof *known.runs);
  memcpy(known.runs, c->runs, c->nruns * sizeof *known.runs);
  for (; i < in->at.n + in->live.n; i++)
    group_leave_open(in, i, of, o->limits.seconds > 0 ? SEARCH_TIME : SEARCH_INTERRUPTED, &known.runs[known.nruns++]);
  check_result_conclude(&known);
  report_check(&known, o, &out);
  answer_prepare(o->rondo, &out, exit_status_of(known.verdict));
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
  if (!query_supported(o.rondo, of->model, q, refused)) /* solvers check by themselves what they support */
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
  struct query q = query_make(&a, group->environment, properties, n);
  return query_answer(&a, &q, &c->runs[c->nruns++], refused, fault) && /* above */
         lockstep_recheck(&a, &q, c, refused, fault); /* what lockstep rounds do not license, in asynchronous ones */
}

static bool answer_group(const struct query_group *group, const struct query_context *of, struct check_result *c,
                         struct text *refused, struct text *fault) {
  return answer_part(group, of, false, c, refused, fault) && answer_part(group, of, true, c, refused, fault);
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
  c->runs = memory_alloc((2 * in->at.n + in->live.n) * sizeof *c->runs);
  for (size_t i = 0; i < in->at.n + in->live.n && ok; i++) {
    uint32_t first = c->nruns;
    prepare_answer(in, i, &of, c);
    ok = i < in->at.n ? answer_group(&in->at.at[i], &of, c, refused, fault)
                      : answer_live(&in->live.at[i - in->at.n], &of, c, fault);
    while (first < c->nruns)
      c->runs[first++].query_group = (uint32_t)i;
  }
  check_result_conclude(c); /* the worst verdict */
  return ok;
}

/* ---- an instance ---- */

static int report_fault(struct rondo *context, enum audit_outcome audit, const struct text *fault) {
  if (audit == AUDIT_FORCED_REDUCTION) {
    context_error(context,
                  "the audit disagrees with an answer that rests on a reduction forced against its licence%s\n"
                  "  help: leave out the '!' in '--reduce'",
                  text_or_empty(fault));
    return EXIT_BAD_INPUT;
  }
  context_error(context, "a fault of rondo itself: %s%s", audit == AUDIT_FAULT ? "the audit disagrees" : "",
                text_or_empty(fault));
  return EXIT_FAULT;
}

int check_instance(const struct parsed_file *parsed, const struct param_binding *bindings,
                   const struct command_options *o, bool quiet, struct checked_instance *i, struct text *error) {
  struct query_groups groups;
  enum semantics semantics;
  enum audit_outcome audit = AUDIT_CONSISTENT;
  struct text fault = {0};
  size_t said = error->n;
  double seconds = o->limits.seconds, begins = o->rondo->began > 0 ? o->rondo->began : clock_seconds();
  double deadline = seconds > 0 ? begins + seconds : 0;
  o->rondo->began = 0; /* the next instance begins when this one is answered */
  watch_answer(o->rondo, deadline, seconds);
  *i = (struct checked_instance){0};
  arena_init(&i->arena);
  i->model = model_load(parsed, bindings, o->defines.n, false, quiet, error); /* types, parameters, static errors */
  if (!i->model || !semantics_choose(i->model, o, &semantics) || /* as asked, or the cheapest of its kind */
      !query_groups_make(&groups, i->model, o))                  /* properties by environment, live ones alone */
    return EXIT_BAD_INPUT;
  i->interp = interpreter_new(i->model);
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
                                .prepares = !quiet};
  bool ok = query_groups_answer(&groups, &about, &i->result, error, &fault); /* above */
  if (ok && o->audit)
    audit = audit_answer(&groups, &about, &i->result, &fault); /* everything again in other ways, and compared */
  query_groups_release(&groups);
  int status = !ok && error->n > said ? EXIT_BAD_INPUT /* an engine refused it, and the error was reported */
               : !ok || audit != AUDIT_CONSISTENT ? report_fault(o->rondo, audit, &fault)
                                                  : exit_status_of(i->result.verdict);
  text_release(&fault);
  return status;
}

void report_check(const struct check_result *c, const struct command_options *o, struct text *out) {
  struct style style = context_style(o->rondo, o->output.verbose);
  if (o->output.json)
    json_text(report_json(c), out);
  else
    report_text(c, &style, out);
}

void checked_instance_release(struct checked_instance *i) {
  check_result_release(&i->result);
  interpreter_free(i->interp);
  model_free(i->model);
  arena_release(&i->arena);
}
