/* Range restriction: does a quantifier over a whole type speak only of values that occur in the state or in a
   message? `exists v in T: ...` does if its body is false for every other v, `forall v in T: ...` if it is true.
   Decided by evaluating the body in three-valued logic for a v that equals nothing that occurs. */
#ifndef RONDO_MODEL_RESTRICTED_H
#define RONDO_MODEL_RESTRICTED_H

#include "model/opaque.h"
#include "model/survey.h"

/* What is known of a bound name of the opaque type. */
enum slot_kind {
  SLOT_STATE, /* its values occur */
  SLOT_ANY,   /* nothing */
  SLOT_ABSENT /* it is a value that occurs nowhere */
};

struct absence {
  const struct opaque *opaque;
  enum place place;
  const enum slot_kind *slots; /* by slot: what is known around the quantifier */
};

/* For the generators of an exists, forall, guard or comprehension and what they are for (body: NULL is true). which:
   the generator over the type. universal: a forall. */
bool generator_restricted(const struct absence *, const struct generator *, uint32_t n, uint32_t which,
                          const struct node *body, bool universal);

/* How a generator over `range` binds its slot. */
enum slot_kind slot_kind_of(const struct absence *, const struct node *range);

#endif
