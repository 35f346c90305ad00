#include "driver/files.h"

#include "driver/context.h"

#include "search/ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_and_close(FILE *f, const struct text *t) {
  bool ok = t->n == 0 || fwrite(t->at, 1, t->n, f) == t->n;
  int error = errno;
  if (fclose(f) != 0) {
    error = ok ? errno : error;
    ok = false;
  }
  errno = error;
  return ok;
}

/* ---- files that are written as a whole ---- */

/* A file beside the path, with the permissions that a new file gets. */
static FILE *open_beside(const char *path, struct text *name) {
  for (unsigned attempt = 0; attempt < 100; attempt++) {
    text_release(name);
    text_addf(name, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
    int fd = open(name->at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (f || errno != EEXIST)
      return f;
  }
  return NULL;
}

/* Nothing can be put in the place of a device or a pipe. */
static bool is_written_directly(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode);
}

static bool is_link(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static bool is_folder(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool cannot_write(struct rondo *context, const char *path, int error) {
  context_error(context, E0809, "cannot write '%s': %s", path, strerror(error));
  return false;
}

static bool refuse_link(struct rondo *context, const char *path) {
  context_error(context, E0809, "'%s' is a symbolic link\n  help: name the file itself", path);
  return false;
}

static bool write_beside(const char *path, const struct text *t) {
  struct text name = {0};
  struct stat old;
  FILE *f = open_beside(path, &name);
  bool ok = f != NULL;
  if (f && stat(path, &old) == 0)
    ok = fchmod(fileno(f), old.st_mode & 0777) == 0;
  ok = f && write_and_close(f, t) && ok && rename(name.at, path) == 0;
  int error = errno;
  if (f && !ok)
    unlink(name.at);
  text_release(&name);
  errno = error;
  return ok;
}

bool file_write(struct rondo *context, const char *path, const struct text *t) {
  if (is_link(path))
    return refuse_link(context, path);
  if (!is_written_directly(path))
    return write_beside(path, t) || cannot_write(context, path, errno);
  FILE *f = fopen(path, "wb");
  return (f && write_and_close(f, t)) || cannot_write(context, path, errno);
}

/* ---- before the command begins ---- */

/* The same file, whether it exists yet or not. */
static bool is_same_file(const char *a, const char *b) {
  struct stat x, y;
  if (stat(a, &x) == 0 && stat(b, &y) == 0)
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino && !is_written_directly(a);
  return !strcmp(a, b);
}

static bool can_write(struct rondo *context, const char *path) {
  struct text name = {0};
  if (is_link(path))
    return refuse_link(context, path);
  if (is_folder(path))
    return cannot_write(context, path, EISDIR);
  if (is_written_directly(path))
    return access(path, W_OK) == 0 || cannot_write(context, path, errno);
  if (access(path, F_OK) == 0 && access(path, W_OK) != 0)
    return cannot_write(context, path, errno);
  FILE *f = open_beside(path, &name);
  int error = errno;
  if (f) {
    fclose(f);
    unlink(name.at);
  }
  text_release(&name);
  return f || cannot_write(context, path, error);
}

bool outputs_usable(const struct command_options *o) {
  const struct {
    const char *option, *path;
  } outputs[] = {{"trace-out", o->output.trace_out},     {"svg", o->output.svg},   {"html", o->output.html},
                 {"certificate", o->output.certificate}, {"junit", o->test.junit}, {"sarif", o->output.sarif},
                 {"coverage", o->output.coverage_file}};
  const size_t n = sizeof outputs / sizeof *outputs;
  if (o->ranks.all && o->ranks.all->rank != 0) /* the first rank writes */
    return true;
  for (size_t i = 0; i < n; i++) {
    const char *path = outputs[i].path;
    for (size_t k = 0; path && k < o->files.n; k++)
      if (is_same_file(path, o->files.at[k])) {
        context_error(o->rondo, E0809, "'--%s %s' would overwrite a file that is read", outputs[i].option, path);
        return false;
      }
    for (size_t k = 0; path && k < i; k++)
      if (outputs[k].path && is_same_file(path, outputs[k].path)) {
        context_error(o->rondo, E0809, "'--%s' and '--%s' name the same file", outputs[k].option, outputs[i].option);
        return false;
      }
    if (path && !can_write(o->rondo, path))
      return false;
  }
  return true;
}

/* ---- SARIF ---- */

static bool sarif_wanted(const struct command_options *o) {
  return o->output.sarif && !(o->ranks.all && o->ranks.all->rank != 0);
}

void sarif_begin(const struct command_options *o, struct sarif *s) {
  if (!sarif_wanted(o))
    return;
  sarif_init(s);
  o->rondo->sarif = s;
}

int sarif_end(const struct command_options *o, struct sarif *s, int status) {
  struct text out = {0};
  if (!sarif_wanted(o))
    return status;
  o->rondo->sarif = NULL;
  sarif_text(s, status, &out);
  if (!file_write(o->rondo, o->output.sarif, &out) && status < EXIT_BAD_INPUT)
    status = EXIT_BAD_INPUT;
  text_release(&out);
  sarif_release(s);
  return status;
}

/* ---- formatting ---- */

bool file_replace(struct rondo *context, const char *path, const struct text *t) {
  struct stat st;
  struct text temporary = {0};
  char *real = realpath(path, NULL);
  int fd = -1;
  bool ok = false;
  if (real && stat(real, &st) == 0 && access(real, W_OK) == 0) {
    text_addf(&temporary, "%s.XXXXXX", real);
    fd = mkstemp(temporary.at);
  }
  FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
  if (f) {
    ok = fchmod(fd, st.st_mode & 07777) == 0;
    ok = write_and_close(f, t) && ok && rename(temporary.at, real) == 0;
  }
  if (!ok) {
    context_error(context, E0809, "cannot write '%s': %s", path, strerror(errno));
    if (fd >= 0)
      unlink(temporary.at);
  }
  text_release(&temporary);
  free(real);
  return ok;
}
