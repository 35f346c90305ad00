/* The papers' tables. Each row is a command of rondo, run in a separate process if the host can start one, so that its
   memory is measured separately. */
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/jobs.h"
#include "driver/load.h"

#include "base/memory.h"
#include "report/reproduction.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 32
#define ROW_TIME "15m"
#define TABLES_BYTES_MAX ((size_t)1 << 20)

/* --- where the models are --- */

/* In the host's folder, or in ./models. */
static bool find_models(struct rondo *r, struct text *folder, struct text *tables) {
  text_add(folder, r->host.models ? r->host.models : "models");
  text_addf(tables, "%s/papers/tables.json", folder->at);
  if (access(tables->at, R_OK) == 0)
    return true;
  context_error(
      r, E0808,
      "the models are not there\n  help: they belong beside the program, in share/rondo/models, or in ./models");
  return false;
}

/* The tables that the papers published. False: the error was reported. */
static bool load_tables(struct rondo *r, const char *path, struct published *out) {
  struct text why = {0};
  size_t length;
  char *text = file_read(r, path, TABLES_BYTES_MAX, &length);
  bool ok = text && published_read(out, text, length, &why);
  if (text && !ok)
    context_error(r, E0808, "'%s' does not hold the papers' tables: %s", path, why.at);
  memory_free(text);
  text_release(&why);
  return ok;
}

/* --- one row --- */

/* "check herlihy.rondo -D n=3" -> its words, the file with its folder; limits and JSON are added. */
static void split_command(const char *command, const char *models, char **words) {
  size_t n = 0;
  while (*command && n + 4 < WORDS_MAX) {
    size_t length = strcspn(command, " ");
    struct text word = {0};
    if (n == 1)
      text_addf(&word, "%s/", models);
    text_add_n(&word, command, length);
    words[n++] = memory_strdup(text_or_empty(&word));
    text_release(&word);
    command += length + strspn(command + length, " ");
  }
  words[n++] = memory_strdup("--json");
  words[n++] = memory_strdup("--max-time");
  words[n++] = memory_strdup(ROW_TIME);
  words[n] = NULL;
}

struct row_job {
  struct rondo *rondo;
  char *words[WORDS_MAX + 1];
  int nwords;
};

static bool capture(void *context, const char *text, size_t length) {
  text_add_n(context, text, length);
  return true;
}

static void ignore(void *context, const rondo_diagnostic *d) {
  (void)context;
  (void)d;
}

/* The exit status, a newline, the answer. */
static void row_work(void *context, const struct job_line *line, struct text *result) {
  struct row_job *job = context;
  struct text answer = {0};
  rondo_host host = job->rondo->host;
  (void)line;
  job->rondo->host.context = &answer;
  job->rondo->host.write = capture;
  job->rondo->host.diagnostic = ignore;
  job->rondo->host.progress = NULL;
  job->rondo->host.listen = NULL;
  job->rondo->host.overdue = NULL;
  rondo_status status = rondo_command(job->rondo, job->nwords, job->words);
  job->rondo->host = host;
  text_addf(result, "%d\n%s", (int)status, text_or_empty(&answer));
  text_release(&answer);
}

/* Its answer and its exit status; false: it was interrupted, or could not be started. */
static bool run_row(struct rondo *context, const char *command, const char *models, struct text *out, int *status) {
  struct row_job job = {.rondo = context};
  struct jobs jobs;
  split_command(command, models, job.words);
  while (job.words[job.nwords])
    job.nwords++;
  jobs_init(&jobs, context, 0, 0);
  struct job *r = jobs_add(&jobs, "row", row_work, &job) ? jobs_next(&jobs) : NULL;
  bool whole = r && r->end == JOB_DONE && r->result.n > 2;
  if (whole) {
    *status = r->result.at[0] - '0';
    text_add_n(out, r->result.at + 2, r->result.n - 2);
  }
  jobs_release(&jobs);
  for (size_t i = 0; job.words[i]; i++)
    memory_free(job.words[i]);
  return whole;
}

static void take_answer(const json_t *answer, struct reproduced_row *row) {
  const json_t *stats = json_object_get(answer, "stats"), *states = json_object_get(stats, "states"),
               *distance = json_object_get(stats, "round_distance");
  const char *verdict = json_string_value(json_object_get(answer, "verdict"));
  struct text found = {0};
  row->done = verdict != NULL;
  row->verdict = !verdict                       ? ROW_UNDECIDED
                 : !strcmp(verdict, "holds")    ? ROW_HOLDS
                 : !strcmp(verdict, "violated") ? ROW_VIOLATED
                                                : ROW_UNDECIDED;
  row->has_states = json_is_integer(states);
  row->states = (double)json_integer_value(states);
  row->seconds = json_number_value(json_object_get(stats, "seconds"));
  row->memory = json_number_value(json_object_get(stats, "memory_bytes"));
  if (json_is_string(distance))
    text_add(&found, json_string_value(distance));
  else if (json_is_integer(distance))
    text_addf(&found, "%" JSON_INTEGER_FORMAT, json_integer_value(distance));
  if (found.n)
    row->distance = memory_strdup(found.at);
  text_release(&found);
}

