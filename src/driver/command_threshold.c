/* rondo threshold: for which parameters does a property fail, when the condition of `resilience` is
   left open?

   While there is a counterexample, the region of all parameters with a run of the same shape is computed
   (param/param_region.h) and excluded; the remaining parameters are proved safe. Every region is confirmed by a
   separate query. */
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/files.h"
#include "driver/jobs.h"
#include "driver/prove.h"
#include "driver/prove_portfolio.h"
#include "param/engine_result_io.h"
#include "param/param_region.h"
#include "report/json_report.h"
#include "report/threshold_report.h"
#include "symbolic/solver.h"

#include <string.h>

enum { REGIONS_MAX = 60 };
#define SIMPLIFY_SECONDS 0.4 /* to make the regions readable, even if the time is up */
#define SMALL_SECONDS 1.0    /* to compare the answer with searches of few processes; */
#define SMALL_LEAST 0.2      /* even if the time is up */

struct region_job {
  const struct counter_graph *graph; /* with nothing excluded */
  const struct counter_run *run;
  const bool *kept;
  enum generality generality;
  const volatile sig_atomic_t *stop; /* or NULL: it is ended with its process */
  const char *script;
};

struct threshold_search {
  const struct counter_system *system;
  const struct counter_property *property;
  struct derived_system *rounds; /* the model that the counter system was derived from, or NULL */
  const struct command_options *options;
  struct proof_limits limits;
  double start;
  struct counter_graph *open, *rest; /* with nothing excluded; with the regions found so far excluded */
  bool *kept;
  struct threshold t;
};

/* ---- jobs ---- */

static void region_job_run(void *context, const struct job_line *line, struct text *result) {
  const struct region_job *f = context;
  struct cube region;
  struct text script = {0};
  (void)line;
  if (region_of_run(f->graph, f->run, f->kept, f->generality, f->stop, &region, &script)) {
    cube_write(&region, result);
    text_addf(result, "\n%s", script.at);
  }
  cube_release(&region);
  text_release(&script);
}

static void region_job_confirm(void *context, const struct job_line *line, struct text *result) {
  const struct region_job *f = context;
  (void)line;
  smtlib_run(f->script, f->stop, result);
}

static double seconds_left(const struct threshold_search *h) {
  double left = h->limits.seconds - (clock_seconds() - h->start);
  return left > 0.001 ? left : 0.001;
}

/* Runs one job within the limits. False: it did not finish. */
static bool run_one_job(const struct threshold_search *h, job_work_fn *work, struct region_job *job,
                        struct text *result) {
  struct jobs jobs;
  jobs_init(&jobs, h->limits.rondo, seconds_left(h), h->limits.memory);
  job->stop = jobs_stop_flag(&jobs);
  bool ok = jobs_add(&jobs, "region", work, job);
  struct job *r = ok ? jobs_next(&jobs) : NULL;
  ok = r && r->end == JOB_DONE;
  if (ok)
    text_add_n(result, text_or_empty(&r->result), r->result.n);
  jobs_release(&jobs);
  return ok;
}

/* ---- regions ---- */

static bool contains(const struct threshold_search *h, const struct cube *region, const struct counter_run *run) {
  int64_t *point = memory_alloc((h->open->nvars + (size_t)1) * sizeof *point);
  for (uint32_t i = 0; i < h->open->nparams; i++)
    point[i] = run->params[h->open->param[i]];
  bool inside = cube_holds(region, point);
  memory_free(point);
  return inside;
}

/* Adds the region of parameters with a run like this one, if a query confirms it. */
static bool add_region_of(struct threshold_search *h, const struct counter_run *run, enum generality generality) {
  struct region_job f = {.graph = h->open, .run = run, .kept = h->kept, .generality = generality};
  struct text found = {0}, said = {0};
  struct cube region;
  bool ok = run_one_job(h, region_job_run, &f, &found) && found.n > 0;
  size_t n = found.n;
  if (ok && (ok = cube_read(&region, found.at, &n))) {
    f.script = found.at + n;
    ok = contains(h, &region, run) && run_one_job(h, region_job_confirm, &f, &said) &&
         !strcmp(text_or_empty(&said), "unsat\n");
    if (ok) {
      text_addf(&h->t.scripts, "(reset)\n%s", f.script + strspn(f.script, "\n"));
      vec_push(&h->t.unsafe, region);
      counter_graph_exclude(h->rest, &region);
    } else {
      cube_release(&region);
    }
  }
  text_release(&found);
  text_release(&said);
  return ok;
}

