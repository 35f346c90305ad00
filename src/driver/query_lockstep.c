/* Lockstep or asynchronous rounds: what is checked in lockstep rounds, whether that licenses the verdict in
   asynchronous ones, and what is checked again. */
#include "driver/query.h"
#include "driver/query_symbolic.h"

#include "analysis/local_properties.h"
#include "async/async.h"

#include <string.h>

/* Does a verdict in lockstep rounds hold in asynchronous ones? */
static struct licence lockstep_licence(const struct query_context *a, const struct query *q, const struct search *s,
                                       uint32_t property) {
  const struct model *m = a->model;
  struct refusal why;
  switch (locality_of(m, q, property, a->arena, &why)) {
  case LOCAL:
    return (struct licence){.granted = true, .reason = "it is about one process at a time"};
  case LOCAL_ROUNDS:
    return (struct licence){.granted = true, .reason = "it is about whole rounds"};
  case LOCAL_NOT:
  case LOCAL_STATUS_DEPENDENT:
    return (struct licence){.reason = why.reason, .at = why.at};
  case LOCAL_IF_STABLE:
    break;
  }
  uint32_t followed = 0;
  for (uint32_t i = 0; i < q->nproperties; i++) {
    const struct property *p = &m->properties[q->properties[i]];
    if (p->stability_of != property + 1)
      continue;
    followed++;
    if (s->findings[i].found)
      return (struct licence){.reason = arena_printf(a->arena, "'%s' is not stable", source_quote(m, p->at, a->arena)),
                              .at = p->at};
  }
  for (uint32_t i = 0; i < m->nstabilities; i++)
    followed -= m->properties[m->nproperties + i].stability_of == property + 1;
  if (followed != 0)
    return (struct licence){.reason = "it has too many stability conditions", .at = m->properties[property].at};
  return (struct licence){.granted = true, .reason = "a violation by a process is stable"};
}

void lockstep_licences(const struct query_context *a, const struct query *q, const struct search *s,
                       struct run_result *r) {
  for (uint32_t i = 0; i < r->nproperties && q->semantics == SEMANTICS_COARSE; i++)
    if (r->properties[i].property && r->properties[i].property->kind != PROPERTY_LIVE)
      r->properties[i].rounds = lockstep_licence(a, q, s, r->properties[i].index);
}

/* Steps of one process are checked for so many properties at once. */
#define STABILITIES_MAX 32

/* In lockstep rounds: the properties, and the stability properties that license them. */
struct query query_make(const struct query_context *a, uint32_t environment, const uint32_t *properties, uint32_t n) {
  const struct model *m = a->model;
  uint32_t *all = arena_array(a->arena, n + m->nstabilities + 1, sizeof *all);
  struct query q = {.environment = environment, .semantics = a->semantics, .properties = all, .nproperties = n};
  memcpy(all, properties, n * sizeof *all);
  if (n == 1 && m->properties[properties[0]].until) {
    const struct node **until = arena_array(a->arena, 1, sizeof *until);
    until[0] = m->properties[properties[0]].until;
    q.atoms = (struct node *const *)(void *)until;
    q.natoms = 1;
    q.until = true;
    return q;
  }
  struct refusal why;
  for (uint32_t k = 0; k < m->nstabilities && q.semantics == SEMANTICS_COARSE; k++)
    for (uint32_t i = 0; i < n && q.nproperties < STABILITIES_MAX; i++)
      if (m->properties[m->nproperties + k].stability_of == properties[i] + 1 &&
          locality_of(m, &q, properties[i], a->arena, &why) == LOCAL_IF_STABLE)
        all[q.nproperties++] = m->nproperties + k;
  return q;
}

/* Default limits of the search in asynchronous rounds. */
#define RECHECK_STATES 20000
#define RECHECK_SECONDS 1.0
#define RECHECK_DISTANCE 2

/* Verdicts that lockstep rounds do not license. */
static bool needs_async(const struct property_result *p) {
  bool cover = p->property && p->property->kind == PROPERTY_COVER;
  return p->rounds.reason && !p->rounds.granted && p->verdict == (cover ? VERDICT_VIOLATED : VERDICT_HOLDS);
}

/* A conclusive verdict in asynchronous rounds replaces the one in lockstep rounds. Errors of the model have no
   property: one that was found is kept beside the verdicts, that there is none is not asked for. */
