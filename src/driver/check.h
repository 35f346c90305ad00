/* What `rondo check` does once its model is read; `rondo resume` goes on with it. */
#ifndef RONDO_DRIVER_CHECK_H
#define RONDO_DRIVER_CHECK_H

#include "driver/checkpoint.h"

/* The exit status. The journal may be NULL: nothing is written down. */
int check_model(const struct options *, const struct syntax *, struct journal *);

#endif
