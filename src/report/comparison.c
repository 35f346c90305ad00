#include "report/comparison.h"

#include "analysis/local_properties.h"
#include "base/vec.h"
#include "report/json_report.h"
#include "report/verdict_text.h"
#include "trace/trace_json.h"
#include "trace/value_json.h"

#include <string.h>

static void variant_add(struct text *out, const struct compared_semantics *v) {
  text_add(out, semantics_name(v->semantics));
  if (v->semantics == SEMANTICS_FINE)
    text_addf(out, " up to %u", v->distance);
}

static const struct property_result *result_of(const struct run_result *r, const struct property *property) {
  for (uint32_t i = 0; i < r->nproperties; i++)
    if (r->properties[i].property == property)
      return &r->properties[i];
  return NULL;
}

static bool is_complete(const struct run_result *r) { return !search_limited(r->end) && !r->cut; }

/* The verdict for a property; NULL: for errors of the model, which a result has only if there are any. */
static enum verdict verdict_of(const struct run_result *r, const struct property *property) {
  const struct property_result *p = result_of(r, property);
  bool found_nothing = r->end == SEARCH_EXHAUSTED && !r->cut;
  if (p && p->verdict == VERDICT_INCONCLUSIVE && found_nothing && r->distance_cut)
    return property->kind == PROPERTY_COVER ? VERDICT_VIOLATED : VERDICT_HOLDS;
  if (p)
    return p->verdict;
  return !property && found_nothing ? VERDICT_HOLDS : VERDICT_INCONCLUSIVE;
}

/* Liveness properties, and those that read `round`, are checked on coarse rounds only. */
static bool is_compared(const struct comparison *c, const struct property_result *p) {
  bool other = c->variants[c->n - 1].semantics == SEMANTICS_FINE;
  return p->property && !(other && (p->property->kind == PROPERTY_LIVE || property_reads_round(c->model, p->property)));
}

/* A property that is not local may have another verdict on fine rounds. */
static bool may_differ(const struct comparison *c, uint32_t run, const struct property *property) {
  const struct property_result *p = property ? result_of(&c->of[0].runs[run], property) : NULL;
  return p && p->rounds.reason && !p->rounds.granted;
}

/* An action that must receive all delivered messages may become disabled forever, so that runs end that continue under
   other semantics. */
static bool may_block(enum semantics s) { return s == SEMANTICS_MP; }

/* Finds the first two variants whose verdicts differ. Returns false if none do. */
static bool two_differ(const struct comparison *c, uint32_t run, const struct property *property, uint32_t *first,
                       uint32_t *other) {
  *first = c->n;
  for (uint32_t i = 0; i < c->n; i++) {
    enum verdict v = verdict_of(&c->of[i].runs[run], property);
    *other = i;
    if (v == VERDICT_INCONCLUSIVE ||
        (may_block(c->variants[i].semantics) && property && property->kind == PROPERTY_LIVE))
      continue;
    if (*first == c->n)
      *first = i;
    else if (v != verdict_of(&c->of[*first].runs[run], property))
      return true;
  }
  return false;
}

static void add_difference(const struct comparison *c, uint32_t run, const struct property *property,
                           struct text *why) {
  uint32_t two[2];
  if (!two_differ(c, run, property, &two[0], &two[1]))
    return;
  text_addf(why, "%s'%s' in environment '%s': ", why->n ? "\n  " : "", property ? property->name : "no_error",
            c->model->environments[c->of[0].runs[run].environment].name);
  for (int i = 0; i < 2; i++) {
    text_addf(why, "%s%s in ", i ? ", " : "", verdict_name(verdict_of(&c->of[two[i]].runs[run], property)));
    variant_add(why, &c->variants[two[i]]);
  }
}

static void add_differences(const struct comparison *c, bool local, struct text *why) {
  for (uint32_t i = 0; i < c->of[0].nruns; i++) {
    const struct run_result *r = &c->of[0].runs[i];
    for (uint32_t k = 0; k < r->nproperties; k++)
      if (is_compared(c, &r->properties[k]) && may_differ(c, i, r->properties[k].property) != local)
        add_difference(c, i, r->properties[k].property, why);
    if (local)
      add_difference(c, i, NULL, why);
  }
}

bool comparison_agrees(const struct comparison *c, struct text *why) {
  add_differences(c, true, why);
  return why->n == 0;
}

