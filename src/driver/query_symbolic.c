#include "driver/query_symbolic.h"

#include "driver/context.h"
#include "driver/jobs.h"
#include "trace/choice_scripts.h"
#include "trace/simplify.h"

#include <string.h>

#define INDUCTION_DEPTH 12 /* rounds that induction assumes, by default */

static const char *const engine_names[] = {"bmc", "induction", "spacer"};

bool symbolic_engine_find(const char *name, enum symbolic_engine *engine) {
  for (size_t i = 0; name && i < sizeof engine_names / sizeof *engine_names; i++)
    if (!strcmp(name, engine_names[i])) {
      *engine = (enum symbolic_engine)i;
      return true;
    }
  return false;
}

bool symbolic_engine_is(const char *name) {
  enum symbolic_engine ignored;
  return !strcmp(name, "explicit") || symbolic_engine_find(name, &ignored);
}

struct symbolic_query {
  struct model *model;
  struct interpreter *interp;
  const struct query *query;
  struct text *fault;
};

/* ---- a run of the interpreter ---- */

/* False: the interpreter has no such run. */
static bool run_of(const struct symbolic_query *a, struct symbolic_finding *f, struct run *run) {
  run->initial = config_copy(a->model, f->states[0]);
  run->steps = memory_alloc((f->rounds + (size_t)1) * sizeof *run->steps);
  for (uint32_t i = 0; i < f->rounds; i++) {
    const struct config *after = i + 1 < f->nstates ? f->states[i + 1] : NULL;
    struct witness *w = f->steps[i].witness;
    f->steps[i].witness = NULL;
    if (!w)
      w = witness_find(a->interp, a->query->environment, f->states[i], after, f->steps[i].process, f->steps[i].action);
    else if (!witness_find_scripts(a->interp, f->states[i], after, w, f->steps[i].sent, f->steps[i].message)) {
      witness_free(w);
      w = NULL;
    }
    if (!w)
      return false;
    run->steps[run->nsteps++] = w;
  }
  return true;
}

static struct trace *trace_of(const struct symbolic_query *a, struct symbolic_finding *f,
                              const struct property_result *p) {
  struct run run = {0};
  struct claim claim = {.environment = a->query->environment,
                        .semantics = a->query->semantics,
                        .property = f->property == UINT32_MAX ? NO_PROPERTY : a->query->properties[f->property],
                        .error = f->error};
  if (!run_of(a, f, &run)) {
    text_addf(a->fault, "the interpreter has no run like the one that the solver found for '%s', %s",
              property_result_name(p), p->proved);
    run_release(&run);
    return NULL;
  }
  struct text why = {0};
  run_simplify(&run, a->interp, a->model, &claim);
  struct trace *t = trace_confirmed(a->interp, a->model, &claim, &run, &why);
  if (!t)
    text_addf(a->fault, "the interpreter does not confirm what the solver found for '%s', %s\n  %s",
              property_result_name(p), p->proved, text_or_empty(&why));
  text_release(&why);
  return t;
}

/* ---- the result, in the form of a search's ---- */

static struct finding finding_of(const struct symbolic_finding *f, bool excluded) {
  struct finding out = {.found = f->found, .excluded = excluded, .rounds = f->rounds, .property = f->property};
  if (f->found)
    out.fault_cost = fault_cost_add(0, f->faulty, f->harmed);
  return out;
}

static enum search_end end_of(const struct symbolic_answer *a, const struct limits *limits) {
  switch (a->end) {
  case SYMBOLIC_EXHAUSTED:
  case SYMBOLIC_CUT:
    return SEARCH_EXHAUSTED;
  case SYMBOLIC_DECIDED:
    return SEARCH_DECIDED;
  case SYMBOLIC_MODEL_ERROR:
    return SEARCH_MODEL_ERROR;
  case SYMBOLIC_STOPPED:
  case SYMBOLIC_GAVE_UP:
    break;
  }
  if (limits->interrupt && *limits->interrupt)
    return search_interrupted(*limits->interrupt);
  return a->end == SYMBOLIC_STOPPED ? SEARCH_MEMORY : SEARCH_GAVE_UP;
}

/* The text of the error is the interpreter's. */
static bool find_error(const struct symbolic_query *a, struct symbolic_answer *answer, struct search *s,
                       struct trace **trace) {
  *trace = NULL;
  if (!answer->error.found)
    return true;
  if (answer->error.at_start) {
    if (initial_error(a->interp, a->query->environment, &s->error.error))
      return true;
    text_add(a->fault, "the solver finds no initial states, the interpreter does");
    return false;
  }
  struct property_result none = {.proved = (char *)"an error of the model"};
  *trace = trace_of(a, &answer->error, &none);
  if (*trace)
    s->error.error = (*trace)->error;
  return *trace != NULL;
}

