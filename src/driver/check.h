/* What `rondo check` does once its model is read; `rondo resume` goes on with it. */
#ifndef RONDO_DRIVER_CHECK_H
#define RONDO_DRIVER_CHECK_H

#include "driver/checkpoint.h"
#include "report/result.h"

/* A model with values for its parameters, and the answers. */
struct instance {
  struct model *model;
  struct meaning *meaning;
  struct arena arena;
  struct check_result result;
};
void instance_close(struct instance *);

/* The exit status. The journal may be NULL: nothing is written down. */
int check_model(const struct options *, const struct syntax *, struct journal *);

#endif
