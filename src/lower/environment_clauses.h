/* What a model's environment and texts say, as far as no expression is needed: for the lowerings. The interpreter has
   functions of its own, because it is compared with them. */
#ifndef RONDO_LOWER_ENVIRONMENT_CLAUSES_H
#define RONDO_LOWER_ENVIRONMENT_CLAUSES_H

#include "model/model.h"

/* The first clause of the kind, or NULL. */
const struct clause *clause_of_kind(const struct environment *, enum clause_kind);
/* Clauses are looked for by kind, so one of a kind that nobody looks for would be left out. This finds it; NULL: there
   is none. */
const struct clause *environment_unknown_clause(const struct environment *);
/* How many processes of the role (ROLE_ANY: of all) may have the fault, by clauses about that role; at most `most`. */
int64_t fault_limit(const struct environment *, enum clause_kind, uint32_t role, bool recovering, int64_t most);
/* Is it a predicate about rounds at this point of the schedule? */
bool clause_is_about_round(const struct model *, const struct clause *, uint32_t point);
/* Does its predicate read who hears whom? */
bool clause_reads_heard_of(const struct model *, const struct clause *);
/* May messages be changed on their way? */
bool environment_may_corrupt(const struct model *, const struct environment *);

/* With the defs that are called; an unknown operator counts as any operator. */
bool contains_op(const struct model *, const struct node *, enum op); /* NULL: false */
bool rounds_contain_op(const struct model *, enum op);                /* in what a round sends or does */

#endif
