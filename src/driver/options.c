#include "driver/options.h"

#include "driver/context.h"
#include "driver/option_values.h"
#include "driver/query_symbolic.h"
#include "param/engine.h"

#include <stddef.h>
#include <string.h>

struct command_row {
  const char *name, *arguments, *help;
};
static const struct command_row commands[] = {
#define COMMAND(id, name, function, arguments, help) {name, arguments, help},
#include "driver/commands.def"
#undef COMMAND
};

enum option {
#define OPTION(id, letter, name, argument, commands, help, take) OPTION_##id,
#include "driver/options.def"
#undef OPTION
  OPTIONS
};

/* --- options that need more than a member --- */

static bool take_define(struct command_options *o, const char *argument, struct text *error) {
  struct define d;
  if (!define_parse(argument, &d, error))
    return false;
  for (size_t i = 0; i < o->defines.n; i++)
    if (!strcmp(o->defines.at[i].name, d.name)) {
      text_addf(error, "parameter '%s' is defined twice", d.name);
      memory_free(d.name);
      return false;
    }
  vec_push(&o->defines, d);
  return true;
}

/* Is it one of these words? */
static bool word_find(const char *argument, const char *const *names, size_t n, size_t *index) {
  for (*index = 0; *index < n; ++*index)
    if (!strcmp(argument, names[*index]))
      return true;
  return false;
}

static bool take_successors(struct command_options *o, const char *argument, struct text *error) {
  static const char *const names[] = {"auto", "plain", "enumerate", "regions"};
  size_t i;
  if (!word_find(argument, names, sizeof names / sizeof *names, &i)) {
    text_addf(error, "successors are 'auto', 'plain', 'enumerate' or 'regions', not '%s'", argument);
    return false;
  }
  o->successors = (enum successors_by)i;
  return true;
}

static bool take_deadlock(struct command_options *o, const char *argument, struct text *error) {
  o->deadlock_allowed = !strcmp(argument, "allow");
  if (o->deadlock_allowed || !strcmp(argument, "error"))
    return true;
  text_addf(error, "a deadlock is an 'error', or you 'allow' it, not '%s'", argument);
  return false;
}

static bool take_store(struct command_options *o, const char *argument, struct text *error) {
  o->storage.hash_compaction = !strcmp(argument, "hash");
  if (o->storage.hash_compaction || !strcmp(argument, "exact"))
    return true;
  text_addf(error, "stores are 'exact' and 'hash', not '%s'", argument);
  return false;
}

static bool take_semantics(struct command_options *o, const char *argument, struct text *error) {
  const char *names[SEMANTICS_INTERLEAVING + 1];
  const size_t n = sizeof names / sizeof *names;
  for (size_t i = 0; i < n; i++) {
    names[i] = semantics_name((enum semantics)i);
    if (!strcmp(argument, names[i])) {
      o->semantics = (enum semantics)i;
      return o->has_semantics = true;
    }
  }
  const char *near = nearest_name(argument, names, n);
  text_addf(error, "unknown semantics '%s'\n  help: ", argument);
  if (near)
    text_addf(error, "did you mean '%s'?", near);
  else
    text_add(error, "they are m, m-mp and mp for messages, interleaving for shared memory, coarse and fine for rounds");
  return false;
}

static bool take_engine(struct command_options *o, const char *argument, struct text *error) {
  o->engine = argument;
  if (o->command == COMMAND_CHECK) {
    if (symbolic_engine_is(argument))
      return true;
    text_addf(error, "engines are 'explicit', 'bmc', 'induction' and 'spacer', not '%s'", argument);
    return false;
  }
  for (size_t i = 0; i < ENGINES; i++)
    if (!strcmp(argument, engines[i].name))
      return true;
  text_add(error, "engines are ");
  for (size_t i = 0; i < ENGINES; i++)
    text_addf(error, "%s'%s'", !i ? "" : i + 1 < ENGINES ? ", " : " and ", engines[i].name);
  text_addf(error, ", not '%s'", argument);
  return false;
}

