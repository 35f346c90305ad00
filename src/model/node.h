/* Questions about typed expressions. A number that is no operator counts as any operator, with every trait. */
#ifndef RONDO_MODEL_NODE_H
#define RONDO_MODEL_NODE_H

#include "model/model.h"

/* As node_walk, through the bodies of the defs that are called, too, each of them once. */
void node_walk_deep(const struct model *, const struct node *, node_visit_fn *, void *context);

/* Does the expression contain the operator, one with some of the traits, one for which `is` holds? */
bool node_has_op(const struct node *, enum op);
bool node_has_traits(const struct node *, unsigned traits);
bool node_has(const struct node *, bool (*is)(const struct node *));
/* The same of the expression and of the defs that it calls. */
bool node_has_op_deep(const struct model *, const struct node *, enum op);
bool node_has_traits_deep(const struct model *, const struct node *, unsigned traits);

/* The same expression, names of bound variables included. Unknown operators are equal to nothing. */
bool node_equal(const struct node *, const struct node *);

/* A new node of the arena with room for n children. */
struct node *node_make(struct arena *, enum op, struct span, const struct type *, uint32_t n);

#endif
