/* rondo compare: the same questions in every semantics that the model has. */
#include "driver/commands.h"
#include "driver/load.h"
#include "driver/question.h"
#include "driver/semantics.h"
#include "driver/context.h"
#include "fine/fine.h"
#include "report/comparison.h"
#include "report/json_report.h"

#define MOST_SEMANTICS 3
#define FURTHEST 2 /* fine rounds: at distances up to this, if nobody says how far */

struct comparing {
  const struct options *options;
  const struct syntax *syntax;
  const struct binding *bindings;
  struct model *model;
  struct meaning *meaning;
  struct arena arena;
  struct check_result results[MOST_SEMANTICS];
};

static int say_comparison(const struct comparing *k, const struct comparison *c) {
  struct text out = {0}, why = {0};
  enum verdict worst = comparison_verdict(c);
  bool agrees = comparison_agrees(c, &why);
  if (k->options->json) {
    json_t *j = comparison_json(c);
    json_text(j, &out);
    json_decref(j);
  } else {
    struct style style = context_style(k->options->rondo, k->options->verbose);
    comparison_text(c, &style, &out);
  }
  say(k->options->rondo, &out);
  if (!agrees)
    say_error(k->options->rondo, "a fault of rondo itself: the verdicts differ between semantics\n  %s", why.at);
  else if (comparison_differs(c))
    say_error(k->options->rondo, "the verdicts differ, as they may of properties that are not local");
  text_release(&why);
  return !agrees                      ? EXIT_FAULT
         : worst == VERDICT_VIOLATED ? EXIT_VIOLATED
         : worst == VERDICT_HOLDS    ? EXIT_HOLDS
                                     : EXIT_INCONCLUSIVE;
}

/* Fine rounds are compared at small distances: each of these spaces holds the whole rounds, so what is local has the same
   verdict in all of them. */
static uint32_t variants_of(const struct comparing *k, struct variant *variants) {
  const enum semantics *semantics;
  uint32_t all = semantics_of_kind(k->model->kind, &semantics), n = 0;
  for (uint32_t i = 0; i < all; i++) {
    if (semantics[i] != SEMANTICS_FINE)
      variants[n++] = (struct variant){semantics[i], 0};
    else if (k->options->max_distance)
      variants[n++] = (struct variant){SEMANTICS_FINE, k->options->max_distance};
    else if (k->model->nprocesses <= FINE_MOST)
      for (uint32_t d = 1; d <= FURTHEST; d++)
        variants[n++] = (struct variant){SEMANTICS_FINE, d};
  }
  return n;
}

static int compare_model(struct comparing *k) {
  struct variant variants[MOST_SEMANTICS];
  uint32_t n = variants_of(k, variants), done = 0;
  struct inquiries in;
  struct text fault = {0}, refused = {0};
  if (!inquiries_make(&in, k->model, k->options))
    return EXIT_BAD_INPUT;
  if (variants[n - 1].semantics == SEMANTICS_FINE && in.at.n > 0) /* what happens for ever is asked of whole rounds only */
    in.live.n = 0;
  int status = EXIT_FAULT;
  bool ok = true;
  k->meaning = meaning_new(k->model);
  while (done < n && ok) {
    struct options o = *k->options;
    o.max_distance = variants[done].distance;
    struct asked about = {k->syntax, k->bindings, o.defines.n, k->model, k->meaning, &k->arena, &o, variants[done].semantics,
                          false, false};
    ok = inquiries_answer(&in, &about, &k->results[done], NULL, &fault); /* a search refuses nothing */
    done++;
  }
  if (ok)
    status = say_comparison(k, &(struct comparison){k->model, k->results, variants, n});
  else
    say_error(k->options->rondo, "a fault of rondo itself, in semantics %s: %s", semantics_name(variants[done - 1].semantics),
              text_or_empty(&fault));
  for (uint32_t i = 0; i < done; i++)
    check_result_release(&k->results[i]);
  meaning_free(k->meaning);
  inquiries_release(&in);
  text_release(&fault);
  text_release(&refused);
  return status;
}

static bool one_instance(const struct options *o) {
  for (size_t d = 0; d < o->defines.n; d++)
    if (o->defines.at[d].low != o->defines.at[d].high) {
      say_error(o->rondo, "compare takes one value of '%s'\n  help: rondo check makes tables of ranges",
                o->defines.at[d].name);
      return false;
    }
  return true;
}

int command_compare(const struct options *given) {
  struct options o = *given;
  struct syntax syntax;
  struct text error = {0};
  const char *path = only_file(&o);
  if (!path || !one_instance(&o) || !syntax_load(&syntax, o.rondo, path))
    return EXIT_BAD_INPUT;
  if (o.limits.memory == 0)
    o.limits.memory = default_memory_limit();
  if (o.limits.threads == 0)
    o.limits.threads = default_threads();
  o.limits.threads_from = o.rondo->tests.threads_from;
  o.limits.sieve_from = o.rondo->tests.sieve_from;
  if (o.wishes.reduce[REDUCE_PARTIAL_ORDER] == WISH_AUTO) /* it drops transitions, which are to be counted */
    o.wishes.reduce[REDUCE_PARTIAL_ORDER] = WISH_OFF;
  o.limits.interrupt = context_listen(o.rondo);
  o.unread = true;
  struct binding *bindings = first_bindings(&o);
  struct comparing k = {.options = &o, .syntax = &syntax, .bindings = bindings};
  int status = EXIT_BAD_INPUT;
  arena_init(&k.arena);
  if (syntax_is_algorithm(&syntax))
    k.model = model_load(&syntax, bindings, o.defines.n, false, false, &error);
  if (k.model)
    status = compare_model(&k);
  model_free(k.model);
  arena_release(&k.arena);
  memory_free(bindings);
  text_release(&error);
  syntax_release(&syntax);
  return status;
}
