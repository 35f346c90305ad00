/* A model of rounds, for all values of its parameters: each property by way of the counter system
   that is derived for it. A violation of the counter system counts only if the search finds one of the
   algorithm, with the parameters of that run. */
#include "driver/prove_rounds.h"
#include "driver/context.h"
#include "driver/jobs.h"
#include "driver/semantics.h"
#include "lang/coordinator_view.h"
#include "symbolic/solver.h"

#include <inttypes.h>
#include <string.h>

enum { PROCESSES_AT_LEAST = 4 };
#define SEARCH_SECONDS 3.0 /* for a violation with few processes, where the first derivation decides nothing */

static double seconds_left(const struct rounds_proof *p) {
  double left = p->deadline - clock_seconds();
  return left > 0.001 ? left : 0.001;
}

bool rounds_shape(const struct rounds_proof *p, struct round_shape *shape, bool say) {
  struct diags diags;
  diags_init(&diags, &p->parsed->source);
  bool ok = rounds_param_system(p->parsed->tree, &p->parsed->source, p->given, p->options->defines.n, shape, &diags);
  if (say)
    context_diagnostics(p->options->rondo, &diags);
  diags_release(&diags);
  return ok;
}

/* ---- the first instance ---- */

/* The parameter whose name is at that place of the text. NULL: there is none. */
static const char *param_at(const struct rounds_proof *p, const struct counter_system *s, struct span at) {
  for (uint32_t i = 0; i < s->nparams; i++)
    if (!s->params[i].of && strlen(s->params[i].name) == at.to - at.from &&
        strncmp(s->params[i].name, p->parsed->source.text + at.from, at.to - at.from) == 0)
      return s->params[i].name;
  return NULL;
}

/* Does this parameter, which has no value, decide about a type? At that place of the text. */
static bool is_free_in_type(const struct rounds_proof *p, const struct counter_system *s, uint32_t i, struct span *at) {
  const struct counter_param *param = &s->params[i];
  if (param->of || (param->is && param->is->op == TERM_NUMBER))
    return false;
  *at = param_decides_type(p->parsed->tree, s, param->name);
  return at->to > 0;
}

const char *param_of_types(const struct rounds_proof *p, const struct counter_system *s) {
  const char *found = NULL;
  for (uint32_t i = 0; i < s->nparams; i++) {
    struct span at;
    if (!is_free_in_type(p, s, i, &at))
      continue;
    const char *name = param_at(p, s, at);
    if (!name || (found && strcmp(found, name) != 0))
      return NULL;
    found = name;
  }
  return found;
}

/* Parameters without a value must not decide about types. */
static bool types_are_fixed(const struct rounds_proof *p, const struct counter_system *s) {
  struct diags diags;
  diags_init(&diags, &p->parsed->source);
  for (uint32_t i = 0; i < s->nparams; i++) {
    struct span at;
    if (!is_free_in_type(p, s, i, &at))
      continue;
    const char *name = param_at(p, s, at);
    name = name ? name : s->params[i].name;
    diag_error(&diags, E0706, at, "the parameter '%s' decides about a type, so it cannot be left free", name);
    diag_help(&diags, "%s%sgive it a value, as in -D %s=2", p->why_not ? p->why_not : "", p->why_not ? "; " : "", name);
  }
  bool ok = diags.errors == 0;
  context_diagnostics(p->options->rondo, &diags);
  diags_release(&diags);
  return ok;
}

/* Prefers instances with enough processes and with faults: adds each of these constraints if it is satisfiable. */
static void add_preferences(struct solver *solver, const struct counter_graph *g, const struct round_shape *shape) {
  int64_t least[2] = {0, 1};
  for (uint32_t i = 0; i < g->nparams; i++) {
    bool size = shape->size->op == TERM_PARAM && shape->size->index == g->param[i];
    for (least[0] = size ? -PROCESSES_AT_LEAST : -1; least[0] < 1; least[0]++) {
      solver_push(solver);
      solver_add_row(solver, least, 2, false, &i);
      bool there = solver_check(solver) == ANSWER_YES;
      solver_pop(solver);
      if (there)
        break;
    }
    if (least[0] < 1)
      solver_add_row(solver, least, 2, false, &i);
  }
}

