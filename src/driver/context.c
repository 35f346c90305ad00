#include "driver/context.h"

#include "base/memory.h"
#include "base/printable.h"
#include "driver/answer_stream.h"
#include "driver/session_json.h"
#include "report/json_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct kept_diagnostic {
  rondo_diagnostic seen; /* points into the strings below */
  char *message, *help, *path, *text;
};

static char *copy(const char *s) { return s ? memory_strdup(s) : NULL; }

static void diagnostic_keep(struct rondo *r, const rondo_diagnostic *d) {
  struct kept_diagnostic *k = memory_alloc(sizeof *k);
  k->message = copy(d->message);
  k->help = copy(d->help);
  k->path = copy(d->path);
  k->text = copy(d->text);
  k->seen = *d;
  k->seen.message = k->message;
  k->seen.help = k->help;
  k->seen.path = k->path;
  k->seen.text = k->text;
  vec_push(&r->diagnostics, k);
}

/* ---- contexts ---- */

static void out_of_memory(void *context, size_t wanted) {
  static const char answer[] =
      "{\n \"schema\": \"rondo-diagnostics/1\",\n \"verdict\": \"inconclusive\",\n \"status\": 2,\n \"diagnostics\": "
      "[\n"
      "  {\"code\": \"N0106\", \"severity\": \"note\", \"file\": null, \"line\": null, \"column\": null,\n"
      "   \"end_line\": null, \"end_column\": null, \"message\": \"out of memory\", \"help\": null}\n ]\n}\n";
  const struct rondo *r = context;
  if (r->json && !r->json_answered && !r->silent && r->host.write && r->host.out_of_memory)
    r->host.write(r->host.context, answer, sizeof answer - 1); /* nothing can be allocated any more */
  if (r->host.out_of_memory)
    r->host.out_of_memory(r->host.context, wanted);
}

void context_enter(struct rondo *r) { memory_on_exhausted(out_of_memory, r); }

rondo *rondo_new(const rondo_host *host) {
  rondo outside = {.host = host ? *host : (rondo_host){0}};
  context_enter(&outside); /* for the one allocation that comes before the context */
  rondo *r = memory_alloc(sizeof *r);
  r->host = outside.host;
  context_enter(r);
  return r;
}

void rondo_free(rondo *r) {
  if (!r)
    return;
  monitor_free(r->monitor);
  json_decref(r->command_diags);
  rondo_clear_diagnostics(r);
  vec_release(&r->diagnostics);
  memory_on_exhausted(NULL, NULL);
  memory_free(r);
}

void rondo_interrupt(rondo *r) { r->stop = 1; }

const volatile sig_atomic_t *context_listen(struct rondo *r) {
  if (!r->listening && r->host.listen)
    r->host.listen(r->host.context);
  r->listening = true;
  watch_listening(r, true);
  return &r->stop;
}

void rondo_resume(rondo *r) { r->stop = r->insist = 0; }

size_t rondo_diagnostics(const rondo *r) { return r->diagnostics.n; }

const rondo_diagnostic *rondo_diagnostic_at(const rondo *r, size_t i) {
  return i < r->diagnostics.n ? &r->diagnostics.at[i]->seen : NULL;
}

void rondo_clear_diagnostics(rondo *r) {
  for (size_t i = 0; i < r->diagnostics.n; i++) {
    struct kept_diagnostic *k = r->diagnostics.at[i];
    memory_free(k->message);
    memory_free(k->help);
    memory_free(k->path);
    memory_free(k->text);
    memory_free(k);
  }
  vec_clear(&r->diagnostics);
}

static bool test_number(const char *name, const char *given, const char *wanted, uint64_t *to) {
  unsigned long long n;
  if (strcmp(name, wanted) != 0)
    return false;
  *to = sscanf(given, "%llu", &n) == 1 ? n : 0;
  return true;
}

