/* Private to src/symbolic: what a script asserts. */
#ifndef RONDO_SYMBOLIC_SMTLIB_H
#define RONDO_SYMBOLIC_SMTLIB_H

#include "symbolic/unrolling.h"

struct script_parts {
  VEC(Z3_ast) all; /* in the arena of the unrolling's encoder */
  Z3_ast goal;     /* asserted last */
};

/* spacer.c: the system as Horn clauses, and that no goal is reached. */
void horn_clauses(struct unrolling *, struct script_parts *);

#endif
