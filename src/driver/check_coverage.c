/* Coverage after a check. That some code is never executed is said only if nothing unmarked is left to execute:

   - The interpreter marks what it executes (interp/coverage.h). Searches ask it for more than runs need (moves in
   states that are never reached, messages that the environment does not allow), so what is marked need not be
   reachable, but what is not marked was never tried.
   - A search that was exhausted has tried everything that some run executes, unless one of its reductions leaves out
     steps, and not only states that are alike (licences_keep_code). Then another search follows without these
     reductions, within limits, if there is anything that is not marked.

   With --coverage, the reference interpreter goes through the state graph without any reduction and counts
   (coverage_counts.h); if it gets to the end, that decides. Faults and clauses are decided in this way only. That the
   left side of an implication is never true is a safety property, which is checked like any other one. */
#include "driver/check_coverage.h"

#include "analysis/local_properties.h"
#include "driver/context.h"
#include "driver/coverage_counts.h"
#include "driver/query_run.h"
#include "driver/query_symbolic.h"
#include "interp/eval.h"

#include <string.h>

/* Limits of what is done unasked: they depend on numbers of states, never on time. */
#define FURTHER_STATES 20000 /* the search without some reductions: so many states, and a part of the check's */
#define FURTHER_PART 20
#define SMALL_STATES 1000 /* faults and clauses are looked at if the check had so few states; then: */
#define SMALL_STEPS 20000
/* With --coverage, unless there is a time limit. */
#define COUNTED_STEPS 1000000
#define COUNTED_BYTES ((size_t)1 << 30)

struct coverage_stage {
  const struct query_context *about;
  struct check_result *result;
  struct coverage *seen;
  struct coverage_report *report;
  struct text *fault;
};

struct coverage *coverage_begin(const struct query_context *of) {
  const struct command_options *o = of->options;
  enum symbolic_engine engine;
  if (!of->stream || o->ranks.all || o->storage.checkpoints || symbolic_engine_find(o->engine, &engine))
    return NULL;
  return coverage_new(of->model->source.length);
}

bool licences_keep_code(const struct licences *l) {
  for (unsigned r = 0; r < REDUCTIONS; r++) {
    if (!l->of[r].applied)
      continue;
    switch ((enum reduction)r) {
    case REDUCE_SYMMETRY: /* states that are alike execute the same code */
    case REDUCE_PARTITION:
    case REDUCE_ORDER:
    case REDUCE_VALUES:
    case REDUCE_MESSAGE_ORDER:
    case REDUCE_ROUND_RANK:
    case REDUCE_ROUND_WINDOW:
    case REDUCE_DEAD_VARIABLES: /* code that is executed reads the variables on which that depends */
    case REDUCE_LOSS:           /* whoever loses a message, or crashes, executes less */
    case REDUCE_MERGING:        /* multiplies out what was executed before */
      break;
    case REDUCE_DEAD_MESSAGES: /* leaves out that a message is taken without effect */
    case REDUCE_PARTIAL_ORDER: /* leaves out steps that no property depends on */
    case REDUCE_FUSION:
    case REDUCTIONS:
      return false;
    }
  }
  return !l->unlicensed;
}

/* ---- code ---- */

static bool is_marked(const struct coverage_stage *s, const struct coverage_item *i) {
  return coverage_has(s->seen, i->at.from, coverage_mark_of(i->kind));
}

static bool is_all_marked(const struct coverage_stage *s) {
  for (size_t i = 0; i < s->report->items.at.n; i++) {
    const struct coverage_item *item = &s->report->items.at.at[i];
    if (coverage_item_is_code(item) && s->report->states[i] != ITEM_TAKEN && !is_marked(s, item))
      return false;
  }
  return true;
}

static bool is_checked_in(const struct check_result *c, uint32_t environment) {
  for (uint32_t i = 0; i < c->nruns; i++)
    if (c->runs[i].environment == environment)
      return true;
  return false;
}

/* A query that was refused, or has no initial state, has no states. */
static bool is_exhausted(const struct run_result *r) {
  return r->end == SEARCH_EXHAUSTED && r->stats.states > 0 && !r->cut && !r->hashed && !r->distance_cut && !r->engine;
}

