/* One function for each command: it returns the exit status. */
#ifndef RONDO_DRIVER_COMMANDS_H
#define RONDO_DRIVER_COMMANDS_H

#include "driver/context.h"
#include "driver/options.h"

int command_check(const struct command_options *);
int command_resume(const struct command_options *);
int command_compare(const struct command_options *);
int command_prove(const struct command_options *);
int command_threshold(const struct command_options *);
int command_export(const struct command_options *);
int command_reproduce(const struct command_options *);
int command_run(const struct command_options *);
int command_replay(const struct command_options *);
int command_lint(const struct command_options *);
int command_fmt(const struct command_options *);
int command_help(const struct command_options *);

#endif
