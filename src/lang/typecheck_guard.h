/* Guards: conditions that may bind names. */
#ifndef RONDO_LANG_TYPECHECK_GUARD_H
#define RONDO_LANG_TYPECHECK_GUARD_H

#include "lang/ast.h"
#include "lang/typecheck_reach.h"
#include "model/model.h"

struct typechecker;

struct witness_group { /* the generators of one `exists`, with the names they bind */
  struct generator *gen;
  uint32_t ngen;
  struct node *body;
  struct span at;
};
struct guard_builder {
  struct node **conjunct; /* NULL at the position of a group */
  struct witness_group *group;
  uint32_t n;
  size_t scope; /* index of the first bound name among the locals */
  size_t unbound;
  enum reach outer; /* reach of the guard */
  enum reach other; /* reach of the alternative */
};
/* Lowers the condition. Its names stay in scope until guard_close, which determines the names that were used. */
void guard_open(struct typechecker *, const struct ast *condition, struct guard_builder *);
void guard_close(struct typechecker *, struct guard_builder *, struct guard *);
/* A conditional expression binds no names; those that its condition seems to bind are remembered until `unbound.n` has
   the value that is returned. */
size_t conditional_open(struct typechecker *, const struct ast *condition);

#endif
