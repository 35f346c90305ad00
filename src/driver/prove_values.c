/* Proofs for all numbers of values of a type (`type Value = 1..k` with k left open): for each property a number that is
   enough (analysis/value_cutoff.h), and the proof with that number. */
#include "analysis/value_cutoff.h"
#include "driver/context.h"
#include "driver/prove_rounds.h"
#include "lang/typecheck_counters.h"
#include "symbolic/solver.h"

#include <inttypes.h>
#include <string.h>

struct values_proof { /* with one number of values */
  struct command_options options;
  struct rounds_proof p;
  struct model *text;        /* the first instance as it is written, whatever the proof makes of it */
  struct proof_choices made; /* by proof */
};

struct values_plan {
  struct rounds_proof *asked; /* without a value of the parameter */
  const char *param;
  struct param_type_size size;
  struct arena arena;
  struct proof_choices choices;
  VEC(struct value_cutoff) cutoffs; /* by choice */
  VEC(struct values_proof *) proofs;
  VEC(struct proof_result) results; /* by choice */
  bool stopped;
};

/* With one more `-D`. */
static struct command_options options_with(const struct command_options *o, const char *param, int64_t number) {
  struct command_options with = *o;
  with.defines.at = NULL;
  with.defines.n = with.defines.cap = 0;
  for (size_t i = 0; i < o->defines.n; i++)
    vec_push(&with.defines, o->defines.at[i]);
  vec_push(&with.defines, ((struct define){(char *)param, number, number}));
  return with;
}

static struct model *as_written(const struct rounds_proof *p) {
  const struct model *m = p->model;
  struct param_binding *bindings = memory_alloc((m->nparams + (size_t)1) * sizeof *bindings);
  struct text error = {0};
  for (uint32_t i = 0; i < m->nparams; i++)
    bindings[i] = (struct param_binding){m->params[i].name, m->params[i].value};
  struct model *text = model_load(p->parsed, bindings, m->nparams, false, true, &error);
  text_release(&error);
  memory_free(bindings);
  return text;
}

static struct values_proof *begin_with(struct values_plan *plan, int64_t number) {
  struct values_proof *v = memory_alloc(sizeof *v);
  v->options = options_with(plan->asked->options, plan->param, number);
  v->p = (struct rounds_proof){.parsed = plan->asked->parsed, .options = &v->options};
  vec_push(&plan->proofs, v);
  bool ok = rounds_proof_begin(&v->p);
  plan->stopped |= v->p.stopped;
  v->text = ok ? as_written(&v->p) : NULL;
  return v->text ? v : NULL;
}

/* ---- how many values are enough ---- */

static bool size_is_fixed(const struct rounds_proof *p) {
  struct round_shape shape;
  if (!rounds_shape(p, &shape, false))
    return false;
  bool fixed = shape.size->op == TERM_NUMBER;
  counter_system_free(shape.system);
  return fixed;
}

static uint32_t count_rounds(const struct ast *a) {
  uint32_t n = a && a->kind == AST_ROUND;
  for (uint32_t i = 0; a && i < a->n; i++)
    n += count_rounds(a->kid[i]);
  return n;
}

/* A `repeat` may have no pass in this instance, and then its rounds are not there. */
static bool all_rounds_are_there(const struct model *m, const struct ast *file) {
  uint32_t found = 0;
  for (uint32_t r = 0; r < m->nroles && m->kind == MODEL_ROUNDS; r++)
    for (uint32_t i = 0; i < m->npoints; i++) {
      bool again = false;
      for (uint32_t k = 0; k < i; k++)
        again |= m->roles[r].body[k].at.from == m->roles[r].body[i].at.from;
      found += !again;
    }
  return found == (m->kind == MODEL_ROUNDS ? count_rounds(file) : 0);
}

struct value_cutoff value_cutoff_of(const struct model *m, const struct query *q, const struct param_type_size *size,
                                    const struct ast *file, struct arena *arena) {
  const struct type *type = value_type_named(m, size->type);
  if (!type)
    return (struct value_cutoff){.why = {"the type is not found", {0, 0}}};
  if (!all_rounds_are_there(m, file))
    return (struct value_cutoff){.why = {"some round does not take place in the instance that was looked at", {0, 0}}};
  struct value_cutoff out = value_cutoff_by_homomorphism(m, q, type, arena);
  if (out.granted || param_for_values(size, 2) != size->low + 1)
    return out;
  struct value_cutoff other = value_cutoff_by_voting(m, q, type, arena);
  return other.granted || other.fits ? other : out;
}

