/* Files that rondo writes. */
#ifndef RONDO_CLI_FILES_H
#define RONDO_CLI_FILES_H

#include "base/text.h"

#include <stdbool.h>

/* Both: false: said why. */
bool file_write(const char *path, const struct text *);
/* All or nothing, keeping the permissions; a symbolic link stays one. */
bool file_replace(const char *path, const struct text *);

#endif
