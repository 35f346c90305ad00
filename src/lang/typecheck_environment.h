/* Environments: heard-of predicates, faults and channels, clauses about whole runs. */
#ifndef RONDO_LANG_TYPECHECK_ENVIRONMENT_H
#define RONDO_LANG_TYPECHECK_ENVIRONMENT_H

#include "base/vec.h"
#include "lang/ast.h"
#include "model/model.h"

struct typechecker;

/* typecheck_environment.c, typecheck_named_predicates.c */
void check_environments(struct typechecker *);
uint32_t environment_named(struct typechecker *, const struct ast *name); /* UINT32_MAX: reported */
/* The predicates of the literature by name (uniform, nosplit, ...), expanded over all processes; NULL: no such
   predicate. */
struct node *named_predicate(struct typechecker *, const struct ast *name);
/* The same for failure detectors, as in perfect(suspected). */
struct node *detector_predicate(struct typechecker *, const struct ast *call);

/* typecheck_faults.c: faults and channels. */
typedef VEC(struct clause) clause_vec;
void check_fault(struct typechecker *, const struct ast *, clause_vec *);
void check_channels(struct typechecker *, const struct ast *, clause_vec *);
/* Is the clause allowed in this kind of model? false: reported */
bool clause_allowed_in_model(struct typechecker *, const struct ast *);
/* An environment has at most one clause of this kind; the environments that it extends may repeat it. */
void merge_single_clause(struct typechecker *, const struct environment *, clause_vec *,
                         enum clause_kind); /* CHANNELS, FAIR */

/* typecheck_run_clauses.c: clauses about whole runs. */
#define NO_PROCESS UINT32_MAX
uint32_t clause_round_name(const struct node *, bool *several); /* the name in HO[p, name]; NO_NAME: none, or several */
void error_two_rounds(struct typechecker *, struct span);
void clause_decompose(struct typechecker *, struct clause *);                   /* sets witness and parts */
uint32_t role_of_generator(struct typechecker *, const struct ast *quantifier); /* ROLE_ANY: reported */
/* Instantiates pred for one process of `for each` */
bool clause_instantiate(struct typechecker *, struct clause *, uint32_t each);

#endif
