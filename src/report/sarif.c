#include "report/sarif.h"

#include "report/json_report.h"
#include "trace/value_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void sarif_init(struct sarif *s) {
  s->results = json_array();
  s->rules = json_array();
}

void sarif_release(struct sarif *s) {
  json_decref(s->results);
  json_decref(s->rules);
}

static const char *string_at(const json_t *object, const char *key) {
  const char *s = json_string_value(json_object_get(object, key));
  return s ? s : "";
}

static json_t *any_text(const char *s) { return text_to_json(s, strlen(s)); }

static json_t *message_json(const char *s) { return json_pack("{s:o}", "text", any_text(s)); }

/* ---- places ---- */

/* A relative path is a relative reference; in both, everything but unreserved characters is encoded. */
static json_t *uri_json(const char *path) {
  static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  struct text uri = {0};
  if (path[0] == '/')
    text_add(&uri, "file://");
  for (; *path; path++)
    if (strchr(unreserved, *path))
      text_add_n(&uri, path, 1);
    else
      text_addf(&uri, "%%%02X", (unsigned char)*path);
  json_t *j = any_text(text_or_empty(&uri));
  text_release(&uri);
  return j;
}

struct place {
  const char *file;
  json_int_t line, column, end_line, end_column; /* 0: unknown */
};

static json_t *location_json(const struct place *at, const char *message) {
  json_t *physical = json_pack("{s:{s:o}}", "artifactLocation", "uri", uri_json(at->file));
  json_t *location = json_object();
  if (at->line > 0) {
    json_t *region = json_pack("{s:I}", "startLine", at->line);
    if (at->column > 0)
      json_object_set_new(region, "startColumn", json_integer(at->column));
    if (at->end_line >= at->line && at->end_column > 0) {
      json_object_set_new(region, "endLine", json_integer(at->end_line));
      json_object_set_new(region, "endColumn", json_integer(at->end_column));
    }
    json_object_set_new(physical, "region", region);
  }
  json_object_set_new(location, "physicalLocation", physical);
  if (message)
    json_object_set_new(location, "message", message_json(message));
  return location;
}

/* ---- results ---- */

static size_t rule_index(struct sarif *s, const char *id, const char *title, const char *level) {
  const json_t *rule;
  size_t i;
  json_array_foreach(s->rules, i, rule) if (!strcmp(string_at(rule, "id"), id)) return i;
  json_array_append_new(s->rules, json_pack("{s:s, s:{s:s}, s:{s:s}}", "id", id, "shortDescription", "text", title,
                                            "defaultConfiguration", "level", level));
  return i;
}

/* flow: the locations of a run, or NULL; taken over. */
static void add_result(struct sarif *s, const char *rule, const char *title, const char *level, const char *message,
                       const struct place *at, json_t *flow) {
  json_t *result = json_object();
  json_object_set_new(result, "ruleId", json_string(rule));
  json_object_set_new(result, "ruleIndex", json_integer((json_int_t)rule_index(s, rule, title, level)));
  json_object_set_new(result, "level", json_string(level));
  json_object_set_new(result, "message", message_json(message));
  json_object_set_new(result, "locations", at->file ? json_pack("[o]", location_json(at, NULL)) : json_array());
  if (flow)
    json_object_set_new(result, "codeFlows", json_pack("[{s:[{s:o}]}]", "threadFlows", "locations", flow));
  json_array_append_new(s->results, result);
}