/* Finds the smallest possible value of the variable and fixes it. */
static bool fix_smallest(struct solver *solver, uint32_t variable, int64_t *found) {
  bool ok = solver_check(solver) == ANSWER_YES && solver_value(solver, variable, found);
  for (int64_t smaller = *found - 1, tried = 0; ok && smaller >= 0 && tried < 100; smaller--, tried++) {
    solver_push(solver);
    solver_add_value(solver, variable, smaller);
    if (solver_check(solver) == ANSWER_YES)
      *found = smaller;
    solver_pop(solver);
  }
  if (ok)
    solver_add_value(solver, variable, *found);
  return ok;
}

/* Small values that satisfy the conditions; with two passes at least where they are not fixed. */
static bool find_instance(const struct round_shape *shape, const volatile sig_atomic_t *stop,
                          struct param_binding *bindings) {
  const struct counter_system *s = shape->system;
  struct term two = {.op = TERM_NUMBER, .number = 2}, *start = s->start;
  struct term passes = {.op = TERM_LE, .kid = {&two, shape->passes}};
  struct counter_property nothing = {.from = shape->passes ? &passes : start, .unsafe = start};
  struct text why = {0};
  struct counter_graph *g = counter_graph_unfold(s, &nothing, false, stop, &why);
  text_release(&why);
  if (!g || g->locations.n == 0) {
    counter_graph_free(g);
    return false;
  }
  struct solver *solver = solver_new();
  solver_watch(solver, stop);
  solver_variables(solver, g->nvars);
  solver_add_any(solver, g->conditions.at, g->conditions.n, NULL);
  solver_add_any(solver, g->locations.at[0].start.at, g->locations.at[0].start.n, NULL);
  add_preferences(solver, g, shape);
  int64_t *values = memory_alloc((s->nparams + (size_t)1) * sizeof *values);
  bool ok = solver_check(solver) == ANSWER_YES;
  for (uint32_t i = 0; i < g->nparams && ok; i++)
    ok = fix_smallest(solver, i, &values[g->param[i]]);
  ok = ok && counter_params_hold(s, false, values);
  for (uint32_t i = 0, n = 0; i < s->nparams && ok; i++)
    if (!s->params[i].of)
      bindings[n++] = (struct param_binding){s->params[i].name, values[i]};
  memory_free(values);
  solver_free(solver);
  counter_graph_free(g);
  return ok;
}

static uint32_t count_bound_params(const struct counter_system *s) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->nparams; i++)
    n += !s->params[i].of;
  return n;
}

static struct model *model_with(const struct rounds_proof *p, const struct counter_system *s,
                                const struct param_binding *bindings, bool quiet) {
  struct text error = {0};
  struct model *m = model_load(p->parsed, bindings, count_bound_params(s), false, quiet, &error);
  text_release(&error);
  return m;
}

struct model *rounds_proof_copy(const struct rounds_proof *p) {
  const struct model *m = p->model;
  struct param_binding *bindings = memory_alloc((m->nparams + (size_t)1) * sizeof *bindings);
  struct text error = {0};
  for (uint32_t i = 0; i < m->nparams; i++)
    bindings[i] = (struct param_binding){m->params[i].name, m->params[i].value};
  struct model *copy = model_load(p->view.tree ? &p->view : p->parsed, bindings, m->nparams, false, true, &error);
  text_release(&error);
  memory_free(bindings);
  return copy;
}

/* With coordinators that take turns as oracles, if there are any. */
static void take_view(struct rounds_proof *p, const struct counter_system *s, const struct param_binding *bindings) {
  struct text error = {0};
  arena_init(&p->view_arena);
  struct ast *tree = p->model->kind == MODEL_ROUNDS ? coordinator_view(p->parsed->tree, &p->view_arena) : NULL;
  if (!tree)
    return;
  p->view = *p->parsed;
  p->view.tree = tree;
  struct model *m = model_load(&p->view, bindings, count_bound_params(s), false, true, &error);
  text_release(&error);
  if (m) {
    model_free(p->model);
    p->model = m;
  } else {
    p->view.tree = NULL;
  }
}

