/* What `rondo export` does with algorithms; counter systems are in driver/command_export.c. */
#ifndef RONDO_DRIVER_COMMAND_EXPORT_H
#define RONDO_DRIVER_COMMAND_EXPORT_H

#include "driver/load.h"

int export_model(const struct parsed_file *, const struct command_options *); /* the exit status */

#endif
