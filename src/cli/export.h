/* What `rondo export` does with algorithms; counter systems are in cli/export.c. */
#ifndef RONDO_CLI_EXPORT_H
#define RONDO_CLI_EXPORT_H

#include "cli/load.h"

bool export_is_for_models(const char *format);
int export_model(const struct syntax *, const struct options *); /* the exit status */

#endif