static bool find_first_instance(struct rounds_proof *p) {
  struct round_shape shape;
  if (!rounds_shape(p, &shape, true))
    return false;
  struct counter_system *s = shape.system;
  struct term yes = {.op = TERM_NUMBER, .number = 1};
  struct param_binding *bindings = memory_alloc((s->nparams + (size_t)1) * sizeof *bindings);
  s->start = &yes;
  bool ok = types_are_fixed(p, s);
  watch_time(p->options->rondo, seconds_left(p));
  bool found = ok && find_instance(&shape, p->limits.interrupt, bindings);
  p->stopped = *p->limits.interrupt != 0;
  watch_time(p->options->rondo, 0);
  if (ok && p->stopped)
    context_error(p->options->rondo, N0106,
                  "stopped by a limit or a signal while values for the parameters were looked for");
  else if (ok && !found && p->quiet)
    p->impossible = true;
  else if (ok && !found)
    context_error(p->options->rondo, E0703, "no values satisfy the conditions on the parameters");
  ok = found && !p->stopped;
  if (ok)
    p->model = model_with(p, s, bindings, false);
  if (p->model)
    take_view(p, s, bindings);
  memory_free(bindings);
  counter_system_free(s);
  if (p->model) {
    p->interp = interpreter_new(p->model);
    interpreter_watch(p->interp, p->limits.interrupt);
  }
  return p->model != NULL;
}

/* ---- the search confirms violations of the counter system ---- */

/* The file without its conditions of `resilience`. */
struct open_file {
  struct parsed_file parsed; /* borrows from the file */
  struct ast tree, **kids;
};

static void open_file_init(struct open_file *f, const struct parsed_file *parsed) {
  f->parsed = *parsed;
  f->tree = *parsed->tree;
  f->kids = memory_alloc((f->tree.n + (size_t)1) * sizeof *f->kids);
  f->tree.n = 0;
  for (uint32_t i = 0; i < parsed->tree->n; i++)
    if (parsed->tree->kid[i]->kind != AST_RESILIENCE)
      f->kids[f->tree.n++] = parsed->tree->kid[i];
  f->tree.kid = f->kids;
  f->parsed.tree = &f->tree;
}

static void open_file_release(struct open_file *f) { memory_free(f->kids); }

/* The instance of a run, whatever `resilience` says; all its parameters are given. */
static struct model *instance_of(const struct open_file *f, const struct counter_system *s,
                                 const struct param_binding *bindings) {
  struct text error = {0};
  struct model *m = model_load(&f->parsed, bindings, count_bound_params(s), false, true, &error);
  text_release(&error);
  return m;
}

void attempt_drop_instance(struct proof_attempt *a) {
  if (a->model)
    check_result_release(&a->result);
  interpreter_free(a->interp);
  model_free(a->model);
  a->result = (struct check_result){0};
  a->interp = NULL;
  a->model = NULL;
}

static struct param_binding *bindings_of(const struct counter_system *s, const int64_t *params) {
  struct param_binding *bindings = memory_alloc((s->nparams + (size_t)1) * sizeof *bindings);
  for (uint32_t i = 0, n = 0; i < s->nparams; i++)
    if (!s->params[i].of)
      bindings[n++] = (struct param_binding){s->params[i].name, params[i]};
  return bindings;
}

struct model *rounds_proof_instance(const struct rounds_proof *p, const struct counter_system *s, const int64_t *params,
                                    bool open) {
  struct param_binding *bindings = bindings_of(s, params);
  struct open_file file;
  open_file_init(&file, p->parsed);
  struct model *m = open ? instance_of(&file, s, bindings) : model_with(p, s, bindings, true);
  open_file_release(&file);
  memory_free(bindings);
  return m;
}

const struct property_result *search_instance(struct rounds_proof *p, struct proof_attempt *a,
                                              const struct proof_result *of, const int64_t *params, bool strictly,
                                              double seconds) {
  struct param_binding *bindings = bindings_of(a->system, params);
  struct command_options o = *p->options;
  struct query_groups in;
  struct text fault = {0};
  struct open_file file; /* live properties check the model once more */
  open_file_init(&file, p->parsed);
  VEC(const char *) only = {0};
  const struct property_result *found = NULL;
  vec_push(&only, of->name);
  o.properties.at = only.at;
  o.properties.n = 1;
  o.env = of->environment;
  o.limits = (struct limits){.seconds = seconds, .memory = p->limits.memory, .interrupt = p->limits.interrupt};
  a->model = strictly ? model_with(p, a->system, bindings, true) : instance_of(&file, a->system, bindings);
  if (a->model && query_groups_make(&in, a->model, &o)) {
    a->interp = interpreter_new(a->model);
    struct query_context about = {.parsed = strictly ? p->parsed : &file.parsed,
                                  .bindings = bindings,
                                  .nbindings = count_bound_params(a->system),
                                  .model = a->model,
                                  .interp = a->interp,
                                  .arena = &a->arena,
                                  .options = &o,
                                  .semantics = p->model->kind == MODEL_ROUNDS ? SEMANTICS_COARSE : SEMANTICS_M};
    if (query_groups_answer(&in, &about, &a->result, NULL, &fault) && a->result.nruns > 0 &&
        a->result.runs[0].nproperties > 0 && a->result.runs[0].properties[0].verdict == VERDICT_VIOLATED)
      found = &a->result.runs[0].properties[0];
    query_groups_release(&in);
  }
  text_release(&fault);
  open_file_release(&file);
  vec_release(&only);
  memory_free(bindings);
  return found;
}

