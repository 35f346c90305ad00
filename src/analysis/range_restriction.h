/* Range restriction (safe-range queries: Abiteboul, Hull, Vianu 1995, section 5.4): does a quantifier over a whole type
   depend only on values that occur in the state or in a message? `exists v in T: ...` does if its body is false for
   every other v, `forall v in T: ...` if it is true. Decided by evaluating the body in three-valued logic for a v that
   differs from every value that occurs. */
#ifndef RONDO_ANALYSIS_RANGE_RESTRICTION_H
#define RONDO_ANALYSIS_RANGE_RESTRICTION_H

#include "analysis/model_visitor.h"
#include "analysis/scalarset_typing.h"

/* What is known of a name that is bound to a value of the scalarset. */
enum slot_knowledge {
  SLOT_STATE, /* its values occur */
  SLOT_ANY,   /* nothing */
  SLOT_ABSENT /* it is a value that occurs nowhere */
};

struct range_context {
  const struct scalarset *scalarset;
  enum site_kind place;
  const enum slot_knowledge *slots; /* by slot: what is known around the quantifier */
};

/* For the generators of an exists, forall, guard or comprehension, with its body (NULL: true). which: the generator
   over the type. universal: a forall. */
bool generator_is_range_restricted(const struct range_context *, const struct generator *, uint32_t n, uint32_t which,
                                   const struct node *body, bool universal);

/* How a generator over `range` binds its slot. */
enum slot_knowledge slot_knowledge_of(const struct range_context *, const struct node *range);

#endif
