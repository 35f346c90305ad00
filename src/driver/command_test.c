/* rondo test: every `// expect:` line is a check, each in a process of its own if the host can start some. */
#include "base/thread.h"
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/files.h"
#include "driver/jobs.h"
#include "driver/test_files.h"
#include "report/json_report.h"
#include "trace/value_json.h"

#include <string.h>

#define GRACE_SECONDS 15.0 /* beyond the limit of a check; then its process is ended */
#define PATH_COLUMNS 60

struct test_command {
  const struct command_options *options;
  struct test_files files;
  struct tested_files results;
  VEC(struct test_job *) todo;
  VEC(char *) commands; /* that repeat a line; owned */
  uint32_t jobs;
  size_t reported; /* files of the report so far */
  size_t done;
  struct style style;
  size_t path_width;
};

/* One expectation, and where its result goes. */
struct test_job {
  struct test_command *command;
  const struct expectation *expectation;
  size_t file, line; /* in the results */
  VEC(char *) words; /* owned */
};

/* ---- in the process of a check ---- */

struct captured {
  struct text answer, errors;
};

static bool capture_answer(void *context, const char *text, size_t length) {
  text_add_n(&((struct captured *)context)->answer, text, length);
  return true;
}

static void capture_error(void *context, const rondo_diagnostic *d) {
  text_add(&((struct captured *)context)->errors, d->text);
}

/* Runs the check; the result is JSON: why the expectation is not met, or null; the seconds; and the answer, if it is
   wanted. */
static void run_check(void *context, const struct job_line *line, struct text *result) {
  struct test_job *job = context;
  const struct command_options *o = job->command->options;
  struct rondo *r = o->rondo;
  struct captured captured = {0};
  struct text why = {0};
  rondo_host host = r->host;
  double began = clock_seconds();
  (void)line;
  struct sarif *sarif = r->sarif;
  r->sarif = NULL;
  r->host.context = &captured;
  r->host.write = capture_answer;
  r->host.diagnostic = capture_error;
  r->host.progress = NULL;
  r->host.verdict = NULL;
  r->host.listen = NULL;
  r->host.overdue = NULL;
  r->host.colour = r->host.colour_diagnostics = false;
  int status = (int)rondo_command(r, (int)job->words.n, job->words.at);
  r->host = host;
  r->sarif = sarif;
  json_t *answer = json_loads(text_or_empty(&captured.answer), 0, NULL);
  bool met = expectation_met(job->expectation, status, answer, text_or_empty(&captured.errors), &why);
  json_t *j = json_object();
  json_object_set_new(j, "why", met ? json_null() : text_to_json(why.at, why.n));
  json_object_set_new(j, "seconds", json_real(clock_seconds() - began));
  if (o->output.json && o->output.verbose && answer)
    json_object_set(j, "answer", answer);
  json_line(j, result);
  json_decref(answer);
  text_release(&why);
  text_release(&captured.answer);
  text_release(&captured.errors);
}

/* ---- in this process ---- */

