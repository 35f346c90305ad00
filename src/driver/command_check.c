/* rondo check: one instance, or a table of them where a parameter has a range. */
#include "driver/command_check.h"
#include "driver/answer_stream.h"
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/diagram_files.h"
#include "driver/files.h"
#include "driver/load.h"
#include "driver/query_symbolic.h"
#include "report/coverage_report.h"
#include "report/instance_table.h"
#include "report/json_report.h"
#include "search/disk_log.h"
#include "search/ranks.h"
#include "trace/trace_json.h"

#define INSTANCES_MAX 10000

struct check_command {
  const struct command_options *options;
  const struct parsed_file *parsed;
  struct param_binding *bindings; /* by -D */
  struct style style;
  bool trace_written, diagram_written;
  uint32_t instance;                     /* the next row of a table */
  struct coverage_report *never_covered; /* tables: in none of its rows; NULL: not known, or none yet */
};

static const struct trace *trace_to_write(const struct check_result *c, struct interpreter **interp) {
  const struct trace *reached = NULL;
  for (uint32_t i = 0; i < c->nruns; i++)
    for (uint32_t k = 0; k < c->runs[i].nproperties; k++) {
      const struct property_result *p = &c->runs[i].properties[k];
      bool violated = p->verdict == VERDICT_VIOLATED;
      if (!p->trace || (reached && !violated))
        continue;
      reached = p->trace;
      *interp = result_interpreter(c, &c->runs[i]);
      if (violated)
        return reached;
    }
  return reached;
}

/* False: it could not be written. */
static bool write_trace(struct check_command *k, const struct checked_instance *i) {
  struct interpreter *interp = NULL;
  const struct trace *t = k->options->output.trace_out ? trace_to_write(&i->result, &interp) : NULL;
  if (!t || k->trace_written)
    return true;
  struct text out = {0};
  json_text(trace_to_json(t, interp), &out);
  k->trace_written = file_write(k->options->rondo, k->options->output.trace_out, &out);
  text_release(&out);
  return k->trace_written;
}

/* Draws a counterexample, or the run that reaches a cover if that was named. False: it could not be written. */
static bool draw_trace(struct check_command *k, const struct checked_instance *i) {
  struct interpreter *interp = NULL;
  if (!diagrams_wanted(k->options) || k->diagram_written)
    return true;
  const struct trace *t = trace_to_write(&i->result, &interp);
  if (!t || (i->result.verdict != VERDICT_VIOLATED && k->options->properties.n == 0))
    return true;
  k->diagram_written = true;
  return diagrams_write(k->options, t, interp);
}

static void report_no_diagram(const struct check_command *k) {
  if (diagrams_wanted(k->options) && !k->diagram_written)
    context_error(k->options->rondo, N0102, "there is no counterexample, so nothing is drawn");
}

/* With the line of each property, which the answer does not have. */
static void add_to_sarif(const struct check_command *k, const struct checked_instance *i) {
  const struct check_result *c = &i->result;
  struct sarif *sarif = k->options->rondo->sarif;
  size_t at = 0;
  if (!sarif)
    return;
  json_t *answer = report_json(c), *properties = json_object_get(answer, "properties");
  for (uint32_t r = 0; r < c->nruns; r++)
    for (uint32_t p = 0; p < c->runs[r].nproperties; p++, at++) {
      const struct property *property = c->runs[r].properties[p].property;
      if (property)
        json_object_set_new(json_array_get(properties, at), "line",
                            json_integer(source_line_number(&c->model->source, property->at)));
    }
  sarif_add_answer(sarif, answer);
  json_decref(answer);
}

/* ---- coverage ---- */

/* In JSON as warnings. Must come before the answer. */
static void report_never(const struct check_command *k, const struct checked_instance *i) {
  struct diags diags;
  if (!i->result.coverage || !k->options->output.json)
    return;
  diags_init(&diags, &i->model->source);
  coverage_diagnostics(i->result.coverage, &diags);
  context_diagnostics(k->options->rondo, &diags);
  diags_release(&diags);
}

static void show_coverage(const struct check_command *k, const struct coverage_report *r) {
  struct text out = {0};
  if (!r || k->options->output.json)
    return;
  coverage_text(r, &k->style, &out);
  context_write(k->options->rondo, &out);
}

