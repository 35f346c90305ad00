/* `rondo explore`: shows a model in the browser. A host like cli/: it uses include/rondo.h only. docs/explore-api.md
   describes the protocol. */
#ifndef RONDO_EXPLORE_EXPLORE_H
#define RONDO_EXPLORE_EXPLORE_H

#include "rondo.h"

/* Serves the page on the loopback interface and returns when the process gets SIGINT, SIGTERM or SIGHUP. For
   rondo_host.explore. */
rondo_status explore_serve(void *context, const rondo_exploration *);

/* NULL: this program was built without it. */
typedef rondo_status explore_fn(void *context, const rondo_exploration *);
explore_fn *explore_function(void);

#endif
