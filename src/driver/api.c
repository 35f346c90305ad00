/* The functions of include/rondo.h that open models and run commands. Commands are run as on the command line, so that
   both mean the same. */
#include "driver/api.h"

#include "driver/answer_stream.h"
#include "driver/commands.h"
#include "driver/option_values.h"
#include "lang/ast.h"
#include "report/json_report.h"
#include "report/trace_text.h"
#include "trace/trace_json.h"

#include <string.h>

/* ---- models ---- */

/* Takes the text over. */
static rondo_model *model_of(rondo *r, const char *path, char *text, size_t length) {
  struct parsed_file parsed;
  struct source source = {path, text, length};
  bool automaton = source_is_threshold_automaton(&source); /* read by `prove` */
  if (!automaton && !parsed_file_borrow(&parsed, r, path, text, length)) {
    memory_free(text);
    return NULL;
  }
  if (!automaton)
    parsed_file_release(&parsed);
  rondo_model *m = memory_alloc(sizeof *m);
  m->rondo = r;
  m->path = memory_strdup(path);
  m->text = text;
  m->length = length;
  return m;
}

rondo_model *rondo_open(rondo *r, const char *path) {
  size_t length;
  context_enter(r);
  char *text = file_read(r, path, MODEL_BYTES_MAX, &length);
  return text ? model_of(r, strcmp(path, "-") ? path : "<standard input>", text, length) : NULL;
}

rondo_model *rondo_open_text(rondo *r, const char *path, const char *text, size_t length) {
  context_enter(r);
  if (length > MODEL_BYTES_MAX) {
    context_error(r, E0808, "'%s' is larger than %zu MiB", path, MODEL_BYTES_MAX >> 20);
    return NULL;
  }
  char *copy = memory_alloc(length + 1);
  memcpy(copy, text, length);
  return model_of(r, path, copy, length);
}

void rondo_close(rondo_model *m) {
  if (!m)
    return;
  for (size_t i = 0; i < m->defines.n; i++)
    memory_free(m->defines.at[i]);
  vec_release(&m->defines);
  memory_free(m->path);
  memory_free(m->text);
  memory_free(m);
}

rondo *rondo_of(const rondo_model *m) { return m->rondo; }

bool rondo_set(rondo_model *m, const char *param, const char *given) {
  struct text word = {0}, error = {0};
  struct define define = {0};
  context_enter(m->rondo);
  text_addf(&word, "%s=%s", param, given);
  bool ok = define_parse(word.at, &define, &error);
  if (!ok)
    context_error(m->rondo, E0805, "%s", text_or_empty(&error));
  size_t at = 0, n = strlen(param);
  while (at < m->defines.n && (strncmp(m->defines.at[at], param, n) != 0 || m->defines.at[at][n] != '='))
    at++;
  if (ok && at < m->defines.n) {
    memory_free(m->defines.at[at]);
    m->defines.at[at] = memory_strdup(word.at);
  } else if (ok) {
    vec_push(&m->defines, memory_strdup(word.at));
  }
  memory_free(define.name);
  text_release(&word);
  text_release(&error);
  return ok;
}

/* ---- options ---- */

rondo_options *rondo_options_new(rondo *r) {
  rondo_options *o = memory_alloc(sizeof *o);
  o->rondo = r;
  return o;
}

bool rondo_option(rondo_options *o, const char *name, const char *given) {
  struct complaint error = {.code = E0802};
  struct text word = {0};
  context_enter(o->rondo);
  bool ok = option_is_valid(name, given, &error);
  if (ok) {
    text_addf(&word, "--%s%s%s", name, given ? "=" : "", given ? given : "");
    vec_push(&o->words, memory_strdup(word.at));
  } else {
    context_error(o->rondo, error.code, "%s", text_or_empty(&error.text));
  }
  text_release(&word);
  text_release(&error.text);
  return ok;
}

void rondo_options_free(rondo_options *o) {
  if (!o)
    return;
  for (size_t i = 0; i < o->words.n; i++)
    memory_free(o->words.at[i]);
  vec_release(&o->words);
  memory_free(o);
}

/* ---- commands ---- */

struct call {
  const char *command;
  const char *before, *after; /* further files, before the model and after it; or NULL */
  const char *option, *given; /* or NULL */
};

static void note_verdicts(rondo_result *r) {
  const struct check_result *c = &r->instance.result;
  for (uint32_t i = 0; i < c->nruns; i++)
    for (uint32_t k = 0; k < c->runs[i].nproperties; k++) {
      vec_push(&r->verdicts, &c->runs[i].properties[k]);
      vec_push(&r->runs, &c->runs[i]);
    }
}

