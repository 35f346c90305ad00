/* Runs that go round for ever: made concrete, and held against the definitions on the reference. */
#ifndef RONDO_TRACE_LASSO_REPLAY_H
#define RONDO_TRACE_LASSO_REPLAY_H

#include "interp/lasso_semantics.h"
#include "search/liveness_search.h"
#include "trace/trace.h"

/* A real run along the lasso, and the number of steps after which its loop begins (all of them: it stays where it is).
   The loop is gone round until the real configuration repeats. */
enum lasso_made {
  LASSO_MADE,
  LASSO_UNFOLLOWED, /* no run goes along it: a fault of the space */
  LASSO_STOPPED,    /* as interpreter_watch says */
  LASSO_OPEN,       /* however often it is gone round, it does not come back to where it was */
  LASSO_PILES       /* likewise, since messages pile up and stand in the way of others */
};
enum lasso_made lasso_run(struct system *, struct interpreter *, uint32_t environment, const struct state_lasso *,
                          struct run *, uint32_t *loop);

/* Does the replayed run close, satisfy what the environment assumes of runs, and violate the property? If not, *why. */
bool lasso_confirm(struct trace *, struct interpreter *, struct text *why);

/* Its configurations, as the reference's judge wants them. */
struct lasso_configs trace_configs(const struct trace *);
const struct node *claim_formula(const struct trace *);

/* Steps, in an environment that is fair: what can be taken somewhere in the loop, and never is. */
typedef void untaken_fn(void *context, const struct fair_group *);
void lasso_untaken_groups(const struct trace *, struct interpreter *, untaken_fn *, void *context);

/* Why a run that stays where it is does so. */
enum standstill {
  STANDSTILL_ENDED,    /* rounds: the algorithm has ended */
  STANDSTILL_FINISHED, /* steps: nobody waits for anything */
  STANDSTILL_DEADLOCK  /* somebody waits for what never comes */
};
enum standstill lasso_end_reason(const struct trace *);

#endif
