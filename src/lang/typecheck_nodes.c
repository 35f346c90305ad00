/* Nodes of the typed model: one function for each shape. */
#include "lang/typecheck_nodes.h"

#include "lang/typecheck_types.h"
#include "lang/typechecker.h"

struct node *node_new(struct typechecker *c, enum op op, struct span at, const struct type *type, uint32_t kids) {
  struct node *n = arena_alloc(&c->m->arena, sizeof *n);
  n->op = op;
  n->at = at;
  n->type = type;
  n->n = kids;
  n->kid = kids ? arena_array(&c->m->arena, kids, sizeof *n->kid) : NULL;
  return n;
}

struct node *node_error(struct typechecker *c, struct span at) {
  if (c->diags->errors == c->errors_before) /* what is left out of a model without errors would change its meaning */
    checker_error(c, E0306, at, "the type of this is not known");
  return node_new(c, NODE_CONST, at, c->error, 0);
}

struct node *node_constant(struct typechecker *c, struct span at, const struct type *type, value v) {
  struct node *n = node_new(c, NODE_CONST, at, type, 0);
  n->constant = v;
  return n;
}

struct node *node_slot(struct typechecker *c, struct span at, uint32_t slot, const struct type *type) {
  struct node *n = node_new(c, NODE_SLOT, at, type, 0);
  n->index = slot;
  return n;
}

struct node *node_role_set(struct typechecker *c, struct span at, uint32_t role) {
  const struct type *element = role == ROLE_ANY ? any_process_type(c) : process_type(c, role);
  struct node *n = node_new(c, NODE_ROLE_SET, at, set_type(c, element), 0);
  n->index = role;
  return n;
}

struct node *node_unary(struct typechecker *c, enum op op, struct span at, const struct type *type, struct node *a) {
  struct node *n = node_new(c, op, at, type, 1);
  n->kid[0] = a;
  return n;
}

struct node *node_binary(struct typechecker *c, enum op op, struct span at, const struct type *type, struct node *a,
                         struct node *b) {
  struct node *n = node_new(c, op, at, type, 2);
  n->kid[0] = a;
  n->kid[1] = b;
  return n;
}

struct node *node_if(struct typechecker *c, struct span at, const struct type *type, struct node *condition,
                     struct node *a, struct node *b) {
  struct node *n = node_new(c, NODE_IF, at, type, 3);
  n->kid[0] = condition;
  n->kid[1] = a;
  n->kid[2] = b;
  return n;
}

struct node *node_over(struct typechecker *c, enum op op, struct span at, const struct type *type, struct node *body,
                       struct generator *gen, uint32_t ngen) {
  struct node *n = node_unary(c, op, at, type, body);
  n->gen = gen;
  n->ngen = ngen;
  return n;
}

struct node *node_and(struct typechecker *c, struct node *a, struct node *b) {
  if (!a || !b)
    return a ? a : b;
  struct span at = {a->at.from < b->at.from ? a->at.from : b->at.from, a->at.to > b->at.to ? a->at.to : b->at.to};
  return node_binary(c, NODE_AND, at, c->boolean, a, b);
}

bool node_is_error(const struct node *n) { return n->type->kind == TYPE_ERROR; }

struct generator *generator_over(struct typechecker *c, struct span at, const char *name, uint32_t slot,
                                 struct node *range) {
  struct generator *g = arena_alloc(&c->m->arena, sizeof *g);
  *g = (struct generator){.slot = slot, .range = range, .type = range->type->element, .name = name, .at = at};
  return g;
}
