/* Private to check_pipeline.c, query_search.c and query_traces.c: one query on its way from licences to traces. */
#ifndef RONDO_DRIVER_QUERY_RUN_H
#define RONDO_DRIVER_QUERY_RUN_H

#include "driver/query.h"

/* The state that the stages share; initially all zero. */
struct query_run {
  const struct query_context *about; /* its model, interpreter, arena and options are the next four */
  struct model *model;
  struct interpreter *interp;
  struct arena *arena;
  const struct command_options *options;
  struct query query;
  struct run_result *result;
  struct text *refused, *fault;
  /* query_search.c */
  struct reduction_request requested;
  const struct licences *licences;
  struct ranks *ranks; /* that search together, or NULL */
  struct system *system;
  struct search search;
  struct query_order *order;  /* NULL: it is known whether partial-order reduction is used */
  bool explored;              /* a trial search came to an end, and is the answer */
  char *heard_of_assignments; /* as the search counted them; or NULL */
  /* The search by one thread that leads to the same findings: its paths are shown. NULL: those of `search` are. */
  struct system *repeat_system;
  struct search repeat;
};

/* ---- the stages, in this order; false: there is a fault ---- */

/* False: another rank answers alone, and nothing is left to do. */
bool query_takes_part(struct query_run *);
void query_explore(struct query_run *);
void query_repeat(struct query_run *);
void query_reclassify_step_errors(struct query_run *);
void query_fill_result(struct query_run *);
bool query_make_traces(struct query_run *);
bool query_shorten_traces(struct query_run *);
bool query_find_divergence(struct query_run *);
void query_run_release(struct query_run *);

/* ---- shared by them ---- */

/* By this process alone, with limits of its own. */
void query_search_alone(const struct query_run *, struct search *, struct system *, const struct limits *,
                        struct checkpoints *);
/* Traces are made even if the search was stopped, for a short time after the deadline of the whole answer. If they are
   cut short, trace_watch_end returns the reason (search_interrupted), else 0. */
void trace_watch_begin(const struct query_run *);
sig_atomic_t trace_watch_end(const struct query_run *);

#endif
