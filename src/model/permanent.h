/* Conditions that stay false once they are false, from the text alone: `b > promised` where promised only grows,
   `not echoed` where echoed only becomes true, `r == none` where r is never none again, `m.term == 3`. With them a message
   that nobody will ever take, or whose taking will change nothing, is found in a state and forgotten, and shared memory that nobody will
   write again is known to be frozen. */
#ifndef RONDO_MODEL_PERMANENT_H
#define RONDO_MODEL_PERMANENT_H

#include "model/model.h"

struct permanence;

/* For one environment: where processes recover, variables that are not stable can go back. */
struct permanence *permanence_of(const struct model *, const struct question *, struct arena *);

/* Is this condition (a conjunct of a guard, match or `if`; it may read one message in a slot, its sender, the role's
   variables, globals) one that stays false once it is false, as long as the message stays the same? */
bool permanent_falsehood(const struct permanence *, uint32_t role, const struct node *);

/* Can a process at program point `from` come to be at program point `to` (or stay there)? */
bool point_reaches(const struct permanence *, uint32_t role, uint32_t from, uint32_t to);

#endif
