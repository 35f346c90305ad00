/* Several pieces of work at once, each in a process of its own: whatever one of them does (never
   end, take all memory, die inside a library), it is ended with its process. */
#ifndef RONDO_CLI_RACE_H
#define RONDO_CLI_RACE_H

#include "base/text.h"
#include "base/vec.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
  pid_t pid;
  int wire;
  struct text received;
};

struct race {
  VEC(struct racer) racers;
  double start;   /* of the race, by race_clock */
  double seconds; /* limit for all of it, from the start; 0: none */
  size_t memory;  /* limit for all of them together; 0: none */
  const volatile sig_atomic_t *interrupt;
  void (*progress)(void *context, const struct race *); /* now and then; or NULL */
  void *progress_context;
  bool late; /* the time is up */
  size_t most_memory;
};

double race_clock(void);
void race_init(struct race *, double seconds, size_t memory,
               const volatile sig_atomic_t *interrupt);
/* Starts one more; false: no process could be made. */
bool race_add(struct race *, const char *name, race_work_fn *, void *context);
/* Waits until a racer ends that has not been returned yet; NULL: nothing runs any more, the time is
   up, or it was interrupted. Racers do not move while none is added. */
struct racer *race_next(struct race *);
void race_stop(struct race *, struct racer *); /* it need not go on */
void race_release(struct race *);              /* ends all */

#endif