static struct value_cutoff cutoff_of(struct values_plan *plan, const struct values_proof *v, struct proof_choice c) {
  const struct rounds_proof *p = &v->p;
  const struct model *m = v->text;
  bool rounds = m->kind == MODEL_ROUNDS;
  struct query q = {.environment = c.environment,
                    .semantics = rounds ? SEMANTICS_COARSE : SEMANTICS_M,
                    .properties = &c.property,
                    .nproperties = 1};
  struct value_cutoff out = value_cutoff_of(m, &q, &plan->size, p->parsed->tree, &plan->arena);
  if (out.granted || !size_is_fixed(p))
    return out;
  const struct type *type = value_type_named(m, plan->size.type);
  if (!type || !all_rounds_are_there(m, p->parsed->tree))
    return out;
  struct value_cutoff other = value_cutoff_by_occurrence(m, &q, type, &plan->arena);
  return other.granted ? other : out;
}

/* The value of the parameter. */
static int64_t value_for(const struct values_plan *plan, const struct value_cutoff *c) {
  return param_for_values(&plan->size, c->values);
}

static void find_cutoffs(struct values_plan *plan, const struct values_proof *v) {
  for (size_t i = 0; i < plan->choices.of.n; i++)
    vec_push(&plan->cutoffs, cutoff_of(plan, v, plan->choices.of.at[i]));
}

static const char *why_refused(struct values_plan *plan, const struct refusal *why) {
  const struct source *source = &plan->asked->parsed->source;
  uint32_t line, column;
  source_place(source, why->at.from, &line, &column);
  return why->at.to ? arena_printf(&plan->arena, "%s (line %" PRIu32 ")", why->reason, line) : why->reason;
}

/* ---- the proofs ---- */

/* The text is that of every instance, so the answer must be the same. */
static bool is_confirmed(struct values_plan *plan, const struct values_proof *v, size_t i) {
  struct value_cutoff again = cutoff_of(plan, v, plan->choices.of.at[i]);
  return again.granted && again.values == plan->cutoffs.at[i].values && again.also == plan->cutoffs.at[i].also;
}

static void certificate_note_cutoff(struct proof_result *r) {
  struct text t = {0};
  if (!r->proof.certificate)
    return;
  text_addf(&t,
            "; With %s = %" PRId64 ". For all %s: %s = %" PRId64 " is enough, %s. That is no part of it, either.\n%s",
            r->cutoff, r->cutoff_value, r->cutoff, r->cutoff, r->cutoff_value, r->cutoff_by, r->proof.certificate);
  memory_free(r->proof.certificate);
  r->proof.certificate = t.at;
}

/* Its index in p->proofs. */
static size_t proof_of(struct values_proof *v, struct proof_choice c) {
  for (size_t i = 0; i < v->made.of.n; i++)
    if (v->made.of.at[i].property == c.property && v->made.of.at[i].environment == c.environment)
      return i;
  prove_choice(&v->p, c);
  vec_push(&v->made.of, c);
  return v->made.of.n - 1;
}

/* A proof that is worth nothing without another one. */
static void withdraw(struct values_plan *plan, struct proof_result *r, const struct proof_result *also) {
  struct text why = {0};
  double seconds = r->proof.seconds;
  text_addf(&why, "it holds for %s = %" PRId64 "; for all %s that is enough if '%s' holds, which is %s", plan->param,
            r->cutoff_value, plan->param, also->name, also->proof.kind == ENGINE_UNSAFE ? "violated" : "not proved");
  proof_release(&r->proof);
  r->proof = (struct proof){.limit = why.at, .seconds = seconds};
  r->is_compared = false;
}

static void add_proof(struct values_plan *plan, struct values_proof *v, size_t i) {
  const struct value_cutoff *c = &plan->cutoffs.at[i];
  size_t at = proof_of(v, plan->choices.of.at[i]);
  struct proof_result *r = &v->p.proofs.at[at];
  r->cutoff = plan->param;
  r->cutoff_value = value_for(plan, c);
  r->cutoff_by = c->by;
  if (r->proof.kind == ENGINE_SAFE && c->also != UINT32_MAX && !v->p.fault.n) {
    size_t also = proof_of(v, (struct proof_choice){c->also, plan->choices.of.at[i].environment});
    r = &v->p.proofs.at[at]; /* it may have moved */
    if (v->p.proofs.at[also].proof.kind != ENGINE_SAFE)
      withdraw(plan, r, &v->p.proofs.at[also]);
  }
  certificate_note_cutoff(r);
  plan->results.at[i] = *r; /* the proof stays theirs */
}

static void add_undecided(struct values_plan *plan, struct values_proof *v, size_t i, const char *why) {
  struct rounds_proof *p = &v->p;
  struct proof_choice c = plan->choices.of.at[i];
  struct round_shape shape;
  struct proof_attempt *a = attempt_new(p, &shape, false);
  struct text limit = {0};
  text_addf(&limit, "the parameter '%s' cannot be left free: %s", plan->param, why);
  vec_push(&p->attempts, a);
  plan->results.at[i] = (struct proof_result){.name = p->model->properties[c.property].name,
                                              .environment = p->model->environments[c.environment].name,
                                              .system = a->system,
                                              .cutoff = plan->param,
                                              .proof = {.limit = limit.at}};
  vec_push(&p->proofs, plan->results.at[i]);
  vec_push(&v->made.of, c);
}

