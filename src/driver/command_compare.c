/* rondo compare: the same queries in every semantics that the model has. */
#include "async/async.h"
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/load.h"
#include "driver/query.h"
#include "driver/semantics.h"
#include "report/comparison.h"
#include "report/json_report.h"

#define VARIANTS_MAX 3
#define DISTANCE_MAX_COMPARED 2 /* asynchronous rounds: distances up to this, by default */

struct semantics_comparison {
  const struct command_options *options;
  const struct parsed_file *parsed;
  const struct param_binding *bindings;
  struct model *model;
  struct interpreter *interp;
  struct arena arena;
  struct check_result results[VARIANTS_MAX];
};

static int write_comparison(const struct semantics_comparison *k, const struct comparison *c) {
  struct text out = {0}, why = {0};
  enum verdict worst = comparison_verdict(c);
  bool agrees = comparison_agrees(c, &why);
  if (!k->options->output.json) {
    struct style style = context_style(k->options->rondo, k->options->output.verbose);
    comparison_text(c, &style, &out);
  }
  context_write(k->options->rondo, &out);
  if (!agrees)
    context_error(k->options->rondo, E1001, "a fault of rondo itself: the verdicts differ between semantics\n  %s",
                  why.at);
  else if (comparison_differs(c))
    context_error(k->options->rondo, N0105, "the verdicts differ; that is possible for properties that are not local");
  if (k->options->output.json) /* last, with all diagnostics */
    context_json(k->options->rondo, comparison_json(c), &out);
  context_write(k->options->rondo, &out);
  text_release(&why);
  return agrees ? exit_status_of(worst) : EXIT_FAULT;
}

/* Asynchronous rounds are compared at small distances: each of these systems includes the lockstep rounds, so local
   properties have the same verdict in all of them. */
static uint32_t variants_of(const struct semantics_comparison *k, struct compared_semantics *variants) {
  const enum semantics *semantics;
  uint32_t all = semantics_of_kind(k->model->kind, &semantics), n = 0;
  for (uint32_t i = 0; i < all; i++) {
    if (semantics[i] != SEMANTICS_FINE)
      variants[n++] = (struct compared_semantics){semantics[i], 0};
    else if (k->options->max_distance)
      variants[n++] = (struct compared_semantics){SEMANTICS_FINE, k->options->max_distance};
    else if (k->model->nprocesses <= ASYNC_PROCESSES_MAX)
      for (uint32_t d = 1; d <= DISTANCE_MAX_COMPARED; d++)
        variants[n++] = (struct compared_semantics){SEMANTICS_FINE, d};
  }
  return n;
}

static int compare_model(struct semantics_comparison *k) {
  struct compared_semantics variants[VARIANTS_MAX];
  uint32_t n = variants_of(k, variants), done = 0;
  struct query_groups in;
  struct text fault = {0}, refused = {0};
  if (!query_groups_make(&in, k->model, k->options))
    return EXIT_BAD_INPUT;
  if (variants[n - 1].semantics == SEMANTICS_FINE && in.at.n > 0) /* liveness is checked in lockstep rounds only */
    in.live.n = 0;
  int status = EXIT_FAULT;
  bool ok = true;
  double seconds = k->options->limits.seconds, end = seconds > 0 ? k->options->rondo->began + seconds : 0;
  k->interp = interpreter_new(k->model);
  watch_answer(k->options->rondo, end, seconds);
  while (done < n && ok) {
    double now = clock_seconds();
    struct command_options o = *k->options;
    o.max_distance = variants[done].distance;
    struct query_context about = {.parsed = k->parsed,
                                  .bindings = k->bindings,
                                  .nbindings = o.defines.n,
                                  .model = k->model,
                                  .interp = k->interp,
                                  .arena = &k->arena,
                                  .options = &o,
                                  .semantics = variants[done].semantics,
                                  .deadline = end > 0 ? now + (end > now ? (end - now) / (n - done) : 0) : 0};
    ok = query_groups_answer(&in, &about, &k->results[done], &refused, &fault);
    done++;
  }
  if (ok)
    status = write_comparison(k, &(struct comparison){k->model, k->results, variants, n});
  else if (refused.n > 0)
    status = EXIT_BAD_INPUT; /* it was reported */
  else
    context_error(k->options->rondo, E1001, "a fault of rondo itself, in semantics %s: %s",
                  semantics_name(variants[done - 1].semantics), text_or_empty(&fault));
  for (uint32_t i = 0; i < done; i++)
    check_result_release(&k->results[i]);
  interpreter_free(k->interp);
  query_groups_release(&in);
  text_release(&fault);
  text_release(&refused);
  return status;
}

int command_compare(const struct command_options *given) {
  struct command_options o = *given;
  struct loaded_model l;
  if (!loaded_model_open(&l, &o, false))
    return EXIT_BAD_INPUT;
  limits_complete(o.rondo, &o.limits);
  if (o.requested.reduce[REDUCE_PARTIAL_ORDER] == REQUEST_AUTO) /* it drops transitions, which are to be counted */
    o.requested.reduce[REDUCE_PARTIAL_ORDER] = REQUEST_OFF;
  o.lengths_unused = true;
  struct semantics_comparison k = {.options = &o, .parsed = &l.parsed, .bindings = l.bindings, .model = l.model};
  arena_init(&k.arena);
  int status = compare_model(&k);
  arena_release(&k.arena);
  loaded_model_close(&l);
  return status;
}