/* Tries fewer processes first, because the run of an engine need not be the smallest. */
#define FEW_PROCESSES 12
static const struct property_result *search_smaller_instances(struct rounds_proof *p, struct proof_attempt *a,
                                                              struct proof_result *of,
                                                              const struct round_shape *shape) {
  const struct counter_system *s = a->system;
  const struct property_result *found = NULL;
  if (shape->size->op != TERM_PARAM)
    return NULL;
  int64_t *params = memory_alloc((s->nparams + (size_t)1) * sizeof *params);
  memcpy(params, of->proof.run.params, s->nparams * sizeof *params);
  int64_t *size = &params[shape->size->index], most = *size;
  for (*size = 1; *size < most && *size <= FEW_PROCESSES; ++*size) {
    found =
        search_instance(p, a, of, params, true, seconds_left(p) / 2); /* something must be left for the run itself */
    if (found)
      break;
    attempt_drop_instance(a);
    if (*p->limits.interrupt)
      break;
  }
  if (found) /* the algorithm's run is shown, so report its parameters */
    of->proof.run.params[shape->size->index] = *size;
  memory_free(params);
  return found;
}

struct interpreter *interpreter_of_found(const struct proof_attempt *a) {
  struct interpreter *own = a->model && a->result.nruns > 0 ? a->result.runs[0].interp : NULL;
  return own ? own : a->interp;
}

/* A violation of the counter system counts only if the search finds one of the algorithm. */
static void confirm_violation(struct rounds_proof *p, struct proof_attempt *a, const struct round_shape *shape,
                              struct proof_result *out) {
  out->concrete = search_smaller_instances(p, a, out, shape);
  if (!out->concrete)
    out->concrete = search_instance(p, a, out, out->proof.run.params, false, seconds_left(p));
  out->interp = interpreter_of_found(a);
  if (out->concrete)
    return;
  struct text why = {0};
  bool late = clock_seconds() >= p->deadline, interrupted = *p->limits.interrupt;
  char *stopped = proof_undecided(&p->limits, late, interrupted,
                                  " while the search looked for a run of the counter system in the algorithm,");
  text_add(&why, late || interrupted ? stopped
                                     : "the counter system is too coarse: it has a run that the search did not find in "
                                       "the algorithm,");
  memory_free(stopped);
  const char *comma = "";
  for (uint32_t i = 0; i < a->system->nparams; i++)
    if (!a->system->params[i].of) {
      text_addf(&why, "%s %s = %" PRId64, comma, a->system->params[i].name, out->proof.run.params[i]);
      comma = ",";
    }
  counter_run_release(&out->proof.run);
  out->proof.kind = ENGINE_UNDECIDED;
  out->proof.limit = why.at;
}

struct proof_attempt *attempt_new(const struct rounds_proof *p, struct round_shape *shape, bool open) {
  struct proof_attempt *a = memory_alloc(sizeof *a);
  arena_init(&a->arena);
  rounds_shape(p, shape, false); /* errors were reported before */
  shape->open = open;
  a->system = shape->system;
  return a;
}

void refusal_print(const struct rounds_proof *p, const struct proof_attempt *a, struct text *out) {
  uint32_t line, column;
  source_place(&p->model->source, a->derivation.at.from, &line, &column);
  text_addf(out, "no counter system: %s", a->derivation.refused);
  if (a->derivation.at.to)
    text_addf(out, " (line %" PRIu32 ")", line);
}

