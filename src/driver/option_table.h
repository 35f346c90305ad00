/* The tables of commands and options as data: for help, man pages and completions. */
#ifndef RONDO_DRIVER_OPTION_TABLE_H
#define RONDO_DRIVER_OPTION_TABLE_H

#include "driver/options.h"

struct command_info {
  const char *name, *arguments, *help;
};
struct option_info {
  char letter; /* or 0 */
  const char *name, *argument, *help;
  unsigned commands; /* bit by command */
  uint64_t bit;      /* its own, for groups */
};
struct command_example {
  enum command command;
  const char *line; /* after "rondo " */
  const char *what;
};
struct help_group {
  const char *title;
  uint64_t members; /* bits of commands (1 << command), or of options */
};

const struct command_info *command_info(enum command);
const char *command_about(enum command);                      /* paragraphs, separated by an empty line */
const struct option_info *option_info(size_t i);              /* NULL: there are no more */
bool option_argument_is_optional(const struct option_info *); /* --json[=lines] */
/* The words that an option takes, separated by blanks, for this command; NULL: it takes anything. */
const char *option_choices(const struct option_info *, enum command);
/* The example with the number i, over all commands; NULL: there are no more. */
const struct command_example *example_at(size_t i);
/* Groups, in the order in which help shows them, then one with what no other has. False: there are no more. */
bool command_group_at(size_t i, struct help_group *);
bool option_group_at(size_t i, struct help_group *);

#endif
