/* rondo run: a random run, printed like a counterexample, and which properties it violates. */
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/diagram_files.h"
#include "driver/files.h"
#include "driver/load.h"
#include "driver/run_statistics.h"
#include "driver/semantics.h"
#include "report/json_report.h"
#include "report/trace_text.h"
#include "trace/random_run.h"
#include "trace/trace_json.h"

#include <inttypes.h>
#include <time.h>

#define DEFAULT_ROUNDS 10
#define DEFAULT_STEPS 30
#define PROCESSES_MAX 1000 /* each round has a matrix of who hears whom */

struct observation { /* of a property, along the run */
  bool found;        /* the property was false at some point; a cover: it was reached */
  uint32_t round;    /* or step, the first time */
};

static struct observation observe(const struct trace *t, struct interpreter *interp, const struct property *p) {
  struct model_error error;
  for (uint32_t i = 0; i < t->nconfigs; i++) {
    enum verdict3 v = property_evaluate(interp, p, i ? t->configs[i - 1] : NULL, t->configs[i], &error);
    if ((v == V_TRUE) == (p->kind == PROPERTY_COVER))
      return (struct observation){true, i};
  }
  return (struct observation){false, 0};
}

static void write_observation(struct text *out, const struct model *m, const struct property *p,
                              struct observation seen, const struct style *style) {
  bool cover = p->kind == PROPERTY_COVER;
  text_addf(out, "  %-16s ", p->name);
  if (seen.found && !cover)
    paint_add(out, style, PAINT_BAD, "VIOLATED");
  else
    paint_add(out, style, seen.found || !cover ? PAINT_GOOD : PAINT_UNSURE,
              cover ? seen.found ? "reached" : "not reached" : "not violated");
  if (seen.found && seen.round > 0)
    text_addf(out, " %s %s %u", p->step ? "in" : "after", step_word(m), seen.round);
  text_add(out, seen.found && seen.round == 0 ? " at the start\n" : "\n");
}

static int observe_all(const struct trace *t, struct interpreter *interp, uint32_t environment,
                       const struct style *style, struct text *out) {
  int status = t->claim.error ? EXIT_VIOLATED : EXIT_HOLDS;
  const struct model *m = t->model;
  text_add(out, "\n");
  for (uint32_t i = 0; i < m->nproperties; i++) {
    const struct property *p = &m->properties[i];
    if (!is_observed(p, environment))
      continue;
    struct observation seen = observe(t, interp, p);
    write_observation(out, m, p, seen, style);
    if (seen.found && p->kind == PROPERTY_SAFETY)
      status = EXIT_VIOLATED;
  }
  return status;
}

static int write_run(const struct command_options *o, struct trace *t, struct interpreter *interp, uint64_t seed,
                     const char *why) {
  struct style style = context_style(o->rondo, o->output.verbose);
  struct text out = {0}, json = {0}, properties = {0};
  const struct model *m = t->model;
  int status = observe_all(t, interp, t->claim.environment, &style, &properties);
  if (o->output.json || o->output.trace_out) {
    json_t *j = trace_to_json(t, interp);
    json_object_set_new(j, "seed", json_integer((json_int_t)seed));
    json_text(j, &json);
  }
  if (o->output.trace_out && !file_write(o->rondo, o->output.trace_out, &json))
    status = EXIT_BAD_INPUT;
  if (!diagrams_write(o, t, interp))
    status = EXIT_BAD_INPUT;
  if (o->output.json) {
    text_add(&out, json.at);
  } else {
    text_addf(&out, "%s%s", m->name, m->nparams ? ", " : "");
    params_add(&out, m);
    text_addf(&out, ", environment %s", m->environments[t->claim.environment].name);
    if (m->kind == MODEL_MESSAGES)
      text_addf(&out, ", semantics %s", semantics_name(t->claim.semantics));
    text_addf(&out, ", seed %" PRIu64 "\n", seed);
    trace_print(t, &style, &out);
    trace_explain(t, interp, &style, &out);
    if (*why)
      text_addf(&out, "\n%s\n", why);
    text_add(&out, properties.at);
  }
  text_release(&json);
  text_release(&properties);
  context_write(o->rondo, &out);
  return status;
}

static uint64_t fresh_seed(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return ((uint64_t)t.tv_sec * 1000003 + (uint64_t)t.tv_nsec) % 1000000;
}

static bool whole_rounds(struct rondo *context, enum semantics semantics) {
  if (semantics == SEMANTICS_FINE)
    context_error(context, E0807, "a random run is one of whole rounds\n  help: leave out '--semantics fine'");
  return semantics != SEMANTICS_FINE;
}

/* --runs shows no run. */
static bool shows_run(const struct command_options *o) {
  if (o->random.runs > 0 && (o->output.trace_out || diagrams_wanted(o))) {
    context_error(o->rondo, E0807,
                  "with '--runs' no run is shown\n  help: leave out '--runs', and use the '--seed' of a run");
    return false;
  }
  if (o->random.runs == 0 && o->limits.seconds > 0) {
    context_error(o->rondo, E0807, "'--max-time' is for '--runs'\n  help: leave it out");
    return false;
  }
  return true;
}

static int run_model(const struct command_options *o, struct model *m) {
  if (m->nprocesses > PROCESSES_MAX) {
    context_error(o->rondo, E0906, "%u processes are too many for a random run: at most %d", m->nprocesses,
                  PROCESSES_MAX);
    return EXIT_BAD_INPUT;
  }
  struct run run;
  struct text why = {0}, fault = {0};
  struct claim claim = {.property = NO_PROPERTY};
  uint64_t seed = o->random.seeded ? o->random.seed : fresh_seed();
  uint32_t length = o->random.length ? o->random.length : model_steps(m) ? DEFAULT_STEPS : DEFAULT_ROUNDS;
  if (!shows_run(o) || (o->env && !environment_find(o->rondo, m, o->env, &claim.environment)) ||
      !semantics_choose(m, o, &claim.semantics) || !whole_rounds(o->rondo, claim.semantics))
    return EXIT_BAD_INPUT;
  if (o->random.runs > 0)
    return runs_count(o, m, claim.environment, claim.semantics, length, seed);
  struct interpreter *interp = interpreter_new(m);
  interpreter_follow(interp, claim.semantics, false);
  int status = EXIT_BAD_INPUT;
  if (!random_run(interp, m, claim.environment, length, seed, &run, &claim.error, &why)) {
    context_error(o->rondo, E0906, "no run of '%s': %s", m->name, text_or_empty(&why));
  } else {
    struct trace t;
    if (trace_replay(&t, interp, m, &claim, &run, &fault) == REPLAY_CONFIRMED) {
      status = write_run(o, &t, interp, seed, text_or_empty(&why));
    } else {
      context_error(o->rondo, E1001, "a fault of rondo itself: seed %" PRIu64 " makes no run: %s", seed,
                    text_or_empty(&fault));
      status = EXIT_FAULT;
    }
    trace_release(&t);
  }
  interpreter_free(interp);
  text_release(&why);
  text_release(&fault);
  return status;
}

int command_run(const struct command_options *o) {
  struct loaded_model l;
  if (!loaded_model_open(&l, o, false))
    return EXIT_BAD_INPUT;
  int status = run_model(o, l.model);
  loaded_model_close(&l);
  return status;
}