/* False: it could not be written. */
static bool write_coverage(const struct check_command *k, const struct checked_instance *i) {
  const char *path = k->options->output.coverage_file;
  struct text out = {0};
  if (!path || !i->result.coverage)
    return true;
  if (!strcmp(strrchr(path, '.'), ".json"))
    json_text(coverage_json(i->result.coverage), &out);
  else
    coverage_lcov(i->result.coverage, &out);
  bool written = file_write(k->options->rondo, path, &out);
  text_release(&out);
  return written;
}

static bool coverage_supported(const struct command_options *o, bool ranged) {
  enum symbolic_engine engine;
  const char *why = o->ranks.all                               ? "several ranks"
                    : o->storage.checkpoint                    ? "'--checkpoint'"
                    : symbolic_engine_find(o->engine, &engine) ? "engines other than the search"
                    : ranged && o->output.coverage_file        ? "a file for several instances"
                                                               : NULL;
  if (o->output.coverage && why)
    context_error(o->rondo, E0807, "'--coverage' does not support %s\n  help: leave out one of them", why);
  return !(o->output.coverage && why);
}

static int check_one(struct check_command *k) {
  struct checked_instance i;
  struct answer_stream stream = {.options = k->options};
  struct text out = {0}, error = {0};
  int status = check_instance(k->parsed, k->bindings, k->options, &stream, &i, &error);
  if (status < EXIT_BAD_INPUT && !k->options->ranks.is_helper) {
    stream_runs(&stream, &i.result);
    if (!write_trace(k, &i) || !draw_trace(k, &i) || !write_coverage(k, &i))
      status = EXIT_BAD_INPUT;
    report_no_diagram(k);
    add_to_sarif(k, &i);
    report_never(k, &i);
    show_coverage(k, i.result.coverage);
    if (k->options->output.json) /* last, with all diagnostics */
      stream_rest(&stream, &i.result, &out);
    context_write(k->options->rondo, &out);
  }
  text_release(&error);
  if (status < EXIT_BAD_INPUT && !k->options->ranks.is_helper && k->options->rondo->result_instance)
    *k->options->rondo->result_instance = i;
  else
    checked_instance_release(&i);
  return status;
}

/* --- tables --- */

/* Violated is worse than inconclusive; an error is worse than both. */
static int worse_status(int a, int b) {
  static const int rank[] = {0, 2, 1, 3, 4};
  return rank[a] >= rank[b] ? a : b;
}

static json_t *refused_json(const struct check_command *k, const char *error) {
  json_t *j = json_object(), *params = json_object();
  for (size_t d = 0; d < k->options->defines.n; d++)
    json_object_set_new(params, k->bindings[d].name, json_integer(k->bindings[d].value));
  json_object_set_new(j, "params", params);
  json_object_set_new(j, "error", json_string(error));
  return j;
}

static void write_refused(const struct check_command *k, const char *error) {
  struct text out = {0};
  for (size_t d = 0; d < k->options->defines.n; d++)
    text_addf(&out, "%s%s = %lld", d ? ", " : " ", k->bindings[d].name, (long long)k->bindings[d].value);
  text_addf(&out, "  left out: %s\n", error);
  context_write(k->options->rondo, &out);
}

/* The next combination of values, the last parameter fastest. */
static bool next_values(struct check_command *k) {
  for (size_t d = k->options->defines.n; d-- > 0;) {
    if (k->bindings[d].value < k->options->defines.at[d].high) {
      k->bindings[d].value++;
      return true;
    }
    k->bindings[d].value = k->options->defines.at[d].low;
  }
  return false;
}