static bool take_format(struct command_options *o, const char *argument, struct text *error) {
  static const char *const names[] = {"promela", "murphi", "tla", "smv", "smtlib", "dot", "itf", "horn", "mcmt", "ta"};
  size_t i;
  o->output.to = argument;
  if (word_find(argument, names, sizeof names / sizeof *names, &i))
    return true;
  static const char *const elsewhere[][2] = {{"spin", "promela"}, {"pml", "promela"},    {"tlaplus", "tla"},
                                             {"tla+", "tla"},     {"nusmv", "smv"},      {"nuxmv", "smv"},
                                             {"rumur", "murphi"}, {"cmurphi", "murphi"}, {"smt", "smtlib"},
                                             {"smt2", "smtlib"},  {"z3", "smtlib"},      {"graphviz", "dot"}};
  for (i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
    if (!strcmp(argument, elsewhere[i][0])) {
      text_addf(error, "there is no format '%s'\n  help: write: --to %s", argument, elsewhere[i][1]);
      return false;
    }
  text_addf(
      error,
      "formats are promela, murphi, tla, smv, smtlib, dot and itf; of counter systems horn, mcmt, smv and ta; not '%s'",
      argument);
  return false;
}

static bool take_property(struct command_options *o, const char *argument, struct text *error) {
  (void)error;
  vec_push(&o->properties, argument);
  return true;
}

static bool take_reduce(struct command_options *o, const char *argument, struct text *error) {
  return reduction_request_parse(argument, &o->requested, error);
}

static bool take_states(struct command_options *o, const char *argument, struct text *error) {
  return count_parse(argument, 1, UINT64_MAX, &o->limits.states, error);
}

static bool take_memory(struct command_options *o, const char *argument, struct text *error) {
  return size_parse(argument, &o->limits.memory, error);
}

static bool take_time(struct command_options *o, const char *argument, struct text *error) {
  return seconds_parse(argument, &o->limits.seconds, error);
}

static bool take_json(struct command_options *o, const char *argument, struct text *error) {
  o->output.json = true;
  o->output.json_lines = argument && !strcmp(argument, "lines");
  if (argument && !o->output.json_lines)
    text_addf(error, "JSON comes as one object, or as 'lines', not as '%s'", argument);
  else if (argument && o->command != COMMAND_CHECK)
    text_add(error, "only 'check' answers in lines");
  return error->n == 0;
}

/* The end of the file's name says what is written. */
static bool take_coverage(struct command_options *o, const char *argument, struct text *error) {
  const char *end = argument ? strrchr(argument, '.') : NULL;
  o->output.coverage = true;
  o->output.coverage_file = argument;
  if (argument && (!end || (strcmp(end, ".info") != 0 && strcmp(end, ".json") != 0)))
    text_addf(error, "coverage is written to a file that ends in '.info' (lcov) or '.json', not to '%s'", argument);
  return error->n == 0;
}

static bool take_seed(struct command_options *o, const char *argument, struct text *error) {
  o->random.seeded = true;
  return count_parse(argument, 0, UINT64_MAX, &o->random.seed, error);
}

/* --- the table --- */

enum take_kind { TAKE_TEXT, TAKE_FLAG, TAKE_COUNT, TAKE_BY };

typedef bool take_fn(struct command_options *, const char *argument, struct text *error);

struct option_row {
  char letter;
  const char *name, *argument;
  unsigned commands; /* bit by command */
  const char *help;
  struct {
    enum take_kind kind;
    size_t offset; /* of the member of struct command_options */
    uint32_t most;
    take_fn *by;
  } take;
};

#define FOR(command) (1u << COMMAND_##command)
#define TEXT(member)                                                                                                   \
  { TAKE_TEXT, offsetof(struct command_options, member), 0, NULL }
#define FLAG(member)                                                                                                   \
  { TAKE_FLAG, offsetof(struct command_options, member), 0, NULL }
#define COUNT(member, most)                                                                                            \
  { TAKE_COUNT, offsetof(struct command_options, member), most, NULL }
#define BY(function)                                                                                                   \
  { TAKE_BY, 0, 0, function }
#define OPTION(id, letter, name, argument, commands, help, take) {letter, name, argument, commands, help, take},
static const struct option_row rows[] = {
#include "driver/options.def"
};
#undef OPTION
#undef BY
#undef COUNT
#undef FLAG
#undef TEXT
#undef FOR

const char *command_name(enum command c) { return commands[c].name; }

bool command_find(const char *name, enum command *c) {
  for (unsigned i = 0; i < COMMANDS; i++)
    if (!strcmp(name, commands[i].name)) {
      *c = i;
      return true;
    }
  return false;
}

const char *command_nearest(const char *name) {
  const char *names[COMMANDS];
  for (unsigned i = 0; i < COMMANDS; i++)
    names[i] = commands[i].name;
  return nearest_name(name, names, COMMANDS);
}

/* --- reading --- */

/* Its argument may be left out; if it is there, it follows a '='. */
static bool is_optional(const struct option_row *row) { return row->argument && row->argument[0] == '['; }

static bool take_option(struct command_options *o, const struct option_row *row, const char *argument,
                        struct text *error) {
  void *member = (char *)o + row->take.offset;
  uint64_t count = 0;
  switch (row->take.kind) {
  case TAKE_TEXT:
    *(const char **)member = argument;
    return true;
  case TAKE_FLAG:
    return *(bool *)member = true;
  case TAKE_COUNT:
    if (!count_parse(argument, 1, row->take.most, &count, error))
      return false;
    *(uint32_t *)member = (uint32_t)count;
    return true;
  case TAKE_BY:
    return row->take.by(o, argument, error);
  }
  return false;
}

/* The option that the word names, or OPTIONS. *argument points into the word if it contains one. */
static enum option option_of(const char *word, const char **argument) {
  *argument = NULL;
  for (unsigned i = 0; i < OPTIONS; i++) {
    const struct option_row *o = &rows[i];
    size_t n = strlen(o->name);
    if (word[1] != '-') {
      if (o->letter && word[1] == o->letter && (word[2] == '\0' || o->argument)) {
        *argument = word[2] ? word + 2 : NULL;
        return i;
      }
    } else if (!strncmp(word + 2, o->name, n) && (word[n + 2] == '\0' || word[n + 2] == '=')) {
      *argument = word[n + 2] ? word + n + 3 : NULL;
      return i;
    }
  }
  return OPTIONS;
}

/* What other programs call our options. */
static const char *foreign_help(const char *name) {
  static const char *const words[][2] = {
#define FOREIGN(word, help) {word, help},
#include "driver/foreign_options.def"
#undef FOREIGN
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(name, words[i][0]))
      return words[i][1];
  return NULL;
}

/* --n=3 or -n 3, where a parameter is meant: its value, or NULL. */
static const char *value_of_parameter(const char *word, const char *next) {
  const char *equals = strchr(word, '='), *given = equals ? equals + 1 : next;
  return given && *given && strspn(given, "0123456789.") == strlen(given) ? given : NULL;
}

static void unknown_option(enum command c, const char *word, const char *next, struct complaint *error) {
  const char *names[OPTIONS];
  size_t n = 0;
  error->code = E0802;
  char bare[64] = "";
  for (unsigned i = 0; i < OPTIONS; i++)
    if (rows[i].commands & 1u << c)
      names[n++] = rows[i].name;
  const char *start = word + strspn(word, "-");
  size_t length = strcspn(start, "=");
  if (length < sizeof bare)
    memcpy(bare, start, length);
  const char *foreign = foreign_help(bare), *near = foreign ? NULL : nearest_name(bare, names, n);
  const char *given = strlen(bare) <= 2 ? value_of_parameter(word, next) : NULL;
  bool takes_define = rows[OPTION_DEFINE].commands & 1u << c;
  text_addf(&error->text, "unknown option '%.*s'\n  help: ", (int)strcspn(word, "="), word);
  if (foreign && !(given && strlen(bare) == 1 && word[1] == '-'))
    text_add(&error->text, foreign);
  else if (given && takes_define)
    text_addf(&error->text, "a parameter gets its value by -D: -D %s=%s", bare, given);
  else if (near)
    text_addf(&error->text, "did you mean '--%s'?", near);
  else
    text_addf(&error->text, "rondo %s --help lists the options", commands[c].name);
}

static void misplaced_option(enum option option, enum command c, struct complaint *error) {
  const char *between = "", *foreign = foreign_help(rows[option].name);
  error->code = E0803;
  text_addf(&error->text, "option '--%s' does not belong to '%s'\n  help: it belongs to ", rows[option].name,
            commands[c].name);
  for (unsigned i = 0; i < COMMANDS; i++)
    if (rows[option].commands & 1u << i) {
      text_addf(&error->text, "%s'%s'", between, commands[i].name);
      between = ", ";
    }
  if (foreign) /* other tools have it, for what this command does */
    text_addf(&error->text, "; %s", foreign);
}

/* One option and its argument; *i moves past both. */
static bool read_option(struct command_options *o, int argc, char **argv, int *i, struct complaint *error) {
  const char *word = argv[(*i)++], *argument;
  enum option option = option_of(word, &argument);
  if (option == OPTIONS) {
    unknown_option(o->command, word, *i < argc ? argv[*i] : NULL, error);
    return false;
  }
  const struct option_row *row = &rows[option];
  if (!(row->commands & 1u << o->command)) {
    misplaced_option(option, o->command, error);
    return false;
  }
  error->code = E0804;
  if (!row->argument && argument) {
    text_addf(&error->text, "option '--%s' takes no argument", row->name);
    return false;
  }
  if (row->argument && !argument && !is_optional(row)) {
    if (*i == argc) {
      text_addf(&error->text, "option '%s' needs %s", word, row->argument);
      return false;
    }
    argument = argv[(*i)++];
  }
  struct text what = {0};
  if (take_option(o, row, argument, &what))
    return true;
  error->code = E0805;
  text_addf(&error->text, "option '--%s': %s", row->name, text_or_empty(&what));
  text_release(&what);
  return false;
}

bool option_is_valid(const char *name, const char *argument, struct complaint *error) {
  const char *names[OPTIONS];
  for (size_t i = 0; i < OPTIONS; i++) {
    names[i] = rows[i].name;
    if (strcmp(name, rows[i].name) != 0)
      continue;
    if (!rows[i].argument == !argument || is_optional(&rows[i]))
      return true;
    error->code = E0804;
    text_addf(&error->text, rows[i].argument ? "option '%s' needs an argument: %s" : "option '%s' takes no argument",
              name, rows[i].argument ? rows[i].argument : "");
    return false;
  }
  const char *near = nearest_name(name, names, OPTIONS);
  error->code = E0802;
  text_addf(&error->text, "unknown option '%.60s'", name);
  if (near)
    text_addf(&error->text, "\n  help: did you mean '%s'?", near);
  return false;
}

bool options_parse(struct command_options *o, struct rondo *context, enum command command, int argc, char **argv,
                   struct complaint *error) {
  *o = (struct command_options){
      .rondo = context, .limits.interrupt = &context->stop, .command = command, .words = argv, .nwords = argc};
  bool only_files = false;
  for (int i = 0; i < argc;) {
    if (!only_files && !strcmp(argv[i], "--")) {
      only_files = true;
      i++;
    } else if (!only_files && argv[i][0] == '-' && argv[i][1] != '\0') {
      if (!read_option(o, argc, argv, &i, error))
        return false;
    } else {
      vec_push(&o->files, argv[i++]);
    }
  }
  return true;
}

void options_release(struct command_options *o) {
  for (size_t i = 0; i < o->defines.n; i++)
    memory_free(o->defines.at[i].name);
  vec_release(&o->files);
  vec_release(&o->defines);
  vec_release(&o->properties);
}