/* False: interrupted. */
static bool reproduce_row(struct rondo *context, const struct published_row *p, const char *models,
                          struct reproduced_row *row) {
  struct text out = {0}, why = {0};
  int status = 0;
  bool whole = run_row(context, p->command, models, &out, &status);
  json_t *answer = whole && status < EXIT_BAD_INPUT ? json_loads(text_or_empty(&out), 0, NULL) : NULL;
  if (answer)
    take_answer(answer, row);
  if (!answer)
    text_addf(&why, "'rondo %s' gave no answer, exit status %d", p->command, whole ? status : -1);
  else if (row->verdict != p->ours)
    text_addf(&why, "'rondo %s' says %s, and %s is right", p->command,
              row->verdict == ROW_UNDECIDED ? "inconclusive" : row_verdict_name(row->verdict),
              row_verdict_name(p->ours));
  if (why.n)
    row->fault = memory_strdup(why.at);
  json_decref(answer);
  text_release(&why);
  text_release(&out);
  return whole;
}

/* --- tables --- */

static const struct published_table *table_find(const struct published *p, const char *name) {
  for (size_t i = 0; i < p->n; i++)
    if (!strcmp(p->tables[i].name, name))
      return &p->tables[i];
  return NULL;
}

static bool reproduce(struct rondo *context, struct reproduction *r, const char *models) {
  size_t n = published_nrows(r->table);
  r->rows = memory_alloc((n + 1) * sizeof *r->rows);
  bool whole = true;
  for (size_t i = 0; i < n && whole; i++) {
    struct text line = {0};
    text_addf(&line, "%s: %s, %s", r->table->name, r->table->rows[i].setting, r->table->rows[i].way);
    context_progress(context, line.at);
    text_release(&line);
    whole = reproduce_row(context, &r->table->rows[i], models, &r->rows[i]) && !context->stop;
  }
  context_progress(context, NULL);
  return whole;
}

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN, FORMAT_SVG, FORMATS };
static const char *const format_names[FORMATS] = {"text", "json", "csv", "markdown", "svg"};

static bool format_of(const struct command_options *o, enum format *found) {
  *found = o->output.json ? FORMAT_JSON : FORMAT_TEXT;
  for (int i = 0; o->output.format && i < FORMATS; i++)
    if (!strcmp(o->output.format, format_names[i])) {
      *found = (enum format)i;
      return true;
    }
  if (o->output.format)
    context_error(o->rondo, E0815, "unknown format '%.40s'\n  help: there are text, json, csv, markdown and svg",
                  o->output.format);
  return !o->output.format;
}

static void write_tables(struct rondo *context, const struct reproduction *r, size_t n, enum format format) {
  struct style style = context_style(context, false);
  struct text out = {0};
  for (size_t i = 0; i < n && format != FORMAT_JSON; i++) {
    if (format == FORMAT_TEXT)
      reproduction_text(&r[i], &style, &out);
    else if (format == FORMAT_CSV)
      reproduction_csv(&r[i], i == 0, &out);
    else if (format == FORMAT_MARKDOWN)
      reproduction_markdown(&r[i], &out);
    else if (r[i].table->growth)
      reproduction_svg(&r[i], &out);
  }
  if (format == FORMAT_JSON)
    reproduction_json(r, n, &out);
  context_write(context, &out);
}

static void list_tables(const struct published *p, struct text *out) {
  for (size_t i = 0; i < p->n; i++)
    text_addf(out, "  %-16s %s\n", p->tables[i].name, p->tables[i].title);
  text_add(out, "  all              every one of them");
}

/* Which ones; false: the error was reported. */
static bool choose(const struct command_options *o, const struct published *p, struct reproduction *r, size_t *n) {
  struct text names = {0};
  list_tables(p, &names);
  *n = 0;
  bool all = o->files.n == 1 && !strcmp(o->files.at[0], "all");
  for (size_t i = 0; all && i < p->n; i++)
    r[(*n)++].table = &p->tables[i];
  if (o->files.n != 1)
    context_error(o->rondo, E0815, "which table?\n%s", names.at);
  else if (!all && !table_find(p, o->files.at[0]))
    context_error(o->rondo, E0815, "there is no table '%.60s'\n%s", o->files.at[0], names.at);
  else if (!all)
    r[(*n)++].table = table_find(p, o->files.at[0]);
  text_release(&names);
  return *n > 0;
}

/* The tables that were asked for, in that format. */
static int reproduce_tables(const struct command_options *o, const struct published *p, const char *models) {
  struct reproduction *r = memory_alloc((p->n + 1) * sizeof *r);
  enum format format;
  size_t n = 0, done = 0;
  int status = EXIT_BAD_INPUT;
  bool right = true, whole = true;
  if (!format_of(o, &format) || !choose(o, p, r, &n)) {
    memory_free(r);
    return status;
  }
  if (format == FORMAT_SVG && (n != 1 || !r[0].table->growth)) {
    context_error(
        o->rondo, E0815,
        "a picture shows one table that is about growth\n  help: barbosa-1 to barbosa-4, an-pang-1 to an-pang-3");
  } else {
    for (; done < n && whole; done++) {
      whole = reproduce(o->rondo, &r[done], models);
      right &= reproduction_right(&r[done]);
    }
    write_tables(o->rondo, r, done, format);
    status = !whole ? EXIT_INCONCLUSIVE : right ? EXIT_HOLDS : EXIT_VIOLATED;
  }
  for (size_t i = 0; i < done; i++)
    reproduction_release(&r[i]);
  memory_free(r);
  return status;
}

int command_reproduce(const struct command_options *o) {
  struct published p = {0};
  struct text models = {0}, path = {0};
  int status = EXIT_BAD_INPUT;
  if (find_models(o->rondo, &models, &path) && load_tables(o->rondo, path.at, &p))
    status = reproduce_tables(o, &p, models.at);
  published_release(&p);
  text_release(&models);
  text_release(&path);
  return status;
}
