/* What no run of a checked instance takes: code, faults, clauses, the left sides of implications. */
#ifndef RONDO_DRIVER_CHECK_COVERAGE_H
#define RONDO_DRIVER_CHECK_COVERAGE_H

#include "driver/query.h"
#include "interp/coverage.h"

/* Before the queries of an instance are answered: records what the interpreter executes. NULL: nothing is said about
   coverage, because of the options. */
struct coverage *coverage_begin(const struct query_context *);

/* Is whatever some run executes also executed in a search with these reductions? */
bool licences_keep_code(const struct licences *);

/* After the queries were answered: sets c->coverage. False: there is a fault. */
bool coverage_answer(const struct query_context *, struct check_result *c, struct coverage *, struct text *fault);

#endif
