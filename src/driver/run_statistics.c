#include "driver/run_statistics.h"

#include "base/memory.h"
#include "driver/context.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "report/trace_text.h"
#include "trace/random_run.h"
#include "trace/trace.h"
#include "trace/trace_json.h"

#include <inttypes.h>

struct seen { /* how many runs, and the seed of the first of them */
  uint64_t runs, seed;
};

struct run_statistics {
  const struct command_options *options;
  struct model *model;
  struct interpreter *interp;
  uint32_t environment, length;
  enum semantics semantics;
  uint64_t seed;
  /* Results: */
  uint64_t runs, steps;
  uint32_t shortest, longest;
  struct seen ended, errors; /* before the given length; in an error of the model */
  struct seen *properties;   /* by property of the model: violated, or a cover that was reached */
  uint64_t *actions;         /* [role * stride + action]: how often it was taken */
  uint32_t stride;
  uint64_t events[EVENT_RECOVER + 1]; /* by kind; rounds: crashes only */
};

bool is_observed(const struct property *p, uint32_t environment) {
  bool here = false;
  for (uint32_t k = 0; k < p->nenvironments; k++)
    here |= p->environments[k] == environment;
  return p->kind != PROPERTY_LIVE && !p->on_request && !p->until && here;
}

static void note(struct seen *s, uint64_t seed) {
  if (s->runs++ == 0)
    s->seed = seed;
}

/* ---- one run ---- */

static void count_step(struct run_statistics *s, const struct witness *w) {
  const struct event *e = w->event;
  for (uint32_t p = 0; p < w->nprocesses; p++)
    s->events[EVENT_CRASH] += w->crashes[p];
  if (!e)
    return;
  s->events[e->kind]++;
  if (e->kind == EVENT_ACTION)
    s->actions[model_role_of(s->model, e->process) * s->stride + e->action]++;
}

/* found: by property, whether it was found in this run already. */
static void observe_state(struct run_statistics *s, const struct config *before, const struct config *now, bool *found,
                          uint64_t seed) {
  struct model_error error;
  for (uint32_t i = 0; i < s->model->nproperties; i++) {
    const struct property *p = &s->model->properties[i];
    if (found[i] || !is_observed(p, s->environment))
      continue;
    found[i] = (property_evaluate(s->interp, p, before, now, &error) == V_TRUE) == (p->kind == PROPERTY_COVER);
    if (found[i])
      note(&s->properties[i], seed);
  }
}

static void observe_run(struct run_statistics *s, const struct run *run, bool failed, uint64_t seed) {
  struct model *m = s->model;
  struct model_error error;
  bool *found = memory_alloc(m->nproperties + (size_t)1);
  struct config *at = config_copy(m, run->initial), *next = config_new(m);
  observe_state(s, NULL, at, found, seed);
  for (uint32_t i = 0; i < run->nsteps; i++) {
    count_step(s, run->steps[i]);
    if (failed && i + 1 == run->nsteps)
      break;
    config_step(s->interp, s->environment, at, run->steps[i], next, NULL, &error);
    observe_state(s, at, next, found, seed);
    struct config *swap = at;
    at = next;
    next = swap;
  }
  config_free(at);
  config_free(next);
  memory_free(found);
}

/* False: there is no run; *why says so. */
static bool make_run(struct run_statistics *s, uint64_t seed, struct text *why) {
  struct run run;
  bool failed;
  if (!random_run(s->interp, s->model, s->environment, s->length, seed, &run, &failed, why))
    return false;
  s->shortest = s->runs == 0 || run.nsteps < s->shortest ? run.nsteps : s->shortest;
  s->longest = run.nsteps > s->longest ? run.nsteps : s->longest;
  s->steps += run.nsteps;
  s->runs++;
  if (failed)
    note(&s->errors, seed);
  else if (run.nsteps < s->length)
    note(&s->ended, seed);
  observe_run(s, &run, failed, seed);
  run_release(&run);
  return true;
}

/* ---- the report ---- */

