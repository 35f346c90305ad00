/* rondo threshold for models of rounds and of message handlers some of whose parameters have a range in -D, such as the
   constants of guards: all values in these ranges for which the properties hold, for all other parameters.

   Each value is put into the model. It is ruled out by a run of the algorithm, which was found by the search and
   replayed; the parameters at which other values failed are searched first. Otherwise the properties are proved, as by
   rondo prove. */
#include "driver/context.h"
#include "driver/files.h"
#include "driver/prove.h"
#include "driver/prove_rounds.h"
#include "report/trace_text.h"
#include "symbolic/solver.h"
#include "trace/trace_json.h"

#include <string.h>

enum { CANDIDATES_MAX = 10000, POINTS_MAX = 8 };
static const double candidate_seconds = 60; /* for one property of one candidate */
static const double point_seconds = 2;      /* to search at a place where others failed */

/* Where another candidate failed. */
struct failing_point {
  struct proof_choice choice;
  const char **names; /* of parameters, without the unknowns */
  int64_t *values;
  uint32_t n;
};

struct params_search {
  const struct parsed_file *parsed;
  const struct command_options *options;
  struct arena arena;
  struct proof_limits limits;
  double start;
  const struct define **unknowns; /* borrowed from the options */
  struct counter_system *open;
  VEC(struct failing_point) points; /* the newest last */
  struct text scripts;              /* certificates */
  struct text fault;
  struct synthesis found;
};

enum judgement { JUDGED, NOT_A_CANDIDATE, NOT_SUPPORTED };

static double seconds_left(const struct params_search *u) {
  double left = u->limits.seconds - (clock_seconds() - u->start);
  return left > 0.001 ? left : 0.001;
}

static bool is_over(const struct params_search *u) {
  return clock_seconds() - u->start >= u->limits.seconds || *u->limits.interrupt;
}

bool threshold_has_ranges(const struct command_options *o) {
  for (size_t i = 0; i < o->defines.n; i++)
    if (o->defines.at[i].low < o->defines.at[i].high)
      return true;
  return false;
}

static bool is_unknown(const struct params_search *u, const char *name) {
  for (uint32_t i = 0; i < u->found.nunknowns; i++)
    if (strcmp(u->unknowns[i]->name, name) == 0)
      return true;
  return false;
}

/* With values for the unknowns, and for one property of one candidate. */
static struct command_options options_with(const struct params_search *u, const int64_t *values) {
  struct command_options with = *u->options;
  with.defines.at = NULL;
  with.defines.n = with.defines.cap = 0;
  with.properties.at = NULL;
  with.properties.n = with.properties.cap = 0;
  for (size_t i = 0; i < u->options->defines.n; i++)
    if (!is_unknown(u, u->options->defines.at[i].name))
      vec_push(&with.defines, u->options->defines.at[i]);
  for (uint32_t i = 0; i < u->found.nunknowns; i++)
    vec_push(&with.defines, ((struct define){u->unknowns[i]->name, values[i], values[i]}));
  if (u->options->files.n == 2)
    vec_push(&with.properties, u->options->files.at[1]);
  with.limits.seconds = seconds_left(u) < candidate_seconds ? seconds_left(u) : candidate_seconds;
  return with;
}

static void candidate_options_release(struct command_options *o) {
  vec_release(&o->defines);
  vec_release(&o->properties);
}

static int64_t *first_values(const struct params_search *u) {
  int64_t *values = memory_alloc((u->found.nunknowns + (size_t)1) * sizeof *values);
  for (uint32_t i = 0; i < u->found.nunknowns; i++)
    values[i] = u->unknowns[i]->low;
  return values;
}

/* False: that was the last one. */
static bool next_values(const struct params_search *u, int64_t *values) {
  for (uint32_t i = u->found.nunknowns; i > 0; i--) {
    if (values[i - 1]++ < u->unknowns[i - 1]->high)
      return true;
    values[i - 1] = u->unknowns[i - 1]->low;
  }
  return false;
}

/* The parameters with these values. False: they do not satisfy the conditions, or (*wrong) there is an error, which is
   reported. */
