/* rondo resume: a check goes on where its last checkpoint was. */
#include "driver/check.h"
#include "driver/commands.h"
#include "driver/context.h"

#include <string.h>

/* Files are written where they would have been. */
static void go_there(const struct journal *j, const char **path, struct text *there) {
  if (!*path || **path == '/' || !j->directory)
    return;
  text_addf(there, "%s/%s", j->directory, *path);
  *path = there->at;
}

/* How much it may use is for now, not for ever. */
static void take_limits(struct options *o, const struct options *given) {
  if (given->limits.memory)
    o->limits.memory = given->limits.memory;
  if (given->limits.seconds > 0)
    o->limits.seconds = given->limits.seconds;
  if (given->limits.threads)
    o->limits.threads = given->limits.threads;
}

static int go_on(struct journal *j, const struct options *given) {
  struct options o;
  struct syntax syntax;
  struct text error = {0}, there[3] = {0};
  int status = EXIT_BAD_INPUT;
  if (!options_parse(&o, given->rondo, COMMAND_CHECK, j->nwords, j->words, &error)) {
    say_error(given->rondo, "%s", text_or_empty(&error));
  } else if (syntax_read(&syntax, given->rondo, j->file, j->text, j->length)) {
    j->text = NULL; /* it is the syntax's now */
    take_limits(&o, given);
    o.ranks = given->ranks;
    go_there(j, &o.trace_out, &there[0]);
    go_there(j, &o.svg, &there[1]);
    go_there(j, &o.html, &there[2]);
    status = check_model(&o, &syntax, j);
    syntax_release(&syntax);
  }
  for (size_t i = 0; i < sizeof there / sizeof *there; i++)
    text_release(&there[i]);
  text_release(&error);
  options_release(&o);
  return status;
}

int command_resume(const struct options *given) {
  struct journal j = {.lock = -1};
  if (given->files.n != 1) {
    say_error(given->rondo, given->files.n ? "one checkpoint at a time: '%s' is one too many" : "no checkpoint to resume\n  help: name the folder "
              "that '--checkpoint' was given%s", given->files.n ? given->files.at[1] : "");
    return EXIT_BAD_INPUT;
  }
  int status = journal_resume(&j, given->rondo, given->ranks, given->files.at[0]) ? go_on(&j, given) : EXIT_BAD_INPUT;
  journal_release(&j);
  return status;
}
