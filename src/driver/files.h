/* Files that rondo writes. */
#ifndef RONDO_DRIVER_FILES_H
#define RONDO_DRIVER_FILES_H

#include "driver/context.h"

#include <stdbool.h>

/* Both: false: the error was reported. */
bool file_write(struct rondo *, const char *path, const struct text *);
/* All or nothing, keeping the permissions; a symbolic link stays one. */
bool file_replace(struct rondo *, const char *path, const struct text *);

#endif
