/* Lassos: making them concrete, and confirming them on the reference interpreter by definition. */
#ifndef RONDO_TRACE_LASSO_REPLAY_H
#define RONDO_TRACE_LASSO_REPLAY_H

#include "interp/lasso_semantics.h"
#include "search/liveness_search.h"
#include "trace/trace.h"

/* A concrete run along the lasso, and the number of steps before its loop (all of them: the run stays in its last
   state). The loop is repeated until the concrete configuration recurs. */
enum lasso_made {
  LASSO_MADE,
  LASSO_UNFOLLOWED, /* no run follows the lasso: a bug in the transition system */
  LASSO_STOPPED,    /* interrupted, see interpreter_watch */
  LASSO_OPEN,       /* the configuration does not recur, however often the loop is repeated */
  LASSO_PILES       /* the same, because messages accumulate and block others */
};
enum lasso_made lasso_run(struct system *, struct interpreter *, uint32_t environment, const struct state_lasso *,
                          struct run *, uint32_t *loop);

/* Does the run come back to where its loop begins (or can nothing happen any more), so that the loop can be repeated?
   If not, *why gives the reason. The claim needs no property. */
bool lasso_closes(struct trace *, struct interpreter *, struct text *why);
/* Does the lasso satisfy the environment's assumptions about runs: its clauses, fairness? */
bool lasso_admitted(struct trace *, struct interpreter *, struct text *why);
/* Does the replayed run close, satisfy the environment's assumptions about runs, and violate the property? If not, *why
   gives the reason. */
bool lasso_confirm(struct trace *, struct interpreter *, struct text *why);

/* The trace's configurations, as the reference semantics of lassos expects them. */
struct lasso_configs trace_configs(const struct trace *);
const struct node *claim_formula(const struct trace *);

/* Steps, with a fair environment: the groups that are enabled somewhere in the loop and never taken. */
typedef void untaken_fn(void *context, const struct fair_group *);
void lasso_untaken_groups(const struct trace *, struct interpreter *, untaken_fn *, void *context);

#endif
