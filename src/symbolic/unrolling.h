/* Private to src/symbolic: a question, its encoding and a solver, with somebody who watches the limits. */
#ifndef RONDO_SYMBOLIC_UNROLLING_H
#define RONDO_SYMBOLIC_UNROLLING_H

#include "model/features.h"
#include "symbolic/check.h"
#include "symbolic/encode.h"
#include "symbolic/solver.h"
#include "symbolic/watchdog.h"

struct unrolling {
  struct encoder e;
  struct model *model;
  const struct question *question;
  const struct symbolic_options *options;
  struct symbolic_answer *answer;
  VEC(truth) asserted;
  Z3_tactic tactic; /* how questions are answered; NULL: as z3 likes */
  Z3_model found;   /* of the last answer YES */
  struct sstate **states; /* of the run that is looked at: one more than steps */
  struct sstep **steps;
  uint32_t nsteps;
  struct watchdog *watchdog;
  unsigned looks; /* of the watchdog */
  bool no_errors; /* the model never does what it must not: shown for every run */
  bool *skip;                 /* by property: nobody asks any more */
  volatile sig_atomic_t stop; /* set by the watchdog, read by everybody else */
};

/* prefix: runs from their beginning; else states that need not be reachable, whose numbers may have no bound. */
void unrolling_init(struct unrolling *, struct model *, const struct question *, const struct symbolic_options *,
                  struct symbolic_answer *, bool prefix);
void unrolling_release(struct unrolling *);
/* Refuses what the engine does not declare (model/features.h), before anything is encoded. */
void unrolling_check(struct unrolling *, enum engine);

/* The facts so far, and this. */
void unrolling_assert(struct unrolling *, truth);
/* Is there a way to make this true, too? Nothing is asserted. */
enum answer unrolling_ask(struct unrolling *, truth);
/* The question goes on from here: ends the unrolling's attempt with SYMBOLIC_STOPPED or SYMBOLIC_GAVE_UP. */
void unrolling_unknown(struct unrolling *);
bool unrolling_stopped(const struct unrolling *);

/* What can go wrong in one layer: the step to its states (NULL in the first), and the states. Findings are noted. False:
   the solver does not know. */
bool unrolling_layer(struct unrolling *, const struct sstep *, const struct sstate *);
/* Likewise: does the step end in an error of the model? */
bool unrolling_failing(struct unrolling *, const struct sstep *);
/* True of a run that breaks the i-th property of the question, or reaches it; error: evaluating it fails. before: NULL at
   the start. */
struct verdict_terms unrolling_goal(struct unrolling *, uint32_t i, const struct sstate *before, const struct sstate *after);
bool unrolling_decided(const struct unrolling *);

struct sstep *unrolling_step(struct unrolling *, const struct sstate *); /* of whatever kind the model is */

/* extract.c: the run to the last state (error: and one more step, which has none) as the solver found it. */
void finding_fill(struct unrolling *, struct symbolic_finding *, bool error);
void finding_release(struct symbolic_finding *);

/* bounded.c, induction.c, spacer.c */
void bounded_run(struct unrolling *);
/* The first layer, and one more round; *more: there are runs of that length. False: the solver does not know. */
bool bounded_start(struct unrolling *);
bool bounded_extend(struct unrolling *, bool *more);
/* Until all that is asked for is found, or an error. False: the solver does not know. */
bool bounded_until(struct unrolling *);
void induction_run(struct unrolling *);
void spacer_run(struct unrolling *);

#endif