static json_int_t number_at(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

void sarif_add_diagnostic(struct sarif *s, const json_t *d, const char *title) {
  const char *file = json_string_value(json_object_get(d, "file")), *help = string_at(d, "help");
  struct place at = {file, number_at(d, "line"), number_at(d, "column"), number_at(d, "end_line"),
                     number_at(d, "end_column")};
  struct text message = {0};
  text_add(&message, string_at(d, "message"));
  if (*help)
    text_addf(&message, "\nhelp: %s", help);
  add_result(s, string_at(d, "code"), title, string_at(d, "severity"), text_or_empty(&message), &at, NULL);
  text_release(&message);
}

void sarif_add_expectation(struct sarif *s, const char *file, unsigned line, const char *message) {
  add_result(s, "expectation", "an expectation is not met", "error", message,
             &(struct place){.file = file, .line = line}, NULL);
}

/* ---- counterexamples ---- */

static void add_step(json_t *flow, const char *file, json_int_t line, int nesting, const char *text) {
  json_array_append_new(flow, json_pack("{s:o, s:i}", "location",
                                        location_json(&(struct place){.file = file, .line = line}, text),
                                        "nestingLevel", nesting));
}

static void add_changes(json_t *flow, const char *file, const json_t *changes) {
  const json_t *c;
  size_t i;
  json_array_foreach(changes, i, c) {
    struct text text = {0};
    const char *process = string_at(c, "process");
    text_addf(&text, "%s%s%s", process, *process ? ": " : "", string_at(c, "text"));
    add_step(flow, file, number_at(c, "line"), 1, text.at);
    text_release(&text);
  }
}

static void add_names(struct text *out, const json_t *names) {
  const json_t *name;
  size_t i;
  json_array_foreach(names, i, name) text_addf(out, "%s%s", i ? ", " : "", json_string_value(name));
  if (json_array_size(names) == 0)
    text_add(out, "nobody");
}

static void add_round(json_t *flow, const char *file, const json_t *round) {
  struct text text = {0};
  const char *process, *name = string_at(round, "name");
  const json_t *heard;
  text_addf(&text, "round %lld%s%s", (long long)number_at(round, "round"), *name ? ", " : "", name);
  json_object_foreach(json_object_get(round, "heard"), process, heard) {
    text_addf(&text, "; %s hears ", process);
    add_names(&text, heard);
  }
  add_step(flow, file, number_at(json_array_get(json_object_get(round, "sent"), 0), "line"), 0, text.at);
  add_changes(flow, file, json_object_get(round, "changes"));
  text_release(&text);
}

static void add_event(json_t *flow, const char *file, const json_t *step) {
  struct text text = {0};
  const char *process = string_at(step, "process"), *name = string_at(step, "name");
  text_addf(&text, "step %lld: %s%s%s", (long long)number_at(step, "step"), process, *process ? ": " : "",
            *name ? name : string_at(step, "event"));
  add_step(flow, file, number_at(step, "line"), 0, text.at);
  add_changes(flow, file, json_object_get(step, "changes"));
  text_release(&text);
}

static void add_start(json_t *flow, const char *file, const json_t *trace) {
  struct text text = {0};
  const json_t *p, *v;
  size_t i;
  const char *name;
  text_add(&text, "start");
  json_array_foreach(json_object_get(json_object_get(trace, "initial"), "processes"), i, p) {
    const char *between = "; ";
    json_object_foreach(json_object_get(p, "variables"), name, v) {
      char *dump = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
      if (!strcmp(between, "; "))
        text_addf(&text, "; %s: ", string_at(p, "process"));
      text_addf(&text, "%s%s = %s", strcmp(between, "; ") ? between : "", name,
                json_is_null(v)     ? "none"
                : json_is_string(v) ? json_string_value(v)
                : dump              ? dump
                                    : "");
      between = ", ";
      free(dump);
    }
  }
  add_step(flow, file, 0, 0, text.at);
  text_release(&text);
}

/* The end: what fails, and for which values. */
static void add_end(json_t *flow, const char *file, const json_t *trace) {
  const json_t *property = json_object_get(trace, "property"), *error = json_object_get(trace, "error"), *value_text;
  struct text text = {0};
  size_t i;
  if (json_is_object(error)) {
    text_add(&text, string_at(error, "message"));
    add_step(flow, file, number_at(error, "line"), 0, *text_or_empty(&text) ? text.at : "an error of the model");
  } else if (json_is_object(property)) {
    text_addf(&text, "now '%s' fails: %s", string_at(property, "name"), string_at(property, "formula"));
    json_array_foreach(json_object_get(property, "instance"), i, value_text)
        text_addf(&text, "%s%s", i ? ", " : "; ", json_string_value(value_text));
    add_step(flow, file, number_at(property, "line"), 0, text.at);
  }
  text_release(&text);
}

/* NULL: the answer has no run. */
static json_t *flow_of(const json_t *trace, const char *file) {
  const json_t *one, *loop = json_object_get(trace, "loop");
  size_t i;
  if (!json_is_object(trace))
    return NULL;
  json_t *flow = json_array();
  add_start(flow, file, trace);
  json_array_foreach(json_object_get(trace, "rounds"), i, one) add_round(flow, file, one);
  json_array_foreach(json_object_get(trace, "steps"), i, one) add_event(flow, file, one);
  if (json_is_integer(loop)) {
    struct text text = {0};
    text_addf(&text, "the run repeats from position %lld on, forever", (long long)json_integer_value(loop));
    add_step(flow, file, 0, 0, text.at);
    text_release(&text);
  }
  add_end(flow, file, trace);
  return flow;
}

static void add_property(struct sarif *s, const json_t *p, const char *file, const json_t *model) {
  const char *verdict = string_at(p, "verdict"), *name = string_at(p, "name"),
             *environment = string_at(p, "environment");
  const json_t *trace = json_object_get(p, "trace"), *held;
  bool violated = !strcmp(verdict, "violated"), error = !strcmp(string_at(p, "kind"), "error");
  struct place at = {.file = file, .line = number_at(p, "line")};
  struct text message = {0};
  const char *param;
  if (!violated && strcmp(verdict, "inconclusive") != 0)
    return;
  if (at.line == 0)
    at.line = number_at(json_object_get(trace, error ? "error" : "property"), "line");
  text_addf(&message, "'%s' is %s, %s", name, verdict, string_at(p, "proved"));
  if (*environment)
    text_addf(&message, ", environment %s", environment);
  const char *between = ", ";
  json_object_foreach(json_object_get(model, "params"), param, held) {
    char *dump = json_dumps(held, JSON_ENCODE_ANY);
    if (!json_is_null(held))
      text_addf(&message, "%s%s = %s", between, param, dump ? dump : "");
    free(dump);
  }
  if (error)
    add_result(s, "model-error", "the model has an error in some run", "error", message.at, &at, flow_of(trace, file));
  else if (violated)
    add_result(s, "violated", "a property is violated", "error", message.at, &at, flow_of(trace, file));
  else
    add_result(s, "inconclusive", "a property was not decided", "warning", message.at, &at, NULL);
  text_release(&message);
}

void sarif_add_answer(struct sarif *s, const json_t *answer) {
  const json_t *one, *model = json_object_get(answer, "model");
  const char *file = json_string_value(json_object_get(model, "file"));
  size_t i;
  json_array_foreach(json_object_get(answer, "instances"), i, one) sarif_add_answer(s, one);
  json_array_foreach(json_object_get(answer, "properties"), i, one) add_property(s, one, file ? file : "model", model);
}

/* ---- lint ---- */

static bool is_there(const struct sarif *s, const char *message) {
  const json_t *r;
  size_t i;
  json_array_foreach(s->results, i,
                     r) if (!strcmp(string_at(json_object_get(r, "message"), "text"), message)) return true;
  return false;
}

void sarif_add_lint(struct sarif *s, const json_t *answer, const char *file) {
  const json_t *query, *reduction;
  size_t i, k;
  json_array_foreach(json_object_get(answer, "questions"), i, query)
      json_array_foreach(json_object_get(query, "reductions"), k, reduction) {
    struct text message = {0};
    if (json_is_true(json_object_get(reduction, "granted")))
      continue;
    text_addf(&message, "reduction '%s' is refused in environment %s: %s", string_at(reduction, "name"),
              string_at(query, "environment"), string_at(reduction, "reason"));
    if (!is_there(s, message.at))
      add_result(s, "refused-reduction", "the text does not allow a reduction", "note", message.at,
                 &(struct place){.file = file, .line = number_at(reduction, "line")}, NULL);
    text_release(&message);
  }
}

/* ---- the log ---- */

void sarif_text(const struct sarif *s, int status, struct text *out) {
  json_t *driver = json_pack("{s:s, s:s, s:O}", "name", "rondo", "version", RONDO_VERSION, "rules", s->rules);
  json_t *run =
      json_pack("{s:{s:o}, s:s, s:[{s:b, s:i}], s:O}", "tool", "driver", driver, "columnKind", "unicodeCodePoints",
                "invocations", "executionSuccessful", status <= 2, "exitCode", status, "results", s->results);
  json_text(json_pack("{s:s, s:s, s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version",
                      "2.1.0", "runs", run),
            out);
}