/* Generalises the repetitions of a run and its numbers separately, because one region rarely includes the other. */
static bool add_regions(struct threshold_search *h, const struct counter_run *run) {
  bool some = run_repeats(h->open, run) && add_region_of(h, run, REGION_REPEATED);
  for (int g = REGION_WIDE; g < GENERALITIES; g++) {
    if (some && g == REGION_POINT)
      break;
    if (add_region_of(h, run, (enum generality)g))
      return true;
  }
  return some;
}

static bool time_is_up(const struct threshold_search *h) {
  return clock_seconds() - h->start >= h->limits.seconds || *h->limits.interrupt;
}

/* A run of a derived system counts only if the search finds a violation of the algorithm with its parameters. */
static void reject_spurious(const struct threshold_search *h, struct proof *proof) {
  if (!h->rounds || proof->kind != ENGINE_UNSAFE ||
      derived_system_violated(h->rounds, proof->run.params, seconds_left(h)))
    return;
  struct text why = {0};
  text_add(&why, "the counter system is too coarse: it has a run that the search did not find in the "
                 "algorithm");
  counter_run_release(&proof->run);
  proof->kind = ENGINE_UNDECIDED;
  proof->limit = why.at;
}

static void find_threshold(struct threshold_search *h) {
  while (!h->t.exact && !time_is_up(h) && h->t.ways < REGIONS_MAX) {
    struct proof proof;
    struct proof_limits limits = h->limits;
    limits.seconds = seconds_left(h);
    proof_init(&proof, h->property);
    portfolio_run(h->rest, h->options->engine, &limits, &proof);
    if (proof.memory > h->t.memory)
      h->t.memory = proof.memory;
    reject_spurious(h, &proof);
    enum engine_verdict kind = proof.kind;
    bool more = kind == ENGINE_UNSAFE && add_regions(h, &proof.run);
    h->t.ways += more;
    h->t.exact = kind == ENGINE_SAFE;
    if (!more) {
      h->t.proof = proof; /* of the remaining parameters, or how far it got */
      h->t.has_proof = true;
      return;
    }
    proof_release(&proof);
  }
}

/* Are the parameters outside of all regions, so that the property holds there? */
static bool is_safe(void *context, const int64_t *params) {
  const struct threshold_search *h = context;
  int64_t *point = memory_alloc((h->open->nvars + (size_t)1) * sizeof *point);
  bool safe = true;
  for (uint32_t i = 0; i < h->open->nparams; i++) {
    safe &= !h->system->params[h->open->param[i]].of; /* quotients are not known here */
    point[i] = params[h->open->param[i]];
  }
  for (size_t i = 0; i < h->t.unsafe.n && safe; i++)
    safe = !cube_holds(&h->t.unsafe.at[i], point);
  memory_free(point);
  return safe;
}

/* ---- the edge ---- */

static uint32_t parameters_in(const struct counter_graph *g, const int64_t *row) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->nparams; i++)
    n += row[i + 1] != 0;
  return n;
}

/* Are there parameters with nothing to spare (shift 0), or just beyond (shift 1)? Those are in none
 * of the regions. */
static bool edge_exists(const struct threshold_search *h, const int64_t *row, int shift) {
  struct solver *s = solver_new();
  watch_time(h->limits.rondo, seconds_left(h));
  solver_watch(s, h->limits.interrupt);
  int64_t *at = memory_resize(NULL, (h->open->nvars + (size_t)1) * sizeof *at);
  solver_variables(s, h->open->nvars);
  solver_add_any(s, h->open->conditions.at, h->open->conditions.n, NULL);
  memcpy(at, row, (h->open->nvars + (size_t)1) * sizeof *at);
  at[0] += shift;
  solver_add_row(s, at, h->open->nvars + 1, true, NULL);
  uint32_t literal = solver_literals(s, 1);
  solver_add_clause(s, &literal, 1);
  for (size_t i = 0; shift && i < h->t.unsafe.n; i++)
    solver_add_excluded(s, literal, &h->t.unsafe.at[i], NULL);
  bool there = solver_check(s) == ANSWER_YES;
  solver_free(s);
  watch_time(h->limits.rondo, 0);
  memory_free(at);
  return there;
}