static double mean(const struct run_statistics *s) { return s->runs ? (double)s->steps / (double)s->runs : 0; }

static const char *const event_names[] = {"action", "deliver", "lose", "crash", "recover"};

static json_t *seen_json(struct seen s) {
  return json_pack("{s:I, s:o}", "runs", (json_int_t)s.runs, "first_seed",
                   s.runs ? json_integer((json_int_t)s.seed) : json_null());
}

static json_t *statistics_json(const struct run_statistics *s) {
  const struct model *m = s->model;
  json_t *properties = json_array(), *actions = json_array(), *events = json_object();
  for (uint32_t i = 0; i < m->nproperties; i++) {
    if (!is_observed(&m->properties[i], s->environment))
      continue;
    struct property_result p = {.property = &m->properties[i]};
    json_t *j = json_pack("{s:s, s:s}", "name", m->properties[i].name, "kind", property_result_kind(&p));
    json_object_set_new(j, m->properties[i].kind == PROPERTY_COVER ? "reached" : "violated",
                        seen_json(s->properties[i]));
    json_array_append_new(properties, j);
  }
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t a = 0; a < m->roles[r].nactions; a++)
      json_array_append_new(actions, json_pack("{s:s, s:s, s:i, s:I}", "process", m->roles[r].name, "name",
                                               m->roles[r].actions[a].name, "line",
                                               (int)source_line_number(&m->source, m->roles[r].actions[a].at), "count",
                                               (json_int_t)s->actions[r * s->stride + a]));
  for (unsigned i = 0; i <= EVENT_RECOVER; i++)
    json_object_set_new(events, event_names[i], json_integer((json_int_t)s->events[i]));
  return json_pack("{s:s, s:o, s:I, s:I, s:i, s:{s:i, s:f, s:i}, s:o, s:o, s:o, s:o, s:o}", "schema", RUNS_SCHEMA,
                   "model", model_to_json(m, s->environment, s->semantics), "seed", (json_int_t)s->seed, "runs",
                   (json_int_t)s->runs, "most", (int)s->length, "lengths", "min", (int)s->shortest, "mean", mean(s),
                   "max", (int)s->longest, "ended", seen_json(s->ended), "errors", seen_json(s->errors), "properties",
                   properties, "actions", actions, "events", events);
}

static void add_seen(struct text *out, const struct run_statistics *s, struct seen seen) {
  number_add(out, seen.runs);
  text_add(out, " of ");
  count_add(out, s->runs, "run", "runs");
  if (seen.runs > 0)
    text_addf(out, ", first with --seed %" PRIu64, seen.seed);
  text_add(out, "\n");
}

static void add_properties(struct text *out, const struct run_statistics *s, const struct style *style) {
  size_t before = out->n;
  for (uint32_t i = 0; i < s->model->nproperties; i++) {
    const struct property *p = &s->model->properties[i];
    bool cover = p->kind == PROPERTY_COVER, found = s->properties[i].runs > 0;
    if (!is_observed(p, s->environment))
      continue;
    text_addf(out, "  %-16s ", p->name);
    paint_add(out, style,
              found == cover ? PAINT_GOOD
              : found        ? PAINT_BAD
                             : PAINT_UNSURE,
              cover   ? "reached in "
              : found ? "VIOLATED in "
                      : "violated in ");
    add_seen(out, s, s->properties[i]);
  }
  if (s->errors.runs > 0) {
    text_addf(out, "  %-16s ", "no_error");
    paint_add(out, style, PAINT_BAD, "VIOLATED in ");
    add_seen(out, s, s->errors);
  }
  if (out->n == before)
    text_add(out, "  no property to observe\n");
}

static void add_count(struct text *out, const char *what, const char *of, uint64_t n) {
  size_t start = out->n;
  text_addf(out, "  %s%s%s ", of, *of ? " " : "", what);
  text_pad_to(out, start, 19);
  number_add(out, n);
  text_add(out, n == 1 ? " time\n" : " times\n");
}

