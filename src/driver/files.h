/* Files that rondo writes. */
#ifndef RONDO_DRIVER_FILES_H
#define RONDO_DRIVER_FILES_H

#include "driver/context.h"
#include "driver/options.h"

#include <stdbool.h>

/* All: false: the error was reported. */

/* Tries the files that the command will write, before it does anything else: each can be written, is not a symbolic
   link, none of the files that are read, and no other of them. */
bool outputs_usable(const struct command_options *);
/* All or nothing: written beside, then renamed. Devices are written directly. */
bool file_write(struct rondo *, const char *path, const struct text *);
/* All or nothing, keeping the permissions; a symbolic link stays one. */
bool file_replace(struct rondo *, const char *path, const struct text *);

/* --sarif: from here on results and diagnostics are collected; at the end they are written. The end returns the exit
   status, which is another one if the file cannot be written. */
struct sarif;
void sarif_begin(const struct command_options *, struct sarif *);
int sarif_end(const struct command_options *, struct sarif *, int status);

#endif
