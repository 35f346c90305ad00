#include "report/proof_report.h"

#include <inttypes.h>
#include <string.h>

enum verdict proof_verdict(const struct proof *p) {
  return p->kind == OUTCOME_SAFE     ? VERDICT_HOLDS
         : p->kind == OUTCOME_UNSAFE ? VERDICT_VIOLATED
                                     : VERDICT_INCONCLUSIVE;
}

enum verdict proofs_verdict(const struct proof *p, uint32_t n) {
  enum verdict worst = VERDICT_HOLDS;
  for (uint32_t i = 0; i < n; i++)
    if (proof_verdict(&p[i]) > worst)
      worst = proof_verdict(&p[i]);
  return worst;
}

static uint32_t line_of(const struct counter_system *s, struct span at) {
  uint32_t line, column;
  source_place(&s->source, at.from, &line, &column);
  return line;
}

/* ---- the run, in words ---- */

static void item(struct items *items, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void item(struct items *items, const char *format, ...) {
  struct text t = {0};
  va_list args;
  va_start(args, format);
  text_addv(&t, format, args);
  va_end(args);
  items_add(items, &t);
}

static void add_state(struct items *items, const struct counter_system *s,
                      const struct counter_state *state) {
  for (uint32_t i = 0; i < s->ncontrols; i++) {
    struct text t = {0};
    text_addf(&t, "%s ", s->controls[i].name);
    control_value_print(&s->controls[i], state->controls[i], &t);
    items_add(items, &t);
  }
  for (uint32_t i = 0; i < s->ncounters; i++)
    item(items, "%s %" PRId64, s->counters[i].name, state->counters[i]);
}

static void add_changes(struct items *items, const struct counter_system *s,
                        const struct counter_state *before, const struct counter_state *after) {
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
      item(items, "%s %" PRId64 " -> %" PRId64, s->counters[i].name, before->counters[i],
           after->counters[i]);
}

void counter_run_text(const struct counter_system *s, const struct counter_property *p,
                      const struct counter_run *run, const struct style *style, struct text *out) {
  struct items items = {0};
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
    text_addf(out, "  (line %" PRIu32 ")\n", line_of(s, m->at));
    add_changes(&items, s, now, &step->after);
    items_print(&items, style, "change", false, out);
    now = &step->after;
  }
  text_addf(out, "\nnow %s is unsafe  (line %" PRIu32 ")\n  %s\n", p->name, line_of(s, p->at),
            p->text);
}

/* ---- in words ---- */

static void add_title(const struct counter_system *s, const struct style *style, struct text *out) {
  struct text title = {0};
  const char *between = ", ";
  text_add(&title, s->name);
  for (uint32_t i = 0; i < s->nparams; i++)
    if (s->params[i].is && s->params[i].is->op == TERM_NUMBER)
      text_addf(&title, ", %s = %" PRId64, s->params[i].name, s->params[i].is->number);
  struct text all = {0};
  free_params_print(s, &all);
  if (all.n)
    text_addf(&title, "%sfor all %s", between, all.at);
  text_release(&all);
  paint_add(out, style, PAINT_TITLE, title.at);
  text_add(out, "\n\n");
  text_release(&title);
}

static void add_verdicts(const struct counter_system *s, const struct proof *proofs, uint32_t n,
                         const struct style *style, struct text *out) {
  static const char *const words[] = {"holds", "inconclusive", "VIOLATED"};
  static const enum paint paints[] = {PAINT_GOOD, PAINT_UNSURE, PAINT_BAD};
  size_t widest = 0;
  for (uint32_t i = 0; i < n; i++)
    if (strlen(proofs[i].property->name) > widest)
      widest = strlen(proofs[i].property->name);
  for (uint32_t i = 0; i < n; i++) {
    struct text proved = {0};
    enum verdict v = proof_verdict(&proofs[i]);
    proof_proved(&proofs[i], s, &proved);
    text_addf(out, "  %-*s   ", (int)widest, proofs[i].property->name);
    paint_add(out, style, paints[v], words[v]);
    text_addf(out, "%*s   %s\n", (int)(strlen("inconclusive") - strlen(words[v])), "", proved.at);
    text_release(&proved);
  }
}

/* Who decided it, or how far each got. */
static void add_engines(const struct proof *p, const struct style *style, bool several,
                        struct text *out) {
  for (uint32_t i = 0; i < p->nreports; i++) {
    bool decided = p->by && strcmp(p->by, p->reports[i].name) == 0;
    if (!decided && p->by && !style->verbose)
      continue;
    if (several)
      text_addf(out, "  %s, ", p->property->name);
    else
      text_add(out, "  ");
    text_addf(out, "%s: %s%s\n", p->reports[i].name, p->reports[i].reached,
              !decided                  ? ""
              : p->kind == OUTCOME_SAFE ? ", confirmed by three queries"
                                        : ", replayed");
  }
}