bool rondo_for_tests(rondo *r, const char *name, const char *given) {
  struct test_settings *t = &r->tests;
  if (test_number(name, given, "THREADS_FROM", &t->threads_from) ||
      test_number(name, given, "SIEVE_FROM", &t->precheck_from) ||
      test_number(name, given, "SPILL_FROM", &t->spill_from) || test_number(name, given, "HASH_BITS", &t->hash_bits) ||
      test_number(name, given, "TRIAL_STATES", &t->trial_states) ||
      test_number(name, given, "ROUND_FORM", &t->round_form) || test_number(name, given, "LOOK_FROM", &t->look_from) ||
      test_number(name, given, "SPLIT_FROM", &t->split_from))
    return true;
  if (!strcmp(name, "CHECKPOINT_SECONDS"))
    return sscanf(given, "%lf", &t->checkpoint_seconds) == 1;
  if (!strcmp(name, "LETTERS")) {
    t->message_moves_always = !strcmp(given, "always");
    t->message_moves_never = !strcmp(given, "never");
    return true;
  }
  if (!strcmp(name, "NARROW_KEYS"))
    return t->narrow_keys = true;
  if (!strcmp(name, "NO_SOLVER"))
    return t->no_solver = true;
  if (!strcmp(name, "FAULT"))
    return t->fault = true;
  if (!strcmp(name, "NO_SECOND_LOOK"))
    return t->no_deterministic_search = true;
  return false;
}

/* ---- output ---- */

struct style context_style(const struct rondo *r, bool verbose) {
  return (struct style){.colour = r->host.colour, .verbose = verbose, .width = r->host.width ? r->host.width : 96};
}

void context_write(struct rondo *r, struct text *t) {
  r->json_answered |= t->n > 0;
  if (t->n > 0 && !r->silent && r->host.write) {
    watch_hold(r, true);
    r->write_failed |= !r->host.write(r->host.context, t->at, t->n);
    watch_hold(r, false);
  } else if (t->n > 0 && !r->silent && r->answer) {
    text_add_n(r->answer, t->at, t->n);
  }
  text_release(t);
}

static rondo_severity severity_of(enum diag_code code) {
  enum diag_level level = diag_code_level(code);
  return level == DIAG_ERROR ? RONDO_ERROR : level == DIAG_WARNING ? RONDO_WARNING : RONDO_NOTE;
}

static json_t *number_or_null(unsigned n) { return n ? json_integer(n) : json_null(); }

static json_t *diagnostic_json(const rondo_diagnostic *d) {
  static const char *const severities[] = {"error", "warning", "note"};
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "code", d->code, "severity",
                   severities[d->severity], "file", string_or_null(d->path), "line", number_or_null(d->line), "column",
                   number_or_null(d->column), "end_line", number_or_null(d->end_line), "end_column",
                   number_or_null(d->end_column), "message", string_or_null(d->message), "help",
                   string_or_null(d->help));
}

static void diagnose(struct rondo *r, const rondo_diagnostic *d) {
  if (r->silent)
    return;
  bool of_the_answer = strcmp(d->code, diag_entry(N0101)->code) != 0; /* the same, however often it was resumed */
  if (r->json && of_the_answer)
    json_array_append_new(r->command_diags, diagnostic_json(d));
  if (r->sarif) {
    enum diag_code code;
    json_t *j = diagnostic_json(d);
    sarif_add_diagnostic(r->sarif, j, diag_code_find(d->code, &code) ? diag_entry(code)->title : d->code);
    json_decref(j);
  }
  if (r->host.diagnostic)
    r->host.diagnostic(r->host.context, d);
  else
    diagnostic_keep(r, d);
}

void context_error(struct rondo *r, enum diag_code code, const char *format, ...) {
  static const char help_follows[] = "\n  help: ", page_follows[] = "\n\n";
  const char *name = diag_entry(code)->code;
  struct text message = {0}, shown = {0};
  va_list args;
  va_start(args, format);
  text_addv(&message, format, args);
  va_end(args);
  text_make_printable(&message);
  text_addf(&shown, "rondo: %s[%s]: %s\n", diag_level_name(diag_code_level(code)), name, message.at);
  char *help = strstr(message.at, help_follows), *page = strstr(message.at, page_follows);
  if (help)
    *help = '\0';
  if (page)
    *page = '\0';
  diagnose(r, &(rondo_diagnostic){.severity = severity_of(code),
                                  .code = name,
                                  .message = message.at,
                                  .help = help ? help + strlen(help_follows) : NULL,
                                  .text = shown.at});
  text_release(&message);
  text_release(&shown);
}

struct diagnostic_sink {
  struct rondo *rondo;
  const struct source *source;
};

