/* The types of include/rondo.h. */
#ifndef RONDO_DRIVER_API_H
#define RONDO_DRIVER_API_H

#include "driver/command_check.h"
#include "driver/context.h"

struct rondo_model {
  struct rondo *rondo;
  char *path, *text;
  size_t length;
  VEC(char *) defines; /* "n=4" */
};

struct rondo_options {
  struct rondo *rondo;
  VEC(char *) words; /* as on the command line */
};

struct rondo_result {
  rondo_status status;
  struct text text;
  bool checked; /* there is an instance */
  struct checked_instance instance;
  VEC(const struct property_result *) verdicts;
  VEC(const struct run_result *) runs; /* of each verdict */
};

#endif
