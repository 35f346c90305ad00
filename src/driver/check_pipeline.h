/* One instance of a model, from its text to verdicts with traces. */
#ifndef RONDO_DRIVER_CHECK_PIPELINE_H
#define RONDO_DRIVER_CHECK_PIPELINE_H

#include "driver/query.h"

/* A model with values for its parameters, and the answers. */
struct checked_instance {
  struct model *model;
  struct interpreter *interp;
  struct arena arena;
  struct check_result result;
};

/* Returns the exit status; on EXIT_BAD_INPUT the message is in *error, too. The stream tells what is known, and may be
   NULL; then, and in tables, static errors are reported only in *error. The instance is for checked_instance_release in
   any case. */
struct answer_stream;
int check_instance(const struct parsed_file *, const struct param_binding *, const struct command_options *,
                   struct answer_stream *, struct checked_instance *, struct text *error);
void checked_instance_release(struct checked_instance *);

#endif
