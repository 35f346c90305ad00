/* rondo prove for threshold automata: each specification is a counter system of its own. */
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/prove.h"
#include "param/automaton_run.h"

#include <inttypes.h>
#include <string.h>

/* Seconds for the question whether a specification that holds says anything at all. */
static const double premise_seconds = 5;

struct automaton_proofs {
  struct threshold_automaton *automaton;
  bool *chosen;
  struct counter_system **systems; /* by specification */
  struct proof_result *results;
  uint32_t n;
};

static bool choose(struct automaton_proofs *p, const struct command_options *o) {
  uint32_t index;
  for (uint32_t i = 0; i < p->automaton->nspecifications; i++)
    p->chosen[i] = o->properties.n == 0;
  for (size_t k = 0; k < o->properties.n; k++) {
    if (!specification_find(o->rondo, p->automaton, o->properties.at[k], &index))
      return false;
    p->chosen[index] = true;
  }
  return true;
}

/* The counter systems of the chosen specifications; NULL: it is refused, which was reported. */
static void make_systems(struct automaton_proofs *p, const struct parsed_file *parsed,
                         const struct command_options *o) {
  struct diags diags;
  diags_init(&diags, &parsed->source);
  for (uint32_t i = 0; i < p->automaton->nspecifications; i++)
    if (p->chosen[i])
      p->systems[i] = threshold_automaton_specification(p->automaton, i, &diags);
  context_diagnostics(o->rondo, &diags);
  diags_release(&diags);
}

static void refuse(struct proof_result *r, const struct threshold_automaton *a, const struct ta_specification *spec,
                   bool stopping) {
  struct text why = {0};
  *r = (struct proof_result){.name = spec->name, .system = a->system};
  proof_init(&r->proof, NULL);
  text_addf(&why, "%snot supported (line %" PRIu32 ")", stopping ? "runs that stop satisfy it; others are " : "",
            source_line_number(&a->system->source, spec->at));
  r->proof.limit = why.at;
}

/* Is it proved that no run satisfies the premise (any: that there is no run)? */
static bool no_run(const struct threshold_automaton *a, uint32_t specification, bool any,
                   const struct command_options *o, const struct proof_limits *limits) {
  struct counter_system *s = threshold_automaton_premise(a, specification, any);
  struct proof_limits left = *limits;
  struct proof proof;
  if (!s)
    return false;
  if (left.seconds > premise_seconds)
    left.seconds = premise_seconds;
  prove_property(s, &s->properties[0], o, &left, &proof);
  bool none = proof.kind == ENGINE_SAFE;
  proof_release(&proof);
  counter_system_free(s);
  return none;
}

bool specification_is_vacuous(const struct threshold_automaton *a, uint32_t specification,
                              const struct command_options *o, const struct proof_limits *limits) {
  return no_run(a, specification, false, o, limits);
}

/* A run must violate the specification itself, not only reach an unsafe state of the system that stands for it. */
static void confirm(const struct threshold_automaton *a, uint32_t specification, struct proof *proof) {
  struct automaton_run run;
  struct text why = {0};
  if (proof->kind != ENGINE_UNSAFE)
    return;
  automaton_run_init(&run, a, &proof->run);
  bool ok = automaton_run_violates(&run, a, specification);
  automaton_run_release(&run);
  if (ok)
    return;
  text_add(&why, "a run was found on which the specification could not be shown to be false");
  counter_run_release(&proof->run);
  proof->kind = ENGINE_UNDECIDED;
  proof->limit = why.at;
}

/* A specification that depends on runs that go on forever: a run that stops can violate it all the same. */
static void search_stopping_runs(struct automaton_proofs *p, uint32_t specification, const struct command_options *o,
                                 const struct proof_limits *limits, struct proof_result *r) {
  const struct threshold_automaton *a = p->automaton;
  struct counter_system *s = threshold_automaton_stopping_runs(a, specification);
  enum engine_verdict kind = ENGINE_UNDECIDED;
  p->systems[specification] = s;
  if (s) {
    *r = (struct proof_result){.name = s->properties[0].name, .system = s};
    watch_answer(o->rondo, clock_seconds() + limits->seconds, limits->asked);
    prove_property(s, &s->properties[0], o, limits, &r->proof);
    confirm(a, specification, &r->proof);
    kind = r->proof.kind;
    if (kind == ENGINE_UNSAFE)
      return;
    proof_release(&r->proof);
  }
  refuse(r, a, &a->specifications[specification], kind == ENGINE_SAFE);
}

static void prove_specifications(struct automaton_proofs *p, const struct command_options *o) {
  struct proof_limits limits = prove_limits(o);
  for (uint32_t i = 0; i < p->automaton->nspecifications; i++) {
    if (!p->chosen[i])
      continue;
    struct counter_system *s = p->systems[i];
    struct proof_result *r = &p->results[p->n++];
    if (!s) {
      search_stopping_runs(p, i, o, &limits, r);
      continue;
    }
    *r = (struct proof_result){.name = s->properties[0].name, .system = s};
    watch_answer(o->rondo, clock_seconds() + limits.seconds, limits.asked);
    prove_property(s, &s->properties[0], o, &limits, &r->proof);
    confirm(p->automaton, i, &r->proof);
    struct proof_limits rest = limits;
    rest.seconds -= r->proof.seconds;
    if (r->proof.kind == ENGINE_SAFE && rest.seconds > 0)
      r->vacuous = specification_is_vacuous(p->automaton, i, o, &rest);
    r->runless = r->vacuous && no_run(p->automaton, i, true, o, &rest);
  }
}

int prove_automaton(const struct parsed_file *parsed, const struct command_options *o) {
  struct automaton_proofs p = {.automaton = threshold_automaton_load(parsed, o)};
  int status = EXIT_BAD_INPUT;
  if (!p.automaton)
    return status;
  size_t n = p.automaton->nspecifications + (size_t)1;
  p.chosen = memory_alloc(n * sizeof *p.chosen);
  p.systems = memory_alloc(n * sizeof *p.systems);
  p.results = memory_alloc(n * sizeof *p.results);
  memset(p.systems, 0, n * sizeof *p.systems);
  if (choose(&p, o)) {
    make_systems(&p, parsed, o);
    prove_specifications(&p, o);
    status = prove_report(o, p.results, p.n);
  }
  for (uint32_t i = 0; i < p.n; i++)
    proof_release(&p.results[i].proof);
  for (uint32_t i = 0; i < p.automaton->nspecifications; i++)
    counter_system_free(p.systems[i]);
  memory_free(p.results);
  memory_free(p.systems);
  memory_free(p.chosen);
  threshold_automaton_free(p.automaton);
  return status;
}