static bool shape_with(const struct params_search *u, const int64_t *values, struct round_shape *shape, bool *wrong) {
  struct command_options o = options_with(u, values);
  struct param_binding *given = bindings_lowest(&o);
  struct diags diags;
  diags_init(&diags, &u->parsed->source);
  bool ok = rounds_param_system(u->parsed->tree, &u->parsed->source, given, o.defines.n, shape, &diags);
  *wrong = false;
  for (size_t i = 0; i < diags.n && !ok; i++)
    *wrong |= diags.at[i].code != E0703;
  if (*wrong)
    context_diagnostics(u->options->rondo, &diags);
  diags_release(&diags);
  memory_free(given);
  candidate_options_release(&o);
  return ok;
}

/* ---- violations ---- */

static int64_t *copy_values(struct params_search *u, const int64_t *values) {
  return arena_copy(&u->arena, values, u->found.nunknowns * sizeof *values);
}

/* A run of the algorithm with these values. */
static void add_violation(struct params_search *u, const int64_t *values, const struct property_result *found,
                          struct interpreter *interp) {
  struct style style = context_style(u->options->rondo, true);
  struct text text = {0};
  const char *name = property_result_name(found);
  trace_print(found->trace, &style, &text);
  trace_explain(found->trace, interp, &style, &text);
  struct synthesis_violation v = {.values = copy_values(u, values),
                                  .name = arena_strndup(&u->arena, name, strlen(name)),
                                  .text = arena_strndup(&u->arena, text_or_empty(&text), text.n),
                                  .trace = trace_to_json(found->trace, interp)};
  text_release(&text);
  vec_push(&u->found.violations, v);
}

static void add_point(struct params_search *u, const struct counter_system *s, const int64_t *params,
                      struct proof_choice choice) {
  struct failing_point point = {.choice = choice,
                                .names = arena_array(&u->arena, s->nparams + (size_t)1, sizeof *point.names),
                                .values = arena_array(&u->arena, s->nparams + (size_t)1, sizeof *point.values)};
  for (uint32_t i = 0; i < s->nparams; i++) {
    const char *name = s->params[i].name;
    if (s->params[i].of || is_unknown(u, name))
      continue;
    point.names[point.n] = arena_strndup(&u->arena, name, strlen(name));
    point.values[point.n++] = params[i];
  }
  if (u->points.n == POINTS_MAX) { /* the oldest is forgotten */
    memmove(u->points.at, u->points.at + 1, (POINTS_MAX - 1) * sizeof *u->points.at);
    u->points.n--;
  }
  vec_push(&u->points, point);
}

/* The values of the parameters at that point. False: a parameter is missing. */
static bool params_at(const struct params_search *u, const struct failing_point *point, const struct counter_system *s,
                      const int64_t *values, int64_t *params) {
  for (uint32_t i = 0; i < s->nparams; i++) {
    bool there = s->params[i].of != NULL; /* quotients are not parameters of the text */
    params[i] = 0;
    for (uint32_t k = 0; k < point->n && !there; k++)
      if (strcmp(point->names[k], s->params[i].name) == 0) {
        params[i] = point->values[k];
        there = true;
      }
    for (uint32_t k = 0; k < u->found.nunknowns && !there; k++)
      if (strcmp(u->unknowns[k]->name, s->params[i].name) == 0) {
        params[i] = values[k];
        there = true;
      }
    if (!there)
      return false;
  }
  return true;
}

/* Does this candidate fail where another one failed? */
static bool fails_at(struct params_search *u, struct rounds_proof *p, const struct failing_point *point,
                     const int64_t *values) {
  struct round_shape shape;
  struct proof_attempt *a = attempt_new(p, &shape, false);
  struct proof_result of = {.name = p->model->properties[point->choice.property].name,
                            .environment = p->model->environments[point->choice.environment].name};
  int64_t *params = memory_alloc((a->system->nparams + (size_t)1) * sizeof *params);
  bool failed = false;
  double seconds = seconds_left(u) < point_seconds ? seconds_left(u) : point_seconds;
  if (params_at(u, point, a->system, values, params)) {
    const struct property_result *found = search_instance(p, a, &of, params, true, seconds);
    failed = found && found->trace;
    if (failed)
      add_violation(u, values, found, a->result.runs[0].interp ? a->result.runs[0].interp : a->interp);
  }
  memory_free(params);
  attempt_free(a);
  return failed;
}

