/* check --watch: the check is run again whenever its file has changed. */
#ifndef RONDO_DRIVER_WATCH_FILE_H
#define RONDO_DRIVER_WATCH_FILE_H

#include "driver/options.h"

/* Runs the command, and again after each change of its file, until rondo_interrupt or until the host does not wait any
   longer; returns the status of the last time. once: one run. */
int watch_file(const struct command_options *, int (*once)(const struct command_options *));

#endif
