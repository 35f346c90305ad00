/* rondo explore: the model is checked here, and shown by the host. */
#include "driver/commands.h"
#include "driver/context.h"
#include "driver/load.h"

#include <string.h>

static const char **defines_of(const struct command_options *o) {
  const char **words = memory_alloc((o->defines.n + 1) * sizeof *words);
  for (size_t i = 0; i < o->defines.n; i++) {
    struct text word = {0};
    const struct define *d = &o->defines.at[i];
    text_addf(&word, "%s=%lld", d->name, (long long)d->low);
    words[i] = word.at;
  }
  return words;
}

static bool has_ranges(const struct command_options *o) {
  for (size_t i = 0; i < o->defines.n; i++)
    if (o->defines.at[i].low != o->defines.at[i].high) {
      context_error(o->rondo, E0805, "'explore' shows one instance, and '-D %s' has a range\n  help: give it one value",
                    o->defines.at[i].name);
      return true;
    }
  return false;
}

int command_explore(const struct command_options *o) {
  const rondo_host *host = &o->rondo->host;
  struct parsed_file parsed;
  if (!host->explore) {
    context_error(o->rondo, E0817,
                  "this program was built without the explorer\n  help: configure it with "
                  "-DRONDO_EXPLORE=ON, which needs libmicrohttpd");
    return EXIT_BAD_INPUT;
  }
  if (o->files.n != 1 || !strcmp(o->files.at[0], "-")) {
    context_error(o->rondo, E0806, "'explore' needs one file\n  help: rondo explore FILE");
    return EXIT_BAD_INPUT;
  }
  if (has_ranges(o) || !parsed_file_load(&parsed, o->rondo, o->files.at[0]))
    return EXIT_BAD_INPUT;
  bool ok = parsed_file_is_algorithm(&parsed);
  parsed_file_release(&parsed);
  if (!ok)
    return EXIT_BAD_INPUT;
  const char **defines = defines_of(o);
  rondo_exploration request = {.path = o->files.at[0],
                               .defines = defines,
                               .ndefines = o->defines.n,
                               .environment = o->env,
                               .semantics = o->has_semantics ? semantics_name(o->semantics) : NULL,
                               .trace = o->explore.trace,
                               .port = o->explore.port,
                               .no_browser = o->explore.no_browser,
                               .memory = o->limits.memory};
  int status = (int)host->explore(host->context, &request);
  for (size_t i = 0; i < o->defines.n; i++)
    memory_free((char *)defines[i]);
  memory_free(defines);
  return status;
}
