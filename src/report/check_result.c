#include "report/check_result.h"

#include "report/coverage_report.h"

#include "analysis/may_fail.h"
#include "base/memory.h"
#include "report/layout.h"
#include "report/verdict_text.h"

const char *verdict_name(enum verdict v) {
  static const char *const names[] = {"holds", "inconclusive", "violated"};
  return names[v];
}

const char *property_result_name(const struct property_result *p) {
  return p->property ? p->property->name : "no_error";
}

const char *property_result_kind(const struct property_result *p) {
  static const char *const kinds[] = {"safety", "cover", "live"};
  return p->property ? kinds[p->property->kind] : "error";
}

void property_result_release(struct property_result *p) {
  trace_free(p->trace);
  memory_free(p->proved);
}

void property_result_set_proved(struct property_result *p, struct text *proved) {
  memory_free(p->proved);
  p->proved = memory_strdup(text_or_empty(proved));
  text_release(proved);
}

void run_result_release(struct run_result *r) {
  for (uint32_t i = 0; i < r->nproperties; i++)
    property_result_release(&r->properties[i]);
  trace_free(r->divergence);
  memory_free(r->properties);
  for (uint32_t i = 0; i < r->naudits; i++)
    memory_free(r->audits[i].why);
  memory_free(r->audits);
  memory_free(r->heard_of_assignments);
  memory_free(r->successors);
  if (r->interp)
    interpreter_free(r->interp);
  if (r->model)
    model_free(r->model);
}

const struct model *result_model(const struct check_result *c, const struct run_result *r) {
  return r->model ? r->model : c->model;
}

struct interpreter *result_interpreter(const struct check_result *c, const struct run_result *r) {
  return r->interp ? r->interp : c->interp;
}

void check_result_release(struct check_result *c) {
  for (uint32_t i = 0; i < c->nruns; i++)
    run_result_release(&c->runs[i]);
  memory_free(c->runs);
  coverage_report_free(c->coverage);
  *c = (struct check_result){0};
}

/* --- descriptions of what was proved --- */

/* Does a run consist of steps of single processes instead of rounds of all processes? */
static bool counts_steps(const struct query *q, const struct model *m) {
  return model_steps(m) || q->semantics == SEMANTICS_FINE;
}

static void add_messages(struct text *out, uint64_t n, const char *what) {
  if (n > 0) {
    text_add(out, ", ");
    number_add(out, n);
    text_addf(out, " %s message%s", what, n == 1 ? "" : "s");
  }
}

/* The kinds of message faults that the environment limits, in words. */
static const char *message_fault_words(const struct environment *env) {
  bool corrupts = false, loses = false, duplicates = false;
  for (uint32_t i = 0; i < env->nclauses; i++) {
    corrupts |= env->clauses[i].kind == CLAUSE_CORRUPTED;
    loses |= env->clauses[i].kind == CLAUSE_LOST;
    duplicates |= env->clauses[i].kind == CLAUSE_DUPLICATED;
  }
  if (duplicates)
    return loses ? "lost or duplicated" : "duplicated";
  return !corrupts ? "lost" : loses ? "lost or corrupted" : "corrupted";
}

static void add_after(struct text *out, const struct search *s, const struct finding *f) {
  const struct model *m = s->space->model;
  verdict_add_after(out, counts_steps(s->space->query, m), f->rounds);
  verdict_add_faulty(out, fault_cost_processes(f->fault_cost));
  add_messages(out, fault_cost_messages(f->fault_cost),
               message_fault_words(&m->environments[s->space->query->environment]));
}

/* The same for a run of a step model, computed from its trace. */
static void add_trace_length(struct text *out, const struct trace *t, bool shortest) {
  const struct config *last = t->configs[t->nconfigs - 1];
  uint64_t faulty = 0, lost = 0, kept = 0;
  for (uint32_t p = 0; p < t->model->nprocesses; p++)
    faulty += (last->local[p][LOCAL_STATUS] & STATUS_FAULTY) != 0;
  for (uint32_t i = 0; i < t->run.nsteps; i++) {
    const struct event *e = t->run.steps[i]->event;
    lost += e->kind == EVENT_LOSE;
    for (uint32_t k = 0; k < e->ntaken; k++)
      kept += e->taken[k].kept;
  }
  verdict_add_after(out, true, t->run.nsteps);
  if (shortest && t->run.nsteps > 0)
    text_add(out, " (shortest)");
  verdict_add_faulty(out, faulty);
  add_messages(out, lost, "lost");
  add_messages(out, kept, "duplicated");
}

void property_result_describe_trace(struct property_result *p, bool shortest) {
  struct text proved = {0};
  if (p->property && p->property->kind == PROPERTY_COVER)
    text_add(&proved, "reached ");
  add_trace_length(&proved, p->trace, shortest);
  if (!p->property)
    text_addf(&proved, ": %s", p->trace->error.message);
  p->evidence.length = p->trace->run.nsteps;
  if (shortest)
    p->evidence.none_before = p->evidence.length;
  property_result_set_proved(p, &proved);
}

/* With partial-order reduction and transition fusion, the BFS layer is not the length of a run. */
static bool depth_unreliable(const struct licences *l) {
  return l->of[REDUCE_PARTIAL_ORDER].applied || l->of[REDUCE_FUSION].applied;
}

