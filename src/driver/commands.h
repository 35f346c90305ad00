/* One function for each command: it returns the exit status. */
#ifndef RONDO_DRIVER_COMMANDS_H
#define RONDO_DRIVER_COMMANDS_H

#include "driver/context.h"
#include "driver/options.h"

#define COMMAND(id, name, function, arguments, help) int function(const struct command_options *);
#include "driver/commands.def"
#undef COMMAND

#endif