void attempt_free(struct proof_attempt *a) {
  attempt_drop_instance(a);
  arena_release(&a->arena);
  derivation_release(&a->derivation);
  interpreter_free(a->product_interp);
  model_free(a->product_model);
  handler_system_free(a->handlers);
  counter_system_free(a->premise);
  counter_system_free(a->runs);
  counter_system_free(a->system);
  memory_free(a);
}

/* Ended by a limit before there was a counter system. */
static char *stopped_by(const struct rounds_proof *p, sig_atomic_t why) {
  return proof_undecided(&p->limits, why == INTERRUPT_TIME, true, " while the counter system was derived");
}

void cross_check(struct rounds_proof *p, struct proof_attempt *a, const struct round_shape *shape,
                 const struct query *q, struct proof_result *out) {
  bool ok = compare_derived(p, a, shape, q, &out->compared) && search_small(p, a, shape, out);
  out->is_compared = ok;
  if (ok) {
    certificate_note_comparison(out);
    return;
  }
  proof_release(&out->proof);
  out->proof = (struct proof){0};
  struct text why = {0};
  text_addf(&why, "no verdict; %s", p->fault.n ? "a fault of rondo itself" : comparison_failure(p, &out->compared));
  out->proof.limit = why.at;
}

/* The ways to derive a system, from the simplest to the most exact. The engines get that share of the time that is
   left. */
static const struct derive_way {
  enum derive_mode mode;
  enum round_form form;
  double share;
} derive_ways[] = {{DERIVE_FLAGS, ROUND_AUTOMATIC, 0.25},
                   {DERIVE_FLAGS, ROUND_IN_TURNS, 0.6},
                   {DERIVE_COUNTED, ROUND_IN_TURNS, 0.5},
                   {DERIVE_WHOLE, ROUND_AUTOMATIC, 1}};
enum { DERIVE_WAYS = sizeof derive_ways / sizeof *derive_ways };

/* False: out->proof.limit says why there is no counter system. */
static bool derive_attempt(struct rounds_proof *p, struct proof_attempt *a, const struct round_shape *shape,
                           const struct query *q, const struct derive_way *way, struct proof_result *out) {
  struct text why = {0};
  watch_time(p->options->rondo, seconds_left(p));
  uint64_t form = p->options->rondo->tests.round_form;
  bool derived = p->model->kind == MODEL_ROUNDS ? derive_as(&a->derivation, shape, p->interp, q, way->mode,
                                                            form == 1   ? ROUND_JOINT
                                                            : form == 2 ? ROUND_IN_TURNS
                                                                        : way->form,
                                                            p->limits.interrupt)
                                                : derive_handlers(p, a, shape, q);
  sig_atomic_t stopped = *p->limits.interrupt;
  watch_time(p->options->rondo, 0);
  if (derived)
    return true;
  if (a->derivation.stopped) {
    out->proof.limit = stopped_by(p, stopped);
  } else {
    refusal_print(p, a, &why);
    out->proof.limit = why.at;
  }
  return false;
}

static struct proof_attempt *prove_by(struct rounds_proof *p, const struct query *q, const struct derive_way *way,
                                      struct proof_result *out) {
  struct round_shape shape;
  struct proof_attempt *a = attempt_new(p, &shape, false);
  out->system = a->system;
  out->concrete = NULL;
  out->is_compared = false;
  out->compared = (struct validation){0};
  out->searched = 0;
  out->proof = (struct proof){0};
  if (!derive_attempt(p, a, &shape, q, way, out)) /* the counter system */
    return a;
  struct proof_limits limits = p->limits;
  bool alone = way->form == ROUND_AUTOMATIC && way->mode == DERIVE_FLAGS && !a->derivation.leaves_apart;
  limits.seconds = seconds_left(p) * (alone ? 2 * way->share : way->share); /* the next way is left out */
  const struct counter_system *s = a->runs ? a->runs : a->system;
  out->system = s;
  prove_property(s, &s->properties[0], p->options, &limits, &out->proof); /* unfold, engines, check */
  if (out->proof.kind == ENGINE_UNSAFE)
    confirm_violation(p, a, &shape, out); /* the search must find it in the algorithm */
  else if (out->proof.kind == ENGINE_SAFE)
    cross_check(p, a, &shape, q, out); /* few processes: derivation against interpreter, verdict against search */
  limits.seconds = seconds_left(p);
  if (out->proof.kind == ENGINE_SAFE && a->premise)
    out->vacuous = attempt_is_vacuous(a, p->options, &limits);
  return a;
}

