/* Questions answered by a solver instead of a search: --engine bmc, induction, spacer. */
#ifndef RONDO_DRIVER_SYMBOLIC_H
#define RONDO_DRIVER_SYMBOLIC_H

#include "driver/question.h"

#include "symbolic/check.h"

/* By its name on the command line; false: there is none, or it is the explicit one. */
bool symbolic_engine_find(const char *name, enum symbolic_engine *);
bool symbolic_engine_is(const char *name); /* likewise, or "explicit" */

/* Fills the result like a search. False: a fault of rondo in *fault; or the model cannot be put to a solver, then *refused
   says why, and it was said. Rounds are whole ones: what has to stay as it is for that to be enough is not followed. */
bool symbolic_answer_question(const struct asked *, const struct question *, struct run_result *, struct text *refused,
                              struct text *fault);

/* rondo export --to smtlib */
struct syntax;
int export_smtlib(const struct syntax *, const struct options *);

#endif