static int check_row(struct check_command *k, bool first, json_t *instances, int status, bool *answered) {
  struct checked_instance i;
  struct answer_stream stream = {.options = k->options, .in_table = true, .instance = k->instance++};
  struct text out = {0}, error = {0};
  bool lines = k->options->output.json_lines;
  int row = check_instance(k->parsed, k->bindings, k->options, &stream, &i, &error);
  if (row == EXIT_BAD_INPUT && error.n > 0) {
    if (lines)
      stream_refused(&stream, refused_json(k, error.at));
    else if (k->options->output.json)
      json_array_append_new(instances, refused_json(k, error.at));
    else
      write_refused(k, error.at);
    row = status;
  } else if (row < EXIT_BAD_INPUT && !k->options->ranks.is_helper) {
    stream_runs(&stream, &i.result);
    if (lines)
      stream_rest(&stream, &i.result, &out);
    else if (k->options->output.json)
      json_array_append_new(instances, report_json(&i.result));
    else if (first)
      table_head(&i.result, &k->style, &out);
    if (!k->options->output.json)
      table_row(&i.result, &k->style, &out);
    context_write(k->options->rondo, &out);
    add_to_sarif(k, &i);
    *answered = true;
    if (i.result.coverage)
      coverage_claims_intersect(&k->never_covered, i.result.coverage, &k->parsed->source);
    if (!write_trace(k, &i) || !draw_trace(k, &i))
      row = EXIT_BAD_INPUT;
  }
  text_release(&error);
  checked_instance_release(&i);
  return worse_status(status, row);
}

static int check_table(struct check_command *k) {
  json_t *instances = json_array();
  int status = EXIT_HOLDS;
  bool answered = false;
  do {
    status = check_row(k, !answered, instances, status, &answered);
  } while (status < EXIT_BAD_INPUT && !(k->options->ranks.all && k->options->ranks.all->ended) &&
           (k->options->ranks.is_helper || !*k->options->limits.interrupt) && next_values(k));
  if (!answered && status < EXIT_BAD_INPUT) {
    context_error(k->options->rondo, E0705, "no value in the range can be checked");
    status = EXIT_BAD_INPUT;
  } else if (k->options->output.json && !k->options->output.json_lines && status < EXIT_BAD_INPUT) {
    static const char *const names[] = {"holds", "violated", "inconclusive"};
    struct text out = {0};
    context_json(k->options->rondo,
                 json_pack("{s:s, s:s, s:O}", "schema", CHECK_SCHEMA, "verdict", names[status], "instances", instances),
                 &out);
    context_write(k->options->rondo, &out);
  }
  if (status < EXIT_BAD_INPUT) {
    report_no_diagram(k);
    show_coverage(k, k->never_covered);
  }
  coverage_report_free(k->never_covered);
  json_decref(instances);
  return status;
}

static bool count_instances(const struct command_options *o, bool *ranged) {
  uint64_t n = 1;
  *ranged = false;
  for (size_t d = 0; d < o->defines.n; d++) {
    uint64_t more = (uint64_t)o->defines.at[d].high - (uint64_t)o->defines.at[d].low;
    *ranged |= more > 0;
    if (more >= INSTANCES_MAX || (n *= more + 1) > INSTANCES_MAX) {
      context_error(o->rondo, E0705, "these ranges have more than %d instances", INSTANCES_MAX);
      return false;
    }
  }
  return true;
}

/* Removes the checkpoint of a check that was answered or never begun; else reports how to resume. */
static void checkpoint_folder_close(struct checkpoint_folder *j, int status) {
  bool unbegun = status == EXIT_BAD_INPUT && j->checkpoints.searches == 0;
  bool answered = status == EXIT_HOLDS || status == EXIT_VIOLATED;
  struct text command = {0};
  if (!checkpoint_folder_is_owner(j))
    return;
  if (j->checkpoints.unfinished || status == EXIT_INCONCLUSIVE) {
    checkpoint_folder_resume_command(j, &command);
    context_error(j->rondo, N0101, "%s continues from here", command.at);
    text_release(&command);
  } else if ((answered || unbegun) && !j->rondo->write_failed) {
    checkpoint_folder_remove(j);
  }
}

static uint32_t signature_bits(const struct rondo *r) {
  uint64_t bits = r->tests.hash_bits;
  return bits >= 1 && bits <= SIGNATURE_TEST_BITS ? (uint32_t)bits : SIGNATURE_TOTAL_BITS;
}

