#include "report/instance_table.h"

#include "report/audit_report.h"
#include "report/verdict_text.h"

#include <string.h>

#define PARAM_WIDTH 2
#define VERDICT_WIDTH 8
#define STATES_WIDTH 11
#define DEPTH_WIDTH 5
#define TIME_WIDTH 8

static bool has_column(const struct property_result *p) { return p->property; }

static int width_of(const char *name, int least) {
  int n = (int)strlen(name);
  return n > least ? n : least;
}

static int param_width(const struct param *p) {
  return width_of(p->name, p->truth ? (int)strlen("false") : PARAM_WIDTH);
}

void table_head(const struct check_result *c, const struct style *style, struct text *out) {
  struct text head = {0};
  text_addf(out, "%s", c->model->name);
  text_addf(out, ", environment %s", c->nruns ? c->model->environments[c->runs[0].environment].name : "");
  for (uint32_t i = 1; i < c->nruns; i++)
    if (c->runs[i].environment != c->runs[i - 1].environment)
      text_addf(out, ", then %s", c->model->environments[c->runs[i].environment].name);
  if (c->model->kind == MODEL_MESSAGES && c->nruns)
    text_addf(out, ", semantics %s", semantics_name(c->runs[0].semantics));
  text_add(out, "\n\n");
  for (uint32_t i = 0; i < c->model->nparams; i++)
    text_addf(&head, "%*s  ", param_width(&c->model->params[i]), c->model->params[i].name);
  for (uint32_t i = 0; i < c->nruns; i++)
    for (uint32_t k = 0; k < c->runs[i].nproperties; k++) {
      const struct property_result *p = &c->runs[i].properties[k];
      if (has_column(p))
        text_addf(&head, "%-*s  ", width_of(p->property->name, VERDICT_WIDTH), p->property->name);
    }
  text_addf(&head, "%*s  %*s  %*s", STATES_WIDTH, "states", DEPTH_WIDTH, "depth", TIME_WIDTH, "time");
  paint_add(out, style, PAINT_TITLE, head.at);
  text_add(out, "\n");
  text_release(&head);
}

static void add_right(struct text *out, struct text *cell, int width) {
  text_addf(out, "%*s", width, text_or_empty(cell));
  text_release(cell);
}

void table_row(const struct check_result *c, const struct style *style, struct text *out) {
  uint64_t states = 0;
  uint32_t depth = 0;
  double seconds = 0;
  bool counted = false; /* solver engines have no states */
  const struct property_result *error = NULL;
  struct text cell = {0};
  for (uint32_t i = 0; i < c->model->nparams; i++) {
    param_add(&cell, &c->model->params[i]);
    add_right(out, &cell, param_width(&c->model->params[i]));
    text_add(out, "  ");
  }
  for (uint32_t i = 0; i < c->nruns; i++) {
    const struct run_result *r = &c->runs[i];
    states += r->stats.states;
    counted |= !r->engine;
    depth = r->stats.depth > depth && !r->stats.depth_unknown ? r->stats.depth : depth;
    seconds += r->stats.seconds;
    for (uint32_t k = 0; k < r->nproperties; k++) {
      const struct property_result *p = &r->properties[k];
      if (!p->property)
        error = p;
      if (!has_column(p))
        continue;
      verdict_add(out, style, p->verdict, true, (size_t)width_of(p->property->name, VERDICT_WIDTH) + 2);
    }
  }
  if (counted)
    number_add(&cell, states);
  else
    text_add(&cell, "-");
  add_right(out, &cell, STATES_WIDTH);
  text_add(out, "  ");
  number_add(&cell, depth);
  add_right(out, &cell, DEPTH_WIDTH);
  text_add(out, "  ");
  seconds_add(&cell, seconds);
  add_right(out, &cell, TIME_WIDTH);
  if (error)
    text_addf(out, "  error %s", error->proved);
  text_add(out, "\n");
  for (uint32_t i = 0; i < c->nruns; i++)
    if (c->runs[i].audits && !audit_complete(&c->runs[i])) {
      text_add(out, "  audit: ");
      audit_text(&c->runs[i], out);
      text_add(out, "\n");
    }
}
