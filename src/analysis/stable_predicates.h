/* Stable predicates (Chandy, Misra 1988): conditions that stay false once they are false, from the text alone. For
   example `b > promised` where promised never decreases, `not echoed` where echoed only becomes true, `r == none` where
   r never becomes none again, `m.term == 3`. They show in a state that no process will ever take a message, or that
   taking it will have no effect, so that the message can be dropped; and that shared variables will not be written
   again. */
#ifndef RONDO_ANALYSIS_STABLE_PREDICATES_H
#define RONDO_ANALYSIS_STABLE_PREDICATES_H

#include "model/model.h"

struct stable_predicates;

/* For one environment: where processes recover, variables that are not `stable` are reset. */
struct stable_predicates *stable_predicates_of(const struct model *, const struct query *, struct arena *);

/* Does the condition stay false once it is false, for the same message? It is a conjunct of a guard, match or `if`, and
   may read the role's variables, globals, me, and the local names of one message: itself, its parts, its sender.
   Whether a later evaluation may fail is not checked. */
bool predicate_stays_false(const struct stable_predicates *, uint32_t role, const struct node *);

/* Can a process get from program point `from` to `to`? True if they are equal. Recoveries are included. */
bool point_reaches(const struct stable_predicates *, uint32_t role, uint32_t from, uint32_t to);

/* Does the value never get smaller? */
bool variable_is_nondecreasing(const struct stable_predicates *, uint32_t role, uint32_t var);
bool global_is_nondecreasing(const struct stable_predicates *, uint32_t global);

/* Conditions on a local state, globals and one message. They are evaluated with the message in action->slot, its parts
   in their slots, its sender in from_slot. Some are not in the text, but implied by it. Their evaluation cannot fail.
 */
struct condition_list {
  const struct node **at;
  uint32_t n;
};

/* Implied by match and guard: once one of these is false, the action will never take this message (or read it in a
   quorum), nor fail in evaluating the guard for it. If that condition reads no message, the action is disabled forever.
   The program point and `once` are for the caller to check. */
const struct condition_list *action_necessary_conditions(const struct stable_predicates *, uint32_t role,
                                                         uint32_t action);

/* Once all of these are false, the action with this message (or with a quorum that contains it) has no effect, now and
   later, except that it removes what it takes: it changes no variable, sends nothing and does not fail. Returns false
   if nothing is known. Actions without a message: the conditions read none. */
bool action_change_conditions(const struct stable_predicates *, uint32_t role, uint32_t action,
                              const struct condition_list **);

#endif
