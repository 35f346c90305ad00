#include "driver/option_table.h"

enum option_bit {
#define OPTION(id, letter, name, argument, commands, help, take) BIT_##id,
#include "driver/options.def"
#undef OPTION
  OPTION_BITS
};
_Static_assert(OPTION_BITS <= 64 && COMMANDS <= 32, "groups are sets of bits");

static const struct command_info commands[] = {
#define COMMAND(id, name, function, arguments, help) {name, arguments, help},
#include "driver/commands.def"
#undef COMMAND
};

#define FOR(command) (1u << COMMAND_##command)
#define OPTION(id, letter, name, argument, commands, help, take)                                                       \
  {letter, name, argument, help, commands, UINT64_C(1) << BIT_##id},
static const struct option_info options[] = {
#include "driver/options.def"
};
#undef OPTION
#undef FOR

/* ---- help_texts.def, once for each kind of row ---- */

static const char reduction_words[] = "auto none"
#define REDUCTION(id, name, help) " " name
#include "analysis/reductions.def"
#undef REDUCTION
    ;

struct option_words {
  enum option_bit option;
  unsigned command; /* or COMMAND_ANY */
  const char *words;
};

#define COMMAND_ANY COMMANDS
#define REDUCTION_NAMES reduction_words
#define OF(command) (UINT64_C(1) << COMMAND_##command)
#define IN(option) (UINT64_C(1) << BIT_##option)
#define COMMAND_GROUP(title, members)
#define OPTION_GROUP(title, members)
#define ABOUT(command, text)
#define EXAMPLE(command, line, what)
#define CHOICES(option, command, words)

#undef COMMAND_GROUP
#define COMMAND_GROUP(title, members) {title, members},
static const struct help_group command_groups[] = {
#include "driver/help_texts.def"
};
#undef COMMAND_GROUP
#define COMMAND_GROUP(title, members)

#undef OPTION_GROUP
#define OPTION_GROUP(title, members) {title, members},
static const struct help_group option_groups[] = {
#include "driver/help_texts.def"
};
#undef OPTION_GROUP
#define OPTION_GROUP(title, members)

#undef ABOUT
#define ABOUT(command, text) [COMMAND_##command] = text,
static const char *const abouts[COMMANDS] = {
#include "driver/help_texts.def"
};
#undef ABOUT
#define ABOUT(command, text)

#undef EXAMPLE
#define EXAMPLE(command, line, what) {COMMAND_##command, line, what},
static const struct command_example examples[] = {
#include "driver/help_texts.def"
};
#undef EXAMPLE
#define EXAMPLE(command, line, what)

#undef CHOICES
#define CHOICES(option, command, words) {BIT_##option, COMMAND_##command, words},
static const struct option_words choices[] = {
#include "driver/help_texts.def"
};
#undef CHOICES
#undef EXAMPLE
#undef ABOUT
#undef OPTION_GROUP
#undef COMMAND_GROUP
#undef IN
#undef OF

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

const struct command_info *command_info(enum command c) { return &commands[c]; }

const char *command_about(enum command c) { return abouts[c] ? abouts[c] : ""; }

const struct option_info *option_info(size_t i) { return i < COUNT_OF(options) ? &options[i] : NULL; }

bool option_argument_is_optional(const struct option_info *o) { return o->argument && o->argument[0] == '['; }

const char *option_choices(const struct option_info *o, enum command c) {
  for (size_t i = 0; i < COUNT_OF(choices); i++)
    if (o->bit == UINT64_C(1) << choices[i].option && (choices[i].command == c || choices[i].command == COMMAND_ANY))
      return choices[i].words;
  return NULL;
}

const struct command_example *example_at(size_t i) { return i < COUNT_OF(examples) ? &examples[i] : NULL; }

/* What stands in no group is in one more. */
static bool group_at(const struct help_group *groups, size_t n, const char *rest, size_t i, struct help_group *out) {
  uint64_t grouped = 0;
  for (size_t k = 0; k < n; k++)
    grouped |= groups[k].members;
  *out = i < n ? groups[i] : (struct help_group){rest, ~grouped};
  return i <= n;
}

bool command_group_at(size_t i, struct help_group *out) {
  return group_at(command_groups, COUNT_OF(command_groups), "more", i, out);
}

bool option_group_at(size_t i, struct help_group *out) {
  return group_at(option_groups, COUNT_OF(option_groups), "more", i, out);
}
