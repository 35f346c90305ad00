#include "driver/commands.h"
#include "driver/context.h"
#include "driver/files.h"
#include "driver/help.h"
#include "driver/query_symbolic.h"
#include "driver/watch_file.h"

#include "search/ranks.h"
#include "symbolic/solver.h"

#include <string.h>

int command_help(const struct command_options *o) {
  static const struct {
    const char *name;
    void (*all)(struct text *);
    void (*one)(enum command, struct text *); /* NULL: of all commands only */
  } formats[] = {{"text", help_all, help_command},
                 {"man", man_all, man_command},
                 {"bash", completions_bash, NULL},
                 {"zsh", completions_zsh, NULL},
                 {"fish", completions_fish, NULL}};
  const size_t n = sizeof formats / sizeof *formats;
  const char *format = o->output.format ? o->output.format : "text";
  struct text out = {0};
  enum command c = COMMANDS;
  size_t f = 0;
  while (f < n && strcmp(format, formats[f].name) != 0)
    f++;
  if (f == n) {
    context_error(o->rondo, E0805, "help comes as text, man, bash, zsh or fish, not as '%s'", format);
  } else if (o->files.n > 1) {
    context_error(o->rondo, E0806, "one command at a time: '%s' is one too many", o->files.at[1]);
  } else if (o->files.n == 1 && !command_find(o->files.at[0], &c)) {
    const char *near = command_nearest(o->files.at[0]);
    context_error(o->rondo, E0801, near ? "unknown command '%s'\n  help: did you mean '%s'?" : "unknown command '%s'",
                  o->files.at[0], near);
  } else if (c != COMMANDS && !formats[f].one) {
    context_error(o->rondo, E0806, "completions are for all commands\n  help: leave out '%s'", o->files.at[0]);
  } else {
    if (c == COMMANDS)
      formats[f].all(&out);
    else
      formats[f].one(c, &out);
    context_write(o->rondo, &out);
    return EXIT_HOLDS;
  }
  return EXIT_BAD_INPUT;
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
static bool is_for_ranks(const struct command_options *o, struct complaint *complaint) {
  struct text *error = &complaint->text;
  complaint->code = E0817;
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

/* Can this build run the command? Without a solver, some commands and engines are missing. */
static bool is_for_this_build(const struct command_options *o, struct complaint *complaint) {
  enum symbolic_engine engine;
  const char *missing = o->rondo->tests.no_solver ? "as in a build without a solver" : solver_missing();
  struct text *error = &complaint->text;
  complaint->code = E0817;
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

/* Limits and interruptions hold from here on, for what may take long. */
static void begin_limits(const struct command_options *o) {
  struct rondo *r = o->rondo;
  r->reading_stopped = false;
  r->reading_limit = o->limits.seconds;
  r->reading_deadline = o->limits.seconds > 0 ? r->began + o->limits.seconds : 0;
  if (o->command == COMMAND_FMT || o->command == COMMAND_HELP || o->command == COMMAND_EXPLAIN ||
      o->command == COMMAND_RESUME) /* which runs another command */
    return;
  if (o->limits.seconds > 0 && o->command != COMMAND_TEST) /* a limit of each check */
    watch_answer(r, r->reading_deadline, o->limits.seconds);
  context_listen(r);
}

static int run_once(const struct command_options *o) {
  struct sarif sarif;
  begin_limits(o);
  if (!outputs_usable(o))
    return EXIT_BAD_INPUT;
  sarif_begin(o, &sarif);
  int status = dispatch(o);
  if (o->rondo->reading_stopped && status == EXIT_BAD_INPUT)
    status = EXIT_INCONCLUSIVE;
  return sarif_end(o, &sarif, status);
}

static int run_command(struct rondo *r, enum command c, int argc, char **argv, struct ranks *ranks) {
  struct command_options o;
  struct complaint error = {.code = E0802};
  struct text help = {0};
  int status = EXIT_BAD_INPUT;
  if (!options_parse(&o, r, c, argc, argv, &error) || (ranks && !is_for_ranks(&o, &error))) {
    context_error(r, error.code, "%s", text_or_empty(&error.text));
  } else if (o.help) {
    help_command(c, &help);
    context_write(r, &help);
    status = EXIT_HOLDS;
  } else if (!is_for_this_build(&o, &error)) {
    context_error(r, error.code, "%s", text_or_empty(&error.text));
  } else {
    o.ranks.all = ranks;
    status = o.watch ? watch_file(&o, run_once) : run_once(&o);
  }
  text_release(&error.text);
  options_release(&o);
  return status;
}

/* ---- finding the command ---- */

/* What other tools call our commands. */
static const char *command_elsewhere(const char *word) {
  static const char *const words[][2] = {
      {"verify", "check"},       {"modelcheck", "check"},    {"typecheck", "check"},   {"parse", "check"},
      {"simulate", "run"},       {"simulation", "run"},      {"random", "run"},        {"format", "fmt"},
      {"continue", "resume"},    {"recover", "resume"},      {"convert", "export"},    {"translate", "export"},
      {"trace", "replay"},       {"induct", "prove"},        {"proof", "prove"},       {"parametric", "prove"},
      {"analyze", "lint"},       {"analyse", "lint"},        {"error", "explain"},     {"version", "--version"},
      {"tlc", "check"},          {"spin", "check"},          {"model-check", "check"}, {"mc", "check"},
      {"modelchecker", "check"}, {"watch", "check --watch"}, {"tests", "test"},        {"debug", "run"},
      {"codes", "explain"},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(word, words[i][0]))
      return words[i][1];
  return NULL;
}

static void add_words(struct text *out, int argc, char **argv) {
  for (int i = 0; i < argc; i++)
    text_addf(out, " %s", argv[i]);
}

/* A file or options where the command should stand: it is shown with 'check' in front. */
static int report_no_command(struct rondo *r, int argc, char **argv) {
  size_t n = strlen(argv[0]);
  bool option = argv[0][0] == '-', file = n > 6 && !strcmp(argv[0] + n - 6, ".rondo");
  const char *elsewhere = command_elsewhere(argv[0]), *near = command_nearest(argv[0]);
  struct text help = {0};
  if (!strcmp(argv[0], "-v") && argc == 1) {
    text_add(&help, "rondo --version shows the version, rondo --help the commands");
  } else if (option || file) {
    text_add(&help, "the command comes first: rondo check");
    add_words(&help, argc, argv);
  } else if (elsewhere) {
    text_addf(&help, "write: rondo %s", elsewhere);
    add_words(&help, argc - 1, argv + 1);
  } else if (near) {
    text_addf(&help, "did you mean '%s'?", near);
  } else {
    text_add(&help, "rondo --help lists the commands");
  }
  if (option || file)
    context_error(r, E0801, "no command before '%s'\n  help: %s", argv[0], help.at);
  else
    context_error(r, E0801, "unknown command '%s'\n  help: %s", argv[0], help.at);
  text_release(&help);
  return EXIT_BAD_INPUT;
}

static int find_and_run(struct rondo *r, int argc, char **argv, struct ranks *ranks) {
  enum command c;
  struct text out = {0};
  if (argc < 1) {
    help_all(&out);
    context_error(r, E0801, "no command\n\n%s", out.at);
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
  return command_find(word, &c) ? run_command(r, c, argc - 1, argv + 1, ranks) : report_no_command(r, argc, argv);
}

/* Known before the options are read, because they may be wrong. */
static bool asks_for_json(int argc, char **argv) {
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (!strcmp(argv[i], "--json") || !strncmp(argv[i], "--json=", 7))
      return true;
  return false;
}

rondo_status rondo_command(rondo *r, int argc, char **argv) {
  const rondo_transport *transport = r->host.transport;
  struct ranks ranks;
  context_enter(r);
  r->write_failed = false;
  r->began = clock_seconds();
  r->silent = transport && transport->rank != 0;
  bool outer = r->json; /* a command may run others */
  json_t *outer_diags = r->command_diags;
  r->command_diags = NULL;
  r->json = false;
  if (asks_for_json(argc, argv))
    context_json_begin(r);
  if (transport)
    ranks_init(&ranks, transport);
  int status = find_and_run(r, argc, argv, transport ? &ranks : NULL);
  r->listening = false;
  watch_listening(r, false);
  watch_answer(r, 0, 0);
  watch_checkpoints(r, NULL);
  if (r->json && !r->json_answered && status > EXIT_VIOLATED) {
    struct text out = {0};
    context_json_diagnostics(r, status, &out);
    context_write(r, &out);
  }
  json_decref(r->command_diags);
  r->command_diags = outer_diags;
  r->json = outer;
  if (transport) {
    status = ranks_finish(&ranks, status);
    ranks_release(&ranks);
  }
  return (rondo_status)status;
}

const char *rondo_version(void) { return RONDO_VERSION; }