static bool prove_with(struct values_plan *plan, int64_t number, bool refused) {
  struct values_proof *v = begin_with(plan, number);
  if (!v)
    return false;
  for (size_t i = 0; i < plan->choices.of.n && !v->p.fault.n; i++) {
    const struct value_cutoff *c = &plan->cutoffs.at[i];
    if (!c->granted && refused) {
      add_undecided(plan, v, i, why_refused(plan, &c->why));
    } else if (c->granted && value_for(plan, c) == number && !is_confirmed(plan, v, i)) {
      add_undecided(plan, v, i, "how many values are enough depends on it");
    } else if (c->granted && value_for(plan, c) == number) {
      add_proof(plan, v, i);
    }
  }
  if (v->p.fault.n)
    text_addf(&plan->asked->fault, "%s", v->p.fault.at);
  return !v->p.fault.n;
}

/* The smallest number above the last one that some property needs; INT64_MAX: there is none. */
static int64_t next_value(const struct values_plan *plan, int64_t last) {
  int64_t next = INT64_MAX;
  for (size_t i = 0; i < plan->cutoffs.n; i++) {
    int64_t number = value_for(plan, &plan->cutoffs.at[i]);
    if (plan->cutoffs.at[i].granted && number > last && number < next)
      next = number;
  }
  return next;
}

static bool prove_all_choices(struct values_plan *plan) {
  int64_t first = next_value(plan, INT64_MIN);
  vec_reserve(&plan->results, plan->choices.of.n + 1);
  plan->results.n = plan->choices.of.n;
  for (int64_t number = first; number < INT64_MAX; number = next_value(plan, number))
    if (!prove_with(plan, number, number == first))
      return false;
  return true;
}

static void plan_release(struct values_plan *plan) {
  for (size_t i = 0; i < plan->proofs.n; i++) {
    rounds_proof_end(&plan->proofs.at[i]->p);
    model_free(plan->proofs.at[i]->text);
    vec_release(&plan->proofs.at[i]->options.defines);
    vec_release(&plan->proofs.at[i]->made.of);
    memory_free(plan->proofs.at[i]);
  }
  vec_release(&plan->proofs);
  vec_release(&plan->results);
  vec_release(&plan->cutoffs);
  vec_release(&plan->choices.of);
  arena_release(&plan->arena);
}

/* ---- the parameter ---- */

static bool find_param(struct values_plan *plan) {
  struct rounds_proof *p = plan->asked;
  struct round_shape shape;
  struct span other = {0, 0};
  if (!rounds_shape(p, &shape, false))
    return false;
  const char *name = param_of_types(p, shape.system);
  bool found = name != NULL;
  plan->param = found ? arena_strndup(&plan->arena, name, strlen(name)) : NULL;
  counter_system_free(shape.system);
  if (!found || param_is_type_size(p->parsed->tree, plan->param, &plan->size, &other))
    return found;
  if (plan->size.type && other.to) {
    uint32_t line, column;
    struct text why = {0};
    source_place(&p->parsed->source, other.from, &line, &column);
    text_addf(&why, "it is not only the number of values of %s (line %" PRIu32 ")", plan->size.type, line);
    p->why_not = why.at;
  }
  return false;
}

static void report(struct values_plan *plan, bool done, int *status) {
  const struct command_options *o = plan->asked->options;
  if (plan->stopped)
    *status = EXIT_INCONCLUSIVE;
  if (plan->asked->fault.n) {
    context_error(o->rondo, E1001, "a fault of rondo itself: %s", plan->asked->fault.at);
    *status = EXIT_FAULT;
  } else if (done) {
    *status = prove_report(o, plan->results.at, (uint32_t)plan->results.n);
  }
  text_release(&plan->asked->fault);
}

bool prove_any_values(struct rounds_proof *asked, int *status) {
  struct values_plan plan = {.asked = asked};
  bool any = false, found = false, done = false;
  if (solver_missing() || !(asked->given = bindings_single(asked->options, true)))
    return false;
  arena_init(&plan.arena);
  if (find_param(&plan)) {
    struct value_cutoff two = {.values = 2};
    struct values_proof *first = begin_with(&plan, value_for(&plan, &two));
    found = true;
    if (first && choose_proofs(&first->p, &plan.choices))
      find_cutoffs(&plan, first);
    for (size_t i = 0; i < plan.cutoffs.n; i++)
      any |= plan.cutoffs.at[i].granted;
    done = any && prove_all_choices(&plan);
    if (plan.cutoffs.n && !any) {
      struct text why = {0};
      text_add(&why, why_refused(&plan, &plan.cutoffs.at[0].why));
      asked->why_not = why.at;
      found = false;
    }
  }
  if (found)
    report(&plan, done, status);
  memory_free(asked->given);
  asked->given = NULL;
  plan_release(&plan);
  return found;
}
