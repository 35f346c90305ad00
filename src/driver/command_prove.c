/* rondo prove: the properties of a counter system, for all values of its parameters; of a model of
   rounds, by way of the counter system that is derived from it (prove_rounds.c). */
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/files.h"
#include "driver/jobs.h"
#include "driver/prove.h"
#include "report/json_report.h"

#include <stdio.h>
#include <string.h>

enum { SECONDS_BY_DEFAULT = 300 };

/* The chosen properties, in the order of the file; false: the error was reported. */
static bool choose(const struct counter_system *s, const struct command_options *o, bool *chosen) {
  uint32_t index;
  for (uint32_t i = 0; i < s->nproperties; i++)
    chosen[i] = o->properties.n == 0;
  for (size_t k = 0; k < o->properties.n; k++) {
    if (!counter_property_find(o->rondo, s, o->properties.at[k], &index))
      return false;
    chosen[index] = true;
  }
  return true;
}

void prove_property(const struct counter_system *s, const struct counter_property *p, const struct command_options *o,
                    const struct proof_limits *limits, struct proof *proof) {
  struct text why = {0};
  double start = clock_seconds();
  struct proof_limits left = *limits;
  proof_init(proof, p);
  watch_time(o->rondo, limits->seconds);
  struct counter_graph *g = counter_graph_new(s, p, false, limits->interrupt, &why);
  sig_atomic_t stopped = *limits->interrupt;
  watch_time(o->rondo, 0);
  left.seconds = limits->seconds - (clock_seconds() - start);
  bool late = g || stopped == INTERRUPT_TIME;
  if (g && left.seconds > 0.001) {
    portfolio_run(g, o->engine, &left, proof);
  } else if (late || stopped) {
    proof->limit = proof_undecided(limits, late, true, "");
  } else {
    struct text all = {0};
    text_addf(&all, "it is too large to unfold: %s", text_or_empty(&why));
    proof->limit = all.at;
  }
  counter_graph_free(g);
  proof->seconds = clock_seconds() - start;
  text_release(&why);
}

struct proof_limits prove_limits(const struct command_options *o) {
  double seconds = o->limits.seconds > 0 ? o->limits.seconds : SECONDS_BY_DEFAULT;
  return (struct proof_limits){.seconds = seconds,
                               .asked = seconds,
                               .memory = o->limits.memory ? o->limits.memory : default_memory_limit(),
                               .rondo = o->rondo,
                               .interrupt = context_listen(o->rondo)};
}

/* One file for all of them: each proof is a script of its own. */
static bool write_certificates(const struct command_options *o, const struct proof_result *proofs, uint32_t n) {
  struct text out = {0};
  if (!o->output.certificate)
    return true;
  for (uint32_t i = 0; i < n; i++)
    if (proofs[i].proof.certificate)
      text_addf(&out, "%s%s", out.n ? "(reset)\n" : "", proofs[i].proof.certificate);
  if (out.n == 0) {
    context_error(o->rondo, N0104, "nothing was proved, so '%s' is not written", o->output.certificate);
    return true;
  }
  bool ok = file_write(o->rondo, o->output.certificate, &out);
  text_release(&out);
  return ok;
}

int prove_report(const struct command_options *o, const struct proof_result *proofs, uint32_t n) {
  static const int statuses[] = {EXIT_HOLDS, EXIT_INCONCLUSIVE, EXIT_VIOLATED};
  struct style style = context_style(o->rondo, o->output.verbose);
  struct text out = {0};
  if (!o->output.json)
    proof_results_text(proofs, n, &style, &out);
  context_write(o->rondo, &out);
  bool written = write_certificates(o, proofs, n);
  if (o->output.json) /* last, with all diagnostics */
    context_json(o->rondo, proof_results_json(proofs, n), &out);
  context_write(o->rondo, &out);
  return written ? statuses[proof_results_verdict(proofs, n)] : EXIT_BAD_INPUT;
}

static int answer(const struct counter_system *s, const struct command_options *o, const bool *chosen) {
  struct proof_limits limits = prove_limits(o);
  struct proof_result *proofs = memory_alloc((s->nproperties + (size_t)1) * sizeof *proofs);
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->nproperties; i++)
    if (chosen[i]) {
      proofs[n] = (struct proof_result){.name = s->properties[i].name, .system = s};
      watch_answer(o->rondo, clock_seconds() + limits.seconds, limits.asked);
      prove_property(s, &s->properties[i], o, &limits, &proofs[n++].proof);
    }
  int status = prove_report(o, proofs, n);
  for (uint32_t i = 0; i < n; i++)
    proof_release(&proofs[i].proof);
  memory_free(proofs);
  return status;
}

static int prove_counters(const struct parsed_file *parsed, const struct command_options *o) {
  struct counter_system *s = counters_load(parsed, o);
  int status = EXIT_BAD_INPUT;
  if (!s)
    return status;
  bool *chosen = memory_alloc((s->nproperties + (size_t)1) * sizeof *chosen);
  if (choose(s, o, chosen))
    status = answer(s, o, chosen);
  memory_free(chosen);
  counter_system_free(s);
  return status;
}

int command_prove(const struct command_options *o) {
  struct parsed_file parsed;
  const char *path = only_file(o);
  if (!path || !model_text_load(&parsed, o->rondo, path))
    return EXIT_BAD_INPUT;
  if (source_is_threshold_automaton(&parsed.source)) {
    int status = prove_automaton(&parsed, o);
    parsed_file_release(&parsed);
    return status;
  }
  if (!parsed_text(&parsed))
    return EXIT_BAD_INPUT;
  enum model_kind kind = ast_model_kind(parsed.tree);
  bool algorithm = kind == MODEL_ROUNDS || kind == MODEL_MESSAGES;
  int status = algorithm ? prove_rounds(&parsed, o) : prove_counters(&parsed, o);
  parsed_file_release(&parsed);
  return status;
}
