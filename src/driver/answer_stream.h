/* The answer to a check as it becomes known: a title when a search takes a while, each run of the result when it is
   final, and the host's callback for verdicts. JSON of one object comes at the end, and is not written here. */
#ifndef RONDO_DRIVER_ANSWER_STREAM_H
#define RONDO_DRIVER_ANSWER_STREAM_H

#include "driver/query.h"
#include "rondo.h"

#include <jansson.h>

struct answer_stream {
  const struct command_options *options;
  const struct model *model;
  uint32_t instance; /* its number in a table; 0 if there is none */
  bool in_table;     /* a row of a table is written when all of it is known, except in JSON lines */
  uint32_t written;  /* runs of the result that were written */
  bool titled;       /* the title of the next run was written, with: */
  uint32_t environment;
  enum semantics semantics;
  bool prepared;   /* what is left to write was prepared for the case that it becomes overdue; it begins with a title */
  double progress; /* when progress was last written, by clock_seconds */
};

/* The first line of `--json=lines`. */
void stream_begin(struct answer_stream *, const struct query_groups *);
/* A search of such a query goes on for a while. */
void stream_progress(struct answer_stream *, uint32_t environment, enum semantics, const struct search_stats *);
/* A search has found this for one of its properties, and goes on for others. It was not replayed yet. */
void stream_found(struct answer_stream *, const struct search *, uint32_t property);
/* These runs are final; those that were written before are left out. */
void stream_runs(struct answer_stream *, const struct check_result *);
/* What stream_runs would write, and the end of the answer: the last line, or all of it if it is one object. */
void stream_rest(const struct answer_stream *, const struct check_result *, struct text *);
/* There is no such instance; takes the reason over. */
void stream_refused(struct answer_stream *, json_t *why);

/* As the library reports it. */
rondo_verdict verdict_of(const struct model *, const struct property_result *);

#endif
