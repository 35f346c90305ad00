/* What `rondo check` does once its model is parsed; `rondo resume` does the same. */
#ifndef RONDO_DRIVER_COMMAND_CHECK_H
#define RONDO_DRIVER_COMMAND_CHECK_H

#include "driver/check_pipeline.h"
#include "driver/checkpoint_folder.h"

/* The exit status. Without a checkpoint folder (NULL) nothing is saved. */
int check_model(const struct command_options *, const struct parsed_file *, struct checkpoint_folder *);

/* Can states be written in the folder of --spill? If not, the error is reported. */
bool spill_folder_usable(const struct command_options *);

#endif
