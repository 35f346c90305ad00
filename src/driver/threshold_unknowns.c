/* rondo threshold for automata with unknowns: all values for which the specifications hold, for all parameters (Lazic,
   Konnov, Widder, Bloem 2017).

   A solver proposes values that no violation rules out so far. They are put into the automaton, whose specifications
   are proved as usual. A violation rules out all values for which its run is a run that violates the same specification
   (param/unknown_values.h). Values whose proofs succeed are a solution. It ends when the solver has nothing left to
   propose. */
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/files.h"
#include "driver/prove.h"
#include "param/unknown_values.h"
#include "symbolic/solver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  QUICK_STATES = 30000,    /* of the explicit search before the proofs */
  VALUE_DEFAULT = 4,       /* values from -4 to 4, of unknowns that no assumption speaks of */
  VALUE_MOST = 32,         /* in absolute value, of the others */
  SCRIPT_BYTES = 64 << 20, /* of all conditions */
  SOLUTIONS_MAX = 10000,
};
static const double candidate_seconds = 60; /* for one specification of one candidate */

struct candidate_systems {
  struct threshold_automaton *automaton;
  struct counter_system **systems; /* by specification; NULL: not required */
};

struct unknowns_search {
  const struct command_options *options;
  const struct source *source;
  struct threshold_automaton *open;
  struct arena arena;
  struct param_binding *bindings; /* those of -D, then the unknowns */
  size_t nbindings;               /* of -D */
  bool *chosen;                   /* specifications */
  struct proof_limits limits;
  double start;
  struct text conditions; /* SMT-LIB: which values are left */
  struct text scripts;    /* certificates */
  int64_t *low, *high;
  VEC(struct candidate_systems) kept; /* violations refer to them */
  struct synthesis found;
};

static double seconds_left(const struct unknowns_search *u) {
  double left = u->limits.seconds - (clock_seconds() - u->start);
  return left > 0.001 ? left : 0.001;
}

static bool is_over(const struct unknowns_search *u) {
  return clock_seconds() - u->start >= u->limits.seconds || *u->limits.interrupt;
}

/* ---- what is asked ---- */

static const struct define *define_named(const struct command_options *o, const char *name) {
  const struct define *found = NULL;
  for (size_t i = 0; i < o->defines.n; i++)
    if (!strcmp(o->defines.at[i].name, name))
      found = &o->defines.at[i];
  return found;
}

/* Values of -D are for parameters and unknowns, ranges for unknowns only. */
static bool open_automaton(struct unknowns_search *u) {
  const struct command_options *o = u->options;
  struct diags diags;
  u->bindings = memory_alloc((o->defines.n + 1) * sizeof *u->bindings);
  for (size_t i = 0; i < o->defines.n; i++)
    if (o->defines.at[i].low == o->defines.at[i].high)
      u->bindings[u->nbindings++] = (struct param_binding){o->defines.at[i].name, o->defines.at[i].low};
  diags_init(&diags, u->source);
  reading_begin(o->rondo, &diags);
  u->open = threshold_automaton_read_open(u->source, u->bindings, u->nbindings, &diags);
  if (!reading_end(o->rondo, &diags)) {
    threshold_automaton_free(u->open);
    u->open = NULL;
  }
  context_diagnostics(o->rondo, &diags);
  diags_release(&diags);
  if (!u->open)
    return false;
  for (size_t i = 0; i < o->defines.n; i++) {
    bool unknown = o->defines.at[i].low == o->defines.at[i].high;
    for (uint32_t k = 0; k < u->open->nunknowns; k++)
      unknown |= !strcmp(u->open->system->params[u->open->unknowns[k]].name, o->defines.at[i].name);
    if (!unknown) {
      context_error(o->rondo, E0705, "only unknowns have a range, and '%s' is none", o->defines.at[i].name);
      return false;
    }
  }
  if (!u->open->nunknowns)
    context_error(o->rondo, E0813,
                  "'%s' is a threshold automaton without unknowns: its specifications are proved or refuted\n  help: "
                  "rondo prove %s",
                  u->source->path, u->source->path);
  return u->open->nunknowns > 0;
}