/* Why it did not get any further. */
static void add_reason(struct proof *proof, const char *exactly) {
  struct text t = {0};
  if (!proof->limit || strcmp(proof->limit, exactly) == 0)
    return;
  text_addf(&t, "%s; and an exact one cannot be had: %s", proof->limit, exactly);
  memory_free(proof->limit);
  proof->limit = t.at;
}

/* Nothing is decided so far: few processes are searched, within part of the time that is left. Returns the attempt that
   the result is about. */
static struct proof_attempt *try_few(struct rounds_proof *p, struct proof_attempt *a, struct proof_result *out) {
  struct small_verdicts few;
  double left = seconds_left(p) / 4;
  struct proof_result searched = {.name = out->name, .environment = out->environment, .live = out->live};
  if (out->proof.kind != ENGINE_UNDECIDED || p->fault.n || *p->limits.interrupt)
    return a;
  struct proof_attempt *found = search_violation(p, &searched, left < SEARCH_SECONDS ? left : SEARCH_SECONDS, &few);
  if (!found)
    return a;
  proof_release(&out->proof);
  validation_release(&out->compared);
  attempt_free(a);
  *out = searched;
  return found;
}

/* The simplest derivation first, then more exact ones, within one time limit; after the first one few processes are
   searched. If none decides, the last one that produced anything is reported. */
static void prove_one(struct rounds_proof *p, uint32_t property, uint32_t environment) {
  struct proof_result out = {.name = p->model->properties[property].name,
                             .environment = p->model->environments[environment].name};
  struct query q = {
      .environment = environment, .semantics = SEMANTICS_COARSE, .properties = &property, .nproperties = 1};
  double start =
      p->proofs.n > 0 ? clock_seconds() : p->deadline - p->limits.seconds; /* the first: with the beginning */
  p->deadline = start + p->limits.seconds;
  watch_answer(p->options->rondo, p->deadline, p->limits.asked);
  bool rounds = p->model->kind == MODEL_ROUNDS;
  q.semantics = rounds ? SEMANTICS_COARSE : SEMANTICS_M;
  struct proof_attempt *a = prove_by(p, &q, &derive_ways[rounds ? 0 : DERIVE_WAYS - 1], &out);
  bool leaves_apart = a->derivation.leaves_apart;
  a = try_few(p, a, &out);
  for (int i = 1; i < DERIVE_WAYS && rounds; i++) {
    const struct derive_way *way = &derive_ways[i];
    if (out.proof.kind != ENGINE_UNDECIDED || p->fault.n || *p->limits.interrupt || a->derivation.refused ||
        clock_seconds() >= p->deadline)
      break;
    if (way->mode == DERIVE_FLAGS && !leaves_apart) /* not more exact than before */
      continue;
    struct proof_result next = out;
    struct proof_attempt *b = prove_by(p, &q, way, &next);
    bool better = next.proof.kind != ENGINE_UNDECIDED || next.proof.nreports > 0;
    if (!better && way->mode == DERIVE_WHOLE && next.proof.limit && !*p->limits.interrupt &&
        clock_seconds() < p->deadline)
      add_reason(&out.proof, next.proof.limit);
    proof_release(better ? &out.proof : &next.proof);
    validation_release(better ? &out.compared : &next.compared);
    attempt_free(better ? a : b);
    out = better ? next : out;
    a = better ? b : a;
  }
  out.proof.seconds = clock_seconds() - start; /* all of it */
  vec_push(&p->proofs, out);
  vec_push(&p->attempts, a);
}

