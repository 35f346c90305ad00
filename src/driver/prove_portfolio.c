#include "driver/prove_portfolio.h"

#include "driver/context.h"
#include "driver/jobs.h"
#include "param/certificate.h"
#include "param/engine_result_io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- in the jobs ---- */

struct engine_job {
  const volatile sig_atomic_t *stop; /* or NULL: it is ended with its process */
  const struct engine *engine;
  const struct counter_graph *graph;
};

static void report_progress(void *context, const char *reached) { job_report_progress(context, reached); }

static void run_engine(void *context, const struct job_line *line, struct text *result) {
  const struct engine_job *w = context;
  struct engine_watch watch = {report_progress, (void *)(uintptr_t)line, w->stop};
  struct engine_result o;
  engine_result_init(&o);
  if (!w->stop && nice(w->engine->niceness) < 0) /* its own process; without a lower priority it works as well */
    watch.progress(watch.context, "began");
  w->engine->run(w->graph, &watch, &o);
  engine_result_write(&o, w->graph, result);
  engine_result_release(&o);
}

struct certificate_job {
  const volatile sig_atomic_t *stop; /* as in engine_job */
  char *script;
  uint32_t questions;
};

/* The only result that counts as a confirmation. */
static const char confirmed[] = "confirmed";

static void run_check(void *context, const struct job_line *line, struct text *result) {
  const struct certificate_job *w = context;
  struct text why = {0};
  (void)line;
  text_add(result, certificate_check(w->script, w->questions, w->stop, &why) ? confirmed : text_or_empty(&why));
  text_release(&why);
}

/* ---- in this process ---- */

struct pending_certificate { /* an invariant that is being checked */
  size_t job, engine;
  struct certificate_job work;
};

struct portfolio {
  struct jobs jobs;
  const struct counter_graph *graph;
  struct engine_job work[ENGINES];
  struct proof *proof;
  VEC(struct pending_certificate *) candidates;
};

static char **report_slot(struct portfolio *d, const char *engine) {
  for (uint32_t i = 0; i < d->proof->nreports; i++)
    if (strcmp(d->proof->reports[i].name, engine) == 0)
      return &d->proof->reports[i].reached;
  return NULL;
}

static void report(struct portfolio *d, const char *engine, const char *reached) {
  char **at = report_slot(d, engine);
  if (!at)
    return;
  memory_free(*at);
  *at = memory_strdup(reached);
}

static void set_verdict(struct portfolio *d, enum engine_verdict kind, const char *engine) {
  d->proof->kind = kind;
  d->proof->by = memory_strdup(engine);
}

/* An engine has ended: replays its run, or begins to check its invariant. */
static void judge_engine(struct portfolio *d, size_t job) {
  struct job *r = &d->jobs.entries.at[job];
  struct engine_result o;
  struct text why = {0};
  if (r->end != JOB_DONE || !engine_result_read(&o, d->graph, text_or_empty(&r->result), r->result.n)) {
    struct text said = {0};
    text_addf(&said, "%s%s%s", text_or_empty(&r->progress), r->progress.n ? ", then " : "",
              r->end == JOB_OUT_OF_MEMORY ? "out of memory" : "it died");
    report(d, r->name, said.at);
    text_release(&said);
    if (r->end == JOB_DONE)
      engine_result_release(&o);
    return;
  }
  report(d, r->name, text_or_empty(&o.reached));
  if (o.kind == ENGINE_UNSAFE) {
    if (counter_run_replay(&o.run, d->graph->system, d->graph->property, d->graph->open, &why)) {
      set_verdict(d, ENGINE_UNSAFE, r->name);
      d->proof->run = o.run;
      o.kind = ENGINE_UNDECIDED; /* the run is the proof's now */
    } else {
      struct text said = {0};
      text_addf(&said, "a run that could not be replayed: %s", text_or_empty(&why));
      report(d, r->name, said.at);
      text_release(&said);
    }
  }
  if (o.kind == ENGINE_SAFE && o.script) { /* the script is what the engine has asked */
    set_verdict(d, ENGINE_SAFE, r->name);
    d->proof->certificate = memory_strdup(o.script);
    d->proof->questions = o.questions;
    d->proof->depth = o.depth;
  } else if (o.kind == ENGINE_SAFE) {
    struct text script = {0};
    certificate_print(d->graph, o.invariant, &script);
    struct pending_certificate *c = memory_alloc(sizeof *c);
    *c = (struct pending_certificate){
        d->jobs.entries.n, job, {jobs_stop_flag(&d->jobs), script.at, CERTIFICATE_QUESTIONS}};
    vec_push(&d->candidates, c);
    d->proof->depth = o.depth;
    if (!jobs_add(&d->jobs, "check", run_check, &c->work))
      report(d, r->name, "an invariant that could not be checked");
  }
  text_release(&why);
  engine_result_release(&o);
}