/* The semantics in which the environment was checked. Asynchronous rounds execute what whole rounds execute. */
static enum semantics semantics_in(const struct check_result *c, uint32_t environment) {
  enum semantics found = SEMANTICS_COARSE;
  for (uint32_t i = 0; i < c->nruns; i++)
    if (c->runs[i].environment == environment)
      found = c->runs[i].semantics;
  return found == SEMANTICS_FINE ? SEMANTICS_COARSE : found;
}

static uint64_t states_in(const struct check_result *c, uint32_t environment) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < c->nruns; i++)
    if (c->runs[i].environment == environment && c->runs[i].stats.states > most)
      most = c->runs[i].stats.states;
  return most;
}

/* Limits of a search after the check: those of the command, and a number of states. */
static struct limits further_limits(const struct coverage_stage *s, uint32_t environment) {
  struct limits limits = s->about->options->limits;
  uint64_t states = states_in(s->result, environment);
  uint64_t most = FURTHER_STATES + (s->report->asked ? 2 * states : states / FURTHER_PART);
  if (!s->report->asked || limits.seconds == 0)
    limits.states = limits.states == 0 || most < limits.states ? most : limits.states;
  limits_until(&limits, s->about->deadline);
  return limits;
}

/* Without properties, and without reductions that leave out steps. False: a limit was reached. */
static bool search_all_code(struct coverage_stage *s, uint32_t environment) {
  struct reduction_request requested = s->about->options->requested;
  struct query_context silent = *s->about;
  silent.stream = NULL;
  struct query_run run = {.about = &silent,
                          .model = s->about->model,
                          .interp = s->about->interp,
                          .arena = s->about->arena,
                          .options = s->about->options,
                          .query = {.environment = environment, .semantics = semantics_in(s->result, environment)}};
  struct limits limits = further_limits(s, environment);
  const struct licences *licences;
  struct search search;
  for (unsigned r = 0; r < REDUCTIONS; r++) /* also those that were not asked for: this is not part of the check */
    requested.reduce[r] = REQUEST_AUTO;
  requested.reduce[REDUCE_DEAD_MESSAGES] = requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_OFF;
  requested.reduce[REDUCE_FUSION] = REQUEST_OFF;
  limits.signature = 0;
  limits.rounds = 0;
  struct system *system = query_system(s->about, &run.query, &requested, &licences);
  query_search_alone(&run, &search, system, &limits, NULL);
  bool exhausted = search.end == SEARCH_EXHAUSTED && !search.cut && !system->distance_cut &&
                   licences_keep_code(licences) && !search.error.found;
  search_release(&search);
  system->ops->free(system);
  return exhausted;
}

/* NULL: what is not marked is never executed. Else why that is not known. */
static const char *unmarked_unknown(struct coverage_stage *s) {
  const struct model *m = s->about->model;
  for (uint32_t i = 0; i < s->result->nruns && !s->report->asked; i++) {
    const struct run_result *r = &s->result->runs[i];
    if (r->end == SEARCH_MODEL_ERROR || r->errors.found)
      return "the model has an error";
    if (r->end == SEARCH_DECIDED)
      return "the search ended when every property was decided";
    if (!is_exhausted(r))
      return "the search did not see every state";
  }
  for (uint32_t e = 0; e < m->nenvironments; e++) {
    bool all = false;
    for (uint32_t i = 0; i < s->result->nruns; i++)
      all |=
          s->result->runs[i].environment == e && s->result->runs[i].runs_all_code && is_exhausted(&s->result->runs[i]);
    if (is_checked_in(s->result, e) && !all && !is_all_marked(s) && !search_all_code(s, e))
      return "a search of all steps did not come to an end within its limits";
  }
  return NULL;
}

static bool decide_code(struct coverage_stage *s) {
  struct coverage_report *r = s->report;
  r->why_not = is_all_marked(s) ? NULL : unmarked_unknown(s);
  for (size_t i = 0; i < r->items.at.n && !r->why_not; i++) {
    const struct coverage_item *item = &r->items.at.at[i];
    if (!coverage_item_is_code(item) || is_marked(s, item))
      continue;
    if (r->states[i] == ITEM_TAKEN) {
      text_addf(s->fault, "line %u is executed, but no search has seen that",
                source_line_number(&s->about->model->source, item->at));
      return false;
    }
    r->states[i] = ITEM_NEVER;
  }
  return true;
}