bool comparison_differs(const struct comparison *c) {
  struct text why = {0};
  add_differences(c, false, &why);
  bool differs = why.n > 0;
  text_release(&why);
  return differs;
}

enum verdict comparison_verdict(const struct comparison *c) {
  enum verdict worst = VERDICT_HOLDS;
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t run = 0; run < c->of[i].nruns; run++) {
      const struct run_result *r = &c->of[i].runs[run];
      for (uint32_t k = 0; k < r->nproperties; k++) {
        const struct property_result *p = &r->properties[k];
        enum verdict v = p->property && is_compared(c, p) ? verdict_of(r, p->property) : p->verdict;
        bool counts = (i == 0 || !p->property || is_compared(c, p));
        worst = counts && v > worst ? v : worst;
      }
    }
  return worst;
}

static bool all_conclusive(const struct comparison *c) {
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t k = 0; k < c->of[i].nruns; k++) {
      const struct run_result *r = &c->of[i].runs[k];
      if (!is_complete(r))
        return false;
    }
  return true;
}

/* The baseline: the fewest states, among exhausted searches if there are any. */
static uint64_t fewest_states(const struct comparison *c, uint32_t run) {
  uint64_t fewest[2] = {UINT64_MAX, UINT64_MAX};
  for (uint32_t i = 0; i < c->n; i++) {
    const struct run_result *r = &c->of[i].runs[run];
    uint64_t *at = &fewest[!is_complete(r)];
    if (r->stats.states < *at)
      *at = r->stats.states;
  }
  uint64_t least = fewest[0] != UINT64_MAX ? fewest[0] : fewest[1];
  return least ? least : 1;
}

static double ratio_of(const struct comparison *c, uint32_t run, const struct run_result *r) {
  return (double)r->stats.states / (double)fewest_states(c, run);
}

/* --- text --- */

static void add_title(const struct comparison *c, uint32_t run, const struct style *style, struct text *out) {
  struct text title = {0};
  text_addf(&title, "%s%s", c->model->name, c->model->nparams ? ", " : "");
  params_add(&title, c->model);
  paint_add(out, style, PAINT_TITLE, title.at);
  text_addf(out, ", environment %s\n\n", c->model->environments[c->of[0].runs[run].environment].name);
  text_release(&title);
}

static void add_ratio(struct text *cell, double ratio, bool at_least) {
  text_add(cell, at_least ? ">" : "");
  if (ratio < 99.95)
    text_addf(cell, "%.1f", ratio);
  else
    number_add(cell, (uint64_t)(ratio + 0.5));
}

static void add_sizes(struct text_table *t, const struct comparison *c, uint32_t i, uint32_t run) {
  const struct run_result *r = &c->of[i].runs[run];
  struct text cell = {0};
  variant_add(&cell, &c->variants[i]);
  text_table_add(t, &cell);
  number_add(&cell, r->stats.states);
  text_table_add(t, &cell);
  if (r->transitions_counted)
    number_add(&cell, r->stats.transitions);
  text_table_add(t, &cell);
  if (!r->stats.depth_unknown)
    number_add(&cell, r->stats.depth);
  text_table_add(t, &cell);
  seconds_add(&cell, r->stats.seconds);
  text_table_add(t, &cell);
  bytes_add(&cell, r->stats.memory);
  text_table_add(t, &cell);
  add_ratio(&cell, ratio_of(c, run, r), !is_complete(r));
  text_table_add(t, &cell);
}

static const struct property *compared(const struct comparison *c, uint32_t run, uint32_t k) {
  const struct property_result *p = &c->of[0].runs[run].properties[k];
  return is_compared(c, p) ? p->property : NULL;
}

static void add_verdict(struct text_table *t, enum verdict v) {
  text_table_add_word(t, verdict_word(v, true), verdict_paint(v));
}