static bool choose(struct unknowns_search *u) {
  const struct command_options *o = u->options;
  uint32_t index = 0, n = u->open->nspecifications;
  u->chosen = arena_array(&u->arena, n + (size_t)1, sizeof *u->chosen);
  u->found.properties = arena_array(&u->arena, n + (size_t)1, sizeof *u->found.properties);
  if (o->files.n == 2 && !specification_find(o->rondo, u->open, o->files.at[1], &index))
    return false;
  for (uint32_t i = 0; i < n; i++) {
    u->chosen[i] = o->files.n == 1 || i == index;
    if (u->chosen[i])
      u->found.properties[u->found.nproperties++] = u->open->specifications[i].name;
  }
  return true;
}

/* ---- proposals ---- */

static void add_declarations(const struct unknowns_search *u, struct text *out) {
  text_add(out, "(set-logic QF_LIA)\n");
  for (uint32_t i = 0; i < u->open->nunknowns; i++) {
    text_add(out, "(declare-const ");
    unknown_symbol(i, out);
    text_add(out, " Int)\n");
  }
}

static enum answer ask_solver(struct unknowns_search *u, int64_t *values) {
  struct text script = {0}, printed = {0};
  enum answer answer = ANSWER_UNKNOWN;
  add_declarations(u, &script);
  text_addf(&script, "%s(check-sat)\n", text_or_empty(&u->conditions));
  for (uint32_t i = 0; values && i < u->open->nunknowns; i++) {
    text_add(&script, "(get-value (");
    unknown_symbol(i, &script);
    text_add(&script, "))\n");
  }
  watch_time(u->limits.rondo, seconds_left(u));
  if (smtlib_run(script.at, u->limits.interrupt, &printed)) {
    const char *at = text_or_empty(&printed);
    answer = !strncmp(at, "unsat\n", 6) ? ANSWER_NO : !strncmp(at, "sat\n", 4) ? ANSWER_YES : ANSWER_UNKNOWN;
    for (uint32_t i = 0; values && answer == ANSWER_YES && i < u->open->nunknowns; i++) { /* ((u0 3)) or ((u0 (- 3))) */
      at = strstr(at, "((");
      const char *digits = at ? strchr(at, ' ') : NULL;
      bool negative = digits && !strncmp(digits, " (- ", 4);
      if (!digits) {
        answer = ANSWER_UNKNOWN;
        break;
      }
      values[i] = strtoll(digits + (negative ? 4 : 1), NULL, 10);
      values[i] = negative ? -values[i] : values[i];
      at = digits;
    }
  }
  watch_time(u->limits.rondo, 0);
  text_release(&script);
  text_release(&printed);
  return answer;
}

static void add_bound(struct text *out, const char *sign, uint32_t unknown, int64_t bound) {
  text_addf(out, "(assert (%s ", sign);
  unknown_symbol(unknown, out);
  text_addf(out, bound < 0 ? " (- %" PRIu64 ")))\n" : " %" PRIu64 "))\n",
            bound < 0 ? 0 - (uint64_t)bound : (uint64_t)bound);
}

