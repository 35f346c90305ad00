/* Walks through typed expressions, and what they contain. A number that is no operator counts as every operator, with
   all traits. */
#ifndef RONDO_MODEL_NODE_H
#define RONDO_MODEL_NODE_H

#include "model/model.h"

/* As node_walk, but also through the bodies of the defs that are called, each of them once. */
void node_walk_deep(const struct model *, const struct node *, node_visit_fn *, void *context);
void guard_walk_deep(const struct model *, const struct guard *, node_visit_fn *, void *context);
void send_walk_deep(const struct model *, const struct send *, node_visit_fn *, void *context);
void stmt_walk_deep(const struct model *, const struct stmt *, node_visit_fn *, void *context);

/* Does the expression contain the operator, one with some of the traits, one for which `is` holds? */
bool node_has_op(const struct node *, enum op);
bool node_has_traits(const struct node *, unsigned traits);
bool node_has(const struct node *, bool (*is)(const struct node *));
/* The same of the expression and of the defs that it calls. */
bool node_has_op_deep(const struct model *, const struct node *, enum op);
bool node_has_traits_deep(const struct model *, const struct node *, unsigned traits);

/* What the left operand of 'otherwise' finds: a member, or what is in the option. */
const struct type *otherwise_found(const struct node *otherwise);
/* How often what is found is wrapped into an option to become the value of 'otherwise': with options a and b of one
   type, 'a otherwise b' is such an option, too. */
uint32_t otherwise_wraps(const struct node *otherwise);

/* The same expression, names of bound variables included. Unknown operators are equal to nothing. */
bool node_equal(const struct node *, const struct node *);

/* Do both surely have the same value, evaluated at the same time with the same local names? Expressions with generators
   are never the same. across_step: as if nothing were primed, that is, if the step changes nothing that they read. */
bool node_same_value(const struct node *, const struct node *, bool across_step);

/* A new node of the arena with room for n children. */
struct node *node_make(struct arena *, enum op, struct span, const struct type *, uint32_t n);

#endif