static rondo_result *run(rondo_model *m, struct call call, const rondo_options *o) {
  rondo *r = m->rondo;
  rondo_result *result = memory_alloc(sizeof *result);
  VEC(char *) argv = {0};
  static char define[] = "-D", no_more[] = "--";
  char *option = NULL;
  context_enter(r);
  vec_push(&argv, (char *)call.command);
  for (size_t i = 0; i < m->defines.n; i++) {
    vec_push(&argv, define);
    vec_push(&argv, m->defines.at[i]);
  }
  for (size_t i = 0; o && i < o->words.n; i++)
    vec_push(&argv, o->words.at[i]);
  if (call.option) {
    struct text t = {0};
    text_addf(&t, "--%s", call.option);
    option = memory_strdup(t.at);
    text_release(&t);
    vec_push(&argv, option);
    vec_push(&argv, (char *)call.given);
  }
  vec_push(&argv, no_more);
  if (call.before)
    vec_push(&argv, (char *)call.before);
  vec_push(&argv, m->path);
  if (call.after)
    vec_push(&argv, (char *)call.after);
  r->given = m;
  r->result_instance = &result->instance;
  r->answer = &result->text;
  result->status = rondo_command(r, (int)argv.n, argv.at);
  r->given = NULL;
  r->result_instance = NULL;
  r->answer = NULL;
  result->checked = result->instance.model != NULL;
  if (result->checked)
    note_verdicts(result);
  memory_free(option);
  vec_release(&argv);
  return result;
}

rondo_result *rondo_check(rondo_model *m, const rondo_options *o) {
  return run(m, (struct call){.command = "check"}, o);
}

rondo_result *rondo_prove(rondo_model *m, const rondo_options *o) {
  return run(m, (struct call){.command = "prove"}, o);
}

rondo_result *rondo_threshold(rondo_model *m, const char *property, const rondo_options *o) {
  return run(m, (struct call){.command = "threshold", .after = property}, o);
}

rondo_result *rondo_compare(rondo_model *m, const rondo_options *o) {
  return run(m, (struct call){.command = "compare"}, o);
}

rondo_result *rondo_lint(rondo_model *m, const rondo_options *o) { return run(m, (struct call){.command = "lint"}, o); }

rondo_result *rondo_export(rondo_model *m, const char *format, const rondo_options *o) {
  return run(m, (struct call){.command = "export", .option = "to", .given = format}, o);
}

rondo_result *rondo_run(rondo_model *m, const rondo_options *o) { return run(m, (struct call){.command = "run"}, o); }

rondo_result *rondo_replay(rondo_model *m, const char *trace_path, const rondo_options *o) {
  return run(m, (struct call){.command = "replay", .before = trace_path}, o);
}

rondo_result *rondo_format(rondo_model *m) {
  rondo_result *result = memory_alloc(sizeof *result);
  struct source source = {m->path, m->text, m->length};
  context_enter(m->rondo);
  format_source(&source, &result->text);
  return result;
}

void rondo_result_free(rondo_result *r) {
  if (!r)
    return;
  if (r->checked)
    checked_instance_release(&r->instance);
  vec_release(&r->verdicts);
  vec_release(&r->runs);
  text_release(&r->text);
  memory_free(r);
}

/* ---- results ---- */

rondo_status rondo_result_status(const rondo_result *r) { return r->status; }

const char *rondo_result_text(const rondo_result *r) { return text_or_empty(&r->text); }

size_t rondo_result_verdicts(const rondo_result *r) { return r->verdicts.n; }

rondo_verdict rondo_result_verdict(const rondo_result *r, size_t i) {
  if (i >= r->verdicts.n)
    return (rondo_verdict){.property = "", .environment = "", .status = RONDO_BAD_INPUT, .proved = ""};
  return verdict_of(r->instance.model, r->verdicts.at[i]);
}

uint64_t rondo_result_states(const rondo_result *r) {
  uint64_t n = 0;
  for (uint32_t i = 0; r->checked && i < r->instance.result.nruns; i++)
    n += r->instance.result.runs[i].stats.states;
  return n;
}

static const struct trace *trace_at(const rondo_result *r, size_t i) {
  return i < r->verdicts.n ? r->verdicts.at[i]->trace : NULL;
}

static struct interpreter *meaning_at(const rondo_result *r, size_t i) {
  return result_interpreter(&r->instance.result, r->runs.at[i]);
}

rondo_trace_info rondo_result_trace(const rondo_result *r, size_t i) {
  const struct trace *t = trace_at(r, i);
  rondo_trace_info info = {.loop = -1};
  if (t) {
    info.steps = t->run.nsteps;
    info.loop = t->claim.lasso ? (long)t->claim.loop : -1;
  }
  return info;
}

char *rondo_result_trace_json(const rondo_result *r, size_t i) {
  const struct trace *t = trace_at(r, i);
  struct text out = {0};
  if (!t)
    return NULL;
  json_text(trace_to_json(t, meaning_at(r, i)), &out);
  return out.at;
}

char *rondo_result_trace_text(const rondo_result *r, size_t i) {
  const struct trace *t = trace_at(r, i);
  struct style style = {.width = 96};
  struct text out = {0};
  if (!t)
    return NULL;
  trace_print(t, &style, &out);
  trace_explain(t, meaning_at(r, i), &style, &out);
  return out.at;
}

void rondo_string_free(char *s) { memory_free(s); }
