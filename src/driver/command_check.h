/* What `rondo check` does once its model is parsed; `rondo resume` does the same. */
#ifndef RONDO_DRIVER_COMMAND_CHECK_H
#define RONDO_DRIVER_COMMAND_CHECK_H

#include "driver/check_pipeline.h"
#include "driver/checkpoint_folder.h"

/* The exit status. Without a checkpoint folder (NULL) nothing is saved. */
int check_model(const struct command_options *, const struct parsed_file *, struct checkpoint_folder *);

/* Do the options go together, and with the model? Tries the folder of --spill. If not, the error is reported. */
bool check_is_supported(const struct command_options *, const struct parsed_file *);

#endif