/* The table of sizes, with the verdicts if they fit. */
static bool add_table(const struct comparison *c, uint32_t run, const struct style *style, bool verdicts,
                      struct text *out) {
  static const char *const heads[] = {"semantics", "states", "transitions", "depth", "time", "memory", "ratio"};
  const uint32_t n = c->of[0].runs[run].nproperties;
  struct text_table t = {.indent = 2, .gap = 2};
  for (uint32_t k = 0; k < sizeof heads / sizeof *heads; k++)
    text_table_column(&t, heads[k], k ? ALIGN_RIGHT : ALIGN_LEFT, 0);
  for (uint32_t k = 0; verdicts && k < n; k++)
    if (compared(c, run, k))
      text_table_column(&t, compared(c, run, k)->name, ALIGN_LEFT, 0);
  for (uint32_t i = 0; i < c->n; i++) {
    add_sizes(&t, c, i, run);
    for (uint32_t k = 0; verdicts && k < n; k++)
      if (compared(c, run, k))
        add_verdict(&t, verdict_of(&c->of[i].runs[run], compared(c, run, k)));
  }
  bool fits = !verdicts || text_table_width(&t) <= style->width;
  if (fits) {
    text_table_print_head(&t, style, out);
    text_table_print_rows(&t, style, out);
  }
  text_table_release(&t);
  return fits;
}

static void add_verdicts(const struct comparison *c, uint32_t run, const struct style *style, struct text *out) {
  struct text_table t = {.indent = 2, .gap = 2};
  text_table_column(&t, "", ALIGN_LEFT, 0);
  for (uint32_t i = 0; i < c->n; i++) {
    struct text cell = {0};
    variant_add(&cell, &c->variants[i]);
    text_table_column(&t, cell.at, ALIGN_LEFT, 0);
    text_release(&cell);
  }
  for (uint32_t k = 0; k < c->of[0].runs[run].nproperties; k++)
    if (compared(c, run, k)) {
      text_table_add_word(&t, compared(c, run, k)->name, PAINT_NONE);
      for (uint32_t i = 0; i < c->n; i++)
        add_verdict(&t, verdict_of(&c->of[i].runs[run], compared(c, run, k)));
    }
  text_add(out, "\n");
  text_table_print_head(&t, style, out);
  text_table_print_rows(&t, style, out);
  text_table_release(&t);
}

static void add_errors(const struct comparison *c, uint32_t run, struct text *out) {
  for (uint32_t i = 0; i < c->n; i++) {
    const struct run_result *r = &c->of[i].runs[run];
    for (uint32_t k = 0; k < r->nproperties; k++)
      if (!r->properties[k].property)
        text_addf(out, "  error in %s %s\n", semantics_name(c->variants[i].semantics), r->properties[k].proved);
  }
}

/* The reductions used. All variants have the same ones, except where a licence refuses one. */
static void add_reductions(const struct comparison *c, uint32_t run, struct text *out) {
  for (uint32_t i = 0; i < c->n; i++) {
    const struct licences *l = c->of[i].runs[run].licences, *before = i ? c->of[i - 1].runs[run].licences : NULL;
    bool same = before != NULL;
    for (unsigned k = 0; k < REDUCTIONS && same; k++)
      same = l->of[k].applied == before->of[k].applied;
    if (same)
      continue;
    const char *between = "";
    text_addf(out, "  reductions%s%s: ", i ? " in " : "", i ? semantics_name(c->variants[i].semantics) : "");
    for (unsigned k = 0; k < REDUCTIONS; k++)
      if (l->of[k].applied && (l->of[k].useful || l->of[k].forced)) {
        text_addf(out, "%s%s%s", between, reduction_name(k), l->of[k].forced ? " (FORCED)" : "");
        between = ", ";
      }
    text_add(out, *between ? "\n" : "none\n");
  }
}

static bool differs_by_blocking(const struct comparison *c) {
  bool differs = false;
  for (uint32_t i = 0; i < c->n; i++)
    for (uint32_t k = 0; k < c->of[0].nruns && may_block(c->variants[i].semantics); k++) {
      const struct property *p = c->of[0].runs[k].properties ? c->of[0].runs[k].properties[0].property : NULL;
      enum verdict here = verdict_of(&c->of[i].runs[k], p), first = verdict_of(&c->of[0].runs[k], p);
      differs |= p && p->kind == PROPERTY_LIVE && here != first && here != VERDICT_INCONCLUSIVE &&
                 first != VERDICT_INCONCLUSIVE;
    }
  return differs;
}