int check_model(const struct command_options *given, const struct parsed_file *parsed,
                struct checkpoint_folder *checkpoint_folder) {
  struct command_options o = *given;
  struct checkpoint_folder none = {.rondo = o.rondo, .lock = -1};
  bool ranged, few = count_instances(&o, &ranged);
  o.ranks.is_helper = o.ranks.all && o.ranks.all->rank != 0;
  o.output.no_trace |= o.ranks.is_helper;
  if (o.ranks.all)
    o.limits.threads = 1;
  limits_complete(o.rondo, &o.limits);
  o.limits.signature = o.storage.hash_compaction ? signature_bits(o.rondo) : 0;
  if (checkpoint_folder)
    o.storage.checkpoints = &checkpoint_folder->checkpoints;
  watch_checkpoints(o.rondo, checkpoint_folder ? &checkpoint_folder->checkpoints.writing : NULL);
  if (o.ranks.all)
    ranks_watch(o.ranks.all, o.limits.interrupt, checkpoint_folder_ranks_lost,
                checkpoint_folder ? checkpoint_folder : &none);
  o.lengths_unused = ranged && !o.output.json && !o.output.trace_out && !diagrams_wanted(&o);
  struct check_command k = {.options = &o, .parsed = parsed, .style = context_style(o.rondo, o.output.verbose)};
  k.bindings = bindings_lowest(&o);
  int status = !few || !coverage_supported(&o, ranged) ? EXIT_BAD_INPUT : ranged ? check_table(&k) : check_one(&k);
  memory_free(k.bindings);
  if (o.ranks.all)
    ranks_watch(o.ranks.all, NULL, NULL, NULL);
  watch_checkpoints(o.rondo, NULL);
  if (checkpoint_folder)
    checkpoint_folder_close(checkpoint_folder, status);
  return status;
}

static int check_with_checkpoints(const struct command_options *o, const struct parsed_file *parsed) {
  struct checkpoint_folder checkpoint_folder = {.lock = -1};
  int status = checkpoint_folder_begin(&checkpoint_folder, o, parsed) ? check_model(o, parsed, &checkpoint_folder)
                                                                      : EXIT_BAD_INPUT;
  checkpoint_folder_release(&checkpoint_folder);
  return status;
}

static bool store_supported(const struct command_options *o) {
  enum symbolic_engine engine;
  if (o->storage.hash_compaction && o->storage.checkpoint)
    context_error(o->rondo, E0807,
                  "'--checkpoint' does not support '--store hash'\n  help: leave out "
                  "'--checkpoint' or '--store hash'");
  else if (o->storage.hash_compaction && symbolic_engine_find(o->engine, &engine))
    context_error(o->rondo, E0807, "engine '%s' stores no states\n  help: leave out '--store hash'", o->engine);
  else if (o->storage.hash_compaction && o->storage.spill)
    context_error(o->rondo, E0807,
                  "'--spill' does not support '--store hash'\n  help: leave out '--spill' or '--store hash'");
  else
    return true;
  return false;
}

/* Tries the folder at once: otherwise an error would show only when memory is full. */
static bool can_spill(const struct command_options *o) {
  int error;
  struct disk_log *tried = disk_log_new(o->storage.spill, &error);
  if (!tried)
    context_error(o->rondo, E0809, "cannot write in the folder '%s' of '--spill': %s", o->storage.spill,
                  strerror(error));
  bool can = tried;
  disk_log_free(tried);
  return can;
}

bool check_is_supported(const struct command_options *o, const struct parsed_file *parsed) {
  if (o->output.no_trace && diagrams_wanted(o)) {
    context_error(o->rondo, E0807, "with '--no-trace' there is nothing to draw");
    return false;
  }
  return store_supported(o) && (!o->storage.spill || can_spill(o)) && parsed_file_is_algorithm(parsed);
}

int command_check(const struct command_options *o) {
  struct parsed_file parsed;
  int status = EXIT_BAD_INPUT;
  const char *path = only_file(o);
  if (!path || !parsed_file_load(&parsed, o->rondo, path))
    return EXIT_BAD_INPUT;
  if (check_is_supported(o, &parsed))
    status = o->storage.checkpoint ? check_with_checkpoints(o, &parsed) : check_model(o, &parsed, NULL);
  parsed_file_release(&parsed);
  return status;
}
