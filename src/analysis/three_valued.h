/* Three-valued logic (Kleene 1952, section 64): the truth of a condition of which an analysis knows only some parts. */
#ifndef RONDO_ANALYSIS_THREE_VALUED_H
#define RONDO_ANALYSIS_THREE_VALUED_H

#include "model/model.h"

enum ternary { NO, YES, MAYBE };

static inline enum ternary ternary_of(bool t) { return t ? YES : NO; }
static inline enum ternary ternary_not(enum ternary t) { return t == MAYBE ? MAYBE : t == YES ? NO : YES; }
static inline enum ternary ternary_and(enum ternary a, enum ternary b) {
  return a == NO || b == NO ? NO : a == YES && b == YES ? YES : MAYBE;
}

/* The truth of a constant, or of a connective (not, and, or, implies) whose operands have the truth that `operand`
   says. MAYBE for everything else. */
typedef enum ternary ternary_fn(void *context, const struct node *);
enum ternary ternary_connective(const struct node *, ternary_fn *operand, void *context);

#endif
