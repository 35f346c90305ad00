/* One function for each command: it returns the exit status. */
#ifndef RONDO_CLI_COMMANDS_H
#define RONDO_CLI_COMMANDS_H

#include "cli/options.h"

int command_check(const struct options *);
int command_resume(const struct options *);
int command_compare(const struct options *);
int command_prove(const struct options *);
int command_threshold(const struct options *);
int command_export(const struct options *);
int command_reproduce(const struct options *);
int command_run(const struct options *);
int command_replay(const struct options *);
int command_lint(const struct options *);
int command_fmt(const struct options *);
int command_help(const struct options *);

#endif
