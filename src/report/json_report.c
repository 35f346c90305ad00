#include "report/json_report.h"

#include "report/audit_report.h"
#include "report/coverage_report.h"
#include "trace/event_json.h"
#include "trace/trace_json.h"
#include "trace/value_json.h"

#include <stdlib.h>
#include <string.h>

#define EXACT_DIGITS 15 /* numbers with this many digits are below 2^53, which every JSON reader represents exactly */
#define EXACT_MOST "9007199254740992"

json_t *licences_json(const struct licences *l, const struct model *m) {
  json_t *j = json_array();
  for (unsigned i = 0; i < REDUCTIONS; i++) {
    const struct licence *licence = &l->of[i];
    uint32_t line = licence->at.to ? source_line_number(&m->source, licence->at) : 0;
    if (!licence->concerns)
      continue;
    json_t *one = json_object();
    json_object_set_new(one, "name", json_string(reduction_name(i)));
    json_object_set_new(one, "applied", json_boolean(licence->applied));
    json_object_set_new(one, "granted", json_boolean(licence->granted));
    json_object_set_new(one, "forced", json_boolean(licence->forced));
    json_object_set_new(one, "reason", json_string(licence->reason));
    json_object_set_new(one, "line", line ? json_integer(line) : json_null());
    json_array_append_new(j, one);
  }
  return j;
}

static json_t *assignments_json(const char *decimal) {
  if (!decimal)
    return json_null();
  size_t n = strlen(decimal);
  if (n <= EXACT_DIGITS || (n == strlen(EXACT_MOST) && strcmp(decimal, EXACT_MOST) <= 0))
    return json_integer(strtoll(decimal, NULL, 10));
  return json_string(decimal);
}

json_t *stats_json(const struct run_result *r) {
  json_t *j = json_object();
  json_object_set_new(j, "engine", json_string(r->engine ? r->engine : "explicit"));
  json_object_set_new(j, "states", r->engine ? json_null() : json_integer((json_int_t)r->stats.states));
  json_object_set_new(j, "variables", r->engine ? json_integer((json_int_t)r->variables) : json_null());
  json_object_set_new(j, "transitions",
                      r->transitions_counted ? json_integer((json_int_t)r->stats.transitions) : json_null());
  json_object_set_new(j, "depth", r->stats.depth_unknown ? json_null() : json_integer(r->stats.depth));
  json_object_set_new(j, "seconds", json_real(r->stats.seconds));
  json_object_set_new(j, "memory_bytes", json_integer((json_int_t)r->stats.memory));
  json_object_set_new(j, "missed_probability", r->hashed ? json_real(r->missed) : json_null());
  if (r->stats.disk > 0)
    json_object_set_new(j, "disk_bytes", json_integer((json_int_t)r->stats.disk));
  json_object_set_new(j, "heard_of_assignments", assignments_json(r->heard_of_assignments));
  json_object_set_new(j, "channel_bound", r->has_channels ? json_integer(r->channel_bound) : json_null());
  json_object_set_new(j, "round_distance",
                      r->divergence     ? json_string("unbounded")
                      : r->has_distance ? json_integer(r->distance)
                                        : json_null());
  json_object_set_new(j, "successors", json_string(r->successors));
  json_object_set_new(j, "order_mattered", json_boolean(r->order_mattered));
  return j;
}

static json_t *audit_json(const struct run_result *r) {
  if (!r->audits)
    return json_null();
  json_t *j = json_object(), *ways = json_array();
  uint64_t states = r->engine ? 0 : r->stats.states;
  static const char *const ends[] = {"agrees", "undecided", "refused"};
  for (uint32_t i = r->naudits; i-- > 0;)
    states = r->audits[i].states ? r->audits[i].states : states;
  for (uint32_t i = 0; i < r->naudits; i++) {
    const struct audit_note *n = &r->audits[i];
    json_t *one = json_object();
    json_object_set_new(one, "options", json_string(n->way));
    json_object_set_new(one, "result", json_string(ends[n->end]));
    json_object_set_new(one, "states", n->states ? json_integer((json_int_t)n->states) : json_null());
    json_object_set_new(one, "why", n->why ? text_to_json(n->why, strlen(n->why)) : json_null());
    json_array_append_new(ways, one);
  }
  json_object_set_new(j, "agrees", audit_complete(r) ? json_true() : json_null());
  json_object_set_new(j, "states", json_integer((json_int_t)states));
  json_object_set_new(j, "ways", ways);
  return j;
}

