#include "driver/test_files.h"

#include "driver/context.h"
#include "driver/load.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_DEEP 64

static const char marker[] = "// expect:";

/* ---- one file ---- */

/* Counter systems are proved, other models are checked. The file may have any other mistake. */
static bool is_counter_system(const char *text, size_t length) {
  static const char word[] = "counters";
  const size_t n = sizeof word - 1;
  for (size_t at = 0; at < length; at++) {
    bool starts = at == 0 || text[at - 1] == '\n';
    if (starts && length - at > n && !memcmp(text + at, word, n) && (text[at + n] == ' ' || text[at + n] == '\t'))
      return true;
  }
  return false;
}

static void add_expectation(struct test_file *f, struct rondo *r, struct diags *diags, uint32_t line, struct span at,
                            bool prove) {
  static const char help_follows[] = "\n  help: ";
  const size_t skip = sizeof marker - 1;
  struct expectation e;
  struct text why = {0};
  bool ok = expectation_read(&e, r, line, diags->source->text + at.from + skip, at.to - at.from - skip, prove, &why);
  if (!ok) {
    char *help = strstr(why.at, help_follows);
    if (help)
      *help = '\0';
    diag_error(diags, E0820, at, "%s", why.at);
    if (help)
      diag_help(diags, "%s", help + strlen(help_follows));
  }
  vec_push(&f->expectations, e);
  vec_push(&f->unreadable, ok ? NULL : memory_strdup(why.at));
  text_release(&why);
}

/* only: the line, or 0 for all. False: the file cannot be read. */
static bool read_file(struct test_file *f, struct rondo *r, const char *path, uint32_t only) {
  size_t length;
  char *text = file_read(r, path, MODEL_BYTES_MAX, &length);
  *f = (struct test_file){.path = memory_strdup(path)};
  if (!text)
    return false;
  struct source source = {f->path, text, length};
  struct diags diags;
  bool prove = is_counter_system(text, length);
  uint32_t line = 1;
  diags_init(&diags, &source);
  for (size_t at = 0; at < length; line++) {
    const char *newline = memchr(text + at, '\n', length - at);
    size_t end = newline ? (size_t)(newline - text) : length;
    if (end - at >= sizeof marker - 1 && !memcmp(text + at, marker, sizeof marker - 1) && (!only || only == line))
      add_expectation(f, r, &diags, line, (struct span){(uint32_t)at, (uint32_t)end}, prove);
    at = end + 1;
  }
  context_diagnostics(r, &diags);
  diags_release(&diags);
  memory_free(text);
  return true;
}

static void release_file(struct test_file *f) {
  for (size_t i = 0; i < f->expectations.n; i++) {
    expectation_release(&f->expectations.at[i]);
    memory_free(f->unreadable.at[i]);
  }
  vec_release(&f->expectations);
  vec_release(&f->unreadable);
  memory_free(f->path);
}

static bool add_file(struct test_files *t, struct rondo *r, const char *path, uint32_t only, bool named) {
  struct test_file f;
  bool ok = read_file(&f, r, path, only);
  if (ok && f.expectations.n > 0) {
    vec_push(&t->at, f);
    return true;
  }
  if (ok && named && only)
    context_error(r, E0821, "line %u of '%s' has no expectation", only, path);
  else if (ok && named)
    context_error(r, E0821, "'%s' has no expectation\n  help: add a line such as '// expect: holds agreement -D n=3'",
                  path);
  else if (ok)
    t->without++;
  release_file(&f);
  return ok && !named;
}

/* ---- folders ---- */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool is_model_name(const char *name) {
  size_t n = strlen(name);
  return n > 6 && !strcmp(name + n - 6, ".rondo");
}

/* Its models, sorted by name, and those of the folders in it. Symbolic links to folders are not followed. */
static bool add_folder(struct test_files *t, struct rondo *r, const char *folder, int depth) {
  DIR *d = opendir(folder);
  struct dirent *entry;
  VEC(char *) names = {0};
  bool ok = true;
  if (!d) {
    context_error(r, E0808, "cannot open '%s': %s", folder, strerror(errno));
    return false;
  }
  while ((entry = readdir(d)))
    if (entry->d_name[0] != '.')
      vec_push(&names, memory_strdup(entry->d_name));
  closedir(d);
  if (names.n > 0)
    qsort(names.at, names.n, sizeof *names.at, by_name);
  for (size_t i = 0; i < names.n; i++) {
    struct text path = {0};
    struct stat st;
    size_t n = strlen(folder);
    text_addf(&path, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", names.at[i]);
    if (lstat(path.at, &st) == 0 && S_ISDIR(st.st_mode))
      ok = (depth >= FOLDERS_DEEP || add_folder(t, r, path.at, depth + 1)) && ok;
    else if (is_model_name(names.at[i]) && stat(path.at, &st) == 0 && S_ISREG(st.st_mode))
      ok = add_file(t, r, path.at, 0, false) && ok;
    memory_free(names.at[i]);
    text_release(&path);
  }
  vec_release(&names);
  return ok;
}

/* ---- what the command line names ---- */

/* FILE:LINE, where there is no file of that whole name. */
static bool split_line(const char *word, struct text *path, uint32_t *line) {
  const char *colon = strrchr(word, ':');
  *line = 0;
  if (!colon || access(word, F_OK) == 0 || colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
      strlen(colon + 1) > 8)
    return false;
  text_add_n(path, word, (size_t)(colon - word));
  *line = (uint32_t)strtoul(colon + 1, NULL, 10);
  return *line > 0;
}

bool test_files_find(struct test_files *t, const struct command_options *o) {
  bool ok = true;
  *t = (struct test_files){0};
  for (size_t i = 0; i < o->files.n; i++) {
    const char *word = o->files.at[i];
    struct text path = {0};
    struct stat st;
    uint32_t line;
    if (!strcmp(word, "-")) {
      context_error(o->rondo, E0806, "'test' does not read standard input\n  help: name a file");
      ok = false;
    } else if (split_line(word, &path, &line))
      ok = add_file(t, o->rondo, path.at, line, true) && ok;
    else if (stat(word, &st) == 0 && S_ISDIR(st.st_mode))
      ok = add_folder(t, o->rondo, word, 0) && ok;
    else
      ok = add_file(t, o->rondo, word, 0, true) && ok;
    text_release(&path);
  }
  return ok;
}

void test_files_release(struct test_files *t) {
  for (size_t i = 0; i < t->at.n; i++)
    release_file(&t->at.at[i]);
  vec_release(&t->at);
}