static struct evidence evidence_of(const struct search *s, const struct finding *f, const struct licences *l) {
  struct evidence e = {.found = f->found, .length = LENGTH_UNKNOWN, .fault_cost = f->fault_cost};
  bool detours = depth_unreliable(l), all = s->end == SEARCH_EXHAUSTED && !s->cut;
  e.cheapest = f->found && !detours && !search_limited(s->end);
  if (f->found && !detours)
    e.length = e.none_before = f->rounds;
  else if (!f->found && (f->excluded || all)) /* or up to a distance, which the result reports */
    e.none_before = NO_LENGTH;
  else if (!f->found && !detours)
    e.none_before = s->end == SEARCH_EXHAUSTED ? s->limits.rounds + 1 : s->complete;
  return e;
}

/* Once a property is violated, it is no longer evaluated, so later evaluation errors are not found. */
static struct evidence errors_of(const struct search *s, const struct licences *l) {
  const struct query *q = s->space->query;
  const struct model *m = s->space->model;
  struct evidence e = evidence_of(s, &s->error, l);
  for (uint32_t i = 0; i < query_nrequested(m, q) && !e.found; i++) {
    const struct finding *f = &s->findings[i];
    uint32_t asked = depth_unreliable(l) ? 0 : f->rounds;
    if (f->found && asked < e.none_before && node_may_fail(m, q, m->properties[q->properties[i]].formula, NULL, NULL))
      e.none_before = asked;
  }
  return e;
}

static void add_so_far(struct text *out, const struct search *s, const struct property *p, const struct licences *l) {
  const char *what = p->kind == PROPERTY_COVER ? "not reached" : "no violation";
  bool detours = depth_unreliable(l);
  if (s->end == SEARCH_EXHAUSTED && !s->cut) { /* likewise, up to a distance */
    text_addf(out, "%s up to distance %u", what, s->space->distance);
    verdict_add_missed(out, s);
    return;
  }
  if (s->end == SEARCH_EXHAUSTED) { /* ended at the user's limit */
    text_addf(out, "%s up to ", what);
    verdict_add_length(out, counts_steps(s->space->query, s->space->model), s->limits.rounds);
    text_add(out, detours ? " of the runs that partial-order keeps" : "");
    verdict_add_missed(out, s);
    return;
  }
  if (s->complete == 0) {
    text_add(out, "nothing is known");
  } else if (detours) {
    text_add(out, p->kind == PROPERTY_COVER ? "not reached so far" : "no violation found so far");
  } else {
    text_addf(out, "%s within ", what);
    verdict_add_length(out, counts_steps(s->space->query, s->space->model), s->complete - 1);
    verdict_add_missed(out, s);
  }
  text_add(out, "; ");
  verdict_add_limit(out, s->end, &s->limits, s->why);
}

static enum verdict judge(const struct search *s, const struct property *p, const struct finding *f,
                          const struct licences *l, struct text *proved) {
  bool cover = p->kind == PROPERTY_COVER;
  if (f->found) {
    text_add(proved, cover ? "reached " : "");
    add_after(proved, s, f);
    return cover ? VERDICT_HOLDS : VERDICT_VIOLATED;
  }
  if (f->excluded || (s->end == SEARCH_EXHAUSTED && !s->cut && !s->space->distance_cut)) {
    text_add(proved, cover ? "never reached: " : "");
    verdict_add_every_run(proved, s->space->model, l);
    verdict_add_missed(proved, s);
    return cover ? VERDICT_VIOLATED : VERDICT_HOLDS;
  }
  add_so_far(proved, s, p, l);
  return VERDICT_INCONCLUSIVE;
}

void run_result_add(struct run_result *r, struct property_result p, struct text *proved) {
  property_result_set_proved(&p, proved);
  r->properties[r->nproperties++] = p;
}

void run_result_fill(struct run_result *r, const struct search *s, const struct licences *l) {
  const struct query *q = s->space->query;
  const struct model *m = s->space->model;
  const char *successors = s->space->successors;
  *r = (struct run_result){.environment = q->environment,
                           .semantics = q->semantics,
                           .licences = l,
                           .end = s->end,
                           .cut = s->cut,
                           .stats = s->stats,
                           .hashed = s->limits.signature > 0,
                           .missed = search_omission_probability(s),
                           .transitions_counted = s->space->edges_complete,
                           .order_mattered = s->space->order_mattered,
                           .has_channels = s->space->has_channels,
                           .channel_bound = s->space->channel_bound,
                           .has_distance = s->space->has_distance,
                           .distance = s->space->distance,
                           .distance_cut = s->space->distance_cut,
                           .errors = errors_of(s, l),
                           .successors = memory_strdup(successors ? successors : "")};
  r->properties = memory_alloc((q->nproperties + (size_t)1) * sizeof *r->properties);
  for (uint32_t i = 0; i < query_nrequested(m, q); i++) {
    struct property_result p = {
        .property = &m->properties[q->properties[i]], .index = q->properties[i], .environment = q->environment};
    struct text proved = {0};
    p.evidence = evidence_of(s, &s->findings[i], l);
    p.verdict = judge(s, p.property, &s->findings[i], l, &proved);
    run_result_add(r, p, &proved);
  }
  if (s->error.found) {
    struct property_result p = {
        .index = NO_PROPERTY, .environment = q->environment, .verdict = VERDICT_VIOLATED, .evidence = r->errors};
    struct text proved = {0};
    add_after(&proved, s, &s->error);
    text_addf(&proved, ": %s", s->error.error.message);
    run_result_add(r, p, &proved);
  }
}

void check_result_conclude(struct check_result *c) {
  c->verdict = VERDICT_HOLDS;
  for (uint32_t i = 0; i < c->nruns; i++)
    for (uint32_t k = 0; k < c->runs[i].nproperties; k++) {
      const struct property_result *p = &c->runs[i].properties[k];
      if (p->verdict > c->verdict && !(p->unasked && p->verdict == VERDICT_INCONCLUSIVE))
        c->verdict = p->verdict;
    }
}
