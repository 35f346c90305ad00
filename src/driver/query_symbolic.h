/* Queries answered by a solver instead of a search: --engine bmc, induction, spacer. */
#ifndef RONDO_DRIVER_QUERY_SYMBOLIC_H
#define RONDO_DRIVER_QUERY_SYMBOLIC_H

#include "driver/query.h"

#include "symbolic/symbolic_check.h"

/* By its name on the command line; false: there is none, or it is the explicit one. */
bool symbolic_engine_find(const char *name, enum symbolic_engine *);
bool symbolic_engine_is(const char *name); /* likewise, or "explicit" */

/* Fills the result like a search. False: a fault of rondo (*fault), or the engine does not support the model
   (*refused), which was reported. Rounds are lockstep rounds; stability properties are not checked. */
bool symbolic_query_answer(const struct query_context *, const struct query *, struct run_result *,
                           struct text *refused, struct text *fault);

/* rondo export --to smtlib */
struct parsed_file;
int export_smtlib(const struct parsed_file *, const struct command_options *);

#endif
