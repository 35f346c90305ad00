/* --svg and --html: a run as a picture, or as a page. */
#ifndef RONDO_DRIVER_PICTURES_H
#define RONDO_DRIVER_PICTURES_H

#include "driver/options.h"
#include "trace/trace.h"

bool pictures_wanted(const struct options *);
/* False: said why not. */
bool pictures_write(const struct options *, const struct trace *, struct meaning *);

#endif
