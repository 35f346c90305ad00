/* --svg and --html: a run as a picture, or as a page. */
#ifndef RONDO_DRIVER_DIAGRAM_FILES_H
#define RONDO_DRIVER_DIAGRAM_FILES_H

#include "driver/options.h"
#include "trace/trace.h"

bool diagrams_wanted(const struct command_options *);
/* False: the error was reported. */
bool diagrams_write(const struct command_options *, const struct trace *, struct interpreter *);

#endif
