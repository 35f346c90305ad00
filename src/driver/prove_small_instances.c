/* Compares what is proved for all n with instances of few processes: the derived counter system with the interpreter,
   state by state and step by step, and the verdict with the search. */
#include "driver/prove_rounds.h"

#include "driver/context.h"
#include "driver/jobs.h"
#include "interp/counter_run.h"

#include <inttypes.h>
#include <string.h>

#define UNFOLD_SECONDS 20
#define COMPARE_SECONDS 0.8
#define LEAST_SECONDS 0.2
#define SEARCH_SECONDS 0.6
enum { FEW_PROCESSES = 4, MORE_PROCESSES = 16, PARAMS_TRIED_MAX = 200000 };

/* ---- instances ---- */

struct param_odometer { /* values of free parameters, from 0 to highest */
  const struct counter_system *s;
  int64_t *params, highest;
};

static bool is_free(const struct counter_system *s, uint32_t i) { return !s->params[i].is && !s->params[i].of; }

static bool odometer_next(struct param_odometer *c) {
  for (uint32_t i = c->s->nparams; i-- > 0;) {
    if (!is_free(c->s, i))
      continue;
    if (c->params[i] < c->highest) {
      c->params[i]++;
      return true;
    }
    c->params[i] = 0;
  }
  return false;
}

static bool reads_param(const struct term *t, uint32_t param) {
  return t && ((t->op == TERM_PARAM && t->index == param) || reads_param(t->kid[0], param) ||
               reads_param(t->kid[1], param) || reads_param(t->kid[2], param));
}

static bool holds(const struct counter_condition *c, const int64_t *params) {
  struct counter_values values = {.params = params};
  int64_t value_of = 0;
  return term_value(c->term, &values, &value_of) && value_of;
}

/* What its own conditions, which are hidden, make of it: the quotient of something that is known by
 * now. */
static bool fill_quotient(const struct counter_system *s, uint32_t quotient, int64_t *params) {
  struct counter_values values = {.params = params};
  int64_t of, low, high;
  if (!term_value(s->params[quotient].of, &values, &of))
    return false;
  low = of < 0 ? of : 0;
  high = of < 0 ? 0 : of;
  for (int64_t q = low; q <= high; q++) {
    bool fits = true;
    params[quotient] = q;
    for (uint32_t i = 0; i < s->nconditions && fits; i++)
      fits =
          !s->conditions[i].hidden || !reads_param(s->conditions[i].term, quotient) || holds(&s->conditions[i], params);
    if (fits)
      return true;
  }
  return false;
}

/* From the free parameters to all of them. */
static bool fill_params(const struct counter_system *s, int64_t *params) {
  struct counter_values values = {.params = params};
  bool ok = true;
  for (uint32_t i = 0; i < s->nparams && ok; i++)
    ok = !s->params[i].of || fill_quotient(s, i, params);
  for (uint32_t i = 0; i < s->nparams && ok; i++)
    ok = !s->params[i].is || term_value(s->params[i].is, &values, &params[i]);
  return ok;
}

void small_instances(const struct counter_system *s, const struct round_shape *shape, small_instance_fn *visit,
                     void *context) {
  int64_t *params = memory_alloc((s->nparams + (size_t)1) * sizeof *params), size = 0;
  bool found = false, more = true;
  uint32_t tried = 0;
  for (int64_t n = 1; n <= (found ? FEW_PROCESSES : MORE_PROCESSES) && more; n++) {
    struct param_odometer c = {s, params, n > FEW_PROCESSES ? n : FEW_PROCESSES};
    memset(params, 0, s->nparams * sizeof *params);
    do {
      struct counter_values values = {.params = params};
      if (!fill_params(s, params) || !term_value(shape->size, &values, &size) || size != n ||
          !counter_params_hold(s, shape->open, params))
        continue;
      found = true;
      more = visit(context, params);
    } while (more && ++tried < PARAMS_TRIED_MAX && odometer_next(&c));
  }
  memory_free(params);
}

/* What is left of the limit, but enough to compare the first states. */
static double time_for(const struct rounds_proof *p, double most) {
  double left = p->deadline > 0 ? p->deadline - clock_seconds() : most;
  return left > most ? most : left > LEAST_SECONDS ? left : LEAST_SECONDS;
}

/* ---- the derivation ---- */

struct derivation_comparison {
  struct rounds_proof *p;
  struct proof_attempt *a;
  struct validator *c;
  struct validation *out;
  bool open;
  const struct round_shape *shape;
  const struct query *q;
};

static bool compare_one(void *context, const int64_t *params) {
  struct derivation_comparison *d = context;
  struct model *m = rounds_proof_instance(d->p, d->a->system, params, d->open);
  if (!m)
    return !*d->p->limits.interrupt;
  struct liveness live;
  if (d->a->request)
    liveness_prepare(&live, m, d->a->request);
  struct interpreter *interp = interpreter_new(m);
  bool same = d->a->handlers ? handlers_validate(d->a->handlers, &d->a->derivation, d->shape, d->q, interp,
                                                 d->p->limits.interrupt, d->out)
                             : validate_instance(d->c, interp, d->a->request ? &live : NULL, d->out);
  interpreter_free(interp);
  model_free(m);
  return same && !*d->p->limits.interrupt;
}