void proofs_text(const struct counter_system *s, const struct proof *proofs, uint32_t n,
                 const struct style *style, struct text *out) {
  double seconds = 0;
  size_t memory = 0;
  add_title(s, style, out);
  add_verdicts(s, proofs, n, style, out);
  text_add(out, "\n");
  for (uint32_t i = 0; i < n; i++) {
    add_engines(&proofs[i], style, n > 1, out);
    seconds += proofs[i].seconds;
    memory = proofs[i].memory > memory ? proofs[i].memory : memory;
  }
  text_add(out, "  ");
  seconds_add(out, seconds);
  text_add(out, ", ");
  bytes_add(out, memory);
  text_add(out, "\n");
  for (uint32_t i = 0; i < n; i++) {
    struct text title = {0}, proved = {0};
    if (proofs[i].kind != OUTCOME_UNSAFE)
      continue;
    proof_proved(&proofs[i], s, &proved);
    text_addf(&title, "%s is VIOLATED %s", proofs[i].property->name, proved.at);
    text_add(out, "\n");
    paint_add(out, style, PAINT_BAD, title.at);
    text_add(out, "\n");
    counter_run_text(s, proofs[i].property, &proofs[i].run, style, out);
    text_release(&title);
    text_release(&proved);
  }
}

/* ---- in JSON ---- */

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

/* Values where they are fixed, null where they are free. */
static json_t *params_json(const struct counter_system *s) {
  json_t *j = json_object();
  for (uint32_t i = 0; i < s->nparams; i++) {
    const struct term *is = s->params[i].is;
    if (s->params[i].of)
      continue;
    json_object_set_new(j, s->params[i].name,
                        is && is->op == TERM_NUMBER ? json_integer(is->number) : json_null());
  }
  return j;
}

json_t *counter_model_json(const struct counter_system *s) {
  struct text conditions = {0};
  conditions_print(s, true, &conditions);
  json_t *j = json_pack("{s:s, s:s, s:o, s:s, s:n, s:s}", "name", s->name, "file", s->source.path,
                        "params", params_json(s), "conditions", text_or_empty(&conditions),
                        "environment", "semantics", "counters");
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
                                           (int)line_of(s, m->at), "amounts", amounts, "state",
                                           state_json(s, &step->after)));
  }
  return json_pack("{s:s, s:o, s:{s:s, s:s, s:i}, s:o, s:o, s:o}", "schema", COUNTER_TRACE_SCHEMA,
                   "model", counter_model_json(s), "property", "name", p->name, "formula", p->text,
                   "line", (int)line_of(s, p->at), "params", values_json(s, run->params), "initial",
                   state_json(s, &run->start), "steps", steps);
}

static json_t *property_json(const struct counter_system *s, const struct proof *p, uint32_t run) {
  struct text proved = {0};
  json_t *reports = json_object();
  proof_proved(p, s, &proved);
  for (uint32_t i = 0; i < p->nreports; i++)
    json_object_set_new(reports, p->reports[i].name, json_string(p->reports[i].reached));
  json_t *j =
      json_pack("{s:s, s:s, s:s, s:s, s:n, s:i, s:o, s:s?, s:o}", "name", p->property->name, "kind",
                "safety", "verdict", verdict_name(proof_verdict(p)), "proved",
                text_or_empty(&proved), "environment", "run", (int)run, "trace",
                p->kind == OUTCOME_UNSAFE ? counter_run_json(s, p->property, &p->run) : json_null(),
                "engine", p->by, "engines", reports);
  text_release(&proved);
  return j;
}

static json_t *stats_json(const struct proof *p) {
  return json_pack("{s:n, s:n, s:i, s:f, s:I}", "states", "transitions", "depth",
                   (int)(p->kind == OUTCOME_UNSAFE ? p->run.steps.n : p->depth), "seconds",
                   p->seconds, "memory_bytes", (json_int_t)p->memory);
}

json_t *proofs_json(const struct counter_system *s, const struct proof *proofs, uint32_t n) {
  json_t *j = json_object(), *properties = json_array(), *runs = json_array();
  json_object_set_new(j, "schema", json_string(PROVE_SCHEMA));
  json_object_set_new(j, "verdict", json_string(verdict_name(proofs_verdict(proofs, n))));
  json_object_set_new(j, "properties", properties);
  json_object_set_new(j, "model", counter_model_json(s));
  json_object_set_new(j, "reductions", json_array());
  for (uint32_t i = 0; i < n; i++) {
    json_array_append_new(properties, property_json(s, &proofs[i], i));
    json_array_append_new(runs, json_pack("{s:o, s:[s], s:[], s:o}", "model", counter_model_json(s),
                                          "properties", proofs[i].property->name, "reductions",
                                          "stats", stats_json(&proofs[i])));
  }
  json_object_set_new(j, "stats", n ? stats_json(&proofs[0]) : json_null());
  json_object_set_new(j, "runs", runs);
  return j;
}
