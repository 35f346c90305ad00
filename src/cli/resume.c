/* rondo resume: a check goes on where its last checkpoint was. */
#include "cli/check.h"
#include "cli/commands.h"
#include "cli/terminal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Files are written where they would have been. */
static bool go_there(const struct journal *j, const struct options *o) {
  if (!journal_leads(j) || (!o->trace_out && !o->svg && !o->html) || (j->directory && chdir(j->directory) == 0))
    return true;
  say_error("cannot go to '%s', where the command was given: %s", j->directory ? j->directory : "?", strerror(errno));
  return false;
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
  struct text error = {0};
  int status = EXIT_BAD_INPUT;
  if (!options_parse(&o, COMMAND_CHECK, j->nwords, j->words, &error)) {
    say_error("%s", text_or_empty(&error));
  } else if (syntax_read(&syntax, j->file, j->text, j->length)) {
    j->text = NULL; /* it is the syntax's now */
    take_limits(&o, given);
    o.ranks = given->ranks;
    status = go_there(j, &o) ? check_model(&o, &syntax, j) : EXIT_BAD_INPUT;
    syntax_release(&syntax);
  }
  text_release(&error);
  options_release(&o);
  return status;
}

int command_resume(const struct options *given) {
  struct journal j = {.lock = -1};
  if (given->files.n != 1) {
    say_error(given->files.n ? "one checkpoint at a time: '%s' is one too many" : "no checkpoint to resume\n  help: name the folder "
              "that '--checkpoint' was given%s", given->files.n ? given->files.at[1] : "");
    return EXIT_BAD_INPUT;
  }
  int status = journal_resume(&j, given->ranks, given->files.at[0]) ? go_on(&j, given) : EXIT_BAD_INPUT;
  journal_release(&j);
  return status;
}
