/* Conversion of nodes to the types that their contexts require. */
#ifndef RONDO_LANG_TYPECHECK_COERCE_H
#define RONDO_LANG_TYPECHECK_COERCE_H

#include "model/model.h"

struct typechecker;

const struct type *type_join(struct typechecker *, const struct type *, const struct type *); /* NULL: none */
/* Values of both types have the same representation */
bool same_representation(const struct type *, const struct type *);
/* Converts a node to the type; NULL: impossible. assigned: the interpreter checks the range itself. */
struct node *coerce(struct typechecker *, struct node *, const struct type *, bool assigned);
/* The left operand of an 'otherwise' of the type; NULL: impossible. */
struct node *coerce_found(struct typechecker *, struct node *, const struct type *);
/* coerce, or report "expected ..., not ...". */
struct node *coerce_or_report(struct typechecker *, struct node *, const struct type *, const char *what);
bool coerce_to_join(struct typechecker *, struct node **, struct node **); /* converts both to their join */
const char *order_missing_reason(const struct type *);                     /* NULL: the type is ordered */

#endif
