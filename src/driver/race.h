/* Several pieces of work at once, each in a process of its own if the host can make processes: whatever one of them does (never
   end, take all memory, die inside a library), it is ended with its process. If not, they take turns in this process. */
#ifndef RONDO_DRIVER_RACE_H
#define RONDO_DRIVER_RACE_H

#include "driver/context.h"

#include <stdbool.h>
#include <stdint.h>

/* Runs in the new process; whatever it tells (race_tell) goes to the old one. Its last word is
 * `result`. */
typedef void race_work_fn(void *context, int wire, struct text *result);
/* From inside the work: how far it is. */
void race_tell(int wire, const char *progress);

enum racer_end { RACER_RUNS, RACER_DONE, RACER_DIED, RACER_MEMORY, RACER_STOPPED };

struct racer {
  const char *name;
  race_work_fn *work;
  void *context;
  /* what came of it */
  enum racer_end end;
  struct text progress, result; /* the newest progress; the result once it is DONE */
  size_t memory;                /* the most that was seen, in bytes */
  /* private */
  rondo_process process;
  size_t limit;   /* of its memory */
  uint32_t tries; /* without processes: how often it was begun */
  struct text received;
};

struct race {
  struct rondo *rondo;
  VEC(struct racer) racers;
  double start;   /* of the race, by race_clock */
  double seconds; /* limit for all of it, from the start; 0: none */
  size_t memory;  /* limit for all of them together; 0: none */
  void (*progress)(void *context, const struct race *); /* now and then; or NULL */
  void *progress_context;
  bool late; /* the time is up */
  size_t most_memory;
};

double race_clock(void);
void race_init(struct race *, struct rondo *, double seconds, size_t memory);
/* Do they take turns in this process? Then what they do must end soon once the context's stop is set. */
bool race_alone(const struct race *);
/* Starts one more; false: no process could be made. */
bool race_add(struct race *, const char *name, race_work_fn *, void *context);
/* Waits until a racer ends that has not been returned yet; NULL: nothing runs any more, the time is
   up, or it was interrupted. Racers do not move while none is added. */
struct racer *race_next(struct race *);
void race_stop(struct race *, struct racer *); /* it need not go on */
void race_release(struct race *);              /* ends all */

#endif
