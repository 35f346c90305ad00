/* Private to src/symbolic: a query, its encoding and a solver, with a watchdog for the limits. */
#ifndef RONDO_SYMBOLIC_UNROLLING_H
#define RONDO_SYMBOLIC_UNROLLING_H

#include "analysis/features.h"
#include "symbolic/encode.h"
#include "symbolic/solver.h"
#include "symbolic/solver_watchdog.h"
#include "symbolic/symbolic_check.h"

struct unrolling {
  struct encoder e;
  struct model *model;
  const struct query *query;
  const struct symbolic_options *options;
  struct symbolic_answer *answer;
  VEC(truth) asserted;
  Z3_tactic tactic;          /* how queries are answered; NULL: the default of z3 */
  Z3_model found;            /* of the last answer YES */
  struct sym_state **states; /* of the run that is looked at: one more than steps */
  struct sym_step **steps;
  uint32_t nsteps;
  struct watchdog *watchdog;
  unsigned limit_checks;      /* of the watchdog */
  bool no_errors;             /* proved: no run has an error of the model */
  bool *skip;                 /* by property: no longer of interest */
  volatile sig_atomic_t stop; /* set by the watchdog, read by everybody else */
};

/* prefix: runs from their beginning; else states that need not be reachable, whose numbers may have no bound. */
void unrolling_init(struct unrolling *, struct model *, const struct query *, const struct symbolic_options *,
                    struct symbolic_answer *, bool prefix);
void unrolling_release(struct unrolling *);
/* Refuses what the engine does not declare (analysis/features.h), before anything is encoded. */
void unrolling_check(struct unrolling *, enum engine_id);

/* The facts so far, and this. */
void unrolling_assert(struct unrolling *, truth);
/* Is there a way to make this true, too? Nothing is asserted. */
enum answer unrolling_ask(struct unrolling *, truth);
enum answer unrolling_ask_term(struct unrolling *, Z3_ast);
/* Ends the query with SYMBOLIC_STOPPED or SYMBOLIC_GAVE_UP. */
void unrolling_give_up(struct unrolling *);
bool unrolling_stopped(const struct unrolling *);

/* What can go wrong in one layer: the step to its states (NULL in the first), and the states. Findings are noted.
   False: the solver does not know. */
bool unrolling_check_layer(struct unrolling *, const struct sym_step *, const struct sym_state *);
/* Likewise: does the step end in an error of the model? */
bool unrolling_check_errors(struct unrolling *, const struct sym_step *);
/* True of a run that breaks the i-th property of the query, or reaches it; error: evaluating it fails. before: NULL at
   the start. */
struct verdict_terms unrolling_goal(struct unrolling *, uint32_t i, const struct sym_state *before,
                                    const struct sym_state *after);
bool unrolling_decided(const struct unrolling *);

struct sym_step *unrolling_step(struct unrolling *, const struct sym_state *); /* of whatever kind the model is */

/* model_extract.c: the run to the last state (error: and one more step, which has none) as the solver found it. */
void finding_fill(struct unrolling *, struct symbolic_finding *, bool error);
void finding_release(struct symbolic_finding *);

/* bmc.c, k_induction.c, spacer.c */
void bmc_run(struct unrolling *);
/* The first layer, and one more round; *more: there are runs of that length. False: the solver does not know. */
bool bmc_start(struct unrolling *);
bool bmc_extend(struct unrolling *, bool *more);
/* Until all that is asked for is found, or an error. False: the solver does not know. */
bool bmc_until_decided(struct unrolling *);
void induction_run(struct unrolling *);
void spacer_run(struct unrolling *);

#endif
