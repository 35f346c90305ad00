/* A context: what the library asks of its host (include/rondo.h), and how it is told to stop. */
#ifndef RONDO_DRIVER_CONTEXT_H
#define RONDO_DRIVER_CONTEXT_H

#include "rondo.h"

#include "base/diag.h"
#include "base/vec.h"
#include "report/layout.h"
#include "search/bfs.h"

struct kept_diagnostic; /* with its own copy of every string */
struct monitor;

/* For tests: what is usually decided by size or time; 0: as usual. */
struct test_settings {
  uint64_t threads_from, precheck_from, spill_from, hash_bits;
  double checkpoint_seconds;
  bool message_moves_always, message_moves_never, narrow_keys, no_deterministic_search;
};

struct rondo {
  rondo_host host;
  /* Not 0: what runs ends soon; search_interrupted says why. */
  volatile sig_atomic_t stop;
  /* With checkpoints: not 0: stop, even if there is no time to write one. */
  volatile sig_atomic_t insist;
  bool listening;          /* what runs now looks at it */
  struct monitor *monitor; /* sets them when time or memory is used up; NULL: not needed so far */
  struct test_settings tests;
  VEC(struct kept_diagnostic *) diagnostics;
  const struct rondo_model *given;          /* the model that is asked about, if it is not to be read from a file */
  struct checked_instance *result_instance; /* where the answers of a check are left, or NULL */
  struct text *answer;                      /* where the answer goes if the host does not take it */
  bool write_failed;                        /* the host could not write some of it */
  bool silent;                              /* somebody else says everything that is to be said from here on */
};

/* ---- what is said ---- */

/* What the library does from here on, in this thread, it does for this context. */
void context_enter(struct rondo *);

struct style context_style(const struct rondo *, bool verbose);
void context_write(struct rondo *, struct text *);          /* part of the answer; releases it */
void context_error(struct rondo *, const char *format, ...) /* with "\n  help: ..." at the end, or without */
    __attribute__((format(printf, 2, 3)));
void context_diagnostics(struct rondo *, const struct diags *);

/* How far a search is; NULL: nobody wants to know. Its context is a struct progress_context. */
struct progress_context {
  struct rondo *rondo;
  const struct model *model;
};
search_progress_fn *progress_or_null(const struct rondo *);
void context_progress(struct rondo *, const char *line); /* NULL: it is done */

/* ---- limits ---- */

/* From here on an interruption is noticed. Returns the flag. */
const volatile sig_atomic_t *context_listen(struct rondo *);

/* `stop` is set once so much time has passed (0: never); what an earlier call left is undone. */
void watch_time(struct rondo *, double seconds);
/* Likewise while the process has more than that in core (0: whatever it has). */
void watch_resident_memory(struct rondo *, size_t limit);
/* `insist` is set a few seconds after `stop`, from now on. */
void watch_grace_period(struct rondo *);
size_t default_memory_limit(void);
/* What the user left open: memory, threads (one for each processor that we may use), what tests want; and
   interruptions, from here on. */
void limits_complete(struct rondo *, struct limits *);
/* No more time than there is until the deadline, by clock_seconds; 0: there is none. */
void limits_until(struct limits *, double deadline);
double clock_seconds(void);

/* For rondo_free. */
void monitor_free(struct monitor *);

#endif
