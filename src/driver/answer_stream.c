#include "driver/answer_stream.h"

#include "driver/context.h"
#include "report/coverage_report.h"
#include "report/json_report.h"
#include "report/text_report.h"
#include "report/verdict_text.h"
#include "trace/trace_json.h"

#include <string.h>

#define PROGRESS_SECONDS 1.0 /* between two lines of JSON */

rondo_verdict verdict_of(const struct model *m, const struct property_result *p) {
  rondo_verdict v = {.property = property_result_name(p),
                     .environment = m->environments[p->environment].name,
                     .kind = RONDO_NO_ERROR,
                     .status = (rondo_status)exit_status_of(p->verdict),
                     .proved = p->proved,
                     .has_trace = p->trace};
  if (p->property)
    switch (p->property->kind) {
    case PROPERTY_SAFETY:
      v.kind = RONDO_SAFETY;
      break;
    case PROPERTY_COVER:
      v.kind = RONDO_COVER;
      break;
    case PROPERTY_LIVE:
      v.kind = RONDO_LIVE;
      break;
    }
  return v;
}

static bool in_lines(const struct answer_stream *s) { return s->options->output.json_lines; }

/* Is anything written? Not by ranks that help; rows of tables only in lines. */
static bool is_silent(const struct answer_stream *s) {
  return s->options->ranks.is_helper || (s->in_table && !in_lines(s));
}

/* Takes the object over. */
static void add_event(const struct answer_stream *s, const char *event, json_t *fields, struct text *out) {
  json_t *j = json_pack("{s:s, s:s, s:i}", "schema", LINES_SCHEMA, "event", event, "instance", (int)s->instance);
  json_object_update(j, fields);
  json_decref(fields);
  json_line(j, out);
}

static void write_event(const struct answer_stream *s, const char *event, json_t *fields) {
  struct text out = {0};
  add_event(s, event, fields, &out);
  context_write(s->options->rondo, &out);
}

static json_t *property_head(const struct model *m, uint32_t property, uint32_t environment) {
  struct property_result p = {.property = &m->properties[property]};
  return json_pack("{s:s, s:s, s:s}", "name", p.property->name, "kind", property_result_kind(&p), "environment",
                   m->environments[environment].name);
}

void stream_begin(struct answer_stream *s, const struct query_groups *in) {
  json_t *properties;
  if (!in_lines(s) || is_silent(s))
    return;
  properties = json_array();
  for (size_t i = 0; i < in->at.n; i++)
    for (size_t k = 0; k < in->at.at[i].properties.n; k++)
      json_array_append_new(properties,
                            property_head(s->model, in->at.at[i].properties.at[k], in->at.at[i].environment));
  for (size_t i = 0; i < in->live.n; i++)
    json_array_append_new(properties, property_head(s->model, in->live.at[i].property, in->live.at[i].environment));
  json_t *model = model_to_json(s->model, 0, s->semantics);
  json_object_del(model, "environment"); /* properties have theirs */
  write_event(s, "header", json_pack("{s:o, s:o}", "model", model, "properties", properties));
}

/* The title of a run of text, unless it was the last thing that was written. */
static void add_title(const struct answer_stream *s, uint32_t environment, enum semantics semantics, struct text *out) {
  struct style style = context_style(s->options->rondo, s->options->output.verbose);
  if (s->titled && s->environment == environment && s->semantics == semantics)
    return;
  if (s->written > 0 || s->titled)
    text_add(out, "\n");
  report_title(s->model, environment, semantics, &style, out);
}

