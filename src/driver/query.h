/* From a model and the options to verdicts: which properties are asked in which environment, and
   each query from licences to counterexamples. */
#ifndef RONDO_DRIVER_QUERY_H
#define RONDO_DRIVER_QUERY_H

#include "driver/load.h"
#include "report/check_result.h"

#define QUERY_PROPERTIES_MAX                                                                                           \
  64 /* properties in one query: an edge has so many bits for broken steps                                             \
      */

struct query_group { /* one environment, and what is asked in it */
  uint32_t environment;
  VEC(uint32_t) properties;
  bool exclusive; /* nothing else is asked with it */
};

struct live_query { /* a query of its own */
  uint32_t property, environment;
};

struct query_groups { /* one of both is not empty */
  VEC(struct query_group) at;
  VEC(struct live_query) live;
};

struct query_context {              /* about what */
  const struct parsed_file *parsed; /* a live property needs a model of its own, made from the same text */
  const struct param_binding *bindings;
  size_t nbindings;
  struct model *model;
  struct interpreter *interp;
  struct arena *arena; /* results live there */
  const struct command_options *options;
  enum semantics semantics;
  bool semantics_by_default; /* nobody insists on that semantics */
  bool quiet;                /* what an engine refuses is not said, only told in *refused */
  double deadline;           /* of all queries about it, by clock_seconds; 0: none, or not known yet */
};

/* Properties of the same environment go together. False: said why. */
bool query_groups_make(struct query_groups *, const struct model *, const struct command_options *);
void query_groups_release(struct query_groups *);

/* Asks all of them, within one time limit. False: a fault of rondo, in *fault; or the engine cannot do it, and said
 * why: in *refused. */
bool query_groups_answer(const struct query_groups *, const struct query_context *, struct check_result *,
                         struct text *refused, struct text *fault);

/* One of them. */
bool query_answer(const struct query_context *, const struct query *, struct run_result *, struct text *refused,
                  struct text *fault);

/* Is all that the query needs something that the search has heard of? False: said why. */
bool query_supported(struct rondo *, const struct model *, const struct query *, struct text *refused);

/* driver/query_lockstep.c: the query, with what has to be followed beside it to know whether whole rounds are enough;
   the licences that come of it; and, after the last run of the result, what is asked again because they are not. */
struct query query_make(const struct query_context *, uint32_t environment, const uint32_t *properties, uint32_t n);
void lockstep_licences(const struct query_context *, const struct query *, const struct search *, struct run_result *);
bool lockstep_recheck(const struct query_context *, const struct query *, struct check_result *, struct text *refused,
                      struct text *fault);

/* The space of a query, with what may be reduced in it. */
struct system *query_system(const struct query_context *, const struct query *, const struct reduction_request *,
                            const struct licences **);
/* driver/query_lockstep.c: may what whole rounds say of a live property be said of rounds of one's own? If these were
   asked for and it may not, nothing is known. */
void live_lockstep_licence(const struct query_context *, const struct live_query *, struct run_result *);
/* driver/query_live.c: likewise, of a live property. */
bool live_query_answer(const struct query_context *, const struct live_query *, struct run_result *,
                       struct text *fault);

#endif
