/* Which branches are certainly taken, may be taken, or are ruled out by the parameters. */
#ifndef RONDO_LANG_TYPECHECK_REACH_H
#define RONDO_LANG_TYPECHECK_REACH_H

#include "model/model.h"

struct typechecker;

/* Is an expression evaluated in every run that reaches the construct that it belongs to? */
enum reach { REACH_ALWAYS, REACH_MAYBE, REACH_NEVER };

enum reach reach_if(const struct typechecker *, const struct node *condition,
                    bool holds);                    /* in the branch where the condition holds, or does not hold */
enum reach reach_maybe(const struct typechecker *); /* in a branch that depends on something else */
/* Is a value that never fits reported as an error here? */
bool refused_here(const struct typechecker *, const struct node *);

#endif