/* The least and the largest value that the assumptions permit. False: there is none within VALUE_MOST. */
static bool find_bounds(struct unknowns_search *u, uint32_t unknown) {
  struct text script = {0}, printed = {0};
  add_declarations(u, &script);
  text_add(&script, text_or_empty(&u->conditions));
  for (int64_t x = -VALUE_MOST - 1; x <= VALUE_MOST + 1; x++) { /* the first and the last: anything beyond */
    text_add(&script, "(push 1)\n");
    if (x <= VALUE_MOST)
      add_bound(&script, "<=", unknown, x);
    if (x >= -VALUE_MOST)
      add_bound(&script, ">=", unknown, x);
    text_add(&script, "(check-sat)\n(pop 1)\n");
  }
  watch_time(u->limits.rondo, seconds_left(u));
  bool ok = smtlib_run(script.at, u->limits.interrupt, &printed), some = false;
  watch_time(u->limits.rondo, 0);
  const char *at = text_or_empty(&printed);
  for (int64_t x = -VALUE_MOST - 1; x <= VALUE_MOST + 1 && ok; x++) {
    bool yes = !strncmp(at, "sat\n", 4), beyond = x < -VALUE_MOST || x > VALUE_MOST;
    ok = !(yes && beyond) && (yes || !strncmp(at, "unsat\n", 6));
    if (yes && !some)
      u->low[unknown] = x;
    if (yes)
      u->high[unknown] = x;
    some |= yes;
    at += yes ? 4 : 6;
  }
  text_release(&script);
  text_release(&printed);
  return ok && some;
}

/* The values that are considered. False: reported. */
static bool find_ranges(struct unknowns_search *u) {
  uint32_t n = u->open->nunknowns;
  bool *read = arena_array(&u->arena, n + (size_t)1, sizeof *read);
  struct text assumptions = {0};
  bool linear = unknown_assumptions(u->open, &assumptions, read);
  u->low = arena_array(&u->arena, n + (size_t)1, sizeof *u->low);
  u->high = arena_array(&u->arena, n + (size_t)1, sizeof *u->high);
  if (!linear)
    context_error(u->options->rondo, E0602, "an assumption is not linear in the unknowns");
  else
    text_addf(&u->conditions, "(assert %s)\n", assumptions.at);
  text_release(&assumptions);
  for (uint32_t i = 0; i < n && linear; i++) {
    const struct define *d = define_named(u->options, u->open->system->params[u->open->unknowns[i]].name);
    u->low[i] = d ? d->low : -VALUE_DEFAULT;
    u->high[i] = d ? d->high : VALUE_DEFAULT;
    if (d || !read[i]) {
      add_bound(&u->conditions, ">=", i, u->low[i]);
      add_bound(&u->conditions, "<=", i, u->high[i]);
    }
  }
  if (linear && ask_solver(u, NULL) == ANSWER_NO) /* there are none: nothing is proposed */
    return true;
  for (uint32_t i = 0; i < n && linear; i++) {
    const char *name = u->open->system->params[u->open->unknowns[i]].name;
    if (!read[i] || define_named(u->options, name) || find_bounds(u, i) || is_over(u))
      continue;
    linear = false;
    context_error(
        u->options->rondo, E0705,
        "the assumptions do not keep the unknown '%s' within -%d..%d\n  help: say which values to try: -D %s=-%d..%d",
        name, VALUE_MOST, VALUE_MOST, name, VALUE_DEFAULT, VALUE_DEFAULT);
  }
  return linear;
}

/* ---- one candidate ---- */

static void exclude_values(struct unknowns_search *u, const int64_t *values) {
  text_add(&u->conditions, "(assert (or false");
  for (uint32_t i = 0; i < u->open->nunknowns; i++) {
    text_add(&u->conditions, " (not (= ");
    unknown_symbol(i, &u->conditions);
    text_addf(&u->conditions, values[i] < 0 ? " (- %" PRIu64 ")))" : " %" PRIu64 "))",
              values[i] < 0 ? 0 - (uint64_t)values[i] : (uint64_t)values[i]);
  }
  text_add(&u->conditions, "))\n");
}

static void add_undecided(struct unknowns_search *u, const int64_t *values, const char *specification,
                          const char *why) {
  struct text note = {0};
  text_addf(&note, "%s%s%s", specification ? specification : "", specification ? ": " : "", why);
  size_t size = u->open->nunknowns * sizeof *values;
  vec_push(&u->found.undecided,
           ((struct synthesis_values){arena_copy(&u->arena, values, size), arena_strndup(&u->arena, note.at, note.n)}));
  text_release(&note);
}