static void statistics_text(const struct run_statistics *s, const struct style *style, struct text *out) {
  const struct model *m = s->model;
  const char *unit = step_word(m);
  struct text counts = {0};
  report_title(m, s->environment, s->semantics, style, out);
  add_properties(out, s, style);
  text_add(out, "\n  ");
  count_add(out, s->runs, "run", "runs");
  text_addf(out, " with seeds from %" PRIu64 ", of %u to %u %ss, %.1f on average\n", s->seed, s->shortest, s->longest,
            unit, mean(s));
  if (s->ended.runs > 0) {
    text_addf(out, "  fewer than %u %ss, because nothing more can happen: ", s->length, unit);
    add_seen(out, s, s->ended);
  }
  for (uint32_t r = 0; r < m->nroles; r++)
    for (uint32_t a = 0; a < m->roles[r].nactions; a++)
      add_count(&counts, m->roles[r].actions[a].name, m->roles[r].name, s->actions[r * s->stride + a]);
  for (unsigned i = EVENT_DELIVER; i <= EVENT_RECOVER; i++)
    if (s->events[i] > 0)
      add_count(&counts, event_names[i], "", s->events[i]);
  if (counts.n > 0)
    text_addf(out, "\n%s", counts.at);
  text_release(&counts);
}

static int write_statistics(const struct run_statistics *s) {
  const struct command_options *o = s->options;
  struct style style = context_style(o->rondo, o->output.verbose);
  struct text out = {0};
  bool violated = s->errors.runs > 0;
  for (uint32_t i = 0; i < s->model->nproperties; i++)
    violated |= s->properties[i].runs > 0 && s->model->properties[i].kind == PROPERTY_SAFETY;
  if (o->output.json)
    json_text(statistics_json(s), &out);
  else
    statistics_text(s, &style, &out);
  context_write(o->rondo, &out);
  return violated ? EXIT_VIOLATED : s->runs < o->random.runs ? EXIT_INCONCLUSIVE : EXIT_HOLDS;
}

static void tell_progress(const struct run_statistics *s) {
  struct text line = {0};
  count_add(&line, s->runs, "run", "runs");
  context_progress(s->options->rondo, line.at);
  text_release(&line);
}

int runs_count(const struct command_options *o, struct model *m, uint32_t environment, enum semantics semantics,
               uint32_t length, uint64_t seed) {
  struct run_statistics s = {.options = o,
                             .model = m,
                             .environment = environment,
                             .semantics = semantics,
                             .length = length,
                             .seed = seed,
                             .stride = 1};
  struct text why = {0};
  double seconds = o->limits.seconds, end = clock_seconds() + seconds, reported = clock_seconds();
  const volatile sig_atomic_t *stop = context_listen(o->rondo);
  for (uint32_t r = 0; r < m->nroles; r++)
    s.stride = m->roles[r].nactions > s.stride ? m->roles[r].nactions : s.stride;
  s.properties = memory_alloc((m->nproperties + (size_t)1) * sizeof *s.properties);
  s.actions = memory_alloc((m->nroles * (size_t)s.stride + 1) * sizeof *s.actions);
  s.interp = interpreter_new(m);
  interpreter_follow(s.interp, semantics, false);
  interpreter_observe(s.interp, environment);
  bool made = true;
  for (uint64_t i = 0; i < o->random.runs && made && !*stop && (seconds == 0 || clock_seconds() < end); i++) {
    text_release(&why);
    made = make_run(&s, seed + i, &why);
    if (clock_seconds() - reported > 0.1) {
      reported = clock_seconds();
      tell_progress(&s);
    }
  }
  context_progress(o->rondo, NULL);
  if (!made)
    context_error(o->rondo, E0906, "no run of '%s': %s", m->name, text_or_empty(&why));
  int status = made ? write_statistics(&s) : EXIT_BAD_INPUT;
  interpreter_free(s.interp);
  memory_free(s.properties);
  memory_free(s.actions);
  text_release(&why);
  return status;
}
