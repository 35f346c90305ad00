/* The set of initial values of processes, for queries that read no more of them (INITIALS_SET). Each member is a role
   and the initial values of its inputs in order, which contain no identities. The members are adjacent in a vector and
   ascend as numbers. Byzantine processes contribute nothing. */
#ifndef RONDO_SYSTEM_INITIAL_SET_H
#define RONDO_SYSTEM_INITIAL_SET_H

#include "interp/config.h"

/* Compares as numbers: -1, 0, 1. */
static inline int numbers_compare(const value *a, const value *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* From the local states, by process. To be freed with memory_free. */
value *initial_set_of(const struct model *, const value *const *local, size_t *n);
size_t initial_set_members(const struct model *, const value *set, size_t n);
/* Assigns initial values to the processes of the configuration such that their set is this one. For properties that
   read only the set, any such assignment is correct. */
void initial_set_fill(const struct model *, const value *set, size_t n, struct config *);

/* For states that come from outside: do these numbers form such a set? */
bool initial_set_is_sound(const struct model *, const value *set, size_t n);

#endif
