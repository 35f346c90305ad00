/* Constrained Horn clauses over integers, solved by Spacer. All predicates P0, P1 ... range over the same variables x.
   Clauses have the form P(x) and guard(x, amounts) => Q(update(x, amounts)). */
#ifndef RONDO_SYMBOLIC_HORN_SOLVER_H
#define RONDO_SYMBOLIC_HORN_SOLVER_H

#include "symbolic/solver.h"

struct horn_system;

/* names: of the variables, for printing. */
struct horn_system *horn_new(const char *const *names, uint32_t variables, uint32_t predicates);
void horn_free(struct horn_system *);

/* Assumptions about every state: each call adds a disjunction of cubes. Must be called before clauses are added. */
void horn_assume(struct horn_system *, const struct cube *, size_t n);

void horn_add_start(struct horn_system *, uint32_t predicate, const struct cube *);
/* The guard ranges over the variables, then the amounts. update has one row of the guard's width per variable, or NULL
   if the variable does not change. */
void horn_add_step(struct horn_system *, uint32_t from, uint32_t to, const struct cube *guard,
                   const int64_t *const *update);
void horn_add_goal(struct horn_system *, uint32_t predicate, const struct cube *);

/* Once *stop is not 0, solving ends soon and the answer is UNKNOWN. */
void horn_watch(struct horn_system *, const volatile sig_atomic_t *stop);

/* Sets a callback for each new level of Spacer. */
void horn_on_level(struct horn_system *, void (*on_level_callback)(void *context, uint32_t level), void *context);

/* Is a goal reachable? */
enum answer horn_solve(struct horn_system *);
/* After NO: the invariant of the predicate as an SMT-LIB term. Returns false if there is none. */
bool horn_invariant(struct horn_system *, uint32_t predicate, struct text *);

#endif
