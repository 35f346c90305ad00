#include "driver/context.h"

#include "base/memory.h"

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
  const struct rondo *r = context;
  if (r->host.out_of_memory)
    r->host.out_of_memory(r->host.context, wanted);
}

void context_enter(struct rondo *r) { memory_on_exhausted(out_of_memory, r); }

rondo *rondo_new(const rondo_host *host) {
  rondo *r = memory_alloc(sizeof *r);
  if (host)
    r->host = *host;
  context_enter(r);
  return r;
}

void rondo_free(rondo *r) {
  if (!r)
    return;
  monitor_free(r->monitor);
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
      test_number(name, given, "SPILL_FROM", &t->spill_from) || test_number(name, given, "HASH_BITS", &t->hash_bits))
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
  if (!strcmp(name, "NO_SECOND_LOOK"))
    return t->no_deterministic_search = true;
  return false;
}

/* ---- output ---- */

struct style context_style(const struct rondo *r, bool verbose) {
  return (struct style){.colour = r->host.colour, .verbose = verbose, .width = r->host.width ? r->host.width : 96};
}

void context_write(struct rondo *r, struct text *t) {
  if (t->n > 0 && !r->silent && r->host.write) {
    watch_hold(r, true);
    r->write_failed |= !r->host.write(r->host.context, t->at, t->n);
    watch_hold(r, false);
  } else if (t->n > 0 && !r->silent && r->answer) {
    text_add_n(r->answer, t->at, t->n);
  }
  text_release(t);
}

static void diagnose(struct rondo *r, const rondo_diagnostic *d) {
  if (r->silent)
    return;
  if (r->host.diagnostic)
    r->host.diagnostic(r->host.context, d);
  else
    diagnostic_keep(r, d);
}

void context_error(struct rondo *r, const char *format, ...) {
  static const char help_follows[] = "\n  help: ";
  struct text message = {0}, shown = {0};
  va_list args;
  va_start(args, format);
  text_addv(&message, format, args);
  va_end(args);
  text_addf(&shown, "rondo: %s\n", message.at);
  char *help = strstr(message.at, help_follows);
  if (help)
    *help = '\0';
  diagnose(r, &(rondo_diagnostic){.severity = RONDO_ERROR,
                                  .code = "",
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
  rondo_diagnostic public = {.code = "", .text = shown, .message = shown};
  if (d) {
    public.severity = d->level == DIAG_ERROR ? RONDO_ERROR : RONDO_WARNING;
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

/* ---- progress ---- */

static void progress(void *context, const struct search_stats *s) {
  const struct progress_context *g = context;
  struct text t = {0};
  count_add(&t, s->states, "state", "states");
  text_addf(&t, ", %s %u, ", model_steps(g->model) ? "step" : "round", s->depth);
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

search_progress_fn *progress_or_null(const struct rondo *r) { return r->host.progress && !r->silent ? progress : NULL; }

void context_progress(struct rondo *r, const char *line) {
  if (r->host.progress && !r->silent)
    r->host.progress(r->host.context, line);
}