/* The run was replayed. Takes it over. False: it does not violate the specification. */
static bool add_violation(struct unknowns_search *u, const struct candidate_systems *c, uint32_t specification,
                          const int64_t *values, struct counter_run *run) {
  struct automaton_run path;
  struct text condition = {0};
  automaton_run_init(&path, c->automaton, run);
  bool ok = automaton_run_violates(&path, c->automaton, specification);
  if (ok) {
    if (unknown_values_violating(u->open, &path, specification, &condition))
      text_addf(&u->conditions, "(assert (not %s))\n", condition.at);
    struct synthesis_violation v = {.values = arena_copy(&u->arena, values, u->open->nunknowns * sizeof *values),
                                    .system = c->systems[specification],
                                    .property = &c->systems[specification]->properties[0],
                                    .run = *run};
    vec_push(&u->found.violations, v);
  } else {
    counter_run_release(run);
  }
  text_release(&condition);
  automaton_run_release(&path);
  return ok;
}

/* Few states, in this process: most candidates end here. */
static bool violated_quickly(struct unknowns_search *u, const struct candidate_systems *c, uint32_t specification,
                             const int64_t *values) {
  const struct counter_system *s = c->systems[specification];
  struct text why = {0};
  struct engine_result result;
  bool violated = false;
  watch_time(u->limits.rondo, seconds_left(u));
  struct counter_graph *g = counter_graph_new(s, &s->properties[0], false, u->limits.interrupt, &why);
  if (g) {
    struct engine_watch watch = {NULL, NULL, u->limits.interrupt};
    engine_result_init(&result);
    engine_explicit_within(g, QUICK_STATES, &watch, &result);
    if (result.kind == ENGINE_UNSAFE && counter_run_replay(&result.run, s, &s->properties[0], false, &why)) {
      violated = add_violation(u, c, specification, values, &result.run);
      result.kind = ENGINE_UNDECIDED; /* the run was taken over */
    }
    engine_result_release(&result);
  }
  watch_time(u->limits.rondo, 0);
  counter_graph_free(g);
  text_release(&why);
  return violated;
}

/* Is there an initial state at all? */
static bool has_initial_state(struct unknowns_search *u, const struct threshold_automaton *a) {
  struct counter_system s = *a->system;
  struct term one = {.op = TERM_NUMBER, .number = 1};
  struct counter_property any = {.name = "start", .from = &one, .unsafe = &one, .text = "true"};
  struct proof proof;
  struct proof_limits limits = u->limits;
  limits.seconds = seconds_left(u);
  s.properties = &any;
  s.nproperties = 1;
  prove_property(&s, &any, u->options, &limits, &proof);
  bool some = proof.kind != ENGINE_SAFE;
  proof_release(&proof);
  return some;
}

/* The names of specifications that hold vacuously; NULL: none. */
static char *vacuous_ones(struct unknowns_search *u, const struct threshold_automaton *a) {
  struct text names = {0};
  struct proof_limits limits = u->limits;
  if (!has_initial_state(u, a))
    text_add(&names, "no values of the parameters satisfy the assumptions");
  for (uint32_t i = 0; i < a->nspecifications && !is_over(u) && !names.n; i++) {
    limits.seconds = seconds_left(u);
    if (u->chosen[i] && specification_is_vacuous(a, i, u->options, &limits))
      text_addf(&names, "%s%s", names.n ? ", " : "vacuously: ", a->specifications[i].name);
  }
  char *out = names.n ? arena_strndup(&u->arena, names.at, names.n) : NULL;
  text_release(&names);
  return out;
}

