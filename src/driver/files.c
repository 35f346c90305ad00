#include "driver/files.h"

#include "driver/context.h"

#include <errno.h>
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

bool file_write(struct rondo *context, const char *path, const struct text *t) {
  FILE *f = fopen(path, "wb");
  if (f && write_and_close(f, t))
    return true;
  context_error(context, "cannot write '%s': %s", path, strerror(errno));
  return false;
}

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
    context_error(context, "cannot write '%s': %s", path, strerror(errno));
    if (fd >= 0)
      unlink(temporary.at);
  }
  text_release(&temporary);
  free(real);
  return ok;
}