/* ---- the text with the values in it ---- */

static struct ast *number_node(struct arena *arena, const struct ast *name, int64_t number) {
  struct ast *a = arena_alloc(arena, sizeof *a);
  *a = (struct ast){.kind = AST_NUMBER, .at = name->at, .word = name->word, .number = number < 0 ? -number : number};
  if (number >= 0)
    return a;
  struct ast *minus = arena_alloc(arena, sizeof *minus);
  *minus = (struct ast){.kind = AST_UNARY, .op = OP_NEG, .at = name->at, .word = name->word, .n = 1};
  minus->kid = arena_array(arena, 1, sizeof *minus->kid);
  minus->kid[0] = a;
  return minus;
}

/* With numbers where expressions read the unknowns and parameters with a value, so that terms are linear. Shares what
   does not change. */
static struct ast *with_numbers(const struct params_search *u, struct arena *arena, struct ast *a,
                                const int64_t *values) {
  if (!a || a->kind == AST_NAMES || a->kind == AST_SAME) /* names that are bound, and of fields */
    return a;
  for (uint32_t i = 0; a->kind == AST_NAME && i < u->found.nunknowns; i++)
    if (strcmp(a->name, u->unknowns[i]->name) == 0)
      return number_node(arena, a, values[i]);
  for (size_t i = 0; a->kind == AST_NAME && i < u->options->defines.n; i++) /* the same as where it is unknown */
    if (strcmp(a->name, u->options->defines.at[i].name) == 0)
      return number_node(arena, a, u->options->defines.at[i].low);
  struct ast *copy = NULL;
  for (uint32_t i = 0; i < a->n; i++) {
    bool names_field = a->kind == AST_TUPLE && a->kid[i] && a->kid[i]->kind == AST_NAME; /* (a, b) has fields a and b */
    struct ast *kid = names_field ? a->kid[i] : with_numbers(u, arena, a->kid[i], values);
    if (kid == a->kid[i])
      continue;
    if (!copy) {
      copy = arena_copy(arena, a, sizeof *a);
      copy->kid = arena_copy(arena, a->kid, a->n * sizeof *a->kid);
    }
    copy->kid[i] = kid;
  }
  return copy ? copy : a;
}

/* ---- one candidate ---- */

static void add_undecided(struct params_search *u, const int64_t *values, const char *property, const char *why) {
  char *note = (char *)arena_printf(&u->arena, "%s%s%s", property ? property : "", property ? ": " : "", why);
  vec_push(&u->found.undecided, ((struct synthesis_values){copy_values(u, values), note}));
}

static void add_solution(struct params_search *u, const struct rounds_proof *p, const int64_t *values) {
  struct text vacuous = {0};
  for (size_t i = 0; i < p->proofs.n; i++) {
    const struct proof_result *r = &p->proofs.at[i];
    if (r->vacuous || r->vacuous_for_few)
      text_addf(&vacuous, "%s%s", vacuous.n ? ", " : "vacuously: ", r->name);
    if (r->proof.certificate)
      text_addf(&u->scripts, "%s%s", u->scripts.n ? "(reset)\n" : "", r->proof.certificate);
  }
  char *note = vacuous.n ? arena_strndup(&u->arena, vacuous.at, vacuous.n) : NULL;
  text_release(&vacuous);
  vec_push(&u->found.solutions, ((struct synthesis_values){copy_values(u, values), note}));
}