/* ---- counts, faults, clauses ---- */

static bool has_faults(const struct coverage_report *r, uint32_t environment) {
  for (size_t i = 0; i < r->items.at.n; i++)
    if (!coverage_item_is_code(&r->items.at.at[i]) && r->items.at.at[i].environment == environment)
      return true;
  return false;
}

static void decide_environment(struct coverage_report *r, uint32_t environment) {
  for (size_t i = 0; i < r->items.at.n; i++)
    if (!coverage_item_is_code(&r->items.at.at[i]) && r->items.at.at[i].environment == environment &&
        r->states[i] != ITEM_TAKEN)
      r->states[i] = ITEM_NEVER;
}

static bool is_small(const struct check_result *c, uint32_t environment) {
  for (uint32_t i = 0; i < c->nruns; i++)
    if (c->runs[i].environment == environment && !is_exhausted(&c->runs[i]))
      return false;
  return states_in(c, environment) <= SMALL_STATES;
}

/* Rounds: can the interpreter go through all heard-of assignments? Most of them may be ones that the environment
   forbids, which are no steps. Unasked, fewer than 10^5 in the states of the check; with --coverage, and no time limit,
   fewer than 10^8. */
static bool can_be_enumerated(const struct coverage_stage *s, uint32_t environment) {
  const struct check_result *c = s->result;
  const bool asked = s->report->asked;
  if (model_steps(s->about->model) || (asked && s->about->options->limits.seconds > 0))
    return true;
  for (uint32_t i = 0; i < c->nruns; i++) {
    const char *decimal = c->runs[i].heard_of_assignments;
    if (c->runs[i].environment == environment &&
        (decimal ? strlen(decimal) > (asked ? 8 : 5) : s->about->model->nprocesses > (asked ? 4 : 3)))
      return false;
  }
  return true;
}

/* Returns whether every state and step of every environment was seen. */
static bool count_all(struct coverage_stage *s) {
  const struct command_options *o = s->about->options;
  struct coverage_report *r = s->report;
  bool all = true;
  for (uint32_t e = 0; e < s->about->model->nenvironments; e++) {
    if (!is_checked_in(s->result, e) || (!r->asked && !(has_faults(r, e) && is_small(s->result, e))))
      continue;
    if (!can_be_enumerated(s, e)) {
      all = false;
      continue;
    }
    struct coverage_counting counting = {.interp = s->about->interp,
                                         .environment = e,
                                         .semantics = semantics_in(s->result, e),
                                         .most_steps = !r->asked               ? SMALL_STEPS
                                                       : o->limits.seconds > 0 ? UINT64_MAX
                                                                               : COUNTED_STEPS,
                                         .most_states = o->limits.states,
                                         .most_memory = o->limits.memory > 2 * COUNTED_BYTES ? COUNTED_BYTES
                                                                                             : o->limits.memory / 2,
                                         .faults_only = !r->asked};
    struct limits limits = o->limits;
    limits_until(&limits, s->about->deadline);
    interpreter_watch(s->about->interp, limits.interrupt);
    watch_time(o->rondo, limits.seconds);
    coverage_count(&counting, r);
    watch_time(o->rondo, 0);
    interpreter_watch(s->about->interp, NULL);
    r->nstates += counting.nstates;
    r->nsteps += counting.nsteps;
    all &= counting.complete;
    if (counting.complete)
      decide_environment(r, e);
  }
  return all;
}

/* ---- implications ---- */

