#include "report/synthesis_report.h"

#include "report/proof_report.h"

#include <inttypes.h>
#include <string.h>

static const char *unknown_at(const struct synthesis *s, uint32_t i) { return s->open->params[s->unknowns[i]].name; }

static bool is_unknown(const struct synthesis *s, uint32_t param) {
  for (uint32_t i = 0; i < s->nunknowns; i++)
    if (s->unknowns[i] == param)
      return true;
  return false;
}

static void add_values(const struct synthesis *s, const int64_t *values, struct text *out) {
  for (uint32_t i = 0; i < s->nunknowns; i++)
    text_addf(out, "%s%s = %" PRId64, i ? ", " : "", unknown_at(s, i), values[i]);
}

static void add_ranges(const struct synthesis *s, struct text *out) {
  for (uint32_t i = 0; i < s->nunknowns; i++)
    text_addf(out, "%s%s in %" PRId64 "..%" PRId64, i ? ", " : "", unknown_at(s, i), s->low[i], s->high[i]);
}

/* The parameters that the proofs are about. */
static void add_params(const struct synthesis *s, struct text *out) {
  const char *between = "";
  for (uint32_t i = 0; i < s->open->nparams; i++)
    if (!s->open->params[i].is && !is_unknown(s, i)) {
      text_addf(out, "%s%s", between, s->open->params[i].name);
      between = ", ";
    }
}

static void add_list(const struct synthesis *s, const struct synthesis_values *all, size_t n, const char *before,
                     struct text *out) {
  for (size_t i = 0; i < n; i++) {
    text_addf(out, "  %s", before);
    add_values(s, all[i].values, out);
    if (all[i].note)
      text_addf(out, "  (%s)", all[i].note);
    text_add(out, "\n");
  }
}

static const char *violated_name(const struct synthesis_violation *v) {
  return v->property ? v->property->name : v->name;
}

void synthesis_text(const struct synthesis *s, const struct style *style, struct text *out) {
  struct text title = {0}, params = {0};
  text_addf(&title, "%s: for which values of its unknowns do all %s hold?", s->open->name,
            s->model ? "properties" : "specifications");
  paint_add(out, style, PAINT_TITLE, title.at);
  text_add(out, "\n\n");
  add_list(s, s->solutions.at, s->solutions.n, "", out);
  add_list(s, s->undecided.at, s->undecided.n, "not decided: ", out);
  if (s->solutions.n || s->undecided.n)
    text_add(out, "\n");
  add_params(s, &params);
  text_add(out, "  ");
  count_add(out, s->solutions.n, "solution", "solutions");
  text_add(out, s->solutions.n ? ", proved for all " : " for all ");
  text_addf(out, "%s: ", text_or_empty(&params));
  for (uint32_t i = 0; i < s->nproperties; i++)
    text_addf(out, "%s%s", i ? ", " : "", s->properties[i]);
  text_add(out, "\n  values: ");
  add_ranges(s, out);
  text_add(out, s->exact ? "\n  all other values are ruled out by " : "\n  others are ruled out by ");
  count_add(out, s->violations.n, "violation", "violations");
  if (!s->exact && s->limit)
    text_addf(out, "; there may be more solutions: %s", s->limit);
  text_add(out, "\n  ");
  seconds_add(out, s->seconds);
  text_add(out, ", ");
  bytes_add(out, s->memory);
  text_add(out, "\n");
  for (size_t i = 0; style->verbose && i < s->violations.n; i++) {
    const struct synthesis_violation *v = &s->violations.at[i];
    struct text heading = {0};
    text_addf(&heading, "%s is VIOLATED with ", violated_name(v));
    add_values(s, v->values, &heading);
    text_add(out, "\n");
    paint_add(out, style, PAINT_BAD, heading.at);
    text_add(out, "\n");
    if (v->trace)
      text_add(out, v->text);
    else
      counter_run_text(v->system, v->property, &v->run, style, out);
    text_release(&heading);
  }
  text_release(&title);
  text_release(&params);
}

static json_t *values_json(const struct synthesis *s, const int64_t *values) {
  json_t *j = json_object();
  for (uint32_t i = 0; i < s->nunknowns; i++)
    json_object_set_new(j, unknown_at(s, i), json_integer(values[i]));
  return j;
}

static json_t *list_json(const struct synthesis *s, const struct synthesis_values *all, size_t n, const char *note) {
  json_t *j = json_array();
  for (size_t i = 0; i < n; i++)
    json_array_append_new(j, json_pack("{s:o, s:s?}", "values", values_json(s, all[i].values), note, all[i].note));
  return j;
}

json_t *synthesis_json(const struct synthesis *s) {
  json_t *unknowns = json_array(), *violations = json_array(), *properties = json_array();
  for (uint32_t i = 0; i < s->nunknowns; i++)
    json_array_append_new(unknowns, json_pack("{s:s, s:I, s:I}", "name", unknown_at(s, i), "low", (json_int_t)s->low[i],
                                              "high", (json_int_t)s->high[i]));
  for (uint32_t i = 0; i < s->nproperties; i++)
    json_array_append_new(properties, json_string(s->properties[i]));
  for (size_t i = 0; i < s->violations.n; i++) {
    const struct synthesis_violation *v = &s->violations.at[i];
    json_array_append_new(
        violations,
        json_pack("{s:o, s:s, s:o}", "values", values_json(s, v->values), "property", violated_name(v), "trace",
                  v->trace ? json_incref(v->trace) : counter_run_json(v->system, v->property, &v->run)));
  }
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s?, s:o, s:{s:f, s:I}}", "schema", SYNTHESIS_SCHEMA,
                   "verdict", s->exact ? "exact" : "inconclusive", "properties", properties, "unknowns", unknowns,
                   "solutions", list_json(s, s->solutions.at, s->solutions.n, "vacuous"), "undecided",
                   list_json(s, s->undecided.at, s->undecided.n, "why"), "violations", violations, "limit",
                   s->exact ? NULL : s->limit, "model", counter_model_json(s->open), "stats", "seconds", s->seconds,
                   "memory_bytes", (json_int_t)s->memory);
}