/* The properties, one after the other, until one is violated. */
static void prove_candidate(struct params_search *u, struct rounds_proof *p, const struct proof_choices *choices,
                            const int64_t *values) {
  const char *open = NULL, *why = NULL;
  for (size_t i = 0; i < choices->of.n && !p->fault.n && !is_over(u); i++) {
    prove_choice(p, choices->of.at[i]);
    const struct proof_result *r = &p->proofs.at[p->proofs.n - 1];
    if (r->proof.memory > u->found.memory)
      u->found.memory = r->proof.memory;
    if (r->proof.kind == ENGINE_UNSAFE && r->concrete && r->concrete->trace) {
      add_violation(u, values, r->concrete, r->interp);
      if (r->proof.run.params)
        add_point(u, r->system, r->proof.run.params, choices->of.at[i]);
      return;
    }
    if (r->proof.kind != ENGINE_SAFE && !open) {
      open = r->name;
      why = r->proof.limit ? r->proof.limit : "a run could not be confirmed";
    }
  }
  if (p->fault.n)
    text_add(&u->fault, p->fault.at);
  else if (open)
    add_undecided(u, values, open, why);
  else if (is_over(u) && p->proofs.n < choices->of.n)
    add_undecided(u, values, NULL, "there was no time left");
  else
    add_solution(u, p, values);
}

/* The property that is named, or all of them: safety and liveness, because what never happens is safe. False: reported.
 */
static bool choose(const struct params_search *u, const struct rounds_proof *p, struct proof_choices *out) {
  uint32_t environment = 0;
  if (u->options->files.n == 2)
    return choose_proofs(p, out);
  if (u->options->env && !environment_find(u->options->rondo, p->model, u->options->env, &environment))
    return false;
  for (uint32_t i = 0; i < p->model->nproperties; i++) {
    const struct property *x = &p->model->properties[i];
    if (x->kind == PROPERTY_COVER || x->on_request || x->stability_of)
      continue;
    for (uint32_t k = 0; k < (u->options->env ? 1 : x->nenvironments); k++)
      vec_push(&out->of, ((struct proof_choice){i, u->options->env ? environment : x->environments[k]}));
  }
  if (out->of.n == 0)
    context_error(u->options->rondo, E0904, "'%s' has no property of safety or liveness", u->parsed->source.path);
  return out->of.n > 0;
}

static enum judgement judge(struct params_search *u, const int64_t *values) {
  struct round_shape shape;
  bool wrong;
  if (!shape_with(u, values, &shape, &wrong))
    return wrong ? NOT_SUPPORTED : NOT_A_CANDIDATE;
  counter_system_free(shape.system);
  struct command_options o = options_with(u, values);
  struct parsed_file text = *u->parsed;
  struct arena arena;
  arena_init(&arena);
  text.tree = with_numbers(u, &arena, text.tree, values);
  struct rounds_proof p = {.parsed = &text, .options = &o, .quiet = true};
  struct proof_choices choices = {0};
  enum judgement result = JUDGED;
  size_t before = u->found.violations.n;
  bool begun = rounds_proof_begin(&p);
  if (!begun) {
    result = p.impossible ? NOT_A_CANDIDATE : NOT_SUPPORTED;
  } else if (!choose(u, &p, &choices)) {
    result = NOT_SUPPORTED;
  } else {
    for (size_t i = 0; !u->found.nproperties && i < choices.of.n; i++) {
      u->found.properties = arena_array(&u->arena, choices.of.n + 1, sizeof *u->found.properties);
      for (size_t k = 0; k < choices.of.n; k++) {
        const char *name = p.model->properties[choices.of.at[k].property].name;
        u->found.properties[u->found.nproperties++] = arena_strndup(&u->arena, name, strlen(name));
      }
    }
    for (size_t i = u->points.n; i > 0 && u->found.violations.n == before && !is_over(u); i--)
      fails_at(u, &p, &u->points.at[i - 1], values);
    if (u->found.violations.n == before)
      prove_candidate(u, &p, &choices, values);
  }
  vec_release(&choices.of);
  rounds_proof_end(&p);
  candidate_options_release(&o);
  arena_release(&arena);
  return result;
}

/* ---- all candidates ---- */