/* The check of an invariant has ended. */
static void judge_certificate(struct portfolio *d, struct pending_certificate *c) {
  const struct job *r = &d->jobs.entries.at[c->job];
  const char *engine = d->jobs.entries.at[c->engine].name;
  if (r->end == JOB_DONE && !strcmp(text_or_empty(&r->result), confirmed)) {
    set_verdict(d, ENGINE_SAFE, engine);
    d->proof->certificate = c->work.script;
    d->proof->questions = c->work.questions;
    c->work.script = NULL;
  } else {
    report(d, engine, "an invariant that failed its check");
  }
}

static void progress(void *context, const struct jobs *r) {
  struct text t = {0};
  (void)context;
  for (size_t i = 0; i < r->entries.n; i++)
    if (r->entries.at[i].end == JOB_RUNNING && r->entries.at[i].progress.n)
      text_addf(&t, "%s: %s  ", r->entries.at[i].name, r->entries.at[i].progress.at);
  seconds_add(&t, clock_seconds() - r->start);
  context_progress(r->rondo, t.at);
  text_release(&t);
}

static void start(struct portfolio *d, const char *only) {
  for (size_t i = 0; i < ENGINES; i++) {
    if (only && strcmp(only, engines[i].name) != 0)
      continue;
    d->work[i] = (struct engine_job){jobs_stop_flag(&d->jobs), &engines[i], d->graph};
    d->proof->reports[d->proof->nreports++] = (struct engine_report){engines[i].name, memory_strdup("not started")};
    jobs_add(&d->jobs, engines[i].name, run_engine, &d->work[i]);
  }
}

char *proof_undecided(const struct proof_limits *limits, bool late, bool interrupted, const char *where) {
  struct text why = {0};
  text_add(&why, "no proof and no counterexample; ");
  if (late) {
    text_add(&why, "the limit of ");
    seconds_add(&why, limits->asked > 0 ? limits->asked : limits->seconds);
    text_add(&why, " was reached");
  } else {
    text_add(&why, interrupted ? "interrupted" : "every engine gave up");
  }
  text_add(&why, where);
  return why.at;
}

/* Reports how far the engines got that were still running, and why there is no verdict. */
static void conclude(struct portfolio *d, const struct proof_limits *limits) {
  for (size_t i = 0; i < d->jobs.entries.n; i++) {
    const struct job *r = &d->jobs.entries.at[i];
    if (r->end == JOB_RUNNING && r->progress.n)
      report(d, r->name, r->progress.at);
    else if (r->end == JOB_RUNNING)
      report(d, r->name, "had just begun");
  }
  d->proof->seconds = clock_seconds() - d->jobs.start;
  d->proof->memory = d->jobs.most_memory;
  if (d->proof->kind != ENGINE_UNDECIDED)
    return;
  d->proof->limit = proof_undecided(limits, d->jobs.late, limits->interrupt && *limits->interrupt, "");
}

void portfolio_run(struct counter_graph *g, const char *only, const struct proof_limits *limits, struct proof *proof) {
  struct portfolio d = {.graph = g, .proof = proof};
  jobs_init(&d.jobs, limits->rondo, limits->seconds, limits->memory);
  if (limits->rondo->host.progress && !limits->rondo->silent)
    d.jobs.progress = progress;
  start(&d, only);
  for (struct job *r; proof->kind == ENGINE_UNDECIDED && (r = jobs_next(&d.jobs));) {
    size_t at = (size_t)(r - d.jobs.entries.at);
    struct pending_certificate *checked = NULL;
    for (size_t i = 0; i < d.candidates.n; i++)
      if (d.candidates.at[i]->job == at)
        checked = d.candidates.at[i];
    if (checked)
      judge_certificate(&d, checked);
    else
      judge_engine(&d, at);
  }
  context_progress(limits->rondo, NULL);
  conclude(&d, limits);
  jobs_release(&d.jobs);
  for (size_t i = 0; i < d.candidates.n; i++) {
    memory_free(d.candidates.at[i]->work.script);
    memory_free(d.candidates.at[i]);
  }
  vec_release(&d.candidates);
}
