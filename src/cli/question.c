#include "cli/question.h"

#include "cli/terminal.h"
#include "trace/tidy.h"

/* One question being answered. */
struct asking {
  struct model *model;
  struct meaning *meaning;
  struct arena *arena;
  const struct options *options;
  struct question question;
  struct text *fault;
};

static struct space *space_for(const struct asking *a, const struct wishes *wishes,
                               const struct licences **licences) {
  struct space_options options = {.successors = a->options->successors};
  *licences = licences_grant(a->model, &a->question, wishes, a->arena);
  return round_space_new(a->meaning, a->model, &a->question, *licences, &options);
}

static void search_within_limits(struct search *s, struct space *space, const struct asking *a) {
  const struct limits *limits = &a->options->limits;
  search_init(s, space, limits);
  s->progress = progress_or_null();
  meaning_watch(a->meaning, limits->interrupt);
  watch_time(limits->seconds);
  search_run(s);
  watch_time(0);
  meaning_watch(a->meaning, NULL); /* what was found is told in full */
  progress_clear();
}

/* The run that shows a finding, replayed. NULL: the space and the reference disagree. */
static struct trace *trace_of(const struct asking *a, const struct search *s,
                              const struct finding *f, const struct property_result *p) {
  uint32_t n;
  struct goal goal;
  struct run run = {0};
  struct state *path = search_path(s, f, &n, &goal);
  bool ok = s->space->ops->concretise(s->space, path, n, &goal, &run);
  memory_free(path);
  if (!ok) {
    text_addf(a->fault, "no run leads to what was found for '%s', %s", property_result_name(p),
              p->proved);
    return NULL;
  }
  struct claim claim = {.environment = a->question.environment,
                        .property = f->property == UINT32_MAX ? NO_PROPERTY
                                                              : a->question.properties[f->property],
                        .error = f->error.message != NULL};
  struct text why = {0};
  struct trace *t = memory_alloc(sizeof *t);
  run_tidy(&run, a->meaning, a->model, &claim);
  if (trace_replay(t, a->meaning, a->model, &claim, &run, &why) != REPLAY_CONFIRMED) {
    text_addf(a->fault, "the reference does not confirm what was found for '%s', %s\n  %s",
              property_result_name(p), p->proved, text_or_empty(&why));
    trace_release(t);
    memory_free(t);
    t = NULL;
  }
  text_release(&why);
  return t;
}

static bool add_traces(const struct asking *a, const struct search *s, struct run_result *r) {
  for (uint32_t i = 0; i < r->nproperties; i++) {
    struct property_result *p = &r->properties[i];
    const struct finding *f = i < a->question.nproperties ? &s->findings[i] : &s->error;
    if (f->found && f->state != STORE_NONE && !(p->trace = trace_of(a, s, f, p)))
      return false;
  }
  return true;
}

/* The same question with every reduction off. */
static bool audit(const struct asking *a, struct run_result *r) {
  struct wishes off;
  const struct licences *licences;
  struct search s;
  struct run_result plain;
  bool same = true, sure = true;
  for (unsigned i = 0; i < REDUCTIONS; i++)
    off.reduce[i] = WISH_OFF;
  struct space *space = space_for(a, &off, &licences);
  search_within_limits(&s, space, a);
  run_result_fill(&plain, &s, licences, 0);
  for (uint32_t i = 0; i < a->question.nproperties && same; i++) {
    const struct property_result *p = &r->properties[i], *q = &plain.properties[i];
    bool both = p->verdict != VERDICT_INCONCLUSIVE && q->verdict != VERDICT_INCONCLUSIVE;
    sure &= both;
    same = !both || p->verdict == q->verdict;
    if (!same)
      text_addf(a->fault, "the audit disagrees on '%s': %s with reductions, %s without",
                p->property->name, verdict_name(p->verdict), verdict_name(q->verdict));
  }
  r->audit = sure ? AUDIT_AGREES : AUDIT_GAVE_UP;
  r->audit_states = plain.stats.states;
  run_result_release(&plain);
  search_release(&s);
  space->ops->free(space);
  return same;
}

static bool answer(const struct asking *a, struct run_result *r, uint32_t extra) {
  const struct licences *licences;
  struct search s;
  struct text decimal = {0};
  struct space *space = space_for(a, &a->options->wishes, &licences);
  search_within_limits(&s, space, a);
  run_result_fill(r, &s, licences, extra);
  if (space->ops->heard_of_assignments(space, &decimal))
    r->heard_of_assignments = memory_strdup(text_or_empty(&decimal));
  text_release(&decimal);
  bool ok = a->options->no_trace || add_traces(a, &s, r);
  search_release(&s);
  space->ops->free(space);
  return ok && (!a->options->audit || audit(a, r));
}

bool inquiries_answer(const struct inquiries *in, struct model *m, struct meaning *meaning,
                      struct arena *arena, const struct options *o, struct check_result *c,
                      struct text *fault) {
  *c = (struct check_result){.model = m, .meaning = meaning};
  c->runs = memory_alloc(in->at.n * sizeof *c->runs);
  bool ok = true;
  for (size_t i = 0; i < in->at.n && ok; i++) {
    const struct inquiry *q = &in->at.at[i];
    struct asking a = {m,
                       meaning,
                       arena,
                       o,
                       {.environment = q->environment,
                        .properties = q->properties.at,
                        .nproperties = (uint32_t)q->properties.n},
                       fault};
    ok = answer(&a, &c->runs[c->nruns++], (uint32_t)in->live.n);
  }
  for (size_t i = 0; i < in->live.n && ok; i++) {
    uint32_t at = 0;
    for (uint32_t k = c->nruns; k-- > 0;)
      if (c->runs[k].environment == in->live.at[i].environment)
        at = k;
    run_result_add_live(&c->runs[at], m, in->live.at[i].property, in->live.at[i].environment,
                        o->properties.n > 0);
  }
  check_result_conclude(c);
  return ok;
}
