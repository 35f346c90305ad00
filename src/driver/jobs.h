/* Jobs that run concurrently, each in a process of its own if the host can start processes. A job that does not end,
   takes all memory or crashes inside a library is then ended with its process. Otherwise the jobs take turns in this
   process. */
#ifndef RONDO_DRIVER_JOBS_H
#define RONDO_DRIVER_JOBS_H

#include "driver/context.h"

#include <stdbool.h>
#include <stdint.h>

struct job_line; /* carries progress and results from a job to the process that started it */

/* The work of a job, in the new process if there is one. It leaves its answer in `result`. */
typedef void job_work_fn(void *context, const struct job_line *, struct text *result);
/* Called by the work, to report its progress. */
void job_report_progress(const struct job_line *, const char *progress);

enum job_end { JOB_RUNNING, JOB_DONE, JOB_DIED, JOB_OUT_OF_MEMORY, JOB_STOPPED };

struct job {
  const char *name;
  job_work_fn *work;
  void *context;
  /* the outcome */
  enum job_end end;
  struct text progress, result; /* the newest progress; the result once it is DONE */
  size_t memory;                /* the peak, in bytes */
  double deadline; /* by clock_seconds: its process is ended then, as STOPPED; 0: none. Set by the caller */
  /* private */
  rondo_process process;
  size_t limit;   /* of its memory */
  uint32_t tries; /* without processes: how often it was begun */
  struct text received;
};

struct jobs {
  struct rondo *rondo;
  VEC(struct job) entries;
  double start;                                         /* of the jobs, by clock_seconds */
  double seconds;                                       /* limit for all of it, from the start; 0: none */
  size_t memory;                                        /* limit for all of them together; 0: none */
  void (*progress)(void *context, const struct jobs *); /* now and then; or NULL */
  void *progress_context;
  bool late; /* the time is up */
  size_t most_memory;
};

void jobs_init(struct jobs *, struct rondo *, double seconds, size_t memory);
/* The flag that jobs in this process must check: they end soon once it is not 0. NULL: each has its own process. */
const volatile sig_atomic_t *jobs_stop_flag(const struct jobs *);
/* Starts one more; false: no process could be made. */
bool jobs_add(struct jobs *, const char *name, job_work_fn *, void *context);
/* Waits until a job ends that has not been returned yet; NULL: nothing runs any more, the time is
   up, or it was interrupted. Jobs do not move while none is added. */
struct job *jobs_next(struct jobs *);
void jobs_release(struct jobs *); /* ends all */

#endif
