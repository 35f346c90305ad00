/* From a model and the options to verdicts: which properties are checked together, and how each query is answered.
   check_pipeline.c has the order. */
#ifndef RONDO_DRIVER_QUERY_H
#define RONDO_DRIVER_QUERY_H

#include "driver/load.h"
#include "report/check_result.h"

struct answer_stream;
struct query_split;

#define QUERY_PROPERTIES_MAX 64 /* in one query: an edge has a bit for each */

struct query_group { /* properties of one environment */
  uint32_t environment;
  VEC(uint32_t) properties;
  bool exclusive; /* no other property may join it */
  bool unasked;   /* the built-in property `deadlock`, which nobody asked for: its search is limited */
};

struct live_query { /* a liveness property in an environment */
  uint32_t property, environment;
};

struct query_groups { /* at least one of them is not empty */
  VEC(struct query_group) at;
  VEC(struct live_query) live;
};

struct query_context {              /* the instance that is asked about */
  const struct parsed_file *parsed; /* liveness makes another model of the same text */
  const struct param_binding *bindings;
  size_t nbindings;
  struct model *model;
  struct interpreter *interp;
  struct arena *arena; /* results live there */
  const struct command_options *options;
  enum semantics semantics;
  bool semantics_by_default;    /* the user did not choose it */
  bool quiet;                   /* what an engine refuses is not reported, only in *refused */
  bool trial;                   /* a search of a few states, in order to decide how to search */
  double deadline;              /* of all queries about it, by clock_seconds; 0: none, or not known yet */
  struct answer_stream *stream; /* tells verdicts as they become known; or NULL */
  struct query_split *split;    /* may replace the search of the next query; or NULL */
};

int exit_status_of(enum verdict);

/* Properties of the same environment go together. False: the error was reported. */
bool query_groups_make(struct query_groups *, const struct model *, const struct command_options *);
void query_groups_release(struct query_groups *);

/* Answers all of them, within one time limit. False: a fault of rondo (*fault), or the engine does not support the
   query (*refused). */
bool query_groups_answer(const struct query_groups *, const struct query_context *, struct check_result *,
                         struct text *refused, struct text *fault);

/* Answers one of them; likewise. */
bool query_answer(const struct query_context *, const struct query *, struct run_result *, struct text *refused,
                  struct text *fault);

/* Does the search know every feature that the query needs? False: reported. */
bool query_supported(struct rondo *, const struct model *, const struct query *, struct text *refused);

/* driver/query_lockstep.c: the query, with the stability properties that license lockstep rounds; the licences that
   follow; and the properties of the last run that are checked again in asynchronous rounds for lack of one. */
struct query query_make(const struct query_context *, uint32_t environment, const uint32_t *properties, uint32_t n);
void lockstep_licences(const struct query_context *, const struct query *, const struct search *, struct run_result *);
bool lockstep_recheck(const struct query_context *, const struct query *, struct check_result *, struct text *refused,
                      struct text *fault);

/* The transition system of a query, with the reductions that are licensed. */
struct system *query_system(const struct query_context *, const struct query *, const struct reduction_request *,
                            const struct licences **);
/* Limits of a search that was interrupted by another one after a layer: that one has set its own. */
void query_watch_again(const struct query_context *, const struct search *);
/* driver/query_lockstep.c: does the verdict of a liveness property in lockstep rounds hold in asynchronous ones? If
   those were asked for and it does not, the verdict becomes inconclusive. */
void live_lockstep_licence(const struct query_context *, const struct live_query *, struct run_result *);
/* driver/query_live.c: answers a liveness query. */
bool live_query_answer(const struct query_context *, const struct live_query *, struct run_result *,
                       struct text *fault);

#endif
