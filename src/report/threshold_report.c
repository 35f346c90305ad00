#include "report/threshold_report.h"

#include "param/param_region.h"
#include "report/proof_report.h"
#include "report/trace_text.h"
#include "trace/trace_json.h"

#include <string.h>

void threshold_release(struct threshold *t) {
  cubes_release(&t->unsafe);
  text_release(&t->scripts);
  if (t->has_proof)
    proof_release(&t->proof);
  if (t->has_edge)
    proof_release(&t->edge);
}

static void add_title(const struct threshold *t, const struct style *style, struct text *out) {
  struct text title = {0};
  text_addf(&title, "%s, %s: for which parameters does it fail?", t->graph->system->name, t->property->name);
  paint_add(out, style, PAINT_TITLE, title.at);
  text_add(out, "\n\n");
  text_release(&title);
}

static void add_line(struct text *out, const char *label, const struct text *line) {
  text_addf(out, "  %-14s%s\n", label, text_or_empty(line));
}

static void add_how(const struct threshold *t, struct text *out) {
  text_add(out, "\n  ");
  count_add(out, t->ways, "counterexample", "counterexamples");
  text_add(out, " generalised");
  for (uint32_t i = 0; t->exact && i < t->proof.nreports; i++)
    if (t->proof.by && !strcmp(t->proof.by, t->proof.reports[i].name))
      text_addf(out, "; the rest by %s: %s, confirmed by three queries", t->proof.by, t->proof.reports[i].reached);
  if (!t->exact && t->has_proof) {
    struct text proved = {0};
    proof_summary(&t->proof, t->graph->system, &proved);
    text_addf(out, "\n  the rest: %s", proved.at);
    for (uint32_t i = 0; i < t->proof.nreports; i++)
      text_addf(out, "\n  %s: %s", t->proof.reports[i].name, t->proof.reports[i].reached);
    text_release(&proved);
  }
  text_add(out, "\n  ");
  seconds_add(out, t->seconds);
  text_add(out, ", ");
  bytes_add(out, t->memory);
  text_add(out, "\n");
}

void threshold_text(const struct threshold *t, const struct style *style, struct text *out) {
  const struct counter_system *s = t->graph->system;
  struct text unsafe = {0}, safe = {0}, assuming = {0};
  add_title(t, style, out);
  regions_print(t->graph, &t->unsafe, &unsafe);
  counter_conditions_print(s, false, &assuming);
  add_line(out, "unsafe when", &unsafe);
  if (t->exact)
    regions_complement_print(t->graph, &t->unsafe, &safe);
  else
    text_add(&safe, "not known: there may be more unsafe ones");
  add_line(out, "safe when", &safe);
  if (assuming.n)
    add_line(out, "assuming", &assuming);
  add_how(t, out);
  if (t->has_edge) {
    struct text title = {0}, proved = {0};
    proof_summary(&t->edge, s, &proved);
    if (t->found) {
      const char *params = strchr(proved.at, ','); /* "after 2 moves, n = 3, t = 1": moves are not the algorithm's */
      text_addf(&title, "on the edge, %s is VIOLATED %s%s", t->property->name, t->found->proved, params ? params : "");
    } else {
      text_addf(&title, "on the edge, %s is VIOLATED %s", t->property->name, proved.at);
    }
    text_add(out, "\n");
    paint_add(out, style, PAINT_BAD, title.at);
    text_add(out, "\n");
    if (t->found) { /* in the words of the model */
      trace_print(t->found->trace, style, out);
      trace_explain(t->found->trace, t->interp, style, out);
    } else {
      counter_run_text(s, t->property, &t->edge.run, style, out);
    }
    text_release(&title);
    text_release(&proved);
  }
  text_release(&unsafe);
  text_release(&safe);
  text_release(&assuming);
}

json_t *threshold_json(const struct threshold *t) {
  const struct counter_system *s = t->graph->system;
  struct text unsafe = {0}, safe = {0}, assuming = {0};
  regions_print(t->graph, &t->unsafe, &unsafe);
  if (t->exact)
    regions_complement_print(t->graph, &t->unsafe, &safe);
  counter_conditions_print(s, false, &assuming);
  json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s, s:o, s:o, s:i, s:o}", "schema", THRESHOLD_SCHEMA, "verdict",
                        t->exact ? "exact" : "inconclusive", "property", t->property->name, "unsafe_when",
                        text_or_empty(&unsafe), "safe_when", t->exact ? text_or_empty(&safe) : NULL, "assuming",
                        text_or_empty(&assuming), "edge",
                        t->has_edge ? counter_run_json(s, t->property, &t->edge.run) : json_null(), "model",
                        counter_model_json(s), "ways", (int)t->ways, "stats",
                        json_pack("{s:f, s:I}", "seconds", t->seconds, "memory_bytes", (json_int_t)t->memory));
  json_object_set_new(j, "edge_trace", t->found ? trace_to_json(t->found->trace, t->interp) : json_null());
  text_release(&unsafe);
  text_release(&safe);
  text_release(&assuming);
  return j;
}
