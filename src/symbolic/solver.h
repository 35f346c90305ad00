/* Satisfiability queries over integers, on libz3. Each solver has its own context. Solvers share nothing, so each may
   run in its own thread or process. A failure of the library (out of memory, internal errors) makes answers UNKNOWN,
   never wrong. */
#ifndef RONDO_SYMBOLIC_SOLVER_H
#define RONDO_SYMBOLIC_SOLVER_H

#include "base/text.h"
#include "symbolic/linear_cube.h"

#include <signal.h>

/* NULL if libz3 is present; in a build without it (no_solver.c), a message for the user. */
const char *solver_missing(void);

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

struct solver;
struct solver *solver_new(void);
void solver_free(struct solver *);

uint32_t solver_variables(struct solver *, uint32_t n); /* adds n integer variables; returns the first index */
uint32_t solver_literals(struct solver *, uint32_t n);  /* likewise, n Boolean variables */

void solver_push(struct solver *);
void solver_pop(struct solver *);

/* Variable v of a cube is the solver's variable map[v], or v itself if map is NULL. */
void solver_add_row(struct solver *, const int64_t *row, uint32_t width, bool equal, const uint32_t *map);
void solver_add_cube(struct solver *, const struct cube *, const uint32_t *map);
void solver_add_any(struct solver *, const struct cube *, size_t n, const uint32_t *map); /* their disjunction */
void solver_add_value(struct solver *, uint32_t variable, int64_t);
void solver_add_at_most(struct solver *, uint32_t variable, int64_t);

void solver_add_implied(struct solver *, uint32_t literal, const struct cube *, const uint32_t *map);
/* The literal implies the negation of the cube. */
void solver_add_excluded(struct solver *, uint32_t literal, const struct cube *, const uint32_t *map);
void solver_add_false(struct solver *, uint32_t literal);
void solver_add_clause(struct solver *, const uint32_t *literals, uint32_t n);

void solver_limit_time(struct solver *, unsigned milliseconds); /* of each check; UNKNOWN beyond it */
/* Once *stop is not 0, a running check ends soon, and it and all later ones are UNKNOWN. NULL: checks are never
 * stopped. */
void solver_watch(struct solver *, const volatile sig_atomic_t *stop);
bool solver_stopped(const struct solver *);
enum answer solver_check(struct solver *);
/* The variable's value in the model of the last YES. Returns false if it does not fit 64 bits. */
bool solver_value(struct solver *, uint32_t variable, int64_t *);
bool solver_truth(struct solver *, uint32_t literal);

/* Runs an SMT-LIB script in a new context and stores its output. Returns false, without output, if *stop (stop may be
   NULL) became nonzero before it ended. */
bool smtlib_run(const char *script, const volatile sig_atomic_t *stop, struct text *printed);

/* Limits the memory of the library in this process, in bytes; 0: no limit. Must be called before the first
   solver_new. */
void solver_limit_memory(size_t bytes);

#endif
