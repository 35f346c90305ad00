/* Questions about integers, on libz3. One solver is one context: solvers share nothing, so each may
   live in a thread or a process of its own. What the library cannot do (memory, its own faults)
   makes answers UNKNOWN, never wrong. */
#ifndef RONDO_SYMBOLIC_SOLVER_H
#define RONDO_SYMBOLIC_SOLVER_H

#include "base/text.h"
#include "symbolic/linear_cube.h"

#include <signal.h>

/* NULL; in a build without libz3 (no_solver.c) the message for the user. */
const char *solver_missing(void);

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

struct solver;
struct solver *solver_new(void);
void solver_free(struct solver *);

uint32_t solver_variables(struct solver *, uint32_t n); /* n further integers; the first one's number */
uint32_t solver_literals(struct solver *, uint32_t n);  /* n further truths */

void solver_push(struct solver *);
void solver_pop(struct solver *);

/* Where a map is given, variable v of a cube is the solver's variable map[v]; NULL: v itself. */
void solver_add_row(struct solver *, const int64_t *row, uint32_t width, bool equal, const uint32_t *map);
void solver_add_cube(struct solver *, const struct cube *, const uint32_t *map);
void solver_add_any(struct solver *, const struct cube *, size_t n, const uint32_t *map); /* some of them */
void solver_add_value(struct solver *, uint32_t variable, int64_t);
void solver_add_at_most(struct solver *, uint32_t variable, int64_t);

void solver_add_implied(struct solver *, uint32_t literal, const struct cube *, const uint32_t *map);
/* Where the literal holds, the cube does not. */
void solver_add_excluded(struct solver *, uint32_t literal, const struct cube *, const uint32_t *map);
void solver_add_false(struct solver *, uint32_t literal);
void solver_add_clause(struct solver *, const uint32_t *literals, uint32_t n);

void solver_limit_time(struct solver *, unsigned milliseconds); /* of each check; then it is unknown */
/* Checks end soon after *stop is not 0, whatever the library is doing; then, and from then on, they
   are unknown. NULL: never. */
void solver_watch(struct solver *, const volatile sig_atomic_t *stop);
bool solver_stopped(const struct solver *);
enum answer solver_check(struct solver *);
/* Of the last YES. False: beyond 64 bits. */
bool solver_value(struct solver *, uint32_t variable, int64_t *);
bool solver_truth(struct solver *, uint32_t literal);

/* What an SMT-LIB script prints, on a context of its own. False, and nothing: *stop (or NULL) was not 0 before it
 * ended. */
bool smtlib_run(const char *script, const volatile sig_atomic_t *stop, struct text *printed);

/* At most so many bytes for the library, in this process; 0: no limit. Before the first solver. */
void solver_limit_memory(size_t bytes);

#endif