/* Safety properties in their environments; by name, or all. */
bool choose_proofs(const struct rounds_proof *p, struct proof_choices *out) {
  const struct command_options *o = p->options;
  uint32_t environment = 0, property;
  bool *wanted = memory_alloc((p->model->nproperties + (size_t)1) * sizeof *wanted);
  bool ok = !o->env || environment_find(o->rondo, p->model, o->env, &environment);
  for (size_t i = 0; i < o->properties.n && ok; i++)
    if ((ok = property_find(o->rondo, p->model, o->properties.at[i], &property)))
      wanted[property] = true;
  for (uint32_t i = 0; i < p->model->nproperties && ok; i++) {
    const struct property *x = &p->model->properties[i];
    bool provable = x->kind == PROPERTY_SAFETY || (x->kind == PROPERTY_LIVE && p->model->kind != MODEL_ROUNDS);
    if (o->properties.n ? !wanted[i] : !provable || x->on_request || x->stability_of)
      continue;
    for (uint32_t k = 0; k < (o->env ? 1 : x->nenvironments); k++)
      vec_push(&out->of, ((struct proof_choice){i, o->env ? environment : x->environments[k]}));
  }
  if (ok && out->of.n == 0) {
    context_error(o->rondo, E0904, "'%s' has no safety property", p->parsed->source.path);
    ok = false;
  }
  memory_free(wanted);
  return ok;
}

void prove_choice(struct rounds_proof *p, struct proof_choice c) {
  bool live = p->model->properties[c.property].kind == PROPERTY_LIVE && p->model->kind == MODEL_ROUNDS;
  (live ? prove_live : prove_one)(p, c.property, c.environment);
}

static bool prove_all(struct rounds_proof *p) {
  struct proof_choices choices = {0};
  bool ok = choose_proofs(p, &choices);
  for (size_t i = 0; i < choices.of.n && ok && !p->fault.n; i++)
    prove_choice(p, choices.of.at[i]);
  vec_release(&choices.of);
  return ok;
}

bool rounds_proof_begin(struct rounds_proof *p) {
  const struct command_options *o = p->options;
  p->limits = prove_limits(o);
  p->deadline = clock_seconds() + p->limits.seconds;
  watch_answer(o->rondo, p->deadline, p->limits.asked);
  p->given = bindings_single(o, true);
  return p->given && find_first_instance(p);
}

void rounds_proof_end(struct rounds_proof *p) {
  for (size_t i = 0; i < p->proofs.n; i++) {
    proof_release(&p->proofs.at[i].proof);
    validation_release(&p->proofs.at[i].compared);
  }
  text_release(&p->fault);
  for (size_t i = 0; i < p->attempts.n; i++)
    attempt_free(p->attempts.at[i]);
  vec_release(&p->proofs);
  vec_release(&p->attempts);
  interpreter_free(p->interp);
  model_free(p->model);
  if (p->model)
    arena_release(&p->view_arena);
  memory_free(p->given);
  memory_free(p->why_not);
}

int prove_rounds(const struct parsed_file *parsed, const struct command_options *o) {
  struct rounds_proof p = {.parsed = parsed, .options = o};
  int status = EXIT_BAD_INPUT;
  if (prove_any_values(&p, &status))
    return status;
  bool done = rounds_proof_begin(&p) && prove_all(&p);
  if (p.stopped)
    status = EXIT_INCONCLUSIVE;
  if (p.fault.n) {
    context_error(o->rondo, E1001, "a fault of rondo itself: %s", p.fault.at);
    status = EXIT_FAULT;
  } else if (done) {
    status = prove_report(o, p.proofs.at, (uint32_t)p.proofs.n);
  }
  rounds_proof_end(&p);
  return status;
}

/* ---- the counter system itself ---- */

struct derived_system {
  struct rounds_proof p;
  struct proof_result of;
  struct round_shape shape;
  struct proof_attempt there; /* the instance that was searched last; without a system: none was */
  const struct property_result *found;
};

static void drop_searched(struct derived_system *r) {
  if (!r->there.system)
    return;
  attempt_drop_instance(&r->there);
  arena_release(&r->there.arena);
  r->there = (struct proof_attempt){0};
  r->found = NULL;
}

void derived_system_close(struct derived_system *r) {
  if (!r)
    return;
  drop_searched(r);
  rounds_proof_end(&r->p);
  memory_free(r);
}

const struct counter_system *derived_system_counters(const struct derived_system *r) {
  const struct proof_attempt *a = r->p.attempts.at[0];
  return a->runs ? a->runs : a->system;
}

bool derived_system_violated(struct derived_system *r, const int64_t *params, double seconds) {
  drop_searched(r);
  r->there.system = r->p.attempts.at[0]->system; /* for its parameters */
  arena_init(&r->there.arena);
  r->found = search_instance(&r->p, &r->there, &r->of, params, false, seconds);
  return r->found;
}

const struct property_result *derived_system_found(const struct derived_system *r, struct interpreter **interp) {
  *interp = interpreter_of_found(&r->there);
  return r->found && r->found->trace ? r->found : NULL;
}

