/* What `rondo check` does once its model is read; `rondo resume` goes on with it. */
#ifndef RONDO_CLI_CHECK_H
#define RONDO_CLI_CHECK_H

#include "cli/checkpoint.h"

/* The exit status. The journal may be NULL: nothing is written down. */
int check_model(const struct options *, const struct syntax *, struct journal *);

#endif
