/* What `rondo export` does with algorithms; counter systems are in driver/export.c. */
#ifndef RONDO_DRIVER_EXPORT_H
#define RONDO_DRIVER_EXPORT_H

#include "driver/load.h"

int export_model(const struct syntax *, const struct options *); /* the exit status */

#endif