/* A counterexample where one constraint of a region holds with nothing to spare. */
static bool run_on_edge(struct threshold_search *h, const struct cube *region, uint32_t constraint) {
  struct text why = {0};
  watch_time(h->limits.rondo, seconds_left(h));
  struct counter_graph *g = counter_graph_new(h->system, h->property, true, h->limits.interrupt, &why);
  watch_time(h->limits.rondo, 0);
  text_release(&why);
  if (!g)
    return false;
  struct cube edge;
  struct proof_limits limits = h->limits;
  cube_copy(&edge, region);
  cube_add(&edge, cube_row(region, constraint), true);
  counter_graph_restrict(g, &edge);
  cube_release(&edge);
  limits.seconds = seconds_left(h);
  proof_init(&h->t.edge, h->property);
  portfolio_run(g, "bounded", &limits, &h->t.edge);
  reject_spurious(h, &h->t.edge);
  counter_graph_free(g);
  if (h->t.edge.kind == ENGINE_UNSAFE) {
    if (h->rounds)
      h->t.found = derived_system_found(h->rounds, &h->t.interp);
    return h->t.has_edge = true;
  }
  proof_release(&h->t.edge);
  return false;
}

/* Conditions between parameters make the best edges. */
static void find_edge(struct threshold_search *h) {
  for (uint32_t wanted = h->open->nparams; wanted > 0 && !h->t.has_edge; wanted--)
    for (size_t i = 0; i < h->t.unsafe.n && !h->t.has_edge; i++) {
      const struct cube *c = &h->t.unsafe.at[i];
      for (uint32_t k = 0; k < c->n && !h->t.has_edge && !time_is_up(h); k++)
        if (parameters_in(h->open, cube_row(c, k)) == wanted && edge_exists(h, cube_row(c, k), 0) &&
            edge_exists(h, cube_row(c, k), 1))
          run_on_edge(h, c, k);
    }
}

/* ---- the command ---- */

static void mark_params(const struct term *t, const struct counter_graph *g, bool *kept) {
  if (t->op == TERM_PARAM && g->system->params[t->index].of) {
    mark_params(g->system->params[t->index].of, g, kept);
    return;
  }
  for (uint32_t i = 0; t->op == TERM_PARAM && i < g->nparams; i++)
    kept[i] |= g->param[i] == t->index;
  for (int i = 0; i < 3; i++)
    if (t->kid[i])
      mark_params(t->kid[i], g, kept);
}

static const struct counter_property *property_of(const struct counter_system *s, const struct command_options *o) {
  uint32_t index = 0;
  if (o->files.n == 1 && s->nproperties != 1)
    context_error(o->rondo, E0811, "which property?\n  help: rondo threshold FILE PROPERTY; the first is '%s'",
                  s->properties[0].name);
  else if (o->files.n == 1 || counter_property_find(o->rondo, s, o->files.at[1], &index))
    return &s->properties[index];
  return NULL;
}

static bool has_resilience(struct rondo *context, const struct counter_system *s) {
  for (uint32_t i = 0; i < s->nconditions; i++)
    if (s->conditions[i].resilience)
      return true;
  context_error(context, E0813,
                "'%s' has no 'resilience' condition\n  help: mark the condition in question with 'resilience' "
                "instead of 'where'",
                s->name);
  return false;
}

static bool write_certificate(const struct threshold_search *h) {
  struct text out = {0};
  if (!h->options->output.certificate)
    return true;
  text_addf(&out, "%s%s", h->t.exact ? h->t.proof.certificate : "", text_or_empty(&h->t.scripts));
  bool ok = file_write(h->options->rondo, h->options->output.certificate, &out);
  text_release(&out);
  return ok;
}

static int threshold_report(const struct threshold_search *h) {
  struct text out = {0};
  if (h->options->output.json) {
    context_json(h->options->rondo, threshold_json(&h->t), &out);
  } else {
    struct style style = context_style(h->options->rondo, h->options->output.verbose);
    threshold_text(&h->t, &style, &out);
  }
  context_write(h->options->rondo, &out);
  return !write_certificate(h) ? EXIT_BAD_INPUT : h->t.exact ? EXIT_HOLDS : EXIT_INCONCLUSIVE;
}

