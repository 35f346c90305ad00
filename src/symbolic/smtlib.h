/* Private to src/symbolic: the assertions of an SMT-LIB script. */
#ifndef RONDO_SYMBOLIC_SMTLIB_H
#define RONDO_SYMBOLIC_SMTLIB_H

#include "symbolic/unrolling.h"

struct script_parts {
  VEC(Z3_ast) all; /* in the arena of the unrolling's encoder */
  Z3_ast goal;     /* asserted last */
};

/* spacer.c: the system as Horn clauses, with the claim that no goal is reachable. */
void horn_clauses(struct unrolling *, struct script_parts *);

#endif