static void fill_result(struct run_result *r, const struct symbolic_answer *a, const struct command_options *o,
                        struct search *s, const struct licences *licences) {
  run_result_fill(r, s, licences);
  r->engine = o->engine;
  r->variables = a->variables;
}

static bool add_traces(const struct symbolic_query *a, struct symbolic_answer *answer, struct run_result *r,
                       struct trace *of_error) {
  for (uint32_t i = 0; i < a->query->nproperties; i++)
    if (answer->findings[i].found && !(r->properties[i].trace = trace_of(a, &answer->findings[i], &r->properties[i]))) {
      trace_free(of_error);
      return false;
    }
  if (of_error)
    r->properties[a->query->nproperties].trace = of_error;
  for (uint32_t i = 0; i < r->nproperties && model_steps(a->model);
       i++) /* solvers go length by length, so none is shorter */
    if (r->properties[i].trace)
      property_result_describe_trace(&r->properties[i], r->properties[i].verdict == VERDICT_VIOLATED);
  return true;
}

static void refuse(const struct model *m, const struct command_options *o, const struct symbolic_answer *a, bool quiet,
                   struct text *refused) {
  struct diags diags;
  text_addf(refused, "engine '%s' cannot do this: %s", o->engine, a->refusal);
  if (quiet)
    return;
  diags_init(&diags, &m->source);
  if (a->refused_at.to > 0) {
    diag_error(&diags, E0902, a->refused_at, "%s", refused->at);
    diag_help(&diags, "--engine explicit can");
    context_diagnostics(o->rondo, &diags);
  } else {
    context_error(o->rondo, E0902, "%s", refused->at);
  }
  diags_release(&diags);
}

/* Solvers use only the reductions of initial states. */
static struct reduction_request requested_of(const struct command_options *o) {
  struct reduction_request requested = o->requested;
  for (unsigned i = 0; i < REDUCTIONS; i++)
    if (i != REDUCE_SYMMETRY && i != REDUCE_PARTITION && i != REDUCE_ORDER)
      requested.reduce[i] = REQUEST_OFF;
  return requested;
}

static struct symbolic_options options_of(const struct command_options *o, const struct licences *licences) {
  struct symbolic_options s = {
      .depth = UINT32_MAX, .licences = licences, .interrupt = o->limits.interrupt, .memory = o->limits.memory};
  symbolic_engine_find(o->engine, &s.engine);
  if (s.engine == SYMBOLIC_INDUCTION)
    s.depth = INDUCTION_DEPTH;
  if (o->limits.rounds)
    s.depth = o->limits.rounds;
  if (o->depth)
    s.depth = o->depth;
  return s;
}

bool symbolic_query_answer(const struct query_context *asked, const struct query *whole, struct run_result *r,
                           struct text *refused, struct text *fault) {
  struct model *m = asked->model;
  struct interpreter *interp = asked->interp;
  struct arena *arena = asked->arena;
  const struct command_options *o = asked->options;
  struct query query = *whole, *q = &query;
  q->nproperties = query_nrequested(m, whole);
  struct symbolic_query a = {m, interp, q, fault};
  struct reduction_request requested = requested_of(o);
  const struct licences *licences = licences_grant(m, q, &requested, arena);
  struct symbolic_options options = options_of(o, licences);
  struct symbolic_answer answer;
  struct system space = {.model = m, .query = q, .licences = licences, .successors = o->engine};
  struct search s = {.space = &space, .limits = o->limits};
  struct trace *of_error = NULL;
  double start = clock_seconds();
  interpreter_follow(interp, q->semantics, false);
  watch_time(o->rondo, o->limits.seconds);
  symbolic_check(m, q, &options, &answer);
  enum search_end end = answer.refused ? SEARCH_DECIDED : end_of(&answer, &o->limits);
  watch_time(o->rondo, 0);
  if (answer.refused) {
    refuse(m, o, &answer, asked->quiet, refused);
    symbolic_answer_release(&answer, q);
    return false;
  }
  s.limits.rounds = options.depth;
  s.end = end;
  s.cut = answer.end == SYMBOLIC_CUT;
  s.complete = answer.complete;
  s.why = answer.why;
  s.stats =
      (struct search_stats){.depth = answer.depth, .seconds = clock_seconds() - start, .memory = memory_resident()};
  s.findings = arena_array(arena, q->nproperties + (size_t)1, sizeof *s.findings);
  for (uint32_t i = 0; i < q->nproperties; i++)
    s.findings[i] = finding_of(&answer.findings[i], answer.proved[i]);
  s.error = finding_of(&answer.error, false);
  bool ok = find_error(&a, &answer, &s, &of_error);
  if (ok) {
    fill_result(r, &answer, o, &s, licences);
    lockstep_licences(asked, q, &s, r);
    ok = add_traces(&a, &answer, r, of_error);
  }
  symbolic_answer_release(&answer, q);
  return ok;
}