bool compare_derived(struct rounds_proof *p, struct proof_attempt *a, const struct round_shape *shape,
                     const struct query *q, struct validation *out) {
  *out = (struct validation){0};
  watch_time(p->options->rondo, time_for(p, UNFOLD_SECONDS));
  struct validator *c = a->handlers ? NULL : validator_new(&a->derivation, shape, q, p->limits.interrupt);
  bool ready = c || a->handlers;
  if (ready) /* else the time is up */
    watch_time(p->options->rondo, time_for(p, COMPARE_SECONDS));
  struct derivation_comparison d = {p, a, c, out, shape->open, shape, q};
  if (ready)
    small_instances(a->system, shape, compare_one, &d);
  validator_free(c);
  out->cut |= *p->limits.interrupt != 0;
  watch_time(p->options->rondo, 0);
  if (out->difference.n && !p->fault.n)
    text_addf(&p->fault, "the counter system that was derived is not the algorithm's: %s", out->difference.at);
  return !out->difference.n && !*p->limits.interrupt && out->states > 0;
}

/* ---- the verdict ---- */

struct small_search {
  struct rounds_proof *p;
  struct proof_attempt *a;
  struct proof_result *of;
  double end;
};

static bool search_one(void *context, const int64_t *params) {
  struct small_search *s = context;
  struct rounds_proof *p = s->p;
  struct proof_attempt there = {.system = s->a->system};
  double left = s->end - clock_seconds();
  if (left <= 0.01)
    return false;
  arena_init(&there.arena);
  bool violated = search_instance(p, &there, s->of, params, true, left) != NULL;
  s->of->searched += there.model && there.result.nruns > 0 && there.result.runs[0].nproperties > 0 &&
                     there.result.runs[0].properties[0].verdict == VERDICT_HOLDS;
  attempt_drop_instance(&there);
  arena_release(&there.arena);
  if (violated && !p->fault.n) {
    text_addf(&p->fault, "'%s' was proved, and the search finds it violated with", s->of->name);
    for (uint32_t i = 0; i < s->a->system->nparams; i++)
      if (!s->a->system->params[i].of)
        text_addf(&p->fault, " %s = %" PRId64, s->a->system->params[i].name, params[i]);
  }
  return !violated && !*p->limits.interrupt;
}

bool search_small(struct rounds_proof *p, struct proof_attempt *a, const struct round_shape *shape,
                  struct proof_result *of) {
  struct small_search s = {p, a, of, clock_seconds() + time_for(p, SEARCH_SECONDS)};
  small_instances(a->system, shape, search_one, &s);
  return !p->fault.n && !*p->limits.interrupt;
}

/* ---- a violation with few processes ---- */

struct violation_search {
  struct rounds_proof *p;
  struct proof_attempt *a;
  struct proof_result *of;
  double end;
  struct small_verdicts *few;
};

static bool search_next(void *context, const int64_t *params) {
  struct violation_search *s = context;
  double left = s->end - clock_seconds();
  if (left <= 0.01 || *s->p->limits.interrupt)
    return false;
  const struct property_result *found = search_instance(s->p, s->a, s->of, params, true, left);
  if (found) {
    s->of->proof = (struct proof){.kind = ENGINE_UNSAFE};
    counter_run_init(&s->of->proof.run, s->a->system);
    memcpy(s->of->proof.run.params, params, s->a->system->nparams * sizeof *params);
    s->of->system = s->a->system;
    s->of->concrete = found;
    s->of->interp = interpreter_of_found(s->a);
    return false;
  }
  const struct check_result *r = &s->a->result;
  if (s->a->model && r->nruns > 0 && r->runs[0].nproperties > 0 && r->runs[0].properties[0].verdict == VERDICT_HOLDS) {
    s->few->holds++;
    s->few->vacuous += r->runs[0].properties[0].vacuous;
  }
  attempt_drop_instance(s->a);
  return true;
}

struct proof_attempt *search_violation(struct rounds_proof *p, struct proof_result *of, double seconds,
                                       struct small_verdicts *few) {
  struct round_shape shape;
  struct proof_attempt *a = attempt_new(p, &shape, false);
  double now = clock_seconds(), left = p->deadline - now;
  struct violation_search s = {p, a, of, now + (seconds < left ? seconds : left), few};
  *few = (struct small_verdicts){0, 0};
  of->concrete = NULL;
  small_instances(a->system, &shape, search_next, &s);
  if (of->concrete)
    return a;
  attempt_free(a);
  return NULL;
}

/* ---- the report ---- */

const char *comparison_failure(const struct rounds_proof *p, const struct validation *c) {
  return *p->limits.interrupt ? "interrupted while the counter system was compared with the algorithm"
         : c->cut             ? "there was no time to compare the counter system with the algorithm"
                              : "the counter system could not be compared with the algorithm: no instance is small "
                                "enough";
}

void certificate_note_comparison(struct proof_result *of) {
  struct text t = {0};
  if (!of->proof.certificate)
    return;
  text_addf(&t,
            "; This is about the counter system that rondo derived from the algorithm; that it is the "
            "algorithm's is not part of it.\n"
            "; The derivation was compared with the interpreter on %" PRIu32 " instances with at most %" PRIu32
            " processes:\n"
            "; %" PRIu64 " states and %" PRIu64 " steps, %s; the search found the property to hold in %" PRIu32
            " of them.\n%s",
            of->compared.instances, of->compared.processes, of->compared.states, of->compared.steps,
            of->compared.cut ? "as many as there was time for" : "all that there are", of->searched,
            of->proof.certificate);
  memory_free(of->proof.certificate);
  of->proof.certificate = t.at;
}
