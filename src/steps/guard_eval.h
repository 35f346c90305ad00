/* Is a condition on one process, and perhaps one message, certainly false? Asked of conditions that stay false once
   they are (analysis/stable_predicates.h): then what they guard will never happen. Not knowing counts as no. */
#ifndef RONDO_STEPS_GUARD_EVAL_H
#define RONDO_STEPS_GUARD_EVAL_H

#include "analysis/stable_predicates.h"
#include "interp/event_step.h"
#include "steps/state_cells.h"

struct guard_eval {
  struct state_cells *cells;
  uint32_t process, role;
  value *local;                 /* a copy, in which some variables may be don't-care */
  value *filled;                /* another one, in which they have some value */
  unsigned unknown;             /* traits of operators that read what is not at hand */
  const struct action *action;  /* set by the caller: whose guard it is, */
  const struct inbox_entry *in; /* and its message; NULL: none is at hand */
  struct choices choices;
};

void guard_eval_begin(struct guard_eval *, struct state_cells *, uint32_t process, content local, unsigned unknown);
void guard_eval_end(struct guard_eval *);

bool guard_is_false(struct guard_eval *, const struct node *);
bool guard_any_false(struct guard_eval *, const struct condition_list *);
bool guard_all_false(struct guard_eval *, const struct condition_list *);

/* Can the process never again stand where the action is taken? */
bool guard_out_of_reach(const struct guard_eval *, const struct stable_predicates *);
/* Has the action been taken, and is taken only once? */
bool guard_used_up(const struct guard_eval *);

#endif