static void diagnose_one(void *context, const struct diag *d, const char *shown) {
  const struct diagnostic_sink *g = context;
  rondo_diagnostic public = {
      .code = diag_entry(d ? d->code : N0107)->code, .severity = RONDO_NOTE, .text = shown, .message = shown};
  if (d) {
    public.severity = severity_of(d->code);
    public.message = d->message;
    public.help = d->help;
    public.path = g->source->path ? g->source->path : "<text>";
  }
  if (d && d->at.to > 0) {
    uint32_t line, column, end_line, end_column;
    source_place(g->source, d->at.from, &line, &column);
    source_place(g->source, d->at.to, &end_line, &end_column);
    public.from = d->at.from;
    public.to = d->at.to;
    public.line = line;
    public.column = column;
    public.end_line = end_line;
    public.end_column = end_column;
  }
  diagnose(g->rondo, &public);
}

void context_diagnostics(struct rondo *r, const struct diags *d) {
  struct diagnostic_sink g = {r, d->source};
  diags_each(d, r->host.colour_diagnostics, diagnose_one, &g);
}

/* ---- JSON ---- */

/* What was left undecided is a note, so that a program finds the reason where it finds errors. */
static void note_undecided(const json_t *answer, json_t *diags) {
  const char *verdict = json_string_value(json_object_get(answer, "verdict"));
  json_t *properties = json_object_get(answer, "properties"), *instances = json_object_get(answer, "instances"), *p;
  size_t i;
  if (verdict && !strcmp(verdict, "holds"))
    return;
  json_array_foreach(instances, i, p) note_undecided(p, diags);
  json_array_foreach(properties, i, p) {
    const char *name = json_string_value(json_object_get(p, "name"));
    const char *found = json_string_value(json_object_get(p, "verdict"));
    const char *why = json_string_value(json_object_get(p, "proved"));
    struct text message = {0};
    if (!name || !found || strcmp(found, "inconclusive") != 0)
      continue;
    text_addf(&message, "'%s' is inconclusive: %s", name, why ? why : "a limit was reached");
    json_array_append_new(diags, diagnostic_json(&(rondo_diagnostic){
                                     .severity = RONDO_NOTE, .code = diag_entry(N0106)->code, .message = message.at}));
    text_release(&message);
  }
}

void context_json_begin(struct rondo *r) {
  if (r->json)
    return;
  r->json = true;
  r->json_answered = false;
  r->command_diags = json_array();
}

void context_json(struct rondo *r, json_t *answer, struct text *out) {
  json_t *diags = r->command_diags ? json_copy(r->command_diags) : json_array();
  note_undecided(answer, diags);
  json_object_set_new(answer, "diagnostics", diags);
  json_text(answer, out);
}

void context_json_diagnostics(struct rondo *r, int status, struct text *out) {
  json_t *verdict = status == RONDO_INCONCLUSIVE ? json_string("inconclusive") : json_null();
  if (r->json)
    json_text(json_pack("{s:s, s:o, s:i, s:O}", "schema", "rondo-diagnostics/1", "verdict", verdict, "status", status,
                        "diagnostics", r->command_diags),
              out);
  else
    json_decref(verdict);
}

/* ---- progress ---- */

static void progress(void *context, const struct search_stats *s) {
  const struct progress_context *g = context;
  struct text t = {0};
  if (g->stream)
    stream_progress(g->stream, g->query->environment, g->query->semantics, s);
  count_add(&t, s->states, "state", "states");
  text_add(&t, ", ");
  if (s->depth > 0) /* a search for infinite runs does not go step by step */
    text_addf(&t, "%s %u, ", model_steps(g->model) ? "step" : "round", s->depth);
  if (s->layer > 0) { /* nothing is known of later layers */
    number_add(&t, s->layer);
    text_addf(&t, " in the layer, %u %% of it done, ", (unsigned)(s->done < s->layer ? s->done * 100 / s->layer : 100));
  }
  if (s->seconds > 0)
    number_add(&t, (uint64_t)((double)s->states / s->seconds));
  text_add(&t, " states/s, ");
  bytes_add(&t, s->memory);
  text_add(&t, ", ");
  seconds_add(&t, s->seconds);
  context_progress(g->rondo, t.at);
  text_release(&t);
}

search_progress_fn *progress_or_null(const struct rondo *r) { return r->silent ? NULL : progress; }

void context_progress(struct rondo *r, const char *line) {
  if (r->host.progress && !r->silent)
    r->host.progress(r->host.context, line);
}
