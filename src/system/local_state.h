/* Packed local states: what all transition systems share. */
#ifndef RONDO_SYSTEM_LOCAL_STATE_H
#define RONDO_SYSTEM_LOCAL_STATE_H

#include "interp/config.h"

/* The don't-care value: stands for a variable that is never read again, or for an oracle that is not chosen. No
   renaming changes it. It occurs only in packed local states; a configuration has the type's first value instead. */
#define VALUE_DONT_CARE (INT64_MIN + 128)

/* Don't-cares become the first value of their type. */
void local_fill_dont_care(struct model *, uint32_t role, value *local);

/* For states that come from outside: is this vector of n numbers a local state of the role? Initial values count only
   if they are kept. followed: status bits besides those of enum status that may be set. */
bool local_is_sound(const struct model *, uint32_t role, const value *local, size_t n, bool keeps_initials,
                    value followed);

#endif