/* The chosen specifications, one after the other. True: it is decided, for or against. */
static void prove_candidate(struct unknowns_search *u, const struct candidate_systems *c, const int64_t *values) {
  const char *open = NULL;
  struct text why = {0}, scripts = {0};
  bool violated = false;
  for (uint32_t i = 0; i < c->automaton->nspecifications && !violated; i++) {
    struct proof proof;
    struct proof_limits limits = u->limits;
    if (!u->chosen[i])
      continue;
    limits.seconds = seconds_left(u) < candidate_seconds ? seconds_left(u) : candidate_seconds;
    prove_property(c->systems[i], &c->systems[i]->properties[0], u->options, &limits, &proof);
    if (proof.memory > u->found.memory)
      u->found.memory = proof.memory;
    if (proof.kind == ENGINE_UNSAFE) {
      violated = add_violation(u, c, i, values, &proof.run);
      proof.kind = ENGINE_UNDECIDED; /* the run was taken over */
    } else if (proof.kind == ENGINE_SAFE && proof.certificate) {
      text_addf(&scripts, "(reset)\n%s", proof.certificate);
      proof_release(&proof);
      continue;
    }
    if (!violated && !open) {
      open = c->automaton->specifications[i].name;
      text_add(&why, proof.limit ? proof.limit : "a run could not be confirmed");
    }
    proof_release(&proof);
  }
  if (!violated && open) {
    add_undecided(u, values, open, text_or_empty(&why));
  } else if (!violated) {
    size_t size = u->open->nunknowns * sizeof *values;
    vec_push(&u->found.solutions,
             ((struct synthesis_values){arena_copy(&u->arena, values, size), vacuous_ones(u, c->automaton)}));
    text_add_n(&u->scripts, text_or_empty(&scripts), scripts.n);
  }
  text_release(&why);
  text_release(&scripts);
}

static void candidate_release(struct unknowns_search *u, struct candidate_systems *c) {
  for (uint32_t i = 0; c->automaton && i < c->automaton->nspecifications; i++)
    counter_system_free(c->systems[i]);
  (void)u;
  memory_free(c->systems);
  threshold_automaton_free(c->automaton);
}

/* False: some specification is refused, which was reported. */
static bool make_candidate(struct unknowns_search *u, const int64_t *values, struct candidate_systems *c) {
  uint32_t n = u->open->nunknowns;
  struct param_binding *all = memory_alloc((u->nbindings + n + 1) * sizeof *all);
  struct diags diags;
  bool ok = true;
  memcpy(all, u->bindings, u->nbindings * sizeof *all);
  for (uint32_t i = 0; i < n; i++)
    all[u->nbindings + i] = (struct param_binding){u->open->system->params[u->open->unknowns[i]].name, values[i]};
  diags_init(&diags, u->source);
  *c = (struct candidate_systems){threshold_automaton_read(u->source, all, u->nbindings + n, &diags), NULL};
  if (c->automaton) {
    c->systems = memory_alloc((c->automaton->nspecifications + (size_t)1) * sizeof *c->systems);
    memset(c->systems, 0, (c->automaton->nspecifications + (size_t)1) * sizeof *c->systems);
    for (uint32_t i = 0; i < c->automaton->nspecifications && ok; i++)
      if (u->chosen[i]) {
        c->systems[i] = threshold_automaton_specification(c->automaton, i, &diags);
        ok = c->systems[i] != NULL;
      }
  }
  if (!c->automaton || !ok)
    context_diagnostics(u->options->rondo, &diags);
  diags_release(&diags);
  memory_free(all);
  if (ok && c->automaton)
    return true;
  candidate_release(u, c);
  return false;
}

static bool judge(struct unknowns_search *u, const int64_t *values) {
  struct candidate_systems c;
  size_t before = u->found.violations.n;
  if (!make_candidate(u, values, &c)) {
    add_undecided(u, values, NULL, "not supported");
    return false;
  }
  for (uint32_t i = 0; i < c.automaton->nspecifications && u->found.violations.n == before && !is_over(u); i++)
    if (u->chosen[i])
      violated_quickly(u, &c, i, values);
  if (u->found.violations.n == before)
    prove_candidate(u, &c, values);
  if (u->found.violations.n > before)
    vec_push(&u->kept, c);
  else
    candidate_release(u, &c);
  return true;
}

