/* rondo replay: is a saved run still a run of the model, and does it still show what it did? */
#include "base/printable.h"
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/diagram_files.h"
#include "driver/load.h"
#include "driver/semantics.h"
#include "report/json_report.h"
#include "report/trace_text.h"
#include "trace/trace_json.h"

#include <string.h>
#include <sys/stat.h>

/* A trace file, or the answer of `check --json`: then its first trace (of --property, if given). */
static json_t *trace_in(json_t *j, const struct command_options *o) {
  json_t *instances = json_object_get(j, "instances"), *properties = json_object_get(j, "properties");
  for (size_t i = 0; i < json_array_size(instances); i++) {
    json_t *found = trace_in(json_array_get(instances, i), o);
    if (found)
      return found;
  }
  if (!properties)
    return json_object_get(j, "rounds") || json_object_get(j, "steps") ? j : NULL;
  for (size_t i = 0; i < json_array_size(properties); i++) {
    json_t *p = json_array_get(properties, i), *trace = json_object_get(p, "trace");
    const char *name = json_string_value(json_object_get(p, "name"));
    bool wanted = o->properties.n == 0 || (name && !strcmp(name, o->properties.at[0]));
    if (json_is_object(trace) && wanted)
      return trace;
  }
  return NULL;
}

static int write_replay(const struct command_options *o, const struct trace *t, struct interpreter *interp,
                        enum replay replay, const char *why) {
  static const char *const outcomes[] = {"confirmed", "not_shown", "not_a_run"};
  const struct property *p = trace_property(t);
  bool good = trace_is_good(t); /* to be confirmed */
  struct text out = {0}, shown = {0};
  if (o->output.json) {
    context_json(o->rondo,
                 json_pack("{s:s, s:s, s:s*}", "schema", "rondo-replay/1", "outcome", outcomes[replay], "why",
                           *why ? why : NULL),
                 &out);
  } else if (replay == REPLAY_NOT_A_RUN) {
    text_add_printable(&shown, why);
    text_addf(&out, "this is not a run of %s: %s\n", t->model->name, text_or_empty(&shown));
  } else if (replay == REPLAY_NOT_SHOWN) {
    text_add_printable(&shown, why);
    text_addf(&out, "a run of %s, but it no longer shows what it was saved for: %s\n", t->model->name,
              text_or_empty(&shown));
  } else {
    struct style style = context_style(o->rondo, o->output.verbose);
    text_addf(&out, "a run of %s%s\n", t->model->name,
              t->claim.error ? ", and it still ends in an error"
              : !p           ? ""
              : good         ? ", and it still reaches its cover"
                             : ", and it still violates its property");
    trace_print(t, &style, &out);
    trace_explain(t, interp, &style, &out);
  }
  text_release(&shown);
  context_write(o->rondo, &out);
  if (replay == REPLAY_CONFIRMED)
    return good ? EXIT_HOLDS : EXIT_VIOLATED;
  if (replay == REPLAY_NOT_SHOWN)
    return good ? EXIT_VIOLATED : EXIT_HOLDS;
  return EXIT_BAD_INPUT;
}

static int replay_on(const struct command_options *o, const json_t *j, const struct trace_head *head, struct model *m,
                     const char *path) {
  struct claim claim = {.property = NO_PROPERTY, .error = head->error, .lasso = head->lasso, .loop = head->loop};
  struct run run;
  struct text why = {0};
  if (!environment_find(o->rondo, m, head->environment, &claim.environment) ||
      (head->property && !property_find(o->rondo, m, head->property, &claim.property)))
    return EXIT_BAD_INPUT;
  if (claim.property != NO_PROPERTY && !claim.error &&
      claim.lasso != (m->properties[claim.property].kind == PROPERTY_LIVE)) {
    context_error(o->rondo, E0812, "'%s' does not fit the model: '%s' %s", path, head->property,
                  claim.lasso ? "is not about infinite runs" : "is about infinite runs, and this run ends");
    return EXIT_BAD_INPUT;
  }
  if (!semantics_find(m, head->semantics, &claim.semantics, &why) || !trace_run_read(j, m, &run, &why)) {
    context_error(o->rondo, E0812, "'%s' does not fit the model: %s", path, text_or_empty(&why));
    text_release(&why);
    return EXIT_BAD_INPUT;
  }
  struct trace t;
  struct interpreter *interp = interpreter_new(m);
  interpreter_follow(interp, claim.semantics, false);
  enum replay replay = trace_replay(&t, interp, m, &claim, &run, &why);
  int status = write_replay(o, &t, interp, replay, text_or_empty(&why));
  if (diagrams_wanted(o) && replay != REPLAY_CONFIRMED)
    context_error(o->rondo, N0102, "there is nothing to draw");
  else if (diagrams_wanted(o) && !diagrams_write(o, &t, interp))
    status = EXIT_BAD_INPUT;
  trace_release(&t);
  interpreter_free(interp);
  text_release(&why);
  return status;
}

