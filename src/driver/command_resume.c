/* rondo resume: continues a check from its last checkpoint. */
#include "driver/command_check.h"
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/files.h"

#include <string.h>

/* A checkpoint may come from anywhere: files are written only where this command line says. */
static void take_path(struct rondo *r, const char *option, const char **saved, const char *given) {
  if (*saved && !given)
    context_error(r, N0101, "the check was begun with '--%s %s': give the option again to have the file written",
                  option, *saved);
  *saved = given;
}

/* False: the error was reported. */
static bool take_paths(struct command_options *o, const struct command_options *given) {
  take_path(o->rondo, "trace-out", &o->output.trace_out, given->output.trace_out);
  take_path(o->rondo, "svg", &o->output.svg, given->output.svg);
  take_path(o->rondo, "html", &o->output.html, given->output.html);
  take_path(o->rondo, "sarif", &o->output.sarif, given->output.sarif);
  if (o->storage.spill && !given->storage.spill) {
    context_error(o->rondo, E0814,
                  "the check was begun with '--spill %s', and may need it to go on\n  help: give '--spill DIR' again, "
                  "with any folder",
                  o->storage.spill);
    return false;
  }
  if (given->storage.spill && !o->storage.spill) {
    context_error(o->rondo, E0814, "the check was begun without '--spill'\n  help: leave it out");
    return false;
  }
  o->storage.spill = given->storage.spill;
  return true;
}

/* Limits may be given anew. */
static void take_limits(struct command_options *o, const struct command_options *given) {
  if (given->limits.memory)
    o->limits.memory = given->limits.memory;
  if (given->limits.seconds > 0)
    o->limits.seconds = given->limits.seconds;
  if (given->limits.threads)
    o->limits.threads = given->limits.threads;
}

static int resume_check(struct checkpoint_folder *j, const struct command_options *given) {
  struct command_options o;
  struct parsed_file parsed;
  struct complaint error = {.code = E0814};
  struct sarif sarif;
  int status = EXIT_BAD_INPUT;
  char *text = j->text;
  if (!options_parse(&o, given->rondo, COMMAND_CHECK, j->nwords, j->words, &error)) {
    context_error(given->rondo, E0814, "%s", text_or_empty(&error.text));
  } else if (j->text = NULL, parsed_file_adopt(&parsed, given->rondo, j->file, text, j->length)) {
    if (o.output.json)
      context_json_begin(given->rondo);
    take_limits(&o, given);
    o.ranks.all = given->ranks.all;
    if (take_paths(&o, given) && check_is_supported(&o, &parsed) && outputs_usable(&o)) {
      sarif_begin(&o, &sarif);
      status = sarif_end(&o, &sarif, check_model(&o, &parsed, j));
    }
    parsed_file_release(&parsed);
  }
  text_release(&error.text);
  options_release(&o);
  return status;
}

int command_resume(const struct command_options *given) {
  struct checkpoint_folder j = {.lock = -1};
  if (given->files.n != 1) {
    context_error(given->rondo, E0806,
                  given->files.n ? "one checkpoint at a time: '%s' is one too many"
                                 : "no checkpoint to resume\n  help: name the folder "
                                   "that '--checkpoint' was given%s",
                  given->files.n ? given->files.at[1] : "");
    return EXIT_BAD_INPUT;
  }
  int status = checkpoint_folder_resume(&j, given->rondo, given->ranks.all, given->files.at[0])
                   ? resume_check(&j, given)
                   : EXIT_BAD_INPUT;
  checkpoint_folder_release(&j);
  return status;
}
