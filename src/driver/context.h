/* A context: the callbacks of its host (include/rondo.h), and the flags that stop a running command. */
#ifndef RONDO_DRIVER_CONTEXT_H
#define RONDO_DRIVER_CONTEXT_H

#include "rondo.h"

#include "base/diag.h"
#include "base/vec.h"
#include "report/layout.h"
#include "report/sarif.h"
#include "search/bfs.h"

#include <jansson.h>

#include <stdatomic.h>

struct kept_diagnostic; /* owns its strings */
struct monitor;

/* For tests: thresholds and choices that usually depend on size or time; 0: the default. */
struct test_settings {
  uint64_t threads_from, precheck_from, spill_from, hash_bits, trial_states, look_from, split_from;
  uint64_t round_form; /* of derived counter systems: 1: joint, 2: in turns */
  double checkpoint_seconds;
  bool message_moves_always, message_moves_never, narrow_keys, no_deterministic_search;
  bool no_solver; /* as in a build without one */
  bool fault;     /* every check ends as if two answers disagreed */
};

struct rondo {
  rondo_host host;
  /* Not 0: the running command must end soon; search_interrupted gives the reason. */
  volatile sig_atomic_t stop;
  /* Not 0: end at once, without a checkpoint and without traces. */
  volatile sig_atomic_t insist;
  bool listening;          /* the running command can be interrupted */
  double began;            /* the command, by clock_seconds */
  struct monitor *monitor; /* sets both when time or memory is used up; NULL: not needed yet */
  struct test_settings tests;
  VEC(struct kept_diagnostic *) diagnostics;
  bool json;                                /* the command answers in JSON; then: */
  bool json_answered;                       /* it has */
  json_t *command_diags;                    /* the diagnostics of the command */
  struct sarif *sarif;                      /* --sarif: receives results and diagnostics, or NULL */
  const struct rondo_model *given;          /* the open model, if the command is about one */
  struct checked_instance *result_instance; /* receives the answers of a check, or NULL */
  struct text *answer;                      /* receives the answer if the host has no write */
  bool write_failed;                        /* the host could not write the whole answer */
  double reading_deadline;                  /* of what is read now, by clock_seconds; 0: none */
  double reading_limit;                     /* as the user gave it, in seconds */
  bool reading_stopped;                     /* a model was not read to its end because of a limit or an interruption */
  bool silent;                              /* reports nothing: rank 0 does */
};

/* ---- output ---- */

/* From here on, this thread works for this context. */
void context_enter(struct rondo *);

struct style context_style(const struct rondo *, bool verbose);
void context_write(struct rondo *, struct text *); /* part of the answer; releases it */
/* With "\n  help: ..." at the end, or without. */
void context_error(struct rondo *, enum diag_code, const char *format, ...) __attribute__((format(printf, 3, 4)));
void context_diagnostics(struct rondo *, const struct diags *);
/* From here on the command answers in JSON. */
void context_json_begin(struct rondo *);
/* The text of an answer in JSON, to which the diagnostics so far are added; releases the JSON value. */
void context_json(struct rondo *, json_t *answer, struct text *out);
/* The text of an answer that has diagnostics only. Does nothing unless JSON was asked for. */
void context_json_diagnostics(struct rondo *, int status, struct text *out);

/* Reports the progress of a search; NULL: the host does not want it. Its context is a struct progress_context. */
struct answer_stream;
struct progress_context {
  struct rondo *rondo;
  const struct model *model;
  struct answer_stream *stream; /* or NULL */
  const struct query *query;    /* with a stream */
};
search_progress_fn *progress_or_null(const struct rondo *);
void context_progress(struct rondo *, const char *line); /* NULL: it is done */

/* ---- limits ---- */

/* From here on the host may interrupt. Returns the flag to check. */
const volatile sig_atomic_t *context_listen(struct rondo *);

/* Sets `stop` after so much time (0: never). Replaces the previous deadline, and clears a `stop` that it caused. */
void watch_time(struct rondo *, double seconds);
/* Sets `stop` when the resident memory of the process exceeds the limit (0: none). */
void watch_resident_memory(struct rondo *, size_t limit);
/* With checkpoints, `insist` is set a few seconds after `stop`. writing: whether one is being written; NULL: none is.
 */
void watch_checkpoints(struct rondo *, const atomic_bool *writing);

/* The end of the whole answer (by clock_seconds; 0: none), in whatever phase it is then; asked: the limit, for
   messages. Shortly after that, and after an interruption, `insist` is set, and a little later the host is told that
   the answer is overdue. Removes the answer that was prepared. */
void watch_answer(struct rondo *, double deadline, double asked);
void watch_listening(struct rondo *, bool); /* may the host interrupt? */
void watch_hold(struct rondo *, bool held); /* the time in between does not count */
/* What the host gets if the answer becomes overdue; takes the text over. */
void answer_prepare(struct rondo *, struct text *, int status);
void answer_shorten(struct rondo *, size_t n); /* its first n bytes were written now */
bool answer_may_be_overdue(const struct rondo *);
/* Traces may take a little longer than the answer's deadline: the seconds that are left for them, not 0. */
double trace_seconds(double deadline);

size_t default_memory_limit(void);
/* Fills in the defaults of limits: memory, threads (one for each available processor), settings for tests. From here on
   the command can be interrupted. */
void limits_complete(struct rondo *, struct limits *);
/* Reduces the time limit so that it ends at the deadline (by clock_seconds; 0: no deadline). */
void limits_until(struct limits *, double deadline);
double clock_seconds(void);

/* Reading a model: from begin to end it is given up when the time is over. The end reports that, and returns whether
   the text was read completely. */
void reading_begin(struct rondo *, struct diags *);
bool reading_end(struct rondo *, const struct diags *);

/* For rondo_free. */
void monitor_free(struct monitor *);
/* In a process that was forked, first of all: the thread of the monitor is not there, and its lock may be held for
   ever. The next limit that is set gets a new monitor. */
void monitor_forget(struct rondo *);

#endif