/* ---- the model ---- */

static bool is_regular_file(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Is it a path that stays in the working directory? */
static bool is_inside(const char *path) {
  for (const char *at = path; at; at = strchr(at, '/'), at = at ? at + 1 : NULL)
    if (!strncmp(at, "..", 2) && (at[2] == '/' || at[2] == '\0'))
      return false;
  return *path != '/' && *path != '\0';
}

/* The model that a trace names, which may come from anybody: only in the working directory, by a path that does not
   leave it, or beside the trace. NULL: there is none. */
static char *model_beside(const char *trace, const char *named) {
  const char *slash = strrchr(trace, '/'), *name = strrchr(named, '/');
  struct text beside = {0};
  if (is_inside(named) && is_regular_file(named))
    return memory_strdup(named);
  text_add_n(&beside, trace, slash ? (size_t)(slash - trace) + 1 : 0);
  text_add(&beside, name ? name + 1 : named);
  if (beside.at && is_regular_file(beside.at))
    return beside.at;
  text_release(&beside);
  return NULL;
}

static int replay_json(const struct command_options *o, const json_t *j, const char *path) {
  struct trace_head head;
  struct parsed_file parsed;
  struct text why = {0};
  if (!trace_head_read(j, &head, &why)) {
    context_error(o->rondo, E0812, "'%s' is not a trace: %s", path, text_or_empty(&why));
    text_release(&why);
    trace_head_release(&head);
    return EXIT_BAD_INPUT;
  }
  int status = EXIT_BAD_INPUT;
  char *beside = o->files.n > 1 ? NULL : model_beside(path, head.path);
  const char *model = o->files.n > 1 ? o->files.at[1] : beside;
  if (!model)
    context_error(
        o->rondo, E0812,
        "'%s' names the model '%s', which is neither in this directory nor beside it\n  help: rondo replay %s "
        "MODEL",
        path, head.path, path);
  if (model && parsed_file_load(&parsed, o->rondo, model)) {
    struct param_binding *bindings = memory_alloc((head.nparams + 1) * sizeof *bindings);
    for (size_t i = 0; i < head.nparams; i++)
      bindings[i] = (struct param_binding){head.params[i].name, head.params[i].value};
    struct model *m =
        parsed_file_is_algorithm(&parsed) ? model_load(&parsed, bindings, head.nparams, false, false, &why) : NULL;
    if (m)
      status = replay_on(o, j, &head, m, path);
    model_free(m);
    memory_free(bindings);
    parsed_file_release(&parsed);
  }
  memory_free(beside);
  text_release(&why);
  trace_head_release(&head);
  return status;
}

int command_replay(const struct command_options *o) {
  if (o->files.n < 1 || o->files.n > 2) {
    context_error(o->rondo, E0806,
                  "replay needs a trace, and may be given a model\n  help: rondo check --trace-out "
                  "trace.json makes one");
    return EXIT_BAD_INPUT;
  }
  const char *path = o->files.at[0];
  size_t length;
  char *text = file_read(o->rondo, path, TRACE_BYTES_MAX, &length);
  if (!text)
    return EXIT_BAD_INPUT;
  json_error_t error;
  json_t *j = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
  int status = EXIT_BAD_INPUT;
  json_t *trace = trace_in(j, o);
  memory_free(text);
  if (!j)
    context_error(o->rondo, E0812,
                  "'%s' is not JSON: %s (line %d)\n  help: a trace is written by rondo check --trace-out FILE", path,
                  error.text, error.line);
  else if (!trace)
    context_error(o->rondo, E0812, "there is no trace in '%s'", path);
  else
    status = replay_json(o, trace, path);
  json_decref(j);
  return status;
}
