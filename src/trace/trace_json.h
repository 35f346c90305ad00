/* A trace as JSON (docs/json.md): enough to replay it exactly, plus information for readers and scripts. */
#ifndef RONDO_TRACE_TRACE_JSON_H
#define RONDO_TRACE_TRACE_JSON_H

#include "trace/trace.h"

#include <jansson.h>

#define TRACE_SCHEMA "rondo-trace/1"

/* The model's identity and its parameters. */
json_t *model_to_json(const struct model *, uint32_t environment, enum semantics);
json_t *params_to_json(const struct model *);
json_t *status_to_json(value status);                              /* the names of its bits */
json_t *trace_to_json(const struct trace *, struct interpreter *); /* a new reference */

/* What must be known before the model can be loaded. Strings are borrowed from the JSON. */
struct trace_head {
  const char *path;
  const char *environment;
  const char *semantics;
  const char *property; /* NULL: an error outside any property */
  bool error;
  bool lasso; /* it is a lasso: see `loop` */
  uint32_t loop;
  struct param *params; /* owned; without source positions */
  size_t nparams;
};

/* False: *why says what is missing or wrong. */
bool trace_head_read(const json_t *, struct trace_head *, struct text *why);
void trace_head_release(struct trace_head *);
/* Values that the model does not have are errors. Whether it is a run of the model is checked by trace_replay. */
bool trace_run_read(const json_t *, struct model *, struct run *, struct text *why);

#endif