static bool find_values(struct params_search *u) {
  int64_t *values = first_values(u);
  bool more = true, supported = true;
  while (more && supported && !u->fault.n && !is_over(u)) {
    supported = judge(u, values) != NOT_SUPPORTED;
    more = next_values(u, values);
    if (u->limits.rondo->host.progress && !u->limits.rondo->silent) {
      struct text line = {0};
      text_addf(&line, "%zu solutions, %zu violations", u->found.solutions.n, u->found.violations.n);
      context_progress(u->limits.rondo, line.at);
      text_release(&line);
    }
  }
  context_progress(u->limits.rondo, NULL);
  u->found.exact = !more && supported && !u->fault.n && !u->found.undecided.n;
  u->found.limit = !more                  ? "some values are not decided"
                   : *u->limits.interrupt ? "interrupted"
                                          : "the limit of time was reached";
  memory_free(values);
  return supported || is_over(u);
}

/* The unknowns; the parameters of the model, with these left open. False: reported. */
static bool open_model(struct params_search *u) {
  const struct command_options *o = u->options;
  uint64_t candidates = 1;
  u->unknowns = arena_array(&u->arena, o->defines.n + 1, sizeof *u->unknowns);
  for (size_t i = 0; i < o->defines.n; i++) {
    const struct define *d = &o->defines.at[i];
    if (d->low >= d->high)
      continue;
    u->unknowns[u->found.nunknowns++] = d;
    uint64_t values = (uint64_t)d->high - (uint64_t)d->low + 1;
    candidates =
        values > CANDIDATES_MAX || candidates * values > CANDIDATES_MAX ? CANDIDATES_MAX + 1 : candidates * values;
  }
  if (candidates > CANDIDATES_MAX) {
    context_error(o->rondo, E0705, "these ranges have more than %d values", CANDIDATES_MAX);
    return false;
  }
  struct round_shape shape;
  int64_t *values = first_values(u);
  bool ok = false, wrong = false;
  do
    ok = shape_with(u, values, &shape, &wrong);
  while (!ok && !wrong && next_values(u, values));
  memory_free(values);
  if (!ok && !wrong)
    context_error(o->rondo, E0703, "no values satisfy the conditions on the parameters");
  u->open = ok ? shape.system : NULL;
  uint32_t *at = arena_array(&u->arena, u->found.nunknowns + (size_t)1, sizeof *at);
  int64_t *low = arena_array(&u->arena, u->found.nunknowns + (size_t)1, sizeof *low);
  int64_t *high = arena_array(&u->arena, u->found.nunknowns + (size_t)1, sizeof *high);
  for (uint32_t i = 0; i < u->found.nunknowns && ok; i++) {
    for (uint32_t k = 0; k < u->open->nparams; k++)
      if (!u->open->params[k].of && strcmp(u->open->params[k].name, u->unknowns[i]->name) == 0)
        at[i] = k;
    low[i] = u->unknowns[i]->low;
    high[i] = u->unknowns[i]->high;
    u->open->params[at[i]].is = NULL; /* it was given a value, so that everything is linear */
  }
  u->found.unknowns = at;
  u->found.low = low;
  u->found.high = high;
  u->found.open = u->open;
  u->found.model = true;
  return ok;
}

int threshold_params(const struct parsed_file *parsed, const struct command_options *o) {
  struct params_search u = {.parsed = parsed, .options = o, .start = clock_seconds()};
  int status = EXIT_BAD_INPUT;
  if (solver_missing()) {
    context_error(o->rondo, E0817, "%s: a counter system is derived with one", solver_missing());
    return status;
  }
  arena_init(&u.arena);
  u.limits = prove_limits(o);
  watch_answer(o->rondo, u.start + u.limits.seconds, u.limits.asked);
  if (open_model(&u) && find_values(&u) && !u.fault.n) {
    u.found.seconds = clock_seconds() - u.start;
    status = synthesis_answer(&u.found, o, &u.scripts);
  }
  if (u.fault.n) {
    context_error(o->rondo, E1001, "a fault of rondo itself: %s", u.fault.at);
    status = EXIT_FAULT;
  }
  for (size_t i = 0; i < u.found.violations.n; i++)
    json_decref(u.found.violations.at[i].trace);
  vec_release(&u.found.solutions);
  vec_release(&u.found.undecided);
  vec_release(&u.found.violations);
  vec_release(&u.points);
  counter_system_free(u.open);
  text_release(&u.scripts);
  text_release(&u.fault);
  arena_release(&u.arena);
  return status;
}
