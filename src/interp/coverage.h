/* What the interpreter has executed, by place in the source. Copies of one text (rounds of a `repeat`, the model that a
   live property has for itself) have the same places, so they count as one. Several threads may mark. */
#ifndef RONDO_INTERP_COVERAGE_H
#define RONDO_INTERP_COVERAGE_H

#include "base/diag.h"

#include <stdatomic.h>

enum covered {
  COVERED_RUN = 1,        /* a statement, a send or the round of a process was executed */
  COVERED_TRUE = 2,       /* its condition was true; an action was taken */
  COVERED_FALSE = 4,      /* its condition was false; a clause excluded something */
  COVERED_ANTECEDENT = 8, /* `a => b`, at the place of b: a was true */
  COVERED_HELD = 16       /* a closed formula was true in a state or a step */
};

struct coverage {
  _Atomic unsigned char *at; /* by offset in the source: a set of these */
  size_t length;
};

struct coverage *coverage_new(size_t source_length);
void coverage_free(struct coverage *);
void coverage_clear(struct coverage *);

/* c may be NULL: nothing is recorded. */
static inline void coverage_mark(struct coverage *c, struct span place, unsigned what) {
  if (!c || place.from >= c->length)
    return;
  if (~atomic_load_explicit(&c->at[place.from], memory_order_relaxed) & what)
    atomic_fetch_or_explicit(&c->at[place.from], (unsigned char)what, memory_order_relaxed);
}
/* What comes before `place`, and ends at `left`, was true. Formulas that are derived from others (stabilities, see
   analysis/local_properties.h) have all their parts at one place, and are not recorded. */
static inline void coverage_mark_after(struct coverage *c, uint32_t left, struct span place) {
  if (c && left <= place.from)
    coverage_mark(c, place, COVERED_ANTECEDENT);
}
static inline bool coverage_has(const struct coverage *c, uint32_t offset, unsigned what) {
  return offset < c->length && (atomic_load_explicit(&c->at[offset], memory_order_relaxed) & what) == what;
}

#endif
