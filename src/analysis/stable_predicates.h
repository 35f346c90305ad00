/* Conditions that stay false once they are false, from the text alone: `b > promised` where promised only grows,
   `not echoed` where echoed only becomes true, `r == none` where r is never none again, `m.term == 3`. With them a
   message that nobody will ever take, or whose taking will change nothing, is found in a state and forgotten, and
   shared memory that nobody will write again is known to be frozen. */
#ifndef RONDO_ANALYSIS_STABLE_PREDICATES_H
#define RONDO_ANALYSIS_STABLE_PREDICATES_H

#include "model/model.h"

struct stable_predicates;

/* For one environment: where processes recover, variables that are not stable can go back. */
struct stable_predicates *stable_predicates_of(const struct model *, const struct query *, struct arena *);

/* Is this condition (a conjunct of a guard, match or `if`; it may read the role's variables, globals, me, and of local
   names only those of one message: itself, its parts, its sender) one that stays false once it is false, as long as the
   message stays the same? That evaluating it later may fail instead is not looked at. */
bool predicate_stays_false(const struct stable_predicates *, uint32_t role, const struct node *);

/* Can a process at program point `from` come to be at program point `to` (or stay there)? A recovery may bring it back.
 */
bool point_reaches(const struct stable_predicates *, uint32_t role, uint32_t from, uint32_t to);

/* Does the value never get smaller? */
bool variable_is_nondecreasing(const struct stable_predicates *, uint32_t role, uint32_t var);
bool global_is_nondecreasing(const struct stable_predicates *, uint32_t global);

/* Conditions on a local state, globals and one message, to be evaluated with the message in action->slot, its parts in
   theirs, its sender in from_slot. Some are not in the text, but follow from what is. No evaluation of any of them can
   fail. */
struct condition_list {
  const struct node **at;
  uint32_t n;
};

/* Of match and guard: as soon as one of these is false, the action will never take (or look at, in whatever quorum)
   this message, nor fail in trying to. Those that read no message keep it from being taken at all. The program point
   and `once` (where processes of the role do not recover) are for the caller to look at. */
const struct condition_list *action_necessary_conditions(const struct stable_predicates *, uint32_t role,
                                                         uint32_t action);

/* As soon as all of these are false, taking the action with this message (or with a quorum that holds it) changes
   nothing, now and for ever, but that what it takes is gone: no variable, nothing sent, no error. False: there is no
   telling. Without a message: conditions that read none. */
bool action_change_conditions(const struct stable_predicates *, uint32_t role, uint32_t action,
                              const struct condition_list **);

#endif