static void take_decided(struct run_result *coarse, struct run_result *fine) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < fine->nproperties; i++) {
    struct property_result *p = &fine->properties[i];
    if (p->verdict == VERDICT_INCONCLUSIVE || (!p->property && p->verdict != VERDICT_VIOLATED)) {
      property_result_release(p);
      continue;
    }
    uint32_t left = 0;
    for (uint32_t k = 0; k < coarse->nproperties; k++)
      if (p->property && coarse->properties[k].property == p->property)
        property_result_release(&coarse->properties[k]);
      else
        coarse->properties[left++] = coarse->properties[k];
    coarse->nproperties = left;
    fine->properties[kept++] = *p;
  }
  fine->nproperties = kept;
}

/* The remaining verdicts are those of lockstep rounds, and say so. */
static void mark_lockstep_only(struct run_result *r) {
  static const char every[] = "every run";
  for (uint32_t i = 0; i < r->nproperties; i++) {
    struct property_result *p = &r->properties[i];
    const char *at = needs_async(p) ? strstr(p->proved, every) : NULL;
    struct text proved = {0};
    if (!at)
      continue;
    text_add_n(&proved, p->proved, (size_t)(at - p->proved));
    text_addf(&proved, "every run in whole rounds%s", at + strlen(every));
    property_result_set_proved(p, &proved);
  }
}

/* Checks the properties that lockstep rounds do not license in asynchronous rounds, within limits. */
static bool recheck_async(const struct query_context *coarse, const struct query *q, struct check_result *c,
                          struct text *refused, struct text *fault) {
  struct run_result *r = &c->runs[c->nruns - 1];
  struct command_options o = *coarse->options;
  struct query_context a = *coarse;
  uint32_t *properties = arena_array(a.arena, r->nproperties + 1, sizeof *properties), n = 0;
  struct refusal why;
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (needs_async(&r->properties[i]) &&
        locality_of(a.model, q, r->properties[i].index, a.arena, &why) != LOCAL_STATUS_DEPENDENT)
      properties[n++] = r->properties[i].index;
  if (n == 0 || a.model->nprocesses > ASYNC_PROCESSES_MAX || r->end == SEARCH_INTERRUPTED)
    return true;
  if (o.limits.states == 0 || o.limits.states > RECHECK_STATES)
    o.limits.states = RECHECK_STATES;
  if (o.limits.seconds == 0 || o.limits.seconds > RECHECK_SECONDS)
    o.limits.seconds = RECHECK_SECONDS;
  if (o.max_distance == 0)
    o.max_distance = RECHECK_DISTANCE;
  o.limits.rounds = 0;
  a.options = &o;
  a.split = NULL; /* its searches are those in lockstep rounds */
  a.semantics = SEMANTICS_FINE;
  struct query again = query_make(&a, q->environment, properties, n);
  struct run_result *fine = &c->runs[c->nruns];
  if (!query_answer(&a, &again, fine, refused, fault)) {
    run_result_release(fine);
    return false;
  }
  take_decided(r, fine);
  if (fine->nproperties == 0) {
    run_result_release(fine);
  } else if (r->nproperties == 0) {
    run_result_release(r);
    *r = *fine;
  } else {
    c->nruns++;
  }
  return true;
}

bool lockstep_recheck(const struct query_context *a, const struct query *q, struct check_result *c,
                      struct text *refused, struct text *fault) {
  struct run_result *r = &c->runs[c->nruns - 1];
  if (a->semantics != SEMANTICS_COARSE)
    return true;
  enum symbolic_engine engine; /* solvers know lockstep rounds only */
  bool ok = !a->semantics_by_default || symbolic_engine_find(a->options->engine, &engine) ||
            recheck_async(a, q, c, refused, fault);
  if (ok)
    mark_lockstep_only(r);
  return ok;
}

/* The verdict does not hold in asynchronous rounds. */
static void make_inconclusive(struct property_result *p) {
  trace_free(p->trace);
  memory_free(p->proved);
  p->trace = NULL;
  p->proved = memory_strdup("live properties are checked in lockstep rounds only");
  p->verdict = VERDICT_INCONCLUSIVE;
}

void live_lockstep_licence(const struct query_context *a, const struct live_query *in, struct run_result *r) {
  struct query q = {.environment = in->environment, .semantics = SEMANTICS_COARSE};
  struct property_result *p = &r->properties[0];
  if (a->semantics != SEMANTICS_COARSE && a->semantics != SEMANTICS_FINE)
    return;
  p->rounds = lockstep_licence(a, &q, NULL, in->property);
  if (a->semantics == SEMANTICS_FINE && !p->rounds.granted)
    make_inconclusive(p);
  mark_lockstep_only(r);
}
