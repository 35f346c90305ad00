#include "report/instance_table.h"

#include "report/audit_report.h"
#include "report/verdict_text.h"

#include <string.h>

#define PARAM_WIDTH 2
#define VERDICT_WIDTH 8
#define STATES_WIDTH 11
#define DEPTH_WIDTH 5
#define TIME_WIDTH 8

static void add_columns(struct text_table *t, const struct check_result *c) {
  *t = (struct text_table){.gap = 2};
  for (uint32_t i = 0; i < c->model->nparams; i++)
    text_table_column(t, c->model->params[i].name, ALIGN_RIGHT,
                      c->model->params[i].truth ? strlen("false") : PARAM_WIDTH);
  for (uint32_t i = 0; i < c->nruns; i++)
    for (uint32_t k = 0; k < c->runs[i].nproperties; k++)
      if (c->runs[i].properties[k].property)
        text_table_column(t, c->runs[i].properties[k].property->name, ALIGN_LEFT, VERDICT_WIDTH);
  text_table_column(t, "states", ALIGN_RIGHT, STATES_WIDTH);
  text_table_column(t, "depth", ALIGN_RIGHT, DEPTH_WIDTH);
  text_table_column(t, "time", ALIGN_RIGHT, TIME_WIDTH);
}

void table_head(const struct check_result *c, const struct style *style, struct text *out) {
  struct text_table t;
  text_addf(out, "%s", c->model->name);
  text_addf(out, ", environment %s", c->nruns ? c->model->environments[c->runs[0].environment].name : "");
  for (uint32_t i = 1; i < c->nruns; i++)
    if (c->runs[i].environment != c->runs[i - 1].environment)
      text_addf(out, ", then %s", c->model->environments[c->runs[i].environment].name);
  if (c->model->kind == MODEL_MESSAGES && c->nruns)
    text_addf(out, ", semantics %s", semantics_name(c->runs[0].semantics));
  text_add(out, "\n\n");
  add_columns(&t, c);
  text_table_print_head(&t, style, out);
  text_table_release(&t);
}

void table_row(const struct check_result *c, const struct style *style, struct text *out) {
  uint64_t states = 0;
  uint32_t depth = 0;
  double seconds = 0;
  bool counted = false; /* solver engines have no states */
  const struct property_result *error = NULL;
  struct text cell = {0};
  struct text_table t;
  add_columns(&t, c);
  for (uint32_t i = 0; i < c->model->nparams; i++) {
    param_add(&cell, &c->model->params[i]);
    text_table_add(&t, &cell);
  }
  for (uint32_t i = 0; i < c->nruns; i++) {
    const struct run_result *r = &c->runs[i];
    states += r->stats.states;
    counted |= !r->engine;
    depth = r->stats.depth > depth && !r->stats.depth_unknown ? r->stats.depth : depth;
    seconds += r->stats.seconds;
    for (uint32_t k = 0; k < r->nproperties; k++) {
      const struct property_result *p = &r->properties[k];
      if (p->property)
        text_table_add_word(&t, verdict_word(p->verdict, true), verdict_paint(p->verdict));
      else
        error = p;
    }
  }
  if (counted)
    number_add(&cell, states);
  text_table_add(&t, &cell);
  number_add(&cell, depth);
  text_table_add(&t, &cell);
  seconds_add(&cell, seconds);
  text_table_add(&t, &cell);
  if (error) {
    text_addf(&cell, "error %s", error->proved);
    text_table_column(&t, "", ALIGN_LEFT, 0);
    text_table_add(&t, &cell);
  }
  text_table_print_rows(&t, style, out);
  text_table_release(&t);
  for (uint32_t i = 0; i < c->nruns; i++)
    if (c->runs[i].audits && !audit_complete(&c->runs[i])) {
      text_add(out, "  audit: ");
      audit_text(&c->runs[i], out);
      text_add(out, "\n");
    }
}