json_t *property_json(const struct check_result *c, const struct property_result *p, uint32_t run) {
  json_t *j = json_object();
  json_object_set_new(j, "name", json_string(property_result_name(p)));
  json_object_set_new(j, "kind", json_string(property_result_kind(p)));
  json_object_set_new(j, "verdict", json_string(verdict_name(p->verdict)));
  json_object_set_new(j, "proved", text_to_json(p->proved, strlen(p->proved)));
  json_object_set_new(j, "environment", json_string(c->model->environments[p->environment].name));
  json_object_set_new(j, "run", json_integer(run));
  json_object_set_new(j, "whole_rounds",
                      p->rounds.reason ? json_pack("{s:b, s:s, s:o}", "granted", p->rounds.granted, "reason",
                                                   p->rounds.reason, "line", line_to_json(c->model, p->rounds.at))
                                       : json_null());
  if (p->property && p->property->kind == PROPERTY_LIVE)
    json_object_set_new(j, "vacuous", json_boolean(p->vacuous));
  json_object_set_new(j, "trace",
                      p->trace ? trace_to_json(p->trace, result_interpreter(c, &c->runs[run])) : json_null());
  return j;
}

json_t *run_json(const struct check_result *c, const struct run_result *r) {
  json_t *j = json_object(), *names = json_array();
  for (uint32_t k = 0; k < r->nproperties; k++)
    json_array_append_new(names, json_string(property_result_name(&r->properties[k])));
  json_object_set_new(j, "model", model_to_json(c->model, r->environment, r->semantics));
  json_object_set_new(j, "properties", names);
  json_object_set_new(j, "reductions", licences_json(r->licences, result_model(c, r)));
  json_object_set_new(j, "stats", stats_json(r));
  json_object_set_new(j, "runaway",
                      r->divergence
                          ? json_pack("{s:i, s:i, s:o}", "from", (int)r->segment.from, "to", (int)r->segment.to,
                                      "trace", trace_to_json(r->divergence, result_interpreter(c, r)))
                          : json_null());
  json_object_set_new(j, "audit", audit_json(r));
  return j;
}

json_t *report_json(const struct check_result *c) {
  json_t *j = json_object(), *properties = json_array(), *runs = json_array();
  json_object_set_new(j, "schema", json_string(CHECK_SCHEMA));
  json_object_set_new(j, "verdict", json_string(verdict_name(c->verdict)));
  json_object_set_new(j, "properties", properties);
  for (uint32_t i = 0; i < c->nruns; i++) {
    const struct run_result *r = &c->runs[i];
    json_t *run = run_json(c, r);
    if (i == 0) {
      json_object_set(j, "model", json_object_get(run, "model"));
      json_object_set(j, "reductions", json_object_get(run, "reductions"));
      json_object_set(j, "stats", json_object_get(run, "stats"));
    }
    json_array_append_new(runs, run);
    for (uint32_t k = 0; k < r->nproperties; k++)
      json_array_append_new(properties, property_json(c, &r->properties[k], i));
  }
  json_object_set_new(j, "runs", runs);
  json_object_set_new(j, "coverage", c->coverage ? coverage_json(c->coverage) : json_null());
  return j;
}

static void add_json(json_t *j, size_t how, struct text *out) {
  char *dump = json_dumps(j, how | JSON_REAL_PRECISION(6));
  text_add(out, dump ? dump : "null");
  text_add(out, "\n");
  free(dump);
  json_decref(j);
}

void json_text(json_t *j, struct text *out) { add_json(j, JSON_INDENT(1), out); }

void json_line(json_t *j, struct text *out) { add_json(j, JSON_COMPACT, out); }