bool rounds_have_free_params(const struct parsed_file *parsed, const struct command_options *o) {
  struct rounds_proof p = {.parsed = parsed, .options = o};
  struct round_shape shape = {0};
  bool left = false;
  p.given = bindings_lowest(o);
  if (rounds_shape(&p, &shape, false)) {
    for (uint32_t i = 0; i < shape.system->nparams; i++)
      left |= !shape.system->params[i].is && !shape.system->params[i].of;
    counter_system_free(shape.system);
  }
  memory_free(p.given);
  return left;
}

static bool open_derived(struct derived_system *r, const struct command_options *o, const char *property, bool open,
                         int *status) {
  struct rounds_proof *p = &r->p;
  struct round_shape shape;
  struct validation compared;
  struct text why = {0};
  uint32_t environment = 0, index = 0;
  bool begun = rounds_proof_begin(p);
  if (p->stopped)
    *status = EXIT_INCONCLUSIVE;
  if (!begun || !property_find(o->rondo, p->model, property, &index))
    return false;
  environment = p->model->properties[index].environments[0];
  if (o->env && !environment_find(o->rondo, p->model, o->env, &environment))
    return false;
  struct query q = {.environment = environment, .semantics = SEMANTICS_COARSE, .properties = &index, .nproperties = 1};
  struct proof_attempt *a = attempt_new(p, &shape, open);
  r->of = (struct proof_result){.name = p->model->properties[index].name,
                                .environment = p->model->environments[environment].name};
  vec_push(&p->attempts, a);
  r->shape = shape;
  watch_time(o->rondo, seconds_left(p));
  bool rounds = p->model->kind == MODEL_ROUNDS;
  q.semantics = rounds ? SEMANTICS_COARSE : SEMANTICS_M;
  bool ok = rounds ? derive(&a->derivation, &shape, p->interp, &q, DERIVE_COUNTED, p->limits.interrupt)
                   : derive_handlers(p, a, &shape, &q);
  sig_atomic_t stopped = *p->limits.interrupt;
  watch_time(o->rondo, 0);
  if (!ok && a->derivation.stopped) {
    why.at = stopped_by(p, stopped);
    *status = EXIT_INCONCLUSIVE;
  } else if (!ok) {
    refusal_print(p, a, &why);
    *status = open ? EXIT_INCONCLUSIVE : EXIT_BAD_INPUT; /* no answer, or no file */
  } else {
    ok = compare_derived(p, a, &shape, &q, &compared);
    if (!ok && !compared.difference.n) {
      text_add(&why, comparison_failure(p, &compared));
      *status = EXIT_INCONCLUSIVE;
    } else if (!ok) {
      text_addf(&why, "a fault of rondo itself: %s", p->fault.at);
      *status = EXIT_FAULT;
    }
    validation_release(&compared);
  }
  if (!ok)
    context_error(o->rondo, E0904, "%s", why.at);
  memory_free(why.at);
  return ok;
}

struct derived_system *derived_system_open(const struct parsed_file *parsed, const struct command_options *o,
                                           const char *property, bool open, int *status) {
  struct derived_system *r = memory_alloc(sizeof *r);
  r->p = (struct rounds_proof){.parsed = parsed, .options = o};
  *status = EXIT_BAD_INPUT;
  if (solver_missing())
    context_error(o->rondo, E0817, "%s: a counter system is derived with one", solver_missing());
  else if (open_derived(r, o, property, open, status))
    return r;
  derived_system_close(r);
  return NULL;
}

struct disagreement_search {
  struct derived_system *r;
  params_safe_fn *safe;
  void *context;
  double end;
  bool found;
};

static bool disagreement_at(void *context, const int64_t *params) {
  struct disagreement_search *d = context;
  double left = d->end - clock_seconds();
  if (left > 0.01 && d->safe(d->context, params))
    d->found |= derived_system_violated(d->r, params, left);
  return left > 0.01 && !d->found && !*d->r->p.limits.interrupt;
}

bool derived_system_disagrees(struct derived_system *r, double seconds, params_safe_fn *safe, void *context) {
  struct disagreement_search d = {r, safe, context, clock_seconds() + seconds, false};
  small_instances(derived_system_counters(r), &r->shape, disagreement_at, &d);
  return d.found;
}