static void add_word(struct test_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_word(struct test_job *job, const char *format, ...) {
  struct text word = {0};
  va_list args;
  va_start(args, format);
  text_addv(&word, format, args);
  va_end(args);
  vec_push(&job->words, memory_strdup(text_or_empty(&word)));
  text_release(&word);
}

static void add_shown(struct text *out, const char *word) {
  bool plain =
      *word && strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%") == strlen(word);
  if (plain) {
    text_addf(out, " %s", word);
    return;
  }
  text_add(out, " '");
  for (; *word; word++)
    text_add_n(out, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
  text_add(out, "'");
}

static struct tested_line *result_of(const struct test_job *job) {
  return &job->command->results.at.at[job->file].lines.at[job->line];
}

static void prepare_job(struct test_command *t, const struct test_file *f, const struct expectation *e, size_t file,
                        size_t line) {
  struct test_job *job = memory_alloc(sizeof *job);
  const struct limits *l = &t->options->limits;
  struct text shown = {0};
  size_t memory = (l->memory ? l->memory : default_memory_limit()) / t->jobs;
  uint32_t threads = threads_available() / t->jobs;
  *job = (struct test_job){.command = t, .expectation = e, .file = file, .line = line};
  add_word(job, "%s", e->prove ? "prove" : "check");
  for (size_t i = 0; i < e->options.n; i++)
    add_word(job, "%s", e->options.at[i]);
  text_addf(&shown, "rondo %s", job->words.at[0]);
  add_shown(&shown, f->path);
  for (size_t i = 1; i < job->words.n; i++)
    add_shown(&shown, job->words.at[i]);
  vec_push(&t->commands, memory_strdup(shown.at));
  text_release(&shown);
  result_of(job)->command = t->commands.at[t->commands.n - 1];
  if (l->seconds > 0 && !e->has_time)
    add_word(job, "--max-time=%.3f", l->seconds);
  if (memory > 0 && !e->has_memory)
    add_word(job, "--max-memory=%zu", memory);
  if (!e->prove && !e->has_threads)
    add_word(job, "--threads=%u", l->threads ? l->threads : threads ? threads : 1);
  add_word(job, "--json");
  add_word(job, "--");
  add_word(job, "%s", f->path);
  vec_push(&t->todo, job);
}

static void prepare(struct test_command *t) {
  for (size_t i = 0; i < t->files.at.n; i++) {
    const struct test_file *f = &t->files.at.at[i];
    struct tested_file tested = {.path = f->path};
    for (size_t k = 0; k < f->expectations.n; k++) {
      const struct expectation *e = &f->expectations.at[k];
      struct tested_line line = {.line = e->line, .expect = e->text};
      if (f->unreadable.at[k]) {
        line.outcome = TEST_UNREADABLE;
        line.why = memory_strdup(f->unreadable.at[k]);
      } else if (e->is_long && t->options->test.is_short) {
        line.outcome = TEST_SKIPPED;
      }
      vec_push(&tested.lines, line);
    }
    vec_push(&t->results.at, tested);
    for (size_t k = 0; k < f->expectations.n; k++)
      if (tested.lines.at[k].outcome == TEST_WAITING)
        prepare_job(t, f, &f->expectations.at[k], i, k);
    if (strlen(f->path) > t->path_width)
      t->path_width = strlen(f->path) < PATH_COLUMNS ? strlen(f->path) : PATH_COLUMNS;
  }
}

static void take_result(struct test_job *job, struct job *ended) {
  struct tested_line *l = result_of(job);
  json_t *j = ended && ended->end == JOB_DONE ? json_loadb(ended->result.at, ended->result.n, 0, NULL) : NULL;
  const char *why = json_string_value(json_object_get(j, "why"));
  if (j) {
    l->seconds = json_real_value(json_object_get(j, "seconds"));
    l->answer = json_incref(json_object_get(j, "answer"));
  } else if (!ended) {
    why = "no process could be started";
  } else {
    why = ended->end == JOB_OUT_OF_MEMORY ? "it needs more memory than there is"
          : ended->end == JOB_STOPPED     ? "there is no answer within the time limit"
                                          : "the check ended without an answer";
  }
  l->outcome = why ? TEST_FAILED : TEST_PASSED;
  l->why = why ? memory_strdup(why) : NULL;
  json_decref(j);
  if (ended)
    text_release(&ended->result);
  job->command->done++;
}

static bool is_over(const struct tested_file *f) {
  for (size_t i = 0; i < f->lines.n; i++)
    if (f->lines.at[i].outcome == TEST_WAITING)
      return false;
  return true;
}

/* Files in order, as they become known. */
static void tell(struct test_command *t, bool rest) {
  struct text out = {0};
  for (; t->reported < t->results.at.n && (rest || is_over(&t->results.at.at[t->reported])); t->reported++)
    test_file_text(&t->results.at.at[t->reported], &t->style, t->path_width, &out);
  if (out.n > 0)
    context_progress(t->options->rondo, NULL);
  if (t->options->output.json)
    text_release(&out);
  else
    context_write(t->options->rondo, &out);
}

static void show_progress(void *context, const struct jobs *jobs) {
  const struct test_command *t = context;
  size_t failed = tested_count(&t->results, TEST_FAILED) + tested_count(&t->results, TEST_UNREADABLE);
  struct text line = {0};
  (void)jobs;
  text_addf(&line, "%zu of %zu expectations, %zu failed", t->done, t->todo.n, failed);
  context_progress(t->options->rondo, line.at);
  text_release(&line);
}

static void run_all(struct test_command *t) {
  struct rondo *r = t->options->rondo;
  const size_t memory = t->options->limits.memory ? t->options->limits.memory : default_memory_limit();
  size_t next = 0, running = 0;
  struct jobs jobs;
  bool apart = r->host.start_process && r->host.end_process;
  jobs_init(&jobs, r, 0, apart ? memory : 0);
  jobs.progress = show_progress;
  jobs.progress_context = t;
  while (!r->stop && (next < t->todo.n || running > 0)) {
    while (next < t->todo.n && running < (apart ? t->jobs : 1)) {
      struct test_job *job = t->todo.at[next];
      double limit = job->expectation->has_time ? 0 : t->options->limits.seconds;
      if (!jobs_add(&jobs, "check", run_check, job)) {
        if (running == 0) {
          take_result(job, NULL);
          next++;
        }
        break;
      }
      if (limit > 0)
        jobs.entries.at[jobs.entries.n - 1].deadline = clock_seconds() + limit + GRACE_SECONDS;
      next++;
      running++;
    }
    struct job *ended = running ? jobs_next(&jobs) : NULL;
    if (ended) {
      take_result(ended->context, ended);
      running--;
    }
    tell(t, false);
  }
  context_progress(r, NULL);
  jobs_release(&jobs);
}

static bool report(struct test_command *t) {
  const struct command_options *o = t->options;
  struct text out = {0}, junit = {0};
  bool ok = true;
  tell(t, true);
  if (o->test.junit) {
    test_junit(&t->results, &junit);
    ok = file_write(o->rondo, o->test.junit, &junit);
    text_release(&junit);
  }
  for (size_t i = 0; o->rondo->sarif && i < t->results.at.n; i++)
    for (size_t k = 0; k < t->results.at.at[i].lines.n; k++) {
      const struct tested_line *l = &t->results.at.at[i].lines.at[k];
      if (l->outcome == TEST_FAILED)
        sarif_add_expectation(o->rondo->sarif, t->results.at.at[i].path, l->line, l->why);
    }
  if (o->output.json)
    context_json(o->rondo, test_json(&t->results, o->output.verbose), &out);
  else
    test_summary_text(&t->results, &t->style, &out);
  context_write(o->rondo, &out);
  return ok;
}

static void release(struct test_command *t) {
  for (size_t i = 0; i < t->todo.n; i++) {
    for (size_t k = 0; k < t->todo.at[i]->words.n; k++)
      memory_free(t->todo.at[i]->words.at[k]);
    vec_release(&t->todo.at[i]->words);
    memory_free(t->todo.at[i]);
  }
  for (size_t i = 0; i < t->commands.n; i++)
    memory_free(t->commands.at[i]);
  vec_release(&t->todo);
  vec_release(&t->commands);
  tested_files_release(&t->results);
  test_files_release(&t->files);
}

int command_test(const struct command_options *o) {
  struct test_command t = {.options = o, .style = context_style(o->rondo, o->output.verbose)};
  double began = clock_seconds();
  if (o->files.n == 0) {
    context_error(o->rondo, E0806, "nothing to test\n  help: name models or folders of models, such as models/");
    return EXIT_BAD_INPUT;
  }
  context_listen(o->rondo);
  bool readable = test_files_find(&t.files, o);
  if (readable && t.files.at.n == 0) {
    context_error(o->rondo, E0821,
                  "no model has an expectation\n  help: add lines such as '// expect: holds agreement -D n=3'");
    readable = false;
  }
  t.jobs = o->test.jobs ? o->test.jobs : threads_available();
  prepare(&t);
  if (t.files.at.n > 0) {
    run_all(&t);
    t.results.seconds = clock_seconds() - began;
    readable = report(&t) && readable;
  }
  size_t unreadable = tested_count(&t.results, TEST_UNREADABLE), failed = tested_count(&t.results, TEST_FAILED);
  size_t waiting = tested_count(&t.results, TEST_WAITING);
  release(&t);
  return !readable || unreadable ? EXIT_BAD_INPUT : failed ? EXIT_VIOLATED : waiting ? EXIT_INCONCLUSIVE : EXIT_HOLDS;
}
