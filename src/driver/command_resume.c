/* rondo resume: continues a check from its last checkpoint. */
#include "driver/command_check.h"
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/files.h"

#include <string.h>

/* Relative paths are those of the original working directory. */
static void path_from_original_directory(const struct checkpoint_folder *j, const char **path, struct text *paths) {
  if (!*path || **path == '/' || !j->directory)
    return;
  text_addf(paths, "%s/%s", j->directory, *path);
  *path = paths->at;
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
  struct text paths[4] = {0};
  struct sarif sarif;
  int status = EXIT_BAD_INPUT;
  if (!options_parse(&o, given->rondo, COMMAND_CHECK, j->nwords, j->words, &error)) {
    context_error(given->rondo, E0814, "%s", text_or_empty(&error.text));
  } else if (parsed_file_adopt(&parsed, given->rondo, j->file, j->text, j->length)) {
    if (o.output.json)
      context_json_begin(given->rondo);
    j->text = NULL; /* owned by `parsed` now */
    take_limits(&o, given);
    o.ranks.all = given->ranks.all;
    path_from_original_directory(j, &o.output.trace_out, &paths[0]);
    path_from_original_directory(j, &o.output.svg, &paths[1]);
    path_from_original_directory(j, &o.output.html, &paths[2]);
    path_from_original_directory(j, &o.output.sarif, &paths[3]);
    if (outputs_usable(&o)) {
      sarif_begin(&o, &sarif);
      status = sarif_end(&o, &sarif, check_model(&o, &parsed, j));
    }
    parsed_file_release(&parsed);
  }
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    text_release(&paths[i]);
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
