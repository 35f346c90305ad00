/* Nodes of the typed model: one function for each shape. */
#ifndef RONDO_LANG_TYPECHECK_NODES_H
#define RONDO_LANG_TYPECHECK_NODES_H

#include "model/model.h"

struct typechecker;

struct node *node_new(struct typechecker *, enum op, struct span, const struct type *, uint32_t kids);
struct node *node_error(struct typechecker *, struct span);
struct node *node_constant(struct typechecker *, struct span, const struct type *, value);
struct node *node_slot(struct typechecker *, struct span, uint32_t slot, const struct type *);
struct node *node_role_set(struct typechecker *, struct span, uint32_t role); /* ROLE_ANY: all processes */
struct node *node_unary(struct typechecker *, enum op, struct span, const struct type *, struct node *);
struct node *node_binary(struct typechecker *, enum op, struct span, const struct type *, struct node *, struct node *);
struct node *node_if(struct typechecker *, struct span, const struct type *, struct node *condition, struct node *,
                     struct node *);
/* A quantifier, comprehension or aggregate. */
struct node *node_over(struct typechecker *, enum op, struct span, const struct type *, struct node *body,
                       struct generator *, uint32_t ngen);
struct node *node_and(struct typechecker *, struct node *, struct node *); /* conjunction; NULL means true */
bool node_is_error(const struct node *);
struct generator *generator_over(struct typechecker *, struct span, const char *name, uint32_t slot,
                                 struct node *range);

#endif