/* ---- all candidates ---- */

static void find_values(struct unknowns_search *u) {
  int64_t *values = memory_alloc((u->open->nunknowns + (size_t)1) * sizeof *values);
  enum answer answer = ANSWER_YES;
  while (!is_over(u)) {
    if (u->conditions.n > SCRIPT_BYTES || u->found.solutions.n >= SOLUTIONS_MAX) {
      u->found.limit = "there are too many";
      break;
    }
    answer = ask_solver(u, values);
    if (answer != ANSWER_YES || is_over(u))
      break;
    exclude_values(u, values);
    if (!judge(u, values)) {
      u->found.limit = "a specification is not supported";
      break;
    }
    if (u->limits.rondo->host.progress && !u->limits.rondo->silent) {
      struct text line = {0};
      text_addf(&line, "%zu solutions, %zu violations  ", u->found.solutions.n, u->found.violations.n);
      seconds_add(&line, clock_seconds() - u->start);
      context_progress(u->limits.rondo, line.at);
      text_release(&line);
    }
  }
  context_progress(u->limits.rondo, NULL);
  u->found.exact = answer == ANSWER_NO && !u->found.undecided.n;
  if (!u->found.exact && !u->found.limit)
    u->found.limit = answer == ANSWER_NO    ? "some values are not decided"
                     : *u->limits.interrupt ? "interrupted"
                     : is_over(u)           ? "the limit of time was reached"
                                            : "the solver gave up";
  memory_free(values);
}

int synthesis_answer(const struct synthesis *found, const struct command_options *o, const struct text *scripts) {
  struct text out = {0};
  bool ok = true;
  if (o->output.json) {
    context_json(o->rondo, synthesis_json(found), &out);
  } else {
    struct style style = context_style(o->rondo, o->output.verbose);
    synthesis_text(found, &style, &out);
  }
  context_write(o->rondo, &out);
  if (o->output.certificate && scripts->n)
    ok = file_write(o->rondo, o->output.certificate, scripts);
  return !ok ? EXIT_BAD_INPUT : !found->exact ? EXIT_INCONCLUSIVE : found->solutions.n ? EXIT_HOLDS : EXIT_VIOLATED;
}

int threshold_unknowns(const struct parsed_file *parsed, const struct command_options *o) {
  struct unknowns_search u = {.options = o, .source = &parsed->source, .start = clock_seconds()};
  int status = EXIT_BAD_INPUT;
  arena_init(&u.arena);
  u.limits = prove_limits(o);
  watch_answer(o->rondo, u.start + u.limits.seconds, u.limits.asked);
  if (open_automaton(&u) && choose(&u) && find_ranges(&u)) {
    find_values(&u);
    u.found.open = u.open->system;
    u.found.unknowns = u.open->unknowns;
    u.found.nunknowns = u.open->nunknowns;
    u.found.low = u.low;
    u.found.high = u.high;
    u.found.seconds = clock_seconds() - u.start;
    status = synthesis_answer(&u.found, o, &u.scripts);
  }
  for (size_t i = 0; i < u.found.violations.n; i++)
    counter_run_release(&u.found.violations.at[i].run);
  for (size_t i = 0; i < u.kept.n; i++)
    candidate_release(&u, &u.kept.at[i]);
  vec_release(&u.kept);
  vec_release(&u.found.solutions);
  vec_release(&u.found.undecided);
  vec_release(&u.found.violations);
  threshold_automaton_free(u.open);
  text_release(&u.conditions);
  text_release(&u.scripts);
  memory_free(u.bindings);
  arena_release(&u.arena);
  return status;
}
