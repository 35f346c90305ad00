/* Clauses about whole runs (OFTEN, FINALLY, ONCE), by their place among those of the environment. */
#ifndef RONDO_INTERP_RUN_CLAUSES_H
#define RONDO_INTERP_RUN_CLAUSES_H

#include "interp/round_step.h"

/* Does the clause hold of this one round? Where it names other rounds only a FINALLY clause does. */
bool clause_holds(struct interpreter *, uint32_t environment, uint32_t clause, const struct config *,
                  const struct witness *);
/* Of the n rounds of a phase (unit is EACH_PHASE): steps[i] is taken from configs[i]. */
bool clause_holds_in_phase(struct interpreter *, uint32_t environment, uint32_t clause,
                           const struct config *const *configs, const struct witness *const *steps, uint32_t n);
/* Of the run that goes on for ever: steps[i] leads from configs[i] to configs[i + 1], the last of n steps to
   configs[loop] (but for its round number); loop == n: the algorithm has ended. */
bool clause_holds_of_run(struct interpreter *, uint32_t environment, uint32_t clause,
                         const struct config *const *configs, const struct witness *const *steps, uint32_t n,
                         uint32_t loop);

/* The pieces of these. All values that the witness can have, nwitness each, for a round or phase that starts here. */
value *clause_witnesses(struct interpreter *, const struct clause *, const struct config *, uint32_t *n);
bool part_applies(const struct model *, const struct clause_part *, uint32_t point);
/* bound: values of the clause's witness, or NULL. */
bool part_holds(struct interpreter *, const struct clause *, const struct node *pred, const value *bound,
                const struct config *, uint8_t *const *heard, uint8_t *const *corrupt);
/* pred as a whole, whichever round it is. */
bool clause_pred_holds(struct interpreter *, const struct clause *, const struct config *, const struct witness *);
/* Every part that is asked of this round, with these values. */
bool clause_parts_hold(struct interpreter *, const struct clause *, const value *bound, const struct config *,
                       const struct witness *);

#endif
