/* rondo fmt: the layout of files. */
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/files.h"
#include "driver/load.h"

#include <string.h>

static int format_one(const struct command_options *o, const char *path) {
  struct parsed_file parsed;
  struct text out = {0};
  if (!parsed_file_load(&parsed, o->rondo, path))
    return EXIT_BAD_INPUT;
  format_source(&parsed.source, &out);
  bool same = out.n == parsed.source.length && (out.n == 0 || memcmp(out.at, parsed.source.text, out.n) == 0);
  int status = 0;
  if (o->check) {
    if (!same)
      context_error(o->rondo, E0816, "'%s' is not formatted as by 'rondo fmt'", parsed.source.path);
    status = same ? 0 : 1;
  } else if (!strcmp(path, "-")) {
    context_write(o->rondo, &out);
  } else if (!same && !file_replace(o->rondo, path, &out)) {
    status = EXIT_BAD_INPUT;
  }
  text_release(&out);
  parsed_file_release(&parsed);
  return status;
}

int command_fmt(const struct command_options *o) {
  int status = 0;
  if (o->files.n == 0) {
    context_error(o->rondo, E0806, "no file to work on\n  help: name one or several, or - for standard input");
    return EXIT_BAD_INPUT;
  }
  for (size_t i = 0; i < o->files.n; i++) {
    int one = format_one(o, o->files.at[i]);
    status = one > status ? one : status;
  }
  return status;
}
