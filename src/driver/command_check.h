/* What `rondo check` does once its model is read; `rondo resume` goes on with it. */
#ifndef RONDO_DRIVER_COMMAND_CHECK_H
#define RONDO_DRIVER_COMMAND_CHECK_H

#include "driver/checkpoint_folder.h"
#include "report/check_result.h"

/* A model with values for its parameters, and the answers. */
struct checked_instance {
  struct model *model;
  struct interpreter *interp;
  struct arena arena;
  struct check_result result;
};
void checked_instance_release(struct checked_instance *);

/* The exit status. The checkpoint_folder may be NULL: nothing is written down. */
int check_model(const struct command_options *, const struct parsed_file *, struct checkpoint_folder *);

#endif
