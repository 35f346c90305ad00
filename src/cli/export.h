/* What `rondo export` does with algorithms; counter systems are in cli/export.c. */
#ifndef RONDO_CLI_EXPORT_H
#define RONDO_CLI_EXPORT_H

#include "cli/load.h"

int export_model(const struct syntax *, const struct options *); /* the exit status */

#endif
