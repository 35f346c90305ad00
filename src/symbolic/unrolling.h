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
  Z3_tactic tactic;          /* NULL: the default of z3 */
  Z3_model found;            /* model of the last YES */
  struct sym_state **states; /* of the current run: one more than steps */
  struct sym_step **steps;
  uint32_t nsteps;
  struct watchdog *watchdog;
  unsigned limit_checks;      /* number of checks by the watchdog */
  bool no_errors;             /* proved: no run has an error of the model */
  bool *skip;                 /* by property: already decided */
  volatile sig_atomic_t stop; /* set by the watchdog, read by all other code */
};

/* prefix: runs start in an initial state. Otherwise they start in states that need not be reachable, and numbers may be
   unbounded. */
void unrolling_init(struct unrolling *, struct model *, const struct query *, const struct symbolic_options *,
                    struct symbolic_answer *, bool prefix);
void unrolling_release(struct unrolling *);
/* Refuses features that the engine does not declare (analysis/features.h), before anything is encoded. */
void unrolling_check(struct unrolling *, enum engine_id);

/* Asserts the collected facts and this. */
void unrolling_assert(struct unrolling *, truth);
/* Is this satisfiable together with the assertions? It is not asserted. */
enum answer unrolling_ask(struct unrolling *, truth);
enum answer unrolling_ask_term(struct unrolling *, Z3_ast);
/* Ends the query with SYMBOLIC_STOPPED or SYMBOLIC_GAVE_UP. */
void unrolling_give_up(struct unrolling *);
bool unrolling_stopped(const struct unrolling *);

/* Checks one layer: the step to its state (NULL in the first layer) and the state. Records findings. Returns false if
   the solver answers unknown. */
bool unrolling_check_layer(struct unrolling *, const struct sym_step *, const struct sym_state *);
/* Likewise for errors of the model in the step. */
bool unrolling_check_errors(struct unrolling *, const struct sym_step *);
/* The condition that a run violates, or reaches, the i-th property of the query; error: its evaluation fails. before is
   NULL in the initial state. */
struct verdict_terms unrolling_goal(struct unrolling *, uint32_t i, const struct sym_state *before,
                                    const struct sym_state *after);
bool unrolling_decided(const struct unrolling *);

struct sym_step *unrolling_step(struct unrolling *,
                                const struct sym_state *); /* a round or a step, depending on the model */

/* model_extract.c: stores the run of the solver's model. error: the run has a last step without a state after it. */
void finding_fill(struct unrolling *, struct symbolic_finding *, bool error);
void finding_release(struct symbolic_finding *);

/* bmc.c, k_induction.c, spacer.c */
void bmc_run(struct unrolling *);
/* bmc_start checks the initial layer; bmc_extend adds a round, and *more says whether runs of that length exist. Both
   return false if the solver answers unknown. */
bool bmc_start(struct unrolling *);
bool bmc_extend(struct unrolling *, bool *more);
/* Unrolls until every property is decided or an error is found. Returns false if the solver answers unknown. */
bool bmc_until_decided(struct unrolling *);
void induction_run(struct unrolling *);
void spacer_run(struct unrolling *);

#endif