static int answer(struct threshold_search *h) {
  struct text why = {0};
  int status = EXIT_FAULT;
  watch_answer(h->options->rondo, h->start + h->limits.seconds, h->limits.asked);
  watch_time(h->options->rondo, seconds_left(h));
  h->open = counter_graph_new(h->system, h->property, true, h->limits.interrupt, &why);
  h->rest = h->open ? counter_graph_new(h->system, h->property, true, h->limits.interrupt, &why) : NULL;
  bool stopped = *h->limits.interrupt != 0;
  watch_time(h->options->rondo, 0);
  if (!h->rest) {
    if (stopped)
      context_error(h->options->rondo, N0106, "stopped by a limit or a signal before the counter system was unfolded");
    else
      context_error(h->options->rondo, E1003, "too large to unfold: %s", why.at);
    text_release(&why);
    counter_graph_free(h->open);
    return EXIT_INCONCLUSIVE;
  }
  h->kept = memory_alloc(h->open->nparams + (size_t)1);
  for (uint32_t i = 0; i < h->system->nconditions; i++)
    if (h->system->conditions[i].resilience)
      mark_params(h->system->conditions[i].term, h->open, h->kept);
  find_threshold(h);
  watch_time(h->limits.rondo, seconds_left(h) > SIMPLIFY_SECONDS ? seconds_left(h) : SIMPLIFY_SECONDS);
  regions_simplify(&h->t.unsafe, &h->open->conditions, h->limits.interrupt);
  watch_time(h->limits.rondo, 0);
  double small = seconds_left(h) > SMALL_SECONDS ? SMALL_SECONDS : seconds_left(h);
  if (h->rounds && h->t.exact &&
      derived_system_disagrees(h->rounds, small > SMALL_LEAST ? small : SMALL_LEAST, is_safe, h)) {
    context_error(h->options->rondo, E1001,
                  "a fault of rondo itself: the search finds '%s' violated where it was proved", h->property->name);
  } else {
    find_edge(h);
    h->t.seconds = clock_seconds() - h->start;
    h->t.graph = h->open;
    status = threshold_report(h);
  }
  threshold_release(&h->t);
  memory_free(h->kept);
  counter_graph_free(h->open);
  counter_graph_free(h->rest);
  return status;
}

int command_threshold(const struct command_options *o) {
  struct parsed_file parsed;
  int status = EXIT_BAD_INPUT;
  if (o->files.n == 0 || o->files.n > 2) {
    context_error(o->rondo, E0806, "threshold needs a file and a property\n  help: rondo threshold FILE PROPERTY");
    return EXIT_BAD_INPUT;
  }
  if (!model_text_load(&parsed, o->rondo, o->files.at[0]))
    return EXIT_BAD_INPUT;
  if (source_is_threshold_automaton(&parsed.source)) {
    status = threshold_unknowns(&parsed, o);
    parsed_file_release(&parsed);
    return status;
  }
  if (!parsed_text(&parsed))
    return EXIT_BAD_INPUT;
  enum model_kind kind = ast_model_kind(parsed.tree);
  bool rounds = kind == MODEL_ROUNDS || kind == MODEL_MESSAGES;
  if (rounds && threshold_has_ranges(o)) {
    status = threshold_params(&parsed, o);
    parsed_file_release(&parsed);
    return status;
  }
  struct threshold_search h = {.options = o, .start = clock_seconds()};
  struct counter_system *s = rounds ? NULL : counters_load(&parsed, o);
  h.limits = prove_limits(o);
  if (rounds && o->files.n == 1)
    context_error(o->rondo, E0811, "which property?\n  help: rondo threshold FILE PROPERTY");
  else if (rounds)
    h.rounds = derived_system_open(&parsed, o, o->files.at[1], true, &status);
  h.system = h.rounds ? derived_system_counters(h.rounds) : s;
  h.property = h.rounds ? &h.system->properties[0] : s ? property_of(s, o) : NULL;
  h.t.property = h.property;
  if (h.property)
    status = has_resilience(o->rondo, h.system) ? answer(&h) : EXIT_BAD_INPUT;
  counter_system_free(s);
  derived_system_close(h.rounds);
  parsed_file_release(&parsed);
  return status;
}
