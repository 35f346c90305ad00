/* Clauses about whole runs (OFTEN, FINALLY, ONCE), given by their index among those of the environment. */
#ifndef RONDO_INTERP_RUN_CLAUSES_H
#define RONDO_INTERP_RUN_CLAUSES_H

#include "interp/round_step.h"

/* Does the clause hold in this round? In a round that the clause is not about, only a FINALLY clause holds. */
bool clause_holds(struct interpreter *, uint32_t environment, uint32_t clause, const struct config *,
                  const struct witness *);
/* Does it hold in the n rounds of a phase (unit is EACH_PHASE)? steps[i] is taken from configs[i]. */
bool clause_holds_in_phase(struct interpreter *, uint32_t environment, uint32_t clause,
                           const struct config *const *configs, const struct witness *const *steps, uint32_t n);
/* Does it hold in the infinite run? steps[i] leads from configs[i] to configs[i + 1], the last of n steps to
   configs[loop] (up to the round number); loop == n: the algorithm has ended. */
bool clause_holds_of_run(struct interpreter *, uint32_t environment, uint32_t clause,
                         const struct config *const *configs, const struct witness *const *steps, uint32_t n,
                         uint32_t loop);

/* Begins an evaluation in a round: the state with the oracles of the round, heard-of sets (a set that is NULL is not
   known) and, unless NULL, who is heard corrupted. */
void eval_round(struct eval *, struct interpreter *, const struct config *, uint8_t *const *heard,
                uint8_t *const *corrupt);

/* The parts of these checks. All values of the clause's witness, nwitness each, for a round or phase that starts here.
 */
value *clause_witnesses(struct interpreter *, const struct clause *, const struct config *, uint32_t *n);
bool part_applies(const struct model *, const struct clause_part *, uint32_t point);
/* bound: values of the clause's witness, or NULL. */
bool part_holds(struct interpreter *, const struct clause *, const struct node *pred, const value *bound,
                const struct config *, uint8_t *const *heard, uint8_t *const *corrupt);
/* Evaluates pred as a whole, in any round. */
bool clause_pred_holds(struct interpreter *, const struct clause *, const struct config *, const struct witness *);
/* Does every part that applies to this round hold with these values? */
bool clause_parts_hold(struct interpreter *, const struct clause *, const value *bound, const struct config *,
                       const struct witness *);

#endif