static void add_conclusion(const struct comparison *c, const struct style *style, struct text *out) {
  struct text why = {0};
  text_add(out, "  ");
  if (!comparison_agrees(c, &why)) {
    paint_add(out, style, PAINT_BAD, "THE VERDICTS DIFFER");
    text_addf(out, ", and must not: a fault of rondo\n  %s\n", why.at);
  } else if (c->n == 1) {
    text_addf(out, "%s is the only semantics of this model so far: there is nothing to compare\n",
              semantics_name(c->variants[0].semantics));
  } else {
    add_differences(c, false, &why);
    bool all = all_conclusive(c);
    if (why.n > 0) {
      paint_add(out, style, PAINT_BAD, "THE VERDICTS DIFFER");
      text_addf(out, ", as they may of what is not local\n  %s\n", why.at);
    } else {
      paint_add(out, style, all ? PAINT_GOOD : PAINT_UNSURE,
                all ? "the verdicts agree" : "the verdicts agree, as far as the limits let them come");
      if (differs_by_blocking(c))
        text_add(out, ", but for mp, where messages that no action takes together block a process forever");
      text_add(out, "\n");
    }
  }
  text_release(&why);
}

void comparison_text(const struct comparison *c, const struct style *style, struct text *out) {
  for (uint32_t i = 0; i < c->of[0].nruns; i++) {
    add_title(c, i, style, out);
    if (!add_table(c, i, style, true, out)) {
      add_table(c, i, style, false, out);
      add_verdicts(c, i, style, out);
    }
    text_add(out, "\n");
    add_errors(c, i, out);
    add_reductions(c, i, out);
    if (i + 1 < c->of[0].nruns)
      text_add(out, "\n");
  }
  add_conclusion(c, style, out);
}

/* --- JSON --- */

static json_t *properties_json(const struct comparison *c, const struct run_result *r) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < r->nproperties; i++) {
    const struct property_result *p = &r->properties[i];
    json_t *one = json_object();
    if (p->property && !is_compared(c, p)) {
      json_decref(one);
      continue;
    }
    json_object_set_new(one, "name", json_string(property_result_name(p)));
    json_object_set_new(one, "kind", json_string(property_result_kind(p)));
    json_object_set_new(one, "verdict",
                        json_string(verdict_name(p->property ? verdict_of(r, p->property) : p->verdict)));
    json_object_set_new(one, "proved", text_to_json(p->proved, strlen(p->proved)));
    json_array_append_new(j, one);
  }
  return j;
}

static json_t *row_json(const struct comparison *c, uint32_t i, uint32_t run) {
  const struct run_result *r = &c->of[i].runs[run];
  json_t *j = json_object();
  json_object_set_new(j, "semantics", json_string(semantics_name(c->variants[i].semantics)));
  json_object_set_new(j, "max_distance", c->variants[i].distance ? json_integer(c->variants[i].distance) : json_null());
  json_object_set_new(j, "complete", json_boolean(is_complete(r)));
  json_object_set_new(j, "stats", stats_json(r));
  json_object_set_new(j, "ratio", json_real(ratio_of(c, run, r)));
  json_object_set_new(j, "properties", properties_json(c, r));
  json_object_set_new(j, "reductions", licences_json(r->licences, c->model));
  return j;
}

json_t *comparison_json(const struct comparison *c) {
  json_t *j = json_object(), *environments = json_array();
  struct text why = {0};
  enum verdict worst = comparison_verdict(c);
  bool agrees = comparison_agrees(c, &why);
  for (uint32_t i = 0; i < c->of[0].nruns; i++) {
    uint32_t environment = c->of[0].runs[i].environment;
    json_t *one = json_object(), *rows = json_array();
    for (uint32_t k = 0; k < c->n; k++)
      json_array_append_new(rows, row_json(c, k, i));
    json_object_set_new(one, "environment", json_string(c->model->environments[environment].name));
    json_object_set_new(one, "semantics", rows);
    json_array_append_new(environments, one);
  }
  json_object_set_new(j, "schema", json_string(COMPARE_SCHEMA));
  json_object_set_new(j, "verdict", json_string(verdict_name(worst)));
  json_object_set_new(j, "agrees", json_boolean(agrees));
  json_object_set_new(j, "why", agrees ? json_null() : json_string(why.at));
  json_object_set_new(j, "model", model_to_json(c->model, c->of[0].runs[0].environment, c->variants[0].semantics));
  json_object_set_new(j, "environments", environments);
  json_object_del(json_object_get(j, "model"), "environment");
  json_object_del(json_object_get(j, "model"), "semantics");
  text_release(&why);
  return j;
}
