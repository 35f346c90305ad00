#include "driver/commands.h"
#include "driver/context.h"
#include "driver/query_symbolic.h"

#include "search/ranks.h"
#include "symbolic/solver.h"

#include <string.h>

int command_help(const struct command_options *o) {
  struct text out = {0};
  enum command c;
  if (o->files.n == 0) {
    help_all(&out);
  } else if (command_find(o->files.at[0], &c)) {
    help_command(c, &out);
  } else {
    context_error(o->rondo, "unknown command '%s'", o->files.at[0]);
    return EXIT_BAD_INPUT;
  }
  context_write(o->rondo, &out);
  return EXIT_HOLDS;
}

static int dispatch(const struct command_options *o) {
  static int (*const commands[])(const struct command_options *) = {
#define COMMAND(id, name, function, arguments, help) function,
#include "driver/commands.def"
#undef COMMAND
  };
  return commands[o->command](o);
}

/* What several ranks can do. */
static bool is_for_ranks(const struct command_options *o, struct text *error) {
  if (o->command != COMMAND_CHECK && o->command != COMMAND_RESUME && o->command != COMMAND_HELP)
    text_add(error, "several ranks can only 'check' and 'resume'\n  help: for everything else there is rondo itself, "
                    "without mpirun");
  else if (o->storage.hash_compaction)
    text_add(error, "several ranks do not support '--store hash'\n  help: leave out '--store hash'");
  else if (o->storage.spill)
    text_add(error, "several ranks do not support '--spill'\n  help: leave out '--spill', or start more ranks");
  else if (o->limits.threads > 1)
    text_add(error, "several ranks do not support '--threads'\n  help: instead of '--threads' start more ranks");
  return error->n == 0;
}

/* What there is no other way for, in a build without a solver. */
static bool is_for_this_build(const struct command_options *o, struct text *error) {
  enum symbolic_engine engine;
  const char *missing = solver_missing();
  if (!missing)
    return true;
  if (o->command == COMMAND_PROVE || o->command == COMMAND_THRESHOLD)
    text_addf(error, "%s: '%s' needs one", missing, o->command == COMMAND_PROVE ? "prove" : "threshold");
  else if (o->command == COMMAND_EXPORT && o->output.to && !strcmp(o->output.to, "smtlib"))
    text_addf(error, "%s: '--to smtlib' needs one", missing);
  else if (o->command == COMMAND_CHECK && symbolic_engine_find(o->engine, &engine))
    text_addf(error, "%s: engine '%s' needs one\n  help: --engine explicit does not", missing, o->engine);
  return error->n == 0;
}

static int run_command(struct rondo *r, enum command c, int argc, char **argv, struct ranks *ranks) {
  struct command_options o;
  struct text error = {0}, help = {0};
  int status = EXIT_BAD_INPUT;
  if (!options_parse(&o, r, c, argc, argv, &error) || (ranks && !is_for_ranks(&o, &error))) {
    context_error(r, "%s", text_or_empty(&error));
  } else if (o.help) {
    help_command(c, &help);
    context_write(r, &help);
    status = EXIT_HOLDS;
  } else if (!is_for_this_build(&o, &error)) {
    context_error(r, "%s", text_or_empty(&error));
  } else {
    o.ranks.all = ranks;
    status = dispatch(&o);
  }
  text_release(&error);
  options_release(&o);
  return status;
}

static int find_and_run(struct rondo *r, int argc, char **argv, struct ranks *ranks) {
  enum command c;
  struct text out = {0};
  if (argc < 1) {
    help_all(&out);
    context_error(r, "no command\n\n%s", out.at);
    text_release(&out);
    return EXIT_BAD_INPUT;
  }
  const char *word = argv[0];
  if (!strcmp(word, "--version")) {
    text_add(&out, "rondo " RONDO_VERSION "\n");
    context_write(r, &out);
    return EXIT_HOLDS;
  }
  if (!strcmp(word, "--help") || !strcmp(word, "-h"))
    word = "help";
  if (command_find(word, &c))
    return run_command(r, c, argc - 1, argv + 1, ranks);
  const char *near = command_nearest(word);
  if (near)
    context_error(r, "unknown command '%s'\n  help: did you mean '%s'?", word, near);
  else
    context_error(r, "unknown command '%s'\n  help: rondo --help lists the commands", word);
  return EXIT_BAD_INPUT;
}

rondo_status rondo_command(rondo *r, int argc, char **argv) {
  const rondo_transport *transport = r->host.transport;
  struct ranks ranks;
  context_enter(r);
  r->write_failed = false;
  r->began = clock_seconds();
  r->silent = transport && transport->rank != 0;
  if (transport)
    ranks_init(&ranks, transport);
  int status = find_and_run(r, argc, argv, transport ? &ranks : NULL);
  r->listening = false;
  watch_listening(r, false);
  watch_answer(r, 0, 0);
  watch_checkpoints(r, NULL);
  if (transport) {
    status = ranks_finish(&ranks, status);
    ranks_release(&ranks);
  }
  return (rondo_status)status;
}

const char *rondo_version(void) { return RONDO_VERSION; }
