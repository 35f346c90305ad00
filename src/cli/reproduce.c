/* The papers' tables: each row is a command of rondo's own, run in a process of its own, so that what it needs is its own. */
#include "cli/commands.h"
#include "cli/terminal.h"

#include "base/memory.h"
#include "base/process.h"
#include "report/reproduction.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MOST 32
#define ROW_TIME "15m"

/* --- where the models are --- */

static bool is_models(const char *folder) {
  char path[PATH_MAX];
  return snprintf(path, sizeof path, "%s/herlihy.rondo", folder) < (int)sizeof path && access(path, R_OK) == 0;
}

/* Beside the program: in the checkout it was built in, or where it is installed; else from here. */
static bool find_models(char *folder, size_t size) {
  static const char *const beside[] = {"../models", "../../models", "../share/rondo/models"};
  char self[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = 0;
  char *slash = strrchr(self, '/');
  if (slash)
    *slash = 0;
  for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++)
    if (snprintf(folder, size, "%s/%s", self, beside[i]) < (int)size && is_models(folder))
      return true;
  return snprintf(folder, size, "models") < (int)size && is_models(folder);
}

/* --- one row --- */

/* "check herlihy.rondo -D n=3" -> its words, the file with its folder; limits and JSON are added. */
static void split_command(const char *command, const char *models, char **words) {
  size_t n = 0;
  words[n++] = memory_strdup("rondo");
  while (*command && n + 4 < WORDS_MOST) {
    size_t length = strcspn(command, " ");
    struct text word = {0};
    if (n == 2)
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

static void run_child(char **words, pid_t parent, int out) {
  int nowhere = open("/dev/null", O_WRONLY);
  if (!process_follow(parent) || dup2(out, STDOUT_FILENO) < 0)
    _exit(EXIT_FAULT);
  if (nowhere >= 0)
    dup2(nowhere, STDERR_FILENO);
  execv("/proc/self/exe", words);
  _exit(EXIT_FAULT);
}

static bool read_all(int in, struct text *out) {
  char part[65536];
  while (true) {
    ssize_t n = read(in, part, sizeof part);
    if (n < 0 && errno == EINTR)
      return false; /* Ctrl-C: the child has it, too */
    if (n <= 0)
      return n == 0;
    text_add_n(out, part, (size_t)n);
  }
}

/* Its answer and its exit status; false: it was interrupted, or could not be started. */
static bool run_row(const char *command, const char *models, struct text *out, int *status) {
  char *words[WORDS_MOST + 1];
  int wire[2];
  if (pipe(wire) != 0)
    return false;
  split_command(command, models, words);
  fflush(NULL);
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    close(wire[0]);
    run_child(words, parent, wire[1]);
  }
  close(wire[1]);
  bool whole = child > 0 && read_all(wire[0], out);
  close(wire[0]);
  if (child > 0) {
    if (!whole)
      kill(child, SIGTERM);
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
      ;
  }
  for (size_t i = 0; words[i]; i++)
    memory_free(words[i]);
  return whole;
}

static void take_answer(const json_t *answer, struct reproduced_row *row) {
  const json_t *stats = json_object_get(answer, "stats"), *states = json_object_get(stats, "states"),
               *distance = json_object_get(stats, "round_distance");
  const char *verdict = json_string_value(json_object_get(answer, "verdict"));
  struct text found = {0};
  row->done = verdict != NULL;
  row->told = !verdict                      ? TOLD_NOTHING
              : !strcmp(verdict, "holds")    ? TOLD_HOLDS
              : !strcmp(verdict, "violated") ? TOLD_VIOLATED
                                             : TOLD_NOTHING;
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
static bool reproduce_row(const struct published_row *p, const char *models, struct reproduced_row *row) {
  struct text out = {0}, why = {0};
  int status = 0;
  bool whole = run_row(p->command, models, &out, &status);
  json_t *answer = whole ? json_loads(text_or_empty(&out), 0, NULL) : NULL;
  if (answer)
    take_answer(answer, row);
  if (!answer)
    text_addf(&why, "'rondo %s' gave no answer, exit status %d", p->command, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  else if (row->told != p->ours)
    text_addf(&why, "'rondo %s' says %s, and %s is right", p->command, row->told == TOLD_NOTHING ? "inconclusive" : told_name(row->told),
              told_name(p->ours));
  if (why.n)
    row->fault = memory_strdup(why.at);
  json_decref(answer);
  text_release(&why);
  text_release(&out);
  return whole;
}

/* --- tables --- */

static const struct published_table *table_find(const char *name) {
  for (size_t i = 0; i < npublished_tables; i++)
    if (!strcmp(published_tables[i].name, name))
      return &published_tables[i];
  return NULL;
}

static void progress(const struct published_table *t, size_t row) {
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[K%s: %s, %s", t->name, t->rows[row].setting, t->rows[row].way);
}

static bool reproduce(struct reproduction *r, const char *models) {
  size_t n = published_nrows(r->table);
  const volatile sig_atomic_t *interrupt = watch_interrupts();
  r->rows = memory_alloc((n + 1) * sizeof *r->rows);
  bool whole = true;
  for (size_t i = 0; i < n && whole; i++) {
    progress(r->table, i);
    whole = reproduce_row(&r->table->rows[i], models, &r->rows[i]) && !*interrupt;
  }
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[K");
  return whole;
}

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN, FORMAT_SVG, FORMATS };
static const char *const format_names[FORMATS] = {"text", "json", "csv", "markdown", "svg"};

static bool format_of(const struct options *o, enum format *found) {
  *found = o->json ? FORMAT_JSON : FORMAT_TEXT;
  for (int i = 0; o->format && i < FORMATS; i++)
    if (!strcmp(o->format, format_names[i])) {
      *found = (enum format)i;
      return true;
    }
  if (o->format)
    say_error("unknown format '%.40s'\n  help: there are text, json, csv, markdown and svg", o->format);
  return !o->format;
}

static void tell(const struct reproduction *r, size_t n, enum format format) {
  struct style style = terminal_style(false);
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
  say(&out);
}

static void list_tables(struct text *out) {
  for (size_t i = 0; i < npublished_tables; i++)
    text_addf(out, "  %-16s %s\n", published_tables[i].name, published_tables[i].title);
  text_add(out, "  all              every one of them");
}

/* Which ones; false: said why. */
static bool choose(const struct options *o, struct reproduction *r, size_t *n) {
  struct text names = {0};
  list_tables(&names);
  *n = 0;
  bool all = o->files.n == 1 && !strcmp(o->files.at[0], "all");
  for (size_t i = 0; all && i < npublished_tables; i++)
    r[(*n)++].table = &published_tables[i];
  if (o->files.n != 1)
    say_error("which table?\n%s", names.at);
  else if (!all && !table_find(o->files.at[0]))
    say_error("there is no table '%.60s'\n%s", o->files.at[0], names.at);
  else if (!all)
    r[(*n)++].table = table_find(o->files.at[0]);
  text_release(&names);
  return *n > 0;
}

int command_reproduce(const struct options *o) {
  struct reproduction *r = memory_alloc((npublished_tables + 1) * sizeof *r);
  char models[PATH_MAX];
  enum format format;
  size_t n = 0, done = 0;
  int status = EXIT_BAD_INPUT;
  if (!format_of(o, &format) || !choose(o, r, &n)) {
    memory_free(r);
    return EXIT_BAD_INPUT;
  }
  bool right = true, whole = true;
  if (format == FORMAT_SVG && (n != 1 || !r[0].table->growth)) {
    say_error("a picture is of one table whose point is growth\n  help: barbosa-1 to barbosa-4");
  } else if (!find_models(models, sizeof models)) {
    say_error("the models are not there\n  help: they belong beside the program, in share/rondo/models, or in ./models");
  } else {
    for (; done < n && whole; done++) {
      whole = reproduce(&r[done], models);
      right &= reproduction_right(&r[done]);
    }
    tell(r, done, format);
    status = !whole ? EXIT_INCONCLUSIVE : right ? EXIT_HOLDS : EXIT_VIOLATED;
  }
  for (size_t i = 0; i < done; i++)
    reproduction_release(&r[i]);
  memory_free(r);
  return status;
}
