/* Queries about the clauses of an environment and the expressions of a model, shared by the lowerings. The interpreter
   has its own versions, because it serves as an independent check of the lowerings. */
#ifndef RONDO_LOWER_ENVIRONMENT_CLAUSES_H
#define RONDO_LOWER_ENVIRONMENT_CLAUSES_H

#include "model/model.h"

/* The first clause of the kind, or NULL. */
const struct clause *clause_of_kind(const struct environment *, enum clause_kind);
/* Lowerings look up clauses by kind, so a clause of an unknown kind would be ignored silently. This returns such a
   clause, or NULL. */
const struct clause *environment_unknown_clause(const struct environment *);
/* How many processes of the role may have the fault by the clauses for exactly this role (ROLE_ANY: for all processes);
   at most `most`. */
int64_t fault_limit(const struct environment *, enum clause_kind, uint32_t role, bool recovering, int64_t most);
/* Is the clause a predicate about rounds at this point of the schedule? */
bool clause_is_about_round(const struct model *, const struct clause *, uint32_t point);
/* Does its predicate read heard-of sets? */
bool clause_reads_heard_of(const struct model *, const struct clause *);
/* May messages be corrupted? */
bool environment_may_corrupt(const struct model *, const struct environment *);

/* Includes called defs. An unknown operator counts as every operator. */
bool contains_op(const struct model *, const struct node *, enum op); /* NULL: false */
bool rounds_contain_op(const struct model *, enum op);                /* in sends and updates */

#endif
