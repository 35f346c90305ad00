#include "report/proof_report.h"

#include "report/trace_text.h"
#include "report/verdict_text.h"
#include "trace/trace_json.h"
#include "trace/value_json.h"

#include <inttypes.h>
#include <string.h>

static enum verdict proof_verdict(const struct proof *p) {
  return p->kind == ENGINE_SAFE ? VERDICT_HOLDS : p->kind == ENGINE_UNSAFE ? VERDICT_VIOLATED : VERDICT_INCONCLUSIVE;
}

enum verdict proof_results_verdict(const struct proof_result *p, uint32_t n) {
  enum verdict worst = VERDICT_HOLDS;
  for (uint32_t i = 0; i < n; i++)
    if (proof_verdict(&p[i].proof) > worst)
      worst = proof_verdict(&p[i].proof);
  return worst;
}

/* The run of a derived system is shown with the values of its parameters. */
static void add_proved(const struct proof_result *p, struct text *out) {
  if (p->concrete) {
    text_add(out, p->concrete->proved);
    for (uint32_t i = 0; i < p->system->nparams; i++)
      if (!p->system->params[i].of)
        text_addf(out, ", %s = %" PRId64, p->system->params[i].name, p->proof.run.params[i]);
  } else {
    proof_summary(&p->proof, p->system, out);
    if (p->cutoff && p->proof.kind == ENGINE_SAFE)
      text_addf(out, "; for all %s: %s = %" PRId64 " is enough, %s", p->cutoff, p->cutoff, p->cutoff_value,
                p->cutoff_by);
    if (p->runless)
      text_add(out, "; vacuously: there is no run, since the assumptions and the initial conditions cannot be met");
    else if (p->vacuous)
      text_addf(out, "; vacuously: no run satisfies %s", p->live ? "what the environment promises" : "its premise");
    else if (p->vacuous_for_few)
      text_add(out, "; vacuously for few processes: no run satisfies what the environment promises");
  }
}

/* ---- the run, in words ---- */

