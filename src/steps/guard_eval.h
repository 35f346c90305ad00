/* Decides whether a condition on one process, and perhaps one message, is certainly false. It is used for conditions
   that stay false once they are false (analysis/stable_predicates.h): whatever they guard will never happen. If the
   answer is unknown, the condition is not certainly false. */
#ifndef RONDO_STEPS_GUARD_EVAL_H
#define RONDO_STEPS_GUARD_EVAL_H

#include "analysis/stable_predicates.h"
#include "interp/event_step.h"
#include "steps/state_cells.h"

struct guard_eval {
  struct state_cells *cells;
  uint32_t process, role;
  value *local;                 /* a copy, in which some variables may be don't-care */
  value *filled;                /* a copy in which don't-care variables have some value */
  unsigned unknown;             /* traits of operators that read data that is not available here */
  const struct action *action;  /* set by the caller: the action that the guard belongs to, */
  const struct inbox_entry *in; /* and its message; NULL: no message is known */
  struct choices choices;
};

void guard_eval_begin(struct guard_eval *, struct state_cells *, uint32_t process, content local, unsigned unknown);
void guard_eval_end(struct guard_eval *);

bool guard_any_false(struct guard_eval *, const struct condition_list *);
bool guard_all_false(struct guard_eval *, const struct condition_list *);

/* Can the process never again reach the program point of the action? */
bool guard_out_of_reach(const struct guard_eval *, const struct stable_predicates *);
/* Is this a `once` action that has already been taken? */
bool guard_used_up(const struct guard_eval *);

#endif