void stream_progress(struct answer_stream *s, uint32_t environment, enum semantics semantics,
                     const struct search_stats *stats) {
  struct text out = {0};
  double now = clock_seconds();
  if (is_silent(s) || s->options->audit)
    return;
  if (in_lines(s) && now - s->progress >= PROGRESS_SECONDS) {
    s->progress = now;
    json_t *j =
        json_pack("{s:s, s:I, s:o, s:f, s:I}", "environment", s->model->environments[environment].name, "states",
                  (json_int_t)stats->states, "depth", stats->depth > 0 ? json_integer(stats->depth) : json_null(),
                  "seconds", stats->seconds, "memory_bytes", (json_int_t)stats->memory);
    write_event(s, "progress", j);
  }
  if (s->options->output.json || s->titled)
    return;
  add_title(s, environment, semantics, &out);
  if (s->prepared)
    answer_shorten(s->options->rondo, out.n);
  context_write(s->options->rondo, &out);
  s->titled = true;
  s->environment = environment;
  s->semantics = semantics;
}

void stream_found(struct answer_stream *s, const struct search *search, uint32_t property) {
  const rondo_host *host = &s->options->rondo->host;
  const struct query *q = search->space->query;
  const struct finding *f = &search->findings[property];
  const struct property *p = &s->model->properties[q->properties[property]];
  struct property_result r = {.property = p, .environment = q->environment};
  struct text proved = {0};
  if (is_silent(s) || s->options->audit)
    return;
  r.verdict = p->kind == PROPERTY_COVER ? VERDICT_HOLDS : VERDICT_VIOLATED;
  text_add(&proved, p->kind == PROPERTY_COVER ? "reached " : "");
  verdict_add_after(&proved, model_steps(s->model) || q->semantics == SEMANTICS_FINE, f->rounds);
  r.proved = proved.at;
  rondo_verdict v = verdict_of(s->model, &r);
  if (host->verdict)
    host->verdict(host->context, &v, false);
  if (in_lines(s))
    write_event(s, "found",
                json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", v.property, "kind", property_result_kind(&r), "verdict",
                          verdict_name(r.verdict), "proved", v.proved, "environment", v.environment));
  text_release(&proved);
}

/* One run. */
static void add_run(const struct answer_stream *s, const struct check_result *c, uint32_t run, struct text *out) {
  const struct run_result *r = &c->runs[run];
  struct style style = context_style(s->options->rondo, s->options->output.verbose);
  if (in_lines(s)) {
    for (uint32_t k = 0; k < r->nproperties; k++)
      add_event(s, "verdict", property_json(c, &r->properties[k], run), out);
    json_t *j = run_json(c, r);
    json_object_set_new(j, "run", json_integer(run));
    add_event(s, "run", j, out);
    return;
  }
  add_title(s, r->environment, r->semantics, out);
  report_run_text(c, r, &style, out);
}

void stream_runs(struct answer_stream *s, const struct check_result *c) {
  const rondo_host *host = &s->options->rondo->host;
  for (; !is_silent(s) && s->written < c->nruns; s->written++) {
    const struct run_result *r = &c->runs[s->written];
    struct text out = {0};
    if (!s->options->output.json || in_lines(s))
      add_run(s, c, s->written, &out);
    s->titled = false;
    context_write(s->options->rondo, &out);
    for (uint32_t k = 0; k < r->nproperties && host->verdict; k++) {
      rondo_verdict v = verdict_of(c->model, &r->properties[k]);
      host->verdict(host->context, &v, true);
    }
  }
}

static json_t *summary(const struct answer_stream *s, const struct check_result *c) {
  json_t *diags = s->options->rondo->command_diags;
  return json_pack("{s:s, s:o, s:o}", "verdict", verdict_name(c->verdict), "coverage",
                   c->coverage ? coverage_json(c->coverage) : json_null(), "diagnostics",
                   diags ? json_copy(diags) : json_array());
}

void stream_rest(const struct answer_stream *s, const struct check_result *c, struct text *out) {
  struct answer_stream left = *s;
  if (s->options->output.json && !in_lines(s)) {
    context_json(s->options->rondo, report_json(c), out);
    return;
  }
  for (; left.written < c->nruns; left.written++) {
    add_run(&left, c, left.written, out);
    left.titled = false;
  }
  if (in_lines(s))
    add_event(s, "summary", summary(s, c), out);
}

void stream_refused(struct answer_stream *s, json_t *why) { write_event(s, "refused", why); }
