/* Constrained Horn clauses over integers, solved by Spacer: predicates P0, P1 ... of the same
   variables, clauses P(x) and guard(x, amounts) => Q(update(x, amounts)). */
#ifndef RONDO_SYMBOLIC_HORN_SOLVER_H
#define RONDO_SYMBOLIC_HORN_SOLVER_H

#include "symbolic/solver.h"

struct horn_system;

/* names: of the variables, in what is printed. */
struct horn_system *horn_new(const char *const *names, uint32_t variables, uint32_t predicates);
void horn_free(struct horn_system *);

/* What may be assumed of every state: each call adds "one of these cubes". Before the clauses. */
void horn_assume(struct horn_system *, const struct cube *, size_t n);

void horn_add_start(struct horn_system *, uint32_t predicate, const struct cube *);
/* guard is over the variables and then the amounts; update has a row of that width for every
   variable, NULL where it stays. */
void horn_add_step(struct horn_system *, uint32_t from, uint32_t to, const struct cube *guard,
                   const int64_t *const *update);
void horn_add_goal(struct horn_system *, uint32_t predicate, const struct cube *);

/* It ends soon after *stop is not 0; then it is unknown. */
void horn_watch(struct horn_system *, const volatile sig_atomic_t *stop);

/* Called at each level. */
void horn_on_level(struct horn_system *, void (*on_level_callback)(void *context, uint32_t level), void *context);

/* Can a goal be reached? */
enum answer horn_solve(struct horn_system *);
/* After NO: what holds wherever the predicate does, as an SMT-LIB term. False: there is none. */
bool horn_invariant(struct horn_system *, uint32_t predicate, struct text *);

#endif