static void item(struct text_items *items, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void item(struct text_items *items, const char *format, ...) {
  struct text t = {0};
  va_list args;
  va_start(args, format);
  text_addv(&t, format, args);
  va_end(args);
  items_add(items, &t);
}

static void add_state(struct text_items *items, const struct counter_system *s, const struct counter_state *state) {
  for (uint32_t i = 0; i < s->ncontrols; i++) {
    struct text t = {0};
    text_addf(&t, "%s ", s->controls[i].name);
    control_value_print(&s->controls[i], state->controls[i], &t);
    items_add(items, &t);
  }
  for (uint32_t i = 0; i < s->ncounters; i++)
    item(items, "%s %" PRId64, s->counters[i].name, state->counters[i]);
}

static void add_changes(struct text_items *items, const struct counter_system *s, const struct counter_state *before,
                        const struct counter_state *after) {
  for (uint32_t i = 0; i < s->ncontrols; i++)
    if (before->controls[i] != after->controls[i]) {
      struct text t = {0};
      text_addf(&t, "%s ", s->controls[i].name);
      control_value_print(&s->controls[i], before->controls[i], &t);
      text_add(&t, " -> ");
      control_value_print(&s->controls[i], after->controls[i], &t);
      items_add(items, &t);
    }
  for (uint32_t i = 0; i < s->ncounters; i++)
    if (before->counters[i] != after->counters[i])
      item(items, "%s %" PRId64 " -> %" PRId64, s->counters[i].name, before->counters[i], after->counters[i]);
}

void counter_run_text(const struct counter_system *s, const struct counter_property *p, const struct counter_run *run,
                      const struct style *style, struct text *out) {
  struct text_items items = {0};
  const struct counter_state *now = &run->start;
  text_add(out, "start\n");
  add_state(&items, s, now);
  items_print(&items, style, "state", false, out);
  for (size_t i = 0; i < run->steps.n; i++) {
    const struct counter_step *step = &run->steps.at[i];
    const struct counter_move *m = &s->moves[step->move];
    text_addf(out, "\nmove %zu: %s", i + 1, m->name);
    for (uint32_t k = 0; k < m->namounts; k++)
      text_addf(out, ", %s = %" PRId64, m->amounts[k].name, step->amounts[k]);
    text_addf(out, "  (line %" PRIu32 ")\n", source_line_number(&s->source, m->at));
    add_changes(&items, s, now, &step->after);
    items_print(&items, style, "change", false, out);
    now = &step->after;
  }
  text_addf(out,
            p->run ? "\nif nothing more happens, %s is violated  (line %" PRIu32 ")\n  %s\n"
                   : "\nnow %s is unsafe  (line %" PRIu32 ")\n  %s\n",
            p->name, source_line_number(&s->source, p->at), p->text);
}

/* ---- text ---- */

/* Are they all about one environment? Else each line names its own. */
static bool one_environment(const struct proof_result *all, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    if (all[0].environment && all[i].environment && strcmp(all[0].environment, all[i].environment) != 0)
      return false;
  return true;
}

static void name_add(const struct proof_result *p, bool environment, struct text *out) {
  text_add(out, p->name);
  if (environment && p->environment)
    text_addf(out, " in %s", p->environment);
}

static void add_title(const struct proof_result *first, bool environment, const struct style *style, struct text *out) {
  const struct counter_system *s = first->system;
  const char *cutoff = first->cutoff;
  struct text title = {0};
  const char *between = ", ";
  text_add(&title, s->name);
  for (uint32_t i = 0; i < s->nparams; i++)
    if (s->params[i].is && s->params[i].is->op == TERM_NUMBER && !(cutoff && strcmp(cutoff, s->params[i].name) == 0))
      text_addf(&title, ", %s = %" PRId64, s->params[i].name, s->params[i].is->number);
  struct text all = {0};
  counter_params_print(s, &all);
  if (cutoff)
    text_addf(&all, "%s%s", all.n ? ", " : "", cutoff);
  if (all.n)
    text_addf(&title, "%sfor all %s", between, all.at);
  text_release(&all);
  paint_add(out, style, PAINT_TITLE, title.at);
  if (first->environment && environment)
    text_addf(out, ", environment %s", first->environment);
  text_add(out, "\n\n");
  text_release(&title);
}

static void add_verdicts(const struct proof_result *all, uint32_t n, const struct style *style, struct text *out) {
  bool environments = !one_environment(all, n);
  struct text_table t;
  verdict_table_init(&t);
  for (uint32_t i = 0; i < n; i++) {
    struct text proved = {0}, name = {0};
    add_proved(&all[i], &proved);
    name_add(&all[i], environments, &name);
    verdict_table_add(&t, name.at, proof_verdict(&all[i].proof), proved.at);
    text_release(&name);
    text_release(&proved);
  }
  verdict_table_print(&t, style, out);
}

/* The engine that decided the property, or how far each engine got. */
static void add_engines(const struct proof_result *one, const struct style *style, const char *before,
                        struct text *out) {
  const struct proof *p = &one->proof;
  for (uint32_t i = 0; i < p->nreports; i++) {
    bool decided = p->by && strcmp(p->by, p->reports[i].name) == 0;
    if (!decided && p->by && !style->verbose)
      continue;
    text_addf(out, "  %s%s: %s", before, p->reports[i].name, p->reports[i].reached);
    if (decided && p->kind == ENGINE_UNSAFE)
      text_add(out, ", replayed");
    else if (decided && p->questions == 3)
      text_add(out, ", confirmed by three queries");
    else if (decided)
      text_addf(out, ", confirmed by %" PRIu32 " quer%s", p->questions, p->questions == 1 ? "y" : "ies");
    text_add(out, "\n");
  }
}

/* For a derived system: the instances it was compared with. */
static void add_compared(const struct proof_result *p, const struct style *style, const char *before,
                         struct text *out) {
  const struct validation *c = &p->compared;
  if (!p->is_compared || !style->verbose)
    return;
  text_addf(out,
            "  %scompared with the algorithm in %" PRIu32 " instances of at most %" PRIu32 " processes: %" PRIu64
            " states, %" PRIu64 " steps%s; the search confirms the verdict in %" PRIu32 " of them\n",
            before, c->instances, c->processes, c->states, c->steps, c->cut ? " (as many as time permitted)" : "",
            p->searched);
}

static void add_story(const struct proof_result *p, bool environment, const struct style *style, struct text *out) {
  struct text title = {0}, proved = {0};
  add_proved(p, &proved);
  name_add(p, environment, &title);
  text_addf(&title, " is VIOLATED %s", proved.at);
  text_add(out, "\n");
  paint_add(out, style, PAINT_BAD, title.at);
  text_add(out, "\n");
  if (p->concrete && p->concrete->trace) {
    trace_print(p->concrete->trace, style, out);
    trace_explain(p->concrete->trace, p->interp, style, out);
  } else if (!p->concrete) {
    counter_run_text(p->system, p->proof.property, &p->proof.run, style, out);
  }
  text_release(&title);
  text_release(&proved);
}

void proof_results_text(const struct proof_result *all, uint32_t n, const struct style *style, struct text *out) {
  double seconds = 0;
  size_t memory = 0;
  bool environments = !one_environment(all, n);
  add_title(&all[0], !environments, style, out);
  add_verdicts(all, n, style, out);
  text_add(out, "\n");
  for (uint32_t i = 0; i < n; i++) {
    struct text before = {0};
    if (n > 1) {
      name_add(&all[i], environments, &before);
      text_add(&before, ", ");
    }
    add_engines(&all[i], style, text_or_empty(&before), out);
    add_compared(&all[i], style, text_or_empty(&before), out);
    text_release(&before);
    seconds += all[i].proof.seconds;
    memory = all[i].proof.memory > memory ? all[i].proof.memory : memory;
  }
  text_add(out, "  ");
  seconds_add(out, seconds);
  text_add(out, ", ");
  bytes_add(out, memory);
  text_add(out, "\n");
  for (uint32_t i = 0; i < n; i++)
    if (all[i].proof.kind == ENGINE_UNSAFE)
      add_story(&all[i], environments, style, out);
}

/* ---- JSON ---- */

static json_t *state_json(const struct counter_system *s, const struct counter_state *state) {
  json_t *counters = json_object(), *control = json_object();
  for (uint32_t i = 0; i < s->ncounters; i++)
    json_object_set_new(counters, s->counters[i].name, json_integer(state->counters[i]));
  for (uint32_t i = 0; i < s->ncontrols; i++) {
    const struct control *c = &s->controls[i];
    int64_t value_now = state->controls[i];
    json_object_set_new(control, c->name,
                        c->kind == CONTROL_TRUTH    ? json_boolean(value_now)
                        : c->kind == CONTROL_LABELS ? json_string(c->labels[value_now])
                                                    : json_integer(value_now));
  }
  return json_pack("{s:o, s:o}", "counters", counters, "control", control);
}

static json_t *values_json(const struct counter_system *s, const int64_t *params) {
  json_t *j = json_object();
  for (uint32_t i = 0; i < s->nparams; i++)
    if (!s->params[i].of)
      json_object_set_new(j, s->params[i].name, json_integer(params[i]));
  return j;
}

/* The values of fixed parameters; null for free ones. */
static json_t *params_json(const struct counter_system *s) {
  json_t *j = json_object();
  for (uint32_t i = 0; i < s->nparams; i++) {
    const struct term *is = s->params[i].is;
    if (s->params[i].of)
      continue;
    json_object_set_new(j, s->params[i].name, is && is->op == TERM_NUMBER ? json_integer(is->number) : json_null());
  }
  return j;
}

static json_t *text_json(const char *text) { return text_to_json(text, strlen(text)); }

json_t *counter_model_json(const struct counter_system *s) {
  struct text conditions = {0};
  counter_conditions_print(s, true, &conditions);
  json_t *j = json_pack("{s:s, s:o, s:o, s:o, s:n, s:s}", "name", s->name, "file", text_json(s->source.path), "params",
                        params_json(s), "conditions", text_json(text_or_empty(&conditions)), "environment", "semantics",
                        "counters");
  text_release(&conditions);
  return j;
}

json_t *counter_run_json(const struct counter_system *s, const struct counter_property *p,
                         const struct counter_run *run) {
  json_t *steps = json_array();
  for (size_t i = 0; i < run->steps.n; i++) {
    const struct counter_step *step = &run->steps.at[i];
    const struct counter_move *m = &s->moves[step->move];
    json_t *amounts = json_object();
    for (uint32_t k = 0; k < m->namounts; k++)
      json_object_set_new(amounts, m->amounts[k].name, json_integer(step->amounts[k]));
    json_array_append_new(steps, json_pack("{s:s, s:i, s:o, s:o}", "move", m->name, "line",
                                           (int)source_line_number(&s->source, m->at), "amounts", amounts, "state",
                                           state_json(s, &step->after)));
  }
  return json_pack("{s:s, s:o, s:{s:s, s:o, s:i}, s:o, s:o, s:o}", "schema", COUNTER_TRACE_SCHEMA, "model",
                   counter_model_json(s), "property", "name", p->name, "formula", text_json(p->text), "line",
                   (int)source_line_number(&s->source, p->at), "params", values_json(s, run->params), "initial",
                   state_json(s, &run->start), "steps", steps);
}

static json_t *trace_json(const struct proof_result *p) {
  if (p->proof.kind != ENGINE_UNSAFE)
    return json_null();
  if (!p->concrete)
    return counter_run_json(p->system, p->proof.property, &p->proof.run);
  return p->concrete->trace ? trace_to_json(p->concrete->trace, p->interp) : json_null();
}

static json_t *compared_json(const struct proof_result *p) {
  const struct validation *c = &p->compared;
  if (!p->is_compared)
    return json_null();
  return json_pack("{s:I, s:I, s:I, s:I, s:b, s:I}", "instances", (json_int_t)c->instances, "processes",
                   (json_int_t)c->processes, "states", (json_int_t)c->states, "steps", (json_int_t)c->steps, "complete",
                   (int)!c->cut, "searched", (json_int_t)p->searched);
}

/* Proved for all values of a parameter, by this one. */
static json_t *cutoff_json(const struct proof_result *p) {
  if (!p->cutoff || p->proof.kind != ENGINE_SAFE)
    return json_null();
  return json_pack("{s:s, s:I, s:s}", "param", p->cutoff, "value", (json_int_t)p->cutoff_value, "by", p->cutoff_by);
}

static json_t *property_json(const struct proof_result *one, uint32_t run) {
  const struct proof *p = &one->proof;
  struct text proved = {0};
  json_t *reports = json_object();
  add_proved(one, &proved);
  for (uint32_t i = 0; i < p->nreports; i++)
    json_object_set_new(reports, p->reports[i].name, text_json(p->reports[i].reached));
  json_t *j =
      json_pack("{s:s, s:s, s:s, s:o, s:s?, s:i, s:o, s:s?, s:o, s:o, s:b, s:o}", "name", one->name, "kind",
                one->live || (p->property && p->property->run) ? "live" : "safety", "verdict",
                verdict_name(proof_verdict(p)), "proved", text_json(text_or_empty(&proved)), "environment",
                one->environment, "run", (int)run, "trace", trace_json(one), "engine", p->by, "engines", reports,
                "compared", compared_json(one), "vacuous", (int)one->vacuous, "cutoff", cutoff_json(one));
  text_release(&proved);
  return j;
}

static json_t *stats_json(const struct proof *p) {
  return json_pack("{s:n, s:n, s:i, s:f, s:I}", "states", "transitions", "depth",
                   (int)(p->kind == ENGINE_UNSAFE ? p->run.steps.n : p->depth), "seconds", p->seconds, "memory_bytes",
                   (json_int_t)p->memory);
}

static json_t *model_json(const struct proof_result *p) {
  json_t *j = counter_model_json(p->system);
  if (p->environment)
    json_object_set_new(j, "environment", json_string(p->environment));
  return j;
}

json_t *proof_results_json(const struct proof_result *all, uint32_t n) {
  json_t *j = json_object(), *properties = json_array(), *runs = json_array();
  json_object_set_new(j, "schema", json_string(PROVE_SCHEMA));
  json_object_set_new(j, "verdict", json_string(verdict_name(proof_results_verdict(all, n))));
  json_object_set_new(j, "properties", properties);
  json_object_set_new(j, "model", n ? model_json(&all[0]) : json_null());
  json_object_set_new(j, "reductions", json_array());
  for (uint32_t i = 0; i < n; i++) {
    json_array_append_new(properties, property_json(&all[i], i));
    json_array_append_new(runs, json_pack("{s:o, s:[s], s:[], s:o}", "model", model_json(&all[i]), "properties",
                                          all[i].name, "reductions", "stats", stats_json(&all[i].proof)));
  }
  json_object_set_new(j, "stats", n ? stats_json(&all[0].proof) : json_null());
  json_object_set_new(j, "runs", runs);
  return j;
}