/* Is the left side of the implication never true? Asked of a model of its own, whose property says so. */
static bool is_never(struct coverage_stage *s, const struct run_result *run, uint32_t property, size_t which,
                     const char **where) {
  struct text error = {0}, fault = {0};
  struct query_context a = *s->about;
  struct implications found = {0};
  bool never = false;
  *where = "";
  a.model = model_load(a.parsed, a.bindings, a.nbindings, false, true, &error);
  text_release(&error);
  if (!a.model)
    return false;
  a.interp = interpreter_new(a.model);
  a.stream = NULL;
  a.split = NULL;
  a.quiet = true;
  struct command_options o = *a.options;
  o.limits = further_limits(s, run->environment);
  o.output.no_trace = true;
  o.audit = false;
  a.options = &o;
  implications_of(&found, a.model, property, &a.model->arena);
  if (which < found.at.n) {
    struct run_result r = {0};
    struct property *p = &a.model->properties[property];
    struct query q = {.environment = run->environment, .semantics = run->semantics, .properties = &property};
    struct refusal why;
    q.nproperties = 1;
    p->formula = found.at.at[which].never;
    p->kind = PROPERTY_SAFETY;
    p->almost_surely = false;
    if (q.semantics == SEMANTICS_FINE)
      q.semantics = SEMANTICS_COARSE;
    if (q.semantics == SEMANTICS_COARSE && locality_of(a.model, &q, property, a.arena, &why) != LOCAL)
      *where = " in whole rounds";
    if (query_answer(&a, &q, &r, &error, &fault)) {
      never = r.nproperties > 0 && r.properties[0].verdict == VERDICT_HOLDS && is_exhausted(&r) && !r.errors.found;
      run_result_release(&r);
    }
  }
  vec_release(&found.at);
  text_release(&error);
  text_release(&fault);
  interpreter_free(a.interp);
  model_free(a.model);
  return never;
}

static bool was_true(const struct coverage_stage *s, const struct implication *i, bool live) {
  if (live && i->left)
    return coverage_has(s->seen, i->left->at.from, COVERED_HELD);
  return coverage_has(s->seen, i->right->at.from, COVERED_ANTECEDENT);
}

static void claim_implication(struct coverage_stage *s, const struct implication *i, const char *where) {
  struct text t = {0};
  const char *name = s->about->model->properties[i->property].name;
  struct span at = i->left ? i->left->at : i->right->at;
  if (i->left)
    text_addf(&t, "'%s' says nothing here: the left side of the implication is never true%s", name, where);
  else
    text_addf(&t, "'%s' says nothing here: there is never anything that it quantifies over%s", name, where);
  coverage_claim_add(s->report, W0124, at, "implication", &t);
}

static void decide_property(struct coverage_stage *s, const struct run_result *run, const struct property_result *p) {
  struct implications found = {0};
  struct span said = {0, 0};
  const char *where;
  implications_of(&found, s->about->model, p->index, s->about->arena);
  for (size_t i = 0; i < found.at.n; i++) {
    const struct implication *in = &found.at.at[i];
    bool inside = said.to && in->right->at.from >= said.from && in->right->at.to <= said.to;
    if (inside || was_true(s, in, p->property->kind == PROPERTY_LIVE) || !is_never(s, run, p->index, i, &where))
      continue;
    claim_implication(s, in, where);
    said = in->right->at; /* whatever is in there says nothing either */
  }
  vec_release(&found.at);
}

static void decide_implications(struct coverage_stage *s) {
  for (uint32_t i = 0; i < s->result->nruns; i++) {
    const struct run_result *r = &s->result->runs[i];
    for (uint32_t k = 0; k < r->nproperties; k++) {
      const struct property_result *p = &r->properties[k];
      if (p->property && p->verdict == VERDICT_HOLDS && !p->vacuous && p->property->kind != PROPERTY_COVER &&
          !p->property->stability_of && is_exhausted(r))
        decide_property(s, r, p);
    }
  }
}

/* ---- all of it ---- */

bool coverage_answer(const struct query_context *about, struct check_result *c, struct coverage *seen,
                     struct text *fault) {
  struct coverage_stage s = {.about = about, .result = c, .seen = seen, .fault = fault};
  struct interpreter *interp = about->interp;
  enum semantics semantics = interp->semantics;
  bool arrivals = interp->arrivals;
  s.report = c->coverage = coverage_report_new(about->model);
  s.report->asked = about->options->output.coverage;
  s.report->counted_all = count_all(&s);
  for (size_t i = 0; i < s.report->items.at.n && s.report->asked && s.report->counted_all; i++)
    if (s.report->states[i] != ITEM_TAKEN && coverage_item_is_code(&s.report->items.at.at[i]))
      s.report->states[i] = ITEM_NEVER;
  bool ok = (s.report->asked && s.report->counted_all) || decide_code(&s);
  if (ok)
    decide_implications(&s);
  coverage_claim_items(s.report);
  coverage_claims_sort(s.report);
  interpreter_follow(interp, semantics, arrivals);
  return ok;
}
